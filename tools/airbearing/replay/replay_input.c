#include "tools/airbearing/replay/replay_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/scenario.h"
#include "rt/check.h"
#include "rt/estop.h"

/* Make room for one more item of size bytes; NULL: no memory. */
static void *grow_array(void *items, size_t size, size_t count, size_t *room)
{
    if (count < *room)
        return items;
    *room = *room ? 2 * *room : 64;
    return realloc(items, *room * size);
}

static bool append_input(struct replay *replay, const struct io_mcap_message *message)
{
    if (message->size < REPLAY_CDR_HEADER + SIM_RECORD_INPUT_SIZE)
        return false;
    void *grown = grow_array(replay->inputs, sizeof *replay->inputs, replay->input_count,
                             &replay->input_room);
    if (!grown)
        return false;
    replay->inputs = grown;
    struct sim_record_input *input = &replay->inputs[replay->input_count];
    memcpy(input, message->data + REPLAY_CDR_HEADER, SIM_RECORD_INPUT_SIZE);
    if (input->command.link >= replay->scenario->spec.link_count ||
        input->ordinal != replay->input_count)
        return false;
    replay->input_count++;
    return true;
}

/* Check that the act is one of this scenario: its index exists and its value is in range. */
static bool is_valid_act(const struct cfg_scenario *scenario, const struct sim_record_act *act)
{
    if (act->act == SIM_ACT_FAULT)
        return act->index < (uint32_t)scenario->spec.fault_count;
    if (act->act == SIM_ACT_RESTORE)
        return act->index <= 1;
    if (act->act == SIM_ACT_STOP_ARM)
        return scenario->spec.arm.joint_count > 0 && act->index < RT_ESTOP_CAUSE_COUNT;
    if (act->act != SIM_ACT_TUNE)
        return act->act < SIM_ACT_COUNT;
    if (act->index >= (uint32_t)scenario->spec.parameter_count)
        return false;
    const struct sim_parameter *parameter = &scenario->spec.parameters[act->index];
    return act->value >= parameter->low && act->value <= parameter->high;
}

static bool append_act(struct replay *replay, const struct io_mcap_message *message)
{
    if (message->size < REPLAY_CDR_HEADER + SIM_RECORD_ACT_SIZE)
        return false;
    void *grown =
        grow_array(replay->acts, sizeof *replay->acts, replay->act_count, &replay->act_room);
    if (!grown)
        return false;
    replay->acts = grown;
    struct sim_record_act *act = &replay->acts[replay->act_count];
    memcpy(act, message->data + REPLAY_CDR_HEADER, SIM_RECORD_ACT_SIZE);
    if (act->ordinal != replay->act_count || !is_valid_act(replay->scenario, act))
        return false;
    replay->act_count++;
    return true;
}

static bool append_state(struct replay *replay, const struct io_mcap_message *message)
{
    const size_t size = replay->sim->layout.state_size;
    if (message->size != REPLAY_CDR_HEADER + size ||
        sim_run_state_problem(replay->sim->vehicle,
                              message->data + REPLAY_CDR_HEADER + sizeof(struct sim_record_state)))
        return false;
    void *grown = grow_array(replay->states, size, replay->state_count, &replay->state_room);
    if (!grown)
        return false;
    replay->states = grown;
    memcpy(replay->states + replay->state_count++ * size, message->data + REPLAY_CDR_HEADER, size);
    return true;
}

/* The topics that a replay needs. */
static const struct {
    const char *topic, *what;
    bool (*keep)(struct replay *replay, const struct io_mcap_message *message);
} needed[] = {
    {"/input", "input", append_input},
    {"/operator", "act of the operator", append_act},
    {"/state", "restored state", append_state},
};

bool replay_append_message(struct replay *replay, const struct io_mcap_message *message,
                           char problem[REPLAY_PROBLEM_MAX])
{
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (strcmp(message->topic, needed[i].topic) != 0 || needed[i].keep(replay, message))
            continue;
        const size_t count[] = {replay->input_count, replay->act_count, replay->state_count};
        snprintf(problem, REPLAY_PROBLEM_MAX,
                 "%s %zu is missing or malformed, so the run cannot be repeated beyond it",
                 needed[i].what, count[i]);
        return false;
    }
    return true;
}

bool replay_has_all_states(const struct replay *replay)
{
    size_t next = 0;
    for (size_t i = 0; i < replay->act_count; i++) {
        if (replay->acts[i].act != SIM_ACT_RESTORE)
            continue;
        struct sim_record_state head;
        if (next < replay->state_count)
            memcpy(&head, replay->states + next * replay->sim->layout.state_size, sizeof head);
        if (next >= replay->state_count || head.ordinal != replay->acts[i].ordinal)
            return false;
        next++;
    }
    return true;
}

static void read_inputs(void *self, struct sim *sim, uint64_t frame)
{
    struct replay *replay = self;
    while (replay->input_next < replay->input_count &&
           replay->inputs[replay->input_next].frame == frame) {
        struct sim_record_input input = replay->inputs[replay->input_next++];
        sim_apply_input(sim, &input);
    }
}

void replay_create_sim(struct replay *replay)
{
    replay->sim = sim_create(&replay->scenario->spec);
    replay->sim->source = (struct sim_input){.self = replay, .read_inputs = read_inputs};
    replay->sim->reading =
        calloc((size_t)replay->scenario->spec.sensor_count + 1, sizeof *replay->sim->reading);
    RT_CHECK(replay->sim->reading);
}

void replay_apply_acts(struct replay *replay)
{
    while (replay->act_next < replay->act_count &&
           replay->acts[replay->act_next].frame == replay->next_frame) {
        struct sim_record_act again = replay->acts[replay->act_next++];
        struct sim_snapshot snapshot = {0};
        if (again.act == SIM_ACT_RESTORE) {
            const unsigned char *state =
                replay->states + replay->state_next++ * replay->sim->layout.state_size;
            struct sim_record_state head;
            memcpy(&head, state, sizeof head);
            snapshot = (struct sim_snapshot){state + sizeof head, head.hash};
        }
        sim_apply_act(replay->sim, &again, &snapshot);
    }
}

void replay_run_frame(struct replay *replay)
{
    const struct rt_frame_tasks tasks = sim_tasks(replay->sim);
    replay_apply_acts(replay);
    tasks.latch(tasks.self, replay->next_frame, false);
    rt_schedule_run(replay->sim->schedule, replay->next_frame);
    tasks.commit(tasks.self, replay->next_frame);
    replay->next_frame++;
}
