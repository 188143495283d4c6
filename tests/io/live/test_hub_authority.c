/*
 * Which session may command: authority, operators, the stop.
 */
#include "tests/io/live/hub_fixture.h"

static void assert_answer(struct io_session *client, bool done, const char *text)
{
    TEST_ASSERT_NOT_NULL(next(client));
    TEST_ASSERT_TRUE(binary);
    const char *json = (const char *)frame.data + 17;
    TEST_ASSERT_EQUAL_STRING_LEN(done ? "{\"success\":true" : "{\"success\":false", json,
                                 done ? 15 : 16);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(json, text), json);
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

static void test_a_viewer_commands_nothing_and_is_told_how_to(void)
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
                    "{\"name\":\"gain\",\"type\":\"float64\",\"value\":0.0}"); /* unchanged */
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
    TEST_ASSERT_EQUAL_STRING("viewer 1 no longer has authority", bureau.noted);
    pause(two);
    TEST_ASSERT_EQUAL_INT(2, bureau.asked);
    TEST_ASSERT_EQUAL_UINT64(two->serial, hub->authority.holder);
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

/* With full tables, without replies, from a session that is to be closed, and by an invalid
 * call. */
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
    assert_next_has(two, "the encoding of a service call");
    make_call(two, "\2\2\0\0\0", 5);
    TEST_ASSERT_EQUAL_INT(4, bureau.stops);
    one->gone = true;
    safe(one);
    TEST_ASSERT_EQUAL_INT(5, bureau.stops);
}

static void test_a_command_that_makes_no_sense_takes_nothing(void)
{
    struct io_session *client = enter(0.0);
    make_call(client, "\2\1\0\0\0\6\0\0\0\3\0\0\0cdr", 16); /* the number of frames is missing */
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
    assert_answer(two, true, "viewer 1 has been asked for authority");
    TEST_ASSERT_EQUAL_STRING("viewer 2 asks viewer 1 for authority", bureau.noted);
    assert_next_has(one, "viewer 2 asks for authority");
    TEST_ASSERT_NOT_NULL(strstr((const char *)frame.data, "\"id\":\"authority\""));
    ask_authority(two, IO_AUTHORITY_ASK); /* asking again changes nothing */
    assert_answer(two, true, "viewer 1 has been asked for authority");
    TEST_ASSERT_NULL(next(one));
    ask_authority(one, IO_AUTHORITY_GIVE);
    assert_answer(one, true, "viewer 2 has authority now");
    assert_next_has(one, "removeStatus");
    TEST_ASSERT_EQUAL_UINT64(two->serial, hub->authority.holder);
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.asking);
    TEST_ASSERT_EQUAL_STRING("viewer 2 has authority", bureau.noted);
    pause(one);
    assert_next_has(one, "viewer 2 has authority; it can hand it over");
    ask_authority(two, IO_AUTHORITY_GIVE); /* no session asks */
    assert_answer(two, true, "nobody");
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.holder);
    TEST_ASSERT_NULL(next(one));
    TEST_ASSERT_NULL(next(two));
}

static void test_a_request_stays_pending_when_another_was_quicker(void)
{
    struct io_session *one = enter(0.0), *two = enter(0.0), *three = enter(0.0);
    pause(one);
    ask_authority(two, IO_AUTHORITY_ASK);
    assert_answer(two, true, "viewer 1 has been asked for authority");
    io_hub_close_session(hub, one); /* no session gets authority then */
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.holder);
    ask_authority(three, IO_AUTHORITY_TAKE);
    assert_answer(three, true, "you have authority");
    assert_next_has(three, "viewer 2 asks for authority");
    TEST_ASSERT_EQUAL_UINT64(two->serial, hub->authority.asking);
    TEST_ASSERT_EQUAL_STRING("viewer 2 asks viewer 3 for authority", bureau.noted);
    ask_authority(three, IO_AUTHORITY_GIVE);
    TEST_ASSERT_EQUAL_UINT64(two->serial, hub->authority.holder);
}

static void test_a_request_ends_with_its_session(void)
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

static void test_every_session_sees_which_one_has_authority(void)
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

/* A page that hangs keeps its session, because its browser answers pings. */
static void test_a_silent_holder_loses_authority_to_the_next_that_asks(void)
{
    const uint64_t s = 1000000000;
    struct io_session *one = enter(0.0), *two = enter(0.0);
    io_hub_tick(hub, 100 * s);
    pause(one);
    TEST_ASSERT_EQUAL_UINT64(one->serial, hub->authority.holder);
    io_hub_tick(hub, 1000 * s); /* no session asks */
    TEST_ASSERT_EQUAL_UINT64(one->serial, hub->authority.holder);
    say(one, "{\"op\":\"getParameters\",\"parameterNames\":[]}");
    ask_authority(two, IO_AUTHORITY_ASK);
    io_hub_tick(hub, 1015 * s - 1);
    TEST_ASSERT_EQUAL_UINT64(one->serial, hub->authority.holder);
    say(one, "nonsense"); /* an invalid message counts as activity */
    io_hub_tick(hub, 1030 * s - 2);
    TEST_ASSERT_EQUAL_UINT64(one->serial, hub->authority.holder);
    io_hub_tick(hub, 1030 * s - 1);
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.holder);
    ask_authority(two, IO_AUTHORITY_TAKE);
    TEST_ASSERT_EQUAL_UINT64(two->serial, hub->authority.holder);
}

static void test_there_are_no_other_acts_of_authority(void)
{
    struct io_authority authority = {.holder = 1};
    char text[IO_FOXGLOVE_TEXT_MAX];
    TEST_ASSERT_FALSE(
        io_authority_act(&authority, (enum io_authority_act)IO_AUTHORITY_ACT_COUNT, 1, text));
    TEST_ASSERT_EQUAL_STRING("unknown authority request", text);
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

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_silent_holder_loses_authority_to_the_next_that_asks);
    RUN_TEST(test_a_viewer_commands_nothing_and_is_told_how_to);
    RUN_TEST(test_the_first_command_takes_authority_and_keeps_others_out);
    RUN_TEST(test_every_operator_may_stop_and_takes_nothing_by_it);
    RUN_TEST(test_nothing_refuses_a_stop);
    RUN_TEST(test_a_command_that_makes_no_sense_takes_nothing);
    RUN_TEST(test_authority_is_asked_for_and_handed_over);
    RUN_TEST(test_a_request_stays_pending_when_another_was_quicker);
    RUN_TEST(test_a_request_ends_with_its_session);
    RUN_TEST(test_every_session_sees_which_one_has_authority);
    RUN_TEST(test_each_viewer_knows_its_number_and_what_it_may);
    RUN_TEST(test_there_are_no_other_acts_of_authority);
    RUN_TEST(test_a_stop_without_an_answer_is_answered_here);
    return UNITY_END();
}
