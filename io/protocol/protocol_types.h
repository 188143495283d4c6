/*
 * What the wire protocols have in common: their kinds, their properties, and the port through which
 * they act.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/bus/bus.h"
#include "io/command.h"
#include "io/protocol/betaflight.h"
#include "io/protocol/hand.h"

/* One line per protocol: the end of its enum value, its name in a scenario, and its row (struct
 * io_protocol_ops of io/protocol/protocol_ops.h). */
#define IO_PROTOCOL_LIST(ROW)                                                                      \
    ROW(MAVLINK, "mavlink", io_mavlink_protocol)                                                   \
    ROW(PX4, "px4", io_px4_protocol)                                                               \
    ROW(PX4_HITL, "px4-hitl", io_px4_hitl_protocol)                                                \
    ROW(ARDUPILOT, "ardupilot", io_ardupilot_protocol)                                             \
    ROW(BETAFLIGHT, "betaflight", io_betaflight_protocol)                                          \
    ROW(HAND, "hand", io_hand_protocol)

/* IO_PROTOCOL_MAVLINK, IO_PROTOCOL_PX4 and so on, in the order of the list. */
enum io_protocol_kind {
#define IO_PROTOCOL_KIND(kind, name, row) IO_PROTOCOL_##kind,
    IO_PROTOCOL_LIST(IO_PROTOCOL_KIND)
#undef IO_PROTOCOL_KIND
        IO_PROTOCOL_COUNT
};

/* Longest run of bytes that a port is given at once. */
enum { IO_PROTOCOL_FRAME_MAX = 1024, IO_PROTOCOL_INVALID_MAX = 280 };

/* The usual rate of a message where the scenario gives none: Hz, or one of these. */
enum io_usual_rate {
    IO_RATE_NEVER = 0,   /* the message is sent only where the scenario gives a rate */
    IO_RATE_FRAME = -1,  /* with every frame */
    IO_RATE_DEVICE = -2, /* as often as the sensor samples */
    IO_RATE_NONE = -3,   /* the protocol has no such message */
};

/* Whose names of flight modes a ground script uses. */
enum io_mode_names {
    IO_MODE_NAMES_NONE, /* the protocol carries no commands of a ground station */
    IO_MODE_NAMES_PX4,
    IO_MODE_NAMES_ARDUCOPTER,
};

/* Properties of a protocol that are known before the first byte arrives. */
struct io_protocol_traits {
    const char *name;     /* as in a scenario */
    uint16_t listen_port; /* the port at which its users expect the simulator */
    uint16_t
        peer_port; /* the port at which the far end listens, if it sends from another; else 0 */
    enum io_bus_kind usual_bus;
    int16_t usual_hz[IO_MESSAGE_COUNT]; /* by enum io_message */
    bool datagrams_only;                /* a stream (TCP, serial) cannot carry it */
    bool speaks_first;       /* the far end sends a message before it gets the first sample */
    bool lockstep;           /* one command per sample with IO_SEND_SENSOR */
    bool marks_fields;       /* a sample marks which of its sensors have a new value */
    bool stamps_commands;    /* commands carry the board's time */
    bool answers_time_query; /* the far end can be asked for its time */
    bool forwards;           /* ground stations can be reached through it */
    bool hands; /* a hand controller: it sends nothing at rest, and nothing is sent to it */
    bool needs_hil_flag;  /* the board is ready when its heartbeat has the HIL flag */
    bool takes_rc;        /* the far end takes the channels of an RC receiver from the link */
    bool has_variants;    /* enum io_betaflight_variant selects the layout of its packets */
    bool reports_version; /* the far end reports its version by MSP before the run */
    bool carries_ground;  /* messages of a ground script leave by the link itself */
    enum io_mode_names mode_names;
    int first_replies;      /* replies that show that the far end runs, before the first frame */
    double reply_timeout_s; /* the usual limit of the wait for a reply in lockstep */
};

struct io_protocol_spec {
    enum io_protocol_kind kind;
    uint8_t system_id, component_id; /* MAVLink's ids of the simulator */
    bool stream;                     /* bytes arrive in any pieces, not one datagram per call */
    bool virtual_gps; /* BETAFLIGHT, if it was built so: longitude, latitude, altitude instead of
                         north, east, down, and a velocity east, north, up */
    enum io_betaflight_variant variant; /* BETAFLIGHT */
    struct io_hand_spec hand;           /* HAND */
};

/* The state of the far end. */
enum io_board_state {
    IO_BOARD_SILENT,  /* no valid message has arrived */
    IO_BOARD_HEARD,   /* it sends, but has not shown that it is ready */
    IO_BOARD_NOT_HIL, /* PX4_HITL: its heartbeat lacks the HIL flag; it would ignore the sensors */
    IO_BOARD_READY,   /* PX4_HITL: it has the flag; others: a command arrived */
};

/* Where a message goes: to the peer, or to the port after the peer's. */
enum io_destination { IO_DESTINATION_PEER, IO_DESTINATION_NEXT_PORT };

/* The functions through which a protocol acts.  The bytes are valid during the call. */
struct io_protocol_port {
    void *self;
    /* A valid message arrived, so its sender is the far end.  Called before anything else of that
     * message. */
    void (*heard)(void *self);
    /* board_us, flags, mode, resets and controls are set, the rest is zero.  False: the command
     * before this one has not been latched and never will be. */
    bool (*command)(void *self, const struct io_command *command);
    /* One message.  stamped: this message closes the loop, so take a kernel time stamp of it. */
    void (*send)(void *self, const void *bytes, size_t size, enum io_destination target,
                 bool stamped);
    /* The reply to io_protocol_query_time(); NULL: the reply is not used. */
    void (*clock)(void *self, uint64_t asked_ns, uint64_t board_ns);
    /* One whole frame for the other side, unaltered. */
    void (*forward)(void *self, const void *bytes, size_t size);
};

struct io_protocol_counters {
    uint64_t rx;         /* whole messages, unknown ones included */
    uint64_t rx_bad;     /* wrong checksum, length or header */
    uint64_t rx_lost;    /* gaps in the far end's sequence numbers */
    uint64_t duplicates; /* packets that were repeated or overtaken, and gave no new command */
    uint64_t ground_bad; /* messages of ground stations that a board must not get */
};

/* What the far end has reported about itself. */
struct io_protocol_facts {
    enum io_board_state board;
    bool lockstep;         /* PX4: a lockstep build */
    uint32_t rate_hint_hz; /* ARDUPILOT: the frames per second that it asks for */
    uint32_t resets;       /* how often it has restarted */
};

/* MAV_STATE, as far as a simulator has one. */
enum io_status { IO_STATUS_ACTIVE = 4, IO_STATUS_EMERGENCY = 6, IO_STATUS_POWEROFF = 7 };
