/*
 * Links against a board that is nothing but a socket and the codec.  The same promises in each way
 * to run them, given as the argument: threaded, polling, inline, refused (threaded, no io_uring).
 */
#include "io/link/link.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "io/bus/address.h"
#include "io/bus/udp.h"
#include "io/protocol/hand.h"
#include "io/protocol/mavlink.h"
#include "rt/alloc.h"
#include "rt/clock.h"
#include "rt/estop.h"
#include "tests/io/forbid_uring.h"
#include "tests/io/stamps.h"
#include "tests/io/wire.h"
#include "unity.h"

enum { MEMORY = 2 << 20, MS = 1000000 };
static const uint64_t PATIENCE_NS = 20000000000; /* with a machine that stands still */

static enum io_link_mode mode;
static bool polls, locked;
static _Alignas(4096) unsigned char memory[MEMORY], second_memory[MEMORY];
static struct io_links *links;
static struct rt_thread thread;
static struct rt_watchdog dog;
static struct io_command command;

struct board {
    struct io_udp udp;
    struct io_address simulator;
    struct io_mavlink_sender sender;
    struct io_mavlink_parser *parser;
    struct io_mavlink_message heard;
    struct io_packet packet; /* not all read yet when at < size */
    size_t at;
    _Alignas(64) unsigned char parser_mem[4096];
};
static struct board board, stranger;

static const struct rt_thread_spec thread_spec = {.name = "io", .policy = SCHED_OTHER, .cpu = -1};
static const struct io_address loopback = {.ip = 0x7f000001, .port = 0};

static struct io_link_spec make_spec(uint64_t lost_after_ns)
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

static void start(const struct io_link_spec *spec)
{
    char error[IO_ERROR_MAX];
    TEST_ASSERT_LESS_OR_EQUAL_size_t(MEMORY, io_links_size(1));
    links = io_links_place(spec, 1, mode, memory);
    TEST_ASSERT_EQUAL_MESSAGE(0, io_links_open(links, error), error);
    TEST_ASSERT_EQUAL(0, io_links_start(links, &thread_spec, polls, &dog, &thread));
    board.simulator = stranger.simulator =
        (struct io_address){.ip = loopback.ip, .port = io_link_port(links, 0)};
}

void setUp(void)
{
    memset(memory, 0xff, sizeof memory);
    dog = (struct rt_watchdog){.limit_ns = 1 * MS};
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

static void board_say(struct board *from, const struct io_mavlink_message *message)
{
    unsigned char frame[IO_MAVLINK_FRAME_MAX];
    const size_t size = io_mavlink_encode(&from->sender, message, frame);
    TEST_ASSERT_EQUAL(0, io_udp_send(&from->udp, from->simulator, frame, size, false));
}

static void board_command(struct board *from, uint64_t time_us)
{
    struct io_mavlink_message message = {
        .kind = IO_MAVLINK_CONTROLS,
        .controls = {.time_us = time_us, .flags = 1, .mode = 0x81},
    };
    message.controls.controls[0] = 0.5f;
    message.controls.controls[15] = -1.0f;
    board_say(from, &message);
}

static void board_heartbeat(struct board *from)
{
    struct io_mavlink_message message;
    io_mavlink_from_status(IO_MAVLINK_ACTIVE, &message);
    board_say(from, &message);
}

static void pause_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS};
    (void)nanosleep(&pause, NULL);
}

/* The next message in from->heard; false when none has come so far. */
static bool board_look(struct board *from)
{
    if (from->at == from->packet.size) {
        from->at = from->packet.size = 0;
        if (io_udp_receive(&from->udp, &from->packet) <= 0)
            return false;
    }
    from->at += io_mavlink_feed(from->parser, from->packet.bytes + from->at,
                                from->packet.size - from->at, &from->heard);
    return from->heard.kind != IO_MAVLINK_NONE;
}

static void breathe(void)
{
    io_links_poll(links);
    (void)sched_yield();
}

static void board_hear(struct board *from, enum io_mavlink_kind kind)
{
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (!board_look(from)) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "nothing heard");
        breathe();
    }
    TEST_ASSERT_EQUAL(kind, from->heard.kind);
    TEST_ASSERT_EQUAL_UINT8(42, from->heard.system_id);
}

static struct io_link_counts counters(void)
{
    struct io_link_counts now;
    io_link_counters(links, 0, &now);
    return now;
}

/* Until the link has seen that many datagrams worth of messages, good or bad. */
static void wait_seen(uint64_t count)
{
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (counters().rx + counters().rx_bad < count) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "not seen");
        breathe();
    }
}

static void wait_commands(uint64_t count)
{
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (counters().commands < count) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "no command");
        breathe();
    }
}

/* A sample whose tracks can be told apart from others by its time. */
static struct io_sample make_sample(uint64_t frame, uint32_t due)
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

static void commit(uint64_t frame, uint32_t due)
{
    const struct io_sample sample = make_sample(frame, due);
    io_link_commit(links, 0, &sample);
}

static void start_spec_with_board(const struct io_link_spec *spec)
{
    start(spec);
    board_heartbeat(&board);
    wait_seen(1);
}

static void start_with_board(uint64_t lost_after_ns)
{
    const struct io_link_spec spec = make_spec(lost_after_ns);
    start_spec_with_board(&spec);
}

static void test_a_command_is_latched_once(void)
{
    const struct io_link_spec spec = make_spec(10000ull * MS);
    start(&spec);
    TEST_ASSERT_FALSE(io_link_has_peer(links, 0));
    TEST_ASSERT_FALSE(io_link_alive(links, 0, rt_now_ns()));
    TEST_ASSERT_FALSE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT32(0, command.sequence);

    const uint64_t before_ns = rt_now_ns();
    board_command(&board, 777);
    wait_commands(1);
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT64(777, command.board_us);
    TEST_ASSERT_EQUAL_UINT32(1, command.sequence);
    TEST_ASSERT_EQUAL_UINT32(0x81, command.mode);
    TEST_ASSERT_EQUAL_UINT64(1, command.flags);
    TEST_ASSERT_EQUAL_FLOAT(0.5f, command.controls[0]);
    TEST_ASSERT_EQUAL_FLOAT(-1.0f, command.controls[15]);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(command.ready_ns, command.rx_ns);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(before_ns - 1 * MS, command.rx_ns); /* mapped clock */
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(rt_now_ns(), command.ready_ns);
    TEST_ASSERT_FALSE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT64(777, command.board_us);

    TEST_ASSERT_TRUE(io_link_has_peer(links, 0));
    TEST_ASSERT_TRUE(io_link_alive(links, 0, command.ready_ns));
    TEST_ASSERT_TRUE(io_link_alive(links, 0, command.ready_ns + 10000ull * MS));
    TEST_ASSERT_FALSE(io_link_alive(links, 0, command.ready_ns + 10001ull * MS));
}

static void test_a_pause_excuses_a_board(void)
{
    start_with_board(100ull * MS);
    board_command(&board, 1);
    wait_commands(1);
    (void)io_link_latch(links, 0, &command);
    const uint64_t pause_ns = command.ready_ns + 500ull * MS;
    TEST_ASSERT_FALSE(io_link_alive(links, 0, pause_ns));
    io_links_restart_loss_timers(links, pause_ns);
    TEST_ASSERT_TRUE(io_link_alive(links, 0, pause_ns + 100ull * MS));
    TEST_ASSERT_FALSE(io_link_alive(links, 0, pause_ns + 101ull * MS));
}

static void test_the_newest_command_wins(void)
{
    start_with_board(10000ull * MS);
    for (uint64_t i = 1; i <= 5; i++)
        board_command(&board, i);
    wait_commands(5);
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT64(5, command.board_us);
    TEST_ASSERT_EQUAL_UINT32(5, command.sequence);
    TEST_ASSERT_FALSE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT64(0, counters().rx_lost + counters().rx_bad);
    TEST_ASSERT_EQUAL_UINT64(6, counters().rx);
}

static void test_a_sample_leaves_in_order_with_the_sensors_last(void)
{
    start_with_board(10000ull * MS);
    commit(6, IO_SEND_HEARTBEAT | IO_SEND_SENSOR | IO_SEND_GPS | IO_SEND_STATE | IO_SEND_TIME);
    commit(7, IO_SEND_SENSOR);
    commit(8, 0);
    board_hear(&board, IO_MAVLINK_HEARTBEAT);
    TEST_ASSERT_EQUAL_UINT8(IO_MAVLINK_ACTIVE, board.heard.heartbeat.status);
    board_hear(&board, IO_MAVLINK_TIME);
    TEST_ASSERT_EQUAL_UINT32(7, board.heard.time.boot_ms);
    TEST_ASSERT_UINT64_WITHIN(600000000, (uint64_t)time(NULL) * 1000000, board.heard.time.unix_us);
    board_hear(&board, IO_MAVLINK_GPS);
    TEST_ASSERT_EQUAL_INT32(286478898, board.heard.gps.latitude_e7);
    board_hear(&board, IO_MAVLINK_STATE);
    TEST_ASSERT_EQUAL_FLOAT(1.0f, board.heard.state.attitude[0]);
    board_hear(&board, IO_MAVLINK_SENSOR);
    TEST_ASSERT_EQUAL_UINT64(7000, board.heard.sensor.time_us);
    TEST_ASSERT_EQUAL_HEX32(IO_FIELD_GYRO, board.heard.sensor.fields);
    TEST_ASSERT_EQUAL_FLOAT(-0.75f, board.heard.sensor.gyro[2]);
    board_hear(&board, IO_MAVLINK_SENSOR);
    TEST_ASSERT_EQUAL_UINT64(8000, board.heard.sensor.time_us);
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(7, counters().tx); /* with the farewell */
    TEST_ASSERT_EQUAL_UINT64(0, counters().tx_dropped);
    TEST_ASSERT_EQUAL_UINT64(0, io_mavlink_get_counters(board.parser)->lost);
}

