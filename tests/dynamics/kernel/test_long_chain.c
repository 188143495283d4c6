/*
 * Long chains keep their digits: forward dynamics against articulated bodies in long double, in
 * body axes with full 6x6 matrices (Featherstone 2008, table 7.1), which is another algorithm in
 * another precision.  Against quadruple precision it is 4e-15 off at 1000 links, and 5e-14 at
 * 10000; the same sweep in double is 2e-11 and 9e-11 off, so that these tests tell them apart.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/kernel/aba.h"
#include "tests/dynamics/form.h"
#include "unity.h"

void setUp(void)
{
}

void tearDown(void)
{
}

/* --- a chain with memory of its own -------------------------------------------------------- */

struct chain {
    int count;
    struct dyn_body_spec *spec;
    struct dyn_model *model;
    struct dyn_work *work;
    double *q, *v, *tau, *a;
    long double *truth;
};

static void *get(size_t size)
{
    const size_t round = (size + 63) / 64 * 64;
    void *mem = aligned_alloc(64, round);
    TEST_ASSERT_NOT_NULL(mem);
    memset(mem, 0, round);
    return mem;
}

/* Axes x, y, z in turn; links of 0.2 m and 1 kg, more or less, a little bent. */
static void random_link(struct dyn_body_spec *spec, int i)
{
    const double a = form_some(0.001, 0.004), b = form_some(0.001, 0.004);
    *spec = (struct dyn_body_spec){
        .parent = i - 1,
        .joint = DYN_JOINT_REVOLUTE,
        .axis = {i % 3 == 0, i % 3 == 1, i % 3 == 2},
        .place_xyz = {0.1 * tree_noise(), 0.1 * tree_noise(), 0.2 + 0.1 * tree_noise()},
        .place_quat = {1.0, 0.25 * tree_noise(), 0.25 * tree_noise(), 0.25 * tree_noise()},
    };
    double square = 0.0;
    for (int k = 0; k < 4; k++)
        square += spec->place_quat[k] * spec->place_quat[k];
    for (int k = 0; k < 4; k++)
        spec->place_quat[k] /= sqrt(square);
    form_lump(spec);
    spec->mass = form_some(0.5, 2.0);
    for (int k = 0; k < 3; k++) {
        spec->center[k] = 0.05 * tree_noise() + 0.1 * (k == 2);
        spec->inertia[k] = a + b + 0.002, spec->inertia[3 + k] = 0.25 * b * tree_noise();
    }
}

static struct chain make_chain(int count, uint64_t seed)
{
    const size_t n = (size_t)count;
    struct chain chain = {.count = count, .spec = get(n * sizeof *chain.spec)};
    int body = -1;
    tree_noise_seed(seed);
    for (int i = 0; i < count; i++)
        random_link(&chain.spec[i], i);
    TEST_ASSERT_NULL(dyn_model_problem(chain.spec, count, &body));
    chain.model = dyn_model_place(chain.spec, count, get(dyn_model_size(chain.spec, count)));
    chain.work = dyn_work_place(chain.model, get(dyn_work_size(chain.model)));
    chain.q = get(n * sizeof(double));
    chain.v = get(n * sizeof(double));
    chain.tau = get(n * sizeof(double));
    chain.a = get(n * sizeof(double));
    chain.truth = get(n * sizeof(long double));
    for (int i = 0; i < count; i++) {
        chain.q[i] = 3.0 * tree_noise();
        chain.v[i] = tree_noise();
        chain.tau[i] = 10.0 * tree_noise();
    }
    return chain;
}

static void drop_chain(struct chain *chain)
{
    void *const all[] = {chain->spec, chain->model, chain->work, chain->q,
                         chain->v,    chain->tau,   chain->a,    chain->truth};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        free(all[k]);
}

static void forward(struct chain *chain)
{
    const struct dyn_state state = {chain->q, chain->v};
    const struct dyn_input input = {.tau = chain->tau, .gravity = {0, 0, -9.81}};
    struct dyn_output output = {.a = chain->a};
    dyn_aba(chain->model, &state, &input, chain->work, &output);
}

/* --- the truth ----------------------------------------------------------------------------- */

typedef long double real;

struct six {
    real e[6];
};

struct link {
    real X[6][6], IA[6][6]; /* parent to body; articulated inertia */
    real S[3], D, u;        /* axis */
    struct six v, c, pA, U;
};

static void widen(int count, const double *from, real *to)
{
    for (int k = 0; k < count; k++)
        to[k] = (real)from[k];
}

