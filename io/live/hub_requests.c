/*
 * Parameters and services: what a viewer asks of the desk, and the answer on its way back.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/live/hub.h"

static const uint64_t PATIENCE_NS = 10000000000;

static int parameter_count(const struct io_hub *hub)
{
    const int count = hub->desk ? hub->desk->parameter_count : 0;
    return count < IO_LIVE_PARAMETER_MAX ? count : IO_LIVE_PARAMETER_MAX;
}

static int parameter_index(const struct io_hub *hub, const char *name)
{
    for (int i = 0; i < parameter_count(hub); i++) {
        if (strcmp(hub->desk->parameter_name(hub->desk->self, i), name) == 0)
            return i;
    }
    return -1;
}

static struct io_fox_value value_of(const struct io_hub *hub, int index)
{
    return (struct io_fox_value){hub->desk->parameter_name(hub->desk->self, index),
                                 hub->desk->parameter_value(hub->desk->self, index)};
}

static void complain_of_name(struct io_hub *hub, struct io_hub_seat *seat, const char *name)
{
    char text[IO_FOX_TEXT_MAX];
    snprintf(text, sizeof text, "there is no parameter \"%s\"", name);
    io_hub_complain(hub, seat, text);
}

/* ---- parameters ------------------------------------------------------------------------ */

/* No names mean all of them. */
void io_hub_get(struct io_hub *hub, struct io_hub_seat *seat)
{
    struct io_fox_value values[IO_LIVE_PARAMETER_MAX];
    int count = 0;
    for (int i = 0; hub->ask.count == 0 && i < parameter_count(hub); i++)
        values[count++] = value_of(hub, i);
    for (int i = 0; i < hub->ask.count; i++) {
        const int index = parameter_index(hub, hub->ask.parameter[i].name);
        if (index < 0)
            complain_of_name(hub, seat, hub->ask.parameter[i].name);
        else
            values[count++] = value_of(hub, index);
    }
    io_fox_parameter_values(&hub->out, values, count, hub->ask.id);
    io_hub_say(hub, seat, false);
}

void io_hub_watch(struct io_hub *hub, struct io_hub_seat *seat, bool on)
{
    for (int i = 0; hub->ask.count == 0 && i < parameter_count(hub); i++)
        seat->viewer->watches[i] = on;
    for (int i = 0; i < hub->ask.count; i++) {
        const int index = parameter_index(hub, hub->ask.parameter[i].name);
        if (index < 0)
            complain_of_name(hub, seat, hub->ask.parameter[i].name);
        else
            seat->viewer->watches[index] = on;
    }
}

/* It will not be answered, and who asked is told so. */
static void give_up(struct io_hub *hub, struct io_hub_errand *errand, const char *why)
{
    struct io_hub_seat *seat = io_hub_seat_of(hub, errand->serial);
    errand->open = 0;
    if (seat && errand->is_call) {
        io_fox_call_failure(&hub->out, errand->service, errand->call, why);
        io_hub_say(hub, seat, false);
    } else if (seat) {
        io_hub_complain(hub, seat, why);
    }
}

/* Answers that are there make room.  One that has been waited for so long gives its place to who
 * comes now. */
static struct io_hub_errand *free_errand(struct io_hub *hub)
{
    struct io_hub_errand *oldest = &hub->errand[0];
    io_hub_answers(hub);
    for (int i = 0; i < IO_HUB_ERRAND_MAX; i++) {
        struct io_hub_errand *errand = &hub->errand[i];
        if (errand->open == 0)
            return errand;
        if (errand->begun_ns < oldest->begun_ns)
            oldest = errand;
    }
    if (hub->now_ns - oldest->begun_ns <= PATIENCE_NS)
        return NULL;
    give_up(hub, oldest, "no answer in 10 s, and others wait; it may still be carried out");
    return oldest;
}

static void begin(struct io_hub *hub, const struct io_hub_seat *seat, struct io_hub_errand *errand)
{
    *errand = (struct io_hub_errand){
        .first = hub->tickets, .serial = seat->serial, .begun_ns = hub->now_ns};
    memcpy(errand->id, hub->ask.id, sizeof errand->id);
}

