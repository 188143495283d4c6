#include "io/bus/serial.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/serial.h>
#include <linux/tty_flags.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "io/bus/bus_ops.h"
#include "rt/check.h"

static bool set_low_latency(int fd)
{
    struct serial_struct line;
    memset(&line, 0, sizeof line);
    if (ioctl(fd, TIOCGSERIAL, &line) < 0)
        return false;
    line.flags = (int)((unsigned)line.flags | ASYNC_LOW_LATENCY);
    return ioctl(fd, TIOCSSERIAL, &line) == 0;
}

static int set_rs485(int fd)
{
    const struct serial_rs485 mode = {.flags = SER_RS485_ENABLED | SER_RS485_RTS_ON_SEND};
    return ioctl(fd, TIOCSRS485, &mode) < 0 ? -errno : 0;
}

/* The step that failed, so that the error line can say what to do. */
enum step { STEP_OPEN, STEP_LOCK, STEP_LINE, STEP_RS485, STEP_ATTACH };
struct outcome {
    int status;
    enum step step;
    uint32_t baud;
};

static struct outcome set_up(struct io_bus *bus, int fd)
{
    const struct io_bus_spec *spec = &bus->spec;
    struct outcome outcome = {.step = STEP_LOCK};
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 || ioctl(fd, TIOCEXCL) < 0) {
        outcome.status = errno == EWOULDBLOCK ? -EBUSY : -errno;
        return outcome;
    }
    outcome.step = STEP_LINE;
    outcome.status = io_baud_set(fd, spec->baud, &outcome.baud);
    if (outcome.status == 0 && spec->rs485) {
        outcome.step = STEP_RS485;
        outcome.status = set_rs485(fd);
    }
    return outcome;
}

/* The lock and the exclusive mode belong to the open device, which a thread that still sleeps on it
 * may keep open after our close. */
static void unlock_device(int fd)
{
    (void)ioctl(fd, TIOCNXCL);
    (void)flock(fd, LOCK_UN);
}

static struct outcome open_device(struct io_bus *bus)
{
    const int flags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
    const int fd = open(bus->spec.device, flags);
    if (fd < 0)
        return (struct outcome){.status = -errno, .step = STEP_OPEN};
    struct outcome outcome = set_up(bus, fd);
    if (outcome.status < 0) {
        if (outcome.step != STEP_LOCK)
            unlock_device(fd);
        (void)close(fd);
        return outcome;
    }
    struct io_serial *serial = &bus->serial;
    serial->low_latency = set_low_latency(fd);
    serial->partial.at = serial->partial.size = 0;
    outcome.step = STEP_ATTACH;
    outcome.status = io_stable_fd_attach(&serial->stable_fd, fd);
    if (outcome.status == 0)
        io_bus_peer_arrived(bus, io_address_far_end);
    return outcome;
}

static int baud_error(struct io_bus *bus, const struct outcome *outcome, char *error)
{
    const char *device = bus->spec.device;
    if (outcome->status == -ERANGE)
        return io_bus_error(bus, "baud", outcome->status, error,
                            "%s cannot do %u baud, the nearest it has is %u", device,
                            bus->spec.baud, outcome->baud);
    if (outcome->status == -ENOTTY)
        return io_bus_error(bus, "device", outcome->status, error, "%s is not a serial device",
                            device);
    return io_bus_error(bus, "baud", outcome->status, error, "%s refuses %u baud: %s", device,
                        bus->spec.baud, strerror(-outcome->status));
}

static int open_error(struct io_bus *bus, const struct outcome *outcome, char *error)
{
    const char *device = bus->spec.device;
    const int status = outcome->status;
    if (status == -ENOTTY && outcome->step == STEP_LOCK)
        return baud_error(bus, outcome, error);
    if (status == -ENOENT || status == -ENXIO || status == -ENODEV)
        return io_bus_error(
            bus, "device", status, error,
            "there is no device %s; is the board plugged in? `ls /dev/serial/by-id` "
            "shows those that are",
            device);
    if (status == -EACCES && outcome->step == STEP_OPEN)
        return io_bus_error(bus, "device", status, error,
                            "no permission for %s; add the user to its group (`sudo usermod -aG "
                            "dialout $USER`, then log in again)",
                            device);
    if (status == -EBUSY)
        return io_bus_error(bus, "device", status, error,
                            "%s is in use by another program; `fuser %s` shows which", device,
                            device);
    if (outcome->step == STEP_RS485)
        return io_bus_error(bus, "rs485", status, error,
                            "the driver of %s has no RS-485 mode (%s); leave rs485 out if the "
                            "adapter switches direction by itself",
                            device, strerror(-status));
    if (outcome->step == STEP_LINE)
        return baud_error(bus, outcome, error);
    return io_bus_error(bus, "device", status, error, "cannot open %s: %s", device,
                        strerror(-status));
}

