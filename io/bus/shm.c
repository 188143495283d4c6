#include "io/bus/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io/bus/bus_ops.h"
#include "rt/check.h"
#include "rt/guarded_mapping.h"

enum { LOCK_LAYOUT = 2, LOCK_TRIES = 500, OPEN_TRIES = 10, RING_AT = 64 };
_Static_assert(RING_AT + 2 * sizeof(struct io_shm_ring) <= IO_SHM_DATA_AT, "no overlap");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the layout is little-endian");

/* The layout. */

int io_shm_check(const struct io_shm_header *header, size_t size)
{
    if (size < sizeof *header || memcmp(header->magic, IO_SHM_MAGIC, sizeof header->magic) != 0)
        return -EPROTO;
    if (header->version != IO_SHM_VERSION)
        return -EPROTONOSUPPORT;
    const uint64_t ring_size = header->ring_size;
    const bool sound = header->header_size == sizeof *header && ring_size >= 4096 &&
                       (ring_size & (ring_size - 1)) == 0 &&
                       header->message_max == IO_DATAGRAM_MAX && header->total_size == size &&
                       size == IO_SHM_DATA_AT + 2 * ring_size;
    return sound ? 0 : -EINVAL;
}

void io_shm_format(void *mem)
{
    struct io_shm_header header = {
        .magic = IO_SHM_MAGIC,
        .version = IO_SHM_VERSION,
        .header_size = sizeof header,
        .ring_size = IO_SHM_RING_SIZE,
        .message_max = IO_DATAGRAM_MAX,
        .total_size = IO_SHM_SIZE,
    };
    memcpy(mem, &header, sizeof header);
}

static struct io_shm_port port(unsigned char *mem, int ring, uint32_t size)
{
    struct io_shm_ring *rings = (struct io_shm_ring *)(void *)(mem + RING_AT);
    return (struct io_shm_port){
        .ring = &rings[ring],
        .bytes = mem + IO_SHM_DATA_AT + (size_t)ring * size,
        .size = size,
    };
}

/* A correct head is a multiple of 8.  Any other is rounded down, or the reader could never reach
 * it. */
static uint64_t load_head(const struct io_shm_port *of)
{
    return atomic_load_explicit(&of->ring->head, memory_order_acquire) & ~(uint64_t)7;
}

/* A new process reads only later messages, and writes where the last writer stopped. */
void io_shm_ports(void *mem, int side, struct io_shm_port *in, struct io_shm_port *out)
{
    const uint32_t size = ((const struct io_shm_header *)mem)->ring_size;
    *in = port(mem, 1 - side, size);
    *out = port(mem, side, size);
    in->at = load_head(in);
    in->emergency_sequence =
        atomic_load_explicit(&in->ring->emergency_sequence, memory_order_relaxed) & ~1u;
    out->at = load_head(out);
    atomic_store_explicit(&in->ring->tail, in->at, memory_order_release);
}

/* A ring. */

static void copy_in(struct io_shm_port *out, uint64_t at, const void *bytes, size_t size)
{
    const size_t from = (size_t)(at & (out->size - 1));
    const size_t first = size < out->size - from ? size : out->size - from;
    memcpy(out->bytes + from, bytes, first);
    memcpy(out->bytes, (const unsigned char *)bytes + first, size - first);
}

static void copy_out(const struct io_shm_port *in, uint64_t at, void *bytes, size_t size)
{
    const size_t from = (size_t)(at & (in->size - 1));
    const size_t first = size < in->size - from ? size : in->size - from;
    memcpy(bytes, in->bytes + from, first);
    memcpy((unsigned char *)bytes + first, in->bytes, size - first);
}

struct record {
    uint32_t size, zero;
    uint64_t stamp_ns;
};
_Static_assert(sizeof(struct record) == IO_SHM_RECORD, "the layout is a contract");

static uint64_t padded(size_t size)
{
    return (IO_SHM_RECORD + (uint64_t)size + 7) & ~(uint64_t)7;
}

