#include "io/log/telemetry.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "io/log/decimate.h"
#include "io/log/mcap_writer.h"
#include "rt/arena.h"
#include "rt/check.h"
#include "rt/ring.h"

enum {
    BATCH = 1024,                   /* records between two polls of the file */
    NAP_NS = 3 * 1000 * 1000,       /* between two polls of empty rings */
    PAYLOAD_MAX = 16 * 1024 * 1024, /* the reader refuses chunks above four times this */
    NICE_WHILE_BEHIND = -10, /* while the rings fill up; every real-time thread still comes first */
};

/* An item of a ring.  Items begin on a cache line, so the payload is aligned for any field. */
struct item {
    uint64_t log_ns;
    uint32_t sequence;
    uint32_t pad;
    unsigned char payload[];
};

/* Written by the producer of a channel, on a cache line of its own. */
struct producer {
    _Alignas(RT_CACHE_LINE) struct rt_ring *ring;
    uint32_t sequence; /* counts dropped records too, so that the log shows the gaps */
    uint64_t pushed;
};

/* Written by the telemetry thread. */
struct consumer {
    _Alignas(RT_CACHE_LINE) struct rt_ring *ring;
    atomic_uint_fast64_t taken;
};

struct io_telemetry {
    int channel_count;
    struct io_channel_spec *channels;
    struct producer *producers;
    struct consumer *consumers;
    struct rt_thread thread;
    struct io_record_observer observer;
    bool to_file;
    struct io_mcap_writer writer;
    struct io_log_trigger trigger;
    struct io_decimate decimate;
    atomic_bool stop;

    /* Copies of the writer's counts that other threads may read. */
    atomic_uint_fast64_t records, bytes, lost, decimated;
    atomic_int error;
};

static size_t item_size(const struct io_channel_spec *spec)
{
    return sizeof(struct item) + spec->payload_size;
}

static void check_spec(const struct io_channel_spec *spec)
{
    RT_CHECK(spec->payload_size > 0 && spec->payload_size <= PAYLOAD_MAX);
    RT_CHECK(spec->depth > 0 && spec->definition);
    RT_CHECK(memchr(spec->topic, 0, IO_TOPIC_MAX) && memchr(spec->schema, 0, IO_TOPIC_MAX));
}

/* One layout gives the size and the placement.  ring_mem: the place of each ring, when mem is
 * not NULL. */
static size_t place_telemetry(const struct io_channel_spec *channels, int channel_count,
                              struct io_telemetry *telemetry, void *mem,
                              void *ring_mem[IO_CHANNEL_MAX])
{
    RT_CHECK(channel_count > 0 && channel_count <= IO_CHANNEL_MAX);
    const size_t count = (size_t)channel_count;
    size_t at = 0;
    (void)rt_layout_cut(mem, &at, sizeof *telemetry);
    telemetry->channels = rt_layout_cut(mem, &at, count * sizeof *telemetry->channels);
    telemetry->producers = rt_layout_cut(mem, &at, count * sizeof *telemetry->producers);
    telemetry->consumers = rt_layout_cut(mem, &at, count * sizeof *telemetry->consumers);
    for (size_t i = 0; i < count; i++) {
        check_spec(&channels[i]);
        ring_mem[i] =
            rt_layout_cut(mem, &at, rt_ring_size(item_size(&channels[i]), channels[i].depth));
    }
    return at;
}

size_t io_telemetry_size(const struct io_channel_spec *channels, int channel_count)
{
    struct io_telemetry unused;
    void *ring_mem[IO_CHANNEL_MAX];
    return place_telemetry(channels, channel_count, &unused, NULL, ring_mem);
}

struct io_telemetry *io_telemetry_place(const struct io_channel_spec *channels, int channel_count,
                                        void *mem)
{
    struct io_telemetry *telemetry = mem;
    void *ring_mem[IO_CHANNEL_MAX];
    memset(telemetry, 0, sizeof *telemetry);
    (void)place_telemetry(channels, channel_count, telemetry, mem, ring_mem);
    telemetry->channel_count = channel_count;
    for (int i = 0; i < channel_count; i++) {
        struct rt_ring *ring =
            rt_ring_place(item_size(&channels[i]), channels[i].depth, ring_mem[i]);
        telemetry->channels[i] = channels[i];
        telemetry->producers[i] = (struct producer){.ring = ring};
        telemetry->consumers[i].ring = ring;
        atomic_init(&telemetry->consumers[i].taken, 0);
    }
    return telemetry;
}

