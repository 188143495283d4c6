/*
 * Parameters and services: requests of a viewer to the run, and the replies.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/live/hub.h"

static const uint64_t REPLY_LIMIT_NS = 10000000000;

static int parameter_count(const struct io_hub *hub)
{
    const int count = hub->service_table ? hub->service_table->parameter_count : 0;
    return count < IO_LIVE_PARAMETER_MAX ? count : IO_LIVE_PARAMETER_MAX;
}

static int parameter_index(const struct io_hub *hub, const char *name)
{
    for (int i = 0; i < parameter_count(hub); i++) {
        if (strcmp(hub->service_table->parameter_name(hub->service_table->self, i), name) == 0)
            return i;
    }
    return -1;
}

static struct io_foxglove_value value_of(const struct io_hub *hub, int index)
{
    return (struct io_foxglove_value){
        hub->service_table->parameter_name(hub->service_table->self, index),
        hub->service_table->parameter_value(hub->service_table->self, index)};
}

static void report_unknown_parameter(struct io_hub *hub, struct io_session *client,
                                     const char *name)
{
    char text[IO_FOXGLOVE_TEXT_MAX];
    snprintf(text, sizeof text, "there is no parameter \"%s\"", name);
    io_hub_send_error(hub, client, text);
}

/* ---- parameters ------------------------------------------------------------------------ */

/* No names: all parameters. */
void io_hub_get_parameters(struct io_hub *hub, struct io_session *client)
{
    struct io_foxglove_value values[IO_LIVE_PARAMETER_MAX];
    int count = 0;
    for (int i = 0; hub->request.count == 0 && i < parameter_count(hub); i++)
        values[count++] = value_of(hub, i);
    for (int i = 0; i < hub->request.count; i++) {
        const int index = parameter_index(hub, hub->request.parameter[i].name);
        if (index < 0)
            report_unknown_parameter(hub, client, hub->request.parameter[i].name);
        else
            values[count++] = value_of(hub, index);
    }
    io_foxglove_parameter_values(&hub->out, values, count, hub->request.id);
    io_hub_send(hub, client, false);
}

void io_hub_watch_parameters(struct io_hub *hub, struct io_session *client, bool on)
{
    for (int i = 0; hub->request.count == 0 && i < parameter_count(hub); i++)
        client->viewer->watches[i] = on;
    for (int i = 0; i < hub->request.count; i++) {
        const int index = parameter_index(hub, hub->request.parameter[i].name);
        if (index < 0)
            report_unknown_parameter(hub, client, hub->request.parameter[i].name);
        else
            client->viewer->watches[index] = on;
    }
}

/* The request will not get a reply, and its sender is told so. */
static void fail_pending(struct io_hub *hub, struct io_pending_request *pending, const char *why)
{
    struct io_session *client = io_hub_find_session(hub, pending->serial);
    pending->open = 0;
    if (client && pending->is_call) {
        io_foxglove_call_failure(&hub->out, pending->service, pending->call, why);
        io_hub_send(hub, client, false);
    } else if (client) {
        io_hub_send_error(hub, client, why);
    }
}

/* Replies that have arrived free their places.  A request that has waited longer than the limit
 * gives its place to the new one. */
static struct io_pending_request *free_pending(struct io_hub *hub)
{
    struct io_pending_request *oldest = &hub->pending[0];
    io_hub_deliver_replies(hub);
    for (int i = 0; i < IO_HUB_PENDING_MAX; i++) {
        struct io_pending_request *pending = &hub->pending[i];
        if (pending->open == 0)
            return pending;
        if (pending->started_ns < oldest->started_ns)
            oldest = pending;
    }
    if (hub->now_ns - oldest->started_ns <= REPLY_LIMIT_NS)
        return NULL;
    fail_pending(hub, oldest,
                 "no reply in 10 s, and other requests wait; this one may still be executed");
    return oldest;
}

static void init_pending(struct io_hub *hub, const struct io_session *client,
                         struct io_pending_request *pending)
{
    *pending = (struct io_pending_request){
        .first = hub->tickets, .serial = client->serial, .started_ns = hub->now_ns};
    memcpy(pending->id, hub->request.id, sizeof pending->id);
}

