#include "dynamics/arm/arm_kinematics.h"

#include <math.h>
#include <string.h>

#include "dynamics/analysis/body_pose.h"
#include "dynamics/analysis/jacobian.h"
#include "dynamics/analysis/rnea.h"
#include "dynamics/check.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/layout.h"

struct dyn_arm_work {
    struct dyn_tree_pose *tree_pose;
    struct dyn_work *kernel;
    double *q, *v; /* as the encoders have it; at rest */
    double *J;     /* 6 x nv */
    double *tau;   /* nv */
};

static size_t lay_out_arm_work(struct dyn_arm_work *work, void *mem, const struct dyn_model *model)
{
    const size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    size_t at = 0;
    (void)dyn_layout_cut(mem, &at, sizeof *work);
    work->tree_pose = dyn_layout_cut(mem, &at, dyn_tree_pose_size(model));
    work->kernel = dyn_layout_cut(mem, &at, dyn_work_size(model));
    work->q = dyn_layout_cut(mem, &at, nq * sizeof *work->q);
    work->v = dyn_layout_cut(mem, &at, nv * sizeof *work->v);
    work->J = dyn_layout_cut(mem, &at, 6 * nv * sizeof *work->J);
    work->tau = dyn_layout_cut(mem, &at, nv * sizeof *work->tau);
    return at;
}

size_t dyn_arm_work_size(const struct dyn_model *model)
{
    struct dyn_arm_work probe;
    return lay_out_arm_work(&probe, NULL, model);
}

struct dyn_arm_work *dyn_arm_work_place(const struct dyn_model *model, void *mem)
{
    struct dyn_arm_work *work = mem;
    memset(mem, 0, dyn_arm_work_size(model));
    lay_out_arm_work(work, mem, model);
    (void)dyn_tree_pose_place(model, work->tree_pose);
    (void)dyn_work_place(model, work->kernel);
    for (int i = 0; i < model->body_count; i++)
        dyn_joint_zero(&model->spec[i], work->q + model->q_index[i]);
    return work;
}

/* --- the commanded motion ------------------------------------------------------------- */

static void read_encoders(const struct dyn_arm *arm, const double *q, double *angles)
{
    for (int n = 0; n < arm->resolve.joints; n++)
        angles[n] = q[arm->q_at[n]];
}

/* The state in which every mode and every other joint is at rest, and the base in its zero
 * pose. */
static void set_encoder_state(const struct dyn_arm *arm, const double *q, struct dyn_arm_work *work)
{
    for (int n = 0; n < arm->resolve.joints; n++)
        work->q[arm->q_at[n]] = q[arm->q_at[n]];
}

static void update_encoder_pose(const struct dyn_arm *arm, const double *q,
                                struct dyn_arm_work *work)
{
    set_encoder_state(arm, q, work);
    dyn_tree_pose_update(arm->model, &(struct dyn_state){work->q, work->v}, work->tree_pose);
}

/* J of the tool, world axes: the arm's columns only, side by side. */
static void tool_jacobian(const struct dyn_arm *arm, struct dyn_vec3 at, struct dyn_arm_work *work,
                          double *J)
{
    const int nv = arm->model->nv, joints = arm->resolve.joints;
    struct dyn_point point = {.body = arm->hand};
    dyn_vec3_store(at, point.at);
    dyn_jacobian(arm->model, work->tree_pose, &point, work->J);
    for (int i = 0; i < 6; i++)
        for (int n = 0; n < joints; n++)
            J[i * joints + n] = work->J[i * nv + arm->v_at[n]];
}

static void rotate_twist(struct dyn_quat turn, const double from[6], double to[6])
{
    dyn_vec3_store(dyn_quat_rotate(turn, dyn_vec3_load(from)), to);
    dyn_vec3_store(dyn_quat_rotate(turn, dyn_vec3_load(from + 3)), to + 3);
}

unsigned dyn_arm_resolved_rate(const struct dyn_arm *arm, const double *q,
                               const struct dyn_pose *tool, int in_tool_axes, const double twist[6],
                               struct dyn_arm_work *work, double asked[6], double *rates)
{
    double J[6 * DYN_ARM_JOINT_MAX], angles[DYN_ARM_JOINT_MAX], in_world[6];
    update_encoder_pose(arm, q, work);
    const struct dyn_pose base = dyn_body_pose(arm->model, work->q, arm->base);
    const struct dyn_pose hand = dyn_body_pose(arm->model, work->q, arm->hand);
    const struct dyn_pose on_hand = dyn_pose_mul(&arm->grip, tool);
    const struct dyn_pose there = dyn_pose_mul(&hand, &on_hand);

    rotate_twist(in_tool_axes ? there.turn : base.turn, twist, in_world);
    rotate_twist(dyn_quat_conjugate(base.turn), in_world, asked);
    tool_jacobian(arm, on_hand.origin, work, J);
    read_encoders(arm, q, angles);
    return dyn_resolved_rate(&arm->resolve, J, in_world, angles, rates);
}

unsigned dyn_arm_single_joint(const struct dyn_arm *arm, const double *q, int joint, double rate,
                              double *rates)
{
    double angles[DYN_ARM_JOINT_MAX];
    DYN_CHECK(joint >= 0 && joint < arm->resolve.joints);
    read_encoders(arm, q, angles);
    for (int n = 0; n < arm->resolve.joints; n++)
        rates[n] = n == joint ? rate : 0.0;
    return dyn_resolved_rate_limit(&arm->resolve, angles, rates);
}

/* A joint may go so fast over what is left that it can still brake, and slows down at the end as
 * 1/s, lest the last rounding be chased to and fro: rate^2 + 2 end rate = 2 braking left. */
