/*
 * The bytes of the protocol: messages of the server follow its definition, and requests of a client
 * are accepted only when they are complete.
 */
#include "io/live/foxglove.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unity.h"

static struct io_byte_writer out;
static struct io_foxglove_request ask;
static char error[IO_FOXGLOVE_TEXT_MAX];

void setUp(void)
{
    io_byte_writer_clear(&out);
    error[0] = '\0';
}

void tearDown(void)
{
    io_byte_writer_free(&out);
}

static void assert_says(const char *expected)
{
    TEST_ASSERT_FALSE(out.failed);
    json_t *said = json_loadb((const char *)out.data, out.size, 0, NULL);
    json_t *wanted = json_loads(expected, 0, NULL);
    TEST_ASSERT_NOT_NULL(wanted);
    TEST_ASSERT_TRUE_MESSAGE(json_equal(said, wanted), expected);
    json_decref(said);
    json_decref(wanted);
}

static void assert_bytes(const void *expected, size_t size)
{
    TEST_ASSERT_EQUAL_size_t(size, out.size);
    TEST_ASSERT_EQUAL_MEMORY(expected, out.data, size);
}

static bool reads(const char *text)
{
    return io_foxglove_read_text(
        (struct io_slice){.data = (const unsigned char *)text, .size = strlen(text)}, &ask, error);
}

static bool reads_bytes(const void *bytes, size_t size)
{
    return io_foxglove_read_binary((struct io_slice){.data = bytes, .size = size}, &ask, error);
}

static void test_server_info_names_only_what_there_is(void)
{
    io_foxglove_server_info(
        &out, &(struct io_foxglove_server){.name = "run", .session = "7", .viewer = 3});
    assert_says("{\"op\":\"serverInfo\",\"name\":\"run\",\"capabilities\":[\"time\"],"
                "\"supportedEncodings\":[\"cdr\",\"json\"],\"metadata\":{\"viewer\":\"3\","
                "\"operator\":\"no\"},\"sessionId\":\"7\"}");
    io_byte_writer_clear(&out);
    const struct io_foxglove_metadata pairs[] = {{"arm", "{\"joints\":[]}"}, {"cameras", "[]"}};
    io_foxglove_server_info(
        &out, &(struct io_foxglove_server){.name = "\xff",
                                           .session = "7",
                                           .has_parameters = true,
                                           .has_services = true,
                                           .faults = (const char *const[]){"bias", "gyro stuck"},
                                           .fault_count = 2,
                                           .pairs = pairs,
                                           .pair_count = 2,
                                           .viewer = 64,
                                           .is_operator = true});
    assert_says("{\"op\":\"serverInfo\",\"name\":\"(not UTF-8)\",\"capabilities\":[\"time\","
                "\"parameters\",\"parametersSubscribe\",\"services\"],"
                "\"supportedEncodings\":[\"cdr\",\"json\"],"
                "\"metadata\":{\"fault.0\":\"bias\",\"fault.1\":\"gyro stuck\","
                "\"arm\":\"{\\\"joints\\\":[]}\",\"cameras\":\"[]\",\"viewer\":\"64\","
                "\"operator\":\"yes\"},"
                "\"sessionId\":\"7\"}");
}

static void test_channels_are_advertised_by_their_place(void)
{
    const struct io_foxglove_channel channels[] = {{"/a", "p/msg/A", "uint8 a\n"},
                                                   {"/b", "p/msg/B", "uint8 b\n"}};
    io_foxglove_advertise(&out, channels, 2);
    assert_says("{\"op\":\"advertise\",\"channels\":["
                "{\"id\":0,\"topic\":\"/a\",\"encoding\":\"cdr\",\"schemaName\":\"p/msg/A\","
                "\"schema\":\"uint8 a\\n\",\"schemaEncoding\":\"ros2msg\"},"
                "{\"id\":1,\"topic\":\"/b\",\"encoding\":\"cdr\",\"schemaName\":\"p/msg/B\","
                "\"schema\":\"uint8 b\\n\",\"schemaEncoding\":\"ros2msg\"}]}");
}

static void test_a_value_that_is_not_finite_is_left_out(void)
{
    const struct io_foxglove_value values[] = {{"a", 0.1}, {"b", (double)NAN}};
    io_foxglove_parameter_values(&out, values, 2, "q");
    assert_says("{\"op\":\"parameterValues\",\"id\":\"q\",\"parameters\":["
                "{\"name\":\"a\",\"type\":\"float64\",\"value\":0.1},"
                "{\"name\":\"b\",\"type\":\"float64\"}]}");
}

static void test_status_has_an_id_where_it_can_be_replaced(void)
{
    io_foxglove_status(&out, IO_FOXGLOVE_WARNING, "late", "overruns");
    assert_says("{\"op\":\"status\",\"level\":1,\"message\":\"late\",\"id\":\"overruns\"}");
    io_byte_writer_clear(&out);
    io_foxglove_status(&out, IO_FOXGLOVE_ERROR, "no", "");
    assert_says("{\"op\":\"status\",\"level\":2,\"message\":\"no\"}");
    io_byte_writer_clear(&out);
    io_foxglove_remove_status(&out, "overruns");
    assert_says("{\"op\":\"removeStatus\",\"statusIds\":[\"overruns\"]}");
}

static void test_binary_messages_are_little_endian(void)
{
    io_foxglove_message_head(&out, 0x04030201, 0x0807060504030201);
    assert_bytes("\1\1\2\3\4\1\2\3\4\5\6\7\10", IO_FOXGLOVE_HEAD_SIZE);
    io_byte_writer_clear(&out);
    io_foxglove_time(&out, 0x0807060504030201);
    assert_bytes("\2\1\2\3\4\5\6\7\10", 9);
}

