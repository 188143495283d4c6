/*
 * The types of effectors, one row each, by enum dyn_effector_type: how a scenario calls them, what
 * their keys become, and how they are read back.
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
    /* What of it is computed from its keys; out has what is only copied, and its body.  false with
     * the complaint in report.  Context: setup. */
    bool (*resolve)(const struct cfg_resolve *resolve, const struct cfg_keys_device *keys,
                    struct sim_effector *out);
    /* Its figures for `airbearing check`, each after a comma.  NULL: it has none.  Context: setup.
     */
    void (*print)(const struct dyn_effector *effector, FILE *out);
};

extern const struct cfg_effector_type cfg_effector_types[];
