/*
 * Properties of all protocols.
 */
#include "io/protocol/protocol.h"

#include <stdlib.h>
#include <string.h>

#include "rt/alloc.h"
#include "tests/io/live/notebook.h"
#include "tests/io/wire.h"
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

static void test_the_names_are_those_of_the_rows(void)
{
    for (int i = 0; i < IO_PROTOCOL_COUNT; i++) {
        TEST_ASSERT_EQUAL_STRING(io_protocol_names[i],
                                 io_protocol_traits((enum io_protocol_kind)i)->name);
        TEST_ASSERT_EQUAL_STRING(io_protocol_names[i], io_protocol_name((enum io_protocol_kind)i));
    }
    TEST_ASSERT_NULL(io_protocol_names[IO_PROTOCOL_COUNT]);
}

static void test_the_usual_values_of_every_protocol(void)
{
    enum { FRAME = IO_RATE_FRAME, DEVICE = IO_RATE_DEVICE, NONE = IO_RATE_NONE };
    static const int hz[IO_PROTOCOL_COUNT][IO_MESSAGE_COUNT] = {
        {1, 250, 10, 50, 1, DEVICE, DEVICE, DEVICE, NONE},
        {NONE, 250, 10, 50, 1, NONE, NONE, NONE, NONE},
        {1, 250, 10, IO_RATE_NEVER, 1, NONE, NONE, NONE, NONE},
        {NONE, FRAME, NONE, NONE, NONE, NONE, NONE, NONE, NONE},
        {NONE, FRAME, NONE, NONE, NONE, NONE, NONE, NONE, 50},
        {NONE, FRAME, NONE, NONE, NONE, NONE, NONE, NONE, NONE},
    };
    static const enum io_bus_kind bus[] = {IO_BUS_UDP, IO_BUS_TCP, IO_BUS_SERIAL,
                                           IO_BUS_UDP, IO_BUS_UDP, IO_BUS_EVDEV};
    static const enum io_mode_names mode_names[] = {IO_MODE_NAMES_PX4,  IO_MODE_NAMES_PX4,
                                                    IO_MODE_NAMES_PX4,  IO_MODE_NAMES_ARDUCOPTER,
                                                    IO_MODE_NAMES_NONE, IO_MODE_NAMES_NONE};
    for (int i = 0; i < IO_PROTOCOL_COUNT; i++) {
        const struct io_protocol_traits *traits = io_protocol_traits((enum io_protocol_kind)i);
        for (int k = 0; k < IO_MESSAGE_COUNT; k++)
            TEST_ASSERT_EQUAL_INT(hz[i][k], traits->usual_hz[k]);
        TEST_ASSERT_EQUAL(bus[i], traits->usual_bus);
        TEST_ASSERT_EQUAL(mode_names[i], traits->mode_names);
        TEST_ASSERT_EQUAL(i == IO_PROTOCOL_PX4_HITL, traits->needs_hil_flag);
        TEST_ASSERT_EQUAL(i == IO_PROTOCOL_MAVLINK || i == IO_PROTOCOL_PX4_HITL,
                          traits->carries_ground);
        TEST_ASSERT_EQUAL(i == IO_PROTOCOL_BETAFLIGHT, traits->takes_rc);
        TEST_ASSERT_EQUAL(i == IO_PROTOCOL_BETAFLIGHT, traits->has_variants);
        TEST_ASSERT_EQUAL(i == IO_PROTOCOL_BETAFLIGHT, traits->reports_version);
        TEST_ASSERT_EQUAL(i == IO_PROTOCOL_BETAFLIGHT ? 20 : 1, traits->first_replies);
        TEST_ASSERT_EQUAL_DOUBLE(i == IO_PROTOCOL_ARDUPILOT ? 60.0 : 1.0, traits->reply_timeout_s);
    }
}

static void test_invalid_outputs_are_an_emergency_heartbeat_where_there_are_heartbeats(void)
{
    for (int i = 0; i < IO_PROTOCOL_COUNT; i++) {
        unsigned char safe[IO_PROTOCOL_INVALID_MAX];
        const struct io_protocol *protocol = place(i, memory);
        const size_t size = io_protocol_invalid_message(protocol, safe);
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
                garbage[n] = (unsigned char)(rand() % 250); /* never the start of a MAVLink frame */
            if (size == 16 || size == 68)
                continue; /* Betaflight's packets are recognised by their size only */
            const uint64_t before = io_protocol_get_counters(protocol).rx_bad;
            protocol->ops->receive(protocol, garbage, size, 0, &port);
            TEST_ASSERT_EQUAL_UINT64(before + 1, io_protocol_get_counters(protocol).rx_bad);
        }
        TEST_ASSERT_EQUAL(IO_BOARD_SILENT, io_protocol_facts(protocol)->board);
    }
    TEST_ASSERT_EQUAL(0, book.heard + book.commands + book.sent_count + book.forwarded_count);
}

