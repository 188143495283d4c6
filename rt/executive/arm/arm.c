#include "rt/executive/arm/arm.h"

#include <math.h>
#include <string.h>

#include "dynamics/analysis/body_pose.h"

/* ---- the run state --------------------------------------------------------------------- */

static struct dyn_state state_of(const struct cfg_rig *rig)
{
    return (struct dyn_state){rig->x, rig->x + dyn_model_nq(rig->plant.model)};
}

static double angle_of(const struct cfg_rig *rig, int joint)
{
    return state_of(rig).q[rig->kinematics.q_at[joint]];
}

static double rate_of(const struct cfg_rig *rig, int joint)
{
    return state_of(rig).v[rig->kinematics.v_at[joint]];
}

/* What is held comes to rest in one blow; what changed by that the integrator must not smooth. */
static double arrest(struct cfg_rig *rig)
{
    double *v = rig->x + dyn_model_nq(rig->plant.model), lost;
    cfg_rig_grip(rig);
    dyn_grapple_impact(rig->plant.model, rig->blow, rig->x, rig->take[rig->arm->configuration], v,
                       &lost);
    dyn_plant_restart(&rig->plant, rig->x);
    return lost;
}

/* ---- grapple and release ---------------------------------------------------------------- */

static bool is_inside(const struct cfg_arm *arm, const struct dyn_tool_gap *gap)
{
    return gap->reach <= arm->capture_reach && gap->tilt <= arm->capture_tilt &&
           gap->closing <= arm->capture_speed && gap->spin <= arm->capture_rate;
}

static void tell_gap(struct cfg_arm_state *now, int payload, const struct dyn_tool_gap *gap)
{
    now->near = 1 + (uint64_t)payload;
    now->reach = gap->reach;
    now->tilt = gap->tilt;
    now->closing = gap->closing;
}

/* The nearest fixture; one that can be gripped before one that cannot.  True: it can. */
static bool look_for_fixture(struct cfg_rig *rig)
{
    static const struct dyn_pose hand = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    const struct cfg_arm *arm = &rig->scenario->arm;
    const struct dyn_state state = state_of(rig);
    bool inside = false;
    for (int i = 0; i < arm->payload_count; i++) {
        const struct dyn_tool_gap gap =
            dyn_arm_gap(&rig->kinematics, &state, &hand, arm->payload[i].body,
                        &arm->payload[i].fixture, rig->arm_work);
        const bool fits = is_inside(arm, &gap);
        if (rig->arm->near != 0 && (inside != fits ? inside : gap.reach >= rig->arm->reach))
            continue;
        inside = fits;
        tell_gap(rig->arm, i, &gap);
    }
    return inside;
}

/* What a free joint's coordinates say. */
static struct dyn_pose joint_pose(const double *q)
{
    return (struct dyn_pose){dyn_quat_load(q + 3), dyn_vec3_load(q)};
}

/* What the hand carries, as seen from the hand. */
static struct dyn_pose carried_pose(const struct cfg_rig *rig, const struct cfg_payload *payload)
{
    const struct dyn_pose joint =
        joint_pose(rig->x + dyn_model_q_index(rig->plant.model, payload->body));
    const struct dyn_pose on_body = dyn_pose_mul(&payload->on_hand, &joint);
    return dyn_pose_between(&rig->kinematics.grip, &on_body);
}

/* The berth of what the hand carries, if it began in one.  True: it is near enough and slow enough
 * to be latched.  To the arm's computer, whose model has nothing in the hand, the payload's joint
 * is on its bay and stands: from there the berth is seen. */
static bool look_for_berth(struct cfg_rig *rig)
{
    const int index = (int)rig->arm->configuration - 1;
    const struct cfg_payload *payload = &rig->scenario->arm.payload[index];
    if (!payload->latched)
        return false;
    const struct dyn_state state = state_of(rig);
    const struct dyn_pose now =
        joint_pose(state.q + dyn_model_q_index(rig->plant.model, payload->body));
    const struct dyn_pose there = joint_pose(payload->berth);
    const struct dyn_pose berth = dyn_pose_between(&now, &there), tool = carried_pose(rig, payload);
    const struct dyn_tool_gap gap =
        dyn_arm_gap(&rig->kinematics, &state, &tool, payload->body, &berth, rig->arm_work);
    tell_gap(rig->arm, index, &gap);
    return gap.reach <= payload->berth_reach && gap.tilt <= payload->berth_tilt &&
           gap.closing <= payload->berth_speed && gap.spin <= payload->berth_rate;
}

