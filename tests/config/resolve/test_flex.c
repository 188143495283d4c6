/*
 * Flexible bodies of a scenario: what each type becomes, which body is on which node, and which
 * modes are slow enough for the step.
 */
#include "config/import/small_eigen.h"
#include "config/model_file.h"
#include "config/scenario.h"
#include "rt/executive/state/run_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unity.h"

static const double TURN = 2.0 * 3.14159265358979323846;

static struct cfg_scenario *scenario;
static char error[CFG_ERROR_MAX];

void setUp(void)
{
    scenario = NULL;
}

void tearDown(void)
{
    cfg_scenario_free(scenario);
}

static void load(const char *text)
{
    const int status =
        cfg_scenario_load_text("s.yaml", text, strlen(text), NULL, 0, &scenario, error);
    TEST_ASSERT_EQUAL_STRING("", error);
    TEST_ASSERT_EQUAL_INT(0, status);
}

static const struct sim_body *body(const char *name)
{
    int i = 0;
    while (i < scenario->spec.body_count && strcmp(scenario->spec.bodies[i].name, name) != 0)
        i++;
    TEST_ASSERT_LESS_THAN_INT(scenario->spec.body_count, i);
    return &scenario->spec.bodies[i];
}

static void expect_numbers(const double *want, const double *got, int count, double error_allowed)
{
    for (int i = 0; i < count; i++)
        TEST_ASSERT_DOUBLE_WITHIN(error_allowed, want[i], got[i]);
}

// clang-format off
/* A hinged beam of 10 m on a free hub: numbers by hand and by an independent model. */
static const char beam_text[] =
    "name: x\nbodies:\n"
    "- {name: hub, joint: free, mass: 1000, inertia: 800 900 1000}\n"
    "- name: arm\n"
    "  parent: hub\n"
    "  joint: {type: revolute, axis: 0 1 0, at: 1 0 0}\n"
    "  flex:\n"
    "    type: beam\n"
    "    length: 10 m\n"
    "    mass: 20 kg\n"
    "    roll_inertia: 2 kg m^2\n"
    "    bend_y: {modes: 1, frequency: 0.8 Hz}\n"
    "    bend_z: {modes: 2, frequency: 0.5 Hz}\n"
    "    damping: 0.5 1 2 %\n"
    "    start: 1e-3 2e-3 1e-4\n"
    "    start_rate: [0.1, 0.2, 0.3]\n"
    "    nodes: [{name: idle, x: 1 m}, {name: tip, x: 10 m}, {name: middle, x: 5 m}]\n"
    "- {name: far, parent: arm, joint: {type: fixed, node: tip}, mass: 1, inertia: 1 1 1}\n"
    "- {name: near, parent: arm, joint: {type: free, node: middle}, mass: 1, inertia: 1 1 1}\n"
    "- {name: near2, parent: arm, joint: {type: spherical, node: middle}, mass: 1, inertia: 1 1 1}\n"
    "- {name: foot, parent: arm, joint: {type: fixed, node: frame}, mass: 1, inertia: 1 1 1}\n";
// clang-format on

static void test_a_beam_gives_its_modes_and_its_mass(void)
{
    load(beam_text);
    const struct sim_body *arm = body("arm");
    const struct dyn_flex *modal = arm->spec.flex;
    const double center[3] = {5, 0, 0}, inertia[6] = {2, 500.0 / 3, 500.0 / 3, 0, 0, 0};
    const double hertz[3] = {0.8, 0.5, 3.133446512885333}, ratio[3] = {0.005, 0.01, 0.02};
    const double P1 = 3.5016455846530703, P2 = 1.940620318689552;
    const double P[9] = {0, P1, 0, 0, 0, P1, 0, 0, P2};
    TEST_ASSERT_EQUAL_PTR(&arm->flex->modal, modal);
    TEST_ASSERT_EQUAL_INT(DYN_FLEX_CONSISTENT, modal->fidelity);
    TEST_ASSERT_EQUAL_INT(3, modal->modes);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 20.0, arm->spec.mass);
    expect_numbers(center, arm->spec.center, 3, 1e-12);
    expect_numbers(inertia, arm->spec.inertia, 6, 1e-10);
    expect_numbers(P, modal->P, 9, 1e-9);
    for (int p = 0; p < 3; p++) {
        const double omega = TURN * hertz[p];
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1.0, modal->M[4 * p]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-9 * omega * omega, omega * omega, modal->K[4 * p]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-9 * omega, 2 * ratio[p] * omega, modal->C[4 * p]);
    }
    TEST_ASSERT_NOT_NULL(modal->P2);
    TEST_ASSERT_TRUE(modal->stiffens);
    const double reach[3] = {0.4472135955, 0.4472135955, 0.4472135955}; /* at the tip */
    TEST_ASSERT_EQUAL_DOUBLE(10.0, modal->length);
    expect_numbers(reach, modal->reach, 3, 1e-9);
}