int io_shm_push(struct io_shm_port *out, const void *bytes, size_t size, uint64_t stamp_ns)
{
    static const unsigned char zeros[8];
    const struct record record = {.size = (uint32_t)size, .stamp_ns = stamp_ns};
    if (size > IO_DATAGRAM_MAX)
        return -EMSGSIZE;
    const uint64_t used = out->at - atomic_load_explicit(&out->ring->tail, memory_order_acquire);
    if (used > out->size || padded(size) > out->size - used)
        return -EAGAIN; /* an impossible tail counts as full, which is safe */
    const uint64_t end = out->at + IO_SHM_RECORD + size;
    copy_in(out, out->at, &record, sizeof record);
    copy_in(out, out->at + IO_SHM_RECORD, bytes, size);
    copy_in(out, end, zeros, (size_t)(out->at + padded(size) - end));
    out->at += padded(size);
    atomic_store_explicit(&out->ring->head, out->at, memory_order_release);
    return 0;
}

static void read_on_from(struct io_shm_port *in, uint64_t at)
{
    in->at = at;
    atomic_store_explicit(&in->ring->tail, at, memory_order_release);
}

int io_shm_pull(struct io_shm_port *in, unsigned char bytes[IO_DATAGRAM_MAX], size_t *size,
                uint64_t *stamp_ns)
{
    const uint64_t head = load_head(in);
    const uint64_t waiting = head - in->at;
    struct record record;
    if (waiting == 0)
        return 0;
    if (waiting > in->size || waiting < IO_SHM_RECORD) {
        read_on_from(in, head);
        return -EBADMSG;
    }
    copy_out(in, in->at, &record, sizeof record);
    if (record.size > IO_DATAGRAM_MAX || padded(record.size) > waiting) {
        read_on_from(in, head);
        return -EBADMSG;
    }
    copy_out(in, in->at + IO_SHM_RECORD, bytes, record.size);
    *size = record.size;
    *stamp_ns = record.stamp_ns;
    read_on_from(in, in->at + padded(record.size));
    return 1;
}

/* This reads like a sequence lock: when the sequence has not changed, the message has not either.
 */
bool io_shm_pull_emergency(struct io_shm_port *in, unsigned char bytes[IO_EMERGENCY_MAX],
                           size_t *size)
{
    struct io_shm_ring *ring = in->ring;
    const uint32_t emergency_sequence =
        atomic_load_explicit(&ring->emergency_sequence, memory_order_acquire);
    if (emergency_sequence == in->emergency_sequence || emergency_sequence & 1)
        return false;
    const uint32_t claimed =
        *(volatile uint32_t *)&ring->emergency_size; /* read once: the far end may change it */
    *size = claimed <= IO_EMERGENCY_MAX ? claimed : 0;
    memcpy(bytes, ring->emergency, *size);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&ring->emergency_sequence, memory_order_relaxed) != emergency_sequence)
        return false;
    in->emergency_sequence = emergency_sequence;
    return *size > 0;
}

/* The file. */

static int lock_byte(int fd, int byte, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(fd, F_OFD_SETLK, &lock) < 0 ? -errno : 0;
}

static bool is_locked_by_other(int fd, int byte)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* A process holds this lock for microseconds while it opens or closes, so a second is long enough
 * to wait. */
static int lock_layout(int fd)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    int status = lock_byte(fd, LOCK_LAYOUT, F_WRLCK);
    for (int i = 0; i < LOCK_TRIES && status == -EAGAIN; i++) {
        (void)nanosleep(&pause, NULL);
        status = lock_byte(fd, LOCK_LAYOUT, F_WRLCK);
    }
    return status;
}

static int take_side(struct io_shm *shared)
{
    for (int side = 0; side < 2; side++) {
        const int status = lock_byte(shared->fd, side, F_WRLCK);
        shared->side = side;
        if (status != -EAGAIN && status != -EACCES)
            return status;
    }
    return -EBUSY;
}

static int map(struct io_shm *shared, size_t size)
{
    void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, shared->fd, 0);
    if (mem == MAP_FAILED)
        return -errno;
    if (!rt_guarded_mapping_add(mem, size, &shared->gone)) {
        (void)munmap(mem, size);
        return -ENOMEM;
    }
    shared->mem = mem;
    shared->mem_size = size;
    return 0;
}

static int create_layout(struct io_shm *shared)
{
    if (posix_fallocate(shared->fd, 0, IO_SHM_SIZE) != 0)
        return -ENOSPC;
    const int status = map(shared, IO_SHM_SIZE);
    if (status == 0)
        io_shm_format(shared->mem);
    return status;
}

