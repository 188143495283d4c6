/*
 * The robot of a URDF as bodies of a scenario: its links and joints become keys, as if they were
 * written in the scenario, and the keys that the scenario adds to a joint are merged.
 *
 * Tested by tests/config/import/test_robot.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/import/urdf.h"
#include "config/import/xml.h"
#include "config/resolve/file_source.h"
#include "config/resolve/resolve.h"
#include "config/yaml/suggest.h"
#include "config/yaml/value.h"

struct import {
    const struct cfg_resolve *resolve;
    struct cfg_keys_scenario *keys;
    struct cfg_load_arena *pool;
    const char *path; /* the path of the file */
    const struct cfg_urdf *urdf;
    const struct cfg_keys_urdf_joint **added; /* by joint; NULL: nothing */
};

/* A complaint about the URDF has the mark of its name in the scenario. */
static bool fail_at_urdf(const struct import *import, const char *line)
{
    return cfg_fail_at(import->resolve->report, import->keys->urdf.node, "file", "%.400s", line);
}

/* ---- the file ---- */

static bool read_urdf(struct import *import)
{
    char line[CFG_ERROR_MAX] = "";
    const struct cfg_file *file = cfg_file_source_take(import->resolve, import->keys->urdf.file,
                                                       "URDF", CFG_XML_TEXT_MAX, line);
    if (file == NULL)
        return fail_at_urdf(import, line);
    struct cfg_complaint inside = {.path = file->path, .line = line};
    import->resolve->scenario->urdf = file;
    import->path = file->path;
    import->urdf = cfg_urdf_parse(import->pool, file->text, file->size, &inside);
    return import->urdf != NULL || fail_at_urdf(import, line);
}

/* A body's name is used in topics and paths. */
static bool check_names(const struct import *import)
{
    char line[CFG_ERROR_MAX] = "";
    struct cfg_complaint inside = {.path = import->path, .line = line};
    for (int i = 0; i < import->urdf->link_count; i++) {
        const struct cfg_urdf_link *link = &import->urdf->links[i];
        if (cfg_is_name(link->name))
            continue;
        cfg_fail(&inside, NULL, link->mark,
                 "link %s cannot be a body; a body's name is a letter, then letters, digits, _ or "
                 "-, at most 47 in all",
                 cfg_quote(link->name).text);
        return fail_at_urdf(import, line);
    }
    return true;
}

/* ---- keys that the scenario adds ---- */

static const char *carried_link_name(const struct cfg_urdf *urdf, int joint)
{
    return urdf->links[urdf->joints[joint].child].name;
}

/* Look for the joint's own name first. */
static int find_joint(const struct cfg_urdf *urdf, const char *name)
{
    for (int j = 0; j < urdf->joint_count; j++)
        if (strcmp(urdf->joints[j].name, name) == 0)
            return j;
    for (int j = 0; j < urdf->joint_count; j++)
        if (strcmp(carried_link_name(urdf, j), name) == 0)
            return j;
    return -1;
}

static bool no_joint(const struct import *import, const struct cfg_keys_urdf_joint *keys)
{
    struct cfg_suggestion suggestion = cfg_suggest_begin(keys->name);
    for (int j = 0; j < import->urdf->joint_count; j++) {
        cfg_suggest_offer(&suggestion, import->urdf->joints[j].name);
        cfg_suggest_offer(&suggestion, carried_link_name(import->urdf, j));
    }
    return cfg_fail_at(import->resolve->report, keys->node, "name",
                       suggestion.best != NULL
                           ? "the URDF has no joint %s; did you mean \"%.60s\"?"
                           : "the URDF has no joint %s; name one of it, or the link it carries",
                       cfg_quote(keys->name).text, suggestion.best);
}

static int screw_type_of(const struct cfg_urdf_joint *joint)
{
    return joint->type == DYN_JOINT_PRISMATIC ? CFG_SCREW_SLIDE : CFG_SCREW_TURN;
}

static bool add_joint(const struct import *import, const struct cfg_keys_urdf_joint *keys)
{
    struct cfg_complaint *report = import->resolve->report;
    const int j = find_joint(import->urdf, keys->name);
    if (j < 0)
        return no_joint(import, keys);
    const struct cfg_urdf_joint *joint = &import->urdf->joints[j];
    if (!cfg_urdf_is_single(joint))
        return cfg_fail_at(
            report, keys->node, "name",
            "joint %s does not have exactly one coordinate to add to; name one that is revolute, "
            "continuous or prismatic",
            cfg_quote(keys->name).text);
    if (keys->type != screw_type_of(joint))
        return cfg_fail_at(report, keys->node, "type", "joint %s %s; write type: %s",
                           cfg_quote(keys->name).text,
                           joint->type == DYN_JOINT_PRISMATIC ? "slides" : "turns",
                           joint->type == DYN_JOINT_PRISMATIC ? "slide" : "turn");
    if (import->added[j] != NULL)
        return cfg_fail_at(report, keys->node, "name",
                           "joint %s is in the list already, in line %d; remove one",
                           cfg_quote(keys->name).text, import->added[j]->node->mark.line);
    import->added[j] = keys;
    return true;
}

