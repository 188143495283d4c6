/*
 * The tree of bodies: names, parents, order, and what the kernel must be able to trust.
 *
 * Tested by tests/config/resolve/test_mistakes_bodies.c.
 */
#include "config/resolve/resolve.h"
#include "rt/executive/arm/arm_configuration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/import/body_tree.h"
#include "config/import/mimic.h"
#include "config/import/sort_bodies.h"
#include "config/yaml/name_index.h"
#include "config/yaml/suggest.h"
#include "rt/check.h"

static const struct cfg_keys_body *body_keys(const struct cfg_resolve *resolve, int i)
{
    return (const struct cfg_keys_body *)resolve->keys->bodies.items + i;
}

static bool no_body(const struct cfg_resolve *resolve, const struct cfg_node *node, const char *key,
                    const char *name)
{
    struct cfg_suggestion suggestion = cfg_suggest_begin(name);
    struct cfg_phrase names = {0};
    for (int i = 0; i < resolve->keys->bodies.count; i++) {
        cfg_suggest_offer(&suggestion, body_keys(resolve, i)->name);
        cfg_phrase_add(&names, "%s%s", i > 0 ? ", " : "", body_keys(resolve, i)->name);
    }
    if (suggestion.best != NULL)
        return cfg_fail_at(resolve->report, node, key, "there is no body %s; did you mean \"%s\"?",
                           cfg_quote(name).text, suggestion.best);
    return cfg_fail_at(resolve->report, node, key, "there is no body %s; the bodies are %.200s",
                       cfg_quote(name).text, names.text);
}

bool cfg_find_body(const struct cfg_resolve *resolve, const struct cfg_node *node, const char *key,
                   const char *name, int *index)
{
    for (int i = 0; i < resolve->scenario->spec.body_count; i++) {
        if (strcmp(resolve->scenario->spec.bodies[i].name, name) == 0) {
            *index = i;
            return true;
        }
    }
    return no_body(resolve, node, key, name);
}

/* ---- the tree ---- */

/* The bodies in the order of the file, while they are put in order. */
struct roster {
    int count;
    struct cfg_name *names; /* sorted */
    int *parent;            /* -1: the world */
    int *order;             /* parents first */
    int *place;             /* in order */
    struct cfg_mimic *mimics;
};

static void *alloc_zeroed(size_t count, size_t size)
{
    void *mem = calloc(count + 1, size);
    RT_CHECK(mem != NULL);
    return mem;
}

static struct roster name_index_make(int count)
{
    const size_t n = (size_t)count;
    return (struct roster){
        .count = count,
        .names = alloc_zeroed(n, sizeof(struct cfg_name)),
        .parent = alloc_zeroed(n, sizeof(int)),
        .order = alloc_zeroed(n, sizeof(int)),
        .place = alloc_zeroed(n, sizeof(int)),
        .mimics = alloc_zeroed(n, sizeof(struct cfg_mimic)),
    };
}

static void name_index_free(struct roster *roster)
{
    free(roster->names);
    free(roster->parent);
    free(roster->order);
    free(roster->place);
    free(roster->mimics);
}

static bool sort_names(const struct cfg_resolve *resolve, const struct roster *roster)
{
    int twin;
    for (int i = 0; i < roster->count; i++)
        roster->names[i] = (struct cfg_name){body_keys(resolve, i)->name, i};
    const int again = cfg_name_index_sort(roster->names, roster->count, &twin);
    return again < 0 || cfg_fail_at(resolve->report, body_keys(resolve, again)->node, "name",
                                    "there is already a body \"%s\"; choose another name",
                                    body_keys(resolve, again)->name);
}

static bool find_parents(const struct cfg_resolve *resolve, const struct roster *roster)
{
    for (int i = 0; i < roster->count; i++) {
        const struct cfg_keys_body *body = body_keys(resolve, i);
        roster->parent[i] = body->parent != NULL
                                ? cfg_name_index_find(roster->names, roster->count, body->parent)
                                : -1;
        if (body->parent != NULL && roster->parent[i] < 0)
            return no_body(resolve, body->node, "parent", body->parent);
    }
    return true;
}

