/*
 * Hands at a page: pictures that viewers publish, passed on for who has authority.
 */
#include <stdio.h>

#include "io/live/hub.h"
#include "io/protocol/hand.h"

enum {
    WARN_EVERY_NS = 1000000000,
    STALE_US = 250000,     /* longer on its way than the quickest: it shows how a hand was */
    DRIFT_PER_S_US = 1000, /* the quickest is forgotten so slowly, and no clock drifts as fast */
};
static const uint64_t SET_NS =
    3000000000; /* all were late for so long: the sender's clock was set */

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

/* Without a channel nothing can come that would move the stick back. */
static void let_go(struct io_hub *hub, const struct io_hub_seat *seat)
{
    if (seat->hand_count == 0)
        io_hub_hands_off(hub, seat->serial);
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
    let_go(hub, seat);
}

void io_hub_unadvertise(struct io_hub *hub, struct io_hub_seat *seat)
{
    for (int i = 0; i < hub->ask.count; i++)
        forget(seat, hub->ask.publication[i].id);
    let_go(hub, seat);
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

/*
 * After an outage the network delivers all that it held back, in one moment.  What a hand did
 * seconds ago must not move an arm now.  The sender's clock is any, so what counts is by how much
 * longer than the quickest a picture took.
 */
static bool is_stale(const struct io_hub *hub, struct io_hub_seat *seat, uint64_t sent_us)
{
    const uint64_t way_us = hub->now_ns / 1000 - sent_us; /* and the clocks' difference */
    if (sent_us == 0)
        return false;
    if (seat->timed)
        seat->quickest_us += (hub->now_ns - seat->timed_ns) / (1000000000 / DRIFT_PER_S_US);
    if (!seat->timed || (int64_t)(way_us - seat->quickest_us) < 0)
        seat->quickest_us = way_us;
    seat->timed = true;
    seat->timed_ns = hub->now_ns;
    const bool late = way_us - seat->quickest_us > STALE_US;
    if (!late || seat->late_ns == 0)
        seat->late_ns = late ? hub->now_ns : 0;
    if (!late || hub->now_ns - seat->late_ns < SET_NS)
        return late;
    seat->quickest_us = way_us;
    seat->late_ns = 0;
    return false;
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
        seat->timed = false;
    if (is_stale(hub, seat, picture.sent_us)) {
        warn(hub, seat, "pictures that come much later than others are dropped");
        return;
    }
    if (hub->flown_by != seat->serial)
        hub->hand.pass(hub->hand.self, NULL, 0);
    hub->flown_by = seat->serial;
    hub->hand.pass(hub->hand.self, bytes.data, bytes.size);
}