static void test_a_call_is_answered_in_its_own_encoding(void)
{
    io_foxglove_call_response(&out, 5, 6, "cdr", true, "ok");
    assert_bytes("\3\5\0\0\0\6\0\0\0\3\0\0\0cdr\0\1\0\0\1\0\0\0\3\0\0\0ok", 31);
    io_byte_writer_clear(&out);
    io_foxglove_call_response(&out, 5, 6, "json", false, "no");
    TEST_ASSERT_EQUAL_MEMORY("\3\5\0\0\0\6\0\0\0\4\0\0\0json", out.data, 17);
    memmove(out.data, out.data + 17, out.size -= 17);
    assert_says("{\"success\":false,\"message\":\"no\"}");
    io_byte_writer_clear(&out);
    io_foxglove_call_failure(&out, 5, 6, "why");
    assert_says("{\"op\":\"serviceCallFailure\",\"serviceId\":5,\"callId\":6,\"message\":\"why\"}");
}

static void test_subscriptions_are_read(void)
{
    TEST_ASSERT_TRUE(reads("{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":3,\"channelId\":1},"
                           "{\"id\":4294967295,\"channelId\":0}]}"));
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_SUBSCRIBE, ask.op);
    TEST_ASSERT_EQUAL_INT(2, ask.count);
    TEST_ASSERT_EQUAL_UINT32(3, ask.subscription[0].id);
    TEST_ASSERT_EQUAL_UINT32(1, ask.subscription[0].channel);
    TEST_ASSERT_EQUAL_UINT32(4294967295u, ask.subscription[1].id);
    TEST_ASSERT_TRUE(reads("{\"op\":\"unsubscribe\",\"subscriptionIds\":[3]}"));
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_UNSUBSCRIBE, ask.op);
    TEST_ASSERT_EQUAL_UINT32(3, ask.subscription[0].id);
}

static void test_parameters_are_read(void)
{
    TEST_ASSERT_TRUE(reads("{\"op\":\"setParameters\",\"parameters\":[{\"name\":\"a\","
                           "\"value\":3,\"type\":\"float64\"},{\"name\":\"b\",\"value\":-0.5}],"
                           "\"id\":\"x\"}"));
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_SET, ask.op);
    TEST_ASSERT_EQUAL_INT(2, ask.count);
    TEST_ASSERT_EQUAL_STRING("b", ask.parameter[1].name);
    TEST_ASSERT_EQUAL_DOUBLE(3.0, ask.parameter[0].value);
    TEST_ASSERT_EQUAL_DOUBLE(-0.5, ask.parameter[1].value);
    TEST_ASSERT_EQUAL_STRING("x", ask.id);
    TEST_ASSERT_TRUE(reads("{\"op\":\"getParameters\",\"parameterNames\":[]}"));
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_GET, ask.op);
    TEST_ASSERT_EQUAL_INT(0, ask.count);
    TEST_ASSERT_EQUAL_STRING("", ask.id);
    TEST_ASSERT_TRUE(reads("{\"op\":\"subscribeParameterUpdates\",\"parameterNames\":[\"a\"]}"));
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_WATCH, ask.op);
    TEST_ASSERT_TRUE(reads("{\"op\":\"unsubscribeParameterUpdates\",\"parameterNames\":[]}"));
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_UNWATCH, ask.op);
}

static void test_what_viewers_say_of_themselves_is_passed_over(void)
{
    TEST_ASSERT_TRUE(reads("{\"op\":\"subscribeConnectionGraph\"}"));
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_NOTHING, ask.op);
}

static void test_what_viewers_publish_is_read(void)
{
    TEST_ASSERT_TRUE(reads("{\"op\":\"advertise\",\"channels\":[{\"id\":4,\"topic\":\"/hand\","
                           "\"encoding\":\"hand\",\"schemaName\":\"hand\"},{\"id\":5,\"topic\":"
                           "\"/hand\",\"encoding\":\"json\"}]}"));
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_ADVERTISE, ask.op);
    TEST_ASSERT_EQUAL_INT(2, ask.count);
    TEST_ASSERT_EQUAL_UINT32(4, ask.publication[0].id);
    TEST_ASSERT_TRUE(ask.publication[0].is_hand);
    TEST_ASSERT_FALSE(ask.publication[1].is_hand);
    TEST_ASSERT_TRUE(reads("{\"op\":\"unadvertise\",\"channelIds\":[4,5]}"));
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_UNADVERTISE, ask.op);
    TEST_ASSERT_EQUAL_UINT32(5, ask.publication[1].id);
    TEST_ASSERT_TRUE(reads_bytes("\1\4\0\0\0xyz", 8));
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_PUBLISH, ask.op);
    TEST_ASSERT_EQUAL_UINT32(4, ask.channel);
    TEST_ASSERT_EQUAL_size_t(3, ask.payload.size);
    TEST_ASSERT_EQUAL_MEMORY("xyz", ask.payload.data, 3);
    for (size_t size = 1; size < 5; size++)
        TEST_ASSERT_FALSE(reads_bytes("\1\4\0\0\0", size));
}

