/*
 * Resolves parameters: a path as for --set, and the number that the frame reads. Only numbers that
 * every frame reads again can be parameters, so a change is just a store at a frame boundary.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/resolve/resolve.h"
#include "config/yaml/suggest.h"
#include "rt/check.h"
#include "rt/executive/state/run_state.h"

#define TUNED(member) SIM_PARAMETER_IN_TUNED, offsetof(struct sim_tuned, member)
#define PLANT(member) SIM_PARAMETER_IN_ENVIRONMENT, offsetof(struct dyn_environment, member)
// clang-format off
/* Parameters that belong to no device. */
static const struct {
    const char *path;
    enum sim_parameter_home home;
    size_t offset; /* in struct sim_tuned; in struct dyn_environment */
    size_t first;  /* of the first number, in struct sim_spec */
    int count;
} places[] = {
    {"environment.wind", TUNED(wind), offsetof(struct sim_spec, environment.wind), 3},
    {"environment.gust.sigma", TUNED(gust.sigma), offsetof(struct sim_spec, gust.sigma), 3},
    {"environment.gravity", PLANT(gravity), offsetof(struct sim_spec, environment.gravity), 3},
    {"environment.ground", PLANT(ground), offsetof(struct sim_spec, environment.ground), 1},
    {"pointing.position", TUNED(target_position), offsetof(struct sim_spec, target_position), 3},
    {"pointing.target", TUNED(target), offsetof(struct sim_spec, target), 4},
};

/* Of the one velocity of a joint; the unit for a joint that turns and for one that slides. */
static const struct {
    const char *key;
    size_t offset;
    const char *unit[2];
} joint_fields[] = {
    {"stiffness", offsetof(struct dyn_joint_force_spec, stiffness), {"N m/rad", "N/m"}},
    {"damping", offsetof(struct dyn_joint_force_spec, damping), {"N m s/rad", "N s/m"}},
    {"friction.coulomb", offsetof(struct dyn_joint_force_spec, coulomb), {"N m", "N"}},
};
// clang-format on

/* A path while it is resolved to a parameter. */
struct path {
    const struct cfg_resolve *resolve;
    const struct cfg_keys_tunable *keys;
    char text[SIM_PARAMETER_NAME_MAX]; /* without the component */
    int component;                     /* -1: all */
};

/* The number that the path names, before its component. */
struct find {
    struct cfg_key key; /* unit and limits */
    struct sim_parameter parameter;
    const void *first; /* its first number, in the scenario */
    int count;
};

static bool fail_tunable(const struct path *path, const char *what, const char *name,
                         const struct cfg_suggestion *suggestion, const char *otherwise)
{
    const char *best = suggestion != NULL ? suggestion->best : NULL;
    return cfg_fail_at(path->resolve->report, path->keys->node, "of", "%s %s; %s%s%s", what,
                       cfg_quote(name).text, best != NULL ? "did you mean \"" : otherwise,
                       best != NULL ? best : "", best != NULL ? "\"?" : "");
}

/* ---- one number ---- */

static void take_limits(const struct cfg_key *key, struct sim_parameter *parameter)
{
    static const double FAR = 1e30;
    parameter->low = key->limit == CFG_BETWEEN        ? key->min
                     : key->limit == CFG_NOT_NEGATIVE ? 0.0
                     : key->limit == CFG_POSITIVE     ? DBL_MIN
                                                      : -FAR;
    parameter->high = key->limit == CFG_BETWEEN ? key->max : FAR;
}

/* The limit of one number, which may be a component of the key's value. */
static bool read_limit(const struct path *path, const struct cfg_key *whole, const char *name,
                       const char *text, double *limit)
{
    struct cfg_phrase problem = {0};
    struct cfg_key key = *whole;
    if (key.type != CFG_QUANTITY) {
        key.type = CFG_QUANTITY;
        key.example = NULL;
    }
    return text == NULL || cfg_quantity_parse(&key, text, limit, &problem) ||
           cfg_fail_at(path->resolve->report, path->keys->node, name, "%s", problem.text);
}

