#include "dynamics/effector/contact.h"

#include <stddef.h>

#include "dynamics/effector/parameter_check.h"

static const char *contact_problem(const void *law)
{
    const struct dyn_contact *contact = law;
    if (!dyn_is_finite_point(contact->at))
        return "the contact's place is not finite";
    if (!dyn_is_positive(contact->stiffness))
        return "the contact's stiffness must be positive";
    if (!dyn_is_not_negative(contact->damping) || !dyn_is_not_negative(contact->friction))
        return "damping and friction of a contact must not be negative";
    return NULL;
}

/* The normal force N at the pose and velocity of the input. */
static double normal_force(const struct dyn_contact *contact,
                           const struct dyn_effector_input *input)
{
    const struct dyn_vec3 at = dyn_vec3_load(contact->at);
    const double depth = input->position.z + dyn_mul_t(&input->E, at).z - input->ground;
    if (!(depth > 0.0))
        return 0.0;
    const struct dyn_vec3 v = dyn_mul_t(&input->E, dyn_effector_point_velocity(input, at));
    const double push = contact->stiffness * depth + contact->damping * v.z;
    return push > 0.0 ? push : 0.0;
}

double dyn_contact_friction_bound(const struct dyn_contact *contact,
                                  const struct dyn_effector_input *input)
{
    return contact->friction > 0.0 ? contact->friction * normal_force(contact, input) : 0.0;
}

/* Without friction. */
static void contact_eval(const void *law, const struct dyn_effector_input *input, double command,
                         const double *state, double *state_rate, struct dyn_vec6 *force)
{
    const struct dyn_contact *contact = law;
    (void)command;
    (void)state;
    (void)state_rate;
    const struct dyn_vec3 up = {0.0, 0.0, -normal_force(contact, input)};
    force->lin = dyn_mul(&input->E, up);
    force->ang = dyn_cross(dyn_vec3_load(contact->at), force->lin);
}

static void contact_foot(const void *law, struct dyn_foot *foot)
{
    const struct dyn_contact *contact = law;
    *foot = (struct dyn_foot){contact->at, contact->stiffness, contact->damping};
}

static int contact_dry_directions(const void *law)
{
    const struct dyn_contact *contact = law;
    return contact->friction > 0.0 ? 2 : 0;
}

static void contact_remove_dry_friction(void *law)
{
    struct dyn_contact *contact = law;
    contact->friction = 0.0;
}

const struct dyn_effector_ops dyn_contact_ops = {.needs = DYN_NEED_GROUND,
                                                 .cost = 350.0,
                                                 .problem = contact_problem,
                                                 .eval = contact_eval,
                                                 .foot = contact_foot,
                                                 .dry_directions = contact_dry_directions,
                                                 .remove_dry_friction =
                                                     contact_remove_dry_friction};
