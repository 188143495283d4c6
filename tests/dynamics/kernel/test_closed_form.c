/*
 * One motion equation a joint, written out by hand, against the kernel.
 *
 * Letters: g gravity, m mass, c mass centre, A B C principal inertias about it, all in the axes of
 * the formula; s and c with an angle are its sine and cosine.
 */
#include <math.h>
#include <string.h>

#include "tests/dynamics/form.h"
#include "unity.h"

enum { STATES = 60 };

static struct tree tree;
static double g[3];

void setUp(void)
{
    tree_noise_seed(20);
}

void tearDown(void)
{
}

static void begin(void)
{
    tree_begin(&tree);
    for (int k = 0; k < 3; k++)
        g[k] = 9.81 * tree_noise();
}

static struct dyn_body_spec *add(int parent, enum dyn_joint_type joint, double ax, double ay,
                                 double az)
{
    return &tree.spec[tree_add(&tree, parent, joint, ax, ay, az)];
}

/* Three inertias that a body can have. */
static void some_box(double principal[3])
{
    const double a = form_some(0.1, 0.5), b = form_some(0.1, 0.5), c = form_some(0.1, 0.5);
    principal[0] = b + c, principal[1] = a + c, principal[2] = a + b;
}

static const double nowhere[3];

/* A hub that turns about z, with inertia J about it. */
static double add_turntable(void)
{
    double hub[3];
    some_box(hub);
    form_box(add(-1, DYN_JOINT_REVOLUTE, 0, 0, 1), form_some(1, 3), nowhere, hub);
    return hub[2];
}

/* n.(I + m (c.c 1 - c c')) n */
static double about(const struct dyn_body_spec *spec, const double n[3])
{
    struct vec_mat I;
    double h[3];
    vec_symmetric(spec->inertia, &I);
    vec_steiner(spec->mass, spec->center, &I);
    vec_multiply(&I, n, h);
    return vec_dot(n, h);
}

/* --- revolute ------------------------------------------------------------------------------ */

/* J a = tau + n.(c x m g) */
static void expect_pendulum(double angle_max)
{
    struct vec_mat P;
    double n[3], c[3], lever[3];
    begin();
    struct dyn_body_spec *spec = add(-1, DYN_JOINT_REVOLUTE, 0, 0, 0);
    form_unit(spec->axis, 3);
    form_unit(spec->place_quat, 4);
    form_lump(spec);
    memcpy(tree.gravity, g, sizeof g);
    tree_build(&tree);
    form_stir(&tree);
    tree.q[0] = form_some(-angle_max, angle_max);

    vec_quat_matrix(spec->place_quat, &P);
    vec_multiply(&P, spec->axis, n);
    vec_turn(spec->axis, tree.q[0], spec->center, c);
    vec_multiply(&P, c, c);
    vec_cross(c, g, lever);
    const double J = about(spec, spec->axis);
    const double force = tree.tau[0] + spec->mass * vec_dot(n, lever);
    form_assert(&tree, 1, &J, &force);
}

static void test_a_revolute_joint_is_a_compound_pendulum(void)
{
    for (int k = 0; k < STATES; k++)
        expect_pendulum(4.0);
}

static void test_a_joint_wound_up_by_many_turns_hangs_where_its_angle_says(void)
{
    for (int k = 0; k < STATES; k++) {
        expect_pendulum(1e3);
        expect_pendulum(1e6);
        expect_pendulum(1e9);
    }
}

/*
 * Angle q2 from the first link, h = m2 l c2 sin q2, J2 = C2 + m2 c2^2:
 *      (C1 + m1 c1^2 + m2 l^2 + J2 + 2 m2 l c2 cos q2) a1 + (J2 + m2 l c2 cos q2) a2
 *              = tau1 + h (2 v1 + v2) v2 + z.(r1 x m1 g + r2 x m2 g)
 *      (J2 + m2 l c2 cos q2) a1 + J2 a2 = tau2 - h v1^2 + z.((r2 - l) x m2 g)
 */
