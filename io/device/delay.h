/*
 * Delay line of an instrument: a ring of rows of doubles that its owner keeps in the run state.
 */
#pragma once

#include <stdint.h>
#include <string.h>

/*
 * Put row number `count` (from 0) into the line of `length` rows and take out the one that is
 * `delay` older, delay < length.  Until there is one, the first row answers.  in and out may be the
 * same.  Context: frame.
 */
static inline void io_delay_pass(double *line, uint32_t length, uint32_t width, uint64_t count,
                                 uint32_t delay, const double *in, double *out)
{
    const uint64_t age = count < delay ? count : delay;
    memcpy(&line[count % length * width], in, width * sizeof *in);
    memcpy(out, &line[(count - age) % length * width], width * sizeof *out);
}