static bool add_joints(struct import *import)
{
    const struct cfg_list *list = &import->keys->joints;
    const struct cfg_keys_urdf_joint *keys = list->items;
    import->added = cfg_load_arena_take(import->pool,
                                        (size_t)import->urdf->joint_count * sizeof *import->added);
    for (int i = 0; i < list->count; i++)
        if (!add_joint(import, &keys[i]))
            return false;
    return true;
}

/* ---- keys of a joint ---- */

static struct cfg_node *make_node(const struct import *import, enum cfg_node_kind kind,
                                  const char *key, const char *text)
{
    struct cfg_node *node = cfg_load_arena_take(import->pool, sizeof *node);
    *node = (struct cfg_node){.kind = kind,
                              .mark = import->keys->urdf.node->mark,
                              .origin = import->keys->urdf.node->origin,
                              .text = text,
                              .key = key};
    return node;
}

/* The defaults of the keys, for a joint to which nothing is added. */
static bool read_defaults(const struct import *import, int j, struct cfg_keys_urdf_joint *out)
{
    static const char *const ways[] = {[CFG_SCREW_TURN] = "turn", [CFG_SCREW_SLIDE] = "slide"};
    const struct cfg_urdf_joint *joint = &import->urdf->joints[j];
    struct cfg_node *map = make_node(import, CFG_NODE_MAP, NULL, NULL);
    cfg_node_append(map, make_node(import, CFG_NODE_SCALAR, "name", joint->name));
    cfg_node_append(map, make_node(import, CFG_NODE_SCALAR, "type", ways[screw_type_of(joint)]));
    return cfg_schema_read(&cfg_urdf_joint_table, map, out, import->pool, import->resolve->report);
}

static double bound(double said, double otherwise)
{
    return isnan(said) && isfinite(otherwise) ? otherwise : said;
}

/* Take from the URDF what the scenario leaves out. */
static void fill_motion(const struct cfg_urdf_joint *joint, const struct cfg_keys_urdf_joint *added,
                        struct cfg_keys_motion *motion)
{
    *motion = added->motion;
    if (cfg_node_find(added->node, "damping") == NULL)
        motion->damping = joint->damping;
    if (motion->friction.node == NULL && joint->friction > 0.0) {
        motion->friction.node = added->node;
        motion->friction.coulomb = joint->friction;
    }
    motion->limits.lower = bound(motion->limits.lower, joint->limit.lower);
    motion->limits.upper = bound(motion->limits.upper, joint->limit.upper);
}

static void fill_mimic(const struct import *import, int j, struct cfg_keys_joint *keys)
{
    const struct cfg_mimic *mimic = &import->urdf->mimics[j];
    if (mimic->leader >= 0)
        keys->mimic =
            (struct cfg_keys_mimic){keys->node, carried_link_name(import->urdf, mimic->leader),
                                    mimic->ratio, mimic->offset};
}

static bool fill_joint(const struct import *import, int j, struct cfg_keys_joint *keys)
{
    const struct cfg_urdf_joint *joint = &import->urdf->joints[j];
    struct cfg_keys_urdf_joint nothing = {0};
    const struct cfg_keys_urdf_joint *added = import->added[j];
    keys->type = (int)joint->type;
    memcpy(keys->axis, joint->axis, sizeof keys->axis);
    memcpy(keys->axis2, joint->axis2, sizeof keys->axis2);
    memcpy(keys->at, joint->xyz, sizeof keys->at);
    memcpy(keys->attitude, joint->quat, sizeof keys->attitude);
    for (int k = 0; k < 3; k++)
        keys->motion[k].prescribed = nan("");
    if (!cfg_urdf_is_single(joint))
        return true;
    if (added == NULL) {
        if (!read_defaults(import, j, &nothing))
            return false;
        added = &nothing;
    }
    keys->node = added->node;
    keys->motor = added->motor;
    fill_motion(joint, added, &keys->motion[0]);
    fill_mimic(import, j, keys);
    return true;
}

/* ---- keys of a body ---- */

