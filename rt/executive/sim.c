#include "rt/executive/sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "dynamics/flex/validity.h"
#include "dynamics/math/spatial.h"
#include "rt/arena.h"
#include "rt/check.h"
#include "rt/clock.h"
#include "rt/estop.h"
#include "rt/executive/arm/arm.h"
#include "rt/executive/arm/arm_record.h"
#include "rt/executive/operator/operator.h"
#include "rt/executive/output/sensors.h"
#include "rt/hash.h"

enum { INJECT_PAGE = 4096 };

/* Jobs are told how many frames the run state has behind it.  A state that was put back brings that
 * number along, so the executive's own is another. */
static uint64_t executive_frame(const struct rig *rig, uint64_t frame)
{
    return frame - rig->schedule->frame_offset;
}

static uint64_t sim_end_ns(const struct rig *rig, uint64_t frame)
{
    return (frame + 1) * rig->scenario->period_ns;
}

static uint64_t log_end_ns(const struct rig *rig, uint64_t frame)
{
    return sim_end_ns(rig, executive_frame(rig, frame));
}

/* ---- inputs ---------------------------------------------------------------------------- */

static void log_input(struct rig *rig, const struct record_input *input)
{
    if (!rig->telemetry)
        return;
    void *record = io_telemetry_claim(rig->telemetry, rig->layout.input,
                                      input->frame * rig->scenario->period_ns);
    if (!record)
        return;
    memcpy(record, input, RECORD_INPUT_SIZE);
    io_telemetry_push(rig->telemetry, rig->layout.input);
}

/* How an arm's buttons stand when the first command of them comes is no news: what was pressed
 * while there was no run to see did nothing then, and does nothing now. */
static void meet_hand(struct rig *rig, const struct record_input *input)
{
    if (rig->cfg->arm != NULL && input->link == rig->scenario->arm.button_link)
        io_arm_panel_adopt_buttons(&rig->cfg->arm->panel, (uint32_t)(input->flags >> 32));
}

/* Servos look less often than commands come: the panel keeps for them what was pressed. */
static void tell_panel(struct rig *rig, const struct record_input *input)
{
    const struct cfg_arm *arm = &rig->scenario->arm;
    if (rig->cfg->arm != NULL && input->link == arm->button_link)
        io_arm_panel_latch_command(&arm->panel, input->flags, input->mode, &rig->cfg->arm->panel);
}

/* That the operator was gone also counts when he is back before they look. */
static void tell_loss(struct rig *rig, int link)
{
    const struct cfg_arm *arm = &rig->scenario->arm;
    if (rig->cfg->arm != NULL &&
        (link == arm->translation.link || link == arm->rotation.link || link == arm->button_link))
        io_arm_panel_mark_lost(&rig->cfg->arm->panel);
}

void rig_apply(struct rig *rig, struct record_input *input)
{
    struct cfg_link_state *link = &rig->cfg->link[input->link];
    input->ordinal = rig->inputs++;
    if (input->kind == RECORD_RESET) {
        cfg_rig_reset(rig->cfg);
        rig->plausibility.begun = false;
        log_input(rig, input);
        return;
    }
    for (int i = 0; i < IO_CONTROL_MAX; i++)
        link->control[i] = input->kind == RECORD_COMMAND ? (double)input->controls[i] : 0.0;
    if (input->kind == RECORD_COMMAND) {
        if (link->commands == 0)
            meet_hand(rig, input);
        tell_panel(rig, input);
        link->flags = input->flags;
        link->board_us = input->board_us;
        link->sequence = input->sequence;
        link->mode = input->mode;
        link->commands++;
    }
    link->lost = input->kind == RECORD_LOSS;
    if (link->lost)
        tell_loss(rig, input->link);
    log_input(rig, input);
}

void rig_apply_letter(struct rig *rig, const struct rig_letter *letter, uint64_t frame)
{
    struct record_input input = letter->input;
    struct record_input reset = {.frame = frame, .kind = RECORD_RESET, .link = input.link};
    if (letter->anew)
        rig_apply(rig, &reset);
    input.frame = frame;
    rig_apply(rig, &input);
}

/* ---- which faults are on ------------------------------------------------------------------ */

/* Release: who finds that one struck finds it on, or over. */
static void show_faults(struct rig *rig, uint64_t counted)
{
    uint32_t on = 0;
    for (int i = 0; i < rig->scenario->fault_count; i++)
        on |= (uint32_t)io_fault_active(&rig->cfg->fault[i], counted) << i;
    if (on == rig->faults_on)
        return;
    rig->faults_on = on;
    atomic_store_explicit(&rig->shown->on, on, memory_order_relaxed);
    atomic_fetch_or_explicit(&rig->shown->struck, on, memory_order_release);
}

uint32_t rig_faults(struct rig_shown *shown, uint32_t *struck)
{
    *struck = atomic_exchange_explicit(&shown->struck, 0, memory_order_acquire);
    return atomic_load_explicit(&shown->on, memory_order_relaxed);
}

/* ---- acts of the operator --------------------------------------------------------------- */

/* On the executive's count; what lies before its first frame begins with that. */
static uint64_t on_executive(const struct rig *rig, uint64_t frame)
{
    const uint64_t frame_offset = rig->schedule->frame_offset;
    if (frame == UINT64_MAX)
        return frame;
    return (int64_t)(frame - frame_offset) < 0 ? 0 : frame - frame_offset;
}

/* Faults of the wire act in the links, which count with the executive. */
static void move_windows(struct rig *rig)
{
    for (int i = 0; rig->links && i < rig->scenario->fault_count; i++) {
        const struct cfg_fault *fault = &rig->scenario->faults[i];
        const struct io_fault_state *state = &rig->cfg->fault[i];
        if (fault->link >= 0 && fault->spec.kind != IO_FAULT_DELAY)
            io_link_fault_move(rig->links, fault->link, fault->in_link,
                               on_executive(rig, state->first_frame),
                               on_executive(rig, state->last_frame));
    }
}

static void put_back(struct rig *rig, uint64_t frame, const void *state, uint64_t hash)
{
    memcpy(rig->cfg->state, state, rig->cfg->state_size);
    rig->hash = hash;
    rig->schedule->frame_offset = rig->cfg->schedule->frame - frame;
    cfg_rig_settle(rig->cfg);
}

static bool has_hands(const struct cfg_scenario *scenario, int link)
{
    return io_protocol_traits(scenario->links[link].spec.protocol)->hands;
}

/* What late wires hold back was of another time; but a stick that is held says so once, and what is
 * under way of it is where it is. */
