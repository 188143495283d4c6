/*
 * An event that no descriptor of the device signals, such as the state of a hand controller when it
 * is opened.  An eventfd wakes the thread that sleeps on the bus.
 */
#pragma once

#include <stdbool.h>

struct io_pending_event {
    int fd; /* readable while an event is pending; -1: closed */
    bool pending;
};

/* 0 or -errno.  Context: setup. */
int io_pending_event_open(struct io_pending_event *pending_event);
void io_pending_event_close(struct io_pending_event *pending_event);
/* Context: frame. */
void io_pending_event_set(struct io_pending_event *pending_event);
/* True once after each io_pending_event_set().  Context: frame. */
bool io_pending_event_consume(struct io_pending_event *pending_event);
