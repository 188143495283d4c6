/*
 * The protocols mavlink, px4 and px4-hitl: one MAVLink session, three rows.  The rows differ in
 * their properties; px4-hitl also waits for the HIL flag of the board.
 *
 * Tested by tests/io/protocol/test_protocol.c and test_px4.c.
 */
#include <string.h>

#include "io/protocol/mavlink.h"
#include "io/protocol/mavlink_body.h"
#include "io/protocol/protocol_ops.h"
#include "rt/arena.h"

enum { MAV_MODE_HIL = 0x20, FLAG_LOCKSTEP = 1 };

_Static_assert((int)IO_STATUS_ACTIVE == (int)IO_MAVLINK_ACTIVE, "MAV_STATE");
_Static_assert((int)IO_STATUS_EMERGENCY == (int)IO_MAVLINK_EMERGENCY, "MAV_STATE");
_Static_assert((int)IO_STATUS_POWEROFF == (int)IO_MAVLINK_POWEROFF, "MAV_STATE");
_Static_assert((int)IO_PROTOCOL_FRAME_MAX >= (int)IO_MAVLINK_FRAME_MAX, "the longest message");
_Static_assert((int)IO_PROTOCOL_INVALID_MAX >= (int)IO_MAVLINK_FRAME_MAX, "a heartbeat fits");

struct session {
    struct io_mavlink_parser *board;  /* of the bytes from the board */
    struct io_mavlink_parser *ground; /* of the bytes from ground stations */
    struct io_mavlink_sender sender;
    uint64_t asked_ns; /* our pending query for the time; 0: none */
};

static struct session *session_of(const struct io_protocol *protocol)
{
    return protocol->state;
}

/* One layout gives the size and the placement. */
static size_t lay_out(void *mem, void *parser[2])
{
    size_t at = 0;
    (void)rt_layout_cut(mem, &at, sizeof(struct session));
    for (int i = 0; i < 2; i++)
        parser[i] = rt_layout_cut(mem, &at, io_mavlink_parser_size());
    return at;
}

static size_t state_size(void)
{
    void *parser[2];
    return lay_out(NULL, parser);
}

static void place(struct io_protocol *protocol)
{
    void *parser[2];
    (void)lay_out(protocol->state, parser);
    *session_of(protocol) = (struct session){
        .board = io_mavlink_parser_place(parser[0]),
        .ground = io_mavlink_parser_place(parser[1]),
        .sender = {.system_id = protocol->spec.system_id,
                   .component_id = protocol->spec.component_id},
    };
}

static void send_message(struct io_protocol *protocol, const struct io_mavlink_message *message,
                         bool stamped, const struct io_protocol_port *port)
{
    unsigned char frame[IO_MAVLINK_FRAME_MAX];
    const size_t size = io_mavlink_encode(&session_of(protocol)->sender, message, frame);
    port->send(port->self, frame, size, IO_DESTINATION_PEER, stamped);
}

/* Ground stations and payloads send heartbeats too; only that of a flight controller counts. */
static void check_hil_flag(struct io_protocol *protocol,
                           const struct io_mavlink_heartbeat *heartbeat)
{
    if (protocol->ops->traits.needs_hil_flag && heartbeat->autopilot != IO_MAVLINK_NO_AUTOPILOT)
        protocol->facts.board =
            heartbeat->base_mode & MAV_MODE_HIL ? IO_BOARD_READY : IO_BOARD_NOT_HIL;
}

