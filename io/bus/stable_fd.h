/*
 * A descriptor number that stays the same while connections and devices come and go.
 *
 * Last words are said from signal handlers in any thread, which know only the number.  If that
 * number were closed and given out again, they could be written into somebody else's file.  So it
 * is never given back: an empty seat leads to /dev/null.
 */
#pragma once

#include <stdbool.h>

struct io_stable_fd {
    int fd;    /* -1: closed */
    int empty; /* /dev/null */
    bool taken;
};

/* 0 or -errno.  Context: setup. */
int io_stable_fd_open(struct io_stable_fd *stable_fd);
void io_stable_fd_close(struct io_stable_fd *stable_fd);
/* The descriptor becomes the seat's; its own number is closed in any case.  0 or -errno.
 * Context: frame. */
int io_stable_fd_attach(struct io_stable_fd *stable_fd, int fd);
/* Context: frame. */
void io_stable_fd_detach(struct io_stable_fd *stable_fd);
