#include "tools/airbearing/worst_case.h"

#include "dynamics/kernel/link_tree.h"

/* The extra cost of a flexible link, and the cost of a node as a link of its own.  Up to four
 * modes fill one vector, for which the kernel has a separate path. */
struct modal_price {
    double four;         /* the path of one vector */
    double base, vector; /* other paths: constant, and by vector of four modes */
    double pair, triple; /* by mode and vector, by two modes and vector */
};

/*
 * Instructions by callgrind, the largest of gcc 12 and clang 14 and of the paths through the kernel
 * (joints held and not), rounded up by a twentieth and more: of one link more or less in a tree of
 * otherwise equal ones.  tests/scenario/commands/test_bench.py counts real frames against it.
 */
struct price {
    double call;
    double link[DYN_TREE_LINK_FIXED + 1];
    double rotor;
    struct modal_price modal[2], node[2]; /* ruthless, and bodies that deform */
    double lead;                          /* ROS2: by pair of a mode and a vector of modes */
};

static const struct price price_of[] = {
    [DYN_ISA_SSE2] = {.call = 400.0,
                      .link = {[DYN_TREE_LINK_REVOLUTE] = 1550.0,
                               [DYN_TREE_LINK_PRISMATIC] = 1600.0,
                               [DYN_TREE_LINK_HELICAL] = 1650.0,
                               [DYN_TREE_LINK_SPHERICAL] = 2800.0,
                               [DYN_TREE_LINK_FREE] = 3900.0,
                               [DYN_TREE_LINK_FIXED] = 1550.0},
                      .rotor = 100.0,
                      .modal = {{2300.0, 2700.0, 0.0, 390.0, 3.0},
                                {3900.0, 3800.0, 0.0, 640.0, 3.0}},
                      .node = {{2300.0, 1400.0, 760.0, 55.0, 0.0},
                               {3700.0, 1700.0, 1350.0, 170.0, 0.4}},
                      .lead = 80.0},
    [DYN_ISA_AVX2] = {.call = 400.0,
                      .link = {[DYN_TREE_LINK_REVOLUTE] = 600.0,
                               [DYN_TREE_LINK_PRISMATIC] = 650.0,
                               [DYN_TREE_LINK_HELICAL] = 650.0,
                               [DYN_TREE_LINK_SPHERICAL] = 1250.0,
                               [DYN_TREE_LINK_FREE] = 1900.0,
                               [DYN_TREE_LINK_FIXED] = 600.0},
                      .rotor = 60.0,
                      .modal = {{1100.0, 1700.0, 0.0, 200.0, 0.5},
                                {1700.0, 2300.0, 0.0, 255.0, 0.5}},
                      .node = {{970.0, 670.0, 230.0, 21.0, 0.1}, {1550.0, 740.0, 590.0, 39.0, 0.4}},
                      .lead = 60.0},
};

/* The same on every instruction set, as are the costs in the rows of the effectors. */
static const double law_price = 80.0, coulomb_price = 200.0;
static const double mount_price = 450.0;   /* a body with effectors: its rate and one load */
static const double look_price = 900.0;    /* its position and velocity, field and air */
static const double tide_price = 1200.0;   /* a body in orbit */
static const double ancestor_price = 60.0; /* for users of a body's position */
static const double frame_price = 1000.0;
static const double quaternion_price = 400.0; /* by step */
static const double rate_price = 24.0;        /* by number that has a rate, by evaluation */
static const double past_price = 24.0;        /* by number of the history, by step */
static const double number_price = 32.0;      /* by number of x, by frame */

/* Whether a flexible body is in the range of its model, by solve: by body, by node, and by mode of
 * each. */
static const double range_price = 420.0, range_mode_price = 105.0;
static const double range_node_price = 110.0, range_node_mode_price = 26.0;

/* Adams-Bashforth starts with as many RK4 steps as its history has. */
static int evaluations_of(enum dyn_integrator integrator, int steps)
{
    static const int stages[] = {[DYN_SEMI_IMPLICIT_EULER] = 1,
                                 [DYN_RK2] = 2,
                                 [DYN_RK4] = 4,
                                 [DYN_AB2] = 1,
                                 [DYN_AB3] = 1,
                                 [DYN_AB4] = 1,
                                 [DYN_ROS2] = 2};
    static const int first[] = {[DYN_AB2] = 1, [DYN_AB3] = 2, [DYN_AB4] = 3, [DYN_ROS2] = 0};
    const int begins = integrator < DYN_AB2 ? 0 : first[integrator];
    return steps * stages[integrator] + 3 * (steps < begins ? steps : begins);
}

static double price_modes(const struct modal_price *price, const struct dyn_modal_link *modal)
{
    const double modes = modal->modes, vectors = modal->lanes / 4;
    if (modal->lanes == 4)
        return price->four;
    return price->base + vectors * (price->vector + modes * (price->pair + modes * price->triple));
}

static double price_link(const struct dyn_model *model, const struct price *price,
                         const struct dyn_tree_link *link)
{
    double sum = link->has_rotor ? price->rotor : 0.0;
    if (link->node >= 0) {
        const struct dyn_modal_link *under = &model->modal[model->node[link->node].modal];
        sum += price_modes(&price->node[under->deforms], under);
    } else {
        sum += price->link[link->kind];
    }
    if (link->modal >= 0) {
        const struct dyn_modal_link *own = &model->modal[link->modal];
        sum += price_modes(&price->modal[own->deforms], own);
    }
    return sum;
}

