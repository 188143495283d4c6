#include "io/bus/spacenav.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/bus/bus_ops.h"

enum { MOTION = 0, PRESS = 1, RELEASE = 2 };
enum { AXES = 6, MESSAGES_PER_RECEIVE = 16 };
/* At most this much of the time between two ticks counts: after a stall of the machine, messages
 * that came in between have yet to be read. */
enum { STEP_MAX_NS = 40000000 };

/* They are stored as the first six axes of the kernel, which have the same names. */
static void set_axes(struct io_hand_report *report, const int32_t counts[AXES])
{
    for (int i = 0; i < AXES; i++) {
        const double share = (double)counts[i] / IO_SPACENAV_FULL;
        report->axis[i] = (float)(share > 1.0 ? 1.0 : share < -1.0 ? -1.0 : share);
    }
}

bool io_spacenav_decode(struct io_hand_report *report, const int32_t word[IO_SPACENAV_WORDS])
{
    const struct io_hand_report before = *report;
    const bool is_button = word[1] >= 0 && word[1] < IO_HAND_BUTTON_COUNT;
    if (word[0] == MOTION)
        set_axes(report, word + 1);
    else if (word[0] == PRESS && is_button)
        report->buttons |= UINT32_C(1) << word[1];
    else if (word[0] == RELEASE && is_button)
        report->buttons &= ~(UINT32_C(1) << word[1]);
    return memcmp(&before, report, sizeof before) != 0;
}

static bool is_deflected(const struct io_hand_report *report)
{
    for (int i = 0; i < AXES; i++)
        if (report->axis[i] != 0.0f)
            return true;
    return false;
}

static int connect_daemon(struct io_bus *bus)
{
    struct io_spacenav *spacenav = &bus->spacenav;
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    if (strlen(bus->spec.device) >= sizeof name.sun_path)
        return -ENAMETOOLONG;
    memcpy(name.sun_path, bus->spec.device, strlen(bus->spec.device));
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (connect(fd, (const struct sockaddr *)&name, sizeof name) < 0) {
        const int status = -errno;
        (void)close(fd);
        return status;
    }
    const int status = io_stable_fd_attach(&spacenav->stable_fd, fd);
    if (status < 0)
        return status;
    spacenav->have = 0;
    spacenav->quiet_ns = 0;
    io_hand_report_neutral(&spacenav->report);
    io_pending_event_set(&spacenav->pending_event);
    io_bus_peer_arrived(bus, io_address_far_end);
    return 0;
}

static void close_spacenav(struct io_bus *bus)
{
    io_stable_fd_close(&bus->spacenav.stable_fd);
    io_pending_event_close(&bus->spacenav.pending_event);
}

static int open_spacenav(struct io_bus *bus, char *error)
{
    struct io_spacenav *spacenav = &bus->spacenav;
    const int stable_fd = io_stable_fd_open(&spacenav->stable_fd);
    const int pending_event = io_pending_event_open(&spacenav->pending_event);
    int status = stable_fd < 0 ? stable_fd : pending_event;
    if (status == 0)
        status = connect_daemon(bus);
    if (status == 0)
        return 0;
    close_spacenav(bus);
    return io_bus_error(bus, "device", status, error,
                        "spacenavd does not answer at %s (%s); start it (`sudo systemctl start "
                        "spacenavd`)",
                        bus->spec.device, strerror(-status));
}

static int detach_daemon(struct io_bus *bus, int status)
{
    io_stable_fd_detach(&bus->spacenav.stable_fd);
    (void)io_pending_event_consume(&bus->spacenav.pending_event);
    io_bus_peer_left(bus);
    return status;
}

static int fill_packet(struct io_spacenav *spacenav, struct io_packet *packet)
{
    spacenav->out = spacenav->report;
    *packet = (struct io_packet){
        .bytes = (const unsigned char *)&spacenav->out,
        .size = IO_HAND_SIZE,
        .from = io_address_far_end,
        .whole = true,
    };
    return 1;
}

/* 1 when a message is complete, 0 when there is none, or -errno. */
static int read_message(struct io_spacenav *spacenav)
{
    const ssize_t got =
        read(spacenav->stable_fd.fd, (unsigned char *)spacenav->word + spacenav->have,
             sizeof spacenav->word - spacenav->have);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    if (got == 0)
        return -ECONNRESET;
    spacenav->have = (spacenav->have + (size_t)got) % sizeof spacenav->word;
    return spacenav->have == 0;
}

static int receive(struct io_bus *bus, struct io_packet *packet)
{
    struct io_spacenav *spacenav = &bus->spacenav;
    if (!spacenav->stable_fd.taken)
        return 0;
    if (io_pending_event_consume(&spacenav->pending_event))
        return fill_packet(spacenav, packet);
    for (int i = 0; i < MESSAGES_PER_RECEIVE; i++) {
        const int status = read_message(spacenav);
        if (status < 0)
            return detach_daemon(bus, status);
        if (status == 0)
            return 0;
        if (spacenav->word[0] == MOTION)
            spacenav->quiet_ns = 0;
        if (io_spacenav_decode(&spacenav->report, spacenav->word))
            return fill_packet(spacenav, packet);
    }
    return 0;
}

/* The daemon does not report that the controller was released. */
static void detect_rest(struct io_spacenav *spacenav, uint64_t step_ns)
{
    spacenav->quiet_ns += step_ns < STEP_MAX_NS ? step_ns : STEP_MAX_NS;
    if (spacenav->quiet_ns < IO_SPACENAV_QUIET_NS || !is_deflected(&spacenav->report))
        return;
    memset(spacenav->report.axis, 0, sizeof spacenav->report.axis);
    io_pending_event_set(&spacenav->pending_event);
}

static void tick(struct io_bus *bus, uint64_t now_ns)
{
    struct io_spacenav *spacenav = &bus->spacenav;
    const uint64_t step_ns = now_ns - spacenav->ticked_ns;
    spacenav->ticked_ns = now_ns;
    if (spacenav->stable_fd.taken) {
        detect_rest(spacenav, step_ns);
        spacenav->wait_ns = spacenav->retry_ns = 0;
    } else if (spacenav->retry_ns == 0) { /* a daemon that ends still accepts for a moment */
        spacenav->retry_ns = now_ns + io_bus_back_off(&spacenav->wait_ns);
    } else if (now_ns >= spacenav->retry_ns) {
        spacenav->retry_ns = now_ns + io_bus_back_off(&spacenav->wait_ns);
        (void)connect_daemon(bus);
    }
}

static int watches(const struct io_bus *bus, struct io_bus_watch watch[IO_BUS_WATCH_MAX])
{
    watch[0] = (struct io_bus_watch){.fd = bus->spacenav.stable_fd.fd};
    watch[1] = (struct io_bus_watch){.fd = bus->spacenav.pending_event.fd};
    return bus->spacenav.stable_fd.taken ? 2 : 0;
}

const struct io_bus_ops io_spacenav_bus_ops = {
    .traits = {.detects_peer = true,
               .makes_hands = true,
               .keys = IO_BUS_KEYS_DEVICE,
               .usual_device = IO_SPACENAV_SOCKET},
    .open = open_spacenav,
    .close = close_spacenav,
    .receive = receive,
    .watches = watches,
    .tick = tick,
};
