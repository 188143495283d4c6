/*
 * Messages that viewers know by name: ros2msg text of foxglove_msgs, with the messages that it
 * uses.
 *
 * Tested by tests/tools/live/test_serve.c.
 */
#pragma once

extern const char foxglove_transforms_text[]; /* foxglove_msgs/msg/FrameTransforms */
extern const char foxglove_scene_text[];      /* foxglove_msgs/msg/SceneUpdate */
extern const char foxglove_log_text[];        /* foxglove_msgs/msg/Log */