static bool sort_bodies(const struct cfg_resolve *resolve, const struct roster *roster)
{
    const int circle = cfg_sort_parents_first(roster->parent, roster->count, roster->order);
    for (int k = 0; k < roster->count && circle < 0; k++)
        roster->place[roster->order[k]] = k;
    if (circle < 0)
        return true;
    const struct cfg_keys_body *body = body_keys(resolve, circle);
    return cfg_fail_at(resolve->report, body->node, "parent",
                       "body \"%s\" hangs from \"%s\" in a circle that never meets the world; give "
                       "one of them another parent",
                       body->name, body->parent);
}

/* A URDF says it; the stops of the law say it better. */
static struct sim_joint_range range_of(const struct cfg_keys_body *keys,
                                       const struct dyn_body_spec *spec)
{
    const bool stops = dyn_joint_nv(spec) == 1 && spec->force_spec[0].limit_stiffness > 0.0;
    struct sim_joint_range range = {-HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};
    if (keys->range != NULL)
        range = *keys->range;
    if (stops) {
        range.lower = spec->force_spec[0].lower;
        range.upper = spec->force_spec[0].upper;
    }
    return range;
}

static bool fill_body(const struct cfg_resolve *resolve, const struct roster *roster, int i)
{
    const struct cfg_keys_body *keys = body_keys(resolve, i);
    struct sim_body *body = &resolve->scenario->spec.bodies[roster->place[i]];
    strcpy(body->name, keys->name);
    cfg_scenario_note(resolve->scenario, "bodies", body->name, keys->node->mark);
    body->spec.parent = roster->parent[i] >= 0 ? roster->place[roster->parent[i]] : -1;
    body->spec.mass = keys->mass;
    memcpy(body->spec.center, keys->center, sizeof body->spec.center);
    memcpy(body->spec.inertia, keys->inertia, sizeof body->spec.inertia);
    if (!cfg_resolve_joint(resolve, &keys->joint, body))
        return false;
    body->range = range_of(keys, &body->spec);
    return (keys->flex.node == NULL || cfg_resolve_flex(resolve, keys, body)) &&
           cfg_resolve_solids(resolve, keys, body);
}

/* On which nodes the bodies sit; those that carry none are kept from the kernel. */
static bool fill_parent_nodes(const struct cfg_resolve *resolve, const struct roster *roster)
{
    struct sim_body *bodies = resolve->scenario->spec.bodies;
    for (int i = 0; i < roster->count; i++)
        if (!cfg_resolve_parent_node(resolve, body_keys(resolve, i), &bodies[roster->place[i]]))
            return false;
    for (int i = 0; i < roster->count; i++)
        cfg_gather_nodes(resolve, &bodies[i]);
    return true;
}

/* ---- followers ---- */

static bool find_leader(const struct cfg_resolve *resolve, const struct roster *roster, int i)
{
    const struct cfg_keys_mimic *keys = &body_keys(resolve, i)->joint.mimic;
    struct cfg_mimic *mimic = &roster->mimics[i];
    *mimic = (struct cfg_mimic){-1, keys->ratio, keys->offset};
    if (keys->node == NULL)
        return true;
    mimic->leader = cfg_name_index_find(roster->names, roster->count, keys->body);
    if (mimic->leader < 0)
        return no_body(resolve, keys->node, "body", keys->body);
    const struct sim_body *leader = &resolve->scenario->spec.bodies[roster->place[mimic->leader]];
    return dyn_joint_nv(&leader->spec) == 1 ||
           cfg_fail_at(resolve->report, keys->node, "body",
                       "the joint of \"%s\" does not have exactly one coordinate to follow; name a "
                       "body with a "
                       "revolute or prismatic joint",
                       leader->name);
}

static bool resolve_mimics(const struct cfg_resolve *resolve, const struct roster *roster)
{
    for (int i = 0; i < roster->count; i++)
        if (!find_leader(resolve, roster, i))
            return false;
    const int circle = cfg_mimic_resolve(roster->mimics, roster->count);
    if (circle >= 0)
        return cfg_fail_at(resolve->report, body_keys(resolve, circle)->joint.mimic.node, "body",
                           "the joint of \"%s\" follows itself in the end; let one of the circle "
                           "lead",
                           body_keys(resolve, circle)->name);
    for (int i = 0; i < roster->count; i++) {
        const struct cfg_mimic *mimic = &roster->mimics[i];
        if (mimic->leader >= 0)
            resolve->scenario->spec.bodies[roster->place[i]].spec.mimic =
                (struct dyn_mimic){1, roster->place[mimic->leader], mimic->ratio, mimic->offset};
    }
    return true;
}

