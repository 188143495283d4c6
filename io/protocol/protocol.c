/*
 * Four families behind one header.  What differs inside the MAVLink family is small: who watches
 * the HIL flag.
 */
#include "io/protocol/protocol.h"

#include <math.h>
#include <string.h>

#include "io/protocol/ardupilot.h"
#include "io/protocol/betaflight.h"
#include "io/protocol/mavlink.h"
#include "rt/arena.h"
#include "rt/check.h"

enum {
    MAV_AUTOPILOT_NONE = 8, /* MAV_AUTOPILOT_INVALID: a heartbeat, but of no flight controller */
    MAV_MODE_HIL = 0x20,
    FLAG_LOCKSTEP = 1
};

_Static_assert((int)IO_STATUS_ACTIVE == (int)IO_MAVLINK_ACTIVE, "MAV_STATE");
_Static_assert((int)IO_STATUS_EMERGENCY == (int)IO_MAVLINK_EMERGENCY, "MAV_STATE");
_Static_assert((int)IO_STATUS_POWEROFF == (int)IO_MAVLINK_POWEROFF, "MAV_STATE");
_Static_assert((int)IO_PROTOCOL_FRAME_MAX >= (int)IO_MAVLINK_FRAME_MAX, "the longest message");
_Static_assert((int)IO_PROTOCOL_FRAME_MAX >= (int)IO_ARDUPILOT_REPLY_MAX, "the longest message");
_Static_assert((int)IO_PROTOCOL_INVALID_MAX >= (int)IO_MAVLINK_FRAME_MAX, "a heartbeat fits");

struct mavlink {
    struct io_mavlink_parser *board;  /* what the board says */
    struct io_mavlink_parser *ground; /* what ground stations say */
    struct io_mavlink_sender sender;
    uint64_t asked_ns; /* our open question for the time; 0: none */
};

struct ardupilot {
    bool has_last;
    uint32_t last_count; /* frame_count of the newest packet */
    size_t reply_size;   /* 0: none sent yet */
    char reply[IO_ARDUPILOT_REPLY_MAX];
};

struct betaflight {
    bool has_mirror;
    double mirror[2]; /* longitude and latitude of the first packet, deg */
};

struct io_protocol {
    struct io_protocol_spec spec;
    struct io_protocol_facts facts;
    struct io_protocol_counters counters; /* of the families without a parser of their own */
    struct mavlink mavlink;
    struct ardupilot ardupilot;
    struct betaflight betaflight;
    struct io_hand_decoder hand;
};

static const struct io_protocol_traits traits[IO_PROTOCOL_COUNT] = {
    [IO_PROTOCOL_MAVLINK] = {.name = "mavlink",
                             .listen_port = 14560,
                             .speaks_first = true,
                             .marks_fields = true,
                             .stamps_commands = true,
                             .answers_time_query = true,
                             .forwards = true},
    [IO_PROTOCOL_PX4] = {.name = "px4",
                         .listen_port = 4560,
                         .speaks_first = true,
                         .lockstep = true,
                         .marks_fields = true,
                         .stamps_commands = true,
                         .answers_time_query = true,
                         .forwards = true},
    [IO_PROTOCOL_PX4_HITL] = {.name = "px4-hitl",
                              .listen_port = 14560,
                              .speaks_first = true,
                              .marks_fields = true,
                              .stamps_commands = true,
                              .answers_time_query = true,
                              .forwards = true},
    [IO_PROTOCOL_ARDUPILOT] = {.name = "ardupilot",
                               .listen_port = 9002,
                               .datagrams_only = true,
                               .speaks_first = true,
                               .lockstep = true},
    [IO_PROTOCOL_BETAFLIGHT] = {.name = "betaflight",
                                .listen_port = 9002,
                                .peer_port = 9003,
                                .datagrams_only = true},
    [IO_PROTOCOL_HAND] = {.name = "hand",
                          .listen_port = 14580,
                          .datagrams_only = true,
                          .speaks_first = true,
                          .hands = true},
};