static void test_samples_that_find_no_room_are_counted_and_the_others_keep_their_order(void)
{
    enum { COUNT = 200 };
    uint64_t heard = 0, last_us = 0;
    start_with_board(10000ull * MS);
    for (uint64_t i = 0; i < COUNT; i++)
        commit(i, IO_SEND_SENSOR);
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(COUNT + 1, counters().tx + counters().tx_dropped);
    while (board_look(&board)) {
        if (board.heard.kind != IO_MAVLINK_SENSOR)
            continue;
        TEST_ASSERT_GREATER_THAN_UINT64(last_us, board.heard.sensor.time_us);
        last_us = board.heard.sensor.time_us;
        heard++;
    }
    TEST_ASSERT_EQUAL_UINT64(counters().tx - 1, heard);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(8, heard); /* what the ring holds is never lost */
}

static void test_samples_without_a_peer_are_dropped_and_counted(void)
{
    const struct io_link_spec spec = make_spec(0);
    start(&spec);
    commit(0, IO_SEND_SENSOR | IO_SEND_GPS);
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(0, counters().tx);
    TEST_ASSERT_EQUAL_UINT64(2, counters().tx_dropped);
}

static void test_a_peer_in_the_spec_is_sent_to_at_once_and_nobody_else_is_heard(void)
{
    struct io_link_spec spec = make_spec(1);
    (void)snprintf(spec.bus.peer, sizeof spec.bus.peer, "127.0.0.1:%u",
                   io_udp_local(&board.udp).port);
    start(&spec);
    board_hear(&board, IO_MAVLINK_HEARTBEAT);
    commit(0, IO_SEND_SENSOR);
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (!board_look(&board) || board.heard.kind == IO_MAVLINK_HEARTBEAT) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "nothing but greetings");
        breathe();
    }
    TEST_ASSERT_EQUAL(IO_MAVLINK_SENSOR, board.heard.kind);
    TEST_ASSERT_FALSE(io_link_has_peer(links, 0));
    board_command(&stranger, 1);
    wait_seen(1);
    TEST_ASSERT_EQUAL_UINT64(1, counters().rx_bad);
    TEST_ASSERT_FALSE(io_link_has_peer(links, 0));
    board_command(&board, 2);
    wait_commands(1);
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT64(2, command.board_us);
}

static void test_timesync_is_answered_when_it_is_ours(void)
{
    struct io_mavlink_message request = {
        .kind = IO_MAVLINK_TIMESYNC,
        .timesync = {.ts1 = 1, .target_system = 99},
    };
    start_with_board(10000ull * MS);
    board_say(&board, &request); /* for somebody else */
    request.timesync = (struct io_mavlink_timesync){.tc1 = 5, .ts1 = 2};
    board_say(&board, &request); /* an answer */
    request.timesync = (struct io_mavlink_timesync){.ts1 = 4711};
    const uint64_t before_ns = rt_now_ns();
    board_say(&board, &request);
    board_hear(&board, IO_MAVLINK_TIMESYNC);
    TEST_ASSERT_EQUAL_INT64(4711, board.heard.timesync.ts1);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(before_ns, (uint64_t)board.heard.timesync.tc1);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(rt_now_ns(), (uint64_t)board.heard.timesync.tc1);
    TEST_ASSERT_EQUAL_UINT8(1, board.heard.timesync.target_system);
    request.timesync =
        (struct io_mavlink_timesync){.ts1 = 4712, .target_system = 42, .target_component = 1};
    board_say(&board, &request);
    board_hear(&board, IO_MAVLINK_TIMESYNC);
    TEST_ASSERT_EQUAL_INT64(4712, board.heard.timesync.ts1);
}

/* Its clock stands still an hour from ours, so that nothing else can be taken for it. */
static void test_a_board_is_asked_for_its_time(void)
{
    const int64_t shown = 3600000000000;
    struct io_link_spec spec = make_spec(10000ull * MS);
    struct io_clock_sample sight;
    spec.queries_time = true;
    start(&spec);
    TEST_ASSERT_FALSE(io_link_clock(links, 0, &sight));
    const uint64_t before_ns = rt_now_ns();
    board_heartbeat(&board);
    for (int i = 0; i < 2; i++) { /* and again */
        board_hear(&board, IO_MAVLINK_TIMESYNC);
        TEST_ASSERT_EQUAL_INT64(0, board.heard.timesync.tc1);
        struct io_mavlink_message answer = board.heard;
        answer.timesync.ts1++; /* of a question that nobody asked */
        answer.timesync.tc1 = 1;
        board_say(&board, &answer);
        answer.timesync.ts1--;
        answer.timesync.tc1 = shown + i;
        board_say(&board, &answer);
        const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
        while (!io_link_clock(links, 0, &sight)) {
            TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "no answer");
            breathe();
        }
        const uint64_t asked_ns = (uint64_t)answer.timesync.ts1;
        TEST_ASSERT_EQUAL_UINT64((uint64_t)(shown + i), sight.board_ns);
        TEST_ASSERT_GREATER_OR_EQUAL_UINT64(before_ns, asked_ns);
        TEST_ASSERT_EQUAL_UINT64(asked_ns + sight.delay_ns / 2, sight.local_ns);
        TEST_ASSERT_LESS_OR_EQUAL_UINT64(rt_now_ns(), asked_ns + sight.delay_ns);
    }
}

static void test_nobody_is_asked_for_its_time_unasked(void)
{
    start_with_board(10000ull * MS);
    board_heartbeat(&board);
    for (int i = 0; i < 20; i++) {
        pause_ms(5);
        breathe();
        TEST_ASSERT_FALSE(board_look(&board) && board.heard.kind == IO_MAVLINK_TIMESYNC);
    }
}

static void test_garbage_makes_no_peer(void)
{
    const struct io_link_spec spec = make_spec(10000ull * MS);
    start(&spec);
    TEST_ASSERT_EQUAL(0, io_udp_send(&stranger.udp, stranger.simulator, "hello", 5, false));
    wait_seen(1);
    TEST_ASSERT_EQUAL_UINT64(1, counters().rx_bad);
    TEST_ASSERT_EQUAL_UINT64(5, counters().rx_bytes);
    TEST_ASSERT_FALSE(io_link_has_peer(links, 0));
    board_heartbeat(&board);
    wait_seen(2);
    TEST_ASSERT_TRUE(io_link_has_peer(links, 0));
}

static void wait_bytes(uint64_t count)
{
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (counters().rx_bytes < count) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "no bytes");
        breathe();
    }
}

/* A stream cuts messages where it likes, the very first one too. */
static void test_a_first_message_in_pieces_is_heard(void)
{
    const int far = posix_openpt(O_RDWR | O_NOCTTY);
    TEST_ASSERT_TRUE(far >= 0 && grantpt(far) == 0 && unlockpt(far) == 0);
    struct io_link_spec spec = make_spec(0);
    spec.bus = (struct io_bus_spec){.kind = IO_BUS_SERIAL, .baud = 115200};
    TEST_ASSERT_EQUAL(0, ptsname_r(far, spec.bus.device, sizeof spec.bus.device));
    start(&spec);

    struct io_mavlink_message message;
    unsigned char frame[IO_MAVLINK_FRAME_MAX];
    io_mavlink_from_status(IO_MAVLINK_ACTIVE, &message);
    const size_t size = io_mavlink_encode(&board.sender, &message, frame);
    TEST_ASSERT_EQUAL(size - 1, write(far, frame, size - 1));
    wait_bytes(size - 1);
    TEST_ASSERT_FALSE(io_link_has_peer(links, 0));
    TEST_ASSERT_EQUAL(1, write(far, frame + size - 1, 1));
    wait_seen(1);
    TEST_ASSERT_EQUAL_UINT64(0, counters().rx_bad);
    TEST_ASSERT_TRUE(io_link_has_peer(links, 0));
    io_links_stop(links);
    links = NULL;
    close(far);
}

static void test_cut_and_oversize_datagrams_are_bad_and_spoil_nothing(void)
{
    static unsigned char bytes[IO_DATAGRAM_MAX + 1];
    struct io_mavlink_message message = {.kind = IO_MAVLINK_CONTROLS,
                                         .controls = {.time_us = 9, .mode = 1}};
    start_with_board(10000ull * MS);
    const size_t size = io_mavlink_encode(&board.sender, &message, bytes);
    const struct io_address to = board.simulator;
    TEST_ASSERT_EQUAL(0, io_udp_send(&board.udp, to, bytes, sizeof bytes, false));
    wait_seen(2);
    TEST_ASSERT_EQUAL(0, io_udp_send(&board.udp, to, bytes, size - 1, false));
    wait_seen(3);
    TEST_ASSERT_EQUAL_UINT64(0, counters().commands);
    TEST_ASSERT_EQUAL(0, io_udp_send(&board.udp, to, bytes, size, false));
    wait_commands(1);
    TEST_ASSERT_EQUAL_UINT64(2, counters().rx_bad);
}

