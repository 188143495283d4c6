/*
 * The parser against frames made by hand from the published tables (ids, CRC extras, offsets,
 * units).
 */
#include "tests/io/protocol/mavlink_fixture.h"

static _Alignas(64) unsigned char other_mem[4096];

static void check_controls(void)
{
    TEST_ASSERT_EQUAL(IO_MAVLINK_CONTROLS, message.kind);
    TEST_ASSERT_EQUAL_HEX64(0x0102030405060708, message.controls.time_us);
    TEST_ASSERT_EQUAL_UINT64(1, message.controls.flags);
    TEST_ASSERT_EQUAL_HEX8(0x81, message.controls.mode);
    for (int i = 0; i < 16; i++)
        TEST_ASSERT_EQUAL_FLOAT((float)(i + 1) / 16.0f, message.controls.controls[i]);
}

/* For forwarding, the bytes are kept as received: with a signature, of version 1, or after a
 * broken frame. */
static void test_the_frame_of_a_message_is_kept_byte_by_byte(void)
{
    struct wire part = wire_v2(1, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    wire_put(&part, "thirteenbytes", 13);
    const struct wire frames[] = {
        part,
        wire_v1(1, CONTROLS, CRC_CONTROLS, controls, sizeof controls),
        wire_v2(0, 2, 0xabcdef, 99, controls, 7),
        wire_v2(0, 3, HEARTBEAT, CRC_HEARTBEAT, "\1\2\3\4\5\0\0\0\3", 9),
    };
    struct wire stream = wire_v2(0, 9, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    stream.size--; /* the next frame's first byte is taken for the end of this one's checksum */
    for (size_t i = 0; i < 4; i++)
        wire_put(&stream, frames[i].bytes, frames[i].size);
    size_t count = 0;
    for (size_t used = 0; used < stream.size;) {
        size_t size;
        used += io_mavlink_feed(parser, stream.bytes + used, stream.size - used, &message);
        if (message.kind == IO_MAVLINK_NONE)
            continue;
        const unsigned char *kept = io_mavlink_frame(parser, &size);
        TEST_ASSERT_EQUAL_size_t(frames[count].size, size);
        TEST_ASSERT_EQUAL_HEX8_ARRAY(frames[count].bytes, kept, size);
        count++;
    }
    TEST_ASSERT_EQUAL_size_t(4, count);
    TEST_ASSERT_EQUAL_UINT64(1, counted()->bad_crc);
}

static void test_controls_come_in_both_versions(void)
{
    struct wire wire = wire_v1(9, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    check_controls();
    TEST_ASSERT_EQUAL_UINT8(1, message.version);
    wire = wire_v2(0, 10, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    check_controls();
    TEST_ASSERT_EQUAL_UINT8(2, message.version);
    TEST_ASSERT_EQUAL_UINT8(10, message.sequence);
    TEST_ASSERT_EQUAL_UINT64(0, bad() + counted()->lost);
}

static void test_a_trimmed_payload_is_filled_with_zeros(void)
{
    struct wire wire = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire)); /* leaves its bytes in the parser */
    wire = wire_v2(0, 1, CONTROLS, CRC_CONTROLS, controls, 20);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    TEST_ASSERT_EQUAL_FLOAT(0.0625f, message.controls.controls[0]);
    for (int i = 1; i < 16; i++)
        TEST_ASSERT_EQUAL_FLOAT(0.0f, message.controls.controls[i]);
    TEST_ASSERT_EQUAL_UINT8(0, message.controls.mode);
}

static void test_unknown_extensions_are_ignored(void)
{
    unsigned char longer[CONTROLS_SIZE + 4] = {0};
    memcpy(longer, controls, sizeof controls);
    longer[CONTROLS_SIZE + 3] = 1;
    struct wire wire = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, longer, sizeof longer);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    check_controls();
    wire = wire_v1(1, CONTROLS, CRC_CONTROLS, longer, sizeof longer);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    check_controls();
    TEST_ASSERT_EQUAL_UINT64(0, bad());
}

static void test_version_1_trims_nothing(void)
{
    const struct wire wire = wire_v1(1, CONTROLS, CRC_CONTROLS, controls, sizeof controls - 1);
    TEST_ASSERT_EQUAL(0, feed_datagram(&wire));
    TEST_ASSERT_EQUAL_UINT64(1, counted()->bad_length);
    TEST_ASSERT_EQUAL_UINT64(1, bad());
}

static void test_no_flipped_bit_gets_through(void)
{
    const struct wire good = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    for (size_t bit = 0; bit < 8 * good.size; bit++) {
        struct wire flipped = good;
        flipped.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        const uint64_t bad_before = bad(), unknown_before = counted()->unknown;
        const int count = feed_datagram(&flipped);
        TEST_ASSERT_TRUE(count == 0 || message.kind == IO_MAVLINK_UNKNOWN);
        TEST_ASSERT_GREATER_THAN_UINT64(bad_before + unknown_before, bad() + counted()->unknown);
        TEST_ASSERT_EQUAL(1, feed_datagram(&good));
        check_controls();
    }
}

static void test_a_wrong_checksum_is_counted_as_one(void)
{
    struct wire wire = wire_v2(0, 0, CONTROLS, CRC_CONTROLS + 1, controls, sizeof controls);
    TEST_ASSERT_EQUAL(0, feed_datagram(&wire));
    TEST_ASSERT_EQUAL_UINT64(1, counted()->bad_crc);
    TEST_ASSERT_EQUAL_UINT64(1, bad());
    TEST_ASSERT_EQUAL_UINT64(0, counted()->messages);
}

static void test_bytes_may_come_in_any_pieces(void)
{
    const struct wire wire = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    for (size_t cut = 1; cut < wire.size; cut++) {
        io_mavlink_new_peer(parser);
        TEST_ASSERT_EQUAL(0, feed(wire.bytes, cut));
        TEST_ASSERT_EQUAL(1, feed(wire.bytes + cut, wire.size - cut));
        check_controls();
    }
    TEST_ASSERT_EQUAL_UINT64(wire.size - 1, counted()->messages);
    TEST_ASSERT_EQUAL_UINT64(0, bad());
}

static void test_a_feed_stops_behind_each_message(void)
{
    struct wire two = wire_v1(0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    const size_t one = two.size;
    const struct wire next = wire_v2(0, 1, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    wire_put(&two, next.bytes, next.size);
    TEST_ASSERT_EQUAL_size_t(one, io_mavlink_feed(parser, two.bytes, two.size, &message));
    check_controls();
    TEST_ASSERT_EQUAL(1, feed(two.bytes + one, two.size - one));
    TEST_ASSERT_EQUAL_UINT8(2, message.version);
}

static void test_garbage_is_counted_once_a_run_and_skipped(void)
{
    struct wire wire = {.size = 0};
    const struct wire good = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    for (unsigned i = 0; i < 100; i++)
        wire_byte(&wire, i);
    wire_put(&wire, good.bytes, good.size);
    wire_put(&wire, "xyz", 3);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    check_controls();
    TEST_ASSERT_EQUAL_UINT64(2, counted()->bad_header);
    wire.size = 50; /* garbage alone: each datagram counts as one run */
    TEST_ASSERT_EQUAL(0, feed_datagram(&wire));
    TEST_ASSERT_EQUAL(0, feed_datagram(&wire));
    TEST_ASSERT_EQUAL_UINT64(4, counted()->bad_header);
    TEST_ASSERT_EQUAL_UINT64(4, bad());
}

static void test_a_cut_datagram_is_bad_and_does_not_spoil_the_next(void)
{
    const struct wire good = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    for (size_t size = 1; size < good.size; size++) {
        struct wire cut = good;
        cut.size = size;
        TEST_ASSERT_EQUAL(0, feed_datagram(&cut));
        TEST_ASSERT_EQUAL(1, feed_datagram(&good));
        check_controls();
    }
    TEST_ASSERT_EQUAL_UINT64(good.size - 1, counted()->bad_length);
    TEST_ASSERT_EQUAL_UINT64(good.size - 1, bad());
}

static void test_a_lost_byte_costs_one_frame_of_a_stream(void)
{
    struct wire stream = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    const struct wire next = wire_v2(0, 1, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    memmove(stream.bytes + 40, stream.bytes + 41, stream.size - 41);
    stream.size--;
    wire_put(&stream, next.bytes, next.size);
    TEST_ASSERT_EQUAL(1, feed(stream.bytes, stream.size));
    check_controls();
    TEST_ASSERT_EQUAL_UINT64(1, counted()->bad_crc);
    TEST_ASSERT_EQUAL_UINT64(1, bad());
}

static void feed_heartbeat(uint8_t sequence, uint8_t component)
{
    const unsigned char payload[9] = {0, 0, 0, 0, 2, 12, 0, 4, 3};
    struct wire wire = wire_v2(0, sequence, HEARTBEAT, CRC_HEARTBEAT, payload, sizeof payload);
    wire.bytes[6] = component;
    wire.size -= 2;
    wire_end(&wire, CRC_HEARTBEAT);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    TEST_ASSERT_EQUAL(IO_MAVLINK_HEARTBEAT, message.kind);
}

static void test_sequence_gaps_are_counted_per_component(void)
{
    feed_heartbeat(250, 1);
    feed_heartbeat(3, 2);
    feed_heartbeat(251, 1);
    feed_heartbeat(4, 2);
    TEST_ASSERT_EQUAL_UINT64(0, counted()->lost);
    feed_heartbeat(2, 1); /* 252..255, 0, 1 are missing */
    TEST_ASSERT_EQUAL_UINT64(6, counted()->lost);
    feed_heartbeat(6, 2);
    TEST_ASSERT_EQUAL_UINT64(7, counted()->lost);
    io_mavlink_new_peer(parser);
    feed_heartbeat(100, 1);
    TEST_ASSERT_EQUAL_UINT64(7, counted()->lost);
}

static void test_more_components_than_the_table_holds_are_received_and_not_watched(void)
{
    for (unsigned i = 0; i < 2 * IO_MAVLINK_SOURCE_MAX; i++)
        feed_heartbeat(0, (uint8_t)i);
    for (unsigned i = 0; i < 2 * IO_MAVLINK_SOURCE_MAX; i++)
        feed_heartbeat(2, (uint8_t)i);
    TEST_ASSERT_EQUAL_UINT64(IO_MAVLINK_SOURCE_MAX, counted()->lost);
    TEST_ASSERT_EQUAL_UINT64(4 * IO_MAVLINK_SOURCE_MAX, counted()->messages);
}

static void test_an_unknown_id_is_skipped_and_not_bad(void)
{
    struct wire wire = wire_v2(0, 77, 0xabcdef, 99, controls, sizeof controls);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire)); /* maybe noise: starts no sequence */
    feed_heartbeat(10, 1);
    wire = wire_v2(0, 11, 0xabcdef, 99, controls, sizeof controls);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    TEST_ASSERT_EQUAL(IO_MAVLINK_UNKNOWN, message.kind);
    TEST_ASSERT_EQUAL_HEX32(0xabcdef, message.id);
    feed_heartbeat(12, 1); /* its number was counted */
    TEST_ASSERT_EQUAL_UINT64(4, counted()->messages);
    TEST_ASSERT_EQUAL_UINT64(2, counted()->unknown);
    TEST_ASSERT_EQUAL_UINT64(0, bad() + counted()->lost);
}

static void test_a_known_message_without_use_is_other(void)
{
    const unsigned char attitude[28] = {1, 2, 3};
    const struct wire wire = wire_v2(0, 0, 30, CRC_ATTITUDE, attitude, sizeof attitude);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    TEST_ASSERT_EQUAL(IO_MAVLINK_OTHER, message.kind);
    TEST_ASSERT_EQUAL_UINT32(30, message.id);
}

static void test_signed_frames_are_read_and_other_flags_refused(void)
{
    struct wire wire = wire_v2(1, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    wire_put(&wire, "thirteenbytes", 13);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    check_controls();
    TEST_ASSERT_EQUAL_UINT64(0, bad());
    wire = wire_v2(2, 1, HEARTBEAT, CRC_HEARTBEAT, "", 0);
    TEST_ASSERT_EQUAL(0, feed_datagram(&wire));
    TEST_ASSERT_EQUAL_UINT64(1, counted()->bad_header);
}

static void test_a_signature_behind_a_checksum_that_cannot_be_right_is_part_of_the_frame(void)
{
    struct wire wire = wire_v2(1, 0, 0xabcdef, 99, controls, sizeof controls);
    size_t size;
    wire_put(&wire, "thirteenbytes", 13);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire)); /* unknown, once */
    (void)io_mavlink_frame(parser, &size);
    TEST_ASSERT_EQUAL_size_t(wire.size, size);
    TEST_ASSERT_EQUAL_UINT64(1, counted()->unknown);
    wire = wire_v2(1, 0, CONTROLS, CRC_CONTROLS + 1, controls, sizeof controls);
    wire_put(&wire, "thirteenbytes", 13);
    TEST_ASSERT_EQUAL(0, feed_datagram(&wire));
    TEST_ASSERT_EQUAL_UINT64(1, counted()->bad_crc);
    TEST_ASSERT_EQUAL_UINT64(1, bad());
    wire = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    check_controls();
}

static void test_two_parsers_share_nothing(void)
{
    const struct wire wire = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    struct io_mavlink_parser *other = io_mavlink_parser_place(other_mem);
    struct io_mavlink_message others = {.kind = IO_MAVLINK_NONE};
    for (size_t i = 0; i < wire.size; i++) {
        (void)io_mavlink_feed(other, wire.bytes + i, 1, &others);
        TEST_ASSERT_EQUAL(i + 1 == wire.size, feed(wire.bytes + i, 1));
    }
    check_controls();
    TEST_ASSERT_EQUAL(IO_MAVLINK_CONTROLS, others.kind);
}

static void feed_from(uint8_t system, uint8_t component, uint8_t sequence)
{
    struct wire wire = wire_v2(0, sequence, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
    wire.bytes[5] = system;
    wire.bytes[6] = component;
    wire.size -= 2;
    wire_end(&wire, CRC_CONTROLS);
    TEST_ASSERT_EQUAL(1, feed_datagram(&wire));
    TEST_ASSERT_EQUAL_UINT8(system, message.system_id);
    TEST_ASSERT_EQUAL_UINT8(component, message.component_id);
    TEST_ASSERT_EQUAL_UINT8(sequence, message.sequence);
}

static void test_a_source_is_a_system_and_a_component(void)
{
    feed_from(1, 2, 10);
    feed_from(2, 2, 50);
    feed_from(2, 1, 90);
    feed_from(1, 1, 130);
    TEST_ASSERT_EQUAL_UINT64(0, counted()->lost);
    feed_from(1, 2, 12);
    TEST_ASSERT_EQUAL_UINT64(1, counted()->lost);
    feed_from(2, 2, 53);
    TEST_ASSERT_EQUAL_UINT64(3, counted()->lost);
    feed_from(2, 1, 94);
    TEST_ASSERT_EQUAL_UINT64(6, counted()->lost);
    feed_from(1, 1, 131);
    TEST_ASSERT_EQUAL_UINT64(6, counted()->lost);
}

static void test_a_frame_of_either_version_begins_in_the_checksum_of_a_cut_one(void)
{
    for (int version = 1; version <= 2; version++) {
        struct wire stream = wire_v2(0, 0, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
        const struct wire next =
            version == 1 ? wire_v1(1, CONTROLS, CRC_CONTROLS, controls, sizeof controls)
                         : wire_v2(0, 1, CONTROLS, CRC_CONTROLS, controls, sizeof controls);
        stream.size--;
        wire_put(&stream, next.bytes, next.size);
        TEST_ASSERT_EQUAL(1, feed_datagram(&stream));
        check_controls();
        TEST_ASSERT_EQUAL_UINT8(version, message.version);
        TEST_ASSERT_EQUAL_UINT64((uint64_t)version, counted()->bad_crc);
        TEST_ASSERT_EQUAL_UINT64((uint64_t)version, bad());
    }
}

/* 10 bytes of head, 255 of payload, the checksum and a signature. */
static void test_the_longest_frame_is_kept_whole(void)
{
    unsigned char longest[255];
    size_t size = 0;
    for (size_t i = 0; i < sizeof longest; i++)
        longest[i] = (unsigned char)(i + 1);
    struct wire wire = wire_v2(1, 0, 0xabcdef, 99, longest, sizeof longest);
    wire_put(&wire, "thirteenbytes", 13);
    TEST_ASSERT_EQUAL_size_t(IO_MAVLINK_FRAME_MAX, wire.size);
    for (size_t cut = 0; cut < wire.size; cut += 93) { /* in one piece, and in two */
        (void)feed(wire.bytes, cut);
        TEST_ASSERT_EQUAL(1, feed(wire.bytes + cut, wire.size - cut));
        const unsigned char *kept = io_mavlink_frame(parser, &size);
        TEST_ASSERT_EQUAL_size_t(wire.size, size);
        TEST_ASSERT_EQUAL_HEX8_ARRAY(wire.bytes, kept, size);
    }
    TEST_ASSERT_EQUAL_UINT64(0, bad());
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_frame_of_a_message_is_kept_byte_by_byte);
    RUN_TEST(test_controls_come_in_both_versions);
    RUN_TEST(test_a_trimmed_payload_is_filled_with_zeros);
    RUN_TEST(test_unknown_extensions_are_ignored);
    RUN_TEST(test_version_1_trims_nothing);
    RUN_TEST(test_no_flipped_bit_gets_through);
    RUN_TEST(test_a_wrong_checksum_is_counted_as_one);
    RUN_TEST(test_bytes_may_come_in_any_pieces);
    RUN_TEST(test_a_feed_stops_behind_each_message);
    RUN_TEST(test_garbage_is_counted_once_a_run_and_skipped);
    RUN_TEST(test_a_cut_datagram_is_bad_and_does_not_spoil_the_next);
    RUN_TEST(test_a_lost_byte_costs_one_frame_of_a_stream);
    RUN_TEST(test_sequence_gaps_are_counted_per_component);
    RUN_TEST(test_more_components_than_the_table_holds_are_received_and_not_watched);
    RUN_TEST(test_an_unknown_id_is_skipped_and_not_bad);
    RUN_TEST(test_a_known_message_without_use_is_other);
    RUN_TEST(test_signed_frames_are_read_and_other_flags_refused);
    RUN_TEST(test_a_signature_behind_a_checksum_that_cannot_be_right_is_part_of_the_frame);
    RUN_TEST(test_two_parsers_share_nothing);
    RUN_TEST(test_a_source_is_a_system_and_a_component);
    RUN_TEST(test_a_frame_of_either_version_begins_in_the_checksum_of_a_cut_one);
    RUN_TEST(test_the_longest_frame_is_kept_whole);
    return UNITY_END();
}
