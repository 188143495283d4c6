/*
 * A scenario as a person reads it back.
 */
#include "config/scenario.h"

#include <math.h>

static const double DEGREE = 3.14159265358979323846 / 180.0;

static const char *const joint_name[] = {"fixed", "revolute", "prismatic", "free"};
static const char *const integrator_name[] = {[DYN_SEMI_IMPLICIT_EULER] = "semi-implicit-euler",
                                              [DYN_RK2] = "rk2",
                                              [DYN_RK4] = "rk4",
                                              [DYN_AB2] = "ab2",
                                              [DYN_AB3] = "ab3",
                                              [DYN_AB4] = "ab4"};
static const char *const instrument_name[] = {"gyro", "accelerometer", "magnetometer"};
static const char *const pace_name[] = {"real", "fast", "lockstep"};
static const char *const overrun_name[] = {"skip", "catch-up", "stop"};

static void print_rate(FILE *out, const char *what, double rate_hz, uint32_t every)
{
    if (every > 0)
        fprintf(out, "  %s %.6g Hz", what, rate_hz / every);
}

static void print_head(const struct cfg_scenario *scenario, FILE *out)
{
    fprintf(out, "%s: %.6g frames/s (%.6g ms), %.6g s, pace %s, overrun %s, seed %llu\n",
            scenario->name, scenario->rate_hz, (double)scenario->period_ns * 1e-6,
            scenario->seconds, pace_name[scenario->pace], overrun_name[scenario->overrun],
            (unsigned long long)scenario->seed);
    fprintf(out, "integrator %s, %d step%s a frame\n", integrator_name[scenario->integrator],
            scenario->substeps, scenario->substeps == 1 ? "" : "s");
}

static void print_joint(const struct cfg_body *body, FILE *out)
{
    const struct dyn_body_spec *spec = &body->spec;
    const char *unit = spec->joint == DYN_JOINT_REVOLUTE ? "N m/rad" : "N/m";
    fprintf(out, "%-9s %9.4g kg", joint_name[spec->joint], spec->mass);
    if (spec->law[0].stiffness > 0.0)
        fprintf(out, ", spring %.4g %s", spec->law[0].stiffness, unit);
    fputc('\n', out);
}

static void print_children(const struct cfg_scenario *scenario, int parent, int depth, FILE *out)
{
    for (int i = 0; i < scenario->body_count; i++) {
        const struct cfg_body *body = &scenario->bodies[i];
        if (body->spec.parent != parent)
            continue;
        fprintf(out, "  %*s%-*s ", 2 * depth, "", depth < 10 ? 24 - 2 * depth : 4, body->name);
        print_joint(body, out);
        print_children(scenario, i, depth + 1, out);
    }
}

static void print_sensor(const struct cfg_scenario *scenario, const struct cfg_sensor *sensor,
                         FILE *out)
{
    fprintf(out, "  %-24s %-13s on %s, %.6g Hz", sensor->name, instrument_name[sensor->kind],
            scenario->bodies[sensor->body].name, scenario->rate_hz / sensor->every);
    if (sensor->triad.delay > 0)
        fprintf(out, ", %.4g ms late", sensor->triad.delay * sensor->triad.sample_time * 1e3);
    fputc('\n', out);
}

static void print_wheel(const struct cfg_scenario *scenario, const struct cfg_wheel *wheel,
                        FILE *out)
{
    fprintf(out, "  %-24s %-13s on %s, %.4g N m, %.4g N m s, control %d of %s\n", wheel->name,
            "wheel", scenario->bodies[wheel->body].name, wheel->wheel.max_torque,
            wheel->wheel.inertia * wheel->wheel.max_speed, wheel->control,
            scenario->links[wheel->link].name);
}

static void print_link(const struct cfg_scenario *scenario, const struct cfg_link *link, FILE *out)
{
    fprintf(out, "  %-24s mavlink on udp %s, motion of %s, lost after %.4g ms: %s\n", link->name,
            link->spec.listen, scenario->bodies[link->body].name,
            (double)link->spec.lost_after_ns * 1e-6, link->stop_on_loss ? "stop" : "safe");
    fprintf(out, "  %-24s sends", "");
    print_rate(out, "sensor", scenario->rate_hz, link->every_sensor);
    print_rate(out, "state", scenario->rate_hz, link->every_state);
    print_rate(out, "gps", scenario->rate_hz, link->every_gps);
    print_rate(out, "heartbeat", scenario->rate_hz, link->every_heartbeat);
    print_rate(out, "time", scenario->rate_hz, link->every_time);
    fputc('\n', out);
}

static void print_expects(const struct cfg_scenario *scenario, FILE *out)
{
    const double *q = scenario->target;
    if (scenario->expect_count == 0)
        return;
    fprintf(out, "expects (target %.4g deg from the world axes, body %s)\n",
            2.0 * acos(fmin(1.0, fabs(q[0]))) / DEGREE,
            scenario->bodies[scenario->target_body].name);
    for (int i = 0; i < scenario->expect_count; i++)
        fprintf(out, "  %s\n", scenario->expects[i].text);
}

void cfg_scenario_print(const struct cfg_scenario *scenario, FILE *out)
{
    print_head(scenario, out);
    fputs("bodies\n", out);
    print_children(scenario, -1, 0, out);
    if (scenario->sensor_count + scenario->wheel_count > 0)
        fputs("devices\n", out);
    for (int i = 0; i < scenario->sensor_count; i++)
        print_sensor(scenario, &scenario->sensors[i], out);
    for (int i = 0; i < scenario->wheel_count; i++)
        print_wheel(scenario, &scenario->wheels[i], out);
    if (scenario->link_count > 0)
        fputs("links\n", out);
    for (int i = 0; i < scenario->link_count; i++)
        print_link(scenario, &scenario->links[i], out);
    print_expects(scenario, out);
}
