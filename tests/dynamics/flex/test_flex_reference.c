/*
 * A free hub with a hinged flexible beam, against runs of another model:
 *
 *      test_flex_reference REFERENCE_DIR
 *
 * Skipped (77) where the reference is not.  Its README has the numbers of the model.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dynamics/kernel/aba.h"
#include "dynamics/plant.h"
#include "tests/dynamics/flex/beam_truth.h"
#include "tests/dynamics/tree.h"
#include "tests/dynamics/vec.h"
#include "unity.h"

enum { MODES = 3, NQ = 7 + 1 + MODES, NV = 6 + 1 + MODES, ROWS = 1001, STEPS = 10 };
static const double pi = 3.14159265358979323846, step = 1e-3;
static const double hub_inertia[3] = {800.0, 900.0, 1000.0}, hinge[3] = {1.0, 0.0, 0.0};

/* In the order of the file. */
struct row {
    double t, attitude[4], angle, eta[MODES], position[3], w[3], angle_rate, xi[MODES], velocity[3];
};

static const char *reference_dir;
static struct tree tree;
static struct lumps lumps;
static struct row truth[ROWS];

void setUp(void)
{
}

void tearDown(void)
{
}

static FILE *open_truth(const char *name)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/flex/truth_%s.csv", reference_dir, name);
    return fopen(path, "r");
}

static void read_truth(const char *name)
{
    char head[512];
    FILE *file = open_truth(name);
    TEST_ASSERT_NOT_NULL(file);
    TEST_ASSERT_NOT_NULL(fgets(head, sizeof head, file));
    for (int k = 0; k < ROWS; k++) {
        double *number = &truth[k].t;
        for (size_t i = 0; i < sizeof truth[k] / sizeof(double); i++)
            TEST_ASSERT_EQUAL_INT(1, fscanf(file, i == 0 ? "%lf" : ",%lf", &number[i]));
    }
    TEST_ASSERT_EQUAL_INT(0, fclose(file));
}

static void make_beam(double damping)
{
    static const struct beam_mode mode[MODES] = {{BEAM_Z, 1}, {BEAM_Z, 2}, {BEAM_Y, 1}};
    static const double hertz[MODES] = {0.5, 3.133446512885333, 0.8};
    beam_lumps(&(struct beam){10.0, 2.0, 1.0}, MODES, mode, &lumps);
    lumps.rotary[0] = 2.0;
    for (int p = 0; p < MODES; p++) {
        const double w = 2.0 * pi * hertz[p];
        lumps.K[p * MODES + p] = w * w;
        lumps.C[p * MODES + p] = 2.0 * damping * w;
    }
}

static void make_craft(enum dyn_fidelity fidelity, double damping, double hinge_damping)
{
    tree_begin(&tree);
    tree_add(&tree, -1, DYN_JOINT_FREE, 0, 0, 0);
    tree.spec[0].mass = 1000.0;
    memcpy(tree.spec[0].inertia, hub_inertia, sizeof hub_inertia);
    tree_add(&tree, 0, DYN_JOINT_REVOLUTE, 0, 1, 0);
    memcpy(tree.spec[1].place_xyz, hinge, sizeof hinge);
    tree.spec[1].force_spec[0].stiffness = 2000.0;
    tree.spec[1].force_spec[0].damping = hinge_damping;
    make_beam(damping);
    lumps_sum(&lumps, fidelity, &tree.spec[1]);
    tree_build(&tree);
}

struct run {
    struct dyn_plant plant;
    struct dyn_plant_work *work;
    double x[NQ + NV];
    _Alignas(64) unsigned char mem[1 << 16];
};

static void begin_run(struct run *run)
{
    const struct row *row = &truth[0];
    run->plant = (struct dyn_plant){.model = tree.model, .integrator = DYN_RK4, .substeps = 1};
    TEST_ASSERT_LESS_OR_EQUAL_size_t(sizeof run->mem, dyn_plant_work_size(&run->plant));
    run->work = dyn_plant_work_place(&run->plant, run->mem);
    TEST_ASSERT_EQUAL_INT(NQ + NV, dyn_plant_state_count(&run->plant));
    dyn_plant_rest(&run->plant, run->x); /* as the first row is, but for what follows */
    memcpy(run->x, row->position, sizeof row->position);
    memcpy(run->x + 8, row->eta, sizeof row->eta);
}