static void test_no_protocol_takes_memory(void)
{
    const struct io_sample sample = {.sim_us = 1,
                                     .due = (1 << IO_MESSAGE_COUNT) - 1,
                                     .tracker_valid = 1,
                                     .accel = {1.25, 1e-9, -9.81}};
    const uint64_t before = rt_alloc_count();
    for (int i = 0; i < IO_PROTOCOL_COUNT; i++) {
        struct io_protocol *protocol = place(i, memory);
        book.sent_count = 0;
        rt_alloc_watch();
        io_protocol_encode(protocol, &sample, 1, &port);
        io_protocol_send_status(protocol, IO_STATUS_ACTIVE, &port);
        protocol->ops->receive(protocol, "garbage", 7, 0, &port);
        io_protocol_receive_ground(protocol, "garbage", 7, &port);
        rt_alloc_unwatch();
        TEST_ASSERT_EQUAL(i != IO_PROTOCOL_HAND, book.sent_count > 0);
    }
    if (rt_alloc_is_counted())
        TEST_ASSERT_EQUAL_UINT64(before, rt_alloc_count());
}

static void test_two_of_a_kind_share_nothing(void)
{
    const struct io_sample sample = {.sim_us = 1, .due = IO_SEND_SENSOR};
    for (int i = 0; i < IO_PROTOCOL_HAND; i++) { /* nothing is sent to a hand controller */
        struct io_protocol *one = place(i, memory), *two = place(i, other_memory);
        book.sent_count = 0;
        io_protocol_encode(one, &sample, 0, &port);
        io_protocol_encode(two, &sample, 0, &port);
        TEST_ASSERT_EQUAL(2, book.sent_count);
        TEST_ASSERT_EQUAL_size_t(book.sent[0].size, book.sent[1].size);
        TEST_ASSERT_EQUAL_MEMORY(book.sent[0].bytes, book.sent[1].bytes, book.sent[0].size);
    }
}

/* A sample whose numbers have no zero byte, so that nothing is trimmed. */
static struct io_sample make_full(void)
{
    struct io_sample sample = {
        .sim_us = 0x0123456789abcdef,
        .due = (1 << IO_MESSAGE_COUNT) - 1,
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
        double hz[IO_MESSAGE_COUNT], sum = 0.0;
        struct io_protocol *protocol = place(kind, memory);
        for (int i = 0; i < IO_MESSAGE_COUNT; i++)
            hz[i] = 10.0;
        book.sent_count = 0;
        io_protocol_encode(protocol, &full, 0x0123456789abcdef, &port);
        for (int i = 0; i < book.sent_count; i++)
            sum += (double)book.sent[i].size;
        const double load = io_protocol_bandwidth(&spec, hz, 5);
        TEST_ASSERT_TRUE(load >= 10.0 * sum);
        TEST_ASSERT_TRUE(load <= 10.0 * sum * 1.25);
    }
}

static void test_the_load_of_a_px4_board_is_known(void)
{
    /* 250 Hz sensors, 10 Hz GPS, 1 Hz heartbeat */
    const double hz[IO_MESSAGE_COUNT] = {1.0, 250.0, 10.0};
    const struct io_protocol_spec hitl = {.kind = IO_PROTOCOL_PX4_HITL};
    const struct io_protocol_spec betaflight = {.kind = IO_PROTOCOL_BETAFLIGHT};
    TEST_ASSERT_EQUAL_DOUBLE(250.0 * 77.0 + 10.0 * 51.0 + 21.0,
                             io_protocol_bandwidth(&hitl, hz, 0));
    TEST_ASSERT_EQUAL_DOUBLE(250.0 * 144.0, io_protocol_bandwidth(&betaflight, hz, 0));
}

/* ---- time queries ---- */

enum { TIMESYNC = 111, CRC_TIMESYNC = 34, OUR_SYSTEM = 42, OUR_COMPONENT = 17 };

static struct {
    int told;
    uint64_t asked_ns, board_ns;
} clocks;

static void note_clock(void *self, uint64_t asked_ns, uint64_t board_ns)
{
    TEST_ASSERT_EQUAL_PTR(&book, self);
    clocks.told++;
    clocks.asked_ns = asked_ns;
    clocks.board_ns = board_ns;
}

static struct io_protocol *place_asked(void)
{
    const struct io_protocol_spec spec = {
        .kind = IO_PROTOCOL_MAVLINK, .system_id = OUR_SYSTEM, .component_id = OUR_COMPONENT};
    memset(&clocks, 0, sizeof clocks);
    port.clock = note_clock;
    return io_protocol_place(&spec, memory);
}

