#include "dynamics/principal.h"

/* Rotate rows p and r of the symmetric a, and the axes with it, so that a[p][r] vanishes. */
static void rotate(double a[3][3], double axis[3][3], int p, int r)
{
    if (a[p][r] == 0.0)
        return;
    const double theta = (a[r][r] - a[p][p]) / (2.0 * a[p][r]);
    const double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (int k = 0; k < 3; k++) {
        const double x = a[k][p], y = a[k][r];
        a[k][p] = c * x - s * y;
        a[k][r] = s * x + c * y;
    }
    for (int k = 0; k < 3; k++) {
        const double x = a[p][k], y = a[r][k], u = axis[p][k], w = axis[r][k];
        a[p][k] = c * x - s * y;
        a[r][k] = s * x + c * y;
        axis[p][k] = c * u - s * w;
        axis[r][k] = s * u + c * w;
    }
    a[p][r] = a[r][p] = 0.0;
}

static void swap(struct dyn_principal *p, int i, int j)
{
    const double moment = p->moment[i];
    const struct dyn_vec3 axis = p->axis[i];
    p->moment[i] = p->moment[j], p->axis[i] = p->axis[j];
    p->moment[j] = moment, p->axis[j] = axis;
}

struct dyn_principal dyn_principal(const struct dyn_sym3 *s)
{
    enum { SWEEPS = 12 }; /* it converges quadratically; five are enough */
    double a[3][3] = {{s->xx, s->xy, s->xz}, {s->xy, s->yy, s->yz}, {s->xz, s->yz, s->zz}};
    double axis[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    struct dyn_principal p;

    for (int k = 0; k < SWEEPS; k++) {
        rotate(a, axis, 0, 1);
        rotate(a, axis, 0, 2);
        rotate(a, axis, 1, 2);
    }
    for (int k = 0; k < 3; k++) {
        p.moment[k] = a[k][k];
        p.axis[k] = dyn_vec3_load(axis[k]);
    }
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < 2 - k; j++)
            if (p.moment[j] > p.moment[j + 1])
                swap(&p, j, j + 1);
    return p;
}
