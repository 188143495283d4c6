/*
 * Steps that are too long for the vehicle: eigenvalues, what integrators make of them, and which
 * scenarios are refused where.
 */
#include "config/resolve/stability.h"
#include "config/scenario.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>

#include "config/resolve/eigenvalues.h"
#include "config/resolve/step_growth.h"
#include "rt/executive/state/run_state.h"
#include "tests/config/loaded.h"

static const char *source_root;
static unsigned long long seed = 1;

static const char *const methods[] = {
    "semi-implicit-euler", "rk2", "rk4", "ab2", "ab3", "ab4", "ros2"};
enum { METHODS = sizeof methods / sizeof methods[0] };

static double draw(double low, double high)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(seed >> 11) * 0x1p-53;
}

static double draw_size(double low, double high)
{
    return exp(draw(log(low), log(high)));
}

/* ---- eigenvalues ---- */

/* A = T D T^-1, T a product of shears of known inverse: blocks of D are pairs and single ones. */
static void test_eigenvalues_of_a_matrix_that_was_built_from_them(void)
{
    enum { N = 24 };
    for (int trial = 0; trial < 20; trial++) {
        static double A[N * N], re[N], im[N], want_re[N], want_im[N];
        memset(A, 0, sizeof A);
        for (int k = 0; k < N; k += 2) {
            const double a = draw(-100.0, 1.0), b = draw(0.1, 300.0);
            A[k * N + k] = A[(k + 1) * N + k + 1] = a;
            A[k * N + k + 1] = b;
            A[(k + 1) * N + k] = -b;
            want_re[k] = want_re[k + 1] = a;
            want_im[k] = b, want_im[k + 1] = -b;
        }
        for (int shear = 0; shear < 3 * N; shear++) {
            const int r = (int)draw(0, N), c = (int)draw(0, N);
            const double s = draw(-1.0, 1.0);
            if (r == c)
                continue;
            for (int k = 0; k < N; k++)
                A[r * N + k] += s * A[c * N + k];
            for (int k = 0; k < N; k++)
                A[k * N + c] -= s * A[k * N + r];
        }
        TEST_ASSERT_TRUE(cfg_eigenvalues(N, A, re, im));
        for (int k = 0; k < N; k++) {
            double nearest = HUGE_VAL;
            for (int j = 0; j < N; j++)
                nearest = fmin(nearest, hypot(re[j] - want_re[k], im[j] - want_im[k]));
            TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.0, nearest);
        }
    }
}

static void test_eigenvalues_that_are_nothing_special(void)
{
    double re[3], im[3];
    TEST_ASSERT_TRUE(cfg_eigenvalues(0, NULL, re, im));
    TEST_ASSERT_TRUE(cfg_eigenvalues(1, (double[]){-7.0}, re, im));
    NEAR(-7.0, re[0]);
    TEST_ASSERT_TRUE(cfg_eigenvalues(3, (double[9]){0.0}, re, im));
    EXPECT_VECTOR(re, 0, 0, 0);
    double rotation[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0}; /* the cube roots of 1 */
    TEST_ASSERT_TRUE(cfg_eigenvalues(3, rotation, re, im));
    NEAR(0.0, re[0] + re[1] + re[2]);
    for (int k = 0; k < 3; k++)
        NEAR(1.0, hypot(re[k], im[k]));
    TEST_ASSERT_FALSE(cfg_eigenvalues(1, (double[]){(double)NAN}, re, im));
}

/* ---- integrators ---- */

/* Bounds of the books, on the real axis. */
static void test_what_decays_has_the_bounds_of_the_books(void)
{
    static const double limit[METHODS] = {2.0, 2.0, 2.785293563405282, 1.0, 6.0 / 11.0, 0.3, 2.0};
    for (int m = 0; m < METHODS; m++)
        TEST_ASSERT_DOUBLE_WITHIN(
            1e-6, limit[m],
            cfg_step_limit((enum dyn_integrator)m, (struct cfg_growth_rate){-1.0, 0.0}));
}

