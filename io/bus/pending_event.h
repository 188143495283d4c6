/*
 * One thing to hand out that no descriptor of the far end tells of: how a hand controller stood
 * when it came.  Whoever sleeps on the bus is woken by a descriptor of our own.
 */
#pragma once

#include <stdbool.h>

struct io_pending_event {
    int fd; /* readable while there is one; -1: closed */
    bool pending;
};

/* 0 or -errno.  Context: setup. */
int io_pending_event_open(struct io_pending_event *pending_event);
void io_pending_event_close(struct io_pending_event *pending_event);
/* Context: frame. */
void io_pending_event_set(struct io_pending_event *pending_event);
/* True once for each telling.  Context: frame. */
bool io_pending_event_consume(struct io_pending_event *pending_event);
