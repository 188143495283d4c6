/*
 * The table of the jobs that a frame is made of.  Which of them a spec has, and how often each
 * runs, is settled before the first frame; a frame decides nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rt/executive/sim.h"
#include "rt/schedule.h"

enum sim_job_when {
    SIM_EVERY_FRAME,
    SIM_WHEN_INJECTED,   /* trouble was asked for */
    SIM_AT_WORLD_RATE,   /* there is a world that changes */
    SIM_WITH_GUSTS,      /* every frame, where the wind has gusts */
    SIM_WITH_ACTUATORS,  /* every frame, where a link commands some */
    SIM_AT_SERVO_RATE,   /* there is an arm */
    SIM_WITH_AN_ARM,     /* every frame, where there is one */
    SIM_WHEN_READ,       /* before a sensor, a link or the log reads the motion */
    SIM_FOR_EACH_SENSOR, /* one job each, at its rate */
    SIM_FOR_EACH_LINK,   /* one job each, at the rate that its messages have in common */
    SIM_AT_LOG_RATE,
    SIM_WHEN_PREDICTED, /* at the rate of the predictor */
    SIM_WITHOUT_PARTS,  /* every frame, unless the log has a hash of every part of the run state */
    SIM_WITH_PARTS,     /* every frame, where it has */
};

struct sim_job_row {
    const char *name; /* in the log and the report; NULL: that of the sensor */
    void (*run)(void *self, uint64_t frame);
    enum sim_job_when when;
    bool moves;         /* it moves the vehicle: a predictor runs it, too */
    const char *writes; /* kinds of sections of the run state, as their names begin */
};

extern const struct sim_job_row sim_job_rows[];
extern const int sim_job_row_count;

/* All jobs, or those alone that move the vehicle. */
enum sim_job_set { SIM_ALL_JOBS, SIM_JOBS_THAT_MOVE };

struct sim_job_list {
    int count;
    struct rt_job job[RT_JOB_MAX];
};

/* The jobs of a spec, in the order in which they run.  sim NULL: only names and periods count.
 * Context: setup. */
void sim_list_jobs(const struct sim_spec *spec, const struct sim_inject *inject,
                   enum sim_job_set set, struct sim *sim, struct sim_job_list *list);
