/*
 * What a run must show: `attitude_error < 0.1 deg after 15 s`.
 *
 * Tested by tests/config/test_scenario.c.
 */
#include "config/resolve/resolve.h"

#include <string.h>

#include "config/yaml/suggest.h"

#define SIGNAL(text, si, least, some)                                                              \
    {                                                                                              \
        .name = text, .unit = si, .limit = least, .type = CFG_QUANTITY, .example = some            \
    }
static const struct cfg_key signals[SIM_SIGNAL_COUNT] = {
    [SIM_SIGNAL_ATTITUDE_ERROR] = SIGNAL("attitude_error", "rad", CFG_NOT_NEGATIVE, "0.1 deg"),
    [SIM_SIGNAL_RATE] = SIGNAL("rate", "rad/s", CFG_NOT_NEGATIVE, "0.01 deg/s"),
    [SIM_SIGNAL_WHEEL_SPEED] = SIGNAL("wheel_speed", "rad/s", CFG_NOT_NEGATIVE, "4000 rpm"),
    [SIM_SIGNAL_ALTITUDE] = SIGNAL("altitude", "m", CFG_ANY, "9 m"),
    [SIM_SIGNAL_SPEED] = SIGNAL("speed", "m/s", CFG_NOT_NEGATIVE, "1 m/s"),
    [SIM_SIGNAL_POSITION_ERROR] = SIGNAL("position_error", "m", CFG_NOT_NEGATIVE, "1 m"),
    [SIM_SIGNAL_TILT] = SIGNAL("tilt", "rad", CFG_NOT_NEGATIVE, "5 deg"),
};
static const struct cfg_key after_key = {.name = "after",
                                         .unit = "s",
                                         .limit = CFG_NOT_NEGATIVE,
                                         .type = CFG_QUANTITY,
                                         .example = "15 s"};
static const struct cfg_key within_key = {
    .name = "within", .unit = "s", .limit = CFG_POSITIVE, .type = CFG_QUANTITY, .example = "5 s"};

static const char *const shape = "attitude_error < 0.1 deg after 15 s";

/* The text cut at its signs: signal, < or >, limit, after or within, time. */
struct parts {
    char signal[SIM_LABEL_MAX], limit[SIM_LABEL_MAX];
    bool below, within;
    const char *time;
};

static void copy_trimmed(char out[SIM_LABEL_MAX], const char *text, size_t size)
{
    while (size > 0 && *text == ' ') {
        text++;
        size--;
    }
    while (size > 0 && text[size - 1] == ' ')
        size--;
    memcpy(out, text, size);
    out[size] = '\0';
}

static bool cut(const char *text, struct parts *parts)
{
    const size_t sign = strcspn(text, "<>");
    const char *after = strstr(text, " after "), *within = strstr(text, " within ");
    const char *word = after != NULL ? after : within;
    if (text[sign] == '\0' || word == NULL || word < text + sign || (after && within))
        return false;
    parts->below = text[sign] == '<';
    parts->within = within != NULL;
    parts->time = word + strlen(parts->within ? " within " : " after ");
    copy_trimmed(parts->signal, text, sign);
    copy_trimmed(parts->limit, text + sign + 1, (size_t)(word - text) - sign - 1);
    return true;
}

static bool find_signal(const char *name, enum sim_signal *signal, struct cfg_phrase *problem)
{
    struct cfg_suggestion suggestion = cfg_suggest_begin(name);
    for (int i = 0; i < SIM_SIGNAL_COUNT; i++) {
        if (strcmp(signals[i].name, name) == 0) {
            *signal = (enum sim_signal)i;
            return true;
        }
        cfg_suggest_offer(&suggestion, signals[i].name);
    }
    if (suggestion.best != NULL)
        cfg_phrase_add(problem, "nothing is called %s; did you mean \"%s\"?", cfg_quote(name).text,
                       suggestion.best);
    else
        cfg_phrase_add(problem,
                       "nothing is called %s; there are attitude_error, rate, wheel_speed, "
                       "altitude, speed, position_error and tilt",
                       cfg_quote(name).text);
    return false;
}

static bool parse(const char *text, struct sim_expectation *expect, struct cfg_phrase *problem)
{
    struct parts parts;
    if (strlen(text) >= SIM_LABEL_MAX || !cut(text, &parts)) {
        cfg_phrase_add(problem, "an expectation looks like \"%s\" (or > and within); here is %s",
                       shape, cfg_quote(text).text);
        return false;
    }
    strcpy(expect->text, text);
    expect->below = parts.below;
    expect->within = parts.within;
    return find_signal(parts.signal, &expect->signal, problem) &&
           cfg_quantity_parse(&signals[expect->signal], parts.limit, &expect->limit, problem) &&
           cfg_quantity_parse(parts.within ? &within_key : &after_key, parts.time, &expect->seconds,
                              problem);
}

static bool has_wheel(const struct cfg_scenario *scenario)
{
    for (int i = 0; i < scenario->spec.effector_count; i++)
        if (scenario->spec.effectors[i].effector.type == DYN_EFFECTOR_WHEEL)
            return true;
    return false;
}

/* An expectation that no frame can test would pass by saying nothing. */
static bool check_tested(const struct cfg_resolve *resolve, const struct sim_expectation *expect,
                         struct cfg_phrase *problem)
{
    const struct cfg_scenario *scenario = resolve->scenario;
    if (expect->signal == SIM_SIGNAL_WHEEL_SPEED && !has_wheel(scenario)) {
        cfg_phrase_add(problem, "there is no wheel whose speed could be tested; add one or remove "
                                "the line");
        return false;
    }
    if (expect->within ? expect->seconds <= scenario->spec.seconds
                       : expect->seconds < scenario->spec.seconds)
        return true;
    cfg_phrase_add(
        problem,
        "the run ends at %.10g s, so nothing is tested %s %.10g s; raise seconds or take "
        "an earlier time",
        scenario->spec.seconds, expect->within ? "up to" : "after", expect->seconds);
    return false;
}

const char *cfg_signal_name(enum sim_signal signal)
{
    return signals[signal].name;
}

const char *cfg_signal_unit(enum sim_signal signal)
{
    return signals[signal].unit;
}

bool cfg_resolve_expects(const struct cfg_resolve *resolve)
{
    struct cfg_scenario *scenario = resolve->scenario;
    const struct cfg_node *list = cfg_node_find(resolve->keys->node, "expect");
    const struct cfg_node *node = list != NULL ? list->first : NULL;
    for (; node != NULL; node = node->next) {
        struct cfg_phrase problem = {0};
        struct sim_expectation *expect = &scenario->spec.expects[scenario->spec.expect_count];
        if (!parse(node->text, expect, &problem) || !check_tested(resolve, expect, &problem))
            return cfg_fail_at(resolve->report, node, NULL, "%s", problem.text);
        cfg_scenario_note(scenario, "expect", expect->text, node->mark);
        scenario->spec.expect_count++;
    }
    return true;
}
