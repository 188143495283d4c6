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

int io_decimate_open(struct io_decimate *decimate, const struct io_channel_spec *specs,
                     int channel_count, const struct io_log_trigger *trigger)
{
    *decimate =
        (struct io_decimate){.specs = specs, .channel_count = channel_count, .trigger = *trigger};
    for (int i = 0; i < channel_count; i++) {
        struct io_decimate_channel *channel = &decimate->channel[i];
        channel->every = specs[i].every > 1 ? specs[i].every : 1;
        channel->item_size = (sizeof(struct held) + specs[i].payload_size + 7) / 8 * 8;
        if (channel->every == 1 || specs[i].hold == 0 || !trigger->seen)
            continue;
        channel->hold = specs[i].hold;
        channel->items = calloc(channel->hold, channel->item_size);
        if (channel->items)
            continue;
        io_decimate_close(decimate);
        return -ENOMEM;
    }
    return 0;
}

void io_decimate_close(struct io_decimate *decimate)
{
    for (int i = 0; i < decimate->channel_count; i++) {
        free(decimate->channel[i].items);
        decimate->channel[i].items = NULL;
        decimate->channel[i].hold = decimate->channel[i].count = 0;
    }
}

static struct held *held_at(const struct io_decimate_channel *channel, uint32_t index)
{
    const size_t slot = ((size_t)channel->first + index) % channel->hold;
    return (struct held *)(void *)(channel->items + slot * channel->item_size);
}

static void drop_oldest(struct io_decimate_channel *channel)
{
    channel->first = (channel->first + 1) % channel->hold;
    channel->count--;
}

static void hold(struct io_decimate_channel *channel, const struct io_mcap_chunk_message *message)
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
static int earliest_held(const struct io_decimate *decimate)
{
    int found = -1;
    for (int i = 0; i < decimate->channel_count; i++) {
        if (decimate->channel[i].count == 0)
            continue;
        if (found < 0 || held_at(&decimate->channel[i], 0)->log_ns <
                             held_at(&decimate->channel[found], 0)->log_ns)
            found = i;
    }
    return found;
}

/* Empty the memory: records newer than from_ns are written to the log, in order of time. */
static void write_held(struct io_decimate *decimate, struct io_mcap_writer *writer,
                       uint64_t from_ns)
{
    for (int i; (i = earliest_held(decimate)) >= 0; drop_oldest(&decimate->channel[i])) {
        const struct held *held = held_at(&decimate->channel[i], 0);
        if (held->log_ns < from_ns)
            continue;
        decimate->decimated--;
        io_mcap_writer_add(writer, &(struct io_mcap_chunk_message){
                                       .channel = i,
                                       .sequence = held->sequence,
                                       .log_ns = held->log_ns,
                                       .payload = held->payload,
                                       .size = decimate->specs[i].payload_size,
                                   });
    }
}

static void check_trigger(struct io_decimate *decimate, struct io_mcap_writer *writer,
                          const struct io_mcap_chunk_message *message)
{
    const struct io_log_trigger *trigger = &decimate->trigger;
    if (!trigger->seen || !trigger->seen(trigger->self, message->channel, message->payload))
        return;
    const uint64_t at_ns = message->log_ns;
    if (decimate->until_ns < at_ns + trigger->after_ns + 1)
        decimate->until_ns = at_ns + trigger->after_ns + 1;
    write_held(decimate, writer, at_ns > trigger->before_ns ? at_ns - trigger->before_ns : 0);
}

void io_decimate_message(struct io_decimate *decimate, struct io_mcap_writer *writer,
                         const struct io_mcap_chunk_message *message)
{
    struct io_decimate_channel *channel = &decimate->channel[message->channel];
    check_trigger(decimate, writer, message);
    if ((message->sequence + 1) % channel->every == 0 || message->log_ns < decimate->until_ns) {
        io_mcap_writer_add(writer, message);
        return;
    }
    decimate->decimated++;
    hold(channel, message);
}