/* Where the hand could take hold, or lay down what it has. */
static void look_around(struct cfg_rig *rig)
{
    struct cfg_arm_state *now = rig->arm;
    const struct dyn_state state = state_of(rig);
    dyn_arm_update(&rig->kinematics, &state, rig->arm_work);
    now->near = 0;
    now->reach = -1.0;
    now->tilt = now->closing = 0.0;
    now->flags &= ~(uint64_t)(CFG_ARM_CAPTURE | CFG_ARM_BERTHED);
    if (now->configuration == 0)
        now->flags |= look_for_fixture(rig) ? CFG_ARM_CAPTURE : 0u;
    else
        now->flags |= look_for_berth(rig) ? CFG_ARM_BERTHED : 0u;
}

/* The joint's impulse is about the payload's origin, in its axes; that is `at`, seen from the
 * hand. */
static void tell_impulse(struct cfg_rig *rig, const struct cfg_payload *payload,
                         const struct dyn_pose *at)
{
    const double *impulse = dyn_grapple_impulse(rig->take[rig->arm->configuration]) +
                            dyn_model_v_index(rig->plant.model, payload->body);
    const struct dyn_quat turn = dyn_quat_unit(at->turn);
    const struct dyn_vec3 moment = dyn_quat_rotate(turn, dyn_vec3_load(impulse));
    const struct dyn_vec3 force = dyn_quat_rotate(turn, dyn_vec3_load(impulse + 3));
    dyn_vec3_store(dyn_add(moment, dyn_cross(at->origin, force)), rig->arm->impulse);
    dyn_vec3_store(force, rig->arm->impulse + 3);
}

/* The bay lets go of it in the same moment. */
static void grapple(struct cfg_rig *rig)
{
    struct cfg_arm_state *now = rig->arm;
    if (now->configuration != 0 || !(now->flags & CFG_ARM_CAPTURE)) {
        now->refused++;
        return;
    }
    const uint64_t index = now->near - 1;
    const struct cfg_payload *payload = &rig->scenario->arm.payload[index];
    double *q = rig->x, *v = rig->x + dyn_model_nq(rig->plant.model);
    dyn_grapple_reparent(rig->models[0], rig->models[1 + index], payload->body,
                         rig->take[1 + index], q, v);
    now->configuration = 1 + index;
    now->latched &= ~(1ull << index);
    now->blow = arrest(rig);
    const struct dyn_pose at = carried_pose(rig, payload);
    tell_impulse(rig, payload, &at);
    now->grapples++;
}

static void release(struct cfg_rig *rig)
{
    struct cfg_arm_state *now = rig->arm;
    if (now->configuration == 0)
        return;
    const uint64_t index = now->configuration - 1;
    const struct cfg_payload *payload = &rig->scenario->arm.payload[index];
    const struct dyn_pose at = carried_pose(rig, payload);
    const bool berthed = now->flags & CFG_ARM_BERTHED;
    double *q = rig->x, *v = rig->x + dyn_model_nq(rig->plant.model);
    dyn_grapple_reparent(rig->models[1 + index], rig->models[0], payload->body,
                         rig->give[1 + index], q, v);
    now->configuration = 0;
    now->latched |= (uint64_t)berthed << index;
    const double lost = arrest(rig);
    if (berthed) {
        now->blow = lost;
        tell_impulse(rig, payload, &at);
    }
    now->releases++;
}

/* ---- what the operator wants ------------------------------------------------------------- */

static bool is_lost(const struct cfg_rig *rig)
{
    const struct cfg_arm *arm = &rig->scenario->arm;
    return rig->link[arm->translation.link].lost || rig->link[arm->rotation.link].lost ||
           rig->link[arm->button_link].lost || rig->arm->panel.lost_since_update;
}

static double fastest(const struct cfg_rig *rig)
{
    double most = 0.0;
    for (int n = 0; n < rig->scenario->arm.joint_count; n++)
        most = fmax(most, fabs(rate_of(rig, n)));
    return most;
}

