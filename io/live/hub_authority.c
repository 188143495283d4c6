/*
 * Commands of viewers: who may give them, and the messages about authority.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/live/hub.h"

static const uint64_t SILENT_NS = 15000000000;

const char io_hub_not_operator_text[] =
    "this client may only watch; to command, open the address that the run printed, "
    "with its ?operator=TOKEN";

struct io_session *io_hub_find_session(struct io_hub *hub, uint64_t serial)
{
    for (int i = 0; serial != 0 && i < IO_SERVER_SESSION_MAX; i++) {
        if (hub->client[i].viewer && hub->client[i].serial == serial)
            return &hub->client[i];
    }
    return NULL;
}

void io_hub_log_event(const struct io_hub *hub, const char *format, ...)
{
    char text[IO_FOXGLOVE_TEXT_MAX];
    va_list values;
    if (!hub->service_table || !hub->service_table->note)
        return;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    hub->service_table->note(hub->service_table->self, text);
}

/* True when this viewer is the holder and another one asks for authority. */
static bool is_new_request(struct io_authority now, struct io_authority before)
{
    return now.asking != 0 && (now.asking != before.asking || now.holder != before.holder);
}

/* Only the holder gets the status about the viewer that asks. */
static void notify_holder(struct io_hub *hub, struct io_authority before)
{
    const struct io_authority now = hub->authority;
    struct io_session *old = io_hub_find_session(hub, before.holder),
                      *holder = io_hub_find_session(hub, now.holder);
    char text[IO_FOXGLOVE_TEXT_MAX];
    if (old && before.asking != 0 && (now.holder != before.holder || now.asking == 0)) {
        io_foxglove_remove_status(&hub->out, "authority");
        io_hub_send(hub, old, false);
    }
    if (holder && is_new_request(now, before)) {
        snprintf(text, sizeof text, "viewer %llu asks for authority",
                 (unsigned long long)now.asking);
        io_foxglove_status(&hub->out, IO_FOXGLOVE_WARNING, text, "authority");
        io_hub_send(hub, holder, false);
    }
}

static void announce_change(struct io_hub *hub, struct io_authority before)
{
    const struct io_authority now = hub->authority;
    notify_holder(hub, before);
    if (now.holder != before.holder)
        io_hub_release_hand(hub, before.holder);
    if (now.holder != before.holder && now.holder != 0)
        io_hub_log_event(hub, "viewer %llu has authority", (unsigned long long)now.holder);
    else if (now.holder != before.holder)
        io_hub_log_event(hub, "viewer %llu no longer has authority",
                         (unsigned long long)before.holder);
    if (now.holder != 0 && is_new_request(now, before))
        io_hub_log_event(hub, "viewer %llu asks viewer %llu for authority",
                         (unsigned long long)now.asking, (unsigned long long)now.holder);
}

static bool is_operator(const struct io_session *client, char why[IO_FOXGLOVE_TEXT_MAX])
{
    if (!client->is_operator)
        snprintf(why, IO_FOXGLOVE_TEXT_MAX, "%s", io_hub_not_operator_text);
    return client->is_operator;
}

bool io_hub_may_command(struct io_hub *hub, struct io_session *client,
                        char why[IO_FOXGLOVE_TEXT_MAX])
{
    const struct io_authority before = hub->authority;
    if (!is_operator(client, why))
        return false;
    const bool may = io_authority_command(&hub->authority, client->serial, why);
    announce_change(hub, before);
    return may;
}

void io_hub_call_authority(struct io_hub *hub, struct io_session *client, enum io_authority_act act)
{
    const struct io_foxglove_request *request = &hub->request;
    const struct io_authority before = hub->authority;
    char text[IO_FOXGLOVE_TEXT_MAX];
    if (!client->is_operator) {
        io_foxglove_call_failure(&hub->out, request->service, request->call,
                                 io_hub_not_operator_text);
        io_hub_send(hub, client, false);
        return;
    }
    const bool done = io_authority_act(&hub->authority, act, client->serial, text);
    client->was_denied = client->was_denied || (done && act == IO_AUTHORITY_GIVE);
    io_foxglove_call_response(&hub->out, request->service, request->call, request->encoding, done,
                              text);
    io_hub_send(hub, client, true);
    announce_change(hub, before);
}

void io_hub_release_authority(struct io_hub *hub, const struct io_session *client)
{
    const struct io_authority before = hub->authority;
    io_authority_leave(&hub->authority, client->serial);
    announce_change(hub, before);
}

/* A browser answers pings for a page that hangs, so the session stays open.  A live page sends a
 * message every second; a holder that has been silent for so long cannot hand over. */
void io_hub_expire_holder(struct io_hub *hub)
{
    const struct io_session *holder = io_hub_find_session(hub, hub->authority.holder);
    if (!holder || hub->authority.asking == 0 || hub->now_ns - holder->heard_ns < SILENT_NS)
        return;
    io_hub_log_event(hub, "viewer %llu has sent nothing for %llu s and loses authority",
                     (unsigned long long)holder->serial,
                     (unsigned long long)(SILENT_NS / 1000000000));
    io_hub_release_authority(hub, holder);
}

/* Published once per tick, not per change, so that short connections cause no messages. */
void io_hub_publish_authority(struct io_hub *hub, uint64_t now_ns)
{
    uint32_t image[3] = {(uint32_t)hub->authority.holder, (uint32_t)hub->authority.asking, 0};
    _Static_assert(sizeof image == IO_AUTHORITY_IMAGE_SIZE, "as the definition has it");
    const int channel = hub->channel_count - 1;
    for (int i = 0; i < IO_SERVER_SESSION_MAX; i++)
        image[2] += hub->client[i].viewer != NULL;
    if (hub->newest[channel] && memcmp(image, hub->published, sizeof image) == 0)
        return;
    struct io_live_message *message =
        io_live_message_make(channel, hub->time_ns, image, sizeof image);
    if (!message)
        return;
    memcpy(hub->published, image, sizeof image);
    io_hub_broadcast(hub, message, now_ns);
}