static void test_stiffness_gives_the_frequency_of_the_textbook(void)
{
    load("name: x\nbodies:\n- {name: a, joint: fixed, flex: {type: beam, length: 2, mass: 3, "
         "roll_inertia: 0.5, bend_z: {modes: 1, stiffness: 7}, twist: {modes: 1, stiffness: 11}, "
         "stretch: {modes: 1, stiffness: 13}}}\n");
    const double *K = body("a")->spec.flex->K;
    const double bend = pow(1.8751040687119611, 4) * 7 / (3 * 8), quarter = TURN / 4;
    TEST_ASSERT_DOUBLE_WITHIN(1e-9 * bend, bend, K[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, quarter * quarter * 11 / (0.5 * 2), K[4]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, quarter * quarter * 13 / (3.0 * 2), K[8]);
}

static void test_a_beam_lies_as_its_attitude_says(void)
{
    load("name: x\nbodies:\n- {name: a, joint: fixed, flex: {type: beam, length: 2, mass: 3, "
         "attitude: {yaw: 90 deg}, bend_y: {modes: 1, stiffness: 7}, tip: 4 kg}}\n");
    const struct sim_body *a = body("a");
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 7.0, a->spec.mass);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, (3.0 * 1 + 4.0 * 2) / 7, a->spec.center[1]);
    TEST_ASSERT_TRUE(fabs(a->spec.flex->P[0]) > 0.1); /* its y is minus the body's x */
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, a->spec.flex->P[1]);
}

/* ---- which body is on which node ---- */

static void test_only_nodes_that_carry_something_go_to_the_kernel(void)
{
    load(beam_text);
    const struct dyn_flex *modal = body("arm")->spec.flex;
    TEST_ASSERT_EQUAL_INT(2, modal->nodes);
    TEST_ASSERT_EQUAL_INT(0, body("foot")->spec.node);
    TEST_ASSERT_EQUAL_INT(0, body("arm")->spec.node);
    TEST_ASSERT_EQUAL_INT(body("near")->spec.node, body("near2")->spec.node);
    TEST_ASSERT_EQUAL_DOUBLE(10.0, modal->node[body("far")->spec.node - 1].r[0]);
    TEST_ASSERT_EQUAL_DOUBLE(5.0, modal->node[body("near")->spec.node - 1].r[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.4472135955,
                              fabs(modal->node[body("far")->spec.node - 1].psi[5]));
}

static struct sim_vehicle *place(void **mem)
{
    const size_t size = (sim_vehicle_size(&scenario->spec) + 63) / 64 * 64;
    *mem = aligned_alloc(64, size);
    TEST_ASSERT_NOT_NULL(*mem);
    return sim_vehicle_place(&scenario->spec, memset(*mem, 0, size));
}

static void test_the_run_starts_with_the_modes_as_given(void)
{
    load(beam_text);
    void *mem;
    const struct sim_vehicle *vehicle = place(&mem);
    const struct dyn_model *model = vehicle->plant.model;
    const int arm = (int)(body("arm") - scenario->spec.bodies);
    const double eta[3] = {1e-3, 2e-3, 1e-4}, xi[3] = {0.1, 0.2, 0.3};
    TEST_ASSERT_EQUAL_INT(3, dyn_model_modes(model, arm));
    expect_numbers(eta, vehicle->x + dyn_model_eta_index(model, arm), 3, 0.0);
    expect_numbers(xi, vehicle->x + dyn_model_nq(model) + dyn_model_xi_index(model, arm), 3, 0.0);
    free(mem);
}

/* As many modes as the text has; rigid, as many as none. */
static int modes_placed(const char *fidelity)
{
    char text[512];
    snprintf(text, sizeof text,
             "name: x\nbodies:\n- {name: a, joint: free, flex: {type: beam, fidelity: %s, length: "
             "2, mass: 3, roll_inertia: 0.1, bend_z: {modes: 3, frequency: 1 Hz}}}\n",
             fidelity);
    cfg_scenario_free(scenario);
    load(text);
    void *mem;
    const struct sim_vehicle *vehicle = place(&mem);
    const int modes = dyn_model_modes(vehicle->plant.model, 0);
    free(mem);
    return modes;
}

static void test_fidelity_reaches_the_kernel(void)
{
    static const char *const names[] = {"rigid", "ruthless", "consistent", "inconsistent"};
    for (int k = 0; k < 4; k++) {
        TEST_ASSERT_EQUAL_INT(k == DYN_FLEX_RIGID ? 0 : 3, modes_placed(names[k]));
        TEST_ASSERT_EQUAL_INT(k, scenario->spec.bodies[0].spec.flex->fidelity);
    }
}

/* ---- oscillators ---- */

static void test_an_oscillator_is_a_mass_on_a_spring(void)
{
    load("name: x\nbodies:\n- name: bus\n  joint: free\n  mass: 100\n  inertia: 10 10 10\n"
         "  flex:\n    type: oscillators\n    oscillators:\n"
         "    - {axis: 0 3 4, at: 1 0 0, frequency: 0.5 Hz, damping: 2 %, mass: 5}\n"
         "    - {name: wheel, axis: 0 0 1, at: 0 2 0, frequency: 2 Hz, inertia: 0.5}\n"
         "- {name: a, parent: bus, joint: {type: fixed, node: wheel}, mass: 1, inertia: 1 1 1}\n");
    const struct sim_body *bus = body("bus");
    const struct dyn_flex *modal = bus->spec.flex;
    const double P[6] = {0, 3, 4, 0, 0, 0}, S[6] = {0, 0, 0, 0, 0, 0.5}, M[4] = {5, 0, 0, 0.5};
    const double slow = TURN * 0.5, fast = TURN * 2;
    const double K[4] = {5 * slow * slow, 0, 0, 0.5 * fast * fast}, at[3] = {0, 2, 0};
    const double C[4] = {2 * 0.02 * slow * 5, 0, 0, 0}, theta[6] = {0, 0, 0, 0, 0, 1},
                 none[6] = {0};
    expect_numbers(P, modal->P, 6, 1e-12);
    expect_numbers(S, modal->S, 6, 1e-12);
    expect_numbers(M, modal->M, 4, 1e-12);
    expect_numbers(K, modal->K, 4, 1e-9);
    expect_numbers(C, modal->C, 4, 1e-12);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 5 * 0.6, modal->L[3]); /* psi_y x */
    TEST_ASSERT_EQUAL_DOUBLE(100.0, bus->spec.mass);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, modal->length);
    TEST_ASSERT_EQUAL_INT(1, modal->nodes);
    expect_numbers(at, modal->node[0].r, 3, 0.0);
    expect_numbers(none, modal->node[0].psi, 6, 0.0);
    expect_numbers(theta, modal->node[0].theta, 6, 0.0);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5, bus->flex->first_hz);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2.0, bus->flex->last_hz);
}

