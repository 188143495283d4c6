/*
 * The common part of all flexible bodies: mass, nodes, the bodies on them, the start.
 */
#include "config/resolve/flex.h"

#include <math.h>
#include <string.h>

#include "config/yaml/name_index.h"
#include "config/yaml/suggest.h"

double *cfg_take_numbers(struct cfg_load_arena *pool, int count)
{
    return cfg_load_arena_take(pool, (size_t)count * sizeof(double));
}

void cfg_draft_modes(struct cfg_flex_draft *draft, int modes)
{
    draft->modes = modes;
    draft->K = cfg_take_numbers(draft->kept, modes * modes);
    draft->C = cfg_take_numbers(draft->kept, modes * modes);
    draft->reach = cfg_take_numbers(draft->kept, modes);
}

static double norm(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

void cfg_draft_reach(struct cfg_flex_draft *draft, const double r[3], const double *psi)
{
    draft->length = fmax(draft->length, norm(r));
    for (int p = 0; p < draft->modes; p++)
        draft->reach[p] = fmax(draft->reach[p], norm(psi + 3 * p));
}

void cfg_draft_nodes(struct cfg_flex_draft *draft, int count)
{
    draft->node_count = count;
    draft->nodes = cfg_load_arena_take(draft->kept, (size_t)count * sizeof *draft->nodes);
    draft->places = cfg_load_arena_take(draft->scratch, (size_t)count * sizeof *draft->places);
}

void cfg_draft_name(struct cfg_flex_draft *draft, int i, const char *name,
                    const struct cfg_node *place)
{
    draft->nodes[i].name = cfg_load_arena_copy(draft->kept, name, strlen(name));
    draft->places[i] = place;
}

void cfg_draft_tune(struct cfg_flex_draft *draft, int p, double mass, double omega, double ratio)
{
    draft->K[p * draft->modes + p] = omega * omega * mass;
    draft->C[p * draft->modes + p] = 2.0 * ratio * omega * mass;
}

bool cfg_draft_check_ratios(const struct cfg_flex_draft *draft)
{
    const struct cfg_numbers *damping = &draft->keys->damping;
    return damping->count <= 1 || damping->count == draft->modes ||
           cfg_fail_at(draft->resolve->report, damping->node, NULL,
                       "damping has %d numbers and there %s %d mode%s; give one for all, or one "
                       "for each",
                       damping->count, draft->modes == 1 ? "is" : "are", draft->modes,
                       draft->modes == 1 ? "" : "s");
}

double cfg_draft_ratio(const struct cfg_flex_draft *draft, int p)
{
    const struct cfg_numbers *damping = &draft->keys->damping;
    return damping->count == 0 ? 0.0 : damping->items[damping->count == 1 ? 0 : p];
}

/* ---- mass ---- */

static const char *const mass_keys[] = {"mass", "center", "inertia"};

static const char *given_key(const struct cfg_keys_body *keys)
{
    for (size_t i = 0; i < sizeof mass_keys / sizeof mass_keys[0]; i++)
        if (cfg_node_find(keys->node, mass_keys[i]) != NULL)
            return mass_keys[i];
    return NULL;
}

static bool fill_mass(const struct cfg_flex_draft *draft, const struct cfg_keys_body *keys,
                      const struct dyn_modal *modal, struct dyn_body_spec *spec)
{
    struct cfg_complaint *report = draft->resolve->report;
    const char *given = given_key(keys);
    if (given == NULL && draft->station_count > 0 && draft->keys->type != CFG_FLEX_OSCILLATORS) {
        spec->mass = modal->mass;
        memcpy(spec->center, modal->center, sizeof spec->center);
        memcpy(spec->inertia, modal->inertia, sizeof spec->inertia);
        return cfg_is_physical(spec->inertia) ||
               cfg_fail_at(report, draft->keys->node, NULL,
                           "no body has the inertia that flex amounts to: each principal moment is "
                           "at most the sum of the other two; check masses and inertias");
    }
    if (given != NULL && draft->whole)
        return cfg_fail_at(report, keys->node, given,
                           "the %s of a beam follows from flex; remove it, or give a rigid part a "
                           "body of its own with joint: {type: fixed, node: frame}",
                           given);
    for (size_t i = 0; i < sizeof mass_keys / sizeof mass_keys[0]; i += 2)
        if (cfg_node_find(keys->node, mass_keys[i]) == NULL)
            return cfg_fail_at(report, keys->node, NULL,
                               "body \"%s\" needs \"%s\": what flex says is only a part of it",
                               keys->name, mass_keys[i]);
    return true;
}

/* ---- nodes ---- */

static bool check_names(const struct cfg_flex_draft *draft)
{
    struct cfg_name *names =
        cfg_load_arena_take(draft->scratch, (size_t)draft->node_count * sizeof *names);
    int twin;
    for (int i = 0; i < draft->node_count; i++) {
        if (strcmp(draft->nodes[i].name, "frame") == 0)
            return cfg_fail_at(draft->resolve->report, draft->places[i], "name",
                               "a node cannot be called frame, which is the body's own; choose "
                               "another name");
        names[i] = (struct cfg_name){draft->nodes[i].name, i};
    }
    const int again = cfg_name_index_sort(names, draft->node_count, &twin);
    return again < 0 || cfg_fail_at(draft->resolve->report, draft->places[again], "name",
                                    "there is already a node \"%s\"; choose another name",
                                    draft->nodes[again].name);
}

static bool no_node(const struct cfg_resolve *resolve, const struct cfg_keys_body *keys,
                    const struct sim_body *parent)
{
    const char *node_name = keys->joint.node_name;
    struct cfg_phrase names = {0};
    struct cfg_suggestion suggestion = cfg_suggest_begin(node_name != NULL ? node_name : "");
    for (int i = 0; i < parent->flex->node_count; i++) {
        const char *name = parent->flex->nodes[i].name;
        cfg_suggest_offer(&suggestion, name);
        if (names.size < 160)
            cfg_phrase_add(&names, "%s, ", name);
    }
    cfg_suggest_offer(&suggestion, "frame");
    cfg_phrase_add(&names, "frame");
    if (node_name == NULL)
        return cfg_fail_at(resolve->report, keys->joint.node, NULL,
                           "\"%s\" bends, so the joint on it needs \"node\", what it sits on: %s",
                           parent->name, names.text);
    if (suggestion.best != NULL)
        return cfg_fail_at(resolve->report, keys->joint.node, "node",
                           "\"%s\" has no node %s; did you mean \"%s\"?", parent->name,
                           cfg_quote(node_name).text, suggestion.best);
    return cfg_fail_at(resolve->report, keys->joint.node, "node",
                       "\"%s\" has no node %s; there is %s", parent->name,
                       cfg_quote(node_name).text, names.text);
}

bool cfg_resolve_parent_node(const struct cfg_resolve *resolve, const struct cfg_keys_body *keys,
                             struct sim_body *body)
{
    const char *node_name = keys->joint.node_name;
    const int parent = body->spec.parent;
    struct sim_body *carrier = parent >= 0 ? &resolve->scenario->spec.bodies[parent] : NULL;
    const bool bends = carrier != NULL && carrier->flex != NULL;
    if (node_name == NULL ? !bends : strcmp(node_name, "frame") == 0)
        return true;
    if (!bends)
        return cfg_fail_at(resolve->report, keys->joint.node, "node",
                           "\"%s\" does not bend and has no nodes; remove node and say where by at",
                           carrier != NULL ? carrier->name : "the world");
    for (int i = 0; node_name != NULL && i < carrier->flex->node_count; i++) {
        struct sim_flex_node *node = &carrier->flex->nodes[i];
        if (strcmp(node->name, node_name) != 0)
            continue;
        if (node->index == 0)
            node->index = ++carrier->flex->modal.nodes;
        body->spec.node = node->index;
        return true;
    }
    return no_node(resolve, keys, carrier);
}

void cfg_gather_nodes(const struct cfg_resolve *resolve, struct sim_body *body)
{
    struct sim_flex *flex = body->flex;
    if (flex == NULL)
        return;
    struct dyn_node *nodes =
        cfg_load_arena_take(&resolve->scenario->kept, (size_t)flex->modal.nodes * sizeof *nodes);
    for (int i = 0; i < flex->node_count; i++)
        if (flex->nodes[i].index > 0)
            nodes[flex->nodes[i].index - 1] = flex->nodes[i].node;
    flex->modal.node = nodes;
}

/* ---- the whole ---- */

static bool fill_start(const struct cfg_flex_draft *draft, const char *key,
                       const struct cfg_numbers *given, double **out)
{
    *out = cfg_take_numbers(draft->kept, draft->modes);
    if (given->node == NULL)
        return true;
    if (given->count != draft->modes)
        return cfg_fail_at(draft->resolve->report, given->node, NULL,
                           "%s has %d number%s and there %s %d mode%s; give one for each", key,
                           given->count, given->count == 1 ? "" : "s",
                           draft->modes == 1 ? "is" : "are", draft->modes,
                           draft->modes == 1 ? "" : "s");
    memcpy(*out, given->items, (size_t)given->count * sizeof **out);
    return true;
}

/* The motion of a mass on a spring is not a deflection of the body. */
static void measure_reach(struct cfg_flex_draft *draft)
{
    if (draft->keys->type == CFG_FLEX_OSCILLATORS)
        return;
    for (int i = 0; i < draft->station_count; i++)
        cfg_draft_reach(draft, draft->stations[i].r, draft->stations[i].psi);
    for (int i = 0; i < draft->node_count; i++)
        cfg_draft_reach(draft, draft->nodes[i].node.r, draft->nodes[i].node.psi);
}

static bool finish(struct cfg_flex_draft *draft, const struct cfg_keys_body *keys,
                   struct sim_body *body)
{
    struct sim_flex *flex = cfg_load_arena_take(draft->kept, sizeof *flex);
    struct dyn_modal modal = {0};
    double *room =
        cfg_load_arena_take(draft->kept, dyn_modal_storage_count(draft->modes) * sizeof *room);
    dyn_modal_integrate(draft->stations, draft->station_count, draft->modes, room, &modal);
    flex->modal = modal.flex;
    flex->modal.fidelity = (enum dyn_fidelity)draft->keys->fidelity;
    if (draft->M != NULL)
        flex->modal.M = draft->M;
    flex->modal.K = draft->K;
    flex->modal.C = draft->C;
    flex->modal.stiffens = draft->stiffens;
    measure_reach(draft);
    flex->modal.length = draft->length;
    flex->modal.reach = draft->reach;
    flex->node_count = draft->node_count;
    flex->nodes = draft->nodes;
    body->flex = flex;
    body->spec.flex = &flex->modal;
    return fill_start(draft, "start", &draft->keys->start, &flex->start) &&
           fill_start(draft, "start_rate", &draft->keys->start_rate, &flex->start_rate) &&
           fill_mass(draft, keys, &modal, &body->spec);
}

bool cfg_resolve_flex(const struct cfg_resolve *resolve, const struct cfg_keys_body *keys,
                      struct sim_body *body)
{
    static bool (*const of_type[])(struct cfg_flex_draft *) = {
        [CFG_FLEX_BEAM] = cfg_draft_beam,
        [CFG_FLEX_OSCILLATORS] = cfg_draft_oscillators,
        [CFG_FLEX_TABLE] = cfg_draft_table,
        [CFG_FLEX_NASTRAN] = cfg_draft_nastran,
    };
    struct cfg_load_arena scratch = {0};
    struct cfg_flex_draft draft = {.resolve = resolve,
                                   .keys = &keys->flex,
                                   .spec = &body->spec,
                                   .kept = &resolve->scenario->kept,
                                   .scratch = &scratch};
    const bool good =
        of_type[keys->flex.type](&draft) && check_names(&draft) && finish(&draft, keys, body);
    cfg_load_arena_free(&scratch);
    return good;
}
