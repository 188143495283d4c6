#include "config/import/beam.h"

#include <math.h>
#include <string.h>

#include "config/import/quadrature.h"

/* --- modes --------------------------------------------------------------------------------- */

static bool bends(enum cfg_beam_family family)
{
    return family == CFG_BEAM_BEND_Y || family == CFG_BEAM_BEND_Z;
}

/* The inertia of a family's motion: kg, or kg m^2 in twist. */
static double family_mass(const struct cfg_beam *beam, enum cfg_beam_family family)
{
    return family == CFG_BEAM_TWIST ? beam->polar : beam->mass;
}

static struct cfg_beam_span family_span(const struct cfg_beam *beam, enum cfg_beam_family family)
{
    const double square = beam->mass * beam->length * beam->length;
    struct cfg_beam_span span = {.root = beam->root, .tip_mass = beam->tip_mass / beam->mass};
    if (family == CFG_BEAM_BEND_Y)
        span.tip_inertia = beam->tip_inertia[2] / square;
    if (family == CFG_BEAM_BEND_Z)
        span.tip_inertia = beam->tip_inertia[1] / square;
    if (family == CFG_BEAM_TWIST)
        span.tip_mass = beam->tip_inertia[0] / beam->polar;
    return span;
}

static struct cfg_beam_mode mode_make(const struct cfg_beam *beam, enum cfg_beam_family family,
                                      int k)
{
    const struct cfg_beam_span span = family_span(beam, family);
    const double mass = family_mass(beam, family), length = beam->length;
    const double spring = beam->stiffness[family] / (bends(family) ? pow(length, 3.0) : length);
    struct cfg_beam_mode mode = {.family = family, .size = 1.0 / sqrt(mass)};
    mode.wave = bends(family) ? cfg_beam_wave_bending(&span, k) : cfg_beam_wave_rod(&span, k);
    mode.rate = mode.wave.rate * sqrt(spring / mass);
    return mode;
}

static void modes_make(struct cfg_load_arena *pool, struct cfg_beam_form *form)
{
    const struct cfg_beam *beam = &form->beam;
    for (int family = 0; family < CFG_BEAM_FAMILIES; family++)
        form->modes += beam->modes[family];

    form->mode = cfg_load_arena_take(pool, (size_t)form->modes * sizeof *form->mode);
    int p = 0;
    for (int family = 0; family < CFG_BEAM_FAMILIES; family++)
        for (int k = 0; k < beam->modes[family]; k++, p++)
            form->mode[p] = mode_make(beam, (enum cfg_beam_family)family, k);
}

/* --- shapes at a point --------------------------------------------------------------------- */

/* Each mode's deflection (twist, stretch), slope and curvature at x. */
struct local {
    double at[DYN_MODES_MAX][3];
};

static void local_at(const struct cfg_beam_form *form, double x, struct local *local)
{
    for (int p = 0; p < form->modes; p++) {
        const struct cfg_beam_mode *mode = &form->mode[p];
        double *at = local->at[p], scale = mode->size;
        cfg_beam_wave_at(&mode->wave, x / form->beam.length, at);
        for (int d = 0; d < 3; d++) {
            at[d] *= scale;
            scale /= form->beam.length;
        }
    }
}

/* Integrals from the root to x for two bending modes: int (v_p' v_q' + w_p' w_q'), the
 * foreshortening, and int (v_p' w_q'' - w_q' v_p''), the rotation about the beam. */
struct march {
    double x;
    double draw[DYN_MODES_MAX][DYN_MODES_MAX], turn[DYN_MODES_MAX][DYN_MODES_MAX];
};

static void integrate_add(const struct cfg_beam_form *form, double x, double weight,
                          struct march *march)
{
    struct local local;
    local_at(form, x, &local);
    const int bending = form->beam.modes[CFG_BEAM_BEND_Y] + form->beam.modes[CFG_BEAM_BEND_Z];
    for (int p = 0; p < bending; p++)
        for (int q = p; q < bending; q++) {
            const double *a = local.at[p], *b = local.at[q];
            if (form->mode[p].family == form->mode[q].family)
                march->draw[p][q] += weight * a[1] * b[1];
            else
                march->turn[p][q] += weight * (a[1] * b[2] - b[1] * a[2]);
        }
}

static double highest_beta(const struct cfg_beam_form *form)
{
    double beta = 0.0;
    for (int p = 0; p < form->modes; p++)
        beta = fmax(beta, form->mode[p].wave.beta);
    return beta;
}

/* Continue the integrals to x, in panels of less than a radian of the highest mode. */
static void integrate_to(const struct cfg_beam_form *form, double x, struct march *march)
{
    enum { POINTS = 10 };
    double points[POINTS], weights[POINTS];
    const double from = march->x, way = x - from;
    const int panels = 1 + (int)(highest_beta(form) * way / form->beam.length);
    cfg_quadrature(POINTS, points, weights);
    for (int panel = 0; panel < panels; panel++)
        for (int k = 0; k < POINTS; k++)
            integrate_add(form, from + way * (panel + points[k]) / panels,
                          way * weights[k] / panels, march);
    march->x = x;
}