static bool fill_bodies(const struct cfg_resolve *resolve, const struct roster *roster)
{
    struct cfg_scenario *scenario = resolve->scenario;
    if (!sort_names(resolve, roster) || !find_parents(resolve, roster) ||
        !sort_bodies(resolve, roster))
        return false;
    scenario->spec.bodies = alloc_zeroed((size_t)roster->count, sizeof *scenario->spec.bodies);
    scenario->spec.body_count = roster->count;
    for (int i = 0; i < roster->count; i++)
        if (!fill_body(resolve, roster, i))
            return false;
    return fill_parent_nodes(resolve, roster) && resolve_mimics(resolve, roster);
}

bool cfg_resolve_bodies(const struct cfg_resolve *resolve)
{
    struct roster roster = name_index_make(resolve->keys->bodies.count);
    const bool good = fill_bodies(resolve, &roster);
    name_index_free(&roster);
    return good;
}

/* ---- the model ---- */

/* Asked of the kernel's own check. */
bool cfg_is_physical(const double inertia[6])
{
    struct dyn_body_spec spec = {.parent = -1, .joint = DYN_JOINT_FIXED, .place_quat = {1.0}};
    int body;
    memcpy(spec.inertia, inertia, sizeof spec.inertia);
    return dyn_model_problem(&spec, 1, &body) == NULL;
}

static bool check_inertias(const struct cfg_resolve *resolve)
{
    for (int i = 0; i < resolve->keys->bodies.count; i++) {
        const struct cfg_keys_body *body = body_keys(resolve, i);
        if (cfg_node_find(body->node, "inertia") != NULL && !cfg_is_physical(body->inertia))
            return cfg_fail_at(
                resolve->report, body->node, "inertia",
                "no body has this inertia: each principal moment is at most the sum of "
                "the other two; check the numbers and their order, xx yy zz xy xz yz");
    }
    return true;
}

static const struct cfg_node *device_node(const struct cfg_resolve *resolve, const char *name)
{
    const struct cfg_keys_device *devices = resolve->keys->devices.items;
    int i = 0;
    while (strcmp(devices[i].name, name) != 0)
        i++;
    return devices[i].node;
}

/* The kernel wants the body without J a a'; the file states it with the rotors locked. */
static bool take_rotor_out(const struct cfg_resolve *resolve, const struct sim_effector *effector)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    struct sim_body *body = &resolve->scenario->spec.bodies[effector->effector.body];
    struct dyn_gyrostat gyrostat;
    if (!dyn_effector_gyrostat(&effector->effector, &gyrostat))
        return true;
    const double *a = gyrostat.axis, J = gyrostat.inertia;
    for (int k = 0; k < 6; k++)
        body->spec.inertia[k] -= J * a[row[k]] * a[column[k]];
    if (cfg_is_physical(body->spec.inertia))
        return true;
    return cfg_fail_at(resolve->report, device_node(resolve, effector->name), "inertia",
                       "the rotor's %.10g kg m^2 does not fit into the inertia of \"%s\", which is "
                       "stated with its rotors; check both",
                       J, body->name);
}

static const struct cfg_keys_body *keys_of(const struct cfg_resolve *resolve, const char *name)
{
    int i = 0;
    while (strcmp(body_keys(resolve, i)->name, name) != 0)
        i++;
    return body_keys(resolve, i);
}

/* Bolted to the world. */
static bool is_fixed_to_world(const struct sim_body *bodies, int i)
{
    for (; i >= 0; i = bodies[i].spec.parent)
        if (bodies[i].spec.joint != DYN_JOINT_FIXED)
            return false;
    return true;
}

/* The parent's inertia is stated with the rotor locked, so what is left without it must be a body:
 * else the kernel would find less than no inertia in some pose. */
