/*
 * Viewers without sockets: who subscribed gets what it asked for, who is slow loses and is told,
 * and what is asked of the desk comes back to who asked.
 */
#include "io/live/hub.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/protocol/hand.h"
#include "unity.h"

enum { STREAM, EVENT, SCENE, CHANNEL_COUNT };

static const struct io_live_channel channels[CHANNEL_COUNT] = {
    [STREAM] = {.topic = "/stream", .schema = "p/msg/A", .definition = "uint64 a\n"},
    [EVENT] = {"/event", "p/msg/A", "uint64 a\n", .whole = true},
    [SCENE] = {"/scene", "p/msg/A", "uint64 a\n", .whole = true, .latched = true},
};

/* ---- a desk that answers when it is told to ---- */

static struct {
    double value[2];
    int asked;
    struct io_service_reply answer[IO_FOXGLOVE_LIST_MAX + 8];
    int answers, given;
    int parameter, service;
    double wanted;
    struct io_foxglove_arguments arguments;
    const char *refusal;
    char noted[IO_FOXGLOVE_TEXT_MAX];
    int notes;
    int stops, losses;
    uint64_t stop_ticket;
    bool stop_is_mute;
} bureau;

static const char *parameter_name(void *self, int index)
{
    (void)self;
    TEST_ASSERT_TRUE(index == 0 || index == 1); /* there are no others */
    return index == 0 ? "gain" : "bias";
}

static double parameter_value(void *self, int index)
{
    (void)self;
    TEST_ASSERT_TRUE(index == 0 || index == 1);
    return bureau.value[index];
}

static const char *set(void *self, uint64_t ticket, int parameter, double value)
{
    (void)self;
    if (bureau.refusal)
        return bureau.refusal;
    bureau.parameter = parameter;
    bureau.wanted = value;
    bureau.answer[bureau.asked++] = (struct io_service_reply){.ticket = ticket, .done = true};
    return NULL;
}

static const char *call(void *self, uint64_t ticket, int service,
                        const struct io_foxglove_arguments *arguments)
{
    (void)self;
    if (bureau.refusal)
        return bureau.refusal;
    bureau.service = service;
    bureau.arguments = *arguments;
    bureau.answer[bureau.asked++] =
        (struct io_service_reply){.ticket = ticket, .done = true, .text = "stepped"};
    return NULL;
}

static bool stop(void *self, uint64_t ticket)
{
    (void)self;
    bureau.stops++;
    bureau.stop_ticket = ticket;
    return !bureau.stop_is_mute;
}

static void lost(void *self)
{
    (void)self;
    bureau.losses++;
}

static bool answer(void *self, struct io_service_reply *out)
{
    (void)self;
    if (bureau.given == bureau.answers)
        return false;
    *out = bureau.answer[bureau.given++];
    return true;
}

static void note(void *self, const char *text)
{
    (void)self;
    snprintf(bureau.noted, sizeof bureau.noted, "%s", text);
    bureau.notes++;
}

static const struct io_foxglove_service services[] = {
    {"/pause", "std_srvs/srv/Trigger", IO_FOXGLOVE_FORM_EMPTY},
    {"/step", "p/srv/Step", IO_FOXGLOVE_FORM_FRAMES},
    {"/safe", "std_srvs/srv/Trigger", IO_FOXGLOVE_FORM_EMPTY},
};
static const struct io_service_table service_table = {.parameter_count = 2,
                                                      .parameter_name = parameter_name,
                                                      .parameter_value = parameter_value,
                                                      .service_count = 3,
                                                      .services = services,
                                                      .stop_service = 2,
                                                      .set = set,
                                                      .call = call,
                                                      .stop = stop,
                                                      .lost = lost,
                                                      .answer = answer,
                                                      .note = note};

/* ---- the hub under test ---- */

static struct io_hub *hub;
static struct io_byte_writer frame;
static bool binary;
static struct {
    int pictures, hands;
    unsigned char bytes[IO_HAND_SIZE_TIMED];
    size_t size;
} flown;

static void pass(void *self, const void *bytes, size_t size)
{
    TEST_ASSERT_EQUAL_PTR(&flown, self);
    flown.hands += size == 0;
    flown.pictures += size > 0;
    flown.size = size;
    if (size > 0)
        memcpy(flown.bytes, bytes, size);
}

void setUp(void)
{
    const struct io_server_spec spec = {.name = "test",
                                        .channels = channels,
                                        .channel_count = CHANNEL_COUNT,
                                        .service_table = &service_table,
                                        .hand = {&flown, pass}};
    memset(&flown, 0, sizeof flown);
    memset(&bureau, 0, sizeof bureau);
    hub = calloc(1, sizeof *hub);
    io_hub_open(hub, &spec, "1");
}

void tearDown(void)
{
    io_hub_close(hub);
    free(hub);
    io_byte_writer_free(&frame);
}

/* The next frame, as text with a NUL behind it. */
static const char *next(struct io_session *client)
{
    io_byte_writer_clear(&frame);
    if (!io_session_queue_next(client->viewer, &frame, &binary))
        return NULL;
    io_put_u8(&frame, 0);
    return (const char *)frame.data;
}

static struct io_session *come_in(double rate_hz, bool is_operator)
{
    struct io_session *client = io_hub_open_session(hub, rate_hz, is_operator);
    TEST_ASSERT_NOT_NULL(client);
    while (next(client))
        continue;
    return client;
}

static struct io_session *enter(double rate_hz)
{
    return come_in(rate_hz, true);
}

static void say(struct io_session *client, const char *text)
{
    io_hub_receive(hub, client,
                   (struct io_slice){.data = (const unsigned char *)text, .size = strlen(text)},
                   false);
}

static void subscribe(struct io_session *client, int id, int channel)
{
    char text[128];
    snprintf(text, sizeof text,
             "{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":%d,\"channelId\":%d}]}", id,
             channel);
    say(client, text);
}

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

static void assert_next_has(struct io_session *client, const char *part)
{
    const char *text = next(client);
    TEST_ASSERT_NOT_NULL_MESSAGE(text, part);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, part), text);
}

static void test_who_comes_is_told_what_there_is(void)
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

static void test_only_who_subscribed_gets_messages(void)
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
    offer(STREAM, 42, 0); /* still on its way when the subscription ends */
    say(one, "{\"op\":\"unsubscribe\",\"subscriptionIds\":[7]}");
    TEST_ASSERT_FALSE(io_hub_is_subscribed(hub, STREAM));
    offer(STREAM, 43, 0);
    TEST_ASSERT_NULL(next(one));
}

static void test_who_leaves_wants_nothing_any_more(void)
{
    struct io_session *client = enter(0.0);
    subscribe(client, 1, STREAM);
    offer(STREAM, 1, 0);
    io_hub_close_session(hub, client);
    TEST_ASSERT_FALSE(io_hub_is_subscribed(hub, STREAM));
}

static void test_what_lasts_is_given_to_who_comes_later(void)
{
    offer(SCENE, 5, 0);
    offer(SCENE, 6, 0);
    struct io_session *client = enter(60.0);
    subscribe(client, 1, SCENE);
    TEST_ASSERT_EQUAL_UINT64(6, next_number(client, 1));
    TEST_ASSERT_NULL(next(client));
}