void *io_telemetry_claim(struct io_telemetry *telemetry, int channel, uint64_t log_time_ns)
{
    struct producer *producer = &telemetry->producers[channel];
    struct item *item = rt_ring_claim(producer->ring);
    if (!item) {
        producer->sequence++;
        return NULL;
    }
    item->log_ns = log_time_ns;
    item->sequence = producer->sequence;
    return item->payload;
}

void io_telemetry_push(struct io_telemetry *telemetry, int channel)
{
    struct producer *producer = &telemetry->producers[channel];
    producer->sequence++;
    producer->pushed++;
    rt_ring_push(producer->ring);
}

uint64_t io_telemetry_depth(const struct io_telemetry *telemetry, int channel)
{
    return telemetry->channels[channel].depth;
}

uint64_t io_telemetry_room(const struct io_telemetry *telemetry, int channel)
{
    const uint64_t taken =
        atomic_load_explicit(&telemetry->consumers[channel].taken, memory_order_acquire);
    return io_telemetry_depth(telemetry, channel) - (telemetry->producers[channel].pushed - taken);
}

bool io_telemetry_has_room(const struct io_telemetry *telemetry, int channel)
{
    return io_telemetry_room(telemetry, channel) > 0;
}

/* The channel whose oldest record has the earliest log time, or -1 when all rings are empty: the
 * log is then nearly in time order, and its chunks hardly overlap. */
static int earliest(const struct io_telemetry *telemetry, const struct item **item)
{
    int channel = -1;
    for (int i = 0; i < telemetry->channel_count; i++) {
        const struct item *front = rt_ring_front(telemetry->consumers[i].ring);
        if (front && (channel < 0 || front->log_ns < (*item)->log_ns)) {
            *item = front;
            channel = i;
        }
    }
    return channel;
}

static void handle_record(struct io_telemetry *telemetry, int channel, const struct item *item)
{
    struct consumer *consumer = &telemetry->consumers[channel];
    if (telemetry->to_file)
        io_decimate_message(&telemetry->decimate, &telemetry->writer,
                            &(struct io_mcap_chunk_message){
                                .channel = channel,
                                .sequence = item->sequence,
                                .log_ns = item->log_ns,
                                .payload = item->payload,
                                .size = telemetry->channels[channel].payload_size,
                            });
    if (telemetry->observer.observe)
        telemetry->observer.observe(telemetry->observer.self, channel, item->log_ns, item->payload);
    rt_ring_pop(consumer->ring);
    /* Release: a thread that sees the count also sees the slot that it frees. */
    atomic_fetch_add_explicit(&consumer->taken, 1, memory_order_release);
}

/* False when the rings were found empty. */
static bool drain(struct io_telemetry *telemetry)
{
    for (int i = 0; i < BATCH; i++) {
        const struct item *item = NULL;
        const int channel = earliest(telemetry, &item);
        if (channel < 0)
            return false;
        handle_record(telemetry, channel, item);
    }
    return true;
}

static void publish_counts(struct io_telemetry *telemetry)
{
    const struct io_mcap_writer *writer = &telemetry->writer;
    atomic_store_explicit(&telemetry->records, writer->statistics.messages, memory_order_relaxed);
    atomic_store_explicit(&telemetry->bytes, writer->whole, memory_order_relaxed);
    atomic_store_explicit(&telemetry->lost, writer->lost, memory_order_relaxed);
    atomic_store_explicit(&telemetry->decimated, telemetry->decimate.decimated,
                          memory_order_relaxed);
    atomic_store_explicit(&telemetry->error, writer->error, memory_order_relaxed);
}