/* ---- tables ---- */

static void test_a_table_is_summed_over_its_stations(void)
{
    load("name: x\nbodies:\n- name: a\n  joint: fixed\n  flex:\n    type: table\n"
         "    modes: [{frequency: 1 Hz, damping: 1 %}, {frequency: 3 Hz}]\n"
         "    stations:\n"
         "    - {at: 0 1 0, mass: 2}\n"
         "    - {at: 0 2 0, mass: 3, psi: [0 0 2, [1, 0, 0]], inertia: 0.5 0.5 0.5,\n"
         "       theta: [1 0 0, 0 0 1], psi2: [0 -1 0, 0 -2 0, 0 -3 0]}\n");
    const struct sim_body *a = body("a");
    const struct dyn_flex *modal = a->spec.flex;
    const double P[6] = {0, 0, 6, 3, 0, 0}, M[4] = {12.5, 0, 0, 3.5};
    const double K[4] = {12.5 * TURN * TURN, 0, 0, 3.5 * 9 * TURN * TURN};
    const double P2[12] = {0, -3, 0, 0, -6, 0, 0, -6, 0, 0, -9, 0};
    expect_numbers(P, modal->P, 6, 1e-12);
    expect_numbers(M, modal->M, 4, 1e-12);
    expect_numbers(K, modal->K, 4, 1e-9);
    expect_numbers(P2, modal->P2, 12, 1e-12);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2 * 0.01 * TURN * 12.5, modal->C[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 5.0, a->spec.mass);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.6, a->spec.center[1]);
    TEST_ASSERT_EQUAL_DOUBLE(2.0, modal->length);
    TEST_ASSERT_EQUAL_DOUBLE(2.0, modal->reach[0]);
    TEST_ASSERT_EQUAL_DOUBLE(1.0, modal->reach[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2 * 0.36 + 3 * 0.16 + 0.5, a->spec.inertia[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5, a->spec.inertia[1]);
}

static void test_a_table_takes_matrices_and_leaves_the_body_its_mass(void)
{
    load("name: x\nbodies:\n- name: a\n  joint: fixed\n  mass: 7\n  inertia: 1 1 1\n  flex:\n"
         "    type: table\n    mass: [2 0.5, 0.5 1]\n    stiffness: [[9, 1], [1, 4]]\n"
         "    damping: [0.2 0, 0 0.1]\n");
    const struct sim_body *a = body("a");
    const double M[4] = {2, 0.5, 0.5, 1}, K[4] = {9, 1, 1, 4}, C[4] = {0.2, 0, 0, 0.1};
    const double P[6] = {0};
    TEST_ASSERT_EQUAL_INT(2, a->spec.flex->modes);
    expect_numbers(M, a->spec.flex->M, 4, 0.0);
    expect_numbers(K, a->spec.flex->K, 4, 0.0);
    expect_numbers(C, a->spec.flex->C, 4, 0.0);
    expect_numbers(P, a->spec.flex->P, 6, 0.0);
    TEST_ASSERT_EQUAL_DOUBLE(7.0, a->spec.mass);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, a->flex->share);
    const double mean = (9 * 1 + 4 * 2 - 2 * 0.5 * 1) / (2 * 1.75); /* of det(K - x M) = 0 */
    const double first = mean - sqrt(mean * mean - 35 / 1.75);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, sqrt(first) / TURN, a->flex->first_hz);
}

