/*
 * What a run offers to clients: parameters to read and set, services to call.
 *
 * A request is handed over with a ticket; the reply follows after a frame boundary has seen the
 * request.  A stop is not a request: it is done when the call returns, whatever else waits.  All
 * functions are called from the server thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/live/foxglove.h"

struct io_service_reply {
    uint64_t ticket;
    bool done;
    char text[IO_FOXGLOVE_TEXT_MAX]; /* the result, or the reason of a failure */
};

struct io_service_table {
    void *self;
    int parameter_count; /* at most IO_LIVE_PARAMETER_MAX are shown */
    const char *(*parameter_name)(void *self, int index);
    double (*parameter_value)(void *self, int index); /* the value in force, SI */
    int fault_count; /* the faults of the service /fault, by name */
    const char *const *faults;
    int service_count;
    const struct io_foxglove_service *services;
    int stop_service; /* any operator may call it, with or without authority */
    /* NULL when the request was handed over, else the reason. */
    const char *(*set)(void *self, uint64_t ticket, int parameter, double value);
    const char *(*call)(void *self, uint64_t ticket, int service,
                        const struct io_foxglove_arguments *arguments);
    /* Stop at once.  False: there will be no reply.  NULL: there is nothing to stop. */
    bool (*stop)(void *self, uint64_t ticket);
    /* The viewer that controlled the hand has disconnected.  NULL: not used. */
    void (*lost)(void *self);
    /* The next reply; false: none. */
    bool (*answer)(void *self, struct io_service_reply *answer);
    /* Events of viewers, for the run's events.  NULL: not used. */
    void (*note)(void *self, const char *text);
};