const struct io_protocol_traits *io_protocol_traits(enum io_protocol_kind kind)
{
    RT_CHECK((int)kind >= 0 && kind < IO_PROTOCOL_COUNT);
    return &traits[kind];
}

static bool is_mavlink(const struct io_protocol *protocol)
{
    return protocol->spec.kind <= IO_PROTOCOL_PX4_HITL;
}

/* One layout answers size and placement. */
static size_t place_protocol(struct io_protocol *protocol, void *mem)
{
    size_t at = 0;
    (void)rt_layout_cut(mem, &at, sizeof *protocol);
    if (!is_mavlink(protocol))
        return at;
    void *board = rt_layout_cut(mem, &at, io_mavlink_parser_size());
    void *ground = rt_layout_cut(mem, &at, io_mavlink_parser_size());
    if (mem) {
        protocol->mavlink.board = io_mavlink_parser_place(board);
        protocol->mavlink.ground = io_mavlink_parser_place(ground);
    }
    return at;
}

size_t io_protocol_size(const struct io_protocol_spec *spec)
{
    struct io_protocol protocol = {.spec = *spec};
    return place_protocol(&protocol, NULL);
}

struct io_protocol *io_protocol_place(const struct io_protocol_spec *spec, void *mem)
{
    struct io_protocol *protocol = mem;
    RT_CHECK((int)spec->kind >= 0 && spec->kind < IO_PROTOCOL_COUNT);
    memset(protocol, 0, sizeof *protocol);
    protocol->spec = *spec;
    protocol->mavlink.sender = (struct io_mavlink_sender){
        .system_id = spec->system_id,
        .component_id = spec->component_id,
    };
    (void)place_protocol(protocol, mem);
    return protocol;
}

/* A board that has been told apart as ready or not stays so until it says otherwise. */
static void note_valid_message(struct io_protocol *protocol, const struct io_protocol_port *port)
{
    if (protocol->facts.board == IO_BOARD_SILENT)
        protocol->facts.board = IO_BOARD_HEARD;
    port->heard(port->self);
}

/* MAVLink. */

static void send_message(struct io_protocol *protocol, const struct io_mavlink_message *message,
                         bool stamped, const struct io_protocol_port *port)
{
    unsigned char frame[IO_MAVLINK_FRAME_MAX];
    const size_t size = io_mavlink_encode(&protocol->mavlink.sender, message, frame);
    port->send(port->self, frame, size, IO_DESTINATION_PEER, stamped);
}

/* Ground stations and payloads send heartbeats too; only a flight controller's counts. */
static void check_hil_flag(struct io_protocol *protocol,
                           const struct io_mavlink_heartbeat *heartbeat)
{
    if (protocol->spec.kind == IO_PROTOCOL_PX4_HITL && heartbeat->autopilot != MAV_AUTOPILOT_NONE)
        protocol->facts.board =
            heartbeat->base_mode & MAV_MODE_HIL ? IO_BOARD_READY : IO_BOARD_NOT_HIL;
}

static void receive_controls(struct io_protocol *protocol, const struct io_mavlink_message *message,
                             const struct io_protocol_port *port)
{
    struct io_command command = {.resets = protocol->facts.resets};
    io_mavlink_to_command(message, &command);
    protocol->facts.lockstep = command.flags & FLAG_LOCKSTEP;
    if (protocol->spec.kind != IO_PROTOCOL_PX4_HITL)
        protocol->facts.board = IO_BOARD_READY;
    (void)port->command(port->self, &command);
}

static bool is_time_query(const struct io_protocol *protocol,
                          const struct io_mavlink_timesync *timesync)
{
    const struct io_protocol_spec *us = &protocol->spec;
    return timesync->tc1 == 0 &&
           (timesync->target_system == 0 || timesync->target_system == us->system_id) &&
           (timesync->target_component == 0 || timesync->target_component == us->component_id);
}

static void send_time_reply(struct io_protocol *protocol, const struct io_mavlink_message *request,
                            uint64_t now_ns, const struct io_protocol_port *port)
{
    struct io_mavlink_message message;
    io_mavlink_timesync_reply(request, now_ns, &message);
    send_message(protocol, &message, false, port);
}