static void test_a_second_sender_is_ignored_and_counted(void)
{
    start_with_board(10000ull * MS);
    board_command(&stranger, 666);
    wait_seen(2);
    TEST_ASSERT_EQUAL_UINT64(1, counters().rx_bad);
    TEST_ASSERT_EQUAL_UINT64(0, counters().commands);
    board_command(&board, 1);
    wait_commands(1);
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT64(1, command.board_us);
    commit(0, IO_SEND_SENSOR);
    board_hear(&board, IO_MAVLINK_SENSOR);
    TEST_ASSERT_FALSE(board_look(&stranger));
}

static void wait_losses(uint64_t count)
{
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (counters().losses < count) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "not lost");
        breathe();
    }
}

static void test_a_lost_peer_is_replaced_by_the_next_one(void)
{
    start_with_board(30ull * MS);
    board_command(&board, 1);
    wait_commands(1);
    wait_losses(1);
    TEST_ASSERT_FALSE(io_link_alive(links, 0, rt_now_ns()));
    stranger.sender.sequence = 99; /* the same ids, other numbers: no gap */
    board_command(&stranger, 2);
    wait_commands(2);
    struct io_cadence pulse;
    io_link_cadence(links, 0, rt_now_ns(), &pulse);
    TEST_ASSERT_EQUAL_UINT64(0, pulse.gap_ns_max); /* of no one's commands */
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT64(2, command.board_us);
    TEST_ASSERT_EQUAL_UINT64(0, counters().rx_lost);
    commit(0, IO_SEND_SENSOR);
    board_hear(&stranger, IO_MAVLINK_SENSOR);
    TEST_ASSERT_FALSE(board_look(&board));
    wait_losses(2);
}

static void test_gaps_in_the_sequence_are_counted(void)
{
    start_with_board(10000ull * MS);
    board.sender.sequence = (uint8_t)(board.sender.sequence + 3);
    board_command(&board, 1);
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (counters().rx_lost == 0) { /* published after the command */
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "no gap counted");
        breathe();
    }
    TEST_ASSERT_EQUAL_UINT64(3, counters().rx_lost);
}

static void test_safe_is_told_and_no_sample_follows(void)
{
    start_with_board(10000ull * MS);
    io_links_invalidate_outputs(links);
    board_hear(&board, IO_MAVLINK_HEARTBEAT);
    TEST_ASSERT_EQUAL_UINT8(IO_MAVLINK_EMERGENCY, board.heard.heartbeat.status);
    commit(0, IO_SEND_SENSOR);
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(1, counters().tx_dropped);
    while (board_look(&board))
        TEST_ASSERT_EQUAL(IO_MAVLINK_HEARTBEAT, board.heard.kind);
    io_links_invalidate_outputs(links); /* too late to say anything, and harmless */
}

static void test_a_hung_frame_thread_makes_the_outputs_safe(void)
{
    start_with_board(10000ull * MS);
    rt_watchdog_kick(&dog, rt_now_ns());
    for (int i = 0; i < 3; i++) { /* again and again */
        board_hear(&board, IO_MAVLINK_HEARTBEAT);
        TEST_ASSERT_EQUAL_UINT8(IO_MAVLINK_EMERGENCY, board.heard.heartbeat.status);
    }
    commit(0, IO_SEND_SENSOR);
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(1, counters().tx_dropped);
}

static void test_the_stop_says_farewell(void)
{
    start_with_board(10000ull * MS);
    commit(0, IO_SEND_SENSOR);
    io_links_stop(links);
    board_hear(&board, IO_MAVLINK_SENSOR);
    board_hear(&board, IO_MAVLINK_HEARTBEAT);
    TEST_ASSERT_EQUAL_UINT8(IO_MAVLINK_POWEROFF, board.heard.heartbeat.status);
    io_links_stop(links); /* once is enough */
    TEST_ASSERT_FALSE(board_look(&board));
}

static void test_the_loop_latency_is_the_sum_of_its_parts(void)
{
    const uint64_t now_ns = rt_now_ns();
    struct io_sample sample = make_sample(9, IO_SEND_SENSOR);
    start_with_board(10000ull * MS);
    commit(8, IO_SEND_SENSOR); /* shows no new command */
    sample.trace = (struct io_trace){
        .rx_ns = now_ns - 10000,
        .ready_ns = now_ns - 9000,
        .latch_ns = now_ns - 7000,
        .step_ns = now_ns - 4000,
    };
    io_link_commit(links, 0, &sample);
    sample.frame = 10;
    sample.due = IO_SEND_GPS; /* not the message that closes the loop */
    io_link_commit(links, 0, &sample);
    io_links_stop(links);
    const struct io_latency *latency = io_link_latency(links, 0);
    uint64_t sum = 0;
    for (int i = 0; i < IO_LATENCY_COUNT; i++) {
        TEST_ASSERT_EQUAL_UINT64(1, latency->part[i].count);
        TEST_ASSERT_EQUAL_UINT64(9, latency->part[i].max_frame);
        TEST_ASSERT_EQUAL_UINT64(latency->last[i], latency->part[i].max);
        if (i != IO_LATENCY_SUM)
            sum += latency->last[i];
    }
    TEST_ASSERT_EQUAL_UINT64(1000, latency->last[IO_LATENCY_WIRE_IN]);
    TEST_ASSERT_EQUAL_UINT64(2000, latency->last[IO_LATENCY_GRID_WAIT]);
    TEST_ASSERT_EQUAL_UINT64(3000, latency->last[IO_LATENCY_STEP]);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(4000, latency->last[IO_LATENCY_HOLD]);
    TEST_ASSERT_EQUAL_UINT64(sum, latency->last[IO_LATENCY_SUM]);
}

struct seen {
    int count, link;
    uint64_t frame, rx_ns, part_ns[IO_LATENCY_SUM];
};

static void see(void *self, int link, uint64_t frame, uint64_t rx_ns,
                const uint64_t part_ns[IO_LATENCY_SUM])
{
    struct seen *seen = self;
    seen->count++;
    seen->link = link;
    seen->frame = frame;
    seen->rx_ns = rx_ns;
    memcpy(seen->part_ns, part_ns, sizeof seen->part_ns);
}

static void test_a_seer_sees_every_measured_loop_once_part_by_part(void)
{
    const struct io_link_spec spec = make_spec(0);
    char error[IO_ERROR_MAX];
    struct seen seen = {.link = -1};
    links = io_links_place(&spec, 1, mode, memory);
    TEST_ASSERT_EQUAL_MESSAGE(0, io_links_open(links, error), error);
    io_links_observe_latency(links, (struct io_latency_observer){&seen, see});
    TEST_ASSERT_EQUAL(0, io_links_start(links, &thread_spec, polls, &dog, &thread));
    board.simulator = (struct io_address){.ip = loopback.ip, .port = io_link_port(links, 0)};
    board_heartbeat(&board);
    wait_seen(1);
    const uint64_t now_ns = rt_now_ns();
    struct io_sample sample = make_sample(9, IO_SEND_SENSOR);
    commit(8, IO_SEND_SENSOR); /* shows no new command */
    sample.trace = (struct io_trace){.rx_ns = now_ns - 10000,
                                     .ready_ns = now_ns - 9000,
                                     .latch_ns = now_ns - 7000,
                                     .step_ns = now_ns - 4000};
    io_link_commit(links, 0, &sample);
    commit(10, IO_SEND_SENSOR);
    io_links_stop(links);
    const struct io_latency *latency = io_link_latency(links, 0);
    TEST_ASSERT_EQUAL(1, seen.count);
    TEST_ASSERT_EQUAL(0, seen.link);
    TEST_ASSERT_EQUAL_UINT64(9, seen.frame);
    TEST_ASSERT_EQUAL_UINT64(now_ns - 10000, seen.rx_ns);
    for (int i = 0; i < IO_LATENCY_SUM; i++)
        TEST_ASSERT_EQUAL_UINT64(latency->last[i], seen.part_ns[i]);
    TEST_ASSERT_EQUAL_UINT64(3000, seen.part_ns[IO_LATENCY_STEP]);
}

static void test_parts_that_run_backwards_count_as_nothing(void)
{
    const uint64_t now_ns = rt_now_ns();
    struct io_sample sample = make_sample(9, IO_SEND_SENSOR);
    start_with_board(10000ull * MS);
    sample.trace = (struct io_trace){
        .rx_ns = now_ns, .ready_ns = now_ns - 5, .latch_ns = now_ns, .step_ns = now_ns};
    io_link_commit(links, 0, &sample);
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(0, io_link_latency(links, 0)->last[IO_LATENCY_WIRE_IN]);
    TEST_ASSERT_EQUAL_UINT64(5, io_link_latency(links, 0)->last[IO_LATENCY_GRID_WAIT]);
}