static void receive_controls(struct io_protocol *protocol, const struct io_protocol_port *port)
{
    mavlink_hil_actuator_controls_t in;
    mavlink_msg_hil_actuator_controls_decode(io_mavlink_received(session_of(protocol)->board), &in);
    struct io_command command = {
        .board_us = in.time_usec,
        .flags = in.flags,
        .mode = in.mode,
        .resets = protocol->facts.resets,
    };
    memcpy(command.controls, in.controls, sizeof command.controls);
    protocol->facts.lockstep = command.flags & FLAG_LOCKSTEP;
    if (!protocol->ops->traits.needs_hil_flag)
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

/* True for a reply to our query.  The board's time may be anything but 0, which marks a query. */
static bool receive_time_reply(struct io_protocol *protocol,
                               const struct io_mavlink_timesync *timesync,
                               const struct io_protocol_port *port)
{
    const uint64_t asked_ns = session_of(protocol)->asked_ns;
    if (asked_ns == 0 || timesync->tc1 == 0 || (uint64_t)timesync->ts1 != asked_ns)
        return false;
    session_of(protocol)->asked_ns = 0;
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

/* A message with an unknown id may be noise, so it proves nothing about its sender; but it may also
 * belong to a dialect that the board and the ground station share, so it is forwarded. */
static void handle_message(struct io_protocol *protocol, struct io_mavlink_message *message,
                           uint64_t now_ns, const struct io_protocol_port *port)
{
    const struct io_mavlink_parser *parser = session_of(protocol)->board;
    if (message->kind != IO_MAVLINK_UNKNOWN)
        io_protocol_note_valid(protocol, port);
    if (message->kind == IO_MAVLINK_CONTROLS) {
        receive_controls(protocol, port);
        return;
    }
    io_mavlink_decode(parser, message);
    if (message->kind == IO_MAVLINK_HEARTBEAT)
        check_hil_flag(protocol, &message->heartbeat);
    if (message->kind == IO_MAVLINK_TIMESYNC && is_time_query(protocol, &message->timesync))
        send_time_reply(protocol, message, now_ns, port);
    else if (message->kind != IO_MAVLINK_TIMESYNC ||
             !receive_time_reply(protocol, &message->timesync, port))
        forward(parser, port);
}

static void receive(struct io_protocol *protocol, const void *bytes, size_t size, uint64_t now_ns,
                    const struct io_protocol_port *port)
{
    struct io_mavlink_parser *parser = session_of(protocol)->board;
    for (size_t used = 0; used < size;) {
        struct io_mavlink_message message;
        used += io_mavlink_feed(parser, (const unsigned char *)bytes + used, size - used, &message);
        if (message.kind != IO_MAVLINK_NONE)
            handle_message(protocol, &message, now_ns, port);
    }
    if (!protocol->spec.stream)
        io_mavlink_end(parser);
}

static void send_status(struct io_protocol *protocol, enum io_status status,
                        const struct io_protocol_port *port)
{
    struct io_mavlink_message message;
    io_mavlink_from_status((enum io_mavlink_status)status, &message);
    send_message(protocol, &message, false, port);
}

/* The messages that MAVLink has, in the order in which they leave; HIL_SENSOR moves the clock of a
 * board in lockstep, so it is the last one of a sample.  Sizes are those of the published
 * definitions, not trimmed, without the frame around them. */
static const struct part {
    enum io_message message;
    enum io_mavlink_kind kind;
    int size, size_per_angle;
} parts[] = {
    {IO_MESSAGE_HEARTBEAT, IO_MAVLINK_HEARTBEAT, 9, 0},
    {IO_MESSAGE_TIME, IO_MAVLINK_TIME, 12, 0},
    {IO_MESSAGE_GPS, IO_MAVLINK_GPS, 39, 0},
    {IO_MESSAGE_STATE, IO_MAVLINK_STATE, 64, 0},
    {IO_MESSAGE_TRACKER, IO_MAVLINK_TRACKER, 8 + 4 * 8, 0}, /* the covariance is zero, trimmed */
    {IO_MESSAGE_SUN, IO_MAVLINK_VECTOR, 30, 0},
    {IO_MESSAGE_ANGLES, IO_MAVLINK_ARRAY, 20, 4},
    {IO_MESSAGE_RC, IO_MAVLINK_RC, 42, 0},
    {IO_MESSAGE_SENSOR, IO_MAVLINK_SENSOR, 65, 0},
};
enum { PART_COUNT = sizeof parts / sizeof parts[0] };

static void send_part(struct io_protocol *protocol, const struct io_sample *sample,
                      uint64_t unix_us, enum io_mavlink_kind kind,
                      const struct io_protocol_port *port)
{
    struct io_mavlink_message message;
    if (kind == IO_MAVLINK_HEARTBEAT)
        io_mavlink_from_status(IO_MAVLINK_ACTIVE, &message);
    else if (kind == IO_MAVLINK_TIME)
        message = (struct io_mavlink_message){
            .kind = IO_MAVLINK_TIME,
            .time = {.unix_us = unix_us, .boot_ms = (uint32_t)(sample->sim_us / 1000u)}};
    else
        io_mavlink_from_sample(sample, kind, &message);
    send_message(protocol, &message, kind == IO_MAVLINK_SENSOR, port);
}

static void encode(struct io_protocol *protocol, const struct io_sample *sample, uint64_t unix_us,
                   const struct io_protocol_port *port)
{
    uint32_t due = sample->due;
    if (!sample->tracker_valid)
        due &= ~(uint32_t)IO_SEND_TRACKER; /* a blinded star tracker sends nothing */
    for (int i = 0; i < PART_COUNT; i++)
        if (due >> parts[i].message & 1)
            send_part(protocol, sample, unix_us, parts[i].kind, port);
}

static void query_time(struct io_protocol *protocol, uint64_t now_ns,
                       const struct io_protocol_port *port)
{
    const struct io_mavlink_message message = {
        .kind = IO_MAVLINK_TIMESYNC,
        .timesync = {.ts1 = (int64_t)now_ns},
    };
    session_of(protocol)->asked_ns = now_ns;
    send_message(protocol, &message, false, port);
}

static size_t invalid_message(const struct io_protocol *protocol,
                              unsigned char bytes[IO_PROTOCOL_INVALID_MAX])
{
    struct io_mavlink_message message;
    struct io_mavlink_sender sender = session_of(protocol)->sender;
    io_mavlink_from_status(IO_MAVLINK_EMERGENCY, &message);
    return io_mavlink_encode(&sender, &message, bytes);
}

static void receive_ground(struct io_protocol *protocol, const void *bytes, size_t size,
                           const struct io_protocol_port *port)
{
    struct io_mavlink_parser *parser = session_of(protocol)->ground;
    for (size_t used = 0; used < size;) {
        struct io_mavlink_message message;
        used += io_mavlink_feed(parser, (const unsigned char *)bytes + used, size - used, &message);
        if (message.kind != IO_MAVLINK_NONE)
            forward(parser, port);
    }
    io_mavlink_end(parser);
}

static void new_peer(struct io_protocol *protocol)
{
    io_mavlink_new_peer(session_of(protocol)->board);
    session_of(protocol)->asked_ns = 0;
}

static uint64_t count_bad(const struct io_mavlink_parser *parser)
{
    const struct io_mavlink_counters *counters = io_mavlink_get_counters(parser);
    return counters->bad_crc + counters->bad_length + counters->bad_header;
}

static struct io_protocol_counters get_counters(const struct io_protocol *protocol)
{
    const struct session *session = session_of(protocol);
    const struct io_mavlink_counters *board = io_mavlink_get_counters(session->board);
    return (struct io_protocol_counters){
        .rx = board->messages,
        .rx_bad = count_bad(session->board),
        .rx_lost = board->lost,
        .ground_bad = count_bad(session->ground),
    };
}

static double message_size(enum io_message message, int angle_count)
{
    enum { FRAME_SIZE = 12 };
    for (int i = 0; i < PART_COUNT; i++)
        if (parts[i].message == message)
            return FRAME_SIZE + parts[i].size + parts[i].size_per_angle * angle_count;
    return 0;
}

/* What the three rows share. */
#define MAVLINK_FUNCTIONS                                                                          \
    .state_size = state_size, .place = place, .receive = receive, .encode = encode,                \
    .query_time = query_time, .send_status = send_status, .invalid_message = invalid_message,      \
    .receive_ground = receive_ground, .message_size = message_size, .new_peer = new_peer,          \
    .get_counters = get_counters
#define MAVLINK_TRAITS                                                                             \
    .speaks_first = true, .marks_fields = true, .stamps_commands = true,                           \
    .answers_time_query = true, .forwards = true, .mode_names = IO_MODE_NAMES_PX4,                 \
    .first_replies = 1, .reply_timeout_s = 1.0

/* Columns: heartbeat, sensor, gps, state, time, star tracker, sun, angles, rc. */
#define NONE   IO_RATE_NONE
#define DEVICE IO_RATE_DEVICE
#define NEVER  IO_RATE_NEVER

const struct io_protocol_ops io_mavlink_protocol = {
    .traits = {.name = "mavlink",
               .listen_port = 14560,
               .usual_bus = IO_BUS_UDP,
               .usual_hz = {1, 250, 10, 50, 1, DEVICE, DEVICE, DEVICE, NONE},
               .carries_ground = true,
               MAVLINK_TRAITS},
    MAVLINK_FUNCTIONS,
};

/* The true state is ground truth for PX4's log here. */
const struct io_protocol_ops io_px4_protocol = {
    .traits = {.name = "px4",
               .listen_port = 4560,
               .usual_bus = IO_BUS_TCP,
               .usual_hz = {NONE, 250, 10, 50, 1, NONE, NONE, NONE, NONE},
               .lockstep = true,
               MAVLINK_TRAITS},
    MAVLINK_FUNCTIONS,
};

/* A PX4 board uses the true state as a measurement: it publishes attitude and position from it and
 * scales its accelerometer to milli-g, so its estimator never starts.  Hence NEVER. */
const struct io_protocol_ops io_px4_hitl_protocol = {
    .traits = {.name = "px4-hitl",
               .listen_port = 14560,
               .usual_bus = IO_BUS_SERIAL,
               .usual_hz = {1, 250, 10, NEVER, 1, NONE, NONE, NONE, NONE},
               .needs_hil_flag = true,
               .carries_ground = true,
               MAVLINK_TRAITS},
    MAVLINK_FUNCTIONS,
};