/* One parameter of a request; those before it have their tickets. */
static void set_one(struct io_hub *hub, struct io_hub_seat *seat, struct io_hub_errand *errand,
                    int item)
{
    const struct io_desk *desk = hub->desk;
    const int index = parameter_index(hub, hub->ask.parameter[item].name);
    if (index < 0) {
        complain_of_name(hub, seat, hub->ask.parameter[item].name);
        return;
    }
    const char *why = desk->set(desk->self, hub->tickets, index, hub->ask.parameter[item].value);
    if (why) {
        io_hub_complain(hub, seat, why);
        return;
    }
    hub->tickets++;
    errand->parameter[errand->total++] = (uint16_t)index;
    errand->open++;
}

static void finish_set(struct io_hub *hub, struct io_hub_seat *seat,
                       const struct io_hub_errand *errand)
{
    struct io_fox_value values[IO_FOX_LIST_MAX];
    if (!errand->id[0])
        return; /* who gave no id wants no answer; those who watch see the change */
    for (int i = 0; i < errand->total; i++)
        values[i] = value_of(hub, errand->parameter[i]);
    io_fox_parameter_values(&hub->out, values, errand->total, errand->id);
    io_hub_say(hub, seat, false);
}

/* Who may not set is shown what stays. */
static void refuse_set(struct io_hub *hub, struct io_hub_seat *seat, const char *why)
{
    io_hub_complain(hub, seat, why);
    if (hub->ask.id[0])
        io_hub_get(hub, seat);
}

void io_hub_set(struct io_hub *hub, struct io_hub_seat *seat)
{
    struct io_hub_errand *errand = free_errand(hub);
    char why[IO_FOX_TEXT_MAX];
    if (!io_hub_may_command(hub, seat, why)) {
        refuse_set(hub, seat, why);
        return;
    }
    if (!errand) {
        io_hub_complain(hub, seat, "too many requests are under way");
        return;
    }
    begin(hub, seat, errand);
    for (int i = 0; i < hub->ask.count; i++)
        set_one(hub, seat, errand, i);
    if (errand->open == 0)
        finish_set(hub, seat, errand);
}

/* Two values that are not numbers count as the same. */
static bool differs(double a, double b)
{
    return a < b || a > b || isnan(a) != isnan(b);
}

void io_hub_changes(struct io_hub *hub)
{
    bool changed[IO_LIVE_PARAMETER_MAX] = {false}, any = false;
    for (int i = 0; i < parameter_count(hub); i++) {
        const double value = hub->desk->parameter_value(hub->desk->self, i);
        changed[i] = differs(value, hub->known[i]);
        any |= changed[i];
        hub->known[i] = value;
    }
    for (int s = 0; any && s < IO_SERVER_VIEWER_MAX; s++) {
        struct io_hub_seat *seat = &hub->seat[s];
        struct io_fox_value values[IO_LIVE_PARAMETER_MAX];
        int count = 0;
        for (int i = 0; seat->viewer && i < parameter_count(hub); i++) {
            if (changed[i] && seat->viewer->watches[i])
                values[count++] = value_of(hub, i);
        }
        if (count == 0)
            continue;
        io_fox_parameter_values(&hub->out, values, count, "");
        io_hub_say(hub, seat, false);
    }
}

/* ---- services -------------------------------------------------------------------------- */

static void refuse_call(struct io_hub *hub, struct io_hub_seat *seat, const char *why)
{
    io_fox_call_failure(&hub->out, hub->ask.service, hub->ask.call, why);
    io_hub_say(hub, seat, false);
}

static bool is_stop(const struct io_desk *desk, uint32_t service)
{
    return desk->stop && service == (uint32_t)desk->stop_service;
}

static void begin_call(struct io_hub *hub, const struct io_hub_seat *seat,
                       struct io_hub_errand *errand)
{
    begin(hub, seat, errand);
    hub->tickets++;
    errand->open = errand->total = 1;
    errand->is_call = true;
    errand->service = hub->ask.service;
    errand->call = hub->ask.call;
    memcpy(errand->encoding, hub->ask.encoding, sizeof errand->encoding);
}

