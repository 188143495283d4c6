/*
 * Resolves faults: their target, their time and their size.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/resolve/resolve.h"
#include "config/yaml/suggest.h"
#include "rt/executive/output/sensor_types.h"

static const struct cfg_keys_fault *fault_keys(const struct cfg_resolve *resolve, int i)
{
    return (const struct cfg_keys_fault *)resolve->keys->faults.items + i;
}

/* ---- target ---- */

static bool unknown(const struct cfg_resolve *resolve, const struct cfg_keys_fault *keys,
                    const char *key, const char *name, const char *best)
{
    return cfg_fail_at(resolve->report, keys->node, key, "there is no %s %s; %s%s%s", key,
                       cfg_quote(name).text, best != NULL ? "did you mean \"" : "add it to ",
                       best != NULL ? best : key, best != NULL ? "\"?" : "s");
}

static bool find_device(const struct cfg_resolve *resolve, const struct cfg_keys_fault *keys,
                        struct sim_fault *fault)
{
    const struct cfg_scenario *scenario = resolve->scenario;
    struct cfg_suggestion suggestion = cfg_suggest_begin(keys->device);
    for (int i = 0; i < scenario->spec.sensor_count; i++) {
        if (strcmp(scenario->spec.sensors[i].name, keys->device) == 0)
            fault->sensor = i;
        cfg_suggest_offer(&suggestion, scenario->spec.sensors[i].name);
    }
    for (int i = 0; i < scenario->spec.effector_count; i++) {
        if (strcmp(scenario->spec.effectors[i].name, keys->device) == 0)
            fault->effector = i;
        cfg_suggest_offer(&suggestion, scenario->spec.effectors[i].name);
    }
    if (fault->sensor < 0 && fault->effector < 0)
        return unknown(resolve, keys, "device", keys->device, suggestion.best);
    if (fault->effector >= 0 && scenario->spec.effectors[fault->effector].link < 0)
        return cfg_fail_at(
            resolve->report, keys->node, "device",
            "no link commands \"%s\", so there is no signal to disturb; name another",
            keys->device);
    return true;
}

static bool find_link(const struct cfg_resolve *resolve, const struct cfg_keys_fault *keys,
                      struct sim_fault *fault)
{
    const struct cfg_scenario *scenario = resolve->scenario;
    struct cfg_suggestion suggestion = cfg_suggest_begin(keys->link);
    for (int i = 0; i < scenario->spec.link_count; i++) {
        if (strcmp(scenario->spec.links[i].name, keys->link) == 0)
            fault->link = i;
        cfg_suggest_offer(&suggestion, scenario->spec.links[i].name);
    }
    return fault->link >= 0 || unknown(resolve, keys, "link", keys->link, suggestion.best);
}

static bool find_target(const struct cfg_resolve *resolve, const struct cfg_keys_fault *keys,
                        struct sim_fault *fault)
{
    const enum io_fault_kind kind = (enum io_fault_kind)keys->type;
    fault->sensor = fault->effector = fault->link = -1;
    if ((keys->device == NULL) == (keys->link == NULL))
        return cfg_fail_at(resolve->report, keys->node, NULL,
                           "a fault hits a device or a link; give one of them, e.g. device: gyro");
    /* The executive delays a link, in frames (rt/executive/input/delay_line.h). */
    const bool fits = keys->device ? io_fault_fits_signal(kind)
                                   : io_fault_fits_frame(kind) || kind == IO_FAULT_DELAY;
    if (!fits)
        return cfg_fail_at(resolve->report, keys->node, "type",
                           "%s cannot happen to a %s; it goes with a %s", cfg_fault_name(kind),
                           keys->device ? "signal" : "message", keys->device ? "link" : "device");
    return keys->device ? find_device(resolve, keys, fault) : find_link(resolve, keys, fault);
}

/* ---- time ---- */

static uint64_t duration(const struct cfg_resolve *resolve, const struct cfg_keys_fault *keys)
{
    if (isnan(keys->duration))
        return UINT64_MAX;
    const uint64_t frames = (uint64_t)llround(keys->duration * resolve->scenario->spec.rate_hz);
    return frames > 0 ? frames : 1;
}