static void clear_wires(struct rig *rig, uint64_t shift_before)
{
    for (int i = 0; i < rig->scenario->link_count; i++) {
        late_drop(&rig->late_out[i]);
        if (has_hands(rig->scenario, i)) {
            late_keep_newest(&rig->late_in[i], rig->schedule->frame_offset - shift_before);
            late_keep_newest(&rig->wire[i], 0);
        } else {
            late_drop(&rig->late_in[i]);
            late_drop(&rig->wire[i]);
        }
    }
}

/* A state is put back, the operator's hands are not: sticks are where he holds them now, buttons
 * that he has pressed since it was taken have had their effect, and an arm that moved then, or that
 * servos held, does not go on by itself: it comes to rest and sets its brakes until a mode is
 * chosen.  Nor does what was taken before a stop undo it. */
static void keep_hands(struct rig *rig, const struct cfg_link_state *now, bool safed)
{
    struct cfg_arm_state *arm = rig->cfg->arm;
    for (int i = 0; i < rig->scenario->link_count; i++)
        if (has_hands(rig->scenario, i))
            rig->cfg->link[i] = now[i];
    if (arm == NULL)
        return;
    const struct cfg_link_state *link = &rig->cfg->link[rig->scenario->arm.button_link];
    io_arm_panel_adopt_buttons(&arm->panel, (uint32_t)(link->flags >> 32));
    if (safed || arm->panel.mode != IO_ARM_PANEL_HOLD || !arm->panel.brakes)
        io_arm_panel_stop(&arm->panel);
}

/* One that has already begun goes on as it is; one that has ended begins anew. */
static void switch_fault(struct rig *rig, uint32_t index, bool on)
{
    const struct cfg_fault *fault = &rig->scenario->faults[index];
    struct io_fault_state *state = &rig->cfg->fault[index];
    const uint64_t now = rig->cfg->schedule->frame;
    const bool active = io_fault_active(state, now);
    if (on && !active)
        io_fault_move(state, now, fault->frames == UINT64_MAX ? UINT64_MAX : now + fault->frames);
    if (!on && active)
        io_fault_move(state, state->first_frame, now);
}

static void log_state(struct rig *rig, const struct record_act *act,
                      const struct rig_snapshot *snapshot)
{
    unsigned char *record = io_telemetry_claim(rig->telemetry, rig->layout.state,
                                               act->frame * rig->scenario->period_ns);
    if (!record)
        return;
    const struct record_state head = {act->frame, act->ordinal, snapshot->hash};
    memcpy(record, &head, sizeof head);
    memcpy(record + sizeof head, snapshot->state, rig->cfg->state_size);
    io_telemetry_push(rig->telemetry, rig->layout.state);
}

static void log_act(struct rig *rig, const struct record_act *act,
                    const struct rig_snapshot *snapshot)
{
    if (!rig->telemetry)
        return;
    if (snapshot)
        log_state(rig, act, snapshot);
    void *record =
        io_telemetry_claim(rig->telemetry, rig->layout.act, act->frame * rig->scenario->period_ns);
    if (!record)
        return;
    memcpy(record, act, RECORD_ACT_SIZE);
    io_telemetry_push(rig->telemetry, rig->layout.act);
}

bool rig_has_room_for_act(const struct rig *rig)
{
    return !rig->telemetry || (2 * io_telemetry_room(rig->telemetry, rig->layout.act) >
                                   io_telemetry_depth(rig->telemetry, rig->layout.act) &&
                               io_telemetry_room(rig->telemetry, rig->layout.state) > 0);
}

void rig_act(struct rig *rig, struct record_act *act, const struct rig_snapshot *snapshot)
{
    struct cfg_link_state hands[IO_LINK_MAX];
    memcpy(hands, rig->cfg->link, (size_t)rig->scenario->link_count * sizeof *hands);
    const bool safed = rig->cfg->arm != NULL && rig->cfg->arm->panel.safed;
    const uint64_t shift_before = rig->schedule->frame_offset;
    act->ordinal = rig->acts++;
    switch (act->act) {
    case OPERATOR_RESET:
        put_back(rig, act->frame, rig->cfg->start, 0);
        clear_wires(rig, shift_before);
        keep_hands(rig, hands, safed);
        break;
    case OPERATOR_RESTORE:
        put_back(rig, act->frame, snapshot->state, snapshot->hash);
        clear_wires(rig, shift_before);
        if (act->index == 0)
            keep_hands(rig, hands, safed);
        break;
    case OPERATOR_FAULT:
        switch_fault(rig, act->index, act->value != 0.0);
        break;
    case OPERATOR_TUNE:
        cfg_rig_tune(rig->cfg, (int)act->index, act->value);
        break;
    case OPERATOR_SAFE:
        if (act->index == RT_ESTOP_OPERATOR_LOST)
            io_arm_panel_stop(&rig->cfg->arm->panel);
        else
            io_arm_panel_stop_and_brake(&rig->cfg->arm->panel);
        break;
    default: /* nothing of the run state */
        break;
    }
    rig->plausibility.begun = false; /* whatever it was, it is no work of the motion's */
    move_windows(rig);
    act->counted = rig->cfg->schedule->frame;
    show_faults(rig, act->counted);
    log_act(rig, act, snapshot);
}

void rig_idle(struct rig *rig, uint64_t releases)
{
    for (int i = 0; rig->links && i < rig->scenario->link_count; i++) {
        const uint32_t every = rig->scenario->links[i].every[CFG_SEND_HEARTBEAT];
        if (every == 0 || releases % every != 0)
            continue;
        struct io_sample sample = rig->sample[i];
        sample.due = IO_SEND_HEARTBEAT;
        sample.trace = (struct io_trace){0};
        io_link_commit(rig->links, i, &sample);
    }
    rig->idle_ns = rt_now_ns();
    if (!rig->links)
        return;
    io_links_poll(rig->links);
    io_links_restart_loss_timers(rig->links, rig->idle_ns);
}

static bool boundary(void *self, uint64_t frame)
{
    const struct rig *rig = self;
    return rig->desk.boundary(rig->desk.self, frame);
}

static void latch(void *self, uint64_t frame, bool held)
{
    struct rig *rig = self;
    if (!held)
        rig->source.gather(rig->source.self, rig, frame);
    show_faults(rig, frame + rig->schedule->frame_offset);
}

/* ---- jobs, in the order of the frame --------------------------------------------------- */

static void touch(const struct rig_inject *inject)
{
    for (uint32_t i = 0; i < inject->pages; i++)
        inject->fresh[(size_t)i * INJECT_PAGE] = 1;
}

