/*
 * The arm of the shipped scenario, commanded by an operator frame by frame and without a clock:
 * what the operator holds and presses, and where everything is then.
 */
#pragma once

#include "config/scenario.h"
#include "dynamics/analysis/body_pose.h"
#include "dynamics/analysis/jacobian.h"
#include "dynamics/analysis/monitor.h"
#include "rt/executive/arm/arm.h"
#include "rt/executive/operator/operator.h"
#include "tests/rt/executive/frames.h"

enum { VERNIER = 6, BRAKES, GRAPPLE, RELEASE, SAFE, NEXT, SELECT = 16 };
enum { HOLD, JOINT, TOOL, BASE, PAYLOAD, AUTO }; /* buttons of modes */
enum { SERVO = 10 };                             /* frames */
enum { ORBITER, HAND = 6, SATELLITE, MODULE, FLYER, BODIES };

static const char anything[] =
    "arm.capture={reach: 100 m, tilt: 4 rad, speed: 100 m/s, rate: 100 rad/s}";

static struct sim_record_input hand; /* as the operator holds it */

static inline void bring_up_arm(const char *const *more, int count)
{
    char error[CFG_ERROR_MAX] = "";
    const char *overrides[8] = {"links.hand.bus=udp", "links.hand.listen=127.0.0.1:14590"};
    for (int i = 0; i < count; i++)
        overrides[2 + i] = more[i];
    bring_down();
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0,
        cfg_scenario_load(AIRBEARING_SCENARIOS "/rms.yaml", overrides, 2 + count, &scenario, error),
        error);
    sim = sim_create(&scenario->spec);
    sim->source.read_inputs = gather_nothing;
    frames = 0;
    hand = (struct sim_record_input){.command.kind = IO_COMMAND_CONTROLS};
}

static inline void send_hand(void)
{
    struct sim_record_input input = hand;
    input.frame = frames;
    sim_apply_input(sim, &input);
}

static inline void press(int button)
{
    if (sim->vehicle->link[0].commands == 0)
        send_hand(); /* how it stands at first is no press */
    hand.command.flags ^= 1ull << (32 + button);
    send_hand();
    run_frames(SERVO);
}

static inline void push(int control, double way)
{
    memset(hand.command.controls, 0, sizeof hand.command.controls);
    hand.command.controls[control] = (float)way;
    send_hand();
}

static inline void let_go(void)
{
    push(0, 0.0);
}

static inline const struct sim_arm_state *arm(void)
{
    return sim->vehicle->arm;
}

static inline double angle(int n)
{
    return sim->vehicle->x[sim->vehicle->kinematics.q_at[n]];
}

static inline double rate(int n)
{
    return sim->vehicle
        ->x[dyn_model_nq(sim->vehicle->plant.model) + sim->vehicle->kinematics.v_at[n]];
}

static inline double fastest(void)
{
    double most = 0.0;
    for (int n = 0; n < scenario->spec.arm.joint_count; n++)
        most = fmax(most, fabs(rate(n)));
    return most;
}

static inline struct dyn_monitor seen(void)
{
    const struct dyn_plant *plant = &sim->vehicle->plant;
    void *mem = aligned_alloc(64, (dyn_monitor_work_size(plant) / 64 + 1) * 64);
    struct dyn_monitor monitor;
    dyn_monitor_compute(plant, sim->vehicle->x, dyn_monitor_work_place(plant, mem), &monitor);
    free(mem);
    return monitor;
}

/* ---- where everything is ---- */

struct view {
    struct dyn_pose pose[BODIES];
    struct dyn_vec6 moves[BODIES];
};

