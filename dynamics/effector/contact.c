#include "dynamics/effector/contact.h"

#include <stddef.h>

#include "dynamics/effector/parameter_check.h"

const char *dyn_contact_flaw(const struct dyn_contact *contact)
{
    if (!dyn_is_place(contact->at))
        return "the contact's place is not finite";
    if (!dyn_is_positive(contact->stiffness))
        return "the contact's stiffness must be positive";
    if (!dyn_is_not_negative(contact->damping) || !dyn_is_not_negative(contact->friction))
        return "damping and friction of a contact must not be negative";
    return NULL;
}

/* N, where the body stands and moves so. */
static double press(const struct dyn_contact *contact, const struct dyn_felt *felt)
{
    const struct dyn_vec3 at = dyn_vec3_load(contact->at);
    const double depth = felt->position.z + dyn_mul_t(&felt->E, at).z - felt->ground;
    if (!(depth > 0.0))
        return 0.0;
    const struct dyn_vec3 v = dyn_mul_t(&felt->E, dyn_felt_velocity(felt, at));
    const double push = contact->stiffness * depth + contact->damping * v.z;
    return push > 0.0 ? push : 0.0;
}

double dyn_contact_grip(const struct dyn_contact *contact, const struct dyn_felt *felt)
{
    return contact->friction > 0.0 ? contact->friction * press(contact, felt) : 0.0;
}

void dyn_contact_eval(const struct dyn_contact *contact, const struct dyn_felt *felt,
                      struct dyn_vec6 *force)
{
    const struct dyn_vec3 up = {0.0, 0.0, -press(contact, felt)};
    force->lin = dyn_mul(&felt->E, up);
    force->ang = dyn_cross(dyn_vec3_load(contact->at), force->lin);
}