static void run_inject(void *self, uint64_t frame)
{
    const struct rig *rig = self;
    if (rig->inject.kind == RIG_INJECT_NONE || executive_frame(rig, frame) != rig->inject.frame)
        return;
    if (rig->inject.kind == RIG_INJECT_TOUCH) {
        touch(&rig->inject);
        return;
    }
    const uint64_t until_ns = rt_now_ns() + rig->inject.late_ns;
    while (rig->inject.kind == RIG_INJECT_HANG || rt_now_ns() < until_ns)
        __asm__ volatile("pause");
}

/* The wind of this frame. */
static void run_gust(void *self, uint64_t frame)
{
    (void)frame;
    struct cfg_rig *cfg = ((struct rig *)self)->cfg;
    io_wind_gust_step(&cfg->scenario->gust, &cfg->surroundings->gust);
    cfg_rig_surround(cfg);
}

/* What changes slowly around the vehicle. */
static void run_look(void *self, uint64_t frame)
{
    struct rig *rig = self;
    cfg_rig_look_around(rig->cfg, (double)frame * rig->cfg->h);
    cfg_rig_surround(rig->cfg);
}

/* The control in force, with the faults of this actuator. */
static double control_of(struct rig *rig, int index, uint64_t frame)
{
    const struct cfg_effector *effector = &rig->scenario->effectors[index];
    double control = rig->cfg->link[effector->link].control[effector->control];
    for (int i = 0; i < rig->scenario->fault_count; i++)
        if (rig->scenario->faults[i].effector == index &&
            !io_fault_signal(&rig->scenario->faults[i].spec, &rig->cfg->fault[i], frame,
                             rig->cfg->h, &control, 1))
            control = rig->cfg->drive[index].good; /* nothing new came */
    return control;
}

static void run_drives(void *self, uint64_t frame)
{
    struct rig *rig = self;
    struct cfg_rig *cfg = rig->cfg;
    for (int i = 0; i < cfg->scenario->drive_count; i++) {
        io_actuator_drive_update(&cfg->scenario->effectors[i].drive, control_of(rig, i, frame),
                                 &cfg->drive[i]);
        cfg->command[i] = cfg->drive[i].out;
    }
}

static void run_servo(void *self, uint64_t frame)
{
    (void)frame;
    arm_servo(((struct rig *)self)->cfg);
}

static void run_motors(void *self, uint64_t frame)
{
    (void)frame;
    arm_motors(((struct rig *)self)->cfg);
}

static void run_brakes(void *self, uint64_t frame)
{
    (void)frame;
    arm_brakes(((struct rig *)self)->cfg);
}

static void run_step(void *self, uint64_t frame)
{
    struct rig *rig = self;
    struct cfg_rig *cfg = rig->cfg;
    plausibility_begin(&rig->plausibility, cfg, executive_frame(rig, frame));
    if (!dyn_plant_step(&cfg->plant, cfg->command, cfg->joint_tau, cfg->h, cfg->work, cfg->x) &&
        cfg->schedule->not_finite++ == 0)
        rig->first_not_finite = executive_frame(rig, frame);
    plausibility_look(&rig->plausibility, cfg, executive_frame(rig, frame));
    cfg->schedule->frame = frame + 1;
    for (int i = 0; i < rig->scenario->link_count; i++) {
        if (rig->trace[i].latch_ns && !rig->trace[i].step_ns)
            rig->trace[i].step_ns = rt_now_ns();
    }
}

bool rig_left_range(const struct rig *rig)
{
    uint64_t sum = 0;
    for (int k = 0; k < DYN_VALIDITY_COUNT; k++)
        sum += rig->cfg->schedule->out_of_range[k];
    return sum > 0;
}

/* Flexible bodies that have left the range of their model are counted, and the first is named. */
static void count_range(struct rig *rig)
{
    const struct cfg_rig *cfg = rig->cfg;
    int first = 0;
    const unsigned out = dyn_plant_validity(&cfg->plant, cfg->work, cfg->x, &first);
    if (out != 0 && !rig_left_range(rig))
        rig->first_out_of_range = first;
    for (int k = 0; k < DYN_VALIDITY_COUNT; k++)
        cfg->schedule->out_of_range[k] += out >> k & 1;
}

static void run_solve(void *self, uint64_t frame)
{
    (void)frame;
    struct rig *rig = self;
    const struct cfg_rig *cfg = rig->cfg;
    dyn_plant_solve(&cfg->plant, cfg->command, cfg->joint_tau, cfg->x, cfg->work);
    count_range(rig);
}

static void run_sensor(void *self, uint64_t frame)
{
    const struct rig_device *device = self;
    instrument_sample(device->rig, device->index, frame);
}

/* Where no receiver is simulated there is one that makes no errors. */
static struct io_geodetic_fix perfect_fix(const struct io_sample *sample)
{
    return (struct io_geodetic_fix){
        .latitude = sample->latitude,
        .longitude = sample->longitude,
        .altitude = sample->altitude,
        .velocity = {sample->velocity[0], sample->velocity[1], sample->velocity[2]},
        .eph = 0.3,
        .epv = 0.4,
        .type = 3,
        .satellites = 14,
    };
}

/* True motion of the link's body, for the messages that carry truth. */
/* Along the z axis of the body, which points down on a vehicle that stands. */
static double range_to_ground(const struct rig *rig, const struct dyn_motion *motion)
{
    const struct dyn_environment *environment = &rig->scenario->environment;
    const double *q = motion->attitude;
    const double down = 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]);
    const double height = environment->ground - motion->position[2];
    return environment->has_ground && height > 0.0 && down > 1e-3 ? height / down : 0.0;
}

static void run_truth(void *self, uint64_t frame)
{
    const struct rig_device *device = self;
    struct rig *rig = device->rig;
    const struct cfg_link *link = &rig->scenario->links[device->index];
    struct io_sample *sample = &rig->sample[device->index];
    const double origin[3] = {0};
    struct dyn_motion motion;
    dyn_plant_motion(&rig->cfg->plant, rig->cfg->work, rig->cfg->x, link->body, origin, &motion);

    sample->frame = executive_frame(rig, frame);
    sample->sim_us = rig->epoch_us[device->index] + log_end_ns(rig, frame) / 1000;
    memcpy(sample->attitude, motion.attitude, sizeof sample->attitude);
    memcpy(sample->rate, motion.rate, sizeof sample->rate);
    memcpy(sample->position, motion.position, sizeof sample->position);
    memcpy(sample->true_accel, motion.specific_force, sizeof sample->true_accel);
    const double *air = motion.air_velocity;
    sample->airspeed = sqrt(air[0] * air[0] + air[1] * air[1] + air[2] * air[2]);
    struct dyn_geodetic at;
    dyn_world_geodetic(&rig->scenario->world, (double)(frame + 1) * rig->cfg->h, motion.position,
                       motion.velocity, &at, sample->velocity);
    sample->latitude = at.latitude;
    sample->longitude = at.longitude;
    sample->altitude = at.height;
    sample->range = range_to_ground(rig, &motion);
    const struct dyn_supply supply = dyn_plant_supply(rig->cfg->work);
    sample->voltage = supply.voltage;
    sample->current = supply.current;
    if (!rig->has_gps)
        sample->fix = perfect_fix(sample);
}

