/*
 * Resolves an arm and its payloads: bodies and links become indices, and settings with which a
 * grapple would fail are refused.
 */
#include "config/resolve/resolve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- joints ---- */

static struct dyn_pose pose_of(const double at[3], const double attitude[4])
{
    return (struct dyn_pose){dyn_quat_load(attitude), dyn_vec3_load(at)};
}

/* An angle in radians and in degrees, for a message. */
static struct cfg_quote angle_text(double angle)
{
    struct cfg_quote words;
    snprintf(words.text, sizeof words.text, "%.10g rad (%.6g deg)", angle,
             angle * 180.0 / 3.14159265358979323846);
    return words;
}

/* Tolerance for angles that are written in deg in one file and in rad in the other. */
static const double typed = 1e-6;

/* No angle may be commanded beyond the joint's own stops. */
static bool check_limit(const struct cfg_resolve *resolve, const struct cfg_keys_arm_joint *keys,
                        const char *key, double limit, const struct sim_body *body)
{
    const struct sim_joint_range *own = &body->range;
    if (limit >= own->lower - typed * fabs(own->lower) &&
        limit <= own->upper + typed * fabs(own->upper))
        return true;
    return cfg_fail_at(
        resolve->report, keys->node, key, "%s of %s lies outside the joint's own range, %s to %s",
        key, angle_text(limit).text, angle_text(own->lower).text, angle_text(own->upper).text);
}

/* In many URDFs 0 means that the limit is not known. */
static bool check_top(const struct cfg_resolve *resolve, const struct cfg_keys_arm_joint *keys,
                      const char *key, const char *unit, double top, double own)
{
    if (own == 0.0 || top <= own * (1.0 + typed))
        return true;
    return cfg_fail_at(resolve->report, keys->node, key,
                       "%s of %.10g %s is above the %.10g %s that the URDF allows; lower it", key,
                       top, unit, own, unit);
}

/* The limits of the arm's keys, or else the joint's own stops, or else those of the URDF. */
static bool resolve_limits(const struct cfg_resolve *resolve, const struct cfg_keys_arm_joint *keys,
                           int n)
{
    struct sim_arm *arm = &resolve->scenario->spec.arm;
    const struct sim_body *body = &resolve->scenario->spec.bodies[arm->joint[n].body];
    double *lower = &arm->resolve.lower[n], *upper = &arm->resolve.upper[n];
    *lower = !isnan(keys->lower) ? keys->lower : body->range.lower;
    *upper = !isnan(keys->upper) ? keys->upper : body->range.upper;
    if (isfinite(*lower) != isfinite(*upper)) /* isinf() returns the sign, too */
        return cfg_fail_at(resolve->report, keys->node, NULL,
                           "the joint of \"%s\" has a limit at one end only; give lower and upper, "
                           "or neither",
                           body->name);
    if (*lower >= *upper)
        return cfg_fail_at(resolve->report, keys->node, "lower",
                           "lower, %s, is not below upper, %s", angle_text(*lower).text,
                           angle_text(*upper).text);
    if (!check_limit(resolve, keys, "lower", *lower, body) ||
        !check_limit(resolve, keys, "upper", *upper, body))
        return false;
    if (isinf(*lower))
        *lower = *upper = 0.0; /* none, to the kernel */
    else if (body->position[0] < *lower || body->position[0] > *upper)
        return cfg_fail_at(resolve->report, keys->node, NULL,
                           "the joint of \"%s\" starts at %s, outside its limits %s and %s",
                           body->name, angle_text(body->position[0]).text, angle_text(*lower).text,
                           angle_text(*upper).text);
    return true;
}