static void test_a_server_that_takes_hands_says_so(void)
{
    io_foxglove_server_info(
        &out, &(struct io_foxglove_server){.name = "a", .session = "", .accepts_hand = true});
    assert_says("{\"op\":\"serverInfo\",\"name\":\"a\",\"capabilities\":[\"time\","
                "\"clientPublish\"],\"supportedEncodings\":[\"cdr\",\"json\",\"hand\"],"
                "\"metadata\":{\"viewer\":\"0\",\"operator\":\"no\"},\"sessionId\":\"\"}");
}

static void test_nonsense_is_refused_with_a_line(void)
{
    static const char *const nonsense[] = {
        "",
        "{",
        "[]",
        "7",
        "{}",
        "{\"op\":7}",
        "{\"op\":\"fly\"}",
        "{\"op\":\"subscribe\"}",
        "{\"op\":\"subscribe\",\"subscriptions\":{}}",
        "{\"op\":\"subscribe\",\"subscriptions\":[7]}",
        "{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":-1,\"channelId\":1}]}",
        "{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":4294967296,\"channelId\":1}]}",
        "{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":1.5,\"channelId\":1}]}",
        "{\"op\":\"unsubscribe\",\"subscriptionIds\":[\"1\"]}",
        "{\"op\":\"advertise\"}",
        "{\"op\":\"advertise\",\"channels\":[{\"id\":1,\"topic\":\"/hand\"}]}",
        "{\"op\":\"advertise\",\"channels\":[{\"id\":-1,\"topic\":\"/a\",\"encoding\":\"b\"}]}",
        "{\"op\":\"unadvertise\",\"channelIds\":[\"1\"]}",
        "{\"op\":\"getParameters\",\"parameterNames\":[1]}",
        "{\"op\":\"getParameters\",\"parameterNames\":[],\"id\":1}",
        "{\"op\":\"getParameters\",\"parameterNames\":[\"a\\u0000b\"]}",
        "{\"op\":\"setParameters\",\"parameters\":[{\"name\":\"a\"}]}",
        "{\"op\":\"setParameters\",\"parameters\":[{\"name\":\"a\",\"value\":\"1\"}]}",
        "{\"op\":\"setParameters\",\"parameters\":[{\"name\":\"a\",\"value\":1e999}]}",
    };
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        error[0] = '\0';
        TEST_ASSERT_FALSE_MESSAGE(reads(nonsense[i]), nonsense[i]);
        TEST_ASSERT_TRUE(strlen(error) > 0);
    }
    char many[16 * (IO_FOXGLOVE_LIST_MAX + 8)];
    size_t at = (size_t)sprintf(many, "{\"op\":\"unsubscribe\",\"subscriptionIds\":[0");
    for (int i = 0; i < IO_FOXGLOVE_LIST_MAX; i++)
        at += (size_t)sprintf(many + at, ",%d", i);
    strcpy(many + at, "]}");
    TEST_ASSERT_FALSE(reads(many));
}

static void test_a_name_that_is_too_long_is_refused(void)
{
    char text[256], name[IO_FOXGLOVE_NAME_MAX + 1];
    for (int length = IO_FOXGLOVE_NAME_MAX - 1; length <= IO_FOXGLOVE_NAME_MAX; length++) {
        memset(name, 'x', sizeof name);
        name[length] = '\0';
        snprintf(text, sizeof text, "{\"op\":\"getParameters\",\"parameterNames\":[\"%s\"]}", name);
        TEST_ASSERT_EQUAL_INT(length < IO_FOXGLOVE_NAME_MAX, reads(text));
    }
}

static void test_a_call_that_is_cut_off_is_refused(void)
{
    static const char call[] = "\2\5\0\0\0\6\0\0\0\3\0\0\0cdr\0\1\0\0\7\0\0\0";
    const size_t whole = 13 + 3;
    for (size_t size = 0; size < whole; size++)
        TEST_ASSERT_FALSE(reads_bytes(call, size));
    TEST_ASSERT_TRUE(reads_bytes(call, sizeof call - 1));
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_CALL, ask.op);
    TEST_ASSERT_EQUAL_UINT32(5, ask.service);
    TEST_ASSERT_EQUAL_UINT32(6, ask.call);
    TEST_ASSERT_EQUAL_STRING("cdr", ask.encoding);
    TEST_ASSERT_EQUAL_size_t(8, ask.payload.size);
    TEST_ASSERT_FALSE(reads_bytes("\2\5\0\0\0\6\0\0\0\4\0\0\0ros1", 17));
    TEST_ASSERT_FALSE(reads_bytes("\3\5\0\0\0", 5));
}

/* Bytes in memory of exactly their size, so that a read past the end is found. */
static void *exactly(const void *bytes, size_t size)
{
    void *copy = malloc(size > 0 ? size : 1);
    TEST_ASSERT_NOT_NULL(copy);
    memcpy(copy, bytes, size);
    return copy;
}

static void assert_refused(const char *text, const char *why)
{
    error[0] = '\0';
    TEST_ASSERT_FALSE_MESSAGE(reads(text), text);
    TEST_ASSERT_EQUAL_STRING_MESSAGE(why, error, text);
}

static void assert_bytes_refused(const void *bytes, size_t size, const char *why)
{
    error[0] = '\0';
    TEST_ASSERT_FALSE_MESSAGE(reads_bytes(bytes, size), why);
    TEST_ASSERT_EQUAL_STRING(why, error);
}

