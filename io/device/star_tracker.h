/*
 * Star tracker: measures the attitude from an image of the sky.
 *
 *      measured = attitude * turn(misalignment) * turn(noise)
 *
 * The attitude takes body components to inertial ones, as everywhere; errors are rotation vectors
 * in body axes.  An image gives the direction of the boresight well and the rotation about it
 * badly, hence two deviations.  There is no measurement while the Sun is nearer to the boresight
 * than its exclusion angle, the Earth's limb nearer than its own (or the Earth covers the
 * boresight), or the body rotates too fast for the stars to stay points.  Then the last good
 * attitude stays, marked as not valid.
 *
 * The attitude and the mark are `delay` samples old; before that many samples there is no output.
 * Every sample takes the same number of draws.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/device/noise.h"

enum { IO_STAR_TRACKER_DELAY_MAX = 16 };

struct io_star_tracker_spec {
    double boresight[3];    /* body axes, unit */
    double misalignment[3]; /* rad, rotation vector in body axes */
    double noise_across;    /* rad, deviation of each of the two axes across the boresight */
    double noise_about;     /* rad, about the boresight */
    double sun_exclusion;   /* rad from the boresight to the Sun's centre, 0: none */
    double earth_exclusion; /* rad from the boresight to the Earth's limb */
    double max_rate;        /* rad/s, 0: unlimited */
    uint32_t delay;         /* samples between image and output, < IO_STAR_TRACKER_DELAY_MAX */
};

/* The truth at the time of the image.  A direction of zero length means that there is no such
 * body. */
struct io_star_tracker_view {
    double attitude[4]; /* w x y z, unit */
    double rate[3];     /* rad/s, body axes */
    double sun[3];      /* unit, body axes */
    double nadir[3];    /* unit, body axes */
    double earth_angle; /* rad, the angular radius of the Earth as seen from the vehicle */
};

/* Run state; every byte is part of the hash. */
struct io_star_tracker_state {
    struct io_noise noise;
    double attitude[4]; /* the present output, w x y z */
    uint64_t valid;     /* 1 or 0 */
    double good[4];     /* the last valid attitude, before the delay */
    double line[IO_STAR_TRACKER_DELAY_MAX][5];
    uint64_t samples;
};
_Static_assert(sizeof(struct io_star_tracker_state) ==
                   sizeof(struct io_noise) + (5 + 4 + 5 * IO_STAR_TRACKER_DELAY_MAX + 1) * 8,
               "no pads in the run state");

/* Context: setup. */
void io_star_tracker_begin(const struct io_star_tracker_spec *spec, uint64_t seed, uint64_t stream,
                           struct io_star_tracker_state *state);

/* Take one image; the result is in state->attitude and state->valid.  False before the delay has
 * passed: the identity, not valid.  Context: frame. */
bool io_star_tracker_sample(const struct io_star_tracker_spec *spec,
                            const struct io_star_tracker_view *view,
                            struct io_star_tracker_state *state);
