#include "dynamics/joint.h"

#include <string.h>

int dyn_joint_screw_count(const struct dyn_body_spec *spec)
{
    switch (spec->joint) {
    case DYN_JOINT_FIXED:
        return dyn_flex_modes(spec) > 0;
    case DYN_JOINT_REVOLUTE:
    case DYN_JOINT_PRISMATIC:
    case DYN_JOINT_SPHERICAL:
    case DYN_JOINT_FREE:
        return 1;
    case DYN_JOINT_CYLINDRICAL:
    case DYN_JOINT_UNIVERSAL:
        return 2;
    case DYN_JOINT_PLANAR:
        return 3;
    case DYN_JOINT_GENERAL:
        return spec->screw_count;
    }
    __builtin_unreachable();
}

int dyn_flex_modes(const struct dyn_body_spec *spec)
{
    return spec->flex == NULL || spec->flex->fidelity == DYN_FLEX_RIGID ? 0 : spec->flex->modes;
}

int dyn_joint_nv(const struct dyn_body_spec *spec)
{
    if (spec->mimic.on || spec->joint == DYN_JOINT_FIXED)
        return 0;
    return spec->joint == DYN_JOINT_FREE        ? 6
           : spec->joint == DYN_JOINT_SPHERICAL ? 3
                                                : dyn_joint_screw_count(spec);
}

int dyn_joint_nq(const struct dyn_body_spec *spec)
{
    const int has_quat = spec->joint == DYN_JOINT_FREE || spec->joint == DYN_JOINT_SPHERICAL;
    return dyn_joint_nv(spec) + has_quat;
}

void dyn_joint_zero(const struct dyn_body_spec *spec, double *q)
{
    memset(q, 0, (size_t)dyn_joint_nq(spec) * sizeof *q);
    if (spec->joint == DYN_JOINT_SPHERICAL)
        q[0] = 1.0;
    if (spec->joint == DYN_JOINT_FREE)
        q[3] = 1.0;
}

/* The shortest turn that takes z onto the unit vector d. */
static struct dyn_quat turn_z_to(struct dyn_vec3 d)
{
    if (d.z < -0.99) /* about x by half a turn first, so that nothing is divided by little */
        return dyn_quat_mul(dyn_quat_unit((struct dyn_quat){1.0 - d.z, d.y, -d.x, 0.0}),
                            (struct dyn_quat){0.0, 1.0, 0.0, 0.0});
    return dyn_quat_unit((struct dyn_quat){1.0 + d.z, -d.y, d.x, 0.0});
}

/* [turn; travel] with a unit turn: about the axis through turn x travel, with their product as
 * pitch. */
static struct dyn_screw axis_screw(struct dyn_vec3 turn, struct dyn_vec3 travel)
{
    const int turns = dyn_dot(turn, turn) > 0.0;
    const double pitch = turns ? dyn_dot(turn, travel) : 1.0;
    const struct dyn_vec3 along = turns ? turn : travel;
    return (struct dyn_screw){
        .kind = !turns         ? DYN_TREE_LINK_PRISMATIC
                : pitch == 0.0 ? DYN_TREE_LINK_REVOLUTE
                               : DYN_TREE_LINK_HELICAL,
        .frame = {turn_z_to(along), dyn_cross(turn, travel)},
        .pitch = pitch,
    };
}

struct dyn_screw dyn_joint_screw(const struct dyn_body_spec *spec, int k)
{
    const struct dyn_vec3 none = {0.0, 0.0, 0.0};
    const struct dyn_vec3 a = dyn_vec3_load(spec->axis), b = dyn_vec3_load(spec->axis2);
    struct dyn_screw whole = {.frame = {.turn = {1.0, 0.0, 0.0, 0.0}}};

    switch (spec->joint) {
    case DYN_JOINT_FIXED:
        whole.kind = DYN_TREE_LINK_FIXED;
        return whole;
    case DYN_JOINT_REVOLUTE:
        return axis_screw(a, none);
    case DYN_JOINT_PRISMATIC:
        return axis_screw(none, a);
    case DYN_JOINT_CYLINDRICAL:
        return k == 0 ? axis_screw(a, none) : axis_screw(none, a);
    case DYN_JOINT_UNIVERSAL:
        return axis_screw(k == 0 ? a : b, none);
    case DYN_JOINT_PLANAR:
        return k == 2 ? axis_screw(a, none) : axis_screw(none, k == 0 ? b : dyn_cross(a, b));
    case DYN_JOINT_GENERAL:
        return axis_screw(dyn_vec3_load(spec->screw[k]), dyn_vec3_load(spec->screw[k] + 3));
    case DYN_JOINT_SPHERICAL:
        whole.kind = DYN_TREE_LINK_SPHERICAL;
        return whole;
    case DYN_JOINT_FREE:
        whole.kind = DYN_TREE_LINK_FREE;
        return whole;
    }
    __builtin_unreachable();
}