/* A TIMESYNC of the board; true when it was forwarded to the ground stations. */
static bool take_timesync(struct io_protocol *protocol, int64_t tc1, int64_t ts1, int system,
                          int component)
{
    unsigned char payload[18];
    static uint8_t sequence;
    const int before = book.forwarded_count;
    memcpy(payload, &tc1, 8);
    memcpy(payload + 8, &ts1, 8);
    payload[16] = (unsigned char)system;
    payload[17] = (unsigned char)component;
    const struct wire wire = wire_v2(0, sequence++, TIMESYNC, CRC_TIMESYNC, payload, 18);
    protocol->ops->receive(protocol, wire.bytes, wire.size, 987654321, &port);
    return book.forwarded_count > before;
}

static void test_our_question_for_the_time_is_answered_once(void)
{
    struct io_protocol *protocol = place_asked();
    int64_t said[2] = {0};
    TEST_ASSERT_TRUE(take_timesync(protocol, 5, 1000, 0, 0)); /* without a query */
    io_protocol_query_time(protocol, 1000, &port);
    TEST_ASSERT_EQUAL(1, book.sent_count);
    TEST_ASSERT_EQUAL_HEX8(TIMESYNC, book.sent[0].bytes[7]);
    memcpy(said, book.sent[0].bytes + 10, book.sent[0].bytes[1]);
    TEST_ASSERT_EQUAL_INT64(0, said[0]);
    TEST_ASSERT_EQUAL_INT64(1000, said[1]);
    TEST_ASSERT_FALSE(book.sent[0].stamped);
    TEST_ASSERT_EQUAL(IO_DESTINATION_PEER, book.sent[0].way);
    TEST_ASSERT_TRUE(take_timesync(protocol, 5, 999, 0, 0)); /* a reply to another query */
    TEST_ASSERT_EQUAL(0, clocks.told);
    TEST_ASSERT_FALSE(take_timesync(protocol, 5, 1000, 0, 0));
    TEST_ASSERT_EQUAL(1, clocks.told);
    TEST_ASSERT_EQUAL_UINT64(1000, clocks.asked_ns);
    TEST_ASSERT_EQUAL_UINT64(5, clocks.board_ns);
    TEST_ASSERT_TRUE(take_timesync(protocol, 5, 1000, 0, 0)); /* once more */
    TEST_ASSERT_EQUAL(1, clocks.told);
    TEST_ASSERT_EQUAL(1, book.sent_count);
}

static void test_a_question_with_our_number_is_no_answer(void)
{
    struct io_protocol *protocol = place_asked();
    io_protocol_query_time(protocol, 1000, &port);
    TEST_ASSERT_TRUE(take_timesync(protocol, 0, 1000, 255, 190)); /* a query to another system */
    TEST_ASSERT_EQUAL(0, clocks.told);
    TEST_ASSERT_FALSE(take_timesync(protocol, 7, 1000, 0, 0)); /* our query is still pending */
    TEST_ASSERT_EQUAL(1, clocks.told);
}

static void test_a_new_far_end_is_not_held_to_an_old_question(void)
{
    struct io_protocol *protocol = place_asked();
    io_protocol_query_time(protocol, 1000, &port);
    io_protocol_new_peer(protocol);
    TEST_ASSERT_TRUE(take_timesync(protocol, 5, 1000, 0, 0));
    TEST_ASSERT_EQUAL(0, clocks.told);
    io_protocol_query_time(protocol, 2000, &port);
    port.clock = NULL; /* the reply is not used */
    TEST_ASSERT_FALSE(take_timesync(protocol, 5, 2000, 0, 0));
    TEST_ASSERT_TRUE(take_timesync(protocol, 5, 2000, 0, 0));
}