static void test_a_stream_is_thinned_and_events_are_not(void)
{
    struct io_session *client = enter(50.0);
    subscribe(client, 1, STREAM);
    subscribe(client, 2, EVENT);
    const uint64_t begin_ns = 1000000000;
    int stream = 0, event = 0;
    for (uint64_t k = 0; k < 900; k++) {
        /* three at a time, as they come out of the rings */
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

static void test_a_slow_viewer_loses_the_oldest_and_is_told(void)
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
    io_hub_tick(hub, 2000000001); /* told a moment ago */
    for (int i = 0; i < 2; i++)
        TEST_ASSERT_EQUAL_UINT64(0, next_number(quick, 1));
    TEST_ASSERT_NULL(next(quick));
    TEST_ASSERT_EQUAL_UINT64(12, next_number(slow, 1));
    io_hub_close_session(hub, slow);
    TEST_ASSERT_EQUAL_UINT64(11, hub->lost);
    TEST_ASSERT_EQUAL_UINT64(2, hub->sent);
}

static void test_what_was_lost_on_the_way_is_told_too(void)
{
    struct io_session *client = enter(0.0);
    io_hub_count_lost(hub, 3);
    io_hub_tick(hub, 2000000000);
    assert_next_has(client, "3 messages were lost");
}

static void test_large_messages_give_way_by_their_bytes(void)
{
    struct io_session *client = enter(0.0);
    unsigned char *large = calloc(1, IO_SESSION_QUEUE_BYTES_MAX);
    subscribe(client, 1, EVENT);
    for (uint64_t k = 0; k < 3; k++)
        io_hub_broadcast(hub, io_live_message_make(EVENT, k, large, IO_SESSION_QUEUE_BYTES_MAX / 2),
                         0);
    TEST_ASSERT_EQUAL_UINT64(2, client->viewer->lost);
    /* one that is larger than all the room passes alone */
    io_hub_broadcast(hub, io_live_message_make(EVENT, 3, large, IO_SESSION_QUEUE_BYTES_MAX), 0);
    TEST_ASSERT_EQUAL_UINT64(3, client->viewer->lost);
    TEST_ASSERT_NOT_NULL(next(client));
    TEST_ASSERT_EQUAL_UINT8(3, frame.data[5]);
    free(large);
}

static void test_who_does_not_read_its_answers_is_let_go(void)
{
    struct io_session *client = enter(0.0);
    for (int i = 0; i < 100000 && !client->gone; i++)
        say(client, "{\"op\":\"getParameters\",\"parameterNames\":[]}");
    TEST_ASSERT_TRUE(client->gone);
    TEST_ASSERT_TRUE(client->viewer->answer_bytes <= IO_SESSION_QUEUE_REPLIES_MAX);
}

static void test_mistakes_are_told_to_who_made_them(void)
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
    assert_next_has(one, "no JSON");
    say(one, "{\"op\":\"getParameters\",\"parameterNames\":[\"gian\"]}");
    assert_next_has(one, "no parameter");
    assert_next_has(one, "\"parameters\":[]");
    TEST_ASSERT_NULL(next(one));
    TEST_ASSERT_NULL(next(two));
}

static void test_the_newest_time_is_told_once(void)
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

static void test_parameters_are_shown(void)
{
    struct io_session *client = enter(0.0);
    bureau.value[0] = 2.5;
    say(client, "{\"op\":\"getParameters\",\"parameterNames\":[],\"id\":\"q\"}");
    assert_next_has(client, "\"id\":\"q\"");
    TEST_ASSERT_NOT_NULL(strstr((const char *)frame.data, "{\"name\":\"gain\",\"type\":\"float64\","
                                                          "\"value\":2.5}"));
    TEST_ASSERT_NOT_NULL(strstr((const char *)frame.data, "\"bias\""));
}

static void test_a_set_is_answered_when_the_desk_has_answered(void)
{
    struct io_session *client = enter(0.0), *watcher = enter(0.0);
    say(watcher, "{\"op\":\"subscribeParameterUpdates\",\"parameterNames\":[\"bias\"]}");
    io_hub_tick(hub, 0);
    say(client, "{\"op\":\"setParameters\",\"parameters\":[{\"name\":\"gain\",\"value\":1},"
                "{\"name\":\"bias\",\"value\":4}],\"id\":\"s\"}");
    TEST_ASSERT_EQUAL_INT(2, bureau.asked);
    TEST_ASSERT_EQUAL_INT(1, bureau.parameter);
    TEST_ASSERT_EQUAL_DOUBLE(4.0, bureau.wanted);
    io_hub_tick(hub, 0);
    TEST_ASSERT_NULL(next(client));
    bureau.answers = 1;
    io_hub_tick(hub, 0);
    TEST_ASSERT_NULL(next(client));
    bureau.value[1] = 4.0;
    bureau.answers = 2;
    io_hub_tick(hub, 0);
    assert_next_has(client, "\"id\":\"s\"");
    TEST_ASSERT_NOT_NULL(strstr((const char *)frame.data, "4.0"));
    TEST_ASSERT_NULL(next(client)); /* it does not watch */
    assert_next_has(watcher, "\"bias\"");
    TEST_ASSERT_NULL(strstr((const char *)frame.data, "\"gain\""));
    TEST_ASSERT_NULL(next(watcher));
}

static void test_a_refused_set_says_why(void)
{
    struct io_session *client = enter(0.0);
    bureau.refusal = "out of range";
    say(client, "{\"op\":\"setParameters\",\"parameters\":[{\"name\":\"gain\",\"value\":1}],"
                "\"id\":\"s\"}");
    assert_next_has(client, "out of range");
    assert_next_has(client, "\"parameters\":[]");
    bureau.refusal = NULL;
    say(client, "{\"op\":\"setParameters\",\"parameters\":[{\"name\":\"gain\",\"value\":1}]}");
    bureau.answer[0].done = false;
    strcpy(bureau.answer[0].text, "not now");
    bureau.answers = 1;
    io_hub_tick(hub, 0);
    assert_next_has(client, "not now");
    TEST_ASSERT_NULL(next(client)); /* it gave no id */
}

static void make_call(struct io_session *client, const char *bytes, size_t size)
{
    io_hub_receive(hub, client,
                   (struct io_slice){.data = (const unsigned char *)bytes, .size = size}, true);
}

static void test_a_call_goes_to_the_desk_and_back(void)
{
    struct io_session *client = enter(0.0);
    make_call(client, "\2\1\0\0\0\6\0\0\0\3\0\0\0cdr\0\1\0\0\7\0\0\0", 24);
    TEST_ASSERT_EQUAL_INT(1, bureau.service);
    TEST_ASSERT_EQUAL_UINT32(7, bureau.arguments.frames);
    TEST_ASSERT_NULL(next(client));
    bureau.answers = 1;
    io_hub_tick(hub, 0);
    TEST_ASSERT_NOT_NULL(next(client));
    TEST_ASSERT_TRUE(binary);
    TEST_ASSERT_EQUAL_MEMORY("\3\1\0\0\0\6\0\0\0\3\0\0\0cdr\0\1\0\0\1\0\0\0\10\0\0\0stepped",
                             frame.data, 36);
}

static void test_answers_go_to_who_asked_in_any_order(void)
{
    struct io_session *one = enter(0.0), *two = enter(0.0);
    make_call(one, "\2\0\0\0\0\6\0\0\0\3\0\0\0cdr", 16);
    make_call(one, "\2\4\0\0\0\5\0\0\0\3\0\0\0cdr", 16); /* /authority/give */
    TEST_ASSERT_NOT_NULL(next(one));
    make_call(two, "\2\0\0\0\0\7\0\0\0\3\0\0\0cdr", 16);
    const struct io_service_reply first = bureau.answer[0];
    bureau.answer[0] = bureau.answer[1];
    bureau.answer[1] = first;
    bureau.answers = 1;
    io_hub_tick(hub, 0);
    TEST_ASSERT_NULL(next(one));
    TEST_ASSERT_NOT_NULL(next(two));
    TEST_ASSERT_EQUAL_UINT8(7, frame.data[5]);
    bureau.answers = 2;
    io_hub_tick(hub, 0);
    TEST_ASSERT_NULL(next(two));
    TEST_ASSERT_NOT_NULL(next(one));
    TEST_ASSERT_EQUAL_UINT8(6, frame.data[5]);
}

static void test_a_call_that_cannot_be_made_fails_at_once(void)
{
    struct io_session *client = enter(0.0);
    make_call(client, "\2\6\0\0\0\6\0\0\0\3\0\0\0cdr", 16);
    assert_next_has(client, "no such service");
    make_call(client, "\2\1\0\0\0\6\0\0\0\3\0\0\0cdr", 16);
    assert_next_has(client, "serviceCallFailure");
    bureau.refusal = "full";
    make_call(client, "\2\0\0\0\0\6\0\0\0\3\0\0\0cdr", 16);
    assert_next_has(client, "full");
    TEST_ASSERT_EQUAL_INT(0, bureau.asked);
}

