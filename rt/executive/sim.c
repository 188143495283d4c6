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
static uint64_t executive_frame(const struct sim *sim, uint64_t frame)
{
    return frame - sim->schedule->frame_offset;
}

static uint64_t frame_end_ns(const struct sim *sim, uint64_t frame)
{
    return (frame + 1) * sim->spec->period_ns;
}

static uint64_t frame_log_ns(const struct sim *sim, uint64_t frame)
{
    return frame_end_ns(sim, executive_frame(sim, frame));
}

/* ---- inputs ---------------------------------------------------------------------------- */

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
    if (sim->vehicle->arm != NULL && input->link == sim->spec->arm.button_link)
        io_arm_panel_adopt_buttons(&sim->vehicle->arm->panel, (uint32_t)(input->flags >> 32));
}

/* Servos look less often than commands come: the panel keeps for them what was pressed. */
static void latch_panel_command(struct sim *sim, const struct sim_record_input *input)
{
    const struct sim_arm *arm = &sim->spec->arm;
    if (sim->vehicle->arm != NULL && input->link == arm->button_link)
        io_arm_panel_latch_command(&arm->panel, input->flags, input->mode,
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
    struct sim_link_state *link = &sim->vehicle->link[input->link];
    input->ordinal = sim->inputs++;
    if (input->kind == SIM_RECORD_RESET) {
        sim_vehicle_reset(sim->vehicle);
        sim->plausibility.begun = false;
        log_input(sim, input);
        return;
    }
    for (int i = 0; i < IO_CONTROL_MAX; i++)
        link->control[i] = input->kind == SIM_RECORD_COMMAND ? (double)input->controls[i] : 0.0;
    if (input->kind == SIM_RECORD_COMMAND) {
        if (link->commands == 0)
            adopt_first_buttons(sim, input);
        latch_panel_command(sim, input);
        link->flags = input->flags;
        link->board_us = input->board_us;
        link->sequence = input->sequence;
        link->mode = input->mode;
        link->commands++;
    }
    link->lost = input->kind == SIM_RECORD_LOSS;
    if (link->lost)
        mark_panel_lost(sim, input->link);
    log_input(sim, input);
}

void sim_apply_command(struct sim *sim, const struct sim_command *letter, uint64_t frame)
{
    struct sim_record_input input = letter->input;
    struct sim_record_input reset = {.frame = frame, .kind = SIM_RECORD_RESET, .link = input.link};
    if (letter->restarts)
        sim_apply_input(sim, &reset);
    input.frame = frame;
    sim_apply_input(sim, &input);
}

/* ---- which faults are on ------------------------------------------------------------------ */

/* Release: who finds that one struck finds it on, or over. */
static void publish_faults(struct sim *sim, uint64_t counted)
{
    uint32_t on = 0;
    for (int i = 0; i < sim->spec->fault_count; i++)
        on |= (uint32_t)io_fault_active(&sim->vehicle->fault[i], counted) << i;
    if (on == sim->faults_on)
        return;
    sim->faults_on = on;
    atomic_store_explicit(&sim->shown->on, on, memory_order_relaxed);
    atomic_fetch_or_explicit(&sim->shown->triggered, on, memory_order_release);
}

uint32_t sim_take_fault_flags(struct sim_fault_flags *shown, uint32_t *struck)
{
    *struck = atomic_exchange_explicit(&shown->triggered, 0, memory_order_acquire);
    return atomic_load_explicit(&shown->on, memory_order_relaxed);
}

/* ---- acts of the operator --------------------------------------------------------------- */

/* On the executive's count; what lies before its first frame begins with that. */
static uint64_t to_executive_frame(const struct sim *sim, uint64_t frame)
{
    const uint64_t frame_offset = sim->schedule->frame_offset;
    if (frame == UINT64_MAX)
        return frame;
    return (int64_t)(frame - frame_offset) < 0 ? 0 : frame - frame_offset;
}

/* Faults of the wire act in the links, which count with the executive. */
static void move_link_fault_windows(struct sim *sim)
{
    for (int i = 0; sim->links && i < sim->spec->fault_count; i++) {
        const struct sim_fault *fault = &sim->spec->faults[i];
        const struct io_fault_state *state = &sim->vehicle->fault[i];
        if (fault->link >= 0 && fault->spec.kind != IO_FAULT_DELAY)
            io_link_fault_move(sim->links, fault->link, fault->link_fault_index,
                               to_executive_frame(sim, state->first_frame),
                               to_executive_frame(sim, state->last_frame));
    }
}

static void load_state(struct sim *sim, uint64_t frame, const void *state, uint64_t hash)
{
    memcpy(sim->vehicle->state, state, sim->vehicle->state_size);
    sim->hash = hash;
    sim->schedule->frame_offset = sim->vehicle->schedule->frame - frame;
    sim_vehicle_apply_state(sim->vehicle);
}

static bool is_operator_link(const struct sim_spec *spec, int link)
{
    return io_protocol_traits(spec->links[link].spec.protocol)->hands;
}

/* What late wires hold back was of another time; but a stick that is held says so once, and what is
 * under way of it is where it is. */
static void clear_delay_lines(struct sim *sim, uint64_t shift_before)
{
    for (int i = 0; i < sim->spec->link_count; i++) {
        sim_delay_line_clear(&sim->delay_out[i]);
        if (is_operator_link(sim->spec, i)) {
            sim_delay_line_keep_newest(&sim->delay_in[i],
                                       sim->schedule->frame_offset - shift_before);
            sim_delay_line_keep_newest(&sim->wire[i], 0);
        } else {
            sim_delay_line_clear(&sim->delay_in[i]);
            sim_delay_line_clear(&sim->wire[i]);
        }
    }
}

/* A state is put back, the operator's hands are not: sticks are where he holds them now, buttons
 * that he has pressed since it was taken have had their effect, and an arm that moved then, or that
 * servos held, does not go on by itself: it comes to rest and sets its brakes until a mode is
 * chosen.  Nor does what was taken before a stop undo it. */
static void keep_operator_inputs(struct sim *sim, const struct sim_link_state *now, bool safed)
{
    struct sim_arm_state *arm = sim->vehicle->arm;
    for (int i = 0; i < sim->spec->link_count; i++)
        if (is_operator_link(sim->spec, i))
            sim->vehicle->link[i] = now[i];
    if (arm == NULL)
        return;
    const struct sim_link_state *link = &sim->vehicle->link[sim->spec->arm.button_link];
    io_arm_panel_adopt_buttons(&arm->panel, (uint32_t)(link->flags >> 32));
    if (safed || arm->panel.mode != IO_ARM_PANEL_HOLD || !arm->panel.brakes)
        io_arm_panel_stop(&arm->panel);
}

/* One that has already begun goes on as it is; one that has ended begins anew. */
static void switch_fault(struct sim *sim, uint32_t index, bool on)
{
    const struct sim_fault *fault = &sim->spec->faults[index];
    struct io_fault_state *state = &sim->vehicle->fault[index];
    const uint64_t now = sim->vehicle->schedule->frame;
    const bool active = io_fault_active(state, now);
    if (on && !active)
        io_fault_move(state, now, fault->frames == UINT64_MAX ? UINT64_MAX : now + fault->frames);
    if (!on && active)
        io_fault_move(state, state->first_frame, now);
}

static void log_state(struct sim *sim, const struct sim_record_act *act,
                      const struct sim_snapshot *snapshot)
{
    unsigned char *record =
        io_telemetry_claim(sim->telemetry, sim->layout.state, act->frame * sim->spec->period_ns);
    if (!record)
        return;
    const struct sim_record_state head = {act->frame, act->ordinal, snapshot->hash};
    memcpy(record, &head, sizeof head);
    memcpy(record + sizeof head, snapshot->state, sim->vehicle->state_size);
    io_telemetry_push(sim->telemetry, sim->layout.state);
}

static void log_act(struct sim *sim, const struct sim_record_act *act,
                    const struct sim_snapshot *snapshot)
{
    if (!sim->telemetry)
        return;
    if (snapshot)
        log_state(sim, act, snapshot);
    void *record =
        io_telemetry_claim(sim->telemetry, sim->layout.act, act->frame * sim->spec->period_ns);
    if (!record)
        return;
    memcpy(record, act, SIM_RECORD_ACT_SIZE);
    io_telemetry_push(sim->telemetry, sim->layout.act);
}

bool sim_has_room_for_act(const struct sim *sim)
{
    return !sim->telemetry || (2 * io_telemetry_room(sim->telemetry, sim->layout.act) >
                                   io_telemetry_depth(sim->telemetry, sim->layout.act) &&
                               io_telemetry_room(sim->telemetry, sim->layout.state) > 0);
}

void sim_apply_act(struct sim *sim, struct sim_record_act *act, const struct sim_snapshot *snapshot)
{
    struct sim_link_state hands[IO_LINK_MAX];
    memcpy(hands, sim->vehicle->link, (size_t)sim->spec->link_count * sizeof *hands);
    const bool safed = sim->vehicle->arm != NULL && sim->vehicle->arm->panel.safed;
    const uint64_t shift_before = sim->schedule->frame_offset;
    act->ordinal = sim->acts++;
    switch (act->act) {
    case SIM_ACT_RESET:
        load_state(sim, act->frame, sim->vehicle->start, 0);
        clear_delay_lines(sim, shift_before);
        keep_operator_inputs(sim, hands, safed);
        break;
    case SIM_ACT_RESTORE:
        load_state(sim, act->frame, snapshot->state, snapshot->hash);
        clear_delay_lines(sim, shift_before);
        if (act->index == 0)
            keep_operator_inputs(sim, hands, safed);
        break;
    case SIM_ACT_FAULT:
        switch_fault(sim, act->index, act->value != 0.0);
        break;
    case SIM_ACT_TUNE:
        sim_vehicle_tune(sim->vehicle, (int)act->index, act->value);
        break;
    case SIM_ACT_STOP_ARM:
        if (act->index == RT_ESTOP_OPERATOR_LOST)
            io_arm_panel_stop(&sim->vehicle->arm->panel);
        else
            io_arm_panel_stop_and_brake(&sim->vehicle->arm->panel);
        break;
    default: /* nothing of the run state */
        break;
    }
    sim->plausibility.begun = false; /* whatever it was, it is no work of the motion's */
    move_link_fault_windows(sim);
    act->counted = sim->vehicle->schedule->frame;
    publish_faults(sim, act->counted);
    log_act(sim, act, snapshot);
}

void sim_send_heartbeats(struct sim *sim, uint64_t releases)
{
    for (int i = 0; sim->links && i < sim->spec->link_count; i++) {
        const uint32_t every = sim->spec->links[i].every[SIM_MESSAGE_HEARTBEAT];
        if (every == 0 || releases % every != 0)
            continue;
        struct io_sample sample = sim->sample[i];
        sample.due = IO_SEND_HEARTBEAT;
        sample.trace = (struct io_trace){0};
        io_link_commit(sim->links, i, &sample);
    }
    sim->idle_ns = rt_now_ns();
    if (!sim->links)
        return;
    io_links_poll(sim->links);
    io_links_restart_loss_timers(sim->links, sim->idle_ns);
}

static bool boundary(void *self, uint64_t frame)
{
    const struct sim *sim = self;
    return sim->desk.boundary(sim->desk.self, frame);
}

static void latch(void *self, uint64_t frame, bool held)
{
    struct sim *sim = self;
    if (!held)
        sim->source.read_inputs(sim->source.self, sim, frame);
    publish_faults(sim, frame + sim->schedule->frame_offset);
}

/* ---- jobs, in the order of the frame --------------------------------------------------- */

static void touch_pages(const struct sim_inject *inject)
{
    for (uint32_t i = 0; i < inject->pages; i++)
        inject->fresh[(size_t)i * INJECT_PAGE] = 1;
}

static void run_inject(void *self, uint64_t frame)
{
    const struct sim *sim = self;
    if (sim->inject.kind == SIM_INJECT_NONE || executive_frame(sim, frame) != sim->inject.frame)
        return;
    if (sim->inject.kind == SIM_INJECT_PAGE_FAULT) {
        touch_pages(&sim->inject);
        return;
    }
    const uint64_t until_ns = rt_now_ns() + sim->inject.late_ns;
    while (sim->inject.kind == SIM_INJECT_HANG || rt_now_ns() < until_ns)
        __asm__ volatile("pause");
}

/* The wind of this frame. */
static void run_gust(void *self, uint64_t frame)
{
    (void)frame;
    struct sim_vehicle *vehicle = ((struct sim *)self)->vehicle;
    io_wind_gust_step(&vehicle->tuned.gust, &vehicle->surroundings->gust);
    sim_vehicle_apply_environment(vehicle);
}

/* What changes slowly around the vehicle. */
static void run_world(void *self, uint64_t frame)
{
    struct sim *sim = self;
    sim_vehicle_update_environment(sim->vehicle, (double)frame * sim->vehicle->h);
    sim_vehicle_apply_environment(sim->vehicle);
}

/* The control in force, with the faults of this actuator. */
static double faulted_control(struct sim *sim, int index, uint64_t frame)
{
    const struct sim_effector *effector = &sim->spec->effectors[index];
    double control = sim->vehicle->link[effector->link].control[effector->control];
    for (int i = 0; i < sim->spec->fault_count; i++)
        if (sim->spec->faults[i].effector == index &&
            !io_fault_signal(&sim->vehicle->tuned.faults[i], &sim->vehicle->fault[i], frame,
                             sim->vehicle->h, &control, 1))
            control = sim->vehicle->drive[index].good; /* nothing new came */
    return control;
}

static void run_drives(void *self, uint64_t frame)
{
    struct sim *sim = self;
    struct sim_vehicle *vehicle = sim->vehicle;
    for (int i = 0; i < vehicle->spec->drive_count; i++) {
        io_actuator_drive_update(&vehicle->tuned.drives[i], faulted_control(sim, i, frame),
                                 &vehicle->drive[i]);
        vehicle->command[i] = vehicle->drive[i].out;
    }
}

static void run_servo(void *self, uint64_t frame)
{
    (void)frame;
    sim_arm_servo(((struct sim *)self)->vehicle);
}

static void run_motors(void *self, uint64_t frame)
{
    (void)frame;
    sim_arm_motors(((struct sim *)self)->vehicle);
}

static void run_brakes(void *self, uint64_t frame)
{
    (void)frame;
    sim_arm_brakes(((struct sim *)self)->vehicle);
}

static void run_step(void *self, uint64_t frame)
{
    struct sim *sim = self;
    struct sim_vehicle *vehicle = sim->vehicle;
    sim_plausibility_begin(&sim->plausibility, vehicle, executive_frame(sim, frame));
    if (!dyn_plant_step(&vehicle->plant, vehicle->command, vehicle->joint_tau, vehicle->h,
                        vehicle->work, vehicle->x) &&
        vehicle->schedule->not_finite++ == 0)
        sim->first_not_finite = executive_frame(sim, frame);
    sim_plausibility_check(&sim->plausibility, vehicle, executive_frame(sim, frame));
    vehicle->schedule->frame = frame + 1;
    for (int i = 0; i < sim->spec->link_count; i++) {
        if (sim->trace[i].latch_ns && !sim->trace[i].step_ns)
            sim->trace[i].step_ns = rt_now_ns();
    }
}

bool sim_left_flex_range(const struct sim *sim)
{
    uint64_t sum = 0;
    for (int k = 0; k < DYN_VALIDITY_COUNT; k++)
        sum += sim->vehicle->schedule->out_of_range[k];
    return sum > 0;
}

/* Flexible bodies that have left the range of their model are counted, and the first is named. */
static void count_flex_range(struct sim *sim)
{
    const struct sim_vehicle *vehicle = sim->vehicle;
    int first = 0;
    const unsigned out = dyn_plant_validity(&vehicle->plant, vehicle->work, vehicle->x, &first);
    if (out != 0 && !sim_left_flex_range(sim))
        sim->first_out_of_range = first;
    for (int k = 0; k < DYN_VALIDITY_COUNT; k++)
        vehicle->schedule->out_of_range[k] += out >> k & 1;
}

static void run_solve(void *self, uint64_t frame)
{
    (void)frame;
    struct sim *sim = self;
    const struct sim_vehicle *vehicle = sim->vehicle;
    dyn_plant_solve(&vehicle->plant, vehicle->command, vehicle->joint_tau, vehicle->x,
                    vehicle->work);
    count_flex_range(sim);
}

static void run_sensor(void *self, uint64_t frame)
{
    const struct sim_device_job *device = self;
    sim_sensor_sample(device->sim, device->index, frame);
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
static double range_to_ground(const struct sim *sim, const struct dyn_motion *motion)
{
    const struct dyn_environment *environment = &sim->spec->environment;
    const double *q = motion->attitude;
    const double down = 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]);
    const double height = environment->ground - motion->position[2];
    return environment->has_ground && height > 0.0 && down > 1e-3 ? height / down : 0.0;
}

