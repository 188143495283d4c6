/*
 * How often each message of a link leaves, and whether the wire can carry that.
 */
#include <math.h>

#include "config/resolve/resolve.h"
#include "rt/executive/output/sensor_types.h"

static const char *const message_key[IO_MESSAGE_COUNT] = {
#define MESSAGE_KEY(name, key, job, help) key,
    IO_MESSAGE_LIST(MESSAGE_KEY)
#undef MESSAGE_KEY
};

/* A board that lets so many sensor messages go by without a command is late.  In lockstep, and as
 * fast as it goes, real time means nothing to the run: there a board is slow, never late. */
enum { LATE_PERIODS = 4 };

static bool can_be_late(const struct cfg_scenario *scenario, const struct sim_link *link)
{
    return scenario->spec.pace == RT_PACE_REAL && !io_protocol_traits(link->spec.protocol)->hands;
}

static bool feeds(const struct sim_sensor *sensor, int message)
{
    return sim_sensor_types[sensor->kind].message == 1u << message;
}

/* The slowest instrument that feeds the message; 0: there is none. */
static uint32_t device_every(const struct cfg_scenario *scenario, int message)
{
    uint32_t every = 0;
    for (int i = 0; i < scenario->spec.sensor_count; i++)
        if (feeds(&scenario->spec.sensors[i], message) && scenario->spec.sensors[i].every > every)
            every = scenario->spec.sensors[i].every;
    return every;
}

/* A default rate is rounded to the frame grid. */
static uint32_t usual_every(const struct cfg_scenario *scenario, int usual, int message)
{
    if (usual == IO_RATE_NONE || usual == IO_RATE_NEVER)
        return 0;
    if (usual == IO_RATE_FRAME)
        return 1;
    if (usual == IO_RATE_DEVICE)
        return device_every(scenario, message);
    const double frames = nearbyint(scenario->spec.rate_hz / usual);
    return frames > 1.0 ? (uint32_t)frames : 1;
}

/* A written rate must lie on the grid. */
static bool resolve_send(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                         int message, uint32_t *every)
{
    const double rate_hz = keys->send.rate[message];
    const int usual = io_protocol_traits((enum io_protocol_kind)keys->protocol)->usual_hz[message];
    *every = isnan(rate_hz) ? usual_every(resolve->scenario, usual, message) : 0;
    if (isnan(rate_hz) || rate_hz == 0.0)
        return true;
    if (usual == IO_RATE_NONE)
        return cfg_fail_at(resolve->report, keys->send.node, message_key[message],
                           "%s has no such message; remove it",
                           cfg_protocol_name((enum io_protocol_kind)keys->protocol));
    if (usual == IO_RATE_DEVICE && device_every(resolve->scenario, message) == 0)
        return cfg_fail_at(resolve->report, keys->send.node, message_key[message],
                           "no instrument feeds this message; add one to devices, or remove it");
    return cfg_frames_per(resolve, keys->send.node, message_key[message], rate_hz, every);
}

static int angle_count(const struct cfg_scenario *scenario)
{
    int count = 0;
    for (int i = 0; i < scenario->spec.sensor_count; i++)
        count += feeds(&scenario->spec.sensors[i], IO_MESSAGE_ANGLES);
    return count;
}

/* A serial line carries one byte in ten bits; what does not fit piles up and makes samples late. */
static bool check_budget(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                         const struct sim_link *link)
{
    double hz[IO_MESSAGE_COUNT];
    for (int m = 0; m < IO_MESSAGE_COUNT; m++)
        hz[m] = link->every[m] ? resolve->scenario->spec.rate_hz / link->every[m] : 0.0;
    const struct io_protocol_spec spec = {.kind = link->spec.protocol};
    const double load = io_protocol_bandwidth(&spec, hz, angle_count(resolve->scenario)) +
                        (link->spec.queries_time ? IO_LINK_TIMESYNC_LOAD : 0);
    const double room = link->spec.bus.baud / 10.0;
    if (link->spec.bus.kind != IO_BUS_SERIAL || load <= room)
        return true;
    return cfg_fail_at(resolve->report, keys->node, "baud",
                       "the messages of this link are %.0f bytes a second and %u baud carry %.0f; "
                       "raise baud to %.0f, or lower rates in send",
                       load, link->spec.bus.baud, room, ceil(load / 100.0) * 1000.0);
}

bool cfg_resolve_message_rates(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_link *keys = resolve->keys->links.items;
    for (int i = 0; i < resolve->scenario->spec.link_count; i++, keys++) {
        struct sim_link *link = &resolve->scenario->spec.links[i];
        for (int m = 0; m < IO_MESSAGE_COUNT; m++)
            if (!resolve_send(resolve, keys, m, &link->every[m]))
                return false;
        if (can_be_late(resolve->scenario, link))
            link->spec.late_after_ns =
                LATE_PERIODS * link->every[IO_MESSAGE_SENSOR] * resolve->scenario->spec.period_ns;
        if (!check_budget(resolve, keys, link))
            return false;
    }
    return true;
}

const char *cfg_message_name(int message)
{
    return message_key[message];
}
