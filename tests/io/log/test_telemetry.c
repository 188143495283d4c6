/*
 * The telemetry thread: nothing that is reported as written is lost, whatever happens to the disk,
 * the process or the ring.
 */
#include "io/log/telemetry.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "io/log/append_file.h"
#include "io/log/mcap.h"
#include "unity.h"

enum { FRAME, NOISE, CHANNEL_COUNT };
/* Limits of a wait, in time and in records. */
enum { PATIENCE_MS = 30000, RECORDS_MAX = 1000000 };

struct frame {
    uint64_t index;
    double x[4];
};

struct noise {
    uint64_t index;
    unsigned char bytes[2040]; /* does not compress */
};

static const struct rt_thread_spec thread = {.name = "telemetry", .policy = SCHED_OTHER, .cpu = -1};
static const struct io_blob scenario = {
    .name = "scenario.yaml", .media_type = "text/yaml", .bytes = "a: 1\n", .size = 5};
static const struct io_blob report = {
    .name = "report.json", .media_type = "application/json", .bytes = "{}", .size = 2};

static char folder[64], path[80], error[256];
static void *memory;
static struct io_telemetry *telemetry;
static uint64_t next_index[CHANNEL_COUNT]; /* of each channel's next record */

void setUp(void)
{
    strcpy(folder, "/tmp/test_telemetry_XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/log.mcap", folder);
}

void tearDown(void)
{
    unlink(path);
    rmdir(folder);
    free(memory);
    memory = NULL;
}

static void place(uint32_t depth)
{
    const struct io_channel_spec channels[CHANNEL_COUNT] = {
        [FRAME] = {.topic = "/frame",
                   .schema = "test_msgs/msg/Frame",
                   .definition = "uint64 index\nfloat64[4] x",
                   .payload_size = sizeof(struct frame),
                   .depth = depth},
        [NOISE] = {.topic = "/noise",
                   .schema = "test_msgs/msg/Noise",
                   .definition = "uint64 index\nuint8[2040] bytes",
                   .payload_size = sizeof(struct noise),
                   .depth = depth},
    };
    const size_t size = io_telemetry_size(channels, CHANNEL_COUNT);
    memory = aligned_alloc(64, (size + 63) / 64 * 64);
    memset(memory, 0xa5, size);
    telemetry = io_telemetry_place(channels, CHANNEL_COUNT, memory);
    memset(next_index, 0, sizeof next_index);
}

static void start(void)
{
    static const char *const pairs[] = {"seed", "7", NULL};
    TEST_ASSERT_EQUAL_INT(0, io_telemetry_start(telemetry, path, &thread, pairs, &scenario, 1));
}

static double value(uint64_t index, int i)
{
    return (double)index * 0.25 + i;
}

/* Record k of the channel has index k and log time 1000 k; false when it was dropped. */
static bool record_frame(void)
{
    const uint64_t index = next_index[FRAME]++;
    struct frame *frame = io_telemetry_claim(telemetry, FRAME, 1000 * index);
    if (!frame)
        return false;
    frame->index = index;
    for (int i = 0; i < 4; i++)
        frame->x[i] = value(index, i);
    io_telemetry_push(telemetry, FRAME);
    return true;
}

