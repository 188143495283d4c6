#include "rt/executive/output/sensors.h"

#include <string.h>

#include "rt/executive/output/sensor_types.h"
#include "rt/executive/sim.h"

enum { WIDTH_MAX = SIM_READING_MAX };

static const struct sim_sensor_type *type_of(const struct sim_sensor *sensor)
{
    return &sim_sensor_types[sensor->kind];
}

/* ---- what goes wrong with it ---- */

/* What sticks, is late or has a wrong bit is so as a whole; a bias reaches some of it. */
static int faulted_width(const struct sim_sensor_type *type, const struct io_fault_spec *spec)
{
    const bool whole = spec->kind == IO_FAULT_DELAY || spec->kind == IO_FAULT_BIT_FLIP ||
                       (spec->kind == IO_FAULT_STUCK && !spec->at_value);
    return whole ? type->width : type->fault_width;
}

/* Every fault of this sensor in turn; false: it gives nothing new. */
static bool apply_faults(struct sim *sim, int index, uint64_t frame, double value[WIDTH_MAX])
{
    const struct sim_spec *spec = sim->spec;
    const struct sim_sensor_type *type = type_of(&spec->sensors[index]);
    bool fresh = true;
    for (int i = 0; i < spec->fault_count; i++) {
        const struct sim_fault *fault = &spec->faults[i];
        const struct io_fault_spec *tuned = &sim->vehicle->tuned.faults[i];
        struct io_fault_state *state = &sim->vehicle->fault[i];
        if (fault->sensor != index)
            continue;
        fresh &= type->fault != NULL ? type->fault(tuned, state, frame, sim->vehicle->h, value)
                                     : io_fault_signal(tuned, state, frame, sim->vehicle->h, value,
                                                       faulted_width(type, &fault->spec));
    }
    return fresh;
}

/* ---- where it goes ---- */

static void log_reading(struct sim *sim, int index, uint64_t frame, const double *value)
{
    const size_t size = (size_t)sim_sensor_width(sim->spec->sensors[index].kind) * sizeof *value;
    if (sim->reading)
        memcpy(sim->reading[index], value, size);
    if (!sim->telemetry)
        return;
    const int channel = sim->layout.sensor + index;
    const uint64_t log_time_ns = (frame + 1 - sim->schedule->frame_offset) * sim->spec->period_ns;
    void *record = io_telemetry_claim(sim->telemetry, channel, log_time_ns);
    if (!record)
        return;
    memcpy(record, value, size);
    io_telemetry_push(sim->telemetry, channel);
}

void sim_sensors_begin(struct sim *sim)
{
    for (int i = 0; i < sim->spec->sensor_count; i++) {
        const struct sim_sensor_type *type = type_of(&sim->spec->sensors[i]);
        sim->scratch.withheld_messages |= type->message;
        sim->scratch.silent |= type->field;
    }
}

/* Several sensors share the message: it waits for the last of them. */
static bool all_answer(const struct sim *sim, uint32_t message)
{
    const struct sim_spec *spec = sim->spec;
    for (int i = 0; i < spec->sensor_count; i++)
        if (type_of(&spec->sensors[i])->message == message &&
            !sim_sensor_answers(&spec->sensors[i], sim->vehicle->instrument[i]))
            return false;
    return true;
}

static void withhold_message(struct sim *sim, uint32_t message, bool withheld)
{
    sim->scratch.withheld_messages = withheld ? sim->scratch.withheld_messages | message
                                              : sim->scratch.withheld_messages & ~message;
}

/* What a board must not hear before this sensor has something to say: the message of its own, of
 * which nothing leaves while it is dropped, or the message that it shares. */
static void update_withheld(struct sim *sim, const struct sim_sensor_type *type, bool answers,
                            bool fresh)
{
    sim->scratch.silent =
        answers ? sim->scratch.silent & ~type->field : sim->scratch.silent | type->field;
    if (!type->many)
        withhold_message(sim, type->message, !fresh);
    else if (!answers)
        withhold_message(sim, type->message, true);
    else if (sim->scratch.withheld_messages & type->message && all_answer(sim, type->message))
        withhold_message(sim, type->message, false);
}

void sim_sensor_sample(struct sim *sim, int index, uint64_t frame)
{
    struct sim_vehicle *vehicle = sim->vehicle;
    const struct sim_sensor *sensor = &vehicle->tuned.sensors[index];
    const struct sim_sensor_type *type = type_of(sensor);
    double value[WIDTH_MAX] = {0};
    struct dyn_motion motion;
    const struct sim_sensor_view view = {.spec = sim->spec,
                                         .plant = &vehicle->plant,
                                         .x = vehicle->x,
                                         .motion = &motion,
                                         .seconds = (double)(frame + 1) * vehicle->h};
    dyn_plant_motion(&vehicle->plant, vehicle->work, vehicle->x, sensor->body, sensor->point,
                     &motion);
    const bool answers = type->sample(sensor, &view, vehicle->instrument[index], value);
    const bool fresh = answers && apply_faults(sim, index, frame, value);

    update_withheld(sim, type, answers, fresh);
    if (!fresh)
        return;
    for (int i = 0; i < sim->spec->link_count && type->put != NULL; i++)
        type->put(sensor, &view, value, &sim->scratch.sample[i]);
    log_reading(sim, index, frame, value);
}