static double braking_rate(const struct dyn_resolved_rate_spec *resolve, int n, double left)
{
    static const double settle = 2.0; /* 1/s */
    const double end = resolve->braking[n] / settle;
    const double square = 2.0 * resolve->braking[n] * left;
    double rate = square / (sqrt(end * end + square) + end); /* the last rounding too is some way */
    if (resolve->rate_max[n] > 0.0)
        rate = fmin(rate, resolve->rate_max[n]);
    return rate / left;
}

unsigned dyn_arm_rates_to_pose(const struct dyn_arm *arm, const double *angles, const double *pose,
                               double *rates, double *largest_angle)
{
    double pace = HUGE_VAL;
    *largest_angle = 0.0;
    for (int n = 0; n < arm->resolve.joints; n++) {
        rates[n] = pose[n] - angles[n];
        *largest_angle = fmax(*largest_angle, fabs(rates[n]));
        if (rates[n] != 0.0)
            pace = fmin(pace, braking_rate(&arm->resolve, n, fabs(rates[n])));
    }
    for (int n = 0; n < arm->resolve.joints; n++)
        rates[n] = *largest_angle > 0.0 ? pace * rates[n] : 0.0;
    return dyn_resolved_rate_limit(&arm->resolve, angles, rates) &
           ~(unsigned)DYN_RESOLVED_RATE_SLOWED;
}

void dyn_arm_gravity_torques(const struct dyn_arm *arm, const double *q, const double gravity[3],
                             struct dyn_arm_work *work, double *torques)
{
    struct dyn_input input = {0};
    set_encoder_state(arm, q, work);
    const struct dyn_pose base = dyn_body_pose(arm->model, work->q, arm->base);
    dyn_vec3_store(dyn_quat_rotate(base.turn, dyn_vec3_load(gravity)), input.gravity);
    dyn_rnea_without_joint_forces(arm->model, &(struct dyn_state){work->q, work->v}, work->v,
                                  &input, work->kernel, work->tau);
    for (int n = 0; n < arm->resolve.joints; n++)
        torques[n] = work->tau[arm->v_at[n]];
}

/* --- where the hand is ------------------------------------------------------------------------ */

static struct dyn_pose hand_pose(const struct dyn_arm *arm, const double *q)
{
    const struct dyn_pose body = dyn_body_pose(arm->model, q, arm->hand);
    return dyn_pose_mul(&body, &arm->grip);
}

/* Of a point of a body, given in the world; world axes.  After dyn_tree_pose_update(). */
static struct dyn_vec6 velocity_at(const struct dyn_arm *arm, const struct dyn_arm_work *work,
                                   const double *q, int body, struct dyn_vec3 there)
{
    const struct dyn_pose pose = dyn_body_pose(arm->model, q, body);
    const struct dyn_quat back = dyn_quat_conjugate(dyn_quat_unit(pose.turn));
    struct dyn_point point = {.body = body};
    dyn_vec3_store(dyn_quat_rotate(back, dyn_sub(there, pose.origin)), point.at);
    return dyn_point_velocity(arm->model, work->tree_pose, &point);
}

/* Of the hand against a point of the body where the hand is. */
static struct dyn_vec6 hand_relative_velocity(const struct dyn_arm *arm,
                                              const struct dyn_arm_work *work, const double *q,
                                              int body, struct dyn_vec3 there)
{
    const struct dyn_vec6 hand = velocity_at(arm, work, q, arm->hand, there);
    const struct dyn_vec6 other = velocity_at(arm, work, q, body, there);
    return dyn_axpy6(&hand, -1.0, &other);
}

void dyn_arm_hand_motion(const struct dyn_arm *arm, const struct dyn_state *state,
                         struct dyn_arm_work *work, struct dyn_pose *pose, double twist[6])
{
    const struct dyn_pose base = dyn_body_pose(arm->model, state->q, arm->base);
    const struct dyn_pose grip = hand_pose(arm, state->q);
    const struct dyn_quat back = dyn_quat_conjugate(dyn_quat_unit(base.turn));
    dyn_tree_pose_update(arm->model, state, work->tree_pose);
    const struct dyn_vec6 moves =
        hand_relative_velocity(arm, work, state->q, arm->base, grip.origin);
    *pose = dyn_pose_between(&base, &grip);
    dyn_vec3_store(dyn_quat_rotate(back, moves.ang), twist);
    dyn_vec3_store(dyn_quat_rotate(back, moves.lin), twist + 3);
}

void dyn_arm_update(const struct dyn_arm *arm, const struct dyn_state *state,
                    struct dyn_arm_work *work)
{
    dyn_tree_pose_update(arm->model, state, work->tree_pose);
}

struct dyn_tool_gap dyn_arm_gap(const struct dyn_arm *arm, const struct dyn_state *state,
                                const struct dyn_pose *tool, int body, const struct dyn_pose *frame,
                                struct dyn_arm_work *work)
{
    const struct dyn_pose place = dyn_body_pose(arm->model, state->q, body);
    const struct dyn_pose target = dyn_pose_mul(&place, frame), grip = hand_pose(arm, state->q);
    const struct dyn_pose from = dyn_pose_mul(&grip, tool);
    const struct dyn_pose left = dyn_pose_between(&from, &target);
    const struct dyn_vec6 moves = hand_relative_velocity(arm, work, state->q, body, from.origin);
    return (struct dyn_tool_gap){.reach = dyn_norm(left.origin),
                                 .tilt = dyn_turn_angle(left.turn),
                                 .closing = dyn_norm(moves.lin),
                                 .spin = dyn_norm(moves.ang)};
}