static bool record_noise(void)
{
    static uint32_t state = 1;
    const uint64_t index = next_index[NOISE]++;
    struct noise *noise = io_telemetry_claim(telemetry, NOISE, 1000 * index);
    if (!noise)
        return false;
    noise->index = index;
    for (size_t i = 0; i < sizeof noise->bytes; i++) {
        state = state * 1664525u + 1013904223u;
        noise->bytes[i] = (unsigned char)(state >> 24);
    }
    io_telemetry_push(telemetry, NOISE);
    return true;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static void wait_for_room(int channel)
{
    for (int i = 0; i < PATIENCE_MS && !io_telemetry_has_room(telemetry, channel); i++)
        pause_ms(1);
    TEST_ASSERT_TRUE_MESSAGE(io_telemetry_has_room(telemetry, channel), "nobody drains the ring");
}

static struct io_log_result stop(void)
{
    struct io_log_result result;
    io_telemetry_stop(telemetry, &report, 1, &result);
    return result;
}

/* The contents of a log; the index is checked against sequence and time, gaps are counted. */
struct contents {
    uint64_t records[CHANNEL_COUNT];
    uint64_t gaps[CHANNEL_COUNT];
    bool complete, has_report;
};

static void check_message(const struct io_mcap_message *message, struct contents *contents,
                          uint32_t expected[CHANNEL_COUNT])
{
    const int channel = strcmp(message->topic, "/frame") == 0 ? FRAME : NOISE;
    struct frame frame = {0};
    memcpy(&frame, message->data + 4, channel == FRAME ? sizeof frame : sizeof frame.index);
    TEST_ASSERT_EQUAL_UINT64(message->sequence, frame.index);
    TEST_ASSERT_EQUAL_UINT64(1000 * frame.index, message->log_time_ns);
    for (int i = 0; channel == FRAME && i < 4; i++)
        TEST_ASSERT_EQUAL_DOUBLE(value(frame.index, i), frame.x[i]);
    TEST_ASSERT_TRUE(message->sequence >= expected[channel]);
    contents->gaps[channel] += message->sequence - expected[channel];
    contents->records[channel]++;
    expected[channel] = message->sequence + 1;
}

static struct contents read_log(void)
{
    struct contents contents = {0};
    uint32_t expected[CHANNEL_COUNT] = {0};
    struct io_mcap_message message;
    size_t size;
    int result;
    struct io_mcap_reader *reader = io_mcap_open(path, error);
    TEST_ASSERT_NOT_NULL_MESSAGE(reader, error);
    while ((result = io_mcap_next(reader, &message, error)) == 1)
        check_message(&message, &contents, expected);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, result, error);
    TEST_ASSERT_EQUAL_STRING("7", io_mcap_metadata(reader, "airbearing", "seed"));
    TEST_ASSERT_EQUAL_MEMORY("a: 1\n", io_mcap_attachment(reader, "scenario.yaml", &size), 5);
    contents.complete = io_mcap_complete(reader);
    contents.has_report = io_mcap_attachment(reader, "report.json", &size) != NULL;
    io_mcap_close(reader);
    return contents;
}

static uint64_t file_size(void)
{
    struct stat status;
    TEST_ASSERT_EQUAL_INT(0, stat(path, &status));
    return (uint64_t)status.st_size;
}

static void test_a_run_without_records_leaves_a_whole_log(void)
{
    place(16);
    start();
    const struct io_log_result result = stop();
    TEST_ASSERT_EQUAL_UINT64(0, result.records);
    TEST_ASSERT_EQUAL_UINT64(0, result.dropped);
    TEST_ASSERT_EQUAL_UINT64(file_size(), result.bytes);
    const struct contents contents = read_log();
    TEST_ASSERT_TRUE(contents.complete && contents.has_report);
}

static void test_every_record_reaches_the_log(void)
{
    enum { COUNT = 20000 };
    place(1024);
    start();
    for (int i = 0; i < COUNT; i++) {
        wait_for_room(FRAME);
        TEST_ASSERT_TRUE(record_frame());
        if (i % 10 == 0) {
            wait_for_room(NOISE);
            TEST_ASSERT_TRUE(record_noise());
        }
    }
    const struct io_log_result result = stop();
    TEST_ASSERT_EQUAL_INT(0, result.error);
    TEST_ASSERT_EQUAL_UINT64(COUNT + COUNT / 10, result.records);
    TEST_ASSERT_EQUAL_UINT64(0, result.dropped);
    TEST_ASSERT_EQUAL_UINT64(file_size(), result.bytes);
    const struct contents contents = read_log();
    TEST_ASSERT_TRUE(contents.complete && contents.has_report);
    TEST_ASSERT_EQUAL_UINT64(COUNT, contents.records[FRAME]);
    TEST_ASSERT_EQUAL_UINT64(COUNT / 10, contents.records[NOISE]);
    TEST_ASSERT_EQUAL_UINT64(0, contents.gaps[FRAME] + contents.gaps[NOISE]);
}

