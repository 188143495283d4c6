/*
 * Sessions of the hub: greeting, subscriptions, decimation, losses, statuses, floods.
 */
#include "tests/io/live/hub_fixture.h"

static void offer(int channel, uint64_t number, uint64_t now_ns)
{
    io_hub_broadcast(hub, io_live_message_make(channel, number, &number, sizeof number), now_ns);
}

/* Number of the next message, which must be of this subscription; UINT64_MAX: none. */
static uint64_t next_number(struct io_session *client, uint32_t id)
{
    uint64_t number = UINT64_MAX;
    if (!next(client))
        return number;
    TEST_ASSERT_TRUE(binary);
    TEST_ASSERT_EQUAL_size_t(IO_FOXGLOVE_HEAD_SIZE + 4 + 8 + 1, frame.size);
    TEST_ASSERT_EQUAL_UINT8(1, frame.data[0]);
    TEST_ASSERT_EQUAL_UINT32(id, frame.data[1]);
    TEST_ASSERT_EQUAL_MEMORY("\0\1\0\0", frame.data + IO_FOXGLOVE_HEAD_SIZE, 4);
    memcpy(&number, frame.data + IO_FOXGLOVE_HEAD_SIZE + 4, sizeof number);
    return number;
}

static void test_a_new_session_is_sent_the_channels_and_services(void)
{
    io_hub_status(hub, &(struct io_hub_status){
                           .id = "link", .on = true, .level = IO_FOXGLOVE_WARNING, .text = "lost"});
    struct io_session *client = io_hub_open_session(hub, 0.0, true);
    assert_next_has(client, "\"serverInfo\"");
    assert_next_has(client, "\"/scene\"");
    assert_next_has(client, "\"advertiseServices\"");
    assert_next_has(client, "\"message\":\"lost\"");
    TEST_ASSERT_NULL(next(client));
}

static void test_only_subscribers_get_messages(void)
{
    struct io_session *one = enter(0.0), *two = enter(0.0);
    TEST_ASSERT_FALSE(io_hub_is_subscribed(hub, STREAM));
    subscribe(one, 7, STREAM);
    TEST_ASSERT_TRUE(io_hub_is_subscribed(hub, STREAM));
    offer(STREAM, 41, 0);
    offer(EVENT, 42, 0);
    TEST_ASSERT_EQUAL_UINT64(41, next_number(one, 7));
    TEST_ASSERT_NULL(next(one));
    TEST_ASSERT_NULL(next(two));
    offer(STREAM, 42, 0); /* still queued when the subscription ends */
    say(one, "{\"op\":\"unsubscribe\",\"subscriptionIds\":[7]}");
    TEST_ASSERT_FALSE(io_hub_is_subscribed(hub, STREAM));
    offer(STREAM, 43, 0);
    TEST_ASSERT_NULL(next(one));
}

static void test_a_session_that_leaves_has_no_subscription_left(void)
{
    struct io_session *client = enter(0.0);
    subscribe(client, 1, STREAM);
    offer(STREAM, 1, 0);
    io_hub_close_session(hub, client);
    TEST_ASSERT_FALSE(io_hub_is_subscribed(hub, STREAM));
}

static void test_latched_messages_are_sent_to_later_sessions(void)
{
    offer(SCENE, 5, 0);
    offer(SCENE, 6, 0);
    struct io_session *client = enter(60.0);
    subscribe(client, 1, SCENE);
    TEST_ASSERT_EQUAL_UINT64(6, next_number(client, 1));
    TEST_ASSERT_NULL(next(client));
}

static void test_a_stream_is_decimated_and_events_are_not(void)
{
    struct io_session *client = enter(50.0);
    subscribe(client, 1, STREAM);
    subscribe(client, 2, EVENT);
    const uint64_t begin_ns = 1000000000;
    int stream = 0, event = 0;
    for (uint64_t k = 0; k < 900; k++) {
        /* three at a time, as they arrive from the rings */
        const uint64_t now_ns = begin_ns + k / 3 * 3000000;
        offer(STREAM, k, now_ns);
        offer(EVENT, k, now_ns);
    }
    while (next(client)) {
        stream += frame.data[1] == 1;
        event += frame.data[1] == 2;
    }
    TEST_ASSERT_EQUAL_INT(45, stream);
    TEST_ASSERT_EQUAL_UINT64(0, client->viewer->lost);
    TEST_ASSERT_EQUAL_INT(900, event);
}

