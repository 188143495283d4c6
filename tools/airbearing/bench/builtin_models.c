#include "tools/airbearing/bench/builtin_models.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/import/beam.h"
#include "tools/airbearing/bench/random.h"

/* A few point masses and a small ball: physical by construction. */
static void set_inertia(uint64_t *random, double size, double inertia[6])
{
    inertia[0] = inertia[1] = inertia[2] = 0.05 * size * size;
    for (int k = 0; k < 4; k++) {
        const double mass = 1.1 + random_number(random);
        const double x = size * random_number(random);
        const double y = size * random_number(random);
        const double z = size * random_number(random);
        inertia[0] += mass * (y * y + z * z);
        inertia[1] += mass * (x * x + z * z);
        inertia[2] += mass * (x * x + y * y);
        inertia[3] -= mass * x * y;
        inertia[4] -= mass * x * z;
        inertia[5] -= mass * y * z;
    }
}

/* A body without symmetry: no number that a kernel could leave out is zero. */
static struct dyn_body_spec make_body(uint64_t *random, int parent, enum dyn_joint_type joint)
{
    const double size = 0.3;
    struct dyn_body_spec spec = {.parent = parent, .joint = joint, .place_quat = {1.0}};
    random_unit(random, spec.axis, 3);
    if (joint != DYN_JOINT_FREE) {
        random_unit(random, spec.place_quat, 4);
        for (int k = 0; k < 3; k++)
            spec.place_xyz[k] = 2.0 * size * random_number(random);
    }
    spec.mass = 1.1 + random_number(random);
    for (int k = 0; k < 3; k++)
        spec.center[k] = size * random_number(random);
    set_inertia(random, size, spec.inertia);
    return spec;
}

static void begin_bodies(struct builtin_model *made, int count)
{
    made->body_count = count;
    made->specs = cfg_load_arena_take(&made->pool, (size_t)count * sizeof *made->specs);
}

static void make_chain(struct builtin_model *made, int count)
{
    uint64_t random = (uint64_t)count;
    begin_bodies(made, count);
    for (int i = 0; i < count; i++)
        made->specs[i] = make_body(&random, i - 1, DYN_JOINT_REVOLUTE);
}

static void make_spacecraft(struct builtin_model *made)
{
    static const int hinges[] = {1, 1, 2, 2, 2, 3, 3, 4, 4}; /* of each appendage, 22 in all */
    uint64_t random = 22;
    int count = 0;
    begin_bodies(made, 23);
    made->specs[count++] = make_body(&random, -1, DYN_JOINT_FREE);
    for (size_t i = 0; i < sizeof hinges / sizeof *hinges; i++)
        for (int k = 0; k < hinges[i]; k++, count++)
            made->specs[count] = make_body(&random, k == 0 ? 0 : count - 1, DYN_JOINT_REVOLUTE);
}

/* ---- beams ---- */

/* Bending first, then a twist, then a stretch.  The beam lies askew in its body. */
static struct cfg_beam slant_beam(uint64_t *random, int modes)
{
    struct cfg_beam beam = {
        .length = 1.0,
        .mass = 2.0,
        .polar = 0.004,
        .stiffness = {200.0, 300.0, 100.0, 1e5},
        .root = CFG_ROOT_CLAMPED,
    };
    double turn[4];
    random_unit(random, turn, 4);
    beam.pose.turn = (struct dyn_quat){turn[0], turn[1], turn[2], turn[3]};
    beam.modes[CFG_BEAM_TWIST] = modes > 4;
    beam.modes[CFG_BEAM_STRETCH] = modes > 5;
    const int bending = modes - beam.modes[CFG_BEAM_TWIST] - beam.modes[CFG_BEAM_STRETCH];
    beam.modes[CFG_BEAM_BEND_Z] = bending / 2;
    beam.modes[CFG_BEAM_BEND_Y] = bending - bending / 2;
    return beam;
}

/*
 * Modes that are mixtures of the beam's own: no matrix is diagonal and nothing vanishes by
 * symmetry.  Shape p becomes sum_q mix[p][q] of them, a mirror after a change of lengths.
 */