static void test_services_are_advertised_with_both_ways_of_their_schemas(void)
{
    const struct io_foxglove_service services[] = {
        {"/pause", "p/srv/Pause", IO_FOXGLOVE_FORM_EMPTY},
        {"/step", "p/srv/Step", IO_FOXGLOVE_FORM_FRAMES},
        {"/keep", "p/srv/Keep", IO_FOXGLOVE_FORM_PATH},
        {"/fault", "p/srv/Fault", IO_FOXGLOVE_FORM_SWITCH},
    };
    static const char *const schema[] = {"", "uint32 frames\\n", "string path\\n",
                                         "string name\\nbool active\\n"};
    char expected[4096], *at = expected;
    at += sprintf(at, "{\"op\":\"advertiseServices\",\"services\":[");
    for (int i = 0; i < 4; i++)
        at += sprintf(at,
                      "%s{\"id\":%d,\"name\":\"%s\",\"type\":\"%s\",\"requestSchema\":\"%s\","
                      "\"responseSchema\":\"bool success\\nstring message\\n\","
                      "\"request\":{\"encoding\":\"cdr\",\"schemaName\":\"%s_Request\","
                      "\"schemaEncoding\":\"ros2msg\",\"schema\":\"%s\"},"
                      "\"response\":{\"encoding\":\"cdr\",\"schemaName\":\"%s_Response\","
                      "\"schemaEncoding\":\"ros2msg\","
                      "\"schema\":\"bool success\\nstring message\\n\"}}",
                      i > 0 ? "," : "", i, services[i].name, services[i].type, schema[i],
                      services[i].type, schema[i], services[i].type);
    sprintf(at, "]}");
    io_foxglove_advertise_services(&out, services, 4);
    assert_says(expected);
}

static void test_what_is_said_is_compact_and_behind_what_was_said(void)
{
    static const char said[] = "before{\"op\":\"parameterValues\",\"parameters\":[{\"name\":\"a\","
                               "\"type\":\"float64\",\"value\":0.10000000000000001}]}";
    io_put_raw(&out, "before", 6);
    io_foxglove_parameter_values(&out, &(struct io_foxglove_value){"a", 0.1}, 1, "");
    assert_bytes(said, sizeof said - 1);
}

static void test_an_answer_to_no_request_has_no_id(void)
{
    const struct io_foxglove_value values[] = {{"a", -2.5}, {"b", (double)INFINITY}, {"c", 3.0}};
    io_foxglove_parameter_values(&out, values, 3, "");
    assert_says("{\"op\":\"parameterValues\",\"parameters\":["
                "{\"name\":\"a\",\"type\":\"float64\",\"value\":-2.5},"
                "{\"name\":\"b\",\"type\":\"float64\"},"
                "{\"name\":\"c\",\"type\":\"float64\",\"value\":3.0}]}");
}

static void test_the_largest_numbers_are_said_whole(void)
{
    io_foxglove_call_failure(&out, UINT32_MAX, UINT32_MAX - 1, "\xff");
    assert_says("{\"op\":\"serviceCallFailure\",\"serviceId\":4294967295,\"callId\":4294967294,"
                "\"message\":\"(not UTF-8)\"}");
    io_byte_writer_clear(&out);
    io_foxglove_server_info(
        &out, &(struct io_foxglove_server){.name = "a", .session = "b", .viewer = UINT64_MAX});
    assert_says("{\"op\":\"serverInfo\",\"name\":\"a\",\"capabilities\":[\"time\"],"
                "\"supportedEncodings\":[\"cdr\",\"json\"],\"metadata\":{\"viewer\":"
                "\"18446744073709551615\",\"operator\":\"no\"},\"sessionId\":\"b\"}");
}

static void test_parameters_and_services_are_distinguished(void)
{
    io_foxglove_server_info(
        &out, &(struct io_foxglove_server){.name = "a", .session = "", .has_services = true});
    io_put_u8(&out, 0);
    TEST_ASSERT_NOT_NULL(strstr((const char *)out.data, "[\"time\",\"services\"]"));
    io_byte_writer_clear(&out);
    io_foxglove_server_info(
        &out, &(struct io_foxglove_server){.name = "a", .session = "", .has_parameters = true});
    io_put_u8(&out, 0);
    TEST_ASSERT_NOT_NULL(
        strstr((const char *)out.data, "[\"time\",\"parameters\",\"parametersSubscribe\"]"));
}

static void test_an_empty_answer_has_its_nul(void)
{
    io_foxglove_call_response(&out, 0x04030201, 0x08070605, "cdr", false, "");
    assert_bytes("\3\1\2\3\4\5\6\7\10\3\0\0\0cdr\0\1\0\0\0\0\0\0\1\0\0\0", 29);
}

