#include "dynamics/effector/effector_input.h"

#include "dynamics/kernel/aba.h"
#include "dynamics/kernel/work.h"
#include "dynamics/world/atmosphere.h"

static struct dyn_vec3 row(const struct dyn_row *r)
{
    return dyn_vec3_load(r->e);
}

static struct dyn_mat3 link_axes(const struct dyn_link_work *L)
{
    return (struct dyn_mat3){{row(&L->R[0]), row(&L->R[1]), row(&L->R[2])}};
}

static struct dyn_vec3 link_origin(const struct dyn_model *model, const struct dyn_work *work,
                                   int i)
{
    struct dyn_vec3 r = {0.0, 0.0, 0.0};
    for (; i >= 0; i = model->link[i].parent)
        r = dyn_add(r, row(&work->link[i].r));
    return r;
}

static double density_at(const struct dyn_environment *environment, double z)
{
    if (!environment->air || environment->kind == DYN_WORLD_ORBIT)
        return 0.0;
    return dyn_air_at(environment->height - z).density;
}

static double ground_of(const struct dyn_environment *environment)
{
    const bool some = environment->has_ground && environment->kind != DYN_WORLD_ORBIT;
    return some ? environment->ground : (double)INFINITY;
}

/* The world about a body that stands and moves so. */
static void look_around(const struct dyn_environment *environment, unsigned needs,
                        struct dyn_felt *felt)
{
    felt->ground = ground_of(environment);
    felt->density = 0.0;
    if (needs & DYN_NEED_FIELD)
        felt->magnetic_field = dyn_mul(&felt->E, dyn_vec3_load(environment->magnetic_field));
    if (needs & DYN_NEED_AIR) {
        const struct dyn_vec3 wind = dyn_mul(&felt->E, dyn_vec3_load(environment->wind));
        felt->air_velocity = dyn_sub(felt->velocity, wind);
        felt->density = density_at(environment, felt->position.z);
    }
}

void dyn_felt_take(const struct dyn_model *model, const struct dyn_work *work,
                   const struct dyn_environment *environment, int body, unsigned needs,
                   struct dyn_felt *felt)
{
    const int l = model->body_link[body];
    const struct dyn_transform *seat = &model->seat_X[body];
    const struct dyn_mat3 axes = link_axes(&work->link[l]);

    felt->supply = 1.0;
    felt->power = felt->density = 0.0;
    if (needs == 0) { /* wheels want no more */
        felt->rate = dyn_mul(&seat->E, dyn_mul(&axes, row(&work->link[l].w)));
        return;
    }
    const struct dyn_vec6 v = dyn_body_velocity(model, work, body);
    felt->rate = v.ang;
    felt->velocity = v.lin;
    felt->E = dyn_mat3_mul(&seat->E, &axes);
    felt->position = dyn_add(link_origin(model, work, l), dyn_mul_t(&axes, seat->r));
    look_around(environment, needs, felt);
}
