#include "io/live/foxglove.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAYS_DATA = 1, SAYS_TIME = 2, SAYS_RESPONSE = 3, ASKS_DATA = 1, ASKS_CALL = 2 };

static const char *const form_text[IO_FOXGLOVE_FORM_COUNT] = {
    [IO_FOXGLOVE_FORM_EMPTY] = "",
    [IO_FOXGLOVE_FORM_FRAMES] = "uint32 frames\n",
    [IO_FOXGLOVE_FORM_PATH] = "string path\n",
    [IO_FOXGLOVE_FORM_SWITCH] = "string name\nbool active\n",
};
static const char answer_text[] = "bool success\nstring message\n";

/* ---- messages of the server ------------------------------------------------------------ */

/* Names and reasons may come from files and arguments, so they may contain any bytes. */
static json_t *text_of(const char *text)
{
    json_t *string = json_string(text);
    return string ? string : json_string("(not UTF-8)");
}

/* Takes ownership of the object. */
static void put_json(struct io_byte_writer *out, json_t *object)
{
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (text)
        io_put_raw(out, text, strlen(text));
    else
        out->failed = true;
    free(text);
    json_decref(object);
}

static json_t *capabilities_of(const struct io_foxglove_server *server)
{
    json_t *list = json_array();
    json_array_append_new(list, json_string("time"));
    if (server->has_parameters) {
        json_array_append_new(list, json_string("parameters"));
        json_array_append_new(list, json_string("parametersSubscribe"));
    }
    if (server->has_services)
        json_array_append_new(list, json_string("services"));
    if (server->accepts_hand)
        json_array_append_new(list, json_string("clientPublish"));
    return list;
}

/* The encodings of clients' messages: service calls, and hand controller reports. */
static json_t *encodings_of(const struct io_foxglove_server *server)
{
    json_t *list = json_pack("[s,s]", "cdr", "json");
    if (server->accepts_hand)
        json_array_append_new(list, json_string("hand"));
    return list;
}

static json_t *metadata_of(const struct io_foxglove_server *server)
{
    json_t *metadata = json_object();
    char text[24];
    for (int i = 0; i < server->fault_count; i++) {
        snprintf(text, sizeof text, "fault.%d", i);
        json_object_set_new(metadata, text, text_of(server->faults[i]));
    }
    for (int i = 0; i < server->pair_count; i++)
        json_object_set_new(metadata, server->pairs[i].key, text_of(server->pairs[i].value));
    snprintf(text, sizeof text, "%llu", (unsigned long long)server->viewer);
    json_object_set_new(metadata, "viewer", text_of(text));
    json_object_set_new(metadata, "operator", text_of(server->is_operator ? "yes" : "no"));
    return metadata;
}

void io_foxglove_server_info(struct io_byte_writer *out, const struct io_foxglove_server *server)
{
    put_json(out, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "op", "serverInfo", "name",
                            text_of(server->name), "capabilities", capabilities_of(server),
                            "supportedEncodings", encodings_of(server), "metadata",
                            metadata_of(server), "sessionId", text_of(server->session)));
}

void io_foxglove_advertise(struct io_byte_writer *out, const struct io_foxglove_channel *channels,
                           int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:i, s:o, s:s, s:o, s:o, s:s}", "id", i, "topic",
                                              text_of(channels[i].topic), "encoding", "cdr",
                                              "schemaName", text_of(channels[i].schema), "schema",
                                              text_of(channels[i].definition), "schemaEncoding",
                                              "ros2msg"));
    put_json(out, json_pack("{s:s, s:o}", "op", "advertise", "channels", list));
}

/* Old clients read the schema fields alone, newer ones need the schema names too. */
static json_t *service_json(const struct io_foxglove_service *service, int id)
{
    char request[IO_FOXGLOVE_NAME_MAX], response[IO_FOXGLOVE_NAME_MAX];
    snprintf(request, sizeof request, "%s_Request", service->type);
    snprintf(response, sizeof response, "%s_Response", service->type);
    const char *form = form_text[service->form];
    return json_pack("{s:i, s:s, s:s, s:s, s:s, s:{s:s, s:s, s:s, s:s}, s:{s:s, s:s, s:s, s:s}}",
                     "id", id, "name", service->name, "type", service->type, "requestSchema", form,
                     "responseSchema", answer_text, "request", "encoding", "cdr", "schemaName",
                     request, "schemaEncoding", "ros2msg", "schema", form, "response", "encoding",
                     "cdr", "schemaName", response, "schemaEncoding", "ros2msg", "schema",
                     answer_text);
}

void io_foxglove_advertise_services(struct io_byte_writer *out,
                                    const struct io_foxglove_service *services, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, service_json(&services[i], i));
    put_json(out, json_pack("{s:s, s:o}", "op", "advertiseServices", "services", list));
}

