#include "dynamics/flex/modal.h"

#include <math.h>
#include <string.h>

#include "dynamics/check.h"
#include "dynamics/math/cholesky.h"
#include "dynamics/math/principal_axes.h"
#include "dynamics/math/spatial.h"

/* --- integrals ----------------------------------------------------------------------------- */

/* The same numbers as the read-only pointers of dyn_flex. */
struct sums {
    double *P, *L, *S, *N, *P2, *L2, *M;
};

size_t dyn_modal_storage_count(int modes)
{
    const size_t n = (size_t)modes;
    return n * (3 + 9 + 3) + n * n * (9 + 3 + 9 + 1);
}

static struct sums place_sums(int modes, double *room)
{
    const size_t n = (size_t)modes;
    struct sums sums;
    sums.P = room;
    sums.L = sums.P + 3 * n;
    sums.S = sums.L + 9 * n;
    sums.N = sums.S + 3 * n;
    sums.P2 = sums.N + 9 * n * n;
    sums.L2 = sums.P2 + 3 * n * n;
    sums.M = sums.L2 + 9 * n * n;
    return sums;
}

/* out += k a */
static void add_scaled3(double k, const double a[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] += k * a[i];
}

/* out += k a b', by rows */
static void add_outer(double k, const double a[3], const double b[3], double out[9])
{
    for (int i = 0; i < 3; i++)
        add_scaled3(k * a[i], b, out + 3 * i);
}

static double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void add_first_order(const struct dyn_station *s, int modes, struct sums *sums)
{
    for (int p = 0; p < modes; p++) {
        add_scaled3(s->mass, s->psi + 3 * p, sums->P + 3 * p);
        add_outer(s->mass, s->psi + 3 * p, s->r, sums->L + 9 * p);
    }
    for (int p = 0; p < modes; p++)
        for (int q = 0; q < modes; q++) {
            const ptrdiff_t pq = (ptrdiff_t)p * modes + q;
            add_outer(s->mass, s->psi + 3 * p, s->psi + 3 * q, sums->N + 9 * pq);
            sums->M[pq] += s->mass * dot3(s->psi + 3 * p, s->psi + 3 * q);
        }
}

static void add_turning(const struct dyn_station *s, int modes, struct sums *sums)
{
    const struct dyn_sym3 I = dyn_sym3_load(s->inertia);
    for (int p = 0; p < modes; p++) {
        double spin[3]; /* I theta_p */
        dyn_vec3_store(dyn_sym3_mul(&I, dyn_vec3_load(s->theta + 3 * p)), spin);
        add_scaled3(1.0, spin, sums->S + 3 * p);
        for (int q = 0; q < modes; q++)
            sums->M[(ptrdiff_t)p * modes + q] += dot3(s->theta + 3 * q, spin);
    }
}

static void add_second_order(const struct dyn_station *s, int modes, struct sums *sums)
{
    for (ptrdiff_t pq = 0; pq < (ptrdiff_t)modes * modes; pq++) {
        add_scaled3(s->mass, s->psi2 + 3 * pq, sums->P2 + 3 * pq);
        add_outer(s->mass, s->psi2 + 3 * pq, s->r, sums->L2 + 9 * pq);
    }
}

/* Mass and centre first, so that the inertia about the centre is no difference of large numbers. */
static void add_rigid(const struct dyn_station *stations, int count, struct dyn_modal *modal)
{
    struct dyn_vec3 moment = {0.0, 0.0, 0.0};
    modal->mass = 0.0;
    for (int k = 0; k < count; k++) {
        const struct dyn_station *s = &stations[k];
        modal->mass += s->mass;
        moment = dyn_add(moment, dyn_scale(s->mass, dyn_vec3_load(s->r)));
    }
    const struct dyn_vec3 center =
        modal->mass > 0.0 ? dyn_scale(1.0 / modal->mass, moment) : (struct dyn_vec3){0.0, 0.0, 0.0};

    struct dyn_sym3 I = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (int k = 0; k < count; k++) {
        const struct dyn_station *s = &stations[k];
        const struct dyn_sym3 own = dyn_sym3_load(s->inertia);
        const struct dyn_vec3 d = dyn_sub(dyn_vec3_load(s->r), center);
        const double square = s->mass * dyn_dot(d, d);
        I = dyn_sym3_add(&I, &own);
        I = dyn_sym3_add_square(&I, -s->mass, d);
        I.xx += square, I.yy += square, I.zz += square;
    }
    dyn_vec3_store(center, modal->center);
    const double inertia[6] = {I.xx, I.yy, I.zz, I.xy, I.xz, I.yz};
    memcpy(modal->inertia, inertia, sizeof inertia);
}