static void run_truth(void *self, uint64_t frame)
{
    const struct sim_device_job *device = self;
    struct sim *sim = device->sim;
    const struct sim_link *link = &sim->spec->links[device->index];
    struct io_sample *sample = &sim->sample[device->index];
    const double origin[3] = {0};
    struct dyn_motion motion;
    dyn_plant_motion(&sim->vehicle->plant, sim->vehicle->work, sim->vehicle->x, link->body, origin,
                     &motion);

    sample->frame = executive_frame(sim, frame);
    sample->sim_us = sim->epoch_us[device->index] + frame_log_ns(sim, frame) / 1000;
    memcpy(sample->attitude, motion.attitude, sizeof sample->attitude);
    memcpy(sample->rate, motion.rate, sizeof sample->rate);
    memcpy(sample->position, motion.position, sizeof sample->position);
    memcpy(sample->true_accel, motion.specific_force, sizeof sample->true_accel);
    const double *air = motion.air_velocity;
    sample->airspeed = sqrt(air[0] * air[0] + air[1] * air[1] + air[2] * air[2]);
    struct dyn_geodetic at;
    dyn_world_geodetic(&sim->spec->world, (double)(frame + 1) * sim->vehicle->h, motion.position,
                       motion.velocity, &at, sample->velocity);
    sample->latitude = at.latitude;
    sample->longitude = at.longitude;
    sample->altitude = at.height;
    sample->range = range_to_ground(sim, &motion);
    const struct dyn_supply supply = dyn_plant_supply(sim->vehicle->work);
    sample->voltage = supply.voltage;
    sample->current = supply.current;
    if (!sim->has_gps)
        sample->fix = perfect_fix(sample);
}