static void run_from_snapshot(struct run *run)
{
    for (int k = 0; k < STEPS; k++)
        TEST_ASSERT_EQUAL_INT(1, dyn_plant_step(&run->plant, NULL, NULL, step, run->work, run->x));
}

static double largest(int n, const double *a, const double *b)
{
    double worst = 0.0;
    for (int i = 0; i < n; i++)
        worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}

struct errors {
    double eta, angle, w, position;
};

static struct errors errors_of(enum dyn_fidelity fidelity, double damping, double hinge_damping)
{
    static struct run run;
    struct errors worst = {0};
    make_craft(fidelity, damping, hinge_damping);
    begin_run(&run);
    for (int k = 1; k < ROWS; k++) {
        run_from_snapshot(&run);
        worst.eta = fmax(worst.eta, largest(MODES, run.x + 8, truth[k].eta));
        worst.angle = fmax(worst.angle, fabs(run.x[7] - truth[k].angle));
        worst.w = fmax(worst.w, largest(3, run.x + NQ, truth[k].w));
        worst.position = fmax(worst.position, largest(3, run.x, truth[k].position));
    }
    return worst;
}

static void print_errors(const char *name, const struct errors *e)
{
    printf("%s: eta %.2g, hinge %.2g rad, rate %.2g rad/s, position %.2g m\n", name, e->eta,
           e->angle, e->w, e->position);
}

static void test_the_damped_run_is_within_the_gates_of_the_reference(void)
{
    read_truth("F1Ld");
    const struct errors exact = errors_of(DYN_FLEX_INCONSISTENT, 0.005, 20.0);
    const struct errors consistent = errors_of(DYN_FLEX_CONSISTENT, 0.005, 20.0);
    const struct errors ruthless = errors_of(DYN_FLEX_RUTHLESS, 0.005, 20.0);
    print_errors("F1Ld as the reference, without psi2", &exact);
    print_errors("F1Ld consistent", &consistent);
    print_errors("F1Ld ruthless", &ruthless);
    TEST_ASSERT_TRUE(exact.eta < 2e-9);
    TEST_ASSERT_TRUE(exact.angle < 1e-10);
    TEST_ASSERT_TRUE(exact.w < 1e-11);
}

/* Hub axes to world, beam axes to hub. */
static void to_world(const double *x, const double in[3], double out[3])
{
    struct vec_mat R;
    vec_quat_matrix(x + 3, &R);
    vec_multiply(&R, in, out);
}

static void from_beam(const double *x, const double in[3], double out[3])
{
    static const double axis[3] = {0.0, 1.0, 0.0};
    vec_turn(axis, x[7], in, out);
}

/* Linear momentum, angular momentum about the world's origin, and the size of what they sum. */
struct momenta {
    double p[3], h[3], p_size, h_size;
};

static void add_mass(double mass, const double at[3], const double v[3], struct momenta *sum)
{
    double h[3];
    vec_cross(at, v, h);
    vec_add(mass, v, sum->p);
    vec_add(mass, h, sum->h);
    sum->p_size += mass * sqrt(vec_dot(v, v));
    sum->h_size += mass * sqrt(vec_dot(h, h));
}

static void add_spin(const double *x, const double inertia[3], const double w[3], int on_beam,
                     struct momenta *sum)
{
    double h[3] = {inertia[0] * w[0], inertia[1] * w[1], inertia[2] * w[2]};
    if (on_beam)
        from_beam(x, h, h);
    to_world(x, h, h);
    vec_add(1.0, h, sum->h);
    sum->h_size += sqrt(vec_dot(h, h));
}

/* A mass of the beam: place from and speed at the hub's origin, in hub axes, then in the world. */
static void add_lump(const double *x, const struct lump *lump, struct momenta *sum)
{
    const double *v = x + NQ, turn[3] = {v[0], v[1] + v[6], v[2]};
    double at[3], speed[3] = {0}, arm[3], swept[3];
    lumps_place(&lumps, lump, x + 8, at);
    for (int p = 0; p < MODES; p++)
        vec_add(v[7 + p], lump->psi + 3 * p, speed);
    from_beam(x, at, arm);
    from_beam(x, speed, speed);
    vec_cross(turn, arm, swept);
    vec_add(1.0, swept, speed);
    vec_cross(v, hinge, swept);
    vec_add(1.0, swept, speed);
    vec_add(1.0, v + 3, speed);
    vec_add(1.0, hinge, arm);
    to_world(x, arm, arm);
    to_world(x, speed, speed);
    vec_add(1.0, x, arm);
    add_mass(lump->mass, arm, speed, sum);
}

