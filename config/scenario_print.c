/*
 * Prints a scenario for `airbearing check`.
 */
#include "config/scenario.h"

#include <math.h>
#include <stdlib.h>

#include "config/resolve/effector_types.h"
#include "rt/check.h"
#include "rt/executive/output/sensor_types.h"

enum { INDENT_MAX = 20 };

static const double DEGREE = 3.14159265358979323846 / 180.0;

static const char *const joint_name[] = {
    [DYN_JOINT_FIXED] = "fixed",         [DYN_JOINT_REVOLUTE] = "revolute",
    [DYN_JOINT_PRISMATIC] = "prismatic", [DYN_JOINT_CYLINDRICAL] = "cylindrical",
    [DYN_JOINT_UNIVERSAL] = "universal", [DYN_JOINT_SPHERICAL] = "spherical",
    [DYN_JOINT_PLANAR] = "planar",       [DYN_JOINT_FREE] = "free",
    [DYN_JOINT_GENERAL] = "general"};
static const char *const fidelity_name[] = {[DYN_FLEX_RIGID] = "rigid",
                                            [DYN_FLEX_RUTHLESS] = "ruthless",
                                            [DYN_FLEX_CONSISTENT] = "consistent",
                                            [DYN_FLEX_INCONSISTENT] = "inconsistent (for tests)"};
static const char *const world_name[] = {"uniform", "local", "orbit"};
static const char *const pace_name[] = {"real", "fast", "lockstep"};
static const char *const overrun_name[] = {"skip", "catch-up", "stop"};

struct cfg_sensor_label cfg_sensor_label(enum sim_sensor_kind kind)
{
    struct cfg_sensor_label label;
    snprintf(label.text, sizeof label.text, "%s", sim_sensor_types[kind].name);
    for (char *c = label.text; *c != '\0'; c++)
        if (*c == '_')
            *c = ' ';
    return label;
}

static void print_rate(FILE *out, const char *what, double rate_hz, uint32_t every)
{
    if (every > 0)
        fprintf(out, "  %s %.6g Hz", what, rate_hz / every);
}

static void print_head(const struct cfg_scenario *scenario, FILE *out)
{
    fprintf(out, "%s: %.6g frames/s (%.6g ms), %.6g s, pace %s, overrun %s, seed %llu\n",
            scenario->spec.name, scenario->spec.rate_hz, (double)scenario->spec.period_ns * 1e-6,
            scenario->spec.seconds, pace_name[scenario->spec.pace],
            overrun_name[scenario->spec.overrun], (unsigned long long)scenario->spec.seed);
    fprintf(out, "integrator %s, %d step%s a frame\n",
            cfg_integrator_name(scenario->spec.integrator), scenario->spec.substeps,
            scenario->spec.substeps == 1 ? "" : "s");
}

static bool is_locked(const struct sim_body *body, int k)
{
    return body->held[k] && body->held_a[k] == 0.0 && body->velocity[k] == 0.0;
}

static bool is_all_locked(const struct sim_body *body)
{
    const int nv = dyn_joint_nv(&body->spec);
    for (int k = 0; k < nv; k++)
        if (!is_locked(body, k))
            return false;
    return nv > 0;
}

/* The forces along one velocity of a joint, and whether it is held. */
static void print_motion(const struct sim_body *body, int k, FILE *out)
{
    const struct dyn_joint_force_spec *force_spec = &body->spec.force_spec[k];
    const bool turns = cfg_joint_turns(&body->spec, k);
    const char *way = turns ? "rad" : "m", *force = turns ? "N m" : "N";
    if (force_spec->stiffness > 0.0)
        fprintf(out, ", spring %.4g %s/%s", force_spec->stiffness, force, way);
    if (force_spec->damping > 0.0)
        fprintf(out, ", damper %.4g %s s/%s", force_spec->damping, force, way);
    if (force_spec->coulomb > 0.0)
        fprintf(out, ", friction %.4g %s", force_spec->coulomb, force);
    if (force_spec->limit_stiffness > 0.0)
        fprintf(out, ", stops at %.4g and %.4g %s", force_spec->lower, force_spec->upper, way);
    if (is_locked(body, k))
        fputs(is_all_locked(body) ? "" : ", locked", out);
    else if (body->held[k])
        fprintf(out, ", prescribed %.4g %s/s^2", body->held_a[k], way);
}