/* JSON has no NaN and no infinity: such a parameter is sent without a value. */
void io_foxglove_parameter_values(struct io_byte_writer *out,
                                  const struct io_foxglove_value *values, int count, const char *id)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *item = json_pack("{s:o, s:s}", "name", text_of(values[i].name), "type", "float64");
        if (isfinite(values[i].value))
            json_object_set_new(item, "value", json_real(values[i].value));
        json_array_append_new(list, item);
    }
    json_t *object = json_pack("{s:s, s:o}", "op", "parameterValues", "parameters", list);
    if (id[0])
        json_object_set_new(object, "id", text_of(id));
    put_json(out, object);
}

void io_foxglove_status(struct io_byte_writer *out, enum io_foxglove_level level,
                        const char *message, const char *id)
{
    json_t *object = json_pack("{s:s, s:i, s:o}", "op", "status", "level", (int)level, "message",
                               text_of(message));
    if (id[0])
        json_object_set_new(object, "id", text_of(id));
    put_json(out, object);
}

void io_foxglove_remove_status(struct io_byte_writer *out, const char *id)
{
    put_json(out, json_pack("{s:s, s:[o]}", "op", "removeStatus", "statusIds", text_of(id)));
}

void io_foxglove_call_failure(struct io_byte_writer *out, uint32_t service, uint32_t call,
                              const char *message)
{
    put_json(out, json_pack("{s:s, s:I, s:I, s:o}", "op", "serviceCallFailure", "serviceId",
                            (json_int_t)service, "callId", (json_int_t)call, "message",
                            text_of(message)));
}

static void put_cdr_answer(struct io_byte_writer *out, bool success, const char *message)
{
    static const unsigned char head[4] = {0, 1, 0, 0}; /* CDR, little endian */
    static const unsigned char pad[3];
    const size_t length = strlen(message) + 1;
    io_put_raw(out, head, sizeof head);
    io_put_u8(out, success);
    io_put_raw(out, pad, sizeof pad);
    io_put_u32(out, (uint32_t)length);
    io_put_raw(out, message, length);
}

void io_foxglove_call_response(struct io_byte_writer *out, uint32_t service, uint32_t call,
                               const char *encoding, bool success, const char *message)
{
    io_put_u8(out, SAYS_RESPONSE);
    io_put_u32(out, service);
    io_put_u32(out, call);
    io_put_string(out, encoding);
    if (strcmp(encoding, "json") == 0)
        put_json(out, json_pack("{s:b, s:o}", "success", success, "message", text_of(message)));
    else
        put_cdr_answer(out, success, message);
}

void io_foxglove_time(struct io_byte_writer *out, uint64_t time_ns)
{
    io_put_u8(out, SAYS_TIME);
    io_put_u64(out, time_ns);
}

void io_foxglove_message_head(struct io_byte_writer *out, uint32_t subscription, uint64_t log_ns)
{
    io_put_u8(out, SAYS_DATA);
    io_put_u32(out, subscription);
    io_put_u64(out, log_ns);
}

/* ---- requests of a client -------------------------------------------------------------- */

static bool complain(char error[IO_FOXGLOVE_TEXT_MAX], const char *what)
{
    snprintf(error, IO_FOXGLOVE_TEXT_MAX, "%s", what);
    return false;
}

static bool take_u32(const json_t *value, uint32_t *out)
{
    if (!json_is_integer(value))
        return false;
    const json_int_t number = json_integer_value(value);
    *out = (uint32_t)number;
    return number >= 0 && number <= UINT32_MAX;
}

/* False when it is not a string, or is longer than any name here. */
static bool take_text(const json_t *value, char *out, size_t room)
{
    if (!json_is_string(value) || json_string_length(value) >= room)
        return false;
    memcpy(out, json_string_value(value), json_string_length(value) + 1);
    return true;
}

/* The list of a key, which must exist and must not be too long. */
static const json_t *list_of(const json_t *root, const char *key,
                             struct io_foxglove_request *received)
{
    const json_t *list = json_object_get(root, key);
    if (!json_is_array(list) || json_array_size(list) > IO_FOXGLOVE_LIST_MAX)
        return NULL;
    received->count = (int)json_array_size(list);
    return list;
}

static bool read_subscribe(const json_t *root, struct io_foxglove_request *received)
{
    const json_t *list = list_of(root, "subscriptions", received);
    for (int i = 0; list && i < received->count; i++) {
        const json_t *item = json_array_get(list, (size_t)i);
        if (!take_u32(json_object_get(item, "id"), &received->subscription[i].id) ||
            !take_u32(json_object_get(item, "channelId"), &received->subscription[i].channel))
            return false;
    }
    return list != NULL;
}