/* ---- messages ---------------------------------------------------------------------------- */

static void run_send_sensor(void *self, uint64_t frame)
{
    (void)frame;
    const struct sim_message_job *message = self;
    struct io_sample *sample = &message->sim->sample[message->link];
    struct io_trace *trace = &message->sim->trace[message->link];
    const struct sim_link *link = &message->sim->spec->links[message->link];
    bool *unasked = &message->sim->sensor_withheld[message->link];
    *unasked = message->sim->silent && !io_protocol_traits(link->spec.protocol)->marks_fields;
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
    const struct sim_message_job *message = self;
    const struct sim *sim = message->sim;
    struct io_sample *sample = &message->sim->sample[message->link];
    const struct io_rc_script *script = &sim->spec->links[message->link].sticks;
    const double time = (double)(frame + 1) * sim->vehicle->h;
    double channel[IO_RC_SCRIPT_CHANNEL_COUNT];
    for (int k = 0; k < IO_RC_MAX; k++)
        sample->rc[k] = k == 0 || k == 1 || k == 3 ? 1500 : 1000;
    if (script->step_count > 0) {
        const struct io_rc_script_view view = {
            .height = sim->spec->environment.ground - sample->position[2],
            .climb = -sample->velocity[2],
        };
        io_rc_script_channels(script, time, &view, channel);
        for (int k = 0; k < IO_RC_MAX; k++)
            sample->rc[k] = (uint16_t)lround(channel[k]);
    }
    if (time >= sim->spec->links[message->link].sticks_from)
        sample->due |= IO_SEND_RC;
}

