#include "tests/io/link/link_fixture.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "rt/alloc.h"
#include "tests/io/forbid_uring.h"
#include "tests/io/stamps.h"

enum io_link_mode mode;
bool polls, memory_locked;
_Alignas(4096) unsigned char memory[LINK_MEMORY];
static _Alignas(4096) unsigned char second_memory[LINK_MEMORY];
struct io_links *links;
struct rt_thread thread;
struct rt_watchdog watchdog;
struct io_command command;
struct board board, stranger;

const struct rt_thread_spec thread_spec = {.name = "io", .policy = SCHED_OTHER, .cpu = -1};
const struct io_address loopback = {.ip = 0x7f000001, .port = 0};

int prepare_link_tests(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "threaded";
    mode = strcmp(how, "inline") == 0 ? IO_LINK_INLINE : IO_LINK_THREADED;
    polls = strcmp(how, "polling") == 0;
    if (strcmp(how, "refused") == 0 && !forbid_uring()) {
        puts("skipped: no seccomp filter can be installed, so io_uring cannot be refused");
        return 77;
    }
    char reason[RT_REASON_MAX];
    /* a sanitizer makes page faults of its own */
    memory_locked = rt_alloc_is_counted() && rt_lock_memory(reason);
    if (!hold_stamps()) {
        puts("the kernel stamps no packets");
        return 1;
    }
    return 0;
}

struct io_link_spec make_spec(uint64_t lost_after_ns)
{
    return (struct io_link_spec){
        .name = "board",
        .bus = {.listen = "127.0.0.1:0"},
        .lost_after_ns = lost_after_ns,
        .system_id = 42,
        .component_id = 1,
    };
}

static void board_open(struct board *to)
{
    TEST_ASSERT_EQUAL(0, io_udp_open(&to->udp, loopback));
    to->parser = io_mavlink_parser_place(to->parser_mem);
    to->sender = (struct io_mavlink_sender){.system_id = 1, .component_id = 1};
    to->packet.size = to->at = 0;
}

void start(const struct io_link_spec *spec)
{
    char error[IO_ERROR_MAX];
    TEST_ASSERT_LESS_OR_EQUAL_size_t(LINK_MEMORY, io_links_size(1));
    links = io_links_place(spec, 1, mode, memory);
    TEST_ASSERT_EQUAL_MESSAGE(0, io_links_open(links, error), error);
    TEST_ASSERT_EQUAL(0, io_links_start(links, &thread_spec, polls, &watchdog, &thread));
    board.simulator = stranger.simulator =
        (struct io_address){.ip = loopback.ip, .port = io_link_port(links, 0)};
}

void setUp(void)
{
    memset(memory, 0xff, sizeof memory);
    watchdog = (struct rt_watchdog){.limit_ns = 1 * MS};
    links = NULL;
    board_open(&board);
    board_open(&stranger);
}

void tearDown(void)
{
    if (links)
        io_links_stop(links);
    io_udp_close(&board.udp);
    io_udp_close(&stranger.udp);
}

void board_send(struct board *from, const struct io_mavlink_message *message)
{
    unsigned char frame[IO_MAVLINK_FRAME_MAX];
    const size_t size = io_mavlink_encode(&from->sender, message, frame);
    TEST_ASSERT_EQUAL(0, io_udp_send(&from->udp, from->simulator, frame, size, false));
}

void board_command(struct board *from, uint64_t time_us)
{
    struct io_mavlink_message message = {
        .kind = IO_MAVLINK_CONTROLS,
        .controls = {.time_us = time_us, .flags = 1, .mode = 0x81},
    };
    message.controls.controls[0] = 0.5f;
    message.controls.controls[15] = -1.0f;
    board_send(from, &message);
}

void board_heartbeat(struct board *from)
{
    struct io_mavlink_message message;
    io_mavlink_from_status(IO_MAVLINK_ACTIVE, &message);
    board_send(from, &message);
}

void pause_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS};
    (void)nanosleep(&pause, NULL);
}

bool board_receive(struct board *from)
{
    if (from->at == from->packet.size) {
        from->at = from->packet.size = 0;
        if (io_udp_receive(&from->udp, &from->packet) <= 0)
            return false;
    }
    from->at += io_mavlink_feed(from->parser, from->packet.bytes + from->at,
                                from->packet.size - from->at, &from->message);
    io_mavlink_decode(from->parser, &from->message);
    return from->message.kind != IO_MAVLINK_NONE;
}

void poll_once(void)
{
    io_links_poll(links);
    (void)sched_yield();
}

void board_expect(struct board *from, enum io_mavlink_kind kind)
{
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (!board_receive(from)) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "nothing received");
        poll_once();
    }
    TEST_ASSERT_EQUAL(kind, from->message.kind);
    TEST_ASSERT_EQUAL_UINT8(42, from->message.system_id);
}

struct io_link_counts counters(void)
{
    struct io_link_counts now;
    io_link_counters(links, 0, &now);
    return now;
}

void wait_messages(uint64_t count)
{
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (counters().rx + counters().rx_bad < count) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "not received");
        poll_once();
    }
}

void wait_commands(uint64_t count)
{
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (counters().commands < count) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "no command");
        poll_once();
    }
}

struct io_sample make_sample(uint64_t frame, uint32_t due)
{
    return (struct io_sample){
        .frame = frame,
        .sim_us = 1000 * (frame + 1),
        .due = due,
        .fields = IO_FIELD_GYRO,
        .gyro = {0.25, 0.5, -0.75},
        .fix = {.latitude = 0.5},
        .attitude = {1.0, 0.0, 0.0, 0.0},
    };
}

void commit(uint64_t frame, uint32_t due)
{
    const struct io_sample sample = make_sample(frame, due);
    io_link_commit(links, 0, &sample);
}

void start_spec_with_board(const struct io_link_spec *spec)
{
    start(spec);
    board_heartbeat(&board);
    wait_messages(1);
}

void start_with_board(uint64_t lost_after_ns)
{
    const struct io_link_spec spec = make_spec(lost_after_ns);
    start_spec_with_board(&spec);
}

void wait_losses(uint64_t count)
{
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (counters().losses < count) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "not lost");
        poll_once();
    }
}

int open_second(const struct io_link_spec *spec, char error[IO_ERROR_MAX])
{
    struct io_links *second = io_links_place(spec, 1, mode, second_memory);
    const int status = io_links_open(second, error);
    io_links_stop(second); /* harmless after a failed open */
    return status;
}
