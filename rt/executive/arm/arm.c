#include "rt/executive/arm/arm.h"

#include <math.h>
#include <string.h>

#include "dynamics/analysis/body_pose.h"

/* ---- the run state --------------------------------------------------------------------- */

static struct dyn_state state_of(const struct sim_vehicle *vehicle)
{
    return (struct dyn_state){vehicle->x, vehicle->x + dyn_model_nq(vehicle->plant.model)};
}

static double angle_of(const struct sim_vehicle *vehicle, int joint)
{
    return state_of(vehicle).q[vehicle->kinematics.q_at[joint]];
}

static double rate_of(const struct sim_vehicle *vehicle, int joint)
{
    return state_of(vehicle).v[vehicle->kinematics.v_at[joint]];
}

/* What is held comes to rest in one blow; what changed by that the integrator must not smooth. */
static double apply_impact(struct sim_vehicle *vehicle)
{
    double *v = vehicle->x + dyn_model_nq(vehicle->plant.model), lost;
    sim_vehicle_apply_arm_configuration(vehicle);
    dyn_grapple_impact(vehicle->plant.model, vehicle->blow, vehicle->x,
                       vehicle->take[vehicle->arm->configuration], v, &lost);
    dyn_plant_restart(&vehicle->plant, vehicle->x);
    return lost;
}

/* ---- grapple and release ---------------------------------------------------------------- */

static bool is_inside(const struct sim_arm *arm, const struct dyn_tool_gap *gap)
{
    return gap->reach <= arm->capture_reach && gap->tilt <= arm->capture_tilt &&
           gap->closing <= arm->capture_speed && gap->spin <= arm->capture_rate;
}

static void record_gap(struct sim_arm_state *now, int payload, const struct dyn_tool_gap *gap)
{
    now->near = 1 + (uint64_t)payload;
    now->reach = gap->reach;
    now->tilt = gap->tilt;
    now->closing = gap->closing;
}

/* The nearest fixture; one that can be gripped before one that cannot.  True: it can. */
static bool find_fixture(struct sim_vehicle *vehicle)
{
    static const struct dyn_pose hand = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    const struct sim_arm *arm = &vehicle->spec->arm;
    const struct dyn_state state = state_of(vehicle);
    bool inside = false;
    for (int i = 0; i < arm->payload_count; i++) {
        const struct dyn_tool_gap gap =
            dyn_arm_gap(&vehicle->kinematics, &state, &hand, arm->payload[i].body,
                        &arm->payload[i].fixture, vehicle->arm_work);
        const bool fits = is_inside(arm, &gap);
        if (vehicle->arm->near != 0 && (inside != fits ? inside : gap.reach >= vehicle->arm->reach))
            continue;
        inside = fits;
        record_gap(vehicle->arm, i, &gap);
    }
    return inside;
}

/* What a free joint's coordinates say. */
static struct dyn_pose joint_pose(const double *q)
{
    return (struct dyn_pose){dyn_quat_load(q + 3), dyn_vec3_load(q)};
}

/* What the hand carries, as seen from the hand. */
static struct dyn_pose carried_pose(const struct sim_vehicle *vehicle,
                                    const struct sim_payload *payload)
{
    const struct dyn_pose joint =
        joint_pose(vehicle->x + dyn_model_q_index(vehicle->plant.model, payload->body));
    const struct dyn_pose on_body = dyn_pose_mul(&payload->on_hand, &joint);
    return dyn_pose_between(&vehicle->kinematics.grip, &on_body);
}

/* The berth of what the hand carries, if it began in one.  True: it is near enough and slow enough
 * to be latched.  To the arm's computer, whose model has nothing in the hand, the payload's joint
 * is on its bay and stands: from there the berth is seen. */
static bool find_berth(struct sim_vehicle *vehicle)
{
    const int index = (int)vehicle->arm->configuration - 1;
    const struct sim_payload *payload = &vehicle->spec->arm.payload[index];
    if (!payload->latched)
        return false;
    const struct dyn_state state = state_of(vehicle);
    const struct dyn_pose now =
        joint_pose(state.q + dyn_model_q_index(vehicle->plant.model, payload->body));
    const struct dyn_pose there = joint_pose(payload->berth);
    const struct dyn_pose berth = dyn_pose_between(&now, &there),
                          tool = carried_pose(vehicle, payload);
    const struct dyn_tool_gap gap =
        dyn_arm_gap(&vehicle->kinematics, &state, &tool, payload->body, &berth, vehicle->arm_work);
    record_gap(vehicle->arm, index, &gap);
    return gap.reach <= payload->berth_reach && gap.tilt <= payload->berth_tilt &&
           gap.closing <= payload->berth_speed && gap.spin <= payload->berth_rate;
}

