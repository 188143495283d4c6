/*
 * A beam of the keys as modes of config/import/beam.h.
 */
#include <math.h>
#include <string.h>

#include "config/import/beam.h"
#include "config/resolve/flex.h"

static const char *const family_name[] = {[CFG_BEAM_BEND_Y] = "bend_y",
                                          [CFG_BEAM_BEND_Z] = "bend_z",
                                          [CFG_BEAM_TWIST] = "twist",
                                          [CFG_BEAM_STRETCH] = "stretch"};

static void fill_beam(const struct cfg_flex_draft *draft, struct cfg_beam *beam)
{
    const struct cfg_keys_flex *keys = draft->keys;
    *beam = (struct cfg_beam){
        .pose = {.turn = dyn_quat_load(keys->attitude)},
        .length = keys->length,
        .mass = keys->mass,
        .polar = keys->roll_inertia,
        .root = (enum cfg_beam_root)keys->root,
        .tip_mass = keys->tip.node != NULL ? keys->tip.mass : 0.0,
        .floats = draft->spec->joint == DYN_JOINT_FREE,
    };
    memcpy(beam->tip_inertia, keys->tip.inertia, sizeof beam->tip_inertia);
}

/* A frequency is proportional to the root of the stiffness, so that of a unit stiffness gives the
 * stiffness for a frequency. */
static double stiffness_of(const struct cfg_flex_draft *draft, const struct cfg_beam *beam,
                           int family)
{
    const struct cfg_keys_family *keys = &draft->keys->family[family];
    struct cfg_beam lone = *beam;
    struct cfg_beam_form form;
    if (!isnan(keys->stiffness))
        return keys->stiffness;
    for (int k = 0; k < CFG_BEAM_FAMILIES; k++)
        lone.modes[k] = k == family;
    lone.stiffness[family] = 1.0;
    cfg_beam_shape(draft->scratch, &lone, &form);
    const double ratio = cfg_omega(keys->frequency) / form.mode[0].rate;
    return ratio * ratio;
}

static bool fill_family(const struct cfg_flex_draft *draft, int family, struct cfg_beam *beam)
{
    const struct cfg_keys_family *keys = &draft->keys->family[family];
    struct cfg_complaint *report = draft->resolve->report;
    if (keys->node == NULL)
        return true;
    if (isnan(keys->stiffness) == isnan(keys->frequency))
        return cfg_fail_at(report, keys->node, NULL,
                           "%s needs \"stiffness\" or \"frequency\", one of the two",
                           family_name[family]);
    if (family == CFG_BEAM_TWIST && beam->polar == 0.0)
        return cfg_fail_at(report, keys->node, NULL,
                           "a beam that twists needs \"roll_inertia\", what it has about its axis");
    beam->modes[family] = (int)keys->modes;
    beam->stiffness[family] = stiffness_of(draft, beam, family);
    return true;
}

static bool fill_nodes(struct cfg_flex_draft *draft, const struct cfg_beam_form *form)
{
    const struct cfg_keys_node *keys = draft->keys->nodes.items;
    cfg_draft_nodes(draft, draft->keys->nodes.count);
    for (int i = 0; i < draft->node_count; i++) {
        if (keys[i].x > form->beam.length)
            return cfg_fail_at(
                draft->resolve->report, keys[i].node, "x",
                "x of %.10g m is beyond the beam, which is %.10g m long; give at most that",
                keys[i].x, form->beam.length);
        cfg_beam_node(draft->kept, form, keys[i].x, &draft->nodes[i].node);
        cfg_draft_name(draft, i, keys[i].name, keys[i].node);
    }
    return true;
}

/* Modal masses are one before the shapes are clamped at the joint, which does not change K and C.
 */
static void fill_matrices(struct cfg_flex_draft *draft, const struct cfg_beam_form *form)
{
    for (int p = 0; p < draft->modes; p++)
        cfg_draft_tune(draft, p, 1.0, form->mode[p].rate, cfg_draft_ratio(draft, p));
}

bool cfg_draft_beam(struct cfg_flex_draft *draft)
{
    struct cfg_beam beam;
    struct cfg_beam_form form;
    int modes = 0;
    fill_beam(draft, &beam);
    for (int family = 0; family < CFG_BEAM_FAMILIES; family++) {
        if (!fill_family(draft, family, &beam))
            return false;
        modes += beam.modes[family];
    }
    if (modes == 0)
        return cfg_fail_at(draft->resolve->report, draft->keys->node, NULL,
                           "a beam needs modes that bend, twist or stretch it; write e.g. bend_y: "
                           "{modes: 2, frequency: 0.5 Hz}");
    const char *problem = cfg_beam_problem(&beam); /* a problem that the keys cannot find */
    if (problem != NULL)
        return cfg_fail_at(draft->resolve->report, draft->keys->node, NULL, "a beam: %s", problem);
    cfg_beam_shape(draft->scratch, &beam, &form);
    cfg_draft_modes(draft, form.modes);
    draft->whole = true;
    draft->stiffens = true;
    draft->station_count = form.stations;
    draft->stations = form.station;
    if (!cfg_draft_check_ratios(draft))
        return false;
    fill_matrices(draft, &form);
    struct dyn_node tip; /* farther than the last station */
    cfg_beam_node(draft->scratch, &form, beam.length, &tip);
    cfg_draft_reach(draft, tip.r, tip.psi);
    return fill_nodes(draft, &form);
}
