#include "io/bus/evdev.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/input.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "io/bus/bus_ops.h"

_Static_assert(sizeof(struct input_event) == IO_EVDEV_EVENT_SIZE,
               "the size of the events of the kernel");

enum { NUMBER_MAX = 64 }; /* event0 to event63 are searched for a name */

static const char by_name[] = "name:";

/* The kernel. */

static int query_axes(int fd, struct io_evdev_info *facts)
{
    unsigned char bits[ABS_CNT / 8] = {0};
    if (ioctl(fd, EVIOCGBIT(EV_ABS, sizeof bits), bits) < 0)
        return -errno;
    for (int i = 0; i < IO_HAND_AXIS_COUNT; i++) {
        struct input_absinfo info;
        if (!(bits[i / 8] >> (i % 8) & 1))
            continue;
        if (ioctl(fd, EVIOCGABS((unsigned)i), &info) < 0)
            return -errno;
        facts->axes |= UINT32_C(1) << i;
        facts->axis[i] = (struct io_evdev_axis){info.minimum, info.maximum, info.value};
    }
    return 0;
}

/* Stamps on CLOCK_MONOTONIC, the clock of the frames, need no mapping. */
static int query_kernel(int fd, struct io_evdev_info *facts)
{
    const int clock = CLOCK_MONOTONIC;
    memset(facts, 0, sizeof *facts);
    if (ioctl(fd, EVIOCSCLOCKID, &clock) < 0 ||
        ioctl(fd, EVIOCGNAME(sizeof facts->name - 1), facts->name) < 0 ||
        ioctl(fd, EVIOCGBIT(EV_KEY, sizeof facts->keys), facts->keys) < 0 ||
        ioctl(fd, EVIOCGKEY(sizeof facts->down), facts->down) < 0)
        return -errno;
    return query_axes(fd, facts);
}

static const struct io_evdev_host machine = {
    .names = "/sys/class/input", .devices = "/dev/input", .query = query_kernel};

/* Names.  They are read from sysfs, because opening a device costs more and may not be allowed. */

/* Read a line, without its end; false when there is none. */
static bool read_line(const struct io_evdev_host *host, int number, const char *what, char *line,
                      size_t size)
{
    char path[IO_BUS_DEVICE_MAX];
    (void)snprintf(path, sizeof path, "%s/event%d/device/%s", host->names, number, what);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t got = read(fd, line, size - 1);
    (void)close(fd);
    line[got > 0 ? got : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return got > 0;
}

/* The number of the first device with this name, or -1. */
static int find_device(const struct io_evdev_host *host, const char *name)
{
    char line[IO_EVDEV_NAME_MAX];
    for (int i = 0; i < NUMBER_MAX; i++)
        if (read_line(host, i, "name", line, sizeof line) && strcmp(line, name) == 0)
            return i;
    return -1;
}

/* List the devices that have axes, by path and name, as far as there is room. */
static void list_devices(const struct io_evdev_host *host, char *text, size_t size)
{
    char name[IO_EVDEV_NAME_MAX], axes[IO_EVDEV_NAME_MAX];
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < NUMBER_MAX && used < size; i++)
        if (read_line(host, i, "capabilities/abs", axes, sizeof axes) && strcmp(axes, "0") != 0 &&
            read_line(host, i, "name", name, sizeof name))
            used += (size_t)snprintf(text + used, size - used, "%s%s/event%d \"%s\"",
                                     used ? ", " : "", host->devices, i, name);
}

/* The device. */

static bool is_named(const struct io_bus *bus)
{
    return strncmp(bus->spec.device, by_name, strlen(by_name)) == 0;
}

