#include "tests/dynamics/form.h"

#include <math.h>
#include <string.h>

#include "tests/dynamics/dense.h"
#include "unity.h"

static struct vec_mat body_turn, world_turn;

double form_some(double low, double high)
{
    return low + 0.5 * (high - low) * (1.0 + tree_noise());
}

static double scale_to_unit(double *e, int count)
{
    double square = 0.0;
    for (int k = 0; k < count; k++)
        square += e[k] * e[k];
    for (int k = 0; k < count; k++)
        e[k] /= sqrt(square);
    return square;
}

void form_unit(double *e, int count)
{
    do {
        for (int k = 0; k < count; k++)
            e[k] = tree_noise();
    } while (scale_to_unit(e, count) < 0.01);
}

void form_across(const double axis[3], double out[3])
{
    do {
        form_unit(out, 3);
        vec_cross(axis, out, out);
    } while (scale_to_unit(out, 3) < 0.01);
}

void form_box(struct dyn_body_spec *spec, double mass, const double center[3],
              const double principal[3])
{
    spec->mass = mass;
    memset(spec->inertia, 0, sizeof spec->inertia);
    for (int k = 0; k < 3; k++) {
        spec->center[k] = center[k];
        spec->inertia[k] = principal[k];
    }
}

/* R s R', of xx yy zz xy xz yz */
static void turn_inertia(const struct vec_mat *R, double s[6])
{
    struct vec_mat I, out;
    vec_symmetric(s, &I);
    for (int c = 0; c < 3; c++) {
        double h[3];
        vec_multiply(&I, R->row[c], h);
        vec_multiply(R, h, out.row[c]);
    }
    for (int k = 0; k < 3; k++)
        s[k] = out.row[k][k];
    s[3] = out.row[0][1], s[4] = out.row[0][2], s[5] = out.row[1][2];
}

void form_lump(struct dyn_body_spec *spec)
{
    struct vec_mat R;
    double quat[4];
    const double a = form_some(0.1, 0.5), b = form_some(0.1, 0.5), c = form_some(0.1, 0.5);
    const double center[3] = {tree_noise(), tree_noise(), tree_noise()};
    form_box(spec, form_some(0.5, 3.0), center, (double[]){b + c, a + c, a + b});
    form_unit(quat, 4);
    vec_quat_matrix(quat, &R);
    turn_inertia(&R, spec->inertia);
}

/* Turns about some line with some pitch; now and then a slide. */
static void random_screws(struct dyn_body_spec *spec)
{
    spec->screw_count = 1 + (int)(1.5 * (1.0 + tree_noise()));
    for (int k = 0; k < spec->screw_count; k++) {
        double *screw = spec->screw[k];
        if (tree_noise() > 0.5) {
            form_unit(screw + 3, 3);
            continue;
        }
        form_unit(screw, 3);
        for (int i = 3; i < 6; i++)
            screw[i] = 0.5 * tree_noise();
    }
}

static void random_body(struct tree *tree, int parent, enum dyn_joint_type joint)
{
    struct dyn_body_spec *spec = &tree->spec[tree_add(tree, parent, joint, 0, 0, 0)];
    form_unit(spec->axis, 3);
    form_across(spec->axis, spec->axis2);
    random_screws(spec);
    if (joint != DYN_JOINT_FREE) {
        form_unit(spec->place_quat, 4);
        for (int k = 0; k < 3; k++)
            spec->place_xyz[k] = tree_noise();
    }
    form_lump(spec);
}

/* Chains rather than bushes, and now and then another root. */
void form_tree(struct tree *tree, int count, int free_base, uint64_t seed)
{
    static const enum dyn_joint_type joints[] = {
        DYN_JOINT_REVOLUTE,  DYN_JOINT_PRISMATIC, DYN_JOINT_CYLINDRICAL, DYN_JOINT_UNIVERSAL,
        DYN_JOINT_SPHERICAL, DYN_JOINT_PLANAR,    DYN_JOINT_GENERAL,     DYN_JOINT_FIXED};
    tree_begin(tree);
    tree_noise_seed(seed);
    for (int k = 0; k < 3; k++)
        tree->gravity[k] = 9.81 * tree_noise();
    random_body(tree, -1, free_base ? DYN_JOINT_FREE : joints[seed % 7]);
    for (int i = 1; i < count; i++) {
        const int any = (int)form_some(0, i + 1) - 1;
        random_body(tree, tree_noise() > 0.3 ? any : i - 1, joints[(int)form_some(0, 8)]);
    }
}