static void test_all_of_a_list_is_read_up_to_its_greatest_length(void)
{
    static const char *const ops[] = {
        "{\"op\":\"subscribe\",\"subscriptions\":[",
        "{\"op\":\"unsubscribe\",\"subscriptionIds\":[",
        "{\"op\":\"getParameters\",\"parameterNames\":[",
        "{\"op\":\"setParameters\",\"parameters\":[",
        "{\"op\":\"advertise\",\"channels\":[",
        "{\"op\":\"unadvertise\",\"channelIds\":[",
    };
    static char text[64 * (IO_FOXGLOVE_LIST_MAX + 2)];
    for (int op = 0; op < 6; op++) {
        for (int count = IO_FOXGLOVE_LIST_MAX; count <= IO_FOXGLOVE_LIST_MAX + 1; count++) {
            char *at = text + sprintf(text, "%s", ops[op]);
            for (int i = 0; i < count; i++) {
                at += sprintf(at, "%s", i > 0 ? "," : "");
                if (op == 0)
                    at += sprintf(at, "{\"id\":%d,\"channelId\":%d}", 1000 + i, 5000 + i);
                else if (op == 2)
                    at += sprintf(at, "\"p%d\"", i);
                else if (op == 3)
                    at += sprintf(at, "{\"name\":\"p%d\",\"value\":%d}", i, -i);
                else if (op == 4)
                    at += sprintf(at, "{\"id\":%d,\"topic\":\"%s\",\"encoding\":\"hand\"}",
                                  1000 + i, i % 2 ? "/hand" : "/foot");
                else
                    at += sprintf(at, "%d", 1000 + i);
            }
            strcpy(at, "]}");
            memset(&ask, 0xff, sizeof ask);
            TEST_ASSERT_EQUAL_INT_MESSAGE(count <= IO_FOXGLOVE_LIST_MAX, reads(text), ops[op]);
            if (count > IO_FOXGLOVE_LIST_MAX)
                continue;
            TEST_ASSERT_EQUAL_INT(count, ask.count);
            for (uint32_t i = 0; i < IO_FOXGLOVE_LIST_MAX; i++) {
                char name[16];
                sprintf(name, "p%u", (unsigned)i);
                if (op <= 1)
                    TEST_ASSERT_EQUAL_UINT32(1000 + i, ask.subscription[i].id);
                if (op == 0)
                    TEST_ASSERT_EQUAL_UINT32(5000 + i, ask.subscription[i].channel);
                if (op == 2 || op == 3)
                    TEST_ASSERT_EQUAL_STRING(name, ask.parameter[i].name);
                if (op == 3)
                    TEST_ASSERT_EQUAL_DOUBLE(-(double)i, ask.parameter[i].value);
                if (op >= 4)
                    TEST_ASSERT_EQUAL_UINT32(1000 + i, ask.publication[i].id);
                if (op == 4)
                    TEST_ASSERT_EQUAL_INT(i % 2, ask.publication[i].is_hand);
            }
        }
    }
}

static void test_every_field_of_a_request_is_needed(void)
{
    static const struct {
        const char *op, *text;
    } cases[] = {
        {"subscribe", "{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":1}]}"},
        {"subscribe", "{\"op\":\"subscribe\",\"subscriptions\":[{\"channelId\":1}]}"},
        {"subscribe", "{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":1,\"channelId\":2},{}]}"},
        {"unsubscribe", "{\"op\":\"unsubscribe\"}"},
        {"unsubscribe", "{\"op\":\"unsubscribe\",\"subscriptionIds\":[1,-2]}"},
        {"getParameters", "{\"op\":\"getParameters\"}"},
        {"getParameters", "{\"op\":\"getParameters\",\"parameterNames\":[\"a\",2]}"},
        {"setParameters", "{\"op\":\"setParameters\"}"},
        {"setParameters", "{\"op\":\"setParameters\",\"parameters\":[{\"value\":1}]}"},
        {"advertise", "{\"op\":\"advertise\",\"channels\":"
                      "[{\"id\":1,\"topic\":2,\"encoding\":\"hand\"}]}"},
        {"advertise", "{\"op\":\"advertise\",\"channels\":"
                      "[{\"id\":1,\"topic\":\"/hand\",\"encoding\":2}]}"},
        {"advertise", "{\"op\":\"advertise\",\"channels\":"
                      "[{\"topic\":\"/hand\",\"encoding\":\"hand\"}]}"},
        {"unadvertise", "{\"op\":\"unadvertise\"}"},
        {"unadvertise", "{\"op\":\"unadvertise\",\"channelIds\":[1,-2]}"},
        {"subscribeParameterUpdates", "{\"op\":\"subscribeParameterUpdates\"}"},
        {"unsubscribeParameterUpdates", "{\"op\":\"unsubscribeParameterUpdates\"}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[IO_FOXGLOVE_TEXT_MAX];
        snprintf(why, sizeof why,
                 "%s: a field is missing, of another type, too long or out of range", cases[i].op);
        assert_refused(cases[i].text, why);
    }
}

static void test_a_refusal_says_why(void)
{
    static const char no_op[] = "a text message must be a JSON object with an \"op\"";
    assert_refused("{}", no_op);
    assert_refused("[]", no_op);
    assert_refused("{\"op\":7}", no_op);
    assert_refused("{\"op\":\"fly\"}", "unknown op");
    assert_refused("{\"op\":\"subscribeConnectionGraph\",\"id\":7}",
                   "\"id\" must be a string shorter than 96 bytes");
    assert_refused("", "invalid JSON at byte 0");
    assert_refused("{\"op\":\"fly\"", "invalid JSON at byte 11");
    assert_bytes_refused("", 0, "the message is empty");
    assert_bytes_refused("\1\4\0\0", 4, "the message is truncated");
    assert_bytes_refused("\2\5\0\0\0\6\0\0", 8, "the service call is truncated");
    assert_bytes_refused("\2\5\0\0\0\6\0\0\0\3\0\0\0cd", 15, "the service call is truncated");
    assert_bytes_refused("\2\5\0\0\0\6\0\0\0\3\0\0\0xml", 16,
                         "the encoding of a service call must be cdr or json");
    assert_bytes_refused("\0\5\0\0\0\6\0\0\0\3\0\0\0cdr", 16, "unknown opcode");
    assert_bytes_refused("\3\5\0\0\0\6\0\0\0\3\0\0\0cdr", 16, "unknown opcode");
}