static void run_send(void *self, uint64_t frame)
{
    (void)frame;
    const struct sim_message_job *message = self;
    const uint32_t bit = 1u << message->message;
    if (!(message->sim->withheld_messages & bit))
        message->sim->sample[message->link].due |= bit;
}

/* ---- what is watched ----------------------------------------------------------------------- */

/* Of what turns, relative to its body; 0 of all else. */
static double turning_speed(const struct sim *sim, int index)
{
    const struct sim_vehicle *vehicle = sim->vehicle;
    const struct dyn_effector *effector = &vehicle->plant.effectors[index];
    const double *state = vehicle->x + dyn_plant_effector_index(&vehicle->plant, index);
    if (effector->type == DYN_EFFECTOR_ROTOR)
        return dyn_rotor_speed(&effector->rotor, state[0]);
    if (effector->type != DYN_EFFECTOR_WHEEL)
        return 0.0;
    const double origin[3] = {0};
    struct dyn_motion motion;
    dyn_plant_motion(&vehicle->plant, vehicle->work, vehicle->x, effector->body, origin, &motion);
    return dyn_wheel_speed(&effector->wheel, motion.rate, state[0]);
}

/* Angle of the rotation that is left between the body and its target. */
static double attitude_error(const double target[4], const double attitude[4])
{
    const struct dyn_quat back = dyn_quat_conjugate(dyn_quat_load(target));
    return dyn_turn_angle(dyn_quat_mul(back, dyn_quat_load(attitude)));
}

static void update_expectations(struct sim *sim, uint64_t frame)
{
    const double seconds = (double)frame_end_ns(sim, frame) * 1e-9;
    for (int i = 0; i < sim->spec->expect_count; i++)
        sim_expectation_update(&sim->expect[i], seconds,
                               sim->signal[sim->expect[i].expect->signal]);
}

static void update_motion_signals(struct sim *sim, uint64_t frame)
{
    const struct sim_vehicle *vehicle = sim->vehicle;
    const struct sim_spec *spec = sim->spec;
    const double origin[3] = {0};
    struct dyn_motion motion;
    if (spec->body_count == 0)
        return;
    dyn_plant_kinematics(&vehicle->plant, vehicle->work, vehicle->x, spec->target_body, origin,
                         &motion);
    const double *w = motion.rate, *v = motion.velocity, *q = motion.attitude;
    const double north = motion.position[0] - vehicle->tuned.target_position[0];
    const double east = motion.position[1] - vehicle->tuned.target_position[1];
    double altitude = -motion.position[2], ground_velocity[3];
    struct dyn_geodetic at;
    if (spec->world.kind == DYN_WORLD_ORBIT) {
        dyn_world_geodetic(&spec->world, (double)(frame + 1) * vehicle->h, motion.position, v, &at,
                           ground_velocity);
        altitude = at.height;
    }
    sim->signal[SIM_SIGNAL_ATTITUDE_ERROR] = attitude_error(vehicle->tuned.target, q);
    sim->signal[SIM_SIGNAL_RATE] = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    sim->signal[SIM_SIGNAL_ALTITUDE] = altitude;
    sim->signal[SIM_SIGNAL_SPEED] = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    sim->signal[SIM_SIGNAL_POSITION_ERROR] = sqrt(north * north + east * east);
    sim->signal[SIM_SIGNAL_TILT] =
        2.0 * atan2(sqrt(q[1] * q[1] + q[2] * q[2]), sqrt(q[0] * q[0] + q[3] * q[3]));
}

static void update_wheel_signal(struct sim *sim)
{
    sim->signal[SIM_SIGNAL_WHEEL_SPEED] = 0.0;
    for (int i = 0; i < sim->spec->drive_count; i++)
        if (sim->spec->effectors[i].effector.type == DYN_EFFECTOR_WHEEL)
            sim->signal[SIM_SIGNAL_WHEEL_SPEED] =
                fmax(sim->signal[SIM_SIGNAL_WHEEL_SPEED], fabs(turning_speed(sim, i)));
}

/* The numbers a person looks at, from the state after the step. */
static void run_signals(void *self, uint64_t frame)
{
    struct sim *sim = self;
    update_motion_signals(sim, frame);
    update_wheel_signal(sim);
    update_expectations(sim, frame);
    if (sim->live && frame % sim->live_every == 0) {
        struct sim_live *live = rt_mailbox_back(sim->live);
        memcpy(live->signal, sim->signal, sizeof live->signal);
        live->inputs = sim->inputs;
        (void)rt_mailbox_publish(sim->live);
    }
}

/* ---- what is known of the frames to come ------------------------------------------------- */

