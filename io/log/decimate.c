#include "io/log/decimate.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct held {
    uint64_t log_ns;
    uint32_t sequence;
    uint32_t pad;
    unsigned char payload[];
};

int io_thin_open(struct io_thin *thin, const struct io_channel_spec *specs, int channel_count,
                 const struct io_log_trigger *trigger)
{
    *thin = (struct io_thin){.specs = specs, .channel_count = channel_count, .trigger = *trigger};
    for (int i = 0; i < channel_count; i++) {
        struct io_thin_channel *channel = &thin->channel[i];
        channel->every = specs[i].every > 1 ? specs[i].every : 1;
        channel->item_size = (sizeof(struct held) + specs[i].payload_size + 7) / 8 * 8;
        if (channel->every == 1 || specs[i].hold == 0 || !trigger->seen)
            continue;
        channel->hold = specs[i].hold;
        channel->items = calloc(channel->hold, channel->item_size);
        if (channel->items)
            continue;
        io_thin_close(thin);
        return -ENOMEM;
    }
    return 0;
}

void io_thin_close(struct io_thin *thin)
{
    for (int i = 0; i < thin->channel_count; i++) {
        free(thin->channel[i].items);
        thin->channel[i].items = NULL;
        thin->channel[i].hold = thin->channel[i].count = 0;
    }
}

static struct held *held_at(const struct io_thin_channel *channel, uint32_t index)
{
    const size_t slot = ((size_t)channel->first + index) % channel->hold;
    return (struct held *)(void *)(channel->items + slot * channel->item_size);
}

static void drop_oldest(struct io_thin_channel *channel)
{
    channel->first = (channel->first + 1) % channel->hold;
    channel->count--;
}

static void hold(struct io_thin_channel *channel, const struct io_chunk_message *message)
{
    if (channel->hold == 0)
        return;
    if (channel->count == channel->hold)
        drop_oldest(channel);
    struct held *held = held_at(channel, channel->count++);
    held->log_ns = message->log_ns;
    held->sequence = message->sequence;
    memcpy(held->payload, message->payload, message->size);
}

/* The channel whose oldest held record is the earliest, or -1. */
static int earliest(const struct io_thin *thin)
{
    int found = -1;
    for (int i = 0; i < thin->channel_count; i++) {
        if (thin->channel[i].count == 0)
            continue;
        if (found < 0 ||
            held_at(&thin->channel[i], 0)->log_ns < held_at(&thin->channel[found], 0)->log_ns)
            found = i;
    }
    return found;
}

/* Empty the memory: what is younger than from_ns goes into the log, in order of time. */
static void release(struct io_thin *thin, struct io_mcap_writer *writer, uint64_t from_ns)
{
    for (int i; (i = earliest(thin)) >= 0; drop_oldest(&thin->channel[i])) {
        const struct held *held = held_at(&thin->channel[i], 0);
        if (held->log_ns < from_ns)
            continue;
        thin->thinned--;
        io_mcap_writer_add(writer, &(struct io_chunk_message){
                                       .channel = i,
                                       .sequence = held->sequence,
                                       .log_ns = held->log_ns,
                                       .payload = held->payload,
                                       .size = thin->specs[i].payload_size,
                                   });
    }
}

static void look_for_trigger(struct io_thin *thin, struct io_mcap_writer *writer,
                             const struct io_chunk_message *message)
{
    const struct io_log_trigger *trigger = &thin->trigger;
    if (!trigger->seen || !trigger->seen(trigger->self, message->channel, message->payload))
        return;
    const uint64_t at_ns = message->log_ns;
    if (thin->until_ns < at_ns + trigger->after_ns + 1)
        thin->until_ns = at_ns + trigger->after_ns + 1;
    release(thin, writer, at_ns > trigger->before_ns ? at_ns - trigger->before_ns : 0);
}

void io_thin_take(struct io_thin *thin, struct io_mcap_writer *writer,
                  const struct io_chunk_message *message)
{
    struct io_thin_channel *channel = &thin->channel[message->channel];
    look_for_trigger(thin, writer, message);
    if ((message->sequence + 1) % channel->every == 0 || message->log_ns < thin->until_ns) {
        io_mcap_writer_add(writer, message);
        return;
    }
    thin->thinned++;
    hold(channel, message);
}