static void test_an_answer_for_who_has_left_goes_nowhere(void)
{
    struct io_session *client = enter(0.0);
    make_call(client, "\2\0\0\0\0\6\0\0\0\3\0\0\0cdr", 16);
    io_hub_close_session(hub, client);
    struct io_session *other = enter(0.0); /* on the same seat */
    TEST_ASSERT_EQUAL_PTR(client, other);
    bureau.answers = 1;
    io_hub_tick(hub, 0);
    TEST_ASSERT_NULL(next(other));
}

/* The desk takes a request and never says what became of it. */
static void test_answers_that_were_lost_do_not_fill_the_desk_for_ever(void)
{
    struct io_session *client = enter(0.0);
    static const char call_pause[] = "\2\0\0\0\0\6\0\0\0\3\0\0\0cdr";
    io_hub_tick(hub, 1000000000);
    for (int i = 0; i < IO_HUB_PENDING_MAX; i++) {
        bureau.asked = 0;
        make_call(client, call_pause, 16);
    }
    TEST_ASSERT_NULL(next(client));
    bureau.asked = 0;
    make_call(client, call_pause, 16);
    assert_next_has(client, "too many requests");
    io_hub_tick(hub, 11000000000);
    make_call(client, call_pause, 16);
    assert_next_has(client, "too many requests");
    io_hub_tick(hub, 11000000001);
    bureau.asked = 0;
    make_call(client, call_pause, 16); /* in the place of the oldest */
    TEST_ASSERT_EQUAL_INT(1, bureau.asked);
    assert_next_has(client, "no answer in 10 s"); /* which is told so */
    TEST_ASSERT_NULL(next(client));
    bureau.answers = 1;
    io_hub_tick(hub, 11000000002);
    TEST_ASSERT_NOT_NULL(next(client));
    TEST_ASSERT_TRUE(binary);
}

static void test_answers_that_are_there_make_room(void)
{
    struct io_session *client = enter(0.0);
    static const char call_pause[] = "\2\0\0\0\0\6\0\0\0\3\0\0\0cdr";
    for (int i = 0; i < IO_HUB_PENDING_MAX; i++) {
        bureau.asked = 0;
        make_call(client, call_pause, 16);
    }
    bureau.answers = 1; /* and no tick meanwhile */
    bureau.asked = 1;
    make_call(client, call_pause, 16);
    TEST_ASSERT_EQUAL_INT(2, bureau.asked);
}

static void test_who_is_to_be_let_go_commands_nothing(void)
{
    struct io_session *client = enter(0.0);
    client->gone = true;
    make_call(client, "\2\0\0\0\0\6\0\0\0\3\0\0\0cdr", 16);
    TEST_ASSERT_EQUAL_INT(0, bureau.asked);
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.holder);
}

/* ---- authority ---- */

static void ask_authority(struct io_session *client, enum io_authority_act act)
{
    char call[] = "\2?\0\0\0\7\0\0\0\4\0\0\0json";
    call[1] = (char)(service_table.service_count + (int)act);
    make_call(client, call, sizeof call - 1);
}

static void assert_answer(struct io_session *client, bool done, const char *text)
{
    TEST_ASSERT_NOT_NULL(next(client));
    TEST_ASSERT_TRUE(binary);
    const char *json = (const char *)frame.data + 17;
    TEST_ASSERT_EQUAL_STRING_LEN(done ? "{\"success\":true" : "{\"success\":false", json,
                                 done ? 15 : 16);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(json, text), json);
}

static void pause(struct io_session *client)
{
    make_call(client, "\2\0\0\0\0\6\0\0\0\3\0\0\0cdr", 16);
}

static void assert_authority(struct io_session *client, uint32_t id, uint32_t holder,
                             uint32_t asking, uint32_t viewers)
{
    const uint32_t expected[] = {holder, asking, viewers};
    TEST_ASSERT_NOT_NULL(next(client));
    TEST_ASSERT_TRUE(binary);
    TEST_ASSERT_EQUAL_UINT8(id, frame.data[1]);
    TEST_ASSERT_EQUAL_MEMORY(expected, frame.data + IO_FOXGLOVE_HEAD_SIZE + 4, sizeof expected);
}

static void test_who_looks_on_commands_nothing_and_is_told_how(void)
{
    struct io_session *client = come_in(0.0, false);
    pause(client);
    assert_next_has(client, "?operator=");
    TEST_ASSERT_NOT_NULL(strstr((const char *)frame.data, "serviceCallFailure"));
    for (int act = 0; act < IO_AUTHORITY_ACT_COUNT; act++) {
        ask_authority(client, (enum io_authority_act)act);
        assert_next_has(client, "?operator=");
    }
    say(client, "{\"op\":\"setParameters\",\"parameters\":[{\"name\":\"gain\",\"value\":1}],"
                "\"id\":\"s\"}");
    assert_next_has(client, "?operator=");
    assert_next_has(client,
                    "{\"name\":\"gain\",\"type\":\"float64\",\"value\":0.0}"); /* as it is */
    TEST_ASSERT_NULL(next(client));
    TEST_ASSERT_EQUAL_INT(0, bureau.asked);
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.holder);
    say(client, "{\"op\":\"getParameters\",\"parameterNames\":[]}");
    assert_next_has(client, "\"gain\"");
}

static void test_the_first_command_takes_authority_and_keeps_others_out(void)
{
    struct io_session *one = enter(0.0), *two = enter(0.0);
    pause(one);
    TEST_ASSERT_EQUAL_UINT64(one->serial, hub->authority.holder);
    TEST_ASSERT_EQUAL_STRING("viewer 1 has authority", bureau.noted);
    pause(two);
    assert_next_has(two, "viewer 1 has authority; it can hand it over, or leave");
    say(two, "{\"op\":\"setParameters\",\"parameters\":[{\"name\":\"gain\",\"value\":1}]}");
    assert_next_has(two, "viewer 1 has authority");
    TEST_ASSERT_NULL(next(two));
    TEST_ASSERT_EQUAL_INT(1, bureau.asked);
    ask_authority(two, IO_AUTHORITY_TAKE);
    assert_answer(two, false, "viewer 1 has authority");
    ask_authority(two, IO_AUTHORITY_GIVE);
    assert_answer(two, false, "you do not have");
    io_hub_close_session(hub, one);
    TEST_ASSERT_EQUAL_STRING("viewer 1 has authority no more", bureau.noted);
    pause(two);
    TEST_ASSERT_EQUAL_INT(2, bureau.asked);
    TEST_ASSERT_EQUAL_UINT64(two->serial, hub->authority.holder);
}

static void safe(struct io_session *client)
{
    make_call(client, "\2\2\0\0\0\6\0\0\0\4\0\0\0json", 17);
}

static void test_every_operator_may_stop_and_takes_nothing_by_it(void)
{
    struct io_session *one = enter(0.0), *two = enter(0.0), *watcher = come_in(0.0, false);
    safe(two);
    TEST_ASSERT_EQUAL_INT(1, bureau.stops);
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.holder);
    pause(one);
    safe(two);
    TEST_ASSERT_EQUAL_INT(2, bureau.stops);
    TEST_ASSERT_EQUAL_INT(1, bureau.asked);
    TEST_ASSERT_EQUAL_UINT64(one->serial, hub->authority.holder);
    TEST_ASSERT_NULL(next(two));
    safe(watcher);
    assert_next_has(watcher, "?operator=");
    TEST_ASSERT_EQUAL_INT(2, bureau.stops);
    bureau.answer[0] = (struct io_service_reply){
        .ticket = bureau.stop_ticket, .done = true, .text = "the arm stops before frame 5"};
    bureau.answers = 1;
    io_hub_tick(hub, 1);
    assert_answer(two, true, "the arm stops before frame 5");
}

