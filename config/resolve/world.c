/*
 * Resolves the world: its keys, and the values that follow from a place and a date.
 */
#include "config/resolve/resolve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/import/wmm.h"
#include "dynamics/math/spatial.h"
#include "dynamics/world/orbit.h"

/* The WMM.COF file of the build; empty where there was none. */
extern const char cfg_wmm_text[];
extern const size_t cfg_wmm_text_size;

static bool is_given(const struct cfg_keys_environment *keys, const char *key)
{
    return keys->node != NULL && cfg_node_find(keys->node, key) != NULL;
}

/* ---- date ---- */

static int days_of(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

static bool is_date(const char *text, int part[5], double *seconds)
{
    int used = 0;
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%lfZ%n", &part[0], &part[1], &part[2], &part[3], &part[4],
               seconds, &used) != 6 ||
        text[used] != '\0')
        return false;
    return part[0] >= 1900 && part[0] <= 2199 && part[1] >= 1 && part[1] <= 12 && part[2] >= 1 &&
           part[2] <= days_of(part[0], part[1]) && part[3] >= 0 && part[3] < 24 && part[4] >= 0 &&
           part[4] < 60 && *seconds >= 0.0 && *seconds < 61.0;
}

static bool resolve_date(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_environment *keys = &resolve->keys->environment;
    int part[5];
    double seconds;
    if (!is_date(keys->date, part, &seconds))
        return cfg_fail_at(resolve->report, keys->node, "date",
                           "date wants a time in UTC like 2026-06-21T12:00:00Z; here is %s",
                           cfg_quote(keys->date).text);
    resolve->scenario->spec.world.epoch =
        dyn_epoch_of_date(part[0], part[1], part[2], part[3] * 3600.0 + part[4] * 60.0 + seconds);
    return true;
}

/* ---- magnetic field ---- */

/* The field of the keys is used; else that of the model, where the program has one for the year. A
 * device that needs a field and has none is refused (config/resolve/sensor.c,
 * config/resolve/effector.c). */
static void resolve_field(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_environment *keys = &resolve->keys->environment;
    struct dyn_world *world = &resolve->scenario->spec.world;
    struct cfg_wmm wmm;
    char error[CFG_ERROR_MAX];
    memcpy(resolve->scenario->spec.environment.magnetic_field, keys->magnetic_field,
           sizeof keys->magnetic_field);
    world->fixed_field = world->kind == DYN_WORLD_UNIFORM || is_given(keys, "magnetic_field");
    if (world->fixed_field ||
        !cfg_wmm_parse("WMM.COF", cfg_wmm_text, cfg_wmm_text_size, &wmm, error))
        return;
    const double year = dyn_epoch_year(&world->epoch);
    if (!cfg_wmm_covers(&wmm, year))
        return;
    dyn_magnetic_field_at_date(&wmm.model, year, &world->field);
    world->has_field = true;
}

/* ---- all ---- */

static bool resolve_gust(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_gust *keys = &resolve->keys->environment.gust;
    struct cfg_scenario *scenario = resolve->scenario;
    memcpy(scenario->spec.gust.sigma, keys->sigma, sizeof keys->sigma);
    memcpy(scenario->spec.gust.time, keys->time, sizeof keys->time);
    scenario->spec.gust.sample_time = (double)scenario->spec.period_ns * 1e-9;
    scenario->spec.has_gust = keys->sigma[0] > 0.0 || keys->sigma[1] > 0.0 || keys->sigma[2] > 0.0;
    if (!scenario->spec.has_gust || scenario->spec.environment.air)
        return true;
    return cfg_fail_at(resolve->report, keys->node, NULL,
                       "there is no air for a gust; give environment.air: true, or world: local");
}

static bool check_wind(const struct cfg_resolve *resolve)
{
    const double *wind = resolve->scenario->spec.environment.wind;
    if (resolve->scenario->spec.environment.air || (wind[0] == 0 && wind[1] == 0 && wind[2] == 0))
        return true;
    return cfg_fail_at(resolve->report, resolve->keys->environment.node, "wind",
                       "there is no air that could move; give environment.air: true, or world: "
                       "local");
}

static bool check_orbit_keys(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_environment *keys = &resolve->keys->environment;
    static const char *const earthly[] = {"gravity", "home", "ground", "wind", "gust", "air"};
    if (keys->world != DYN_WORLD_ORBIT) {
        if (keys->orbit.node == NULL)
            return true;
        return cfg_fail_at(resolve->report, keys->node, "orbit",
                           "orbit goes with world: orbit; write that, or remove it");
    }
    for (size_t i = 0; i < sizeof earthly / sizeof earthly[0]; i++)
        if (is_given(keys, earthly[i]))
            return cfg_fail_at(resolve->report, keys->node, earthly[i],
                               "there is no %s to choose in orbit; remove it", earthly[i]);
    return true;
}

