/*
 * What is known of the frames to come, for the predictor: the run state, and the commands that are
 * still in the delay lines.
 *
 * Tested by tests/rt/executive/test_predictor.c.
 */
#include <string.h>

#include "rt/executive/sim_private.h"

static uint32_t copy_pending_commands(const struct sim *sim, int link, struct sim_record_input *to,
                                      uint32_t room)
{
    const struct sim_delay_line *line = &sim->scratch.delay_in[link];
    const uint64_t count = sim_delay_line_count(line) < room ? sim_delay_line_count(line) : room;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t due;
        const struct io_command *command = sim_delay_line_peek(line, i, &due);
        to[i] = (struct sim_record_input){.frame = due + sim->schedule->frame_offset,
                                          .command = *command};
    }
    return (uint32_t)count;
}

uint32_t sim_pending_command_max(const struct sim_spec *spec)
{
    uint64_t count = 0;
    for (int i = 0; i < spec->link_count; i++) {
        const struct sim_delay_line_spec line = sim_link_delay(spec, NULL, i, SIM_DIRECTION_IN);
        count += line.delay + line.fault_delay;
    }
    return count < SIM_PENDING_COMMAND_MAX ? (uint32_t)count : SIM_PENDING_COMMAND_MAX;
}

size_t sim_prediction_input_size(const struct sim_spec *spec)
{
    return sizeof(struct sim_prediction_input) +
           sim_pending_command_max(spec) * sizeof(struct sim_record_input) +
           sim_run_state_size(spec);
}

void sim_job_prediction_input(void *self, uint64_t frame)
{
    struct sim *sim = self;
    const uint32_t room = sim_pending_command_max(sim->spec);
    struct sim_prediction_input *out = rt_mailbox_back(sim->prediction_input);
    struct sim_record_input *commands = (struct sim_record_input *)(out + 1);
    *out = (struct sim_prediction_input){.frame = frame + 1,
                                         .log_ns = sim_frame_log_ns(sim, frame),
                                         .state = commands + room,
                                         .commands = commands};
    for (int i = 0; i < sim->spec->link_count; i++) {
        const uint32_t copied =
            copy_pending_commands(sim, i, commands + out->command_count, room - out->command_count);
        out->command_count += copied;
        out->cut = out->cut || copied < sim_delay_line_count(&sim->scratch.delay_in[i]);
    }
    memcpy(commands + room, sim->vehicle->state, sim->vehicle->state_size);
    if (!sim->warming_up)
        (void)rt_mailbox_publish(sim->prediction_input);
}

void sim_load_prediction_input(struct sim *sim, const struct sim_prediction_input *from)
{
    sim_load_state(sim, from->frame, from->state, 0);
    for (int i = 0; i < sim->spec->link_count; i++)
        sim_delay_line_clear(&sim->scratch.delay_in[i]);
    for (uint32_t i = 0; i < from->command_count; i++) {
        const struct sim_record_input *input = &from->commands[i];
        sim_delay_line_push_due(&sim->scratch.delay_in[input->command.link], input->frame,
                                &input->command);
    }
}
