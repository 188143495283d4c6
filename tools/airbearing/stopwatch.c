/*
 * airbearing stopwatch: stamps the pulses of a run with a clock that is not the run's.
 *
 * It is a process of its own, on this machine or another.  UDP pulses are stamped by the kernel as
 * they come in, those of a serial line when this program has read their last byte.
 *
 * Tested by tests/scenario/timing/test_stopwatch.py.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/resolve/resolve.h"
#include "io/link/sync_pulse.h"
#include "rt/clock.h"
#include "rt/panic.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/timing/external_clock.h"

static const char usage[] =
    "usage: airbearing stopwatch (--listen ADDRESS:PORT | --device TTY) --out FILE [options]\n"
    "\n"
    "Stamp the pulses that a run with `pulse:` in its scenario sends at the start of its frames.\n"
    "Start it before the run; it ends with the run.  airbearing timing LOG --truth FILE compares\n"
    "its clock with the run's.\n"
    "\n"
    "  --listen ADDRESS:PORT   UDP, as in pulse: {to: 127.0.0.1:14600}; the kernel stamps\n"
    "  --device TTY            a serial line; this program stamps, because the kernel has no "
    "stamp\n"
    "  --baud N                of the serial line (921600)\n"
    "  --out FILE              one line for each pulse\n"
    "  --seconds S             end after so long at the latest\n"
    "\n"
    "Exit: 0 pulses came; 1 none came; 2 the line or FILE cannot be opened; 64 usage.\n";

struct stopwatch {
    struct io_bus_spec spec;
    const char *out;
    double seconds; /* 0: until the run or a signal ends it */

    struct io_bus bus;
    struct io_sync_pulse_stream stream;
    FILE *file;
    uint64_t pulses, bad; /* bad: datagrams that were not a pulse */
    bool over;            /* the run has sent its end */
};

static int usage_error(const char *what, const char *value)
{
    fprintf(stderr, "airbearing stopwatch: %s \"%s\"; see airbearing stopwatch --help\n", what,
            value);
    return EXIT_USAGE;
}

static int decode_stream(struct io_bus_spec *spec, enum io_bus_kind kind, const char *value)
{
    char *to = kind == IO_BUS_UDP ? spec->listen : spec->device;
    const size_t room = kind == IO_BUS_UDP ? sizeof spec->listen : sizeof spec->device;
    if (spec->listen[0] != '\0' || spec->device[0] != '\0')
        return usage_error("give only one of --listen and --device; the second is", value);
    if (kind == IO_BUS_UDP && !cfg_is_address(value))
        return usage_error("--listen needs an IPv4 address and a port, 127.0.0.1:14600, not",
                           value);
    if (value[0] == '\0' || strlen(value) >= room)
        return usage_error("--device needs the path of a serial line, not", value);
    spec->kind = kind;
    strcpy(to, value);
    return 0;
}

static int take_number(const char *option, const char *value, double least, double most,
                       double *number)
{
    char *rest;
    *number = strtod(value, &rest);
    if (rest != value && *rest == '\0' && *number >= least && *number <= most)
        return 0;
    fprintf(stderr, "airbearing stopwatch: %s needs a number from %g to %g, not \"%s\"\n", option,
            least, most, value);
    return EXIT_USAGE;
}