static void print_joint(const struct cfg_scenario *scenario, const struct sim_body *body, FILE *out)
{
    const struct dyn_body_spec *spec = &body->spec;
    fprintf(out, "%-11s %9.4g kg", joint_name[spec->joint], spec->mass);
    for (int k = 0; k < (spec->mimic.on ? 1 : dyn_joint_nv(spec)); k++)
        print_motion(body, k, out);
    if (is_all_locked(body))
        fputs(", locked", out);
    if (spec->rotor.terms != DYN_ROTOR_NONE)
        fprintf(out, ", motor %.4g kg m^2 at %.4g:1", spec->rotor.inertia, spec->rotor.ratio);
    if (spec->mimic.on)
        fprintf(out, ", follows %s", scenario->spec.bodies[spec->mimic.leader].name);
    fputc('\n', out);
}

static void print_flex(const struct sim_flex *flex, int indent, FILE *out)
{
    const struct dyn_flex *modal = &flex->modal;
    fprintf(out, "  %*sbends: %d mode%s, %.4g", indent + 2, "", modal->modes,
            modal->modes == 1 ? "" : "s", flex->first_hz);
    if (modal->modes > 1)
        fprintf(out, " to %.4g", flex->last_hz);
    fprintf(out, " Hz held at the joint, with %.1f %% of its mass or inertia, %s\n",
            100.0 * flex->share, fidelity_name[modal->fidelity]);
}

static void print_body(const struct cfg_scenario *scenario, int i, int depth, FILE *out)
{
    const int indent = depth < INDENT_MAX ? 2 * depth : 2 * INDENT_MAX;
    const struct sim_body *body = &scenario->spec.bodies[i];
    fprintf(out, "  %*s%-*s ", indent, "", indent < 20 ? 24 - indent : 4, body->name);
    print_joint(scenario, body, out);
    if (body->flex != NULL)
        print_flex(body->flex, indent, out);
}

/* Visit each body before its children: go to the first child, else to the next sibling. */
static void walk_tree(const struct cfg_scenario *scenario, const int *child, const int *sibling,
                      int i, FILE *out)
{
    for (int depth = 0; i >= 0;) {
        print_body(scenario, i, depth, out);
        if (child[i] >= 0) {
            i = child[i];
            depth++;
            continue;
        }
        for (; i >= 0 && sibling[i] < 0; depth--)
            i = scenario->spec.bodies[i].spec.parent;
        i = i >= 0 ? sibling[i] : -1;
    }
}

static void print_tree(const struct cfg_scenario *scenario, FILE *out)
{
    const int count = scenario->spec.body_count;
    int *child = malloc(2 * (size_t)count * sizeof *child), *sibling = child + count, root = -1;
    RT_CHECK(child != NULL);
    for (int i = 0; i < count; i++)
        child[i] = -1;
    for (int i = count - 1; i >= 0; i--) {
        const int parent = scenario->spec.bodies[i].spec.parent;
        int *first = parent >= 0 ? &child[parent] : &root;
        sibling[i] = *first;
        *first = i;
    }
    walk_tree(scenario, child, sibling, root, out);
    free(child);
}

static void print_sensor(const struct cfg_scenario *scenario, const struct sim_sensor *sensor,
                         FILE *out)
{
    fprintf(out, "  %-24s %-13s on %s, %.6g Hz", sensor->name, cfg_sensor_label(sensor->kind).text,
            scenario->spec.bodies[sensor->body].name, scenario->spec.rate_hz / sensor->every);
    if (sim_sensor_delay(sensor) > 0)
        fprintf(out, ", %.4g ms late", sim_sensor_delay(sensor) * sensor->sample_time * 1e3);
    fputc('\n', out);
}

static void print_effector(const struct cfg_scenario *scenario, const struct sim_effector *from,
                           FILE *out)
{
    const struct cfg_effector_type *type = &cfg_effector_types[from->effector.type];
    fprintf(out, "  %-24s %-13s on %s", from->name, type->name,
            scenario->spec.bodies[from->effector.body].name);
    if (type->print != NULL)
        type->print(&from->effector, out);
    if (from->link >= 0)
        fprintf(out, ", control %d of %s", from->control, scenario->spec.links[from->link].name);
    fputc('\n', out);
}

