#include "dynamics/math/principal_axes.h"

#include "dynamics/math/jacobi.h"

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
    double axis[3][3];
    struct dyn_principal p;

    dyn_jacobi(3, SWEEPS, a[0], axis[0]);
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
