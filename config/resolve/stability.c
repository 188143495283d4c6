#include "config/resolve/stability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/resolve/eigenvalues.h"
#include "config/resolve/step_derivative.h"
#include "config/resolve/step_growth.h"
#include "rt/check.h"
#include "rt/executive/state/run_state.h"

enum { METHODS = DYN_ROS2 + 1 };
enum stability_case { AT_START, AT_STOPS, ON_GROUND, OCCASIONS };

static const char *const occasion_name[OCCASIONS] = {"as it starts", "pressed against its stops",
                                                     "on the ground"};

/* One vehicle of its own, which may be changed. */
struct trial {
    const struct cfg_scenario *scenario;
    struct sim_vehicle *vehicle;
    double *x;
    int count; /* of states that have a rate */
    double *J; /* by rows */
    double *re, *im;
    bool has_modes;
};

/* The motion that asks for the shortest step on one occasion. */
struct stiffest {
    bool found;
    struct cfg_growth_rate mu;
    int state; /* that has the most of it */
    double limit[METHODS];
    double growth; /* in a step, of what a step of ROS2 lets grow; 0: of nothing */
    bool or_more;  /* ROS2's limit is the step taken, and no longer one was tried */
    struct cfg_growth_rate growing; /* what decays or swings and still grows a little, fastest */
    double twofold;                 /* s, in which; infinite: there is none */
};

static void *alloc_aligned(size_t size)
{
    void *mem = aligned_alloc(RT_CACHE_LINE, (size / RT_CACHE_LINE + 1) * RT_CACHE_LINE);
    RT_CHECK(mem != NULL);
    memset(mem, 0, size);
    return mem;
}

/* ---- the vehicle --------------------------------------------------------------------------- */

static void release_brakes(struct trial *trial)
{
    const struct cfg_scenario *scenario = trial->scenario;
    struct sim_vehicle *vehicle = trial->vehicle;
    for (int i = 0; i < scenario->spec.body_count && vehicle->held != NULL; i++) {
        const int v = dyn_model_v_index(vehicle->plant.model, i);
        for (int k = 0; k < dyn_joint_nv(&scenario->spec.bodies[i].spec); k++)
            vehicle->held[v + k] = scenario->spec.bodies[i].held[k];
    }
}

static void leave_out_dry_friction(struct trial *trial)
{
    const struct cfg_scenario *scenario = trial->scenario;
    for (int i = 0; i < scenario->spec.body_count; i++)
        for (int k = 0; k < DYN_JOINT_DOF_MAX; k++) {
            struct dyn_joint_force_spec *force_spec =
                dyn_model_force_spec((struct dyn_model *)trial->vehicle->plant.model, i, k);
            if (force_spec != NULL)
                force_spec->coulomb = 0.0;
        }
    for (int i = 0; i < scenario->spec.effector_count; i++)
        dyn_effector_remove_dry_friction(&trial->vehicle->effectors[i]);
}

static void begin_trial(const struct cfg_scenario *scenario, struct trial *trial)
{
    *trial = (struct trial){.scenario = scenario};
    trial->vehicle =
        sim_vehicle_place(&scenario->spec, alloc_aligned(sim_vehicle_size(&scenario->spec)));
    const struct dyn_plant *plant = &trial->vehicle->plant;
    const size_t n = (size_t)dyn_plant_effector_index(plant, plant->effector_count);
    trial->count = (int)n;
    trial->x = alloc_aligned((size_t)dyn_plant_state_count(plant) * sizeof *trial->x);
    memcpy(trial->x, trial->vehicle->x, n * sizeof *trial->x);
    for (int i = 0; i < scenario->spec.body_count; i++)
        trial->has_modes = trial->has_modes || dyn_model_modes(plant->model, i) > 0;
    if (trial->count > CFG_STABILITY_MAX)
        return;
    trial->J = alloc_aligned(n * n * sizeof *trial->J);
    trial->re = alloc_aligned(n * sizeof *trial->re);
    trial->im = alloc_aligned(n * sizeof *trial->im);
    trial->vehicle->plant.substeps = 1; /* for one is judged */
    release_brakes(trial);
    leave_out_dry_friction(trial);
}

