#include "config/model_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/import/body_tree.h"
#include "config/import/urdf.h"
#include "config/import/xml.h"
#include "config/scenario.h"
#include "config/yaml/isa.h"
#include "config/yaml/text_file.h"
#include "rt/check.h"

static void alloc_arrays(struct cfg_model *model, int body_count)
{
    const size_t count = (size_t)body_count;
    model->body_count = body_count;
    model->specs = cfg_load_arena_take(&model->pool, count * sizeof *model->specs);
    model->body_names = cfg_load_arena_take(&model->pool, count * sizeof *model->body_names);
    model->joints = cfg_load_arena_take(&model->pool, count * sizeof *model->joints);
}

static struct cfg_model_start zero_pose(const struct dyn_body_spec *spec)
{
    struct cfg_model_start start = {0};
    dyn_joint_zero(spec, start.q);
    return start;
}

/* The joint of a body that has no name and no limits of its own. */
static struct cfg_model_joint unbounded(const struct cfg_model *model, int body)
{
    return (struct cfg_model_joint){
        .name = model->body_names[body],
        .body = body,
        .lower = -HUGE_VAL,
        .upper = HUGE_VAL,
        .effort = HUGE_VAL,
        .velocity = HUGE_VAL,
        .start = zero_pose(&model->specs[body]),
    };
}

/* ---- URDF ---- */

static void fill_mass(const struct cfg_urdf_link *link, struct dyn_body_spec *spec)
{
    spec->mass = link->mass;
    memcpy(spec->center, link->center, sizeof spec->center);
    memcpy(spec->inertia, link->inertia, sizeof spec->inertia);
}

static void fill_joint(const struct cfg_urdf_joint *joint, struct dyn_body_spec *spec)
{
    spec->joint = joint->type;
    memcpy(spec->axis, joint->axis, sizeof spec->axis);
    memcpy(spec->axis2, joint->axis2, sizeof spec->axis2);
    memcpy(spec->place_xyz, joint->xyz, sizeof spec->place_xyz);
    memcpy(spec->place_quat, joint->quat, sizeof spec->place_quat);
    if (joint->type != DYN_JOINT_FIXED)
        spec->force_spec[0].damping = joint->damping;
}

/* The root is body 0, the child of the k-th joint in order body k + 1. */
static void fill_bodies(const struct cfg_urdf *urdf, enum cfg_base base, int *body_of,
                        struct cfg_model *model)
{
    const struct cfg_urdf_link *root = &urdf->links[urdf->root];
    model->specs[0] = (struct dyn_body_spec){
        .parent = -1,
        .joint = base == CFG_BASE_FREE ? DYN_JOINT_FREE : DYN_JOINT_FIXED,
        .place_quat = {1.0},
    };
    fill_mass(root, &model->specs[0]);
    model->body_names[0] = root->name;
    body_of[urdf->root] = 0;
    for (int k = 0; k < urdf->joint_count; k++) {
        const struct cfg_urdf_joint *joint = &urdf->joints[urdf->order[k]];
        struct dyn_body_spec *spec = &model->specs[k + 1];
        spec->parent = body_of[joint->parent];
        fill_joint(joint, spec);
        fill_mass(&urdf->links[joint->child], spec);
        model->body_names[k + 1] = urdf->links[joint->child].name;
        body_of[joint->child] = k + 1;
    }
}

static void list_joints(const struct cfg_urdf *urdf, const int *body_of, struct cfg_model *model)
{
    if (model->specs[0].joint == DYN_JOINT_FREE)
        model->joints[model->joint_count++] = unbounded(model, 0);
    for (int j = 0; j < urdf->joint_count; j++) {
        const struct cfg_urdf_joint *joint = &urdf->joints[j];
        if (joint->type == DYN_JOINT_FIXED)
            continue;
        model->joints[model->joint_count++] = (struct cfg_model_joint){
            .name = joint->name,
            .body = body_of[joint->child],
            .lower = joint->limit.lower,
            .upper = joint->limit.upper,
            .effort = joint->limit.effort,
            .velocity = joint->limit.velocity,
            .friction = joint->friction,
            .start = zero_pose(&model->specs[body_of[joint->child]]),
        };
    }
}