/* True when it answers our question; the board's clock may show anything but 0, which is a
 * question. */
static bool receive_time_reply(struct io_protocol *protocol,
                               const struct io_mavlink_timesync *timesync,
                               const struct io_protocol_port *port)
{
    const uint64_t asked_ns = protocol->mavlink.asked_ns;
    if (asked_ns == 0 || timesync->tc1 == 0 || (uint64_t)timesync->ts1 != asked_ns)
        return false;
    protocol->mavlink.asked_ns = 0;
    if (port->clock != NULL)
        port->clock(port->self, asked_ns, (uint64_t)timesync->tc1);
    return true;
}

static void forward(const struct io_mavlink_parser *parser, const struct io_protocol_port *port)
{
    size_t size;
    const unsigned char *frame = io_mavlink_frame(parser, &size);
    port->forward(port->self, frame, size);
}

/* An unknown id may be noise, so it proves nothing about its sender; but it may as well be of a
 * dialect that board and ground station share, so it is passed on. */
static void handle_message(struct io_protocol *protocol, const struct io_mavlink_message *message,
                           uint64_t now_ns, const struct io_protocol_port *port)
{
    if (message->kind != IO_MAVLINK_UNKNOWN)
        note_valid_message(protocol, port);
    if (message->kind == IO_MAVLINK_HEARTBEAT)
        check_hil_flag(protocol, &message->heartbeat);
    if (message->kind == IO_MAVLINK_CONTROLS)
        receive_controls(protocol, message, port);
    else if (message->kind == IO_MAVLINK_TIMESYNC && is_time_query(protocol, &message->timesync))
        send_time_reply(protocol, message, now_ns, port);
    else if (message->kind != IO_MAVLINK_TIMESYNC ||
             !receive_time_reply(protocol, &message->timesync, port))
        forward(protocol->mavlink.board, port);
}

static void receive_mavlink(struct io_protocol *protocol, const unsigned char *bytes, size_t size,
                            uint64_t now_ns, const struct io_protocol_port *port)
{
    struct io_mavlink_parser *parser = protocol->mavlink.board;
    for (size_t used = 0; used < size;) {
        struct io_mavlink_message message;
        used += io_mavlink_feed(parser, bytes + used, size - used, &message);
        if (message.kind != IO_MAVLINK_NONE)
            handle_message(protocol, &message, now_ns, port);
    }
    if (!protocol->spec.stream)
        io_mavlink_end(parser);
}

static void send_part(struct io_protocol *protocol, const struct io_sample *sample,
                      enum io_mavlink_kind kind, const struct io_protocol_port *port)
{
    struct io_mavlink_message message;
    io_mavlink_from_sample(sample, kind, &message);
    send_message(protocol, &message, kind == IO_MAVLINK_SENSOR, port);
}

static void send_time(struct io_protocol *protocol, const struct io_sample *sample,
                      uint64_t unix_us, const struct io_protocol_port *port)
{
    const struct io_mavlink_message message = {
        .kind = IO_MAVLINK_TIME,
        .time = {.unix_us = unix_us, .boot_ms = (uint32_t)(sample->sim_us / 1000u)},
    };
    send_message(protocol, &message, false, port);
}

/* HIL_SENSOR moves the clock of a board in lockstep, so it is the last message of a sample. */
static void encode_mavlink(struct io_protocol *protocol, const struct io_sample *sample,
                           uint64_t unix_us, const struct io_protocol_port *port)
{
    static const struct {
        enum io_send due;
        enum io_mavlink_kind kind;
    } part[] = {
        {IO_SEND_GPS, IO_MAVLINK_GPS},         {IO_SEND_STATE, IO_MAVLINK_STATE},
        {IO_SEND_TRACKER, IO_MAVLINK_TRACKER}, {IO_SEND_SUN, IO_MAVLINK_VECTOR},
        {IO_SEND_ANGLES, IO_MAVLINK_ARRAY},    {IO_SEND_RC, IO_MAVLINK_RC},
        {IO_SEND_SENSOR, IO_MAVLINK_SENSOR},
    };
    uint32_t due = sample->due;
    if (!sample->tracker_valid)
        due &= ~(uint32_t)IO_SEND_TRACKER; /* blinded: it says nothing */
    if (due & IO_SEND_HEARTBEAT)
        io_protocol_send_status(protocol, IO_STATUS_ACTIVE, port);
    if (due & IO_SEND_TIME)
        send_time(protocol, sample, unix_us, port);
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        if (due & (uint32_t)part[i].due)
            send_part(protocol, sample, part[i].kind, port);
}

