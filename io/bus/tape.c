#include "io/bus/tape.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/bus/bus_ops.h"
#include "rt/guarded_mapping.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian");

struct header {
    char magic[8];
    uint32_t version, zero;
};
struct record {
    uint64_t time_ns;
    uint32_t size, zero;
};
_Static_assert(sizeof(struct header) == IO_TAPE_HEADER, "the format is a contract");
_Static_assert(sizeof(struct record) == IO_TAPE_RECORD, "the format is a contract");

static uint64_t clock_now_ns(const struct rt_clock *clock)
{
    return clock ? clock->now_ns(clock->self) : rt_now_ns();
}

/* Reading. */

__attribute__((format(printf, 3, 4))) static int complain(char *error, size_t at,
                                                          const char *format, ...)
{
    va_list values;
    const int used = snprintf(error, IO_TAPE_ERROR_MAX, "byte %zu: ", at);
    va_start(values, format);
    (void)vsnprintf(error + used, (size_t)(IO_TAPE_ERROR_MAX - used), format, values);
    va_end(values);
    return -EBADMSG;
}

static int check_header(const unsigned char *bytes, size_t size, char *error)
{
    struct header header;
    if (size < sizeof header || memcmp(bytes, IO_TAPE_MAGIC, sizeof header.magic) != 0)
        return complain(error, 0, "this is not a tape (a tape begins with " IO_TAPE_MAGIC ")");
    memcpy(&header, bytes, sizeof header);
    if (header.version != IO_TAPE_VERSION)
        return complain(error, 8, "the tape has version %u; this program plays version %d",
                        header.version, IO_TAPE_VERSION);
    if (header.zero != 0)
        return complain(error, 12, "%u in a field that must be zero", header.zero);
    return 0;
}

static bool is_zero(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* 1 for a record, 0 at the end, or -EBADMSG. */
static int check_record(const unsigned char *bytes, size_t size, size_t at, uint64_t last_ns,
                        struct record *record, char *error)
{
    if (size - at < sizeof *record && is_zero(bytes + at, size - at))
        return 0;
    if (size - at < sizeof *record)
        return complain(
            error, at, "the tape ends inside a record; `truncate -s %zu` keeps what is before", at);
    memcpy(record, bytes + at, sizeof *record);
    if (record->size == 0)
        return 0;
    if (record->size > IO_DATAGRAM_MAX)
        return complain(error, at + 8, "a packet of %u bytes is longer than the limit of %d",
                        record->size, IO_DATAGRAM_MAX);
    if (record->zero != 0)
        return complain(error, at + 12, "%u in a field that must be zero", record->zero);
    if (record->time_ns < last_ns)
        return complain(error, at, "the time of the record goes back to %" PRIu64 " ns",
                        record->time_ns);
    if (record->size > size - at - sizeof *record)
        return complain(
            error, at, "the tape ends inside a packet; `truncate -s %zu` keeps what is before", at);
    return 1;
}

int io_tape_check(const unsigned char *bytes, size_t size, char error[IO_TAPE_ERROR_MAX])
{
    struct record record = {0};
    uint64_t last_ns = 0;
    size_t at = IO_TAPE_HEADER;
    int status = check_header(bytes, size, error);
    if (status < 0)
        return status;
    while ((status = check_record(bytes, size, at, last_ns, &record, error)) > 0) {
        at += sizeof record + record.size;
        last_ns = record.time_ns;
    }
    return status;
}

bool io_tape_peek(const struct io_tape_reader *reader, uint64_t *time_ns, struct io_packet *packet)
{
    struct record record;
    if (reader->size - reader->at < sizeof record)
        return false;
    memcpy(&record, reader->bytes + reader->at, sizeof record);
    if (record.size == 0)
        return false;
    *time_ns = record.time_ns;
    *packet = (struct io_packet){
        .bytes = reader->bytes + reader->at + sizeof record,
        .size = record.size,
        .from = io_address_far_end,
        .whole = true,
    };
    return true;
}

void io_tape_skip(struct io_tape_reader *reader, const struct io_packet *packet)
{
    reader->at += sizeof(struct record) + packet->size;
}

/* Writing. */

static int make_room(struct io_tape_writer *writer, size_t size)
{
    if (size < IO_TAPE_HEADER || size > IO_TAPE_SIZE_MAX)
        return -EINVAL;
    const int failure = posix_fallocate(writer->fd, 0, (off_t)size);
    if (failure)
        return -failure;
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, writer->fd, 0);
    if (map == MAP_FAILED)
        return -errno;
    if (!rt_guarded_mapping_add(map, size, &writer->gone)) {
        (void)munmap(map, size);
        return -ENOMEM;
    }
    writer->map = map;
    writer->size = size;
    return 0;
}

int io_tape_writer_open(struct io_tape_writer *writer, const char *path, size_t size,
                        const struct rt_clock *clock)
{
    const struct header header = {.magic = {'A', 'I', 'R', 'B', 'T', 'A', 'P', 'E'},
                                  .version = IO_TAPE_VERSION};
    *writer = (struct io_tape_writer){
        .fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644),
        .clock = clock,
        .start_ns = clock_now_ns(clock),
    };
    int status = writer->fd < 0 ? -errno : make_room(writer, size);
    if (status < 0) {
        if (writer->fd >= 0)
            (void)close(writer->fd);
        return status;
    }
    memcpy(writer->map, &header, sizeof header);
    writer->used = sizeof header;
    return 0;
}

