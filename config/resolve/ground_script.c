/*
 * Resolves the ground station of a link: its commands to the firmware, and their line.
 *
 * Tested by tests/config/resolve/test_mistakes_links.c.
 */
#include "config/resolve/resolve.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* Modes by name: PX4's main and sub mode, ArduCopter's number. */
struct mode {
    const char *name;
    uint32_t number[2];
};
static const struct mode px4_modes[] = {
    {"manual", {1, 0}},  {"altitude", {2, 0}}, {"position", {3, 0}}, {"offboard", {6, 0}},
    {"takeoff", {4, 2}}, {"hold", {4, 3}},     {"mission", {4, 4}},  {"return", {4, 5}},
    {"land", {4, 6}},    {NULL, {0, 0}}};
static const struct mode copter_modes[] = {
    {"stabilize", {0, 0}}, {"alt_hold", {2, 0}}, {"auto", {3, 0}},
    {"guided", {4, 0}},    {"loiter", {5, 0}},   {"rtl", {6, 0}},
    {"land", {9, 0}},      {"brake", {17, 0}},   {NULL, {0, 0}}};

static bool is_given(const struct cfg_keys_ground *keys, const char *key)
{
    return cfg_node_find(keys->node, key) != NULL;
}

static bool resolve_mode(const struct cfg_resolve *resolve, const struct cfg_keys_ground *keys,
                         enum io_protocol_kind protocol, struct io_ground_step *step)
{
    const bool copter = io_protocol_traits(protocol)->mode_names == IO_MODE_NAMES_ARDUCOPTER;
    struct cfg_phrase known = {0};
    for (const struct mode *mode = copter ? copter_modes : px4_modes; mode->name; mode++) {
        cfg_phrase_add(&known, "%s%s", known.size > 0 ? ", " : "", mode->name);
        if (strcmp(mode->name, keys->mode) == 0) {
            memcpy(step->mode, mode->number, sizeof step->mode);
            strcpy(step->name, mode->name);
            step->act = IO_GROUND_MODE;
            return true;
        }
    }
    return cfg_fail_at(resolve->report, keys->node, "mode",
                       "%s is not a mode of %s; its modes are %s", cfg_quote(keys->mode).text,
                       cfg_protocol_name(protocol), known.text);
}

static bool resolve_set(const struct cfg_resolve *resolve, const struct cfg_keys_ground *keys,
                        struct io_ground_step *step)
{
    if (strlen(keys->set) == 0 || strlen(keys->set) > IO_GROUND_NAME_MAX)
        return cfg_fail_at(resolve->report, keys->node, "set",
                           "a parameter has a name of 1 to %d characters; here is %s",
                           IO_GROUND_NAME_MAX, cfg_quote(keys->set).text);
    if (isnan(keys->to))
        return cfg_fail_at(resolve->report, keys->node, NULL,
                           "set needs \"to\", the value; write e.g. set: MIS_TAKEOFF_ALT, to: 2.5");
    strcpy(step->name, keys->set);
    step->value = (float)keys->to;
    step->act = IO_GROUND_SET;
    return true;
}

static bool resolve_act(const struct cfg_resolve *resolve, const struct cfg_keys_ground *keys,
                        enum io_protocol_kind protocol, struct io_ground_step *step)
{
    if (!isnan(keys->takeoff)) {
        step->act = IO_GROUND_TAKEOFF;
        step->value = (float)keys->takeoff;
        step->above_sea = (float)(resolve->scenario->spec.world.home.height + keys->takeoff);
        return true;
    }
    if (is_given(keys, "arm"))
        step->act = keys->arm == 1 ? IO_GROUND_ARM : IO_GROUND_DISARM;
    else if (is_given(keys, "land"))
        step->act = IO_GROUND_LAND;
    else if (keys->mode != NULL)
        return resolve_mode(resolve, keys, protocol, step);
    else
        return resolve_set(resolve, keys, step);
    return true;
}

static bool check_one_act(const struct cfg_resolve *resolve, const struct cfg_keys_ground *keys)
{
    static const char *const acts[] = {"arm", "mode", "takeoff", "land", "set"};
    const char *first = NULL;
    for (int i = 0; i < 5; i++) {
        if (!is_given(keys, acts[i]))
            continue;
        if (first != NULL)
            return cfg_fail_at(resolve->report, keys->node, acts[i],
                               "a step does one thing, and this one has %s already; make two steps",
                               first);
        first = acts[i];
    }
    if (first == NULL)
        return cfg_fail_at(resolve->report, keys->node, NULL,
                           "a step of the ground station does nothing; give it arm, mode, takeoff, "
                           "land or set");
    if (is_given(keys, "to") && strcmp(first, "set") != 0)
        return cfg_fail_at(resolve->report, keys->node, "to", "to belongs to set, not to %s",
                           first);
    return true;
}

static bool resolve_line(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                         struct io_link_spec *spec)
{
    const bool own = io_protocol_traits(spec->protocol)->carries_ground;
    if (keys->ground_line == NULL && own)
        return true;
    const char *line = keys->ground_line != NULL ? keys->ground_line : "127.0.0.1:14550";
    if (!cfg_is_address(line))
        return cfg_fail_at(resolve->report, keys->node, "ground_line",
                           "ground_line wants an IPv4 address and a port from 1 to 65535, e.g. "
                           "127.0.0.1:14550; here is %s",
                           cfg_quote(line).text);
    strcpy(spec->ground_line, line);
    return true;
}

bool cfg_resolve_ground(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                        struct sim_link *link)
{
    struct io_link_spec *spec = &link->spec;
    const struct cfg_keys_ground *steps = keys->ground.items;
    struct io_ground_script *script = &spec->script;
    const double rate = resolve->scenario->spec.rate_hz;
    const bool speaks = io_protocol_traits(spec->protocol)->mode_names != IO_MODE_NAMES_NONE;
    if (keys->ground.count == 0 && keys->ground_line == NULL)
        return true;
    if (!speaks)
        return cfg_fail_at(
            resolve->report, keys->node, keys->ground.count ? "ground" : "ground_line",
            "protocol %s has no ground station; remove ground", cfg_protocol_name(spec->protocol));
    *script = (struct io_ground_script){
        .second = (uint64_t)llround(rate), .system_id = 255, .component_id = 190};
    for (int i = 0; i < keys->ground.count; i++) {
        struct io_ground_step *step = &script->step[i];
        if (i > 0 && steps[i].at < steps[i - 1].at)
            return cfg_fail_at(resolve->report, steps[i].node, "at",
                               "this step is at %.10g s, after one at %.10g s; sort them",
                               steps[i].at, steps[i - 1].at);
        if (!check_one_act(resolve, &steps[i]) ||
            !resolve_act(resolve, &steps[i], spec->protocol, step))
            return false;
        step->frame = (uint64_t)llround(steps[i].at * rate);
        step->limit_frames = (uint64_t)llround(steps[i].within * rate);
        if (steps[i].node->origin == NULL)
            cfg_scenario_note(resolve->scenario, "ground", cfg_ground_step_name(link, i).text,
                              steps[i].node->mark);
        script->step_count++;
    }
    return resolve_line(resolve, keys, spec);
}
