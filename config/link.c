/*
 * Links: addresses, message rates, what happens when the board falls silent.
 */
#include "config/resolve.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rt/check.h"

static const struct cfg_keys_link *link_keys(const struct cfg_resolve *resolve, int i)
{
    return (const struct cfg_keys_link *)resolve->keys->links.items + i;
}

static uint64_t nanoseconds(double seconds)
{
    return (uint64_t)llround(seconds * 1e9);
}

static bool is_port(const char *text)
{
    const size_t length = strlen(text);
    if (length == 0 || length > 5 || strspn(text, "0123456789") != length)
        return false;
    const long port = strtol(text, NULL, 10);
    return port >= 1 && port <= 65535;
}

static bool is_address(const char *text)
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
    if (!is_address(text))
        return cfg_fail_at(resolve->report, keys->node, key,
                           "%s wants an IPv4 address and a port from 1 to 65535, e.g. "
                           "127.0.0.1:14560; here is %s",
                           key, cfg_quote(text).text);
    strcpy(out, text); /* an address is at most 21 characters */
    return true;
}

/* A rate that nobody wrote bends to the grid; a written one must lie on it. */
static bool resolve_send(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                         const char *key, double rate_hz, double usual_hz, uint32_t *every)
{
    if (!isnan(rate_hz) && rate_hz > 0.0)
        return cfg_frames_per(resolve, keys->send.node, key, rate_hz, every);
    const double frames = nearbyint(resolve->scenario->rate_hz / usual_hz);
    *every = rate_hz == 0.0 ? 0 : frames > 1.0 ? (uint32_t)frames : 1;
    return true;
}

static bool resolve_sends(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                          struct cfg_link *link)
{
    const struct cfg_keys_send *send = &keys->send;
    return resolve_send(resolve, keys, "sensor", send->sensor, 250.0, &link->every_sensor) &&
           resolve_send(resolve, keys, "state", send->state, 50.0, &link->every_state) &&
           resolve_send(resolve, keys, "gps", send->gps, 10.0, &link->every_gps) &&
           resolve_send(resolve, keys, "heartbeat", send->heartbeat, 1.0, &link->every_heartbeat) &&
           resolve_send(resolve, keys, "time", send->time, 1.0, &link->every_time);
}

static bool check_unique(const struct cfg_resolve *resolve, int i)
{
    const struct cfg_keys_link *keys = link_keys(resolve, i);
    for (int k = 0; k < i; k++) {
        const struct cfg_keys_link *other = link_keys(resolve, k);
        if (strcmp(other->name, keys->name) == 0)
            return cfg_fail_at(resolve->report, keys->node, "name",
                               "there is already a link \"%s\"; choose another name", keys->name);
        if (strcmp(other->listen, keys->listen) == 0)
            return cfg_fail_at(resolve->report, keys->node, "listen",
                               "link \"%s\" already listens on %s; take another port", other->name,
                               keys->listen);
    }
    return true;
}

static bool resolve_link(const struct cfg_resolve *resolve, const struct cfg_keys_link *keys,
                         struct cfg_link *link)
{
    strcpy(link->name, keys->name);
    link->mark = keys->node->mark;
    link->spec.name = link->name;
    link->spec.lost_after_ns = nanoseconds(keys->lost_after);
    link->spec.system_id = (uint8_t)keys->system_id;
    link->spec.component_id = (uint8_t)keys->component_id;
    link->stop_on_loss = keys->on_loss == 1;
    link->wait_limit_ns = nanoseconds(keys->wait_limit);
    link->connect_limit_ns = nanoseconds(keys->connect_within);
    return resolve_address(resolve, keys, "listen", keys->listen, link->spec.listen) &&
           resolve_address(resolve, keys, "peer", keys->peer, link->spec.peer) &&
           cfg_find_body(resolve, keys->node, "body", keys->body, &link->body) &&
           resolve_sends(resolve, keys, link);
}

bool cfg_resolve_links(const struct cfg_resolve *resolve)
{
    struct cfg_scenario *scenario = resolve->scenario;
    scenario->links = calloc((size_t)resolve->keys->links.count + 1, sizeof *scenario->links);
    RT_CHECK(scenario->links != NULL);
    for (int i = 0; i < resolve->keys->links.count; i++) {
        if (!check_unique(resolve, i) ||
            !resolve_link(resolve, link_keys(resolve, i), &scenario->links[i]))
            return false;
        scenario->link_count++;
    }
    return true;
}