/* The size is written last: a record without it is the end of the tape. */
bool io_tape_writer_append(struct io_tape_writer *writer, const void *bytes, size_t size)
{
    if (size == 0)
        return true;
    const size_t left = writer->size - writer->used;
    if (size > IO_DATAGRAM_MAX || left < sizeof(struct record) ||
        left - sizeof(struct record) < size ||
        atomic_load_explicit(&writer->gone, memory_order_relaxed))
        return false;
    const uint64_t now_ns = clock_now_ns(writer->clock) - writer->start_ns;
    writer->last_ns = now_ns > writer->last_ns ? now_ns : writer->last_ns;
    const struct record record = {.time_ns = writer->last_ns, .size = (uint32_t)size};
    unsigned char *at = writer->map + writer->used;
    memcpy(at + sizeof record, bytes, size);
    memcpy(at, &record.time_ns, sizeof record.time_ns);
    atomic_signal_fence(memory_order_release);
    memcpy(at + offsetof(struct record, size), &record.size, sizeof record.size);
    writer->used += sizeof record + size;
    return !atomic_load_explicit(&writer->gone, memory_order_relaxed);
}

void io_tape_writer_close(struct io_tape_writer *writer)
{
    if (!writer->map)
        return;
    rt_guarded_mapping_remove(writer->map);
    (void)munmap(writer->map, writer->size);
    struct stat file;
    const bool whole = fstat(writer->fd, &file) == 0 && (size_t)file.st_size >= writer->used;
    const int cut = whole ? ftruncate(writer->fd, (off_t)writer->used) : 0;
    (void)cut; /* if it fails, the zeros that stay mark the end as well */
    (void)close(writer->fd);
    writer->map = NULL;
}

/* Playing. */

static int read_whole(int fd, unsigned char *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t got = read(fd, bytes + done, size - done);
        if (got <= 0)
            return got == 0 ? -EIO : -errno;
        done += (size_t)got;
    }
    return 0;
}

static int load(struct io_tape *tape, const char *path)
{
    struct stat file;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int status = fstat(fd, &file) < 0 ? -errno : 0;
    if (status == 0 && !S_ISREG(file.st_mode))
        status = -EISDIR;
    if (status == 0 && file.st_size > IO_TAPE_SIZE_MAX)
        status = -EFBIG;
    if (status == 0) {
        tape->reader.size = (size_t)file.st_size;
        tape->bytes = malloc(tape->reader.size + 1);
        status = tape->bytes ? read_whole(fd, tape->bytes, tape->reader.size) : -ENOMEM;
    }
    (void)close(fd);
    return status;
}

static void close_tape(struct io_bus *bus)
{
    free(bus->tape.bytes);
    bus->tape.bytes = NULL;
}

static int open_tape(struct io_bus *bus, char *error)
{
    struct io_tape *tape = &bus->tape;
    char wrong[IO_TAPE_ERROR_MAX];
    const char *path = bus->spec.device;
    int status = load(tape, path);
    if (status < 0) {
        close_tape(bus);
        return io_bus_error(bus, "device", status, error, "cannot read the tape %s: %s", path,
                            status == -EISDIR ? "it is not a regular file" : strerror(-status));
    }
    status = io_tape_check(tape->bytes, tape->reader.size, wrong);
    if (status < 0) {
        close_tape(bus);
        return io_bus_error(bus, "device", status, error, "%s: %s", path, wrong);
    }
    tape->reader.bytes = tape->bytes;
    tape->reader.at = IO_TAPE_HEADER;
    io_bus_peer_arrived(bus, io_address_far_end);
    return 0;
}

static int receive(struct io_bus *bus, struct io_packet *packet)
{
    struct io_tape *tape = &bus->tape;
    struct io_packet next;
    uint64_t time_ns;
    const uint64_t now_ns = clock_now_ns(bus->spec.clock);
    if (!tape->started)
        tape->start_ns = now_ns;
    tape->started = true;
    if (!io_tape_peek(&tape->reader, &time_ns, &next)) {
        io_bus_peer_left(bus); /* the end of the tape */
        return 0;
    }
    if (now_ns - tape->start_ns < time_ns)
        return 0;
    *packet = next;
    io_tape_skip(&tape->reader, &next);
    return 1;
}

static int send_packet(struct io_bus *bus, struct io_address to, const void *bytes, size_t size,
                       bool stamped)
{
    (void)bus;
    (void)to;
    (void)bytes;
    (void)stamped;
    return size > IO_DATAGRAM_MAX ? -EMSGSIZE : 0;
}

static void send_emergency(struct io_bus *bus, struct io_address to, const void *bytes, size_t size)
{
    (void)bus;
    (void)to;
    (void)bytes;
    (void)size;
}

static int watches(const struct io_bus *bus, struct io_bus_watch watch[IO_BUS_WATCH_MAX])
{
    (void)bus;
    (void)watch;
    return 0;
}

const struct io_bus_ops io_tape_bus_ops = {
    .traits = {.detects_peer = true,
               .needs_polling = true,
               .carries_hands = true,
               .keys = IO_BUS_KEYS_DEVICE,
               .example_device = "board.tape"},
    .open = open_tape,
    .close = close_tape,
    .receive = receive,
    .send = send_packet,
    .send_emergency = send_emergency,
    .watches = watches,
};
