/*
 * Hand controller reports that viewers publish.
 */
#include "tests/io/live/hub_fixture.h"

static void advertise_hand(struct io_session *client, int id)
{
    char text[128];
    snprintf(text, sizeof text,
             "{\"op\":\"advertise\",\"channels\":[{\"id\":%d,\"topic\":\"/hand\",\"encoding\":"
             "\"hand\",\"schemaName\":\"hand\"}]}",
             id);
    say(client, text);
}

static struct io_hand_report pushed(void)
{
    struct io_hand_report picture;
    io_hand_report_neutral(&picture);
    picture.axis[2] = 1.0f;
    return picture;
}

static void publish(struct io_session *client, uint32_t id, const void *bytes, size_t size)
{
    unsigned char message[5 + 2 * IO_HAND_SIZE_TIMED] = {1};
    memcpy(message + 1, &id, sizeof id);
    memcpy(message + 5, bytes, size);
    make_call(client, (const char *)message, 5 + size);
}

static void test_hand_messages_of_the_holder_of_authority_are_passed_on(void)
{
    struct io_session *one = enter(0.0), *two = enter(0.0);
    struct io_hand_report picture;
    io_hand_report_neutral(&picture);
    advertise_hand(one, 7);
    advertise_hand(two, 7);
    publish(one, 7, &picture, IO_HAND_SIZE); /* a command like others: it takes authority */
    TEST_ASSERT_EQUAL_UINT64(one->serial, hub->authority.holder);
    TEST_ASSERT_EQUAL_INT(1, flown.hands);
    TEST_ASSERT_EQUAL_INT(1, flown.pictures);
    picture.version = IO_HAND_VERSION_TIMED;
    picture.sent_us = 5;
    publish(one, 7, &picture, IO_HAND_SIZE_TIMED);
    TEST_ASSERT_EQUAL_size_t(IO_HAND_SIZE_TIMED, flown.size);
    TEST_ASSERT_EQUAL_MEMORY(&picture, flown.bytes, IO_HAND_SIZE_TIMED);
    publish(two, 7, &picture, IO_HAND_SIZE_TIMED);
    TEST_ASSERT_EQUAL_INT(2, flown.pictures);
    assert_next_has(two, "viewer 1 has authority");
    TEST_ASSERT_NOT_NULL(strstr((const char *)frame.data, "\"level\":1"));
}

static const uint64_t MS = 1000000;

/* A report that was sent at sent_ms and arrives at now_ms, both by the receiver's clock. */
static bool publish_at(struct io_session *client, uint64_t sent_ms, uint64_t now_ms)
{
    struct io_hand_report picture;
    const int before = flown.pictures;
    io_hand_report_neutral(&picture);
    picture.version = IO_HAND_VERSION_TIMED;
    picture.sent_us = 1000 * sent_ms - 77777777; /* a clock of any epoch */
    TEST_ASSERT_TRUE(io_hub_within_limits(hub, client, IO_HAND_SIZE_TIMED, now_ms * MS));
    publish(client, 7, &picture, IO_HAND_SIZE_TIMED);
    return flown.pictures > before;
}

/* Two seconds of reports that an outage delayed arrive at once. */
static void test_pictures_that_come_much_later_than_others_are_dropped(void)
{
    struct io_session *client = enter(0.0);
    advertise_hand(client, 7);
    for (uint64_t ms = 1000; ms < 2000; ms += 20)
        TEST_ASSERT_TRUE(publish_at(client, ms, ms + 30 + ms % 7));
    TEST_ASSERT_NULL(next(client));
    for (uint64_t ms = 2000; ms <= 3700; ms += 20)
        TEST_ASSERT_FALSE(publish_at(client, ms, 4000));
    assert_next_has(client, "later than others");
    TEST_ASSERT_NULL(next(client));                   /* one warning only */
    TEST_ASSERT_TRUE(publish_at(client, 3740, 4000)); /* 230 ms more than the fastest */
    TEST_ASSERT_TRUE(publish_at(client, 3980, 4020));
}

static void test_a_clock_that_runs_a_little_slower_is_followed(void)
{
    struct io_session *client = enter(0.0);
    advertise_hand(client, 7);
    for (uint64_t s = 0; s < 3600; s++) /* 500 ppm, 1.8 s in the hour */
        TEST_ASSERT_TRUE(publish_at(client, 100000 + 1000 * s - s / 2, 100000 + 1000 * s + 40));
}

/* A machine that slept, or whose clock was set back. */
static void test_pictures_that_stay_late_are_taken_again(void)
{
    struct io_session *client = enter(0.0);
    advertise_hand(client, 7);
    for (uint64_t ms = 1000; ms < 2000; ms += 20)
        TEST_ASSERT_TRUE(publish_at(client, ms, ms + 30));
    for (uint64_t ms = 60000; ms < 63000; ms += 20)
        TEST_ASSERT_FALSE(publish_at(client, ms - 50000, ms));
    TEST_ASSERT_TRUE(publish_at(client, 13000, 63000));
    TEST_ASSERT_TRUE(publish_at(client, 13020, 63020));
    TEST_ASSERT_TRUE(publish_at(client, 63040, 63040)); /* and back */
}