static struct momenta momenta_of(const double *x)
{
    const double *v = x + NQ;
    const double rotary[3] = {lumps.rotary[0], 0.0, 0.0};
    double speed[3], turn[3] = {v[0], v[1] + v[6], v[2]};
    static const double axis[3] = {0.0, 1.0, 0.0};
    struct momenta sum = {0};
    to_world(x, v + 3, speed);
    add_mass(1000.0, x, speed, &sum);
    add_spin(x, hub_inertia, v, 0, &sum);
    vec_turn(axis, -x[7], turn, turn);
    add_spin(x, rotary, turn, 1, &sum);
    for (int k = 0; k < lumps.count; k++)
        add_lump(x, &lumps.lump[k], &sum);
    return sum;
}

struct drift {
    double p, h; /* of the size of what is summed */
};

/* For the places of lumps above. */
static void forget_psi2(void)
{
    for (int k = 0; k < lumps.count; k++)
        memset(lumps.lump[k].psi2, 0, sizeof lumps.lump[k].psi2);
}

/* There is no momentum at first, so all of it is error. */
static struct drift drift_of(int substeps)
{
    static struct run run;
    struct drift drift = {0};
    double p_size = 0.0, h_size = 0.0;
    begin_run(&run);
    run.plant.substeps = substeps;
    for (int k = 1; k < ROWS; k++) {
        run_from_snapshot(&run);
        const struct momenta sum = momenta_of(run.x);
        drift.p = fmax(drift.p, sqrt(vec_dot(sum.p, sum.p)));
        drift.h = fmax(drift.h, sqrt(vec_dot(sum.h, sum.h)));
        p_size = fmax(p_size, sum.p_size), h_size = fmax(h_size, sum.h_size);
    }
    drift.p /= p_size, drift.h /= h_size;
    printf("F1L at %.2f ms: momentum drifts by %.2g of %.3g N s, angular %.2g of %.3g N m s\n",
           1e3 * step / substeps, drift.p, p_size, drift.h, h_size);
    return drift;
}

/* ---- rates of the momenta, of one call of the forward dynamics ---- */

/* What the hub's axes add to a rate that is given in them; then world axes. */
static void turn_rate(const double *x, const double of[3], double rate[3])
{
    double swept[3];
    vec_cross(x + NQ, of, swept);
    vec_add(1.0, swept, rate);
    to_world(x, rate, rate);
}

/* add_lump, once more derived. */
static void add_lump_rate(const double *x, const double *a, const struct lump *lump,
                          struct momenta *sum)
{
    const double *v = x + NQ, hinge_rate[3] = {0.0, v[6], 0.0};
    const double turn[3] = {v[0], v[1] + v[6], v[2]}, turn_up[3] = {a[0], a[1] + a[6], a[2]};
    double arm[3], bend[3] = {0}, rate[3] = {0}, speed[3], part[3], arm_rate[3];
    lumps_place(&lumps, lump, x + 8, arm);
    for (int p = 0; p < MODES; p++) {
        vec_add(v[7 + p], lump->psi + 3 * p, bend);
        vec_add(a[7 + p], lump->psi + 3 * p, rate);
    }
    from_beam(x, arm, arm);
    from_beam(x, bend, bend);
    from_beam(x, rate, rate);
    vec_cross(hinge_rate, arm, arm_rate);
    vec_add(1.0, bend, arm_rate);
    vec_cross(hinge_rate, bend, part), vec_add(1.0, part, rate);
    vec_cross(turn_up, arm, part), vec_add(1.0, part, rate);
    vec_cross(turn, arm_rate, part), vec_add(1.0, part, rate);
    vec_cross(a, hinge, part), vec_add(1.0, part, rate);
    vec_add(1.0, a + 3, rate);
    vec_cross(turn, arm, speed), vec_add(1.0, bend, speed);
    vec_cross(v, hinge, part), vec_add(1.0, part, speed);
    vec_add(1.0, v + 3, speed);
    turn_rate(x, speed, rate);
    vec_add(1.0, hinge, arm);
    to_world(x, arm, arm);
    vec_add(1.0, x, arm);
    add_mass(lump->mass, arm, rate, sum);
}

