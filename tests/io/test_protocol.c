/*
 * What is true of every protocol.
 */
#include "io/protocol/protocol.h"

#include <stdlib.h>
#include <string.h>

#include "rt/alloc.h"
#include "tests/io/notebook.h"
#include "unity.h"

enum { MEMORY = 1 << 15 };

static _Alignas(64) unsigned char memory[MEMORY], other_memory[MEMORY];
static struct notebook book;
static struct io_protocol_port port;

void setUp(void)
{
    memset(&book, 0, sizeof book);
    port = notebook_port(&book);
}

void tearDown(void)
{
}

static struct io_protocol *place(int kind, void *mem)
{
    const struct io_protocol_spec spec = {.kind = (enum io_protocol_kind)kind, .system_id = 42};
    memset(mem, 0xff, MEMORY);
    TEST_ASSERT_LESS_OR_EQUAL_size_t(MEMORY, io_protocol_size(&spec));
    return io_protocol_place(&spec, mem);
}

static void test_the_traits_are_what_users_expect(void)
{
    const char *const name[] = {"mavlink", "px4", "px4-hitl", "ardupilot", "betaflight", "hand"};
    const int listen_port[] = {14560, 4560, 14560, 9002, 9002, 14580};
    const bool lockstep[] = {false, true, false, true, false, false};
    for (int i = 0; i < IO_PROTOCOL_COUNT; i++) {
        const struct io_protocol_traits *traits = io_protocol_traits((enum io_protocol_kind)i);
        TEST_ASSERT_EQUAL_STRING(name[i], traits->name);
        TEST_ASSERT_EQUAL(listen_port[i], traits->listen_port);
        TEST_ASSERT_EQUAL(lockstep[i], traits->lockstep);
        TEST_ASSERT_EQUAL(i <= IO_PROTOCOL_PX4_HITL, traits->forwards);
        TEST_ASSERT_EQUAL(i > IO_PROTOCOL_PX4_HITL, traits->datagrams_only);
        TEST_ASSERT_EQUAL(i == IO_PROTOCOL_BETAFLIGHT ? 9003 : 0, traits->peer_port);
        TEST_ASSERT_EQUAL(i != IO_PROTOCOL_BETAFLIGHT, traits->speaks_first);
        TEST_ASSERT_EQUAL(i == IO_PROTOCOL_HAND, traits->hands);
    }
}

static void test_safe_is_a_heartbeat_in_distress_where_there_are_heartbeats(void)
{
    for (int i = 0; i < IO_PROTOCOL_COUNT; i++) {
        unsigned char safe[IO_PROTOCOL_SAFE_MAX];
        const struct io_protocol *protocol = place(i, memory);
        const size_t size = io_protocol_safe(protocol, safe);
        if (i > IO_PROTOCOL_PX4_HITL) {
            TEST_ASSERT_EQUAL_size_t(0, size);
            continue;
        }
        TEST_ASSERT_EQUAL_size_t(21, size);
        TEST_ASSERT_EQUAL_UINT8(42, safe[5]);
        TEST_ASSERT_EQUAL_UINT8(0, safe[7]);
        TEST_ASSERT_EQUAL_UINT8(6, safe[10 + 7]); /* MAV_STATE_EMERGENCY */
    }
}

static void test_garbage_is_bad_and_moves_nothing(void)
{
    unsigned char garbage[2048];
    srand(7);
    for (int i = 0; i < IO_PROTOCOL_COUNT; i++) {
        struct io_protocol *protocol = place(i, memory);
        for (int k = 0; k < 200; k++) {
            const size_t size = 1 + (size_t)rand() % sizeof garbage;
            for (size_t n = 0; n < size; n++)
                garbage[n] = (unsigned char)(rand() % 250); /* no start of a MAVLink frame */
            if (size == 16 || size == 68)
                continue; /* Betaflight knows its packets by nothing else */
            const uint64_t before = io_protocol_counted(protocol).rx_bad;
            io_protocol_take(protocol, garbage, size, 0, &port);
            TEST_ASSERT_EQUAL_UINT64(before + 1, io_protocol_counted(protocol).rx_bad);
        }
        TEST_ASSERT_EQUAL(IO_BOARD_SILENT, io_protocol_facts(protocol)->board);
    }
    TEST_ASSERT_EQUAL(0, book.heard + book.commands + book.sent_count + book.forwarded_count);
}