/* A descriptor, or -errno. */
static int open_path(const struct io_bus *bus)
{
    const struct io_evdev_host *host = bus->evdev.host;
    const char *path = bus->spec.device;
    char found[IO_BUS_DEVICE_MAX];
    if (is_named(bus)) {
        const int number = find_device(host, path + strlen(by_name));
        if (number < 0)
            return -ENODEV;
        (void)snprintf(found, sizeof found, "%s/event%d", host->devices, number);
        path = found;
    }
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/* -ENODATA: the device has no axes; -EXDEV: it is another device than before. */
static int check_device(const struct io_evdev *evdev, int fd, struct io_evdev_info *facts)
{
    const int status = evdev->host->query(fd, facts);
    if (status < 0)
        return status;
    if (facts->axes == 0)
        return -ENODATA;
    return evdev->name[0] != '\0' && strcmp(evdev->name, facts->name) != 0 ? -EXDEV : 0;
}

static int open_device(struct io_bus *bus)
{
    struct io_evdev *evdev = &bus->evdev;
    struct io_evdev_info facts;
    const int fd = open_path(bus);
    if (fd < 0)
        return fd;
    int status = check_device(evdev, fd, &facts);
    if (status < 0) {
        (void)close(fd);
        return status;
    }
    status = io_stable_fd_attach(&evdev->stable_fd, fd);
    if (status < 0)
        return status;
    memcpy(evdev->name, facts.name, sizeof evdev->name);
    evdev->at = evdev->count = 0;
    io_evdev_decoder_reset(&evdev->input, &facts);
    io_pending_event_set(&evdev->pending_event);
    io_bus_peer_arrived(bus, io_address_far_end);
    return 0;
}

static int absent_error(struct io_bus *bus, int status, char *error)
{
    char there[IO_BUS_ERROR_MAX];
    list_devices(bus->evdev.host, there, sizeof there);
    if (there[0] == '\0')
        return io_bus_error(bus, "device", status, error,
                            "there is no %s, nor any other input device with axes; plug it in, or "
                            "play a tape (bus: tape)",
                            bus->spec.device);
    return io_bus_error(bus, "device", status, error,
                        "there is no input device %s; the input devices with axes are %s",
                        bus->spec.device, there);
}

static int open_error(struct io_bus *bus, int status, char *error)
{
    const char *device = bus->spec.device;
    if (status == -ENOENT || status == -ENODEV || status == -ENXIO)
        return absent_error(bus, status, error);
    if (status == -EACCES || status == -EPERM)
        return io_bus_error(bus, "device", status, error,
                            "no permission for %s; add the user to its group (`sudo usermod -aG "
                            "input $USER`, then log in again)",
                            device);
    if (status == -ENOTTY || status == -EINVAL)
        return io_bus_error(
            bus, "device", status, error,
            "%s is not an event device; a joystick's is called /dev/input/eventN, not "
            "jsN",
            device);
    if (status == -ENODATA)
        return io_bus_error(bus, "device", status, error, "%s has no axes; is it a keyboard?",
                            device);
    return io_bus_error(bus, "device", status, error, "cannot open %s: %s", device,
                        strerror(-status));
}

static void close_evdev(struct io_bus *bus)
{
    io_stable_fd_close(&bus->evdev.stable_fd);
    io_pending_event_close(&bus->evdev.pending_event);
}

static int open_evdev(struct io_bus *bus, char *error)
{
    struct io_evdev *evdev = &bus->evdev;
    evdev->host = bus->spec.input ? bus->spec.input : &machine;
    const int stable_fd = io_stable_fd_open(&evdev->stable_fd);
    const int pending_event = io_pending_event_open(&evdev->pending_event);
    int status = stable_fd < 0 ? stable_fd : pending_event;
    if (status < 0)
        (void)io_bus_error(bus, "device", status, error, "no file descriptor is left: %s",
                           strerror(-status));
    else if ((status = open_device(bus)) < 0)
        (void)open_error(bus, status, error);
    if (status < 0)
        close_evdev(bus);
    return status;
}

static int detach_device(struct io_bus *bus, int status)
{
    io_stable_fd_detach(&bus->evdev.stable_fd);
    bus->evdev.at = bus->evdev.count = 0;
    (void)io_pending_event_consume(&bus->evdev.pending_event);
    io_bus_peer_left(bus);
    return status;
}

/* Receiving. */

static int fill_packet(struct io_evdev *evdev, uint64_t stamp_ns, struct io_packet *packet)
{
    evdev->out = evdev->input.report;
    *packet = (struct io_packet){
        .bytes = (const unsigned char *)&evdev->out,
        .size = IO_HAND_SIZE,
        .from = io_address_far_end,
        .stamp_ns = stamp_ns,
        .monotonic = true,
        .whole = true,
    };
    return 1;
}

/* The number of events that were read, 0 when there are none, or -errno. */
static int read_events(struct io_evdev *evdev)
{
    const ssize_t size = read(evdev->stable_fd.fd, evdev->events, sizeof evdev->events);
    if (size < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    if (size == 0 || size % IO_EVDEV_EVENT_SIZE != 0)
        return -EIO;
    evdev->at = 0;
    evdev->count = (int)(size / IO_EVDEV_EVENT_SIZE);
    return evdev->count;
}

/* Events that were read before are older than the queried state, and the kernel drops queued events
 * of what it is queried for.  The rest is therefore skipped: decoding it would bring back an old
 * state. */
static int resynchronise(struct io_evdev *evdev)
{
    struct io_evdev_info facts;
    const int status = evdev->host->query(evdev->stable_fd.fd, &facts);
    evdev->at = evdev->count;
    if (status == 0)
        io_evdev_decoder_reset(&evdev->input, &facts);
    return status;
}

/* 1 with the next report among the events that were read, 0 or -errno. */
static int decode_next(struct io_evdev *evdev, struct io_packet *packet)
{
    while (evdev->at < evdev->count) {
        struct input_event event;
        memcpy(&event, evdev->events + evdev->at++ * IO_EVDEV_EVENT_SIZE, sizeof event);
        const enum io_evdev_result result = io_evdev_decode(&evdev->input, &event);
        const int status = result == IO_EVDEV_DROPPED ? resynchronise(evdev) : 0;
        if (status < 0)
            return status;
        if (result != IO_EVDEV_INCOMPLETE)
            return fill_packet(evdev,
                               (uint64_t)event.input_event_sec * 1000000000u +
                                   (uint64_t)event.input_event_usec * 1000u,
                               packet);
    }
    return 0;
}

static int receive(struct io_bus *bus, struct io_packet *packet)
{
    struct io_evdev *evdev = &bus->evdev;
    if (!evdev->stable_fd.taken)
        return 0;
    if (io_pending_event_consume(&evdev->pending_event))
        return fill_packet(evdev, 0, packet);
    int status = decode_next(evdev, packet);
    if (status == 0 && (status = read_events(evdev)) > 0)
        status = decode_next(evdev, packet);
    return status < 0 ? detach_device(bus, status) : status;
}

static void tick(struct io_bus *bus, uint64_t now_ns)
{
    struct io_evdev *evdev = &bus->evdev;
    if (evdev->stable_fd.taken) {
        evdev->wait_ns = evdev->retry_ns = 0;
    } else if (now_ns >= evdev->retry_ns) {
        evdev->retry_ns = now_ns + io_bus_back_off(&evdev->wait_ns);
        (void)open_device(bus);
    }
}

static int watches(const struct io_bus *bus, struct io_bus_watch watch[IO_BUS_WATCH_MAX])
{
    watch[0] = (struct io_bus_watch){.fd = bus->evdev.stable_fd.fd};
    watch[1] = (struct io_bus_watch){.fd = bus->evdev.pending_event.fd};
    return bus->evdev.stable_fd.taken ? 2 : 0;
}

const struct io_bus_ops io_evdev_bus_ops = {
    .traits = {.detects_peer = true,
               .makes_hands = true,
               .keys = IO_BUS_KEYS_DEVICE,
               .example_device = "/dev/input/event0"},
    .open = open_evdev,
    .close = close_evdev,
    .receive = receive,
    .watches = watches,
    .tick = tick,
};
