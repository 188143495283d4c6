/*
 * airbearing check: parse, compile and warm up a scenario; print its plan without a run.
 *
 * Tested by tests/scenario/commands/test_cli.py.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/resolve/stability.h"
#include "config/scenario.h"
#include "rt/check.h"
#include "rt/clock.h"
#include "rt/executive/sim.h"
#include "rt/histogram.h"
#include "rt/machine/machine.h"
#include "tools/airbearing/command.h"
#include "tools/airbearing/run/options.h"
#include "tools/airbearing/run/place_threads.h"
#include "tools/airbearing/worst_case.h"

static const char usage[] =
    "usage: airbearing check SCENARIO [--set KEY=VALUE]...\n"
    "       airbearing check --schema\n"
    "\n"
    "Parse and compile a scenario and print its tree, jobs, core and memory plan, the work per\n"
    "frame, the stiffest motions and the longest step that each integrator could take for them.\n"
    "--schema prints every key a scenario may have, with its unit and default.\n"
    "Exit: 0 good, 2 one line file:line:column: what is wrong, 64 usage.\n";

static void print_jobs(const struct sim *sim)
{
    const struct rt_schedule *schedule = sim->schedule;
    double mean_ns = 0.0;
    uint64_t worst_ns = 0;
    printf("\njobs, in order (times measured now on this machine, medians)\n");
    for (int i = 0; i < schedule->job_count; i++) {
        const struct rt_job *job = &schedule->job[i];
        printf("  %-16s %8g Hz   every %u, phase %u   %6llu ns\n", job->name,
               sim->spec->rate_hz / job->every, job->every, job->phase,
               (unsigned long long)job->predicted_ns);
        mean_ns += (double)job->predicted_ns / job->every;
    }
    for (uint32_t row = 0; row < schedule->pattern; row++) {
        uint64_t sum_ns = 0;
        for (int i = 0; i < schedule->job_count; i++)
            sum_ns += schedule->row[row] >> i & 1 ? schedule->job[i].predicted_ns : 0;
        worst_ns = sum_ns > worst_ns ? sum_ns : worst_ns;
    }
    printf("  kernel %s; AIRBEARING_ISA asks for another\n", dyn_isa_name(sim->spec->isa));
    printf("  pattern repeats after %u frames; work per frame %.0f ns on average, %llu ns at most, "
           "of %llu ns\n",
           schedule->pattern, mean_ns, (unsigned long long)worst_ns,
           (unsigned long long)sim->spec->period_ns);
}

static bool has_job(const struct rt_schedule *schedule, const char *name)
{
    for (int i = 0; i < schedule->job_count; i++) {
        if (strcmp(schedule->job[i].name, name) == 0)
            return true;
    }
    return false;
}

static void print_work(const struct sim *sim)
{
    const struct worst_case worst =
        worst_case_of(&sim->vehicle->plant, has_job(sim->schedule, "solve"));
    printf("\nworst case by the model\n  %d forward dynamics a frame: step %d, instruments %d\n",
           worst.by_step + worst.by_solve, worst.by_step, worst.by_solve);
    if (worst.is_bounded)
        printf("  at most %.0f instructions each, %.0f a frame with the integrator (%s, from "
               "callgrind counts by link)\n",
               worst.each, worst.frame, dyn_isa_name(worst.isa));
    else
        printf("  instructions not bounded: joints mimic others\n");
}

static int print_cores(const struct cfg_scenario *scenario)
{
    static struct rt_machine machine;
    struct rt_core_plan plan;
    if (place_threads_plan(scenario, &machine, &plan))
        return EXIT_BAD_INPUT;
    printf("\ncores\n  frame %d, I/O %d (%s), housekeeping %d\n  %s\n", plan.frame_cpu, plan.io_cpu,
           scenario->spec.io_mode == IO_LINK_INLINE ? "inline, inside the frame"
           : plan.io_polls                          ? "polls"
                                                    : "blocks",
           plan.housekeeping_cpu, plan.reason);
    static char notes[RT_NOTE_MAX][RT_NOTE_SIZE];
    const int count = rt_machine_notes(&machine, &plan, notes);
    for (int i = 0; i < count; i++)
        printf("  - %s\n", notes[i]);
    return EXIT_OK;
}

static size_t instruments_size(const struct sim_vehicle *vehicle)
{
    size_t size = 0;
    for (int i = 0; i < vehicle->spec->sensor_count; i++)
        size += sim_sensor_state_size(vehicle->spec->sensors[i].kind);
    return size;
}

/* The time that a copy of so many bytes adds to a frame, the median of some copies. */
static uint64_t copy_ns(const void *from, size_t size)
{
    enum { COPIES = 101 };
    struct rt_histogram *spent = calloc(1, sizeof *spent);
    unsigned char *copy = malloc(size);
    RT_CHECK(spent && copy);
    for (uint64_t i = 0; i < COPIES; i++) {
        const uint64_t begin_ns = rt_now_ns();
        memcpy(copy, from, size);
        __asm__ volatile("" : : "r"(copy) : "memory");
        rt_histogram_add(spent, rt_now_ns() - begin_ns, i);
    }
    const uint64_t median_ns = rt_histogram_quantile(spent, 0.5);
    free(copy);
    free(spent);
    return median_ns;
}

