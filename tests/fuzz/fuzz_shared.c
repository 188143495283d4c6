/*
 * Shared memory whose other side writes what it likes.  The input is a header, then head, turn,
 * size of the emergency message, and the bytes of a ring.  What must hold:
 *   - a header that is accepted describes memory of the size it was said to have,
 *   - nothing outside the memory is read or written,
 *   - a ring is empty after no more messages than fit it, whatever stands in it,
 *   - afterwards an honest message gets through.
 */
#include <stdlib.h>
#include <string.h>

#include "io/bus/shm.h"
#include "rt/check.h"

enum { RING = 4096, SIZE = IO_SHM_DATA_AT + 2 * RING };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static size_t take(const uint8_t **bytes, size_t *size, void *to, size_t wanted)
{
    const size_t part = wanted < *size ? wanted : *size;
    memcpy(to, *bytes, part);
    *bytes += part;
    *size -= part;
    return part;
}

static void check_header(const struct io_shm_header *header)
{
    const size_t sizes[] = {0, 63, 64, SIZE, IO_SHM_SIZE, (size_t)header->total_size};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (io_shm_check(header, sizes[i]) == 0)
            RT_CHECK(IO_SHM_DATA_AT + 2 * (size_t)header->ring_size == sizes[i]);
}

static void empty(struct io_shm_port *in)
{
    unsigned char message[IO_DATAGRAM_MAX];
    uint64_t stamp_ns;
    size_t size;
    int status, count = 0;
    while ((status = io_shm_pull(in, message, &size, &stamp_ns)) != 0) {
        RT_CHECK(status < 0 || size <= sizeof message);
        RT_CHECK(++count <= RING / IO_SHM_RECORD + 2);
        RT_CHECK(in->at % 8 == 0);
    }
}

static void check_honest(struct io_shm_port *in, struct io_shm_port *out)
{
    unsigned char message[IO_DATAGRAM_MAX];
    uint64_t stamp_ns = 0;
    size_t size = 0;
    out->at = in->at; /* the writer starts anew where the reader is */
    RT_CHECK(io_shm_push(out, "honest", 6, 7) == 0);
    RT_CHECK(io_shm_pull(in, message, &size, &stamp_ns) == 1);
    RT_CHECK(size == 6 && stamp_ns == 7 && memcmp(message, "honest", 6) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct io_shm_header header = {0};
    struct io_shm_port in, out, far_in, far_out;
    unsigned char words[IO_EMERGENCY_MAX];
    uint64_t head = 0;
    uint32_t emergency_sequence = 0;
    size_t emergency_size;
    unsigned char *mem = aligned_alloc(64, SIZE);
    RT_CHECK(mem);
    memset(mem, 0, SIZE);
    (void)take(&bytes, &size, &header, sizeof header);
    check_header(&header);
    io_shm_format(mem);
    ((struct io_shm_header *)(void *)mem)->ring_size = RING;
    io_shm_ports(mem, 0, &in, &out);
    io_shm_ports(mem, 1, &far_in, &far_out);
    (void)take(&bytes, &size, &head, sizeof head);
    (void)take(&bytes, &size, &emergency_sequence, sizeof emergency_sequence);
    (void)take(&bytes, &size, &in.ring->emergency_size, sizeof in.ring->emergency_size);
    (void)take(&bytes, &size, in.bytes, RING);
    atomic_store(&in.ring->emergency_sequence, emergency_sequence);
    atomic_store(&in.ring->head, head);
    empty(&in);
    if (io_shm_pull_emergency(&in, words, &emergency_size))
        RT_CHECK(emergency_size > 0 && emergency_size <= sizeof words);
    RT_CHECK(!io_shm_pull_emergency(&in, words, &emergency_size));
    check_honest(&in, &far_out);
    free(mem);
    return 0;
}
