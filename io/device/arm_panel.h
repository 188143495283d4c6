/*
 * The buttons of an arm operator: mode, vernier, brakes, grapple, release, stop.
 *
 *      mode k      selects mode k; ends the safe state, and releases the brakes unless it is hold
 *      vernier     toggles between fine and coarse
 *      brakes      toggles the brakes
 *      grapple     requests a grapple, once
 *      release     requests a release, once
 *      safe        hold, brakes on at once, while it is down; both last until a mode is chosen
 *      next        selects the next joint (mode joint)
 *      select k    selects joint k (mode joint), or moves to pose k (mode auto)
 *
 * A press is a bit that flips (io/protocol/hand.h), so a press between two commands is seen.  Every
 * command is read, and what was pressed is kept for the next update: two presses of a button count
 * as one, and two presses of a toggle as none (io_arm_panel_idempotent_buttons()).  Of several
 * modes the one that was pressed last counts.  The safe button stops the arm while it is down. When
 * the operator is lost the arm stops as in mode hold, and stays safe until an operator who is
 * present chooses a mode.
 *
 * In hold the brakes come on by themselves once the joints are still, or at the latest `settle`
 * updates after the stop.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum io_arm_panel_mode {
    IO_ARM_PANEL_HOLD,
    IO_ARM_PANEL_JOINT,
    IO_ARM_PANEL_TOOL,    /* resolved rate in the axes of the arm's hand */
    IO_ARM_PANEL_BASE,    /* in the axes of the base */
    IO_ARM_PANEL_PAYLOAD, /* in the axes of the payload, about its origin */
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

/* The names in a scenario, a report and the page. */
extern const char *const io_arm_panel_mode_name[IO_ARM_PANEL_MODE_COUNT];
extern const char *const io_arm_panel_button_name[IO_ARM_PANEL_BUTTON_COUNT];

struct io_arm_panel_spec {
    int mode[IO_ARM_PANEL_MODE_COUNT];     /* the button of each mode; -1: none */
    int button[IO_ARM_PANEL_BUTTON_COUNT]; /* -1: there is none */
    int select_count;
    int select[IO_ARM_PANEL_SELECT_MAX];
    int joints, poses;
    uint32_t settle; /* updates */
};

/* Run state; every byte is part of the hash. */
struct io_arm_panel_state {
    uint64_t presses; /* of the newest command */
    uint64_t mode, joint, vernier, brakes, safed;
    uint64_t pose;              /* 1 + the index of the pose that the arm moves to; 0: none */
    uint64_t grapple, release;  /* 1: requested in this update */
    uint64_t held;              /* updates since hold began */
    uint64_t pressed;           /* buttons pressed since the last update */
    uint64_t latched_mode;      /* 1 + the last mode among them */
    uint64_t lost_since_update; /* 1: the operator was lost since the last update, even if back */
};
_Static_assert(sizeof(struct io_arm_panel_state) == 13 * 8, "no pads in the run state");

/* The arm is in hold with the brakes on.  Context: setup. */
void io_arm_panel_begin(struct io_arm_panel_state *state);

/* Take the buttons as they are now without counting presses: the run state was restored, but the
 * operator's hand is where it was.  Context: frame. */
void io_arm_panel_adopt_buttons(struct io_arm_panel_state *state, uint32_t presses);

/* Act as if the operator were lost: hold until a mode is chosen.  Context: frame. */
void io_arm_panel_stop(struct io_arm_panel_state *state);

/* Act as the safe button, for an operator without a panel.  A mode that was pressed before and
 * is not yet in an update does not undo it.  Context: frame. */
void io_arm_panel_stop_and_brake(struct io_arm_panel_state *state);

/* The buttons whose second press within an update adds nothing: all but the toggles.  Context:
 * setup. */
uint32_t io_arm_panel_idempotent_buttons(const struct io_arm_panel_spec *spec);

/* A command (io/protocol/hand.h).  Context: frame. */
void io_arm_panel_latch_command(const struct io_arm_panel_spec *spec, uint64_t flags, uint64_t mode,
                                struct io_arm_panel_state *state);

/* The operator was lost: the next update stops the arm, even if he is back by then.  Context:
 * frame. */
void io_arm_panel_mark_lost(struct io_arm_panel_state *state);

/* One update.  flags are those of the newest command, 0 before the first; still: no joint moves
 * noticeably.  Context: frame. */
void io_arm_panel_update(const struct io_arm_panel_spec *spec, uint64_t flags, bool lost,
                         bool still, struct io_arm_panel_state *state);
