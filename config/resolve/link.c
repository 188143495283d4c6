/*
 * Links: the bus, the protocol on it, and what happens when the board falls silent.
 */
#include "config/resolve/resolve.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml/suggest.h"
#include "rt/check.h"

static const struct cfg_keys_link *link_keys(const struct cfg_resolve *resolve, int i)
{
    return (const struct cfg_keys_link *)resolve->keys->links.items + i;
}

static uint64_t nanoseconds(double seconds)
{
    return (uint64_t)llround(seconds * 1e9);
}

/* ---- addresses ---- */

static bool is_port(const char *text)
{
    const size_t length = strlen(text);
    if (length == 0 || length > 5 || strspn(text, "0123456789") != length)
        return false;
    const long port = strtol(text, NULL, 10);
    return port >= 1 && port <= 65535;
}

bool cfg_is_address(const char *text)
{
    char host[INET_ADDRSTRLEN];
    struct in_addr address;
    const char *colon = strchr(text, ':');
    if (colon == NULL || (size_t)(colon - text) >= sizeof host || !is_port(colon + 1))
        return false;
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = '\0';
    return inet_pton(AF_INET, host, &address) == 1;
}

static bool resolve_address(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                            const char *key, const char *text, char out[IO_ADDRESS_MAX])
{
    if (text == NULL)
        return true;
    if (!cfg_is_address(text))
        return cfg_fail_at(resolve->report, keys->node, key,
                           "%s wants an IPv4 address and a port from 1 to 65535, e.g. "
                           "127.0.0.1:14560; here is %s",
                           key, cfg_quote(text).text);
    strcpy(out, text); /* an address is at most 21 characters */
    return true;
}

/* Where a board of this protocol looks for the simulator. */
static bool resolve_ends(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                         struct io_bus_spec *bus)
{
    const struct io_protocol_traits *traits =
        io_protocol_traits((enum io_protocol_kind)keys->protocol);
    const bool one_end = io_bus_traits(bus->kind)->one_end;
    if (!resolve_address(resolve, keys, "listen", keys->listen, bus->listen) ||
        !resolve_address(resolve, keys, "peer", keys->peer, bus->peer))
        return false;
    if (one_end && keys->listen != NULL && keys->peer != NULL)
        return cfg_fail_at(resolve->report, keys->node, "peer",
                           "of %s give listen, to be the server, or peer, to connect there",
                           cfg_bus_name(bus->kind));
    const bool client = one_end && keys->peer != NULL;
    if (keys->listen == NULL && !client)
        snprintf(bus->listen, sizeof bus->listen, "127.0.0.1:%u", traits->listen_port);
    if (keys->peer == NULL && traits->peer_port != 0 && !one_end)
        snprintf(bus->peer, sizeof bus->peer, "127.0.0.1:%u", traits->peer_port);
    return true;
}

/* ---- the wire ---- */

static bool is_given(const struct cfg_keys_link *keys, const char *key)
{
    return cfg_node_find(keys->node, key) != NULL;
}

/* Keys that another kind of bus would read are a slip. */
static bool check_bus_keys(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                           enum io_bus_kind bus)
{
    static const struct {
        const char *key;
        enum io_bus_keys group;
    } of[] = {
        {"listen", IO_BUS_KEYS_ENDS},   {"peer", IO_BUS_KEYS_ENDS},
        {"device", IO_BUS_KEYS_DEVICE}, {"baud", IO_BUS_KEYS_SERIAL},
        {"rs485", IO_BUS_KEYS_SERIAL},  {"can_fd", IO_BUS_KEYS_CAN},
        {"can_id", IO_BUS_KEYS_CAN},    {"can_reply_id", IO_BUS_KEYS_CAN},
    };
    const unsigned taken = io_bus_traits(bus)->keys;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        if (is_given(keys, of[i].key) && (of[i].group & taken) == 0)
            return cfg_fail_at(resolve->report, keys->node, of[i].key,
                               "%s means nothing on bus %s; remove it, or name another bus",
                               of[i].key, cfg_bus_name(bus));
    return true;
}