/* ArduPilot. */

/* Overtaken on its way: a new start counts from 0, so one that fell a little from far above has not
 * begun anew, and must not cost the vehicle its flight. */
static bool is_overtaken(const struct ardupilot *self, uint32_t count)
{
    enum { FEW = 16 };
    return self->has_last && count > FEW && count < self->last_count &&
           self->last_count - count <= FEW;
}

/* A packet that comes again asks for the reply that got lost; a count that fell is a new start. */
static void receive_ardupilot(struct io_protocol *protocol, const void *bytes, size_t size,
                              const struct io_protocol_port *port)
{
    struct ardupilot *self = &protocol->ardupilot;
    struct io_ardupilot_servos servos;
    if (!io_ardupilot_decode(bytes, size, &servos)) {
        protocol->counters.rx_bad++;
        return;
    }
    protocol->counters.rx++;
    note_valid_message(protocol, port);
    if (self->has_last && servos.frame_count == self->last_count) {
        protocol->counters.duplicates++;
        if (self->reply_size > 0)
            port->send(port->self, self->reply, self->reply_size, IO_DESTINATION_PEER, false);
        return;
    }
    if (is_overtaken(self, servos.frame_count)) {
        protocol->counters.duplicates++;
        return;
    }
    if (self->has_last && servos.frame_count < self->last_count)
        protocol->facts.resets++;
    self->has_last = true;
    self->last_count = servos.frame_count;
    protocol->facts.board = IO_BOARD_READY;
    protocol->facts.rate_hint_hz = servos.frame_rate;
    struct io_command command = {
        .flags = servos.frame_count,
        .mode = servos.frame_rate,
        .resets = protocol->facts.resets,
    };
    io_ardupilot_to_controls(&servos, command.controls);
    (void)port->command(port->self, &command);
}

static void encode_ardupilot(struct io_protocol *protocol, const struct io_sample *sample,
                             const struct io_protocol_port *port)
{
    struct ardupilot *self = &protocol->ardupilot;
    if (!(sample->due & IO_SEND_SENSOR))
        return;
    self->reply_size = io_ardupilot_encode(sample, self->reply);
    port->send(port->self, self->reply, self->reply_size, IO_DESTINATION_PEER, true);
}

/* Betaflight. */

static void receive_betaflight(struct io_protocol *protocol, const void *bytes, size_t size,
                               const struct io_protocol_port *port)
{
    struct io_command command = {.mode = (uint32_t)size};
    if (!io_betaflight_decode(bytes, size, command.controls)) {
        protocol->counters.rx_bad++;
        return;
    }
    if (protocol->spec.variant == IO_BETAFLIGHT_2026_6 && size == IO_BETAFLIGHT_SPEED_SIZE)
        io_betaflight_reorder(command.controls);
    protocol->counters.rx++;
    note_valid_message(protocol, port);
    protocol->facts.board = IO_BOARD_READY;
    (void)port->command(port->self, &command);
}

static void encode_fdm(struct io_protocol *protocol, const struct io_sample *sample,
                       unsigned char fdm[IO_BETAFLIGHT_FDM_SIZE])
{
    struct betaflight *self = &protocol->betaflight;
    if (protocol->spec.variant == IO_BETAFLIGHT_4_5) {
        io_betaflight_fdm(sample, protocol->spec.virtual_gps, fdm);
        return;
    }
    if (!self->has_mirror) {
        self->mirror[0] = sample->fix.longitude * (180.0 / M_PI);
        self->mirror[1] = sample->fix.latitude * (180.0 / M_PI);
        self->has_mirror = true;
    }
    io_betaflight_fdm_2026(sample, self->mirror, fdm);
}