static void test_a_slow_viewer_loses_the_oldest_and_is_notified(void)
{
    struct io_session *slow = enter(0.0), *quick = enter(0.0);
    subscribe(slow, 1, STREAM);
    subscribe(quick, 1, STREAM);
    for (uint64_t k = 0; k < IO_SESSION_QUEUE_MESSAGES_MAX + 10; k++) {
        offer(STREAM, k, 0);
        TEST_ASSERT_EQUAL_UINT64(k, next_number(quick, 1));
    }
    TEST_ASSERT_EQUAL_UINT64(10, slow->viewer->lost);
    TEST_ASSERT_EQUAL_UINT64(0, quick->viewer->lost);
    io_hub_tick(hub, 2000000000);
    assert_next_has(slow, "10 messages were lost");
    TEST_ASSERT_EQUAL_UINT64(10, next_number(slow, 1));
    offer(STREAM, 0, 0);
    offer(STREAM, 0, 0);
    io_hub_tick(hub, 2000000001); /* reported a moment ago */
    for (int i = 0; i < 2; i++)
        TEST_ASSERT_EQUAL_UINT64(0, next_number(quick, 1));
    TEST_ASSERT_NULL(next(quick));
    TEST_ASSERT_EQUAL_UINT64(12, next_number(slow, 1));
    io_hub_close_session(hub, slow);
    TEST_ASSERT_EQUAL_UINT64(11, hub->lost);
    TEST_ASSERT_EQUAL_UINT64(2, hub->sent);
}

static void test_messages_lost_upstream_are_reported_too(void)
{
    struct io_session *client = enter(0.0);
    io_hub_count_lost(hub, 3);
    io_hub_tick(hub, 2000000000);
    assert_next_has(client, "3 messages were lost");
}

static void test_large_messages_are_dropped_by_their_bytes(void)
{
    struct io_session *client = enter(0.0);
    unsigned char *large = calloc(1, IO_SESSION_QUEUE_BYTES_MAX);
    subscribe(client, 1, EVENT);
    for (uint64_t k = 0; k < 3; k++)
        io_hub_broadcast(hub, io_live_message_make(EVENT, k, large, IO_SESSION_QUEUE_BYTES_MAX / 2),
                         0);
    TEST_ASSERT_EQUAL_UINT64(2, client->viewer->lost);
    /* a message larger than the limit is queued alone */
    io_hub_broadcast(hub, io_live_message_make(EVENT, 3, large, IO_SESSION_QUEUE_BYTES_MAX), 0);
    TEST_ASSERT_EQUAL_UINT64(3, client->viewer->lost);
    TEST_ASSERT_NOT_NULL(next(client));
    TEST_ASSERT_EQUAL_UINT8(3, frame.data[5]);
    free(large);
}

static void test_mistakes_are_reported_to_their_sender(void)
{
    struct io_session *one = enter(0.0), *two = enter(0.0);
    subscribe(one, 1, CHANNEL_COUNT + 1);
    assert_next_has(one, "no such channel");
    subscribe(one, 1, STREAM);
    subscribe(one, 2, STREAM);
    assert_next_has(one, "already");
    subscribe(one, 1, EVENT);
    assert_next_has(one, "in use");
    say(one, "{\"op\":\"unsubscribe\",\"subscriptionIds\":[9]}");
    assert_next_has(one, "no such subscription");
    say(one, "nonsense");
    assert_next_has(one, "invalid JSON");
    say(one, "{\"op\":\"getParameters\",\"parameterNames\":[\"gian\"]}");
    assert_next_has(one, "no parameter");
    assert_next_has(one, "\"parameters\":[]");
    TEST_ASSERT_NULL(next(one));
    TEST_ASSERT_NULL(next(two));
}

static void test_the_newest_time_is_sent_once(void)
{
    struct io_session *client = enter(0.0);
    io_hub_time(hub, 5);
    io_hub_time(hub, 6);
    TEST_ASSERT_NOT_NULL(next(client));
    TEST_ASSERT_EQUAL_MEMORY("\2\6\0\0\0\0\0\0\0", frame.data, 9);
    io_hub_time(hub, 6);
    TEST_ASSERT_NULL(next(client));
}

