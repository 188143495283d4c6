/*
 * What the parts of a simulation share; for rt/executive/ only.
 */
#pragma once

#include "rt/executive/sim.h"

/* Jobs are given the number of frames that the run state has behind it.  A state that was put back
 * brings that number along, so the executive's own number is another. */
static inline uint64_t sim_executive_frame(const struct sim *sim, uint64_t frame)
{
    return frame - sim->schedule->frame_offset;
}

/* Simulated time at the end of a frame. */
static inline uint64_t sim_frame_end_ns(const struct sim *sim, uint64_t frame)
{
    return (frame + 1) * sim->spec->period_ns;
}

/* The same as the log counts it, which never goes back. */
static inline uint64_t sim_frame_log_ns(const struct sim *sim, uint64_t frame)
{
    return sim_frame_end_ns(sim, sim_executive_frame(sim, frame));
}

/* The jobs (jobs.c).  self is a struct sim, or a job of one sensor, link or message.
 * Context: frame. */
void sim_job_inject(void *self, uint64_t frame);
void sim_job_world(void *self, uint64_t frame);
void sim_job_gust(void *self, uint64_t frame);
void sim_job_actuators(void *self, uint64_t frame);
void sim_job_arm_servo(void *self, uint64_t frame);
void sim_job_arm_motors(void *self, uint64_t frame);
void sim_job_step(void *self, uint64_t frame);
void sim_job_arm_brakes(void *self, uint64_t frame);
void sim_job_solve(void *self, uint64_t frame);
void sim_job_sensor(void *self, uint64_t frame);
void sim_job_truth(void *self, uint64_t frame);
void sim_job_message(void *self, uint64_t frame);
void sim_job_message_sensor(void *self, uint64_t frame);
void sim_job_message_rc(void *self, uint64_t frame);
void sim_job_signals(void *self, uint64_t frame);
void sim_job_log(void *self, uint64_t frame);
void sim_job_prediction_input(void *self, uint64_t frame);
void sim_job_hash(void *self, uint64_t frame);
void sim_job_section_hashes(void *self, uint64_t frame);

/* A run state is put in as a whole, before this frame of the executive.  Context: frame. */
void sim_load_state(struct sim *sim, uint64_t frame, const void *state, uint64_t hash);
/* Publish which faults are on, for displays.  Context: frame. */
void sim_publish_faults(struct sim *sim, uint64_t counted);
/* Is a person at the far end of the link?  Context: any. */
bool sim_is_operator_link(const struct sim_spec *spec, int link);
/* The speed of an effector that turns, relative to its body; 0 of all others.  Context: frame. */
double sim_turning_speed(const struct sim *sim, int index);
/* The delays of a link in one direction; vehicle NULL: without the state of the fault, where only
 * the size is asked.  Context: setup. */
struct sim_delay_line_spec sim_link_delay(const struct sim_spec *spec,
                                          const struct sim_vehicle *vehicle, int link,
                                          enum sim_direction way);
/* How many commands a prediction input has room for.  Context: setup. */
uint32_t sim_pending_command_max(const struct sim_spec *spec);
/* The times of the jobs of a frame go into the log.  Context: frame. */
void sim_log_jobs(const struct sim *sim, uint64_t frame);
/* Pages that nobody has touched yet.  Context: setup. */
volatile unsigned char *sim_map_untouched_pages(uint32_t pages);