static void test_without_a_file_the_rings_are_drained_and_nothing_is_kept(void)
{
    place(64);
    TEST_ASSERT_EQUAL_INT(0, io_telemetry_start(telemetry, NULL, &thread, NULL, NULL, 0));
    for (int i = 0; i < 1000; i++) {
        wait_for_room(FRAME);
        TEST_ASSERT_TRUE(record_frame());
    }
    const struct io_log_result result = stop();
    TEST_ASSERT_EQUAL_INT(0, result.error);
    TEST_ASSERT_EQUAL_UINT64(0, result.records + result.dropped + result.bytes);
    TEST_ASSERT_NOT_EQUAL_INT(0, access(path, F_OK));
}

static uint64_t seen[CHANNEL_COUNT];
static bool saw_another;

static void see(void *self, int channel, uint64_t log_ns, const void *payload)
{
    const struct frame *frame = payload; /* both begin with their index */
    saw_another |= self != &seen || log_ns != 1000 * seen[channel] || frame->index != seen[channel];
    seen[channel]++;
}

static void see_records(const char *to)
{
    place(64);
    memset(seen, 0, sizeof seen);
    io_telemetry_observe(telemetry, (struct io_record_observer){&seen, see});
    TEST_ASSERT_EQUAL_INT(0, io_telemetry_start(telemetry, to, &thread, NULL, NULL, 0));
    for (int i = 0; i < 300; i++) {
        wait_for_room(FRAME);
        wait_for_room(NOISE);
        record_frame();
        record_noise();
    }
    (void)stop();
    TEST_ASSERT_EQUAL_UINT64(300, seen[FRAME]);
    TEST_ASSERT_EQUAL_UINT64(300, seen[NOISE]);
    TEST_ASSERT_FALSE(saw_another);
}

static void test_a_tap_sees_every_record_with_a_log_and_without(void)
{
    see_records(path);
    free(memory);
    see_records(NULL);
}

static void test_channels_are_merged_by_time(void)
{
    place(1024);
    for (int i = 0; i < 500; i++)
        record_frame();
    for (int i = 0; i < 500; i++)
        record_noise();
    start();
    stop();
    struct io_mcap_reader *reader = io_mcap_open(path, error);
    struct io_mcap_message message;
    uint64_t last_ns = 0;
    TEST_ASSERT_NOT_NULL_MESSAGE(reader, error);
    for (int i = 0; i < 1000; i++) {
        TEST_ASSERT_EQUAL_INT_MESSAGE(1, io_mcap_next(reader, &message, error), error);
        TEST_ASSERT_TRUE(message.log_time_ns >= last_ns);
        last_ns = message.log_time_ns;
    }
    io_mcap_close(reader);
}

static void test_a_full_ring_drops_and_counts(void)
{
    place(64);
    for (int i = 0; i < 64; i++)
        TEST_ASSERT_TRUE(record_frame());
    TEST_ASSERT_FALSE(io_telemetry_has_room(telemetry, FRAME));
    TEST_ASSERT_TRUE(io_telemetry_has_room(telemetry, NOISE));
    for (int i = 0; i < 10; i++)
        TEST_ASSERT_FALSE(record_frame());
    start();
    wait_for_room(FRAME);
    TEST_ASSERT_TRUE(record_frame());
    const struct io_log_result result = stop();
    TEST_ASSERT_EQUAL_UINT64(65, result.records);
    TEST_ASSERT_EQUAL_UINT64(10, result.dropped);
    const struct contents contents = read_log();
    TEST_ASSERT_EQUAL_UINT64(65, contents.records[FRAME]);
    TEST_ASSERT_EQUAL_UINT64(10, contents.gaps[FRAME]);
}

