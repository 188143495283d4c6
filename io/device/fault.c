#include "io/device/fault.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "io/device/sample_delay.h"
#include "rt/check.h"

bool io_fault_fits_signal(enum io_fault_kind kind)
{
    return kind != IO_FAULT_CRC;
}

bool io_fault_fits_frame(enum io_fault_kind kind)
{
    return kind == IO_FAULT_DROPOUT || kind == IO_FAULT_BIT_FLIP || kind == IO_FAULT_CRC ||
           kind == IO_FAULT_LOSS;
}

void io_fault_begin(const struct io_fault_spec *spec, uint64_t seed, uint64_t stream,
                    struct io_fault_state *state)
{
    RT_CHECK(isfinite(spec->value));
    RT_CHECK(spec->kind != IO_FAULT_DELAY ||
             (spec->value >= 0.0 && spec->value < IO_FAULT_DELAY_MAX));
    memset(state, 0, sizeof *state);
    state->first_frame = spec->first_frame;
    state->last_frame = spec->last_frame;
    io_noise_seed(&state->noise, seed, stream);
}

static bool affects(const struct io_fault_spec *spec, int component)
{
    return spec->components == 0 || (spec->components >> component & 1) != 0;
}

/* 0 to count - 1, all equally likely; the product rounds to less than count. */
static uint64_t draw_index(struct io_noise *noise, uint64_t count)
{
    return (uint64_t)(io_noise_uniform(noise) * (double)count);
}

static bool draw_hit(const struct io_fault_spec *spec, struct io_noise *noise)
{
    return io_noise_uniform(noise) < spec->value;
}

static void apply_stuck(const struct io_fault_spec *spec, struct io_fault_state *state,
                        double *value, int count)
{
    if (!state->holds) {
        memcpy(state->stuck, value, (size_t)count * sizeof *value);
        state->holds = 1;
    }
    for (int i = 0; i < count; i++) {
        if (affects(spec, i))
            value[i] = spec->at_value ? spec->value : state->stuck[i];
    }
}

static void add_offset(const struct io_fault_spec *spec, double offset, double *value, int count)
{
    for (int i = 0; i < count; i++) {
        if (affects(spec, i))
            value[i] += offset;
    }
}

static void add_noise(const struct io_fault_spec *spec, struct io_noise *noise, double *value,
                      int count)
{
    for (int i = 0; i < count; i++) {
        const double normal = io_noise_normal(noise);
        if (affects(spec, i))
            value[i] += spec->value * normal;
    }
}

/*
 * A flipped bit of the exponent can make a number that does not fit a float, which is what the wire
 * carries.  The sign is flipped instead then.
 */
static double flip_bit(double value, uint64_t bit)
{
    uint64_t word;
    double flipped;
    memcpy(&word, &value, sizeof word);
    word ^= UINT64_C(1) << bit;
    memcpy(&flipped, &word, sizeof flipped);
    return fabs(flipped) <= (double)FLT_MAX ? flipped : -value;
}

/* Flips one bit of one of the components that the fault affects. */
static bool flip_random_bit(const struct io_fault_spec *spec, struct io_noise *noise, double *value,
                            int count)
{
    int struck[IO_FAULT_COMPONENT_MAX], struck_count = 0;
    for (int i = 0; i < count; i++) {
        if (affects(spec, i))
            struck[struck_count++] = i;
    }
    const bool hit = draw_hit(spec, noise);
    const uint64_t at = draw_index(noise, 64 * (uint64_t)struck_count);
    if (!hit || struck_count == 0)
        return false;
    double *target = &value[struck[at / 64]];
    *target = flip_bit(*target, at % 64);
    return true;
}

/* The delay line takes every sample, so that the fault starts with samples from before it;
 * outside the window its output is not used.  False: there is no earlier sample, so the sensor
 * has no output. */
static bool delay_signal(const struct io_fault_spec *spec, struct io_fault_state *state,
                         bool active, double *value, int count)
{
    double row[IO_FAULT_COMPONENT_MAX] = {0.0};
    memcpy(row, value, (size_t)count * sizeof *value);
    const bool answers =
        io_sample_delay_pass(state->line[0], IO_FAULT_DELAY_MAX, IO_FAULT_COMPONENT_MAX,
                             state->samples, (uint32_t)spec->value, row, row);
    for (int i = 0; i < count; i++) {
        if (active && affects(spec, i))
            value[i] = row[i];
    }
    return answers || !active;
}

bool io_fault_signal(const struct io_fault_spec *spec, struct io_fault_state *state, uint64_t frame,
                     double dt, double *value, int count)
{
    RT_CHECK(count >= 1 && count <= IO_FAULT_COMPONENT_MAX);
    const bool active = io_fault_active(state, frame);
    bool hit = true, fresh = true;

    if (spec->kind == IO_FAULT_DELAY)
        fresh = delay_signal(spec, state, active, value, count);
    state->samples++;
    if (!active)
        return true;

    switch (spec->kind) {
    case IO_FAULT_STUCK:
        apply_stuck(spec, state, value, count);
        break;
    case IO_FAULT_BIAS:
        add_offset(spec, spec->value, value, count);
        break;
    case IO_FAULT_DRIFT:
        add_offset(spec, spec->value * ((double)(frame - state->first_frame) * dt), value, count);
        break;
    case IO_FAULT_NOISE:
        add_noise(spec, &state->noise, value, count);
        break;
    case IO_FAULT_DROPOUT:
        hit = draw_hit(spec, &state->noise);
        fresh = !hit;
        break;
    case IO_FAULT_DELAY:
        break;
    case IO_FAULT_BIT_FLIP:
        hit = flip_random_bit(spec, &state->noise, value, count);
        break;
    case IO_FAULT_LOSS:
        fresh = false;
        break;
    default:
        hit = false;
        break;
    }
    state->hits += hit;
    return fresh;
}

/* Changes the last two bytes, each by an exclusive or that is never zero, so a checksum there is
 * always wrong. */
static void corrupt_checksum(uint64_t mask, unsigned char *bytes, size_t size)
{
    bytes[size - 1] ^= (unsigned char)(1 + mask / 255);
    if (size > 1)
        bytes[size - 2] ^= (unsigned char)(1 + mask % 255);
}

/* Always two draws, so that a hit does not shift the random sequence of later frames. */
size_t io_fault_frame(const struct io_fault_spec *spec, struct io_fault_state *state,
                      uint64_t frame, unsigned char *bytes, size_t size)
{
    if (!io_fault_active(state, frame) || !io_fault_fits_frame(spec->kind) || size == 0)
        return size;

    const bool flips = spec->kind == IO_FAULT_BIT_FLIP, spoils = spec->kind == IO_FAULT_CRC;
    const bool hit = draw_hit(spec, &state->noise) || spec->kind == IO_FAULT_LOSS;
    const uint64_t at = draw_index(&state->noise, flips ? 8 * (uint64_t)size : 255 * 255);
    if (!hit)
        return size;
    state->hits++;
    if (flips)
        bytes[at / 8] ^= (unsigned char)(1u << at % 8);
    if (spoils)
        corrupt_checksum(at, bytes, size);
    return flips || spoils ? size : 0;
}
