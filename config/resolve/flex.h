/*
 * A flexible body between the keys and the kernel: every type becomes stations, a stiffness and a
 * damping matrix, and named nodes.
 */
#pragma once

#include "config/resolve/resolve.h"
#include "dynamics/flex/modal.h"

struct cfg_flex_draft {
    const struct cfg_resolve *resolve;
    const struct cfg_keys_flex *keys;
    const struct dyn_body_spec *spec;      /* its joint is known */
    struct cfg_load_arena *kept, *scratch; /* memory of the scenario; memory of the draft */
    bool whole;                            /* the mass of the body is that of the stations */
    int modes;
    int station_count;
    struct dyn_station *stations; /* scratch */
    const double *M;              /* kept; NULL: of the stations */
    double *K, *C;                /* kept */
    bool stiffens;                /* as in dyn_flex */
    double length;                /* as in dyn_flex, before stations and nodes are added */
    double *reach;                /* kept, the same */
    int node_count;
    struct sim_flex_node *nodes;    /* kept */
    const struct cfg_node **places; /* scratch: the node of the file for each */
};

/* One for each type; each false with the complaint in report.  Context: setup. */
bool cfg_draft_beam(struct cfg_flex_draft *draft);
bool cfg_draft_oscillators(struct cfg_flex_draft *draft);
bool cfg_draft_table(struct cfg_flex_draft *draft);
bool cfg_draft_nastran(struct cfg_flex_draft *draft);

/* Allocate K, C and reach for so many modes, zeroed.  Context: setup. */
void cfg_draft_modes(struct cfg_flex_draft *draft, int modes);

/* Add a point of the body: its distance from the joint, and the displacements by the modes.
 * Context: setup. */
void cfg_draft_reach(struct cfg_flex_draft *draft, const double r[3], const double *psi);

/* Allocate so many nodes; set the name of one.  Context: setup. */
void cfg_draft_nodes(struct cfg_flex_draft *draft, int count);
void cfg_draft_name(struct cfg_flex_draft *draft, int i, const char *name,
                    const struct cfg_node *place);

/* Set the frequency, rad/s, and the damping ratio of mode p with this modal mass.  Context: setup.
 */
void cfg_draft_tune(struct cfg_flex_draft *draft, int p, double mass, double omega, double ratio);

/* rad/s.  Context: any. */
static inline double cfg_omega(double hertz)
{
    return 2.0 * 3.14159265358979323846 * hertz;
}

/* The damping ratio of mode p, from one for all or one for each. false: neither is given, with
 * the complaint in report.  Context: setup. */
bool cfg_draft_check_ratios(const struct cfg_flex_draft *draft);
double cfg_draft_ratio(const struct cfg_flex_draft *draft, int p);

/* Numbers in a pool, zero.  Context: setup. */
double *cfg_take_numbers(struct cfg_load_arena *pool, int count);
