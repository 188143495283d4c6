/*
 * The live server: the log's channels over the Foxglove WebSocket protocol, and a page, on one
 * port.
 *
 * It has a thread of its own, never real-time, so that neither the frame nor the log waits for a
 * socket.  The telemetry thread hands records over through a bounded list; what does not fit is
 * lost to the viewers and counted.
 *
 * Who may come in: with a token, who gives it (`?token=` in the address, or `Authorization:
 * Bearer`). Without one the server listens on loopback only, and a browser must come from this
 * server's own page or from an origin on the list; programs send no Origin and may come in.
 *
 * Who may command: with an operator token, who gives it (`?operator=` in the address, or
 * `Authorization: Operator`), one at a time (io/live/authority.h).  Others look on.  A token
 * that is wrong is refused at the door.
 *
 * Who may stay while too many come: io/live/admission.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/live/server_spec.h"
#include "rt/thread.h"

struct io_server;

/* Bind; the spec and what it points at are kept.  The guarded page is for those who give the token,
 * or without one for those who call this machine by a name that only it has.  NULL with one line in
 * error.  Context: setup. */
struct io_server *io_server_open(const struct io_server_spec *spec,
                                 char error[IO_SERVER_ERROR_MAX]);
int io_server_port(const struct io_server *server);
/* 0 or -errno.  Context: setup. */
int io_server_start(struct io_server *server, const struct rt_thread_spec *spec);
/* Let the viewers go, join, free.  counts may be NULL.  Context: after the run. */
void io_server_close(struct io_server *server, struct io_server_counts *counts);

/* Does anybody look at this channel?  Context: any. */
bool io_server_is_subscribed(const struct io_server *server, int channel);
/* A record of a channel, without its CDR header; copied where somebody looks.
 * Context: telemetry thread. */
void io_server_broadcast(struct io_server *server, int channel, uint64_t log_ns, const void *image,
                         size_t size);
/* Simulated time is this.  Context: telemetry thread. */
void io_server_time(struct io_server *server, uint64_t time_ns);
/* A line about the run; it replaces the one before of the same id, and new viewers see it too.
 * Level and text NULL: it is over.  Context: telemetry thread. */
void io_server_status(struct io_server *server, const char *id, enum io_foxglove_level level,
                      const char *text);