/* Tables full, nobody who answers, a seat that is to be let go, a call that makes no sense. */
static void test_nothing_refuses_a_stop(void)
{
    struct io_session *one = enter(0.0), *two = enter(0.0);
    for (int i = 0; i < IO_HUB_PENDING_MAX; i++)
        hub->pending[i] =
            (struct io_pending_request){.open = 1, .total = 1, .first = 1000 + (uint64_t)i};
    safe(two);
    TEST_ASSERT_EQUAL_INT(1, bureau.stops);
    assert_answer(two, true, "the stop is latched");
    memset(hub->pending, 0, sizeof hub->pending);
    bureau.stop_is_mute = true;
    safe(two);
    TEST_ASSERT_EQUAL_INT(2, bureau.stops);
    assert_answer(two, true, "the stop is latched");
    bureau.refusal = "full";
    make_call(two, "\2\2\0\0\0\6\0\0\0\3\0\0\0xml", 16);
    TEST_ASSERT_EQUAL_INT(3, bureau.stops);
    assert_next_has(two, "another encoding");
    make_call(two, "\2\2\0\0\0", 5);
    TEST_ASSERT_EQUAL_INT(4, bureau.stops);
    one->gone = true;
    safe(one);
    TEST_ASSERT_EQUAL_INT(5, bureau.stops);
}

static void test_whoever_waits_is_told_when_the_run_is_over(void)
{
    struct io_session *one = enter(0.0), *two = enter(0.0);
    pause(one);
    safe(two);
    io_hub_fail_pending(hub);
    assert_next_has(one, "the run is over");
    assert_next_has(two, "the run is over");
    io_hub_fail_pending(hub);
    TEST_ASSERT_NULL(next(one));
    TEST_ASSERT_NULL(next(two));
}

static void test_a_command_that_makes_no_sense_takes_nothing(void)
{
    struct io_session *client = enter(0.0);
    make_call(client, "\2\1\0\0\0\6\0\0\0\3\0\0\0cdr", 16); /* no number of frames */
    assert_next_has(client, "serviceCallFailure");
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.holder);
}

static void test_authority_is_asked_for_and_handed_over(void)
{
    struct io_session *one = enter(0.0), *two = enter(0.0);
    ask_authority(two, IO_AUTHORITY_ASK);
    assert_answer(two, false, "take it");
    ask_authority(one, IO_AUTHORITY_TAKE);
    assert_answer(one, true, "you have authority");
    ask_authority(one, IO_AUTHORITY_ASK);
    assert_answer(one, false, "already");
    ask_authority(two, IO_AUTHORITY_ASK);
    assert_answer(two, true, "viewer 1 was asked");
    TEST_ASSERT_EQUAL_STRING("viewer 2 asks viewer 1 for authority", bureau.noted);
    assert_next_has(one, "viewer 2 asks for authority");
    TEST_ASSERT_NOT_NULL(strstr((const char *)frame.data, "\"id\":\"authority\""));
    ask_authority(two, IO_AUTHORITY_ASK); /* again is not news */
    assert_answer(two, true, "viewer 1 was asked");
    TEST_ASSERT_NULL(next(one));
    ask_authority(one, IO_AUTHORITY_GIVE);
    assert_answer(one, true, "viewer 2 has authority now");
    assert_next_has(one, "removeStatus");
    TEST_ASSERT_EQUAL_UINT64(two->serial, hub->authority.holder);
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.asking);
    TEST_ASSERT_EQUAL_STRING("viewer 2 has authority", bureau.noted);
    pause(one);
    assert_next_has(one, "viewer 2 has authority; it can hand it over");
    ask_authority(two, IO_AUTHORITY_GIVE); /* nobody asks */
    assert_answer(two, true, "nobody");
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.holder);
    TEST_ASSERT_NULL(next(one));
    TEST_ASSERT_NULL(next(two));
}

static void test_who_asks_still_asks_when_another_was_quicker(void)
{
    struct io_session *one = enter(0.0), *two = enter(0.0), *three = enter(0.0);
    pause(one);
    ask_authority(two, IO_AUTHORITY_ASK);
    assert_answer(two, true, "viewer 1 was asked");
    io_hub_close_session(hub, one); /* which gives it to nobody */
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.holder);
    ask_authority(three, IO_AUTHORITY_TAKE);
    assert_answer(three, true, "you have authority");
    assert_next_has(three, "viewer 2 asks for authority");
    TEST_ASSERT_EQUAL_UINT64(two->serial, hub->authority.asking);
    TEST_ASSERT_EQUAL_STRING("viewer 2 asks viewer 3 for authority", bureau.noted);
    ask_authority(three, IO_AUTHORITY_GIVE);
    TEST_ASSERT_EQUAL_UINT64(two->serial, hub->authority.holder);
}

static void test_who_asked_and_left_asks_no_more(void)
{
    struct io_session *one = enter(0.0), *two = enter(0.0);
    pause(one);
    ask_authority(two, IO_AUTHORITY_ASK);
    assert_next_has(one, "asks for authority");
    io_hub_close_session(hub, two);
    assert_next_has(one, "removeStatus");
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.asking);
    TEST_ASSERT_EQUAL_UINT64(one->serial, hub->authority.holder);
}

static void test_everybody_sees_who_has_authority(void)
{
    struct io_session *one = enter(60.0), *two = enter(60.0);
    io_hub_tick(hub, 1);
    subscribe(two, 9, CHANNEL_COUNT);
    assert_authority(two, 9, 0, 0, 2);
    pause(one);
    io_hub_tick(hub, 2);
    assert_authority(two, 9, 1, 0, 2);
    io_hub_tick(hub, 3);
    TEST_ASSERT_NULL(next(two)); /* nothing has changed */
    ask_authority(two, IO_AUTHORITY_ASK);
    TEST_ASSERT_NOT_NULL(next(two));
    io_hub_tick(hub, 4);
    assert_authority(two, 9, 1, 2, 2);
    io_hub_close_session(hub, one);
    io_hub_tick(hub, 5);
    assert_authority(two, 9, 0, 2, 1);
}

static void test_each_viewer_knows_its_number_and_what_it_may(void)
{
    struct io_session *one = io_hub_open_session(hub, 0.0, true),
                      *two = io_hub_open_session(hub, 0.0, false);
    assert_next_has(one, "\"viewer\":\"1\",\"operator\":\"yes\"");
    assert_next_has(two, "\"viewer\":\"2\",\"operator\":\"no\"");
}

/* A page that hangs keeps its seat, for its browser answers pings. */
static void test_a_holder_that_says_nothing_loses_it_to_who_asks(void)
{
    const uint64_t s = 1000000000;
    struct io_session *one = enter(0.0), *two = enter(0.0);
    io_hub_tick(hub, 100 * s);
    pause(one);
    TEST_ASSERT_EQUAL_UINT64(one->serial, hub->authority.holder);
    io_hub_tick(hub, 1000 * s); /* nobody asks */
    TEST_ASSERT_EQUAL_UINT64(one->serial, hub->authority.holder);
    say(one, "{\"op\":\"getParameters\",\"parameterNames\":[]}");
    ask_authority(two, IO_AUTHORITY_ASK);
    io_hub_tick(hub, 1015 * s - 1);
    TEST_ASSERT_EQUAL_UINT64(one->serial, hub->authority.holder);
    say(one, "nonsense"); /* a word all the same */
    io_hub_tick(hub, 1030 * s - 2);
    TEST_ASSERT_EQUAL_UINT64(one->serial, hub->authority.holder);
    io_hub_tick(hub, 1030 * s - 1);
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.holder);
    ask_authority(two, IO_AUTHORITY_TAKE);
    TEST_ASSERT_EQUAL_UINT64(two->serial, hub->authority.holder);
}

/* ---- hands ---- */

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

static void test_pictures_of_who_has_authority_are_passed_on(void)
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

/* A picture that was sent then and comes now, both in ms of the receiver's clock. */
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