static void test_an_id_is_a_string_or_null_and_as_short_as_a_name(void)
{
    char text[256], id[IO_FOXGLOVE_NAME_MAX + 1];
    TEST_ASSERT_TRUE(reads("{\"op\":\"getParameters\",\"parameterNames\":[],\"id\":null}"));
    TEST_ASSERT_EQUAL_STRING("", ask.id);
    for (int length = IO_FOXGLOVE_NAME_MAX - 1; length <= IO_FOXGLOVE_NAME_MAX; length++) {
        memset(id, 'i', sizeof id);
        id[length] = '\0';
        snprintf(text, sizeof text, "{\"op\":\"subscribeConnectionGraph\",\"id\":\"%s\"}", id);
        error[0] = '\0';
        TEST_ASSERT_EQUAL_INT(length < IO_FOXGLOVE_NAME_MAX, reads(text));
        if (length < IO_FOXGLOVE_NAME_MAX)
            TEST_ASSERT_EQUAL_STRING(id, ask.id);
        else
            TEST_ASSERT_EQUAL_STRING("\"id\" must be a string shorter than 96 bytes", error);
    }
}

static void test_a_request_leaves_nothing_of_the_one_before(void)
{
    TEST_ASSERT_TRUE(reads("{\"op\":\"unsubscribe\",\"subscriptionIds\":[3],\"id\":\"x\"}"));
    TEST_ASSERT_TRUE(reads("{\"op\":\"unsubscribeConnectionGraph\"}"));
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_NOTHING, ask.op);
    TEST_ASSERT_EQUAL_INT(0, ask.count);
    TEST_ASSERT_EQUAL_STRING("", ask.id);
    TEST_ASSERT_TRUE(reads("{\"op\":\"unsubscribe\",\"subscriptionIds\":[3],\"id\":\"x\"}"));
    TEST_ASSERT_FALSE(reads_bytes("\7", 1));
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_NOTHING, ask.op);
    TEST_ASSERT_EQUAL_INT(0, ask.count);
    TEST_ASSERT_EQUAL_STRING("", ask.id);
    TEST_ASSERT_TRUE(reads("{\"op\":\"unsubscribe\",\"subscriptionIds\":[3]}"));
    TEST_ASSERT_FALSE(reads("{\"op\":\"fly\"}"));
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_NOTHING, ask.op);
}

static void test_a_call_in_json_keeps_what_it_says(void)
{
    static const char call[] = "\2\5\6\7\10\11\12\13\14\4\0\0\0json{\"frames\":9}";
    char *bytes = exactly(call, sizeof call - 1);
    TEST_ASSERT_TRUE(reads_bytes(bytes, sizeof call - 1));
    TEST_ASSERT_EQUAL_INT(IO_FOXGLOVE_CALL, ask.op);
    TEST_ASSERT_EQUAL_HEX32(0x08070605, ask.service);
    TEST_ASSERT_EQUAL_HEX32(0x0c0b0a09, ask.call);
    TEST_ASSERT_EQUAL_STRING("json", ask.encoding);
    TEST_ASSERT_EQUAL_PTR(bytes + 17, ask.payload.data);
    TEST_ASSERT_EQUAL_size_t(12, ask.payload.size);
    free(bytes);
}

static void test_whom_a_call_means_is_known_from_its_head(void)
{
    static const char call[] = "\2\5\6\7\10\11";
    uint32_t service;
    for (size_t size = 0; size < sizeof call; size++) {
        char *bytes = exactly(call, size);
        TEST_ASSERT_EQUAL_INT(
            size >= 5, io_foxglove_called_service(
                           (struct io_slice){.data = (void *)bytes, .size = size}, &service));
        if (size >= 5)
            TEST_ASSERT_EQUAL_HEX32(0x08070605, service);
        free(bytes);
    }
    TEST_ASSERT_FALSE(io_foxglove_called_service(
        (struct io_slice){.data = (const unsigned char *)"\1\5\0\0\0", .size = 5}, &service));
}

static bool takes(const char *encoding, const void *payload, size_t size,
                  enum io_foxglove_form form, struct io_foxglove_arguments *arguments)
{
    strcpy(ask.encoding, encoding);
    ask.payload = (struct io_slice){.data = payload, .size = size};
    return io_foxglove_read_arguments(&ask, form, arguments, error);
}

static void test_arguments_are_read_in_both_encodings(void)
{
    struct io_foxglove_arguments got;
    TEST_ASSERT_TRUE(takes("cdr", "\0\1\0\0\7\0\0\0", 8, IO_FOXGLOVE_FORM_FRAMES, &got));
    TEST_ASSERT_EQUAL_UINT32(7, got.frames);
    TEST_ASSERT_TRUE(takes("cdr", "\0\1\0\0\3\0\0\0ab\0", 11, IO_FOXGLOVE_FORM_PATH, &got));
    TEST_ASSERT_EQUAL_STRING("ab", got.text);
    TEST_ASSERT_TRUE(takes("cdr", "\0\1\0\0\3\0\0\0ab\0\1", 12, IO_FOXGLOVE_FORM_SWITCH, &got));
    TEST_ASSERT_TRUE(got.active);
    TEST_ASSERT_TRUE(takes("json", "{\"frames\":9}", 12, IO_FOXGLOVE_FORM_FRAMES, &got));
    TEST_ASSERT_EQUAL_UINT32(9, got.frames);
    TEST_ASSERT_TRUE(
        takes("json", "{\"name\":\"n\",\"active\":true}", 26, IO_FOXGLOVE_FORM_SWITCH, &got));
    TEST_ASSERT_EQUAL_STRING("n", got.text);
    TEST_ASSERT_TRUE(got.active);
    TEST_ASSERT_TRUE(takes("cdr", "", 0, IO_FOXGLOVE_FORM_EMPTY, &got));
    TEST_ASSERT_TRUE(takes("json", "", 0, IO_FOXGLOVE_FORM_EMPTY, &got));
}