static bool resolve_joint(const struct cfg_resolve *resolve, const struct cfg_keys_arm_joint *keys,
                          int n)
{
    struct sim_arm *arm = &resolve->scenario->spec.arm;
    struct sim_arm_joint *joint = &arm->joint[n];
    if (!cfg_find_body(resolve, keys->node, "body", keys->body, &joint->body))
        return false;
    const struct sim_body *body = &resolve->scenario->spec.bodies[joint->body];
    if (body->spec.joint != DYN_JOINT_REVOLUTE || body->spec.mimic.on || body->held[0])
        return cfg_fail_at(resolve->report, keys->node, "body",
                           "the joint of \"%s\" is not a revolute one that can be driven; an arm's "
                           "joints turn, and are neither locked nor led",
                           body->name);
    if (n > 0 && joint->body <= arm->joint[n - 1].body)
        return cfg_fail_at(resolve->report, keys->node, "body",
                           "\"%s\" does not lie further out than the joint before it; list them "
                           "from the base out",
                           body->name);
    if (body->velocity[0] != 0.0)
        return cfg_fail_at(
            resolve->report, keys->node, "body",
            "the joint of \"%s\" starts at %.10g rad/s behind a brake that holds; an "
            "arm starts at rest",
            body->name, body->velocity[0]);
    joint->servo = (struct dyn_joint_servo_spec){keys->stiffness, keys->damping, keys->max_torque};
    if (!check_top(resolve, keys, "max_torque", "N m", keys->max_torque, body->range.effort) ||
        !check_top(resolve, keys, "max_rate", "rad/s", keys->max_rate, body->range.velocity))
        return false;
    joint->brake = isnan(keys->brake) ? keys->max_torque : keys->brake;
    arm->resolve.rate_max[n] = keys->max_rate;
    arm->resolve.braking[n] = isnan(keys->acceleration) ? keys->max_rate : keys->acceleration;
    return resolve_limits(resolve, keys, n);
}

static bool resolve_joints(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_arm *keys = &resolve->keys->arm;
    const struct cfg_keys_arm_joint *joints = keys->joints.items;
    struct sim_arm *arm = &resolve->scenario->spec.arm;
    for (int n = 0; n < keys->joints.count; n++)
        if (!resolve_joint(resolve, &joints[n], n))
            return false;
    arm->joint_count = arm->resolve.joints = keys->joints.count;
    arm->resolve.length = keys->resolve.length;
    arm->resolve.damped_below = keys->resolve.weak;
    arm->resolve.damping = keys->resolve.damping;
    arm->resolve.center_gain = keys->resolve.center > 0.0 ? 1.0 / keys->resolve.center : 0.0;
    return true;
}

/* ---- hand and base ---- */

static bool is_above(const struct cfg_scenario *scenario, int above, int body)
{
    while (body >= 0 && body != above)
        body = scenario->spec.bodies[body].spec.parent;
    return body == above;
}

static bool is_joint_of(const struct sim_arm *arm, int body)
{
    for (int n = 0; n < arm->joint_count; n++)
        if (arm->joint[n].body == body)
            return true;
    return false;
}

/* The arm's computer uses only the encoders of its joints. */
static bool check_between(const struct cfg_resolve *resolve)
{
    const struct cfg_scenario *scenario = resolve->scenario;
    const struct sim_arm *arm = &scenario->spec.arm;
    for (int i = arm->hand; i != arm->base; i = scenario->spec.bodies[i].spec.parent)
        if (scenario->spec.bodies[i].spec.joint != DYN_JOINT_FIXED && !is_joint_of(arm, i))
            return cfg_fail_at(resolve->report, resolve->keys->arm.node, "joints",
                               "the joint of \"%s\" lies between base and hand and is none of the "
                               "arm's; list it, or let it be fixed",
                               scenario->spec.bodies[i].name);
    return true;
}

