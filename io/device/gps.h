/*
 * Satellite navigation receiver.
 *
 *      position = truth + wander + white,   velocity = truth + white
 *
 * Axes are level: two horizontal ones and the vertical (north, east, down, or any such), from an
 * origin that the caller chooses.  The wander is the remaining error of orbits, clocks and the
 * ionosphere: fixes close in time share it, fixes minutes apart do not.  The fix is `delay` samples
 * old; before that many samples there is no fix, and its type is 0.  Every sample takes the same
 * number of draws.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/device/noise.h"

enum { IO_GPS_DELAY_MAX = 16 };

struct io_gps_spec {
    double noise_horizontal;          /* m, deviation of each axis and fix */
    double noise_vertical;            /* m */
    double wander_horizontal;         /* m, deviation of each axis */
    double wander_vertical;           /* m */
    double wander_time;               /* s, its correlation time */
    double velocity_noise_horizontal; /* m/s, deviation of each axis and fix */
    double velocity_noise_vertical;   /* m/s */
    double eph, epv;                  /* m, accuracy as the receiver reports it */
    double sample_time;               /* s */
    uint32_t delay;                   /* samples between motion and fix, < IO_GPS_DELAY_MAX */
    uint32_t satellites;
    uint32_t fix_type; /* as in the protocols: 3 is a three-dimensional fix */
};

struct io_gps_fix {
    double position[3]; /* m */
    double velocity[3]; /* m/s */
    double eph, epv;    /* m */
    uint32_t satellites;
    uint32_t fix_type;
};

/* Run state; every byte is part of the hash. */
struct io_gps_state {
    struct io_noise noise;
    double wander[3];
    struct io_gps_fix out; /* the present output */
    double line[IO_GPS_DELAY_MAX][6];
    uint64_t samples;
};
_Static_assert(sizeof(struct io_gps_fix) == 9 * 8, "no pads in the run state");
_Static_assert(sizeof(struct io_gps_state) ==
                   sizeof(struct io_noise) + (3 + 9 + 6 * IO_GPS_DELAY_MAX + 1) * 8,
               "no pads in the run state");

/* Context: setup. */
void io_gps_begin(const struct io_gps_spec *spec, uint64_t seed, uint64_t stream,
                  struct io_gps_state *state);

/* Take one fix at the true position and velocity; the result is in state->out.  False before the
 * delay has passed; all of state->out is zero then.  Context: frame. */
bool io_gps_sample(const struct io_gps_spec *spec, const double position[3],
                   const double velocity[3], struct io_gps_state *state);
