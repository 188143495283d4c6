/*
 * What a frame writes into the log: plant, actuators, arm, times of the jobs, and the hash of the
 * run state.
 *
 * Tested by tests/rt/executive/output/test_records.c and test_sim.c.
 */
#include <string.h>

#include "rt/executive/arm/arm_record.h"
#include "rt/executive/sim_private.h"
#include "rt/hash.h"

static void log_plant(struct sim *sim, uint64_t log_time_ns)
{
    double *record = io_telemetry_claim(sim->telemetry, sim->layout.plant, log_time_ns);
    if (!record)
        return;
    const uint32_t count = sim->layout.x_count;
    memcpy(record, sim->vehicle->x, count * sizeof *record);
    record[count] = sim->scratch.signal[SIM_SIGNAL_ATTITUDE_ERROR];
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
    record[1] = sim_turning_speed(sim, index);
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

void sim_job_log(void *self, uint64_t frame)
{
    struct sim *sim = self;
    if (!sim->telemetry)
        return;
    log_plant(sim, sim_frame_log_ns(sim, frame));
    if (sim->vehicle->arm)
        log_arm(sim, sim_frame_log_ns(sim, frame));
    for (int i = 0; i < sim->spec->drive_count; i++)
        log_drive(sim, i, sim_frame_log_ns(sim, frame));
}

void sim_job_hash(void *self, uint64_t frame)
{
    (void)frame;
    struct sim *sim = self;
    sim->scratch.hash = rt_hash(sim->scratch.hash, sim->vehicle->state, sim->vehicle->state_size);
}

uint64_t sim_section_hash(const struct sim *sim, const struct sim_run_state_section *part)
{
    return rt_hash(0, sim->vehicle->state + part->offset, part->size);
}

void sim_job_section_hashes(void *self, uint64_t frame)
{
    struct sim *sim = self;
    sim_job_hash(self, frame);
    if (!sim->telemetry)
        return;
    const uint64_t end_ns = sim_frame_log_ns(sim, frame);
    uint64_t *record = io_telemetry_claim(sim->telemetry, sim->layout.part, end_ns);
    if (!record)
        return;
    record[0] = sim_executive_frame(sim, frame);
    for (int i = 0; i < sim_run_state_section_count(sim->spec); i++)
        record[1 + i] = sim_section_hash(sim, &sim->part[i]);
    io_telemetry_push(sim->telemetry, sim->layout.part);
}

void sim_log_jobs(const struct sim *sim, uint64_t frame)
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