static void encode_betaflight(struct io_protocol *protocol, const struct io_sample *sample,
                              const struct io_protocol_port *port)
{
    unsigned char fdm[IO_BETAFLIGHT_FDM_SIZE], rc[IO_BETAFLIGHT_RC_SIZE];
    if (sample->due & IO_SEND_RC) {
        io_betaflight_rc(sample, rc);
        port->send(port->self, rc, sizeof rc, IO_DESTINATION_NEXT_PORT, false);
    }
    if (sample->due & IO_SEND_SENSOR) {
        encode_fdm(protocol, sample, fdm);
        port->send(port->self, fdm, sizeof fdm, IO_DESTINATION_PEER, true);
    }
}

/* Hands. */

static void receive_hand(struct io_protocol *protocol, const void *bytes, size_t size,
                         const struct io_protocol_port *port)
{
    struct io_hand_report report;
    struct io_command command = {0};
    if (!io_hand_decode(bytes, size, &report)) {
        protocol->counters.rx_bad++;
        return;
    }
    protocol->counters.rx++;
    note_valid_message(protocol, port);
    protocol->facts.board = IO_BOARD_READY;
    io_hand_to_command(&protocol->spec.hand, &protocol->hand, &report, &command);
    while (port->command(port->self, &command) && io_hand_apply_deferred(&protocol->hand, &command))
        continue; /* at most once */
}

/* All of them. */

void io_protocol_receive(struct io_protocol *protocol, const void *bytes, size_t size,
                         uint64_t now_ns, const struct io_protocol_port *port)
{
    if (is_mavlink(protocol))
        receive_mavlink(protocol, bytes, size, now_ns, port);
    else if (protocol->spec.kind == IO_PROTOCOL_ARDUPILOT)
        receive_ardupilot(protocol, bytes, size, port);
    else if (protocol->spec.kind == IO_PROTOCOL_BETAFLIGHT)
        receive_betaflight(protocol, bytes, size, port);
    else
        receive_hand(protocol, bytes, size, port);
}

void io_protocol_encode(struct io_protocol *protocol, const struct io_sample *sample,
                        uint64_t unix_us, const struct io_protocol_port *port)
{
    if (is_mavlink(protocol))
        encode_mavlink(protocol, sample, unix_us, port);
    else if (protocol->spec.kind == IO_PROTOCOL_ARDUPILOT)
        encode_ardupilot(protocol, sample, port);
    else if (protocol->spec.kind == IO_PROTOCOL_BETAFLIGHT)
        encode_betaflight(protocol, sample, port);
}

void io_protocol_query_time(struct io_protocol *protocol, uint64_t now_ns,
                            const struct io_protocol_port *port)
{
    if (!is_mavlink(protocol))
        return;
    const struct io_mavlink_message message = {
        .kind = IO_MAVLINK_TIMESYNC,
        .timesync = {.ts1 = (int64_t)now_ns},
    };
    protocol->mavlink.asked_ns = now_ns;
    send_message(protocol, &message, false, port);
}

void io_protocol_send_status(struct io_protocol *protocol, enum io_status status,
                             const struct io_protocol_port *port)
{
    struct io_mavlink_message message;
    if (!is_mavlink(protocol))
        return;
    io_mavlink_from_status((enum io_mavlink_status)status, &message);
    send_message(protocol, &message, false, port);
}

size_t io_protocol_invalid_message(const struct io_protocol *protocol,
                                   unsigned char bytes[IO_PROTOCOL_INVALID_MAX])
{
    struct io_mavlink_message message;
    struct io_mavlink_sender sender = protocol->mavlink.sender;
    if (!is_mavlink(protocol))
        return 0;
    io_mavlink_from_status(IO_MAVLINK_EMERGENCY, &message);
    return io_mavlink_encode(&sender, &message, bytes);
}