static bool resolve_ends(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_arm *keys = &resolve->keys->arm;
    struct cfg_scenario *scenario = resolve->scenario;
    struct sim_arm *arm = &scenario->spec.arm;
    const int first = arm->joint[0].body;
    if (!cfg_find_body(resolve, keys->hand.node, "body", keys->hand.body, &arm->hand))
        return false;
    arm->grip = pose_of(keys->hand.at, keys->hand.attitude);
    arm->base = scenario->spec.bodies[first].spec.parent;
    if (keys->base != NULL && !cfg_find_body(resolve, keys->node, "base", keys->base, &arm->base))
        return false;
    for (int n = 0; n < arm->joint_count; n++)
        if (!is_above(scenario, arm->joint[n].body, arm->hand))
            return cfg_fail_at(resolve->report, keys->hand.node, "body",
                               "the hand's body \"%s\" does not hang from joint \"%s\"; a hand is "
                               "at the end of all joints",
                               scenario->spec.bodies[arm->hand].name,
                               scenario->spec.bodies[arm->joint[n].body].name);
    if (scenario->spec.bodies[arm->hand].flex != NULL)
        return cfg_fail_at(resolve->report, keys->hand.node, "body",
                           "the hand's body bends; fix a rigid one to its node and take that");
    if (arm->base < 0)
        return cfg_fail_at(resolve->report, keys->node, NULL,
                           "the arm's base is not a body; give it one that is fixed to the world");
    if (!is_above(scenario, arm->base, scenario->spec.bodies[first].spec.parent))
        return cfg_fail_at(resolve->report, keys->node, "base", "the arm does not stand on \"%s\"",
                           scenario->spec.bodies[arm->base].name);
    return check_between(resolve);
}

/* ---- the operator ---- */

static bool find_hand(const struct cfg_resolve *resolve, const struct cfg_node *node,
                      const char *name, int *index)
{
    if (!cfg_find_link(resolve, node, name, index))
        return false;
    return io_protocol_traits(resolve->scenario->spec.links[*index].spec.protocol)->hands ||
           cfg_fail_at(
               resolve->report, node, "link",
               "link \"%s\" is not a hand controller; the arm needs a link with protocol: hand",
               name);
}

static bool is_moved(const struct io_hand_spec *hand, int control)
{
    for (int i = 0; i < hand->axis_map_count; i++)
        if (hand->axis_map[i].control == control)
            return true;
    return false;
}

static bool resolve_stick(const struct cfg_resolve *resolve,
                          const struct cfg_keys_three_axis_stick *keys, int first,
                          struct sim_arm_stick *stick)
{
    if (!find_hand(resolve, keys->node, keys->link, &stick->link))
        return false;
    if (keys->controls.node != NULL && keys->controls.count != 3)
        return cfg_fail_at(resolve->report, keys->node, "controls",
                           "controls wants three numbers, of x, y and z; here are %d",
                           keys->controls.count);
    for (int k = 0; k < 3; k++) {
        const double control = keys->controls.node != NULL ? keys->controls.items[k] : first + k;
        if (control != floor(control))
            return cfg_fail_at(resolve->report, keys->node, "controls",
                               "controls go by whole numbers, from 0; here is %.10g", control);
        stick->control[k] = (int)control;
        if (!is_moved(&resolve->scenario->spec.links[stick->link].spec.hand, stick->control[k]))
            return cfg_fail_at(
                resolve->report, keys->node, keys->controls.node != NULL ? "controls" : "link",
                "no axis of link \"%s\" moves control %d, this stick's %c; add one to "
                "the link's axes, or name other controls",
                keys->link, stick->control[k], "xyz"[k]);
    }
    stick->speed = keys->speed;
    return true;
}

/* All functions of a button in order: modes, buttons, select. */
static int button_meaning(const struct io_arm_panel_spec *panel, int k, struct cfg_quote *name)
{
    if (k < IO_ARM_PANEL_MODE_COUNT) {
        snprintf(name->text, sizeof name->text, "mode %s", io_arm_panel_mode_name[k]);
        return panel->mode[k];
    }
    k -= IO_ARM_PANEL_MODE_COUNT;
    if (k < IO_ARM_PANEL_BUTTON_COUNT) {
        snprintf(name->text, sizeof name->text, "%s", io_arm_panel_button_name[k]);
        return panel->button[k];
    }
    k -= IO_ARM_PANEL_BUTTON_COUNT;
    snprintf(name->text, sizeof name->text, "select %d", k);
    return panel->select[k];
}