/* An oscillator: Euler and RK4 to their bounds, the others where they double it in two periods. */
static void test_what_swings_is_bounded_too(void)
{
    TEST_ASSERT_DOUBLE_WITHIN(
        0.01, 2.0, cfg_step_limit(DYN_SEMI_IMPLICIT_EULER, (struct cfg_growth_rate){0.0, 1.0}));
    TEST_ASSERT_DOUBLE_WITHIN(0.1, 2.828,
                              cfg_step_limit(DYN_RK4, (struct cfg_growth_rate){0.0, 1.0}));
    for (int m = DYN_AB2; m <= DYN_AB4; m++) {
        const double limit =
            cfg_step_limit((enum dyn_integrator)m, (struct cfg_growth_rate){0.0, 1.0});
        TEST_ASSERT_TRUE(limit > 0.4 && limit < 0.8);
    }
    TEST_ASSERT_TRUE(isinf(cfg_step_limit(DYN_RK4, (struct cfg_growth_rate){0.0, 0.0})));
}

/* ---- vehicles ---- */

#define HEAD "name: x\nrate: 1 kHz\nintegrator: {method: %s}\n"

static void refuse(const char *text, const char *complaint)
{
    TEST_ASSERT_EQUAL_INT(
        -EINVAL, cfg_scenario_load_text("s.yaml", text, strlen(text), NULL, 0, &scenario, error));
    TEST_ASSERT_EQUAL_STRING_LEN(complaint, error, strlen(complaint));
    TEST_ASSERT_NULL(strchr(error, '\n'));
}

static void test_a_damper_too_strong_for_the_step_is_refused_at_its_joint(void)
{
    refuse(
        "name: x\nrate: 1 kHz\nintegrator: {method: rk4}\nbodies:\n"
        "- {name: a, joint: {type: revolute, axis: 0 0 1, damping: 3000}, mass: 1,\n"
        "   inertia: 1 1 1}\n",
        "s.yaml:5:3: \"a\" as it starts decays at 3000 1/s, and rk4 with steps of 1 ms is stable "
        "up to steps of 0.9284 ms there; use 2 substeps, or less stiffness and damping");
    load("name: x\nrate: 1 kHz\nintegrator: {method: rk4, substeps: 2}\nbodies:\n"
         "- {name: a, joint: {type: revolute, axis: 0 0 1, damping: 3000}, mass: 1,\n"
         "   inertia: 1 1 1}\n");
}

static void test_a_stop_too_stiff_is_refused_before_it_is_met(void)
{
    refuse("name: x\nrate: 1 kHz\nbodies:\n- {name: root, joint: fixed, mass: 1, inertia: 1 1 1}\n"
           "- {name: b, parent: root, joint: {type: prismatic, axis: 0 0 1,\n"
           "   limits: {upper: 1 m, stiffness: 1e8 N/m}}, mass: 1, inertia: 1 1 1}\n",
           "s.yaml:5:3: \"b\" pressed against its stops swings at 1592 Hz");
}

static void test_a_foot_too_stiff_is_refused_at_the_contact(void)
{
    refuse("name: x\nrate: 1 kHz\nenvironment: {gravity: 0 0 9.81, ground: 0 m}\nbodies:\n"
           "- {name: a, joint: {type: free, position: 0 0 -50 m}, mass: 1, inertia: 1 1 1}\n"
           "devices:\n- {name: feet, type: contact, body: a, stiffness: 1e3 N/m,\n"
           "   damping: 5e3 N s/m, points: [0 0 0.1 m]}\n",
           "s.yaml:7:3: \"feet\" on the ground decays at 5000 1/s");
}

static void test_a_viscous_wheel_too_light_is_refused_at_the_wheel(void)
{
    refuse("name: x\nrate: 1 kHz\nbodies:\n- {name: a, joint: free, mass: 10, inertia: 1 1 1}\n"
           "devices:\n- {name: w, type: wheel, body: a, axis: 0 0 1, inertia: 1e-4,\n"
           "   max_torque: 1, max_speed: 100, viscous: 1, command: {link: l, control: 0}}\n"
           "links: [{name: l, body: a}]\n",
           "s.yaml:6:3: \"w\" as it starts decays at");
}

/* With what is wrong in error. */
static bool is_refused(const char *text)
{
    struct cfg_scenario *loaded;
    const int status =
        cfg_scenario_load_text("s.yaml", text, strlen(text), NULL, 0, &loaded, error);
    cfg_scenario_free(loaded);
    return status != 0;
}

