/*
 * Who has connected to the live server: which of them may stay when too many come, without sockets.
 *
 * A connection that says nothing costs its maker nothing, so its place is the first that is given
 * away.  The newest always gets in: it shows at once what it wants, while those who never will grow
 * old.  Who gives way is of the address that has the most of them; there one that has not made a
 * whole request goes before one that has, and of those the oldest.  Who has shown a token or has
 * taken a seat is never asked to leave.  Nobody has longer than IO_ADMISSION_REQUEST_LIMIT_NS for a
 * request.
 *
 * On loopback all are one address, so limits per address do not hold there.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    IO_ADMISSION_MAX = 256,         /* connections of all kinds */
    IO_ADMISSION_WAITING_MAX = 96,  /* of those, without a seat and without a token */
    IO_ADMISSION_ADDRESS_MAX = 32,  /* of those, of one address */
    IO_ADMISSION_SESSIONS_MAX = 16, /* seats of one address that has shown no operator token */
};
#define IO_ADMISSION_REQUEST_LIMIT_NS 5000000000ull

enum io_admission_stage {
    IO_ADMISSION_SILENT,        /* no whole request so far */
    IO_ADMISSION_REQUESTED,     /* one, and no token */
    IO_ADMISSION_AUTHENTICATED, /* with a token */
    IO_ADMISSION_IN_SESSION,
};

struct io_admission_entry {
    void *connection; /* NULL: free */
    uint32_t address; /* IPv4 */
    enum io_admission_stage stage;
    bool is_operator;
    bool dismissed;     /* told to go, and not gone yet */
    uint64_t arrival;   /* in the order in which they came */
    uint64_t waited_ns; /* for its first request */
};

struct io_admission {
    struct io_admission_entry entry[IO_ADMISSION_MAX];
    uint64_t arrivals;
    uint64_t dismissed; /* so far */
};

/* Somebody came.  The connection that goes for it, or NULL.  has_said tells of a connection whether
 * a whole request of it is there that nobody has read yet. */
void *io_admission_add(struct io_admission *admission, void *connection, uint32_t address,
                       bool (*has_request)(void *connection));
/* It made a request, with or without a token.  False: it was told to go. */
bool io_admission_note_request(struct io_admission *admission, void *connection, bool has_token);
/* May it take a seat, as far as its address goes? */
bool io_admission_allows_session(const struct io_admission *admission, const void *connection,
                                 bool is_operator);
void io_admission_note_session(struct io_admission *admission, void *connection, bool is_operator);
void io_admission_remove(struct io_admission *admission, const void *connection);
/* So much time was there for who had something to say.  How many connections are to be let go, now
 * or still, and which. */
int io_admission_tick(struct io_admission *admission, uint64_t served_ns,
                      void *overdue[IO_ADMISSION_MAX]);