bool cfg_resolve_world(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_environment *keys = &resolve->keys->environment;
    struct cfg_scenario *scenario = resolve->scenario;
    struct dyn_environment *environment = &scenario->spec.environment;
    struct dyn_world *world = &scenario->spec.world;
    if (!check_orbit_keys(resolve) || !resolve_date(resolve))
        return false;
    world->kind = environment->kind = (enum dyn_world_kind)keys->world;
    world->home = (struct dyn_geodetic){
        .latitude = keys->home.latitude,
        .longitude = keys->home.longitude,
        .height = keys->home.altitude,
    };
    environment->height = keys->home.altitude;
    environment->has_ground = is_given(keys, "ground");
    environment->ground = environment->has_ground ? keys->ground : 0.0;
    environment->air = keys->air >= 0 ? keys->air == 1 : keys->world == DYN_WORLD_LOCAL;
    environment->has_j2 = keys->world == DYN_WORLD_ORBIT && keys->orbit.bulge == 1;
    memcpy(environment->wind, keys->wind, sizeof keys->wind);
    memcpy(environment->gravity, keys->gravity, sizeof keys->gravity);
    if (keys->world == DYN_WORLD_LOCAL && !is_given(keys, "gravity"))
        environment->gravity[2] =
            dyn_earth_normal_gravity(keys->home.latitude, keys->home.altitude);
    resolve_field(resolve);
    dyn_world_begin(world);
    return check_wind(resolve) && resolve_gust(resolve);
}

/* ---- orbit ---- */

static int first_free(const struct cfg_scenario *scenario)
{
    for (int i = 0; i < scenario->spec.body_count; i++)
        if (scenario->spec.bodies[i].spec.parent < 0 &&
            scenario->spec.bodies[i].spec.joint == DYN_JOINT_FREE)
            return i;
    return -1;
}

/* In orbit no body may be fixed to the world, whose origin is the Earth's centre. */
static bool check_roots(const struct cfg_resolve *resolve)
{
    const struct cfg_scenario *scenario = resolve->scenario;
    static const double polar_radius = DYN_EARTH_RADIUS * (1.0 - DYN_EARTH_FLATTENING);
    for (int i = 0; i < scenario->spec.body_count; i++) {
        const struct sim_body *body = &scenario->spec.bodies[i];
        const double *r = body->position;
        if (body->spec.parent >= 0)
            continue;
        if (body->spec.joint != DYN_JOINT_FREE)
            return cfg_fail(
                resolve->report, NULL, cfg_scenario_mark(scenario, "bodies", body->name),
                "what orbits must be free: give \"%s\" joint: free, or a parent", body->name);
        if (!(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] > polar_radius * polar_radius))
            return cfg_fail(resolve->report, NULL,
                            cfg_scenario_mark(scenario, "bodies", body->name),
                            "\"%s\" would start inside the Earth; give it a position from the "
                            "Earth's centre, or a parent",
                            body->name);
    }
    return true;
}

static bool find_flier(const struct cfg_resolve *resolve, int *index)
{
    const struct cfg_keys_orbit *keys = &resolve->keys->environment.orbit;
    const struct cfg_scenario *scenario = resolve->scenario;
    *index = first_free(scenario);
    if (keys->body != NULL && !cfg_find_body(resolve, keys->node, "body", keys->body, index))
        return false;
    const struct dyn_body_spec *spec = *index >= 0 ? &scenario->spec.bodies[*index].spec : NULL;
    if (spec != NULL && spec->parent < 0 && spec->joint == DYN_JOINT_FREE)
        return true;
    return cfg_fail_at(resolve->report, resolve->keys->environment.node, "world",
                       "what orbits must be free: give \"%s\" joint: free and no parent, or name "
                       "another as environment.orbit.body",
                       scenario->spec.bodies[*index >= 0 ? *index : 0].name);
}

bool cfg_resolve_orbit(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_orbit *keys = &resolve->keys->environment.orbit;
    struct cfg_scenario *scenario = resolve->scenario;
    int index = 0;
    scenario->spec.reference_body = first_free(scenario);
    if (scenario->spec.world.kind != DYN_WORLD_ORBIT)
        return true;
    if (!find_flier(resolve, &index))
        return false;
    scenario->spec.reference_body = index;
    const struct dyn_orbit orbit = {
        .a = DYN_EARTH_RADIUS + keys->altitude,
        .e = keys->eccentricity,
        .i = keys->inclination,
        .node = keys->ascending_node,
        .perigee = keys->perigee,
        .mean = keys->anomaly,
    };
    if (orbit.a * (1.0 - orbit.e) <= DYN_EARTH_RADIUS)
        return cfg_fail_at(resolve->report, keys->node, "eccentricity",
                           "the perigee is %.10g km below the ground; raise altitude or lower "
                           "eccentricity",
                           (DYN_EARTH_RADIUS - orbit.a * (1.0 - orbit.e)) * 1e-3);
    const struct dyn_orbit_state state = dyn_orbit_to_state(&orbit, DYN_EARTH_MU);
    double *q = scenario->spec.bodies[index].position, *v = scenario->spec.bodies[index].velocity;
    const struct dyn_quat turn = dyn_quat_load(q + 3);
    const struct dyn_vec3 own = dyn_quat_rotate(dyn_quat_conjugate(turn), state.v);
    dyn_vec3_store(dyn_add(dyn_vec3_load(q), state.r), q);
    dyn_vec3_store(dyn_add(dyn_vec3_load(v + 3), own), v + 3);
    return check_roots(resolve);
}
