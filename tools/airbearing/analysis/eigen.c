#include "tools/airbearing/analysis/eigen.h"

#include <complex.h>
#include <dlfcn.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rt/check.h"

/*
 * LAPACK is loaded here and not with the program: a multi-threaded BLAS starts its threads when
 * it is loaded, and none of them may exist in a real-time run.
 */
struct lapack {
    __typeof__(&LAPACKE_dpotrf) dpotrf;
    __typeof__(&LAPACKE_dsyev) dsyev;
    __typeof__(&LAPACKE_dgesvd) dgesvd;
    __typeof__(&LAPACKE_dgeev) dgeev;
};

static const char failed[] = "LAPACK did not converge; check the point";

static const char *load_lapack(struct lapack *lapack)
{
    static const char *const names[] = {"LAPACKE_dpotrf", "LAPACKE_dsyev", "LAPACKE_dgesvd",
                                        "LAPACKE_dgeev"};
    void *const places[] = {&lapack->dpotrf, &lapack->dsyev, &lapack->dgesvd, &lapack->dgeev};
    void *library = dlopen("liblapacke.so.3", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return "LAPACK is missing; install liblapacke";
    for (int k = 0; k < 4; k++) {
        void *symbol = dlsym(library, names[k]);
        if (symbol == NULL)
            return "this LAPACK is not complete; install liblapacke";
        memcpy(places[k], &symbol, sizeof symbol);
    }
    return NULL;
}

static double *alloc_matrix(size_t rows, size_t columns)
{
    double *matrix = calloc(rows * columns + 1, sizeof *matrix);
    RT_CHECK(matrix != NULL);
    return matrix;
}

static double largest(const double *list, size_t count)
{
    double most = 0.0;
    for (size_t k = 0; k < count; k++)
        most = fmax(most, fabs(list[k]));
    return most;
}

/* CMPLX() of the standard, which some compilers lack. */
static double complex number(double re, double im)
{
    return re + im * (double complex)_Complex_I;
}

/* ---- coordinates --------------------------------------------------------------------------- */

/* X = X L^-T */
static void divide_columns(size_t n, const double *L, double *X)
{
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < i; j++)
                X[r * n + i] -= L[i * n + j] * X[r * n + j];
            X[r * n + i] /= L[i * n + i];
        }
}

/* X = L^-1 X L^-T */
static void normalise(size_t n, const double *L, double *X)
{
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < n; c++) {
            for (size_t j = 0; j < i; j++)
                X[i * n + c] -= L[i * n + j] * X[j * n + c];
            X[i * n + c] /= L[i * n + i];
        }
    divide_columns(n, L, X);
}

/* X = L' X L^-T */
static void change_basis(size_t n, const double *L, double *X)
{
    for (size_t i = 0; i < n; i++) /* row i of L' starts at column i, so only old values are read */
        for (size_t c = 0; c < n; c++) {
            double sum = 0.0;
            for (size_t j = i; j < n; j++)
                sum += L[j * n + i] * X[j * n + c];
            X[i * n + c] = sum;
        }
    divide_columns(n, L, X);
}

/* L^-T z into a shape whose largest component is 1 */
static double *shape_of(size_t n, const double *L, double complex *z)
{
    double *shape = alloc_matrix(n, 2);
    size_t most = 0;
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++)
            z[i] -= L[j * n + i] * z[j];
        z[i] /= L[i * n + i];
    }
    for (size_t i = 1; i < n; i++)
        most = cabs(z[i]) > cabs(z[most]) ? i : most;
    for (size_t i = 0; i < n; i++) {
        const double complex part = z[i] / z[most];
        shape[2 * i] = creal(part);
        shape[2 * i + 1] = cimag(part);
    }
    return shape;
}

static void add_mode(struct eigen *eigen, struct eigen_mode mode)
{
    eigen->modes[eigen->mode_count++] = mode;
}

