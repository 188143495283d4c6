/*
 * What a log consists of: channels, attachments, and the trigger that makes it complete for a
 * while.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IO_CHANNEL_MAX = 144, IO_TOPIC_MAX = 64 };

struct io_channel_spec {
    char topic[IO_TOPIC_MAX];    /* "/frame" */
    char schema[IO_TOPIC_MAX];   /* "airbearing_msgs/msg/Frame" */
    const char *definition;      /* ros2msg text, with units in comments */
    uint32_t payload_size;       /* bytes of the CDR image without its header */
    uint32_t depth;              /* records the ring holds */
    uint32_t every;              /* every so many records one is written; 0 and 1: all */
    uint32_t hold;               /* records between them that wait for a trigger */
    const char *const *metadata; /* key, value ... NULL; NULL: units and every as told above */
};

struct io_blob { /* attachment or metadata text */
    const char *name;
    const char *media_type;
    const void *bytes;
    size_t size;
};

/* When all channels are to be recorded whole for a while. */
struct io_log_trigger {
    bool (*seen)(void *self, int channel, const void *payload); /* is it now?  NULL: never */
    void *self;
    uint64_t before_ns, after_ns; /* of log time */
};
