/*
 * The types of effectors, one row each, by enum dyn_effector_type: their name in a scenario, the
 * function that resolves their keys, and the one that prints them.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct cfg_keys_device;
struct cfg_resolve;
struct dyn_effector;
struct sim_effector;

struct cfg_effector_type {
    const char *name; /* "wheel" */
    /* Compute the numbers that depend on several keys; out already has the copied numbers and the
     * body.  false with the complaint in report.  Context: setup. */
    bool (*resolve)(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                    struct sim_effector *out);
    /* Print its figures for `airbearing check`, each after a comma. NULL: it has none.  Context:
     * setup.
     */
    void (*print)(const struct dyn_effector *effector, FILE *out);
};

extern const struct cfg_effector_type cfg_effector_types[];
