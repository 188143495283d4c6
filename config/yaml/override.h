/*
 * --set key=value: one value of the tree replaced or added, before anything is checked.
 *
 *      rate=500 Hz    bodies.bus.mass=80 kg    devices.gyro.noise=0    links.board.send.gps=5 Hz
 *
 * Entries of a list are named by their name, or by their number from 0.
 */
#pragma once

#include "config/yaml/schema.h"

/* false with `--set key=value: what` in report.  Context: setup. */
bool cfg_override_apply(const struct cfg_table *table, struct cfg_node *root, const char *override,
                        struct cfg_load_arena *pool, struct cfg_complaint *report);
