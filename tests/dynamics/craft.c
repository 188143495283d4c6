#include "tests/dynamics/craft.h"

#include <string.h>

#include "dynamics/integrate.h"
#include "unity.h"

int craft_add(struct craft *craft, const struct dyn_effector *effector)
{
    const int k = craft->plant.effector_count++;
    TEST_ASSERT_LESS_THAN_INT(CRAFT_EFFECTOR_MAX, k);
    craft->effectors[k] = *effector;
    return k;
}

void craft_add_wheel(struct craft *craft, int body, double ax, double ay, double az, double inertia)
{
    craft_add(craft, &(struct dyn_effector){
                         .type = DYN_EFFECTOR_WHEEL,
                         .body = body,
                         .wheel = {.axis = {ax, ay, az}, .inertia = inertia},
                     });
}

double *craft_states(struct craft *craft, int effector)
{
    return craft->x + dyn_plant_effector_index(&craft->plant, effector);
}

void craft_use(struct craft *craft, enum dyn_integrator integrator)
{
    struct dyn_plant *plant = &craft->plant;
    plant->integrator = integrator;
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof craft->work_mem, dyn_plant_work_size(plant));
    craft->work = dyn_plant_work_place(plant, craft->work_mem);
    craft->x_count = dyn_plant_state_count(plant);
    TEST_ASSERT_LESS_OR_EQUAL_INT(CRAFT_X_MAX, craft->x_count);
    dyn_plant_restart(plant, craft->x);
}

void craft_build(struct craft *craft)
{
    struct dyn_plant *plant = &craft->plant;
    plant->model = craft->tree.model;
    plant->effectors = craft->effectors;
    plant->substeps = 1;
    memcpy(plant->environment.gravity, craft->tree.gravity, sizeof craft->tree.gravity);
    for (int k = 0; k < plant->effector_count; k++)
        TEST_ASSERT_NULL(dyn_effector_problem(&craft->effectors[k], craft->tree.body_count));

    craft_use(craft, DYN_RK4);
    TEST_ASSERT_NULL(dyn_plant_problem(plant));
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof craft->monitor_mem, dyn_monitor_work_size(plant));
    craft->monitor = dyn_monitor_work_place(plant, craft->monitor_mem);

    const int nq = dyn_model_nq(plant->model), nv = dyn_model_nv(plant->model);
    dyn_plant_rest(plant, craft->x);
    memcpy(craft->x, craft->tree.q, (size_t)nq * sizeof(double));
    memcpy(craft->x + nq, craft->tree.v, (size_t)nv * sizeof(double));
}

static void add_panel(struct tree *tree, double side)
{
    struct dyn_body_spec *panel = &tree->spec[tree_add(tree, 0, DYN_JOINT_REVOLUTE, 0, 0, 1)];
    panel->place_xyz[1] = 0.5 * side;
    panel->mass = 8.0;
    panel->center[1] = 1.0 * side;
    memcpy(panel->inertia, (double[]){2.7, 0.7, 3.4, 0, 0, 0}, sizeof panel->inertia);
    panel->force_spec[0].stiffness = 40.0;
    panel->force_spec[0].damping = 0.2;
}

void craft_satellite(struct craft *craft)
{
    struct tree *tree = &craft->tree;
    memset(craft, 0, sizeof *craft);
    tree_add(tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    tree->spec[0].mass = 100.0;
    memcpy(tree->spec[0].center, (double[]){0.02, -0.01, 0.03}, 3 * sizeof(double));
    memcpy(tree->spec[0].inertia, (double[]){15, 18, 20, 0.5, -0.3, 0.2}, 6 * sizeof(double));
    add_panel(tree, 1.0);
    add_panel(tree, -1.0);
    tree_build(tree);
    memcpy(tree->v, (double[]){0.3, -0.2, 0.4, 1, 2, 3, 0.1, -0.2}, 8 * sizeof(double));

    craft_add_wheel(craft, 0, 1, 0, 0, 0.02);
    craft_add_wheel(craft, 0, 0, 0.6, 0.8, 0.02);
    craft_add_wheel(craft, 0, 0, -0.8, 0.6, 0.02);
    for (int k = 0; k < 3; k++) {
        struct dyn_wheel *wheel = &craft->effectors[k].wheel;
        wheel->viscous = 1e-4, wheel->coulomb = 2e-3;
        craft->commands[k] = 0.1 - 0.08 * k;
    }
    craft_build(craft);
    for (int k = 0; k < 3; k++)
        craft->x[dyn_plant_effector_index(&craft->plant, k)] = 2.0 - 3.0 * k;
}

void craft_run(struct craft *craft, int steps, double h)
{
    for (int k = 0; k < steps; k++)
        TEST_ASSERT_EQUAL_INT(
            1, dyn_plant_step(&craft->plant, craft->commands, NULL, h, craft->work, craft->x));
}

struct dyn_monitor craft_monitor(struct craft *craft)
{
    struct dyn_monitor monitor;
    dyn_monitor_compute(&craft->plant, craft->x, craft->monitor, &monitor);
    return monitor;
}

/* All but the two headers of pointers becomes NaN. */
void craft_poison(struct craft *craft)
{
    const struct dyn_plant_work *work = craft->work;
    unsigned char *kernel = (unsigned char *)work->kernel;
    const size_t x_size = (size_t)craft->x_count * sizeof(double);
    const size_t rate_size = (size_t)dyn_rate_count(&craft->plant) * sizeof(double);
    memset(kernel + sizeof(struct dyn_work), 0xff,
           dyn_work_size(craft->plant.model) - sizeof(struct dyn_work));
    memset(work->load, 0xff, (size_t)work->load_count * sizeof *work->load);
    memset(work->effector_input, 0xff,
           (size_t)work->effector_body_count * sizeof *work->effector_input);
    memset(work->x_rate, 0xff, rate_size);
    memset(work->stage, 0xff, rate_size);
    memset(work->sum, 0xff, rate_size);
    memset(work->trial, 0xff, x_size);
}
