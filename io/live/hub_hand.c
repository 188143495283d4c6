/*
 * Hand controller reports published by viewers; those of the holder of authority are passed to the
 * link.
 */
#include <stdio.h>

#include "io/live/hub.h"
#include "io/protocol/hand.h"

enum {
    WARN_EVERY_NS = 1000000000,
    STALE_US = 250000,     /* a report that took this much longer than the fastest is out of date */
    DRIFT_PER_S_US = 1000, /* the smallest delay rises at this rate, faster than clocks drift */
};
static const uint64_t CLOCK_SET_NS =
    3000000000; /* when all reports are late for this long, the sender's clock was set */

/* Reports arrive dozens of times a second; the warning about them is sent once per interval. */
static void send_warning(struct io_hub *hub, struct io_session *client, const char *why)
{
    if (hub->now_ns < client->next_warning_ns)
        return;
    client->next_warning_ns = hub->now_ns + WARN_EVERY_NS;
    io_foxglove_status(&hub->out, IO_FOXGLOVE_WARNING, why, "hand");
    io_hub_send(hub, client, false);
}

static int channel_index(const struct io_session *client, uint32_t id)
{
    for (int i = 0; i < client->hand_count; i++) {
        if (client->hand[i] == id)
            return i;
    }
    return -1;
}

static void remove_channel(struct io_session *client, uint32_t id)
{
    const int place = channel_index(client, id);
    if (place >= 0)
        client->hand[place] = client->hand[--client->hand_count];
}

/* Without a channel no report can arrive that centres the stick. */
static void release_if_unadvertised(struct io_hub *hub, const struct io_session *client)
{
    if (client->hand_count == 0)
        io_hub_release_hand(hub, client->serial);
}

void io_hub_advertise(struct io_hub *hub, struct io_session *client)
{
    for (int i = 0; i < hub->request.count; i++) {
        const uint32_t id = hub->request.publication[i].id;
        remove_channel(client, id);
        if (!hub->hand.pass)
            send_warning(
                hub, client,
                "this run takes no hand controller from the page: no link has bus: cockpit");
        else if (!hub->request.publication[i].is_hand)
            send_warning(hub, client, "only the topic /hand in the encoding \"hand\" is accepted");
        else if (client->hand_count == IO_HUB_HAND_MAX)
            send_warning(hub, client, "this client advertises too many channels");
        else
            client->hand[client->hand_count++] = id;
    }
    release_if_unadvertised(hub, client);
}

void io_hub_unadvertise(struct io_hub *hub, struct io_session *client)
{
    for (int i = 0; i < hub->request.count; i++)
        remove_channel(client, hub->request.publication[i].id);
    release_if_unadvertised(hub, client);
}

/* Send a neutral report, so that the arm does not go on until the silence counts as a loss. */
void io_hub_release_hand(struct io_hub *hub, uint64_t serial)
{
    struct io_hand_report rest;
    if (serial == 0 || hub->hand_owner != serial)
        return;
    io_hand_report_neutral(&rest);
    hub->hand.pass(hub->hand.self, &rest, IO_HAND_SIZE);
    hub->hand_owner = 0;
}

/* The first report takes authority if nobody has it, as any command does.  But a viewer that
 * published reports while another had authority, or that gave authority away, does not get it
 * when the other leaves: it must ask for it. */
static bool may_control(struct io_hub *hub, struct io_session *client,
                        char why[IO_FOXGLOVE_TEXT_MAX])
{
    if (hub->authority.holder == 0 && client->was_denied) {
        snprintf(why, IO_FOXGLOVE_TEXT_MAX,
                 "nobody has authority; take it before using the hand controller");
        return false;
    }
    const bool may = io_hub_may_command(hub, client, why);
    client->was_denied = client->is_operator && !may;
    return may;
}

/*
 * After an outage the network delivers all delayed reports at once.  A report that is seconds old
 * must not move an arm now.  The sender's clock has any epoch, so a report is judged by how much
 * longer than the fastest it took.
 */
static bool is_stale(const struct io_hub *hub, struct io_session *client, uint64_t sent_us)
{
    const uint64_t delay_us = hub->now_ns / 1000 - sent_us; /* and the difference of the clocks */
    if (sent_us == 0)
        return false;
    if (client->has_delay_floor)
        client->delay_floor_us +=
            (hub->now_ns - client->newest_timed_ns) / (1000000000 / DRIFT_PER_S_US);
    if (!client->has_delay_floor || (int64_t)(delay_us - client->delay_floor_us) < 0)
        client->delay_floor_us = delay_us;
    client->has_delay_floor = true;
    client->newest_timed_ns = hub->now_ns;
    const bool late = delay_us - client->delay_floor_us > STALE_US;
    if (!late || client->late_since_ns == 0)
        client->late_since_ns = late ? hub->now_ns : 0;
    if (!late || hub->now_ns - client->late_since_ns < CLOCK_SET_NS)
        return late;
    client->delay_floor_us = delay_us;
    client->late_since_ns = 0;
    return false;
}

void io_hub_publish(struct io_hub *hub, struct io_session *client)
{
    const struct io_slice bytes = hub->request.payload;
    struct io_hand_report report;
    char why[IO_FOXGLOVE_TEXT_MAX];
    if (channel_index(client, hub->request.channel) < 0) {
        send_warning(hub, client, "a message on a channel that was not advertised or not accepted");
        return;
    }
    if (!io_hand_decode(bytes.data, bytes.size, &report)) {
        send_warning(hub, client,
                     "the message is not a hand controller report (io/protocol/hand.h)");
        return;
    }
    if (!may_control(hub, client, why)) {
        send_warning(hub, client, why);
        return;
    }
    if (hub->hand_owner != client->serial)
        client->has_delay_floor = false;
    if (is_stale(hub, client, report.sent_us)) {
        send_warning(hub, client,
                     "hand controller reports that arrive much later than others are dropped");
        return;
    }
    if (hub->hand_owner != client->serial)
        hub->hand.pass(hub->hand.self, NULL, 0);
    hub->hand_owner = client->serial;
    hub->hand.pass(hub->hand.self, bytes.data, bytes.size);
}
