/*
 * The operator's panel: what his buttons have set, for an arm.
 *
 *      mode k      drive that way; leaves safing, lets the brakes go unless it is hold
 *      vernier     fine or coarse, in turns
 *      brakes      on or off, in turns
 *      grapple     asks once
 *      release     asks once
 *      safe        hold, brakes on at once, as long as it is down; both last until a mode is chosen
 *      next        the next joint (mode joint)
 *      select k    joint k (mode joint), or off to pose k (mode auto)
 *
 * A press is a bit that flips (io/protocol/hand.h), so one that came and went between two commands
 * is seen.  All commands are heard, and what was pressed is kept for the next look: two presses are
 * one, but where a button works in turns they are none (io_arm_panel_idempotent_buttons()).  Of
 * several modes the one that was pressed last counts.  The safe button stops the arm also by being
 * down.  When the operator is lost the arm stops as with mode hold, and stays safed until a mode is
 * chosen that he is there for.
 *
 * In hold the brakes come on by themselves once the joints are still, or at the latest `settle`
 * looks after the stop.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum io_arm_panel_mode {
    IO_ARM_PANEL_HOLD,
    IO_ARM_PANEL_JOINT,
    IO_ARM_PANEL_TOOL,    /* resolved rate in the hand's axes */
    IO_ARM_PANEL_BASE,    /* in those of the base */
    IO_ARM_PANEL_PAYLOAD, /* in those of what the hand carries, about its origin */
    IO_ARM_PANEL_AUTO,    /* to a stored pose */
    IO_ARM_PANEL_MODE_COUNT
};

enum io_arm_panel_button {
    IO_ARM_PANEL_VERNIER,
    IO_ARM_PANEL_BRAKES,
    IO_ARM_PANEL_GRAPPLE,
    IO_ARM_PANEL_RELEASE,
    IO_ARM_PANEL_SAFE,
    IO_ARM_PANEL_NEXT,
    IO_ARM_PANEL_BUTTON_COUNT
};

enum { IO_ARM_PANEL_SELECT_MAX = 16 };

/* As a scenario, a report and a page call them. */
extern const char *const io_arm_panel_mode_name[IO_ARM_PANEL_MODE_COUNT];
extern const char *const io_arm_panel_button_name[IO_ARM_PANEL_BUTTON_COUNT];

struct io_arm_panel_spec {
    int mode[IO_ARM_PANEL_MODE_COUNT];     /* button of each mode; -1: there is none */
    int button[IO_ARM_PANEL_BUTTON_COUNT]; /* -1: there is none */
    int select_count;
    int select[IO_ARM_PANEL_SELECT_MAX];
    int joints, poses;
    uint32_t settle; /* looks */
};

/* Run state; every byte is part of the hash. */
struct io_arm_panel_state {
    uint64_t presses; /* as last heard */
    uint64_t mode, joint, vernier, brakes, safed;
    uint64_t pose;                  /* 1 + index of the pose it goes to; 0: none */
    uint64_t grapple, release;      /* 1: asked for, in this look */
    uint64_t held;                  /* looks since hold began */
    uint64_t pressed, latched_mode; /* for the next look: buttons, and 1 + the last mode of them */
    uint64_t lost_since_update; /* the same: 1, he was lost since the last, if he is back or not */
};
_Static_assert(sizeof(struct io_arm_panel_state) == 13 * 8, "no pads in the run state");

/* In hold, brakes on.  Context: setup. */
void io_arm_panel_begin(struct io_arm_panel_state *state);

/* The buttons stand so, and that is no news: the state was put back, the operator's hand was not.
 * Context: frame. */
void io_arm_panel_adopt_buttons(struct io_arm_panel_state *state, uint32_t presses);

/* As if the operator were lost: hold, until a mode is chosen.  Context: frame. */
void io_arm_panel_stop(struct io_arm_panel_state *state);

/* As the safe button, by who has no hand on the panel; a mode that was pressed before it and not
 * yet looked at does not undo it.  Context: frame. */
void io_arm_panel_stop_and_brake(struct io_arm_panel_state *state);

/* The buttons of which a second press within a look adds nothing: all but those that work in turns.
 * Context: setup. */
uint32_t io_arm_panel_idempotent_buttons(const struct io_arm_panel_spec *spec);

/* A command (io/protocol/hand.h).  Context: frame. */
void io_arm_panel_latch_command(const struct io_arm_panel_spec *spec, uint64_t flags, uint64_t mode,
                                struct io_arm_panel_state *state);

/* The operator was lost: the next look stops the arm, even if he is back by then.  Context: frame.
 */
void io_arm_panel_mark_lost(struct io_arm_panel_state *state);

/* One look.  flags: of the newest command, 0 before the first; still: no joint moves to speak of.
 * Context: frame. */
void io_arm_panel_update(const struct io_arm_panel_spec *spec, uint64_t flags, bool lost,
                         bool still, struct io_arm_panel_state *state);