static void test_two_revolute_joints_are_a_double_pendulum(void)
{
    for (int k = 0; k < STATES; k++) {
        const double m1 = form_some(1, 3), m2 = form_some(1, 3), l = form_some(0.5, 2);
        const double c1 = form_some(0.2, 1), c2 = form_some(0.2, 1);
        double box1[3], box2[3];
        some_box(box1), some_box(box2);
        begin();
        form_box(add(-1, DYN_JOINT_REVOLUTE, 0, 0, 1), m1, (double[]){c1, 0, 0}, box1);
        struct dyn_body_spec *outer = add(0, DYN_JOINT_REVOLUTE, 0, 0, 1);
        form_box(outer, m2, (double[]){c2, 0, 0}, box2);
        outer->place_xyz[0] = l;
        form_mount(&tree, g);
        form_stir(&tree);

        const double *q = tree.q, *v = tree.v, *tau = tree.tau, both = q[0] + q[1];
        const double J2 = box2[2] + m2 * c2 * c2, lc = m2 * l * c2 * cos(q[1]);
        const double h = m2 * l * c2 * sin(q[1]);
        const double pull1 = cos(q[0]) * g[1] - sin(q[0]) * g[0];
        const double pull2 = cos(both) * g[1] - sin(both) * g[0];
        double M[] = {box1[2] + m1 * c1 * c1 + m2 * l * l + J2 + 2 * lc, J2 + lc, J2 + lc, J2};
        double forces[] = {tau[0] + h * (2 * v[0] + v[1]) * v[1] + (m1 * c1 + m2 * l) * pull1 +
                               m2 * c2 * pull2,
                           tau[1] - h * v[0] * v[0] + m2 * c2 * pull2};
        form_assert(&tree, 2, M, forces);
    }
}

/* --- prismatic ----------------------------------------------------------------------------- */

/*
 * A bead on a slide that passes the axis of a turntable at a distance d; r along the slide:
 *      (J + C + m (r^2 + d^2)) w' - m d r'' = tau - 2 m r r' w + z.(p x m g)
 *      m r'' - m d w' = f + m r w^2 + m g_r
 */
static void test_a_prismatic_joint_is_a_slide_on_a_turntable(void)
{
    for (int k = 0; k < STATES; k++) {
        const double m = form_some(0.5, 2), d = form_some(-1, 1);
        double box[3];
        some_box(box);
        begin();
        const double J = add_turntable();
        struct dyn_body_spec *bead = add(0, DYN_JOINT_PRISMATIC, 1, 0, 0);
        form_box(bead, m, nowhere, box);
        bead->place_xyz[1] = d;
        form_mount(&tree, g);
        form_stir(&tree);

        const double w = tree.v[0], r = tree.q[1], speed = tree.v[1];
        const double s = sin(tree.q[0]), c = cos(tree.q[0]);
        const double g_r = c * g[0] + s * g[1], g_t = c * g[1] - s * g[0];
        double M[] = {J + box[2] + m * (r * r + d * d), -m * d, -m * d, m};
        double forces[] = {tree.tau[0] - 2 * m * r * speed * w + m * (r * g_t - d * g_r),
                           tree.tau[1] + m * r * w * w + m * g_r};
        form_assert(&tree, 2, M, forces);
    }
}

/* --- cylindrical --------------------------------------------------------------------------- */

/* Along n and about n, and neither feels the other:  m s'' = f + m g.n,  J a = tau + n.(c x m g) */
static void test_a_cylindrical_joint_on_the_world_is_a_slide_and_a_pendulum(void)
{
    for (int k = 0; k < STATES; k++) {
        double c[3], lever[3];
        begin();
        struct dyn_body_spec *spec = add(-1, DYN_JOINT_CYLINDRICAL, 0, 0, 0);
        form_unit(spec->axis, 3);
        form_lump(spec);
        memcpy(tree.gravity, g, sizeof g);
        tree_build(&tree);
        form_stir(&tree);

        vec_turn(spec->axis, tree.q[0], spec->center, c);
        vec_cross(c, g, lever);
        double M[] = {about(spec, spec->axis), 0, 0, spec->mass};
        double forces[] = {tree.tau[0] + spec->mass * vec_dot(spec->axis, lever),
                           tree.tau[1] + spec->mass * vec_dot(spec->axis, g)};
        form_assert(&tree, 2, M, forces);
    }
}