static void end_trial(struct trial *trial)
{
    free(trial->vehicle);
    free(trial->x);
    free(trial->J);
    free(trial->re);
    free(trial->im);
}

/* A stop that is pressed is a spring and a damper; together they are stiffer than any of them.  One
 * that is not is nothing.  false: there is none. */
static bool set_stops(struct trial *trial, bool pressed)
{
    const struct cfg_scenario *scenario = trial->scenario;
    struct dyn_model *model = (struct dyn_model *)trial->vehicle->plant.model;
    bool some = false;
    for (int i = 0; i < scenario->spec.body_count; i++)
        for (int k = 0; k < DYN_JOINT_DOF_MAX; k++) {
            struct dyn_joint_force_spec *force_spec = dyn_model_force_spec(model, i, k);
            if (force_spec == NULL || !(force_spec->limit_stiffness > 0.0))
                continue;
            some = true;
            if (pressed) {
                force_spec->stiffness += force_spec->limit_stiffness;
                force_spec->damping += force_spec->limit_damping;
                force_spec->rest = trial->x[dyn_model_q_index(model, i) + k];
            }
            force_spec->limit_stiffness = force_spec->limit_damping = 0.0;
        }
    return some;
}

/* At rest, with the ground a little above the lowest point that can touch it.  false: there is
 * none. */
static bool set_on_ground(struct trial *trial)
{
    static const double DEPTH = 1e-3, SPEED = 1e-5; /* m, m/s */
    struct dyn_plant *plant = &trial->vehicle->plant;
    double lowest = -HUGE_VAL, depth = DEPTH;
    memset(trial->x + dyn_model_nq(plant->model), 0,
           (size_t)dyn_model_nv(plant->model) * sizeof *trial->x);
    dyn_plant_solve(plant, trial->vehicle->command, NULL, trial->x, trial->vehicle->work);
    for (int i = 0; i < plant->effector_count; i++) {
        struct dyn_motion motion;
        struct dyn_foot foot;
        if (!dyn_effector_foot(&plant->effectors[i], &foot))
            continue;
        dyn_plant_motion(plant, trial->vehicle->work, trial->x, plant->effectors[i].body, foot.at,
                         &motion);
        lowest = fmax(lowest, motion.position[2]);
        depth = fmax(depth, SPEED * foot.damping / foot.stiffness);
    }
    plant->environment.ground = lowest - depth;
    return lowest > -HUGE_VAL;
}

/* ---- its slopes ---------------------------------------------------------------------------- */

/* What is stepped exactly takes no part. */
static void remove_state(const struct trial *trial, int state)
{
    const int n = trial->count;
    for (int k = 0; k < n; k++)
        trial->J[state * n + k] = trial->J[k * n + state] = 0.0;
}

static void leave_out_lags(const struct trial *trial)
{
    const struct dyn_plant *plant = &trial->vehicle->plant;
    for (int i = 0; i < plant->effector_count; i++) {
        struct dyn_lags lags;
        if (dyn_effector_lags(&plant->effectors[i], &lags))
            remove_state(trial, dyn_plant_effector_index(plant, i));
    }
}

static void compute_jacobian(const struct trial *trial)
{
    static const double STEP = 1e-7;
    const struct sim_vehicle *vehicle = trial->vehicle;
    const int n = trial->count;
    double *above = alloc_aligned((size_t)n * sizeof *above),
           *below = alloc_aligned((size_t)n * sizeof *below);
    for (int k = 0; k < n; k++) {
        const double keep = trial->x[k], step = STEP * (1.0 + fabs(keep));
        trial->x[k] = keep + step;
        dyn_plant_derivative(&vehicle->plant, vehicle->command, NULL, trial->x, vehicle->work,
                             above);
        trial->x[k] = keep - step;
        dyn_plant_derivative(&vehicle->plant, vehicle->command, NULL, trial->x, vehicle->work,
                             below);
        trial->x[k] = keep;
        for (int i = 0; i < n; i++)
            trial->J[i * n + k] = (above[i] - below[i]) / (2.0 * step);
    }
    free(above);
    free(below);
    leave_out_lags(trial);
}