/* Two seconds of pictures that an outage held back come in one moment. */
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
    TEST_ASSERT_NULL(next(client));                   /* told once */
    TEST_ASSERT_TRUE(publish_at(client, 3740, 4000)); /* 230 ms more than the quickest */
    TEST_ASSERT_TRUE(publish_at(client, 3980, 4020));
}

static void test_a_clock_that_runs_a_little_slower_is_followed(void)
{
    struct io_session *client = enter(0.0);
    advertise_hand(client, 7);
    for (uint64_t s = 0; s < 3600; s++) /* 500 ppm, 1.8 s in the hour */
        TEST_ASSERT_TRUE(publish_at(client, 100000 + 1000 * s - s / 2, 100000 + 1000 * s + 40));
}

/* A machine that slept, or whose clock was set. */
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

static void test_who_takes_the_stick_is_judged_anew(void)
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

/* What it did last must not go on until the silence is a loss. */
static void test_who_flies_no_more_has_let_go_of_the_stick(void)
{
    struct io_session *one = enter(0.0), *two = enter(0.0), *other = enter(0.0);
    struct io_hand_report push = pushed();
    push.buttons = 4;
    advertise_hand(one, 7);
    advertise_hand(two, 7);
    publish(one, 7, &push, IO_HAND_SIZE);
    io_hub_close_session(hub, other); /* nobody's concern */
    TEST_ASSERT_EQUAL_INT(1, flown.pictures);
    ask_authority(one, IO_AUTHORITY_GIVE);
    assert_rests(2);
    ask_authority(two, IO_AUTHORITY_TAKE);
    TEST_ASSERT_EQUAL_INT(2, flown.pictures); /* it has not flown yet */
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
    TEST_ASSERT_EQUAL_INT(2, flown.hands); /* what it holds down is no press */
}

static void test_who_takes_its_channel_back_has_let_go_of_the_stick(void)
{
    struct io_session *client = enter(0.0);
    const struct io_hand_report push = pushed();
    advertise_hand(client, 7);
    advertise_hand(client, 8);
    publish(client, 7, &push, IO_HAND_SIZE);
    say(client, "{\"op\":\"unadvertise\",\"channelIds\":[7]}");
    TEST_ASSERT_EQUAL_INT(1, flown.pictures); /* it has another */
    publish(client, 8, &push, IO_HAND_SIZE);
    say(client, "{\"op\":\"unadvertise\",\"channelIds\":[8]}");
    assert_rests(3);
    TEST_ASSERT_EQUAL_UINT64(client->serial, hub->authority.holder);
    advertise_hand(client, 8);
    publish(client, 8, &push, IO_HAND_SIZE);
    TEST_ASSERT_EQUAL_INT(2, flown.hands);
    say(client, "{\"op\":\"advertise\",\"channels\":[{\"id\":8,\"topic\":\"/other\",\"encoding\":"
                "\"hand\"}]}"); /* the same number is another channel now */
    assert_rests(5);
}

/* Handing over is a word, not what a hand on another stick happens to do. */
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
    publish(one, 7, &picture, IO_HAND_SIZE); /* its hand was still on the stick */
    publish(two, 7, &picture, IO_HAND_SIZE);
    assert_next_has(two, "take it, and then fly");
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.holder);
    TEST_ASSERT_EQUAL_INT(before, flown.pictures);
    ask_authority(two, IO_AUTHORITY_TAKE);
    publish(two, 7, &picture, IO_HAND_SIZE);
    TEST_ASSERT_EQUAL_INT(before + 1, flown.pictures);
    publish(one, 7, &picture, IO_HAND_SIZE);
    io_hub_close_session(hub, two);
    publish(one, 7, &picture, IO_HAND_SIZE);
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.holder);
    struct io_session *three = enter(0.0); /* comes to fly: its first picture is a command */
    advertise_hand(three, 7);
    publish(three, 7, &picture, IO_HAND_SIZE);
    TEST_ASSERT_EQUAL_UINT64(three->serial, hub->authority.holder);
}

static void test_what_is_wrong_with_pictures_is_told_once_a_second(void)
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
        assert_next_has(client, "only /hand");
        io_hub_tick(hub, now_ns += 2000000000);
        publish(client, 1, &picture, IO_HAND_SIZE);
        assert_next_has(client, "not advertised");
        io_hub_tick(hub, now_ns += 2000000000);
    }
    advertise_hand(client, 7);
    publish(client, 7, &picture, IO_HAND_SIZE - 1);
    assert_next_has(client, "no picture");
    io_hub_tick(hub, now_ns += 2000000000);
    picture.axis[3] = 1.5f;
    publish(client, 7, &picture, IO_HAND_SIZE);
    assert_next_has(client, "no picture");
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.holder);
    io_hub_tick(hub, now_ns += 2000000000);
    io_hand_report_neutral(&picture);
    say(client, "{\"op\":\"unadvertise\",\"channelIds\":[7]}");
    publish(client, 7, &picture, IO_HAND_SIZE);
    assert_next_has(client, "not advertised");
    io_hub_tick(hub, now_ns + 2000000000);
    for (int i = 0; i < 3; i++) /* the same again is the same */
        for (int id = 0; id < IO_HUB_HAND_MAX; id++)
            advertise_hand(client, id);
    TEST_ASSERT_NULL(next(client));
    advertise_hand(client, 99);
    assert_next_has(client, "too many channels");
    TEST_ASSERT_EQUAL_INT(0, flown.pictures + flown.hands);
}

static void test_where_nothing_is_flown_a_hand_is_told(void)
{
    hub->hand.pass = NULL;
    struct io_session *client = enter(0.0);
    advertise_hand(client, 1);
    assert_next_has(client, "bus: cockpit");
}

/* ---- floods ---- */

static void test_who_sends_steadily_is_borne_and_who_floods_is_not(void)
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
        "viewer 1 sent more than 1000 messages or 1 MB a second; it was let go", bureau.noted);
    const int notes = bureau.notes;
    TEST_ASSERT_FALSE(io_hub_within_limits(hub, client, 10, now_ns + 1));
    TEST_ASSERT_EQUAL_INT(notes, bureau.notes);
    TEST_ASSERT_TRUE(io_hub_within_limits(hub, other, 10, now_ns)); /* each has its own */
    borne = 0;
    while (io_hub_within_limits(hub, large, 4096, now_ns)) /* of one message */
        borne++;
    TEST_ASSERT_EQUAL_INT(1000000 / 4096, borne);
}

static void test_there_are_so_many_seats(void)
{
    for (int i = 0; i < IO_SERVER_SESSION_MAX; i++)
        TEST_ASSERT_NOT_NULL(io_hub_open_session(hub, 0.0, true));
    TEST_ASSERT_NULL(io_hub_open_session(hub, 0.0, true));
}

/* ---- errands, one by one ---- */

static void assert_next_is(struct io_session *client, const char *whole)
{
    const char *text = next(client);
    TEST_ASSERT_NOT_NULL_MESSAGE(text, whole);
    TEST_ASSERT_EQUAL_STRING(whole, text);
    TEST_ASSERT_FALSE(binary);
}