/* The shapes at one point of the beam. */
struct shapes {
    double r[3], *psi, *theta, *psi2, *theta2;
};

/* From the beam's axes to the body's. */
static void put_in_body_axes(const struct cfg_beam *beam, struct dyn_vec3 a, double *row)
{
    dyn_vec3_store(dyn_quat_rotate(beam->pose.turn, a), row);
}

static void put_first(const struct cfg_beam_form *form, const struct local *local,
                      struct shapes *shapes)
{
    static const struct dyn_vec3 zero;
    for (int p = 0; p < form->modes; p++) {
        const double value = local->at[p][0], slope = local->at[p][1];
        struct dyn_vec3 move = zero, turn = zero;
        switch (form->mode[p].family) {
        case CFG_BEAM_BEND_Y:
            move.y = value, turn.z = slope;
            break;
        case CFG_BEAM_BEND_Z:
            move.z = value, turn.y = -slope;
            break;
        case CFG_BEAM_TWIST:
            turn.x = value;
            break;
        default:
            move.x = value;
        }
        put_in_body_axes(&form->beam, move, shapes->psi + 3 * p);
        put_in_body_axes(&form->beam, turn, shapes->theta + 3 * p);
    }
}

/* theta2 of modes p <= q; the families are therefore in their order. */
static struct dyn_vec3 turn2(const struct cfg_beam_form *form, const struct local *local,
                             const struct march *march, int p, int q)
{
    const bool y = form->mode[p].family == CFG_BEAM_BEND_Y;
    const double slope = local->at[p][1];
    struct dyn_vec3 turn = {0.0, 0.0, 0.0};
    if (!bends(form->mode[p].family))
        return turn;
    switch (form->mode[q].family) {
    case CFG_BEAM_TWIST:
        *(y ? &turn.y : &turn.z) = 0.5 * slope * local->at[q][0];
        break;
    case CFG_BEAM_STRETCH:
        *(y ? &turn.z : &turn.y) = (y ? -1.0 : 1.0) * slope * local->at[q][1];
        break;
    default:
        turn.x = 0.5 * march->turn[p][q];
    }
    return turn;
}

static void put_second(const struct cfg_beam_form *form, const struct local *local,
                       const struct march *march, struct shapes *shapes)
{
    const int n = form->modes;
    for (int p = 0; p < n; p++)
        for (int q = 0; q < n; q++) {
            const int low = p < q ? p : q, high = p < q ? q : p;
            const ptrdiff_t row = 3 * ((ptrdiff_t)p * n + q);
            const struct dyn_vec3 move = {-march->draw[low][high], 0.0, 0.0};
            put_in_body_axes(&form->beam, move, shapes->psi2 + row);
            put_in_body_axes(&form->beam, turn2(form, local, march, low, high),
                             shapes->theta2 + row);
        }
}

/* The shapes at march->x, in the beam's frame. */
static void shapes_make(struct cfg_load_arena *pool, const struct cfg_beam_form *form,
                        const struct march *march, struct shapes *shapes)
{
    const size_t n = (size_t)form->modes, row = 3 * sizeof(double);
    const struct dyn_vec3 place = {march->x, 0.0, 0.0};
    struct local local;
    shapes->psi = cfg_load_arena_take(pool, n * row);
    shapes->theta = cfg_load_arena_take(pool, n * row);
    shapes->psi2 = cfg_load_arena_take(pool, n * n * row);
    shapes->theta2 = cfg_load_arena_take(pool, n * n * row);
    local_at(form, march->x, &local);
    dyn_vec3_store(dyn_pose_point(&form->beam.pose, place), shapes->r);
    put_first(form, &local, shapes);
    put_second(form, &local, march, shapes);
}

/* The same in the body's frame, which is fixed to the root. */
static void shapes_hold(const struct cfg_beam_form *form, struct shapes *shapes)
{
    if (!form->beam.floats && form->beam.root != CFG_ROOT_CLAMPED)
        dyn_modal_clamp(&form->root, form->modes, shapes->r, shapes->psi, shapes->theta,
                        shapes->psi2, shapes->theta2);
}

/* --- stations and nodes -------------------------------------------------------------------- */

