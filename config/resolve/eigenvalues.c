#include "config/resolve/eigenvalues.h"

#include <float.h>
#include <math.h>

struct matrix {
    int n;
    double *a;
};

static double *at(const struct matrix *A, int row, int column)
{
    return &A->a[row * A->n + column];
}

static void swap(double *x, double *y)
{
    const double keep = *x;
    *x = *y;
    *y = keep;
}

/* ---- preparations -------------------------------------------------------------------------- */

/* Scale coordinate i by a power of two so that its row and column have about the same norm; false:
 * they had. */
static bool balance_coordinate(const struct matrix *A, int i)
{
    static const double RADIX = 2.0, WORTH = 0.95;
    double row = 0.0, column = 0.0, factor = 1.0;
    for (int j = 0; j < A->n; j++) {
        row += j != i ? fabs(*at(A, i, j)) : 0.0;
        column += j != i ? fabs(*at(A, j, i)) : 0.0;
    }
    if (row == 0.0 || column == 0.0)
        return false;
    const double sum = row + column;
    for (; column < row / RADIX && factor < 1e100; column *= RADIX * RADIX)
        factor *= RADIX;
    for (; column > row * RADIX && factor > 1e-100; column /= RADIX * RADIX)
        factor /= RADIX;
    if ((column + row) / factor >= WORTH * sum)
        return false;
    for (int j = 0; j < A->n; j++) {
        *at(A, i, j) /= factor;
        *at(A, j, i) *= factor;
    }
    return true;
}

static void balance(const struct matrix *A)
{
    enum { ROUNDS = 100 };
    bool better = true;
    for (int round = 0; round < ROUNDS && better; round++) {
        better = false;
        for (int i = 0; i < A->n; i++)
            better = balance_coordinate(A, i) || better;
    }
}

/* Reduce to zeros below the first subdiagonal. */
static void reduce(const struct matrix *A)
{
    for (int m = 1; m < A->n - 1; m++) {
        int pivot = m;
        for (int j = m; j < A->n; j++)
            if (fabs(*at(A, j, m - 1)) > fabs(*at(A, pivot, m - 1)))
                pivot = j;
        for (int j = m - 1; j < A->n && pivot != m; j++)
            swap(at(A, pivot, j), at(A, m, j));
        for (int j = 0; j < A->n && pivot != m; j++)
            swap(at(A, j, pivot), at(A, j, m));
        const double x = *at(A, m, m - 1);
        for (int i = m + 1; i < A->n && x != 0.0; i++) {
            const double y = *at(A, i, m - 1) / x;
            if (y == 0.0)
                continue;
            for (int j = m - 1; j < A->n; j++)
                *at(A, i, j) -= y * *at(A, m, j);
            for (int j = 0; j < A->n; j++)
                *at(A, j, m) += y * *at(A, j, i);
            *at(A, i, m - 1) = 0.0;
        }
    }
}

/* ---- QR ------------------------------------------------------------------------------------ */

/* The first row of the block that ends at `last`: after a subdiagonal that is only rounding. */
static int block_of(const struct matrix *A, int last, double norm)
{
    int l = last;
    for (; l > 0; l--) {
        double size = fabs(*at(A, l - 1, l - 1)) + fabs(*at(A, l, l));
        if (size == 0.0)
            size = norm;
        if (fabs(*at(A, l, l - 1)) <= DBL_EPSILON * size) {
            *at(A, l, l - 1) = 0.0;
            break;
        }
    }
    return l;
}

/* Eigenvalues of the last two rows of a block. */
static void take_pair(const struct matrix *A, int last, double shift, double *re, double *im)
{
    const double x = *at(A, last, last), y = *at(A, last - 1, last - 1);
    const double w = *at(A, last, last - 1) * *at(A, last - 1, last);
    const double p = 0.5 * (y - x), q = p * p + w, z = sqrt(fabs(q));
    if (q >= 0.0) {
        const double far = p + copysign(z, p);
        re[last - 1] = re[last] = x + shift + far;
        if (far != 0.0)
            re[last] = x + shift - w / far;
        im[last - 1] = im[last] = 0.0;
    } else {
        re[last - 1] = re[last] = x + shift + p;
        im[last - 1] = z;
        im[last] = -z;
    }
}

/* First column of the product of two shifts, scaled. */
struct bulge {
    double p, q, r;
};

struct shifts {
    double x, y, w;
};

/* The first row of the double step: after two subdiagonals whose product is small. */
static int begin_of(const struct matrix *A, int first, int last, const struct shifts *s,
                    struct bulge *b)
{
    int m = last - 2;
    for (;; m--) {
        const double z = *at(A, m, m), right = s->x - z, below = s->y - z;
        b->p = (right * below - s->w) / *at(A, m + 1, m) + *at(A, m, m + 1);
        b->q = *at(A, m + 1, m + 1) - z - right - below;
        b->r = *at(A, m + 2, m + 1);
        const double size = fabs(b->p) + fabs(b->q) + fabs(b->r);
        b->p /= size;
        b->q /= size;
        b->r /= size;
        if (m == first)
            return m;
        const double u = fabs(*at(A, m, m - 1)) * (fabs(b->q) + fabs(b->r));
        const double v =
            fabs(b->p) * (fabs(*at(A, m - 1, m - 1)) + fabs(z) + fabs(*at(A, m + 1, m + 1)));
        if (u <= DBL_EPSILON * v)
            return m;
    }
}