static void test_parameters_are_watched_by_name_or_all(void)
{
    static const char no_gian[] = "{\"op\":\"status\",\"level\":2,\"message\":"
                                  "\"there is no parameter \\\"gian\\\"\"}";
    struct io_session *all = enter(0.0), *one = enter(0.0), *none = enter(0.0);
    io_hub_tick(hub, 0);
    say(all, "{\"op\":\"subscribeParameterUpdates\",\"parameterNames\":[]}");
    say(one, "{\"op\":\"subscribeParameterUpdates\",\"parameterNames\":[\"gian\",\"gain\"]}");
    assert_next_is(one, no_gian);
    bureau.value[0] = 1.5;
    bureau.value[1] = 2.5;
    io_hub_tick(hub, 1);
    assert_next_is(all, "{\"op\":\"parameterValues\",\"parameters\":[{\"name\":\"gain\",\"type\":"
                        "\"float64\",\"value\":1.5},{\"name\":\"bias\",\"type\":\"float64\","
                        "\"value\":2.5}]}");
    assert_next_is(one, "{\"op\":\"parameterValues\",\"parameters\":[{\"name\":\"gain\",\"type\":"
                        "\"float64\",\"value\":1.5}]}");
    io_hub_tick(hub, 2); /* nothing has changed */
    say(one, "{\"op\":\"unsubscribeParameterUpdates\",\"parameterNames\":[\"gian\",\"gain\"]}");
    assert_next_is(one, no_gian);
    say(all, "{\"op\":\"unsubscribeParameterUpdates\",\"parameterNames\":[]}");
    bureau.value[0] = 0.5;
    bureau.value[1] = 0.5;
    io_hub_tick(hub, 3);
    TEST_ASSERT_NULL(next(all));
    TEST_ASSERT_NULL(next(one));
    TEST_ASSERT_NULL(next(none));
}

static void test_a_value_that_becomes_no_number_has_changed_once(void)
{
    struct io_session *client = enter(0.0);
    say(client, "{\"op\":\"subscribeParameterUpdates\",\"parameterNames\":[\"bias\"]}");
    io_hub_tick(hub, 0);
    TEST_ASSERT_NULL(next(client));
    bureau.value[1] = -1.0; /* smaller */
    io_hub_tick(hub, 0);
    assert_next_has(client, "-1.0");
    bureau.value[1] = (double)NAN;
    io_hub_tick(hub, 0);
    assert_next_is(client,
                   "{\"op\":\"parameterValues\",\"parameters\":[{\"name\":\"bias\",\"type\":"
                   "\"float64\"}]}");
    io_hub_tick(hub, 0);
    TEST_ASSERT_NULL(next(client));
    bureau.value[1] = 3.0;
    io_hub_tick(hub, 0);
    assert_next_has(client, "3.0");
    TEST_ASSERT_NULL(next(client));
}

static void test_parameters_are_asked_for_by_name_in_the_order_asked(void)
{
    struct io_session *client = enter(0.0);
    bureau.value[0] = 1.5;
    bureau.value[1] = 2.5;
    say(client, "{\"op\":\"getParameters\",\"parameterNames\":[\"bias\",\"gian\",\"gain\"]}");
    assert_next_has(client, "there is no parameter \\\"gian\\\"");
    assert_next_is(client,
                   "{\"op\":\"parameterValues\",\"parameters\":[{\"name\":\"bias\",\"type\":"
                   "\"float64\",\"value\":2.5},{\"name\":\"gain\",\"type\":\"float64\","
                   "\"value\":1.5}]}");
}

static void test_a_set_of_what_there_is_not_is_told_and_the_rest_is_set(void)
{
    struct io_session *client = enter(0.0);
    say(client, "{\"op\":\"setParameters\",\"parameters\":[{\"name\":\"gian\",\"value\":1},"
                "{\"name\":\"bias\",\"value\":4}],\"id\":\"s\"}");
    assert_next_has(client, "there is no parameter \\\"gian\\\"");
    TEST_ASSERT_EQUAL_INT(1, bureau.asked);
    bureau.value[1] = 4.0;
    bureau.answers = 1;
    io_hub_tick(hub, 0);
    assert_next_is(client,
                   "{\"op\":\"parameterValues\",\"parameters\":[{\"name\":\"bias\",\"type\":"
                   "\"float64\",\"value\":4.0}],\"id\":\"s\"}");
    TEST_ASSERT_NULL(next(client));
}

static void set_gain(struct io_session *client)
{
    bureau.asked = 0;
    say(client, "{\"op\":\"setParameters\",\"parameters\":[{\"name\":\"gain\",\"value\":1}]}");
}

static void test_sets_that_were_lost_do_not_fill_the_desk_for_ever(void)
{
    struct io_session *client = enter(0.0);
    for (int i = 0; i < IO_HUB_PENDING_MAX; i++) {
        io_hub_tick(hub, 1000000000 + (uint64_t)i);
        set_gain(client);
        TEST_ASSERT_EQUAL_INT(1, bureau.asked);
    }
    TEST_ASSERT_NULL(next(client));
    io_hub_tick(hub, 11000000000); /* ten seconds after the first */
    set_gain(client);
    TEST_ASSERT_EQUAL_INT(0, bureau.asked);
    assert_next_is(client, "{\"op\":\"status\",\"level\":2,\"message\":"
                           "\"too many requests are under way\"}");
    io_hub_tick(hub, 11000000001);
    set_gain(client);
    TEST_ASSERT_EQUAL_INT(1, bureau.asked);
    assert_next_is(client, "{\"op\":\"status\",\"level\":2,\"message\":\"no answer in 10 s, and "
                           "others wait; it may still be carried out\"}");
    set_gain(client); /* the second is younger by a nanosecond */
    TEST_ASSERT_EQUAL_INT(0, bureau.asked);
    assert_next_has(client, "too many requests");
    TEST_ASSERT_NULL(next(client));
}

/* The oldest is not the first of the table. */
static void test_the_oldest_gives_its_place_wherever_it_is(void)
{
    static char call_pause[] = "\2\0\0\0\0?\0\0\0\3\0\0\0cdr";
    struct io_session *client = enter(0.0);
    for (int i = 0; i < IO_HUB_PENDING_MAX; i++) {
        io_hub_tick(hub, i == 2 ? 1000000000 : 2000000000);
        bureau.asked = 0;
        call_pause[5] = (char)(i + 1);
        make_call(client, call_pause, 16);
    }
    io_hub_tick(hub, 20000000000);
    bureau.asked = 0;
    make_call(client, call_pause, 16);
    assert_next_is(client,
                   "{\"op\":\"serviceCallFailure\",\"serviceId\":0,\"callId\":3,\"message\":"
                   "\"no answer in 10 s, and others wait; it may still be carried out\"}");
    TEST_ASSERT_EQUAL_INT(1, bureau.asked);
}

static void test_an_answer_to_a_question_that_nobody_asked_is_passed_over(void)
{
    struct io_session *client = enter(0.0);
    pause(client);
    bureau.answer[1] = bureau.answer[0];
    bureau.answer[0].ticket++; /* one that is not out */
    bureau.answers = 2;
    io_hub_tick(hub, 0);
    TEST_ASSERT_NOT_NULL(next(client));
    TEST_ASSERT_TRUE(binary);
    TEST_ASSERT_NULL(next(client));
    bureau.answer[2] = bureau.answer[1]; /* a second time */
    bureau.answers = 3;
    io_hub_tick(hub, 0);
    TEST_ASSERT_NULL(next(client));
}

static void test_a_call_that_failed_says_so(void)
{
    struct io_session *client = enter(0.0);
    make_call(client, "\2\0\0\0\0\6\0\0\0\4\0\0\0json", 17);
    bureau.answer[0].done = false;
    strcpy(bureau.answer[0].text, "not now");
    bureau.answers = 1;
    io_hub_tick(hub, 0);
    TEST_ASSERT_NOT_NULL(next(client));
    TEST_ASSERT_TRUE(binary);
    TEST_ASSERT_EQUAL_MEMORY("\3\0\0\0\0\6\0\0\0\4\0\0\0json", frame.data, 17);
    TEST_ASSERT_EQUAL_STRING("{\"success\":false,\"message\":\"not now\"}",
                             (const char *)frame.data + 17);
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
    subscribe(one, 1, CHANNEL_COUNT); /* authority, which is always there */
    TEST_ASSERT_TRUE(io_hub_is_subscribed(hub, CHANNEL_COUNT));
    subscribe(one, 2, CHANNEL_COUNT + 1);
    while (next(one))
        continue;
}

