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
                                 .lasts = true};
    hub->channel_count = spec->channel_count + 1;
}

static void list_services(struct io_hub *hub)
{
    const int count = hub->desk ? hub->desk->service_count : 0;
    RT_CHECK(count + IO_AUTHORITY_ACT_COUNT <= IO_HUB_SERVICE_MAX);
    for (int i = 0; i < count; i++)
        hub->services[i] = hub->desk->services[i];
    memcpy(hub->services + count, io_authority_services, sizeof io_authority_services);
    hub->service_count = count + IO_AUTHORITY_ACT_COUNT;
}

void io_hub_open(struct io_hub *hub, const struct io_server_spec *spec, const char *session)
{
    hub->desk = spec->desk;
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
    for (int i = 0; i < IO_SERVER_VIEWER_MAX; i++) {
        if (hub->seat[i].viewer)
            io_hub_leave(hub, &hub->seat[i]);
    }
    for (int i = 0; i < IO_LIVE_CHANNEL_MAX; i++)
        io_live_message_drop(hub->newest[i]);
    io_bytes_free(&hub->out);
}

void io_hub_say(struct io_hub *hub, struct io_hub_seat *seat, bool binary)
{
    if (!io_viewer_say(seat->viewer, &hub->out, binary))
        seat->gone = true;
    io_bytes_clear(&hub->out);
}

void io_hub_complain(struct io_hub *hub, struct io_hub_seat *seat, const char *what)
{
    io_fox_status(&hub->out, IO_FOX_ERROR, what, "");
    io_hub_say(hub, seat, false);
}

/* ---- coming and going ------------------------------------------------------------------ */

static void greet(struct io_hub *hub, struct io_hub_seat *seat)
{
    struct io_fox_channel channels[IO_LIVE_CHANNEL_MAX];
    const struct io_desk *desk = hub->desk;
    for (int i = 0; i < hub->channel_count; i++)
        channels[i] = (struct io_fox_channel){.topic = hub->channels[i].topic,
                                              .schema = hub->channels[i].schema,
                                              .definition = hub->channels[i].definition};
    io_fox_server_info(&hub->out, &(struct io_fox_server){
                                      .name = hub->name,
                                      .session = hub->session,
                                      .has_parameters = desk && desk->parameter_count > 0,
                                      .has_services = true,
                                      .takes_hands = hub->hand.pass != NULL,
                                      .faults = desk ? desk->faults : NULL,
                                      .fault_count = desk ? desk->fault_count : 0,
                                      .pairs = hub->pairs,
                                      .pair_count = hub->pair_count,
                                      .viewer = seat->serial,
                                      .is_operator = seat->is_operator,
                                  });
    io_hub_say(hub, seat, false);
    io_fox_advertise(&hub->out, channels, hub->channel_count);
    io_hub_say(hub, seat, false);
    io_fox_advertise_services(&hub->out, hub->services, hub->service_count);
    io_hub_say(hub, seat, false);
    for (int i = 0; i < IO_HUB_STATUS_MAX; i++) {
        const struct io_hub_status *status = &hub->status[i];
        if (!status->on)
            continue;
        io_fox_status(&hub->out, status->level, status->text, status->id);
        io_hub_say(hub, seat, false);
    }
}

struct io_hub_seat *io_hub_enter(struct io_hub *hub, double rate_hz, bool is_operator)
{
    for (int i = 0; i < IO_SERVER_VIEWER_MAX; i++) {
        struct io_hub_seat *seat = &hub->seat[i];
        if (seat->viewer)
            continue;
        *seat = (struct io_hub_seat){.viewer = io_viewer_open(rate_hz),
                                     .serial = ++hub->serials,
                                     .is_operator = is_operator,
                                     .heard_ns = hub->now_ns};
        if (!seat->viewer)
            return NULL;
        greet(hub, seat);
        return seat;
    }
    return NULL;
}

static void count_wanted(struct io_hub *hub, int channel, unsigned more)
{
    atomic_fetch_add_explicit(&hub->wanted[channel], more, memory_order_relaxed);
}

void io_hub_leave(struct io_hub *hub, struct io_hub_seat *seat)
{
    for (int i = 0; i < IO_LIVE_CHANNEL_MAX; i++) {
        if (seat->viewer->channel[i].on)
            count_wanted(hub, i, -1u);
    }
    hub->sent += seat->viewer->sent;
    hub->lost += seat->viewer->lost;
    if (hub->flown_by == seat->serial && hub->desk && hub->desk->lost)
        hub->desk->lost(hub->desk->self);
    io_hub_lay_down(hub, seat);
    io_viewer_close(seat->viewer);
    *seat = (struct io_hub_seat){0};
}

/* ---- what a viewer asks for ------------------------------------------------------------ */

static void subscribe(struct io_hub *hub, struct io_hub_seat *seat)
{
    for (int i = 0; i < hub->ask.count; i++) {
        const uint32_t channel = hub->ask.subscription[i].channel;
        const char *flaw = "there is no such channel";
        if (channel < (uint32_t)hub->channel_count)
            flaw = io_viewer_subscribe(seat->viewer, hub->ask.subscription[i].id, (int)channel);
        if (flaw) {
            io_hub_complain(hub, seat, flaw);
            continue;
        }
        count_wanted(hub, (int)channel, 1);
        if (hub->newest[channel])
            io_viewer_offer(seat->viewer, hub->newest[channel], true, 0);
    }
}

static void unsubscribe(struct io_hub *hub, struct io_hub_seat *seat)
{
    for (int i = 0; i < hub->ask.count; i++) {
        const int channel = io_viewer_unsubscribe(seat->viewer, hub->ask.subscription[i].id);
        if (channel < 0)
            io_hub_complain(hub, seat, "there is no such subscription");
        else
            count_wanted(hub, channel, -1u);
    }
}