/* ---- messages ---------------------------------------------------------------------------- */

static void run_send_sensor(void *self, uint64_t frame)
{
    (void)frame;
    const struct rig_message *message = self;
    struct io_sample *sample = &message->rig->sample[message->link];
    struct io_trace *trace = &message->rig->trace[message->link];
    const struct cfg_link *link = &message->rig->scenario->links[message->link];
    bool *unasked = &message->rig->unasked[message->link];
    *unasked = message->rig->silent && !io_protocol_traits(link->spec.protocol)->marks_fields;
    if (*unasked) /* no other way to say that there is no rate or force yet */
        return;
    sample->due |= IO_SEND_SENSOR;
    if (trace->latch_ns == 0)
        return;
    sample->trace = *trace;
    *trace = (struct io_trace){0};
}

static void run_send_sticks(void *self, uint64_t frame)
{
    const struct rig_message *message = self;
    const struct rig *rig = message->rig;
    struct io_sample *sample = &message->rig->sample[message->link];
    const struct io_rc_script *script = &rig->scenario->links[message->link].sticks;
    const double time = (double)(frame + 1) * rig->cfg->h;
    double channel[IO_RC_SCRIPT_CHANNEL_COUNT];
    for (int k = 0; k < IO_RC_MAX; k++)
        sample->rc[k] = k == 0 || k == 1 || k == 3 ? 1500 : 1000;
    if (script->step_count > 0) {
        const struct io_rc_script_view view = {
            .height = rig->scenario->environment.ground - sample->position[2],
            .climb = -sample->velocity[2],
        };
        io_rc_script_channels(script, time, &view, channel);
        for (int k = 0; k < IO_RC_MAX; k++)
            sample->rc[k] = (uint16_t)lround(channel[k]);
    }
    if (time >= rig->scenario->links[message->link].sticks_from)
        sample->due |= IO_SEND_RC;
}

static void run_send(void *self, uint64_t frame)
{
    (void)frame;
    const struct rig_message *message = self;
    const uint32_t bit = 1u << message->message;
    if (!(message->rig->mute & bit))
        message->rig->sample[message->link].due |= bit;
}

/* ---- what is watched ----------------------------------------------------------------------- */

/* Of what turns, relative to its body; 0 of all else. */
static double turning_speed(const struct rig *rig, int index)
{
    const struct cfg_rig *cfg = rig->cfg;
    const struct dyn_effector *effector = &cfg->plant.effectors[index];
    const double *state = cfg->x + dyn_plant_effector_index(&cfg->plant, index);
    if (effector->type == DYN_EFFECTOR_ROTOR)
        return dyn_rotor_speed(&effector->rotor, state[0]);
    if (effector->type != DYN_EFFECTOR_WHEEL)
        return 0.0;
    const double origin[3] = {0};
    struct dyn_motion motion;
    dyn_plant_motion(&cfg->plant, cfg->work, cfg->x, effector->body, origin, &motion);
    return dyn_wheel_speed(&effector->wheel, motion.rate, state[0]);
}

/* Angle of the rotation that is left between the body and its target. */
static double attitude_error(const double target[4], const double attitude[4])
{
    const struct dyn_quat back = dyn_quat_conjugate(dyn_quat_load(target));
    return dyn_turn_angle(dyn_quat_mul(back, dyn_quat_load(attitude)));
}

static void see_expectations(struct rig *rig, uint64_t frame)
{
    const double seconds = (double)sim_end_ns(rig, frame) * 1e-9;
    for (int i = 0; i < rig->scenario->expect_count; i++)
        expect_see(&rig->expect[i], seconds, rig->signal[rig->expect[i].expect->signal]);
}

static void watch_motion(struct rig *rig, uint64_t frame)
{
    const struct cfg_rig *cfg = rig->cfg;
    const struct cfg_scenario *scenario = rig->scenario;
    const double origin[3] = {0};
    struct dyn_motion motion;
    if (scenario->body_count == 0)
        return;
    dyn_plant_kinematics(&cfg->plant, cfg->work, cfg->x, scenario->target_body, origin, &motion);
    const double *w = motion.rate, *v = motion.velocity, *q = motion.attitude;
    const double north = motion.position[0] - scenario->target_position[0];
    const double east = motion.position[1] - scenario->target_position[1];
    double altitude = -motion.position[2], ground_velocity[3];
    struct dyn_geodetic at;
    if (scenario->world.kind == DYN_WORLD_ORBIT) {
        dyn_world_geodetic(&scenario->world, (double)(frame + 1) * cfg->h, motion.position, v, &at,
                           ground_velocity);
        altitude = at.height;
    }
    rig->signal[CFG_ATTITUDE_ERROR] = attitude_error(scenario->target, q);
    rig->signal[CFG_RATE] = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    rig->signal[CFG_ALTITUDE] = altitude;
    rig->signal[CFG_SPEED] = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    rig->signal[CFG_POSITION_ERROR] = sqrt(north * north + east * east);
    rig->signal[CFG_TILT] =
        2.0 * atan2(sqrt(q[1] * q[1] + q[2] * q[2]), sqrt(q[0] * q[0] + q[3] * q[3]));
}

static void watch_wheels(struct rig *rig)
{
    rig->signal[CFG_WHEEL_SPEED] = 0.0;
    for (int i = 0; i < rig->scenario->drive_count; i++)
        if (rig->scenario->effectors[i].effector.type == DYN_EFFECTOR_WHEEL)
            rig->signal[CFG_WHEEL_SPEED] =
                fmax(rig->signal[CFG_WHEEL_SPEED], fabs(turning_speed(rig, i)));
}