/* Leaders have their bodies by now. */
static void fill_mimics(const struct cfg_urdf *urdf, const int *body_of, struct cfg_model *model)
{
    for (int j = 0; j < urdf->joint_count; j++) {
        const struct cfg_mimic *mimic = &urdf->mimics[j];
        if (mimic->leader >= 0)
            model->specs[body_of[urdf->joints[j].child]].mimic = (struct dyn_mimic){
                1, body_of[urdf->joints[mimic->leader].child], mimic->ratio, mimic->offset};
    }
}

static bool check_effector(const struct cfg_urdf *urdf, const struct cfg_model *model,
                           struct cfg_complaint *report)
{
    int body;
    const char *problem = cfg_tree_problem(model->specs, model->body_count, &body);
    if (problem == NULL)
        return true;
    const int link = body == 0 ? urdf->root : urdf->joints[urdf->order[body - 1]].child;
    return cfg_fail(report, NULL, urdf->links[link].mark,
                    "link %s: %s; check its <inertial> and its joint",
                    cfg_quote(urdf->links[link].name).text, problem);
}

static bool from_urdf(struct cfg_model *model, const char *text, size_t size, enum cfg_base base,
                      struct cfg_complaint *report)
{
    const struct cfg_urdf *urdf = cfg_urdf_parse(&model->pool, text, size, report);
    if (urdf == NULL)
        return false;
    int *body_of = cfg_load_arena_take(&model->pool, (size_t)urdf->link_count * sizeof *body_of);
    alloc_arrays(model, urdf->link_count);
    fill_bodies(urdf, base, body_of, model);
    fill_mimics(urdf, body_of, model);
    list_joints(urdf, body_of, model);
    model->gravity[2] = -9.81;
    return check_effector(urdf, model, report);
}

/* ---- scenario ---- */

/* The kernel's bodies are without the axial inertia of their rotors; locked rotors give it back. */
static void lock_rotors(const struct cfg_scenario *scenario, struct cfg_model *model)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int i = 0; i < scenario->spec.effector_count; i++) {
        const struct dyn_effector *effector = &scenario->spec.effectors[i].effector;
        struct dyn_gyrostat gyrostat;
        if (!dyn_effector_gyrostat(effector, &gyrostat))
            continue;
        const double *a = gyrostat.axis;
        for (int k = 0; k < 6; k++)
            model->specs[effector->body].inertia[k] += gyrostat.inertia * a[row[k]] * a[column[k]];
    }
}

/* How the joints of a scenario come one after the other. */
struct rank {
    int body;
    bool is_base;
    struct cfg_mark mark;
};

static int compare_ranks(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    return x->is_base != y->is_base           ? y->is_base - x->is_base
           : x->mark.line != y->mark.line     ? (x->mark.line > y->mark.line ? 1 : -1)
           : x->mark.column != y->mark.column ? (x->mark.column > y->mark.column ? 1 : -1)
                                              : x->body - y->body; /* of one URDF */
}

static struct cfg_model_start start_of(const struct sim_body *body)
{
    struct cfg_model_start start = {0};
    memcpy(start.q, body->position, sizeof start.q);
    start.eta = body->flex != NULL ? body->flex->start : NULL;
    for (int k = 0; k < DYN_JOINT_DOF_MAX; k++) {
        start.held[k] = body->held[k];
        start.v[k] = body->held[k] ? body->velocity[k] : 0.0;
        start.a[k] = body->held[k] ? body->held_a[k] : 0.0;
    }
    return start;
}

static void list_bodies(const struct cfg_scenario *scenario, struct cfg_model *model)
{
    const size_t room = (size_t)scenario->spec.body_count * sizeof(struct rank);
    struct rank *ranks = cfg_load_arena_take(&model->pool, room);
    int count = 0;
    for (int i = 0; i < scenario->spec.body_count; i++) {
        const struct dyn_body_spec *spec = &scenario->spec.bodies[i].spec;
        if (spec->joint != DYN_JOINT_FIXED || spec->flex != NULL)
            ranks[count++] =
                (struct rank){i, spec->joint == DYN_JOINT_FREE && spec->parent < 0,
                              cfg_scenario_mark(scenario, "bodies", scenario->spec.bodies[i].name)};
    }
    qsort(ranks, (size_t)count, sizeof *ranks, compare_ranks);
    for (int k = 0; k < count; k++) {
        model->joints[k] = unbounded(model, ranks[k].body);
        model->joints[k].start = start_of(&scenario->spec.bodies[ranks[k].body]);
    }
    model->joint_count = count;
}