static int take_option(struct stopwatch *watch, int option, const char *value)
{
    double baud = 0.0;
    int code;
    switch (option) {
    case 'l':
        return decode_stream(&watch->spec, IO_BUS_UDP, value);
    case 'd':
        return decode_stream(&watch->spec, IO_BUS_SERIAL, value);
    case 'b':
        code = take_number("--baud", value, 50.0, 2e7, &baud);
        watch->spec.baud = (uint32_t)baud;
        return code;
    case 's':
        return take_number("--seconds", value, 1e-3, 1e7, &watch->seconds);
    case 'o':
        watch->out = value;
        return 0;
    default:
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
}

static int read_options(int argc, char **argv, struct stopwatch *watch, bool *done)
{
    static const struct option table[] = {{"help", no_argument, NULL, 'h'},
                                          {"listen", required_argument, NULL, 'l'},
                                          {"device", required_argument, NULL, 'd'},
                                          {"baud", required_argument, NULL, 'b'},
                                          {"out", required_argument, NULL, 'o'},
                                          {"seconds", required_argument, NULL, 's'},
                                          {0}};
    for (int option; (option = getopt_long(argc, argv, "h", table, NULL)) != -1;) {
        if (option == 'h') {
            fputs(usage, stdout);
            *done = true;
            return EXIT_OK;
        }
        const int code = take_option(watch, option, optarg);
        if (code)
            return code;
    }
    const bool has_wire = watch->spec.listen[0] != '\0' || watch->spec.device[0] != '\0';
    if (optind == argc && has_wire && watch->out)
        return EXIT_OK;
    fputs(usage, stderr);
    return EXIT_USAGE;
}

/* ---- stamping -------------------------------------------------------------------------- */

static uint64_t realtime_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void write_down(struct stopwatch *watch, const struct io_sync_pulse_message *pulse,
                       uint64_t stamp_ns, bool kernel)
{
    if (pulse->last) {
        watch->over =
            watch->pulses > 0; /* a file of an earlier run is removed if no pulse has come */
        return;
    }
    watch->pulses++;
    fprintf(watch->file, "%lu,%llu,%llu,%llu,%llu,%d\n", (unsigned long)pulse->sequence,
            (unsigned long long)pulse->frame, (unsigned long long)pulse->sim_ns,
            (unsigned long long)pulse->sent_ns, (unsigned long long)stamp_ns, kernel);
}

static void decode_packet(struct stopwatch *watch, const struct io_packet *packet)
{
    const bool kernel = packet->stamp_ns != 0;
    const uint64_t stamp_ns = kernel ? packet->stamp_ns : realtime_ns();
    struct io_sync_pulse_message pulse;
    if (!io_bus_is_stream(&watch->bus)) {
        if (io_sync_pulse_decode(packet->bytes, packet->size, &pulse))
            write_down(watch, &pulse, stamp_ns, kernel);
        else
            watch->bad++;
        return;
    }
    for (size_t i = 0; i < packet->size; i++)
        if (io_sync_pulse_feed(&watch->stream, packet->bytes[i], &pulse))
            write_down(watch, &pulse, stamp_ns, kernel);
}

/* Wait for a pulse, or for the next check of signals and time. */
static void wait_for_bytes(const struct io_bus *bus)
{
    const struct timespec while_idle = {.tv_nsec = 20000000};
    struct io_bus_watch on[IO_BUS_WATCH_MAX];
    struct pollfd watch[IO_BUS_WATCH_MAX];
    const int count = io_bus_watches(bus, on);
    for (int i = 0; i < count; i++)
        watch[i] = (struct pollfd){.fd = on[i].fd, .events = POLLIN};
    (void)ppoll(watch, (nfds_t)count, &while_idle, NULL);
}

static void record_pulses(struct stopwatch *watch)
{
    const uint64_t begin_ns = rt_now_ns();
    const uint64_t limit_ns = (uint64_t)llround(watch->seconds * 1e9);
    while (!watch->over && !rt_stop_signal() &&
           (limit_ns == 0 || rt_now_ns() - begin_ns < limit_ns)) {
        struct io_packet packet;
        wait_for_bytes(&watch->bus);
        while (io_bus_receive(&watch->bus, &packet) > 0)
            decode_packet(watch, &packet);
        io_bus_tick(&watch->bus, rt_now_ns());
    }
}

static int print_error(const char *what, const char *why)
{
    fprintf(stderr, "airbearing stopwatch: %s: %s\n", what, why);
    return EXIT_BAD_INPUT;
}

static int open_all(struct stopwatch *watch)
{
    char error[IO_BUS_ERROR_MAX];
    watch->spec.name = "stopwatch";
    if (io_bus_open(&watch->bus, &watch->spec, error) < 0)
        return print_error(watch->spec.kind == IO_BUS_UDP ? watch->spec.listen : watch->spec.device,
                           strchr(error, ' ') ? strchr(error, ' ') + 1 : error);
    watch->file = fopen(watch->out, "we");
    if (!watch->file) {
        io_bus_close(&watch->bus);
        return print_error(watch->out, strerror(errno));
    }
    (void)setvbuf(watch->file, NULL, _IOLBF, BUFSIZ);
    fprintf(watch->file, "%s\n%s\n", external_clock_title, external_clock_columns);
    return 0;
}

static int close_all(struct stopwatch *watch)
{
    io_bus_close(&watch->bus);
    const bool is_lost = ferror(watch->file) != 0;
    if (fclose(watch->file) != 0 || is_lost)
        return print_error(watch->out, "cannot be written");
    printf("%llu pulses stamped, %llu datagrams and %llu bytes were something else\n",
           (unsigned long long)watch->pulses, (unsigned long long)watch->bad,
           (unsigned long long)watch->stream.skipped);
    return watch->pulses > 0 ? EXIT_OK : EXIT_VERDICT_NO;
}

int command_stopwatch(int argc, char **argv)
{
    static struct stopwatch watch = {.spec = {.baud = 921600}};
    bool done = false;
    int code = read_options(argc, argv, &watch, &done);
    if (code || done)
        return code;
    rt_stop_on_signals();
    code = open_all(&watch);
    if (code)
        return code;
    record_pulses(&watch);
    return close_all(&watch);
}
