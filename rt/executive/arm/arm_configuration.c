#include "rt/executive/arm/arm_configuration.h"

int sim_arm_configuration_count(const struct sim_spec *spec)
{
    return 1 + spec->arm.payload_count;
}

int sim_arm_first_configuration(const struct sim_spec *spec)
{
    for (int i = 0; i < spec->arm.payload_count; i++)
        if (spec->arm.payload[i].in_hand)
            return 1 + i;
    return 0;
}

static void attach_at_pose(const struct dyn_pose *place, int parent, int node,
                           struct dyn_body_spec *body)
{
    body->parent = parent;
    body->node = node;
    dyn_vec3_store(place->origin, body->place_xyz);
    dyn_quat_store(place->turn, body->place_quat);
}

void sim_arm_configuration_specs(const struct sim_spec *spec, int configuration,
                                 struct dyn_body_spec *specs)
{
    const struct sim_arm *arm = &spec->arm;
    for (int i = 0; i < spec->body_count; i++)
        specs[i] = spec->bodies[i].spec;
    for (int i = 0; i < arm->payload_count; i++) {
        const struct sim_payload *payload = &arm->payload[i];
        if (configuration == 1 + i)
            attach_at_pose(&payload->on_hand, arm->hand, 0, &specs[payload->body]);
        else
            attach_at_pose(&payload->on_bay, payload->bay, spec->bodies[payload->body].spec.node,
                           &specs[payload->body]);
    }
}
