/*
 * Finds the job and the variable of the first difference.
 *
 * The log has the rolled hash of every frame, and the values of some variables: commands of
 * drives, the plant's state, sensor readings, and with `log: {parts: true}` a hash of every part
 * of the run state.  Those of the first frame that differs are compared in the order in which the
 * frame computes them, so the first difference is its origin, as far as the log holds it.
 *
 * Tested by tests/scenario/replay/test_replay_synthetic.py.
 */
#include "tools/airbearing/replay/replay_divergence.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/scenario.h"
#include "rt/executive/output/sensors.h"

/* The records of one frame that can be compared; NULL: the log does not have them. */
struct found {
    unsigned char *plant, *part;
    unsigned char *device[SIM_EFFECTOR_MAX + 64]; /* by channel from the first sensor on */
};

static unsigned char *keep_record(const struct io_mcap_message *message, size_t size)
{
    unsigned char *copy =
        message->size == REPLAY_CDR_HEADER + size ? malloc(size ? size : 1) : NULL;
    if (copy)
        memcpy(copy, message->data + REPLAY_CDR_HEADER, size);
    return copy;
}

static void keep_device(const struct replay *replay, const struct io_mcap_message *message,
                        struct found *found)
{
    const struct cfg_scenario *scenario = replay->scenario;
    const char *name = message->topic + strlen("/device/");
    for (int i = 0; i < scenario->spec.sensor_count; i++)
        if (strcmp(scenario->spec.sensors[i].name, name) == 0 && !found->device[i])
            found->device[i] = keep_record(
                message, (size_t)sim_sensor_width(scenario->spec.sensors[i].kind) * sizeof(double));
    for (int i = 0; i < scenario->spec.drive_count; i++)
        if (strcmp(scenario->spec.effectors[i].name, name) == 0 &&
            !found->device[scenario->spec.sensor_count + i])
            found->device[scenario->spec.sensor_count + i] =
                keep_record(message, 2 * sizeof(double));
}

static void find_records(const struct replay *replay, uint64_t frame, struct found *found)
{
    char error[256];
    struct io_mcap_message message;
    const uint64_t log_time_ns = (frame + 1) * replay->scenario->spec.period_ns;
    struct io_mcap_reader *reader = io_mcap_open(replay->path, error);
    while (reader && io_mcap_next(reader, &message, error) == 1) {
        if (message.log_time_ns != log_time_ns)
            continue;
        if (strcmp(message.topic, "/plant") == 0 && !found->plant)
            found->plant = keep_record(&message, replay->sim->layout.plant_size);
        else if (strcmp(message.topic, "/part") == 0 && !found->part)
            found->part = keep_record(&message, replay->sim->layout.part_size);
        else if (strncmp(message.topic, "/device/", strlen("/device/")) == 0)
            keep_device(replay, &message, found);
    }
    if (reader)
        io_mcap_close(reader);
}

/* The first number that differs, or -1. */
static int differs(const unsigned char *recorded, const double *replayed, int count)
{
    for (int i = 0; recorded && i < count; i++)
        if (memcmp(recorded + (size_t)i * sizeof(double), &replayed[i], sizeof(double)) != 0)
            return i;
    return -1;
}

static void print_difference(const char *job, const char *variable, int index,
                             const unsigned char *recorded, double replayed)
{
    double value;
    memcpy(&value, recorded + (size_t)index * sizeof value, sizeof value);
    printf("  job %s, variable %s: recorded %.17g, replayed %.17g\n", job, variable, value,
           replayed);
}

static bool print_drive(const struct replay *replay, const struct found *found)
{
    const struct cfg_scenario *scenario = replay->scenario;
    for (int i = 0; i < scenario->spec.drive_count; i++) {
        const unsigned char *recorded = found->device[scenario->spec.sensor_count + i];
        if (differs(recorded, &replay->sim->vehicle->command[i], 1) < 0)
            continue;
        char variable[SIM_NAME_MAX + 16];
        snprintf(variable, sizeof variable, "drive %s: out", scenario->spec.effectors[i].name);
        print_difference("drives", variable, 0, recorded, replay->sim->vehicle->command[i]);
        return true;
    }
    return false;
}

