#include "config/model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/file.h"
#include "config/scenario.h"
#include "config/urdf.h"
#include "config/xml.h"
#include "rt/check.h"

enum { CACHE_LINE = 64 };

static void make_room(struct cfg_model *model, int body_count)
{
    const size_t count = (size_t)body_count;
    model->body_count = body_count;
    model->specs = cfg_pool_take(&model->pool, count * sizeof *model->specs);
    model->body_names = cfg_pool_take(&model->pool, count * sizeof *model->body_names);
    model->joints = cfg_pool_take(&model->pool, count * sizeof *model->joints);
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
    memcpy(spec->place_xyz, joint->xyz, sizeof spec->place_xyz);
    memcpy(spec->place_quat, joint->quat, sizeof spec->place_quat);
    if (joint->type != DYN_JOINT_FIXED)
        spec->law[0].damping = joint->damping;
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
        };
    }
}

static bool refuse_mimics(const struct cfg_urdf *urdf, struct cfg_report *report)
{
    for (int j = 0; j < urdf->joint_count; j++) {
        const struct cfg_urdf_joint *joint = &urdf->joints[j];
        if (joint->mimic.leader >= 0)
            return cfg_fail(report, NULL, joint->mimic.mark,
                            "joint %s mimics %s, and coupled joints are not simulated yet; remove "
                            "<mimic> to let it move on its own",
                            cfg_quote(joint->name).text,
                            cfg_quote(urdf->joints[joint->mimic.leader].name).text);
    }
    return true;
}

static bool check_flaw(const struct cfg_urdf *urdf, const struct cfg_model *model,
                       struct cfg_report *report)
{
    int body;
    const char *flaw = dyn_model_flaw(model->specs, model->body_count, &body);
    if (flaw == NULL)
        return true;
    const int link = body == 0 ? urdf->root : urdf->joints[urdf->order[body - 1]].child;
    return cfg_fail(report, NULL, urdf->links[link].mark,
                    "link %s: %s; check its <inertial> and its joint",
                    cfg_quote(urdf->links[link].name).text, flaw);
}

static bool from_urdf(struct cfg_model *model, const char *text, size_t size, enum cfg_base base,
                      struct cfg_report *report)
{
    const struct cfg_urdf *urdf = cfg_urdf_parse(&model->pool, text, size, report);
    if (urdf == NULL || !refuse_mimics(urdf, report))
        return false;
    int *body_of = cfg_pool_take(&model->pool, (size_t)urdf->link_count * sizeof *body_of);
    make_room(model, urdf->link_count);
    fill_bodies(urdf, base, body_of, model);
    list_joints(urdf, body_of, model);
    return check_flaw(urdf, model, report);
}

/* ---- scenario ---- */

/* The kernel's bodies are without the axial inertia of their rotors; locked rotors give it back. */
static void lock_rotors(const struct cfg_scenario *scenario, struct cfg_model *model)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int i = 0; i < scenario->wheel_count; i++) {
        const struct cfg_wheel *wheel = &scenario->wheels[i];
        const double *a = wheel->wheel.axis;
        for (int k = 0; k < 6; k++)
            model->specs[wheel->body].inertia[k] += wheel->wheel.inertia * a[row[k]] * a[column[k]];
    }
}

/* Body a stands before body b in the file. */
static bool is_before(const struct cfg_body *a, const struct cfg_body *b)
{
    return a->mark.line < b->mark.line ||
           (a->mark.line == b->mark.line && a->mark.column < b->mark.column);
}

/* The moving bodies that are free, or that are not, in file order behind those listed. */
static void list_bodies(const struct cfg_scenario *scenario, bool free_ones,
                        struct cfg_model *model)
{
    const int first = model->joint_count;
    for (int i = 0; i < scenario->body_count; i++) {
        const struct cfg_body *body = &scenario->bodies[i];
        if (body->spec.joint == DYN_JOINT_FIXED ||
            (body->spec.joint == DYN_JOINT_FREE) != free_ones)
            continue;
        int k = model->joint_count++;
        for (; k > first && is_before(body, &scenario->bodies[model->joints[k - 1].body]); k--)
            model->joints[k] = model->joints[k - 1];
        model->joints[k] = unbounded(model, i);
    }
}

static bool from_scenario(struct cfg_model *model, const char *text, size_t size,
                          enum cfg_base base, struct cfg_report *report)
{
    struct cfg_scenario *scenario;
    if (base != CFG_BASE_UNSAID)
        return cfg_fail(report, NULL, (struct cfg_mark){0, 0},
                        "--base is for URDF; a scenario says itself which body is free");
    if (cfg_scenario_load_text(report->path, text, size, NULL, 0, &scenario, report->line))
        return false;
    make_room(model, scenario->body_count);
    for (int i = 0; i < scenario->body_count; i++) {
        const char *name = scenario->bodies[i].name;
        model->specs[i] = scenario->bodies[i].spec;
        model->body_names[i] = cfg_pool_copy(&model->pool, name, strlen(name));
    }
    lock_rotors(scenario, model);
    list_bodies(scenario, true, model);
    list_bodies(scenario, false, model);
    cfg_scenario_free(scenario);
    return true;
}

/* ---- both ---- */

static void place_tree(struct cfg_model *model)
{
    const size_t size = dyn_model_size(model->specs, model->body_count);
    void *mem = aligned_alloc(CACHE_LINE, (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    RT_CHECK(mem != NULL);
    model->tree = dyn_model_place(model->specs, model->body_count, mem);
    model->nq = dyn_model_nq(model->tree);
    model->nv = dyn_model_nv(model->tree);
    model->q_at = cfg_pool_take(&model->pool, (size_t)model->nq * sizeof *model->q_at);
    model->v_at = cfg_pool_take(&model->pool, (size_t)model->nv * sizeof *model->v_at);
}

/* The kernel numbers coordinates body by body: those of one end where the next one's begin. */
static void map_coordinates(struct cfg_model *model)
{
    const struct dyn_model *tree = model->tree;
    int q = 0, v = 0;
    for (int k = 0; k < model->joint_count; k++) {
        struct cfg_model_joint *joint = &model->joints[k];
        const bool last = joint->body == model->body_count - 1;
        const int q_end = last ? model->nq : dyn_model_q_index(tree, joint->body + 1);
        const int v_end = last ? model->nv : dyn_model_v_index(tree, joint->body + 1);
        joint->q_first = q;
        joint->v_first = v;
        for (int at = dyn_model_q_index(tree, joint->body); at < q_end; at++)
            model->q_at[q++] = at;
        for (int at = dyn_model_v_index(tree, joint->body); at < v_end; at++)
            model->v_at[v++] = at;
    }
    RT_CHECK(q == model->nq && v == model->nv);
}

int cfg_model_load_text(const char *name, const char *text, size_t size, enum cfg_base base,
                        struct cfg_model **out, char error[CFG_ERROR_MAX])
{
    struct cfg_report report = {.path = name, .line = error};
    struct cfg_model *model = calloc(1, sizeof *model);
    RT_CHECK(model != NULL);
    error[0] = '\0';
    *out = NULL;
    if (!(cfg_xml_smells(text) ? from_urdf : from_scenario)(model, text, size, base, &report)) {
        cfg_model_free(model);
        return -EINVAL;
    }
    place_tree(model);
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
    cfg_pool_free(&model->pool);
    free(model->tree);
    free(model);
}