/* The numbers a person looks at, from the state after the step. */
static void run_watch(void *self, uint64_t frame)
{
    struct rig *rig = self;
    watch_motion(rig, frame);
    watch_wheels(rig);
    see_expectations(rig, frame);
    if (rig->live && frame % rig->live_every == 0) {
        struct rig_live *live = rt_mailbox_back(rig->live);
        memcpy(live->signal, rig->signal, sizeof live->signal);
        live->inputs = rig->inputs;
        (void)rt_mailbox_publish(rig->live);
    }
}

/* ---- what is known of the frames to come ------------------------------------------------- */

static uint32_t copy_wire(const struct rig *rig, int link, struct rig_letter *to, uint32_t room)
{
    const struct late *wire = &rig->wire[link];
    const uint64_t count = late_count(wire) < room ? late_count(wire) : room;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t due;
        to[i] = *(const struct rig_letter *)late_look(wire, i, &due);
        to[i].input.frame = due + rig->schedule->frame_offset;
    }
    return (uint32_t)count;
}

/* Letters that an outlook has room for. */
static uint32_t under_way_max(const struct cfg_scenario *scenario)
{
    uint64_t count = 0;
    for (int i = 0; i < scenario->link_count; i++)
        count += scenario->links[i].delay;
    return count < RIG_UNDER_WAY_MAX ? (uint32_t)count : RIG_UNDER_WAY_MAX;
}

size_t rig_outlook_size(const struct cfg_scenario *scenario)
{
    return sizeof(struct rig_outlook) + under_way_max(scenario) * sizeof(struct rig_letter) +
           cfg_state_size(scenario);
}

static void run_outlook(void *self, uint64_t frame)
{
    struct rig *rig = self;
    const uint32_t room = under_way_max(rig->scenario);
    struct rig_outlook *out = rt_mailbox_back(rig->outlook);
    struct rig_letter *letters = (struct rig_letter *)(out + 1);
    *out = (struct rig_outlook){.frame = frame + 1,
                                .log_ns = log_end_ns(rig, frame),
                                .state = letters + room,
                                .letters = letters};
    for (int i = 0; i < rig->scenario->link_count; i++) {
        const uint32_t copied =
            copy_wire(rig, i, letters + out->letter_count, room - out->letter_count);
        out->letter_count += copied;
        out->cut = out->cut || copied < late_count(&rig->wire[i]);
    }
    memcpy(letters + room, rig->cfg->state, rig->cfg->state_size);
    if (!rig->rehearses)
        (void)rt_mailbox_publish(rig->outlook);
}

void rig_look_out(struct rig *rig, const struct rig_outlook *from)
{
    put_back(rig, from->frame, from->state, 0);
    for (int i = 0; i < rig->scenario->link_count; i++)
        late_drop(&rig->wire[i]);
    for (uint32_t i = 0; i < from->letter_count; i++) {
        const struct rig_letter *letter = &from->letters[i];
        struct late *wire = &rig->wire[letter->input.link];
        late_put(wire, letter->input.frame - wire->delay, letter);
    }
}

static void log_plant(struct rig *rig, uint64_t log_time_ns)
{
    double *record = io_telemetry_claim(rig->telemetry, rig->layout.plant, log_time_ns);
    if (!record)
        return;
    const uint32_t count = rig->layout.x_count;
    memcpy(record, rig->cfg->x, count * sizeof *record);
    record[count] = rig->signal[CFG_ATTITUDE_ERROR];
    if (rig->scenario->arm.payload_count > 0)
        record[count + 1] = (double)rig->cfg->arm->configuration;
    io_telemetry_push(rig->telemetry, rig->layout.plant);
}

static void log_drive(struct rig *rig, int index, uint64_t log_time_ns)
{
    const int channel = rig->layout.drive + index;
    double *record = io_telemetry_claim(rig->telemetry, channel, log_time_ns);
    if (!record)
        return;
    record[0] = rig->cfg->command[index];
    record[1] = turning_speed(rig, index);
    io_telemetry_push(rig->telemetry, channel);
}

static void log_arm(struct rig *rig, uint64_t log_time_ns)
{
    void *record = io_telemetry_claim(rig->telemetry, rig->layout.arm, log_time_ns);
    if (!record)
        return;
    arm_record_fill(rig->cfg, record);
    io_telemetry_push(rig->telemetry, rig->layout.arm);
}

static void run_log(void *self, uint64_t frame)
{
    struct rig *rig = self;
    if (!rig->telemetry)
        return;
    log_plant(rig, log_end_ns(rig, frame));
    if (rig->cfg->arm)
        log_arm(rig, log_end_ns(rig, frame));
    for (int i = 0; i < rig->scenario->drive_count; i++)
        log_drive(rig, i, log_end_ns(rig, frame));
}

static void run_hash(void *self, uint64_t frame)
{
    (void)frame;
    struct rig *rig = self;
    rig->hash = rt_hash(rig->hash, rig->cfg->state, rig->cfg->state_size);
}

uint64_t rig_part_hash(const struct rig *rig, const struct cfg_section *part)
{
    return rt_hash(0, rig->cfg->state + part->offset, part->size);
}

static void run_hash_parts(void *self, uint64_t frame)
{
    struct rig *rig = self;
    run_hash(self, frame);
    if (!rig->telemetry)
        return;
    const uint64_t end_ns = log_end_ns(rig, frame);
    uint64_t *record = io_telemetry_claim(rig->telemetry, rig->layout.part, end_ns);
    if (!record)
        return;
    record[0] = executive_frame(rig, frame);
    for (int i = 0; i < cfg_section_count(rig->scenario); i++)
        record[1 + i] = rig_part_hash(rig, &rig->part[i]);
    io_telemetry_push(rig->telemetry, rig->layout.part);
}

/* ---- outputs --------------------------------------------------------------------------- */

static void commit(void *self, uint64_t frame)
{
    struct rig *rig = self;
    const uint64_t counted = frame + rig->schedule->frame_offset;
    for (int i = 0; i < rig->scenario->link_count; i++) {
        struct io_sample *sample = &rig->sample[i];
        const struct io_sample *leaves =
            late_pass(&rig->late_out[i], counted, sample->due ? sample : NULL);
        if (rig->links && leaves)
            io_link_commit(rig->links, i, leaves);
        if (sample->due == 0)
            continue;
        if (sample->due & IO_SEND_SENSOR) {
            sample->fields = 0;
            sample->trace = (struct io_trace){0};
        }
        sample->due = 0;
    }
}

static bool is_to_stop(const struct rig *rig)
{
    return rig->stop && atomic_load_explicit(rig->stop, memory_order_relaxed);
}

