/*
 * The kinds of sensors, one row each: all that the rest of the program asks of a kind.
 *
 * To add one, write its signal (io/device/), give it a member in struct sim_sensor and a kind in
 * enum sim_sensor_kind (rt/executive/spec.h), a row here, and its keys
 * (config/keys/keys_device.c).
 *
 * Tested by tests/rt/executive/output/test_sensors.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "io/device/fault.h"
#include "rt/executive/spec.h"

/* The truth that a sensor looks at, after a solve. */
struct sim_sensor_view {
    const struct sim_spec *spec;
    const struct dyn_plant *plant;   /* with the environment as of now */
    const double *x;                 /* its state */
    const struct dyn_motion *motion; /* of the point where the sensor sits */
    double seconds;                  /* of the sample, since the start of the run */
};

struct sim_sensor_type {
    const char *name;   /* "sun_sensor", as a scenario writes it */
    const char *schema; /* of its log records */
    const char *text;   /* the same in ros2msg; `width` numbers of 64 bits */
    int width;          /* numbers that it says */

    int fault_width;        /* those that a bias, a drift or noise reaches */
    const char *fault_unit; /* of these; NULL: plain numbers */
    const char *slide_unit; /* the unit where it reads a joint that slides; NULL: it reads none */
    const char *whole;      /* "attitude": what it says goes wrong as a whole; NULL: by component */

    size_t delay;      /* where its delay in samples (uint32_t) is in struct sim_sensor */
    size_t samples;    /* where the count of samples so far (uint64_t) is in its state */
    size_t state_size; /* bytes of the run state */
    bool many;         /* a vehicle may have several, which share a message; else one */

    uint32_t message; /* of enum io_send: waits until it has something to say; 0: none */
    uint32_t field;   /* of enum io_field: no sensor message goes out without it; 0: none */

    /* What the world lacks for it, in words, or NULL.  NULL: it needs nothing.  Context: setup. */
    const char *(*lacks)(const struct sim_spec *spec);
    /* Its state at the start.  Context: frame. */
    void (*begin)(const struct sim_sensor *sensor, uint64_t seed, uint64_t stream, void *state);
    /* One sample into `width` values; false while its delay has not passed.  Context: frame. */
    bool (*sample)(const struct sim_sensor *sensor, const struct sim_sensor_view *view, void *state,
                   double *value);
    /* One fault on what it says, as io_fault_signal().  NULL: number by number.  Context: frame. */
    bool (*fault)(const struct io_fault_spec *spec, struct io_fault_state *state, uint64_t frame,
                  double dt, double *value);
    /* What it says into the sample of a link.  NULL: no message has it.  Context: frame. */
    void (*put)(const struct sim_sensor *sensor, const struct sim_sensor_view *view,
                const double *value, struct io_sample *sample);
};

extern const struct sim_sensor_type sim_sensor_types[SIM_SENSOR_KIND_COUNT];

/* Numbers that a sensor's log record has.  Context: any. */
static inline int sim_sensor_width(enum sim_sensor_kind kind)
{
    return sim_sensor_types[kind].width;
}

/* The delay of a sensor, in samples.  Context: any. */
static inline uint32_t sim_sensor_delay(const struct sim_sensor *sensor)
{
    uint32_t delay;
    memcpy(&delay, (const unsigned char *)sensor + sim_sensor_types[sensor->kind].delay,
           sizeof delay);
    return delay;
}

/* Has it something to say, by the samples that its state has seen?  Context: any. */
static inline bool sim_sensor_answers(const struct sim_sensor *sensor, const void *state)
{
    uint64_t samples;
    memcpy(&samples, (const unsigned char *)state + sim_sensor_types[sensor->kind].samples,
           sizeof samples);
    return samples > sim_sensor_delay(sensor);
}