/* Where the hand could take hold, or lay down what it has. */
static void find_capture_target(struct sim_vehicle *vehicle)
{
    struct sim_arm_state *now = vehicle->arm;
    const struct dyn_state state = state_of(vehicle);
    dyn_arm_update(&vehicle->kinematics, &state, vehicle->arm_work);
    now->near = 0;
    now->reach = -1.0;
    now->tilt = now->closing = 0.0;
    now->flags &= ~(uint64_t)(SIM_ARM_CAPTURE_READY | SIM_ARM_BERTH_READY);
    if (now->configuration == 0)
        now->flags |= find_fixture(vehicle) ? SIM_ARM_CAPTURE_READY : 0u;
    else
        now->flags |= find_berth(vehicle) ? SIM_ARM_BERTH_READY : 0u;
}

/* The joint's impulse is about the payload's origin, in its axes; that is `at`, seen from the
 * hand. */
static void record_impulse(struct sim_vehicle *vehicle, const struct sim_payload *payload,
                           const struct dyn_pose *at)
{
    const double *impulse = dyn_grapple_impulse(vehicle->take[vehicle->arm->configuration]) +
                            dyn_model_v_index(vehicle->plant.model, payload->body);
    const struct dyn_quat turn = dyn_quat_unit(at->turn);
    const struct dyn_vec3 moment = dyn_quat_rotate(turn, dyn_vec3_load(impulse));
    const struct dyn_vec3 force = dyn_quat_rotate(turn, dyn_vec3_load(impulse + 3));
    dyn_vec3_store(dyn_add(moment, dyn_cross(at->origin, force)), vehicle->arm->impulse);
    dyn_vec3_store(force, vehicle->arm->impulse + 3);
}

/* The bay lets go of it in the same moment. */
static void grapple(struct sim_vehicle *vehicle)
{
    struct sim_arm_state *now = vehicle->arm;
    if (now->configuration != 0 || !(now->flags & SIM_ARM_CAPTURE_READY)) {
        now->refused++;
        return;
    }
    const uint64_t index = now->near - 1;
    const struct sim_payload *payload = &vehicle->spec->arm.payload[index];
    double *q = vehicle->x, *v = vehicle->x + dyn_model_nq(vehicle->plant.model);
    dyn_grapple_reparent(vehicle->models[0], vehicle->models[1 + index], payload->body,
                         vehicle->take[1 + index], q, v);
    now->configuration = 1 + index;
    now->latched &= ~(1ull << index);
    now->blow = apply_impact(vehicle);
    const struct dyn_pose at = carried_pose(vehicle, payload);
    record_impulse(vehicle, payload, &at);
    now->grapples++;
}

static void release(struct sim_vehicle *vehicle)
{
    struct sim_arm_state *now = vehicle->arm;
    if (now->configuration == 0)
        return;
    const uint64_t index = now->configuration - 1;
    const struct sim_payload *payload = &vehicle->spec->arm.payload[index];
    const struct dyn_pose at = carried_pose(vehicle, payload);
    const bool berthed = now->flags & SIM_ARM_BERTH_READY;
    double *q = vehicle->x, *v = vehicle->x + dyn_model_nq(vehicle->plant.model);
    dyn_grapple_reparent(vehicle->models[1 + index], vehicle->models[0], payload->body,
                         vehicle->give[1 + index], q, v);
    now->configuration = 0;
    now->latched |= (uint64_t)berthed << index;
    const double lost = apply_impact(vehicle);
    if (berthed) {
        now->blow = lost;
        record_impulse(vehicle, payload, &at);
    }
    now->releases++;
}

/* ---- what the operator wants ------------------------------------------------------------- */

static bool is_lost(const struct sim_vehicle *vehicle)
{
    const struct sim_arm *arm = &vehicle->spec->arm;
    return vehicle->link[arm->translation.link].lost || vehicle->link[arm->rotation.link].lost ||
           vehicle->link[arm->button_link].lost || vehicle->arm->panel.lost_since_update;
}

static double fastest_joint_rate(const struct sim_vehicle *vehicle)
{
    double most = 0.0;
    for (int n = 0; n < vehicle->spec->arm.joint_count; n++)
        most = fmax(most, fabs(rate_of(vehicle, n)));
    return most;
}

