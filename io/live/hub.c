#include "io/live/hub.h"

#include <stdio.h>
#include <string.h>

#include "rt/check.h"

enum { LOSS_EVERY_NS = 1000000000, FLOOD_EVERY_NS = 1000000000 };

static void list_channels(struct io_hub *hub, const struct io_server_spec *spec)
{
    RT_CHECK(spec->channel_count > 0 && spec->channel_count < IO_LIVE_CHANNEL_MAX);
    memcpy(hub->channels, spec->channels, (size_t)spec->channel_count * sizeof *hub->channels);
    hub->channels[spec->channel_count] =
        (struct io_live_channel){.topic = io_authority_topic,
                                 .schema = io_authority_schema,
                                 .definition = io_authority_definition,
                                 .whole = true,
                                 .latched = true};
    hub->channel_count = spec->channel_count + 1;
}

static void list_services(struct io_hub *hub)
{
    const int count = hub->service_table ? hub->service_table->service_count : 0;
    RT_CHECK(count + IO_AUTHORITY_ACT_COUNT <= IO_HUB_SERVICE_MAX);
    for (int i = 0; i < count; i++)
        hub->services[i] = hub->service_table->services[i];
    memcpy(hub->services + count, io_authority_services, sizeof io_authority_services);
    hub->service_count = count + IO_AUTHORITY_ACT_COUNT;
}

void io_hub_open(struct io_hub *hub, const struct io_server_spec *spec, const char *session)
{
    hub->service_table = spec->service_table;
    list_channels(hub, spec);
    list_services(hub);
    hub->pairs = spec->pairs;
    hub->pair_count = spec->pair_count;
    hub->hand = spec->hand;
    hub->name = spec->name;
    snprintf(hub->session, sizeof hub->session, "%s", session);
    for (int i = 0; i < IO_LIVE_CHANNEL_MAX; i++)
        atomic_init(&hub->wanted[i], 0);
}

void io_hub_close(struct io_hub *hub)
{
    for (int i = 0; i < IO_SERVER_SESSION_MAX; i++) {
        if (hub->client[i].viewer)
            io_hub_close_session(hub, &hub->client[i]);
    }
    for (int i = 0; i < IO_LIVE_CHANNEL_MAX; i++)
        io_live_message_drop(hub->newest[i]);
    io_byte_writer_free(&hub->out);
}

void io_hub_send(struct io_hub *hub, struct io_session *client, bool binary)
{
    if (!io_session_queue_push_reply(client->viewer, &hub->out, binary))
        client->gone = true;
    io_byte_writer_clear(&hub->out);
}

void io_hub_send_error(struct io_hub *hub, struct io_session *client, const char *what)
{
    io_foxglove_status(&hub->out, IO_FOXGLOVE_ERROR, what, "");
    io_hub_send(hub, client, false);
}

/* ---- sessions -------------------------------------------------------------------------- */

static void send_welcome(struct io_hub *hub, struct io_session *client)
{
    struct io_foxglove_channel channels[IO_LIVE_CHANNEL_MAX];
    const struct io_service_table *service_table = hub->service_table;
    for (int i = 0; i < hub->channel_count; i++)
        channels[i] = (struct io_foxglove_channel){.topic = hub->channels[i].topic,
                                                   .schema = hub->channels[i].schema,
                                                   .definition = hub->channels[i].definition};
    io_foxglove_server_info(
        &hub->out, &(struct io_foxglove_server){
                       .name = hub->name,
                       .session = hub->session,
                       .has_parameters = service_table && service_table->parameter_count > 0,
                       .has_services = true,
                       .accepts_hand = hub->hand.pass != NULL,
                       .faults = service_table ? service_table->faults : NULL,
                       .fault_count = service_table ? service_table->fault_count : 0,
                       .pairs = hub->pairs,
                       .pair_count = hub->pair_count,
                       .viewer = client->serial,
                       .is_operator = client->is_operator,
                   });
    io_hub_send(hub, client, false);
    io_foxglove_advertise(&hub->out, channels, hub->channel_count);
    io_hub_send(hub, client, false);
    io_foxglove_advertise_services(&hub->out, hub->services, hub->service_count);
    io_hub_send(hub, client, false);
    for (int i = 0; i < IO_HUB_STATUS_MAX; i++) {
        const struct io_hub_status *status = &hub->status[i];
        if (!status->on)
            continue;
        io_foxglove_status(&hub->out, status->level, status->text, status->id);
        io_hub_send(hub, client, false);
    }
}