static bool resolve_window(const struct cfg_resolve *resolve, const struct cfg_keys_fault *keys,
                           struct io_fault_spec *spec)
{
    const double rate_hz = resolve->scenario->spec.rate_hz;
    if (keys->when == 1) {
        spec->first_frame = spec->last_frame = UINT64_MAX;
        return (isnan(keys->at) && keys->frame < 0) ||
               cfg_fail_at(resolve->report, keys->node, isnan(keys->at) ? "frame" : "at",
                           "this fault waits for the operator; remove it, or when: operator");
    }
    if (isnan(keys->at) == (keys->frame < 0))
        return cfg_fail_at(
            resolve->report, keys->node, NULL,
            "a fault begins at a time or in a frame; give one of them, e.g. at: 5 s");
    spec->first_frame =
        keys->frame >= 0 ? (uint64_t)keys->frame : (uint64_t)llround(keys->at * rate_hz);
    spec->last_frame = UINT64_MAX;
    if ((double)spec->first_frame >= resolve->scenario->spec.seconds * rate_hz)
        return cfg_fail_at(resolve->report, keys->node, keys->frame >= 0 ? "frame" : "at",
                           "the run ends at %.10g s, before this fault begins; raise seconds or "
                           "take an earlier time",
                           resolve->scenario->spec.seconds);
    if (!isnan(keys->duration))
        spec->last_frame = spec->first_frame + duration(resolve, keys);
    return true;
}

/* ---- size ---- */

/* Unit of a signal, NULL: plain numbers; and its components. */
static const char *signal_unit(const struct cfg_scenario *scenario, const struct sim_fault *fault,
                               int *count)
{
    *count = 1;
    if (fault->sensor < 0)
        return NULL; /* controls */
    const struct sim_sensor *sensor = &scenario->spec.sensors[fault->sensor];
    const struct sim_sensor_type *type = &sim_sensor_types[sensor->kind];
    const struct dyn_body_spec *spec = &scenario->spec.bodies[sensor->body].spec;
    *count = type->fault_width;
    return type->slide_unit != NULL && !cfg_joint_turns(spec, sensor->coordinate)
               ? type->slide_unit
               : type->fault_unit;
}

static bool parse_value(const struct cfg_resolve *resolve, const struct cfg_keys_fault *keys,
                        const struct cfg_key *key, double *value)
{
    struct cfg_phrase problem = {0};
    return cfg_quantity_parse(key, keys->value, value, &problem) ||
           cfg_fail_at(resolve->report, keys->node, "value", "%s", problem.text);
}

static bool resolve_delay(const struct cfg_resolve *resolve, const struct cfg_keys_fault *keys,
                          const struct sim_fault *fault, struct io_fault_spec *spec)
{
    static const struct cfg_key key = {.name = "value",
                                       .type = CFG_QUANTITY,
                                       .unit = "s",
                                       .limit = CFG_POSITIVE,
                                       .example = "20 ms"};
    double seconds;
    uint32_t samples;
    const uint32_t every =
        fault->sensor >= 0 ? resolve->scenario->spec.sensors[fault->sensor].every : 1;
    if (!parse_value(resolve, keys, &key, &seconds) ||
        !cfg_whole_steps(resolve, keys->node, "value", seconds, every, IO_FAULT_DELAY_MAX,
                         &samples))
        return false;
    spec->value = samples;
    return true;
}

static bool resolve_size(const struct cfg_resolve *resolve, const struct cfg_keys_fault *keys,
                         const char *unit, struct io_fault_spec *spec)
{
    char drift_unit[32];
    struct cfg_key key = {.name = "value", .type = CFG_QUANTITY, .unit = unit, .example = "0.1"};
    if (spec->kind == IO_FAULT_DRIFT) {
        snprintf(drift_unit, sizeof drift_unit, "%s/s", unit != NULL ? unit : "1");
        key.unit = unit != NULL ? drift_unit : "Hz";
    }
    if (spec->kind == IO_FAULT_NOISE)
        key.limit = CFG_NOT_NEGATIVE;
    return parse_value(resolve, keys, &key, &spec->value);
}

