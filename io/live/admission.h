/*
 * Who has connected to the live server: which of them may stay when too many come, without sockets.
 *
 * A connection that says nothing costs its maker nothing, so its place is the first that is given
 * away.  The newest always gets in: it shows at once what it wants, while those who never will grow
 * old.  Who gives way is of the address that has the most of them; there one that has not made a
 * whole request goes before one that has, and of those the oldest.  Who has shown a token or has
 * taken a seat is never asked to leave.  Nobody has longer than IO_DOOR_PATIENCE_NS for a request.
 *
 * On loopback all are one address, so limits per address do not hold there.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    IO_DOOR_MAX = 256,         /* connections of all kinds */
    IO_DOOR_STANDING_MAX = 96, /* of those, without a seat and without a token */
    IO_DOOR_ADDRESS_MAX = 32,  /* of those, of one address */
    IO_DOOR_SEATS_MAX = 16,    /* seats of one address that has shown no operator token */
};
#define IO_DOOR_PATIENCE_NS 5000000000ull

enum io_door_standing {
    IO_DOOR_SILENT, /* no whole request so far */
    IO_DOOR_ASKED,  /* one, and no token */
    IO_DOOR_KNOWN,  /* with a token */
    IO_DOOR_SEATED,
};

struct io_door_guest {
    void *connection; /* NULL: free */
    uint32_t address; /* IPv4 */
    enum io_door_standing standing;
    bool is_operator;
    bool dismissed;     /* told to go, and not gone yet */
    uint64_t came;      /* in the order in which they came */
    uint64_t waited_ns; /* for its first request */
};

struct io_door {
    struct io_door_guest guest[IO_DOOR_MAX];
    uint64_t arrivals;
    uint64_t dismissed; /* so far */
};

/* Somebody came.  The connection that goes for it, or NULL.  has_said tells of a connection whether
 * a whole request of it is there that nobody has read yet. */
void *io_door_come(struct io_door *door, void *connection, uint32_t address,
                   bool (*has_said)(void *connection));
/* It made a request, with or without a token.  False: it was told to go. */
bool io_door_ask(struct io_door *door, void *connection, bool has_token);
/* May it take a seat, as far as its address goes? */
bool io_door_has_seat(const struct io_door *door, const void *connection, bool is_operator);
void io_door_sit(struct io_door *door, void *connection, bool is_operator);
void io_door_leave(struct io_door *door, const void *connection);
/* So much time was there for who had something to say.  How many connections are to be let go, now
 * or still, and which. */
int io_door_tick(struct io_door *door, uint64_t served_ns, void *overdue[IO_DOOR_MAX]);
