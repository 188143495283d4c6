/*
 * A descriptor number that stays the same while connections and devices come and go.
 *
 * Emergency messages are sent from signal handlers in any thread, which know only the number.  If
 * the number were closed and reused, they could go into a foreign file.  It therefore stays open:
 * without a connection it leads to /dev/null.
 */
#pragma once

#include <stdbool.h>

struct io_stable_fd {
    int fd;     /* -1: closed */
    int empty;  /* /dev/null */
    bool taken; /* a connection or device is attached */
};

/* 0 or -errno.  Context: setup. */
int io_stable_fd_open(struct io_stable_fd *stable_fd);
void io_stable_fd_close(struct io_stable_fd *stable_fd);
/* Attach what fd refers to; fd itself is closed in any case.  0 or -errno.  Context: frame. */
int io_stable_fd_attach(struct io_stable_fd *stable_fd, int fd);
/* Close the connection or device; the number then leads to /dev/null.  Context: frame. */
void io_stable_fd_detach(struct io_stable_fd *stable_fd);
