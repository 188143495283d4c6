/*
 * What the tests of the hub share: a hub, a service table that replies when it is asked to, and
 * clients that send text.
 */
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/live/hub.h"
#include "io/protocol/hand.h"
#include "unity.h"

enum { STREAM, EVENT, SCENE, CHANNEL_COUNT };

static const struct io_live_channel channels[CHANNEL_COUNT] = {
    [STREAM] = {.topic = "/stream", .schema = "p/msg/A", .definition = "uint64 a\n"},
    [EVENT] = {"/event", "p/msg/A", "uint64 a\n", .whole = true},
    [SCENE] = {"/scene", "p/msg/A", "uint64 a\n", .whole = true, .latched = true},
};

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

static inline const char *parameter_name(void *self, int index)
{
    (void)self;
    TEST_ASSERT_TRUE(index == 0 || index == 1); /* there are two parameters */
    return index == 0 ? "gain" : "bias";
}

static inline double parameter_value(void *self, int index)
{
    (void)self;
    TEST_ASSERT_TRUE(index == 0 || index == 1);
    return bureau.value[index];
}

static inline const char *set(void *self, uint64_t ticket, int parameter, double value)
{
    (void)self;
    if (bureau.refusal)
        return bureau.refusal;
    bureau.parameter = parameter;
    bureau.wanted = value;
    bureau.answer[bureau.asked++] = (struct io_service_reply){.ticket = ticket, .done = true};
    return NULL;
}

static inline const char *call(void *self, uint64_t ticket, int service,
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

static inline bool stop(void *self, uint64_t ticket)
{
    (void)self;
    bureau.stops++;
    bureau.stop_ticket = ticket;
    return !bureau.stop_is_mute;
}

static inline void lost(void *self)
{
    (void)self;
    bureau.losses++;
}

static inline bool answer(void *self, struct io_service_reply *out)
{
    (void)self;
    if (bureau.given == bureau.answers)
        return false;
    *out = bureau.answer[bureau.given++];
    return true;
}

static inline void note(void *self, const char *text)
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

static struct io_hub *hub;
static struct io_byte_writer frame;
static bool binary;
static struct {
    int pictures, hands;
    unsigned char bytes[IO_HAND_SIZE_TIMED];
    size_t size;
} flown;

static inline void pass(void *self, const void *bytes, size_t size)
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

/* The next frame as text, terminated by a NUL. */
static inline const char *next(struct io_session *client)
{
    io_byte_writer_clear(&frame);
    if (!io_session_queue_next(client->viewer, &frame, &binary))
        return NULL;
    io_put_u8(&frame, 0);
    return (const char *)frame.data;
}

static inline struct io_session *come_in(double rate_hz, bool is_operator)
{
    struct io_session *client = io_hub_open_session(hub, rate_hz, is_operator);
    TEST_ASSERT_NOT_NULL(client);
    while (next(client))
        continue;
    return client;
}

static inline struct io_session *enter(double rate_hz)
{
    return come_in(rate_hz, true);
}

static inline void say(struct io_session *client, const char *text)
{
    io_hub_receive(hub, client,
                   (struct io_slice){.data = (const unsigned char *)text, .size = strlen(text)},
                   false);
}

static inline void subscribe(struct io_session *client, int id, int channel)
{
    char text[128];
    snprintf(text, sizeof text,
             "{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":%d,\"channelId\":%d}]}", id,
             channel);
    say(client, text);
}

static inline void assert_next_has(struct io_session *client, const char *part)
{
    const char *text = next(client);
    TEST_ASSERT_NOT_NULL_MESSAGE(text, part);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, part), text);
}

static inline void make_call(struct io_session *client, const char *bytes, size_t size)
{
    io_hub_receive(hub, client,
                   (struct io_slice){.data = (const unsigned char *)bytes, .size = size}, true);
}

static inline void ask_authority(struct io_session *client, enum io_authority_act act)
{
    char call[] = "\2?\0\0\0\7\0\0\0\4\0\0\0json";
    call[1] = (char)(service_table.service_count + (int)act);
    make_call(client, call, sizeof call - 1);
}

static inline void pause(struct io_session *client)
{
    make_call(client, "\2\0\0\0\0\6\0\0\0\3\0\0\0cdr", 16);
}

static inline void safe(struct io_session *client)
{
    make_call(client, "\2\2\0\0\0\6\0\0\0\4\0\0\0json", 17);
}

static inline void assert_next_is(struct io_session *client, const char *whole)
{
    const char *text = next(client);
    TEST_ASSERT_NOT_NULL_MESSAGE(text, whole);
    TEST_ASSERT_EQUAL_STRING(whole, text);
    TEST_ASSERT_FALSE(binary);
}
