/*
 * Any text as a URDF, its root fixed or free by the first byte.  What must hold:
 *   - bad input gives exactly one line that names the file, good input none,
 *   - what was accepted keeps the promises of config/model_file.h: sorted parents, both orders of
 *     coordinates permutations of each other, and dynamics that end,
 *   - the same as part of a scenario, with what its links look like.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/import/xml.h"
#include "config/model_file.h"
#include "config/scenario.h"
#include "dynamics/kernel/aba.h"
#include "rt/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void *take(size_t size)
{
    void *mem = aligned_alloc(64, (size + 64) / 64 * 64);
    RT_CHECK(mem != NULL);
    return memset(mem, 0, (size + 64) / 64 * 64);
}

static void check_error(const char *error)
{
    RT_CHECK(strlen(error) < CFG_ERROR_MAX && strncmp(error, "f.urdf:", 7) == 0);
    for (const char *c = error; *c != '\0'; c++)
        RT_CHECK((unsigned char)*c >= 0x20 && *c != 0x7f);
}

static void check_permutation(const int *at, int count)
{
    unsigned char *seen = take((size_t)count);
    for (int k = 0; k < count; k++) {
        RT_CHECK(at[k] >= 0 && at[k] < count && !seen[at[k]]);
        seen[at[k]] = 1;
    }
    free(seen);
}

static void check_model(const struct cfg_model *model)
{
    RT_CHECK(model->body_count >= 1 && model->joint_count <= model->body_count);
    for (int i = 0; i < model->body_count; i++) {
        RT_CHECK(model->specs[i].parent >= -1 && model->specs[i].parent < i);
        RT_CHECK((model->specs[i].parent == -1) == (i == 0) && model->body_names[i][0] != '\0');
    }
    for (int k = 0; k < model->joint_count; k++) {
        const struct cfg_model_joint *joint = &model->joints[k];
        RT_CHECK(joint->name[0] != '\0' && joint->lower <= joint->upper);
        RT_CHECK(joint->effort >= 0.0 && joint->velocity >= 0.0 && isfinite(joint->friction));
    }
    check_permutation(model->q_at, model->nq);
    check_permutation(model->v_at, model->nv);
}

static void run_dynamics(const struct cfg_model *model)
{
    struct dyn_work *work = dyn_work_place(model->tree, take(dyn_work_size(model->tree)));
    double *q = take((size_t)model->nq * sizeof *q), *v = take((size_t)model->nv * sizeof *v);
    struct dyn_output output = {.a = take((size_t)model->nv * sizeof *output.a)};
    const struct dyn_input input = {.gravity = {0.0, 0.0, -9.81}};
    for (int i = 0; i < model->body_count; i++)
        dyn_joint_zero(&model->specs[i], q + dyn_model_q_index(model->tree, i));
    dyn_aba(model->tree, &(struct dyn_state){q, v}, &input, work, &output);
    free(work);
    free(q);
    free(v);
    free(output.a);
}

/* ---- as part of a scenario ---- */

struct shelf {
    const char *text;
    size_t size;
};

static const void *find(void *context, const char *name, size_t *size)
{
    const struct shelf *shelf = context;
    (void)name;
    *size = shelf->size;
    return shelf->text;
}

static void check_solid(const struct sim_solid *solid)
{
    RT_CHECK(solid->type < SIM_SOLID_TUBE && solid->opacity >= 0.0 && solid->opacity <= 1.0);
    for (int k = 0; k < 3; k++)
        RT_CHECK(solid->size[k] > 0.0 && isfinite(solid->at[k]) && isfinite(solid->color[k]));
}

/* What is no robot is no scenario either; a robot may have what a scenario refuses, as names. */
static void check_scenario(const char *text, size_t size, enum cfg_base base, bool is_robot)
{
    const char *around = base == CFG_BASE_FREE ? "name: f\nurdf: {file: f.urdf, base: free}\n"
                                               : "name: f\nurdf: f.urdf\n";
    char error[CFG_ERROR_MAX];
    struct shelf own = {text, size};
    const struct cfg_file_source shelf = {.find = find, .context = &own};
    struct cfg_scenario *scenario;
    cfg_scenario_load_logged("f.urdf", around, strlen(around), NULL, 0, &shelf, &scenario, error);
    RT_CHECK(scenario == NULL || is_robot);
    if (scenario == NULL)
        check_error(error);
    for (int i = 0; scenario != NULL && i < scenario->spec.body_count; i++) {
        const struct sim_body *body = &scenario->spec.bodies[i];
        RT_CHECK(body->range.lower <= body->range.upper && body->spec.parent < i);
        for (int k = 0; k < body->solid_count; k++)
            check_solid(&body->solids[k]);
    }
    cfg_scenario_free(scenario);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char error[CFG_ERROR_MAX];
    if (size < 1)
        return 0;
    const enum cfg_base base = bytes[0] & 1 ? CFG_BASE_FREE : CFG_BASE_FIXED;
    char *text = malloc(size);
    RT_CHECK(text != NULL);
    memcpy(text, bytes + 1, size - 1);
    text[size - 1] = '\0';

    struct cfg_model *model;
    const int status = cfg_model_load_text("f.urdf", text, size - 1, base, &model, error);
    RT_CHECK((status == 0) == (model != NULL));
    if (model == NULL) {
        check_error(error);
    } else {
        RT_CHECK(error[0] == '\0');
        check_model(model);
        run_dynamics(model);
    }
    if (cfg_xml_looks_like(text))
        check_scenario(text, size - 1, base, model != NULL);
    cfg_model_free(model);
    free(text);
    return 0;
}