static bool check_limits(const struct path *path, const struct sim_parameter *parameter)
{
    if (parameter->low <= parameter->initial && parameter->initial <= parameter->high)
        return true;
    return cfg_fail_at(path->resolve->report, path->keys->node, "of",
                       "\"%s\" begins with %.10g, which is not from low, %.10g, to high, %.10g; "
                       "widen them",
                       parameter->name, parameter->initial, parameter->low, parameter->high);
}

static bool check_new(const struct path *path, const char *name)
{
    const struct cfg_scenario *scenario = path->resolve->scenario;
    for (int i = 0; i < scenario->spec.parameter_count; i++)
        if (strcmp(scenario->spec.parameters[i].name, name) == 0)
            return fail_tunable(path, "this is in the list already:", name, NULL, "remove one");
    return scenario->spec.parameter_count < SIM_PARAMETER_MAX ||
           fail_tunable(path, "there are too many numbers that can be tuned, at", name, NULL,
                        "name single components, or fewer keys");
}

static bool add_parameter(const struct path *path, const struct find *find, int component)
{
    static const char axes[2][5] = {"xyz", "wxyz"};
    struct cfg_scenario *scenario = path->resolve->scenario;
    struct sim_parameter parameter = find->parameter;
    const char letter[3] = {'.', axes[find->count == 4][component], '\0'};
    const int length = snprintf(parameter.name, sizeof parameter.name, "%s%s", path->text,
                                find->count > 1 ? letter : "");
    if (length >= SIM_PARAMETER_NAME_MAX)
        return fail_tunable(path, "the name is too long:", path->text, NULL,
                            "shorten that of the device");
    if (!check_new(path, parameter.name))
        return false;

    snprintf(parameter.unit, sizeof parameter.unit, "%s", find->key.unit ? find->key.unit : "");
    memcpy(&parameter.initial, (const double *)find->first + component, sizeof(double));
    parameter.offset += (size_t)component * sizeof(double);
    take_limits(&find->key, &parameter);
    if (!read_limit(path, &find->key, "low", path->keys->low, &parameter.low) ||
        !read_limit(path, &find->key, "high", path->keys->high, &parameter.high) ||
        !check_limits(path, &parameter))
        return false;
    scenario->spec.parameters[scenario->spec.parameter_count++] = parameter;
    return true;
}

/* ---- targets of a path ---- */

static bool find_place(const struct path *path, struct find *find, bool *found)
{
    const struct cfg_scenario *scenario = path->resolve->scenario;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (strcmp(places[i].path, path->text) != 0)
            continue;
        char words[SIM_PARAMETER_NAME_MAX], *rest = words;
        snprintf(words, sizeof words, "%s", path->text);
        const struct cfg_key *key = NULL;
        for (const struct cfg_table *table = &cfg_scenario_table; rest != NULL; table = key->table)
            key = cfg_table_find(table, -1, strsep(&rest, "."));
        find->key = *key;
        find->first = (const unsigned char *)&scenario->spec + places[i].first;
        find->count = places[i].count;
        find->parameter =
            (struct sim_parameter){.home = places[i].home, .offset = places[i].offset};
        if (find->count == 4) /* of a unit quaternion */
            find->key.limit = CFG_BETWEEN, find->key.min = -1.0, find->key.max = 1.0;
        *found = true;
    }
    return true;
}

/* A parameter that would change nothing is refused. */
static bool check_place(const struct path *path)
{
    const struct cfg_scenario *scenario = path->resolve->scenario;
    if (strcmp(path->text, "environment.gust.sigma") == 0 && !scenario->spec.has_gust)
        return fail_tunable(path, "the scenario has no gusts to tune with", path->text, NULL,
                            "give environment.gust");
    if (strcmp(path->text, "environment.gravity") == 0 &&
        scenario->spec.world.kind == DYN_WORLD_ORBIT)
        return fail_tunable(path, "world: orbit does not use", path->text, NULL, "remove it");
    if (strcmp(path->text, "environment.ground") == 0 && !scenario->spec.environment.has_ground)
        return fail_tunable(path, "there is no ground to move with", path->text, NULL,
                            "give environment.ground");
    return true;
}

