#include "io/device/arm_panel.h"

const char *const io_arm_panel_mode_name[IO_ARM_PANEL_MODE_COUNT] = {
    [IO_ARM_PANEL_HOLD] = "hold",         [IO_ARM_PANEL_JOINT] = "joint",
    [IO_ARM_PANEL_TOOL] = "end-effector", [IO_ARM_PANEL_BASE] = "base",
    [IO_ARM_PANEL_PAYLOAD] = "payload",   [IO_ARM_PANEL_AUTO] = "auto",
};

const char *const io_arm_panel_button_name[IO_ARM_PANEL_BUTTON_COUNT] = {
    [IO_ARM_PANEL_VERNIER] = "vernier", [IO_ARM_PANEL_BRAKES] = "brakes",
    [IO_ARM_PANEL_GRAPPLE] = "grapple", [IO_ARM_PANEL_RELEASE] = "release",
    [IO_ARM_PANEL_SAFE] = "safe",       [IO_ARM_PANEL_NEXT] = "next",
};

void io_arm_panel_begin(struct io_arm_panel_state *state)
{
    *state = (struct io_arm_panel_state){.mode = IO_ARM_PANEL_HOLD, .brakes = 1};
}

uint32_t io_arm_panel_idempotent_buttons(const struct io_arm_panel_spec *spec)
{
    uint32_t once = 0;
    for (int k = 0; k < IO_ARM_PANEL_MODE_COUNT; k++)
        once |= spec->mode[k] >= 0 ? 1u << spec->mode[k] : 0;
    for (int k = 0; k < spec->select_count; k++)
        once |= spec->select[k] >= 0 ? 1u << spec->select[k] : 0;
    for (int k = 0; k < IO_ARM_PANEL_BUTTON_COUNT; k++)
        if (spec->button[k] >= 0 && k != IO_ARM_PANEL_VERNIER && k != IO_ARM_PANEL_BRAKES)
            once |= 1u << spec->button[k];
    return once;
}

void io_arm_panel_adopt_buttons(struct io_arm_panel_state *state, uint32_t presses)
{
    state->presses = presses;
    state->pressed = state->latched_mode = 0;
}

static bool is_pressed(uint32_t pressed, int button)
{
    return button >= 0 && (pressed >> button & 1);
}

static void choose_mode(uint64_t mode, struct io_arm_panel_state *state)
{
    state->mode = mode;
    state->safed = 0;
    state->pose = 0;
    state->held = 0;
    if (mode != IO_ARM_PANEL_HOLD)
        state->brakes = 0;
}

static void enter_hold(bool brakes, struct io_arm_panel_state *state)
{
    choose_mode(IO_ARM_PANEL_HOLD, state);
    state->safed = 1;
    if (brakes)
        state->brakes = 1;
}

static void select_item(const struct io_arm_panel_spec *spec, int k,
                        struct io_arm_panel_state *state)
{
    if (state->mode == IO_ARM_PANEL_JOINT && k < spec->joints)
        state->joint = (uint64_t)k;
    if (state->mode == IO_ARM_PANEL_AUTO && k < spec->poses)
        state->pose = 1 + (uint64_t)k;
}

/* A stop acts last, so that no button pressed together with it undoes it; and it lasts as long
 * as the button is down. */
static void apply_presses(const struct io_arm_panel_spec *spec, uint32_t pressed, uint32_t down,
                          struct io_arm_panel_state *state)
{
    if (state->latched_mode - 1 < IO_ARM_PANEL_MODE_COUNT)
        choose_mode(state->latched_mode - 1, state);
    for (int k = 0; k < spec->select_count; k++)
        if (is_pressed(pressed, spec->select[k]))
            select_item(spec, k, state);
    if (is_pressed(pressed, spec->button[IO_ARM_PANEL_NEXT]) && state->mode == IO_ARM_PANEL_JOINT)
        state->joint = (state->joint + 1) % (uint64_t)spec->joints;
    if (is_pressed(pressed, spec->button[IO_ARM_PANEL_VERNIER]))
        state->vernier ^= 1;
    if (is_pressed(pressed, spec->button[IO_ARM_PANEL_BRAKES]))
        state->brakes = state->safed ? 1 : state->brakes ^ 1;
    state->grapple = is_pressed(pressed, spec->button[IO_ARM_PANEL_GRAPPLE]);
    state->release = is_pressed(pressed, spec->button[IO_ARM_PANEL_RELEASE]);
    if (is_pressed(pressed | down, spec->button[IO_ARM_PANEL_SAFE]))
        enter_hold(true, state);
}

/* The brakes come on when the arm has come to rest, and only once: when the operator releases
 * them in hold, the servos hold the arm. */
static void settle(const struct io_arm_panel_spec *spec, bool still,
                   struct io_arm_panel_state *state)
{
    if (state->mode != IO_ARM_PANEL_HOLD || state->held > spec->settle)
        return;
    state->held++;
    if (still || state->held > spec->settle) {
        state->brakes = 1;
        state->held = (uint64_t)spec->settle + 1;
    }
}

void io_arm_panel_stop(struct io_arm_panel_state *state)
{
    enter_hold(state->brakes, state);
}

void io_arm_panel_stop_and_brake(struct io_arm_panel_state *state)
{
    enter_hold(true, state);
    state->latched_mode = 0;
}

/* A hand controller reports which mode was pressed last; a device that does not has pressed only
 * one. */
static uint64_t last_mode(const struct io_arm_panel_spec *spec, uint32_t pressed, uint64_t mode)
{
    if (mode < IO_ARM_PANEL_MODE_COUNT && is_pressed(pressed, spec->mode[mode]))
        return 1 + mode;
    for (uint64_t k = IO_ARM_PANEL_MODE_COUNT; k > 0; k--)
        if (is_pressed(pressed, spec->mode[k - 1]))
            return k;
    return 0;
}

void io_arm_panel_latch_command(const struct io_arm_panel_spec *spec, uint64_t flags, uint64_t mode,
                                struct io_arm_panel_state *state)
{
    const uint32_t presses = (uint32_t)(flags >> 32), once = io_arm_panel_idempotent_buttons(spec);
    const uint32_t now = presses ^ (uint32_t)state->presses, before = (uint32_t)state->pressed;
    const uint64_t last = last_mode(spec, now, mode);
    state->presses = presses;
    state->pressed = ((before | now) & once) | ((before ^ now) & ~once);
    if (last != 0)
        state->latched_mode = last;
}

void io_arm_panel_mark_lost(struct io_arm_panel_state *state)
{
    state->lost_since_update = 1;
}

void io_arm_panel_update(const struct io_arm_panel_spec *spec, uint64_t flags, bool lost,
                         bool still, struct io_arm_panel_state *state)
{
    const bool braked = state->brakes;
    apply_presses(spec, (uint32_t)state->pressed, (uint32_t)flags, state);
    state->pressed = state->latched_mode = 0;
    if ((lost || state->lost_since_update) && !state->safed)
        enter_hold(braked, state);
    state->lost_since_update = 0;
    settle(spec, still, state);
}