/*
 * A body A B C that turns by f about the radius of a turntable and slides along it, at r:
 *      (J + m r^2 + B s^2 + C c^2) w' = tau - 2 m r r' w - 2 (B - C) s c f' w + r m g_t
 *      A f'' = tau_f + (B - C) s c w^2
 *      m r'' = f_r + m r w^2 + m g_r
 */
static void test_a_cylindrical_joint_turns_and_slides_on_a_turntable(void)
{
    for (int k = 0; k < STATES; k++) {
        const double m = form_some(0.5, 2);
        double box[3];
        some_box(box);
        begin();
        const double J = add_turntable();
        form_box(add(0, DYN_JOINT_CYLINDRICAL, 1, 0, 0), m, nowhere, box);
        form_mount(&tree, g);
        form_stir(&tree);

        const double *v = tree.v, w = v[0], r = tree.q[2];
        const double s = sin(tree.q[1]), c = cos(tree.q[1]), BC = (box[1] - box[2]) * s * c;
        const double g_r = cos(tree.q[0]) * g[0] + sin(tree.q[0]) * g[1];
        const double g_t = cos(tree.q[0]) * g[1] - sin(tree.q[0]) * g[0];
        double M[9] = {J + m * r * r + box[1] * s * s + box[2] * c * c};
        M[4] = box[0], M[8] = m;
        double forces[] = {tree.tau[0] - 2 * m * r * v[2] * w - 2 * BC * v[1] * w + r * m * g_t,
                           tree.tau[1] + BC * w * w, tree.tau[2] + m * r * w * w + m * g_r};
        form_assert(&tree, 3, M, forces);
    }
}

/* --- universal ----------------------------------------------------------------------------- */

/*
 * First a about z, then b about the carried x; mass centre at l on the body's z.  The body turns at
 * (b', a' sb, a' cb), and with B' = B + m l^2:
 *      (B' sb^2 + C cb^2) a'' = tau_a - 2 (B' - C) sb cb a' b' + m g.dr/da
 *      (A + m l^2) b'' = tau_b + (B' - C) sb cb a'^2 + m g.dr/db
 *      r = l (sa sb, -ca sb, cb)
 */
static void test_a_universal_joint_obeys_lagrange(void)
{
    for (int k = 0; k < STATES; k++) {
        const double m = form_some(0.5, 2), l = form_some(0.3, 1);
        double box[3];
        some_box(box);
        begin();
        struct dyn_body_spec *spec = add(-1, DYN_JOINT_UNIVERSAL, 0, 0, 1);
        spec->axis2[0] = 1;
        form_box(spec, m, (double[]){0, 0, l}, box);
        form_mount(&tree, g);
        form_stir(&tree);

        const double sa = sin(tree.q[0]), ca = cos(tree.q[0]), sb = sin(tree.q[1]);
        const double cb = cos(tree.q[1]), *v = tree.v;
        const double B = box[1] + m * l * l, C = box[2], BC = (B - C) * sb * cb;
        const double dr_da[3] = {l * ca * sb, l * sa * sb, 0};
        const double dr_db[3] = {l * sa * cb, -l * ca * cb, -l * sb};
        double M[] = {B * sb * sb + C * cb * cb, 0, 0, box[0] + m * l * l};
        double forces[] = {tree.tau[0] - 2 * BC * v[0] * v[1] + m * vec_dot(g, dr_da),
                           tree.tau[1] + BC * v[0] * v[0] + m * vec_dot(g, dr_db)};
        form_assert(&tree, 2, M, forces);
    }
}

/* --- spherical ----------------------------------------------------------------------------- */

/*
 * Euler's top on a cart that slides along e; R takes body axes to the world, I about the pivot:
 *      (M + m) x'' + m e.R (w' x c) = f - m e.R (w x (w x c)) + (M + m) e.g
 *      I w' + m c x R'e x'' = tau - w x I w + c x m R'g
 */