/* Called with the layout locked: create it in an empty file, or check that it is ours.  A file that
 * could not be formatted is removed, because a later open would refuse its zeros; a process that
 * waits for the lock finds the file without a name and makes a new one. */
static int check_or_create_layout(struct io_shm *shared, const char *name)
{
    struct stat file;
    int status;
    if (fstat(shared->fd, &file) < 0)
        return -errno;
    if (file.st_nlink == 0)
        return -ESTALE; /* the last process left between our open and our lock */
    if (file.st_size == 0) {
        status = create_layout(shared);
        if (status < 0)
            (void)shm_unlink(name);
        return status;
    }
    if ((uint64_t)file.st_size < sizeof(struct io_shm_header))
        return -EPROTO;
    status = map(shared, (size_t)file.st_size);
    return status < 0 ? status : io_shm_check(shared->mem, shared->mem_size);
}

static int join(struct io_shm *shared, const char *name)
{
    int status = lock_layout(shared->fd);
    if (status < 0)
        return status == -EAGAIN ? -EBUSY : status;
    status = check_or_create_layout(shared, name);
    if (status == 0)
        status = take_side(shared);
    if (status == 0)
        io_shm_ports(shared->mem, shared->side, &shared->in, &shared->out);
    (void)lock_byte(shared->fd, LOCK_LAYOUT, F_UNLCK);
    return status;
}

static void object_name(const struct io_bus *bus, char name[IO_BUS_DEVICE_MAX + 1])
{
    const char *device = bus->spec.device;
    (void)snprintf(name, IO_BUS_DEVICE_MAX + 1, "/%s", device + (device[0] == '/'));
}

static void unmap(struct io_shm *shared)
{
    if (shared->mem) {
        rt_guarded_mapping_remove(shared->mem);
        (void)munmap(shared->mem, shared->mem_size);
    }
    if (shared->fd >= 0)
        (void)close(shared->fd); /* this releases the locks as well */
    shared->mem = NULL;
    shared->fd = -1;
}

static int open_error(struct io_bus *bus, int status, uint32_t version, char *error)
{
    char name[IO_BUS_DEVICE_MAX + 1];
    object_name(bus, name);
    if (status == -EPROTONOSUPPORT)
        return io_bus_error(bus, "device", status, error,
                            "/dev/shm%s has layout version %u, this program speaks version %d; "
                            "use the same release of both programs, or remove the file",
                            name, version, IO_SHM_VERSION);
    if (status == -EPROTO || status == -EINVAL)
        return io_bus_error(bus, "device", status, error,
                            "/dev/shm%s is not shared memory of this program%s; choose another "
                            "name, or remove the file",
                            name, status == -EINVAL ? " (its sizes are impossible)" : "");
    if (status == -EBUSY)
        return io_bus_error(
            bus, "device", status, error,
            "both sides of /dev/shm%s are taken (another run?); choose another name", name);
    return io_bus_error(bus, "device", status, error, "cannot use shared memory /dev/shm%s: %s",
                        name, strerror(-status));
}

static void tick(struct io_bus *bus, uint64_t now_ns);

static int open_shared(struct io_bus *bus, char *error)
{
    struct io_shm *shared = &bus->shm;
    char name[IO_BUS_DEVICE_MAX + 1];
    shared->fd = -1;
    object_name(bus, name);
    if (name[1] == '\0' || strchr(name + 1, '/'))
        return io_bus_error(bus, "device", -EINVAL, error,
                            "shared memory needs a name without slashes, such as airbearing-board");
    int status = -ESTALE;
    for (int i = 0; i < OPEN_TRIES && status == -ESTALE; i++) {
        unmap(shared);
        shared->fd = shm_open(name, O_RDWR | O_CREAT, 0600);
        status = shared->fd < 0 ? -errno : join(shared, name);
    }
    if (status < 0) {
        const struct io_shm_header *header = shared->mem;
        const uint32_t version = header ? header->version : 0;
        unmap(shared);
        return open_error(bus, status, version, error);
    }
    tick(bus, 0);
    return 0;
}

