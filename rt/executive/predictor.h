/*
 * The predictor: where the vehicle will be when the commands of now have reached it.
 *
 * The frame leaves what is known of the frames to come (struct sim_prediction_input).  A thread of
 * its own, never real-time, takes the newest, loads it into a simulation of its own and runs that
 * ahead with the same jobs: commands that are under way take effect in their frames, the last one
 * holds. As far as all commands are known, which is as far as the links are late, the prediction is
 * where the vehicle will be, bit for bit.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rt/executive/sim.h"
#include "rt/histogram.h"
#include "rt/mailbox.h"

struct sim_predictor;

struct sim_predictor_result {
    uint64_t predictions;
    uint64_t late; /* that took longer than there is between two */
    uint64_t cut;  /* that did not know all that was under way */
    double seconds_ahead;
    struct rt_histogram spent_ns; /* by a prediction, wall time */
};

/* Load a prediction input into a simulation and run it so many frames ahead; false: it was stopped
 * on the way.  Context: any, the thread of that simulation. */
bool sim_predictor_run_ahead(struct sim *sim, const struct sim_prediction_input *from,
                             uint64_t frames, const atomic_bool *stop);

/* Start predicting from the prediction inputs of a simulation of this spec, which both share; NULL
 * when it asks for no predictor.  -errno in *failure: there is no thread.  Context: setup. */
struct sim_predictor *sim_predictor_open(const struct sim_spec *spec,
                                         struct rt_mailbox *prediction_input, int cpu,
                                         int *failure);
/* The newest positions q, when there are such since the last call, else NULL; *log_ns is the time
 * from which they were predicted, *carried what the arm has in its hand then: 0 nothing, 1 +
 * payload.  Valid until the next call.  Context: any, one thread. */
const double *sim_predictor_newest(struct sim_predictor *predictor, uint64_t *log_ns, int *carried);
/* No more predictions; what came of them.  NULL is fine: none.  Context: after the run. */
void sim_predictor_stop(struct sim_predictor *predictor, struct sim_predictor_result *result);
/* The same, and let go; nobody asks for the newest any more.  NULL is fine.
 * Context: after the run. */
void sim_predictor_close(struct sim_predictor *predictor);