struct io_session *io_hub_open_session(struct io_hub *hub, double rate_hz, bool is_operator)
{
    for (int i = 0; i < IO_SERVER_SESSION_MAX; i++) {
        struct io_session *client = &hub->client[i];
        if (client->viewer)
            continue;
        *client = (struct io_session){.viewer = io_session_queue_open(rate_hz),
                                      .serial = ++hub->last_serial,
                                      .is_operator = is_operator,
                                      .heard_ns = hub->now_ns};
        if (!client->viewer)
            return NULL;
        send_welcome(hub, client);
        return client;
    }
    return NULL;
}

static void count_subscribers(struct io_hub *hub, int channel, unsigned more)
{
    atomic_fetch_add_explicit(&hub->wanted[channel], more, memory_order_relaxed);
}

void io_hub_close_session(struct io_hub *hub, struct io_session *client)
{
    for (int i = 0; i < IO_LIVE_CHANNEL_MAX; i++) {
        if (client->viewer->channel[i].on)
            count_subscribers(hub, i, -1u);
    }
    hub->sent += client->viewer->sent;
    hub->lost += client->viewer->lost;
    if (hub->hand_owner == client->serial && hub->service_table && hub->service_table->lost)
        hub->service_table->lost(hub->service_table->self);
    io_hub_release_authority(hub, client);
    io_session_queue_close(client->viewer);
    *client = (struct io_session){0};
}

/* ---- requests of a viewer -------------------------------------------------------------- */

static void subscribe(struct io_hub *hub, struct io_session *client)
{
    for (int i = 0; i < hub->request.count; i++) {
        const uint32_t channel = hub->request.subscription[i].channel;
        const char *flaw = "there is no such channel";
        if (channel < (uint32_t)hub->channel_count)
            flaw = io_session_queue_subscribe(client->viewer, hub->request.subscription[i].id,
                                              (int)channel);
        if (flaw) {
            io_hub_send_error(hub, client, flaw);
            continue;
        }
        count_subscribers(hub, (int)channel, 1);
        if (hub->newest[channel])
            io_session_queue_push(client->viewer, hub->newest[channel], true, 0);
    }
}

static void unsubscribe(struct io_hub *hub, struct io_session *client)
{
    for (int i = 0; i < hub->request.count; i++) {
        const int channel =
            io_session_queue_unsubscribe(client->viewer, hub->request.subscription[i].id);
        if (channel < 0)
            io_hub_send_error(hub, client, "there is no such subscription");
        else
            count_subscribers(hub, channel, -1u);
    }
}

const char io_hub_flood_text[] =
    "more than 1000 messages or 1 MB a second; the connection was closed";

/* The event about a flood is limited to one per interval, so that it is not a flood itself. */
bool io_hub_within_limits(struct io_hub *hub, struct io_session *client, size_t size,
                          uint64_t now_ns)
{
    hub->now_ns = now_ns > hub->now_ns ? now_ns : hub->now_ns;
    const bool few = io_rate_limit_admit(&client->messages, 1.0, IO_HUB_MESSAGES_PER_S,
                                         IO_HUB_MESSAGES_PER_S, now_ns);
    const bool small = io_rate_limit_admit(&client->bytes, (double)size, IO_HUB_BYTES_PER_S,
                                           IO_HUB_BYTES_PER_S, now_ns);
    if (few && small)
        return true;
    io_hub_release_authority(hub, client);
    if (now_ns >= hub->flood_ns) {
        io_hub_log_event(hub, "viewer %llu sent %s", (unsigned long long)client->serial,
                         io_hub_flood_text);
        hub->flood_ns = now_ns + FLOOD_EVERY_NS;
    }
    return false;
}