void dyn_modal_integrate(const struct dyn_station *stations, int count, int modes, double *room,
                         struct dyn_modal *modal)
{
    DYN_CHECK(modes >= 1 && modes <= DYN_MODES_MAX);
    struct sums sums = place_sums(modes, room);
    int curved = 0; /* any psi2 at all */

    memset(room, 0, dyn_modal_storage_count(modes) * sizeof *room);
    for (int k = 0; k < count; k++) {
        const struct dyn_station *s = &stations[k];
        add_first_order(s, modes, &sums);
        if (s->theta != NULL)
            add_turning(s, modes, &sums);
        if (s->psi2 != NULL) {
            add_second_order(s, modes, &sums);
            curved = 1;
        }
    }
    add_rigid(stations, count, modal);

    struct dyn_flex *flex = &modal->flex;
    flex->modes = modes;
    flex->P = sums.P, flex->L = sums.L, flex->S = sums.S, flex->N = sums.N, flex->M = sums.M;
    flex->P2 = curved ? sums.P2 : NULL;
    flex->L2 = curved ? sums.L2 : NULL;
}

/* --- clamping ------------------------------------------------------------------------------ */

static struct dyn_vec3 load_vec3(const double *table, ptrdiff_t row)
{
    return table == NULL ? (struct dyn_vec3){0.0, 0.0, 0.0} : dyn_vec3_load(table + 3 * row);
}

static void subtract_vec3(struct dyn_vec3 a, double *row)
{
    dyn_vec3_store(dyn_sub(dyn_vec3_load(row), a), row);
}

/* The root's part of psi2 of modes p and q at d from it. */
static struct dyn_vec3 root_psi2(const struct dyn_node *root, int modes, int p, int q,
                                 struct dyn_vec3 d, const double *psi)
{
    const ptrdiff_t pq = (ptrdiff_t)p * modes + q;
    const struct dyn_vec3 turn_p = load_vec3(root->theta, p), turn_q = load_vec3(root->theta, q);
    const struct dyn_vec3 move_p = dyn_sub(load_vec3(psi, p), load_vec3(root->psi, p));
    const struct dyn_vec3 move_q = dyn_sub(load_vec3(psi, q), load_vec3(root->psi, q));
    const struct dyn_vec3 own =
        dyn_add(load_vec3(root->psi2, pq), dyn_cross(load_vec3(root->theta2, pq), d));
    const struct dyn_vec3 mixed = dyn_add(dyn_cross(turn_p, move_q), dyn_cross(turn_q, move_p));
    const struct dyn_vec3 twice =
        dyn_add(dyn_cross(turn_p, dyn_cross(turn_q, d)), dyn_cross(turn_q, dyn_cross(turn_p, d)));
    return dyn_sub(dyn_add(own, mixed), dyn_scale(0.5, twice));
}

/* The root's part of theta2. */
static struct dyn_vec3 root_theta2(const struct dyn_node *root, int modes, int p, int q,
                                   const double *theta)
{
    const struct dyn_vec3 mixed =
        dyn_add(dyn_cross(load_vec3(root->theta, p), load_vec3(theta, q)),
                dyn_cross(load_vec3(root->theta, q), load_vec3(theta, p)));
    return dyn_add(load_vec3(root->theta2, (ptrdiff_t)p * modes + q), dyn_scale(0.5, mixed));
}

/* Second order first: it needs the shapes as they were. */
void dyn_modal_clamp(const struct dyn_node *root, int modes, const double r[3], double *psi,
                     double *theta, double *psi2, double *theta2)
{
    const struct dyn_vec3 d = dyn_sub(dyn_vec3_load(r), dyn_vec3_load(root->r));
    for (int p = 0; p < modes; p++)
        for (int q = 0; q < modes; q++) {
            const ptrdiff_t pq = (ptrdiff_t)p * modes + q;
            if (psi2 != NULL)
                subtract_vec3(root_psi2(root, modes, p, q, d, psi), psi2 + 3 * pq);
            if (theta2 != NULL)
                subtract_vec3(root_theta2(root, modes, p, q, theta), theta2 + 3 * pq);
        }
    for (int p = 0; p < modes; p++) {
        const struct dyn_vec3 turn = load_vec3(root->theta, p);
        subtract_vec3(dyn_add(load_vec3(root->psi, p), dyn_cross(turn, d)), psi + 3 * p);
        if (theta != NULL)
            subtract_vec3(turn, theta + 3 * p);
    }
}

