/*
 * Horizon sensor: where the Earth's centre is, by the Earth's limb.
 *
 * The answer is a unit vector in body axes, turned by small random angles, and a mark that the
 * Earth is seen.  It is seen while its centre lies in the field of view, a cone about the
 * boresight, and the Sun is nearer neither to the boresight nor to the Earth's limb than the
 * exclusion angle. Else the vector is zero.  Vector and mark are `delay` samples old; until that
 * many have been taken there is no answer.  Every sample takes the same number of draws.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/device/noise.h"

enum { IO_HORIZON_SENSOR_DELAY_MAX = 16 };

struct io_horizon_sensor_spec {
    double boresight[3];  /* body axes, unit */
    double half_angle;    /* rad, of the field of view about the boresight */
    double sun_exclusion; /* rad, from the boresight and from the limb to the Sun; 0: none */
    double noise;         /* rad, deviation of each of the two axes across the direction */
    uint32_t delay;       /* samples between light and answer, < IO_HORIZON_SENSOR_DELAY_MAX */
};

/* Truth at the time of the sample.  A direction of zero length is a body that is not there. */
struct io_horizon_sensor_view {
    double earth[3];    /* of its centre, unit, body axes */
    double earth_angle; /* rad, the Earth's radius as seen from here */
    double sun[3];      /* unit, body axes */
};

/* Run state; every byte is part of the hash. */
struct io_horizon_sensor_state {
    struct io_noise noise;
    double out[4]; /* what the instrument says now: a unit vector or zero, and 1 or 0: seen */
    double line[IO_HORIZON_SENSOR_DELAY_MAX][4];
    uint64_t samples;
};
_Static_assert(sizeof(struct io_horizon_sensor_state) ==
                   sizeof(struct io_noise) + (4 + 4 * IO_HORIZON_SENSOR_DELAY_MAX + 1) * 8,
               "no pads in the run state");

/* Context: setup. */
void io_horizon_sensor_begin(const struct io_horizon_sensor_spec *spec, uint64_t seed,
                             uint64_t stream, struct io_horizon_sensor_state *state);

/* One sample; the answer is in state->out.  False while the delay has not passed, and state->out is
 * zero.  Context: frame. */
bool io_horizon_sensor_sample(const struct io_horizon_sensor_spec *spec,
                              const struct io_horizon_sensor_view *view,
                              struct io_horizon_sensor_state *state);