static void close_serial(struct io_bus *bus)
{
    if (bus->serial.stable_fd.taken)
        unlock_device(bus->serial.stable_fd.fd);
    io_stable_fd_close(&bus->serial.stable_fd);
}

static int open_serial(struct io_bus *bus, char *error)
{
    if (bus->spec.device[0] == '\0')
        return io_bus_error(bus, "device", -EINVAL, error,
                            "a serial link needs a device such as /dev/ttyACM0");
    if (bus->spec.baud == 0)
        return io_bus_error(bus, "baud", -EINVAL, error,
                            "a serial link needs its baud rate, such as 921600");
    const int status = io_stable_fd_open(&bus->serial.stable_fd);
    if (status < 0)
        return io_bus_error(bus, "device", status, error, "no file descriptor is left: %s",
                            strerror(-status));
    const struct outcome outcome = open_device(bus);
    if (outcome.status == 0)
        return 0;
    close_serial(bus);
    return open_error(bus, &outcome, error);
}

static void drop(struct io_bus *bus)
{
    if (!bus->serial.stable_fd.taken)
        return;
    (void)tcflush(bus->serial.stable_fd.fd, TCIOFLUSH); /* or the close may wait until it is sent */
    unlock_device(bus->serial.stable_fd.fd);
    io_stable_fd_detach(&bus->serial.stable_fd);
    io_bus_peer_left(bus);
}

static int receive(struct io_bus *bus, struct io_packet *packet)
{
    struct io_serial *serial = &bus->serial;
    if (!serial->stable_fd.taken)
        return 0;
    const ssize_t size = read(serial->stable_fd.fd, serial->bytes, sizeof serial->bytes);
    if (size < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (size <= 0) {
        const int status = size == 0 ? -EIO : -errno;
        drop(bus);
        return status;
    }
    *packet = (struct io_packet){
        .bytes = serial->bytes,
        .size = (size_t)size,
        .from = io_address_far_end,
        .whole = true,
    };
    return 1;
}

/* A line that accepts nothing returns 0 or EAGAIN. */
static ssize_t write_some(void *self, const void *bytes, size_t size)
{
    const struct io_serial *serial = self;
    const ssize_t taken = write(serial->stable_fd.fd, bytes, size);
    if (taken > 0)
        return taken;
    return taken == 0 || errno == EINTR ? -EAGAIN : -errno;
}

static int send_frame(struct io_bus *bus, struct io_address to, const void *bytes, size_t size,
                      bool stamped)
{
    struct io_serial *serial = &bus->serial;
    (void)to;
    (void)stamped;
    if (!serial->stable_fd.taken)
        return -ENOTCONN;
    const int status = io_partial_send(&serial->partial, write_some, serial, bytes, size);
    if (status < 0 && status != -EAGAIN && status != -EMSGSIZE)
        drop(bus);
    return status;
}

static void tick(struct io_bus *bus, uint64_t now_ns)
{
    struct io_serial *serial = &bus->serial;
    if (serial->stable_fd.taken) {
        const int status = io_partial_flush(&serial->partial, write_some, serial);
        serial->wait_ns = serial->retry_ns = 0;
        if (status < 0 && status != -EAGAIN)
            drop(bus);
    } else if (now_ns >= serial->retry_ns) {
        serial->retry_ns = now_ns + io_bus_back_off(&serial->wait_ns);
        (void)open_device(bus);
    }
}

static void send_emergency(struct io_bus *bus, struct io_address to, const void *bytes, size_t size)
{
    const ssize_t taken = write(bus->serial.stable_fd.fd, bytes, size);
    (void)to;
    (void)taken;
}

static int watches(const struct io_bus *bus, struct io_bus_watch watch[IO_BUS_WATCH_MAX])
{
    watch[0] = (struct io_bus_watch){.fd = bus->serial.stable_fd.fd};
    return bus->serial.stable_fd.taken;
}

static size_t backlog(struct io_bus *bus)
{
    const struct io_serial *serial = &bus->serial;
    int waiting = 0;
    if (!serial->stable_fd.taken || ioctl(serial->stable_fd.fd, TIOCOUTQ, &waiting) < 0 ||
        waiting < 0)
        return 0;
    return (size_t)waiting + serial->partial.size - serial->partial.at;
}

const struct io_bus_ops io_serial_bus_ops = {
    .traits = {.stream = true,
               .detects_peer = true,
               .keys = IO_BUS_KEYS_DEVICE | IO_BUS_KEYS_SERIAL,
               .example_device = "/dev/ttyACM0"},
    .open = open_serial,
    .close = close_serial,
    .receive = receive,
    .send = send_frame,
    .send_emergency = send_emergency,
    .watches = watches,
    .tick = tick,
    .backlog = backlog,
};