static inline struct view view(void)
{
    const struct dyn_model *model = sim->vehicle->plant.model;
    void *mem = aligned_alloc(64, (dyn_tree_pose_size(model) / 64 + 1) * 64);
    struct dyn_tree_pose *scene = dyn_tree_pose_place(model, mem);
    struct view out;
    dyn_tree_pose_update(
        model, &(struct dyn_state){sim->vehicle->x, sim->vehicle->x + dyn_model_nq(model)}, scene);
    for (int i = 0; i < BODIES; i++) {
        out.pose[i] = dyn_body_pose(model, sim->vehicle->x, i);
        out.moves[i] = dyn_point_velocity(model, scene, &(struct dyn_point){.body = i});
    }
    free(mem);
    return out;
}

static inline double size_of(const double a[3])
{
    return dyn_norm(dyn_vec3_load(a));
}

static inline double apart(struct dyn_vec3 a, struct dyn_vec3 b)
{
    return dyn_norm(dyn_sub(a, b));
}

static inline double turn_between(struct dyn_quat a, struct dyn_quat b)
{
    const struct dyn_quat left =
        dyn_quat_mul(dyn_quat_conjugate(dyn_quat_unit(a)), dyn_quat_unit(b));
    return 2.0 * dyn_norm((struct dyn_vec3){left.x, left.y, left.z});
}

/* A body as seen from the orbiter. */
static inline struct dyn_pose in_bay(int body)
{
    const struct view now = view();
    return dyn_pose_between(&now.pose[ORBITER], &now.pose[body]);
}

static inline struct dyn_pose hand_pose(void)
{
    const struct dyn_pose body = in_bay(HAND);
    return dyn_pose_mul(&body, &scenario->spec.arm.grip);
}

/* The payload there where the hand would hold it, but for `off`. */
static inline void put_at_hand(int payload, const struct dyn_pose *off)
{
    const struct sim_payload *it = &scenario->spec.arm.payload[payload];
    const struct dyn_model *model = sim->vehicle->plant.model;
    const struct dyn_pose none = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    double *q = sim->vehicle->x + dyn_model_q_index(model, it->body);
    dyn_vec3_store(none.origin, q);
    dyn_quat_store(none.turn, q + 3);
    const struct dyn_pose seat = dyn_body_pose(model, sim->vehicle->x, it->body);
    const struct dyn_pose body = dyn_body_pose(model, sim->vehicle->x, HAND);
    const struct dyn_pose hand_there = dyn_pose_mul(&body, &scenario->spec.arm.grip);
    const struct dyn_pose fixture = dyn_pose_mul(&hand_there, off);
    const struct dyn_pose back = dyn_pose_between(&it->fixture, &none);
    const struct dyn_pose place = dyn_pose_mul(&fixture, &back);
    const struct dyn_pose joint = dyn_pose_between(&seat, &place);
    dyn_vec3_store(joint.origin, q);
    dyn_quat_store(dyn_quat_unit(joint.turn), q + 3);
    dyn_plant_restart(&sim->vehicle->plant, sim->vehicle->x);
}

static const struct dyn_pose exactly = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};

/* In the hand, as it is now, without a flight to it. */
static inline void take_at_once(int payload)
{
    put_at_hand(payload, &exactly);
    press(GRAPPLE);
    TEST_ASSERT_EQUAL_UINT64(1 + payload, arm()->configuration);
}

/* From the start down to the satellite, and take hold of it. */
static inline void fly_to_satellite(void)
{
    press(TOOL);
    push(0, 0.5);
    for (int i = 0; i < 60 && !(arm()->flags & SIM_ARM_CAPTURE_READY); i++) {
        run_frames(250);
        if (arm()->reach < 0.35)
            push(0, 0.1);
    }
    let_go();
    run_frames(2000);
    TEST_ASSERT_TRUE(arm()->flags & SIM_ARM_CAPTURE_READY);
    TEST_ASSERT_EQUAL_UINT64(1, arm()->near);
}

static inline void stand_at(const double *degrees)
{
    for (int n = 0; n < 6; n++)
        sim->vehicle->x[sim->vehicle->kinematics.q_at[n]] = degrees[n] * DEGREE;
    dyn_plant_restart(&sim->vehicle->plant, sim->vehicle->x);
    run_frames(SERVO);
}