/* A shape that moves and turns the joint: there it goes to zero, and elsewhere what is left is
 * 3 - 2 - (0.5 about y) x (2 along x) = 3 - 2 + 0.5 * 2 along z. */
static void test_what_a_table_has_at_the_joint_is_taken_off(void)
{
    load("name: x\nbodies:\n- name: a\n  joint: fixed\n  mass: 9\n  inertia: 9 9 9\n  flex:\n"
         "    type: table\n    modes: [{frequency: 1 Hz}]\n"
         "    joint: {psi: 0 0 2, theta: 0 0.5 0}\n"
         "    stations: [{at: 2 0 0, mass: 0.5, psi: 0 0 3}]\n"
         "    nodes: [{name: root, psi: 0 0 2, theta: 0 0.5 0}]\n"
         "- {name: b, parent: a, joint: {type: fixed, node: root}, mass: 1, inertia: 1 1 1}\n");
    const struct dyn_flex *modal = body("a")->spec.flex;
    const double still[3] = {0}, K = 0.5 * 9 * TURN * TURN;
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5 * 2.0, modal->P[2]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.5 * 4.0, modal->M[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, K, modal->K[0]); /* of the shape as given */
    expect_numbers(still, modal->node[0].psi, 3, 1e-15);
    expect_numbers(still, modal->node[0].theta, 3, 1e-15);
    TEST_ASSERT_NOT_NULL(modal->P2);
    TEST_ASSERT_FALSE(modal->stiffens); /* by the frame's second order alone */
}

static int table_stiffens(const char *joint, const char *station, const char *nodes)
{
    char text[600];
    snprintf(text, sizeof text,
             "name: x\nbodies:\n- {name: a, joint: fixed, mass: 9, inertia: 9 9 9, flex: {type: "
             "table, modes: [{frequency: 1 Hz}]%s%s%s}}\n",
             joint, station, nodes);
    load(text);
    const int stiffens = body("a")->spec.flex->stiffens;
    cfg_scenario_free(scenario);
    scenario = NULL;
    return stiffens;
}

static void test_a_table_knows_geometric_stiffness_by_the_psi2_it_is_given(void)
{
    const char *joint = ", joint: {psi: 0 0 2, theta: 0 0.5 0}";
    const char *plain = ", stations: [{at: 2 0 0, mass: 0.5, psi: 0 0 3}]";
    const char *drawn = ", stations: [{at: 1 0 0, mass: 1}, {at: 2 0 0, mass: 0.5, psi: 0 0 3, "
                        "psi2: -1 0 0}]";
    const char *node = ", nodes: [{name: tip, at: 2 0 0, psi: 0 0 3, psi2: -1 0 0}]";
    TEST_ASSERT_FALSE(table_stiffens("", plain, ""));
    TEST_ASSERT_FALSE(table_stiffens(joint, plain, ""));
    TEST_ASSERT_TRUE(table_stiffens("", drawn, ""));
    TEST_ASSERT_TRUE(table_stiffens(joint, drawn, ""));
    TEST_ASSERT_TRUE(table_stiffens("", "", node));
    TEST_ASSERT_FALSE(table_stiffens("", plain, node)); /* its own mass does not */
}

