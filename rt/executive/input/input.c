/*
 * An input enters the run state and the log: a command, the loss of a link, or a board that begins
 * anew.
 *
 * Tested by tests/rt/executive/test_sim.c.
 */
#include <string.h>

#include "rt/executive/sim_private.h"

static void log_input(struct sim *sim, const struct sim_record_input *input)
{
    if (!sim->telemetry)
        return;
    void *record =
        io_telemetry_claim(sim->telemetry, sim->layout.input, input->frame * sim->spec->period_ns);
    if (!record)
        return;
    memcpy(record, input, SIM_RECORD_INPUT_SIZE);
    io_telemetry_push(sim->telemetry, sim->layout.input);
}

/* How an arm's buttons stand when the first command of them comes is no news: what was pressed
 * while there was no run to see did nothing then, and does nothing now. */
static void adopt_first_buttons(struct sim *sim, const struct sim_record_input *input)
{
    if (sim->vehicle->arm != NULL && input->command.link == sim->spec->arm.button_link)
        io_arm_panel_adopt_buttons(&sim->vehicle->arm->panel,
                                   (uint32_t)(input->command.flags >> 32));
}

/* Servos look less often than commands come: the panel keeps for them what was pressed. */
static void latch_panel_command(struct sim *sim, const struct sim_record_input *input)
{
    const struct sim_arm *arm = &sim->spec->arm;
    if (sim->vehicle->arm != NULL && input->command.link == arm->button_link)
        io_arm_panel_latch_command(&arm->panel, input->command.flags, input->command.mode,
                                   &sim->vehicle->arm->panel);
}

/* That the operator was gone also counts when he is back before they look. */
static void mark_panel_lost(struct sim *sim, int link)
{
    const struct sim_arm *arm = &sim->spec->arm;
    if (sim->vehicle->arm != NULL &&
        (link == arm->translation.link || link == arm->rotation.link || link == arm->button_link))
        io_arm_panel_mark_lost(&sim->vehicle->arm->panel);
}

void sim_apply_input(struct sim *sim, struct sim_record_input *input)
{
    struct sim_link_state *link = &sim->vehicle->link[input->command.link];
    input->ordinal = sim->scratch.inputs++;
    if (input->command.kind == IO_COMMAND_RESET) {
        sim_vehicle_reset(sim->vehicle);
        sim->scratch.plausibility.begun = false;
        log_input(sim, input);
        return;
    }
    for (int i = 0; i < IO_CONTROL_MAX; i++)
        link->control[i] =
            input->command.kind == IO_COMMAND_CONTROLS ? (double)input->command.controls[i] : 0.0;
    if (input->command.kind == IO_COMMAND_CONTROLS) {
        if (link->commands == 0)
            adopt_first_buttons(sim, input);
        latch_panel_command(sim, input);
        link->flags = input->command.flags;
        link->board_us = input->command.board_us;
        link->sequence = input->command.sequence;
        link->mode = input->command.mode;
        link->commands++;
    }
    link->lost = input->command.kind == IO_COMMAND_LOSS;
    if (link->lost)
        mark_panel_lost(sim, input->command.link);
    log_input(sim, input);
}

void sim_apply_command(struct sim *sim, const struct io_command *command, uint64_t frame)
{
    struct sim_record_input reset = {
        .frame = frame, .command.kind = IO_COMMAND_RESET, .command.link = command->link};
    struct sim_record_input input = {.frame = frame, .command = *command};
    if (command->resets != 0)
        sim_apply_input(sim, &reset);
    sim_apply_input(sim, &input);
}
