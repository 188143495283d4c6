/*
 * Resolves the recording: which channels are recorded in full, which decimated, and when all of
 * them.
 *
 * Only channels of the vehicle and its devices may be decimated. Replay and timing need /frame,
 * /input and the others in full.
 */
#include "config/resolve/resolve.h"

#include <math.h>
#include <string.h>

#include "config/yaml/suggest.h"

static const char PLANT[] = "/plant", DEVICE[] = "/device/";

/* Frames between two records of the channel without decimation; 0: there is no such channel. */
static uint32_t find_topic(const struct cfg_scenario *scenario, const char *topic,
                           struct sim_log_channel *channel)
{
    const size_t prefix = strlen(DEVICE);
    *channel = (struct sim_log_channel){.sensor = -1, .drive = -1};
    if (strcmp(topic, PLANT) == 0)
        return scenario->spec.log_every;
    if (strncmp(topic, DEVICE, prefix) != 0)
        return 0;
    for (int i = 0; i < scenario->spec.sensor_count; i++) {
        if (strcmp(scenario->spec.sensors[i].name, topic + prefix) == 0) {
            channel->sensor = i;
            return scenario->spec.sensors[i].every;
        }
    }
    for (int i = 0; i < scenario->spec.drive_count; i++) {
        if (strcmp(scenario->spec.effectors[i].name, topic + prefix) == 0) {
            channel->drive = i;
            return scenario->spec.log_every;
        }
    }
    return 0;
}

static bool unknown_topic(const struct cfg_resolve *resolve,
                          const struct cfg_keys_log_channel *keys)
{
    const struct cfg_scenario *scenario = resolve->scenario;
    const char *name = strrchr(keys->topic, '/');
    struct cfg_suggestion suggestion = cfg_suggest_begin(name != NULL ? name + 1 : keys->topic);
    struct cfg_phrase advice = {0};
    cfg_suggest_offer(&suggestion, PLANT + 1);
    for (int i = 0; i < scenario->spec.sensor_count; i++)
        cfg_suggest_offer(&suggestion, scenario->spec.sensors[i].name);
    for (int i = 0; i < scenario->spec.drive_count; i++)
        cfg_suggest_offer(&suggestion, scenario->spec.effectors[i].name);
    if (suggestion.best != NULL)
        cfg_phrase_add(&advice, "; did you mean \"%s%s\"?",
                       suggestion.best == PLANT + 1 ? "/" : DEVICE, suggestion.best);
    return cfg_fail_at(resolve->report, keys->node, "topic",
                       "%s cannot be thinned; only /plant and /device/NAME of instruments and "
                       "commanded devices can%s",
                       cfg_quote(keys->topic).text, advice.text);
}

/* every counts records, rate counts frames. */
static bool resolve_every(const struct cfg_resolve *resolve,
                          const struct cfg_keys_log_channel *keys, uint32_t own,
                          struct sim_log_channel *channel)
{
    if (isnan(keys->rate) == (keys->every < 1))
        return cfg_fail_at(resolve->report, keys->node, NULL,
                           "a thinned channel wants every or rate, one of them; e.g. every: 10");
    channel->every = (uint32_t)keys->every;
    if (isnan(keys->rate))
        return true;
    uint32_t frames;
    if (!cfg_frames_per(resolve, keys->node, "rate", keys->rate, &frames))
        return false;
    channel->every = frames / own;
    const double own_hz = resolve->scenario->spec.rate_hz / own;
    return frames % own == 0 ||
           cfg_fail_at(resolve->report, keys->node, "rate",
                       "rate of %.10g Hz does not divide the %.10g Hz at which %s comes; take one "
                       "that does, or every",
                       keys->rate, own_hz, keys->topic);
}

static bool resolve_channel(const struct cfg_resolve *resolve,
                            const struct cfg_keys_log_channel *keys,
                            struct sim_log_channel *channel)
{
    const struct sim_log_spec *log = &resolve->scenario->spec.log;
    const uint32_t own = find_topic(resolve->scenario, keys->topic, channel);
    if (own == 0)
        return unknown_topic(resolve, keys);
    for (int i = 0; i < log->channel_count; i++)
        if (log->channel[i].sensor == channel->sensor && log->channel[i].drive == channel->drive)
            return cfg_fail_at(resolve->report, keys->node, "topic",
                               "%s is thinned twice; remove one", cfg_quote(keys->topic).text);
    return resolve_every(resolve, keys, own, channel);
}

static bool resolve_trigger(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_trigger *keys = &resolve->keys->log.trigger;
    struct sim_log_spec *log = &resolve->scenario->spec.log;
    const char *const *when = keys->when.items;
    if (keys->node != NULL && log->channel_count == 0)
        return cfg_fail_at(resolve->report, resolve->keys->log.node, "trigger",
                           "no channel is thinned, so all is whole without a trigger; add channels "
                           "or remove it");
    for (int i = 0; i < keys->when.count; i++) {
        log->on_overrun |= strcmp(when[i], "overrun") == 0;
        log->on_fault |= strcmp(when[i], "fault") == 0;
        if (strcmp(when[i], "overrun") != 0 && strcmp(when[i], "fault") != 0)
            return cfg_fail_at(resolve->report, keys->node, "when",
                               "a trigger is overrun or fault; here is %s",
                               cfg_quote(when[i]).text);
    }
    log->before_ns = (uint64_t)llround(keys->before * 1e9);
    log->after_ns = (uint64_t)llround(keys->after * 1e9);
    return true;
}

bool cfg_resolve_log(const struct cfg_resolve *resolve)
{
    const struct cfg_list *list = &resolve->keys->log.channels;
    struct sim_log_spec *log = &resolve->scenario->spec.log;
    for (int i = 0; i < list->count; i++) {
        const struct cfg_keys_log_channel *keys = list->items;
        if (!resolve_channel(resolve, &keys[i], &log->channel[i]))
            return false;
        log->channel_count++;
    }
    return resolve_trigger(resolve);
}
