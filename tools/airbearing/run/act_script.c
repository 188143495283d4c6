#include "tools/airbearing/run/act_script.h"
#include "config/scenario.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml/schema.h"
#include "config/yaml/suggest.h"

static int set_error(char error[CFG_ERROR_MAX], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int set_error(char error[CFG_ERROR_MAX], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, CFG_ERROR_MAX, format, arguments);
    va_end(arguments);
    return -1;
}

static int unknown(char error[CFG_ERROR_MAX], const char *what, const char *name,
                   const struct cfg_suggestion *suggestion, const char *otherwise)
{
    return set_error(error, "there is no %s %s; %s%s%s", what, cfg_quote(name).text,
                     suggestion->best ? "did you mean \"" : otherwise,
                     suggestion->best ? suggestion->best : "", suggestion->best ? "\"?" : "");
}

static int quantity(const char *name, const char *unit, const char *text, double *value,
                    char error[CFG_ERROR_MAX])
{
    const struct cfg_key key = {
        .name = name, .type = CFG_QUANTITY, .unit = *unit ? unit : NULL, .example = "0.1"};
    struct cfg_phrase problem = {0};
    return cfg_quantity_parse(&key, text, value, &problem) ? 0
                                                           : set_error(error, "%s", problem.text);
}

/* ---- each act ---- */

static int read_nothing(const char *rest, const struct cfg_scenario *scenario,
                        struct sim_operator_request *request, char error[CFG_ERROR_MAX])
{
    (void)scenario, (void)request;
    return *rest == '\0'
               ? 0
               : set_error(error, "nothing can follow here; here is %s", cfg_quote(rest).text);
}

static int read_safe(const char *rest, const struct cfg_scenario *scenario,
                     struct sim_operator_request *request, char error[CFG_ERROR_MAX])
{
    if (scenario->spec.arm.joint_count == 0)
        return set_error(error, "there is no arm to stop in this scenario");
    return read_nothing(rest, scenario, request, error);
}

static int read_steps(const char *rest, const struct cfg_scenario *scenario,
                      struct sim_operator_request *request, char error[CFG_ERROR_MAX])
{
    (void)scenario;
    char *end;
    request->value = strtod(*rest ? rest : "1", &end);
    if (*end != '\0' || !(request->value >= 1.0 && request->value <= 1e8) ||
        request->value != floor(request->value))
        return set_error(error, "step needs a number of frames, e.g. step 10");
    return 0;
}

static int read_path(const char *rest, const struct cfg_scenario *scenario,
                     struct sim_operator_request *request, char error[CFG_ERROR_MAX])
{
    (void)scenario;
    if (*rest == '\0' || strlen(rest) >= sizeof request->path)
        return set_error(error,
                         *rest ? "the name of the file is too long" : "give the name of a file");
    memcpy(request->path, rest, strlen(rest) + 1);
    return 0;
}

static int read_fault(const char *rest, const struct cfg_scenario *scenario,
                      struct sim_operator_request *request, char error[CFG_ERROR_MAX])
{
    char name[SIM_LABEL_MAX];
    const char *last = strrchr(rest, ' ');
    if (!last || (strcmp(last, " on") != 0 && strcmp(last, " off") != 0) ||
        (size_t)(last - rest) >= sizeof name)
        return set_error(error, "write fault NAME on, or fault NAME off");
    memcpy(name, rest, (size_t)(last - rest));
    name[last - rest] = '\0';
    request->value = strcmp(last, " on") == 0;
    struct cfg_suggestion suggestion = cfg_suggest_begin(name);
    for (int i = 0; i < scenario->spec.fault_count; i++) {
        request->index = (uint32_t)i;
        if (strcmp(scenario->spec.faults[i].text, name) == 0)
            return 0;
        cfg_suggest_offer(&suggestion, scenario->spec.faults[i].text);
    }
    return unknown(error, "fault", name, &suggestion, "add it to faults");
}

static int check_limits(const struct sim_parameter *parameter, double value,
                        char error[CFG_ERROR_MAX])
{
    if (value >= parameter->low && value <= parameter->high)
        return 0;
    return set_error(error, "%s must be from %.10g to %.10g %s; here is %.10g", parameter->name,
                     parameter->low, parameter->high, parameter->unit, value);
}