static void test_a_spherical_joint_is_a_top_on_a_cart(void)
{
    for (int k = 0; k < STATES; k++) {
        struct vec_mat R, P, I;
        double e[3], arm[3], inward[3], spin[3], pull[3], g_body[3];
        begin();
        struct dyn_body_spec *cart = add(-1, DYN_JOINT_PRISMATIC, 0, 0, 0);
        form_unit(cart->axis, 3);
        struct dyn_body_spec *top = add(0, DYN_JOINT_SPHERICAL, 0, 0, 0);
        form_unit(top->place_quat, 4);
        form_lump(top);
        memcpy(tree.gravity, g, sizeof g);
        tree_build(&tree);
        form_stir(&tree);

        const double *w = tree.v + 1, *c = top->center, m = top->mass;
        vec_quat_matrix(top->place_quat, &P);
        vec_quat_matrix(tree.q + 1, &R);
        vec_multiply_t(&P, cart->axis, e);
        vec_multiply_t(&R, e, e); /* body axes from here on */
        vec_multiply_t(&P, g, g_body);
        vec_multiply_t(&R, g_body, g_body);
        vec_symmetric(top->inertia, &I);
        vec_steiner(m, c, &I);
        vec_cross(c, e, arm);
        vec_cross(w, c, inward);
        vec_cross(w, inward, inward);
        vec_multiply(&I, w, spin);
        vec_cross(w, spin, spin);
        vec_cross(c, g_body, pull);

        double M[16] = {cart->mass + m}, forces[4];
        forces[0] = tree.tau[0] - m * vec_dot(e, inward) + (cart->mass + m) * vec_dot(e, g_body);
        for (int r = 0; r < 3; r++) {
            M[1 + r] = M[4 * (1 + r)] = m * arm[r];
            memcpy(M + 4 * (1 + r) + 1, I.row[r], sizeof I.row[r]);
            forces[1 + r] = tree.tau[1 + r] - spin[r] + m * pull[r];
        }
        form_assert(&tree, 4, M, forces);
    }
}

/* --- planar -------------------------------------------------------------------------------- */

/*
 * A puck at p = (x, y) on a turntable that turns at w, itself turned by f, mass centre at r from
 * its origin; W = w + f', all in table axes:
 *      m (p'' + 2 w z x p' + w' z x p - w^2 p + W' z x r - W^2 r) = F + m g
 *      C W' = tau - r x F
 *      J w' = tau_table - p x F - tau
 */
static void test_a_planar_joint_is_a_puck_on_a_turntable(void)
{
    for (int k = 0; k < STATES; k++) {
        const double m = form_some(0.5, 2), cx = form_some(-0.5, 0.5), cy = form_some(-0.5, 0.5);
        double box[3];
        some_box(box);
        begin();
        const double J = add_turntable();
        struct dyn_body_spec *puck = add(0, DYN_JOINT_PLANAR, 0, 0, 1);
        puck->axis2[0] = 1;
        form_box(puck, m, (double[]){cx, cy, form_some(-1, 1)}, box);
        form_mount(&tree, g);
        form_stir(&tree);

        const double *q = tree.q, *v = tree.v, *tau = tree.tau;
        const double x = q[1], y = q[2], w = v[0], W = w + v[3], C = box[2];
        const double rx = cos(q[3]) * cx - sin(q[3]) * cy, ry = sin(q[3]) * cx + cos(q[3]) * cy;
        const double gx = cos(q[0]) * g[0] + sin(q[0]) * g[1];
        const double gy = cos(q[0]) * g[1] - sin(q[0]) * g[0];
        const double Fx = tau[1], Fy = tau[2];
        double M[] = {J,
                      0,
                      0,
                      0, /* table */
                      -m * (y + ry),
                      m,
                      0,
                      -m * ry, /* along x */
                      m * (x + rx),
                      0,
                      m,
                      m * rx, /* along y */
                      C,
                      0,
                      0,
                      C};
        double forces[] = {tau[0] - (x * Fy - y * Fx) - tau[3],
                           Fx + m * (gx + 2 * w * v[2] + w * w * x + W * W * rx),
                           Fy + m * (gy - 2 * w * v[1] + w * w * y + W * W * ry),
                           tau[3] - (rx * Fy - ry * Fx)};
        form_assert(&tree, 4, M, forces);
    }
}

/* --- free ---------------------------------------------------------------------------------- */

/*
 * Newton and Euler about the origin of the body, body axes, n and f the forces there:
 *      I w' + m c x v' = n - w x I w - m c x (w x v) + c x m R'g
 *      m v' + m w' x c = f - m w x v - m w x (w x c) + m R'g
 */