/* The kernel's stamp is mapped from another clock: a few microseconds may be missing. */
static void test_what_lay_in_the_kernel_until_the_frame_looked_is_no_wire(void)
{
    if (mode != IO_LINK_INLINE)
        TEST_IGNORE_MESSAGE("only a frame that does its own I/O looks late");
    start_with_board(10000ull * MS);
    board_command(&board, 1);
    pause_ms(20);
    const uint64_t look_ns = rt_now_ns();
    io_links_poll(links);
    const uint64_t done_ns = rt_now_ns();
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(19 * MS, done_ns - command.rx_ns);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(done_ns - look_ns, command.ready_ns - command.rx_ns);
    TEST_ASSERT_GREATER_THAN_UINT64(command.rx_ns, command.ready_ns);
}

/* Eight of the board, or 32 of strangers, or so many of both that they cost as much. */
static void test_one_look_takes_a_bounded_number_of_datagrams(void)
{
    if (mode != IO_LINK_INLINE)
        TEST_IGNORE_MESSAGE("only a frame that does its own I/O looks when it is told to");
    start_with_board(10000ull * MS);
    const uint64_t before = counters().commands, refused = counters().rx_bad;
    for (uint64_t i = 1; i <= 9; i++)
        board_command(&board, 1000 * i);
    io_links_poll(links);
    TEST_ASSERT_EQUAL_UINT64(8, counters().commands - before);
    io_links_poll(links);
    TEST_ASSERT_EQUAL_UINT64(9, counters().commands - before);
    for (uint64_t i = 1; i <= 33; i++)
        board_command(&stranger, 1000 * i);
    io_links_poll(links);
    TEST_ASSERT_EQUAL_UINT64(32, counters().rx_bad - refused);
    io_links_poll(links);
    TEST_ASSERT_EQUAL_UINT64(33, counters().rx_bad - refused);
}

static void test_what_an_await_waited_for_is_the_wire(void)
{
    if (mode != IO_LINK_INLINE)
        TEST_IGNORE_MESSAGE("only a frame that does its own I/O looks late");
    start_with_board(10000ull * MS);
    io_links_allow_spin(links, true);
    board_command(&board, 1);
    pause_ms(20);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 0, PATIENCE_NS));
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(19 * MS, command.ready_ns - command.rx_ns);
}

static int connect_tcp(void)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in name = io_address_to_kernel(board.simulator);
    TEST_ASSERT_EQUAL(0, connect(fd, (const struct sockaddr *)&name, sizeof name));
    return fd;
}

static void say_bytes(int fd, uint64_t time_us, size_t from, size_t to)
{
    unsigned char frame[IO_MAVLINK_FRAME_MAX];
    const struct io_mavlink_message message = {.kind = IO_MAVLINK_CONTROLS,
                                               .controls = {.time_us = time_us}};
    const size_t size = io_mavlink_encode(&board.sender, &message, frame);
    for (size_t i = from; i < size && i < to; i++) {
        const uint64_t before = counters().rx_bytes, limit_ns = rt_now_ns() + PATIENCE_NS;
        TEST_ASSERT_EQUAL(1, send(fd, frame + i, 1, MSG_NOSIGNAL));
        while (counters().rx_bytes == before && rt_now_ns() < limit_ns)
            breathe();
    }
}

static void start_tcp(void)
{
    struct io_link_spec spec = make_spec(10000ull * MS);
    spec.bus.kind = IO_BUS_TCP;
    spec.protocol = IO_PROTOCOL_PX4;
    start(&spec);
}

static void test_a_stream_may_come_byte_by_byte(void)
{
    start_tcp();
    const int fd = connect_tcp();
    say_bytes(fd, 5, 0, IO_MAVLINK_FRAME_MAX);
    wait_commands(1);
    TEST_ASSERT_EQUAL_UINT64(0, counters().rx_bad);
    (void)close(fd);
}

static void test_half_a_frame_of_one_connection_does_not_spoil_the_next(void)
{
    start_tcp();
    const int first = connect_tcp();
    say_bytes(first, 5, 0, 12); /* all but the last byte: zeros at the end are left out */
    (void)close(first);
    const int second = connect_tcp();
    say_bytes(second, 6, 0, IO_MAVLINK_FRAME_MAX);
    wait_commands(1);
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT64(6, command.board_us);
    TEST_ASSERT_EQUAL_UINT64(1, counters().rx_bad); /* the half */
    TEST_ASSERT_EQUAL_UINT64(0, counters().rx_lost);
    (void)close(second);
}

static void test_an_await_returns_at_once_for_a_command_that_is_there(void)
{
    start_with_board(10000ull * MS);
    board_command(&board, 1);
    wait_commands(1);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 0, 0));
    TEST_ASSERT_TRUE(io_link_await(links, 0, 0, 0)); /* not latched yet */
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    const uint64_t before_ns = rt_now_ns();
    TEST_ASSERT_FALSE(io_link_await(links, 0, 0, 20 * MS));
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(before_ns + 20 * MS, rt_now_ns());
}

static void count_heed(void *self)
{
    (*(int *)self)++;
}

/* Whoever awaits looks at the stop before it sleeps, and again and again. */
static void test_an_await_heeds_the_stop(void)
{
    int heeds = 0;
    start_with_board(10000ull * MS);
    io_links_set_await_hook(links, (struct io_await_hook){&heeds, count_heed});
    TEST_ASSERT_FALSE(io_link_await(links, 0, 0, 100 * MS));
    TEST_ASSERT_GREATER_OR_EQUAL_INT(2, heeds);
    board_command(&board, 1);
    wait_commands(1);
    heeds = 0;
    TEST_ASSERT_TRUE(io_link_await(links, 0, 0, 0));
    TEST_ASSERT_EQUAL_INT(0, heeds); /* nothing to wait for */
}

/* Who waits is held up for much longer than it may wait, and the board answers only then. */
static void stand_still(void *self)
{
    int *looks = self;
    if (++*looks == 1)
        pause_ms(700);
    else if (*looks == 2)
        board_command(&board, 1);
}

static void test_a_machine_that_stood_still_has_lost_no_board(void)
{
    int looks = 0;
    struct io_link_spec spec = make_spec(50ull * MS);
    spec.awaited = true;
    start_spec_with_board(&spec);
    io_links_set_await_hook(links, (struct io_await_hook){&looks, stand_still});
    TEST_ASSERT_TRUE(io_link_await(links, 0, 0, 500 * MS));
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    pause_ms(100); /* and while nobody waits, nobody is late */
    TEST_ASSERT_TRUE(io_link_alive(links, 0, rt_now_ns()));
    io_links_set_await_hook(links, (struct io_await_hook){0});
    TEST_ASSERT_FALSE(io_link_await(links, 0, 0, 40 * MS));
    TEST_ASSERT_TRUE(io_link_alive(links, 0, rt_now_ns()));
    TEST_ASSERT_FALSE(io_link_await(links, 0, 0, 40 * MS)); /* silent for 80 ms of waiting */
    TEST_ASSERT_FALSE(io_link_alive(links, 0, rt_now_ns()));
    board_command(&board, 2);
    wait_commands(2);
    TEST_ASSERT_TRUE(io_link_alive(links, 0, rt_now_ns()));
}

static void *command_later(void *self)
{
    pause_ms(20);
    board_heartbeat(self); /* is no command */
    pause_ms(5);
    board_command(self, 1);
    return NULL;
}

static void test_an_await_ends_with_the_command(void)
{
    pthread_t other;
    start_with_board(10000ull * MS);
    TEST_ASSERT_EQUAL(0, pthread_create(&other, NULL, command_later, &board));
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    const bool came = io_link_await(links, 0, 0, PATIENCE_NS);
    const uint64_t end_ns = rt_now_ns();
    TEST_ASSERT_EQUAL(0, pthread_join(other, NULL));
    TEST_ASSERT_TRUE(came);
    TEST_ASSERT_LESS_THAN_UINT64(limit_ns, end_ns); /* woken, not run out of patience */
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
}

enum { LOCKSTEP_FRAMES = 300 };

/* Answers each HIL_SENSOR with a command that carries its time. */
static void *lockstep_board(void *self)
{
    const uint64_t limit_ns = rt_now_ns() + 3 * PATIENCE_NS;
    for (int i = 0; i < LOCKSTEP_FRAMES && rt_now_ns() < limit_ns;) {
        if (!board_look(self)) {
            (void)sched_yield();
        } else if (board.heard.kind == IO_MAVLINK_SENSOR) {
            board_command(self, board.heard.sensor.time_us);
            i++;
        }
    }
    return NULL;
}