/* Each button has one function. */
static bool check_buttons(const struct cfg_resolve *resolve, const struct io_arm_panel_spec *panel)
{
    const struct cfg_keys_arm *keys = &resolve->keys->arm;
    const struct cfg_node *node = keys->buttons.node != NULL ? keys->buttons.node : keys->node;
    const int count = IO_ARM_PANEL_MODE_COUNT + IO_ARM_PANEL_BUTTON_COUNT + panel->select_count;
    for (int k = 0; k < count; k++) {
        for (int before = 0; before < k; before++) {
            struct cfg_quote first, second;
            const int button = button_meaning(panel, before, &first);
            if (button_meaning(panel, k, &second) == button && button >= 0)
                return cfg_fail_at(
                    resolve->report, node, NULL,
                    "button %d means two things, %s and %s; give one of them another", button,
                    first.text, second.text);
        }
    }
    return true;
}

/* A button beyond them would have no effect. */
static bool check_modes(const struct cfg_resolve *resolve, int link)
{
    const struct cfg_keys_link *keys =
        (const struct cfg_keys_link *)resolve->keys->links.items + link;
    if (keys->modes.count <= IO_ARM_PANEL_MODE_COUNT)
        return true;
    return cfg_fail_at(resolve->report, keys->node, "modes",
                       "%d modes, and an arm has %d: hold, joint, end-effector, base, payload and "
                       "auto; remove the others",
                       keys->modes.count, IO_ARM_PANEL_MODE_COUNT);
}

static bool resolve_buttons(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_arm *arm_keys = &resolve->keys->arm;
    const struct cfg_keys_buttons *keys = &arm_keys->buttons;
    struct sim_arm *arm = &resolve->scenario->spec.arm;
    struct io_arm_panel_spec *panel = &arm->panel;
    arm->button_link = arm->translation.link;
    if (keys->link != NULL && !find_hand(resolve, keys->node, keys->link, &arm->button_link))
        return false;
    const struct sim_link *link = &resolve->scenario->spec.links[arm->button_link];
    const struct io_hand_spec *hand = &link->spec.hand;
    if (hand->mode_count < 2)
        return cfg_fail_at(
            resolve->report, keys->node != NULL ? keys->node : arm_keys->node, NULL,
            "link \"%s\" has no mode but hold, which the arm would never leave; give "
            "it others, e.g. modes: [0, 1, 2, 3, 4, 5]",
            link->name);
    if (!check_modes(resolve, arm->button_link))
        return false;
    for (int k = 0; k < IO_ARM_PANEL_MODE_COUNT; k++)
        panel->mode[k] = k < hand->mode_count ? hand->mode_button[k] : -1;
    for (int k = 0; k < IO_ARM_PANEL_BUTTON_COUNT; k++)
        panel->button[k] = keys->node != NULL ? (int)keys->button[k] : -1;
    panel->select_count = keys->select.count;
    for (int k = 0; k < keys->select.count; k++) {
        if (keys->select.items[k] != floor(keys->select.items[k]))
            return cfg_fail_at(resolve->report, keys->node, "select",
                               "buttons go by whole numbers, from 0; here is %.10g",
                               keys->select.items[k]);
        panel->select[k] = (int)keys->select.items[k];
    }
    panel->joints = arm->joint_count;
    panel->poses = arm->pose_count;
    panel->settle = (uint32_t)llround(arm_keys->settle * arm_keys->servo);
    return check_buttons(resolve, panel);
}

static bool check_stiff(const struct cfg_resolve *resolve)
{
    const struct cfg_list *list = &resolve->keys->arm.joints;
    const struct cfg_keys_arm_joint *keys = list->items;
    for (int n = 0; n < list->count; n++)
        if (keys[n].stiffness == 0.0)
            return cfg_fail_at(resolve->report, keys[n].node, "stiffness",
                               "a servo without stiffness leads its joint to no pose; give it "
                               "some, or remove poses");
    return true;
}

