/*
 * A delay line: an item that goes in comes out some frames later.
 *
 * It counts the executive's frames, so that a run with a delay is as repeatable as any other. Items
 * come out in the order in which they went in, and an item that came due in a frame that did not
 * ask for it comes out in the next one that does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/device/fault.h"

struct sim_delay_line {
    const struct io_fault_state *fault; /* that makes it late; NULL: it is so always */
    uint64_t delay;                     /* frames */
    bool delivers_last;   /* the newest item may be the last one: see sim_delay_line_pass() */
    uint64_t slots;       /* 0: this wire is never late */
    uint64_t taken, put;  /* so far; what is between them is under way */
    uint64_t hits;        /* items that the fault held back */
    uint64_t *due;        /* by slot, the frame in which it comes out */
    unsigned char *items; /* the same, what it is */
    size_t item_size;
};

/* Bytes of mem that sim_delay_line_place() takes: room for an item in every frame of the delay.
 * Context: setup. */
size_t sim_delay_line_size(uint64_t delay, size_t item_size);
void sim_delay_line_place(struct sim_delay_line *line, uint64_t delay,
                          const struct io_fault_state *fault, size_t item_size, void *mem);

/* At most one in a frame, and in each all that is due is taken afterwards.  Context: frame. */
void sim_delay_line_push(struct sim_delay_line *line, uint64_t frame, const void *item);
/* The next one that is due by this frame, or NULL; valid until the next put.  Context: frame. */
const void *sim_delay_line_pop(struct sim_delay_line *line, uint64_t frame);
/* What is under way is lost.  Context: frame. */
void sim_delay_line_clear(struct sim_delay_line *line);
/* The same but for the newest, which comes out when it was to.  Context: frame. */
void sim_delay_line_keep_newest(struct sim_delay_line *line);

/* How many are under way, and each of them from the oldest on, with the frame in which it comes out
 * (due may be NULL).  Context: frame. */
static inline uint64_t sim_delay_line_count(const struct sim_delay_line *line)
{
    return line->put - line->taken;
}
const void *sim_delay_line_peek(const struct sim_delay_line *line, uint64_t index, uint64_t *due);

/* A line that is late while its fault lasts, which is asked by the frames that the run state has
 * counted: put an item in, which may be NULL, and take what is due, or NULL; of several items the
 * newest.  Items that are under way when the fault ends are lost, as on a line that is switched
 * over; but a line that delivers the last one gives out the newest then.  Context: frame. */
const void *sim_delay_line_pass(struct sim_delay_line *line, uint64_t frame, uint64_t counted,
                                const void *in);
