/*
 * Commands of viewers: who may give them, and who is told about it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/live/hub.h"

static const uint64_t SILENT_NS = 15000000000;

const char io_hub_watching[] = "you look on; to command, come by the address that the run printed, "
                               "with its ?operator=TOKEN";

struct io_hub_seat *io_hub_seat_of(struct io_hub *hub, uint64_t serial)
{
    for (int i = 0; serial != 0 && i < IO_SERVER_VIEWER_MAX; i++) {
        if (hub->seat[i].viewer && hub->seat[i].serial == serial)
            return &hub->seat[i];
    }
    return NULL;
}

void io_hub_note(const struct io_hub *hub, const char *format, ...)
{
    char text[IO_FOX_TEXT_MAX];
    va_list values;
    if (!hub->desk || !hub->desk->note)
        return;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    hub->desk->note(hub->desk->self, text);
}

/* That somebody asks, to this holder? */
static bool is_news(struct io_authority now, struct io_authority before)
{
    return now.asking != 0 && (now.asking != before.asking || now.holder != before.holder);
}

/* Only the holder has a line about who asks. */
static void tell_holder(struct io_hub *hub, struct io_authority before)
{
    const struct io_authority now = hub->authority;
    struct io_hub_seat *old = io_hub_seat_of(hub, before.holder),
                       *holder = io_hub_seat_of(hub, now.holder);
    char text[IO_FOX_TEXT_MAX];
    if (old && before.asking != 0 && (now.holder != before.holder || now.asking == 0)) {
        io_fox_remove_status(&hub->out, "authority");
        io_hub_say(hub, old, false);
    }
    if (holder && is_news(now, before)) {
        snprintf(text, sizeof text, "viewer %llu asks for authority",
                 (unsigned long long)now.asking);
        io_fox_status(&hub->out, IO_FOX_WARNING, text, "authority");
        io_hub_say(hub, holder, false);
    }
}

static void tell(struct io_hub *hub, struct io_authority before)
{
    const struct io_authority now = hub->authority;
    tell_holder(hub, before);
    if (now.holder != before.holder)
        io_hub_hands_off(hub, before.holder);
    if (now.holder != before.holder && now.holder != 0)
        io_hub_note(hub, "viewer %llu has authority", (unsigned long long)now.holder);
    else if (now.holder != before.holder)
        io_hub_note(hub, "viewer %llu has authority no more", (unsigned long long)before.holder);
    if (now.holder != 0 && is_news(now, before))
        io_hub_note(hub, "viewer %llu asks viewer %llu for authority",
                    (unsigned long long)now.asking, (unsigned long long)now.holder);
}

static bool is_operator(const struct io_hub_seat *seat, char why[IO_FOX_TEXT_MAX])
{
    if (!seat->is_operator)
        snprintf(why, IO_FOX_TEXT_MAX, "%s", io_hub_watching);
    return seat->is_operator;
}

bool io_hub_may_command(struct io_hub *hub, struct io_hub_seat *seat, char why[IO_FOX_TEXT_MAX])
{
    const struct io_authority before = hub->authority;
    if (!is_operator(seat, why))
        return false;
    const bool may = io_authority_command(&hub->authority, seat->serial, why);
    tell(hub, before);
    return may;
}

void io_hub_authority(struct io_hub *hub, struct io_hub_seat *seat, enum io_authority_act act)
{
    const struct io_fox_ask *ask = &hub->ask;
    const struct io_authority before = hub->authority;
    char text[IO_FOX_TEXT_MAX];
    if (!seat->is_operator) {
        io_fox_call_failure(&hub->out, ask->service, ask->call, io_hub_watching);
        io_hub_say(hub, seat, false);
        return;
    }
    const bool done = io_authority_act(&hub->authority, act, seat->serial, text);
    seat->beside = seat->beside || (done && act == IO_AUTHORITY_GIVE);
    io_fox_call_response(&hub->out, ask->service, ask->call, ask->encoding, done, text);
    io_hub_say(hub, seat, true);
    tell(hub, before);
}

void io_hub_lay_down(struct io_hub *hub, const struct io_hub_seat *seat)
{
    const struct io_authority before = hub->authority;
    io_authority_leave(&hub->authority, seat->serial);
    tell(hub, before);
}

/* A browser answers pings for a page that hangs, and so keeps its seat.  A page that lives says
 * something every second; whoever has said nothing for so long is not there to hand over. */
void io_hub_wake(struct io_hub *hub)
{
    const struct io_hub_seat *holder = io_hub_seat_of(hub, hub->authority.holder);
    if (!holder || hub->authority.asking == 0 || hub->now_ns - holder->heard_ns < SILENT_NS)
        return;
    io_hub_note(hub, "viewer %llu has said nothing for %llu s", (unsigned long long)holder->serial,
                (unsigned long long)(SILENT_NS / 1000000000));
    io_hub_lay_down(hub, holder);
}

/* At every tick and not at every change, so that those who come and go in a hurry tell nobody. */
void io_hub_show_authority(struct io_hub *hub, uint64_t now_ns)
{
    uint32_t image[3] = {(uint32_t)hub->authority.holder, (uint32_t)hub->authority.asking, 0};
    _Static_assert(sizeof image == IO_AUTHORITY_IMAGE_SIZE, "as the definition has it");
    const int channel = hub->channel_count - 1;
    for (int i = 0; i < IO_SERVER_VIEWER_MAX; i++)
        image[2] += hub->seat[i].viewer != NULL;
    if (hub->newest[channel] && memcmp(image, hub->shown, sizeof image) == 0)
        return;
    struct io_live_message *message =
        io_live_message_make(channel, hub->time_ns, image, sizeof image);
    if (!message)
        return;
    memcpy(hub->shown, image, sizeof image);
    io_hub_offer(hub, message, now_ns);
}