/* Who waits looks at the stop meanwhile. */
static void heed(void *self)
{
    struct rig *rig = self;
    if (rig->desk.heed)
        rig->desk.heed(rig->desk.self, rig->next_frame);
}

/* Lockstep: every link that was sent a sensor message owes a reply.  A wait that the end of the run
 * cut short has missed none. */
static bool await(void *self, uint64_t frame)
{
    struct rig *rig = self;
    bool all = true;
    rig->next_frame = frame;
    if (rig->links)
        io_links_set_await_hook(rig->links, (struct io_await_hook){rig, heed});
    for (int i = 0; rig->links && i < rig->scenario->link_count; i++) {
        const struct cfg_link *link = &rig->scenario->links[i];
        const uint32_t every = link->every[CFG_SEND_SENSOR];
        const bool replies = !io_protocol_traits(link->spec.protocol)->hands;
        const bool owed = replies && every && frame > 0 && frame % every == 0;
        if (!owed || rig->unasked[i])
            continue;
        /* One that is lost paces nothing any more: the frames go on at about the pace of the clock
         * until it speaks again. */
        const bool lost = rig->cfg->link[i].lost;
        const uint64_t step_ns = every * rig->scenario->period_ns;
        const uint64_t limit_ns =
            lost && step_ns < link->wait_limit_ns ? step_ns : link->wait_limit_ns;
        rig->unanswered[i] = !io_link_await(rig->links, i, rig->sample[i].sim_us, limit_ns);
        all = all && (lost || !rig->unanswered[i] || is_to_stop(rig));
    }
    return all;
}

/* A run that no wall clock paces would outrun any log: it waits instead of dropping.  But who is
 * told to stop does so, also with a disk that takes nothing any more. */
static void wait_for_room(struct rig *rig)
{
    const struct timespec pause = {.tv_nsec = 200000};
    for (int i = 0; i <= rig->layout.job; i++) { /* acts see to their room themselves */
        while (!io_telemetry_has_room(rig->telemetry, i) && !is_to_stop(rig)) {
            if (rig->watchdog)
                rt_watchdog_kick(rig->watchdog, rt_now_ns()); /* slow is not hung */
            heed(rig);
            nanosleep(&pause, NULL);
        }
    }
}

static void log_jobs(const struct rig *rig, uint64_t frame)
{
    struct record_job *out =
        io_telemetry_claim(rig->telemetry, rig->layout.job, frame * rig->scenario->period_ns);
    if (!out)
        return;
    out->frame = frame;
    out->begin_ns = rig->schedule->begin_ns;
    out->due = rig->schedule->due;
    memcpy(out->spent_ns, rig->schedule->spent_ns, rig->layout.job_size - RECORD_JOB_HEAD);
    io_telemetry_push(rig->telemetry, rig->layout.job);
}

static void record(void *self, const struct rt_frame_record *frame)
{
    struct rig *rig = self;
    if (!rig->telemetry)
        return;
    log_jobs(rig, frame->frame);
    struct record_frame *out = io_telemetry_claim(rig->telemetry, rig->layout.frame,
                                                  frame->frame * rig->scenario->period_ns);
    if (!out)
        return;
    out->frame = frame->frame;
    out->release_ns = frame->release_ns;
    out->start_ns = frame->start_ns;
    out->end_ns = frame->end_ns;
    out->state_hash = rig->hash;
    out->missed = frame->missed;
    out->cause = frame->cause;
    out->held = frame->held;
    out->paused = frame->paused;
    io_telemetry_push(rig->telemetry, rig->layout.frame);
    rig->next_frame = frame->frame + 1;
    if (rig->scenario->pace != RT_PACE_REAL)
        wait_for_room(rig);
}

/* A row waits where there is no room for it: the recorder knows what it loses then. */
static bool drain(void *self)
{
    const struct rig *rig = self;
    if (rig->telemetry && !io_telemetry_has_room(rig->telemetry, rig->layout.event))
        return false;
    const struct rt_flight_recorder_row *row = rt_flight_recorder_take(rig->recorder);
    if (!row || !rig->telemetry)
        return row != NULL;
    void *out = io_telemetry_claim(rig->telemetry, rig->layout.event,
                                   row->frame * rig->scenario->period_ns);
    RT_CHECK(out);
    memcpy(out, row, rig->layout.event_size);
    io_telemetry_push(rig->telemetry, rig->layout.event);
    return true;
}

void rig_tell_rest(struct rig *rig)
{
    while (drain(rig))
        continue;
}

static void invalidate_outputs(void *self)
{
    const struct rig *rig = self;
    if (rig->links)
        io_links_invalidate_outputs(rig->links);
}

struct rt_frame_tasks rig_tasks(struct rig *rig)
{
    return (struct rt_frame_tasks){.self = rig,
                                   .commit = commit,
                                   .await = await,
                                   .boundary = boundary,
                                   .latch = latch,
                                   .record = record,
                                   .drain = drain,
                                   .invalidate_outputs = invalidate_outputs};
}

/* ---- set-up ---------------------------------------------------------------------------- */

/* How often a link's messages may carry the true motion. */
static uint32_t truth_every(const struct cfg_link *link)
{
    uint64_t common = 0;
    for (int m = 0; m < CFG_MESSAGE_COUNT; m++)
        common = rt_gcd(common, link->every[m]);
    return (uint32_t)common;
}

/* How often the motion must be known: for the log, the instruments and the links. */
static uint32_t solve_every(const struct cfg_scenario *scenario)
{
    uint64_t every = scenario->log_every;
    for (int i = 0; i < scenario->sensor_count; i++)
        every = rt_gcd(every, scenario->sensors[i].every);
    for (int i = 0; i < scenario->link_count; i++)
        every = rt_gcd(every, truth_every(&scenario->links[i]));
    return (uint32_t)every;
}

struct job_list {
    int count;
    struct rt_job job[RT_JOB_MAX];
};

/* A job that runs every n frames runs in the last of them, so that its sample stands at a multiple
 * of n periods.  every 0: never. */
static void add(struct job_list *list, const char *name, void (*run)(void *, uint64_t), void *self,
                uint32_t every)
{
    if (every == 0)
        return;
    RT_CHECK(list->count < RT_JOB_MAX); /* config/ limits devices and links */
    list->job[list->count++] =
        (struct rt_job){.name = name, .run = run, .self = self, .every = every, .phase = every - 1};
}