/* A ring of 0.65 s: a shared machine may stall for that long. */
static void test_fifty_thousand_records_a_second_lose_none(void)
{
    enum { MILLISECONDS = 1000, PER_MILLISECOND = 50 };
    place(32768);
    start();
    struct timespec release;
    clock_gettime(CLOCK_MONOTONIC, &release);
    for (int ms = 0; ms < MILLISECONDS; ms++) {
        for (int i = 0; i < PER_MILLISECOND; i++)
            record_frame();
        release.tv_nsec += 1000000;
        if (release.tv_nsec >= 1000000000) {
            release.tv_nsec -= 1000000000;
            release.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &release, NULL);
    }
    const struct io_log_result result = stop();
    TEST_ASSERT_EQUAL_UINT64(0, result.dropped);
    TEST_ASSERT_EQUAL_UINT64(MILLISECONDS * PER_MILLISECOND, result.records);
    TEST_ASSERT_EQUAL_UINT64(result.records, read_log().records[FRAME]);
}

/* Records until the write fails, and some more. */
static struct io_log_result record_until_error(void)
{
    struct io_log_result result = {0};
    for (int i = 0; i < RECORDS_MAX && result.error == 0; i++) {
        wait_for_room(NOISE);
        record_noise();
        io_telemetry_result(telemetry, &result);
    }
    for (int i = 0; i < 1000; i++) {
        wait_for_room(NOISE); /* the rings are still drained */
        record_noise();
    }
    return stop();
}

static void check_full_disk(int expected_error)
{
    const struct io_log_result result = record_until_error();
    const struct contents contents = read_log();
    TEST_ASSERT_EQUAL_INT(expected_error, result.error);
    TEST_ASSERT_GREATER_THAN_UINT64(0, result.records);
    TEST_ASSERT_EQUAL_UINT64(next_index[NOISE], result.records + result.dropped);
    TEST_ASSERT_EQUAL_UINT64(result.records, contents.records[NOISE]);
    TEST_ASSERT_EQUAL_UINT64(0, contents.gaps[NOISE]);
    TEST_ASSERT_EQUAL_UINT64(file_size(), result.bytes);
    TEST_ASSERT_TRUE(contents.complete); /* the cut chunk left room for the summary */
}

static void test_a_file_size_limit_ends_the_log_and_not_the_run(void)
{
    struct rlimit limit;
    TEST_ASSERT_EQUAL_INT(0, getrlimit(RLIMIT_FSIZE, &limit));
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 1000000;
    TEST_ASSERT_EQUAL_INT(0, setrlimit(RLIMIT_FSIZE, &limit));
    place(256);
    start();
    check_full_disk(-EFBIG);
    limit.rlim_cur = before;
    TEST_ASSERT_EQUAL_INT(0, setrlimit(RLIMIT_FSIZE, &limit));
}

/* Run a scene in a process of its own.  Its exit code: 0 good, 77 not permitted here. */
static int in_child(int (*scene)(void))
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        _exit(scene());
    int status;
    TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int full_tmpfs_scene(void)
{
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return 77;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", folder, "tmpfs", 0, "size=1m") != 0)
        return 77;
    place(256);
    start();
    check_full_disk(-ENOSPC);
    return 0; /* a failed assertion does not come here */
}

static void test_a_full_tmpfs_leaves_whole_chunks_and_a_summary(void)
{
    const int code = in_child(full_tmpfs_scene);
    if (code == 77)
        TEST_IGNORE_MESSAGE("mounting a tmpfs is not permitted here");
    TEST_ASSERT_EQUAL_INT(0, code);
}

static void test_a_log_that_cannot_be_started_is_refused(void)
{
    place(16);
    TEST_ASSERT_EQUAL_INT(-ENOSPC,
                          io_telemetry_start(telemetry, "/dev/full", &thread, NULL, NULL, 0));
    TEST_ASSERT_EQUAL_INT(-EISDIR, io_telemetry_start(telemetry, folder, &thread, NULL, NULL, 0));
}

static void test_a_log_that_is_being_written_is_left_alone(void)
{
    static struct io_append_file second;
    place(64);
    start();
    TEST_ASSERT_TRUE(record_frame());
    TEST_ASSERT_EQUAL_INT(-EBUSY, io_append_file_open(&second, path));
    (void)stop();
    const struct contents contents = read_log();
    TEST_ASSERT_TRUE(contents.complete);
    TEST_ASSERT_EQUAL_UINT64(1, contents.records[FRAME]);
    TEST_ASSERT_EQUAL_INT(0, io_append_file_open(&second, path));
    TEST_ASSERT_EQUAL_INT(0, io_append_file_close(&second));
}