/* Whether the motion of body a, pushed from its place, stays below some bound. */
static bool stays(const char *text, double bound)
{
    load(text);
    const size_t size = sim_vehicle_size(&scenario->spec);
    void *mem = aligned_alloc(64, (size / 64 + 1) * 64);
    TEST_ASSERT_NOT_NULL(mem);
    memset(mem, 0, size);
    struct sim_vehicle *vehicle = sim_vehicle_place(&scenario->spec, mem);
    bool good = true;
    for (int k = 0; k < 3000 && good; k++) {
        good = dyn_plant_step(&vehicle->plant, vehicle->command, NULL, vehicle->h, vehicle->work,
                              vehicle->x);
        for (int i = 0; i < dyn_model_nq(vehicle->plant.model); i++)
            good = good && fabs(vehicle->x[i]) <= bound;
    }
    free(mem);
    return good;
}

/* Random springs, dampers and stops under every integrator: refused, or bounded for 3000 steps. */
static void test_what_is_not_refused_stays_bounded(void)
{
    int refused = 0, accepted = 0;
    for (int trial = 0; trial < 400; trial++) {
        char text[1024];
        const double inertia = draw_size(0.01, 100.0);
        snprintf(text, sizeof text,
                 HEAD "bodies:\n"
                      "- {name: a, joint: {type: revolute, axis: 0 0 1, angle: 0.3,\n"
                      "   stiffness: %.17g, damping: %.17g, limits: {lower: -0.2, upper: 0.2,\n"
                      "   stiffness: %.17g, damping: %.17g}}, mass: 1, inertia: 100 100 %.17g}\n",
                 methods[trial % METHODS], inertia * draw_size(1.0, 1e7),
                 inertia * draw_size(0.1, 1e4), inertia * draw_size(1.0, 1e7),
                 inertia * draw_size(0.1, 1e4), inertia);
        if (is_refused(text)) {
            TEST_ASSERT_EQUAL_STRING_LEN("s.yaml:5:3: \"a\"", error, 15);
            refused++;
            continue;
        }
        TEST_ASSERT_TRUE_MESSAGE(stays(text, 5.0), text);
        accepted++;
    }
    printf("%d refused, %d accepted\n", refused, accepted);
    TEST_ASSERT_TRUE(refused > 50 && accepted > 50);
}

/* The bound is not too careful either: half of what is refused blows up. */
static void test_what_is_refused_would_have_blown_up(void)
{
    static const double limit[METHODS] = {2.0, 2.0, 2.7853, 1.0, 0.5455, 0.3, 2.0};
    for (int m = 0; m < METHODS; m++) {
        char text[512];
        for (int side = 0; side < 2; side++) {
            snprintf(text, sizeof text,
                     HEAD "bodies:\n- {name: a, joint: {type: revolute, axis: 0 0 1, rate: 1 rad/s,"
                          " damping: %.17g},\n   mass: 1, inertia: 1 1 1}\n",
                     methods[m], (side ? 1.001 : 0.999) * 1e3 * limit[m]);
            TEST_ASSERT_EQUAL_INT_MESSAGE(
                side ? -EINVAL : 0,
                cfg_scenario_load_text("s.yaml", text, strlen(text), NULL, 0, &scenario, error),
                text);
            cfg_scenario_free(scenario);
            scenario = NULL;
        }
    }
}

/* Two beams that hang on damped hinges, stepped with 1 ms whatever the scenario asks for: whether
 * they go on swinging slowly by a few degrees, as what hangs so does. */
static bool beams_stay(const char *text)
{
    load(text);
    const size_t size = sim_vehicle_size(&scenario->spec);
    void *mem = aligned_alloc(64, (size / 64 + 1) * 64);
    TEST_ASSERT_NOT_NULL(mem);
    memset(mem, 0, size);
    struct sim_vehicle *vehicle = sim_vehicle_place(&scenario->spec, mem);
    bool good = true;
    vehicle->plant.substeps = 1;
    for (int k = 0; k < 3000 && good; k++) {
        good = dyn_plant_step(&vehicle->plant, vehicle->command, NULL, 1e-3, vehicle->work,
                              vehicle->x);
        for (int i = 0; i < dyn_model_nq(vehicle->plant.model) + dyn_model_nv(vehicle->plant.model);
             i++)
            good = good && fabs(vehicle->x[i]) <= 1.0;
    }
    free(mem);
    return good;
}