static void test_a_status_replaces_and_ends(void)
{
    struct io_session *client = enter(0.0);
    for (int i = 0; i < 3; i++)
        io_hub_status(hub, &(struct io_hub_status){.id = "a", .on = true, .text = "x"});
    for (int i = 0; i < 3; i++)
        assert_next_has(client, "\"id\":\"a\"");
    io_hub_status(hub, &(struct io_hub_status){.id = "a"});
    assert_next_has(client, "removeStatus");
    struct io_session *later = io_hub_open_session(hub, 0.0, true);
    for (int i = 0; i < 3; i++)
        next(later);
    TEST_ASSERT_NULL(next(later));
}

static void test_a_steady_sender_is_kept_and_a_flooding_one_is_not(void)
{
    struct io_session *client = enter(0.0), *other = enter(0.0), *large = enter(0.0);
    uint64_t now_ns = 1000000000;
    for (int i = 0; i < 5000; i++, now_ns += 1000000) /* 1000 a second */
        TEST_ASSERT_TRUE(io_hub_within_limits(hub, client, 116, now_ns));
    int borne = 0;
    while (io_hub_within_limits(hub, client, 10, now_ns += 100000)) /* ten times that */
        borne++;
    TEST_ASSERT_INT_WITHIN(15, 1111, borne);
    TEST_ASSERT_EQUAL_STRING(
        "viewer 1 sent more than 1000 messages or 1 MB a second; the connection was closed",
        bureau.noted);
    const int notes = bureau.notes;
    TEST_ASSERT_FALSE(io_hub_within_limits(hub, client, 10, now_ns + 1));
    TEST_ASSERT_EQUAL_INT(notes, bureau.notes);
    TEST_ASSERT_TRUE(io_hub_within_limits(hub, other, 10, now_ns)); /* each has its own */
    borne = 0;
    while (io_hub_within_limits(hub, large, 4096, now_ns)) /* of one message */
        borne++;
    TEST_ASSERT_EQUAL_INT(1000000 / 4096, borne);
}

static void test_the_number_of_sessions_is_limited(void)
{
    for (int i = 0; i < IO_SERVER_SESSION_MAX; i++)
        TEST_ASSERT_NOT_NULL(io_hub_open_session(hub, 0.0, true));
    TEST_ASSERT_NULL(io_hub_open_session(hub, 0.0, true));
}

static void test_each_subscription_is_counted_for_its_channel(void)
{
    struct io_session *one = enter(0.0), *two = enter(0.0);
    say(one, "{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":1,\"channelId\":0},"
             "{\"id\":2,\"channelId\":9},{\"id\":3,\"channelId\":2}]}");
    assert_next_is(one, "{\"op\":\"status\",\"level\":2,\"message\":\"there is no such channel\"}");
    TEST_ASSERT_TRUE(io_hub_is_subscribed(hub, STREAM));
    TEST_ASSERT_FALSE(io_hub_is_subscribed(hub, EVENT));
    TEST_ASSERT_TRUE(io_hub_is_subscribed(hub, SCENE));
    subscribe(two, 7, STREAM);
    say(one, "{\"op\":\"unsubscribe\",\"subscriptionIds\":[1,8,3]}");
    assert_next_is(one, "{\"op\":\"status\",\"level\":2,\"message\":"
                        "\"there is no such subscription\"}");
    TEST_ASSERT_TRUE(io_hub_is_subscribed(hub, STREAM)); /* by the other */
    TEST_ASSERT_FALSE(io_hub_is_subscribed(hub, SCENE));
    io_hub_close_session(hub, two);
    TEST_ASSERT_FALSE(io_hub_is_subscribed(hub, STREAM));
    subscribe(one, 1, CHANNEL_COUNT); /* the channel of authority, which always exists */
    TEST_ASSERT_TRUE(io_hub_is_subscribed(hub, CHANNEL_COUNT));
    subscribe(one, 2, CHANNEL_COUNT + 1);
    while (next(one))
        continue;
}