/* io_uring is forbidden in many containers. */
static int forbid_io_uring(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = 4, .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
               ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)
               : -1;
}

static int without_io_uring_scene(void)
{
    if (forbid_io_uring() != 0)
        return 77;
    TEST_ASSERT_EQUAL_INT(-1, syscall(SYS_io_uring_setup, 1, NULL));
    TEST_ASSERT_EQUAL_INT(EPERM, errno);
    test_every_record_reaches_the_log();
    return 0; /* a failed assertion does not come here */
}

static void test_the_log_does_not_need_io_uring(void)
{
    const int code = in_child(without_io_uring_scene);
    if (code == 77)
        TEST_IGNORE_MESSAGE("seccomp filters are not permitted here");
    TEST_ASSERT_EQUAL_INT(0, code);
}

/* A plain write raises the signal in the thread that calls start. */
static int no_room_for_the_head_scene(void)
{
    if (forbid_io_uring() != 0)
        return 77;
    const struct rlimit limit = {.rlim_cur = 100, .rlim_max = 100};
    signal(SIGXFSZ, SIG_DFL);
    setrlimit(RLIMIT_FSIZE, &limit);
    place(16);
    return io_telemetry_start(telemetry, path, &thread, NULL, &scenario, 1) == -EFBIG ? 0 : 1;
}

static void test_a_file_size_limit_below_the_head_is_an_error_and_not_a_signal(void)
{
    const int code = in_child(no_room_for_the_head_scene);
    if (code == 77)
        TEST_IGNORE_MESSAGE("seccomp filters are not permitted here");
    TEST_ASSERT_EQUAL_INT(0, code);
}

static void run_until_killed(struct io_log_result *shown)
{
    for (int i = 0; i < RECORDS_MAX; i++) {
        wait_for_room(NOISE);
        record_noise();
        io_telemetry_result(telemetry, shown);
    }
    _exit(1);
}

static void test_a_killed_run_leaves_all_that_was_reported_as_written(void)
{
    struct io_log_result *shown =
        mmap(NULL, sizeof *shown, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    TEST_ASSERT_TRUE(shown != MAP_FAILED);
    for (uint64_t records = 300; records <= 1500; records += 300) {
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            place(256);
            start();
            run_until_killed(shown);
        }
        for (int i = 0; i < PATIENCE_MS; i++) {
            if (((volatile struct io_log_result *)shown)->records >= records)
                break;
            pause_ms(1);
        }
        kill(child, SIGKILL);
        TEST_ASSERT_EQUAL_INT(child, waitpid(child, NULL, 0));
        TEST_ASSERT_TRUE(shown->records >= records);
        const struct contents contents = read_log();
        TEST_ASSERT_FALSE(contents.complete);
        TEST_ASSERT_EQUAL_UINT64(0, contents.gaps[NOISE]);
        TEST_ASSERT_TRUE(contents.records[NOISE] >= shown->records);
        memset(shown, 0, sizeof *shown);
    }
    munmap(shown, sizeof *shown);
}

/* A chunk is written a quarter of a second after its first record, however small. */
static void test_a_slow_channel_reaches_the_file_while_the_run_goes_on(void)
{
    struct io_log_result result = {0};
    place(16);
    start();
    record_frame();
    for (int i = 0; i < PATIENCE_MS / 10 && result.records == 0; i++) {
        pause_ms(10);
        io_telemetry_result(telemetry, &result);
    }
    TEST_ASSERT_EQUAL_UINT64(1, read_log().records[FRAME]);
    record_frame();
    result = stop();
    TEST_ASSERT_EQUAL_UINT64(2, result.records);
    TEST_ASSERT_EQUAL_UINT64(2, read_log().records[FRAME]);
}

/* A stalled disk: a pipe whose reader reads only while it is allowed to. */
struct slow_disk {
    int from, to;
    atomic_bool moves, gone;
    pthread_t thread;
};