static void multiply(real m[6][6], const struct six *a, struct six *out)
{
    struct six sum = {{0}};
    for (int r = 0; r < 6; r++)
        for (int k = 0; k < 6; k++)
            sum.e[r] += m[r][k] * a->e[k];
    *out = sum;
}

/* out += m' a */
static void add_multiply_t(real m[6][6], const struct six *a, struct six *out)
{
    for (int r = 0; r < 6; r++)
        for (int k = 0; k < 6; k++)
            out->e[r] += m[k][r] * a->e[k];
}

/* out += X' m X */
static void add_congruence(real X[6][6], real m[6][6], real out[6][6])
{
    real mX[6][6] = {{0}};
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 6; c++)
            for (int k = 0; k < 6; k++)
                mX[r][c] += m[r][k] * X[k][c];
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 6; c++)
            for (int k = 0; k < 6; k++)
                out[r][c] += X[k][r] * mX[k][c];
}

static void add_cross(real k, const real a[3], const real b[3], real out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] += k * (a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3]);
}

/* R = 1 + 2 w u x + 2 u x u x: body to parent, column by column into E's rows. */
static void quat_columns(const real q[4], real E[3][3])
{
    const real n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    for (int c = 0; c < 3; c++) {
        const real unit[3] = {c == 0, c == 1, c == 2};
        real once[3] = {0}, twice[3] = {0};
        add_cross(1, q + 1, unit, once);
        add_cross(1, q + 1, once, twice);
        for (int k = 0; k < 3; k++)
            E[c][k] = unit[k] + 2 * (q[0] * once[k] + twice[k]) / n;
    }
}

/* X = [ E  0 ; -E r x  E ] */
static void place_link(const struct dyn_body_spec *spec, real angle, struct link *link)
{
    const real half = angle / 2;
    real place[4], turn[4] = {cosl(half)}, both[4], E[3][3], at[3];
    widen(4, spec->place_quat, place);
    widen(3, spec->place_xyz, at);
    widen(3, spec->axis, link->S);
    for (int k = 0; k < 3; k++)
        turn[1 + k] = sinl(half) * link->S[k];
    both[0] = place[0] * turn[0];
    for (int k = 1; k < 4; k++) {
        both[0] -= place[k] * turn[k];
        both[k] = place[0] * turn[k] + turn[0] * place[k];
    }
    add_cross(1, place + 1, turn + 1, both + 1);
    quat_columns(both, E);
    for (int r = 0; r < 3; r++) {
        real moved[3] = {0};
        add_cross(-1, E[r], at, moved);
        for (int c = 0; c < 3; c++) {
            link->X[r][c] = link->X[3 + r][3 + c] = E[r][c];
            link->X[3 + r][c] = moved[c];
        }
    }
}

static void load_inertia(const struct dyn_body_spec *spec, struct link *link)
{
    real s[6], c[3];
    widen(6, spec->inertia, s);
    widen(3, spec->center, c);
    const real m = (real)spec->mass;
    const real I[3][3] = {{s[0], s[3], s[4]}, {s[3], s[1], s[5]}, {s[4], s[5], s[2]}};
    const real tilde[3][3] = {{0, -c[2], c[1]}, {c[2], 0, -c[0]}, {-c[1], c[0], 0}};
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) {
            link->IA[r][k] = I[r][k];
            for (int i = 0; i < 3; i++)
                link->IA[r][k] += m * tilde[r][i] * tilde[k][i];
            link->IA[r][3 + k] = m * tilde[r][k];
            link->IA[3 + r][k] = -m * tilde[r][k];
            link->IA[3 + r][3 + k] = m * (r == k);
        }
}

/* c = v x S rate;  pA = v x* I v */
static void move_link(const struct six *parent, real rate, struct link *link)
{
    struct six h;
    real turn[3] = {rate * link->S[0], rate * link->S[1], rate * link->S[2]};
    multiply(link->X, parent, &link->v);
    for (int k = 0; k < 3; k++)
        link->v.e[k] += turn[k];
    add_cross(1, link->v.e, turn, link->c.e);
    add_cross(1, link->v.e + 3, turn, link->c.e + 3);
    multiply(link->IA, &link->v, &h);
    add_cross(1, link->v.e, h.e, link->pA.e);
    add_cross(1, link->v.e + 3, h.e + 3, link->pA.e);
    add_cross(1, link->v.e, h.e + 3, link->pA.e + 3);
}