static void test_no_protocol_takes_memory(void)
{
    const struct io_sample sample = {.sim_us = 1,
                                     .due = (1 << IO_SEND_COUNT) - 1,
                                     .tracker_valid = 1,
                                     .accel = {1.25, 1e-9, -9.81}};
    const uint64_t before = rt_alloc_count();
    for (int i = 0; i < IO_PROTOCOL_COUNT; i++) {
        struct io_protocol *protocol = place(i, memory);
        book.sent_count = 0;
        rt_alloc_watch();
        io_protocol_encode(protocol, &sample, 1, &port);
        io_protocol_status(protocol, IO_STATUS_ACTIVE, &port);
        io_protocol_take(protocol, "garbage", 7, 0, &port);
        io_protocol_ground(protocol, "garbage", 7, &port);
        rt_alloc_unwatch();
        TEST_ASSERT_EQUAL(i != IO_PROTOCOL_HAND, book.sent_count > 0);
    }
    if (rt_alloc_counted())
        TEST_ASSERT_EQUAL_UINT64(before, rt_alloc_count());
}

static void test_two_of_a_kind_share_nothing(void)
{
    const struct io_sample sample = {.sim_us = 1, .due = IO_SEND_SENSOR};
    for (int i = 0; i < IO_PROTOCOL_HAND; i++) { /* to which nothing is said */
        struct io_protocol *one = place(i, memory), *two = place(i, other_memory);
        book.sent_count = 0;
        io_protocol_encode(one, &sample, 0, &port);
        io_protocol_encode(two, &sample, 0, &port);
        TEST_ASSERT_EQUAL(2, book.sent_count);
        TEST_ASSERT_EQUAL_size_t(book.sent[0].size, book.sent[1].size);
        TEST_ASSERT_EQUAL_MEMORY(book.sent[0].bytes, book.sent[1].bytes, book.sent[0].size);
    }
}

/* A sample of every number without a zero byte: nothing is trimmed. */
static struct io_sample make_full(void)
{
    struct io_sample sample = {
        .sim_us = 0x0123456789abcdef,
        .due = (1 << IO_SEND_COUNT) - 1,
        .fields = 0x81828384,
        .angle_count = 5,
        .tracker_valid = 1,
        .airspeed = 12.345678,
        .range = 12.345678901,
        .voltage = 12.345678901,
        .current = 12.345678901,
        .fix = {.type = 3, .satellites = 12},
    };
    double *const vector[] = {sample.gyro,    sample.accel,     sample.mag,      sample.sun,
                              sample.tracker, sample.attitude,  sample.position, sample.velocity,
                              sample.rate,    sample.true_accel};
    for (size_t i = 0; i < sizeof vector / sizeof vector[0]; i++)
        for (int k = 0; k < 3; k++)
            vector[i][k] = -1.2345678901e-7;
    for (int i = 0; i < 5; i++)
        sample.angle[i] = -1.2345678901;
    memset(sample.rc, 0x55, sizeof sample.rc);
    return sample;
}

static void test_the_load_is_what_leaves_at_the_most(void)
{
    const struct io_sample full = make_full();
    for (int kind = 0; kind < IO_PROTOCOL_COUNT; kind++) {
        const struct io_protocol_spec spec = {.kind = (enum io_protocol_kind)kind};
        double hz[IO_SEND_COUNT], sum = 0.0;
        struct io_protocol *protocol = place(kind, memory);
        for (int i = 0; i < IO_SEND_COUNT; i++)
            hz[i] = 10.0;
        book.sent_count = 0;
        io_protocol_encode(protocol, &full, 0x0123456789abcdef, &port);
        for (int i = 0; i < book.sent_count; i++)
            sum += (double)book.sent[i].size;
        const double load = io_protocol_load(&spec, hz, 5);
        TEST_ASSERT_TRUE(load >= 10.0 * sum);
        TEST_ASSERT_TRUE(load <= 10.0 * sum * 1.25);
    }
}

static void test_the_load_of_a_px4_board_is_known(void)
{
    /* 250 Hz sensors, 10 Hz GPS, 1 Hz heartbeat */
    const double hz[IO_SEND_COUNT] = {1.0, 250.0, 10.0};
    const struct io_protocol_spec hitl = {.kind = IO_PROTOCOL_PX4_HITL};
    const struct io_protocol_spec betaflight = {.kind = IO_PROTOCOL_BETAFLIGHT};
    TEST_ASSERT_EQUAL_DOUBLE(250.0 * 77.0 + 10.0 * 51.0 + 21.0, io_protocol_load(&hitl, hz, 0));
    TEST_ASSERT_EQUAL_DOUBLE(250.0 * 144.0, io_protocol_load(&betaflight, hz, 0));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_traits_are_what_users_expect);
    RUN_TEST(test_safe_is_a_heartbeat_in_distress_where_there_are_heartbeats);
    RUN_TEST(test_garbage_is_bad_and_moves_nothing);
    RUN_TEST(test_no_protocol_takes_memory);
    RUN_TEST(test_two_of_a_kind_share_nothing);
    RUN_TEST(test_the_load_is_what_leaves_at_the_most);
    RUN_TEST(test_the_load_of_a_px4_board_is_known);
    return UNITY_END();
}