/* ---- FE models ---- */

// clang-format off
/* A lump of 2 kg at 1.5 m from the joint, which is at 0.5 m; one mode moves both grids in y. */
static const char bulk_text[] =
    "BEGIN BULK\n"
    "GRID           1           500.0     0.0     0.0\n"
    "GRID           2          2000.0     0.0     0.0\n"
    "CONM2          7       2           0.002\n"
    "ENDDATA\n";
static const char punch_text[] =
    "$EIGENVECTOR                                                                   2\n"
    "$EIGENVALUE =  0.4000000E+03  MODE =     3                                    16\n"
    "         1       G      0.000000E+00      2.000000E-01      0.000000E+00      17\n"
    "-CONT-                  0.000000E+00      0.000000E+00      0.000000E+00      18\n"
    "         2       G      0.000000E+00      1.000000E+00      0.000000E+00      19\n"
    "-CONT-                  0.000000E+00      0.000000E+00      0.000000E+00      20\n";
static const char fe_text[] =
    "name: x\nbodies:\n- name: bus\n  joint: free\n  mass: 4\n  inertia: 20 20 20\n  flex:\n"
    "    type: nastran\n    bulk: part.bdf\n    punch: sub/part.pch\n    modes: 3\n    joint: 1\n"
    "    length_unit: 1 mm\n    mass_unit: 1000 kg\n    damping: 1 %\n"
    "    nodes: [{name: end, grid: 2}]\n"
    "- {name: a, parent: bus, joint: {type: fixed, node: end}, mass: 1, inertia: 1 1 1}\n";
// clang-format on

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    TEST_ASSERT_NOT_NULL(file);
    TEST_ASSERT_TRUE(fputs(text, file) >= 0);
    TEST_ASSERT_EQUAL_INT(0, fclose(file));
}

static void remove_file(const char *folder, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    TEST_ASSERT_EQUAL_INT(0, remove(path));
}