/* ---- whose motion it is -------------------------------------------------------------------- */

/* B x = b, in place; a pivot that is none is made one, for B is singular on purpose. */
static void solve_linear(int n, double *B, double *b)
{
    double size = 0.0;
    for (int k = 0; k < n * n; k++)
        size = fmax(size, fabs(B[k]));
    for (int c = 0; c < n; c++) {
        int pivot = c;
        for (int r = c; r < n; r++)
            pivot = fabs(B[r * n + c]) > fabs(B[pivot * n + c]) ? r : pivot;
        for (int k = 0; k < n && pivot != c; k++) {
            const double keep = B[c * n + k];
            B[c * n + k] = B[pivot * n + k];
            B[pivot * n + k] = keep;
        }
        const double keep = b[c];
        b[c] = b[pivot];
        b[pivot] = keep;
        if (fabs(B[c * n + c]) < 1e-14 * size)
            B[c * n + c] = 1e-14 * size;
        for (int r = c + 1; r < n; r++) {
            const double factor = B[r * n + c] / B[c * n + c];
            for (int k = c; k < n && factor != 0.0; k++)
                B[r * n + k] -= factor * B[c * n + k];
            b[r] -= factor * b[c];
        }
    }
    for (int r = n - 1; r >= 0; r--) {
        for (int k = r + 1; k < n; k++)
            b[r] -= B[r * n + k] * b[k];
        b[r] /= B[r * n + r];
    }
}

/* B = (J - re)^2 + im^2, which the eigenvectors of the pair make zero. */
static void fill_square(const struct trial *trial, struct cfg_growth_rate mu, double *B)
{
    const int n = trial->count;
    const double *J = trial->J;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = i == j ? mu.re * mu.re + mu.im * mu.im : 0.0;
            for (int k = 0; k < n; k++)
                sum += J[i * n + k] * J[k * n + j];
            B[i * n + j] = sum - 2.0 * mu.re * J[i * n + j];
        }
}

/* The momentum of a gyrostat counts as the speed that it stands for. */
static double momentum_scale(const struct trial *trial, int state)
{
    const struct dyn_plant *plant = &trial->vehicle->plant;
    for (int i = 0; i < plant->effector_count; i++) {
        struct dyn_gyrostat gyrostat;
        if (dyn_effector_gyrostat(&plant->effectors[i], &gyrostat) &&
            dyn_plant_effector_index(plant, i) == state)
            return 1.0 / gyrostat.inertia;
    }
    return 1.0;
}

/* The velocity or the effector's state that has the most of a motion, by inverse iteration. */
static int owner_of(const struct trial *trial, struct cfg_growth_rate mu)
{
    const int n = trial->count, nq = dyn_model_nq(trial->vehicle->plant.model);
    double *B = alloc_aligned((size_t)n * (size_t)n * sizeof *B),
           *copy = alloc_aligned((size_t)n * sizeof(double) * (size_t)n);
    double *y = alloc_aligned((size_t)n * sizeof *y);
    int owner = nq < n ? nq : 0;
    fill_square(trial, mu, B);
    for (int k = 0; k < n; k++)
        y[k] = 1.0 + 0.1 * k / n;
    for (int round = 0; round < 3; round++) {
        double most = 0.0;
        memcpy(copy, B, (size_t)n * (size_t)n * sizeof *B);
        solve_linear(n, copy, y);
        for (int k = 0; k < n; k++)
            most = fmax(most, fabs(y[k]));
        for (int k = 0; k < n && most > 0.0; k++)
            y[k] /= most;
    }
    for (int k = nq; k < n; k++) {
        y[k] *= momentum_scale(trial, k);
        owner = fabs(y[k]) > fabs(y[owner]) ? k : owner;
    }
    free(B);
    free(copy);
    free(y);
    return owner;
}

/* ---- the verdict --------------------------------------------------------------------------- */

static void note_growth(const struct trial *trial, struct cfg_growth_rate mu, double h,
                        struct stiffest *out)
{
    const struct cfg_growth_rate z = {h * mu.re, h * mu.im};
    const double growth = cfg_step_growth(trial->scenario->spec.integrator, z);
    const double twofold = growth > 1.0 + 1e-9 ? h * log(2.0) / log(growth) : HUGE_VAL;
    if (mu.re <= 0.0 && twofold < out->twofold) {
        out->twofold = twofold;
        out->growing = mu;
    }
}