static void test_arguments_that_do_not_fit_are_refused(void)
{
    struct io_foxglove_arguments got;
    char longest[4 + 4 + IO_FOXGLOVE_TEXT_MAX + 1] = "\0\1\0\0\1\1\0\0";
    memset(longest + 8, 'x', IO_FOXGLOVE_TEXT_MAX);
    TEST_ASSERT_FALSE(takes("cdr", longest, sizeof longest, IO_FOXGLOVE_FORM_PATH, &got));
    TEST_ASSERT_FALSE(takes("cdr", "\0\1\0\0\7\0\0", 7, IO_FOXGLOVE_FORM_FRAMES, &got));
    TEST_ASSERT_FALSE(takes("cdr", "\0\0\0\0\0\0\0\7", 8, IO_FOXGLOVE_FORM_FRAMES, &got));
    TEST_ASSERT_FALSE(takes("cdr", "\0\1\0\0\3\0\0\0a\0\0", 11, IO_FOXGLOVE_FORM_PATH, &got));
    TEST_ASSERT_FALSE(takes("cdr", "\0\1\0\0\3\0\0\0abc", 11, IO_FOXGLOVE_FORM_PATH, &got));
    TEST_ASSERT_FALSE(takes("cdr", "\0\1\0\0\0\0\0\0", 8, IO_FOXGLOVE_FORM_PATH, &got));
    TEST_ASSERT_FALSE(takes("cdr", "\0\1\0\0\3\0\0\0ab\0", 11, IO_FOXGLOVE_FORM_SWITCH, &got));
    TEST_ASSERT_FALSE(takes("json", "{\"frames\":-1}", 13, IO_FOXGLOVE_FORM_FRAMES, &got));
    TEST_ASSERT_FALSE(takes("json", "nonsense", 8, IO_FOXGLOVE_FORM_PATH, &got));
    TEST_ASSERT_FALSE(takes("json", "{\"name\":\"n\"}", 12, IO_FOXGLOVE_FORM_SWITCH, &got));
}

/* The longest text has IO_FOXGLOVE_TEXT_MAX bytes, including the NUL. */
static void test_the_longest_text_fits_and_no_longer_one(void)
{
    struct io_foxglove_arguments got;
    for (size_t size = IO_FOXGLOVE_TEXT_MAX; size <= IO_FOXGLOVE_TEXT_MAX + 1; size++) {
        unsigned char cdr[8 + IO_FOXGLOVE_TEXT_MAX + 1] = {0, 1, 0, 0};
        char json[IO_FOXGLOVE_TEXT_MAX + 32], text[IO_FOXGLOVE_TEXT_MAX + 1];
        memset(text, 'x', sizeof text);
        text[size - 1] = '\0';
        cdr[4] = (unsigned char)size;
        cdr[5] = (unsigned char)(size >> 8);
        memcpy(cdr + 8, text, size);
        void *exact = exactly(cdr, 8 + size);
        TEST_ASSERT_EQUAL_INT(size == IO_FOXGLOVE_TEXT_MAX,
                              takes("cdr", exact, 8 + size, IO_FOXGLOVE_FORM_PATH, &got));
        if (size == IO_FOXGLOVE_TEXT_MAX)
            TEST_ASSERT_EQUAL_STRING(text, got.text);
        free(exact);
        snprintf(json, sizeof json, "{\"path\":\"%s\"}", text);
        TEST_ASSERT_EQUAL_INT(size == IO_FOXGLOVE_TEXT_MAX,
                              takes("json", json, strlen(json), IO_FOXGLOVE_FORM_PATH, &got));
        if (size == IO_FOXGLOVE_TEXT_MAX)
            TEST_ASSERT_EQUAL_STRING(text, got.text);
        snprintf(json, sizeof json, "{\"name\":\"%s\",\"active\":true}", text);
        TEST_ASSERT_EQUAL_INT(size == IO_FOXGLOVE_TEXT_MAX,
                              takes("json", json, strlen(json), IO_FOXGLOVE_FORM_SWITCH, &got));
    }
}

static void test_arguments_that_are_not_said_are_zero(void)
{
    struct io_foxglove_arguments got;
    memset(&got, 0xff, sizeof got);
    TEST_ASSERT_TRUE(takes("cdr", "\0\1\0\0\1\2\3\4", 8, IO_FOXGLOVE_FORM_FRAMES, &got));
    TEST_ASSERT_EQUAL_HEX32(0x04030201, got.frames);
    TEST_ASSERT_FALSE(got.active);
    TEST_ASSERT_EQUAL_STRING("", got.text);
    memset(&got, 0xff, sizeof got);
    TEST_ASSERT_TRUE(takes("cdr", "\0\1\0\0\3\0\0\0ab\0\1", 12, IO_FOXGLOVE_FORM_PATH, &got));
    TEST_ASSERT_FALSE(got.active); /* the form path has no `active` */
    TEST_ASSERT_TRUE(takes("cdr", "\0\1\0\0\3\0\0\0ab\0\0", 12, IO_FOXGLOVE_FORM_SWITCH, &got));
    TEST_ASSERT_FALSE(got.active);
    TEST_ASSERT_EQUAL_STRING("ab", got.text);
    TEST_ASSERT_TRUE(
        takes("json", "{\"name\":\"n\",\"active\":false}", 27, IO_FOXGLOVE_FORM_SWITCH, &got));
    TEST_ASSERT_FALSE(got.active);
    TEST_ASSERT_TRUE(
        takes("json", "{\"path\":\"p\",\"name\":\"n\"}", 23, IO_FOXGLOVE_FORM_PATH, &got));
    TEST_ASSERT_EQUAL_STRING("p", got.text);
    TEST_ASSERT_TRUE(takes("cdr", "nonsense", 8, IO_FOXGLOVE_FORM_EMPTY, &got));
    TEST_ASSERT_TRUE(takes("json", "nonsense", 8, IO_FOXGLOVE_FORM_EMPTY, &got));
}

