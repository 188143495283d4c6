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
size_t arm_record_size(int joints);
const char *arm_record_text(int joints);

/* Context: frame. */
void arm_record_fill(const struct cfg_rig *rig, unsigned char *out);

/* What is told in words when it changes. */
struct arm_told {
    double reach, blow;
    uint32_t flags;
    bool braked; /* some brake is on */
    uint8_t mode, payload, grapples, releases, refused, latched;
};

/* A record back again.  Context: any. */
struct arm_told arm_record_read(int joints, const unsigned char *image);