static void update_panel(struct sim_vehicle *vehicle)
{
    const struct sim_arm *arm = &vehicle->spec->arm;
    const struct sim_link_state *link = &vehicle->link[arm->button_link];
    struct sim_arm_state *now = vehicle->arm;
    const bool lost = is_lost(vehicle);
    now->newest_stick_us = vehicle->link[arm->translation.link].board_us;
    io_arm_panel_update(&arm->panel, link->flags, lost, fastest_joint_rate(vehicle) < arm->still,
                        &now->panel);
    now->flags = (lost ? SIM_ARM_LINK_LOST : 0u) | (now->panel.safed ? SIM_ARM_STOPPED : 0u) |
                 (now->panel.vernier ? SIM_ARM_VERNIER : 0u);
}

/* What is not a number is no deflection. */
static double deflection(const struct sim_vehicle *vehicle, const struct sim_arm_stick *stick,
                         int axis)
{
    const double way = vehicle->link[stick->link].control[stick->control[axis]];
    return isnan(way) ? 0.0 : fmin(fmax(way, -1.0), 1.0);
}

/* All three axes at once are no faster than one alone. */
static void stick_twist(const struct sim_vehicle *vehicle, const struct sim_arm_stick *stick,
                        double pace, double *speed)
{
    const struct dyn_vec3 way = {deflection(vehicle, stick, 0), deflection(vehicle, stick, 1),
                                 deflection(vehicle, stick, 2)};
    dyn_vec3_store(dyn_scale(pace * stick->speed / fmax(1.0, dyn_norm(way)), way), speed);
}

/* Share of all speeds: fine, and with what it carries. */
static double speed_factor(const struct sim_vehicle *vehicle)
{
    const struct sim_arm *arm = &vehicle->spec->arm;
    const uint64_t configuration = vehicle->arm->configuration;
    const double loaded = configuration > 0 ? arm->payload[configuration - 1].speed : 1.0;
    return loaded * (vehicle->arm->panel.vernier ? arm->vernier : 1.0);
}

/* What a payload's frame looks like from the hand that has it. */
static struct dyn_pose tool_of(const struct sim_vehicle *vehicle)
{
    const struct dyn_pose hand = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    const uint64_t configuration = vehicle->arm->configuration;
    if (vehicle->arm->panel.mode != IO_ARM_PANEL_PAYLOAD || configuration == 0)
        return hand;
    return carried_pose(vehicle, &vehicle->spec->arm.payload[configuration - 1]);
}

static unsigned resolve(struct sim_vehicle *vehicle, const struct dyn_arm *kinematics, double pace,
                        double *rates)
{
    const struct sim_arm *arm = &vehicle->spec->arm;
    const struct dyn_pose tool = tool_of(vehicle);
    double twist[6];
    stick_twist(vehicle, &arm->rotation, pace, twist);
    stick_twist(vehicle, &arm->translation, pace, twist + 3);
    return dyn_arm_resolved_rate(kinematics, vehicle->x, &tool,
                                 vehicle->arm->panel.mode != IO_ARM_PANEL_BASE, twist,
                                 vehicle->arm_work, vehicle->arm->asked, rates);
}

/* There, or as near as the servos bring it under what it carries: no joint creeps or swings on. */
static bool has_arrived(struct sim_vehicle *vehicle, const double *pose, double far)
{
    static const double there = 1e-4 /* rad */, creeps = 0.05;
    const struct sim_arm *arm = &vehicle->spec->arm;
    double off = 0.0;
    for (int n = 0; n < arm->joint_count; n++)
        off = fmax(off, fabs(pose[n] - angle_of(vehicle, n)));
    const bool stands = far <= there && fastest_joint_rate(vehicle) < creeps * arm->still;
    vehicle->arm->poses_settled = stands ? vehicle->arm->poses_settled + 1 : 0;
    return far <= there && (off <= there || vehicle->arm->poses_settled > arm->panel.settle);
}

/* Led by where the servos are told to be: joints that lag behind with a heavy load would have the
 * way swing with them. */
static unsigned approach_pose(struct sim_vehicle *vehicle, const struct dyn_arm *kinematics,
                              double *rates)
{
    double far;
    const uint64_t index = vehicle->arm->panel.pose;
    if (index == 0)
        return 0;
    const double *pose = vehicle->spec->arm.pose[index - 1].angle;
    const unsigned flags =
        dyn_arm_rates_to_pose(kinematics, vehicle->arm->reference, pose, rates, &far);
    vehicle->arm->flags |= has_arrived(vehicle, pose, far) ? 0u : SIM_ARM_AUTO;
    return flags;
}