static uint32_t copy_pending_commands(const struct sim *sim, int link, struct sim_command *to,
                                      uint32_t room)
{
    const struct sim_delay_line *wire = &sim->wire[link];
    const uint64_t count = sim_delay_line_count(wire) < room ? sim_delay_line_count(wire) : room;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t due;
        to[i] = *(const struct sim_command *)sim_delay_line_peek(wire, i, &due);
        to[i].input.frame = due + sim->schedule->frame_offset;
    }
    return (uint32_t)count;
}

/* Letters that an outlook has room for. */
static uint32_t pending_command_max(const struct sim_spec *spec)
{
    uint64_t count = 0;
    for (int i = 0; i < spec->link_count; i++)
        count += spec->links[i].delay;
    return count < SIM_PENDING_COMMAND_MAX ? (uint32_t)count : SIM_PENDING_COMMAND_MAX;
}

size_t sim_prediction_input_size(const struct sim_spec *spec)
{
    return sizeof(struct sim_prediction_input) +
           pending_command_max(spec) * sizeof(struct sim_command) + sim_run_state_size(spec);
}

static void run_prediction_input(void *self, uint64_t frame)
{
    struct sim *sim = self;
    const uint32_t room = pending_command_max(sim->spec);
    struct sim_prediction_input *out = rt_mailbox_back(sim->prediction_input);
    struct sim_command *letters = (struct sim_command *)(out + 1);
    *out = (struct sim_prediction_input){.frame = frame + 1,
                                         .log_ns = frame_log_ns(sim, frame),
                                         .state = letters + room,
                                         .commands = letters};
    for (int i = 0; i < sim->spec->link_count; i++) {
        const uint32_t copied =
            copy_pending_commands(sim, i, letters + out->command_count, room - out->command_count);
        out->command_count += copied;
        out->cut = out->cut || copied < sim_delay_line_count(&sim->wire[i]);
    }
    memcpy(letters + room, sim->vehicle->state, sim->vehicle->state_size);
    if (!sim->warming_up)
        (void)rt_mailbox_publish(sim->prediction_input);
}

void sim_load_prediction_input(struct sim *sim, const struct sim_prediction_input *from)
{
    load_state(sim, from->frame, from->state, 0);
    for (int i = 0; i < sim->spec->link_count; i++)
        sim_delay_line_clear(&sim->wire[i]);
    for (uint32_t i = 0; i < from->command_count; i++) {
        const struct sim_command *letter = &from->commands[i];
        struct sim_delay_line *wire = &sim->wire[letter->input.link];
        sim_delay_line_push(wire, letter->input.frame - wire->delay, letter);
    }
}

static void log_plant(struct sim *sim, uint64_t log_time_ns)
{
    double *record = io_telemetry_claim(sim->telemetry, sim->layout.plant, log_time_ns);
    if (!record)
        return;
    const uint32_t count = sim->layout.x_count;
    memcpy(record, sim->vehicle->x, count * sizeof *record);
    record[count] = sim->signal[SIM_SIGNAL_ATTITUDE_ERROR];
    if (sim->spec->arm.payload_count > 0)
        record[count + 1] = (double)sim->vehicle->arm->configuration;
    io_telemetry_push(sim->telemetry, sim->layout.plant);
}

static void log_drive(struct sim *sim, int index, uint64_t log_time_ns)
{
    const int channel = sim->layout.drive + index;
    double *record = io_telemetry_claim(sim->telemetry, channel, log_time_ns);
    if (!record)
        return;
    record[0] = sim->vehicle->command[index];
    record[1] = turning_speed(sim, index);
    io_telemetry_push(sim->telemetry, channel);
}

static void log_arm(struct sim *sim, uint64_t log_time_ns)
{
    void *record = io_telemetry_claim(sim->telemetry, sim->layout.arm, log_time_ns);
    if (!record)
        return;
    sim_arm_record_fill(sim->vehicle, record);
    io_telemetry_push(sim->telemetry, sim->layout.arm);
}

static void run_log(void *self, uint64_t frame)
{
    struct sim *sim = self;
    if (!sim->telemetry)
        return;
    log_plant(sim, frame_log_ns(sim, frame));
    if (sim->vehicle->arm)
        log_arm(sim, frame_log_ns(sim, frame));
    for (int i = 0; i < sim->spec->drive_count; i++)
        log_drive(sim, i, frame_log_ns(sim, frame));
}

static void run_hash(void *self, uint64_t frame)
{
    (void)frame;
    struct sim *sim = self;
    sim->hash = rt_hash(sim->hash, sim->vehicle->state, sim->vehicle->state_size);
}

uint64_t sim_section_hash(const struct sim *sim, const struct sim_run_state_section *part)
{
    return rt_hash(0, sim->vehicle->state + part->offset, part->size);
}

static void run_section_hashes(void *self, uint64_t frame)
{
    struct sim *sim = self;
    run_hash(self, frame);
    if (!sim->telemetry)
        return;
    const uint64_t end_ns = frame_log_ns(sim, frame);
    uint64_t *record = io_telemetry_claim(sim->telemetry, sim->layout.part, end_ns);
    if (!record)
        return;
    record[0] = executive_frame(sim, frame);
    for (int i = 0; i < sim_run_state_section_count(sim->spec); i++)
        record[1 + i] = sim_section_hash(sim, &sim->part[i]);
    io_telemetry_push(sim->telemetry, sim->layout.part);
}

/* ---- outputs --------------------------------------------------------------------------- */

static void commit(void *self, uint64_t frame)
{
    struct sim *sim = self;
    const uint64_t counted = frame + sim->schedule->frame_offset;
    for (int i = 0; i < sim->spec->link_count; i++) {
        struct io_sample *sample = &sim->sample[i];
        const struct io_sample *leaves =
            sim_delay_line_pass(&sim->delay_out[i], counted, sample->due ? sample : NULL);
        if (sim->links && leaves)
            io_link_commit(sim->links, i, leaves);
        if (sample->due == 0)
            continue;
        if (sample->due & IO_SEND_SENSOR) {
            sample->fields = 0;
            sample->trace = (struct io_trace){0};
        }
        sample->due = 0;
    }
}

static bool stop_requested(const struct sim *sim)
{
    return sim->stop && atomic_load_explicit(sim->stop, memory_order_relaxed);
}

/* Who waits looks at the stop meanwhile. */
static void heed(void *self)
{
    struct sim *sim = self;
    if (sim->desk.heed)
        sim->desk.heed(sim->desk.self, sim->next_frame);
}