static void test_requests_to_all_or_to_us_are_answered(void)
{
    static const struct {
        int system, component;
        bool us;
    } cases[] = {
        {0, 0, true},
        {OUR_SYSTEM, 0, true},
        {0, OUR_COMPONENT, true},
        {OUR_SYSTEM, OUR_COMPONENT, true},
        {OUR_SYSTEM + 1, 0, false},
        {0, OUR_COMPONENT + 1, false},
        {OUR_SYSTEM + 1, OUR_COMPONENT, false},
        {OUR_SYSTEM, OUR_COMPONENT + 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct io_protocol *protocol = place_asked();
        int64_t said[2];
        book.sent_count = 0;
        TEST_ASSERT_EQUAL(!cases[i].us,
                          take_timesync(protocol, 0, 4711, cases[i].system, cases[i].component));
        TEST_ASSERT_EQUAL(cases[i].us, book.sent_count);
        if (!cases[i].us)
            continue;
        memcpy(said, book.sent[0].bytes + 10, sizeof said);
        TEST_ASSERT_EQUAL_INT64(987654321, said[0]);
        TEST_ASSERT_EQUAL_INT64(4711, said[1]);
        TEST_ASSERT_EQUAL_UINT8(OUR_SYSTEM, book.sent[0].bytes[5]);
        TEST_ASSERT_EQUAL_UINT8(OUR_COMPONENT, book.sent[0].bytes[6]);
    }
}

static void test_a_board_without_a_clock_is_not_asked_for_its_time(void)
{
    for (int i = IO_PROTOCOL_ARDUPILOT; i < IO_PROTOCOL_COUNT; i++)
        io_protocol_query_time(place(i, memory), 1000, &port);
    TEST_ASSERT_EQUAL(0, book.sent_count);
    for (int i = 0; i < IO_PROTOCOL_COUNT; i++) {
        const struct io_protocol_traits *traits = io_protocol_traits((enum io_protocol_kind)i);
        TEST_ASSERT_EQUAL(i <= IO_PROTOCOL_PX4_HITL, traits->answers_time_query);
        TEST_ASSERT_EQUAL(i <= IO_PROTOCOL_PX4_HITL, traits->marks_fields);
        TEST_ASSERT_EQUAL(i <= IO_PROTOCOL_PX4_HITL, traits->stamps_commands);
    }
}

/* The size of each message by itself, with 12 bytes around a MAVLink payload. */
static void test_the_load_of_every_message_is_its_size(void)
{
    static const double mavlink[IO_MESSAGE_COUNT] = {21, 77, 51, 76, 24, 52, 42, 32 + 4 * 5, 54};
    static const double ardupilot[IO_MESSAGE_COUNT] = {[1] = 500, [8] = 190};
    static const double betaflight[IO_MESSAGE_COUNT] = {[1] = 144, [8] = 40};
    static const double none[IO_MESSAGE_COUNT] = {0};
    const double *const sizes[IO_PROTOCOL_COUNT] = {mavlink,   mavlink,    mavlink,
                                                    ardupilot, betaflight, none};
    for (int kind = 0; kind < IO_PROTOCOL_COUNT; kind++) {
        const struct io_protocol_spec spec = {.kind = (enum io_protocol_kind)kind};
        for (int i = 0; i < IO_MESSAGE_COUNT; i++) {
            double hz[IO_MESSAGE_COUNT] = {0.0};
            hz[i] = 3.0;
            TEST_ASSERT_EQUAL_DOUBLE(3.0 * sizes[kind][i], io_protocol_bandwidth(&spec, hz, 5));
        }
    }
}

/* Memory that ends where the protocol ends. */
static void test_a_protocol_stays_in_its_memory(void)
{
    const struct io_sample sample = {.due = (1 << IO_MESSAGE_COUNT) - 1, .tracker_valid = 1};
    for (int i = 0; i < IO_PROTOCOL_COUNT; i++) {
        const struct io_protocol_spec spec = {.kind = (enum io_protocol_kind)i};
        const size_t size = io_protocol_size(&spec);
        void *mem = aligned_alloc(64, (size + 63) / 64 * 64);
        TEST_ASSERT_NOT_NULL(mem);
        struct io_protocol *protocol = io_protocol_place(&spec, mem);
        book.sent_count = 0;
        io_protocol_encode(protocol, &sample, 1, &port);
        protocol->ops->receive(protocol, "garbage", 7, 0, &port);
        io_protocol_receive_ground(protocol, "garbage", 7, &port);
        TEST_ASSERT_EQUAL_UINT64(1, io_protocol_get_counters(protocol).rx_bad);
        TEST_ASSERT_EQUAL_UINT64(i <= IO_PROTOCOL_PX4_HITL,
                                 io_protocol_get_counters(protocol).ground_bad);
        free(mem);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_traits_are_what_users_expect);
    RUN_TEST(test_the_names_are_those_of_the_rows);
    RUN_TEST(test_the_usual_values_of_every_protocol);
    RUN_TEST(test_invalid_outputs_are_an_emergency_heartbeat_where_there_are_heartbeats);
    RUN_TEST(test_garbage_is_bad_and_moves_nothing);
    RUN_TEST(test_no_protocol_takes_memory);
    RUN_TEST(test_two_of_a_kind_share_nothing);
    RUN_TEST(test_the_load_is_what_leaves_at_the_most);
    RUN_TEST(test_the_load_of_a_px4_board_is_known);
    RUN_TEST(test_our_question_for_the_time_is_answered_once);
    RUN_TEST(test_a_question_with_our_number_is_no_answer);
    RUN_TEST(test_a_new_far_end_is_not_held_to_an_old_question);
    RUN_TEST(test_requests_to_all_or_to_us_are_answered);
    RUN_TEST(test_a_board_without_a_clock_is_not_asked_for_its_time);
    RUN_TEST(test_the_load_of_every_message_is_its_size);
    RUN_TEST(test_a_protocol_stays_in_its_memory);
    return UNITY_END();
}