static bool resolve_poses(const struct cfg_resolve *resolve)
{
    const struct cfg_list *list = &resolve->keys->arm.poses;
    const struct cfg_keys_pose *keys = list->items;
    struct sim_arm *arm = &resolve->scenario->spec.arm;
    const struct dyn_resolved_rate_spec *limits = &arm->resolve;
    if (list->count > 0 && !check_stiff(resolve))
        return false;
    for (int i = 0; i < list->count; i++) {
        if (keys[i].angles.count != arm->joint_count)
            return cfg_fail_at(resolve->report, keys[i].node, "angles",
                               "pose \"%s\" has %d angles, the arm %d joints", keys[i].name,
                               keys[i].angles.count, arm->joint_count);
        for (int k = 0; k < i; k++)
            if (strcmp(arm->pose[k].name, keys[i].name) == 0)
                return cfg_fail_at(resolve->report, keys[i].node, "name",
                                   "there is already a pose \"%s\"; choose another name",
                                   keys[i].name);
        strcpy(arm->pose[i].name, keys[i].name);
        for (int n = 0; n < arm->joint_count; n++) {
            const double angle = arm->pose[i].angle[n] = keys[i].angles.items[n];
            if (limits->lower[n] != limits->upper[n] &&
                (angle < limits->lower[n] || angle > limits->upper[n]))
                return cfg_fail_at(
                    resolve->report, keys[i].node, "angles",
                    "angle %d of pose \"%s\", %s, lies outside the joint's limits %s "
                    "and %s",
                    n, keys[i].name, angle_text(angle).text, angle_text(limits->lower[n]).text,
                    angle_text(limits->upper[n]).text);
        }
        arm->pose_count++;
    }
    return true;
}

/* ---- payloads ---- */

static bool check_bay(const struct cfg_resolve *resolve, const struct cfg_keys_payload *keys,
                      const struct sim_payload *payload)
{
    const struct cfg_scenario *scenario = resolve->scenario;
    const char *name = scenario->spec.bodies[payload->body].name;
    if (payload->bay < 0 || payload->bay == scenario->spec.arm.hand ||
        payload->bay == payload->body)
        return cfg_fail_at(resolve->report, keys->node, NULL,
                           "payload \"%s\" has no bay; name the body that it rides on when the "
                           "hand does not have it, e.g. bay: orbiter",
                           name);
    if (payload->body < scenario->spec.arm.hand || payload->body < payload->bay)
        return cfg_fail_at(resolve->report, keys->node, "body",
                           "\"%s\" must stand behind the arm and its bay in the list of bodies",
                           name);
    for (int i = 0; i < scenario->spec.body_count; i++)
        if (i != payload->body && is_above(scenario, payload->body, i))
            return cfg_fail_at(resolve->report, keys->node, "body",
                               "\"%s\" carries \"%s\"; a payload is one body", name,
                               scenario->spec.bodies[i].name);
    return true;
}

/* A held joint would keep its velocity for ever. */
static bool check_start(const struct cfg_resolve *resolve, const struct cfg_keys_payload *keys,
                        const struct sim_payload *payload)
{
    const struct sim_body *body = &resolve->scenario->spec.bodies[payload->body];
    if (keys->berth.node != NULL && !payload->latched)
        return cfg_fail_at(resolve->report, keys->node, "berth",
                           "\"%s\" does not start latched in its bay and has no berth; remove this",
                           body->name);
    for (int k = 0; k < DYN_JOINT_DOF_MAX; k++)
        if (body->held[k] && body->velocity[k] != 0.0)
            return cfg_fail_at(resolve->report, keys->node, "body",
                               "\"%s\" starts with a velocity, but is held by %s; let it start at "
                               "rest",
                               body->name, payload->in_hand ? "the hand" : "its bay");
    return true;
}