static void test_files_of_an_fe_model_lie_beside_the_scenario(void)
{
    char folder[] = "/tmp/test_flex_XXXXXX", path[256];
    TEST_ASSERT_NOT_NULL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/sub", folder);
    TEST_ASSERT_EQUAL_INT(0, mkdir(path, 0700));
    write_file(folder, "part.bdf", bulk_text);
    write_file(folder, "sub/part.pch", punch_text);
    write_file(folder, "s.yaml", fe_text);
    snprintf(path, sizeof path, "%s/s.yaml", folder);
    const int status = cfg_scenario_load(path, NULL, 0, &scenario, error);
    char whole[256];
    const char *const overrides[] = {whole};
    struct cfg_scenario *same, *bad;
    snprintf(whole, sizeof whole, "bodies.bus.flex.bulk=%s/part.bdf", folder);
    TEST_ASSERT_EQUAL_INT(0, cfg_scenario_load(path, overrides, 1, &same, error));
    cfg_scenario_free(same);
    remove_file(folder, "sub/part.pch");
    char lack[CFG_ERROR_MAX], want[CFG_ERROR_MAX];
    TEST_ASSERT_NOT_EQUAL_INT(0, cfg_scenario_load(path, NULL, 0, &bad, lack));
    snprintf(want, sizeof want, "%s:10:12: %s/sub/part.pch: there is no such file; check the path",
             path, folder);
    remove_file(folder, "part.bdf");
    remove_file(folder, "s.yaml");
    remove_file(folder, "sub");
    TEST_ASSERT_EQUAL_INT(0, rmdir(folder));

    TEST_ASSERT_EQUAL_STRING(want, lack);
    TEST_ASSERT_EQUAL_STRING("", error);
    TEST_ASSERT_EQUAL_INT(0, status);
    const struct sim_body *bus = body("bus");
    const struct dyn_flex *modal = bus->spec.flex;
    const double at[3] = {1.5, 0, 0}, psi = modal->node[0].psi[1];
    TEST_ASSERT_EQUAL_INT(1, modal->modes);
    expect_numbers(at, modal->node[0].r, 3, 1e-12);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 2 * psi * psi, modal->M[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 2 * psi, modal->P[1]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1.5 * 2 * psi, modal->L[3]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6 * modal->K[0], 400 * 2 * pow(psi / 0.8, 2), modal->K[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 2 * 0.01 * modal->K[0] / 20, modal->C[0]);
    TEST_ASSERT_NOT_NULL(modal->P2); /* the frame's, for it has a joint */
    TEST_ASSERT_FALSE(modal->stiffens);
}

/* ---- modes and the step ---- */

enum { STEPS = 4000 };

struct method {
    const char *name;
    double limit;
    double growth; /* per radian, of a mode without damping */
};

static const struct method methods[] = {{"semi-implicit-euler", 2.0, 0.0},
                                        {"rk2", 0.2, 1e-3},
                                        {"rk4", 2.78, 0.0},
                                        {"ab2", 0.16, 1.03e-3},
                                        {"ab3", 0.54, 0.0},
                                        {"ab4", 0.30, 0.0}};

/* A body of 10 kg of which 4 kg swing freely: in free flight 0.6 of the modal mass is left.  The
 * frequency at which (c/2 + sqrt(c^2/4 + omega^2)) h is this. */
static void swing_text(const char *method, double ratio, double reach, char text[512])
{
    const double left = 0.6, part = ratio / left;
    const double omega = 1000.0 * reach / (part + sqrt(part * part + 1.0 / left));
    snprintf(
        text, 512,
        "name: x\nrate: 1 kHz\nintegrator: %s\nbodies:\n- {name: a, joint: free, mass: 10, "
        "inertia: 1 1 1, flex: {type: oscillators, start: 1, oscillators: [{axis: 1 0 0, mass: "
        "4, frequency: %.15g Hz, damping: %.15g}]}}\n",
        method, omega / TURN, ratio);
}

static bool is_refused(const char *method, double ratio, double reach)
{
    char text[512];
    struct cfg_scenario *loaded;
    swing_text(method, ratio, reach, text);
    const int status =
        cfg_scenario_load_text("s.yaml", text, strlen(text), NULL, 0, &loaded, error);
    cfg_scenario_free(loaded);
    return status != 0;
}

/* The greatest swing within the last radians of many steps; infinite when it was not a number. */
static double swing_after(double *x, const struct sim_vehicle *vehicle)
{
    const struct dyn_model *model = vehicle->plant.model;
    double most = 0.0;
    for (int i = 0; i < STEPS; i++) {
        if (!dyn_plant_step(&vehicle->plant, vehicle->command, NULL, vehicle->h, vehicle->work, x))
            return HUGE_VAL;
        if (i > STEPS - 200)
            most = fmax(most, fabs(x[dyn_model_eta_index(model, 0)]));
    }
    return most;
}

static double swing(const char *method, double ratio, double reach)
{
    char text[512];
    swing_text(method, ratio, reach, text);
    cfg_scenario_free(scenario);
    load(text);
    void *mem;
    const struct sim_vehicle *vehicle = place(&mem);
    const double most = swing_after(vehicle->x, vehicle);
    free(mem);
    return most;
}

static void test_modes_are_refused_where_the_limit_of_the_method_is(void)
{
    static const double ratios[] = {0.0, 0.01, 0.3, 1.0, 4.0};
    for (size_t k = 0; k < sizeof methods / sizeof methods[0]; k++)
        for (size_t r = 0; r < sizeof ratios / sizeof ratios[0]; r++) {
            TEST_ASSERT_FALSE(is_refused(methods[k].name, ratios[r], 0.9999 * methods[k].limit));
            TEST_ASSERT_TRUE(is_refused(methods[k].name, ratios[r], 1.0001 * methods[k].limit));
        }
    TEST_ASSERT_FALSE(is_refused("ros2", 0.0, 1000.0));
}

static void test_what_is_not_refused_does_not_grow(void)
{
    static const double ratios[] = {0.0, 0.01, 0.3, 1.0, 4.0};
    for (size_t k = 0; k < sizeof methods / sizeof methods[0]; k++)
        for (size_t r = 0; r < sizeof ratios / sizeof ratios[0]; r++) {
            const double radians = methods[k].limit * STEPS;
            const double most = ratios[r] == 0.0 ? exp(methods[k].growth * radians) * 1.2 : 1.2;
            const double ring =
                k == 0 ? 100.0 : 1.0; /* so near to its limit Euler rings, bounded */
            const double found = swing(methods[k].name, ratios[r], 0.9999 * methods[k].limit);
            TEST_ASSERT_TRUE_MESSAGE(found < most * ring, methods[k].name);
        }
}

/*
 * A mass m at d from the mass centre that swings along a leaves, in free flight, of its modal mass
 *      m (1 - m/M - m (d x a)' I^-1 (d x a))
 * whatever the origin.
 */
static void test_a_lever_makes_a_mode_faster(void)
{
    const double m = 2.0, M = 10.0, I[3] = {30.0, 40.0, 50.0}, a[3] = {0.6, 0.0, 0.8};
    const double r[3] = {1.0, 2.0, -0.5}, c[3] = {0.3, -0.2, 0.4};
    const double d[3] = {r[0] - c[0], r[1] - c[1], r[2] - c[2]};
    const double arm[3] = {d[1] * a[2] - d[2] * a[1], d[2] * a[0] - d[0] * a[2],
                           d[0] * a[1] - d[1] * a[0]};
    double left = 1.0 - m / M;
    for (int k = 0; k < 3; k++)
        left -= m * arm[k] * arm[k] / I[k];
    for (int over = 0; over < 2; over++) {
        char text[512];
        struct cfg_scenario *loaded;
        const double omega = 2.78 * 1000.0 * sqrt(left) * (over ? 1.0001 : 0.9999);
        snprintf(text, sizeof text,
                 "name: x\nrate: 1 kHz\nbodies:\n- {name: a, joint: free, mass: 10, center: 0.3 "
                 "-0.2 0.4, inertia: 30 40 50, flex: {type: oscillators, oscillators: [{axis: 3 0 "
                 "4, at: 1 2 -0.5, mass: 2, frequency: %.15g Hz}]}}\n",
                 omega / TURN);
        const int status =
            cfg_scenario_load_text("s.yaml", text, strlen(text), NULL, 0, &loaded, error);
        cfg_scenario_free(loaded);
        TEST_ASSERT_EQUAL_INT(over ? -EINVAL : 0, status);
    }
}

/* Bolted to the world a body has its own frequencies, and may be faster than in flight. */
static void test_a_body_in_the_world_is_as_fast_as_its_modes(void)
{
    static const char text[] =
        "name: x\nrate: 1 kHz\nbodies:\n- {name: a, joint: %s, mass: 10, inertia: 1 1 1, flex: "
        "{type: oscillators, oscillators: [{axis: 1 0 0, mass: 4, frequency: 440 Hz}]}}\n";
    char own[512];
    snprintf(own, sizeof own, text, "fixed");
    load(own);
    snprintf(own, sizeof own, text, "free");
    TEST_ASSERT_EQUAL_INT(-EINVAL, cfg_scenario_load_text("s.yaml", own, strlen(own), NULL, 0,
                                                          &(struct cfg_scenario *){NULL}, error));
    TEST_ASSERT_EQUAL_STRING("s.yaml:4:58: the modes of \"a\" reach 568 Hz in free flight, and rk4 "
                             "with steps of 1 ms is stable up to 442.5 Hz; use 2 substeps, fewer "
                             "modes or integrator: ros2",
                             error);
}

static void test_rigid_bodies_have_no_modes_to_be_too_fast(void)
{
    load("name: x\nrate: 1 kHz\nbodies:\n- {name: a, joint: free, mass: 10, inertia: 1 1 1, flex: "
         "{type: oscillators, fidelity: rigid, oscillators: [{axis: 1 0 0, mass: 4, frequency: 9 "
         "kHz}]}}\n");
}

/* ---- eigenvalues ---- */

/* Fixed-free springs and masses in a row: 2 sin((2 k - 1) pi / (4 n + 2)), squared. */
static void test_the_spectrum_of_a_row_of_springs_is_known(void)
{
    enum { N = 40 };
    static double A[N * N], B[N * N], values[N];
    for (int i = 0; i < N; i++) {
        A[i * N + i] = 3.0 * (i == N - 1 ? 1.0 : 2.0);
        B[i * N + i] = 3.0;
        if (i > 0)
            A[i * N + i - 1] = A[(i - 1) * N + i] = -3.0;
    }
    TEST_ASSERT_TRUE(cfg_small_eigenvalues(N, A, B, values));
    for (int k = 1; k <= N; k++) {
        const double half = 2.0 * sin((2 * k - 1) * TURN / 2 / (4 * N + 2));
        TEST_ASSERT_DOUBLE_WITHIN(1e-13, half * half, values[k - 1]);
    }
}

static void test_a_spectrum_needs_a_positive_matrix(void)
{
    const double A[4] = {1, 0, 0, 1}, good[4] = {2, 1, 1, 2}, bad[4] = {1, 2, 2, 1},
                 thin[4] = {1, 1, 1, 1};
    double values[2];
    TEST_ASSERT_TRUE(cfg_small_eigenvalues(2, A, good, values));
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1.0 / 3, values[0]);
    TEST_ASSERT_DOUBLE_WITHIN(1e-15, 1.0, values[1]);
    TEST_ASSERT_FALSE(cfg_small_eigenvalues(2, A, bad, values));
    TEST_ASSERT_FALSE(cfg_small_eigenvalues(2, A, thin, values));
    for (int k = 1; k <= 100; k++) { /* what rounding leaves of a pivot is not positive */
        const double v[2] = {0.1 * k, 1.0 / k};
        const double outer[4] = {v[0] * v[0], v[0] * v[1], v[0] * v[1], v[1] * v[1]};
        TEST_ASSERT_FALSE(cfg_small_eigenvalues(2, A, outer, values));
    }
}