struct mixture {
    int modes;
    double mix[BUILTIN_MODES_MAX][BUILTIN_MODES_MAX];
};

static struct mixture make_mixture(uint64_t *random, int modes)
{
    struct mixture mixture = {.modes = modes};
    double normal[BUILTIN_MODES_MAX];
    random_unit(random, normal, modes);
    for (int p = 0; p < modes; p++)
        for (int q = 0; q < modes; q++)
            mixture.mix[p][q] =
                (1.0 + 0.05 * q) * ((p == q ? 1.0 : 0.0) - 2.0 * normal[p] * normal[q]);
    return mixture;
}

/* A new table of so many numbers per mode; NULL for none. */
static const double *mix_modes(struct builtin_model *made, const struct mixture *mixture, int width,
                               const double *table)
{
    const size_t modes = (size_t)mixture->modes, row = (size_t)width;
    if (table == NULL)
        return NULL;
    double *mixed = cfg_load_arena_take(&made->pool, modes * row * sizeof *mixed);
    for (size_t p = 0; p < modes; p++)
        for (size_t q = 0; q < modes; q++)
            for (size_t k = 0; k < row; k++)
                mixed[p * row + k] += mixture->mix[p][q] * table[q * row + k];
    return mixed;
}

/* The same per pair of modes. */
static const double *mix_pairs(struct builtin_model *made, const struct mixture *mixture, int width,
                               const double *table)
{
    const size_t modes = (size_t)mixture->modes, row = (size_t)width;
    if (table == NULL)
        return NULL;
    double *half = cfg_load_arena_take(&made->pool, modes * modes * row * sizeof *half);
    for (size_t p = 0; p < modes; p++) {
        const double *second = mix_modes(made, mixture, width, table + p * modes * row);
        memcpy(half + p * modes * row, second, modes * row * sizeof *half);
    }
    return mix_modes(made, mixture, width * mixture->modes, half);
}

static void mix_node(struct builtin_model *made, const struct mixture *mixture,
                     struct dyn_node *node)
{
    node->psi = mix_modes(made, mixture, 3, node->psi);
    node->theta = mix_modes(made, mixture, 3, node->theta);
    node->psi2 = mix_pairs(made, mixture, 3, node->psi2);
    node->theta2 = mix_pairs(made, mixture, 3, node->theta2);
}

static void mix_flex(struct builtin_model *made, const struct mixture *mixture,
                     struct dyn_flex *flex)
{
    flex->P = mix_modes(made, mixture, 3, flex->P);
    flex->L = mix_modes(made, mixture, 9, flex->L);
    flex->S = mix_modes(made, mixture, 3, flex->S);
    flex->N = mix_pairs(made, mixture, 9, flex->N);
    flex->P2 = mix_pairs(made, mixture, 3, flex->P2);
    flex->L2 = mix_pairs(made, mixture, 9, flex->L2);
    flex->M = mix_pairs(made, mixture, 1, flex->M);
    flex->K = mix_pairs(made, mixture, 1, flex->K);
    flex->C = mix_pairs(made, mixture, 1, flex->C);
}

/* Stiffness and damping of the beam's own modes, whose modal masses are one. */
static void tune_beam(struct builtin_model *made, const struct cfg_beam_form *form,
                      struct dyn_flex *flex)
{
    const size_t modes = (size_t)form->modes;
    double *K = cfg_load_arena_take(&made->pool, modes * modes * sizeof *K);
    double *C = cfg_load_arena_take(&made->pool, modes * modes * sizeof *C);
    for (size_t p = 0; p < modes; p++) {
        const double rate = form->mode[p].rate, damping_ratio = 0.005;
        K[p * (modes + 1)] = rate * rate;
        C[p * (modes + 1)] = 2.0 * damping_ratio * rate;
    }
    flex->K = K;
    flex->C = C;
}