static int read_tune(const char *rest, const struct cfg_scenario *scenario,
                     struct sim_operator_request *request, char error[CFG_ERROR_MAX])
{
    char name[SIM_PARAMETER_NAME_MAX];
    const size_t length = strcspn(rest, "=");
    if (rest[length] != '=' || length >= sizeof name)
        return set_error(error, "write tune NAME=VALUE");
    memcpy(name, rest, length);
    name[length] = '\0';
    struct cfg_suggestion suggestion = cfg_suggest_begin(name);
    for (int i = 0; i < scenario->spec.parameter_count; i++) {
        const struct sim_parameter *parameter = &scenario->spec.parameters[i];
        cfg_suggest_offer(&suggestion, parameter->name);
        if (strcmp(parameter->name, name) != 0)
            continue;
        request->index = (uint32_t)i;
        if (quantity(name, parameter->unit, rest + length + 1, &request->value, error))
            return -1;
        return check_limits(parameter, request->value, error);
    }
    return unknown(error, "parameter", name, &suggestion, "add it to tunable");
}

static const struct {
    const char *word;
    enum sim_act act;
    int (*read)(const char *rest, const struct cfg_scenario *scenario,
                struct sim_operator_request *request, char error[CFG_ERROR_MAX]);
} acts_known[] = {
    {"pause", SIM_ACT_PAUSE, read_nothing},
    {"resume", SIM_ACT_RESUME, read_nothing},
    {"step", SIM_ACT_STEP, read_steps},
    {"reset", SIM_ACT_RESET, read_nothing},
    {"checkpoint", SIM_ACT_CHECKPOINT, read_path},
    {"restore", SIM_ACT_RESTORE, read_path},
    {"fault", SIM_ACT_FAULT, read_fault},
    {"tune", SIM_ACT_TUNE, read_tune},
    {"safe", SIM_ACT_STOP_ARM, read_safe},
};

static int read_act(const char *what, const struct cfg_scenario *scenario,
                    struct sim_operator_request *request, char error[CFG_ERROR_MAX])
{
    char word[32];
    const size_t length = strcspn(what, " ");
    snprintf(word, sizeof word, "%.*s", length < sizeof word ? (int)length : (int)sizeof word - 1,
             what);
    const char *rest = what + length + strspn(what + length, " ");
    struct cfg_suggestion suggestion = cfg_suggest_begin(word);
    for (size_t i = 0; i < sizeof acts_known / sizeof acts_known[0]; i++) {
        cfg_suggest_offer(&suggestion, acts_known[i].word);
        if (strcmp(word, acts_known[i].word) != 0)
            continue;
        request->act = acts_known[i].act;
        return acts_known[i].read(rest, scenario, request, error);
    }
    return unknown(
        error, "act", word, &suggestion,
        "they are pause, resume, step, reset, checkpoint, restore, fault, tune and safe");
}

int act_script_read(const char *text, const struct cfg_scenario *scenario,
                    struct sim_scripted_act *act, char error[CFG_ERROR_MAX])
{
    char time[32];
    double seconds;
    const size_t length = strcspn(text, ":");
    if (text[length] != ':' || length >= sizeof time)
        return set_error(error, "an act is TIME:WHAT, e.g. 2s:pause");
    memcpy(time, text, length);
    time[length] = '\0';
    if (quantity("the time", "s", time, &seconds, error))
        return -1;
    if (!(seconds >= 0.0 && seconds <= 1e7))
        return set_error(error, "the time is from 0 to 10000000 s");
    *act = (struct sim_scripted_act){
        .boundary = (uint64_t)llround(seconds * scenario->spec.rate_hz), .text = text};
    act->request.ticket = UINT64_MAX;
    return read_act(text + length + 1, scenario, &act->request, error);
}

void act_script_sort(struct sim_scripted_act *acts, int count)
{
    for (int i = 1; i < count; i++) {
        const struct sim_scripted_act act = acts[i];
        int at = i;
        for (; at > 0 && acts[at - 1].boundary > act.boundary; at--)
            acts[at] = acts[at - 1];
        acts[at] = act;
    }
}

bool act_script_ends_paused(const struct sim_scripted_act *acts, int count)
{
    bool paused = false;
    for (int i = 0; i < count; i++) {
        const enum sim_act act = acts[i].request.act;
        paused = act == SIM_ACT_PAUSE || act == SIM_ACT_STEP || (paused && act != SIM_ACT_RESUME);
    }
    return paused;
}