static void write_beams(char *text, size_t size, int substeps, int modes, double stiffness,
                        double damping)
{
    char beam[256];
    snprintf(beam, sizeof beam,
             "flex: {type: beam, fidelity: ruthless, length: 0.5 m, mass: 1, roll_inertia: 0.01,\n"
             "   bend_y: {modes: %d, stiffness: %.17g N m^2}, damping: 0.5 %%,\n"
             "   nodes: [{name: tip, x: 0.5 m}]}",
             modes, stiffness);
    snprintf(text, size,
             "name: x\nrate: 1 kHz\nintegrator: {method: ros2, substeps: %d}\n"
             "environment: {gravity: 0.1 0 0 m/s^2}\nbodies:\n"
             "- {name: a, joint: {type: revolute, axis: 0 0 1, angle: 3 deg, damping: %.17g},\n"
             "   %s}\n"
             "- {name: b, parent: a, joint: {type: revolute, node: tip, axis: 0 0 1,\n"
             "   angle: -2 deg, damping: %.17g}, %s}\n",
             substeps, damping, beam, damping, beam);
}

/* ROS2 takes the modes implicitly and the dampers of hinges not: refused is what its own steps let
 * grow, and nothing else, though the modes are faster than the step in nearly all of them. */
static void test_modes_under_ros2_are_refused_where_its_steps_grow(void)
{
    int refused = 0, accepted = 0, fast = 0;
    for (int trial = 0; trial < 60; trial++) {
        char text[2048];
        const int modes = 1 + trial % 8;
        const double stiffness = draw_size(1.0, 1e4), damping = draw_size(1e-3, 1.0);
        write_beams(text, sizeof text, 1, modes, stiffness, damping);
        const bool bad = is_refused(text);
        char complaint[sizeof error];
        memcpy(complaint, error, sizeof error);
        if (bad)
            TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, " grows by a factor of "), error);
        write_beams(text, sizeof text, 1000, modes, stiffness, damping);
        TEST_ASSERT_EQUAL_INT_MESSAGE(!bad, beams_stay(text), bad ? complaint : text);
        *(bad ? &refused : &accepted) += 1;
        fast += modes > 4;
    }
    printf("%d refused, %d accepted\n", refused, accepted);
    TEST_ASSERT_TRUE(refused > 5 && accepted > 20 && fast > 10);
}

static void test_every_shipped_scenario_is_tried_and_stable(void)
{
    char pattern[256];
    glob_t shipped;
    snprintf(pattern, sizeof pattern, "%s/config/scenarios/*.yaml", source_root);
    TEST_ASSERT_EQUAL_INT(0, glob(pattern, 0, NULL, &shipped));
    for (size_t i = 0; i < shipped.gl_pathc; i++) {
        char *text = NULL;
        size_t size = 0;
        cfg_scenario_free(scenario);
        TEST_ASSERT_EQUAL_INT_MESSAGE(
            0, cfg_scenario_load(shipped.gl_pathv[i], NULL, 0, &scenario, error), error);
        FILE *out = open_memstream(&text, &size);
        cfg_stability_print(scenario, out);
        fclose(out);
        const bool moves = strstr(text, "stiffest") != NULL;
        TEST_ASSERT_TRUE_MESSAGE(moves || strstr(shipped.gl_pathv[i], "empty"),
                                 shipped.gl_pathv[i]);
        free(text);
    }
    globfree(&shipped);
}

int main(int argc, char **argv)
{
    source_root = argc > 1 ? argv[1] : ".";
    UNITY_BEGIN();
    RUN_TEST(test_eigenvalues_of_a_matrix_that_was_built_from_them);
    RUN_TEST(test_eigenvalues_that_are_nothing_special);
    RUN_TEST(test_what_decays_has_the_bounds_of_the_books);
    RUN_TEST(test_what_swings_is_bounded_too);
    RUN_TEST(test_a_damper_too_strong_for_the_step_is_refused_at_its_joint);
    RUN_TEST(test_a_stop_too_stiff_is_refused_before_it_is_met);
    RUN_TEST(test_a_foot_too_stiff_is_refused_at_the_contact);
    RUN_TEST(test_a_viscous_wheel_too_light_is_refused_at_the_wheel);
    RUN_TEST(test_what_is_not_refused_stays_bounded);
    RUN_TEST(test_what_is_refused_would_have_blown_up);
    RUN_TEST(test_modes_under_ros2_are_refused_where_its_steps_grow);
    RUN_TEST(test_every_shipped_scenario_is_tried_and_stable);
    return UNITY_END();
}
