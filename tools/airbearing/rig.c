#include "tools/airbearing/rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dynamics/range.h"
#include "dynamics/spatial.h"
#include "rt/arena.h"
#include "rt/check.h"
#include "rt/clock.h"
#include "rt/hash.h"

static const double earth_radius_m = 6371008.8; /* mean radius, IUGG */

static uint64_t sim_end_ns(const struct rig *rig, uint64_t frame)
{
    return (frame + 1) * rig->scenario->period_ns;
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

void rig_apply(struct rig *rig, struct record_input *input)
{
    struct cfg_link_state *link = &rig->cfg->link[input->link];
    input->ordinal = rig->inputs++;
    for (int i = 0; i < IO_CONTROL_MAX; i++)
        link->control[i] = input->kind == RECORD_COMMAND ? (double)input->controls[i] : 0.0;
    if (input->kind == RECORD_COMMAND) {
        link->flags = input->flags;
        link->board_us = input->board_us;
        link->sequence = input->sequence;
        link->mode = input->mode;
        link->commands++;
    }
    link->lost = input->kind == RECORD_LOSS;
    log_input(rig, input);
}

static void latch(void *self, uint64_t frame, bool held)
{
    struct rig *rig = self;
    if (!held)
        rig->source.gather(rig->source.self, rig, frame);
}

/* ---- jobs, in the order of the frame --------------------------------------------------- */

static void run_inject(void *self, uint64_t frame)
{
    const struct rig *rig = self;
    if (rig->inject.kind == RIG_INJECT_NONE || frame != rig->inject.frame)
        return;
    const uint64_t until_ns = rt_now_ns() + rig->inject.late_ns;
    while (rig->inject.kind == RIG_INJECT_HANG || rt_now_ns() < until_ns)
        __asm__ volatile("pause");
}

static void run_drives(void *self, uint64_t frame)
{
    (void)frame;
    struct cfg_rig *cfg = ((struct rig *)self)->cfg;
    for (int i = 0; i < cfg->scenario->wheel_count; i++) {
        const struct cfg_wheel *wheel = &cfg->scenario->wheels[i];
        io_drive_update(&wheel->drive, cfg->link[wheel->link].control[wheel->control],
                        &cfg->drive[i]);
        cfg->command[i] = cfg->drive[i].out;
    }
}

static void run_step(void *self, uint64_t frame)
{
    struct rig *rig = self;
    struct cfg_rig *cfg = rig->cfg;
    if (!dyn_plant_step(&cfg->plant, cfg->command, NULL, cfg->h, cfg->work, cfg->x) &&
        cfg->schedule->not_finite++ == 0)
        rig->first_not_finite = frame;
    cfg->schedule->frame = frame + 1;
    for (int i = 0; i < rig->scenario->link_count; i++) {
        if (rig->trace[i].latch_ns && !rig->trace[i].step_ns)
            rig->trace[i].step_ns = rt_now_ns();
    }
}

bool rig_left_range(const struct rig *rig)
{
    uint64_t sum = 0;
    for (int k = 0; k < DYN_LIMIT_COUNT; k++)
        sum += rig->cfg->schedule->out_of_range[k];
    return sum > 0;
}

/* Flexible bodies that have left the range of their model are counted, and the first is named. */
static void count_range(struct rig *rig)
{
    const struct cfg_rig *cfg = rig->cfg;
    int first = 0;
    const unsigned out = dyn_plant_range(&cfg->plant, cfg->work, cfg->x, &first);
    if (out != 0 && !rig_left_range(rig))
        rig->first_out_of_range = first;
    for (int k = 0; k < DYN_LIMIT_COUNT; k++)
        cfg->schedule->out_of_range[k] += out >> k & 1;
}

static void run_solve(void *self, uint64_t frame)
{
    (void)frame;
    struct rig *rig = self;
    const struct cfg_rig *cfg = rig->cfg;
    dyn_plant_solve(&cfg->plant, cfg->command, NULL, cfg->x, cfg->work);
    count_range(rig);
}

static void log_sensor(struct rig *rig, int index, uint64_t frame)
{
    if (!rig->telemetry)
        return;
    const int channel = rig->layout.sensor + index;
    void *record = io_telemetry_claim(rig->telemetry, channel, sim_end_ns(rig, frame));
    if (!record)
        return;
    memcpy(record, rig->cfg->triad[index].out, sizeof rig->cfg->triad[index].out);
    io_telemetry_push(rig->telemetry, channel);
}

/* Truth to what the instrument says, into the samples of all links. */
static void run_sensor(void *self, uint64_t frame)
{
    const struct rig_device *device = self;
    struct rig *rig = device->rig;
    const struct cfg_sensor *sensor = &rig->scenario->sensors[device->index];
    struct io_triad_state *triad = &rig->cfg->triad[device->index];
    struct dyn_motion motion;
    dyn_plant_motion(&rig->cfg->plant, rig->cfg->work, rig->cfg->x, sensor->body, sensor->point,
                     &motion);

    const double *truth[] = {[CFG_GYRO] = motion.rate,
                             [CFG_ACCELEROMETER] = motion.specific_force,
                             [CFG_MAGNETOMETER] = motion.magnetic_field};
    static const uint32_t field[] = {[CFG_GYRO] = IO_FIELD_GYRO,
                                     [CFG_ACCELEROMETER] = IO_FIELD_ACCEL,
                                     [CFG_MAGNETOMETER] = IO_FIELD_MAG};
    io_triad_sample(&sensor->triad, truth[sensor->kind], triad);
    for (int i = 0; i < rig->scenario->link_count; i++) {
        struct io_sample *sample = &rig->sample[i];
        double *out[] = {[CFG_GYRO] = sample->gyro,
                         [CFG_ACCELEROMETER] = sample->accel,
                         [CFG_MAGNETOMETER] = sample->mag};
        memcpy(out[sensor->kind], triad->out, sizeof triad->out);
        sample->fields |= field[sensor->kind];
    }
    log_sensor(rig, device->index, frame);
}

/* True motion of the link's body, for the messages that carry truth. */
static void run_truth(void *self, uint64_t frame)
{
    const struct rig_device *device = self;
    struct rig *rig = device->rig;
    const struct cfg_link *link = &rig->scenario->links[device->index];
    struct io_sample *sample = &rig->sample[device->index];
    const double origin[3] = {0};
    struct dyn_motion motion;
    dyn_plant_motion(&rig->cfg->plant, rig->cfg->work, rig->cfg->x, link->body, origin, &motion);

    sample->frame = frame;
    sample->sim_us = sim_end_ns(rig, frame) / 1000;
    memcpy(sample->attitude, motion.attitude, sizeof sample->attitude);
    memcpy(sample->rate, motion.rate, sizeof sample->rate);
    memcpy(sample->velocity, motion.velocity, sizeof sample->velocity);
    memcpy(sample->true_accel, motion.specific_force, sizeof sample->true_accel);
    /* World axes are north, east, down at home. */
    const double *home = rig->scenario->home;
    sample->latitude = home[0] + motion.position[0] / earth_radius_m;
    sample->longitude = home[1] + motion.position[1] / (earth_radius_m * cos(home[0]));
    sample->altitude = home[2] - motion.position[2];
}

static void run_send_sensor(void *self, uint64_t frame)
{
    (void)frame;
    const struct rig_device *device = self;
    struct io_sample *sample = &device->rig->sample[device->index];
    struct io_trace *trace = &device->rig->trace[device->index];
    sample->due |= IO_SEND_SENSOR;
    if (trace->latch_ns == 0)
        return;
    sample->trace = *trace;
    *trace = (struct io_trace){0};
}

static void mark_due(const struct rig_device *device, uint32_t message)
{
    device->rig->sample[device->index].due |= message;
}

static void run_send_state(void *self, uint64_t frame)
{
    (void)frame;
    mark_due(self, IO_SEND_STATE);
}

static void run_send_gps(void *self, uint64_t frame)
{
    (void)frame;
    mark_due(self, IO_SEND_GPS);
}

static void run_send_heartbeat(void *self, uint64_t frame)
{
    (void)frame;
    mark_due(self, IO_SEND_HEARTBEAT);
}

static void run_send_time(void *self, uint64_t frame)
{
    (void)frame;
    mark_due(self, IO_SEND_TIME);
}

static double wheel_speed(const struct rig *rig, int index)
{
    const struct cfg_rig *cfg = rig->cfg;
    const struct cfg_wheel *wheel = &rig->scenario->wheels[index];
    const double origin[3] = {0};
    struct dyn_motion motion;
    dyn_plant_motion(&cfg->plant, cfg->work, cfg->x, wheel->body, origin, &motion);
    const double momentum = cfg->x[dyn_plant_effector_index(&cfg->plant, index)];
    return dyn_wheel_speed(&wheel->wheel, motion.rate, momentum);
}

/* Angle of the rotation that is left between the body and its target. */
static double attitude_error(const double target[4], const double attitude[4])
{
    const double *t = target, *a = attitude;
    const double w = t[0] * a[0] + t[1] * a[1] + t[2] * a[2] + t[3] * a[3];
    const double x = t[0] * a[1] - t[1] * a[0] - t[2] * a[3] + t[3] * a[2];
    const double y = t[0] * a[2] + t[1] * a[3] - t[2] * a[0] - t[3] * a[1];
    const double z = t[0] * a[3] - t[1] * a[2] + t[2] * a[1] - t[3] * a[0];
    return 2.0 * atan2(sqrt(x * x + y * y + z * z), fabs(w));
}

static void see_expectations(struct rig *rig, uint64_t frame)
{
    const double seconds = (double)sim_end_ns(rig, frame) * 1e-9;
    const double value[] = {[CFG_ATTITUDE_ERROR] = rig->attitude_error,
                            [CFG_RATE] = rig->rate,
                            [CFG_WHEEL_SPEED] = rig->wheel_speed};
    for (int i = 0; i < rig->scenario->expect_count; i++)
        expect_see(&rig->expect[i], seconds, value[rig->expect[i].expect->signal]);
}

/* The numbers a person looks at, from the state after the step. */
static void run_watch(void *self, uint64_t frame)
{
    struct rig *rig = self;
    const struct cfg_rig *cfg = rig->cfg;
    const double origin[3] = {0};
    struct dyn_motion motion;
    if (rig->scenario->body_count > 0) {
        dyn_plant_motion(&cfg->plant, cfg->work, cfg->x, rig->scenario->target_body, origin,
                         &motion);
        rig->attitude_error = attitude_error(rig->scenario->target, motion.attitude);
        const double *w = motion.rate;
        rig->rate = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    }
    rig->wheel_speed = 0.0;
    for (int i = 0; i < rig->scenario->wheel_count; i++) {
        const double speed = fabs(wheel_speed(rig, i));
        rig->wheel_speed = fmax(rig->wheel_speed, speed);
    }
    see_expectations(rig, frame);
    if (rig->live && frame % rig->live_every == 0) {
        *(struct rig_live *)rt_mailbox_back(rig->live) =
            (struct rig_live){rig->attitude_error, rig->rate, rig->wheel_speed, rig->inputs};
        rt_mailbox_publish(rig->live);
    }
}

static void log_plant(struct rig *rig, uint64_t log_time_ns)
{
    double *record = io_telemetry_claim(rig->telemetry, rig->layout.plant, log_time_ns);
    if (!record)
        return;
    const size_t x_size = rig->layout.plant_size - sizeof(double);
    memcpy(record, rig->cfg->x, x_size);
    record[x_size / sizeof(double)] = rig->attitude_error;
    io_telemetry_push(rig->telemetry, rig->layout.plant);
}

static void log_wheel(struct rig *rig, int index, uint64_t log_time_ns)
{
    const int channel = rig->layout.wheel + index;
    double *record = io_telemetry_claim(rig->telemetry, channel, log_time_ns);
    if (!record)
        return;
    record[0] = rig->cfg->command[index];
    record[1] = wheel_speed(rig, index);
    io_telemetry_push(rig->telemetry, channel);
}

static void run_log(void *self, uint64_t frame)
{
    struct rig *rig = self;
    if (!rig->telemetry)
        return;
    log_plant(rig, sim_end_ns(rig, frame));
    for (int i = 0; i < rig->scenario->wheel_count; i++)
        log_wheel(rig, i, sim_end_ns(rig, frame));
}

static void run_hash(void *self, uint64_t frame)
{
    (void)frame;
    struct rig *rig = self;
    rig->hash = rt_hash(rig->hash, rig->cfg->state, rig->cfg->state_size);
}

/* ---- outputs --------------------------------------------------------------------------- */

static void commit(void *self, uint64_t frame)
{
    (void)frame;
    struct rig *rig = self;
    for (int i = 0; i < rig->scenario->link_count; i++) {
        struct io_sample *sample = &rig->sample[i];
        if (sample->due == 0)
            continue;
        if (rig->links)
            io_link_commit(rig->links, i, sample);
        if (sample->due & IO_SEND_SENSOR) {
            sample->fields = 0;
            sample->trace = (struct io_trace){0};
        }
        sample->due = 0;
    }
}

/* Lockstep: every link that was sent a sensor message owes a reply. */
static bool await(void *self, uint64_t frame)
{
    struct rig *rig = self;
    bool all = true;
    for (int i = 0; rig->links && i < rig->scenario->link_count; i++) {
        const struct cfg_link *link = &rig->scenario->links[i];
        const bool owed = link->every_sensor && frame > 0 && frame % link->every_sensor == 0;
        if (owed && !io_link_await(rig->links, i, rig->sample[i].sim_us, link->wait_limit_ns))
            all = false;
    }
    return all;
}

/* A run that no wall clock paces would outrun any log: it waits instead of dropping. */
static void wait_for_room(const struct rig *rig)
{
    const struct timespec pause = {.tv_nsec = 200000};
    for (int i = 0; i < rig->layout.count; i++) {
        while (!io_telemetry_has_room(rig->telemetry, i)) {
            if (rig->watchdog)
                rt_watchdog_kick(rig->watchdog, rt_now_ns()); /* slow is not hung */
            nanosleep(&pause, NULL);
        }
    }
}

static void record(void *self, const struct rt_frame_record *frame)
{
    struct rig *rig = self;
    if (!rig->telemetry)
        return;
    struct record_frame *out = io_telemetry_claim(rig->telemetry, rig->layout.frame,
                                                  frame->frame * rig->scenario->period_ns);
    if (!out)
        return;
    const struct record_frame filled = {
        .frame = frame->frame,
        .release_ns = frame->release_ns,
        .start_ns = frame->start_ns,
        .end_ns = frame->end_ns,
        .state_hash = rig->hash,
        .missed = frame->missed,
        .cause = frame->cause,
        .held = frame->held,
    };
    memcpy(out, &filled, RECORD_FRAME_SIZE);
    io_telemetry_push(rig->telemetry, rig->layout.frame);
    if (rig->scenario->pace != RT_PACE_REAL)
        wait_for_room(rig);
}

static void safe(void *self)
{
    const struct rig *rig = self;
    if (rig->links)
        io_links_safe(rig->links);
}

struct rt_frame_tasks rig_tasks(struct rig *rig)
{
    return (struct rt_frame_tasks){.self = rig,
                                   .commit = commit,
                                   .await = await,
                                   .latch = latch,
                                   .record = record,
                                   .safe = safe};
}

/* ---- set-up ---------------------------------------------------------------------------- */

/* How often a link's messages may carry the true motion. */
static uint32_t truth_every(const struct cfg_link *link)
{
    const uint32_t every[] = {link->every_state, link->every_gps, link->every_heartbeat,
                              link->every_time};
    uint64_t common = link->every_sensor;
    for (size_t i = 0; i < sizeof every / sizeof *every; i++)
        common = rt_gcd(common, every[i]);
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

static void list_jobs(const struct cfg_scenario *scenario, const struct rig_inject *inject,
                      struct rig *rig, struct job_list *list)
{
    const uint32_t solve = solve_every(scenario);
    *list = (struct job_list){0};
    add(list, "inject", run_inject, rig, inject->kind != RIG_INJECT_NONE);
    add(list, "drives", run_drives, rig, scenario->wheel_count > 0);
    add(list, "step", run_step, rig, 1);
    add(list, "solve", run_solve, rig, solve);
    for (int i = 0; i < scenario->sensor_count; i++)
        add(list, scenario->sensors[i].name, run_sensor, rig ? &rig->sensor[i] : NULL,
            scenario->sensors[i].every);
    for (int i = 0; i < scenario->link_count; i++) {
        const struct cfg_link *link = &scenario->links[i];
        void *self = rig ? &rig->link[i] : NULL;
        add(list, "truth", run_truth, self, truth_every(link));
        add(list, "send sensor", run_send_sensor, self, link->every_sensor);
        add(list, "send state", run_send_state, self, link->every_state);
        add(list, "send gps", run_send_gps, self, link->every_gps);
        add(list, "send heartbeat", run_send_heartbeat, self, link->every_heartbeat);
        add(list, "send time", run_send_time, self, link->every_time);
    }
    add(list, "watch", run_watch, rig, solve);
    add(list, "log", run_log, rig, scenario->log_every);
    add(list, "hash", run_hash, rig, 1);
}

size_t rig_size(const struct cfg_scenario *scenario, const struct rig_inject *inject)
{
    struct job_list list;
    list_jobs(scenario, inject, NULL, &list);
    size_t at = 0;
    (void)rt_cut(NULL, &at, sizeof(struct rig));
    (void)rt_cut(NULL, &at, cfg_rig_size(scenario));
    (void)rt_cut(NULL, &at, rt_mailbox_size(sizeof(struct rig_live)));
    (void)rt_cut(NULL, &at, rt_schedule_size(list.job, list.count));
    return at;
}

struct rig *rig_place(const struct cfg_scenario *scenario, const struct rig_inject *inject,
                      void *mem)
{
    size_t at = 0;
    struct rig *rig = rt_cut(mem, &at, sizeof *rig);
    void *cfg_mem = rt_cut(mem, &at, cfg_rig_size(scenario));
    void *live_mem = rt_cut(mem, &at, rt_mailbox_size(sizeof(struct rig_live)));
    struct job_list list;
    list_jobs(scenario, inject, rig, &list);
    void *schedule_mem = rt_cut(mem, &at, rt_schedule_size(list.job, list.count));

    rig->scenario = scenario;
    rig->inject = *inject;
    rig->cfg = cfg_rig_place(scenario, cfg_mem);
    rig->live = rt_mailbox_place(sizeof(struct rig_live), live_mem);
    rig->live_every = (uint32_t)fmax(1.0, scenario->rate_hz / 20.0);
    rig->schedule = rt_schedule_place(list.job, list.count, schedule_mem);
    rig->layout = record_layout(scenario, dyn_model_nq(rig->cfg->plant.model),
                                dyn_model_nv(rig->cfg->plant.model));
    for (int i = 0; i < scenario->sensor_count; i++)
        rig->sensor[i] = (struct rig_device){rig, i};
    for (int i = 0; i < scenario->link_count; i++)
        rig->link[i] = (struct rig_device){rig, i};
    for (int i = 0; i < scenario->expect_count; i++)
        expect_begin(&rig->expect[i], &scenario->expects[i]);
    return rig;
}

struct rig *rig_on_heap(const struct cfg_scenario *scenario)
{
    const struct rig_inject none = {0};
    const size_t size = rig_size(scenario, &none);
    void *mem = aligned_alloc(RT_CACHE_LINE, (size / RT_CACHE_LINE + 1) * RT_CACHE_LINE);
    RT_CHECK(mem);
    memset(mem, 0, size);
    return rig_place(scenario, &none, mem);
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
    rig->inject.kind = RIG_INJECT_NONE;

    rehearse_frames(schedule);
    for (int i = 0; i < schedule->job_count; i++) {
        schedule->job[i].predicted_ns = rt_histogram_at(&schedule->time[i], 0.5);
        schedule->time[i] = (struct rt_histogram){0};
    }
    *rig = before;
    memcpy(rig->cfg->state, state, rig->cfg->state_size);
    free(state);
}