/* One flexible body for all links, with a node at its tip. */
static struct dyn_modal *make_beam(struct builtin_model *made, uint64_t *random, int modes,
                                   enum dyn_fidelity fidelity, bool is_mixed)
{
    const struct cfg_beam beam = slant_beam(random, modes);
    const struct mixture mixture = make_mixture(random, modes);
    struct dyn_modal *modal = cfg_load_arena_take(&made->pool, sizeof *modal);
    struct dyn_node *tip = cfg_load_arena_take(&made->pool, sizeof *tip);
    double *room = cfg_load_arena_take(&made->pool, dyn_modal_storage_count(modes) * sizeof *room);
    struct cfg_beam_form form;

    cfg_beam_shape(&made->pool, &beam, &form);
    cfg_beam_node(&made->pool, &form, beam.length, tip);
    modal->flex = (struct dyn_flex){
        .fidelity = fidelity, .modes = modes, .stiffens = 1, .nodes = 1, .node = tip};
    tune_beam(made, &form, &modal->flex);
    dyn_modal_integrate(form.station, form.stations, modes, room, modal);
    if (is_mixed) {
        mix_flex(made, &mixture, &modal->flex);
        mix_node(made, &mixture, tip);
    }
    return modal;
}

/* The hinges are a little off the tips: a zero offset would cost nothing. */
static void make_beams(struct builtin_model *made, int count, int modes, enum dyn_fidelity fidelity,
                       bool is_mixed)
{
    uint64_t random = (uint64_t)modes;
    const struct dyn_modal *beam = make_beam(made, &random, modes, fidelity, is_mixed);
    begin_bodies(made, count);
    for (int i = 0; i < count; i++) {
        struct dyn_body_spec *spec = &made->specs[i];
        *spec = make_body(&random, i - 1, DYN_JOINT_REVOLUTE);
        spec->node = i > 0;
        spec->mass = beam->mass;
        memcpy(spec->center, beam->center, sizeof spec->center);
        memcpy(spec->inertia, beam->inertia, sizeof spec->inertia);
        spec->flex = &beam->flex;
    }
}

/* ---- names ---- */

/* A number from 1 to most, without a leading zero; 0: there is none. */
static int read_number(const char **text, int most)
{
    char *end;
    if (**text < '1' || **text > '9')
        return 0;
    const unsigned long value = strtoul(*text, &end, 10);
    *text = end;
    return value <= (unsigned long)most ? (int)value : 0;
}

static bool take_word(const char **text, const char *word)
{
    const size_t length = strlen(word);
    const bool is_there = strncmp(*text, word, length) == 0;
    *text += is_there ? length : 0;
    return is_there;
}

static bool make_named_chain(struct builtin_model *made, const char *name)
{
    const int count = take_word(&name, "chain") ? read_number(&name, BUILTIN_CHAIN_MAX) : 0;
    if (count == 0 || *name != '\0')
        return false;
    make_chain(made, count);
    return true;
}

static bool make_named_beams(struct builtin_model *made, const char *name)
{
    static const char *const fidelity[] = {
        [DYN_FLEX_RIGID] = "rigid",
        [DYN_FLEX_RUTHLESS] = "ruthless",
        [DYN_FLEX_CONSISTENT] = "consistent",
        [DYN_FLEX_INCONSISTENT] = "inconsistent",
    };
    int k = 0;
    while (k <= DYN_FLEX_INCONSISTENT && !take_word(&name, fidelity[k]))
        k++;
    const int count = read_number(&name, BUILTIN_CHAIN_MAX);
    const int modes = take_word(&name, "x") ? read_number(&name, BUILTIN_MODES_MAX) : 0;
    const bool is_mixed = take_word(&name, "mixed");
    if (k > DYN_FLEX_INCONSISTENT || count == 0 || modes == 0 || *name != '\0')
        return false;
    make_beams(made, count, modes, (enum dyn_fidelity)k, is_mixed);
    return true;
}

bool builtin_model_create(const char *name, struct builtin_model *made)
{
    *made = (struct builtin_model){0};
    if (strcmp(name, "spacecraft22") == 0) {
        make_spacecraft(made);
        return true;
    }
    if (strcmp(name, "arm7") == 0) {
        make_chain(made, 7);
        return true;
    }
    return make_named_chain(made, name) || make_named_beams(made, name);
}

void builtin_model_free(struct builtin_model *made)
{
    cfg_load_arena_free(&made->pool);
}