/* How far a stick is pushed at most. */
static double stick_magnitude(const struct sim_vehicle *vehicle)
{
    const struct sim_arm *arm = &vehicle->spec->arm;
    double most = 0.0;
    for (int k = 0; k < 3; k++)
        most = fmax(most, fmax(fabs(deflection(vehicle, &arm->translation, k)),
                               fabs(deflection(vehicle, &arm->rotation, k))));
    return most;
}

/* The rates of this servo period, as the mode has it. */
static void choose_rates(struct sim_vehicle *vehicle, double *rates)
{
    const double pace = speed_factor(vehicle);
    struct dyn_arm kinematics = vehicle->kinematics;
    unsigned flags = 0;
    for (int n = 0; n < kinematics.resolve.joints; n++) {
        kinematics.resolve.rate_max[n] *= pace;
        rates[n] = 0.0;
    }
    kinematics.resolve.center_gain *=
        stick_magnitude(vehicle); /* without a hand nothing moves by itself */
    memset(vehicle->arm->asked, 0, sizeof vehicle->arm->asked);
    switch (vehicle->arm->panel.mode) {
    case IO_ARM_PANEL_JOINT: {
        const int joint = (int)vehicle->arm->panel.joint;
        const double way = deflection(vehicle, &vehicle->spec->arm.translation, 0);
        flags = dyn_arm_single_joint(&kinematics, vehicle->x, joint,
                                     way * kinematics.resolve.rate_max[joint], rates);
        break;
    }
    case IO_ARM_PANEL_TOOL:
    case IO_ARM_PANEL_BASE:
    case IO_ARM_PANEL_PAYLOAD:
        flags = resolve(vehicle, &kinematics, pace, rates);
        break;
    case IO_ARM_PANEL_AUTO:
        flags = approach_pose(vehicle, &kinematics, rates);
        break;
    default: /* hold */
        break;
    }
    vehicle->arm->flags |= flags;
}

/* ---- servos ------------------------------------------------------------------------------ */

/* The servos' references run ahead of joints that lag, and must end at the limits as well. */
static double limit_before_stop(const struct sim_vehicle *vehicle, int n, double command, double h)
{
    const struct dyn_resolved_rate_spec *limits = &vehicle->spec->arm.resolve;
    const double at = vehicle->arm->reference[n];
    const double left = fmax(0.0, command > 0.0 ? limits->upper[n] - at : at - limits->lower[n]);
    const double allowed = fmin(sqrt(2.0 * limits->braking[n] * left), left / h);
    return limits->lower[n] == limits->upper[n] ? command : fmin(fmax(command, -allowed), allowed);
}

/* Rates change no faster than the joints may accelerate, all in step with the slowest, so that the
 * hand keeps its direction; but a stop for safety is a stop. */
static void follow_rates(struct sim_vehicle *vehicle, const double *rates, double h)
{
    const struct sim_arm *arm = &vehicle->spec->arm;
    double *command = vehicle->arm->command, share = 1.0;
    for (int n = 0; n < arm->joint_count && !vehicle->arm->panel.safed; n++)
        share = fmin(share, arm->resolve.braking[n] * h / fabs(rates[n] - command[n]));
    for (int n = 0; n < arm->joint_count; n++)
        command[n] = limit_before_stop(vehicle, n, command[n] + share * (rates[n] - command[n]), h);
}

/* Gravity as the arm feels it, however its base is turned. */
static void gravity_torques(const struct sim_vehicle *vehicle, double *weight)
{
    const struct dyn_pose base =
        dyn_body_pose(vehicle->plant.model, vehicle->x, vehicle->spec->arm.base);
    const struct dyn_vec3 gravity = dyn_vec3_load(vehicle->plant.environment.gravity);
    double local_gravity[3];
    dyn_vec3_store(dyn_quat_rotate(dyn_quat_conjugate(dyn_quat_unit(base.turn)), gravity),
                   local_gravity);
    dyn_arm_gravity_torques(&vehicle->kinematics, vehicle->x, local_gravity, vehicle->arm_work,
                            weight);
}

static void compute_servo_torques(struct sim_vehicle *vehicle, double h)
{
    const struct sim_arm *arm = &vehicle->spec->arm;
    struct sim_arm_state *now = vehicle->arm;
    double weight[DYN_ARM_JOINT_MAX] = {0};
    int limited = 0;
    if (arm->carries_weight)
        gravity_torques(vehicle, weight);
    for (int n = 0; n < arm->joint_count; n++)
        now->torque[n] =
            dyn_joint_servo(&arm->joint[n].servo, weight[n], now->command[n], angle_of(vehicle, n),
                            rate_of(vehicle, n), h, &now->reference[n], &limited);
    now->flags |= limited ? SIM_ARM_TORQUE_LIMITED : 0u;
}