static void test_arguments_in_part_are_refused_with_a_line(void)
{
    static const struct {
        const char *encoding, *payload;
        size_t size;
        enum io_foxglove_form form;
    } cases[] = {
        {"cdr", "\0\1\0", 3, IO_FOXGLOVE_FORM_FRAMES},
        {"cdr", "\1\1\0\0\7\0\0\0", 8, IO_FOXGLOVE_FORM_FRAMES},
        {"cdr", "\0\1\0\0", 4, IO_FOXGLOVE_FORM_FRAMES},
        {"cdr", "\0\1\0\0\3\0\0", 7, IO_FOXGLOVE_FORM_PATH},
        {"cdr", "\0\1\0\0\3\0\0\0ab", 10, IO_FOXGLOVE_FORM_PATH},
        {"cdr", "\0\1\0\0\1\0\0\0x", 9, IO_FOXGLOVE_FORM_PATH},
        {"json", "{\"name\":\"n\"}", 12, IO_FOXGLOVE_FORM_PATH},
        {"json", "{\"path\":7}", 10, IO_FOXGLOVE_FORM_PATH},
        {"json", "{\"active\":true}", 15, IO_FOXGLOVE_FORM_SWITCH},
        {"json", "{\"name\":\"n\",\"active\":1}", 23, IO_FOXGLOVE_FORM_SWITCH},
        {"json", "{\"name\":7,\"active\":true}", 24, IO_FOXGLOVE_FORM_SWITCH},
        {"json", "{\"frames\":1.5}", 14, IO_FOXGLOVE_FORM_FRAMES},
        {"json", "{\"frames\":4294967296}", 21, IO_FOXGLOVE_FORM_FRAMES},
    };
    struct io_foxglove_arguments got;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        void *payload = exactly(cases[i].payload, cases[i].size);
        error[0] = '\0';
        TEST_ASSERT_FALSE_MESSAGE(
            takes(cases[i].encoding, payload, cases[i].size, cases[i].form, &got),
            cases[i].payload);
        TEST_ASSERT_EQUAL_STRING("the request does not have the fields of this service", error);
        free(payload);
    }
    TEST_ASSERT_TRUE(takes("json", "{\"frames\":4294967295}", 21, IO_FOXGLOVE_FORM_FRAMES, &got));
    TEST_ASSERT_EQUAL_UINT32(UINT32_MAX, got.frames);
    TEST_ASSERT_TRUE(takes("cdr", "\0\1\0\0\1\0\0\0\0", 9, IO_FOXGLOVE_FORM_PATH, &got));
    TEST_ASSERT_EQUAL_STRING("", got.text);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_server_info_names_only_what_there_is);
    RUN_TEST(test_channels_are_advertised_by_their_place);
    RUN_TEST(test_a_value_that_is_not_finite_is_left_out);
    RUN_TEST(test_status_has_an_id_where_it_can_be_replaced);
    RUN_TEST(test_binary_messages_are_little_endian);
    RUN_TEST(test_a_call_is_answered_in_its_own_encoding);
    RUN_TEST(test_subscriptions_are_read);
    RUN_TEST(test_parameters_are_read);
    RUN_TEST(test_what_viewers_say_of_themselves_is_passed_over);
    RUN_TEST(test_what_viewers_publish_is_read);
    RUN_TEST(test_a_server_that_takes_hands_says_so);
    RUN_TEST(test_nonsense_is_refused_with_a_line);
    RUN_TEST(test_a_name_that_is_too_long_is_refused);
    RUN_TEST(test_a_call_that_is_cut_off_is_refused);
    RUN_TEST(test_arguments_are_read_in_both_encodings);
    RUN_TEST(test_arguments_that_do_not_fit_are_refused);
    RUN_TEST(test_services_are_advertised_with_both_ways_of_their_schemas);
    RUN_TEST(test_what_is_said_is_compact_and_behind_what_was_said);
    RUN_TEST(test_an_answer_to_no_request_has_no_id);
    RUN_TEST(test_the_largest_numbers_are_said_whole);
    RUN_TEST(test_parameters_and_services_are_distinguished);
    RUN_TEST(test_an_empty_answer_has_its_nul);
    RUN_TEST(test_all_of_a_list_is_read_up_to_its_greatest_length);
    RUN_TEST(test_every_field_of_a_request_is_needed);
    RUN_TEST(test_a_refusal_says_why);
    RUN_TEST(test_an_id_is_a_string_or_null_and_as_short_as_a_name);
    RUN_TEST(test_a_request_leaves_nothing_of_the_one_before);
    RUN_TEST(test_a_call_in_json_keeps_what_it_says);
    RUN_TEST(test_whom_a_call_means_is_known_from_its_head);
    RUN_TEST(test_the_longest_text_fits_and_no_longer_one);
    RUN_TEST(test_arguments_that_are_not_said_are_zero);
    RUN_TEST(test_arguments_in_part_are_refused_with_a_line);
    return UNITY_END();
}