static void test_a_lockstep_run_misses_no_reply_and_takes_no_memory(void)
{
    pthread_t other;
    int replies = 0;
    start_with_board(10000ull * MS);
    TEST_ASSERT_EQUAL(0, pthread_create(&other, NULL, lockstep_board, &board));
    const uint64_t allocations = rt_alloc_count();
    rt_alloc_watch();
    command.rx_ns = 0;
    for (uint64_t i = 0; i < LOCKSTEP_FRAMES; i++) {
        struct io_sample sample = make_sample(i, IO_SEND_SENSOR);
        const uint64_t now_ns = rt_now_ns();
        sample.trace = (struct io_trace){command.rx_ns, command.ready_ns, now_ns, now_ns};
        io_link_commit(links, 0, &sample);
        replies += io_link_await(links, 0, 1000 * (i + 1), PATIENCE_NS) &&
                   io_link_latch(links, 0, &command) && command.board_us == 1000 * (i + 1);
    }
    rt_alloc_unwatch();
    TEST_ASSERT_EQUAL(0, pthread_join(other, NULL));
    io_links_stop(links);
    TEST_ASSERT_EQUAL(LOCKSTEP_FRAMES, replies);
    TEST_ASSERT_EQUAL_UINT64(LOCKSTEP_FRAMES, counters().commands);
    TEST_ASSERT_EQUAL_UINT64(0, counters().rx_lost + counters().rx_bad + counters().tx_dropped);
    const struct rt_histogram *part = io_link_latency(links, 0)->part;
    for (int i = 0; i < IO_LATENCY_COUNT; i++)
        TEST_ASSERT_EQUAL_UINT64(LOCKSTEP_FRAMES - 1, part[i].count); /* the first shows none */
    TEST_ASSERT_GREATER_THAN_UINT64(0, part[IO_LATENCY_WIRE_IN].max);
    TEST_ASSERT_GREATER_THAN_UINT64(0, part[IO_LATENCY_WIRE_OUT].max);
    if (rt_alloc_is_counted())
        TEST_ASSERT_EQUAL_UINT64(allocations, rt_alloc_count());
    if (locked)
        TEST_ASSERT_EQUAL_UINT64(0, io_links_page_faults(links));
}

/* One sample out, its reply in. */
static void round_trip(uint64_t frame, uint64_t board_us)
{
    commit(frame, IO_SEND_SENSOR);
    board_hear(&board, IO_MAVLINK_SENSOR);
    board_command(&board, board_us);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 1000 * (frame + 1), PATIENCE_NS));
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT64(board_us, command.board_us);
}

enum { LOCK_FRAMES = 5 };

/* After this the board is known to live on the simulation's time, or on its own. */
static void lock(bool on_our_time)
{
    start_with_board(10000ull * MS);
    for (uint64_t i = 0; i < LOCK_FRAMES; i++)
        round_trip(i, on_our_time ? 1000 * (i + 1) : 99000000 + i);
}

static bool await_shortly(uint64_t frame)
{
    return io_link_await(links, 0, 1000 * (frame + 1), 2 * MS);
}

static void test_a_late_reply_is_known_by_its_time(void)
{
    lock(true);
    commit(5, IO_SEND_SENSOR);
    TEST_ASSERT_FALSE(await_shortly(5));
    board_hear(&board, IO_MAVLINK_SENSOR);
    commit(6, IO_SEND_SENSOR);
    board_hear(&board,
               IO_MAVLINK_SENSOR); /* one that names a time before it was sent is on its own */
    board_command(&board, 6000);   /* answers frame 5 */
    wait_commands(LOCK_FRAMES + 1);
    TEST_ASSERT_FALSE(await_shortly(6));
    board_command(&board, 7000);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 7000, PATIENCE_NS));
    commit(7, IO_SEND_SENSOR); /* and one reply may be lost for good */
    TEST_ASSERT_FALSE(await_shortly(7));
    board_hear(&board, IO_MAVLINK_SENSOR);
    round_trip(8, 9000);
}

static void test_a_late_reply_of_a_board_with_its_own_clock_is_known_by_its_number(void)
{
    lock(false);
    commit(5, IO_SEND_SENSOR);
    TEST_ASSERT_FALSE(await_shortly(5));
    commit(6, IO_SEND_SENSOR);
    board_command(&board, 99000005);
    wait_commands(LOCK_FRAMES + 1);
    TEST_ASSERT_FALSE(await_shortly(6));
    board_command(&board, 99000006);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 7000, PATIENCE_NS));
}

static void test_a_lost_reply_does_not_cost_all_the_others(void)
{
    lock(false);
    commit(5, IO_SEND_SENSOR);
    TEST_ASSERT_FALSE(await_shortly(5)); /* never answered */
    commit(6, IO_SEND_SENSOR);
    board_command(&board, 99000006);
    wait_commands(LOCK_FRAMES + 1);
    TEST_ASSERT_FALSE(await_shortly(6)); /* taken for the late one */
    commit(7, IO_SEND_SENSOR);
    TEST_ASSERT_FALSE(await_shortly(7));
    board_command(&board, 99000007);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 8000, PATIENCE_NS));
}

static void test_replies_that_nobody_asked_for_are_no_credit(void)
{
    lock(false);
    for (uint64_t i = 0; i < 3; i++)
        board_command(&board, 99000010 + i);
    wait_commands(LOCK_FRAMES + 3);
    commit(5, IO_SEND_SENSOR);
    TEST_ASSERT_FALSE(await_shortly(5));
    board_command(&board, 99000020);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 6000, PATIENCE_NS));
}

static void test_a_board_may_leave_the_first_samples_unanswered(void)
{
    start_with_board(10000ull * MS);
    for (uint64_t i = 0; i < 30; i++) {
        commit(i, IO_SEND_SENSOR);
        TEST_ASSERT_FALSE(io_link_await(links, 0, 1000 * (i + 1), 0));
        board_hear(&board, IO_MAVLINK_SENSOR);
    }
    round_trip(30, 77777777);
    round_trip(31, 77777778);
}

static void test_samples_before_the_first_reply_need_not_be_awaited(void)
{
    start_with_board(10000ull * MS);
    for (uint64_t i = 0; i < 30; i++) {
        commit(i, IO_SEND_SENSOR);
        board_hear(&board, IO_MAVLINK_SENSOR);
    }
    round_trip(30, 77777777);
    round_trip(31, 77777778);
}

static void test_the_clock_of_a_new_board_is_judged_anew(void)
{
    start_with_board(30ull * MS);
    for (uint64_t i = 0; i < LOCK_FRAMES; i++)
        round_trip(i, 99000000 + i);
    while (io_link_alive(links, 0, rt_now_ns()))
        breathe(); /* its place is free when it has been silent for long enough */
    for (uint64_t i = 5; i < 9; i++) {
        board_command(&stranger, 2000 + i); /* within what was sent */
        wait_commands(i + 1);
    }
    commit(9, IO_SEND_SENSOR);
    TEST_ASSERT_FALSE(await_shortly(9)); /* lost, and by its clock it costs nothing more */
    commit(10, IO_SEND_SENSOR);
    board_hear(&stranger, IO_MAVLINK_SENSOR);
    board_hear(&stranger, IO_MAVLINK_SENSOR);
    board_command(&stranger, 11000);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 11000, PATIENCE_NS));
}

/* Its clock lies within the times we sent, and behind them: not ours after all. */
static void test_a_clock_that_stays_behind_is_not_ours(void)
{
    int missed = 0;
    lock(true);
    for (uint64_t i = LOCK_FRAMES; i < LOCK_FRAMES + 20; i++) {
        commit(i, IO_SEND_SENSOR);
        board_hear(&board, IO_MAVLINK_SENSOR);
        board_command(&board, 1000 * (i - 2));
        wait_commands(i + 1);
        missed += !io_link_await(links, 0, 1000 * (i + 1), 1 * MS);
    }
    TEST_ASSERT_GREATER_THAN(0, missed);
    TEST_ASSERT_LESS_OR_EQUAL(10, missed);
}

static void test_the_state_of_the_board_is_told(void)
{
    struct io_link_spec spec = make_spec(10000ull * MS);
    struct io_mavlink_message beat = {.kind = IO_MAVLINK_HEARTBEAT,
                                      .heartbeat = {.autopilot = 12, .base_mode = 0x1d}};
    spec.protocol = IO_PROTOCOL_PX4_HITL;
    start(&spec);
    TEST_ASSERT_EQUAL(IO_BOARD_SILENT, io_link_board_state(links, 0));
    board_say(&board, &beat);
    wait_seen(1);
    io_links_stop(links);
    TEST_ASSERT_EQUAL(IO_BOARD_NOT_HIL, io_link_board_state(links, 0));
    start(&spec);
    beat.heartbeat.base_mode = 0x3d;
    board_say(&board, &beat);
    board_command(&board, 1); /* flags 1 */
    wait_commands(1);
    io_links_stop(links); /* all is published by now */
    TEST_ASSERT_EQUAL(IO_BOARD_READY, io_link_board_state(links, 0));
}

static void test_a_board_that_fell_silent_is_silent(void)
{
    start_with_board(20ull * MS);
    board_command(&board, 1);
    wait_commands(1);
    wait_losses(1);
    TEST_ASSERT_EQUAL(IO_BOARD_SILENT, io_link_board_state(links, 0));
}

static void test_the_pulse_of_the_commands_is_taken(void)
{
    struct io_link_spec spec = make_spec(10000ull * MS);
    struct io_cadence pulse;
    spec.late_after_ns = 10 * MS;
    start(&spec);
    io_link_cadence(links, 0, rt_now_ns(), &pulse);
    TEST_ASSERT_EQUAL_UINT64(0, pulse.since_ns + pulse.gap_ns_max + pulse.late + pulse.silent);
    board_command(&board, 1);
    wait_commands(1);
    io_link_cadence(links, 0, rt_now_ns(), &pulse);
    TEST_ASSERT_EQUAL_UINT64(0, pulse.late + pulse.gap_ns_max);
    pause_ms(20);
    board_command(&board, 2);
    wait_commands(2);
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    io_link_cadence(links, 0, command.ready_ns + 12345, &pulse);
    TEST_ASSERT_EQUAL_UINT64(12345, pulse.since_ns);
    TEST_ASSERT_GREATER_OR_EQUAL_UINT64(18ull * MS, pulse.gap_ns_max);
    TEST_ASSERT_EQUAL_UINT64(1, pulse.late);
    TEST_ASSERT_EQUAL_UINT64(0, pulse.silent);
}

