/*
 * The tree of bodies: names, parents, order, and what the kernel must be able to trust.
 */
#include "config/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "config/suggest.h"
#include "rt/check.h"

static const struct cfg_keys_body *body_keys(const struct cfg_resolve *resolve, int i)
{
    return (const struct cfg_keys_body *)resolve->keys->bodies.items + i;
}

static int file_index(const struct cfg_resolve *resolve, const char *name)
{
    for (int i = 0; i < resolve->keys->bodies.count; i++)
        if (strcmp(body_keys(resolve, i)->name, name) == 0)
            return i;
    return -1;
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
    for (int i = 0; i < resolve->scenario->body_count; i++) {
        if (strcmp(resolve->scenario->bodies[i].name, name) == 0) {
            *index = i;
            return true;
        }
    }
    return no_body(resolve, node, key, name);
}

static bool check_names(const struct cfg_resolve *resolve)
{
    for (int i = 0; i < resolve->keys->bodies.count; i++) {
        const struct cfg_keys_body *body = body_keys(resolve, i);
        if (file_index(resolve, body->name) != i)
            return cfg_fail_at(resolve->report, body->node, "name",
                               "there is already a body \"%s\"; choose another name", body->name);
        if (body->parent != NULL && file_index(resolve, body->parent) < 0)
            return no_body(resolve, body->node, "parent", body->parent);
        if (body->parent != NULL && body->joint.type == DYN_JOINT_FREE)
            return cfg_fail_at(
                resolve->report, body->joint.node, "type",
                "a free body has no parent; remove the parent or take another joint");
    }
    return true;
}

static void fill_joint(const struct cfg_keys_joint *joint, struct cfg_body *body)
{
    struct dyn_body_spec *spec = &body->spec;
    spec->joint = (enum dyn_joint_type)joint->type;
    spec->place_quat[0] = 1.0;
    if (spec->joint == DYN_JOINT_FREE) { /* its place is its coordinates */
        memcpy(body->position, joint->at, sizeof joint->at);
        memcpy(body->position + 3, joint->attitude, sizeof joint->attitude);
        memcpy(body->velocity, joint->spin, sizeof joint->spin);
        memcpy(body->velocity + 3, joint->velocity, sizeof joint->velocity);
        return;
    }
    memcpy(spec->axis, joint->axis, sizeof spec->axis);
    memcpy(spec->place_xyz, joint->at, sizeof spec->place_xyz);
    memcpy(spec->place_quat, joint->attitude, sizeof spec->place_quat);
    spec->law[0].stiffness = joint->stiffness;
    spec->law[0].damping = joint->damping;
    spec->law[0].rest = joint->rest;
    body->position[0] = joint->position;
    body->velocity[0] = joint->rate;
}

static void fill_body(const struct cfg_keys_body *keys, int parent, struct cfg_body *body)
{
    strcpy(body->name, keys->name);
    body->mark = keys->node->mark;
    body->spec.parent = parent;
    body->spec.mass = keys->mass;
    memcpy(body->spec.center, keys->center, sizeof body->spec.center);
    memcpy(body->spec.inertia, keys->inertia, sizeof body->spec.inertia);
    fill_joint(&keys->joint, body);
}

/* Where a body of the file hangs and stands; -1: the world, not placed yet. */
struct seat {
    int parent, place;
};

/* The first body in the file that is not placed yet and whose parent is; -1: none. */
static int next_body(const struct seat *seats, int count)
{
    for (int i = 0; i < count; i++)
        if (seats[i].place < 0 && (seats[i].parent < 0 || seats[seats[i].parent].place >= 0))
            return i;
    return -1;
}

static bool refuse_circle(const struct cfg_resolve *resolve, const struct seat *seats)
{
    int i = 0;
    while (seats[i].place >= 0)
        i++;
    const struct cfg_keys_body *body = body_keys(resolve, i);
    return cfg_fail_at(resolve->report, body->node, "parent",
                       "body \"%s\" hangs from \"%s\" in a circle that never meets the world; give "
                       "one of them another parent",
                       body->name, body->parent);
}

