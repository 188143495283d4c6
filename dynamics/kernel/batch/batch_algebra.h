/*
 * Vectors and articulated inertias of several states at once.  Private to the batch kernels, which
 * define `wide`.  Compiles as C and as C++, as batch_rigid.h does.  Tested by
 * tests/dynamics/kernel/batch/test_batch.c.
 */
#pragma once

/* Articulated inertia [ I H ; H' M ], its symmetric blocks as xx yy zz xy xz yz, and bias force. */
struct articulated {
    wide I[6], H[3][3], M[6];
    wide pa[3], pl[3];
};

/* ---- three-vectors ------------------------------------------------------------------------- */

/* sum += a x b */
WIDE_INLINE void add_cross(const wide a[3], const wide b[3], wide sum[3])
{
    sum[0] = sum[0] + a[1] * b[2] - a[2] * b[1];
    sum[1] = sum[1] + a[2] * b[0] - a[0] * b[2];
    sum[2] = sum[2] + a[0] * b[1] - a[1] * b[0];
}

WIDE_INLINE void cross(const wide a[3], const wide b[3], wide out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

WIDE_INLINE wide dot(const wide a[3], const wide b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* m a, with m symmetric. */
WIDE_INLINE void sym_mul(const wide m[6], const wide a[3], wide out[3])
{
    out[0] = m[0] * a[0] + m[3] * a[1] + m[4] * a[2];
    out[1] = m[3] * a[0] + m[1] * a[1] + m[5] * a[2];
    out[2] = m[4] * a[0] + m[5] * a[1] + m[2] * a[2];
}

WIDE_INLINE void splat3(const double a[3], wide out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = wide_splat(a[k]);
}

/* E a and E' a. */
WIDE_INLINE void rotate(wide E[3][3], const wide a[3], wide out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = dot(E[k], a);
}

WIDE_INLINE void rotate_back(wide E[3][3], const wide a[3], wide out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = E[0][k] * a[0] + E[1][k] * a[1] + E[2][k] * a[2];
}

/* ---- turns --------------------------------------------------------------------------------- */

/* Components on axes that are turned back by the angle: a on x and b on y of a turn about z. */
WIDE_INLINE void turn_back(wide s, wide c, wide *a, wide *b)
{
    const wide x = *a, y = *b;
    *a = c * x - s * y;
    *b = s * x + c * y;
}

WIDE_INLINE void turn(wide s, wide c, wide *a, wide *b)
{
    const wide x = *a, y = *b;
    *a = c * x + s * y;
    *b = c * y - s * x;
}

/*
 * The block [ aa ab ; ba bb ] between two such pairs, turned back on both sides.  With
 * t = s (aa - bb) + c (ab + ba) it is [ aa - s t, c t - ba ; c t - ab, bb + s t ].
 */
WIDE_INLINE void turn_block_back(wide s, wide c, wide *aa, wide *ab, wide *ba, wide *bb)
{
    const wide p = *ab, q = *ba;
    const wide t = s * (*aa - *bb) + c * (p + q);
    *aa = *aa - s * t;
    *bb = *bb + s * t;
    *ab = c * t - q;
    *ba = c * t - p;
}

/* The same where ab = ba. */
WIDE_INLINE void turn_sym_back(wide s, wide c, wide *aa, wide *bb, wide *ab)
{
    const wide p = *ab;
    const wide t = s * (*aa - *bb) + c * (p + p);
    *aa = *aa - s * t;
    *bb = *bb + s * t;
    *ab = c * t - p;
}

/* About z. */
WIDE_INLINE void turn_articulated_back(wide s, wide c, struct articulated *A)
{
    turn_sym_back(s, c, &A->I[0], &A->I[1], &A->I[3]);
    turn_back(s, c, &A->I[4], &A->I[5]);
    turn_block_back(s, c, &A->H[0][0], &A->H[0][1], &A->H[1][0], &A->H[1][1]);
    turn_back(s, c, &A->H[0][2], &A->H[1][2]);
    turn_back(s, c, &A->H[2][0], &A->H[2][1]);
    turn_sym_back(s, c, &A->M[0], &A->M[1], &A->M[3]);
    turn_back(s, c, &A->M[4], &A->M[5]);
    turn_back(s, c, &A->pa[0], &A->pa[1]);
    turn_back(s, c, &A->pl[0], &A->pl[1]);
}

/* ---- articulated inertias ------------------------------------------------------------------ */

/* To an origin from which this one is at r, with H the rows here and h the rows there: h = H + r x
 * M,   I_ij + (r x H_j)_i + (r x h_i)_j */
static void shift(const wide r[3], struct articulated *A)
{
    const wide *M = A->M;
    const wide row[3][3] = {{M[0], M[3], M[4]}, {M[3], M[1], M[5]}, {M[4], M[5], M[2]}};
    wide h[3][3], here[3][3], there[3][3];

    for (int k = 0; k < 3; k++) {
        h[0][k] = A->H[0][k] + r[1] * row[2][k] - r[2] * row[1][k];
        h[1][k] = A->H[1][k] + r[2] * row[0][k] - r[0] * row[2][k];
        h[2][k] = A->H[2][k] + r[0] * row[1][k] - r[1] * row[0][k];
    }
    for (int k = 0; k < 3; k++) {
        cross(r, A->H[k], here[k]);
        cross(r, h[k], there[k]);
    }
    for (int k = 0; k < 3; k++)
        A->I[k] = A->I[k] + here[k][k] + there[k][k];
    A->I[3] = A->I[3] + here[1][0] + there[0][1];
    A->I[4] = A->I[4] + here[2][0] + there[0][2];
    A->I[5] = A->I[5] + here[2][1] + there[1][2];
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++)
            A->H[k][j] = h[k][j];
    add_cross(r, A->pl, A->pa);
}

/* A - U D^-1 U', with g = D^-1 U. */
static void subtract_outer_product(const wide Ua[3], const wide Ul[3], const wide ga[3],
                                   const wide gl[3], struct articulated *A)
{
    for (int k = 0; k < 3; k++) {
        A->I[k] = A->I[k] - Ua[k] * ga[k];
        A->M[k] = A->M[k] - Ul[k] * gl[k];
        for (int j = 0; j < 3; j++)
            A->H[k][j] = A->H[k][j] - Ua[k] * gl[j];
    }
    A->I[3] = A->I[3] - Ua[0] * ga[1];
    A->I[4] = A->I[4] - Ua[0] * ga[2];
    A->I[5] = A->I[5] - Ua[1] * ga[2];
    A->M[3] = A->M[3] - Ul[0] * gl[1];
    A->M[4] = A->M[4] - Ul[0] * gl[2];
    A->M[5] = A->M[5] - Ul[1] * gl[2];
}

/* p += A c */
static void add_bias(const wide ca[3], const wide cl[3], struct articulated *A)
{
    wide Ic[3], Mc[3];
    sym_mul(A->I, ca, Ic);
    sym_mul(A->M, cl, Mc);
    for (int k = 0; k < 3; k++) {
        A->pa[k] = A->pa[k] + Ic[k] + dot(A->H[k], cl);
        A->pl[k] = A->pl[k] + Mc[k] + A->H[0][k] * ca[0] + A->H[1][k] * ca[1] + A->H[2][k] * ca[2];
    }
}

/* E' m E */
static void rotate_sym_back(wide E[3][3], wide m[6])
{
    wide mE[3][3], out[3][3];
    for (int k = 0; k < 3; k++) {
        const wide column[3] = {E[0][k], E[1][k], E[2][k]};
        sym_mul(m, column, mE[k]);
    }
    for (int k = 0; k < 3; k++)
        rotate_back(E, mE[k], out[k]);
    for (int k = 0; k < 3; k++)
        m[k] = out[k][k];
    m[3] = out[0][1], m[4] = out[0][2], m[5] = out[1][2];
}

/* ---- equations ----------------------------------------------------------------------------- */

/* Three equations: A = L D L'.  Below the diagonal L D is left, and D^-1 beside it.  The other rows
 * are right-hand sides b', of which L^-1 b is left. */
WIDE_INLINE void factor_three(wide A[7][6], wide D_inv[3])
{
    for (int j = 0; j < 3; j++) {
        D_inv[j] = wide_inverse(A[j][j]);
        for (int i = j + 1; i < 7; i++) {
            const wide l = A[i][j] * D_inv[j];
            for (int k = j + 1; k <= i && k < 3; k++)
                A[i][k] = A[i][k] - l * A[k][j];
        }
    }
}

/* x, which is L^-1 b, becomes A^-1 b. */
WIDE_INLINE void substitute_three(wide A[7][6], const wide D_inv[3], wide x[3])
{
    for (int j = 2; j >= 0; j--) {
        for (int i = j + 1; i < 3; i++)
            x[j] = x[j] - A[i][j] * x[i];
        x[j] = x[j] * D_inv[j];
    }
}

/* The inverse of [ a b ; b d ]. */
struct pair {
    wide a, b, d;
};

WIDE_INLINE struct pair invert_pair(wide a, wide b, wide d)
{
    const wide scale = wide_inverse(wide_where_positive(a, a * d - b * b));
    const struct pair inverse = {d * scale, -(b * scale), a * scale};
    return inverse;
}

/* Six equations, the last row being b', which becomes x'.  Two unknowns go at a time: that halves
 * the divisions, which depend on each other. */
WIDE_INLINE void solve_six(wide A[7][6])
{
    struct pair P[3];
    for (int j = 0; j < 6; j += 2) {
        const struct pair p = invert_pair(A[j][j], A[j + 1][j], A[j + 1][j + 1]);
        for (int i = j + 2; i < 7; i++) {
            const wide x = A[i][j] * p.a + A[i][j + 1] * p.b;
            const wide y = A[i][j] * p.b + A[i][j + 1] * p.d;
            for (int k = j + 2; k <= i && k < 6; k++)
                A[i][k] = A[i][k] - x * A[k][j] - y * A[k][j + 1];
        }
        P[j / 2] = p;
    }
    for (int j = 4; j >= 0; j -= 2) {
        const struct pair p = P[j / 2];
        wide x = A[6][j], y = A[6][j + 1];
        for (int i = j + 2; i < 6; i++) {
            x = x - A[i][j] * A[6][i];
            y = y - A[i][j + 1] * A[6][i];
        }
        A[6][j] = x * p.a + y * p.b;
        A[6][j + 1] = x * p.b + y * p.d;
    }
}

/* The lower half.  The last row is for the right-hand side. */
WIDE_INLINE void unpack(const struct articulated *A, wide full[7][6])
{
    for (int k = 0; k < 2; k++) {
        const wide *m = k == 0 ? A->I : A->M;
        const int o = 3 * k;
        full[o][o] = m[0], full[o + 1][o] = m[3], full[o + 1][o + 1] = m[1];
        full[o + 2][o] = m[4], full[o + 2][o + 1] = m[5], full[o + 2][o + 2] = m[2];
    }
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++)
            full[j + 3][k] = A->H[k][j];
}