/* ---- read back ---- */

static void test_the_summary_has_how_a_body_bends(void)
{
    char *text;
    size_t size;
    load("name: x\nbodies:\n- {name: a, joint: free, mass: 10, inertia: 1 1 1, flex: {type: "
         "oscillators, fidelity: ruthless, oscillators: [{axis: 1 0 0, mass: 4, frequency: 2 Hz}, "
         "{axis: 0 1 0, mass: 3, frequency: 5 Hz}]}}\n");
    FILE *out = open_memstream(&text, &size);
    cfg_scenario_print(scenario, out);
    fclose(out);
    TEST_ASSERT_NOT_NULL(strstr(text,
                                "\n    bends: 2 modes, 2 to 5 Hz held at the joint, with 40.0 "
                                "% of its mass or inertia, ruthless\n"));
    free(text);
}

static void test_a_model_counts_modes_behind_all_joints(void)
{
    struct cfg_model *model;
    TEST_ASSERT_EQUAL_INT(0, cfg_model_load_text("s.yaml", beam_text, strlen(beam_text),
                                                 CFG_BASE_UNSAID, &model, error));
    TEST_ASSERT_EQUAL_INT(7 + 1 + 3 + 7 + 4, model->nq);
    TEST_ASSERT_EQUAL_INT(6 + 1 + 3 + 6 + 3, model->nv);
    TEST_ASSERT_EQUAL_STRING("arm", model->joints[1].name);
    TEST_ASSERT_EQUAL_INT(7, model->joints[1].q_first);
    TEST_ASSERT_EQUAL_INT(3, model->joints[1].modes);
    TEST_ASSERT_EQUAL_DOUBLE(2e-3, model->joints[1].start.eta[1]);
    TEST_ASSERT_EQUAL_INT(8, model->joints[2].q_first);
    const int joints = 6 + 1 + 6 + 3; /* velocities of all of them */
    TEST_ASSERT_EQUAL_INT(joints, model->joints[1].mode_first);
    for (int i = 0; i < 3; i++) {
        TEST_ASSERT_EQUAL_INT(dyn_model_eta_index(model->tree, model->joints[1].body) + i,
                              model->q_at[model->nq - 3 + i]);
        TEST_ASSERT_EQUAL_INT(dyn_model_xi_index(model->tree, model->joints[1].body) + i,
                              model->v_at[joints + i]);
    }
    cfg_model_free(model);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_beam_gives_its_modes_and_its_mass);
    RUN_TEST(test_stiffness_gives_the_frequency_of_the_textbook);
    RUN_TEST(test_a_beam_lies_as_its_attitude_says);
    RUN_TEST(test_only_nodes_that_carry_something_go_to_the_kernel);
    RUN_TEST(test_the_run_starts_with_the_modes_as_given);
    RUN_TEST(test_fidelity_reaches_the_kernel);
    RUN_TEST(test_an_oscillator_is_a_mass_on_a_spring);
    RUN_TEST(test_a_table_is_summed_over_its_stations);
    RUN_TEST(test_a_table_takes_matrices_and_leaves_the_body_its_mass);
    RUN_TEST(test_what_a_table_has_at_the_joint_is_taken_off);
    RUN_TEST(test_a_table_knows_geometric_stiffness_by_the_psi2_it_is_given);
    RUN_TEST(test_files_of_an_fe_model_lie_beside_the_scenario);
    RUN_TEST(test_modes_are_refused_where_the_limit_of_the_method_is);
    RUN_TEST(test_what_is_not_refused_does_not_grow);
    RUN_TEST(test_a_lever_makes_a_mode_faster);
    RUN_TEST(test_a_body_in_the_world_is_as_fast_as_its_modes);
    RUN_TEST(test_rigid_bodies_have_no_modes_to_be_too_fast);
    RUN_TEST(test_the_spectrum_of_a_row_of_springs_is_known);
    RUN_TEST(test_a_spectrum_needs_a_positive_matrix);
    RUN_TEST(test_the_summary_has_how_a_body_bends);
    RUN_TEST(test_a_model_counts_modes_behind_all_joints);
    return UNITY_END();
}
