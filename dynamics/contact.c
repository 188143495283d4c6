#include "dynamics/contact.h"

#include <stddef.h>

#include "dynamics/sound.h"

const char *dyn_contact_flaw(const struct dyn_contact *contact)
{
    if (!dyn_is_place(contact->at))
        return "the contact's place is not finite";
    if (!dyn_is_positive(contact->stiffness))
        return "the contact's stiffness must be positive";
    if (!dyn_is_not_negative(contact->damping) || !dyn_is_not_negative(contact->friction))
        return "damping and friction of a contact must not be negative";
    if (!dyn_is_not_negative(contact->slip_speed) ||
        (contact->friction > 0.0 && contact->slip_speed == 0.0))
        return "friction of a contact needs a positive slip_speed";
    return NULL;
}

/* On a point at this depth that moves so, world axes. */
static struct dyn_vec3 ground_force(const struct dyn_contact *contact, double depth,
                                    struct dyn_vec3 v)
{
    const double push = contact->stiffness * depth + contact->damping * v.z;
    const double N = push > 0.0 ? push : 0.0;
    double rub = 0.0;
    if (contact->friction > 0.0)
        rub = contact->friction * N /
              sqrt(v.x * v.x + v.y * v.y + contact->slip_speed * contact->slip_speed);
    return (struct dyn_vec3){-rub * v.x, -rub * v.y, -N};
}

void dyn_contact_eval(const struct dyn_contact *contact, const struct dyn_felt *felt,
                      struct dyn_vec6 *force)
{
    const struct dyn_vec3 at = dyn_vec3_load(contact->at);
    const double depth = felt->position.z + dyn_mul_t(&felt->E, at).z - felt->ground;

    *force = (struct dyn_vec6){.ang = {0.0, 0.0, 0.0}};
    if (!(depth > 0.0))
        return;
    const struct dyn_vec3 v = dyn_mul_t(&felt->E, dyn_felt_velocity(felt, at));
    force->lin = dyn_mul(&felt->E, ground_force(contact, depth, v));
    force->ang = dyn_cross(at, force->lin);
}