/* The rotary inertia about the beam's axis, and the hub's. */
static void add_spin_rates(const double *x, const double *a, struct momenta *sum)
{
    static const double axis[3] = {0.0, 1.0, 0.0};
    const double *v = x + NQ, hinge_rate[3] = {0.0, v[6], 0.0}, I = lumps.rotary[0];
    const double turn[3] = {v[0], v[1] + v[6], v[2]};
    double up[3] = {a[0], a[1] + a[6], a[2]}, part[3], along[3], h[3], rate[3];
    vec_cross(hinge_rate, turn, part), vec_add(-1.0, part, up);
    vec_turn(axis, -x[7], turn, along), vec_turn(axis, -x[7], up, up);
    from_beam(x, (double[]){I * along[0], 0.0, 0.0}, h);
    from_beam(x, (double[]){I * up[0], 0.0, 0.0}, rate);
    vec_cross(hinge_rate, h, part), vec_add(1.0, part, rate);
    for (int k = 0; k < 3; k++) {
        h[k] += hub_inertia[k] * v[k];
        rate[k] += hub_inertia[k] * a[k];
    }
    turn_rate(x, h, rate);
    vec_add(1.0, rate, sum->h);
    sum->h_size += sqrt(vec_dot(rate, rate));
}

static struct momenta rates_of(const double *x)
{
    struct momenta sum = {0};
    double a[NV], rate[3];
    const struct dyn_state state = {x, x + NQ};
    struct dyn_output output = {.a = a};
    dyn_aba(tree.model, &state, &(struct dyn_input){0}, tree.work, &output);
    memcpy(rate, a + 3, sizeof rate);
    turn_rate(x, x + NQ + 3, rate);
    add_mass(1000.0, x, rate, &sum);
    add_spin_rates(x, a, &sum);
    for (int k = 0; k < lumps.count; k++)
        add_lump_rate(x, a, &lumps.lump[k], &sum);
    return sum;
}

/* Nothing acts from outside: at no instant does the kernel make or lose momentum. */
static void test_the_undamped_run_has_no_rate_of_momentum(void)
{
    static struct run run;
    struct drift worst = {0};
    read_truth("F1L");
    make_craft(DYN_FLEX_INCONSISTENT, 0.0, 0.0);
    forget_psi2();
    begin_run(&run);
    for (int k = 1; k < ROWS; k++) {
        run_from_snapshot(&run);
        const struct momenta rate = rates_of(run.x);
        worst.p = fmax(worst.p, sqrt(vec_dot(rate.p, rate.p)) / rate.p_size);
        worst.h = fmax(worst.h, sqrt(vec_dot(rate.h, rate.h)) / rate.h_size);
    }
    printf("F1L: rate of momentum %.2g of what is summed, of angular %.2g\n", worst.p, worst.h);
    TEST_ASSERT_TRUE(worst.p < 1e-12);
    TEST_ASSERT_TRUE(worst.h < 1e-12);
}

/* Speeds are in axes that turn, so RK4 keeps linear momentum to its own order only; what the kernel
 * adds to that is seen where the step is small. */
static void test_the_undamped_run_keeps_its_momenta(void)
{
    read_truth("F1L");
    make_craft(DYN_FLEX_INCONSISTENT, 0.0, 0.0);
    forget_psi2();
    const struct drift whole = drift_of(1), half = drift_of(2), quarter = drift_of(4);
    TEST_ASSERT_TRUE(whole.h < 1e-12 && half.h < 1e-12 && quarter.h < 1e-12);
    TEST_ASSERT_DOUBLE_WITHIN(2.0, 16.0, whole.p / half.p);
    TEST_ASSERT_DOUBLE_WITHIN(2.0, 16.0, half.p / quarter.p);
    TEST_ASSERT_TRUE(whole.p < 1e-10);
    TEST_ASSERT_TRUE(quarter.p < 1e-12);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 64;
    reference_dir = argv[1];
    FILE *file = open_truth("F1L");
    if (file == NULL) {
        printf("skipped: no reference in %s\n", reference_dir);
        return 77;
    }
    (void)fclose(file);
    UNITY_BEGIN();
    RUN_TEST(test_the_damped_run_is_within_the_gates_of_the_reference);
    RUN_TEST(test_the_undamped_run_has_no_rate_of_momentum);
    RUN_TEST(test_the_undamped_run_keeps_its_momenta);
    return UNITY_END();
}
