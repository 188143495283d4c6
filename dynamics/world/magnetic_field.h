/*
 * The Earth's main magnetic field as spherical harmonics, in the form of the World Magnetic Model.
 *
 *      B = -grad V,  V = a sum_n (a/r)^(n+1) sum_m (g cos m lambda + h sin m lambda) P_n^m(sin phi)
 *
 * with Schmidt's semi-normalised P, a = 6371.2 km, and coefficients that change by so much a year.
 * A run has one date: within a day the field moves by less than 1 nT.
 */
#pragma once

#include "dynamics/math/spatial.h"

enum {
    DYN_MAGNETIC_FIELD_DEGREE_MAX = 12,
    DYN_MAGNETIC_FIELD_TERMS_MAX =
        (DYN_MAGNETIC_FIELD_DEGREE_MAX + 1) * (DYN_MAGNETIC_FIELD_DEGREE_MAX + 2) / 2,
};

/* The index of the term of degree n and order m. */
static inline int dyn_magnetic_field_term(int n, int m)
{
    return n * (n + 1) / 2 + m;
}

/* As published. */
struct dyn_magnetic_model {
    double epoch; /* year */
    int degree;
    double g[DYN_MAGNETIC_FIELD_TERMS_MAX], h[DYN_MAGNETIC_FIELD_TERMS_MAX]; /* nT */
    double g_rate[DYN_MAGNETIC_FIELD_TERMS_MAX],
        h_rate[DYN_MAGNETIC_FIELD_TERMS_MAX]; /* nT a year */
};

/* Of a date: tesla, for P without a norm. */
struct dyn_magnetic_field {
    int degree;
    double g[DYN_MAGNETIC_FIELD_TERMS_MAX], h[DYN_MAGNETIC_FIELD_TERMS_MAX];
};

/* year as 2025.5; no model is meant for more than five years from its epoch on.  Context: setup. */
void dyn_magnetic_field_at_date(const struct dyn_magnetic_model *model, double year,
                                struct dyn_magnetic_field *field);

/* The field at an ECEF position outside the Earth's core, tesla in ECEF axes.  By a recursion in
 * x, y, z that the poles do not disturb, O(degree^2).  Context: frame. */
struct dyn_vec3 dyn_magnetic_field_at(const struct dyn_magnetic_field *field, struct dyn_vec3 r);
