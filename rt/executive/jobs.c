/*
 * The jobs of a frame: one row for each kind, in the order in which they run.
 *
 * Tested by tests/rt/executive/test_jobs.c.
 */
#include "rt/executive/jobs.h"

#include <string.h>

#include "rt/check.h"
#include "rt/executive/sim_private.h"

// clang-format off
const struct sim_job_row sim_job_rows[] = {
    /* name       function                   when                 moves  writes, of the run state */
    {"inject",    sim_job_inject,            SIM_WHEN_INJECTED,   true,  ""},
    {"world",     sim_job_world,             SIM_AT_WORLD_RATE,   true,  "surroundings"},
    {"gust",      sim_job_gust,              SIM_WITH_GUSTS,      true,  "surroundings"},
    {"drives",    sim_job_actuators,         SIM_WITH_ACTUATORS,  true,  "drive, fault"},
    {"servo",     sim_job_arm_servo,         SIM_AT_SERVO_RATE,   true,  "arm, plant"},
    {"motors",    sim_job_arm_motors,        SIM_WITH_AN_ARM,     true,  ""},
    {"step",      sim_job_step,              SIM_EVERY_FRAME,     true,  "plant, schedule"},
    {"brakes",    sim_job_arm_brakes,        SIM_WITH_AN_ARM,     true,  "arm, plant"},
    {"solve",     sim_job_solve,             SIM_WHEN_READ,       false, "schedule"},
    {NULL,        sim_job_sensor,            SIM_FOR_EACH_SENSOR, false, "device, fault"},
    {"truth",     sim_job_truth,             SIM_FOR_EACH_LINK,   false, ""},
    /* after the truth of a link come its messages, from IO_MESSAGE_LIST */
    {"watch",     sim_job_signals,           SIM_WHEN_READ,       false, ""},
    {"log",       sim_job_log,               SIM_AT_LOG_RATE,     false, ""},
    {"outlook",   sim_job_prediction_input,  SIM_WHEN_PREDICTED,  false, ""},
    {"hash",      sim_job_hash,              SIM_WITHOUT_PARTS,   false, ""},
    {"hash",      sim_job_section_hashes,    SIM_WITH_PARTS,      false, ""},
};
const int sim_job_row_count = sizeof sim_job_rows / sizeof sim_job_rows[0];
// clang-format on

static const char *const message_job_names[IO_MESSAGE_COUNT] = {
#define JOB_NAME(name, key, job, help) job,
    IO_MESSAGE_LIST(JOB_NAME)
#undef JOB_NAME
};

/* Jobs that do more than to make their message due; NULL: sim_job_message. */
static void (*const message_jobs[IO_MESSAGE_COUNT])(void *self, uint64_t frame) = {
    [IO_MESSAGE_SENSOR] = sim_job_message_sensor,
    [IO_MESSAGE_RC] = sim_job_message_rc,
};

/* ---- when ---- */

/* How often a link's messages may carry the true motion. */
static uint32_t truth_every(const struct sim_link *link)
{
    uint64_t common = 0;
    for (int m = 0; m < IO_MESSAGE_COUNT; m++)
        common = rt_gcd(common, link->every[m]);
    return (uint32_t)common;
}

/* How often the motion must be known: for the log, the sensors and the links. */
static uint32_t solve_every(const struct sim_spec *spec)
{
    uint64_t every = spec->log_every;
    for (int i = 0; i < spec->sensor_count; i++)
        every = rt_gcd(every, spec->sensors[i].every);
    for (int i = 0; i < spec->link_count; i++)
        every = rt_gcd(every, truth_every(&spec->links[i]));
    return (uint32_t)every;
}