static void test_losses_are_reported_once_a_second(void)
{
    static const char one_lost[] =
        "{\"op\":\"status\",\"level\":1,\"message\":\"5 messages were lost: this client reads "
        "too slowly\",\"id\":\"lost\"}";
    struct io_session *client = enter(0.0);
    io_hub_count_lost(hub, 5);
    io_hub_tick(hub, 999999999);
    TEST_ASSERT_NULL(next(client));
    io_hub_tick(hub, 1000000000);
    assert_next_is(client, one_lost);
    io_hub_tick(hub, 5000000000); /* nothing more was lost */
    TEST_ASSERT_NULL(next(client));
    io_hub_count_lost(hub, 2);
    io_hub_tick(hub, 5000000001);
    assert_next_has(client, "7 messages were lost");
    io_hub_count_lost(hub, 1);
    io_hub_tick(hub, 6000000000);
    TEST_ASSERT_NULL(next(client));
    io_hub_tick(hub, 6000000001);
    assert_next_has(client, "8 messages were lost");
    TEST_ASSERT_NULL(next(client));
}

static void test_as_many_statuses_as_there_are_places_are_kept(void)
{
    char id[16];
    for (int i = 0; i <= IO_HUB_STATUS_MAX; i++) { /* one more than the slots */
        struct io_hub_status status = {.on = true, .level = IO_FOXGLOVE_INFO, .text = "x"};
        snprintf(status.id, sizeof status.id, "s%d", i);
        io_hub_status(hub, &status);
    }
    io_hub_status(hub, &(struct io_hub_status){.id = "s1"}); /* the second ends */
    struct io_session *client = io_hub_open_session(hub, 0.0, true);
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_NOT_NULL(next(client));
    for (int i = 0; i < IO_HUB_STATUS_MAX; i++) {
        if (i == 1)
            continue;
        snprintf(id, sizeof id, "\"id\":\"s%d\"", i);
        assert_next_has(client, id);
    }
    TEST_ASSERT_NULL(next(client));
}

static void test_the_greeting_is_what_there_is(void)
{
    struct io_session *client = io_hub_open_session(hub, 0.0, true);
    assert_next_is(client, "{\"op\":\"serverInfo\",\"name\":\"test\",\"capabilities\":[\"time\","
                           "\"parameters\",\"parametersSubscribe\",\"services\",\"clientPublish\"],"
                           "\"supportedEncodings\":[\"cdr\",\"json\",\"hand\"],\"metadata\":{"
                           "\"viewer\":\"1\",\"operator\":\"yes\"},\"sessionId\":\"1\"}");
    assert_next_has(client,
                    "{\"id\":0,\"topic\":\"/stream\",\"encoding\":\"cdr\",\"schemaName\":"
                    "\"p/msg/A\",\"schema\":\"uint64 a\\n\",\"schemaEncoding\":\"ros2msg\"},"
                    "{\"id\":1,\"topic\":\"/event\"");
    TEST_ASSERT_NOT_NULL(strstr((const char *)frame.data, "{\"id\":3,\"topic\":\"/authority\""));
    assert_next_has(client, "{\"id\":0,\"name\":\"/pause\"");
    TEST_ASSERT_NOT_NULL(strstr((const char *)frame.data, "{\"id\":1,\"name\":\"/step\""));
    TEST_ASSERT_NOT_NULL(strstr((const char *)frame.data, "{\"id\":2,\"name\":\"/safe\""));
    TEST_ASSERT_NOT_NULL(strstr((const char *)frame.data, "{\"id\":3,\"name\":\"/authority/"));
    TEST_ASSERT_NULL(next(client));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_new_session_is_sent_the_channels_and_services);
    RUN_TEST(test_only_subscribers_get_messages);
    RUN_TEST(test_a_session_that_leaves_has_no_subscription_left);
    RUN_TEST(test_latched_messages_are_sent_to_later_sessions);
    RUN_TEST(test_a_stream_is_decimated_and_events_are_not);
    RUN_TEST(test_a_slow_viewer_loses_the_oldest_and_is_notified);
    RUN_TEST(test_messages_lost_upstream_are_reported_too);
    RUN_TEST(test_large_messages_are_dropped_by_their_bytes);
    RUN_TEST(test_mistakes_are_reported_to_their_sender);
    RUN_TEST(test_the_newest_time_is_sent_once);
    RUN_TEST(test_a_status_replaces_and_ends);
    RUN_TEST(test_a_steady_sender_is_kept_and_a_flooding_one_is_not);
    RUN_TEST(test_the_number_of_sessions_is_limited);
    RUN_TEST(test_each_subscription_is_counted_for_its_channel);
    RUN_TEST(test_losses_are_reported_once_a_second);
    RUN_TEST(test_as_many_statuses_as_there_are_places_are_kept);
    RUN_TEST(test_the_greeting_is_what_there_is);
    return UNITY_END();
}