static void print_world(const struct cfg_scenario *scenario, FILE *out)
{
    const struct dyn_environment *environment = &scenario->spec.environment;
    const double *g = environment->gravity;
    fprintf(out, "world %s", world_name[environment->kind]);
    if (environment->kind != DYN_WORLD_ORBIT)
        fprintf(out, ", gravity %.6g %.6g %.6g m/s^2", g[0], g[1], g[2]);
    fprintf(out, "%s%s%s%s\n", environment->air ? ", air" : "",
            environment->has_ground ? ", ground" : "", scenario->spec.has_gust ? ", gusts" : "",
            scenario->spec.world.has_field ? ", magnetic field by the World Magnetic Model" : "");
}

static const char *wire(const struct io_bus_spec *bus)
{
    if (bus->kind == IO_BUS_COCKPIT)
        return "of run --serve";
    return bus->device[0] ? bus->device : bus->listen[0] ? bus->listen : bus->peer;
}

static void print_hand(const struct io_hand_spec *hand, FILE *out)
{
    fprintf(out, "  %-24s axes ", "");
    for (int i = 0; i < hand->axis_map_count; i++)
        fprintf(out, " %s to control %d%s", cfg_axis_name(hand->axis_map[i].axis),
                hand->axis_map[i].control, i + 1 < hand->axis_map_count ? "," : "\n");
}

/* A hand controller at rest sends nothing: its link is lost when its device is, where the bus can
 * find that. */
static void print_link(const struct cfg_scenario *scenario, const struct sim_link *link, FILE *out)
{
    const bool hands = io_protocol_traits(link->spec.protocol)->hands;
    fprintf(out, "  %-24s %s on %s %s, motion of %s, lost ", link->name,
            cfg_protocol_name(link->spec.protocol), cfg_bus_name(link->spec.bus.kind),
            wire(&link->spec.bus), scenario->spec.bodies[link->body].name);
    if (hands && io_bus_kind_detects_peer(link->spec.bus.kind))
        fputs("with its device", out);
    else
        fprintf(out, "after %.4g ms", (double)link->spec.lost_after_ns * 1e-6);
    fprintf(out, ": %s", link->stop_on_loss ? "stop" : "safe");
    if (link->delay > 0)
        fprintf(out, "; late on purpose by %.10g s",
                (double)link->delay * (double)scenario->spec.period_ns * 1e-9);
    fputc('\n', out);
    if (hands) {
        print_hand(&link->spec.hand, out);
        return;
    }
    fprintf(out, "  %-24s sends", "");
    for (int m = 0; m < IO_MESSAGE_COUNT; m++)
        print_rate(out, cfg_message_name(m), scenario->spec.rate_hz, link->every[m]);
    fputc('\n', out);
}

static void print_arm(const struct cfg_scenario *scenario, FILE *out)
{
    const struct sim_arm *arm = &scenario->spec.arm;
    if (arm->joint_count == 0)
        return;
    fprintf(out, "arm on %s, hand %s, servos at %.4g Hz, %.4g m/s and %.4g deg/s\n",
            scenario->spec.bodies[arm->base].name, scenario->spec.bodies[arm->hand].name,
            scenario->spec.rate_hz / arm->every, arm->translation.speed,
            arm->rotation.speed / DEGREE);
    for (int n = 0; n < arm->joint_count; n++) {
        const struct dyn_resolved_rate_spec *limits = &arm->resolve;
        fprintf(out, "  %-24s %.4g deg/s, %.4g N m, brake %.4g N m",
                scenario->spec.bodies[arm->joint[n].body].name, limits->rate_max[n] / DEGREE,
                arm->joint[n].servo.torque_max, arm->joint[n].brake);
        if (limits->lower[n] != limits->upper[n])
            fprintf(out, ", %.4g to %.4g deg", limits->lower[n] / DEGREE,
                    limits->upper[n] / DEGREE);
        fputc('\n', out);
    }
    for (int i = 0; i < arm->payload_count; i++) {
        const struct sim_payload *payload = &arm->payload[i];
        fprintf(out, "  payload %-16s ", scenario->spec.bodies[payload->body].name);
        if (payload->in_hand)
            fputs("in the hand", out);
        else
            fprintf(out, "%s %s", payload->latched ? "latched to" : "floats by",
                    scenario->spec.bodies[payload->bay].name);
        fprintf(out, ", carried at %.4g %% of the speeds\n", 100.0 * payload->speed);
    }
}