/* The last process that closes removes the name. */
static void close_shared(struct io_bus *bus)
{
    struct io_shm *shared = &bus->shm;
    char name[IO_BUS_DEVICE_MAX + 1];
    object_name(bus, name);
    if (lock_layout(shared->fd) == 0 && !is_locked_by_other(shared->fd, 1 - shared->side))
        (void)shm_unlink(name);
    unmap(shared);
}

/* True while the file is as long as it was.  The pages of a shorter one are lost, even before one
 * of them is touched. */
static bool is_whole(struct io_shm *shared)
{
    struct stat file;
    if (fstat(shared->fd, &file) == 0 && (uint64_t)file.st_size < shared->mem_size)
        atomic_store_explicit(&shared->gone, true, memory_order_relaxed);
    return !atomic_load_explicit(&shared->gone, memory_order_relaxed);
}

static void tick(struct io_bus *bus, uint64_t now_ns)
{
    struct io_shm *shared = &bus->shm;
    const bool there = is_whole(shared) && is_locked_by_other(shared->fd, 1 - shared->side);
    (void)now_ns;
    if (there && !io_bus_connected(bus))
        io_bus_peer_arrived(bus, io_address_far_end);
    else if (!there)
        io_bus_peer_left(bus);
}

static int receive(struct io_bus *bus, struct io_packet *packet)
{
    struct io_shm *shared = &bus->shm;
    size_t size = 0;
    uint64_t stamp_ns = 0;
    int status = io_shm_pull(&shared->in, shared->bytes, &size, &stamp_ns);
    if (status == 0)
        status = io_shm_pull_emergency(&shared->in, shared->bytes, &size);
    if (atomic_load_explicit(&shared->gone, memory_order_relaxed)) {
        io_bus_peer_left(bus);
        return 0; /* what was read is not from the far end */
    }
    if (status > 0)
        *packet = (struct io_packet){
            .bytes = shared->bytes,
            .size = size,
            .from = io_address_far_end,
            .stamp_ns = stamp_ns,
            .whole = true,
        };
    return status;
}

static uint64_t wall_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Nothing is written to a ring without a reader: a later process would take it for new. */
static int send_message(struct io_bus *bus, struct io_address to, const void *bytes, size_t size,
                        bool stamped)
{
    (void)to;
    (void)stamped;
    if (!io_bus_connected(bus) || atomic_load_explicit(&bus->shm.gone, memory_order_relaxed))
        return -ENOTCONN;
    return io_shm_push(&bus->shm.out, bytes, size, wall_ns());
}

static void send_emergency(struct io_bus *bus, struct io_address to, const void *bytes, size_t size)
{
    struct io_shm_ring *ring = bus->shm.out.ring;
    uint32_t emergency_sequence =
        atomic_load_explicit(&ring->emergency_sequence, memory_order_relaxed);
    (void)to;
    if (emergency_sequence & 1 ||
        !atomic_compare_exchange_strong_explicit(&ring->emergency_sequence, &emergency_sequence,
                                                 emergency_sequence + 1, memory_order_acquire,
                                                 memory_order_relaxed))
        return; /* another thread is writing one */
    atomic_thread_fence(memory_order_release);
    ring->emergency_size = (uint32_t)size;
    memcpy(ring->emergency, bytes, size);
    atomic_store_explicit(&ring->emergency_sequence, emergency_sequence + 2, memory_order_release);
}

static int watches(const struct io_bus *bus, struct io_bus_watch watch[IO_BUS_WATCH_MAX])
{
    (void)bus;
    (void)watch;
    return 0;
}

static size_t backlog(struct io_bus *bus)
{
    const struct io_shm_port *out = &bus->shm.out;
    const uint64_t used = out->at - atomic_load_explicit(&out->ring->tail, memory_order_relaxed);
    return used > out->size ? out->size : (size_t)used;
}

const struct io_bus_ops io_shm_bus_ops = {
    .traits = {.detects_peer = true,
               .needs_polling = true,
               .keys = IO_BUS_KEYS_DEVICE,
               .example_device = "/board"},
    .open = open_shared,
    .close = close_shared,
    .receive = receive,
    .send = send_message,
    .send_emergency = send_emergency,
    .watches = watches,
    .tick = tick,
    .backlog = backlog,
};