/* Reflect rows and columns k to k + 2 (k + 1 at the end of the block). */
static void reflect(const struct matrix *A, int k, int first, int last, const struct bulge *b,
                    double s)
{
    const bool three = k != last - 1;
    const double p = b->p + s, x = p / s, y = b->q / s, z = b->r / s;
    const double q = b->q / p, r = b->r / p;
    const int end = last < k + 3 ? last : k + 3;
    for (int j = k; j <= last; j++) {
        double sum = *at(A, k, j) + q * *at(A, k + 1, j);
        if (three) {
            sum += r * *at(A, k + 2, j);
            *at(A, k + 2, j) -= sum * z;
        }
        *at(A, k + 1, j) -= sum * y;
        *at(A, k, j) -= sum * x;
    }
    for (int i = first; i <= end; i++) {
        double sum = x * *at(A, i, k) + y * *at(A, i, k + 1);
        if (three) {
            sum += z * *at(A, i, k + 2);
            *at(A, i, k + 2) -= sum * r;
        }
        *at(A, i, k + 1) -= sum * q;
        *at(A, i, k) -= sum;
    }
}

static void double_step(const struct matrix *A, int first, int last, const struct shifts *shifts)
{
    struct bulge b;
    const int m = begin_of(A, first, last, shifts, &b);
    for (int i = m + 2; i <= last; i++) {
        *at(A, i, i - 2) = 0.0;
        if (i != m + 2)
            *at(A, i, i - 3) = 0.0;
    }
    for (int k = m; k <= last - 1; k++) {
        double size = 1.0;
        if (k != m) {
            b.p = *at(A, k, k - 1);
            b.q = *at(A, k + 1, k - 1);
            b.r = k != last - 1 ? *at(A, k + 2, k - 1) : 0.0;
            size = fabs(b.p) + fabs(b.q) + fabs(b.r);
            if (size == 0.0)
                continue;
            b.p /= size;
            b.q /= size;
            b.r /= size;
        }
        const double s = copysign(sqrt(b.p * b.p + b.q * b.q + b.r * b.r), b.p);
        if (s == 0.0)
            continue;
        if (k != m)
            *at(A, k, k - 1) = -s * size;
        else if (first != m)
            *at(A, k, k - 1) = -*at(A, k, k - 1);
        reflect(A, k, first, last, &b, s);
    }
}

static struct shifts shifts_of(const struct matrix *A, int last)
{
    return (struct shifts){*at(A, last, last), *at(A, last - 1, last - 1),
                           *at(A, last, last - 1) * *at(A, last - 1, last)};
}

/* From time to time use another shift, for a matrix on which the iteration cycles. */
static struct shifts odd_shifts(const struct matrix *A, int last, double *shift)
{
    const double x = *at(A, last, last);
    *shift += x;
    for (int i = 0; i <= last; i++)
        *at(A, i, i) -= x;
    const double s = fabs(*at(A, last, last - 1)) + fabs(*at(A, last - 1, last - 2));
    return (struct shifts){0.75 * s, 0.75 * s, -0.4375 * s * s};
}

static bool iterate(const struct matrix *A, double norm, double *re, double *im)
{
    enum { FRAME_STEPS_MAX = 60, ODD = 10 };
    double shift = 0.0;
    int steps = 0;
    for (int last = A->n - 1; last >= 0;) {
        const int first = block_of(A, last, norm);
        if (first == last) {
            re[last] = *at(A, last, last) + shift;
            im[last--] = 0.0;
            steps = 0;
            continue;
        }
        if (first == last - 1) {
            take_pair(A, last, shift, re, im);
            last -= 2;
            steps = 0;
            continue;
        }
        if (steps++ == FRAME_STEPS_MAX)
            return false;
        const struct shifts shifts =
            steps % ODD == 0 ? odd_shifts(A, last, &shift) : shifts_of(A, last);
        double_step(A, first, last, &shifts);
    }
    return true;
}

bool cfg_eigenvalues(int n, double *A, double *re, double *im)
{
    const struct matrix matrix = {n, A};
    double norm = 0.0;
    for (int k = 0; k < n * n; k++)
        if (!isfinite(A[k]))
            return false;
    balance(&matrix);
    reduce(&matrix);
    for (int i = 0; i < n; i++)
        for (int j = i > 0 ? i - 1 : 0; j < n; j++)
            norm += fabs(*at(&matrix, i, j));
    return iterate(&matrix, norm, re, im);
}
