/*
 * The vehicle as a 3-D panel draws it: where its bodies are, and what they look like.
 *
 * Made from the scenario alone, with a model of its own, so that it never looks at the rig.  A body
 * is its shapes, or the box that has its mass and inertia where it has none; a rotor is a
 * disc; what bends is a line through its nodes, or a tube.  Images are CDR without the header.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/scenario.h"
#include "io/log/byte_writer.h"

struct scene_view;

/* The scenario must outlive it.  Context: setup. */
struct scene_view *scene_view_create(const struct cfg_scenario *scenario);
void scene_view_free(struct scene_view *picture);

/* What the arm has in its hand from here on: 0 nothing, 1 + payload.  Context: any. */
void scene_view_set_payload(struct scene_view *picture, int carried);

/* foxglove_msgs/msg/SceneUpdate: what does not change.  Context: any. */
void scene_view_static(const struct scene_view *picture, uint64_t log_ns,
                       struct io_byte_writer *out);
/* foxglove_msgs/msg/FrameTransforms: every body in the world, at positions q. */
void scene_view_transforms(const struct scene_view *picture, const double *q, uint64_t log_ns,
                           struct io_byte_writer *out);
/* Is there anything that bends? */
bool scene_view_has_flex(const struct scene_view *picture);
/* foxglove_msgs/msg/SceneUpdate: how it is bent. */
void scene_view_flex_lines(const struct scene_view *picture, const double *q, uint64_t log_ns,
                           struct io_byte_writer *out);
/* Both as they would be if nothing bent, all modes zero.  Context: one thread at a time. */
void scene_view_rigid_transforms(const struct scene_view *picture, const double *q, uint64_t log_ns,
                                 struct io_byte_writer *out);
void scene_view_rigid_lines(const struct scene_view *picture, uint64_t log_ns,
                            struct io_byte_writer *out);
