#include "dynamics/effector/contact.h"

#include <stddef.h>

#include "dynamics/effector/parameter_check.h"

const char *dyn_contact_problem(const struct dyn_contact *contact)
{
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

void dyn_contact_eval(const struct dyn_contact *contact, const struct dyn_effector_input *input,
                      struct dyn_vec6 *force)
{
    const struct dyn_vec3 up = {0.0, 0.0, -normal_force(contact, input)};
    force->lin = dyn_mul(&input->E, up);
    force->ang = dyn_cross(dyn_vec3_load(contact->at), force->lin);
}