static const char *const send_name[CFG_MESSAGE_COUNT] = {
    [CFG_SEND_HEARTBEAT] = "send heartbeat",
    [CFG_SEND_SENSOR] = "send sensor",
    [CFG_SEND_GPS] = "send gps",
    [CFG_SEND_STATE] = "send state",
    [CFG_SEND_TIME] = "send time",
    [CFG_SEND_TRACKER] = "send tracker",
    [CFG_SEND_SUN] = "send sun",
    [CFG_SEND_ANGLES] = "send angles",
    [CFG_SEND_RC] = "send rc",
};

static void (*send_job(int message))(void *, uint64_t)
{
    return message == CFG_SEND_SENSOR ? run_send_sensor
           : message == CFG_SEND_RC   ? run_send_sticks
                                      : run_send;
}

/* All jobs, or those alone that move the vehicle: they come first. */
enum extent { WHOLE, MOVES };

static void list_jobs(const struct cfg_scenario *scenario, const struct rig_inject *inject,
                      enum extent extent, struct rig *rig, struct job_list *list)
{
    const uint32_t solve = solve_every(scenario);
    const bool has_arm = scenario->arm.joint_count > 0;
    *list = (struct job_list){0};
    add(list, "inject", run_inject, rig, inject->kind != RIG_INJECT_NONE);
    add(list, "world", run_look, rig,
        scenario->world.kind != DYN_WORLD_UNIFORM ? cfg_look_every(scenario) : 0);
    add(list, "gust", run_gust, rig, scenario->gusty);
    add(list, "drives", run_drives, rig, scenario->drive_count > 0);
    if (has_arm) { /* a servo looks before its first step */
        add(list, "servo", run_servo, rig, scenario->arm.every);
        list->job[list->count - 1].phase = 0;
    }
    add(list, "motors", run_motors, rig, has_arm);
    add(list, "step", run_step, rig, 1);
    add(list, "brakes", run_brakes, rig, has_arm);
    if (extent == MOVES)
        return;
    add(list, "solve", run_solve, rig, solve);
    for (int i = 0; i < scenario->sensor_count; i++)
        add(list, scenario->sensors[i].name, run_sensor, rig ? &rig->sensor[i] : NULL,
            scenario->sensors[i].every);
    for (int i = 0; i < scenario->link_count; i++) {
        const struct cfg_link *link = &scenario->links[i];
        add(list, "truth", run_truth, rig ? &rig->link[i] : NULL, truth_every(link));
        for (int m = 0; m < CFG_MESSAGE_COUNT; m++)
            add(list, send_name[m], send_job(m), rig ? &rig->message[i][m] : NULL, link->every[m]);
    }
    add(list, "watch", run_watch, rig, solve);
    add(list, "log", run_log, rig, scenario->log_every);
    add(list, "outlook", run_outlook, rig, scenario->predictor.every);
    add(list, "hash", scenario->log_parts ? run_hash_parts : run_hash, rig, 1);
}

/* What late wires hold back; with rig NULL only the size counts. */
static void lay_out_late(const struct cfg_scenario *scenario, struct rig *rig, void *mem,
                         size_t *at)
{
    for (int i = 0; i < scenario->fault_count; i++) {
        const struct cfg_fault *fault = &scenario->faults[i];
        if (fault->link < 0 || fault->spec.kind != IO_FAULT_DELAY)
            continue;
        const uint64_t delay = (uint64_t)fault->spec.value;
        void *out = rt_layout_cut(mem, at, late_size(delay, sizeof(struct io_sample)));
        void *in = rt_layout_cut(mem, at, late_size(delay, sizeof(struct io_command)));
        if (rig && fault->way != CFG_WAY_IN)
            late_place(&rig->late_out[fault->link], delay, &rig->cfg->fault[i],
                       sizeof(struct io_sample), out);
        if (!rig || fault->way == CFG_WAY_OUT)
            continue;
        late_place(&rig->late_in[fault->link], delay, &rig->cfg->fault[i],
                   sizeof(struct io_command), in);
        rig->late_in[fault->link].has_last_word = has_hands(scenario, fault->link);
    }
    for (int i = 0; i < scenario->link_count; i++) {
        const uint32_t delay = scenario->links[i].delay;
        void *wire = rt_layout_cut(mem, at, late_size(delay, sizeof(struct rig_letter)));
        if (rig)
            late_place(&rig->wire[i], delay, NULL, sizeof(struct rig_letter), wire);
    }
}

static void lay_out_outlook(const struct cfg_scenario *scenario, struct rig *rig, void *mem,
                            size_t *at)
{
    if (scenario->predictor.every == 0)
        return;
    const size_t size = rig_outlook_size(scenario);
    void *outlook = rt_layout_cut(mem, at, rt_mailbox_size(size));
    if (rig)
        rig->outlook = rt_mailbox_place(size, outlook);
}

void rig_jobs(const struct cfg_scenario *scenario, const struct rig_inject *inject,
              struct record_jobs *jobs)
{
    struct job_list list;
    list_jobs(scenario, inject, WHOLE, NULL, &list);
    jobs->count = list.count;
    for (int i = 0; i < list.count; i++)
        jobs->name[i] = list.job[i].name;
}

/* Pages that nobody has touched yet.  The process locks what it maps, which brings it in at once;
 * here that is undone. */
static volatile unsigned char *fresh_pages(uint32_t pages)
{
    const size_t size = (size_t)pages * INJECT_PAGE;
    void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    RT_CHECK(mem != MAP_FAILED);
    RT_CHECK(munlock(mem, size) == 0);
    (void)madvise(mem, size, MADV_NOHUGEPAGE); /* refused: there are none */
    RT_CHECK(madvise(mem, size, MADV_DONTNEED) == 0);
    return mem;
}

static size_t parts_size(const struct cfg_scenario *scenario)
{
    return scenario->log_parts ? CFG_SECTION_MAX * sizeof(struct cfg_section) : 0;
}

static size_t size_of(const struct cfg_scenario *scenario, const struct rig_inject *inject,
                      enum extent extent)
{
    struct job_list list;
    list_jobs(scenario, inject, extent, NULL, &list);
    size_t at = 0;
    (void)rt_layout_cut(NULL, &at, sizeof(struct rig));
    (void)rt_layout_cut(NULL, &at, cfg_rig_size(scenario));
    (void)rt_layout_cut(NULL, &at, rt_mailbox_size(sizeof(struct rig_live)));
    (void)rt_layout_cut(NULL, &at, sizeof(struct rig_shown));
    (void)rt_layout_cut(NULL, &at, rt_schedule_size(list.job, list.count));
    (void)rt_layout_cut(NULL, &at, rt_flight_recorder_size(list.count));
    (void)rt_layout_cut(NULL, &at, parts_size(scenario));
    lay_out_late(scenario, NULL, NULL, &at);
    if (extent == WHOLE) {
        (void)rt_layout_cut(NULL, &at, plausibility_size(scenario));
        lay_out_outlook(scenario, NULL, NULL, &at);
    }
    return at;
}

