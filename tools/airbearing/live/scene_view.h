/*
 * The vehicle for a 3-D panel: the poses and shapes of its bodies.
 *
 * It is made from the scenario alone, with a model of its own, so that it never reads the
 * simulation.  A body is drawn by its shapes, or without any as the box of its mass and inertia;
 * a rotor is a disc; a flexible body is a line through its nodes, or a tube.  Images are CDR
 * without the header.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/scenario.h"
#include "io/log/byte_writer.h"

struct scene_view;

/* The scenario must outlive it.  Context: setup. */
struct scene_view *scene_view_create(const struct cfg_scenario *scenario);
void scene_view_free(struct scene_view *scene);

/* Set what the arm holds: 0 nothing, 1 + payload.  Context: any. */
void scene_view_set_payload(struct scene_view *scene, int carried);

/* foxglove_msgs/msg/SceneUpdate: the shapes that do not change.  Context: any. */
void scene_view_static(const struct scene_view *scene, uint64_t log_ns, struct io_byte_writer *out);
/* foxglove_msgs/msg/FrameTransforms: every body in the world, at positions q. */
void scene_view_transforms(const struct scene_view *scene, const double *q, uint64_t log_ns,
                           struct io_byte_writer *out);
/* True when the scene has a flexible body. */
bool scene_view_has_flex(const struct scene_view *scene);
/* foxglove_msgs/msg/SceneUpdate: the deformed lines. */
void scene_view_flex_lines(const struct scene_view *scene, const double *q, uint64_t log_ns,
                           struct io_byte_writer *out);
/* Both for the undeformed vehicle, all modes zero.  Context: one thread at a time. */
void scene_view_rigid_transforms(const struct scene_view *scene, const double *q, uint64_t log_ns,
                                 struct io_byte_writer *out);
void scene_view_rigid_lines(const struct scene_view *scene, uint64_t log_ns,
                            struct io_byte_writer *out);
