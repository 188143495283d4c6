/*
 * The delay line of a sensor: a ring of rows of doubles that its owner keeps in the run state.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * Put row number `count` (from 0) into the line of `length` rows and take out the one that is
 * `delay` older, delay < length.  Returns false and leaves out alone while there is no such row: a
 * sensor has no output before its delay has passed.  in and out may be the same.  Context: frame.
 */
static inline bool io_sample_delay_pass(double *line, uint32_t length, uint32_t width,
                                        uint64_t count, uint32_t delay, const double *in,
                                        double *out)
{
    memcpy(&line[count % length * width], in, width * sizeof *in);
    if (count < delay)
        return false;
    memcpy(out, &line[(count - delay) % length * width], width * sizeof *out);
    return true;
}