/* Diagonal entry i of M^-1: the square of column i of L^-1. */
static double inverse_entry(size_t n, const double *L, size_t i)
{
    double *y = alloc_matrix(n, 1), square = 0.0;
    for (size_t r = i; r < n; r++) {
        y[r] = r == i ? 1.0 : 0.0;
        for (size_t c = i; c < r; c++)
            y[r] -= L[r * n + c] * y[c];
        y[r] /= L[r * n + r];
        square += y[r] * y[r];
    }
    free(y);
    return square;
}

/* 1/s^2: the largest number that contributes to K, each over the inertia that it moves. */
static double scale_of(const struct eigen_problem *problem)
{
    const size_t n = (size_t)problem->count;
    double most = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double force = fmax(problem->force[i], fabs(problem->K[i * n + i]));
        most = fmax(most, force * inverse_entry(n, problem->M, i));
    }
    return most;
}

/* ---- symmetric ----------------------------------------------------------------------------- */

static bool is_symmetric(const struct eigen_problem *problem, double scale)
{
    const size_t n = (size_t)problem->count;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (fabs(problem->K[i * n + j] - problem->K[j * n + i]) > 1e-12 * scale)
                return false;
    return largest(problem->C, n * n) == 0.0 && largest(problem->W, n * n) == 0.0;
}

/* K = Z diag(k) Z': sqrt(-k) is the eigenvalue. */
static const char *solve_symmetric(const struct lapack *lapack, struct eigen_problem *problem,
                                   double scale, struct eigen *eigen)
{
    const int n = problem->count;
    const double tolerance = 64.0 * n * DBL_EPSILON * scale;
    double *stiffness = alloc_matrix((size_t)n, 1);
    double complex *z = (double complex *)alloc_matrix((size_t)n, 2);
    const int status = lapack->dsyev(LAPACK_ROW_MAJOR, 'V', 'L', n, problem->K, n, stiffness);

    for (int m = 0; status == 0 && m < n; m++) {
        const double k = stiffness[m], rate = sqrt(fabs(k));
        if (fabs(k) <= tolerance) {
            eigen->motions++;
            eigen->zeros += 2;
            continue;
        }
        for (int twice = 0; twice < (k < 0.0 ? 2 : 1); twice++) {
            for (int i = 0; i < n; i++)
                z[i] = problem->K[i * n + m];
            add_mode(eigen, (struct eigen_mode){
                                .re = k < 0.0 ? (twice ? -rate : rate) : 0.0,
                                .im = k < 0.0 ? 0.0 : rate,
                                .doubt = tolerance / rate,
                                .shape = shape_of((size_t)n, problem->M, z),
                            });
        }
    }
    free(stiffness);
    free(z);
    return status == 0 ? NULL : failed;
}

/* ---- general ------------------------------------------------------------------------------- */

/* The state matrix T = Q' A Q, upper triangular with a zero diagonal in its first `zeros`.
 * Rounding moves these towards the slowest of the others by no more than `blur`. */
struct staircase {
    int size, zeros;
    double *T, *Q;
    double blur;
};

/* T = [W 1; -K -C], time in units of 1 / rate */
static void begin_stairs(const struct eigen_problem *problem, double rate, struct staircase *stairs)
{
    const size_t n = (size_t)problem->count, size = 2 * n;
    *stairs = (struct staircase){
        .size = (int)size, .T = alloc_matrix(size, size), .Q = alloc_matrix(size, size)};
    for (size_t i = 0; i < size; i++)
        stairs->Q[i * size + i] = 1.0;
    for (size_t i = 0; i < n; i++) {
        stairs->T[i * size + n + i] = 1.0;
        for (size_t j = 0; j < n; j++) {
            stairs->T[i * size + j] = problem->W[i * n + j] / rate;
            stairs->T[(n + i) * size + j] = -problem->K[i * n + j] / (rate * rate);
            stairs->T[(n + i) * size + n + j] = -problem->C[i * n + j] / rate;
        }
    }
}

