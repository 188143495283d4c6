/*
 * Modes of d' = W d + v, M v' + C v + K d = 0, with M symmetric and positive.
 *
 * The coordinates make M the unit matrix.  Without W and C and with K symmetric the squares of
 * the eigenvalues are those of -K, a symmetric problem (dsyev): frequencies are good to rounding
 * and damping is exactly zero.  Else they are those of [W 1; -K -C] (dgeev), from which all zero
 * eigenvalues are taken out first, one null space after the other: a rigid-body motion is a
 * double zero, which would come out as a pair of size sqrt(eps) otherwise, and be taken for a
 * slow mode.
 */
#pragma once

struct eigen_problem {
    int count;
    double *M, *W, *C, *K; /* by rows; overwritten */
    double *force; /* of each coordinate: the size of the numbers whose rounding affects K */
};

struct eigen_mode {
    double re, im; /* eigenvalue, 1/s; im >= 0: of a conjugate pair one is listed */
    double doubt;  /* 1/s: rounding may have moved it this far */
    double *shape; /* of d: re and im of each coordinate in turn; the largest is 1 */
};

struct eigen {
    int motions; /* independent motions that neither oscillate nor decay */
    int zeros;   /* zero eigenvalues */
    int mode_count;
    struct eigen_mode *modes; /* all others, slowest first */
};

/* NULL, or the reason for a failure.  Ends the program when memory runs out. */
const char *eigen_solve(struct eigen_problem *problem, struct eigen *eigen);
void eigen_free(struct eigen *eigen);