static void test_losses_are_told_once_a_second(void)
{
    static const char one_lost[] =
        "{\"op\":\"status\",\"level\":1,\"message\":\"5 messages were lost: they come faster than "
        "this client takes them\",\"id\":\"lost\"}";
    struct io_session *client = enter(0.0);
    io_hub_count_lost(hub, 5);
    io_hub_tick(hub, 999999999);
    TEST_ASSERT_NULL(next(client));
    io_hub_tick(hub, 1000000000);
    assert_next_is(client, one_lost);
    io_hub_tick(hub, 5000000000); /* no more were lost */
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
    for (int i = 0; i <= IO_HUB_STATUS_MAX; i++) { /* one more than there are */
        struct io_hub_status status = {.on = true, .level = IO_FOXGLOVE_INFO, .text = "x"};
        snprintf(status.id, sizeof status.id, "s%d", i);
        io_hub_status(hub, &status);
    }
    io_hub_status(hub, &(struct io_hub_status){.id = "s1"}); /* the second is over */
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

/* A run that can be looked at and not spoken to. */
static void test_without_a_desk_there_is_nothing_to_ask_for(void)
{
    const struct io_server_spec spec = {
        .name = "mute", .channels = channels, .channel_count = CHANNEL_COUNT};
    io_hub_close(hub);
    memset(hub, 0, sizeof *hub);
    io_hub_open(hub, &spec, "1");
    struct io_session *client = io_hub_open_session(hub, 0.0, true);
    assert_next_has(client, "\"capabilities\":[\"time\",\"services\"],\"supportedEncodings\":"
                            "[\"cdr\",\"json\"],");
    assert_next_has(client, "advertise");
    assert_next_has(client, "{\"id\":0,\"name\":\"/authority/");
    say(client, "{\"op\":\"getParameters\",\"parameterNames\":[]}");
    assert_next_is(client, "{\"op\":\"parameterValues\",\"parameters\":[]}");
    make_call(client, "\2\3\0\0\0\6\0\0\0\3\0\0\0cdr", 16);
    assert_next_has(client, "there is no such service");
    io_hub_tick(hub, 1);
    io_hub_fail_pending(hub);
    TEST_ASSERT_NULL(next(client));
}

static void test_there_are_no_other_acts_of_authority(void)
{
    struct io_authority authority = {.holder = 1};
    char text[IO_FOXGLOVE_TEXT_MAX];
    TEST_ASSERT_FALSE(
        io_authority_act(&authority, (enum io_authority_act)IO_AUTHORITY_ACT_COUNT, 1, text));
    TEST_ASSERT_EQUAL_STRING("there is no such act", text);
    TEST_ASSERT_EQUAL_UINT64(1, authority.holder);
    authority.asking = 2;
    io_authority_leave(&authority, 3);
    TEST_ASSERT_EQUAL_UINT64(1, authority.holder);
    TEST_ASSERT_EQUAL_UINT64(2, authority.asking);
    io_authority_leave(&authority, 2);
    TEST_ASSERT_EQUAL_UINT64(1, authority.holder);
    TEST_ASSERT_EQUAL_UINT64(0, authority.asking);
    io_authority_leave(&authority, 1);
    TEST_ASSERT_EQUAL_UINT64(0, authority.holder);
}

static void test_of_errands_as_old_as_each_other_the_first_gives_its_place(void)
{
    static char call_pause[] = "\2\0\0\0\0?\0\0\0\3\0\0\0cdr";
    struct io_session *client = enter(0.0);
    io_hub_tick(hub, 1000000000);
    for (int i = 0; i < IO_HUB_PENDING_MAX; i++) {
        bureau.asked = 0;
        call_pause[5] = (char)(i + 1);
        make_call(client, call_pause, 16);
    }
    io_hub_tick(hub, 20000000000);
    make_call(client, call_pause, 16);
    assert_next_has(client, "\"callId\":1,");
    TEST_ASSERT_NULL(next(client));
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        count++;
    return count;
}

/* As many items as a request can have, all of the same parameter. */
static void test_the_longest_requests_are_answered_whole(void)
{
    static char text[64 * (IO_FOXGLOVE_LIST_MAX + 2)];
    struct io_session *client = enter(0.0);
    char *at = text + sprintf(text, "{\"op\":\"getParameters\",\"parameterNames\":[");
    for (int i = 0; i < IO_FOXGLOVE_LIST_MAX; i++)
        at += sprintf(at, "%s\"gain\"", i > 0 ? "," : "");
    sprintf(at, "]}");
    say(client, text);
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_LIST_MAX, count_of(next(client), "\"gain\""));
    at = text + sprintf(text, "{\"op\":\"setParameters\",\"id\":\"s\",\"parameters\":[");
    for (int i = 0; i < IO_FOXGLOVE_LIST_MAX; i++)
        at += sprintf(at, "%s{\"name\":\"gain\",\"value\":%d}", i > 0 ? "," : "", i);
    sprintf(at, "]}");
    say(client, text);
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_LIST_MAX, bureau.asked);
    TEST_ASSERT_EQUAL_DOUBLE(IO_FOXGLOVE_LIST_MAX - 1, bureau.wanted);
    bureau.answers = IO_FOXGLOVE_LIST_MAX - 1;
    io_hub_tick(hub, 0);
    TEST_ASSERT_NULL(next(client));
    bureau.answers = IO_FOXGLOVE_LIST_MAX;
    io_hub_tick(hub, 0);
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_LIST_MAX, count_of(next(client), "\"gain\""));
    TEST_ASSERT_NULL(next(client));
}

static const char *numbered_name(void *self, int index)
{
    static char name[IO_LIVE_PARAMETER_MAX][8];
    (void)self;
    TEST_ASSERT_TRUE(index >= 0 && index < IO_LIVE_PARAMETER_MAX);
    sprintf(name[index], "p%d", index);
    return name[index];
}

static double growing_value(void *self, int index)
{
    (void)self;
    TEST_ASSERT_TRUE(index >= 0 && index < IO_LIVE_PARAMETER_MAX);
    return bureau.value[0] + index;
}

/* A desk with more parameters than are shown. */
static void test_so_many_parameters_are_shown_and_no_more(void)
{
    struct io_service_table large = service_table;
    large.parameter_count = IO_LIVE_PARAMETER_MAX + 1;
    large.parameter_name = numbered_name;
    large.parameter_value = growing_value;
    const struct io_server_spec spec = {.name = "large",
                                        .channels = channels,
                                        .channel_count = CHANNEL_COUNT,
                                        .service_table = &large};
    io_hub_close(hub);
    memset(hub, 0, sizeof *hub);
    io_hub_open(hub, &spec, "1");
    struct io_session *client = enter(0.0);
    say(client, "{\"op\":\"getParameters\",\"parameterNames\":[]}");
    TEST_ASSERT_EQUAL_INT(IO_LIVE_PARAMETER_MAX, count_of(next(client), "\"name\""));
    say(client, "{\"op\":\"subscribeParameterUpdates\",\"parameterNames\":[]}");
    io_hub_tick(hub, 0);
    TEST_ASSERT_EQUAL_INT(IO_LIVE_PARAMETER_MAX - 1,
                          count_of(next(client), "\"name\"")); /* 0 is 0 */
    bureau.value[0] = 0.5;
    io_hub_tick(hub, 0);
    TEST_ASSERT_EQUAL_INT(IO_LIVE_PARAMETER_MAX, count_of(next(client), "\"name\""));
    TEST_ASSERT_NULL(next(client));
    say(client, "{\"op\":\"getParameters\",\"parameterNames\":[\"p255\",\"p256\"]}");
    assert_next_has(client, "there is no parameter \\\"p256\\\"");
    TEST_ASSERT_EQUAL_INT(1, count_of(next(client), "\"p255\""));
}