void io_hub_receive(struct io_hub *hub, struct io_session *client, struct io_slice message,
                    bool binary)
{
    char error[IO_FOXGLOVE_TEXT_MAX];
    if (io_hub_stop(hub, client, message, binary) || client->gone)
        return;
    client->heard_ns = hub->now_ns;
    const bool good = binary ? io_foxglove_read_binary(message, &hub->request, error)
                             : io_foxglove_read_text(message, &hub->request, error);
    if (!good) {
        io_hub_send_error(hub, client, error);
        return;
    }
    switch (hub->request.op) {
    case IO_FOXGLOVE_NOTHING:
        break;
    case IO_FOXGLOVE_SUBSCRIBE:
        subscribe(hub, client);
        break;
    case IO_FOXGLOVE_UNSUBSCRIBE:
        unsubscribe(hub, client);
        break;
    case IO_FOXGLOVE_GET:
        io_hub_get_parameters(hub, client);
        break;
    case IO_FOXGLOVE_SET:
        io_hub_set_parameters(hub, client);
        break;
    case IO_FOXGLOVE_WATCH:
    case IO_FOXGLOVE_UNWATCH:
        io_hub_watch_parameters(hub, client, hub->request.op == IO_FOXGLOVE_WATCH);
        break;
    case IO_FOXGLOVE_CALL:
        io_hub_call_service(hub, client);
        break;
    case IO_FOXGLOVE_ADVERTISE:
        io_hub_advertise(hub, client);
        break;
    case IO_FOXGLOVE_UNADVERTISE:
        io_hub_unadvertise(hub, client);
        break;
    case IO_FOXGLOVE_PUBLISH:
        io_hub_publish(hub, client);
        break;
    }
}

/* ---- messages to viewers --------------------------------------------------------------- */

void io_hub_broadcast(struct io_hub *hub, struct io_live_message *message, uint64_t now_ns)
{
    const struct io_live_channel *channel = &hub->channels[message->channel];
    for (int i = 0; i < IO_SERVER_SESSION_MAX; i++) {
        if (hub->client[i].viewer)
            io_session_queue_push(hub->client[i].viewer, message, channel->whole, now_ns);
    }
    if (channel->latched) {
        io_live_message_drop(hub->newest[message->channel]);
        hub->newest[message->channel] = message;
    } else {
        io_live_message_drop(message);
    }
}

void io_hub_count_lost(struct io_hub *hub, uint64_t count)
{
    for (int i = 0; i < IO_SERVER_SESSION_MAX; i++) {
        if (hub->client[i].viewer)
            hub->client[i].viewer->lost += count;
    }
}

void io_hub_time(struct io_hub *hub, uint64_t time_ns)
{
    hub->time_ns = time_ns;
    for (int i = 0; i < IO_SERVER_SESSION_MAX; i++) {
        if (hub->client[i].viewer)
            io_session_queue_set_time(hub->client[i].viewer, time_ns);
    }
}

static void broadcast_status(struct io_hub *hub, const struct io_hub_status *status)
{
    for (int i = 0; i < IO_SERVER_SESSION_MAX; i++) {
        struct io_session *client = &hub->client[i];
        if (!client->viewer)
            continue;
        if (status->on)
            io_foxglove_status(&hub->out, status->level, status->text, status->id);
        else
            io_foxglove_remove_status(&hub->out, status->id);
        io_hub_send(hub, client, false);
    }
}

void io_hub_status(struct io_hub *hub, const struct io_hub_status *status)
{
    struct io_hub_status *place = NULL;
    for (int i = 0; i < IO_HUB_STATUS_MAX && !place; i++) {
        if (strcmp(hub->status[i].id, status->id) == 0)
            place = &hub->status[i];
    }
    for (int i = 0; i < IO_HUB_STATUS_MAX && !place; i++) {
        if (!hub->status[i].on)
            place = &hub->status[i];
    }
    if (place)
        *place = *status;
    broadcast_status(hub, status);
}

static void report_loss(struct io_hub *hub, struct io_session *client, uint64_t now_ns)
{
    const uint64_t lost = client->viewer->lost;
    if (lost == client->reported_lost || now_ns - client->reported_ns < LOSS_EVERY_NS)
        return;
    char text[IO_FOXGLOVE_TEXT_MAX];
    snprintf(text, sizeof text, "%llu messages were lost: this client reads too slowly",
             (unsigned long long)lost);
    client->reported_lost = lost;
    client->reported_ns = now_ns;
    io_foxglove_status(&hub->out, IO_FOXGLOVE_WARNING, text, "lost");
    io_hub_send(hub, client, false);
}

void io_hub_tick(struct io_hub *hub, uint64_t now_ns)
{
    hub->now_ns = now_ns;
    io_hub_deliver_replies(hub);
    io_hub_send_changed_parameters(hub);
    io_hub_expire_holder(hub);
    io_hub_publish_authority(hub, now_ns);
    for (int i = 0; i < IO_SERVER_SESSION_MAX; i++) {
        if (hub->client[i].viewer)
            report_loss(hub, &hub->client[i], now_ns);
    }
}

bool io_hub_is_subscribed(const struct io_hub *hub, int channel)
{
    return atomic_load_explicit(&hub->wanted[channel], memory_order_relaxed) > 0;
}