static bool resolve_device(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                           struct io_bus_spec *bus)
{
    const struct io_bus_traits *traits = io_bus_traits(bus->kind);
    if (keys->device == NULL && traits->usual_device != NULL) {
        strcpy(bus->device, traits->usual_device);
        return true;
    }
    if (keys->device == NULL)
        return cfg_fail_at(resolve->report, keys->node, NULL,
                           "a link on bus %s needs \"device\"; write e.g. device: %s",
                           cfg_bus_name(bus->kind), traits->example_device);
    if (strlen(keys->device) >= sizeof bus->device)
        return cfg_fail_at(resolve->report, keys->node, "device",
                           "device has more than %zu characters; shorten it",
                           sizeof bus->device - 1);
    strcpy(bus->device, keys->device);
    return true;
}

/* "evdev, spacenav, cockpit, udp or tape": the buses that are for hands alone come first. */
static struct cfg_phrase hand_buses(void)
{
    const char *names[2 * IO_BUS_KIND_COUNT];
    struct cfg_phrase list = {0};
    int count = 0;
    for (int alone = 1; alone >= 0; alone--)
        for (int i = 0; i < IO_BUS_KIND_COUNT; i++) {
            const struct io_bus_traits *traits = io_bus_traits((enum io_bus_kind)i);
            if (alone ? traits->makes_hands : traits->carries_hands)
                names[count++] = io_bus_names[i];
        }
    for (int i = 0; i < count; i++)
        cfg_phrase_add(&list, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", names[i]);
    return list;
}

/* Not every language can be spoken on every wire. */
static bool check_match(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                        enum io_bus_kind bus)
{
    const enum io_protocol_kind protocol = (enum io_protocol_kind)keys->protocol;
    const struct io_protocol_traits *traits = io_protocol_traits(protocol);
    const struct io_bus_traits *bus_traits = io_bus_traits(bus);
    if (bus_traits->makes_hands && !traits->hands)
        return cfg_fail_at(resolve->report, keys->node, "bus",
                           "on bus %s is a hand controller; write protocol: hand",
                           cfg_bus_name(bus));
    if (traits->hands && !bus_traits->makes_hands && !bus_traits->carries_hands)
        return cfg_fail_at(resolve->report, keys->node, "bus",
                           "a hand controller is on bus %s, not on %s", hand_buses().text,
                           cfg_bus_name(bus));
    if (traits->datagrams_only && !traits->hands && !bus_traits->datagrams)
        return cfg_fail_at(resolve->report, keys->node, "bus",
                           "%s is spoken over udp only; write bus: udp",
                           cfg_protocol_name(protocol));
    return true;
}

static bool resolve_bus(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                        struct io_bus_spec *bus)
{
    const struct io_protocol_traits *traits =
        io_protocol_traits((enum io_protocol_kind)keys->protocol);
    bus->kind = keys->bus >= 0 ? (enum io_bus_kind)keys->bus : traits->usual_bus;
    const unsigned taken = io_bus_traits(bus->kind)->keys;
    bus->baud = (uint32_t)keys->baud;
    bus->rs485 = keys->rs485 == 1;
    bus->fd = keys->can_fd == 1;
    bus->can_id_tx = (uint32_t)keys->can_id;
    bus->can_id_rx = (uint32_t)keys->can_reply_id;
    if (!check_match(resolve, keys, bus->kind))
        return false;
    if (!check_bus_keys(resolve, keys, bus->kind))
        return false;
    if ((taken & IO_BUS_KEYS_CAN) != 0 && bus->can_id_tx == bus->can_id_rx)
        return cfg_fail_at(resolve->report, keys->node, "can_id",
                           "can_id and can_reply_id are both %u; each side wants its own",
                           bus->can_id_tx);
    return ((taken & IO_BUS_KEYS_ENDS) == 0 || resolve_ends(resolve, keys, bus)) &&
           ((taken & IO_BUS_KEYS_DEVICE) == 0 || resolve_device(resolve, keys, bus));
}

/* ---- ground stations and the pilot ---- */

static bool resolve_forward(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                            struct io_link_spec *spec)
{
    const char *const *address = keys->forward.items;
    if (keys->forward.count > 0 && !io_protocol_traits(spec->protocol)->forwards)
        return cfg_fail_at(resolve->report, keys->node, "forward",
                           "%s has no line that ground stations could share; remove it",
                           cfg_protocol_name(spec->protocol));
    for (int i = 0; i < keys->forward.count; i++)
        if (!resolve_address(resolve, keys, "forward", address[i], spec->ground[i]))
            return false;
    return true;
}

static double stick_us(double way)
{
    return 1500.0 + 500.0 * way;
}

/* Betaflight before 2026 never gets over a radio that it heard while it booted (some seconds). */
static const double radio_on_s = 5.0;

static bool resolve_radio(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                          struct sim_link *link)
{
    const struct io_protocol_traits *traits = io_protocol_traits(link->spec.protocol);
    const char *const of_betaflight[] = {"variant", "sticks_from"};
    const bool takes[] = {traits->has_variants, traits->takes_rc};
    for (int i = 0; i < 2; i++)
        if (is_given(keys, of_betaflight[i]) && !takes[i])
            return cfg_fail_at(resolve->report, keys->node, of_betaflight[i],
                               "%s means nothing to %s; remove it, or take protocol: betaflight",
                               of_betaflight[i], cfg_protocol_name(link->spec.protocol));
    link->spec.variant =
        keys->variant >= 0 ? (enum io_betaflight_variant)keys->variant : IO_BETAFLIGHT_4_5;
    link->sticks_from = isnan(keys->sticks_from) ? radio_on_s : keys->sticks_from;
    const struct cfg_keys_stick *steps = keys->sticks.items;
    for (int i = 0; i < keys->sticks.count; i++)
        if (steps[i].at > 0.0 && steps[i].at < link->sticks_from)
            return cfg_fail_at(
                resolve->report, steps[i].node, "at",
                "the radio is silent until %.10g s, so no stick movement is received "
                "at %.10g s; move it, or lower sticks_from",
                link->sticks_from, steps[i].at);
    return true;
}

static bool resolve_sticks(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                           struct sim_link *link)
{
    const struct cfg_keys_stick *steps = keys->sticks.items;
    struct io_rc_script *script = &link->sticks;
    if (keys->sticks.count > 0 && !io_protocol_traits(link->spec.protocol)->takes_rc)
        return cfg_fail_at(
            resolve->report, keys->node, "sticks",
            "protocol %s has no radio input; remove sticks, or take protocol: betaflight",
            cfg_protocol_name(link->spec.protocol));
    script->step_count = (uint32_t)keys->sticks.count;
    for (int i = 0; i < keys->sticks.count; i++) {
        const struct cfg_keys_stick *from = &steps[i];
        struct io_rc_script_step *step = &script->step[i];
        if (i > 0 && from->at < from[-1].at)
            return cfg_fail_at(resolve->report, from->node, "at",
                               "the sticks move at %.10g s after they moved at %.10g s; sort them",
                               from->at, from[-1].at);
        step->time = from->at;
        const double first[4] = {stick_us(from->roll), stick_us(from->pitch),
                                 1000.0 + 1000.0 * from->throttle, stick_us(from->yaw)};
        memcpy(step->channel, first, sizeof first);
        step->holds_height = isnan(from->height) ? 0u : 1u;
        step->height = step->holds_height ? from->height : 0.0;
        for (int k = 4; k < IO_RC_SCRIPT_CHANNEL_COUNT; k++)
            step->channel[k] = k - 4 < from->switches.count
                                   ? 1000.0 + 1000.0 * from->switches.items[k - 4]
                                   : 1000.0;
    }
    return true;
}

/* ---- hands ---- */

static bool resolve_axes(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                         struct io_hand_spec *hand)
{
    const struct cfg_keys_hand_axis *ways = keys->axes.items;
    hand->axis_map_count = keys->axes.count;
    for (int i = 0; i < keys->axes.count; i++) {
        const struct cfg_keys_hand_axis *from = &ways[i];
        for (int k = 0; k < i; k++)
            if (ways[k].control == from->control)
                return cfg_fail_at(resolve->report, from->node, "control",
                                   "another axis moves control %d already; take another",
                                   (int)from->control);
        hand->axis_map[i] = (struct io_hand_axis_map){
            .axis = from->axis,
            .control = (int)from->control,
            .shape = {from->dead_band, from->expo, from->scale, from->invert == 1},
        };
    }
    return true;
}

static bool resolve_modes(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                          struct io_hand_spec *hand)
{
    hand->mode_count = keys->modes.count;
    for (int i = 0; i < keys->modes.count; i++) {
        const double button = keys->modes.items[i];
        if (button != floor(button))
            return cfg_fail_at(resolve->report, keys->node, "modes",
                               "buttons go by whole numbers, from 0; here is %.10g", button);
        hand->mode_button[i] = (int)button;
    }
    return true;
}

static bool resolve_hand(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                         struct sim_link *link)
{
    if (!io_protocol_traits(link->spec.protocol)->hands) {
        const char *const of_hands[] = {"axes", "modes"};
        for (int i = 0; i < 2; i++)
            if (is_given(keys, of_hands[i]))
                return cfg_fail_at(
                    resolve->report, keys->node, of_hands[i],
                    "protocol %s is not a hand controller; remove axes, or take protocol: hand",
                    cfg_protocol_name(link->spec.protocol));
        return true;
    }
    if (keys->axes.count == 0)
        return cfg_fail_at(resolve->report, keys->node, NULL,
                           "a hand controller needs \"axes\"; write e.g. axes: [{axis: x, control: "
                           "0}]");
    return resolve_axes(resolve, keys, &link->spec.hand) &&
           resolve_modes(resolve, keys, &link->spec.hand);
}

static bool resolve_delay(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                          struct sim_link *link)
{
    const double most = CFG_LINK_DELAY_MAX * resolve->scenario->spec.rate_hz;
    return cfg_whole_steps(resolve, keys->node, "delay", keys->delay, 1,
                           (uint32_t)llround(most) + 1, &link->delay);
}

/* ---- all ---- */

static bool is_same_bus(const struct io_bus_spec *a, const struct io_bus_spec *b)
{
    return a->kind == b->kind && strcmp(a->listen, b->listen) == 0 &&
           strcmp(a->peer, b->peer) == 0 && strcmp(a->device, b->device) == 0;
}

static bool check_unique(const struct cfg_resolve *resolve, int i)
{
    const struct cfg_keys_link *keys = link_keys(resolve, i);
    const struct sim_link *links = resolve->scenario->spec.links;
    for (int k = 0; k < i; k++) {
        if (strcmp(links[k].name, keys->name) == 0)
            return cfg_fail_at(resolve->report, keys->node, "name",
                               "there is already a link \"%s\"; choose another name", keys->name);
        if (links[i].spec.bus.listen[0] != '\0' &&
            links[k].spec.bus.kind == links[i].spec.bus.kind &&
            strcmp(links[k].spec.bus.listen, links[i].spec.bus.listen) == 0)
            return cfg_fail_at(resolve->report, keys->node, "listen",
                               "link \"%s\" already listens on %s; take another port",
                               links[k].name, links[i].spec.bus.listen);
        if (links[k].spec.bus.kind == links[i].spec.bus.kind &&
            io_bus_traits(links[i].spec.bus.kind)->only_one)
            return cfg_fail_at(resolve->report, keys->node, "bus",
                               "link \"%s\" is already the %s's; take another bus", links[k].name,
                               cfg_bus_name(links[i].spec.bus.kind));
        if (is_same_bus(&links[k].spec.bus, &links[i].spec.bus))
            return cfg_fail_at(resolve->report, keys->node,
                               keys->device != NULL ? "device" : "peer",
                               "link \"%s\" is already on %s; take another", links[k].name,
                               keys->device != NULL ? keys->device : keys->peer);
    }
    return true;
}

static bool resolve_link(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                         struct sim_link *link)
{
    strcpy(link->name, keys->name);
    cfg_scenario_note(resolve->scenario, "links", link->name, keys->node->mark);
    link->spec.name = link->spec.bus.name = link->name;
    link->spec.seed = resolve->scenario->spec.seed;
    link->spec.protocol = (enum io_protocol_kind)keys->protocol;
    link->spec.lost_after_ns = nanoseconds(keys->lost_after);
    link->spec.system_id = (uint8_t)keys->system_id;
    link->spec.component_id = (uint8_t)keys->component_id;
    link->stop_on_loss = keys->on_loss == 1;
    link->on_loss_given = cfg_node_find(keys->node, "on_loss") != NULL;
    /* ArduPilot must be able to stand in a debugger without the physics going on. */
    const double wait = io_protocol_traits(link->spec.protocol)->reply_timeout_s;
    link->wait_limit_ns = nanoseconds(isnan(keys->wait_limit) ? wait : keys->wait_limit);
    link->connect_limit_ns = nanoseconds(keys->connect_within);
    return resolve_bus(resolve, keys, &link->spec.bus) &&
           cfg_find_body(resolve, keys->node, "body", keys->body, &link->body) &&
           resolve_forward(resolve, keys, &link->spec) && resolve_sticks(resolve, keys, link) &&
           resolve_radio(resolve, keys, link) && cfg_resolve_ground(resolve, keys, link) &&
           resolve_hand(resolve, keys, link) && resolve_delay(resolve, keys, link);
}

bool cfg_find_link(const struct cfg_resolve *resolve, const struct cfg_node *node, const char *name,
                   int *index)
{
    const struct cfg_scenario *scenario = resolve->scenario;
    struct cfg_suggestion suggestion = cfg_suggest_begin(name);
    for (int i = 0; i < scenario->spec.link_count; i++) {
        if (strcmp(scenario->spec.links[i].name, name) == 0) {
            *index = i;
            return true;
        }
        cfg_suggest_offer(&suggestion, scenario->spec.links[i].name);
    }
    struct cfg_phrase advice = {0};
    if (suggestion.best != NULL)
        cfg_phrase_add(&advice, "did you mean \"%s\"?", suggestion.best);
    else
        cfg_phrase_add(&advice, "add it under links");
    return cfg_fail_at(resolve->report, node, "link", "there is no link %s; %s",
                       cfg_quote(name).text, advice.text);
}

bool cfg_resolve_predictor(const struct cfg_resolve *resolve)
{
    static const double most_seconds = 60.0;
    const struct cfg_keys_predictor *keys = &resolve->keys->predictor;
    const struct cfg_scenario *scenario = resolve->scenario;
    struct sim_predictor_spec *predictor = &resolve->scenario->spec.predictor;
    const double most = most_seconds * scenario->spec.rate_hz;
    if (keys->node == NULL)
        return true;
    for (int i = 0; i < scenario->spec.link_count; i++)
        if (scenario->spec.links[i].delay > predictor->ahead)
            predictor->ahead = scenario->spec.links[i].delay;
    if (isnan(keys->ahead) && predictor->ahead == 0)
        return cfg_fail_at(resolve->report, keys->node, NULL,
                           "no link is late, so there is nothing to run ahead of; give a link a "
                           "delay, or say how far, e.g. ahead: 2 s");
    return cfg_frames_per(resolve, keys->node, "rate", keys->rate, &predictor->every) &&
           (isnan(keys->ahead) || cfg_whole_steps(resolve, keys->node, "ahead", keys->ahead, 1,
                                                  (uint32_t)llround(most) + 1, &predictor->ahead));
}

bool cfg_resolve_links(const struct cfg_resolve *resolve)
{
    struct cfg_scenario *scenario = resolve->scenario;
    scenario->spec.links =
        calloc((size_t)resolve->keys->links.count + 1, sizeof *scenario->spec.links);
    RT_CHECK(scenario->spec.links != NULL);
    for (int i = 0; i < resolve->keys->links.count; i++) {
        if (!resolve_link(resolve, link_keys(resolve, i), &scenario->spec.links[i]) ||
            !check_unique(resolve, i))
            return false;
        scenario->spec.link_count++;
    }
    return true;
}