/* The stranger is the ground station now. */
static void start_with_ground(enum io_protocol_kind protocol)
{
    struct io_link_spec spec = make_spec(10000ull * MS);
    spec.protocol = protocol;
    (void)snprintf(spec.ground[0], IO_ADDRESS_MAX, "127.0.0.1:%u",
                   io_udp_local(&stranger.udp).port);
    start(&spec);
    board_heartbeat(&board);
    wait_seen(1);
}

static void ground_hear(struct io_packet *packet)
{
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (io_udp_receive(&stranger.udp, packet) <= 0) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "nothing forwarded");
        breathe();
    }
}

static void test_what_the_board_says_reaches_the_ground_unaltered(void)
{
    const unsigned char attitude[28] = {1, 2, 3};
    struct wire wire = wire_v2(1, 1, 30, 39, attitude, sizeof attitude);
    struct io_packet packet;
    wire_put(&wire, "thirteenbytes", 13);
    start_with_ground(IO_PROTOCOL_PX4_HITL);
    ground_hear(&packet); /* the heartbeat */
    TEST_ASSERT_EQUAL_size_t(21, packet.size);
    board_command(&board, 1); /* is none of its business */
    TEST_ASSERT_EQUAL(0, io_udp_send(&board.udp, board.simulator, wire.bytes, wire.size, false));
    ground_hear(&packet);
    TEST_ASSERT_EQUAL_size_t(wire.size, packet.size);
    TEST_ASSERT_EQUAL_HEX8_ARRAY(wire.bytes, packet.bytes, wire.size);
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(2, counters().forwarded);
    TEST_ASSERT_EQUAL_UINT64(0, counters().forward_dropped);
}

static void test_the_ground_reaches_the_board_behind_the_sensors(void)
{
    const unsigned char parameters[6] = {0, 0, 0, 0, 1, 1}; /* PARAM_REQUEST_LIST and more */
    const struct wire wire = wire_v2(0, 77, 21, 159, parameters + 4, 2);
    struct io_packet packet;
    start_with_ground(IO_PROTOCOL_PX4_HITL);
    ground_hear(&packet); /* now it knows where to answer */
    TEST_ASSERT_EQUAL(0, io_udp_send(&stranger.udp, packet.from, "noise", 5, false));
    TEST_ASSERT_EQUAL(0, io_udp_send(&stranger.udp, packet.from, wire.bytes, wire.size, false));
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    bool came = false;
    for (uint64_t i = 0; !came; i++) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "nothing from the ground");
        commit(i, IO_SEND_SENSOR);
        breathe();
        pause_ms(1);
        while (board_look(&board)) {
            if (board.heard.kind == IO_MAVLINK_SENSOR)
                continue;
            TEST_ASSERT_EQUAL_UINT32(21, board.heard.id);
            TEST_ASSERT_EQUAL_UINT8(77, board.heard.sequence);
            came = true;
        }
    }
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(1, counters().forward_dropped); /* the noise */
    TEST_ASSERT_EQUAL_UINT64(0, io_mavlink_get_counters(board.parser)->bad_crc);
}

static void test_nobody_but_the_ground_station_reaches_the_board(void)
{
    struct io_packet packet;
    start_with_ground(IO_PROTOCOL_MAVLINK);
    ground_hear(&packet);
    const struct io_address gateway = packet.from;
    board.simulator = gateway; /* not a station that was named */
    board_heartbeat(&board);
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (counters().forward_dropped == 0) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "not refused");
        breathe();
    }
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(1, counters().forwarded);
}

/* Its custom mode counts: a sequence of eight bits looks the same after 256 that are lost. */
static void numbered_heartbeat(uint32_t number)
{
    struct io_mavlink_message message;
    io_mavlink_from_status(IO_MAVLINK_ACTIVE, &message);
    message.heartbeat.custom_mode = number;
    board_say(&board, &message);
}

static void test_a_flood_from_the_board_is_bounded_and_costs_the_oldest_frames(void)
{
    enum { FLOOD = 2000, HEAD = 10 };
    uint64_t heard = 0;
    uint32_t last = 0;
    struct io_packet packet;
    start_with_ground(IO_PROTOCOL_PX4_HITL);
    ground_hear(&packet); /* the first, which has no number */
    for (uint32_t i = 0; i < FLOOD; i++) {
        numbered_heartbeat(1 + i);
        if (i % 50 == 0)
            breathe();
    }
    for (int i = 0; i < 40; i++) {
        commit((uint64_t)i, IO_SEND_SENSOR);
        breathe();
        pause_ms(1);
    }
    io_links_stop(links);
    while (io_udp_receive(&stranger.udp, &packet) > 0) {
        TEST_ASSERT_EQUAL_size_t(21, packet.size); /* whole ones */
        uint32_t number;
        memcpy(&number, packet.bytes + HEAD, sizeof number);
        TEST_ASSERT_GREATER_THAN_UINT32(last, number); /* in order */
        last = number;
        heard++;
    }
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(counters().forwarded, heard);
    TEST_ASSERT_LESS_OR_EQUAL_UINT64(counters().rx,
                                     counters().forwarded + counters().forward_dropped);
    TEST_ASSERT_GREATER_THAN_UINT64(0, heard);
}

static void put_u16(unsigned char *at, unsigned value)
{
    at[0] = (unsigned char)value;
    at[1] = (unsigned char)(value >> 8);
}

static void ardupilot_say(unsigned count)
{
    unsigned char packet[40];
    put_u16(packet, 18458);
    put_u16(packet + 2, 1200);
    put_u16(packet + 4, count);
    put_u16(packet + 6, 0);
    for (int i = 0; i < 16; i++)
        put_u16(packet + 8 + 2 * i, 1500);
    TEST_ASSERT_EQUAL(0, io_udp_send(&board.udp, board.simulator, packet, sizeof packet, false));
}

static void raw_hear(struct board *from, struct io_packet *packet)
{
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (io_udp_receive(&from->udp, packet) <= 0) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "nothing heard");
        breathe();
    }
}

static void test_ardupilot_is_answered_where_it_spoke_and_paces_the_frames(void)
{
    struct io_link_spec spec = make_spec(10000ull * MS);
    struct io_packet packet;
    spec.protocol = IO_PROTOCOL_ARDUPILOT;
    start(&spec);
    for (unsigned i = 0; i < 5; i++) {
        ardupilot_say(i);
        TEST_ASSERT_TRUE(io_link_await(links, 0, 1000 * i, PATIENCE_NS));
        TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
        TEST_ASSERT_EQUAL_UINT64(i, command.flags);
        TEST_ASSERT_EQUAL_FLOAT(0.5f, command.controls[15]);
        commit(i, IO_SEND_SENSOR);
        raw_hear(&board, &packet);
        TEST_ASSERT_EQUAL_MEMORY("\n{\"timestamp\":0.00", packet.bytes, 18);
        TEST_ASSERT_EQUAL_HEX8('\n', packet.bytes[packet.size - 1]);
    }
    ardupilot_say(4); /* the reply got lost */
    raw_hear(&board, &packet);
    TEST_ASSERT_EQUAL_MEMORY("\n{\"timestamp\":0.005000,", packet.bytes, 23);
    TEST_ASSERT_FALSE(io_link_await(links, 0, 6000, 2 * MS)); /* no new command */
    ardupilot_say(0);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 6000, PATIENCE_NS));
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_UINT32(1, command.resets);
    for (uint64_t i = 6; i < 8; i++) /* two frames of physics, one packet: any new one will do */
        commit(i, IO_SEND_SENSOR);
    ardupilot_say(2);
    TEST_ASSERT_TRUE(io_link_await(links, 0, 8000, PATIENCE_NS));
    raw_hear(&board, &packet);
    raw_hear(&board, &packet);
    io_links_invalidate_outputs(links); /* no word for it, and harmless */
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(1, counters().duplicates);
    TEST_ASSERT_EQUAL_UINT64(8, counters().tx); /* and no farewell */
}

/* Two sockets on neighbouring ports, as Betaflight hears at 9003 and 9004. */
static void open_neighbours(void)
{
    for (int i = 0; i < 100; i++) {
        io_udp_close(&board.udp);
        io_udp_close(&stranger.udp);
        TEST_ASSERT_EQUAL(0, io_udp_open(&board.udp, loopback));
        const struct io_address next = {loopback.ip, (uint16_t)(io_udp_local(&board.udp).port + 1)};
        if (io_udp_open(&stranger.udp, next) == 0)
            return;
    }
    TEST_FAIL_MESSAGE("no two ports side by side");
}