static const struct cfg_keys_device *device_named(const struct path *path, const char *name,
                                                  struct cfg_suggestion *suggestion)
{
    const struct cfg_list *list = &path->resolve->keys->devices;
    const struct cfg_keys_device *devices = list->items;
    for (int i = 0; i < list->count; i++) {
        cfg_suggest_offer(suggestion, devices[i].name);
        if (strcmp(devices[i].name, name) == 0)
            return &devices[i];
    }
    return NULL;
}

/* The key of that name, if it can be tuned; all: the names that can be. */
static const struct cfg_key *find_tunable_key(int type, const char *name,
                                              struct cfg_suggestion *suggestion,
                                              struct cfg_phrase *all)
{
    const struct cfg_table *table = &cfg_device_table.variants[type];
    for (int rank = CFG_TUNABLE_FIRST; rank <= CFG_TUNABLE; rank++) {
        for (int i = 0; i < table->key_count; i++) {
            const struct cfg_key *key = &table->keys[i];
            if ((int)key->tunable != rank)
                continue;
            if (strcmp(key->name, name) == 0)
                return key;
            cfg_suggest_offer(suggestion, key->name);
            cfg_phrase_add(all, "%s%s", all->size > 0 ? ", " : "one can tune its ", key->name);
        }
    }
    return NULL;
}

/* Keys that can be tuned have their offset in the device's part of the spec. */
static void locate_in_sensor(const struct cfg_scenario *scenario, const char *name, size_t offset,
                             struct find *find)
{
    offset -= offsetof(struct cfg_keys_device, sensor);
    RT_CHECK(offset < sizeof(struct sim_sensor));
    for (int i = 0; i < scenario->spec.sensor_count; i++)
        if (strcmp(scenario->spec.sensors[i].name, name) == 0) {
            find->first = (const unsigned char *)&scenario->spec.sensors[i] + offset;
            find->parameter = (struct sim_parameter){
                .home = SIM_PARAMETER_IN_SENSOR, .index = i, .offset = offset};
        }
}

/* A contact has an effector for each of its points, one after the other. */
static void locate_in_effector(const struct cfg_scenario *scenario, const char *name, size_t offset,
                               struct find *find)
{
    const size_t law = offsetof(struct sim_effector, effector),
                 drive = offsetof(struct sim_effector, drive);
    offset -= offsetof(struct cfg_keys_device, effector);
    const bool in_drive = offset - drive < sizeof(struct io_actuator_drive_spec);
    RT_CHECK(in_drive || offset - law < sizeof(struct dyn_effector));
    find->parameter = (struct sim_parameter){.home = in_drive ? SIM_PARAMETER_IN_DRIVE
                                                              : SIM_PARAMETER_IN_EFFECTOR,
                                             .offset = offset - (in_drive ? drive : law)};
    for (int i = scenario->spec.effector_count - 1; i >= 0; i--) {
        const struct sim_effector *effector = &scenario->spec.effectors[i];
        if (strcmp(effector->name, name) != 0)
            continue;
        find->first = (const unsigned char *)effector + offset;
        find->parameter.index = i;
        find->parameter.count++;
    }
}

static bool find_in_device(const struct path *path, const char *name, const char *key,
                           struct find *find)
{
    struct cfg_suggestion devices = cfg_suggest_begin(name), keys = cfg_suggest_begin(key);
    struct cfg_phrase all = {0};
    const struct cfg_keys_device *device = device_named(path, name, &devices);
    if (device == NULL)
        return fail_tunable(path, "there is no device", name, &devices, "add it to devices");
    const struct cfg_key *found = find_tunable_key(device->type, key, &keys, &all);
    if (found == NULL)
        return fail_tunable(path, "while it runs a device does not change its", key, &keys,
                            all.text);
    find->key = *found;
    find->count = found->type == CFG_VECTOR ? found->size : 1;
    (device->type < CFG_DEVICE_EFFECTOR ? locate_in_sensor : locate_in_effector)(
        path->resolve->scenario, name, found->offset, find);
    return true;
}