/* Behind brakes the motors are off, and what comes after begins where the joints are.  A joint that
 * stands is held at once: a whole step of rubbing would push it. */
static void rest(struct sim_vehicle *vehicle)
{
    struct sim_arm_state *now = vehicle->arm;
    bool caught = false;
    for (int n = 0; n < vehicle->spec->arm.joint_count; n++) {
        const bool stands = fabs(rate_of(vehicle, n)) < vehicle->spec->arm.still;
        now->torque[n] = now->command[n] = 0.0;
        now->reference[n] = angle_of(vehicle, n);
        if (now->brake[n] != SIM_ARM_BRAKE_OFF)
            continue;
        now->brake[n] = stands ? SIM_ARM_BRAKE_HOLDS : SIM_ARM_BRAKE_SLIPS;
        now->rub[n] = 0.0;
        caught = caught || stands;
    }
    if (caught)
        (void)apply_impact(vehicle);
}

static void release_brakes(struct sim_vehicle *vehicle)
{
    bool any = false;
    for (int n = 0; n < vehicle->spec->arm.joint_count; n++) {
        any = any || vehicle->arm->brake[n] != SIM_ARM_BRAKE_OFF;
        vehicle->arm->brake[n] = SIM_ARM_BRAKE_OFF;
    }
    if (any)
        sim_vehicle_apply_arm_configuration(vehicle);
}

void sim_arm_servo(struct sim_vehicle *vehicle)
{
    const double h = vehicle->h * vehicle->spec->arm.every;
    double rates[DYN_ARM_JOINT_MAX];
    update_panel(vehicle);
    find_capture_target(vehicle);
    if (vehicle->arm->panel.grapple)
        grapple(vehicle);
    if (vehicle->arm->panel.release)
        release(vehicle);
    choose_rates(vehicle, rates);
    if (vehicle->arm->panel.brakes) {
        rest(vehicle);
        return;
    }
    release_brakes(vehicle);
    follow_rates(vehicle, rates, h);
    compute_servo_torques(vehicle, h);
}

/* ---- motors and brakes ------------------------------------------------------------------- */

void sim_arm_motors(struct sim_vehicle *vehicle)
{
    struct sim_arm_state *now = vehicle->arm;
    for (int n = 0; n < vehicle->spec->arm.joint_count; n++) {
        double *tau = &vehicle->joint_tau[vehicle->kinematics.v_at[n]];
        const double rate = rate_of(vehicle, n);
        if (now->brake[n] == SIM_ARM_BRAKE_SLIPS && rate != 0.0)
            now->rub[n] = rate > 0.0 ? -1.0 : 1.0;
        *tau = now->brake[n] == SIM_ARM_BRAKE_OFF ? now->torque[n]
               : now->brake[n] == SIM_ARM_BRAKE_SLIPS
                   ? now->rub[n] * vehicle->spec->arm.joint[n].brake
                   : 0.0;
    }
}

/* A brake that would have turned the joint round has brought it to rest.  What changed rubs, or
 * does not, from now on: what instruments feel of this frame is solved after it. */
void sim_arm_brakes(struct sim_vehicle *vehicle)
{
    const double *holding = dyn_plant_held_force(vehicle->work);
    struct sim_arm_state *now = vehicle->arm;
    bool caught = false, lost = false;
    for (int n = 0; n < vehicle->spec->arm.joint_count; n++) {
        const double needs = holding[vehicle->kinematics.v_at[n]];
        if (now->brake[n] == SIM_ARM_BRAKE_SLIPS && rate_of(vehicle, n) * now->rub[n] >= 0.0) {
            now->brake[n] = SIM_ARM_BRAKE_HOLDS;
            caught = true;
        } else if (now->brake[n] == SIM_ARM_BRAKE_HOLDS &&
                   fabs(needs) > vehicle->spec->arm.joint[n].brake) {
            now->brake[n] = SIM_ARM_BRAKE_SLIPS;
            now->rub[n] = needs > 0.0 ? 1.0 : -1.0;
            lost = true;
        }
    }
    if (caught)
        (void)apply_impact(vehicle);
    else if (lost)
        sim_vehicle_apply_arm_configuration(vehicle);
    if (caught || lost)
        sim_arm_motors(vehicle);
}
