/*
 * A delay line: an item that goes in comes out some frames later.
 *
 * Each link has one in each direction.  An item is late by the delay of the line, which lasts for
 * the whole run, and while the fault of the line is on, by the delay of the fault as well:
 *
 *      due = frame + delay [ + fault_delay ]
 *
 * Both are frames of the executive, so that a run with a delay is as repeatable as any other. Items
 * come out in the order in which they went in, and an item that came due in a frame that did not
 * ask for it comes out in the next one that does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/device/fault.h"

struct sim_delay_line_spec {
    uint64_t delay;                     /* frames, always */
    uint64_t fault_delay;               /* frames more, while the fault is on */
    const struct io_fault_state *fault; /* NULL: the line has none */
    bool delivers_last; /* the newest item may be the last one: it is not lost with the fault */
    size_t item_size;
};

struct sim_delay_line {
    struct sim_delay_line_spec spec;
    uint64_t slots;       /* 0: the line is never late */
    uint64_t taken, put;  /* so far; the items between them are under way */
    uint64_t hits;        /* items that the fault held back */
    uint64_t *due;        /* by slot, the frame in which the item comes out */
    unsigned char *items; /* by slot */
};

/* Bytes of mem that sim_delay_line_place() takes: room for an item in every frame of the delays,
 * and none for a line that is never late.  Context: setup. */
size_t sim_delay_line_size(const struct sim_delay_line_spec *spec);
void sim_delay_line_place(struct sim_delay_line *line, const struct sim_delay_line_spec *spec,
                          void *mem);

/* Put an item in, at most one in a frame.  counted: the frames that the run state has counted, by
 * which the fault is on or not.  Context: frame. */
void sim_delay_line_push(struct sim_delay_line *line, uint64_t frame, uint64_t counted,
                         const void *item);
/* The same with the frame in which it comes out.  Context: frame. */
void sim_delay_line_push_due(struct sim_delay_line *line, uint64_t due, const void *item);
/* The next item that is due by this frame, or NULL; valid until the next push.  Context: frame. */
const void *sim_delay_line_pop(struct sim_delay_line *line, uint64_t frame);

/* When the fault is over, the items that it still holds back are lost, as on a line that is
 * switched over; of a line that delivers the last one, the newest goes on, unless a newer one comes
 * in this frame.  To be called in every frame, before the push.  Context: frame. */
void sim_delay_line_end_fault(struct sim_delay_line *line, uint64_t frame, uint64_t counted,
                              bool has_newer);

/* All three in one: put an item in, which may be NULL, and take what is due, or NULL; of several
 * items the newest.  Context: frame. */
const void *sim_delay_line_pass(struct sim_delay_line *line, uint64_t frame, uint64_t counted,
                                const void *in);

/* The items under way are lost.  Context: frame. */
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