static bool read_unsubscribe(const json_t *root, struct io_foxglove_request *received)
{
    const json_t *list = list_of(root, "subscriptionIds", received);
    for (int i = 0; list && i < received->count; i++) {
        if (!take_u32(json_array_get(list, (size_t)i), &received->subscription[i].id))
            return false;
    }
    return list != NULL;
}

static bool read_names(const json_t *root, struct io_foxglove_request *received)
{
    const json_t *list = list_of(root, "parameterNames", received);
    for (int i = 0; list && i < received->count; i++) {
        if (!take_text(json_array_get(list, (size_t)i), received->parameter[i].name,
                       IO_FOXGLOVE_NAME_MAX))
            return false;
    }
    return list != NULL;
}

static bool read_set(const json_t *root, struct io_foxglove_request *received)
{
    const json_t *list = list_of(root, "parameters", received);
    for (int i = 0; list && i < received->count; i++) {
        const json_t *item = json_array_get(list, (size_t)i);
        const json_t *value = json_object_get(item, "value");
        if (!take_text(json_object_get(item, "name"), received->parameter[i].name,
                       IO_FOXGLOVE_NAME_MAX) ||
            !json_is_number(value))
            return false;
        received->parameter[i].value = json_number_value(value);
    }
    return list != NULL;
}

static bool read_advertise(const json_t *root, struct io_foxglove_request *received)
{
    const json_t *list = list_of(root, "channels", received);
    for (int i = 0; list && i < received->count; i++) {
        const json_t *item = json_array_get(list, (size_t)i);
        const json_t *topic = json_object_get(item, "topic");
        const json_t *encoding = json_object_get(item, "encoding");
        if (!take_u32(json_object_get(item, "id"), &received->publication[i].id) ||
            !json_is_string(topic) || !json_is_string(encoding))
            return false;
        received->publication[i].is_hand = strcmp(json_string_value(topic), "/hand") == 0 &&
                                           strcmp(json_string_value(encoding), "hand") == 0;
    }
    return list != NULL;
}

static bool read_unadvertise(const json_t *root, struct io_foxglove_request *received)
{
    const json_t *list = list_of(root, "channelIds", received);
    for (int i = 0; list && i < received->count; i++) {
        if (!take_u32(json_array_get(list, (size_t)i), &received->publication[i].id))
            return false;
    }
    return list != NULL;
}

static bool read_nothing(const json_t *root, struct io_foxglove_request *received)
{
    (void)root;
    (void)received;
    return true;
}

static const struct {
    const char *name;
    enum io_foxglove_op op;
    bool (*read)(const json_t *root, struct io_foxglove_request *received);
} ops[] = {
    {"subscribe", IO_FOXGLOVE_SUBSCRIBE, read_subscribe},
    {"unsubscribe", IO_FOXGLOVE_UNSUBSCRIBE, read_unsubscribe},
    {"getParameters", IO_FOXGLOVE_GET, read_names},
    {"setParameters", IO_FOXGLOVE_SET, read_set},
    {"subscribeParameterUpdates", IO_FOXGLOVE_WATCH, read_names},
    {"unsubscribeParameterUpdates", IO_FOXGLOVE_UNWATCH, read_names},
    {"advertise", IO_FOXGLOVE_ADVERTISE, read_advertise},
    {"unadvertise", IO_FOXGLOVE_UNADVERTISE, read_unadvertise},
    {"subscribeConnectionGraph", IO_FOXGLOVE_NOTHING, read_nothing},
    {"unsubscribeConnectionGraph", IO_FOXGLOVE_NOTHING, read_nothing},
};

static bool read_root(const json_t *root, struct io_foxglove_request *received,
                      char error[IO_FOXGLOVE_TEXT_MAX])
{
    const json_t *id = json_object_get(root, "id");
    const char *name = json_string_value(json_object_get(root, "op"));
    if (!name)
        return complain(error, "a text message must be a JSON object with an \"op\"");
    if (id && !json_is_null(id) && !take_text(id, received->id, sizeof received->id))
        return complain(error, "\"id\" must be a string shorter than 96 bytes");
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (strcmp(name, ops[i].name) != 0)
            continue;
        received->op = ops[i].op;
        if (ops[i].read(root, received))
            return true;
        snprintf(error, IO_FOXGLOVE_TEXT_MAX,
                 "%s: a field is missing, of another type, too long or out of range", name);
        return false;
    }
    return complain(error, "unknown op");
}

bool io_foxglove_read_text(struct io_slice message, struct io_foxglove_request *received,
                           char error[IO_FOXGLOVE_TEXT_MAX])
{
    json_error_t where;
    received->op = IO_FOXGLOVE_NOTHING;
    received->count = 0;
    received->id[0] = '\0';
    json_t *root = json_loadb((const char *)message.data, message.size, 0, &where);
    if (!root) {
        snprintf(error, IO_FOXGLOVE_TEXT_MAX, "invalid JSON at byte %d", where.position);
        return false;
    }
    const bool good = read_root(root, received, error);
    json_decref(root);
    return good;
}

