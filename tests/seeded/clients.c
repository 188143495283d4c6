/*
 * Viewers and operators: the Foxglove protocol from the other end, and the books of what was
 * asked and answered.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "tests/seeded/seeded.h"

enum { CALL_MAX = 8192, SERVICE_MAX = 32, ASKS_CALL = 2, SAYS_RESPONSE = 3 };

static struct call calls[CALL_MAX];
static int call_count;
static struct {
    char name[64];
    uint32_t id;
} services[SERVICE_MAX];
static int service_count;

int clients_calls(struct call **list)
{
    *list = calls;
    return call_count;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static int service_of(const char *name)
{
    for (int i = 0; i < service_count; i++) {
        if (strcmp(services[i].name, name) == 0)
            return i;
    }
    return -1;
}

static size_t put_u32(unsigned char *to, uint32_t value)
{
    memcpy(to, &value, sizeof value);
    return sizeof value;
}

void clients_call(struct client *client, const char *service, const char *json, const char *path)
{
    unsigned char message[512];
    const int known = service_of(service);
    if (!client->connection || !client->connected || known < 0 || call_count == CALL_MAX)
        return;
    struct call *call = &calls[call_count];
    *call = (struct call){.client = client, .id = (uint32_t)call_count++, .sent_ns = seeded_now_ns};
    call->service = services[known].name;
    snprintf(call->path, sizeof call->path, "%s", path ? path : "");
    size_t size = 0;
    message[size++] = ASKS_CALL;
    size += put_u32(message + size, services[known].id);
    size += put_u32(message + size, call->id);
    size += put_u32(message + size, 4);
    memcpy(message + size, "json", 4);
    size += 4;
    memcpy(message + size, json, strlen(json));
    size += strlen(json);
    seeded_trace("client %d calls %s %s, call %u", client->number, service, call->path, call->id);
    seeded_shared->calls++;
    network_send(client, message, size, true);
}

void clients_read_by_server(struct client *client, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint32_t id;
    if (size < 9 || at[0] != ASKS_CALL)
        return;
    memcpy(&id, at + 5, sizeof id);
    if (id >= (uint32_t)call_count || (client && calls[id].client != client))
        return;
    client = calls[id].client; /* who may have left since it was sent */
    calls[id].was_read = true;
    seeded_trace("the server reads call %u, %s %s", id, calls[id].service, calls[id].path);
    if (strcmp(calls[id].service, "/safe") == 0 && client->is_operator)
        invariants_safe_read(&calls[id]);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void learn_services(const json_t *list)
{
    size_t i;
    json_t *each;
    json_array_foreach(list, i, each)
    {
        if (service_count == SERVICE_MAX)
            return;
        snprintf(services[service_count].name, sizeof services[0].name, "%s",
                 json_string_value(json_object_get(each, "name")));
        services[service_count++].id = (uint32_t)json_integer_value(json_object_get(each, "id"));
    }
}

static void take_answer(struct client *client, uint32_t id, bool done, const char *text)
{
    if (id >= (uint32_t)call_count || calls[id].client != client)
        seeded_fail("client %d is answered a call that it did not make: %u", client->number, id);
    struct call *call = &calls[id];
    if (call->state != CALL_OPEN)
        seeded_fail("call %u, %s, was answered twice", id, call->service);
    call->state = done ? CALL_DONE : CALL_REFUSED;
    seeded_trace("call %u, %s %s: %s: %s", id, call->service, call->path, done ? "done" : "refused",
                 text);
    seeded_shared->done += done;
    seeded_shared->refused += !done;
    const char *frame = strstr(text, "(frame ");
    call->frame = UINT64_MAX;
    if (frame)
        (void)sscanf(frame, "(frame %lu)", &call->frame);
    invariants_answer(call, text);
}

static void hear_text(struct client *client, const char *bytes, size_t size)
{
    const bool is_failure = memmem(bytes, size, "serviceCallFailure", 18) != NULL;
    if (!is_failure && (service_count > 0 || !memmem(bytes, size, "advertiseServices", 17)))
        return;
    json_t *root = json_loadb(bytes, size, 0, NULL);
    if (is_failure)
        take_answer(client, (uint32_t)json_integer_value(json_object_get(root, "callId")), false,
                    json_string_value(json_object_get(root, "message")));
    else
        learn_services(json_object_get(root, "services"));
    json_decref(root);
}

static void hear_response(struct client *client, const unsigned char *bytes, size_t size)
{
    const size_t head = 1 + 4 + 4 + 4 + 4;
    uint32_t id;
    memcpy(&id, bytes + 5, sizeof id);
    json_t *root = json_loadb((const char *)bytes + head, size - head, 0, NULL);
    if (!root)
        seeded_fail("the answer to call %u is not JSON", id);
    take_answer(client, id, json_is_true(json_object_get(root, "success")),
                json_string_value(json_object_get(root, "message")));
    json_decref(root);
}

void clients_hear(struct client *client, const void *bytes, size_t size, bool binary)
{
    const unsigned char *at = bytes;
    if (!binary)
        hear_text(client, bytes, size);
    else if (size > 17 && at[0] == SAYS_RESPONSE)
        hear_response(client, bytes, size);
}

/* What was not answered by then is in doubt: it may have been done. */
void clients_left(struct client *client)
{
    client->connected = false;
    client->gone = true;
    for (int i = 0; i < call_count; i++) {
        if (calls[i].client == client && calls[i].state == CALL_OPEN) {
            calls[i].state = CALL_IN_DOUBT;
            seeded_shared->in_doubt++;
        }
    }
}
