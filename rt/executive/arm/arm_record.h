/*
 * What is told of an arm in every frame that is recorded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rt/executive/state/run_state.h"

/* The record as CDR lays it out, for so many joints, and its ros2msg text, which lives as long as
 * the program.  Context: setup. */
size_t sim_arm_record_size(int joints);
const char *sim_arm_record_text(int joints);

/* Context: frame. */
void sim_arm_record_fill(const struct sim_vehicle *vehicle, unsigned char *out);

/* What is told in words when it changes. */
struct sim_arm_summary {
    double reach, blow;
    uint32_t flags;
    bool braked; /* some brake is on */
    uint8_t mode, payload, grapples, releases, refused, latched;
};

/* A record back again.  Context: any. */
struct sim_arm_summary sim_arm_record_read(int joints, const unsigned char *image);