static void test_betaflight_speaks_from_one_port_and_hears_at_two_others(void)
{
    const float speed[4] = {0.25f, 0.5f, 0.75f, 1.0f};
    struct io_link_spec spec = make_spec(10000ull * MS);
    struct io_udp mouth;
    struct io_packet packet;
    open_neighbours();
    TEST_ASSERT_EQUAL(0, io_udp_open(&mouth, loopback));
    spec.protocol = IO_PROTOCOL_BETAFLIGHT;
    (void)snprintf(spec.bus.peer, sizeof spec.bus.peer, "127.0.0.1:%u",
                   io_udp_local(&board.udp).port);
    start(&spec);
    commit(0, IO_SEND_SENSOR | IO_SEND_RC); /* it says nothing before it is told something */
    raw_hear(&stranger, &packet);
    TEST_ASSERT_EQUAL_size_t(40, packet.size);
    raw_hear(&board, &packet);
    TEST_ASSERT_EQUAL_size_t(144, packet.size);
    TEST_ASSERT_EQUAL(0, io_udp_send(&mouth, board.simulator, speed, sizeof speed, false));
    wait_commands(1);
    TEST_ASSERT_TRUE(io_link_latch(links, 0, &command));
    TEST_ASSERT_EQUAL_FLOAT(0.25f, command.controls[0]);
    TEST_ASSERT_EQUAL_FLOAT(1.0f, command.controls[3]);
    commit(1, IO_SEND_SENSOR);
    raw_hear(&board, &packet); /* not at the mouth */
    TEST_ASSERT_EQUAL_size_t(144, packet.size);
    TEST_ASSERT_EQUAL(0, io_udp_receive(&mouth, &packet));
    io_udp_close(&mouth);
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT64(0, counters().rx_bad + counters().tx_dropped);
    TEST_ASSERT_EQUAL_UINT64(3, counters().tx);
}

static int open_second(const struct io_link_spec *spec, char error[IO_ERROR_MAX])
{
    struct io_links *second = io_links_place(spec, 1, mode, second_memory);
    const int status = io_links_open(second, error);
    io_links_stop(second); /* harmless after a failed open */
    return status;
}

static void test_a_port_in_use_is_named_with_the_way_out(void)
{
    char error[IO_ERROR_MAX], port[16];
    struct io_link_spec spec = make_spec(0);
    start(&spec);
    (void)snprintf(port, sizeof port, "port %u", io_link_port(links, 0));
    (void)snprintf(spec.bus.listen, sizeof spec.bus.listen, "127.0.0.1:%u", io_link_port(links, 0));
    TEST_ASSERT_EQUAL(-EADDRINUSE, open_second(&spec, error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, "links.board.listen: "), error);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, port), error);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, "in use"), error);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, "choose another port"), error);
    TEST_ASSERT_NULL(strchr(error, '\n'));
}

static void test_bad_addresses_are_named(void)
{
    char error[IO_ERROR_MAX];
    struct io_link_spec spec = make_spec(0);
    (void)snprintf(spec.bus.listen, sizeof spec.bus.listen, "nonsense");
    TEST_ASSERT_EQUAL(-EINVAL, open_second(&spec, error));
    TEST_ASSERT_EQUAL_STRING("links.board.listen: \"nonsense\" is not an IPv4 address and port "
                             "like 127.0.0.1:14560",
                             error);
    spec = make_spec(0);
    (void)snprintf(spec.bus.peer, sizeof spec.bus.peer, "127.0.0.1:0");
    TEST_ASSERT_EQUAL(-EINVAL, open_second(&spec, error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, "links.board.peer: "), error);
    spec = make_spec(0);
    (void)snprintf(spec.ground[0], IO_ADDRESS_MAX, "127.0.0.1:14550");
    (void)snprintf(spec.ground[1], IO_ADDRESS_MAX, "home");
    TEST_ASSERT_EQUAL(-EINVAL, open_second(&spec, error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, "links.board.ground: \"home\" is not"), error);
    spec.protocol = IO_PROTOCOL_ARDUPILOT;
    TEST_ASSERT_EQUAL(-EINVAL, open_second(&spec, error));
    TEST_ASSERT_NOT_NULL_MESSAGE(
        strstr(error, "links.board.ground: the protocol ardupilot does not forward"), error);
    spec = make_spec(0);
    (void)snprintf(spec.bus.listen, sizeof spec.bus.listen,
                   "192.0.2.1:14560"); /* for documentation */
    TEST_ASSERT_EQUAL(-EADDRNOTAVAIL, open_second(&spec, error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, "not an address of this machine"), error);
}

static void test_two_links_do_not_mix(void)
{
    char error[IO_ERROR_MAX];
    struct io_link_spec specs[2] = {make_spec(10000ull * MS), make_spec(10000ull * MS)};
    struct board *const boards[2] = {&board, &stranger};
    links = io_links_place(specs, 2, mode, memory);
    TEST_ASSERT_EQUAL_MESSAGE(0, io_links_open(links, error), error);
    TEST_ASSERT_EQUAL(0, io_links_start(links, &thread_spec, polls, NULL, &thread));
    for (int i = 0; i < 2; i++) {
        boards[i]->simulator = (struct io_address){loopback.ip, io_link_port(links, i)};
        board_command(boards[i], 100 + (uint64_t)i);
        TEST_ASSERT_TRUE(io_link_await(links, i, 0, PATIENCE_NS));
        TEST_ASSERT_TRUE(io_link_latch(links, i, &command));
        TEST_ASSERT_EQUAL_UINT64(100 + (uint64_t)i, command.board_us);
    }
    for (int i = 0; i < 2; i++) {
        const struct io_sample sample = make_sample((uint64_t)i, IO_SEND_SENSOR);
        io_link_commit(links, i, &sample);
        board_hear(boards[i], IO_MAVLINK_SENSOR);
        TEST_ASSERT_EQUAL_UINT64(1000 * (1 + (uint64_t)i), boards[i]->heard.sensor.time_us);
    }
}

/* ---- the stop that a link raises ---- */

static atomic_bool boundary_wanted;
static struct rt_estop estop;

static void start_with_estop(const struct io_link_spec *spec, uint32_t buttons)
{
    char error[IO_ERROR_MAX];
    memset(&estop, 0, sizeof estop);
    estop.boundary_wanted = &boundary_wanted;
    atomic_store(&boundary_wanted, false);
    links = io_links_place(spec, 1, mode, memory);
    TEST_ASSERT_EQUAL_MESSAGE(0, io_links_open(links, error), error);
    io_links_estop(links, 0, buttons, &estop);
    TEST_ASSERT_EQUAL(0, io_links_start(links, &thread_spec, polls, &dog, &thread));
    board.simulator = stranger.simulator =
        (struct io_address){.ip = loopback.ip, .port = io_link_port(links, 0)};
}

static void hold_down(uint32_t buttons)
{
    struct io_hand_report picture;
    const uint64_t before = counters().commands;
    io_hand_report_neutral(&picture);
    picture.buttons = buttons;
    TEST_ASSERT_EQUAL(0, io_udp_send(&board.udp, board.simulator, &picture, IO_HAND_SIZE, false));
    wait_commands(before + 1);
}

static void test_a_press_of_the_stop_button_raises_the_stop(void)
{
    struct io_link_spec spec = make_spec(0);
    spec.protocol = IO_PROTOCOL_HAND;
    start_with_estop(&spec, 1u << 3 | 1u << 7);
    hold_down(1u << 3); /* as it stands at first */
    hold_down(1u << 3);
    hold_down(0);
    hold_down(1u << 2); /* another one */
    TEST_ASSERT_EQUAL_UINT32(0, rt_estop_count(&estop, RT_ESTOP_BUTTON));
    TEST_ASSERT_FALSE(atomic_load(&boundary_wanted));
    hold_down(1u << 2 | 1u << 3);
    TEST_ASSERT_EQUAL_UINT32(1, rt_estop_count(&estop, RT_ESTOP_BUTTON));
    TEST_ASSERT_TRUE(atomic_load(&boundary_wanted));
    hold_down(1u << 3); /* still down */
    TEST_ASSERT_EQUAL_UINT32(1, rt_estop_count(&estop, RT_ESTOP_BUTTON));
    hold_down(0);
    hold_down(1u << 7);
    TEST_ASSERT_EQUAL_UINT32(2, rt_estop_count(&estop, RT_ESTOP_BUTTON));
    TEST_ASSERT_EQUAL_UINT32(0, rt_estop_count(&estop, RT_ESTOP_OPERATOR_LOST));
}

static void test_the_loss_of_a_hand_raises_the_stop_once(void)
{
    struct io_link_spec spec = make_spec(50ull * MS);
    spec.protocol = IO_PROTOCOL_HAND;
    start_with_estop(&spec, 1u << 3);
    TEST_ASSERT_EQUAL_UINT32(0,
                             rt_estop_count(&estop, RT_ESTOP_OPERATOR_LOST)); /* nobody came yet */
    hold_down(0);
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    while (rt_estop_count(&estop, RT_ESTOP_OPERATOR_LOST) == 0) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "no loss");
        breathe();
    }
    TEST_ASSERT_TRUE(atomic_load(&boundary_wanted));
    TEST_ASSERT_EQUAL_UINT64(1, counters().losses);
    for (int i = 0; i < 20; i++) { /* it is not lost again and again */
        pause_ms(5);
        breathe();
    }
    TEST_ASSERT_EQUAL_UINT32(1, rt_estop_count(&estop, RT_ESTOP_OPERATOR_LOST));
    TEST_ASSERT_EQUAL_UINT32(0, rt_estop_count(&estop, RT_ESTOP_BUTTON));
}

