/*
 * A wire that is late on purpose: what goes in comes out some frames later while the fault lasts.
 *
 * It counts in frames, so that a run with a late wire is as repeatable as any.  What is under way
 * when the fault ends is lost, as on a line that is switched over.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "io/fault.h"

struct late {
    const struct io_fault_spec *fault;  /* NULL: this wire is never late */
    const struct io_fault_state *state; /* has the window */
    size_t item_size;
    unsigned char *items;               /* IO_FAULT_DELAY_MAX of them */
    uint64_t frame[IO_FAULT_DELAY_MAX]; /* when each went in, from 1; 0: nothing there */
    uint64_t hits;                      /* items that were held back */
};

/* Bytes of mem that late_place() takes.  Context: setup. */
size_t late_size(size_t item_size);
void late_place(struct late *late, const struct io_fault_spec *fault,
                const struct io_fault_state *state, size_t item_size, void *mem);

/* Put in, which may be NULL, and take what is due in this frame, or NULL.  Context: frame. */
const void *late_pass(struct late *late, uint64_t frame, const void *in);
