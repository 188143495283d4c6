/*
 * Hands at a page: pictures that viewers publish, passed on for who has authority.
 */
#include <stdio.h>

#include "io/protocol/hand.h"
#include "io/telemetry/hub.h"

enum { WARN_EVERY_NS = 1000000000 };

/* Pictures come dozens of times a second; what is wrong with them is told once. */
static void warn(struct io_hub *hub, struct io_hub_seat *seat, const char *why)
{
    if (hub->now_ns < seat->warn_ns)
        return;
    seat->warn_ns = hub->now_ns + WARN_EVERY_NS;
    io_fox_status(&hub->out, IO_FOX_WARNING, why, "hand");
    io_hub_say(hub, seat, false);
}

static int place_of(const struct io_hub_seat *seat, uint32_t id)
{
    for (int i = 0; i < seat->hand_count; i++) {
        if (seat->hand[i] == id)
            return i;
    }
    return -1;
}

static void forget(struct io_hub_seat *seat, uint32_t id)
{
    const int place = place_of(seat, id);
    if (place >= 0)
        seat->hand[place] = seat->hand[--seat->hand_count];
}

void io_hub_advertise(struct io_hub *hub, struct io_hub_seat *seat)
{
    for (int i = 0; i < hub->ask.count; i++) {
        const uint32_t id = hub->ask.publication[i].id;
        forget(seat, id);
        if (!hub->hand.pass)
            warn(hub, seat, "nothing is flown from here: no link of this run is on bus: cockpit");
        else if (!hub->ask.publication[i].is_hand)
            warn(hub, seat, "only /hand in the encoding \"hand\" is taken");
        else if (seat->hand_count == IO_HUB_HAND_MAX)
            warn(hub, seat, "too many channels of one client");
        else
            seat->hand[seat->hand_count++] = id;
    }
}

void io_hub_unadvertise(struct io_hub *hub, struct io_hub_seat *seat)
{
    for (int i = 0; i < hub->ask.count; i++)
        forget(seat, hub->ask.publication[i].id);
}

/* A hand at rest: whoever flew is not waited for until the silence is long enough to be a loss. */
void io_hub_hands_off(struct io_hub *hub, uint64_t serial)
{
    struct io_hand_picture rest;
    if (serial == 0 || hub->flown_by != serial)
        return;
    io_hand_rest(&rest);
    hub->hand.pass(hub->hand.self, &rest, IO_HAND_SIZE);
    hub->flown_by = 0;
}

/* The first picture takes what nobody has, as any command does.  But a hand that was on its stick
 * while another flew, or that gave the arm away, does not come to fly by the other's leaving: that
 * takes a word. */
static bool may_fly(struct io_hub *hub, struct io_hub_seat *seat, char why[IO_FOX_TEXT_MAX])
{
    if (hub->authority.holder == 0 && seat->beside) {
        snprintf(why, IO_FOX_TEXT_MAX, "nobody has authority; take it, and then fly");
        return false;
    }
    const bool may = io_hub_may_command(hub, seat, why);
    seat->beside = seat->is_operator && !may;
    return may;
}

void io_hub_publish(struct io_hub *hub, struct io_hub_seat *seat)
{
    const struct io_slice bytes = hub->ask.payload;
    struct io_hand_picture picture;
    char why[IO_FOX_TEXT_MAX];
    if (place_of(seat, hub->ask.channel) < 0) {
        warn(hub, seat, "a message of a channel that was not advertised, or is not taken");
        return;
    }
    if (!io_hand_decode(bytes.data, bytes.size, &picture)) {
        warn(hub, seat, "this is no picture of a hand (io/protocol/hand.h)");
        return;
    }
    if (!may_fly(hub, seat, why)) {
        warn(hub, seat, why);
        return;
    }
    if (hub->flown_by != seat->serial)
        hub->hand.pass(hub->hand.self, NULL, 0);
    hub->flown_by = seat->serial;
    hub->hand.pass(hub->hand.self, bytes.data, bytes.size);
}