static void look_at_panel(struct cfg_rig *rig)
{
    const struct cfg_arm *arm = &rig->scenario->arm;
    const struct cfg_link_state *link = &rig->link[arm->button_link];
    struct cfg_arm_state *now = rig->arm;
    const bool lost = is_lost(rig);
    now->seen_us = rig->link[arm->translation.link].board_us;
    io_arm_panel_update(&arm->panel, link->flags, lost, fastest(rig) < arm->still, &now->panel);
    now->flags = (lost ? CFG_ARM_LOST : 0u) | (now->panel.safed ? CFG_ARM_SAFED : 0u) |
                 (now->panel.vernier ? CFG_ARM_VERNIER : 0u);
}

/* What is not a number is no deflection. */
static double deflection(const struct cfg_rig *rig, const struct cfg_arm_stick *stick, int axis)
{
    const double way = rig->link[stick->link].control[stick->control[axis]];
    return isnan(way) ? 0.0 : fmin(fmax(way, -1.0), 1.0);
}

/* All three axes at once are no faster than one alone. */
static void push_of(const struct cfg_rig *rig, const struct cfg_arm_stick *stick, double pace,
                    double *speed)
{
    const struct dyn_vec3 way = {deflection(rig, stick, 0), deflection(rig, stick, 1),
                                 deflection(rig, stick, 2)};
    dyn_vec3_store(dyn_scale(pace * stick->speed / fmax(1.0, dyn_norm(way)), way), speed);
}

/* Share of all speeds: fine, and with what it carries. */
static double pace_of(const struct cfg_rig *rig)
{
    const struct cfg_arm *arm = &rig->scenario->arm;
    const uint64_t configuration = rig->arm->configuration;
    const double loaded = configuration > 0 ? arm->payload[configuration - 1].speed : 1.0;
    return loaded * (rig->arm->panel.vernier ? arm->vernier : 1.0);
}

/* What a payload's frame looks like from the hand that has it. */
static struct dyn_pose tool_of(const struct cfg_rig *rig)
{
    const struct dyn_pose hand = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    const uint64_t configuration = rig->arm->configuration;
    if (rig->arm->panel.mode != IO_ARM_PANEL_PAYLOAD || configuration == 0)
        return hand;
    return carried_pose(rig, &rig->scenario->arm.payload[configuration - 1]);
}

static unsigned resolve(struct cfg_rig *rig, const struct dyn_arm *kinematics, double pace,
                        double *rates)
{
    const struct cfg_arm *arm = &rig->scenario->arm;
    const struct dyn_pose tool = tool_of(rig);
    double twist[6];
    push_of(rig, &arm->rotation, pace, twist);
    push_of(rig, &arm->translation, pace, twist + 3);
    return dyn_arm_resolved_rate(kinematics, rig->x, &tool,
                                 rig->arm->panel.mode != IO_ARM_PANEL_BASE, twist, rig->arm_work,
                                 rig->arm->asked, rates);
}

/* There, or as near as the servos bring it under what it carries: no joint creeps or swings on. */
static bool has_arrived(struct cfg_rig *rig, const double *pose, double far)
{
    static const double there = 1e-4 /* rad */, creeps = 0.05;
    const struct cfg_arm *arm = &rig->scenario->arm;
    double off = 0.0;
    for (int n = 0; n < arm->joint_count; n++)
        off = fmax(off, fabs(pose[n] - angle_of(rig, n)));
    const bool stands = far <= there && fastest(rig) < creeps * arm->still;
    rig->arm->stood = stands ? rig->arm->stood + 1 : 0;
    return far <= there && (off <= there || rig->arm->stood > arm->panel.settle);
}

/* Led by where the servos are told to be: joints that lag behind with a heavy load would have the
 * way swing with them. */
static unsigned approach(struct cfg_rig *rig, const struct dyn_arm *kinematics, double *rates)
{
    double far;
    const uint64_t index = rig->arm->panel.pose;
    if (index == 0)
        return 0;
    const double *pose = rig->scenario->arm.pose[index - 1].angle;
    const unsigned flags =
        dyn_arm_rates_to_pose(kinematics, rig->arm->reference, pose, rates, &far);
    rig->arm->flags |= has_arrived(rig, pose, far) ? 0u : CFG_ARM_AUTO;
    return flags;
}