bool io_foxglove_called_service(struct io_slice message, uint32_t *service)
{
    struct io_byte_reader fields = io_byte_reader_of(message);
    const uint8_t opcode = io_get_u8(&fields);
    *service = io_get_u32(&fields);
    return !fields.bad && opcode == ASKS_CALL;
}

bool io_foxglove_read_binary(struct io_slice message, struct io_foxglove_request *received,
                             char error[IO_FOXGLOVE_TEXT_MAX])
{
    struct io_byte_reader fields = io_byte_reader_of(message);
    const uint8_t opcode = io_get_u8(&fields);
    received->op = IO_FOXGLOVE_NOTHING;
    received->count = 0;
    received->id[0] = '\0';
    if (fields.bad)
        return complain(error, "the message is empty");
    if (opcode == ASKS_DATA) {
        received->op = IO_FOXGLOVE_PUBLISH;
        received->channel = io_get_u32(&fields);
        received->payload = (struct io_slice){.data = fields.at, .size = fields.left};
        return fields.bad ? complain(error, "the message is truncated") : true;
    }
    if (opcode != ASKS_CALL)
        return complain(error, "unknown opcode");
    received->op = IO_FOXGLOVE_CALL;
    received->service = io_get_u32(&fields);
    received->call = io_get_u32(&fields);
    const struct io_slice encoding = io_get_string(&fields);
    if (fields.bad)
        return complain(error, "the service call is truncated");
    const bool json = io_slice_is(encoding, "json");
    if (!json && !io_slice_is(encoding, "cdr"))
        return complain(error, "the encoding of a service call must be cdr or json");
    strcpy(received->encoding, json ? "json" : "cdr");
    received->payload = (struct io_slice){.data = fields.at, .size = fields.left};
    return true;
}

/* ---- arguments of a service call ------------------------------------------------------- */

static bool take_cdr_text(struct io_byte_reader *fields, char out[IO_FOXGLOVE_TEXT_MAX])
{
    const struct io_slice text = io_get_string(fields); /* its length counts the NUL */
    if (fields->bad || text.size == 0 || text.size > IO_FOXGLOVE_TEXT_MAX ||
        memchr(text.data, 0, text.size) != text.data + text.size - 1)
        return false;
    memcpy(out, text.data, text.size);
    return true;
}

static bool read_cdr(struct io_slice payload, enum io_foxglove_form form,
                     struct io_foxglove_arguments *out)
{
    struct io_byte_reader fields = io_byte_reader_of(payload);
    const uint32_t head = io_get_u32(&fields);
    if (form == IO_FOXGLOVE_FORM_EMPTY)
        return true;
    if (fields.bad || (head & 0xffff) != 0x0100) /* 00 01: little endian */
        return false;
    if (form == IO_FOXGLOVE_FORM_FRAMES) {
        out->frames = io_get_u32(&fields);
        return !fields.bad;
    }
    if (!take_cdr_text(&fields, out->text))
        return false;
    if (form == IO_FOXGLOVE_FORM_SWITCH)
        out->active = io_get_u8(&fields) != 0;
    return !fields.bad;
}

static bool read_json(struct io_slice payload, enum io_foxglove_form form,
                      struct io_foxglove_arguments *out)
{
    if (form == IO_FOXGLOVE_FORM_EMPTY)
        return true;
    json_t *root = json_loadb((const char *)payload.data, payload.size, 0, NULL);
    const json_t *active = json_object_get(root, "active");
    bool good = false;
    if (form == IO_FOXGLOVE_FORM_FRAMES) {
        good = take_u32(json_object_get(root, "frames"), &out->frames);
    } else if (form == IO_FOXGLOVE_FORM_PATH) {
        good = take_text(json_object_get(root, "path"), out->text, sizeof out->text);
    } else {
        good = take_text(json_object_get(root, "name"), out->text, sizeof out->text) &&
               json_is_boolean(active);
        out->active = json_is_true(active);
    }
    json_decref(root);
    return good;
}

bool io_foxglove_read_arguments(const struct io_foxglove_request *received,
                                enum io_foxglove_form form, struct io_foxglove_arguments *arguments,
                                char error[IO_FOXGLOVE_TEXT_MAX])
{
    *arguments = (struct io_foxglove_arguments){0};
    const bool good = strcmp(received->encoding, "json") == 0
                          ? read_json(received->payload, form, arguments)
                          : read_cdr(received->payload, form, arguments);
    return good ? true : complain(error, "the request does not have the fields of this service");
}
