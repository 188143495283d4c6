/*
 * Any bytes as a tape.  What must hold:
 *   - nothing outside the bytes is read, and every byte handed out can be read,
 *   - what was found valid plays to its end, in times that never go back,
 *   - an error is one printable line that names a byte of the file.
 */
#include <stdlib.h>
#include <string.h>

#include "io/bus/tape.h"
#include "rt/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static volatile unsigned char sink;

static void check_error(const char error[IO_TAPE_ERROR_MAX], size_t size)
{
    char *end;
    RT_CHECK(memchr(error, '\0', IO_TAPE_ERROR_MAX));
    RT_CHECK(strncmp(error, "byte ", 5) == 0);
    RT_CHECK(strtoull(error + 5, &end, 10) <= size && end[0] == ':' && end[1] == ' ');
    for (const char *at = error; *at; at++)
        RT_CHECK((unsigned char)*at >= ' ' && *at != 0x7f);
}

static void play(const uint8_t *bytes, size_t size)
{
    struct io_tape_reader reader = {.bytes = bytes, .size = size, .at = IO_TAPE_HEADER};
    struct io_packet packet;
    uint64_t time_ns, last_ns = 0;
    while (io_tape_peek(&reader, &time_ns, &packet)) {
        RT_CHECK(packet.size > 0 && packet.size <= IO_DATAGRAM_MAX);
        RT_CHECK(time_ns >= last_ns);
        last_ns = time_ns;
        for (size_t i = 0; i < packet.size; i++)
            sink ^= packet.bytes[i];
        io_tape_skip(&reader, &packet);
        RT_CHECK(reader.at <= size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char error[IO_TAPE_ERROR_MAX];
    const int status = io_tape_check(bytes, size, error);
    RT_CHECK(status <= 0);
    if (status < 0)
        check_error(error, size);
    else
        play(bytes, size);
    return 0;
}