/* One parameter of a request; the previous ones have their tickets. */
static void set_one(struct io_hub *hub, struct io_session *client,
                    struct io_pending_request *pending, int item)
{
    const struct io_service_table *service_table = hub->service_table;
    const int index = parameter_index(hub, hub->request.parameter[item].name);
    if (index < 0) {
        report_unknown_parameter(hub, client, hub->request.parameter[item].name);
        return;
    }
    const char *why = service_table->set(service_table->self, hub->tickets, index,
                                         hub->request.parameter[item].value);
    if (why) {
        io_hub_send_error(hub, client, why);
        return;
    }
    hub->tickets++;
    pending->parameter[pending->total++] = (uint16_t)index;
    pending->open++;
}

static void finish_set(struct io_hub *hub, struct io_session *client,
                       const struct io_pending_request *pending)
{
    struct io_foxglove_value values[IO_FOXGLOVE_LIST_MAX];
    if (!pending->id[0])
        return; /* a request without an id gets no reply; watchers see the change */
    for (int i = 0; i < pending->total; i++)
        values[i] = value_of(hub, pending->parameter[i]);
    io_foxglove_parameter_values(&hub->out, values, pending->total, pending->id);
    io_hub_send(hub, client, false);
}

/* A client that may not set parameters gets the values in force. */
static void refuse_set(struct io_hub *hub, struct io_session *client, const char *why)
{
    io_hub_send_error(hub, client, why);
    if (hub->request.id[0])
        io_hub_get_parameters(hub, client);
}

void io_hub_set_parameters(struct io_hub *hub, struct io_session *client)
{
    struct io_pending_request *pending = free_pending(hub);
    char why[IO_FOXGLOVE_TEXT_MAX];
    if (!io_hub_may_command(hub, client, why)) {
        refuse_set(hub, client, why);
        return;
    }
    if (!pending) {
        io_hub_send_error(hub, client, "too many requests are under way");
        return;
    }
    init_pending(hub, client, pending);
    for (int i = 0; i < hub->request.count; i++)
        set_one(hub, client, pending, i);
    if (pending->open == 0)
        finish_set(hub, client, pending);
}

/* Two NaNs count as the same value. */
static bool differs(double a, double b)
{
    return a < b || a > b || isnan(a) != isnan(b);
}

void io_hub_send_changed_parameters(struct io_hub *hub)
{
    bool changed[IO_LIVE_PARAMETER_MAX] = {false}, any = false;
    for (int i = 0; i < parameter_count(hub); i++) {
        const double value = hub->service_table->parameter_value(hub->service_table->self, i);
        changed[i] = differs(value, hub->last_sent[i]);
        any |= changed[i];
        hub->last_sent[i] = value;
    }
    for (int s = 0; any && s < IO_SERVER_SESSION_MAX; s++) {
        struct io_session *client = &hub->client[s];
        struct io_foxglove_value values[IO_LIVE_PARAMETER_MAX];
        int count = 0;
        for (int i = 0; client->viewer && i < parameter_count(hub); i++) {
            if (changed[i] && client->viewer->watches[i])
                values[count++] = value_of(hub, i);
        }
        if (count == 0)
            continue;
        io_foxglove_parameter_values(&hub->out, values, count, "");
        io_hub_send(hub, client, false);
    }
}

/* ---- services -------------------------------------------------------------------------- */

static void refuse_call(struct io_hub *hub, struct io_session *client, const char *why)
{
    io_foxglove_call_failure(&hub->out, hub->request.service, hub->request.call, why);
    io_hub_send(hub, client, false);
}

static bool is_stop(const struct io_service_table *service_table, uint32_t service)
{
    return service_table->stop && service == (uint32_t)service_table->stop_service;
}

static void init_pending_call(struct io_hub *hub, const struct io_session *client,
                              struct io_pending_request *pending)
{
    init_pending(hub, client, pending);
    hub->tickets++;
    pending->open = pending->total = 1;
    pending->is_call = true;
    pending->service = hub->request.service;
    pending->call = hub->request.call;
    memcpy(pending->encoding, hub->request.encoding, sizeof pending->encoding);
}

