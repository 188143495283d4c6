/*
 * Kinematics of an arm's controller: joint rates from the commanded motion of the hand.
 *
 * The controller knows the arm from its encoders, as if nothing bent, relative to its base.
 * Frames:
 *
 *      base ──joints──> hand body ──grip──> hand ──carried──> tool
 *
 * The tool is the hand itself, or a payload that it carries.  A twist is commanded for the tool,
 * in its own axes or in those of the base.
 */
#pragma once

#include "dynamics/arm/resolved_rate.h"
#include "dynamics/math/spatial.h"
#include "dynamics/model.h"
#include "dynamics/state.h"

struct dyn_arm {
    const struct dyn_model *model; /* with nothing in the hand */
    int base, hand;                /* bodies */
    struct dyn_pose grip;          /* of the hand on its body */
    int q_at[DYN_ARM_JOINT_MAX], v_at[DYN_ARM_JOINT_MAX];
    struct dyn_resolved_rate_spec resolve;
};

struct dyn_arm_work; /* scratch; means nothing between two calls */

/* Bytes for a work, and the work laid out in mem, 64-byte aligned and owned by the caller.
 * Context: setup. */
size_t dyn_arm_work_size(const struct dyn_model *model);
struct dyn_arm_work *dyn_arm_work_place(const struct dyn_model *model, void *mem);

/* Rates that move the tool by `twist` (angular first, rad/s and m/s), in tool or base axes; tool:
 * seen from the hand.  asked: the twist in base axes.  q: of the whole model.  Returns flags of
 * dynamics/arm/resolved_rate.h.  Context: frame. */
unsigned dyn_arm_resolved_rate(const struct dyn_arm *arm, const double *q,
                               const struct dyn_pose *tool, int in_tool_axes, const double twist[6],
                               struct dyn_arm_work *work, double asked[6], double *rates);

/* Rates of one joint alone.  Context: frame. */
unsigned dyn_arm_single_joint(const struct dyn_arm *arm, const double *q, int joint, double rate,
                              double *rates);

/* Rates that lead from some angles to a pose on a straight line through the joints, as fast as the
 * slowest allows; there, they are zero.  far: the largest way left, rad.  Context: frame. */
unsigned dyn_arm_rates_to_pose(const struct dyn_arm *arm, const double *angles, const double *pose,
                               double *rates, double *largest_angle);

/* The motor torques that carry the arm's own weight in the pose of its encoders, one per joint,
 * without the springs and stops of the joints.  gravity: in base axes.  Context: frame. */
void dyn_arm_gravity_torques(const struct dyn_arm *arm, const double *q, const double gravity[3],
                             struct dyn_arm_work *work, double *torques);

/* The hand as it is, bent booms and all, against the base: where, in base axes, and how it moves
 * there, angular first.  Context: frame. */
void dyn_arm_hand_motion(const struct dyn_arm *arm, const struct dyn_state *state,
                         struct dyn_arm_work *work, struct dyn_pose *pose, double twist[6]);

/* How far the tool is from a frame of a body: way and turn, and how fast it moves and turns against
 * it. */
struct dyn_tool_gap {
    double reach, tilt;   /* m, rad */
    double closing, spin; /* m/s, rad/s */
};

/* Update the poses of the tree for the calls of dyn_arm_gap() that follow.  Context: frame. */
void dyn_arm_update(const struct dyn_arm *arm, const struct dyn_state *state,
                    struct dyn_arm_work *work);

/* tool: seen from the hand, at rest there.  The state is the one that was seen.  Context: frame. */
struct dyn_tool_gap dyn_arm_gap(const struct dyn_arm *arm, const struct dyn_state *state,
                                const struct dyn_pose *tool, int body, const struct dyn_pose *frame,
                                struct dyn_arm_work *work);