static void fill_solid(const struct cfg_node *node, const struct cfg_urdf_visual *visual,
                       struct cfg_keys_solid *solid)
{
    static const int types[] = {[CFG_URDF_BOX] = SIM_SOLID_BOX,
                                [CFG_URDF_CYLINDER] = SIM_SOLID_CYLINDER,
                                [CFG_URDF_SPHERE] = SIM_SOLID_SPHERE};
    *solid = (struct cfg_keys_solid){.node = node,
                                     .type = types[visual->form],
                                     .radius = visual->size[0],
                                     .length = visual->size[1],
                                     .color = {nan("")},
                                     .opacity = visual->painted ? visual->rgba[3] : 1.0};
    memcpy(solid->at, visual->xyz, sizeof solid->at);
    memcpy(solid->attitude, visual->quat, sizeof solid->attitude);
    memcpy(solid->size, visual->size, sizeof solid->size);
    if (visual->painted)
        memcpy(solid->color, visual->rgba, sizeof solid->color);
}

static bool fill_solids(const struct import *import, int link, struct cfg_keys_body *body)
{
    char line[CFG_ERROR_MAX] = "";
    struct cfg_complaint inside = {.path = import->path, .line = line};
    struct cfg_urdf_visual *visuals;
    const int count = cfg_urdf_visuals(import->urdf, link, import->pool, &inside, &visuals);
    if (count < 0)
        return fail_at_urdf(import, line);
    if (count == 0)
        return true;
    struct cfg_keys_solid *solids =
        cfg_load_arena_take(import->pool, (size_t)count * sizeof *solids);
    for (int i = 0; i < count; i++)
        fill_solid(body->node, &visuals[i], &solids[i]);
    body->solids = (struct cfg_list){count, solids};
    return true;
}

static bool fill_link(const struct import *import, int i, struct cfg_keys_body *body)
{
    const struct cfg_urdf_link *link = &import->urdf->links[i];
    body->name = link->name;
    body->mass = link->mass;
    memcpy(body->center, link->center, sizeof body->center);
    memcpy(body->inertia, link->inertia, sizeof body->inertia);
    return fill_solids(import, i, body);
}

static bool fill_root(const struct import *import, struct cfg_keys_body *body)
{
    const struct cfg_keys_urdf *keys = &import->keys->urdf;
    body->node = body->joint.node = keys->node;
    body->parent = keys->parent;
    body->joint.type = keys->base == CFG_URDF_FREE ? DYN_JOINT_FREE : DYN_JOINT_FIXED;
    memcpy(body->joint.at, keys->at, sizeof keys->at);
    memcpy(body->joint.attitude, keys->attitude, sizeof keys->attitude);
    return fill_link(import, import->urdf->root, body);
}

static bool fill_child(const struct import *import, int j, struct cfg_keys_body *body)
{
    const struct cfg_urdf_joint *joint = &import->urdf->joints[j];
    const struct cfg_urdf_limit *limit = &joint->limit;
    struct sim_joint_range *range = cfg_load_arena_take(import->pool, sizeof *range);
    *range = (struct sim_joint_range){limit->lower, limit->upper, limit->velocity, limit->effort};
    body->node = body->joint.node = make_node(import, CFG_NODE_SCALAR, NULL, "");
    body->parent = import->urdf->links[joint->parent].name;
    body->range = cfg_urdf_is_single(joint) ? range : NULL;
    return fill_joint(import, j, &body->joint) && fill_link(import, joint->child, body);
}

static bool fill_bodies(const struct import *import)
{
    const struct cfg_urdf *urdf = import->urdf;
    struct cfg_list *list = &import->keys->bodies;
    const int count = urdf->link_count + list->count;
    if (count > CFG_BODY_MAX)
        return cfg_fail_at(import->resolve->report, import->keys->urdf.node, "file",
                           "the URDF and bodies are %d; there can be %d, remove some", count,
                           CFG_BODY_MAX);
    struct cfg_keys_body *bodies =
        cfg_load_arena_take(import->pool, (size_t)count * sizeof *bodies);
    if (!fill_root(import, &bodies[0]))
        return false;
    for (int k = 0; k < urdf->joint_count; k++)
        if (!fill_child(import, urdf->order[k], &bodies[k + 1]))
            return false;
    if (list->count > 0)
        memcpy(bodies + urdf->link_count, list->items, (size_t)list->count * sizeof *bodies);
    *list = (struct cfg_list){count, bodies};
    return true;
}

bool cfg_take_urdf(const struct cfg_resolve *resolve, struct cfg_keys_scenario *keys,
                   struct cfg_load_arena *pool)
{
    struct import import = {.resolve = resolve, .keys = keys, .pool = pool};
    if (keys->urdf.node == NULL)
        return keys->joints.count == 0 ||
               cfg_fail_at(resolve->report, keys->node, "joints",
                           "joints is for those of a urdf, and there is none; of bodies write "
                           "joint");
    return read_urdf(&import) && check_names(&import) && add_joints(&import) &&
           fill_bodies(&import);
}