/* Polls the rings, so that the frame thread never has to wake this one. */
static void telemetry_main(void *self)
{
    struct io_telemetry *telemetry = self;
    const int usual = getpriority(PRIO_PROCESS, 0); /* nice of this thread */
    bool is_behind = false;
    for (bool last = false;;) {
        const bool more = drain(telemetry);
        if (telemetry->to_file)
            io_mcap_writer_poll(&telemetry->writer);
        publish_counts(telemetry);
        /* A board on this core has priority until records are about to be lost.  If setpriority
         * is refused, this thread is only slower. */
        if (more != is_behind)
            (void)setpriority(PRIO_PROCESS, 0, more ? NICE_WHILE_BEHIND : usual);
        is_behind = more;
        if (more)
            continue;
        if (last)
            break;
        /* Read after one drain and before the next, so that records pushed before the stop are
         * written. */
        last = atomic_load_explicit(&telemetry->stop, memory_order_acquire);
        if (!last)
            nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    if (telemetry->to_file)
        io_mcap_writer_flush(&telemetry->writer);
    publish_counts(telemetry);
}

/* A file-size limit is then an error of the write and does not end the process. */
static void ignore_file_size_signal(void)
{
    struct sigaction action;
    if (sigaction(SIGXFSZ, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
        (void)signal(SIGXFSZ, SIG_IGN);
}

const struct io_channel_spec *io_telemetry_channels(const struct io_telemetry *telemetry,
                                                    int *count)
{
    *count = telemetry->channel_count;
    return telemetry->channels;
}

void io_telemetry_observe(struct io_telemetry *telemetry, struct io_record_observer observer)
{
    telemetry->observer = observer;
}

void io_telemetry_trigger(struct io_telemetry *telemetry, const struct io_log_trigger *trigger)
{
    telemetry->trigger = *trigger;
}

static int open_log(struct io_telemetry *telemetry, const char *path, const char *const *metadata,
                    const struct io_blob *attachments, int attachment_count)
{
    int error = io_decimate_open(&telemetry->decimate, telemetry->channels,
                                 telemetry->channel_count, &telemetry->trigger);
    if (error)
        return error;
    error = io_mcap_writer_open(&telemetry->writer, path, telemetry->channels,
                                telemetry->channel_count, metadata, attachments, attachment_count);
    if (error)
        io_decimate_close(&telemetry->decimate);
    return error;
}

static void close_log(struct io_telemetry *telemetry, const struct io_blob *extra, int extra_count)
{
    io_mcap_writer_close(&telemetry->writer, extra, extra_count);
    io_decimate_close(&telemetry->decimate);
}

int io_telemetry_start(struct io_telemetry *telemetry, const char *path,
                       const struct rt_thread_spec *spec, const char *const *metadata,
                       const struct io_blob *attachments, int attachment_count)
{
    int error = 0;
    ignore_file_size_signal();
    telemetry->to_file = path != NULL;
    if (telemetry->to_file)
        error = open_log(telemetry, path, metadata, attachments, attachment_count);
    if (error)
        return error;
    publish_counts(telemetry);
    atomic_store_explicit(&telemetry->stop, false, memory_order_relaxed);
    error = rt_thread_start(&telemetry->thread, spec, telemetry_main, telemetry);
    if (error && telemetry->to_file)
        close_log(telemetry, NULL, 0);
    return error;
}

void io_telemetry_stop(struct io_telemetry *telemetry, const struct io_blob *extra, int extra_count,
                       struct io_log_result *result)
{
    atomic_store_explicit(&telemetry->stop, true, memory_order_release);
    rt_thread_join(&telemetry->thread);
    if (telemetry->to_file)
        close_log(telemetry, extra, extra_count);
    publish_counts(telemetry);
    io_telemetry_result(telemetry, result);
}

void io_telemetry_result(const struct io_telemetry *telemetry, struct io_log_result *result)
{
    *result = (struct io_log_result){
        .records = atomic_load_explicit(&telemetry->records, memory_order_relaxed),
        .dropped = atomic_load_explicit(&telemetry->lost, memory_order_relaxed),
        .bytes = atomic_load_explicit(&telemetry->bytes, memory_order_relaxed),
        .decimated = atomic_load_explicit(&telemetry->decimated, memory_order_relaxed),
        .error = atomic_load_explicit(&telemetry->error, memory_order_relaxed),
    };
    for (int i = 0; i < telemetry->channel_count; i++)
        result->dropped += rt_ring_dropped(telemetry->consumers[i].ring);
}