/* The state with all bodies unbent: a mode far faster than the step that starts far out makes rates
 * beyond all sense, whose slopes say nothing of the method. */
static double *unbent_state(const struct trial *trial)
{
    const struct dyn_plant *plant = &trial->vehicle->plant;
    const struct dyn_model *model = plant->model;
    const size_t size = (size_t)dyn_plant_state_count(plant) * sizeof(double);
    double *x = alloc_aligned(size);
    memcpy(x, trial->x, size);
    for (int i = 0; i < trial->scenario->spec.body_count; i++)
        for (int k = 0; k < dyn_model_modes(model, i); k++) {
            x[dyn_model_eta_index(model, i) + k] = 0.0;
            x[dyn_model_nq(model) + dyn_model_xi_index(model, i) + k] = 0.0;
        }
    return x;
}

/* The most that a step of ROS2 lets grow though the vehicle does not, in `worst` and, by inverse
 * iteration, whose it is; 0: nothing. */
static double growth_at(const struct trial *trial, double h, struct cfg_growth_rate *worst,
                        int *owner)
{
    const int n = trial->count;
    const struct cfg_growth_rates rates = {n, trial->re, trial->im};
    struct trial step = *trial;
    double growth = 0.0;
    step.J = alloc_aligned((size_t)n * (size_t)n * sizeof(double));
    step.re = alloc_aligned((size_t)n * sizeof(double));
    step.im = alloc_aligned((size_t)n * sizeof(double));
    double *copy = alloc_aligned((size_t)n * (size_t)n * sizeof *copy);
    double *x = unbent_state(trial);
    bool good = cfg_step_derivative(trial->vehicle, h, n, x, step.J);
    free(x);
    memcpy(copy, step.J, (size_t)n * (size_t)n * sizeof *copy);
    good = good && cfg_eigenvalues(n, copy, step.re, step.im);
    for (int k = 0; k < n && good; k++) {
        const struct cfg_growth_rate eigenvalue = {step.re[k], fabs(step.im[k])};
        const double excess = cfg_step_excess(eigenvalue, h, &rates);
        if (excess > growth) {
            growth = excess;
            *worst = eigenvalue;
        }
    }
    if (growth > 0.0 && owner != NULL)
        *owner = owner_of(&step, *worst);
    free(step.J);
    free(step.re);
    free(step.im);
    free(copy);
    return growth;
}

/* The step that is taken; a shorter one is looked for only where that is too long. */
static void judge_step(const struct trial *trial, double h, struct stiffest *out)
{
    enum { HALVES = 14 };
    struct cfg_growth_rate worst;
    double good = 0.0, bad = h;
    out->limit[DYN_ROS2] = h;
    out->growth = growth_at(trial, h, &worst, &out->state);
    out->or_more = out->growth == 0.0;
    if (out->or_more)
        return;
    for (int k = 0; k < HALVES; k++) {
        const double middle = 0.5 * (good + bad);
        *(growth_at(trial, middle, &worst, NULL) == 0.0 ? &good : &bad) = middle;
    }
    out->limit[DYN_ROS2] = good;
}

static void judge_rate(const struct trial *trial, struct cfg_growth_rate mu, bool by_step, double h,
                       struct stiffest *out)
{
    const enum dyn_integrator own = trial->scenario->spec.integrator;
    const double limit = by_step ? HUGE_VAL : cfg_step_limit(own, mu);
    const double size = hypot(mu.re, mu.im), most = hypot(out->mu.re, out->mu.im);
    if (!out->found || limit < out->limit[own] || (limit == out->limit[own] && size > most))
        out->mu = mu;
    out->found = true;
    for (int m = 0; m < METHODS; m++)
        if (m != DYN_ROS2 || !trial->has_modes)
            out->limit[m] = fmin(out->limit[m], cfg_step_limit((enum dyn_integrator)m, mu));
    if (!by_step)
        note_growth(trial, mu, h, out);
}

