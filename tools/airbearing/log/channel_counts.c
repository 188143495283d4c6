#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/airbearing/command.h"
#include "tools/airbearing/log/log.h"

static uint32_t every_of(const struct io_mcap_recover_channel *channel)
{
    struct io_byte_reader map = io_byte_reader_of(channel->metadata);
    while (map.left > 0 && !map.bad) {
        const struct io_slice key = io_get_string(&map), value = io_get_string(&map);
        char text[16];
        if (io_slice_is(key, "every")) {
            const long every = strtol(log_text(value, text, sizeof text), NULL, 10);
            return every > 1 && every <= 1000000000 ? (uint32_t)every : 1;
        }
    }
    return 1;
}

bool channel_counts_open(struct channel_counts *counts, const struct io_mcap_recover *recovery)
{
    *counts = (struct channel_counts){.channel = calloc(LOG_CHANNEL_MAX, sizeof *counts->channel)};
    if (!counts->channel)
        return false;
    struct io_mcap_recover_channel channel;
    for (unsigned id = 0; io_mcap_recover_channel(recovery, id, &channel); id = channel.id + 1u)
        counts->channel[channel.id].every = every_of(&channel);
    return true;
}

void channel_counts_free(struct channel_counts *counts)
{
    free(counts->channel);
    *counts = (struct channel_counts){0};
}

static void widen(uint64_t *first, uint64_t *last, bool is_first, uint64_t ns)
{
    if (is_first || ns < *first)
        *first = ns;
    if (is_first || ns > *last)
        *last = ns;
}

void channel_counts_add(struct channel_counts *counts, const struct io_mcap_message *message)
{
    struct log_channel *channel = &counts->channel[message->channel];
    if (channel->every == 0)
        channel->every = 1; /* defined in a chunk */
    /* The number with these low 32 bits that is nearest to the previous one. */
    const int64_t step = (int32_t)(message->sequence - (uint32_t)channel->sequence_max);
    const uint64_t sequence =
        channel->records == 0 || (step < 0 && channel->sequence_max < (uint64_t)-step)
            ? message->sequence
            : channel->sequence_max + (uint64_t)step;
    widen(&channel->first_ns, &channel->last_ns, channel->records == 0, message->log_time_ns);
    widen(&counts->first_ns, &counts->last_ns, counts->records == 0, message->log_time_ns);
    if (channel->records == 0 || sequence > channel->sequence_max)
        channel->sequence_max = sequence;
    channel->chosen += (sequence + 1) % channel->every == 0;
    channel->records++;
    counts->records++;
    if (message->channel >= counts->id_end)
        counts->id_end = message->channel + 1;
}

uint64_t channel_counts_missing(const struct log_channel *channel)
{
    if (channel->records == 0)
        return 0;
    const uint64_t due = (channel->sequence_max + 1) / channel->every;
    return due > channel->chosen ? due - channel->chosen : 0;
}

uint64_t channel_counts_missing_all(const struct channel_counts *counts)
{
    uint64_t missing = 0;
    for (int id = 0; id < counts->id_end; id++)
        missing += channel_counts_missing(&counts->channel[id]);
    return missing;
}

void log_print_losses(const struct io_mcap_recover_losses *losses, uint64_t missing, FILE *out)
{
    if (!losses->complete)
        fprintf(out, "lost: the file was cut off; %" PRIu64 " bytes of an unfinished record\n",
                losses->tail);
    else if (losses->tail > 0)
        fprintf(out, "lost: %" PRIu64 " bytes at the end, where no record is\n", losses->tail);
    if (losses->gaps > 0)
        fprintf(out,
                "lost: %" PRIu64 " bytes in %" PRIu64
                " places where no record is, the first at byte %" PRIu64 "\n",
                losses->bytes_skipped, losses->gaps, losses->first_gap);
    if (losses->chunks_bad > 0)
        fprintf(out,
                "lost: %" PRIu64 " of %" PRIu64 " chunks, whose CRC is wrong or which do not "
                "decompress\n",
                losses->chunks_bad, losses->chunks);
    if (losses->attachments_bad > 0)
        fprintf(out, "lost: %" PRIu64 " attachments, whose CRC is wrong\n",
                losses->attachments_bad);
    if (losses->contradictions > 0)
        fprintf(out, "lost: %" PRIu64 " definitions that contradict others\n",
                losses->contradictions);
    if (losses->without_channel > 0)
        fprintf(out, "lost: %" PRIu64 " records of channels that are defined nowhere\n",
                losses->without_channel);
    if (losses->data_bad)
        fprintf(out, "lost: something in the data section, whose CRC is wrong\n");
    if (losses->has_statistics && losses->stated_messages != losses->messages)
        fprintf(out, "lost: the summary lists %" PRIu64 " records, %" PRIu64 " are there\n",
                losses->stated_messages, losses->messages);
    if (missing > 0)
        fprintf(out, "lost: %" PRIu64 " records are missing by their sequence numbers\n", missing);
}

int log_verdict(const struct io_mcap_recover_losses *losses, uint64_t missing)
{
    return io_mcap_recover_damaged(losses) || missing > 0 ? EXIT_VERDICT_NO : EXIT_OK;
}

const char *log_text(struct io_slice slice, char *text, size_t room)
{
    const size_t size = slice.size < room - 1 ? slice.size : room - 1;
    if (size > 0)
        memcpy(text, slice.data, size);
    text[size] = '\0';
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            text[i] = '?';
    return text;
}