static void print_predictor(const struct cfg_scenario *scenario, FILE *out)
{
    const struct sim_predictor_spec *predictor = &scenario->spec.predictor;
    if (predictor->every > 0)
        fprintf(out, "predictor %.10g s ahead, %.4g times a second\n",
                (double)predictor->ahead * (double)scenario->spec.period_ns * 1e-9,
                scenario->spec.rate_hz / predictor->every);
}

static void print_truth(const struct cfg_scenario *scenario, FILE *out)
{
    const struct sim_phase_lock *lock = &scenario->spec.lock;
    const struct sim_sync_pulse *pulse = &scenario->spec.pulse;
    if (lock->link >= 0)
        fprintf(out, "lock to %s by %s, at most %.6g ppm, time constant %.4g s\n",
                scenario->spec.links[lock->link].name, cfg_lock_source_name(lock->source),
                lock->spec.limit_ppm, (double)lock->spec.time_constant_ns * 1e-9);
    if (pulse->every > 0)
        fprintf(out, "pulse to %s every %u frames\n",
                pulse->bus.device[0] ? pulse->bus.device : pulse->bus.peer, pulse->every);
}

static void print_faults(const struct cfg_scenario *scenario, FILE *out)
{
    if (scenario->spec.fault_count > 0)
        fputs("faults\n", out);
    for (int i = 0; i < scenario->spec.fault_count; i++) {
        const struct io_fault_spec *spec = &scenario->spec.faults[i].spec;
        fprintf(out, "  %-24s ", scenario->spec.faults[i].text);
        if (spec->first_frame == UINT64_MAX)
            fputs("when the operator begins it", out);
        else
            fprintf(out, "from %.6g s", (double)spec->first_frame / scenario->spec.rate_hz);
        if (spec->last_frame != UINT64_MAX)
            fprintf(out, " to %.6g s", (double)spec->last_frame / scenario->spec.rate_hz);
        fputc('\n', out);
    }
}

static void print_parameters(const struct cfg_scenario *scenario, FILE *out)
{
    if (scenario->spec.parameter_count > 0)
        fputs("tunable\n", out);
    for (int i = 0; i < scenario->spec.parameter_count; i++) {
        const struct sim_parameter *parameter = &scenario->spec.parameters[i];
        fprintf(out, "  %-32s %.10g %s, from %.6g to %.6g\n", parameter->name, parameter->initial,
                parameter->unit, parameter->low, parameter->high);
    }
}

static void print_expects(const struct cfg_scenario *scenario, FILE *out)
{
    const double *q = scenario->spec.target;
    if (scenario->spec.expect_count == 0)
        return;
    fprintf(out, "expects (target %.4g deg from the world axes, body %s)\n",
            2.0 * acos(fmin(1.0, fabs(q[0]))) / DEGREE,
            scenario->spec.bodies[scenario->spec.target_body].name);
    for (int i = 0; i < scenario->spec.expect_count; i++)
        fprintf(out, "  %s\n", scenario->spec.expects[i].text);
}

void cfg_scenario_print(const struct cfg_scenario *scenario, FILE *out)
{
    print_head(scenario, out);
    print_world(scenario, out);
    fputs("bodies\n", out);
    print_tree(scenario, out);
    if (scenario->spec.sensor_count + scenario->spec.effector_count > 0)
        fputs("devices\n", out);
    for (int i = 0; i < scenario->spec.sensor_count; i++)
        print_sensor(scenario, &scenario->spec.sensors[i], out);
    for (int i = 0; i < scenario->spec.effector_count; i++)
        print_effector(scenario, &scenario->spec.effectors[i], out);
    if (scenario->spec.link_count > 0)
        fputs("links\n", out);
    for (int i = 0; i < scenario->spec.link_count; i++)
        print_link(scenario, &scenario->spec.links[i], out);
    print_arm(scenario, out);
    print_truth(scenario, out);
    print_predictor(scenario, out);
    print_faults(scenario, out);
    print_parameters(scenario, out);
    print_expects(scenario, out);
}