static bool resolve_chance(const struct cfg_resolve *resolve, const struct cfg_keys_fault *keys,
                           struct io_fault_spec *spec)
{
    static const struct cfg_key key = {.name = "value",
                                       .type = CFG_QUANTITY,
                                       .limit = CFG_BETWEEN,
                                       .min = 0,
                                       .max = 1,
                                       .example = "0.1"};
    return parse_value(resolve, keys, &key, &spec->value);
}

static bool missing_value(const struct cfg_resolve *resolve, const struct cfg_keys_fault *keys,
                          const char *unit)
{
    const enum io_fault_kind kind = (enum io_fault_kind)keys->type;
    char example[48];
    snprintf(example, sizeof example, "0.1%s%s%s", unit ? " " : "", unit ? unit : "",
             kind == IO_FAULT_DRIFT && unit ? "/s" : "");
    return cfg_fail_at(resolve->report, keys->node, NULL,
                       "%s needs \"value\" (how large it is); write e.g. value: %s",
                       cfg_fault_name(kind), kind == IO_FAULT_DELAY ? "20 ms" : example);
}

static bool resolve_value(const struct cfg_resolve *resolve, const struct cfg_keys_fault *keys,
                          struct sim_fault *fault, const char *unit)
{
    struct io_fault_spec *spec = &fault->spec;
    const enum io_fault_kind kind = spec->kind;
    const bool chance =
        kind == IO_FAULT_DROPOUT || kind == IO_FAULT_BIT_FLIP || kind == IO_FAULT_CRC;
    spec->value = chance ? 1.0 : 0.0;
    spec->at_value = kind == IO_FAULT_STUCK && keys->value != NULL;
    if (keys->value == NULL) {
        if (chance || kind == IO_FAULT_STUCK || kind == IO_FAULT_LOSS)
            return true;
        return missing_value(resolve, keys, unit);
    }
    if (kind == IO_FAULT_LOSS)
        return cfg_fail_at(resolve->report, keys->node, "value",
                           "loss is whole and has no value; remove it, or take dropout");
    if (kind == IO_FAULT_DELAY)
        return resolve_delay(resolve, keys, fault, spec);
    return chance ? resolve_chance(resolve, keys, spec) : resolve_size(resolve, keys, unit, spec);
}

static bool resolve_axes(const struct cfg_resolve *resolve, const struct cfg_keys_fault *keys,
                         struct io_fault_spec *spec, int count)
{
    for (int i = 0; i < keys->axes.count; i++) {
        const double axis = keys->axes.items[i];
        if (axis != floor(axis) || axis >= count)
            return cfg_fail_at(resolve->report, keys->node, "axes",
                               "this signal has %d component%s, counted from 0; here is %.10g",
                               count, count == 1 ? "" : "s", axis);
        spec->components |= 1u << (unsigned)axis;
    }
    return true;
}

/* Refuse keys that have no meaning for this type of fault. */
static bool check_keys(const struct cfg_resolve *resolve, const struct cfg_keys_fault *keys)
{
    const enum io_fault_kind kind = (enum io_fault_kind)keys->type;
    const bool whole = kind == IO_FAULT_DROPOUT || kind == IO_FAULT_LOSS;
    if (keys->device != NULL && cfg_node_find(keys->node, "way") != NULL)
        return cfg_fail_at(resolve->report, keys->node, "way",
                           "way goes with a link; a device's signal has only one, remove it");
    if (keys->link != NULL && keys->axes.count > 0)
        return cfg_fail_at(resolve->report, keys->node, "axes",
                           "axes go with a device; a message has none, remove it");
    if (whole && keys->axes.count > 0)
        return cfg_fail_at(resolve->report, keys->node, "axes",
                           "%s takes the whole reading, not some axes of it; remove it",
                           cfg_fault_name(kind));
    return true;
}

