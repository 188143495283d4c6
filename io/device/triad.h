/*
 * Three-axis instrument: rate gyro, accelerometer, magnetometer.
 *
 *      y = quantise(clamp( (1 + scale) M u + bias + walk + white ))
 *
 * M is the mounting (instrument axes from body axes, small misalignments included).  White noise of
 * density n sampled every dt has deviation n / sqrt(dt); the bias walk of density k adds k sqrt(dt) a step.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "io/device/noise.h"

enum { IO_TRIAD_DELAY_MAX = 16 };

struct io_triad_spec {
    double mounting[9];   /* M, row-major rotation */
    double scale[3];      /* relative error, 0 is perfect */
    double bias[3];       /* at switch-on */
    double noise_density; /* unit / sqrt(Hz) */
    double walk_density;  /* unit sqrt(Hz), random walk of the bias */
    double range;         /* +-, 0: unlimited */
    double quantum;       /* 0: continuous */
    uint32_t delay;       /* samples between motion and output, < IO_TRIAD_DELAY_MAX */
    double sample_time;   /* s */
};

/* Run state; every byte is part of the hash, pads are zero. */
struct io_triad_state {
    struct io_noise noise;
    double walk[3];
    double out[3];        /* what the instrument says now */
    double line[IO_TRIAD_DELAY_MAX][3];
    uint64_t line_at;
    uint64_t samples;
};

/* Context: setup. */
void io_triad_begin(const struct io_triad_spec *spec, uint64_t seed, uint64_t stream, struct io_triad_state *state);
/* One sample of the true vector u in body axes; the answer is in state->out.  Context: frame. */
void io_triad_sample(const struct io_triad_spec *spec, const double u[3], struct io_triad_state *state);
