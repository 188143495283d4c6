/*
 * Tested by tests/io/live/test_hub.c.
 */
#include "io/live/session_queue.h"

#include <stdlib.h>
#include <string.h>

#include "io/live/foxglove.h"
#include "rt/check.h"

struct io_session_queue_reply {
    struct io_session_queue_reply *next;
    bool binary;
    size_t size;
    unsigned char bytes[];
};

struct io_live_message *io_live_message_make(int channel, uint64_t log_ns, const void *image,
                                             size_t size)
{
    static const unsigned char head[4] = {0, 1, 0, 0}; /* CDR, little endian */
    struct io_live_message *message = malloc(sizeof *message + sizeof head + size);
    if (!message)
        return NULL;
    *message = (struct io_live_message){
        .holders = 1, .channel = channel, .log_ns = log_ns, .size = sizeof head + size};
    memcpy(message->payload, head, sizeof head);
    memcpy(message->payload + sizeof head, image, size);
    return message;
}

void io_live_message_drop(struct io_live_message *message)
{
    if (message && --message->holders == 0)
        free(message);
}

struct io_session_queue *io_session_queue_open(double rate_hz)
{
    struct io_session_queue *viewer = calloc(1, sizeof *viewer);
    if (!viewer)
        return NULL;
    viewer->rate_hz = rate_hz;
    viewer->last = &viewer->answers;
    return viewer;
}

static struct io_live_message *pop_oldest(struct io_session_queue *viewer)
{
    struct io_live_message *message = viewer->message[viewer->first];
    viewer->first = (viewer->first + 1) % IO_SESSION_QUEUE_MESSAGES_MAX;
    viewer->count--;
    viewer->bytes -= message->size;
    return message;
}

static struct io_session_queue_reply *pop_reply(struct io_session_queue *viewer)
{
    struct io_session_queue_reply *answer = viewer->answers;
    viewer->answers = answer->next;
    viewer->answer_bytes -= answer->size;
    if (!viewer->answers)
        viewer->last = &viewer->answers;
    return answer;
}

void io_session_queue_close(struct io_session_queue *viewer)
{
    while (viewer->count > 0)
        io_live_message_drop(pop_oldest(viewer));
    while (viewer->answers)
        free(pop_reply(viewer));
    free(viewer);
}

static int channel_of(const struct io_session_queue *viewer, uint32_t id)
{
    for (int i = 0; i < IO_LIVE_CHANNEL_MAX; i++) {
        if (viewer->channel[i].on && viewer->channel[i].id == id)
            return i;
    }
    return -1;
}

const char *io_session_queue_subscribe(struct io_session_queue *viewer, uint32_t id, int channel)
{
    RT_CHECK(channel >= 0 && channel < IO_LIVE_CHANNEL_MAX);
    if (viewer->channel[channel].on)
        return "this channel is subscribed to already";
    if (channel_of(viewer, id) >= 0)
        return "this subscription id is in use";
    viewer->channel[channel] = (struct io_session_queue_subscription){.on = true, .id = id};
    return NULL;
}

int io_session_queue_unsubscribe(struct io_session_queue *viewer, uint32_t id)
{
    const int channel = channel_of(viewer, id);
    if (channel >= 0)
        viewer->channel[channel].on = false;
    return channel;
}

/* The due times are on a grid, so that the rate is kept although messages arrive in bursts;
 * after a pause the grid starts anew. */
static bool is_due(struct io_session_queue *viewer, int channel, uint64_t now_ns)
{
    struct io_session_queue_subscription *subscription = &viewer->channel[channel];
    if (now_ns < subscription->due_ns)
        return false;
    const uint64_t gap_ns = (uint64_t)(1e9 / viewer->rate_hz);
    const bool paused = now_ns - subscription->due_ns > gap_ns;
    subscription->due_ns = (paused ? now_ns : subscription->due_ns) + gap_ns;
    return true;
}

void io_session_queue_push(struct io_session_queue *viewer, struct io_live_message *message,
                           bool whole, uint64_t now_ns)
{
    if (!viewer->channel[message->channel].on)
        return;
    if (!whole && viewer->rate_hz > 0.0 && !is_due(viewer, message->channel, now_ns))
        return;
    /* A message that is larger than the limit is queued alone. */
    while (viewer->count == IO_SESSION_QUEUE_MESSAGES_MAX ||
           (viewer->count > 0 && viewer->bytes + message->size > IO_SESSION_QUEUE_BYTES_MAX)) {
        io_live_message_drop(pop_oldest(viewer));
        viewer->lost++;
    }
    message->holders++;
    viewer->message[(viewer->first + viewer->count) % IO_SESSION_QUEUE_MESSAGES_MAX] = message;
    viewer->count++;
    viewer->bytes += message->size;
}

bool io_session_queue_push_reply(struct io_session_queue *viewer,
                                 const struct io_byte_writer *answer, bool binary)
{
    if (answer->failed || answer->size > IO_SESSION_QUEUE_REPLIES_MAX - viewer->answer_bytes)
        return false;
    struct io_session_queue_reply *copy = malloc(sizeof *copy + answer->size);
    if (!copy)
        return false;
    *copy = (struct io_session_queue_reply){.binary = binary, .size = answer->size};
    memcpy(copy->bytes, answer->data, answer->size);
    *viewer->last = copy;
    viewer->last = &copy->next;
    viewer->answer_bytes += answer->size;
    return true;
}

void io_session_queue_set_time(struct io_session_queue *viewer, uint64_t time_ns)
{
    viewer->time_due |= time_ns != viewer->time_ns;
    viewer->time_ns = time_ns;
}

bool io_session_queue_has_more(const struct io_session_queue *viewer)
{
    return viewer->answers || viewer->time_due || viewer->count > 0;
}

/* A message whose subscription has ended is skipped. */
static bool next_message(struct io_session_queue *viewer, struct io_byte_writer *out)
{
    bool found = false;
    while (!found && viewer->count > 0) {
        struct io_live_message *message = pop_oldest(viewer);
        const struct io_session_queue_subscription *subscription =
            &viewer->channel[message->channel];
        if (subscription->on) {
            io_foxglove_message_head(out, subscription->id, message->log_ns);
            io_put_raw(out, message->payload, message->size);
            viewer->sent++;
            found = true;
        }
        io_live_message_drop(message);
    }
    return found;
}

bool io_session_queue_next(struct io_session_queue *viewer, struct io_byte_writer *out,
                           bool *binary)
{
    *binary = true;
    if (viewer->answers) {
        struct io_session_queue_reply *answer = pop_reply(viewer);
        *binary = answer->binary;
        io_put_raw(out, answer->bytes, answer->size);
        free(answer);
        return true;
    }
    if (viewer->time_due) {
        viewer->time_due = false;
        io_foxglove_time(out, viewer->time_ns);
        return true;
    }
    return next_message(viewer, out);
}
