/*
 * Parameters and service calls: requests, replies, limits.
 */
#include "tests/io/live/hub_fixture.h"

static void test_a_session_that_does_not_read_its_answers_is_closed(void)
{
    struct io_session *client = enter(0.0);
    for (int i = 0; i < 100000 && !client->gone; i++)
        say(client, "{\"op\":\"getParameters\",\"parameterNames\":[]}");
    TEST_ASSERT_TRUE(client->gone);
    TEST_ASSERT_TRUE(client->viewer->answer_bytes <= IO_SESSION_QUEUE_REPLIES_MAX);
}

static void test_parameters_are_listed(void)
{
    struct io_session *client = enter(0.0);
    bureau.value[0] = 2.5;
    say(client, "{\"op\":\"getParameters\",\"parameterNames\":[],\"id\":\"q\"}");
    assert_next_has(client, "\"id\":\"q\"");
    TEST_ASSERT_NOT_NULL(strstr((const char *)frame.data, "{\"name\":\"gain\",\"type\":\"float64\","
                                                          "\"value\":2.5}"));
    TEST_ASSERT_NOT_NULL(strstr((const char *)frame.data, "\"bias\""));
}

static void test_a_set_is_answered_when_the_operator_has_answered(void)
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

static void test_a_call_goes_to_the_operator_and_back(void)
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

static void test_answers_go_to_their_askers_in_any_order(void)
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

static void test_a_call_that_is_not_possible_fails_at_once(void)
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

static void test_an_answer_for_a_session_that_has_left_goes_nowhere(void)
{
    struct io_session *client = enter(0.0);
    make_call(client, "\2\0\0\0\0\6\0\0\0\3\0\0\0cdr", 16);
    io_hub_close_session(hub, client);
    struct io_session *other = enter(0.0); /* in the same session slot */
    TEST_ASSERT_EQUAL_PTR(client, other);
    bureau.answers = 1;
    io_hub_tick(hub, 0);
    TEST_ASSERT_NULL(next(other));
}

/* The run accepts a request and never replies. */
static void test_lost_answers_of_calls_do_not_fill_the_table_for_ever(void)
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
    assert_next_has(client, "no reply in 10 s"); /* which gets a failure */
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
    bureau.answers = 1; /* without a tick in between */
    bureau.asked = 1;
    make_call(client, call_pause, 16);
    TEST_ASSERT_EQUAL_INT(2, bureau.asked);
}

static void test_a_session_that_is_being_closed_commands_nothing(void)
{
    struct io_session *client = enter(0.0);
    client->gone = true;
    make_call(client, "\2\0\0\0\0\6\0\0\0\3\0\0\0cdr", 16);
    TEST_ASSERT_EQUAL_INT(0, bureau.asked);
    TEST_ASSERT_EQUAL_UINT64(0, hub->authority.holder);
}

static void test_waiting_sessions_are_answered_when_the_run_is_over(void)
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

static void test_a_set_of_an_unknown_parameter_is_reported_and_the_rest_is_set(void)
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

static void test_lost_answers_of_sets_do_not_fill_the_table_for_ever(void)
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
    assert_next_is(client, "{\"op\":\"status\",\"level\":2,\"message\":\"no reply in 10 s, and "
                           "other requests wait; this one may still be executed\"}");
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
    assert_next_is(
        client, "{\"op\":\"serviceCallFailure\",\"serviceId\":0,\"callId\":3,\"message\":"
                "\"no reply in 10 s, and other requests wait; this one may still be executed\"}");
    TEST_ASSERT_EQUAL_INT(1, bureau.asked);
}

static void test_an_answer_without_a_pending_request_is_ignored(void)
{
    struct io_session *client = enter(0.0);
    pause(client);
    bureau.answer[1] = bureau.answer[0];
    bureau.answer[0].ticket++; /* a ticket that is not pending */
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

/* A run without a service table: it can only be watched. */
static void test_without_an_operator_there_are_no_services(void)
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

static void test_of_pending_requests_of_the_same_age_the_first_is_replaced(void)
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

/* A service table with more parameters than are listed. */
static void test_the_number_of_listed_parameters_is_limited(void)
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

/* Every request has its own ticket, whatever happened to the previous one. */
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
            make_call(client, "\2\2\0\0\0\6\0\0\0\3\0\0\0xml", 16); /* an unknown encoding */
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
    RUN_TEST(test_a_session_that_does_not_read_its_answers_is_closed);
    RUN_TEST(test_parameters_are_listed);
    RUN_TEST(test_a_set_is_answered_when_the_operator_has_answered);
    RUN_TEST(test_a_refused_set_says_why);
    RUN_TEST(test_a_call_goes_to_the_operator_and_back);
    RUN_TEST(test_answers_go_to_their_askers_in_any_order);
    RUN_TEST(test_a_call_that_is_not_possible_fails_at_once);
    RUN_TEST(test_an_answer_for_a_session_that_has_left_goes_nowhere);
    RUN_TEST(test_lost_answers_of_calls_do_not_fill_the_table_for_ever);
    RUN_TEST(test_answers_that_are_there_make_room);
    RUN_TEST(test_a_session_that_is_being_closed_commands_nothing);
    RUN_TEST(test_waiting_sessions_are_answered_when_the_run_is_over);
    RUN_TEST(test_parameters_are_watched_by_name_or_all);
    RUN_TEST(test_a_value_that_becomes_no_number_has_changed_once);
    RUN_TEST(test_parameters_are_asked_for_by_name_in_the_order_asked);
    RUN_TEST(test_a_set_of_an_unknown_parameter_is_reported_and_the_rest_is_set);
    RUN_TEST(test_lost_answers_of_sets_do_not_fill_the_table_for_ever);
    RUN_TEST(test_the_oldest_gives_its_place_wherever_it_is);
    RUN_TEST(test_an_answer_without_a_pending_request_is_ignored);
    RUN_TEST(test_a_call_that_failed_says_so);
    RUN_TEST(test_without_an_operator_there_are_no_services);
    RUN_TEST(test_of_pending_requests_of_the_same_age_the_first_is_replaced);
    RUN_TEST(test_the_longest_requests_are_answered_whole);
    RUN_TEST(test_the_number_of_listed_parameters_is_limited);
    RUN_TEST(test_refusals_name_the_service_and_the_call);
    RUN_TEST(test_no_two_requests_have_the_same_ticket);
    return UNITY_END();
}
