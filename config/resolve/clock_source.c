/*
 * External clocks: the address of the sync pulses, and the link whose clock the frames follow.
 */
#include "config/resolve/resolve.h"

#include <math.h>
#include <string.h>

#include "rt/schedule.h"

/* ---- lock ---- */

/* The greatest common divisor of the grid's period and the period of the board's commands. */
static bool resolve_cycle(const struct cfg_resolve *resolve, const struct cfg_keys_lock *keys,
                          struct rt_phase_lock_spec *spec)
{
    enum { LEAST_NS = 50000 };
    spec->cycle_ns = spec->period_ns;
    if (isnan(keys->period))
        return true;
    if (keys->source != SIM_LOCK_ARRIVAL)
        return cfg_fail_at(resolve->report, keys->node, "period",
                           "period goes with source: arrival; a board that is asked tells its time "
                           "by itself");
    spec->cycle_ns = rt_gcd(spec->period_ns, (uint64_t)llround(keys->period * 1e9));
    if (spec->cycle_ns >= LEAST_NS)
        return true;
    return cfg_fail_at(resolve->report, keys->node, "period",
                       "period of %.10g s and the frame's of %.10g s have only %.10g s in common; "
                       "at least %.10g s is needed to tell one command from the next",
                       keys->period, (double)spec->period_ns * 1e-9, (double)spec->cycle_ns * 1e-9,
                       LEAST_NS * 1e-9);
}

static bool resolve_lock(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_lock *keys = &resolve->keys->lock;
    struct sim_phase_lock *lock = &resolve->scenario->spec.lock;
    lock->link = -1;
    if (keys->node == NULL)
        return true;
    if (!cfg_find_link(resolve, keys->node, keys->link, &lock->link))
        return false;
    struct io_link_spec *link = &resolve->scenario->spec.links[lock->link].spec;
    lock->source = (enum sim_lock_source)keys->source;
    if (lock->source == SIM_LOCK_TIMESYNC &&
        !io_protocol_traits(link->protocol)->answers_time_query)
        return cfg_fail_at(resolve->report, keys->node, "source",
                           "a board that speaks %s cannot be asked for its time; write source: "
                           "arrival, or speak MAVLink",
                           cfg_protocol_name(link->protocol));
    link->queries_time = lock->source == SIM_LOCK_TIMESYNC;
    lock->spec = (struct rt_phase_lock_spec){
        .period_ns = resolve->scenario->spec.period_ns,
        .time_constant_ns = (uint64_t)llround(keys->time_constant * 1e9),
        .limit_ppm = keys->limit_ppm,
        .has_delay = lock->source == SIM_LOCK_TIMESYNC,
    };
    return resolve_cycle(resolve, keys, &lock->spec);
}

/* ---- pulse ---- */

static bool resolve_line(const struct cfg_resolve *resolve, const struct cfg_keys_pulse *keys,
                         struct io_bus_spec *bus)
{
    bus->kind = IO_BUS_SERIAL;
    bus->baud = (uint32_t)keys->baud;
    if (strlen(keys->device) >= sizeof bus->device)
        return cfg_fail_at(resolve->report, keys->node, "device",
                           "device is longer than %d characters; give a shorter path",
                           (int)sizeof bus->device - 1);
    strcpy(bus->device, keys->device);
    return true;
}

static bool resolve_address(const struct cfg_resolve *resolve, const struct cfg_keys_pulse *keys,
                            struct io_bus_spec *bus)
{
    if (!cfg_is_address(keys->to))
        return cfg_fail_at(resolve->report, keys->node, "to",
                           "to wants an IPv4 address and a port from 1 to 65535, e.g. "
                           "127.0.0.1:14600; here is %s",
                           cfg_quote(keys->to).text);
    if (cfg_node_find(keys->node, "baud") != NULL)
        return cfg_fail_at(resolve->report, keys->node, "baud",
                           "baud means nothing on UDP; remove it, or give device instead of to");
    bus->kind = IO_BUS_UDP;
    strcpy(bus->peer, keys->to); /* an address is at most 21 characters */
    /* A port that serves this machine only must not be open to the network. */
    strcpy(bus->listen, strncmp(keys->to, "127.", 4) == 0 ? "127.0.0.1:0" : "0.0.0.0:0");
    return true;
}

static bool resolve_pulse(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_pulse *keys = &resolve->keys->pulse;
    struct sim_sync_pulse *pulse = &resolve->scenario->spec.pulse;
    if (keys->node == NULL)
        return true;
    cfg_scenario_note(resolve->scenario, "pulse", "", keys->node->mark);
    pulse->every = (uint32_t)keys->every;
    if ((keys->to == NULL) == (keys->device == NULL))
        return cfg_fail_at(resolve->report, keys->node, NULL,
                           "a pulse goes to an address or to a device; give one of them, e.g. to: "
                           "127.0.0.1:14600");
    return keys->to != NULL ? resolve_address(resolve, keys, &pulse->bus)
                            : resolve_line(resolve, keys, &pulse->bus);
}

bool cfg_resolve_clock(const struct cfg_resolve *resolve)
{
    return resolve_lock(resolve) && resolve_pulse(resolve);
}
