#include "dynamics/effector/effector_input.h"

#include "dynamics/kernel/aba.h"
#include "dynamics/kernel/work.h"
#include "dynamics/world/atmosphere.h"

static struct dyn_vec3 vec3_of_row(const struct dyn_row *r)
{
    return dyn_vec3_load(r->e);
}

static struct dyn_mat3 link_axes(const struct dyn_tree_link_work *L)
{
    return (struct dyn_mat3){{vec3_of_row(&L->R[0]), vec3_of_row(&L->R[1]), vec3_of_row(&L->R[2])}};
}

static struct dyn_vec3 link_origin(const struct dyn_model *model, const struct dyn_work *work,
                                   int i)
{
    struct dyn_vec3 r = {0.0, 0.0, 0.0};
    for (; i >= 0; i = model->link[i].parent)
        r = dyn_add(r, vec3_of_row(&work->link[i].r));
    return r;
}

static double density_at(const struct dyn_environment *environment, double z)
{
    if (!environment->air || environment->kind == DYN_WORLD_ORBIT)
        return 0.0;
    return dyn_air_at(environment->height - z).density;
}

static double ground_height(const struct dyn_environment *environment)
{
    const bool some = environment->has_ground && environment->kind != DYN_WORLD_ORBIT;
    return some ? environment->ground : (double)INFINITY;
}

/* The surroundings of the body, from its pose and velocity in the input. */
static void sense_environment(const struct dyn_environment *environment, unsigned needs,
                              struct dyn_effector_input *input)
{
    input->ground = ground_height(environment);
    input->density = 0.0;
    if (needs & DYN_NEED_MAGNETIC_FIELD)
        input->magnetic_field = dyn_mul(&input->E, dyn_vec3_load(environment->magnetic_field));
    if (needs & DYN_NEED_AIR) {
        const struct dyn_vec3 wind = dyn_mul(&input->E, dyn_vec3_load(environment->wind));
        input->air_velocity = dyn_sub(input->velocity, wind);
        input->density = density_at(environment, input->position.z);
    }
}

void dyn_effector_sense(const struct dyn_model *model, const struct dyn_work *work,
                        const struct dyn_environment *environment, int body, unsigned needs,
                        struct dyn_effector_input *input)
{
    const int l = model->body_link[body];
    const struct dyn_transform *link_from_body_X = &model->link_from_body[body];
    const struct dyn_mat3 axes = link_axes(&work->link[l]);

    input->supply = 1.0;
    input->power = input->density = 0.0;
    if (needs == 0) { /* wheels need only the rate */
        input->rate = dyn_mul(&link_from_body_X->E, dyn_mul(&axes, vec3_of_row(&work->link[l].w)));
        return;
    }
    const struct dyn_vec6 v = dyn_body_velocity(model, work, body);
    input->rate = v.ang;
    input->velocity = v.lin;
    input->E = dyn_mat3_mul(&link_from_body_X->E, &axes);
    input->position = dyn_add(link_origin(model, work, l), dyn_mul_t(&axes, link_from_body_X->r));
    sense_environment(environment, needs, input);
}
