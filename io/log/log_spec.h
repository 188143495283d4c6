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
    uint32_t depth;              /* records in the ring */
    uint32_t every;              /* one of so many records is written; 0 and 1: all */
    uint32_t hold;               /* records between those that wait for a trigger */
    const char *const *metadata; /* key, value ... NULL; NULL: the units and `every` */
};

struct io_blob { /* an attachment */
    const char *name;
    const char *media_type;
    const void *bytes;
    size_t size;
};

/* The condition under which all records of all channels are written for a while. */
struct io_log_trigger {
    bool (*seen)(void *self, int channel, const void *payload); /* true: now; NULL: never */
    void *self;
    uint64_t before_ns, after_ns; /* of log time */
};