void io_protocol_receive_ground(struct io_protocol *protocol, const void *bytes, size_t size,
                                const struct io_protocol_port *port)
{
    struct io_mavlink_parser *parser = protocol->mavlink.ground;
    if (!is_mavlink(protocol))
        return;
    for (size_t used = 0; used < size;) {
        struct io_mavlink_message message;
        used += io_mavlink_feed(parser, (const unsigned char *)bytes + used, size - used, &message);
        if (message.kind != IO_MAVLINK_NONE)
            forward(parser, port);
    }
    io_mavlink_end(parser);
}

/* ArduPilot's count goes on: that it falls is how a new start is known. */
void io_protocol_new_peer(struct io_protocol *protocol)
{
    if (is_mavlink(protocol))
        io_mavlink_new_peer(protocol->mavlink.board);
    io_hand_new_peer(&protocol->hand);
    protocol->betaflight.has_mirror = false;
    protocol->mavlink.asked_ns = 0;
}

static uint64_t count_bad(const struct io_mavlink_parser *parser)
{
    const struct io_mavlink_counters *counters = io_mavlink_get_counters(parser);
    return counters->bad_crc + counters->bad_length + counters->bad_header;
}

struct io_protocol_counters io_protocol_get_counters(const struct io_protocol *protocol)
{
    if (!is_mavlink(protocol))
        return protocol->counters;
    const struct io_mavlink_counters *board = io_mavlink_get_counters(protocol->mavlink.board);
    return (struct io_protocol_counters){
        .rx = board->messages,
        .rx_bad = count_bad(protocol->mavlink.board),
        .rx_lost = board->lost,
        .ground_bad = count_bad(protocol->mavlink.ground),
    };
}

const struct io_protocol_facts *io_protocol_facts(const struct io_protocol *protocol)
{
    return &protocol->facts;
}

/* Payloads of the published definitions, not trimmed: the most that can leave. */
static double mavlink_size(uint32_t send, int angle_count)
{
    enum { AROUND = 12 };
    switch (send) {
    case IO_SEND_HEARTBEAT:
        return AROUND + 9;
    case IO_SEND_SENSOR:
        return AROUND + 65;
    case IO_SEND_GPS:
        return AROUND + 39;
    case IO_SEND_STATE:
        return AROUND + 64;
    case IO_SEND_TIME:
        return AROUND + 12;
    case IO_SEND_TRACKER:
        return AROUND + 8 + 4 * 8; /* of the covariance only the NaN is left */
    case IO_SEND_SUN:
        return AROUND + 30;
    case IO_SEND_ANGLES:
        return AROUND + 20 + 4.0 * angle_count;
    case IO_SEND_RC:
        return AROUND + 42;
    default:
        return 0;
    }
}

static double message_size(const struct io_protocol_spec *spec, uint32_t send, int angle_count)
{
    enum { REPLY_SIZE = 500, REPLY_RC_SIZE = 190 }; /* numbers of 15 characters, and their names */
    if (spec->kind <= IO_PROTOCOL_PX4_HITL)
        return mavlink_size(send, angle_count);
    if (spec->kind == IO_PROTOCOL_ARDUPILOT)
        return send == IO_SEND_SENSOR ? REPLY_SIZE : send == IO_SEND_RC ? REPLY_RC_SIZE : 0;
    if (spec->kind == IO_PROTOCOL_HAND)
        return 0;
    if (send == IO_SEND_SENSOR)
        return IO_BETAFLIGHT_FDM_SIZE;
    return send == IO_SEND_RC ? IO_BETAFLIGHT_RC_SIZE : 0;
}

double io_protocol_bandwidth(const struct io_protocol_spec *spec, const double hz[IO_SEND_COUNT],
                             int angle_count)
{
    double load = 0.0;
    for (int i = 0; i < IO_SEND_COUNT; i++)
        load += hz[i] * message_size(spec, UINT32_C(1) << i, angle_count);
    return load;
}