/* X V into the columns from `from` on; rows of Vt are the columns of V, the last first. */
static void turn_columns(double *X, size_t rows, size_t size, size_t from, const double *Vt)
{
    const size_t m = size - from;
    double *row = alloc_matrix(m, 1);
    for (size_t r = 0; r < rows; r++) {
        double *x = X + r * size + from;
        memcpy(row, x, m * sizeof *row);
        for (size_t c = 0; c < m; c++) {
            x[c] = 0.0;
            for (size_t k = 0; k < m; k++)
                x[c] += row[k] * Vt[(m - 1 - c) * m + k];
        }
    }
    free(row);
}

/* V' X of the rows from `from` on, in the same order. */
static void turn_rows(double *X, size_t size, size_t from, const double *Vt)
{
    const size_t m = size - from;
    double *column = alloc_matrix(m, 1);
    for (size_t c = from; c < size; c++) {
        for (size_t k = 0; k < m; k++)
            column[k] = X[(from + k) * size + c];
        for (size_t r = 0; r < m; r++) {
            double sum = 0.0;
            for (size_t k = 0; k < m; k++)
                sum += Vt[(m - 1 - r) * m + k] * column[k];
            X[(from + r) * size + c] = sum;
        }
    }
    free(column);
}

/* Move the null space of the rest to the front; *found is its dimension. */
static const char *deflate_null_space(const struct lapack *lapack, struct staircase *stairs,
                                      double floor, int *found)
{
    const size_t size = (size_t)stairs->size, from = (size_t)stairs->zeros, m = size - from;
    double *copy = alloc_matrix(m, m), *sigma = alloc_matrix(m, 1), *Vt = alloc_matrix(m, m),
           *spare = alloc_matrix(m, 1);
    const int left = (int)m;

    for (size_t r = 0; r < m; r++)
        memcpy(copy + r * m, stairs->T + (from + r) * size + from, m * sizeof *copy);
    const int status = lapack->dgesvd(LAPACK_ROW_MAJOR, 'N', 'A', left, left, copy, left, sigma,
                                      NULL, left, Vt, left, spare);
    const double tolerance = 64.0 * (double)size * DBL_EPSILON * fmax(sigma[0], floor);
    for (*found = 0; *found < left && sigma[left - 1 - *found] <= tolerance;)
        ++*found;
    if (status == 0 && *found > 0) {
        if (*found < left)
            stairs->blur = fmax(stairs->blur, tolerance / sigma[left - 1 - *found]);
        turn_columns(stairs->T, size, size, from, Vt);
        turn_rows(stairs->T, size, from, Vt);
        turn_columns(stairs->Q, size, size, from, Vt);
        for (size_t r = from; r < size; r++)
            memset(stairs->T + r * size + from, 0, (size_t)*found * sizeof(double));
        stairs->zeros += *found;
    }
    free(copy);
    free(sigma);
    free(Vt);
    free(spare);
    return status == 0 ? NULL : failed;
}

/* The number of coordinates that the zero eigenvalues can move: the rank of the positions in
 * their space.  The positions of a pure velocity are rounding errors, which are large when stiff
 * and soft modes are mixed. */
static const char *count_motions(const struct lapack *lapack, const struct staircase *stairs,
                                 int *motions)
{
    const size_t size = (size_t)stairs->size, n = size / 2, zeros = (size_t)stairs->zeros;
    const size_t rank_max = n < zeros ? n : zeros;
    double *part = alloc_matrix(n, zeros), *sigma = alloc_matrix(rank_max, 1),
           *spare = alloc_matrix(rank_max, 1);
    for (size_t r = 0; r < n; r++)
        memcpy(part + r * zeros, stairs->Q + r * size, zeros * sizeof *part);
    const int status = zeros == 0
                           ? 0
                           : lapack->dgesvd(LAPACK_ROW_MAJOR, 'N', 'N', (int)n, (int)zeros, part,
                                            (int)zeros, sigma, NULL, 1, NULL, 1, spare);
    const double least = fmin(0.5, fmax(sqrt(DBL_EPSILON), stairs->blur));
    for (*motions = 0; *motions < (int)rank_max && sigma[*motions] > least;)
        ++*motions;
    free(part);
    free(sigma);
    free(spare);
    return status == 0 ? NULL : failed;
}