static struct stiffest judge_trial(const struct trial *trial)
{
    const int n = trial->count;
    const double h =
        (double)trial->scenario->spec.period_ns * 1e-9 / trial->scenario->spec.substeps;
    const bool by_step = trial->scenario->spec.integrator == DYN_ROS2 && trial->has_modes;
    struct stiffest out = {.twofold = HUGE_VAL};
    double *J = alloc_aligned((size_t)n * (size_t)n * sizeof *J);
    for (int m = 0; m < METHODS; m++)
        out.limit[m] = HUGE_VAL;
    if (by_step) /* what hangs and has not sagged yet jerks so much that two stages differ */
        memset(trial->vehicle->plant.environment.gravity, 0,
               sizeof trial->vehicle->plant.environment.gravity);
    compute_jacobian(trial);
    memcpy(J, trial->J, (size_t)n * (size_t)n * sizeof *J);
    if (n > 0 && cfg_eigenvalues(n, J, trial->re, trial->im))
        for (int k = 0; k < n; k++)
            judge_rate(trial, (struct cfg_growth_rate){trial->re[k], fabs(trial->im[k])}, by_step,
                       h, &out);
    if (out.found)
        out.state = owner_of(trial, out.mu);
    if (out.found && by_step)
        judge_step(trial, h, &out);
    if (trial->has_modes && !by_step)
        out.limit[DYN_ROS2] = (double)NAN; /* is known of its own steps only */
    free(J);
    return out;
}

static struct stiffest analyse_case(const struct cfg_scenario *scenario,
                                    enum stability_case occasion)
{
    struct stiffest out = {.twofold = HUGE_VAL};
    struct trial trial;
    begin_trial(scenario, &trial);
    const bool small = trial.count <= CFG_STABILITY_MAX;
    const bool has_stops = small && set_stops(&trial, occasion == AT_STOPS);
    if (small && (occasion == AT_START || (occasion == AT_STOPS && has_stops) ||
                  (occasion == ON_GROUND && set_on_ground(&trial))))
        out = judge_trial(&trial);
    end_trial(&trial);
    return out;
}

/* ---- names --------------------------------------------------------------------------------- */

struct owner {
    const char *name;
    struct cfg_mark mark;
};

static struct owner marked_owner(const struct cfg_scenario *scenario, const char *section,
                                 const char *name)
{
    return (struct owner){name, cfg_scenario_mark(scenario, section, name)};
}

static int body_of(const struct cfg_scenario *scenario, const struct dyn_model *model, int v)
{
    int found = 0;
    for (int i = 0; i < scenario->spec.body_count; i++) {
        const int joint = v - dyn_model_v_index(model, i), mode = v - dyn_model_xi_index(model, i);
        if ((joint >= 0 && joint < dyn_joint_nv(&scenario->spec.bodies[i].spec)) ||
            (mode >= 0 && mode < dyn_model_modes(model, i)))
            found = i;
    }
    return found;
}

static struct owner owner_named(const struct cfg_scenario *scenario, enum stability_case occasion,
                                int state)
{
    struct trial trial;
    begin_trial(scenario, &trial);
    const struct dyn_plant *plant = &trial.vehicle->plant;
    const int v = state - dyn_model_nq(plant->model);
    struct owner owner = {scenario->spec.name, {0, 0}};
    if (v >= dyn_model_nv(plant->model)) {
        for (int i = 0; i < scenario->spec.effector_count; i++)
            if (dyn_plant_effector_index(plant, i) <= state)
                owner = marked_owner(scenario, "devices", scenario->spec.effectors[i].name);
    } else if (scenario->spec.body_count > 0) {
        const struct sim_body *body = &scenario->spec.bodies[body_of(scenario, plant->model, v)];
        owner = marked_owner(scenario, "bodies", body->name);
    }
    for (int i = scenario->spec.effector_count - 1; i >= 0 && occasion == ON_GROUND; i--) {
        struct dyn_foot foot;
        if (dyn_effector_foot(&scenario->spec.effectors[i].effector, &foot))
            owner = marked_owner(scenario, "devices", scenario->spec.effectors[i].name);
    }
    end_trial(&trial);
    return owner;
}