/* Parent before child, file order otherwise. */
static bool sort_bodies(const struct cfg_resolve *resolve, struct seat *seats)
{
    struct cfg_scenario *scenario = resolve->scenario;
    const int count = resolve->keys->bodies.count;
    for (int i = 0; i < count; i++) {
        const char *parent = body_keys(resolve, i)->parent;
        seats[i] = (struct seat){parent != NULL ? file_index(resolve, parent) : -1, -1};
    }
    while (scenario->body_count < count) {
        const int i = next_body(seats, count);
        if (i < 0)
            return refuse_circle(resolve, seats);
        const int parent = seats[i].parent >= 0 ? seats[seats[i].parent].place : -1;
        fill_body(body_keys(resolve, i), parent, &scenario->bodies[scenario->body_count]);
        seats[i].place = scenario->body_count++;
    }
    return true;
}

bool cfg_resolve_bodies(const struct cfg_resolve *resolve)
{
    const size_t count = (size_t)resolve->keys->bodies.count;
    if (!check_names(resolve))
        return false;
    resolve->scenario->bodies = calloc(count, sizeof *resolve->scenario->bodies);
    struct seat *seats = calloc(count, sizeof *seats);
    RT_CHECK(resolve->scenario->bodies != NULL && seats != NULL);
    const bool good = sort_bodies(resolve, seats);
    free(seats);
    return good;
}

/* ---- the model ---- */

/* Is there a mass distribution with this inertia?  Asked of the kernel's own check. */
static bool is_physical(const double inertia[6])
{
    struct dyn_body_spec spec = {.parent = -1, .joint = DYN_JOINT_FIXED, .place_quat = {1.0}};
    int body;
    memcpy(spec.inertia, inertia, sizeof spec.inertia);
    return dyn_model_flaw(&spec, 1, &body) == NULL;
}

static bool check_inertias(const struct cfg_resolve *resolve)
{
    for (int i = 0; i < resolve->keys->bodies.count; i++) {
        const struct cfg_keys_body *body = body_keys(resolve, i);
        if (!is_physical(body->inertia))
            return cfg_fail_at(
                resolve->report, body->node, "inertia",
                "no body has this inertia: each principal moment is at most the sum of "
                "the other two; check the numbers and their order, xx yy zz xy xz yz");
    }
    return true;
}

static const struct cfg_node *wheel_node(const struct cfg_resolve *resolve, const char *name)
{
    const struct cfg_keys_device *devices = resolve->keys->devices.items;
    int i = 0;
    while (strcmp(devices[i].name, name) != 0)
        i++;
    return devices[i].node;
}

/* The kernel wants the body without J a a'; the file states it with the rotors locked. */
static bool take_rotor_out(const struct cfg_resolve *resolve, const struct cfg_wheel *wheel)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    struct cfg_body *body = &resolve->scenario->bodies[wheel->body];
    const double *a = wheel->wheel.axis, J = wheel->wheel.inertia;
    for (int k = 0; k < 6; k++)
        body->spec.inertia[k] -= J * a[row[k]] * a[column[k]];
    if (is_physical(body->spec.inertia))
        return true;
    return cfg_fail_at(resolve->report, wheel_node(resolve, wheel->name), "inertia",
                       "the rotor's %.10g kg m^2 does not fit into the inertia of \"%s\", which is "
                       "stated with its rotors; check both",
                       J, body->name);
}

static bool check_model(const struct cfg_resolve *resolve)
{
    struct cfg_scenario *scenario = resolve->scenario;
    struct dyn_body_spec *specs = calloc((size_t)scenario->body_count, sizeof *specs);
    RT_CHECK(specs != NULL);
    for (int i = 0; i < scenario->body_count; i++)
        specs[i] = scenario->bodies[i].spec;
    int at = 0;
    const char *flaw = dyn_model_flaw(specs, scenario->body_count, &at);
    free(specs);
    if (flaw == NULL)
        return true;
    const struct cfg_body *body = &scenario->bodies[at];
    return cfg_fail_at(resolve->report, body_keys(resolve, file_index(resolve, body->name))->node,
                       NULL, "body \"%s\": %s; check its joint, mass and inertia", body->name,
                       flaw);
}

bool cfg_resolve_model(const struct cfg_resolve *resolve)
{
    if (!check_inertias(resolve))
        return false;
    for (int i = 0; i < resolve->scenario->wheel_count; i++)
        if (!take_rotor_out(resolve, &resolve->scenario->wheels[i]))
            return false;
    return check_model(resolve);
}