static void test_a_free_body_obeys_newton_and_euler(void)
{
    for (int k = 0; k < STATES; k++) {
        struct vec_mat R, I;
        double pull[3], spin[3], inward[3], carried[3], moment[3];
        begin();
        struct dyn_body_spec *spec = add(-1, DYN_JOINT_FREE, 0, 0, 0);
        form_lump(spec);
        memcpy(tree.gravity, g, sizeof g);
        tree_build(&tree);
        form_stir(&tree);

        const double *w = tree.v, *v = tree.v + 3, *c = spec->center, m = spec->mass;
        vec_quat_matrix(tree.q + 3, &R);
        vec_multiply_t(&R, g, pull);
        vec_cross(w, v, carried);
        vec_add(-1.0, carried, pull);
        vec_cross(c, pull, moment);
        vec_symmetric(spec->inertia, &I);
        vec_steiner(m, c, &I);
        vec_multiply(&I, w, spin);
        vec_cross(w, spin, spin);
        vec_cross(w, c, inward);
        vec_cross(w, inward, inward);

        double M[36] = {0}, forces[6];
        const double tilde[3][3] = {{0, -c[2], c[1]}, {c[2], 0, -c[0]}, {-c[1], c[0], 0}};
        for (int r = 0; r < 3; r++) {
            for (int i = 0; i < 3; i++) {
                M[6 * r + i] = I.row[r][i];
                M[6 * r + 3 + i] = m * tilde[r][i];
                M[6 * (3 + r) + i] = -m * tilde[r][i];
            }
            M[6 * (3 + r) + 3 + r] = m;
            forces[r] = tree.tau[r] - spin[r] + m * moment[r];
            forces[3 + r] = tree.tau[3 + r] - m * inward[r] + m * pull[r];
        }
        form_assert(&tree, 6, M, forces);
    }
}

/* --- general ------------------------------------------------------------------------------- */

/*
 * A nut on a screw of pitch h about a line n through o:  the body moves at (h n + n x (c - o)) q',
 *      (m h^2 + J_o) q'' = tau + m g.(h n + n x (c - o))
 */
static void test_a_general_joint_of_one_screw_is_a_nut(void)
{
    for (int k = 0; k < STATES; k++) {
        double n[3], o[3], arm[3], way[3];
        const double h = form_some(-0.5, 0.5);
        begin();
        struct dyn_body_spec *spec = add(-1, DYN_JOINT_GENERAL, 0, 0, 0);
        form_lump(spec);
        form_unit(n, 3);
        for (int i = 0; i < 3; i++)
            o[i] = tree_noise();
        spec->screw_count = 1;
        memcpy(spec->screw[0], n, sizeof n);
        vec_cross(o, n, spec->screw[0] + 3);
        vec_add(h, n, spec->screw[0] + 3);
        memcpy(tree.gravity, g, sizeof g);
        tree_build(&tree);
        form_stir(&tree);

        memcpy(arm, spec->center, sizeof arm);
        vec_add(-1.0, o, arm);
        vec_turn(n, tree.q[0], arm, arm);
        vec_cross(n, arm, way);
        const double swing = spec->mass * vec_dot(way, way);
        vec_add(h, n, way);
        struct dyn_body_spec centred = *spec;
        memset(centred.center, 0, sizeof centred.center);
        double M = about(&centred, n) + swing + spec->mass * h * h;
        double force = tree.tau[0] + spec->mass * vec_dot(g, way);
        form_assert(&tree, 1, &M, &force);
    }
}

/*
 * An arm in spherical coordinates as one joint: a about z, b about the x that passes at y = d, r
 * along the body's own z, where the mass is.  With D = m (d - r sb)^2 + B sb^2 + C cb^2:
 *      D a'' = tau_a - (D_b b' + D_r r') a' + m g.dp/da
 *      (m r^2 + A) b'' = tau_b - 2 m r r' b' + D_b a'^2 / 2 + m g.dp/db
 *      m r'' = f + m r b'^2 + D_r a'^2 / 2 + m g.dp/dr
 *      p = (-sa u, ca u, r cb),  u = d - r sb
 */