/* Ia = IA - U U' / D,  pa = pA + Ia c + U u / D, handed to the parent. */
static void fold_link(real tau, struct link *link, struct link *parent)
{
    struct six pa;
    link->D = 0, link->u = tau;
    for (int r = 0; r < 6; r++) {
        link->U.e[r] = 0;
        for (int k = 0; k < 3; k++)
            link->U.e[r] += link->IA[r][k] * link->S[k];
    }
    for (int k = 0; k < 3; k++) {
        link->D += link->S[k] * link->U.e[k];
        link->u -= link->S[k] * link->pA.e[k];
    }
    if (parent == NULL)
        return;
    for (int r = 0; r < 6; r++)
        for (int k = 0; k < 6; k++)
            link->IA[r][k] -= link->U.e[r] * link->U.e[k] / link->D;
    multiply(link->IA, &link->c, &pa);
    for (int k = 0; k < 6; k++)
        pa.e[k] += link->pA.e[k] + link->U.e[k] * link->u / link->D;
    add_congruence(link->X, link->IA, parent->IA);
    add_multiply_t(link->X, &pa, &parent->pA);
}

static void take_truth(struct chain *chain)
{
    const int n = chain->count;
    struct link *links = get((size_t)n * sizeof *links);
    struct six a = {{0, 0, 0, 0, 0, (real)9.81}}, still = {{0}};
    for (int i = 0; i < n; i++) {
        place_link(&chain->spec[i], (real)chain->q[i], &links[i]);
        load_inertia(&chain->spec[i], &links[i]);
        move_link(i == 0 ? &still : &links[i - 1].v, (real)chain->v[i], &links[i]);
    }
    for (int i = n - 1; i >= 0; i--)
        fold_link((real)chain->tau[i], &links[i], i == 0 ? NULL : &links[i - 1]);
    for (int i = 0; i < n; i++) {
        struct link *link = &links[i];
        real sum = link->u;
        multiply(link->X, &a, &a);
        for (int k = 0; k < 6; k++) {
            a.e[k] += link->c.e[k];
            sum -= link->U.e[k] * a.e[k];
        }
        chain->truth[i] = sum / link->D;
        for (int k = 0; k < 3; k++)
            a.e[k] += link->S[k] * chain->truth[i];
    }
    free(links);
}

/* --- tests --------------------------------------------------------------------------------- */

/* |a - truth| / |truth|, largest entries. */
static double error_of(const struct chain *chain)
{
    real size = 0, error = 0;
    for (int i = 0; i < chain->count; i++) {
        TEST_ASSERT_TRUE(isfinite(chain->a[i]));
        size = fmaxl(size, fabsl(chain->truth[i]));
        error = fmaxl(error, fabsl((real)chain->a[i] - chain->truth[i]));
    }
    return (double)(error / size);
}

/* The worst of so many chains on each instruction set that this processor runs. */
static double worst_error(int count, int seeds)
{
    double worst[3] = {0}, all = 0.0;
    for (int seed = 1; seed <= seeds; seed++) {
        struct chain chain = make_chain(count, (uint64_t)seed);
        take_truth(&chain);
        for (int isa = DYN_ISA_SSE2; isa <= DYN_ISA_AVX512; isa++)
            if (dyn_isa_runs((enum dyn_isa)isa)) {
                dyn_model_use_isa(chain.model, (enum dyn_isa)isa);
                forward(&chain);
                worst[isa] = fmax(worst[isa], error_of(&chain));
            }
        drop_chain(&chain);
    }
    for (int isa = DYN_ISA_SSE2; isa <= DYN_ISA_AVX512; isa++)
        if (dyn_isa_runs((enum dyn_isa)isa)) {
            printf("chain%d %s: worst relative error of %d chains %.1e\n", count,
                   dyn_isa_name((enum dyn_isa)isa), seeds, worst[isa]);
            all = fmax(all, worst[isa]);
        }
    return all;
}

static void test_a_chain_of_100_keeps_13_digits(void)
{
    TEST_ASSERT_DOUBLE_WITHIN(1e-13, 0.0, worst_error(100, 40));
}

static void test_a_chain_of_1000_keeps_12_digits(void)
{
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.0, worst_error(1000, 20));
}

static void test_a_chain_of_10000_keeps_11_digits(void)
{
    TEST_ASSERT_DOUBLE_WITHIN(1e-11, 0.0, worst_error(10000, 2));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_chain_of_100_keeps_13_digits);
    RUN_TEST(test_a_chain_of_1000_keeps_12_digits);
    RUN_TEST(test_a_chain_of_10000_keeps_11_digits);
    return UNITY_END();
}