/* The value for an attitude is a rotation about some axes, or another attitude. */
static bool check_whole(const struct cfg_resolve *resolve, const struct cfg_keys_fault *keys,
                        const struct sim_fault *fault)
{
    const enum io_fault_kind kind = fault->spec.kind;
    if (fault->sensor < 0)
        return true;
    const enum sim_sensor_kind sensor = resolve->scenario->spec.sensors[fault->sensor].kind;
    const char *whole = sim_sensor_types[sensor].whole;
    if (whole == NULL)
        return true;
    if (kind == IO_FAULT_STUCK && keys->value != NULL)
        return cfg_fail_at(resolve->report, keys->node, "value",
                           "a stuck %s keeps its last %s; remove value",
                           cfg_sensor_label(sensor).text, whole);
    const bool turns = kind == IO_FAULT_BIAS || kind == IO_FAULT_DRIFT || kind == IO_FAULT_NOISE;
    return turns || keys->axes.count == 0 ||
           cfg_fail_at(resolve->report, keys->node, "axes",
                       "%s takes the whole %s, not some axes of it; remove it",
                       cfg_fault_name(kind), whole);
}

/* ---- all ---- */

static void describe_fault(const struct cfg_keys_fault *keys, struct sim_fault *fault)
{
    if (keys->name != NULL)
        snprintf(fault->text, sizeof fault->text, "%s", keys->name);
    else
        snprintf(fault->text, sizeof fault->text, "%s of %s", cfg_fault_name(fault->spec.kind),
                 keys->device != NULL ? keys->device : keys->link);
}

/* Faults of the wire act in the link. */
static bool add_link_fault(const struct cfg_resolve *resolve, const struct cfg_keys_fault *keys,
                           struct sim_fault *fault)
{
    struct io_link_spec *link = &resolve->scenario->spec.links[fault->link].spec;
    if (link->fault_count == IO_LINK_FAULT_MAX)
        return cfg_fail_at(resolve->report, keys->node, "link",
                           "a link can have %d faults; remove some", IO_LINK_FAULT_MAX);
    fault->link_fault_index = link->fault_count;
    link->fault[link->fault_count++] = (struct io_link_fault){
        .spec = fault->spec,
        .out = fault->way != SIM_DIRECTION_IN,
        .in = fault->way != SIM_DIRECTION_OUT,
    };
    return true;
}

static bool check_name(const struct cfg_resolve *resolve, const struct cfg_keys_fault *keys,
                       const struct sim_fault *fault)
{
    for (const struct sim_fault *other = resolve->scenario->spec.faults; other < fault; other++)
        if (keys->name != NULL && strcmp(other->text, fault->text) == 0)
            return cfg_fail_at(resolve->report, keys->node, "name",
                               "another fault is called \"%s\" already; take another name",
                               keys->name);
    return true;
}

static bool check_one_delay(const struct cfg_resolve *resolve, const struct cfg_keys_fault *keys,
                            const struct sim_fault *fault)
{
    for (const struct sim_fault *other = resolve->scenario->spec.faults; other < fault; other++)
        if (other->link == fault->link && other->spec.kind == IO_FAULT_DELAY)
            return cfg_fail_at(resolve->report, keys->node, "type",
                               "this link is late already by another fault; make it one");
    return true;
}

bool cfg_resolve_faults(const struct cfg_resolve *resolve)
{
    struct cfg_scenario *scenario = resolve->scenario;
    for (int i = 0; i < resolve->keys->faults.count; i++) {
        const struct cfg_keys_fault *keys = fault_keys(resolve, i);
        struct sim_fault *fault = &scenario->spec.faults[i];
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        cfg_scenario_note(scenario, "faults", number, keys->node->mark);
        int count;
        fault->way = (enum sim_direction)keys->way;
        fault->spec.kind = (enum io_fault_kind)keys->type;
        if (!find_target(resolve, keys, fault) || !check_keys(resolve, keys) ||
            !check_whole(resolve, keys, fault) || !resolve_window(resolve, keys, &fault->spec))
            return false;
        const char *unit = signal_unit(scenario, fault, &count);
        if (!resolve_value(resolve, keys, fault, unit) ||
            !resolve_axes(resolve, keys, &fault->spec, count))
            return false;
        fault->frames = duration(resolve, keys);
        describe_fault(keys, fault);
        if (!check_name(resolve, keys, fault))
            return false;
        scenario->spec.fault_count++;
        if (fault->link >= 0 && fault->spec.kind == IO_FAULT_DELAY) {
            if (!check_one_delay(resolve, keys, fault))
                return false;
        } else if (fault->link >= 0 && !add_link_fault(resolve, keys, fault))
            return false;
    }
    return true;
}
