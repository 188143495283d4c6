/*
 * One client of the live server: what it subscribed to and what is still to be sent to it.
 *
 * Two queues.  Answers are never lost; a client that lets them pile up is let go.  Of the messages
 * the oldest gives way when there are too many: a live view wants the newest, and nobody waits for
 * a slow reader.  What gave way is counted.  Messages are shared between viewers and copied only
 * into the frame that leaves.
 *
 * A channel is thinned to so many messages a second of wall time unless the client asks for all or
 * the channel is one of which every message counts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/log/byte_writer.h"
#include "io/log/log_spec.h"

enum {
    IO_LIVE_CHANNEL_MAX = IO_CHANNEL_MAX + 16,
    IO_LIVE_PARAMETER_MAX = 256,
    IO_SESSION_QUEUE_MESSAGES_MAX = 4096,
    IO_SESSION_QUEUE_BYTES_MAX = 1024 * 1024,
    IO_SESSION_QUEUE_REPLIES_MAX = 4 * 1024 * 1024, /* bytes */
};

/* Counted by its holders, which are all of one thread. */
struct io_live_message {
    int holders;
    int channel;
    uint64_t log_ns;
    size_t size;
    struct io_live_message *next; /* on the way to the server's thread */
    unsigned char payload[];      /* CDR with its header */
};

/* The caller holds it.  NULL: no memory.  Context: any thread that is not real-time. */
struct io_live_message *io_live_message_make(int channel, uint64_t log_ns, const void *image,
                                             size_t size);
void io_live_message_drop(struct io_live_message *message);

struct io_session_queue_subscription {
    bool on;
    uint32_t id;     /* the client's */
    uint64_t due_ns; /* wall time from which on the next message passes */
};

struct io_session_queue_reply;

struct io_session_queue {
    double rate_hz; /* 0: all */
    struct io_session_queue_subscription channel[IO_LIVE_CHANNEL_MAX];
    bool watches[IO_LIVE_PARAMETER_MAX]; /* parameters whose changes it wants to know */

    struct io_live_message *message[IO_SESSION_QUEUE_MESSAGES_MAX];
    unsigned first, count; /* oldest first */
    size_t bytes;
    uint64_t sent, lost;

    struct io_session_queue_reply *answers, **last;
    size_t answer_bytes;

    uint64_t time_ns; /* simulated, the newest known */
    bool time_due;    /* and not yet told */
};

struct io_session_queue *io_session_queue_open(double rate_hz);
void io_session_queue_close(struct io_session_queue *viewer);

/* NULL, or why not. */
const char *io_session_queue_subscribe(struct io_session_queue *viewer, uint32_t id, int channel);
/* The channel it was, or -1 when there is no such subscription.  What waits stays. */
int io_session_queue_unsubscribe(struct io_session_queue *viewer, uint32_t id);

/* Offer a message; whole: never thinned. */
void io_session_queue_push(struct io_session_queue *viewer, struct io_live_message *message,
                           bool whole, uint64_t now_ns);
/* False: too many answers wait, let the client go. */
bool io_session_queue_push_reply(struct io_session_queue *viewer,
                                 const struct io_byte_writer *answer, bool binary);
void io_session_queue_set_time(struct io_session_queue *viewer, uint64_t time_ns);

bool io_session_queue_has_more(const struct io_session_queue *viewer);
/* Put the next frame behind what is in out: answers, the time, messages.  False: none. */
bool io_session_queue_next(struct io_session_queue *viewer, struct io_byte_writer *out,
                           bool *binary);