const char io_hub_flood_text[] = "more than 1000 messages or 1 MB a second; it was let go";

/* What is told to the others about it does not become a flood itself. */
bool io_hub_bears(struct io_hub *hub, struct io_hub_seat *seat, size_t size, uint64_t now_ns)
{
    hub->now_ns = now_ns > hub->now_ns ? now_ns : hub->now_ns;
    const bool few =
        io_bucket_pour(&seat->messages, 1.0, IO_HUB_MESSAGES_PER_S, IO_HUB_MESSAGES_PER_S, now_ns);
    const bool small =
        io_bucket_pour(&seat->bytes, (double)size, IO_HUB_BYTES_PER_S, IO_HUB_BYTES_PER_S, now_ns);
    if (few && small)
        return true;
    io_hub_lay_down(hub, seat);
    if (now_ns >= hub->flood_ns) {
        io_hub_note(hub, "viewer %llu sent %s", (unsigned long long)seat->serial,
                    io_hub_flood_text);
        hub->flood_ns = now_ns + FLOOD_EVERY_NS;
    }
    return false;
}

void io_hub_hear(struct io_hub *hub, struct io_hub_seat *seat, struct io_slice message, bool binary)
{
    char error[IO_FOX_TEXT_MAX];
    if (io_hub_stop(hub, seat, message, binary) || seat->gone)
        return;
    seat->heard_ns = hub->now_ns;
    const bool good = binary ? io_fox_read_binary(message, &hub->ask, error)
                             : io_fox_read_text(message, &hub->ask, error);
    if (!good) {
        io_hub_complain(hub, seat, error);
        return;
    }
    switch (hub->ask.op) {
    case IO_FOX_NOTHING:
        break;
    case IO_FOX_SUBSCRIBE:
        subscribe(hub, seat);
        break;
    case IO_FOX_UNSUBSCRIBE:
        unsubscribe(hub, seat);
        break;
    case IO_FOX_GET:
        io_hub_get(hub, seat);
        break;
    case IO_FOX_SET:
        io_hub_set(hub, seat);
        break;
    case IO_FOX_WATCH:
    case IO_FOX_UNWATCH:
        io_hub_watch(hub, seat, hub->ask.op == IO_FOX_WATCH);
        break;
    case IO_FOX_CALL:
        io_hub_call(hub, seat);
        break;
    case IO_FOX_ADVERTISE:
        io_hub_advertise(hub, seat);
        break;
    case IO_FOX_UNADVERTISE:
        io_hub_unadvertise(hub, seat);
        break;
    case IO_FOX_PUBLISH:
        io_hub_publish(hub, seat);
        break;
    }
}

/* ---- what viewers are told ------------------------------------------------------------- */

void io_hub_offer(struct io_hub *hub, struct io_live_message *message, uint64_t now_ns)
{
    const struct io_live_channel *channel = &hub->channels[message->channel];
    for (int i = 0; i < IO_SERVER_VIEWER_MAX; i++) {
        if (hub->seat[i].viewer)
            io_viewer_offer(hub->seat[i].viewer, message, channel->whole, now_ns);
    }
    if (channel->lasts) {
        io_live_message_drop(hub->newest[message->channel]);
        hub->newest[message->channel] = message;
    } else {
        io_live_message_drop(message);
    }
}

void io_hub_lose(struct io_hub *hub, uint64_t count)
{
    for (int i = 0; i < IO_SERVER_VIEWER_MAX; i++) {
        if (hub->seat[i].viewer)
            hub->seat[i].viewer->lost += count;
    }
}

void io_hub_time(struct io_hub *hub, uint64_t time_ns)
{
    hub->time_ns = time_ns;
    for (int i = 0; i < IO_SERVER_VIEWER_MAX; i++) {
        if (hub->seat[i].viewer)
            io_viewer_time(hub->seat[i].viewer, time_ns);
    }
}

static void tell_all(struct io_hub *hub, const struct io_hub_status *status)
{
    for (int i = 0; i < IO_SERVER_VIEWER_MAX; i++) {
        struct io_hub_seat *seat = &hub->seat[i];
        if (!seat->viewer)
            continue;
        if (status->on)
            io_fox_status(&hub->out, status->level, status->text, status->id);
        else
            io_fox_remove_status(&hub->out, status->id);
        io_hub_say(hub, seat, false);
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
    tell_all(hub, status);
}

static void tell_loss(struct io_hub *hub, struct io_hub_seat *seat, uint64_t now_ns)
{
    const uint64_t lost = seat->viewer->lost;
    if (lost == seat->told_lost || now_ns - seat->told_ns < LOSS_EVERY_NS)
        return;
    char text[IO_FOX_TEXT_MAX];
    snprintf(text, sizeof text,
             "%llu messages were lost: they come faster than this client takes them",
             (unsigned long long)lost);
    seat->told_lost = lost;
    seat->told_ns = now_ns;
    io_fox_status(&hub->out, IO_FOX_WARNING, text, "lost");
    io_hub_say(hub, seat, false);
}

void io_hub_tick(struct io_hub *hub, uint64_t now_ns)
{
    hub->now_ns = now_ns;
    io_hub_answers(hub);
    io_hub_changes(hub);
    io_hub_wake(hub);
    io_hub_show_authority(hub, now_ns);
    for (int i = 0; i < IO_SERVER_VIEWER_MAX; i++) {
        if (hub->seat[i].viewer)
            tell_loss(hub, &hub->seat[i], now_ns);
    }
}

bool io_hub_wanted(const struct io_hub *hub, int channel)
{
    return atomic_load_explicit(&hub->wanted[channel], memory_order_relaxed) > 0;
}