void io_hub_call(struct io_hub *hub, struct io_hub_seat *seat)
{
    const struct io_desk *desk = hub->desk;
    const struct io_fox_ask *ask = &hub->ask;
    struct io_fox_arguments arguments;
    char error[IO_FOX_TEXT_MAX];
    struct io_hub_errand *errand = free_errand(hub);
    const uint32_t desk_count = desk ? (uint32_t)desk->service_count : 0;
    if (ask->service >= (uint32_t)hub->service_count) {
        refuse_call(hub, seat, "there is no such service");
        return;
    }
    if (ask->service < desk_count && is_stop(desk, ask->service)) {
        refuse_call(hub, seat, io_hub_watching);
        return;
    }
    if (ask->service >= desk_count) {
        io_hub_authority(hub, seat, (enum io_authority_act)(ask->service - desk_count));
        return;
    }
    if (!io_fox_read_arguments(ask, desk->services[ask->service].form, &arguments, error)) {
        refuse_call(hub, seat, error);
        return;
    }
    if (!errand) {
        refuse_call(hub, seat, "too many requests are under way");
        return;
    }
    if (!io_hub_may_command(hub, seat, error)) {
        refuse_call(hub, seat, error);
        return;
    }
    const char *why = desk->call(desk->self, hub->tickets, (int)ask->service, &arguments);
    if (why) {
        refuse_call(hub, seat, why);
        return;
    }
    begin_call(hub, seat, errand);
}

/* ---- the stop -------------------------------------------------------------------------- */

/* Who sees an arm go wrong stops it, and does not ask first.  The latch comes before all else. */
bool io_hub_stop(struct io_hub *hub, struct io_hub_seat *seat, struct io_slice message, bool binary)
{
    const struct io_desk *desk = hub->desk;
    uint32_t service;
    char error[IO_FOX_TEXT_MAX];
    if (!binary || !seat->is_operator || !desk || !io_fox_calls(message, &service) ||
        !is_stop(desk, service))
        return false;
    const bool answers = desk->stop(desk->self, hub->tickets);
    if (!io_fox_read_binary(message, &hub->ask, error)) { /* it stops all the same */
        hub->tickets++;
        io_hub_complain(hub, seat, error);
        return true;
    }
    struct io_hub_errand *errand = answers ? free_errand(hub) : NULL;
    if (errand) {
        begin_call(hub, seat, errand);
        return true;
    }
    hub->tickets++;
    io_fox_call_response(&hub->out, hub->ask.service, hub->ask.call, hub->ask.encoding, true,
                         "the stop is latched; the next frame boundary reads it");
    io_hub_say(hub, seat, true);
    return true;
}

/* ---- answers --------------------------------------------------------------------------- */

static struct io_hub_errand *errand_of(struct io_hub *hub, uint64_t ticket)
{
    for (int i = 0; i < IO_HUB_ERRAND_MAX; i++) {
        struct io_hub_errand *errand = &hub->errand[i];
        if (errand->open > 0 && ticket - errand->first < (uint64_t)errand->total)
            return errand;
    }
    return NULL;
}

static void deliver(struct io_hub *hub, struct io_hub_seat *seat,
                    const struct io_hub_errand *errand, const struct io_desk_answer *answer)
{
    if (errand->is_call) {
        io_fox_call_response(&hub->out, errand->service, errand->call, errand->encoding,
                             answer->done, answer->text);
        io_hub_say(hub, seat, true);
        return;
    }
    if (!answer->done)
        io_hub_complain(hub, seat, answer->text);
    if (errand->open == 0)
        finish_set(hub, seat, errand);
}

void io_hub_answers(struct io_hub *hub)
{
    struct io_desk_answer answer;
    while (hub->desk && hub->desk->answer(hub->desk->self, &answer)) {
        struct io_hub_errand *errand = errand_of(hub, answer.ticket);
        if (!errand)
            continue;
        errand->open--;
        struct io_hub_seat *seat = io_hub_seat_of(hub, errand->serial);
        if (seat)
            deliver(hub, seat, errand, &answer);
    }
}

void io_hub_farewell(struct io_hub *hub)
{
    io_hub_answers(hub);
    for (int i = 0; i < IO_HUB_ERRAND_MAX; i++) {
        if (hub->errand[i].open > 0)
            give_up(hub, &hub->errand[i],
                    "the run is over, and it is not known whether this was done");
    }
}