static bool check_motor(const struct cfg_resolve *resolve, int i)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    const struct sim_body *bodies = resolve->scenario->spec.bodies, *body = &bodies[i];
    const struct dyn_geared_rotor *rotor = &body->spec.rotor;
    const int parent = body->spec.parent;
    double left[6];
    if (rotor->terms != DYN_ROTOR_FULL || parent < 0 || is_fixed_to_world(bodies, parent))
        return true;
    memcpy(left, bodies[parent].spec.inertia, sizeof left);
    for (int j = 0; j < resolve->scenario->spec.body_count; j++) {
        const struct dyn_body_spec *other = &bodies[j].spec;
        const double *a = other->rotor.axis;
        if (other->parent == parent && other->rotor.terms == DYN_ROTOR_FULL)
            for (int k = 0; k < 6; k++)
                left[k] -= other->rotor.inertia * a[row[k]] * a[column[k]];
    }
    if (cfg_is_physical(left))
        return true;
    return cfg_fail_at(resolve->report, keys_of(resolve, body->name)->node, NULL,
                       "the motor's rotor of %.10g kg m^2 does not fit into the inertia of \"%s\", "
                       "which is stated with the rotors on it; check both, or say terms: diagonal",
                       rotor->inertia, bodies[parent].name);
}

static bool check_bending(const struct cfg_resolve *resolve)
{
    for (int i = 0; i < resolve->scenario->spec.body_count; i++) {
        struct sim_body *body = &resolve->scenario->spec.bodies[i];
        if (body->flex != NULL && !cfg_check_flex(resolve, keys_of(resolve, body->name), body))
            return false;
    }
    return true;
}

static bool check_model(const struct cfg_resolve *resolve, int configuration)
{
    struct cfg_scenario *scenario = resolve->scenario;
    struct dyn_body_spec *specs = alloc_zeroed((size_t)scenario->spec.body_count, sizeof *specs);
    sim_arm_configuration_specs(&scenario->spec, configuration, specs);
    int at = 0;
    const char *problem = cfg_tree_problem(specs, scenario->spec.body_count, &at);
    free(specs);
    if (problem == NULL)
        return true;
    const char *name = scenario->spec.bodies[at].name;
    return cfg_fail_at(resolve->report, keys_of(resolve, name)->node, NULL,
                       "body \"%s\": %s; check its joint, mass and inertia", name, problem);
}

/* What does not go together although each part is sound by itself. */
static bool check_plant(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_scenario *keys = resolve->keys;
    const struct sim_spec *spec = &resolve->scenario->spec;
    struct dyn_body_spec *bodies = alloc_zeroed((size_t)spec->body_count, sizeof *bodies);
    struct dyn_effector *effectors = alloc_zeroed((size_t)spec->effector_count, sizeof *effectors);
    sim_arm_configuration_specs(spec, sim_arm_first_configuration(spec), bodies);
    for (int i = 0; i < spec->effector_count; i++)
        effectors[i] = spec->effectors[i].effector;
    struct dyn_model *model = cfg_tree_place(bodies, spec->body_count);
    const struct dyn_plant plant = {.model = model,
                                    .effector_count = spec->effector_count,
                                    .effectors = effectors,
                                    .environment = spec->environment,
                                    .integrator = spec->integrator};
    const char *problem = dyn_plant_problem(&plant);
    free(model);
    free(effectors);
    free(bodies);
    if (problem == NULL)
        return true;
    return spec->integrator == DYN_SEMI_IMPLICIT_EULER
               ? cfg_fail_at(resolve->report, keys->integrator.node, "method",
                             "%s; write integrator: rk4, or another of second order or more",
                             problem)
               : cfg_fail_at(resolve->report, keys->node, "environment", "%s", problem);
}

bool cfg_resolve_model(const struct cfg_resolve *resolve)
{
    if (!check_inertias(resolve))
        return false;
    for (int i = 0; i < resolve->scenario->spec.effector_count; i++)
        if (!take_rotor_out(resolve, &resolve->scenario->spec.effectors[i]))
            return false;
    for (int i = 0; i < resolve->scenario->spec.body_count; i++)
        if (!check_motor(resolve, i))
            return false;
    if (!check_bending(resolve))
        return false;
    for (int i = 0; i < sim_arm_configuration_count(&resolve->scenario->spec); i++)
        if (!check_model(resolve, i))
            return false;
    return check_plant(resolve);
}
