#include "tools/airbearing/live/arm_description.h"
#include "config/scenario.h"

#include <jansson.h>

#include "rt/check.h"

static json_t *describe_joints(const struct cfg_scenario *scenario)
{
    const struct sim_arm *arm = &scenario->spec.arm;
    json_t *joints = json_array();
    for (int n = 0; n < arm->joint_count; n++) {
        const bool bounded = arm->resolve.lower[n] != arm->resolve.upper[n];
        json_array_append_new(joints, json_pack("{s:s, s:f, s:f, s:f, s:f, s:b}", "name",
                                                scenario->spec.bodies[arm->joint[n].body].name,
                                                "lower", bounded ? arm->resolve.lower[n] : -3.15,
                                                "upper", bounded ? arm->resolve.upper[n] : 3.15,
                                                "rate_max", arm->resolve.rate_max[n], "torque_max",
                                                arm->joint[n].servo.torque_max, "turns", 1));
    }
    return joints;
}

static json_t *describe_buttons(const struct io_arm_panel_spec *panel)
{
    json_t *buttons = json_object();
    for (int k = 0; k < IO_ARM_PANEL_BUTTON_COUNT; k++)
        if (panel->button[k] >= 0)
            json_object_set_new(buttons, io_arm_panel_button_name[k],
                                json_integer(panel->button[k]));
    return buttons;
}

static json_t *numbers(const int *from, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_integer(from[i]));
    return list;
}

/* The limits of position, angle and speed for a grapple; then, by payload, those of its berth,
 * null without one. */
static json_t *describe_gaps(const struct sim_arm *arm)
{
    json_t *gaps = json_array();
    json_array_append_new(
        gaps, json_pack("[f, f, f]", arm->capture_reach, arm->capture_tilt, arm->capture_speed));
    for (int i = 0; i < arm->payload_count; i++) {
        const struct sim_payload *it = &arm->payload[i];
        json_array_append_new(gaps, it->latched ? json_pack("[f, f, f]", it->berth_reach,
                                                            it->berth_tilt, it->berth_speed)
                                                : json_array());
    }
    return gaps;
}

char *arm_description(const struct cfg_scenario *scenario)
{
    const struct sim_arm *arm = &scenario->spec.arm;
    if (arm->joint_count == 0)
        return NULL;
    json_t *modes = json_array(), *payloads = json_array(), *poses = json_array();
    for (int k = 0; k < IO_ARM_PANEL_MODE_COUNT; k++)
        json_array_append_new(modes, json_string(io_arm_panel_mode_name[k]));
    for (int i = 0; i < arm->payload_count; i++)
        json_array_append_new(payloads,
                              json_string(scenario->spec.bodies[arm->payload[i].body].name));
    for (int i = 0; i < arm->pose_count; i++)
        json_array_append_new(poses, json_string(arm->pose[i].name));
    json_t *all = json_pack(
        "{s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:{s:f, s:f}}", "joints",
        describe_joints(scenario), "hand", scenario->spec.bodies[arm->hand].name, "base",
        scenario->spec.bodies[arm->base].name, "modes", modes, "mode_buttons",
        numbers(arm->panel.mode, IO_ARM_PANEL_MODE_COUNT), "buttons", describe_buttons(&arm->panel),
        "select", numbers(arm->panel.select, arm->panel.select_count), "payloads", payloads,
        "poses", poses, "gaps", describe_gaps(arm), "link", arm->translation.link, "speed",
        "translation", arm->translation.speed, "rotation", arm->rotation.speed);
    RT_CHECK(all != NULL);
    char *text = json_dumps(all, JSON_COMPACT);
    json_decref(all);
    return text;
}