size_t rig_size(const struct cfg_scenario *scenario, const struct rig_inject *inject)
{
    return size_of(scenario, inject, WHOLE);
}

static struct rig *place(const struct cfg_scenario *scenario, const struct rig_inject *inject,
                         enum extent extent, void *mem)
{
    size_t at = 0;
    struct rig *rig = rt_layout_cut(mem, &at, sizeof *rig);
    void *cfg_mem = rt_layout_cut(mem, &at, cfg_rig_size(scenario));
    void *live_mem = rt_layout_cut(mem, &at, rt_mailbox_size(sizeof(struct rig_live)));
    rig->shown = rt_layout_cut(mem, &at, sizeof *rig->shown);
    struct job_list list;
    list_jobs(scenario, inject, extent, rig, &list);
    void *schedule_mem = rt_layout_cut(mem, &at, rt_schedule_size(list.job, list.count));
    void *recorder_mem = rt_layout_cut(mem, &at, rt_flight_recorder_size(list.count));
    void *parts_mem = rt_layout_cut(mem, &at, parts_size(scenario));

    rig->scenario = scenario;
    rig->cfg = cfg_rig_place(scenario, cfg_mem);
    if (scenario->log_parts) {
        rig->part = parts_mem;
        (void)cfg_rig_sections(rig->cfg, rig->part);
    }
    lay_out_late(scenario, rig, mem, &at);
    if (extent == WHOLE) {
        plausibility_place(&rig->plausibility, rig->cfg,
                           rt_layout_cut(mem, &at, plausibility_size(scenario)));
        lay_out_outlook(scenario, rig, mem, &at);
    }
    rig->inject = *inject;
    if (inject->kind == RIG_INJECT_TOUCH)
        rig->inject.fresh = fresh_pages(inject->pages);
    rig->live = rt_mailbox_place(sizeof(struct rig_live), live_mem);
    rig->live_every = (uint32_t)fmax(1.0, scenario->rate_hz / 20.0);
    rig->schedule = rt_schedule_place(list.job, list.count, schedule_mem);
    rig->recorder = rt_flight_recorder_place(list.count, recorder_mem);
    rig->layout = record_layout(scenario, dyn_model_nq(rig->cfg->plant.model),
                                dyn_model_nv(rig->cfg->plant.model), list.count);
    for (int i = 0; i < scenario->sensor_count; i++)
        rig->sensor[i] = (struct rig_device){rig, i};
    for (int i = 0; i < scenario->sensor_count; i++)
        rig->has_gps = rig->has_gps || scenario->sensors[i].kind == CFG_GPS;
    instrument_begin(rig);
    for (int i = 0; i < scenario->link_count; i++) {
        rig->link[i] = (struct rig_device){rig, i};
        for (int m = 0; m < CFG_MESSAGE_COUNT; m++)
            rig->message[i][m] = (struct rig_message){rig, i, m};
    }
    for (int i = 0; i < scenario->expect_count; i++)
        expect_begin(&rig->expect[i], &scenario->expects[i]);
    return rig;
}

struct rig *rig_place(const struct cfg_scenario *scenario, const struct rig_inject *inject,
                      void *mem)
{
    return place(scenario, inject, WHOLE, mem);
}

static struct rig *on_heap(const struct cfg_scenario *scenario, enum extent extent)
{
    const struct rig_inject none = {0};
    const size_t size = size_of(scenario, &none, extent);
    void *mem = aligned_alloc(RT_CACHE_LINE, (size / RT_CACHE_LINE + 1) * RT_CACHE_LINE);
    RT_CHECK(mem);
    memset(mem, 0, size);
    return place(scenario, &none, extent, mem);
}

struct rig *rig_on_heap(const struct cfg_scenario *scenario)
{
    return on_heap(scenario, WHOLE);
}

struct rig *rig_that_moves(const struct cfg_scenario *scenario)
{
    return on_heap(scenario, MOVES);
}

void rig_sense(struct rig *rig)
{
    run_solve(rig, 0);
    for (int i = 0; i < rig->scenario->sensor_count; i++)
        run_sensor(&rig->sensor[i], 0);
    for (int i = 0; i < rig->scenario->link_count; i++) {
        run_truth(&rig->link[i], 0);
        if (rig->scenario->links[i].every[CFG_SEND_RC])
            run_send_sticks(&rig->message[i][CFG_SEND_RC], 0);
    }
}

/* As many frames as make a median, but nobody waits long for a vehicle of thousands of bodies. */
static void rehearse_frames(struct rt_schedule *schedule)
{
    enum { FRAMES_MIN = 20, FRAMES_MAX = 2000 };
    static const uint64_t LONG_NS = 500000000;
    const uint64_t wanted = schedule->pattern < FRAMES_MAX / 2 ? FRAMES_MAX : schedule->pattern;
    const uint64_t begin = rt_now_ns();

    for (uint64_t frame = 0; frame < wanted && frame < FRAMES_MAX; frame++) {
        if (frame >= FRAMES_MIN && rt_now_ns() - begin > LONG_NS)
            break;
        rt_schedule_run(schedule, frame);
    }
}

void rig_rehearse(struct rig *rig)
{
    struct rt_schedule *schedule = rig->schedule;
    void *state = malloc(rig->cfg->state_size);
    RT_CHECK(state);
    memcpy(state, rig->cfg->state, rig->cfg->state_size);
    const struct rig before = *rig;
    rig->telemetry = NULL;
    rig->live = NULL;
    rig->rehearses = true;
    rig->inject.kind = RIG_INJECT_NONE;
    if (rig->cfg->arm) { /* one that stands behind its brakes has nothing to do */
        rig->cfg->arm->panel.mode = IO_ARM_PANEL_TOOL;
        rig->cfg->arm->panel.brakes = 0;
    }

    rehearse_frames(schedule);
    for (int i = 0; i < schedule->job_count; i++) {
        schedule->job[i].predicted_ns = rt_histogram_quantile(&schedule->time[i], 0.5);
        schedule->time[i] = (struct rt_histogram){0};
    }
    *rig = before;
    memcpy(rig->cfg->state, state, rig->cfg->state_size);
    cfg_rig_settle(rig->cfg); /* field, Sun, wind and what is held are copies of what is in there */
    free(state);
}