/* Lockstep: every link that was sent a sensor message owes a reply.  A wait that the end of the run
 * cut short has missed none. */
static bool await(void *self, uint64_t frame)
{
    struct sim *sim = self;
    bool all = true;
    sim->next_frame = frame;
    if (sim->links)
        io_links_set_await_hook(sim->links, (struct io_await_hook){sim, heed});
    for (int i = 0; sim->links && i < sim->spec->link_count; i++) {
        const struct sim_link *link = &sim->spec->links[i];
        const uint32_t every = link->every[SIM_MESSAGE_SENSOR];
        const bool replies = !io_protocol_traits(link->spec.protocol)->hands;
        const bool owed = replies && every && frame > 0 && frame % every == 0;
        if (!owed || sim->sensor_withheld[i])
            continue;
        /* One that is lost paces nothing any more: the frames go on at about the pace of the clock
         * until it speaks again. */
        const bool lost = sim->vehicle->link[i].lost;
        const uint64_t step_ns = every * sim->spec->period_ns;
        const uint64_t limit_ns =
            lost && step_ns < link->wait_limit_ns ? step_ns : link->wait_limit_ns;
        sim->unanswered[i] = !io_link_await(sim->links, i, sim->sample[i].sim_us, limit_ns);
        all = all && (lost || !sim->unanswered[i] || stop_requested(sim));
    }
    return all;
}

/* A run that no wall clock paces would outrun any log: it waits instead of dropping.  But who is
 * told to stop does so, also with a disk that takes nothing any more. */
static void wait_for_room(struct sim *sim)
{
    const struct timespec pause = {.tv_nsec = 200000};
    for (int i = 0; i <= sim->layout.job; i++) { /* acts see to their room themselves */
        while (!io_telemetry_has_room(sim->telemetry, i) && !stop_requested(sim)) {
            if (sim->watchdog)
                rt_watchdog_kick(sim->watchdog, rt_now_ns()); /* slow is not hung */
            heed(sim);
            nanosleep(&pause, NULL);
        }
    }
}

static void log_jobs(const struct sim *sim, uint64_t frame)
{
    struct sim_record_job *out =
        io_telemetry_claim(sim->telemetry, sim->layout.job, frame * sim->spec->period_ns);
    if (!out)
        return;
    out->frame = frame;
    out->begin_ns = sim->schedule->begin_ns;
    out->due = sim->schedule->due;
    memcpy(out->spent_ns, sim->schedule->spent_ns, sim->layout.job_size - SIM_RECORD_JOB_HEAD);
    io_telemetry_push(sim->telemetry, sim->layout.job);
}

static void record(void *self, const struct rt_frame_record *frame)
{
    struct sim *sim = self;
    if (!sim->telemetry)
        return;
    log_jobs(sim, frame->frame);
    struct sim_record_frame *out =
        io_telemetry_claim(sim->telemetry, sim->layout.frame, frame->frame * sim->spec->period_ns);
    if (!out)
        return;
    out->frame = frame->frame;
    out->release_ns = frame->release_ns;
    out->start_ns = frame->start_ns;
    out->end_ns = frame->end_ns;
    out->state_hash = sim->hash;
    out->missed = frame->missed;
    out->cause = frame->cause;
    out->held = frame->held;
    out->paused = frame->paused;
    io_telemetry_push(sim->telemetry, sim->layout.frame);
    sim->next_frame = frame->frame + 1;
    if (sim->spec->pace != RT_PACE_REAL)
        wait_for_room(sim);
}

/* A row waits where there is no room for it: the recorder knows what it loses then. */
static bool drain(void *self)
{
    const struct sim *sim = self;
    if (sim->telemetry && !io_telemetry_has_room(sim->telemetry, sim->layout.event))
        return false;
    const struct rt_flight_recorder_row *row = rt_flight_recorder_take(sim->recorder);
    if (!row || !sim->telemetry)
        return row != NULL;
    void *out =
        io_telemetry_claim(sim->telemetry, sim->layout.event, row->frame * sim->spec->period_ns);
    RT_CHECK(out);
    memcpy(out, row, sim->layout.event_size);
    io_telemetry_push(sim->telemetry, sim->layout.event);
    return true;
}

void sim_flush_flight_recorder(struct sim *sim)
{
    while (drain(sim))
        continue;
}

static void invalidate_outputs(void *self)
{
    const struct sim *sim = self;
    if (sim->links)
        io_links_invalidate_outputs(sim->links);
}