static void test_a_general_joint_of_three_screws_is_a_crane(void)
{
    for (int k = 0; k < STATES; k++) {
        const double m = form_some(0.5, 2), d = form_some(-1, 1), rest = form_some(2.5, 3.5);
        double box[3];
        some_box(box);
        begin();
        struct dyn_body_spec *spec = add(-1, DYN_JOINT_GENERAL, 0, 0, 0);
        spec->screw_count = 3;
        spec->screw[0][2] = 1;                         /* about z */
        spec->screw[1][0] = 1, spec->screw[1][5] = -d; /* about x through (0, d, 0) */
        spec->screw[2][5] = 1;                         /* along z */
        form_box(spec, m, (double[]){0, d, rest}, box);
        form_mount(&tree, g);
        form_stir(&tree);

        const double *v = tree.v, r = rest + tree.q[2];
        const double sa = sin(tree.q[0]), ca = cos(tree.q[0]);
        const double sb = sin(tree.q[1]), cb = cos(tree.q[1]), u = d - r * sb;
        const double D_b = -2 * m * u * r * cb + 2 * (box[1] - box[2]) * sb * cb;
        const double D_r = -2 * m * u * sb;
        const double p_a[3] = {-ca * u, -sa * u, 0};
        const double p_b[3] = {sa * r * cb, -ca * r * cb, -r * sb};
        const double p_r[3] = {sa * sb, -ca * sb, cb};
        double M[9] = {m * u * u + box[1] * sb * sb + box[2] * cb * cb};
        M[4] = m * r * r + box[0], M[8] = m;
        double forces[] = {
            tree.tau[0] - (D_b * v[1] + D_r * v[2]) * v[0] + m * vec_dot(g, p_a),
            tree.tau[1] - 2 * m * r * v[2] * v[1] + 0.5 * D_b * v[0] * v[0] + m * vec_dot(g, p_b),
            tree.tau[2] + m * r * v[1] * v[1] + 0.5 * D_r * v[0] * v[0] + m * vec_dot(g, p_r)};
        form_assert(&tree, 3, M, forces);
    }
}

/* --- fixed --------------------------------------------------------------------------------- */

/* Two halves welded: the pendulum of both. */
static void test_a_fixed_joint_makes_one_body_of_two(void)
{
    for (int k = 0; k < STATES; k++) {
        const double m1 = form_some(1, 3), m2 = form_some(1, 3), l = form_some(-1, 1);
        double box1[3], box2[3];
        some_box(box1), some_box(box2);
        begin();
        form_box(add(-1, DYN_JOINT_REVOLUTE, 0, 0, 1), m1, nowhere, box1);
        struct dyn_body_spec *rest = add(0, DYN_JOINT_FIXED, 0, 0, 0);
        form_box(rest, m2, nowhere, box2);
        rest->place_xyz[0] = l;
        form_mount(&tree, g);
        form_stir(&tree);
        double M = box1[2] + box2[2] + m2 * l * l;
        double force = tree.tau[0] + m2 * l * (cos(tree.q[0]) * g[1] - sin(tree.q[0]) * g[0]);
        form_assert(&tree, 1, &M, &force);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_revolute_joint_is_a_compound_pendulum);
    RUN_TEST(test_a_joint_wound_up_by_many_turns_hangs_where_its_angle_says);
    RUN_TEST(test_two_revolute_joints_are_a_double_pendulum);
    RUN_TEST(test_a_prismatic_joint_is_a_slide_on_a_turntable);
    RUN_TEST(test_a_cylindrical_joint_on_the_world_is_a_slide_and_a_pendulum);
    RUN_TEST(test_a_cylindrical_joint_turns_and_slides_on_a_turntable);
    RUN_TEST(test_a_universal_joint_obeys_lagrange);
    RUN_TEST(test_a_spherical_joint_is_a_top_on_a_cart);
    RUN_TEST(test_a_planar_joint_is_a_puck_on_a_turntable);
    RUN_TEST(test_a_free_body_obeys_newton_and_euler);
    RUN_TEST(test_a_general_joint_of_one_screw_is_a_nut);
    RUN_TEST(test_a_general_joint_of_three_screws_is_a_crane);
    RUN_TEST(test_a_fixed_joint_makes_one_body_of_two);
    return UNITY_END();
}