static void *carry(void *self)
{
    struct slow_disk *disk = self;
    char bytes[4096];
    for (;;) {
        const bool gone = atomic_load(&disk->gone);
        const ssize_t size = atomic_load(&disk->moves) ? read(disk->from, bytes, sizeof bytes) : -1;
        if (size > 0 && write(disk->to, bytes, (size_t)size) != size)
            abort();
        if (size > 0)
            continue;
        if (gone)
            return NULL;
        pause_ms(1);
    }
}

static void open_slow_disk(struct slow_disk *disk, const char *copy)
{
    TEST_ASSERT_EQUAL_INT(0, mkfifo(path, 0600));
    disk->from = open(path, O_RDONLY | O_NONBLOCK);
    disk->to = open(copy, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    TEST_ASSERT_TRUE(disk->from >= 0 && disk->to >= 0);
    atomic_init(&disk->moves, true);
    atomic_init(&disk->gone, false);
    TEST_ASSERT_EQUAL_INT(0, pthread_create(&disk->thread, NULL, carry, disk));
}

static void test_a_disk_that_stands_still_costs_records_and_not_time(void)
{
    static struct slow_disk disk;
    char copy[96];
    snprintf(copy, sizeof copy, "%s.copy", path);
    open_slow_disk(&disk, copy);
    place(256);
    static const char *const pairs[] = {"seed", "7", NULL};
    const int refused = io_telemetry_start(telemetry, path, &thread, pairs, &scenario, 1);
    atomic_store(&disk.moves, false);
    uint64_t taken = 0, lost = 0;
    for (int i = 0; i < 200 && refused == 0; i++) { /* goes on while the disk stalls */
        lost += record_noise() ? 0 : 1;
        wait_for_room(NOISE);
        taken++;
    }
    for (int i = 0; i < RECORDS_MAX && refused == 0 && lost < 1000; i++) /* blocks, then the ring */
        lost += record_noise() ? 0 : 1;
    atomic_store(&disk.moves, true);
    struct io_log_result result = {0};
    if (refused == 0)
        result = stop();
    atomic_store(&disk.gone, true);
    pthread_join(disk.thread, NULL);
    close(disk.from);
    close(disk.to);
    unlink(path);
    TEST_ASSERT_EQUAL_INT(0, rename(copy, path));
    if (refused == -ESPIPE)
        TEST_IGNORE_MESSAGE("io_uring is not permitted here, and a pipe needs it");
    TEST_ASSERT_EQUAL_INT(0, refused);
    TEST_ASSERT_EQUAL_INT(0, result.error);
    TEST_ASSERT_EQUAL_UINT64(lost, result.dropped);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(taken, result.records);
    TEST_ASSERT_EQUAL_UINT64(next_index[NOISE], result.records + result.dropped);
    const struct contents contents = read_log();
    TEST_ASSERT_TRUE(contents.complete);
    TEST_ASSERT_EQUAL_UINT64(result.records, contents.records[NOISE]);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_run_without_records_leaves_a_whole_log);
    RUN_TEST(test_every_record_reaches_the_log);
    RUN_TEST(test_without_a_file_the_rings_are_drained_and_nothing_is_kept);
    RUN_TEST(test_a_tap_sees_every_record_with_a_log_and_without);
    RUN_TEST(test_channels_are_merged_by_time);
    RUN_TEST(test_a_full_ring_drops_and_counts);
    RUN_TEST(test_fifty_thousand_records_a_second_lose_none);
    RUN_TEST(test_a_file_size_limit_ends_the_log_and_not_the_run);
    RUN_TEST(test_a_full_tmpfs_leaves_whole_chunks_and_a_summary);
    RUN_TEST(test_a_log_that_cannot_be_started_is_refused);
    RUN_TEST(test_a_log_that_is_being_written_is_left_alone);
    RUN_TEST(test_the_log_does_not_need_io_uring);
    RUN_TEST(test_a_file_size_limit_below_the_head_is_an_error_and_not_a_signal);
    RUN_TEST(test_a_killed_run_leaves_all_that_was_reported_as_written);
    RUN_TEST(test_a_disk_that_stands_still_costs_records_and_not_time);
    RUN_TEST(test_a_slow_channel_reaches_the_file_while_the_run_goes_on);
    return UNITY_END();
}