static bool print_plant(const struct replay *replay, const struct found *found)
{
    const struct sim_vehicle *vehicle = replay->sim->vehicle;
    const int nq = dyn_model_nq(vehicle->plant.model), nv = dyn_model_nv(vehicle->plant.model);
    const int count = (int)replay->sim->layout.x_count;
    const int at = differs(found->plant, vehicle->x, count);
    if (at < 0)
        return false;
    char variable[48];
    snprintf(variable, sizeof variable, "plant.%s[%d]",
             at < nq        ? "q"
             : at < nq + nv ? "v"
                            : "effectors",
             at < nq        ? at
             : at < nq + nv ? at - nq
                            : at - nq - nv);
    print_difference("step", variable, at, found->plant, vehicle->x[at]);
    return true;
}

static bool print_sensor(const struct replay *replay, const struct found *found)
{
    const struct cfg_scenario *scenario = replay->scenario;
    for (int i = 0; i < scenario->spec.sensor_count; i++) {
        const char *name = scenario->spec.sensors[i].name;
        const double *reading = replay->sim->reading[i];
        const int at =
            differs(found->device[i], reading, sim_sensor_width(scenario->spec.sensors[i].kind));
        if (at < 0)
            continue;
        char variable[SIM_NAME_MAX + 32];
        snprintf(variable, sizeof variable, "device %s: reading[%d]", name, at);
        print_difference(name, variable, at, found->device[i], reading[at]);
        return true;
    }
    return false;
}

/* The place of a job in the frame; earlier jobs come first. */
static int job_order_of(const struct sim *sim, const char *job)
{
    for (int i = 0; i < sim->schedule->job_count; i++)
        if (strcmp(sim->schedule->job[i].name, job) == 0)
            return i;
    return -1; /* the latch is before all jobs */
}

/* The log has only hashes of the parts, so the first part that differs is printed as a whole. */
static bool print_section(const struct replay *replay, const struct found *found)
{
    const struct sim_run_state_section *best = NULL;
    for (int i = 0; found->part && i < sim_run_state_section_count(&replay->scenario->spec); i++) {
        const struct sim_run_state_section *part = &replay->sim->part[i];
        uint64_t recorded;
        memcpy(&recorded, found->part + (size_t)(1 + i) * sizeof recorded, sizeof recorded);
        if (recorded != sim_section_hash(replay->sim, part) &&
            (!best || job_order_of(replay->sim, part->job) < job_order_of(replay->sim, best->job)))
            best = part;
    }
    if (best)
        printf("  job %s, part of the run state: %s\n", best->job, best->name);
    return best != NULL;
}

void replay_print_divergence(const struct replay *replay, uint64_t frame)
{
    struct found found = {0};
    find_records(replay, frame, &found);
    const bool part = print_section(replay, &found);
    const bool variable =
        print_drive(replay, &found) || print_plant(replay, &found) || print_sensor(replay, &found);
    if (!part && !variable)
        printf("  no logged variable of this frame differs; the difference is in state that the "
               "log does not hold "
               "(noise, delay\n  lines, faults, links, parameters); log: {parts: true} would name "
               "it\n");
    free(found.plant);
    free(found.part);
    for (size_t i = 0; i < sizeof found.device / sizeof found.device[0]; i++)
        free(found.device[i]);
}

void replay_print_state(const struct replay *replay)
{
    const struct sim_vehicle *vehicle = replay->sim->vehicle;
    const int nq = dyn_model_nq(vehicle->plant.model), nv = dyn_model_nv(vehicle->plant.model);
    const uint64_t counted = vehicle->schedule->frame;
    printf("next frame %" PRIu64 ", simulated %.6f s, hash %016" PRIx64 "\n", replay->next_frame,
           (double)counted * (double)replay->scenario->spec.period_ns * 1e-9,
           replay->sim->scratch.hash);
    for (int i = 0; i < nq + nv; i++)
        printf("  plant.%s[%d] %.17g\n", i < nq ? "q" : "v", i < nq ? i : i - nq, vehicle->x[i]);
    for (int i = 0; i < replay->scenario->spec.drive_count; i++)
        printf("  drive %s: out %.17g\n", replay->scenario->spec.effectors[i].name,
               vehicle->command[i]);
    for (int i = 0; i < replay->scenario->spec.sensor_count; i++)
        for (int k = 0; k < sim_sensor_width(replay->scenario->spec.sensors[i].kind); k++)
            printf("  device %s: reading[%d] %.17g\n", replay->scenario->spec.sensors[i].name, k,
                   replay->sim->reading[i][k]);
    for (int i = 0; i < replay->scenario->spec.parameter_count; i++)
        printf("  %s %.17g %s\n", replay->scenario->spec.parameters[i].name, vehicle->parameter[i],
               replay->scenario->spec.parameters[i].unit);
}
