#include "dynamics/world/magnetic_field.h"

#include "dynamics/check.h"

static const double RADIUS = 6371200.0;

void dyn_magnetic_field_at_date(const struct dyn_magnetic_model *model, double year,
                                struct dyn_magnetic_field *field)
{
    DYN_CHECK(model->degree >= 1 && model->degree <= DYN_MAGNETIC_FIELD_DEGREE_MAX);
    const double years = year - model->epoch;
    *field = (struct dyn_magnetic_field){.degree = model->degree};
    for (int n = 1; n <= model->degree; n++) {
        double square = 2.0; /* of Schmidt's norm: 2 (n - m)! / (n + m)!, but 1 for m = 0 */
        for (int m = 0; m <= n; m++) {
            const int k = dyn_magnetic_field_term(n, m);
            square /= m > 0 ? (n + m) * (n - m + 1) : 1;
            const double norm = 1e-9 * (m > 0 ? sqrt(square) : 1.0);
            field->g[k] = norm * (model->g[k] + years * model->g_rate[k]);
            field->h[k] = norm * (model->h[k] + years * model->h_rate[k]);
        }
    }
}

/* Solid harmonics (a/r)^(n+1) P_n^m (cos, sin) m lambda, one degree more than the field has.
 * Row n has orders 0 to n. */
struct harmonics {
    double c[DYN_MAGNETIC_FIELD_DEGREE_MAX + 2][DYN_MAGNETIC_FIELD_DEGREE_MAX + 2];
    double s[DYN_MAGNETIC_FIELD_DEGREE_MAX + 2][DYN_MAGNETIC_FIELD_DEGREE_MAX + 2];
};

/* Cunningham's recursion, as in Montenbruck and Gill, Satellite Orbits, eq. 3.29 to 3.31. */
static void fill_harmonics(struct harmonics *V, int degree, struct dyn_vec3 r)
{
    const double r2 = dyn_dot(r, r), k = RADIUS / r2, q = RADIUS * k;
    const struct dyn_vec3 u = dyn_scale(k, r);
    V->c[0][0] = RADIUS / sqrt(r2);
    V->s[0][0] = 0.0;
    for (int m = 0; m <= degree; m++) {
        if (m > 0) {
            const double c = V->c[m - 1][m - 1], s = V->s[m - 1][m - 1];
            V->c[m][m] = (2 * m - 1) * (u.x * c - u.y * s);
            V->s[m][m] = (2 * m - 1) * (u.x * s + u.y * c);
        }
        for (int n = m + 1; n <= degree; n++) {
            const double a = (2 * n - 1) * u.z / (n - m);
            const double b = n > m + 1 ? (n + m - 1) * q / (n - m) : 0.0;
            const int far = n > m + 1 ? n - 2 : m; /* where b is 0 any number will do */
            V->c[n][m] = a * V->c[n - 1][m] - b * V->c[far][m];
            V->s[n][m] = a * V->s[n - 1][m] - b * V->s[far][m];
        }
    }
}

struct dyn_vec3 dyn_magnetic_field_at(const struct dyn_magnetic_field *field, struct dyn_vec3 r)
{
    struct harmonics V;
    struct dyn_vec3 B = {0.0, 0.0, 0.0};
    fill_harmonics(&V, field->degree + 1, r);
    for (int n = 1; n <= field->degree; n++) {
        /* minus the gradient, ibid. eq. 3.33 */
        const double *c = V.c[n + 1], *s = V.s[n + 1];
        const double zonal = field->g[dyn_magnetic_field_term(n, 0)];
        B = dyn_add(B, dyn_scale(zonal, (struct dyn_vec3){c[1], s[1], (n + 1) * c[0]}));
        for (int m = 1; m <= n; m++) {
            const double g = field->g[dyn_magnetic_field_term(n, m)],
                         h = field->h[dyn_magnetic_field_term(n, m)];
            const double k = 0.5 * (n - m + 2) * (n - m + 1);
            B.x += 0.5 * (g * c[m + 1] + h * s[m + 1]) - k * (g * c[m - 1] + h * s[m - 1]);
            B.y += 0.5 * (g * s[m + 1] - h * c[m + 1]) + k * (g * s[m - 1] - h * c[m - 1]);
            B.z += (n - m + 1) * (g * c[m] + h * s[m]);
        }
    }
    return B;
}