static bool from_scenario(struct cfg_model *model, const char *text, size_t size,
                          enum cfg_base base, struct cfg_complaint *report)
{
    struct cfg_scenario *scenario;
    if (base != CFG_BASE_UNSAID)
        return cfg_fail(report, NULL, (struct cfg_mark){0, 0},
                        "--base is for URDF; a scenario says itself which body is free");
    if (cfg_scenario_load_text(report->path, text, size, NULL, 0, &scenario, report->line))
        return false;
    alloc_arrays(model, scenario->spec.body_count);
    for (int i = 0; i < scenario->spec.body_count; i++) {
        const char *name = scenario->spec.bodies[i].name;
        model->specs[i] = scenario->spec.bodies[i].spec;
        model->body_names[i] = cfg_load_arena_copy(&model->pool, name, strlen(name));
    }
    lock_rotors(scenario, model);
    list_bodies(scenario, model);
    memcpy(model->gravity, scenario->spec.environment.gravity, sizeof model->gravity);
    model->kept = scenario->kept; /* taken over */
    scenario->kept = (struct cfg_load_arena){0};
    cfg_scenario_free(scenario);
    return true;
}

/* ---- both ---- */

static void place_model(struct cfg_model *model, enum dyn_isa isa)
{
    model->tree = cfg_tree_place(model->specs, model->body_count);
    dyn_model_use_isa(model->tree, isa);
    model->nq = dyn_model_nq(model->tree);
    model->nv = dyn_model_nv(model->tree);
    model->q_at = cfg_load_arena_take(&model->pool, (size_t)model->nq * sizeof *model->q_at);
    model->v_at = cfg_load_arena_take(&model->pool, (size_t)model->nv * sizeof *model->v_at);
}

static void map_coordinates(struct cfg_model *model)
{
    int q = 0, v = 0;
    for (int k = 0; k < model->joint_count; k++) {
        struct cfg_model_joint *joint = &model->joints[k];
        const struct dyn_body_spec *spec = &model->specs[joint->body];
        joint->q_first = q;
        joint->v_first = v;
        for (int i = 0; i < dyn_joint_nq(spec); i++)
            model->q_at[q++] = dyn_model_q_index(model->tree, joint->body) + i;
        for (int i = 0; i < dyn_joint_nv(spec); i++)
            model->v_at[v++] = dyn_model_v_index(model->tree, joint->body) + i;
    }
    for (int k = 0; k < model->joint_count; k++) {
        struct cfg_model_joint *joint = &model->joints[k];
        joint->modes = dyn_model_modes(model->tree, joint->body);
        joint->mode_first = v;
        for (int i = 0; i < joint->modes; i++) {
            model->q_at[q++] = dyn_model_eta_index(model->tree, joint->body) + i;
            model->v_at[v++] = dyn_model_xi_index(model->tree, joint->body) + i;
        }
    }
    RT_CHECK(q == model->nq && v == model->nv);
}

int cfg_model_load_text(const char *name, const char *text, size_t size, enum cfg_base base,
                        struct cfg_model **out, char error[CFG_ERROR_MAX])
{
    struct cfg_complaint report = {.path = name, .line = error};
    struct cfg_model *model = calloc(1, sizeof *model);
    enum dyn_isa isa;
    RT_CHECK(model != NULL);
    *out = NULL;
    if (!cfg_isa(&isa, error) ||
        !(cfg_xml_looks_like(text) ? from_urdf : from_scenario)(model, text, size, base, &report)) {
        cfg_model_free(model);
        return -EINVAL;
    }
    place_model(model, isa);
    map_coordinates(model);
    *out = model;
    return 0;
}

int cfg_model_load(const char *path, enum cfg_base base, struct cfg_model **model,
                   char error[CFG_ERROR_MAX])
{
    char *text;
    size_t size;
    *model = NULL;
    int status = cfg_file_read(path, "model", CFG_XML_TEXT_MAX, &text, &size, error);
    if (status == 0)
        status = cfg_model_load_text(path, text, size, base, model, error);
    free(text);
    return status;
}

void cfg_model_free(struct cfg_model *model)
{
    if (model == NULL)
        return;
    cfg_load_arena_free(&model->pool);
    cfg_load_arena_free(&model->kept);
    free(model->tree);
    free(model);
}
