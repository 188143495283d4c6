/*
 * One client of the live server: its subscriptions and the messages that wait for it.
 *
 * There are two queues.  Replies are never lost; a client with too many waiting replies is closed.
 * When too many messages wait, the oldest is dropped and counted: a live view needs the newest.
 * Messages are shared between viewers and copied only into the frame that is sent.
 *
 * The messages of a channel are limited to a rate of wall time, unless the client asks for all of
 * them or every message of the channel counts.
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

/* Reference-counted; all holders are in one thread. */
struct io_live_message {
    int holders;
    int channel;
    uint64_t log_ns;
    size_t size;
    struct io_live_message *next; /* in the list to the server thread */
    unsigned char payload[];      /* CDR with its header */
};

/* The caller holds a reference.  NULL: out of memory.  Context: any thread that is not
 * real-time. */
struct io_live_message *io_live_message_make(int channel, uint64_t log_ns, const void *image,
                                             size_t size);
void io_live_message_drop(struct io_live_message *message);

struct io_session_queue_subscription {
    bool on;
    uint32_t id;     /* of the client */
    uint64_t due_ns; /* the next message is not queued before this wall time */
};

struct io_session_queue_reply;

struct io_session_queue {
    double rate_hz; /* 0: all */
    struct io_session_queue_subscription channel[IO_LIVE_CHANNEL_MAX];
    bool watches[IO_LIVE_PARAMETER_MAX]; /* parameters whose changes it gets */

    struct io_live_message *message[IO_SESSION_QUEUE_MESSAGES_MAX];
    unsigned first, count; /* oldest first */
    size_t bytes;
    uint64_t sent, lost;

    struct io_session_queue_reply *answers, **last;
    size_t answer_bytes;

    uint64_t time_ns; /* simulated, the newest known */
    bool time_due;    /* time_ns has not been sent */
};

struct io_session_queue *io_session_queue_open(double rate_hz);
void io_session_queue_close(struct io_session_queue *viewer);

/* NULL, or the reason of a failure. */
const char *io_session_queue_subscribe(struct io_session_queue *viewer, uint32_t id, int channel);
/* Returns the channel, or -1 when there is no such subscription.  Queued messages stay. */
int io_session_queue_unsubscribe(struct io_session_queue *viewer, uint32_t id);

/* Queue a message if it is due; whole: always. */
void io_session_queue_push(struct io_session_queue *viewer, struct io_live_message *message,
                           bool whole, uint64_t now_ns);
/* False: too many replies wait; close the client. */
bool io_session_queue_push_reply(struct io_session_queue *viewer,
                                 const struct io_byte_writer *answer, bool binary);
void io_session_queue_set_time(struct io_session_queue *viewer, uint64_t time_ns);

bool io_session_queue_has_more(const struct io_session_queue *viewer);
/* Append the next frame to out: replies, then the time, then messages.  False: there is none. */
bool io_session_queue_next(struct io_session_queue *viewer, struct io_byte_writer *out,
                           bool *binary);