static double price_links(const struct dyn_model *model, const struct price *price)
{
    double sum = 0.0;
    for (int i = 0; i < model->link_count; i++)
        sum += price_link(model, price, &model->link[i]);
    for (int k = 0; k < model->force_entry_count; k++)
        sum += law_price + (model->force_entry[k].force_spec.coulomb > 0.0 ? coulomb_price : 0.0);
    return sum;
}

/* ROS2 only: the modes' springs and dampers at the end of the step, in each evaluation. */
static double price_lead(const struct dyn_model *model, const struct price *price)
{
    double sum = 0.0;
    for (int m = 0; m < model->modal_count; m++)
        sum += price->lead * model->modal[m].modes * model->modal[m].lanes / 4;
    return sum;
}

static int count_quaternions(const struct dyn_model *model)
{
    int count = 0;
    for (int i = 0; i < model->link_count; i++)
        count += dyn_tree_link_nq(&model->link[i]) > dyn_tree_link_nv(&model->link[i]);
    return count;
}

/* The integrator's own work: sums over all numbers, and normalized quaternions. */
static double price_integrator(const struct dyn_plant *plant, int evaluations)
{
    const double all = dyn_plant_state_count(plant);
    const double rates = dyn_plant_effector_index(plant, plant->effector_count);
    return frame_price + all * number_price + evaluations * rates * rate_price +
           plant->substeps *
               ((all - rates) * past_price + count_quaternions(plant->model) * quaternion_price);
}

static double price_range(const struct dyn_model *model)
{
    double sum = 0.0;
    for (int m = 0; m < model->modal_count; m++) {
        const double modes = model->modal[m].modes;
        sum += range_price + modes * range_mode_price +
               model->modal[m].nodes * (range_node_price + modes * range_node_mode_price);
    }
    return sum;
}

static int count_rubbing(const struct dyn_plant *plant)
{
    int count = 0;
    for (int k = 0; k < plant->model->force_entry_count; k++)
        count += plant->model->force_entry[k].force_spec.coulomb > 0.0;
    for (int k = 0; k < plant->effector_count; k++)
        count += dyn_effector_dry_directions(&plant->effectors[k]);
    return count;
}

/* Dry friction, once a step and a solve: M and its factors, a response for every direction with
 * friction, and the search for the forces, which takes three iterations and at most sixty. */
static double price_friction(const struct dyn_plant *plant)
{
    const double n = count_rubbing(plant), nv = plant->model->nv;
    if (n == 0.0)
        return 0.0;
    return 8000.0 + 4000.0 * plant->model->link_count + 2.0 * nv * nv * nv +
           n * (3000.0 + 60.0 * nv + 4.0 * nv * nv) + 3.0 * n * n * nv +
           60.0 * n * n * (12.0 + 6.0 * n);
}

static int depth_of(const struct dyn_model *model, int body)
{
    int depth = 0;
    for (int i = model->body_link[body]; i >= 0; i = model->link[i].parent)
        depth++;
    return depth;
}

/* The state of a body with effectors is computed once, for all of them. */
static double price_mount(const struct dyn_plant *plant, int body)
{
    unsigned needs = 0;
    bool some = false;
    for (int k = 0; k < plant->effector_count; k++)
        if (plant->effectors[k].body == body) {
            needs |= dyn_effector_needs(&plant->effectors[k]);
            some = true;
        }
    const double look = look_price + ancestor_price * depth_of(plant->model, body);
    return (some ? mount_price : 0.0) + (needs != 0 ? look : 0.0);
}

static double price_effectors(const struct dyn_plant *plant)
{
    const bool in_orbit = plant->environment.kind == DYN_WORLD_ORBIT;
    double sum = 0.0;
    for (int k = 0; k < plant->effector_count; k++)
        sum += dyn_effector_cost(&plant->effectors[k]);
    for (int i = 0; i < plant->model->body_count; i++) {
        sum += plant->effector_count > 0 ? price_mount(plant, i) : 0.0;
        sum += in_orbit ? tide_price + ancestor_price * depth_of(plant->model, i) : 0.0;
    }
    return sum;
}

struct worst_case worst_case_of(const struct dyn_plant *plant, bool solves)
{
    const struct dyn_model *model = plant->model;
    const enum dyn_isa isa = model->isa == DYN_ISA_SSE2 ? DYN_ISA_SSE2 : DYN_ISA_AVX2;
    struct worst_case worst = {.by_step = evaluations_of(plant->integrator, plant->substeps),
                               .by_solve = solves ? 1 + (count_rubbing(plant) > 0) : 0,
                               .is_bounded = model->mimic_joint_count == 0,
                               .isa = isa};
    const int evaluations = worst.by_step + worst.by_solve;
    worst.each = price_of[isa].call + price_links(model, &price_of[isa]) + price_effectors(plant) +
                 (plant->integrator == DYN_ROS2 ? price_lead(model, &price_of[isa]) : 0.0);
    worst.frame = evaluations * worst.each + price_integrator(plant, evaluations) +
                  (solves ? price_range(model) : 0.0) +
                  (plant->substeps + (solves ? 1 : 0)) * price_friction(plant);
    return worst;
}
