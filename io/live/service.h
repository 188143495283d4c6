/*
 * What a client may ask the run for: parameters to see and set, services to call.
 *
 * A request is handed over with a ticket; its answer comes later, when a frame boundary has seen
 * it.  A stop is no request: it is done when the call returns, whatever waits.  All is called from
 * the server's thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/live/foxglove.h"

struct io_service_reply {
    uint64_t ticket;
    bool done;
    char text[IO_FOXGLOVE_TEXT_MAX]; /* what was done, or why not */
};

struct io_service_table {
    void *self;
    int parameter_count; /* at most IO_LIVE_PARAMETER_MAX are shown */
    const char *(*parameter_name)(void *self, int index);
    double (*parameter_value)(void *self, int index); /* in force now, SI */
    int fault_count; /* those that the service /fault knows, by name */
    const char *const *faults;
    int service_count;
    const struct io_foxglove_service *services;
    int stop_service; /* that any operator may call, whoever has authority */
    /* NULL when it was handed over, else why not. */
    const char *(*set)(void *self, uint64_t ticket, int parameter, double value);
    const char *(*call)(void *self, uint64_t ticket, int service,
                        const struct io_foxglove_arguments *arguments);
    /* Stop, at once.  False: it will not be answered.  NULL: there is nothing to stop. */
    bool (*stop)(void *self, uint64_t ticket);
    /* Who flew has left without a word.  NULL: nobody wants to know. */
    void (*lost)(void *self);
    /* The next answer, if any. */
    bool (*answer)(void *self, struct io_service_reply *answer);
    /* What happened among those who look on, for the run's events; NULL: nobody wants to know. */
    void (*note)(void *self, const char *text);
};