/* The positions of the eigenvector whose last part is y: T y = value y from below, then Q y. */
static void complete(const struct staircase *stairs, double complex value, double complex *y,
                     double complex *z)
{
    const size_t size = (size_t)stairs->size;
    for (size_t i = (size_t)stairs->zeros; i-- > 0;) {
        y[i] = 0.0;
        for (size_t j = i + 1; j < size; j++)
            y[i] += stairs->T[i * size + j] * y[j] / value;
    }
    for (size_t i = 0; i < size / 2; i++) {
        z[i] = 0.0;
        for (size_t j = 0; j < size; j++)
            z[i] += stairs->Q[i * size + j] * y[j];
    }
}

/* Eigenvector k of dgeev; a pair has it in two columns. */
static void pick_vector(const double *V, size_t m, const double *im, size_t k, double complex *y)
{
    for (size_t i = 0; i < m; i++)
        y[i] = number(V[i * m + k], im[k] > 0.0 ? V[i * m + k + 1] : 0.0);
}

/* The condition number of an eigenvalue: 1 / |x'y| of the left and right unit vectors.  It is
 * unbounded for a double eigenvalue, e.g. of a critically damped joint. */
static double sensitivity(size_t m, const double complex *x, const double complex *y)
{
    double complex product = 0.0;
    double xx = 0.0, yy = 0.0;
    for (size_t i = 0; i < m; i++) {
        product += conj(x[i]) * y[i];
        xx += creal(x[i] * conj(x[i]));
        yy += creal(y[i] * conj(y[i]));
    }
    return sqrt(xx * yy) / fmax(cabs(product), DBL_MIN);
}

struct rest {
    size_t size;
    double *T, *re, *im, *left, *right; /* vectors in columns */
};

static struct rest take_rest(const struct staircase *stairs)
{
    const size_t size = (size_t)stairs->size, from = (size_t)stairs->zeros, m = size - from;
    const struct rest rest = {m,
                              alloc_matrix(m, m),
                              alloc_matrix(m, 1),
                              alloc_matrix(m, 1),
                              alloc_matrix(m, m),
                              alloc_matrix(m, m)};
    for (size_t r = 0; r < m; r++)
        memcpy(rest.T + r * m, stairs->T + (from + r) * size + from, m * sizeof(double));
    return rest;
}

static void free_rest(struct rest *rest)
{
    free(rest->T);
    free(rest->re);
    free(rest->im);
    free(rest->left);
    free(rest->right);
}

