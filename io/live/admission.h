/*
 * Admission control of the live server: which connection is closed when there are too many.  No
 * sockets.
 *
 * An idle connection costs its owner nothing, so it is the first to be closed.  A new connection is
 * always accepted, because a useful one makes its request at once; the oldest idle ones are closed
 * instead.  The connection to close is one of the address that has the most; there a connection
 * without a complete request goes before one with a request, and of those the oldest goes first.  A
 * connection with a token or with a session is never closed for another.  Every connection must
 * make its request within IO_ADMISSION_REQUEST_LIMIT_NS.
 *
 * On loopback all connections have one address, so the limits per address do not apply there.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    IO_ADMISSION_MAX = 256,        /* all connections */
    IO_ADMISSION_WAITING_MAX = 96, /* of those, connections without a session and without a token */
    IO_ADMISSION_ADDRESS_MAX = 32, /* of those, connections of one address */
    IO_ADMISSION_SESSIONS_MAX = 16, /* sessions of one address without an operator token */
};
#define IO_ADMISSION_REQUEST_LIMIT_NS 5000000000ull

enum io_admission_stage {
    IO_ADMISSION_SILENT,        /* no complete request so far */
    IO_ADMISSION_REQUESTED,     /* a request without a token */
    IO_ADMISSION_AUTHENTICATED, /* a request with a token */
    IO_ADMISSION_IN_SESSION,
};

struct io_admission_entry {
    void *connection; /* NULL: free */
    uint32_t address; /* IPv4 */
    enum io_admission_stage stage;
    bool is_operator;
    bool dismissed;     /* to be closed, but not closed yet */
    uint64_t arrival;   /* its number in the order of arrival */
    uint64_t waited_ns; /* the time spent waiting for its first request */
};

struct io_admission {
    struct io_admission_entry entry[IO_ADMISSION_MAX];
    uint64_t arrivals;
    uint64_t dismissed; /* connections closed so far */
};

/* A connection was accepted.  Returns the connection to close for it, or NULL.  has_request()
 * returns true for a connection whose complete request waits to be read. */
void *io_admission_add(struct io_admission *admission, void *connection, uint32_t address,
                       bool (*has_request)(void *connection));
/* The connection made a request, with or without a token.  False: it is to be closed. */
bool io_admission_note_request(struct io_admission *admission, void *connection, bool has_token);
/* True when the limit of its address allows another session. */
bool io_admission_allows_session(const struct io_admission *admission, const void *connection,
                                 bool is_operator);
void io_admission_note_session(struct io_admission *admission, void *connection, bool is_operator);
void io_admission_remove(struct io_admission *admission, const void *connection);
/* served_ns is the time in which connections could make requests.  Returns how many connections
 * are to be closed, new ones and those not closed yet, and lists them. */
int io_admission_tick(struct io_admission *admission, uint64_t served_ns,
                      void *overdue[IO_ADMISSION_MAX]);
