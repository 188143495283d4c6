/*
 * The acts of an operator (enum sim_act), by their rows in acts.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rt/executive/operator/operator.h"
#include "rt/executive/sim.h"

struct sim_operator_result_message;
struct sim_pending_act;

/* An act changes the run state, now or in a replay.  snapshot: of a restore.  It is sound.
 * Context: frame, between two frames. */
void sim_act_apply(struct sim *sim, const struct sim_record_act *act,
                   const struct sim_snapshot *snapshot);
/* Can an act that was read from a log be applied to this spec?  Context: any. */
bool sim_act_is_sound(const struct sim_spec *spec, const struct sim_record_act *act);

/* Carry a request out and answer it; false: not yet, it stays the next.
 * Context: frame, between two frames. */
bool sim_act_execute(struct sim_operator *op, const struct sim_pending_act *ask, uint64_t frame);
/* What a request did, in words.  Context: any but frame. */
void sim_act_describe(const struct sim_operator *op,
                      const struct sim_operator_result_message *result, char *text, size_t size);