static int body_named(const struct cfg_scenario *scenario, const char *name,
                      struct cfg_suggestion *suggestion)
{
    for (int i = 0; i < scenario->spec.body_count; i++) {
        cfg_suggest_offer(suggestion, scenario->spec.bodies[i].name);
        if (strcmp(scenario->spec.bodies[i].name, name) == 0)
            return i;
    }
    return -1;
}

static bool find_in_joint(const struct path *path, const char *name, const char *key,
                          struct find *find)
{
    struct cfg_scenario *scenario = path->resolve->scenario;
    struct cfg_suggestion bodies = cfg_suggest_begin(name), keys = cfg_suggest_begin(key);
    const int body = body_named(scenario, name, &bodies);
    if (body < 0)
        return fail_tunable(path, "there is no body", name, &bodies, "add it to bodies");
    const struct dyn_body_spec *spec = &scenario->spec.bodies[body].spec;
    const struct dyn_joint_force_spec *force_spec = &spec->force_spec[0];
    if (spec->mimic.on || dyn_joint_nv(spec) != 1)
        return fail_tunable(path, "only a hinge or slide can be tuned, not the joint of", name,
                            NULL, "remove it");
    if (force_spec->stiffness == 0.0 && force_spec->damping == 0.0 && force_spec->coulomb == 0.0 &&
        force_spec->limit_stiffness == 0.0)
        return fail_tunable(path, "there is no spring, damper or friction in the joint of", name,
                            NULL, "give it one to begin with");
    for (size_t i = 0; i < sizeof joint_fields / sizeof joint_fields[0]; i++) {
        cfg_suggest_offer(&keys, joint_fields[i].key);
        if (strcmp(joint_fields[i].key, key) != 0)
            continue;
        if (joint_fields[i].offset == offsetof(struct dyn_joint_force_spec, coulomb) &&
            force_spec->coulomb_speed == 0.0)
            return fail_tunable(path, "there is no friction in the joint of", name, NULL,
                                "give it some to begin with");
        find->key = (struct cfg_key){.name = joint_fields[i].key,
                                     .type = CFG_QUANTITY,
                                     .unit = joint_fields[i].unit[!cfg_joint_turns(spec, 0)],
                                     .limit = CFG_NOT_NEGATIVE,
                                     .example = "0.1"};
        find->first = (const unsigned char *)force_spec + joint_fields[i].offset;
        find->count = 1;
        find->parameter = (struct sim_parameter){
            .home = SIM_PARAMETER_IN_JOINT_FORCE, .index = body, .offset = joint_fields[i].offset};
        return true;
    }
    return fail_tunable(path, "while it runs a joint does not change its", key, &keys,
                        "one can tune stiffness, damping and friction.coulomb");
}

/* Faults of the wire belong to the link, and a delay is a whole number of samples, so neither can
 * be tuned. */