static void print_memory(const struct sim *sim)
{
    const size_t size = sim_size(sim->spec, &sim->inject);
    const struct sim_vehicle *vehicle = sim->vehicle;
    printf(
        "\nmemory\n  plant, devices and schedule %zu bytes; run state %zu bytes: plant %td, drives "
        "%zu, instruments %zu, faults %zu, links %zu, world %zu, schedule %zu, parameters %zu, arm "
        "%zu\n",
        size, vehicle->state_size, (const unsigned char *)vehicle->drive - vehicle->state,
        (size_t)vehicle->spec->drive_count * sizeof *vehicle->drive, instruments_size(vehicle),
        (size_t)vehicle->spec->fault_count * sizeof *vehicle->fault,
        (size_t)vehicle->spec->link_count * sizeof *vehicle->link, sizeof *vehicle->surroundings,
        sizeof *vehicle->schedule,
        (size_t)vehicle->spec->parameter_count * sizeof *vehicle->parameter,
        vehicle->arm ? sizeof *vehicle->arm : 0);
    printf("  a checkpoint copies the run state between two frames: %zu bytes, %llu ns here\n",
           vehicle->state_size, (unsigned long long)copy_ns(vehicle->state, vehicle->state_size));
    if (!sim->prediction_input)
        return;
    const size_t most = sim_prediction_input_size(sim->spec);
    printf("  a prediction copies it, too, and the commands under way: with one in every frame %zu "
           "bytes, %llu ns here\n",
           most, (unsigned long long)copy_ns(rt_mailbox_back(sim->prediction_input), most));
}

static int check(const char *path, const char *const *overrides, int override_count)
{
    struct cfg_scenario *scenario;
    char error[CFG_ERROR_MAX];
    if (cfg_scenario_load(path, overrides, override_count, &scenario, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    struct sim *sim = sim_create(&scenario->spec);
    sim_warm_up(sim);

    cfg_scenario_print(scenario, stdout);
    print_jobs(sim);
    print_work(sim);
    cfg_stability_print(scenario, stdout);
    print_memory(sim);
    const int code = print_cores(scenario);
    free(sim);
    cfg_scenario_free(scenario);
    return code;
}

int command_check(int argc, char **argv)
{
    static const struct option table[] = {{"set", required_argument, NULL, 's'},
                                          {"schema", no_argument, NULL, 'k'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    const char *overrides[RUN_OVERRIDE_MAX];
    int count = 0;
    for (int option; (option = getopt_long(argc, argv, "h", table, NULL)) != -1;) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_OK;
        }
        if (option == 'k') {
            cfg_schema_print(stdout);
            return EXIT_OK;
        }
        if (option != 's' || count == RUN_OVERRIDE_MAX)
            return EXIT_USAGE;
        overrides[count++] = optarg;
    }
    if (optind != argc - 1) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    return check(argv[optind], overrides, count);
}