static void test_refusals_name_the_service_and_the_call(void)
{
    struct io_session *client = enter(0.0), *watcher = come_in(0.0, false);
    make_call(client, "\2\6\0\0\0\11\0\0\0\3\0\0\0cdr", 16);
    assert_next_is(client,
                   "{\"op\":\"serviceCallFailure\",\"serviceId\":6,\"callId\":9,\"message\":"
                   "\"there is no such service\"}");
    make_call(client, "\2\1\0\0\0\10\0\0\0\3\0\0\0cdr", 16);
    assert_next_is(client,
                   "{\"op\":\"serviceCallFailure\",\"serviceId\":1,\"callId\":8,\"message\":"
                   "\"the request does not have the fields of this service\"}");
    make_call(watcher, "\2\2\0\0\0\7\0\0\0\3\0\0\0cdr", 16);
    assert_next_has(watcher, "{\"op\":\"serviceCallFailure\",\"serviceId\":2,\"callId\":7,");
    pause(client);
    io_hub_fail_pending(hub);
    assert_next_is(client,
                   "{\"op\":\"serviceCallFailure\",\"serviceId\":0,\"callId\":6,\"message\":"
                   "\"the run is over, and it is not known whether this was done\"}");
    set_gain(client);
    io_hub_fail_pending(hub);
    assert_next_is(client, "{\"op\":\"status\",\"level\":2,\"message\":"
                           "\"the run is over, and it is not known whether this was done\"}");
}

static void test_a_stop_without_an_answer_is_answered_here(void)
{
    struct io_session *client = enter(0.0);
    bureau.stop_is_mute = true;
    make_call(client, "\2\2\0\0\0\11\0\0\0\4\0\0\0json", 17);
    TEST_ASSERT_NOT_NULL(next(client));
    TEST_ASSERT_TRUE(binary);
    TEST_ASSERT_EQUAL_MEMORY("\3\2\0\0\0\11\0\0\0\4\0\0\0json", frame.data, 17);
    TEST_ASSERT_EQUAL_STRING("{\"success\":true,\"message\":\"the stop is latched; the next frame "
                             "boundary reads it\"}",
                             (const char *)frame.data + 17);
    TEST_ASSERT_NULL(next(client));
}

/* Every request has a number of its own, whatever became of the one before. */
static void test_no_two_requests_have_the_same_ticket(void)
{
    struct io_session *client = enter(0.0);
    uint64_t last = UINT64_MAX;
    for (int i = 0; i < 6; i++) {
        uint64_t ticket;
        bureau.asked = 0;
        bureau.stop_is_mute = i == 3;
        if (i % 3 == 0) {
            make_call(client, "\2\2\0\0\0\6\0\0\0\3\0\0\0cdr", 16);
            ticket = bureau.stop_ticket;
        } else if (i == 4) {
            make_call(client, "\2\2\0\0\0\6\0\0\0\3\0\0\0xml", 16); /* makes no sense */
            ticket = bureau.stop_ticket;
        } else {
            pause(client);
            ticket = bureau.answer[0].ticket;
        }
        TEST_ASSERT_EQUAL_UINT64(last + 1, ticket);
        last = ticket;
        while (next(client))
            continue;
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_who_comes_is_told_what_there_is);
    RUN_TEST(test_only_who_subscribed_gets_messages);
    RUN_TEST(test_who_leaves_wants_nothing_any_more);
    RUN_TEST(test_what_lasts_is_given_to_who_comes_later);
    RUN_TEST(test_a_stream_is_thinned_and_events_are_not);
    RUN_TEST(test_a_slow_viewer_loses_the_oldest_and_is_told);
    RUN_TEST(test_what_was_lost_on_the_way_is_told_too);
    RUN_TEST(test_large_messages_give_way_by_their_bytes);
    RUN_TEST(test_who_does_not_read_its_answers_is_let_go);
    RUN_TEST(test_mistakes_are_told_to_who_made_them);
    RUN_TEST(test_the_newest_time_is_told_once);
    RUN_TEST(test_a_status_replaces_and_ends);
    RUN_TEST(test_parameters_are_shown);
    RUN_TEST(test_a_set_is_answered_when_the_desk_has_answered);
    RUN_TEST(test_a_refused_set_says_why);
    RUN_TEST(test_a_call_goes_to_the_desk_and_back);
    RUN_TEST(test_answers_go_to_who_asked_in_any_order);
    RUN_TEST(test_a_call_that_cannot_be_made_fails_at_once);
    RUN_TEST(test_an_answer_for_who_has_left_goes_nowhere);
    RUN_TEST(test_answers_that_were_lost_do_not_fill_the_desk_for_ever);
    RUN_TEST(test_answers_that_are_there_make_room);
    RUN_TEST(test_who_is_to_be_let_go_commands_nothing);
    RUN_TEST(test_a_holder_that_says_nothing_loses_it_to_who_asks);
    RUN_TEST(test_who_looks_on_commands_nothing_and_is_told_how);
    RUN_TEST(test_the_first_command_takes_authority_and_keeps_others_out);
    RUN_TEST(test_every_operator_may_stop_and_takes_nothing_by_it);
    RUN_TEST(test_nothing_refuses_a_stop);
    RUN_TEST(test_whoever_waits_is_told_when_the_run_is_over);
    RUN_TEST(test_a_command_that_makes_no_sense_takes_nothing);
    RUN_TEST(test_authority_is_asked_for_and_handed_over);
    RUN_TEST(test_who_asks_still_asks_when_another_was_quicker);
    RUN_TEST(test_who_asked_and_left_asks_no_more);
    RUN_TEST(test_everybody_sees_who_has_authority);
    RUN_TEST(test_each_viewer_knows_its_number_and_what_it_may);
    RUN_TEST(test_pictures_of_who_has_authority_are_passed_on);
    RUN_TEST(test_pictures_that_come_much_later_than_others_are_dropped);
    RUN_TEST(test_a_clock_that_runs_a_little_slower_is_followed);
    RUN_TEST(test_pictures_that_stay_late_are_taken_again);
    RUN_TEST(test_who_takes_the_stick_is_judged_anew);
    RUN_TEST(test_who_flies_no_more_has_let_go_of_the_stick);
    RUN_TEST(test_an_arm_is_handed_over_with_the_stick_at_rest);
    RUN_TEST(test_who_takes_its_channel_back_has_let_go_of_the_stick);
    RUN_TEST(test_a_hand_beside_does_not_come_to_fly_by_itself);
    RUN_TEST(test_what_is_wrong_with_pictures_is_told_once_a_second);
    RUN_TEST(test_only_pictures_on_their_channel_are_passed_on);
    RUN_TEST(test_where_nothing_is_flown_a_hand_is_told);
    RUN_TEST(test_who_sends_steadily_is_borne_and_who_floods_is_not);
    RUN_TEST(test_there_are_so_many_seats);
    RUN_TEST(test_parameters_are_watched_by_name_or_all);
    RUN_TEST(test_a_value_that_becomes_no_number_has_changed_once);
    RUN_TEST(test_parameters_are_asked_for_by_name_in_the_order_asked);
    RUN_TEST(test_a_set_of_what_there_is_not_is_told_and_the_rest_is_set);
    RUN_TEST(test_sets_that_were_lost_do_not_fill_the_desk_for_ever);
    RUN_TEST(test_the_oldest_gives_its_place_wherever_it_is);
    RUN_TEST(test_an_answer_to_a_question_that_nobody_asked_is_passed_over);
    RUN_TEST(test_a_call_that_failed_says_so);
    RUN_TEST(test_each_subscription_is_counted_for_its_channel);
    RUN_TEST(test_losses_are_told_once_a_second);
    RUN_TEST(test_as_many_statuses_as_there_are_places_are_kept);
    RUN_TEST(test_the_greeting_is_what_there_is);
    RUN_TEST(test_without_a_desk_there_is_nothing_to_ask_for);
    RUN_TEST(test_there_are_no_other_acts_of_authority);
    RUN_TEST(test_of_errands_as_old_as_each_other_the_first_gives_its_place);
    RUN_TEST(test_the_longest_requests_are_answered_whole);
    RUN_TEST(test_so_many_parameters_are_shown_and_no_more);
    RUN_TEST(test_refusals_name_the_service_and_the_call);
    RUN_TEST(test_a_stop_without_an_answer_is_answered_here);
    RUN_TEST(test_no_two_requests_have_the_same_ticket);
    return UNITY_END();
}