struct rt_frame_tasks sim_tasks(struct sim *sim)
{
    return (struct rt_frame_tasks){.self = sim,
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
static uint32_t truth_every(const struct sim_link *link)
{
    uint64_t common = 0;
    for (int m = 0; m < SIM_MESSAGE_COUNT; m++)
        common = rt_gcd(common, link->every[m]);
    return (uint32_t)common;
}

/* How often the motion must be known: for the log, the instruments and the links. */
static uint32_t solve_every(const struct sim_spec *spec)
{
    uint64_t every = spec->log_every;
    for (int i = 0; i < spec->sensor_count; i++)
        every = rt_gcd(every, spec->sensors[i].every);
    for (int i = 0; i < spec->link_count; i++)
        every = rt_gcd(every, truth_every(&spec->links[i]));
    return (uint32_t)every;
}

struct job_list {
    int count;
    struct rt_job job[RT_JOB_MAX];
};

/* A job that runs every n frames runs in the last of them, so that its sample stands at a multiple
 * of n periods.  every 0: never. */
static void add_job(struct job_list *list, const char *name, void (*run)(void *, uint64_t),
                    void *self, uint32_t every)
{
    if (every == 0)
        return;
    RT_CHECK(list->count < RT_JOB_MAX); /* config/ limits devices and links */
    list->job[list->count++] =
        (struct rt_job){.name = name, .run = run, .self = self, .every = every, .phase = every - 1};
}

static const char *const send_name[SIM_MESSAGE_COUNT] = {
    [SIM_MESSAGE_HEARTBEAT] = "send heartbeat",
    [SIM_MESSAGE_SENSOR] = "send sensor",
    [SIM_MESSAGE_GPS] = "send gps",
    [SIM_MESSAGE_STATE] = "send state",
    [SIM_MESSAGE_TIME] = "send time",
    [SIM_MESSAGE_TRACKER] = "send tracker",
    [SIM_MESSAGE_SUN] = "send sun",
    [SIM_MESSAGE_ANGLES] = "send angles",
    [SIM_MESSAGE_RC] = "send rc",
};

static void (*send_job(int message))(void *, uint64_t)
{
    return message == SIM_MESSAGE_SENSOR ? run_send_sensor
           : message == SIM_MESSAGE_RC   ? run_send_sticks
                                         : run_send;
}

/* All jobs, or those alone that move the vehicle: they come first. */
enum sim_job_set { WHOLE, MOVES };

static void list_jobs(const struct sim_spec *spec, const struct sim_inject *inject,
                      enum sim_job_set extent, struct sim *sim, struct job_list *list)
{
    const uint32_t solve = solve_every(spec);
    const bool has_arm = spec->arm.joint_count > 0;
    *list = (struct job_list){0};
    add_job(list, "inject", run_inject, sim, inject->kind != SIM_INJECT_NONE);
    add_job(list, "world", run_world, sim,
            spec->world.kind != DYN_WORLD_UNIFORM ? sim_environment_every(spec) : 0);
    add_job(list, "gust", run_gust, sim, spec->has_gust);
    add_job(list, "drives", run_drives, sim, spec->drive_count > 0);
    if (has_arm) { /* a servo looks before its first step */
        add_job(list, "servo", run_servo, sim, spec->arm.every);
        list->job[list->count - 1].phase = 0;
    }
    add_job(list, "motors", run_motors, sim, has_arm);
    add_job(list, "step", run_step, sim, 1);
    add_job(list, "brakes", run_brakes, sim, has_arm);
    if (extent == MOVES)
        return;
    add_job(list, "solve", run_solve, sim, solve);
    for (int i = 0; i < spec->sensor_count; i++)
        add_job(list, spec->sensors[i].name, run_sensor, sim ? &sim->sensor[i] : NULL,
                spec->sensors[i].every);
    for (int i = 0; i < spec->link_count; i++) {
        const struct sim_link *link = &spec->links[i];
        add_job(list, "truth", run_truth, sim ? &sim->link[i] : NULL, truth_every(link));
        for (int m = 0; m < SIM_MESSAGE_COUNT; m++)
            add_job(list, send_name[m], send_job(m), sim ? &sim->message[i][m] : NULL,
                    link->every[m]);
    }
    add_job(list, "watch", run_signals, sim, solve);
    add_job(list, "log", run_log, sim, spec->log_every);
    add_job(list, "outlook", run_prediction_input, sim, spec->predictor.every);
    add_job(list, "hash", spec->log_parts ? run_section_hashes : run_hash, sim, 1);
}

/* What late wires hold back; with rig NULL only the size counts. */
static void place_delay_lines(const struct sim_spec *spec, struct sim *sim, void *mem, size_t *at)
{
    for (int i = 0; i < spec->fault_count; i++) {
        const struct sim_fault *fault = &spec->faults[i];
        if (fault->link < 0 || fault->spec.kind != IO_FAULT_DELAY)
            continue;
        const uint64_t delay = (uint64_t)fault->spec.value;
        void *out = rt_layout_cut(mem, at, sim_delay_line_size(delay, sizeof(struct io_sample)));
        void *in = rt_layout_cut(mem, at, sim_delay_line_size(delay, sizeof(struct io_command)));
        if (sim && fault->way != SIM_DIRECTION_IN)
            sim_delay_line_place(&sim->delay_out[fault->link], delay, &sim->vehicle->fault[i],
                                 sizeof(struct io_sample), out);
        if (!sim || fault->way == SIM_DIRECTION_OUT)
            continue;
        sim_delay_line_place(&sim->delay_in[fault->link], delay, &sim->vehicle->fault[i],
                             sizeof(struct io_command), in);
        sim->delay_in[fault->link].delivers_last = is_operator_link(spec, fault->link);
    }
    for (int i = 0; i < spec->link_count; i++) {
        const uint32_t delay = spec->links[i].delay;
        void *wire = rt_layout_cut(mem, at, sim_delay_line_size(delay, sizeof(struct sim_command)));
        if (sim)
            sim_delay_line_place(&sim->wire[i], delay, NULL, sizeof(struct sim_command), wire);
    }
}

static void place_prediction_input(const struct sim_spec *spec, struct sim *sim, void *mem,
                                   size_t *at)
{
    if (spec->predictor.every == 0)
        return;
    const size_t size = sim_prediction_input_size(spec);
    void *prediction_input = rt_layout_cut(mem, at, rt_mailbox_size(size));
    if (sim)
        sim->prediction_input = rt_mailbox_place(size, prediction_input);
}

void sim_job_names(const struct sim_spec *spec, const struct sim_inject *inject,
                   struct sim_record_jobs *jobs)
{
    struct job_list list;
    list_jobs(spec, inject, WHOLE, NULL, &list);
    jobs->count = list.count;
    for (int i = 0; i < list.count; i++)
        jobs->name[i] = list.job[i].name;
}

/* Pages that nobody has touched yet.  The process locks what it maps, which brings it in at once;
 * here that is undone. */
static volatile unsigned char *map_untouched_pages(uint32_t pages)
{
    const size_t size = (size_t)pages * INJECT_PAGE;
    void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    RT_CHECK(mem != MAP_FAILED);
    RT_CHECK(munlock(mem, size) == 0);
    (void)madvise(mem, size, MADV_NOHUGEPAGE); /* refused: there are none */
    RT_CHECK(madvise(mem, size, MADV_DONTNEED) == 0);
    return mem;
}

static size_t sections_size(const struct sim_spec *spec)
{
    return spec->log_parts ? SIM_RUN_STATE_SECTION_MAX * sizeof(struct sim_run_state_section) : 0;
}

static size_t sim_bytes(const struct sim_spec *spec, const struct sim_inject *inject,
                        enum sim_job_set extent)
{
    struct job_list list;
    list_jobs(spec, inject, extent, NULL, &list);
    size_t at = 0;
    (void)rt_layout_cut(NULL, &at, sizeof(struct sim));
    (void)rt_layout_cut(NULL, &at, sim_vehicle_size(spec));
    (void)rt_layout_cut(NULL, &at, rt_mailbox_size(sizeof(struct sim_live)));
    (void)rt_layout_cut(NULL, &at, sizeof(struct sim_fault_flags));
    (void)rt_layout_cut(NULL, &at, rt_schedule_size(list.job, list.count));
    (void)rt_layout_cut(NULL, &at, rt_flight_recorder_size(list.count));
    (void)rt_layout_cut(NULL, &at, sections_size(spec));
    place_delay_lines(spec, NULL, NULL, &at);
    if (extent == WHOLE) {
        (void)rt_layout_cut(NULL, &at, sim_plausibility_size(spec));
        place_prediction_input(spec, NULL, NULL, &at);
    }
    return at;
}

size_t sim_size(const struct sim_spec *spec, const struct sim_inject *inject)
{
    return sim_bytes(spec, inject, WHOLE);
}

static struct sim *place_sim(const struct sim_spec *spec, const struct sim_inject *inject,
                             enum sim_job_set extent, void *mem)
{
    size_t at = 0;
    struct sim *sim = rt_layout_cut(mem, &at, sizeof *sim);
    void *vehicle_mem = rt_layout_cut(mem, &at, sim_vehicle_size(spec));
    void *live_mem = rt_layout_cut(mem, &at, rt_mailbox_size(sizeof(struct sim_live)));
    sim->shown = rt_layout_cut(mem, &at, sizeof *sim->shown);
    struct job_list list;
    list_jobs(spec, inject, extent, sim, &list);
    void *schedule_mem = rt_layout_cut(mem, &at, rt_schedule_size(list.job, list.count));
    void *recorder_mem = rt_layout_cut(mem, &at, rt_flight_recorder_size(list.count));
    void *parts_mem = rt_layout_cut(mem, &at, sections_size(spec));

    sim->spec = spec;
    sim->vehicle = sim_vehicle_place(spec, vehicle_mem);
    if (spec->log_parts) {
        sim->part = parts_mem;
        (void)sim_run_state_sections(sim->vehicle, sim->part);
    }
    place_delay_lines(spec, sim, mem, &at);
    if (extent == WHOLE) {
        sim_plausibility_place(&sim->plausibility, sim->vehicle,
                               rt_layout_cut(mem, &at, sim_plausibility_size(spec)));
        place_prediction_input(spec, sim, mem, &at);
    }
    sim->inject = *inject;
    if (inject->kind == SIM_INJECT_PAGE_FAULT)
        sim->inject.fresh = map_untouched_pages(inject->pages);
    sim->live = rt_mailbox_place(sizeof(struct sim_live), live_mem);
    sim->live_every = (uint32_t)fmax(1.0, spec->rate_hz / 20.0);
    sim->schedule = rt_schedule_place(list.job, list.count, schedule_mem);
    sim->recorder = rt_flight_recorder_place(list.count, recorder_mem);
    sim->layout = sim_record_layout(spec, dyn_model_nq(sim->vehicle->plant.model),
                                    dyn_model_nv(sim->vehicle->plant.model), list.count);
    for (int i = 0; i < spec->sensor_count; i++)
        sim->sensor[i] = (struct sim_device_job){sim, i};
    for (int i = 0; i < spec->sensor_count; i++)
        sim->has_gps = sim->has_gps || spec->sensors[i].kind == SIM_SENSOR_GPS;
    sim_sensors_begin(sim);
    for (int i = 0; i < spec->link_count; i++) {
        sim->link[i] = (struct sim_device_job){sim, i};
        for (int m = 0; m < SIM_MESSAGE_COUNT; m++)
            sim->message[i][m] = (struct sim_message_job){sim, i, m};
    }
    for (int i = 0; i < spec->expect_count; i++)
        sim_expectation_begin(&sim->expect[i], &spec->expects[i]);
    return sim;
}

struct sim *sim_place(const struct sim_spec *spec, const struct sim_inject *inject, void *mem)
{
    return place_sim(spec, inject, WHOLE, mem);
}

static struct sim *create_on_heap(const struct sim_spec *spec, enum sim_job_set extent)
{
    const struct sim_inject none = {0};
    const size_t size = sim_bytes(spec, &none, extent);
    void *mem = aligned_alloc(RT_CACHE_LINE, (size / RT_CACHE_LINE + 1) * RT_CACHE_LINE);
    RT_CHECK(mem);
    memset(mem, 0, size);
    return place_sim(spec, &none, extent, mem);
}

struct sim *sim_create(const struct sim_spec *spec)
{
    return create_on_heap(spec, WHOLE);
}

struct sim *sim_create_motion_only(const struct sim_spec *spec)
{
    return create_on_heap(spec, MOVES);
}

void sim_sample_all_sensors(struct sim *sim)
{
    run_solve(sim, 0);
    for (int i = 0; i < sim->spec->sensor_count; i++)
        run_sensor(&sim->sensor[i], 0);
    for (int i = 0; i < sim->spec->link_count; i++) {
        run_truth(&sim->link[i], 0);
        if (sim->spec->links[i].every[SIM_MESSAGE_RC])
            run_send_sticks(&sim->message[i][SIM_MESSAGE_RC], 0);
    }
}

/* As many frames as make a median, but nobody waits long for a vehicle of thousands of bodies. */
static void warm_up_frames(struct rt_schedule *schedule)
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

void sim_warm_up(struct sim *sim)
{
    struct rt_schedule *schedule = sim->schedule;
    void *state = malloc(sim->vehicle->state_size);
    RT_CHECK(state);
    memcpy(state, sim->vehicle->state, sim->vehicle->state_size);
    const struct sim before = *sim;
    sim->telemetry = NULL;
    sim->live = NULL;
    sim->warming_up = true;
    sim->inject.kind = SIM_INJECT_NONE;
    if (sim->vehicle->arm) { /* one that stands behind its brakes has nothing to do */
        sim->vehicle->arm->panel.mode = IO_ARM_PANEL_TOOL;
        sim->vehicle->arm->panel.brakes = 0;
    }

    warm_up_frames(schedule);
    for (int i = 0; i < schedule->job_count; i++) {
        schedule->job[i].predicted_ns = rt_histogram_quantile(&schedule->time[i], 0.5);
        schedule->time[i] = (struct rt_histogram){0};
    }
    *sim = before;
    memcpy(sim->vehicle->state, state, sim->vehicle->state_size);
    sim_vehicle_apply_state(
        sim->vehicle); /* field, Sun, wind and what is held are copies of what is in there */
    free(state);
}