static void quat_product(const double a[4], const double b[4], double out[4])
{
    double e[4] = {a[0] * b[0] - vec_dot(a + 1, b + 1)};
    vec_cross(a + 1, b + 1, e + 1);
    vec_add(a[0], b + 1, e + 1);
    vec_add(b[0], a + 1, e + 1);
    memcpy(out, e, sizeof e);
}

static void turn_spec(struct dyn_body_spec *spec, const double turn[4])
{
    const double back[4] = {turn[0], -turn[1], -turn[2], -turn[3]};
    vec_multiply(&body_turn, spec->axis, spec->axis);
    vec_multiply(&body_turn, spec->axis2, spec->axis2);
    for (int k = 0; k < spec->screw_count; k++) {
        vec_multiply(&body_turn, spec->screw[k], spec->screw[k]);
        vec_multiply(&body_turn, spec->screw[k] + 3, spec->screw[k] + 3);
    }
    vec_multiply(&body_turn, spec->place_xyz, spec->place_xyz);
    vec_multiply(&body_turn, spec->center, spec->center);
    vec_multiply(&body_turn, spec->rotor.axis, spec->rotor.axis);
    turn_inertia(&body_turn, spec->inertia);
    quat_product(turn, spec->place_quat, spec->place_quat);
    quat_product(spec->place_quat, back, spec->place_quat);
}

void form_mount(struct tree *tree, const double gravity[3])
{
    struct vec_mat root_turn;
    double turn[4], root[4], world[4];
    form_unit(turn, 4);
    form_unit(root, 4);
    quat_product(root, turn, world);
    vec_quat_matrix(turn, &body_turn);
    vec_quat_matrix(root, &root_turn);
    vec_quat_matrix(world, &world_turn);
    for (int i = 0; i < tree->body_count; i++) {
        struct dyn_body_spec *spec = &tree->spec[i];
        turn_spec(spec, turn);
        if (spec->parent < 0) {
            vec_multiply(&root_turn, spec->place_xyz, spec->place_xyz);
            quat_product(root, spec->place_quat, spec->place_quat);
        }
    }
    form_to_world(gravity, tree->gravity);
    tree_build(tree);
}

void form_to_body(const double e[3], double out[3])
{
    vec_multiply(&body_turn, e, out);
}

void form_to_world(const double e[3], double out[3])
{
    vec_multiply(&world_turn, e, out);
}

void form_stir(struct tree *tree)
{
    int at = 0;
    for (int i = 0; i < tree->body_count; i++) {
        const struct dyn_body_spec *spec = &tree->spec[i];
        for (int k = 0; k < dyn_joint_nq(spec); k++)
            tree->q[at++] = 2.0 * tree_noise();
        if (spec->joint == DYN_JOINT_SPHERICAL || spec->joint == DYN_JOINT_FREE)
            form_unit(tree->q + at - 4, 4);
    }
    for (int k = 0; k < dyn_model_nv(tree->model); k++) {
        tree->v[k] = 4.0 * tree_noise();
        tree->tau[k] = 5.0 * tree_noise();
    }
}

void form_assert_same(int n, const double *truth, const double *is)
{
    double size = 0.0;
    for (int k = 0; k < n; k++)
        size = fmax(size, fabs(truth[k]));
    for (int k = 0; k < n; k++)
        TEST_ASSERT_DOUBLE_WITHIN(1e-12 * size, truth[k], is[k]);
}

void form_assert(struct tree *tree, int n, const double *M, const double *forces)
{
    double rows[FORM_NV_MAX * FORM_NV_MAX], truth[FORM_NV_MAX];
    TEST_ASSERT_LESS_OR_EQUAL_INT(FORM_NV_MAX, n);
    TEST_ASSERT_EQUAL_INT(n, dyn_model_nv(tree->model));
    memcpy(rows, M, (size_t)(n * n) * sizeof(double));
    memcpy(truth, forces, (size_t)n * sizeof(double));
    dense_solve_rows(n, rows, truth, 1);
    tree_forward(tree);
    form_assert_same(n, truth, tree->a);
}