/* Moments of inertia along the beam's axes, turned into the body's axes. */
static void put_inertia(const struct cfg_beam *beam, const double moment[3], double inertia[6])
{
    static const struct dyn_vec3 axis[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    struct dyn_sym3 I = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (int k = 0; k < 3; k++)
        I = dyn_sym3_add_square(&I, moment[k], dyn_quat_rotate(beam->pose.turn, axis[k]));
    memcpy(inertia, (double[6]){I.xx, I.yy, I.zz, I.xy, I.xz, I.yz}, 6 * sizeof(double));
}

static void station_make(struct cfg_load_arena *pool, const struct cfg_beam_form *form,
                         const struct march *march, double mass, const double moment[3],
                         struct dyn_station *station)
{
    struct shapes shapes;
    shapes_make(pool, form, march, &shapes);
    shapes_hold(form, &shapes);
    station->mass = mass;
    put_inertia(&form->beam, moment, station->inertia);
    memcpy(station->r, shapes.r, sizeof shapes.r);
    station->psi = shapes.psi, station->theta = shapes.theta, station->psi2 = shapes.psi2;
}

static bool has_tip(const struct cfg_beam *beam)
{
    const double *I = beam->tip_inertia;
    return beam->tip_mass > 0.0 || I[0] > 0.0 || I[1] > 0.0 || I[2] > 0.0;
}

static void stations_make(struct cfg_load_arena *pool, struct cfg_beam_form *form)
{
    const struct cfg_beam *beam = &form->beam;
    const int count = cfg_beam_wave_points(highest_beta(form));
    double *points = cfg_load_arena_take(pool, 2 * (size_t)count * sizeof(double));
    double *weights = points + count;
    struct march march = {.x = 0.0};

    cfg_quadrature(count, points, weights);
    form->stations = count + has_tip(beam);
    form->station = cfg_load_arena_take(pool, (size_t)form->stations * sizeof *form->station);
    for (int k = 0; k < count; k++) {
        const double moment[3] = {weights[k] * beam->polar, 0.0, 0.0};
        integrate_to(form, points[k] * beam->length, &march);
        station_make(pool, form, &march, weights[k] * beam->mass, moment, &form->station[k]);
    }
    if (has_tip(beam)) {
        integrate_to(form, beam->length, &march);
        station_make(pool, form, &march, beam->tip_mass, beam->tip_inertia, &form->station[count]);
    }
}

static struct dyn_node node_of(const struct shapes *shapes)
{
    struct dyn_node node = {
        .psi = shapes->psi, .theta = shapes->theta, .psi2 = shapes->psi2, .theta2 = shapes->theta2};
    memcpy(node.r, shapes->r, sizeof node.r);
    return node;
}

void cfg_beam_node(struct cfg_load_arena *pool, const struct cfg_beam_form *form, double x,
                   struct dyn_node *node)
{
    struct march march = {.x = 0.0};
    struct shapes shapes;
    integrate_to(form, x, &march);
    shapes_make(pool, form, &march, &shapes);
    shapes_hold(form, &shapes);
    *node = node_of(&shapes);
}

void cfg_beam_shape(struct cfg_load_arena *pool, const struct cfg_beam *beam,
                    struct cfg_beam_form *form)
{
    const struct march at_root = {.x = 0.0};
    struct shapes root;
    *form = (struct cfg_beam_form){.beam = *beam};
    form->beam.pose.turn = dyn_quat_unit(beam->pose.turn);
    modes_make(pool, form);
    shapes_make(pool, form, &at_root, &root);
    form->root = node_of(&root);
    stations_make(pool, form);
}

/* --- checks -------------------------------------------------------------------------------- */

static bool positive(double x)
{
    return isfinite(x) && x > 0.0;
}

static bool not_negative(double x)
{
    return isfinite(x) && x >= 0.0;
}

static const char *family_flaw(const struct cfg_beam *beam, int family)
{
    static const char *const stiffness[] = {
        [CFG_BEAM_BEND_Y] = "bending stiffness along y must be positive",
        [CFG_BEAM_BEND_Z] = "bending stiffness along z must be positive",
        [CFG_BEAM_TWIST] = "torsional stiffness must be positive",
        [CFG_BEAM_STRETCH] = "axial stiffness must be positive",
    };
    if (beam->modes[family] < 0)
        return "number of modes must not be negative";
    if (beam->modes[family] > 0 && !positive(beam->stiffness[family]))
        return stiffness[family];
    return NULL;
}

const char *cfg_beam_problem(const struct cfg_beam *beam)
{
    int modes = 0;
    if (!positive(beam->length))
        return "length must be positive";
    if (!positive(beam->mass))
        return "mass must be positive";
    if (!not_negative(beam->polar))
        return "polar inertia must not be negative";
    if (!positive(dyn_quat_square(beam->pose.turn)))
        return "the beam's frame has no orientation";
    for (int k = 0; k < 3; k++)
        if (!not_negative(beam->tip_inertia[k]))
            return "tip inertia must not be negative";
    if (!not_negative(beam->tip_mass))
        return "tip mass must not be negative";
    for (int family = 0; family < CFG_BEAM_FAMILIES; family++) {
        const char *problem = family_flaw(beam, family);
        if (problem != NULL)
            return problem;
        if (beam->modes[family] > DYN_MODES_MAX - modes)
            return "more modes than a body may have";
        modes += beam->modes[family];
    }
    if (modes == 0)
        return "a beam needs at least one mode";
    if (beam->modes[CFG_BEAM_TWIST] > 0 && beam->polar == 0.0)
        return "modes that twist need a polar inertia";
    return NULL;
}
