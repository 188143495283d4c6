/*
 * The keys of external clocks: the sync pulse, and the phase lock to the board's clock.
 */
#include "config/keys/keys.h"

#include "config/scenario.h"

static const char *const sources[] = {
    [SIM_LOCK_TIMESYNC] = "timesync", [SIM_LOCK_ARRIVAL] = "arrival", NULL};

// clang-format off

#define AT(member) .offset = offsetof(struct cfg_keys_lock, member)
static const struct cfg_key lock_keys[] = {
    {"link", CFG_NAME, AT(link), .required = true, .example = "link: board",
     .help = "whose clock the frames follow; pace real"},
    {"source", CFG_CHOICE, AT(source), .choices = sources, .fallback = "timesync",
     .help = "timesync: the board is asked for its time (MAVLink); arrival: its commands come evenly"},
    {"limit_ppm", CFG_QUANTITY, AT(limit_ppm), .limit = CFG_BETWEEN, .min = 1, .max = 10000,
     .fallback = "200", .example = "200", .help = "most that the frame rate may be off nominal"},
    {"time_constant", CFG_QUANTITY, AT(time_constant), .unit = "s", .limit = CFG_BETWEEN,
     .min = 0.1, .max = 600, .fallback = "2 s", .example = "2 s",
     .help = "over which an error goes away"},
    {"period", CFG_QUANTITY, AT(period), .unit = "s", .limit = CFG_BETWEEN, .min = 5e-5, .max = 1,
     .otherwise = "a frame's", .example = "4 ms", .help = "arrival: between two commands of the board"},
};
const struct cfg_table cfg_lock_table = {
    CFG_KEYS("lock", lock_keys), .size = sizeof(struct cfg_keys_lock)};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_pulse, member)
static const struct cfg_key pulse_keys[] = {
    {"to", CFG_TEXT, AT(to), .otherwise = "device", .example = "127.0.0.1:14600",
     .help = "a stopwatch's IPv4 address and port, UDP"},
    {"device", CFG_TEXT, AT(device), .otherwise = "to", .example = "/dev/ttyS0",
     .help = "or a serial line"},
    {"baud", CFG_INTEGER, AT(baud), .limit = CFG_BETWEEN, .min = 50, .max = 20000000,
     .fallback = "921600", .example = "921600", .help = "of the serial line"},
    {"every", CFG_INTEGER, AT(every), .limit = CFG_BETWEEN, .min = 1, .max = 1000000,
     .fallback = "100", .example = "100", .help = "frames between two pulses"},
};
const struct cfg_table cfg_pulse_table = {
    CFG_KEYS("pulse", pulse_keys), .size = sizeof(struct cfg_keys_pulse)};
#undef AT
// clang-format on

const char *cfg_lock_source_name(enum sim_lock_source source)
{
    return sources[source];
}