/* How far a stick is pushed at most. */
static double effort_of(const struct cfg_rig *rig)
{
    const struct cfg_arm *arm = &rig->scenario->arm;
    double most = 0.0;
    for (int k = 0; k < 3; k++)
        most = fmax(most, fmax(fabs(deflection(rig, &arm->translation, k)),
                               fabs(deflection(rig, &arm->rotation, k))));
    return most;
}

/* The rates of this servo period, as the mode has it. */
static void choose_rates(struct cfg_rig *rig, double *rates)
{
    const double pace = pace_of(rig);
    struct dyn_arm kinematics = rig->kinematics;
    unsigned flags = 0;
    for (int n = 0; n < kinematics.resolve.joints; n++) {
        kinematics.resolve.rate_max[n] *= pace;
        rates[n] = 0.0;
    }
    kinematics.resolve.center_gain *= effort_of(rig); /* without a hand nothing moves by itself */
    memset(rig->arm->asked, 0, sizeof rig->arm->asked);
    switch (rig->arm->panel.mode) {
    case IO_ARM_PANEL_JOINT: {
        const int joint = (int)rig->arm->panel.joint;
        const double way = deflection(rig, &rig->scenario->arm.translation, 0);
        flags = dyn_arm_single_joint(&kinematics, rig->x, joint,
                                     way * kinematics.resolve.rate_max[joint], rates);
        break;
    }
    case IO_ARM_PANEL_TOOL:
    case IO_ARM_PANEL_BASE:
    case IO_ARM_PANEL_PAYLOAD:
        flags = resolve(rig, &kinematics, pace, rates);
        break;
    case IO_ARM_PANEL_AUTO:
        flags = approach(rig, &kinematics, rates);
        break;
    default: /* hold */
        break;
    }
    rig->arm->flags |= flags;
}

/* ---- servos ------------------------------------------------------------------------------ */

/* The servos' references run ahead of joints that lag, and must end at the limits as well. */
static double before_limit(const struct cfg_rig *rig, int n, double command, double h)
{
    const struct dyn_resolved_rate_spec *limits = &rig->scenario->arm.resolve;
    const double at = rig->arm->reference[n];
    const double left = fmax(0.0, command > 0.0 ? limits->upper[n] - at : at - limits->lower[n]);
    const double allowed = fmin(sqrt(2.0 * limits->braking[n] * left), left / h);
    return limits->lower[n] == limits->upper[n] ? command : fmin(fmax(command, -allowed), allowed);
}

/* Rates change no faster than the joints may accelerate, all in step with the slowest, so that the
 * hand keeps its direction; but a stop for safety is a stop. */
static void follow(struct cfg_rig *rig, const double *rates, double h)
{
    const struct cfg_arm *arm = &rig->scenario->arm;
    double *command = rig->arm->command, share = 1.0;
    for (int n = 0; n < arm->joint_count && !rig->arm->panel.safed; n++)
        share = fmin(share, arm->resolve.braking[n] * h / fabs(rates[n] - command[n]));
    for (int n = 0; n < arm->joint_count; n++)
        command[n] = before_limit(rig, n, command[n] + share * (rates[n] - command[n]), h);
}

/* Gravity as the arm feels it, however its base is turned. */
static void weigh(const struct cfg_rig *rig, double *weight)
{
    const struct dyn_pose base = dyn_body_pose(rig->plant.model, rig->x, rig->scenario->arm.base);
    const struct dyn_vec3 gravity = dyn_vec3_load(rig->plant.environment.gravity);
    double felt[3];
    dyn_vec3_store(dyn_quat_rotate(dyn_quat_conjugate(dyn_quat_unit(base.turn)), gravity), felt);
    dyn_arm_gravity_torques(&rig->kinematics, rig->x, felt, rig->arm_work, weight);
}

