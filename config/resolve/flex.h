/*
 * A flexible body on its way from the keys to the kernel: whatever its type, it becomes stations,
 * a stiffness and a damping matrix, and named nodes.
 */
#pragma once

#include "config/resolve/resolve.h"
#include "dynamics/flex/modal.h"

struct cfg_flex_draft {
    const struct cfg_resolve *resolve;
    const struct cfg_keys_flex *keys;
    const struct dyn_body_spec *spec;      /* its joint is known */
    struct cfg_load_arena *kept, *scratch; /* lives with the scenario; with the draft */
    bool whole; /* the stations are the body, which has no mass of its own */
    int modes;
    int station_count;
    struct dyn_station *stations; /* scratch */
    const double *M;              /* kept; NULL: of the stations */
    double *K, *C;                /* kept */
    bool stiffens;                /* as in dyn_flex */
    double length;                /* as in dyn_flex, before stations and nodes are looked at */
    double *reach;                /* kept, the same */
    int node_count;
    struct sim_flex_node *nodes;    /* kept */
    const struct cfg_node **places; /* scratch: where each is given in the file */
};

/* One for each type; each false with the complaint in report.  Context: setup. */
bool cfg_draft_beam(struct cfg_flex_draft *draft);
bool cfg_draft_oscillators(struct cfg_flex_draft *draft);
bool cfg_draft_table(struct cfg_flex_draft *draft);
bool cfg_draft_nastran(struct cfg_flex_draft *draft);

/* Room for K, C and reach, zero, of so many modes.  Context: setup. */
void cfg_draft_modes(struct cfg_flex_draft *draft, int modes);

/* A point of the body: how far it lies from the joint, how far the modes move it.
 * Context: setup. */
void cfg_draft_reach(struct cfg_flex_draft *draft, const double r[3], const double *psi);

/* Room for so many nodes, and the name of one.  Context: setup. */
void cfg_draft_nodes(struct cfg_flex_draft *draft, int count);
void cfg_draft_name(struct cfg_flex_draft *draft, int i, const char *name,
                    const struct cfg_node *place);

/* Mode p of this modal mass gets a frequency, rad/s, and a damping ratio.  Context: setup. */
void cfg_draft_tune(struct cfg_flex_draft *draft, int p, double mass, double omega, double ratio);

/* rad/s.  Context: any. */
static inline double cfg_omega(double hertz)
{
    return 2.0 * 3.14159265358979323846 * hertz;
}

/* The ratio of mode p where there is one for all or one for each.  false: there are neither, with
 * the complaint in report.  Context: setup. */
bool cfg_draft_check_ratios(const struct cfg_flex_draft *draft);
double cfg_draft_ratio(const struct cfg_flex_draft *draft, int p);

/* Numbers in a pool, zero.  Context: setup. */
double *cfg_take_numbers(struct cfg_load_arena *pool, int count);