void io_hub_call_service(struct io_hub *hub, struct io_session *client)
{
    const struct io_service_table *service_table = hub->service_table;
    const struct io_foxglove_request *request = &hub->request;
    struct io_foxglove_arguments arguments;
    char error[IO_FOXGLOVE_TEXT_MAX];
    struct io_pending_request *pending = free_pending(hub);
    const uint32_t table_count = service_table ? (uint32_t)service_table->service_count : 0;
    if (request->service >= (uint32_t)hub->service_count) {
        refuse_call(hub, client, "there is no such service");
        return;
    }
    if (request->service < table_count && is_stop(service_table, request->service)) {
        refuse_call(hub, client, io_hub_not_operator_text);
        return;
    }
    if (request->service >= table_count) {
        io_hub_call_authority(hub, client, (enum io_authority_act)(request->service - table_count));
        return;
    }
    if (!io_foxglove_read_arguments(request, service_table->services[request->service].form,
                                    &arguments, error)) {
        refuse_call(hub, client, error);
        return;
    }
    if (!pending) {
        refuse_call(hub, client, "too many requests are under way");
        return;
    }
    if (!io_hub_may_command(hub, client, error)) {
        refuse_call(hub, client, error);
        return;
    }
    const char *why =
        service_table->call(service_table->self, hub->tickets, (int)request->service, &arguments);
    if (why) {
        refuse_call(hub, client, why);
        return;
    }
    init_pending_call(hub, client, pending);
}

/* ---- the stop -------------------------------------------------------------------------- */

/* Any operator may stop the arm without having authority.  The latch comes before all else. */
bool io_hub_stop(struct io_hub *hub, struct io_session *client, struct io_slice message,
                 bool binary)
{
    const struct io_service_table *service_table = hub->service_table;
    uint32_t service;
    char error[IO_FOXGLOVE_TEXT_MAX];
    if (!binary || !client->is_operator || !service_table ||
        !io_foxglove_called_service(message, &service) || !is_stop(service_table, service))
        return false;
    const bool answers = service_table->stop(service_table->self, hub->tickets);
    if (!io_foxglove_read_binary(message, &hub->request, error)) { /* the stop is done anyway */
        hub->tickets++;
        io_hub_send_error(hub, client, error);
        return true;
    }
    struct io_pending_request *pending = answers ? free_pending(hub) : NULL;
    if (pending) {
        init_pending_call(hub, client, pending);
        return true;
    }
    hub->tickets++;
    io_foxglove_call_response(&hub->out, hub->request.service, hub->request.call,
                              hub->request.encoding, true,
                              "the stop is latched; the next frame boundary reads it");
    io_hub_send(hub, client, true);
    return true;
}

/* ---- replies --------------------------------------------------------------------------- */

static struct io_pending_request *find_pending(struct io_hub *hub, uint64_t ticket)
{
    for (int i = 0; i < IO_HUB_PENDING_MAX; i++) {
        struct io_pending_request *pending = &hub->pending[i];
        if (pending->open > 0 && ticket - pending->first < (uint64_t)pending->total)
            return pending;
    }
    return NULL;
}

static void deliver(struct io_hub *hub, struct io_session *client,
                    const struct io_pending_request *pending, const struct io_service_reply *answer)
{
    if (pending->is_call) {
        io_foxglove_call_response(&hub->out, pending->service, pending->call, pending->encoding,
                                  answer->done, answer->text);
        io_hub_send(hub, client, true);
        return;
    }
    if (!answer->done)
        io_hub_send_error(hub, client, answer->text);
    if (pending->open == 0)
        finish_set(hub, client, pending);
}

void io_hub_deliver_replies(struct io_hub *hub)
{
    struct io_service_reply answer;
    while (hub->service_table && hub->service_table->answer(hub->service_table->self, &answer)) {
        struct io_pending_request *pending = find_pending(hub, answer.ticket);
        if (!pending)
            continue;
        pending->open--;
        struct io_session *client = io_hub_find_session(hub, pending->serial);
        if (client)
            deliver(hub, client, pending, &answer);
    }
}

void io_hub_fail_pending(struct io_hub *hub)
{
    io_hub_deliver_replies(hub);
    for (int i = 0; i < IO_HUB_PENDING_MAX; i++) {
        if (hub->pending[i].open > 0)
            fail_pending(hub, &hub->pending[i],
                         "the run is over, and it is not known whether this was done");
    }
}