static bool place_payload(const struct cfg_resolve *resolve, const struct cfg_keys_payload *keys,
                          struct sim_payload *payload)
{
    struct cfg_scenario *scenario = resolve->scenario;
    struct sim_body *body = &scenario->spec.bodies[payload->body];
    const struct dyn_pose own = pose_of(body->spec.place_xyz, body->spec.place_quat);
    const struct dyn_pose here = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    if (body->spec.joint != DYN_JOINT_FREE || body->flex != NULL)
        return cfg_fail_at(resolve->report, keys->node, "body",
                           "payload \"%s\" must be rigid and on a free joint; write joint: {type: "
                           "free, position: ...}",
                           body->name);
    payload->in_hand = body->spec.parent == scenario->spec.arm.hand;
    payload->bay = payload->in_hand ? -1 : body->spec.parent;
    if (keys->bay != NULL && !cfg_find_body(resolve, keys->node, "bay", keys->bay, &payload->bay))
        return false;
    if (!payload->in_hand && payload->bay != body->spec.parent)
        return cfg_fail_at(resolve->report, keys->node, "bay",
                           "\"%s\" starts on neither its bay nor the hand; let one of them be its "
                           "parent",
                           body->name);
    payload->on_bay = payload->in_hand ? here : own;
    payload->on_hand = payload->in_hand ? own : scenario->spec.arm.grip;
    memcpy(payload->berth, body->position, sizeof payload->berth);
    payload->latched = !payload->in_hand && keys->latched == 1;
    for (int k = 0; k < DYN_JOINT_DOF_MAX; k++)
        body->held[k] = payload->in_hand || payload->latched;
    return check_start(resolve, keys, payload) && check_bay(resolve, keys, payload);
}

static bool resolve_payload(const struct cfg_resolve *resolve, const struct cfg_keys_payload *keys)
{
    struct sim_arm *arm = &resolve->scenario->spec.arm;
    struct sim_payload *payload = &arm->payload[arm->payload_count];
    if (!cfg_find_body(resolve, keys->node, "body", keys->body, &payload->body) ||
        !place_payload(resolve, keys, payload))
        return false;
    payload->fixture = pose_of(keys->fixture.at, keys->fixture.attitude);
    payload->speed = keys->speed;
    payload->berth_reach = keys->berth.reach;
    payload->berth_tilt = keys->berth.tilt;
    payload->berth_speed = keys->berth.speed;
    payload->berth_rate = keys->berth.rate;
    for (int i = 0; i < arm->payload_count; i++) {
        if (arm->payload[i].body == payload->body)
            return cfg_fail_at(resolve->report, keys->node, "body",
                               "\"%s\" is a payload already; remove one", keys->body);
        if (arm->payload[i].in_hand && payload->in_hand)
            return cfg_fail_at(resolve->report, keys->node, "body",
                               "the hand has another payload already at the start");
    }
    arm->payload_count++;
    return true;
}

static bool resolve_payloads(const struct cfg_resolve *resolve)
{
    const struct cfg_list *list = &resolve->keys->payloads;
    const struct cfg_keys_payload *keys = list->items;
    for (int i = 0; i < list->count; i++)
        if (!resolve_payload(resolve, &keys[i]))
            return false;
    return true;
}

bool cfg_resolve_arm(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_arm *keys = &resolve->keys->arm;
    struct sim_arm *arm = &resolve->scenario->spec.arm;
    if (keys->node == NULL)
        return resolve->keys->payloads.count == 0 ||
               cfg_fail_at(resolve->report, resolve->keys->node, "payloads",
                           "there is no arm that could carry them; add arm, or remove them");
    arm->vernier = keys->vernier;
    arm->carries_weight = keys->weight == 1;
    arm->still = keys->still;
    arm->capture_reach = keys->capture.reach;
    arm->capture_tilt = keys->capture.tilt;
    arm->capture_speed = keys->capture.speed;
    arm->capture_rate = keys->capture.rate;
    return cfg_frames_per(resolve, keys->node, "servo", keys->servo, &arm->every) &&
           resolve_joints(resolve) && resolve_ends(resolve) &&
           resolve_stick(resolve, &keys->translation, 0, &arm->translation) &&
           resolve_stick(resolve, &keys->rotation, 3, &arm->rotation) && resolve_poses(resolve) &&
           resolve_buttons(resolve) && resolve_payloads(resolve);
}
