/*
 * The live server: the log's channels over the Foxglove WebSocket protocol, and a page, on one
 * port.
 *
 * It has a thread of its own, never real-time, so that neither the frame nor the log waits for a
 * socket.  The telemetry thread hands records over through a bounded list; records that do not fit
 * are not sent to viewers, and counted.
 *
 * Access: if there is a token, a client must give it (`?token=` in the address, or `Authorization:
 * Bearer`).  Without a token the server listens on loopback only, and the page in a browser must be
 * this server's own or have an origin on the list; programs send no Origin and are accepted.
 *
 * Commands: if there is an operator token, only clients that give it (`?operator=` in the address,
 * or `Authorization: Operator`) may command, one at a time (io/live/authority.h).  All others only
 * watch.  A client with a wrong token is refused.
 *
 * Which connections are closed when there are too many: io/live/admission.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/live/server_spec.h"
#include "rt/thread.h"

struct io_server;

/* Bind; the spec and what it points at are kept.  The guarded page is sent to clients that give
 * the token, or, without a token, to those that address this machine as localhost or 127.x.x.x.
 * NULL with one line in error.  Context: setup. */
struct io_server *io_server_open(const struct io_server_spec *spec,
                                 char error[IO_SERVER_ERROR_MAX]);
int io_server_port(const struct io_server *server);
/* 0 or -errno.  Context: setup. */
int io_server_start(struct io_server *server, const struct rt_thread_spec *spec);
/* Disconnect the viewers, join the thread, free.  counts may be NULL.  Context: after the run. */
void io_server_close(struct io_server *server, struct io_server_counts *counts);

/* True when a viewer subscribes to this channel.  Context: any. */
bool io_server_is_subscribed(const struct io_server *server, int channel);
/* A record of a channel, without its CDR header; copied if it is needed.  Context: telemetry
 * thread. */
void io_server_broadcast(struct io_server *server, int channel, uint64_t log_ns, const void *image,
                         size_t size);
/* Set the simulated time.  Context: telemetry thread. */
void io_server_time(struct io_server *server, uint64_t time_ns);
/* A status of the run; it replaces the previous one with the same id, and new viewers get it
 * too.  text NULL: remove it.  Context: telemetry thread. */
void io_server_status(struct io_server *server, const char *id, enum io_foxglove_level level,
                      const char *text);