static void test_a_new_holder_of_the_stick_is_checked_anew(void)
{
    struct io_session *client = enter(0.0);
    advertise_hand(client, 7);
    TEST_ASSERT_TRUE(publish_at(client, 1000, 1000));
    TEST_ASSERT_FALSE(publish_at(client, 1000, 2000));
    ask_authority(client, IO_AUTHORITY_GIVE);
    ask_authority(client, IO_AUTHORITY_TAKE);
    TEST_ASSERT_TRUE(publish_at(client, 1100, 2100));
}

static void assert_rests(int pictures)
{
    struct io_hand_report rest;
    io_hand_report_neutral(&rest);
    TEST_ASSERT_EQUAL_INT(pictures, flown.pictures);
    TEST_ASSERT_EQUAL_size_t(IO_HAND_SIZE, flown.size);
    TEST_ASSERT_EQUAL_MEMORY(&rest, flown.bytes, IO_HAND_SIZE);
}

/* The last motion must not go on until the silence counts as a loss. */
static void test_a_session_without_authority_has_let_go_of_the_stick(void)
{
    struct io_session *one = enter(0.0), *two = enter(0.0), *other = enter(0.0);
    struct io_hand_report push = pushed();
    push.buttons = 4;
    advertise_hand(one, 7);
    advertise_hand(two, 7);
    publish(one, 7, &push, IO_HAND_SIZE);
    io_hub_close_session(hub, other); /* which changes nothing */
    TEST_ASSERT_EQUAL_INT(1, flown.pictures);
    ask_authority(one, IO_AUTHORITY_GIVE);
    assert_rests(2);
    ask_authority(two, IO_AUTHORITY_TAKE);
    TEST_ASSERT_EQUAL_INT(2, flown.pictures); /* it has not controlled the arm yet */
    publish(two, 7, &push, IO_HAND_SIZE);
    TEST_ASSERT_EQUAL_INT(2, flown.hands);
    io_hub_close_session(hub, two);
    assert_rests(4);
    ask_authority(one, IO_AUTHORITY_TAKE);
    publish(one, 7, &push, IO_HAND_SIZE);
    uint64_t now_ns = 1;
    while (io_hub_within_limits(hub, one, 10, now_ns))
        now_ns++;
    assert_rests(6);
    TEST_ASSERT_EQUAL_INT(3, flown.hands);
}

static void test_an_arm_is_handed_over_with_the_stick_at_rest(void)
{
    struct io_session *one = enter(0.0), *two = enter(0.0);
    const struct io_hand_report push = pushed();
    advertise_hand(one, 7);
    advertise_hand(two, 7);
    publish(one, 7, &push, IO_HAND_SIZE);
    publish(two, 7, &push, IO_HAND_SIZE);
    ask_authority(two, IO_AUTHORITY_ASK);
    ask_authority(one, IO_AUTHORITY_GIVE);
    assert_rests(2);
    publish(one, 7, &push, IO_HAND_SIZE);
    TEST_ASSERT_EQUAL_INT(2, flown.pictures);
    publish(two, 7, &push, IO_HAND_SIZE);
    TEST_ASSERT_EQUAL_INT(3, flown.pictures);
    TEST_ASSERT_EQUAL_INT(2, flown.hands); /* a button that is already down is not a press */
}

static void test_a_session_that_unadvertises_has_let_go_of_the_stick(void)
{
    struct io_session *client = enter(0.0);
    const struct io_hand_report push = pushed();
    advertise_hand(client, 7);
    advertise_hand(client, 8);
    publish(client, 7, &push, IO_HAND_SIZE);
    say(client, "{\"op\":\"unadvertise\",\"channelIds\":[7]}");
    TEST_ASSERT_EQUAL_INT(1, flown.pictures); /* it has another channel */
    publish(client, 8, &push, IO_HAND_SIZE);
    say(client, "{\"op\":\"unadvertise\",\"channelIds\":[8]}");
    assert_rests(3);
    TEST_ASSERT_EQUAL_UINT64(client->serial, hub->authority.holder);
    advertise_hand(client, 8);
    publish(client, 8, &push, IO_HAND_SIZE);
    TEST_ASSERT_EQUAL_INT(2, flown.hands);
    say(client, "{\"op\":\"advertise\",\"channels\":[{\"id\":8,\"topic\":\"/other\",\"encoding\":"
                "\"hand\"}]}"); /* the same id is another channel now */
    assert_rests(5);
}