/* --- effective mass ------------------------------------------------------------------------ */

enum { DIRECTIONS = 6 }; /* three along the axes, three about the principal axes of the body */

/* The momentum of each mode in each direction, about the mass centre. */
static void modal_momenta(const struct dyn_flex *flex, struct dyn_vec3 center,
                          const struct dyn_principal *principal,
                          double direction[DIRECTIONS][DYN_MODES_MAX])
{
    for (int p = 0; p < flex->modes; p++) {
        const struct dyn_mat3 L = dyn_mat3_load(flex->L + 9 * (ptrdiff_t)p);
        const struct dyn_vec3 P = load_vec3(flex->P, p);
        const struct dyn_vec3 H =
            dyn_sub(dyn_add(dyn_axial(&L), load_vec3(flex->S, p)), dyn_cross(center, P));
        direction[0][p] = P.x, direction[1][p] = P.y, direction[2][p] = P.z;
        for (int k = 0; k < 3; k++)
            direction[3 + k][p] = dyn_dot(principal->axis[k], H);
    }
}

static double dot_modes(int modes, const double *a, const double *b)
{
    double sum = 0.0;
    for (int p = 0; p < modes; p++)
        sum += a[p] * b[p];
    return sum;
}

/* Greatest eigenvalue of a positive A.  Repeated squaring leaves only the part that belongs to
 * it. */
static double greatest_eigenvalue(double A[DIRECTIONS][DIRECTIONS])
{
    enum { SQUARINGS = 40 };
    double power[DIRECTIONS][DIRECTIONS], square[DIRECTIONS][DIRECTIONS], value = 0.0;
    memcpy(power, A, sizeof power);
    for (int step = 0; step < SQUARINGS; step++) {
        double trace = 0.0;
        for (int i = 0; i < DIRECTIONS; i++)
            trace += power[i][i];
        if (trace == 0.0)
            return 0.0;
        for (int i = 0; i < DIRECTIONS; i++)
            for (int j = 0; j < DIRECTIONS; j++) {
                square[i][j] = 0.0;
                for (int k = 0; k < DIRECTIONS; k++)
                    square[i][j] += power[i][k] / trace * (power[k][j] / trace);
            }
        memcpy(power, square, sizeof power);
    }
    double trace = 0.0;
    for (int i = 0; i < DIRECTIONS; i++) {
        trace += power[i][i];
        value += dot_modes(DIRECTIONS, A[i], power[i]);
    }
    return value / trace;
}

double dyn_modal_effective_mass(const struct dyn_flex *flex, double mass, const double center[3],
                                const double inertia[6], double *scratch)
{
    const int n = flex->modes;
    const struct dyn_vec3 c = dyn_vec3_load(center);
    const struct dyn_sym3 I = dyn_sym3_load(inertia);
    const struct dyn_principal principal = dyn_principal(&I);
    const double nothing = 1e-12 * (principal.moment[2] + mass * dyn_dot(c, c));
    double direction[DIRECTIONS][DYN_MODES_MAX], share[DIRECTIONS][DIRECTIONS];

    DYN_CHECK(n >= 1 && n <= DYN_MODES_MAX);
    memcpy(scratch, flex->M, sizeof *scratch * (size_t)n * (size_t)n);
    dyn_cholesky_factor(n, scratch);
    if (isnan(scratch[(ptrdiff_t)n * n - 1]))
        return (double)NAN;

    modal_momenta(flex, c, &principal, direction);
    for (int k = 0; k < DIRECTIONS; k++) {
        const double weight = k < 3 ? mass : principal.moment[k - 3];
        const double least = k < 3 ? 0.0 : nothing;
        dyn_cholesky_solve_lower(n, scratch, direction[k]);
        if (weight <= least && dot_modes(n, direction[k], direction[k]) > least)
            return (double)INFINITY;
        for (int p = 0; p < n; p++)
            direction[k][p] = weight <= least ? 0.0 : direction[k][p] / sqrt(weight);
    }
    for (int k = 0; k < DIRECTIONS; k++)
        for (int j = 0; j < DIRECTIONS; j++)
            share[k][j] = dot_modes(n, direction[k], direction[j]);
    return greatest_eigenvalue(share);
}
