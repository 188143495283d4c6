/*
 * A descriptor number that stays the same while connections and devices come and go.
 *
 * Last words are said from signal handlers in any thread, which know only the number.  If that
 * number were closed and given out again, they could be written into somebody else's file.  So it
 * is never given back: an empty seat leads to /dev/null.
 */
#pragma once

#include <stdbool.h>

struct io_seat {
    int fd;    /* -1: closed */
    int empty; /* /dev/null */
    bool taken;
};

/* 0 or -errno.  Context: setup. */
int io_seat_open(struct io_seat *seat);
void io_seat_close(struct io_seat *seat);
/* The descriptor becomes the seat's; its own number is closed in any case.  0 or -errno.
 * Context: frame. */
int io_seat_take(struct io_seat *seat, int fd);
/* Context: frame. */
void io_seat_leave(struct io_seat *seat);