/* Rounding errors as a change of T: those of the staircase and dgeev, and those of K. */
static const char *solve_rest(const struct lapack *lapack, const struct staircase *stairs,
                              const double *L, double rate, double rounding, struct eigen *eigen)
{
    const size_t size = (size_t)stairs->size, from = (size_t)stairs->zeros;
    struct rest rest = take_rest(stairs);
    const size_t m = rest.size;
    const int count = (int)m;
    double complex *x = (double complex *)alloc_matrix(size, 2),
                   *y = (double complex *)alloc_matrix(size, 2);
    double complex *z = (double complex *)alloc_matrix(size, 2);
    const int status = count == 0
                           ? 0
                           : lapack->dgeev(LAPACK_ROW_MAJOR, 'V', 'V', count, rest.T, count,
                                           rest.re, rest.im, rest.left, count, rest.right, count);

    for (size_t k = 0; status == 0 && k < m; k++) {
        const double complex value = number(rest.re[k], rest.im[k]);
        if (cimag(value) < 0.0)
            continue;
        pick_vector(rest.left, m, rest.im, k, x);
        pick_vector(rest.right, m, rest.im, k, y + from);
        /* A double eigenvalue moves by the square root of the change of its matrix, a fourfold
         * one by the fourth root. */
        const double doubt = fmin(rounding * sensitivity(m, x, y + from), pow(rounding, 0.25));
        if (cabs(value) <= doubt) {
            eigen->zeros += cimag(value) > 0.0 ? 2 : 1;
            continue;
        }
        complete(stairs, value, y, z);
        add_mode(eigen, (struct eigen_mode){rate * creal(value), rate * cimag(value), rate * doubt,
                                            shape_of(size / 2, L, z)});
    }
    free_rest(&rest);
    free(x);
    free(y);
    free(z);
    return status == 0 ? NULL : failed;
}

static const char *solve_general(const struct lapack *lapack, struct eigen_problem *problem,
                                 double scale, struct eigen *eigen)
{
    const size_t entries = (size_t)problem->count * (size_t)problem->count;
    const double fast = fmax(sqrt(largest(problem->K, entries)),
                             fmax(largest(problem->W, entries), largest(problem->C, entries)));
    const double rate = fast > 0.0 ? fast : 1.0;
    struct staircase stairs;
    const char *wrong = NULL;

    begin_stairs(problem, rate, &stairs);
    for (int found = 1; wrong == NULL && found > 0 && stairs.zeros < stairs.size;)
        wrong = deflate_null_space(lapack, &stairs, scale / (rate * rate), &found);
    eigen->zeros = stairs.zeros;
    if (wrong == NULL)
        wrong = count_motions(lapack, &stairs, &eigen->motions);
    if (wrong == NULL)
        wrong = solve_rest(lapack, &stairs, problem->M, rate,
                           stairs.size * DBL_EPSILON * fmax(1.0, scale / (rate * rate)), eigen);
    free(stairs.T);
    free(stairs.Q);
    return wrong;
}

/* ---- both ---------------------------------------------------------------------------------- */

static int by_speed(const void *a, const void *b)
{
    const struct eigen_mode *left = a, *right = b;
    const double x = hypot(left->re, left->im), y = hypot(right->re, right->im);
    return x != y ? (x > y) - (x < y) : (left->re > right->re) - (left->re < right->re);
}

const char *eigen_solve(struct eigen_problem *problem, struct eigen *eigen)
{
    const int n = problem->count;
    const size_t entries = (size_t)n * (size_t)n;
    struct lapack lapack;
    *eigen = (struct eigen){.modes = calloc(2 * (size_t)n + 1, sizeof *eigen->modes)};
    RT_CHECK(eigen->modes != NULL);
    if (n == 0)
        return NULL;
    const char *wrong = load_lapack(&lapack);
    if (wrong != NULL)
        return wrong;
    if (lapack.dpotrf(LAPACK_ROW_MAJOR, 'L', n, problem->M, n) != 0)
        return "the mass matrix is not positive";
    const double made_of = scale_of(problem);
    normalise((size_t)n, problem->M, problem->K);
    normalise((size_t)n, problem->M, problem->C);
    change_basis((size_t)n, problem->M, problem->W);
    const double scale = fmax(largest(problem->K, entries), made_of);
    wrong = (is_symmetric(problem, scale) ? solve_symmetric : solve_general)(&lapack, problem,
                                                                             scale, eigen);
    qsort(eigen->modes, (size_t)eigen->mode_count, sizeof *eigen->modes, by_speed);
    return wrong;
}

void eigen_free(struct eigen *eigen)
{
    for (int k = 0; k < eigen->mode_count; k++)
        free(eigen->modes[k].shape);
    free(eigen->modes);
}