static void drive(struct cfg_rig *rig, double h)
{
    const struct cfg_arm *arm = &rig->scenario->arm;
    struct cfg_arm_state *now = rig->arm;
    double weight[DYN_ARM_JOINT_MAX] = {0};
    int limited = 0;
    if (arm->carries_weight)
        weigh(rig, weight);
    for (int n = 0; n < arm->joint_count; n++)
        now->torque[n] =
            dyn_joint_servo(&arm->joint[n].servo, weight[n], now->command[n], angle_of(rig, n),
                            rate_of(rig, n), h, &now->reference[n], &limited);
    now->flags |= limited ? CFG_ARM_LIMITED : 0u;
}

/* Behind brakes the motors are off, and what comes after begins where the joints are.  A joint that
 * stands is held at once: a whole step of rubbing would push it. */
static void rest(struct cfg_rig *rig)
{
    struct cfg_arm_state *now = rig->arm;
    bool caught = false;
    for (int n = 0; n < rig->scenario->arm.joint_count; n++) {
        const bool stands = fabs(rate_of(rig, n)) < rig->scenario->arm.still;
        now->torque[n] = now->command[n] = 0.0;
        now->reference[n] = angle_of(rig, n);
        if (now->brake[n] != CFG_BRAKE_OFF)
            continue;
        now->brake[n] = stands ? CFG_BRAKE_HOLDS : CFG_BRAKE_SLIPS;
        now->rub[n] = 0.0;
        caught = caught || stands;
    }
    if (caught)
        (void)arrest(rig);
}

static void let_go(struct cfg_rig *rig)
{
    bool any = false;
    for (int n = 0; n < rig->scenario->arm.joint_count; n++) {
        any = any || rig->arm->brake[n] != CFG_BRAKE_OFF;
        rig->arm->brake[n] = CFG_BRAKE_OFF;
    }
    if (any)
        cfg_rig_grip(rig);
}

void arm_servo(struct cfg_rig *rig)
{
    const double h = rig->h * rig->scenario->arm.every;
    double rates[DYN_ARM_JOINT_MAX];
    look_at_panel(rig);
    look_around(rig);
    if (rig->arm->panel.grapple)
        grapple(rig);
    if (rig->arm->panel.release)
        release(rig);
    choose_rates(rig, rates);
    if (rig->arm->panel.brakes) {
        rest(rig);
        return;
    }
    let_go(rig);
    follow(rig, rates, h);
    drive(rig, h);
}

/* ---- motors and brakes ------------------------------------------------------------------- */

void arm_motors(struct cfg_rig *rig)
{
    struct cfg_arm_state *now = rig->arm;
    for (int n = 0; n < rig->scenario->arm.joint_count; n++) {
        double *tau = &rig->joint_tau[rig->kinematics.v_at[n]];
        const double rate = rate_of(rig, n);
        if (now->brake[n] == CFG_BRAKE_SLIPS && rate != 0.0)
            now->rub[n] = rate > 0.0 ? -1.0 : 1.0;
        *tau = now->brake[n] == CFG_BRAKE_OFF     ? now->torque[n]
               : now->brake[n] == CFG_BRAKE_SLIPS ? now->rub[n] * rig->scenario->arm.joint[n].brake
                                                  : 0.0;
    }
}

/* A brake that would have turned the joint round has brought it to rest.  What changed rubs, or
 * does not, from now on: what instruments feel of this frame is solved after it. */
void arm_brakes(struct cfg_rig *rig)
{
    const double *holding = dyn_plant_held_force(rig->work);
    struct cfg_arm_state *now = rig->arm;
    bool caught = false, lost = false;
    for (int n = 0; n < rig->scenario->arm.joint_count; n++) {
        const double needs = holding[rig->kinematics.v_at[n]];
        if (now->brake[n] == CFG_BRAKE_SLIPS && rate_of(rig, n) * now->rub[n] >= 0.0) {
            now->brake[n] = CFG_BRAKE_HOLDS;
            caught = true;
        } else if (now->brake[n] == CFG_BRAKE_HOLDS &&
                   fabs(needs) > rig->scenario->arm.joint[n].brake) {
            now->brake[n] = CFG_BRAKE_SLIPS;
            now->rub[n] = needs > 0.0 ? 1.0 : -1.0;
            lost = true;
        }
    }
    if (caught)
        (void)arrest(rig);
    else if (lost)
        cfg_rig_grip(rig);
    if (caught || lost)
        arm_motors(rig);
}