/* "swings with 12 Hz" or "decays by 300 /s" */
static void describe_owner(struct cfg_growth_rate mu, char *text, size_t size)
{
    static const double FULL_TURN = 6.283185307179586;
    if (mu.im > 0.0)
        snprintf(text, size, "swings at %.4g Hz (damping %.3g)", hypot(mu.re, mu.im) / FULL_TURN,
                 -mu.re / hypot(mu.re, mu.im));
    else
        snprintf(text, size, "%s at %.4g 1/s", mu.re > 0.0 ? "grows" : "decays", fabs(mu.re));
}

bool cfg_check_stability(const struct cfg_resolve *resolve)
{
    const struct cfg_scenario *scenario = resolve->scenario;
    const double period = (double)scenario->spec.period_ns * 1e-9,
                 h = period / scenario->spec.substeps;
    for (int occasion = 0; occasion < OCCASIONS; occasion++) {
        const struct stiffest stiffest = analyse_case(scenario, (enum stability_case)occasion);
        const double limit = stiffest.limit[scenario->spec.integrator];
        char motion[64], more[48] = "";
        if (!stiffest.found || h <= limit * (1.0 + 1e-6))
            continue;
        const struct owner owner =
            owner_named(scenario, (enum stability_case)occasion, stiffest.state);
        const double substeps = ceil(period / limit);
        if (stiffest.growth > 0.0)
            snprintf(motion, sizeof motion, "grows by a factor of %.4g in a step", stiffest.growth);
        else
            describe_owner(stiffest.mu, motion, sizeof motion);
        if (substeps <= 1000.0)
            snprintf(more, sizeof more, "%d substeps, ", (int)substeps);
        return cfg_fail(resolve->report, NULL, owner.mark,
                        "\"%s\" %s %s, and %s with steps of %.4g ms is stable up to steps of %.4g "
                        "ms there; use %sor less stiffness and damping",
                        owner.name, occasion_name[occasion], motion,
                        cfg_integrator_name(scenario->spec.integrator), h * 1e3, limit * 1e3, more);
    }
    return true;
}

/* ---- print --------------------------------------------------------------------------------- */

static void print_limits(const struct stiffest *stiffest, FILE *out)
{
    fprintf(out, "      longest step:");
    for (int m = 0; m < METHODS; m++) {
        if (isnan(stiffest->limit[m]))
            continue;
        fprintf(out, "%s %s ", m > 0 ? "," : "", cfg_integrator_name((enum dyn_integrator)m));
        if (isfinite(stiffest->limit[m]))
            fprintf(out, "%.4g ms%s", stiffest->limit[m] * 1e3,
                    m == DYN_ROS2 && stiffest->or_more ? " or more" : "");
        else
            fprintf(out, "any");
    }
    fputs("\n", out);
}

void cfg_stability_print(const struct cfg_scenario *scenario, FILE *out)
{
    const double h = (double)scenario->spec.period_ns * 1e-9 / scenario->spec.substeps;
    bool some = false;
    fprintf(out, "\nstability, with steps of %.6g ms by %s\n", h * 1e3,
            cfg_integrator_name(scenario->spec.integrator));
    for (int occasion = 0; occasion < OCCASIONS; occasion++) {
        const struct stiffest stiffest = analyse_case(scenario, (enum stability_case)occasion);
        char motion[64];
        if (!stiffest.found)
            continue;
        some = true;
        describe_owner(stiffest.mu, motion, sizeof motion);
        fprintf(out, "  %-25s stiffest: \"%s\" %s\n", occasion_name[occasion],
                owner_named(scenario, (enum stability_case)occasion, stiffest.state).name, motion);
        print_limits(&stiffest, out);
        describe_owner(stiffest.growing, motion, sizeof motion);
        if (stiffest.twofold < scenario->spec.seconds)
            fprintf(out, "      - what %s grows twofold in %.4g s; take shorter steps, or rk4\n",
                    motion, stiffest.twofold);
    }
    if (!some)
        fprintf(out, "  not tried: more than %d states, or none\n", CFG_STABILITY_MAX);
}