/* Frames between two runs of a job; 0: it never runs.  index: of a sensor or a link. */
static uint32_t frames_between(enum sim_job_when when, const struct sim_spec *spec,
                               const struct sim_inject *inject, int index)
{
    const bool has_arm = spec->arm.joint_count > 0;
    switch (when) {
    case SIM_EVERY_FRAME:
        return 1;
    case SIM_WHEN_INJECTED:
        return inject->kind != SIM_INJECT_NONE;
    case SIM_AT_WORLD_RATE:
        return spec->world.kind != DYN_WORLD_UNIFORM ? sim_environment_every(spec) : 0;
    case SIM_WITH_GUSTS:
        return spec->has_gust;
    case SIM_WITH_ACTUATORS:
        return spec->drive_count > 0;
    case SIM_AT_SERVO_RATE:
        return has_arm ? spec->arm.every : 0;
    case SIM_WITH_AN_ARM:
        return has_arm;
    case SIM_WHEN_READ:
        return solve_every(spec);
    case SIM_FOR_EACH_SENSOR:
        return spec->sensors[index].every;
    case SIM_FOR_EACH_LINK:
        return truth_every(&spec->links[index]);
    case SIM_AT_LOG_RATE:
        return spec->log_every;
    case SIM_WHEN_PREDICTED:
        return spec->predictor.every;
    case SIM_WITHOUT_PARTS:
        return !spec->log_parts;
    case SIM_WITH_PARTS:
        return spec->log_parts;
    }
    return 0;
}

/* ---- the list of a spec ---- */

/* A job that runs every n frames runs in the last of them, so that its sample stands at a multiple
 * of n periods. */
static void add_job(struct sim_job_list *list, const char *name,
                    void (*run)(void *self, uint64_t frame), void *self, uint32_t every)
{
    if (every == 0)
        return;
    RT_CHECK(list->count < RT_JOB_MAX); /* config/ limits devices and links */
    list->job[list->count++] =
        (struct rt_job){.name = name, .run = run, .self = self, .every = every, .phase = every - 1};
}

static void add_sensors(struct sim_job_list *list, const struct sim_job_row *row,
                        const struct sim_spec *spec, struct sim *sim)
{
    for (int i = 0; i < spec->sensor_count; i++)
        add_job(list, spec->sensors[i].name, row->run, sim ? &sim->sensor[i] : NULL,
                frames_between(row->when, spec, NULL, i));
}

static void add_links(struct sim_job_list *list, const struct sim_job_row *row,
                      const struct sim_spec *spec, struct sim *sim)
{
    for (int i = 0; i < spec->link_count; i++) {
        add_job(list, row->name, row->run, sim ? &sim->link[i] : NULL,
                frames_between(row->when, spec, NULL, i));
        for (int m = 0; m < IO_MESSAGE_COUNT; m++)
            add_job(list, message_job_names[m], message_jobs[m] ? message_jobs[m] : sim_job_message,
                    sim ? &sim->message[i][m] : NULL, spec->links[i].every[m]);
    }
}

void sim_list_jobs(const struct sim_spec *spec, const struct sim_inject *inject,
                   enum sim_job_set set, struct sim *sim, struct sim_job_list *list)
{
    *list = (struct sim_job_list){0};
    for (int i = 0; i < sim_job_row_count; i++) {
        const struct sim_job_row *row = &sim_job_rows[i];
        if (set == SIM_JOBS_THAT_MOVE && !row->moves)
            continue;
        if (row->when == SIM_FOR_EACH_SENSOR) {
            add_sensors(list, row, spec, sim);
        } else if (row->when == SIM_FOR_EACH_LINK) {
            add_links(list, row, spec, sim);
        } else {
            const int before = list->count;
            add_job(list, row->name, row->run, sim, frames_between(row->when, spec, inject, 0));
            if (row->when == SIM_AT_SERVO_RATE && list->count > before)
                list->job[before].phase = 0; /* a servo reads its sticks before its first step */
        }
    }
}

void sim_job_names(const struct sim_spec *spec, const struct sim_inject *inject,
                   struct sim_record_jobs *jobs)
{
    struct sim_job_list list;
    sim_list_jobs(spec, inject, SIM_ALL_JOBS, NULL, &list);
    jobs->count = list.count;
    for (int i = 0; i < list.count; i++)
        jobs->name[i] = list.job[i].name;
}