/* ---- a ground station of ours on a line of its own ---- */

static struct io_link_spec make_station_spec(void)
{
    struct io_link_spec spec = make_spec(0);
    spec.script = (struct io_ground_script){
        .step_count = 1,
        .second = 1000,
        .system_id = 255,
        .component_id = 190,
        .step = {{.act = IO_GROUND_ARM, .frame = 1, .limit_frames = 100000}},
    };
    return spec;
}

static void test_the_line_of_a_ground_station_is_named_when_it_is_none(void)
{
    char error[IO_ERROR_MAX];
    struct io_link_spec spec = make_station_spec();
    (void)snprintf(spec.ground_line, sizeof spec.ground_line, "nonsense");
    TEST_ASSERT_EQUAL(-EINVAL, open_second(&spec, error));
    TEST_ASSERT_EQUAL_STRING("links.board.ground_line: \"nonsense\" is not an IPv4 address and "
                             "port like 127.0.0.1:14560",
                             error);
    spec.script.step_count = 0; /* nobody would use it */
    TEST_ASSERT_EQUAL_MESSAGE(0, open_second(&spec, error), error);
}

static void test_a_ground_station_whose_line_is_taken_does_not_keep_a_run_from_flying(void)
{
    struct io_link_spec spec = make_station_spec();
    (void)snprintf(spec.ground_line, sizeof spec.ground_line, "127.0.0.1:%u",
                   io_udp_local(&stranger.udp).port);
    start_spec_with_board(&spec);
    TEST_ASSERT_EQUAL(-EADDRINUSE, io_link_ground_line_status(links, 0));
    commit(1, IO_SEND_SENSOR);
    board_hear(&board, IO_MAVLINK_SENSOR);
    io_links_stop(links);
    TEST_ASSERT_EQUAL_UINT32(0, io_link_ground_result(links, 0, 0).answer + 1); /* -1: none came */
}

/* Says nothing before the firmware has, and then to where it spoke from. */
static void test_a_ground_station_on_its_own_line_speaks_with_who_spoke_there(void)
{
    struct io_link_spec spec = make_station_spec();
    uint16_t port = 0;
    for (int tries = 0; tries < 20 && port == 0; tries++) { /* somebody may be quicker */
        struct io_udp free_port;
        TEST_ASSERT_EQUAL(0, io_udp_open(&free_port, loopback));
        port = io_udp_local(&free_port).port;
        io_udp_close(&free_port);
        (void)snprintf(spec.ground_line, sizeof spec.ground_line, "127.0.0.1:%u", port);
        start(&spec);
        if (io_link_ground_line_status(links, 0) == 0)
            break;
        io_links_stop(links);
        port = 0;
    }
    TEST_ASSERT_NOT_EQUAL(0, port);
    board_heartbeat(&board);
    wait_seen(1);
    stranger.simulator.port = port;
    struct io_mavlink_message beat = {.kind = IO_MAVLINK_HEARTBEAT,
                                      .heartbeat = {.type = 2, .autopilot = 12, .status = 4}};
    board_say(&stranger, &beat);
    const uint64_t limit_ns = rt_now_ns() + PATIENCE_NS;
    bool asked = false;
    for (uint64_t frame = 1; !asked; frame++) {
        TEST_ASSERT_LESS_THAN_UINT64_MESSAGE(limit_ns, rt_now_ns(), "never asked");
        commit(frame, IO_SEND_SENSOR);
        breathe();
        while (board_look(&stranger)) {
            TEST_ASSERT_EQUAL_UINT8(255, stranger.heard.system_id);
            TEST_ASSERT_EQUAL_UINT8(190, stranger.heard.component_id);
            asked |= stranger.heard.id == 76; /* COMMAND_LONG */
        }
        while (board_look(&board))
            TEST_ASSERT_EQUAL_UINT8(42, board.heard.system_id); /* its own line has none of it */
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "threaded";
    mode = strcmp(how, "inline") == 0 ? IO_LINK_INLINE : IO_LINK_THREADED;
    polls = strcmp(how, "polling") == 0;
    if (strcmp(how, "refused") == 0 && !forbid_uring()) {
        puts("skipped: no seccomp filter to be had, so io_uring cannot be refused");
        return 77;
    }
    char reason[RT_REASON_MAX];
    locked = rt_alloc_is_counted() && rt_lock_memory(reason); /* sanitizers fault as they like */
    if (!hold_stamps()) {
        puts("the kernel stamps no packets");
        return 1;
    }
    UNITY_BEGIN();
    RUN_TEST(test_a_command_is_latched_once);
    RUN_TEST(test_a_pause_excuses_a_board);
    RUN_TEST(test_the_newest_command_wins);
    RUN_TEST(test_a_sample_leaves_in_order_with_the_sensors_last);
    RUN_TEST(test_samples_that_find_no_room_are_counted_and_the_others_keep_their_order);
    RUN_TEST(test_samples_without_a_peer_are_dropped_and_counted);
    RUN_TEST(test_a_peer_in_the_spec_is_sent_to_at_once_and_nobody_else_is_heard);
    RUN_TEST(test_timesync_is_answered_when_it_is_ours);
    RUN_TEST(test_a_board_is_asked_for_its_time);
    RUN_TEST(test_nobody_is_asked_for_its_time_unasked);
    RUN_TEST(test_garbage_makes_no_peer);
    RUN_TEST(test_a_first_message_in_pieces_is_heard);
    RUN_TEST(test_cut_and_oversize_datagrams_are_bad_and_spoil_nothing);
    RUN_TEST(test_a_second_sender_is_ignored_and_counted);
    RUN_TEST(test_a_lost_peer_is_replaced_by_the_next_one);
    RUN_TEST(test_gaps_in_the_sequence_are_counted);
    RUN_TEST(test_safe_is_told_and_no_sample_follows);
    if (mode == IO_LINK_THREADED) /* inline, the frame thread would have to watch itself */
        RUN_TEST(test_a_hung_frame_thread_makes_the_outputs_safe);
    RUN_TEST(test_the_stop_says_farewell);
    RUN_TEST(test_the_loop_latency_is_the_sum_of_its_parts);
    RUN_TEST(test_a_seer_sees_every_measured_loop_once_part_by_part);
    RUN_TEST(test_parts_that_run_backwards_count_as_nothing);
    RUN_TEST(test_what_lay_in_the_kernel_until_the_frame_looked_is_no_wire);
    RUN_TEST(test_one_look_takes_a_bounded_number_of_datagrams);
    RUN_TEST(test_what_an_await_waited_for_is_the_wire);
    RUN_TEST(test_a_stream_may_come_byte_by_byte);
    RUN_TEST(test_half_a_frame_of_one_connection_does_not_spoil_the_next);
    RUN_TEST(test_an_await_returns_at_once_for_a_command_that_is_there);
    RUN_TEST(test_an_await_heeds_the_stop);
    RUN_TEST(test_a_machine_that_stood_still_has_lost_no_board);
    RUN_TEST(test_an_await_ends_with_the_command);
    RUN_TEST(test_a_lockstep_run_misses_no_reply_and_takes_no_memory);
    RUN_TEST(test_a_late_reply_is_known_by_its_time);
    RUN_TEST(test_a_late_reply_of_a_board_with_its_own_clock_is_known_by_its_number);
    RUN_TEST(test_a_lost_reply_does_not_cost_all_the_others);
    RUN_TEST(test_replies_that_nobody_asked_for_are_no_credit);
    RUN_TEST(test_a_board_may_leave_the_first_samples_unanswered);
    RUN_TEST(test_samples_before_the_first_reply_need_not_be_awaited);
    RUN_TEST(test_the_clock_of_a_new_board_is_judged_anew);
    RUN_TEST(test_a_clock_that_stays_behind_is_not_ours);
    RUN_TEST(test_the_state_of_the_board_is_told);
    RUN_TEST(test_a_board_that_fell_silent_is_silent);
    RUN_TEST(test_the_pulse_of_the_commands_is_taken);
    RUN_TEST(test_what_the_board_says_reaches_the_ground_unaltered);
    RUN_TEST(test_the_ground_reaches_the_board_behind_the_sensors);
    RUN_TEST(test_nobody_but_the_ground_station_reaches_the_board);
    RUN_TEST(test_a_flood_from_the_board_is_bounded_and_costs_the_oldest_frames);
    RUN_TEST(test_ardupilot_is_answered_where_it_spoke_and_paces_the_frames);
    RUN_TEST(test_betaflight_speaks_from_one_port_and_hears_at_two_others);
    RUN_TEST(test_a_port_in_use_is_named_with_the_way_out);
    RUN_TEST(test_bad_addresses_are_named);
    RUN_TEST(test_two_links_do_not_mix);
    RUN_TEST(test_a_press_of_the_stop_button_raises_the_stop);
    RUN_TEST(test_the_loss_of_a_hand_raises_the_stop_once);
    RUN_TEST(test_the_line_of_a_ground_station_is_named_when_it_is_none);
    RUN_TEST(test_a_ground_station_whose_line_is_taken_does_not_keep_a_run_from_flying);
    RUN_TEST(test_a_ground_station_on_its_own_line_speaks_with_who_spoke_there);
    return UNITY_END();
}
