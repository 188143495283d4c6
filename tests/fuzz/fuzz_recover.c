/*
 * Any bytes as a log that is to be recovered.  What must hold:
 *   - nothing outside the bytes is read, and every byte handed out can be read,
 *   - what is counted as lost lies within the file,
 *   - the rewritten log is one that the strict reader reads to its end, with as many messages as
 *     were kept.
 */
#include <errno.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/log/ros2msg.h"
#include "rt/check.h"
#include "tools/airbearing/log/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A machine without io_uring: to make and end a ring takes longer than all the rest. */
int io_uring_queue_init(unsigned entries, struct io_uring *ring, unsigned flags)
{
    (void)entries, (void)ring, (void)flags;
    return -ENOSYS;
}

static volatile unsigned char sink;

static void touch(struct io_slice slice)
{
    for (size_t i = 0; i < slice.size; i++)
        sink ^= slice.data[i];
}

static void look_at_channels(const struct io_mcap_recover *recovery)
{
    struct io_mcap_recover_channel channel;
    for (unsigned id = 0; io_mcap_recover_channel(recovery, id, &channel); id = channel.id + 1u) {
        RT_CHECK(channel.id >= id);
        touch(channel.metadata);
        touch(channel.schema_name);
        struct io_ros2msg schema = io_ros2msg_begin(channel.definition ? channel.definition : "");
        for (struct io_ros2msg_field field; io_ros2msg_next(&schema, &field);) {
            RT_CHECK(field.count > 0 && field.offset % field.size == 0);
            RT_CHECK(memchr(field.name, 0, sizeof field.name));
            RT_CHECK(memchr(field.unit, 0, sizeof field.unit));
        }
    }
}

static void look_at_rest(const struct io_mcap_recover *recovery)
{
    struct io_mcap_recover_attachment attachment;
    struct io_mcap_recover_metadata pair;
    for (size_t i = 0; io_mcap_recover_attachment(recovery, i, &attachment); i++)
        touch(attachment.bytes);
    for (size_t i = 0; io_mcap_recover_metadata(recovery, i, &pair); i++)
        touch(pair.value);
}

static void check_losses(const struct io_mcap_recover_losses *losses, size_t size)
{
    RT_CHECK(losses->bytes_skipped + losses->tail <= size);
    RT_CHECK(losses->gaps <= losses->bytes_skipped);
    RT_CHECK(losses->gaps == 0 || losses->first_gap < size);
    RT_CHECK(losses->chunks_bad <= losses->chunks);
}

/* The file never leaves memory. */
static const char *new_log(void)
{
    static char path[64];
    if (path[0] == '\0') {
        const int fd = memfd_create("recovered", 0);
        RT_CHECK(fd >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    return path;
}

static void check_rewritten(const struct log_kept *kept)
{
    char error[256];
    struct io_mcap_message message;
    uint64_t count = 0;
    int more;
    struct io_mcap_reader *reader = io_mcap_open(new_log(), error);
    RT_CHECK(reader);
    while ((more = io_mcap_next(reader, &message, error)) == 1)
        count++;
    RT_CHECK(more == 0 && io_mcap_complete(reader) && count == kept->records);
    io_mcap_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char error[256] = "";
    struct channel_counts tally;
    struct log_kept kept;
    struct io_mcap_recover *recovery = io_mcap_recover_open_bytes(bytes, size, error);
    if (!recovery) {
        RT_CHECK(strncmp(error, "bytes: ", 7) == 0);
        return 0;
    }
    RT_CHECK(channel_counts_open(&tally, recovery));
    look_at_channels(recovery);
    look_at_rest(recovery);
    log_rewrite(recovery, new_log(), &tally, &kept);
    if (kept.error == 0) {
        RT_CHECK(kept.records + kept.foreign == tally.records);
        check_rewritten(&kept);
    }
    check_losses(io_mcap_recover_losses(recovery), size);
    channel_counts_free(&tally);
    io_mcap_recover_close(recovery);
    return 0;
}