/* Authority is handed over by a request, not by a report of another hand. */
static void test_a_hand_beside_does_not_come_to_fly_by_itself(void)
{
    struct io_session *one = enter(0.0), *two = enter(0.0);
    struct io_hand_report picture;
    io_hand_report_neutral(&picture);
    advertise_hand(one, 7);
    advertise_hand(two, 7);
    publish(one, 7, &picture, IO_HAND_SIZE);
    publish(two, 7, &picture, IO_HAND_SIZE);
    assert_next_has(two, "viewer 1 has authority");
    ask_authority(one, IO_AUTHORITY_GIVE);
    io_hub_tick(hub, 2000000000);
    const int before = flown.pictures;
    publish(one, 7, &picture, IO_HAND_SIZE); /* its stick was still deflected */
    publish(two, 7, &picture, IO_HAND_SIZE);
    assert_next_has(two, "take it before using the hand controller");
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.holder);
    TEST_ASSERT_EQUAL_INT(before, flown.pictures);
    ask_authority(two, IO_AUTHORITY_TAKE);
    publish(two, 7, &picture, IO_HAND_SIZE);
    TEST_ASSERT_EQUAL_INT(before + 1, flown.pictures);
    publish(one, 7, &picture, IO_HAND_SIZE);
    io_hub_close_session(hub, two);
    publish(one, 7, &picture, IO_HAND_SIZE);
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.holder);
    struct io_session *three = enter(0.0); /* a new viewer: its first report is a command */
    advertise_hand(three, 7);
    publish(three, 7, &picture, IO_HAND_SIZE);
    TEST_ASSERT_EQUAL_UINT64(three->serial, hub->authority.holder);
}

static void test_errors_in_hand_messages_are_reported_once_a_second(void)
{
    struct io_session *client = come_in(0.0, false);
    struct io_hand_report picture;
    io_hand_report_neutral(&picture);
    advertise_hand(client, 7);
    for (int i = 0; i < 10; i++)
        publish(client, 7, &picture, IO_HAND_SIZE);
    assert_next_has(client, "?operator=");
    TEST_ASSERT_NULL(next(client));
    io_hub_tick(hub, 1000000000);
    publish(client, 7, &picture, IO_HAND_SIZE);
    assert_next_has(client, "?operator=");
    TEST_ASSERT_EQUAL_INT(0, flown.pictures + flown.hands);
}

static void test_only_pictures_on_their_channel_are_passed_on(void)
{
    struct io_session *client = enter(0.0);
    struct io_hand_report picture;
    uint64_t now_ns = 1;
    io_hand_report_neutral(&picture);
    static const char *const others[] = {
        "{\"op\":\"advertise\",\"channels\":[{\"id\":1,\"topic\":\"/hands\",\"encoding\":"
        "\"hand\"}]}",
        "{\"op\":\"advertise\",\"channels\":[{\"id\":1,\"topic\":\"/hand\",\"encoding\":"
        "\"json\"}]}"};
    for (int i = 0; i < 2; i++) {
        say(client, others[i]);
        assert_next_has(client, "only the topic /hand");
        io_hub_tick(hub, now_ns += 2000000000);
        publish(client, 1, &picture, IO_HAND_SIZE);
        assert_next_has(client, "not advertised");
        io_hub_tick(hub, now_ns += 2000000000);
    }
    advertise_hand(client, 7);
    publish(client, 7, &picture, IO_HAND_SIZE - 1);
    assert_next_has(client, "not a hand controller report");
    io_hub_tick(hub, now_ns += 2000000000);
    picture.axis[3] = 1.5f;
    publish(client, 7, &picture, IO_HAND_SIZE);
    assert_next_has(client, "not a hand controller report");
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.holder);
    io_hub_tick(hub, now_ns += 2000000000);
    io_hand_report_neutral(&picture);
    say(client, "{\"op\":\"unadvertise\",\"channelIds\":[7]}");
    publish(client, 7, &picture, IO_HAND_SIZE);
    assert_next_has(client, "not advertised");
    io_hub_tick(hub, now_ns + 2000000000);
    for (int i = 0; i < 3; i++) /* a repetition changes nothing */
        for (int id = 0; id < IO_HUB_HAND_MAX; id++)
            advertise_hand(client, id);
    TEST_ASSERT_NULL(next(client));
    advertise_hand(client, 99);
    assert_next_has(client, "too many channels");
    TEST_ASSERT_EQUAL_INT(0, flown.pictures + flown.hands);
}

static void test_without_a_cockpit_link_a_hand_message_is_refused_with_a_reason(void)
{
    hub->hand.pass = NULL;
    struct io_session *client = enter(0.0);
    advertise_hand(client, 1);
    assert_next_has(client, "bus: cockpit");
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_hand_messages_of_the_holder_of_authority_are_passed_on);
    RUN_TEST(test_pictures_that_come_much_later_than_others_are_dropped);
    RUN_TEST(test_a_clock_that_runs_a_little_slower_is_followed);
    RUN_TEST(test_pictures_that_stay_late_are_taken_again);
    RUN_TEST(test_a_new_holder_of_the_stick_is_checked_anew);
    RUN_TEST(test_a_session_without_authority_has_let_go_of_the_stick);
    RUN_TEST(test_an_arm_is_handed_over_with_the_stick_at_rest);
    RUN_TEST(test_a_session_that_unadvertises_has_let_go_of_the_stick);
    RUN_TEST(test_a_hand_beside_does_not_come_to_fly_by_itself);
    RUN_TEST(test_errors_in_hand_messages_are_reported_once_a_second);
    RUN_TEST(test_only_pictures_on_their_channel_are_passed_on);
    RUN_TEST(test_without_a_cockpit_link_a_hand_message_is_refused_with_a_reason);
    return UNITY_END();
}