static bool find_in_fault(const struct path *path, const char *name, struct find *find)
{
    struct cfg_scenario *scenario = path->resolve->scenario;
    struct cfg_suggestion suggestion = cfg_suggest_begin(name);
    for (int i = 0; i < scenario->spec.fault_count; i++) {
        struct sim_fault *fault = &scenario->spec.faults[i];
        cfg_suggest_offer(&suggestion, fault->text);
        if (strcmp(fault->text, name) != 0)
            continue;
        const enum io_fault_kind kind = fault->spec.kind;
        const bool chance = kind == IO_FAULT_DROPOUT || kind == IO_FAULT_BIT_FLIP;
        const bool size = kind == IO_FAULT_BIAS || kind == IO_FAULT_DRIFT || kind == IO_FAULT_NOISE;
        if (fault->link >= 0 || !(chance || size))
            return fail_tunable(
                path, "while it runs nothing changes the value of", name, NULL,
                "only bias, drift, noise, dropout and bit_flip of a device can be tuned");
        find->key = (struct cfg_key){.name = "value",
                                     .type = CFG_QUANTITY,
                                     .limit = chance                   ? CFG_BETWEEN
                                              : kind == IO_FAULT_NOISE ? CFG_NOT_NEGATIVE
                                                                       : CFG_ANY,
                                     .max = 1.0,
                                     .example = "0.1"};
        find->first = &fault->spec.value;
        find->parameter = (struct sim_parameter){.home = SIM_PARAMETER_IN_FAULT,
                                                 .index = i,
                                                 .offset = offsetof(struct io_fault_spec, value)};
        find->count = 1;
        return true;
    }
    return fail_tunable(path, "there is no fault", name, &suggestion, "add it to faults");
}

/* ---- the path ---- */

static bool suggest_fields(const struct path *path)
{
    struct cfg_suggestion suggestion = cfg_suggest_begin(path->text);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        cfg_suggest_offer(&suggestion, places[i].path);
    return fail_tunable(
        path, "there is no tunable number at", path->text, &suggestion,
        "give e.g. devices.gyro.bias, environment.wind, bodies.panel.joint.damping");
}

static bool find_number(const struct path *path, struct find *find)
{
    char words[SIM_PARAMETER_NAME_MAX], *rest = words;
    bool found = false;
    snprintf(words, sizeof words, "%s", path->text);
    if (!find_place(path, find, &found) || found)
        return found && check_place(path);
    const char *head = strsep(&rest, "."), *name = strsep(&rest, ".");
    if (name == NULL || rest == NULL)
        return suggest_fields(path);
    if (strcmp(head, "devices") == 0)
        return find_in_device(path, name, rest, find);
    if (strcmp(head, "bodies") == 0 && strncmp(rest, "joint.", 6) == 0)
        return find_in_joint(path, name, rest + 6, find);
    if (strcmp(head, "faults") == 0 && strcmp(rest, "value") == 0)
        return find_in_fault(path, name, find);
    return suggest_fields(path);
}

/* A last part of one letter is a component. */
static bool split_path(const char *of, struct path *path, char *letter)
{
    *letter = '\0';
    if (strlen(of) >= sizeof path->text)
        return fail_tunable(path, "the path is too long:", of, NULL, "shorten the names in it");
    snprintf(path->text, sizeof path->text, "%s", of);
    char *dot = strrchr(path->text, '.');
    if (dot != NULL && dot[1] != '\0' && dot[2] == '\0') {
        *letter = dot[1];
        *dot = '\0';
    }
    return true;
}

static bool resolve_one(const struct cfg_resolve *resolve, const struct cfg_keys_tunable *keys)
{
    struct path path = {.resolve = resolve, .keys = keys};
    struct find find = {0};
    char letter;
    if (!split_path(keys->of, &path, &letter) || !find_number(&path, &find))
        return false;
    const char *axes = find.count == 4 ? "wxyz" : "xyz";
    const char *at = letter != '\0' && find.count > 1 ? strchr(axes, letter) : NULL;
    if (letter != '\0' && at == NULL)
        return fail_tunable(&path, "there is no such component:", keys->of, NULL,
                            find.count == 1   ? "it is one number"
                            : find.count == 4 ? "they are w, x, y and z"
                                              : "they are x, y and z");
    for (int i = 0; i < find.count; i++)
        if ((at == NULL || at - axes == i) && !add_parameter(&path, &find, i))
            return false;
    return true;
}

bool cfg_resolve_tunables(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_tunable *tunables = resolve->keys->tunable.items;
    for (int i = 0; i < resolve->keys->tunable.count; i++)
        if (!resolve_one(resolve, &tunables[i]))
            return false;
    return true;
}
