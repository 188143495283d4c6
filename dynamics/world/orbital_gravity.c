#include "dynamics/world/orbital_gravity.h"

#include "dynamics/world/earth.h"

static struct dyn_vec3 vec3_of_row(const struct dyn_row *r)
{
    return dyn_vec3_load(r->e);
}

/* The axial inertia of a gyrostat is not in that of its body, but gravity acts on both. */
void dyn_orbital_gravity_place(const struct dyn_plant *plant,
                               struct dyn_orbital_gravity_body *gravity_body)
{
    for (int i = 0; i < plant->model->body_count; i++) {
        const struct dyn_body_spec *spec = &plant->model->spec[i];
        gravity_body[i] = (struct dyn_orbital_gravity_body){spec->mass, dyn_vec3_load(spec->center),
                                                            dyn_sym3_load(spec->inertia)};
    }
    for (int k = 0; k < plant->effector_count; k++) {
        const struct dyn_effector *effector = &plant->effectors[k];
        struct dyn_sym3 *inertia = &gravity_body[effector->body].inertia;
        struct dyn_gyrostat gyrostat;
        if (dyn_effector_gyrostat(effector, &gyrostat))
            *inertia = dyn_sym3_add_square(inertia, gyrostat.inertia, dyn_vec3_load(gyrostat.axis));
    }
}

struct dyn_vec3 dyn_orbital_gravity_base(const struct dyn_work *work)
{
    return vec3_of_row(&work->link[0].r);
}

struct dyn_vec3 dyn_orbital_gravity_at(const struct dyn_environment *environment, struct dyn_vec3 r)
{
    const struct dyn_vec3 g = dyn_earth_central_gravity(r);
    return environment->has_j2 ? dyn_add(g, dyn_earth_j2_gravity(r)) : g;
}

/* With |r + d|^2 = r^2 (1 + q) and s = (1 + q)^(3/2), which is 1 + q (3 + 3 q + q^2) / (1 + s):
 *      -mu / r^3 ((r + d) / s - r) = -mu / (r^3 s) (d - (s - 1) r) */
static struct dyn_vec3 sphere_difference(struct dyn_vec3 r, struct dyn_vec3 d)
{
    const double r2 = dyn_dot(r, r);
    const double q = (dyn_dot(d, d) + 2.0 * dyn_dot(d, r)) / r2;
    const double s = (1.0 + q) * sqrt(1.0 + q);
    const double more = q * (3.0 + q * (3.0 + q)) / (1.0 + s);
    return dyn_scale(-DYN_EARTH_MU / (r2 * sqrt(r2) * s), dyn_sub(d, dyn_scale(more, r)));
}

struct dyn_vec3 dyn_orbital_gravity_difference(const struct dyn_environment *environment,
                                               struct dyn_vec3 r, struct dyn_vec3 d)
{
    const struct dyn_vec3 more = sphere_difference(r, d);
    if (!environment->has_j2)
        return more;
    const struct dyn_vec3 there = dyn_earth_j2_gravity(dyn_add(r, d));
    return dyn_add(more, dyn_sub(there, dyn_earth_j2_gravity(r)));
}

/* From the base to the origin of link i, by the arms between them where both are of one tree. */
static struct dyn_vec3 arm_from_base(const struct dyn_model *model, const struct dyn_work *work,
                                     int i)
{
    struct dyn_vec3 arm = {0.0, 0.0, 0.0};
    for (; i > 0; i = model->link[i].parent)
        arm = dyn_add(arm, vec3_of_row(&work->link[i].r));
    return i == 0 ? arm : dyn_sub(arm, dyn_orbital_gravity_base(work));
}

static void gravity_load(const struct dyn_environment *environment,
                         const struct dyn_orbital_gravity_body *gravity_body,
                         const struct dyn_mat3 *E, struct dyn_vec3 base, struct dyn_vec3 arm,
                         struct dyn_load *load)
{
    const struct dyn_vec3 r = dyn_mul(E, dyn_add(base, arm)); /* body axes */
    const double r2 = dyn_dot(r, r);
    const double k = 3.0 * DYN_EARTH_MU / (r2 * r2 * sqrt(r2));
    const struct dyn_vec3 more = dyn_orbital_gravity_difference(environment, base, arm);
    const struct dyn_vec3 twist = dyn_cross(r, dyn_sym3_mul(&gravity_body->inertia, r));

    dyn_vec3_store(gravity_body->center, load->at);
    dyn_vec3_store(dyn_scale(gravity_body->mass, dyn_mul(E, more)), load->force);
    dyn_vec3_store(dyn_scale(k, twist), load->moment);
}

void dyn_orbital_gravity_loads(const struct dyn_plant *plant,
                               const struct dyn_orbital_gravity_body *gravity_body,
                               const struct dyn_work *work, struct dyn_load *load)
{
    const struct dyn_model *model = plant->model;
    const struct dyn_vec3 base = dyn_orbital_gravity_base(work);
    for (int i = 0; i < model->body_count; i++) {
        const struct dyn_tree_link_work *L = &work->link[model->body_link[i]];
        const struct dyn_transform *link_from_body_X = &model->link_from_body[i];
        const struct dyn_mat3 axes = {
            {vec3_of_row(&L->R[0]), vec3_of_row(&L->R[1]), vec3_of_row(&L->R[2])}};
        const struct dyn_mat3 E = dyn_mat3_mul(&link_from_body_X->E, &axes);
        const struct dyn_vec3 at =
            dyn_add(dyn_mul_t(&axes, link_from_body_X->r), dyn_mul_t(&E, gravity_body[i].center));
        load[i].body = i;
        gravity_load(&plant->environment, &gravity_body[i], &E, base,
                     dyn_add(arm_from_base(model, work, model->body_link[i]), at), &load[i]);
    }
}
