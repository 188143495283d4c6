/*
 * Beside io/link/ground_station.c the one place that sees the generated MAVLink headers.  Only
 * their re-entrant functions are used: the parser state and the sequence number are the caller's,
 * never a channel of the library.
 */
#include "io/protocol/mavlink.h"

#include <math.h>
#include <string.h>

#include <common/mavlink.h>

#include "rt/check.h"

_Static_assert(IO_MAVLINK_FRAME_MAX == MAVLINK_MAX_PACKET_LEN, "a frame is MAVLink's longest");
_Static_assert((int)IO_MAVLINK_ACTIVE == (int)MAV_STATE_ACTIVE, "MAV_STATE");
_Static_assert((int)IO_MAVLINK_EMERGENCY == (int)MAV_STATE_EMERGENCY, "MAV_STATE");
_Static_assert((int)IO_MAVLINK_POWEROFF == (int)MAV_STATE_POWEROFF, "MAV_STATE");

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the wire's order, see encode_timesync");

/* TIMESYNC has 16 bytes in some dialects and 18 in others, with the same CRC: the two target bytes
 * are handled by hand, so that the generated headers may be of either kind. */
enum { TIMESYNC_CORE = 16, TIMESYNC_FULL = 18 };

enum { COURSE_UNKNOWN = UINT16_MAX, CHANNEL_UNUSED = UINT16_MAX, RSSI_UNKNOWN = UINT8_MAX };

_Static_assert((int)IO_ANGLE_MAX <= (int)IO_MAVLINK_ARRAY_MAX, "one message holds all angles");
_Static_assert((int)IO_RC_MAX <= (int)IO_MAVLINK_RC_MAX, "one message holds all channels");

/* The standard atmosphere's troposphere: h = T0 / L (1 - (p / p0)^(R L / g)). */
static const double sea_temperature = 288.15, lapse_rate = 0.0065, sea_pressure = 101325.0,
                    pressure_exponent = 0.190263;

struct source {
    uint8_t system_id, component_id;
    uint8_t next; /* sequence number that should come */
};

struct io_mavlink_parser {
    mavlink_status_t status;
    mavlink_message_t rx;
    struct io_mavlink_counters counters;
    struct source source[IO_MAVLINK_SOURCE_MAX];
    int source_count;
    bool in_garbage;   /* inside a run of bytes that start no frame */
    size_t frame_size; /* bytes of the frame so far, as they came */
    unsigned char frame[IO_MAVLINK_FRAME_MAX];
};

size_t io_mavlink_parser_size(void)
{
    return sizeof(struct io_mavlink_parser);
}

struct io_mavlink_parser *io_mavlink_parser_place(void *mem)
{
    struct io_mavlink_parser *parser = mem;
    memset(parser, 0, sizeof *parser);
    parser->status.parse_state = MAVLINK_PARSE_STATE_IDLE;
    return parser;
}

const struct io_mavlink_counters *io_mavlink_get_counters(const struct io_mavlink_parser *parser)
{
    return &parser->counters;
}

void io_mavlink_new_peer(struct io_mavlink_parser *parser)
{
    io_mavlink_end(parser); /* what the old one left half said */
    parser->source_count = 0;
}

static bool is_idle(const struct io_mavlink_parser *parser)
{
    return parser->status.parse_state == MAVLINK_PARSE_STATE_IDLE;
}

void io_mavlink_end(struct io_mavlink_parser *parser)
{
    if (!is_idle(parser))
        parser->counters.bad_length++;
    parser->status.parse_state = MAVLINK_PARSE_STATE_IDLE;
    parser->in_garbage = false;
}

static struct source *find_source(struct io_mavlink_parser *parser)
{
    for (int i = 0; i < parser->source_count; i++) {
        struct source *source = &parser->source[i];
        if (source->system_id == parser->rx.sysid && source->component_id == parser->rx.compid)
            return source;
    }
    return NULL;
}

/* An unknown id may be noise, so it never makes a source; but it is a number in the sequence of one
 * that is known.  Sources beyond the table are heard and not watched. */
static void count_lost(struct io_mavlink_parser *parser, bool checked)
{
    const uint8_t sequence = parser->rx.seq;
    struct source *source = find_source(parser);
    if (source) {
        parser->counters.lost += (uint8_t)(sequence - source->next);
    } else {
        if (!checked || parser->source_count == IO_MAVLINK_SOURCE_MAX)
            return;
        source = &parser->source[parser->source_count++];
        source->system_id = parser->rx.sysid;
        source->component_id = parser->rx.compid;
    }
    source->next = (uint8_t)(sequence + 1);
}

static void decode_heartbeat(const mavlink_message_t *rx, struct io_mavlink_heartbeat *out)
{
    mavlink_heartbeat_t in;
    mavlink_msg_heartbeat_decode(rx, &in);
    *out = (struct io_mavlink_heartbeat){
        .custom_mode = in.custom_mode,
        .type = in.type,
        .autopilot = in.autopilot,
        .base_mode = in.base_mode,
        .status = in.system_status,
        .version = in.mavlink_version,
    };
}

static void decode_time(const mavlink_message_t *rx, struct io_mavlink_time *out)
{
    mavlink_system_time_t in;
    mavlink_msg_system_time_decode(rx, &in);
    *out = (struct io_mavlink_time){.unix_us = in.time_unix_usec, .boot_ms = in.time_boot_ms};
}

static void decode_timesync(const mavlink_message_t *rx, struct io_mavlink_timesync *out)
{
    const char *payload = _MAV_PAYLOAD(rx);
    mavlink_timesync_t in;
    mavlink_msg_timesync_decode(rx, &in);
    *out = (struct io_mavlink_timesync){.tc1 = in.tc1, .ts1 = in.ts1};
    if (rx->len > TIMESYNC_CORE)
        out->target_system = (uint8_t)payload[TIMESYNC_CORE];
    if (rx->len > TIMESYNC_CORE + 1)
        out->target_component = (uint8_t)payload[TIMESYNC_CORE + 1];
}

static void decode_sensor(const mavlink_message_t *rx, struct io_mavlink_sensor *out)
{
    mavlink_hil_sensor_t in;
    mavlink_msg_hil_sensor_decode(rx, &in);
    *out = (struct io_mavlink_sensor){
        .time_us = in.time_usec,
        .accel = {in.xacc, in.yacc, in.zacc},
        .gyro = {in.xgyro, in.ygyro, in.zgyro},
        .mag = {in.xmag, in.ymag, in.zmag},
        .pressure_hpa = in.abs_pressure,
        .diff_pressure_hpa = in.diff_pressure,
        .pressure_altitude_m = in.pressure_alt,
        .temperature_c = in.temperature,
        .fields = in.fields_updated,
        .id = in.id,
    };
}

static void decode_gps(const mavlink_message_t *rx, struct io_mavlink_gps *out)
{
    mavlink_hil_gps_t in;
    mavlink_msg_hil_gps_decode(rx, &in);
    *out = (struct io_mavlink_gps){
        .time_us = in.time_usec,
        .latitude_e7 = in.lat,
        .longitude_e7 = in.lon,
        .altitude_mm = in.alt,
        .eph = in.eph,
        .epv = in.epv,
        .speed_cms = in.vel,
        .velocity_cms = {in.vn, in.ve, in.vd},
        .course_cdeg = in.cog,
        .yaw_cdeg = in.yaw,
        .fix = in.fix_type,
        .satellites = in.satellites_visible,
        .id = in.id,
    };
}

static void decode_state(const mavlink_message_t *rx, struct io_mavlink_state *out)
{
    mavlink_hil_state_quaternion_t in;
    mavlink_msg_hil_state_quaternion_decode(rx, &in);
    *out = (struct io_mavlink_state){
        .time_us = in.time_usec,
        .rate = {in.rollspeed, in.pitchspeed, in.yawspeed},
        .latitude_e7 = in.lat,
        .longitude_e7 = in.lon,
        .altitude_mm = in.alt,
        .velocity_cms = {in.vx, in.vy, in.vz},
        .indicated_cms = in.ind_airspeed,
        .true_cms = in.true_airspeed,
        .accel_mg = {in.xacc, in.yacc, in.zacc},
    };
    memcpy(out->attitude, in.attitude_quaternion, sizeof out->attitude);
}

static void decode_controls(const mavlink_message_t *rx, struct io_mavlink_controls *out)
{
    mavlink_hil_actuator_controls_t in;
    mavlink_msg_hil_actuator_controls_decode(rx, &in);
    *out = (struct io_mavlink_controls){
        .time_us = in.time_usec,
        .flags = in.flags,
        .mode = in.mode,
    };
    memcpy(out->controls, in.controls, sizeof out->controls);
}

static void decode_tracker(const mavlink_message_t *rx, struct io_mavlink_tracker *out)
{
    mavlink_att_pos_mocap_t in;
    mavlink_msg_att_pos_mocap_decode(rx, &in);
    *out = (struct io_mavlink_tracker){.time_us = in.time_usec, .position = {in.x, in.y, in.z}};
    memcpy(out->attitude, in.q, sizeof out->attitude);
    memcpy(out->covariance, in.covariance, sizeof out->covariance);
}

static void decode_vector(const mavlink_message_t *rx, struct io_mavlink_vector *out)
{
    mavlink_debug_vect_t in;
    mavlink_msg_debug_vect_decode(rx, &in);
    *out = (struct io_mavlink_vector){.time_us = in.time_usec, .value = {in.x, in.y, in.z}};
    memcpy(out->name, in.name, sizeof out->name);
}

static void decode_array(const mavlink_message_t *rx, struct io_mavlink_array *out)
{
    mavlink_debug_float_array_t in;
    mavlink_msg_debug_float_array_decode(rx, &in);
    *out = (struct io_mavlink_array){.time_us = in.time_usec, .id = in.array_id};
    memcpy(out->name, in.name, sizeof out->name);
    memcpy(out->value, in.data, sizeof out->value);
}

static void decode_rc(const mavlink_message_t *rx, struct io_mavlink_rc *out)
{
    mavlink_rc_channels_t in;
    mavlink_msg_rc_channels_decode(rx, &in);
    *out = (struct io_mavlink_rc){
        .boot_ms = in.time_boot_ms,
        .channel_us = {in.chan1_raw, in.chan2_raw, in.chan3_raw, in.chan4_raw, in.chan5_raw,
                       in.chan6_raw, in.chan7_raw, in.chan8_raw, in.chan9_raw, in.chan10_raw,
                       in.chan11_raw, in.chan12_raw, in.chan13_raw, in.chan14_raw, in.chan15_raw,
                       in.chan16_raw, in.chan17_raw, in.chan18_raw},
        .count = in.chancount,
        .rssi = in.rssi,
    };
}

static enum io_mavlink_kind decode_body(const mavlink_message_t *rx,
                                        struct io_mavlink_message *message)
{
    switch (rx->msgid) {
    case MAVLINK_MSG_ID_HEARTBEAT:
        decode_heartbeat(rx, &message->heartbeat);
        return IO_MAVLINK_HEARTBEAT;
    case MAVLINK_MSG_ID_SYSTEM_TIME:
        decode_time(rx, &message->time);
        return IO_MAVLINK_TIME;
    case MAVLINK_MSG_ID_TIMESYNC:
        decode_timesync(rx, &message->timesync);
        return IO_MAVLINK_TIMESYNC;
    case MAVLINK_MSG_ID_HIL_SENSOR:
        decode_sensor(rx, &message->sensor);
        return IO_MAVLINK_SENSOR;
    case MAVLINK_MSG_ID_HIL_GPS:
        decode_gps(rx, &message->gps);
        return IO_MAVLINK_GPS;
    case MAVLINK_MSG_ID_HIL_STATE_QUATERNION:
        decode_state(rx, &message->state);
        return IO_MAVLINK_STATE;
    case MAVLINK_MSG_ID_HIL_ACTUATOR_CONTROLS:
        decode_controls(rx, &message->controls);
        return IO_MAVLINK_CONTROLS;
    case MAVLINK_MSG_ID_ATT_POS_MOCAP:
        decode_tracker(rx, &message->tracker);
        return IO_MAVLINK_TRACKER;
    case MAVLINK_MSG_ID_DEBUG_VECT:
        decode_vector(rx, &message->vector);
        return IO_MAVLINK_VECTOR;
    case MAVLINK_MSG_ID_DEBUG_FLOAT_ARRAY:
        decode_array(rx, &message->array);
        return IO_MAVLINK_ARRAY;
    case MAVLINK_MSG_ID_RC_CHANNELS:
        decode_rc(rx, &message->rc);
        return IO_MAVLINK_RC;
    default:
        return IO_MAVLINK_OTHER;
    }
}

static void finish_message(struct io_mavlink_parser *parser, bool checked,
                           struct io_mavlink_message *message)
{
    const mavlink_message_t *rx = &parser->rx;
    parser->counters.messages++;
    count_lost(parser, checked);
    message->id = rx->msgid;
    message->system_id = rx->sysid;
    message->component_id = rx->compid;
    message->sequence = rx->seq;
    message->version = rx->magic == MAVLINK_STX_MAVLINK1 ? 1 : 2;
    message->kind = checked ? decode_body(rx, message) : IO_MAVLINK_UNKNOWN;
}

/* MAVLink 2 trims trailing zeros, MAVLink 1 does not.  Longer is no mistake in either: version 2
 * may have grown fields that we do not know, and some libraries write version 2's into version 1.
 */
static bool length_fits(const mavlink_message_t *rx, const mavlink_msg_entry_t *entry)
{
    return rx->magic != MAVLINK_STX_MAVLINK1 || rx->len >= entry->min_msg_len;
}

static bool is_start(uint8_t byte)
{
    return byte == MAVLINK_STX || byte == MAVLINK_STX_MAVLINK1;
}

static void count_garbage(struct io_mavlink_parser *parser)
{
    parser->counters.bad_header += !parser->in_garbage;
    parser->in_garbage = true;
}

/* A checksum that does not fit.  When bytes went missing its last byte may already be the start of
 * the next frame. */
static void reject_checksum(struct io_mavlink_parser *parser, uint8_t byte)
{
    parser->counters.bad_crc++;
    if (is_start(byte))
        (void)mavlink_frame_char_buffer(&parser->rx, &parser->status, byte, NULL, NULL);
}

/* A frame is complete, sound or not. */
static void end_frame(struct io_mavlink_parser *parser, bool sound, uint8_t byte,
                      struct io_mavlink_message *message)
{
    const mavlink_msg_entry_t *entry = mavlink_get_msg_entry(parser->rx.msgid);
    if (!entry) {
        parser->counters.unknown++;
        finish_message(parser, false, message);
    } else if (!sound) {
        reject_checksum(parser, byte);
    } else if (!length_fits(&parser->rx, entry)) {
        parser->counters.bad_length++;
    } else {
        finish_message(parser, true, message);
    }
}

/* The library tells of a bad checksum twice when a signature follows: before and behind it.  The
 * frame ends behind it. */
static void feed_byte(struct io_mavlink_parser *parser, uint8_t byte,
                      struct io_mavlink_message *message)
{
    const bool was_idle = is_idle(parser);
    const uint8_t framing =
        mavlink_frame_char_buffer(&parser->rx, &parser->status, byte, NULL, NULL);
    if (framing != MAVLINK_FRAMING_INCOMPLETE && is_idle(parser))
        end_frame(parser, framing == MAVLINK_FRAMING_OK, byte, message);
    else if (is_idle(parser))
        count_garbage(parser); /* starts no frame, or flags that we do not understand */
    else if (was_idle)
        parser->in_garbage = false;
}

/* No frame is longer than the buffer: the library counts its bytes too. */
static void keep_bytes(struct io_mavlink_parser *parser, const unsigned char *bytes, size_t size)
{
    RT_CHECK(size <= sizeof parser->frame - parser->frame_size);
    memcpy(parser->frame + parser->frame_size, bytes, size);
    parser->frame_size += size;
}

size_t io_mavlink_feed(struct io_mavlink_parser *parser, const unsigned char *bytes, size_t size,
                       struct io_mavlink_message *message)
{
    size_t begin = 0; /* of the frame, as far as it lies in these bytes */
    message->kind = IO_MAVLINK_NONE;
    for (size_t i = 0; i < size; i++) {
        feed_byte(parser, bytes[i], message);
        if (parser->status.parse_state == MAVLINK_PARSE_STATE_GOT_STX) {
            parser->frame_size = 0;
            begin = i;
        }
        if (message->kind != IO_MAVLINK_NONE) {
            keep_bytes(parser, bytes + begin, i + 1 - begin);
            return i + 1;
        }
    }
    if (!is_idle(parser))
        keep_bytes(parser, bytes + begin, size - begin);
    return size;
}

const unsigned char *io_mavlink_frame(const struct io_mavlink_parser *parser, size_t *size)
{
    *size = parser->frame_size;
    return parser->frame;
}

/* What the generated encoders need besides the body. */
struct envelope {
    const struct io_mavlink_sender *sender;
    mavlink_status_t status;
    mavlink_message_t tx;
};

static void encode_heartbeat(struct envelope *to, const struct io_mavlink_heartbeat *in)
{
    (void)mavlink_msg_heartbeat_pack_status(to->sender->system_id, to->sender->component_id,
                                            &to->status, &to->tx, in->type, in->autopilot,
                                            in->base_mode, in->custom_mode, in->status);
}

static void encode_time(struct envelope *to, const struct io_mavlink_time *in)
{
    (void)mavlink_msg_system_time_pack_status(to->sender->system_id, to->sender->component_id,
                                              &to->status, &to->tx, in->unix_us, in->boot_ms);
}

static void encode_timesync(struct envelope *to, const struct io_mavlink_timesync *in)
{
    char *payload = _MAV_PAYLOAD_NON_CONST(&to->tx);
    memcpy(payload, &in->tc1, sizeof in->tc1);
    memcpy(payload + 8, &in->ts1, sizeof in->ts1);
    payload[TIMESYNC_CORE] = (char)in->target_system;
    payload[TIMESYNC_CORE + 1] = (char)in->target_component;
    to->tx.msgid = MAVLINK_MSG_ID_TIMESYNC;
    (void)mavlink_finalize_message_buffer(&to->tx, to->sender->system_id, to->sender->component_id,
                                          &to->status, TIMESYNC_CORE, TIMESYNC_FULL,
                                          MAVLINK_MSG_ID_TIMESYNC_CRC);
}

static void encode_sensor(struct envelope *to, const struct io_mavlink_sensor *in)
{
    const mavlink_hil_sensor_t out = {
        .time_usec = in->time_us,
        .xacc = in->accel[0],
        .yacc = in->accel[1],
        .zacc = in->accel[2],
        .xgyro = in->gyro[0],
        .ygyro = in->gyro[1],
        .zgyro = in->gyro[2],
        .xmag = in->mag[0],
        .ymag = in->mag[1],
        .zmag = in->mag[2],
        .abs_pressure = in->pressure_hpa,
        .diff_pressure = in->diff_pressure_hpa,
        .pressure_alt = in->pressure_altitude_m,
        .temperature = in->temperature_c,
        .fields_updated = in->fields,
        .id = in->id,
    };
    (void)mavlink_msg_hil_sensor_encode_status(to->sender->system_id, to->sender->component_id,
                                               &to->status, &to->tx, &out);
}

static void encode_gps(struct envelope *to, const struct io_mavlink_gps *in)
{
    const mavlink_hil_gps_t out = {
        .time_usec = in->time_us,
        .lat = in->latitude_e7,
        .lon = in->longitude_e7,
        .alt = in->altitude_mm,
        .eph = in->eph,
        .epv = in->epv,
        .vel = in->speed_cms,
        .vn = in->velocity_cms[0],
        .ve = in->velocity_cms[1],
        .vd = in->velocity_cms[2],
        .cog = in->course_cdeg,
        .yaw = in->yaw_cdeg,
        .fix_type = in->fix,
        .satellites_visible = in->satellites,
        .id = in->id,
    };
    (void)mavlink_msg_hil_gps_encode_status(to->sender->system_id, to->sender->component_id,
                                            &to->status, &to->tx, &out);
}

static void encode_state(struct envelope *to, const struct io_mavlink_state *in)
{
    mavlink_hil_state_quaternion_t out = {
        .time_usec = in->time_us,
        .rollspeed = in->rate[0],
        .pitchspeed = in->rate[1],
        .yawspeed = in->rate[2],
        .lat = in->latitude_e7,
        .lon = in->longitude_e7,
        .alt = in->altitude_mm,
        .vx = in->velocity_cms[0],
        .vy = in->velocity_cms[1],
        .vz = in->velocity_cms[2],
        .ind_airspeed = in->indicated_cms,
        .true_airspeed = in->true_cms,
        .xacc = in->accel_mg[0],
        .yacc = in->accel_mg[1],
        .zacc = in->accel_mg[2],
    };
    memcpy(out.attitude_quaternion, in->attitude, sizeof out.attitude_quaternion);
    (void)mavlink_msg_hil_state_quaternion_encode_status(
        to->sender->system_id, to->sender->component_id, &to->status, &to->tx, &out);
}

static void encode_controls(struct envelope *to, const struct io_mavlink_controls *in)
{
    (void)mavlink_msg_hil_actuator_controls_pack_status(
        to->sender->system_id, to->sender->component_id, &to->status, &to->tx, in->time_us,
        in->controls, in->mode, in->flags);
}

static void encode_tracker(struct envelope *to, const struct io_mavlink_tracker *in)
{
    (void)mavlink_msg_att_pos_mocap_pack_status(
        to->sender->system_id, to->sender->component_id, &to->status, &to->tx, in->time_us,
        in->attitude, in->position[0], in->position[1], in->position[2], in->covariance);
}

static void encode_vector(struct envelope *to, const struct io_mavlink_vector *in)
{
    (void)mavlink_msg_debug_vect_pack_status(to->sender->system_id, to->sender->component_id,
                                             &to->status, &to->tx, in->name, in->time_us,
                                             in->value[0], in->value[1], in->value[2]);
}

static void encode_array(struct envelope *to, const struct io_mavlink_array *in)
{
    (void)mavlink_msg_debug_float_array_pack_status(to->sender->system_id, to->sender->component_id,
                                                    &to->status, &to->tx, in->time_us, in->name,
                                                    in->id, in->value);
}

static void encode_rc(struct envelope *to, const struct io_mavlink_rc *in)
{
    const uint16_t *us = in->channel_us;
    (void)mavlink_msg_rc_channels_pack_status(
        to->sender->system_id, to->sender->component_id, &to->status, &to->tx, in->boot_ms,
        in->count, us[0], us[1], us[2], us[3], us[4], us[5], us[6], us[7], us[8], us[9], us[10],
        us[11], us[12], us[13], us[14], us[15], us[16], us[17], in->rssi);
}

static void encode_body(struct envelope *to, const struct io_mavlink_message *message)
{
    switch (message->kind) {
    case IO_MAVLINK_HEARTBEAT:
        encode_heartbeat(to, &message->heartbeat);
        return;
    case IO_MAVLINK_TIME:
        encode_time(to, &message->time);
        return;
    case IO_MAVLINK_TIMESYNC:
        encode_timesync(to, &message->timesync);
        return;
    case IO_MAVLINK_SENSOR:
        encode_sensor(to, &message->sensor);
        return;
    case IO_MAVLINK_GPS:
        encode_gps(to, &message->gps);
        return;
    case IO_MAVLINK_STATE:
        encode_state(to, &message->state);
        return;
    case IO_MAVLINK_CONTROLS:
        encode_controls(to, &message->controls);
        return;
    case IO_MAVLINK_TRACKER:
        encode_tracker(to, &message->tracker);
        return;
    case IO_MAVLINK_VECTOR:
        encode_vector(to, &message->vector);
        return;
    case IO_MAVLINK_ARRAY:
        encode_array(to, &message->array);
        return;
    case IO_MAVLINK_RC:
        encode_rc(to, &message->rc);
        return;
    case IO_MAVLINK_NONE:
    case IO_MAVLINK_UNKNOWN:
    case IO_MAVLINK_OTHER:
        break;
    }
    RT_CHECK(false); /* nothing to encode */
}

size_t io_mavlink_encode(struct io_mavlink_sender *sender, const struct io_mavlink_message *message,
                         unsigned char frame[IO_MAVLINK_FRAME_MAX])
{
    struct envelope to = {.sender = sender, .status = {.current_tx_seq = sender->sequence}};
    encode_body(&to, message);
    sender->sequence = to.status.current_tx_seq;
    return mavlink_msg_to_send_buffer(frame, &to.tx);
}

/* Nearest integer between the ends; NaN is 0. */
static int64_t to_wire(double value, int64_t lowest, int64_t highest)
{
    if (isnan(value))
        return 0;
    if (value <= (double)lowest)
        return lowest;
    return value >= (double)highest ? highest : llround(value);
}

static int16_t to_i16(double value)
{
    return (int16_t)to_wire(value, INT16_MIN, INT16_MAX);
}

static uint8_t to_u8(uint32_t value)
{
    return value < UINT8_MAX ? (uint8_t)value : UINT8_MAX;
}

static uint16_t to_u16(double value)
{
    return (uint16_t)to_wire(value, 0, UINT16_MAX);
}

static int32_t to_i32(double value)
{
    return (int32_t)to_wire(value, INT32_MIN, INT32_MAX);
}

static int32_t degrees_e7(double radians)
{
    return to_i32(radians * (180.0 / M_PI) * 1e7);
}

/* Direction of the motion over ground, 0 to 359.99 degrees. */
static uint16_t course_cdeg(double north, double east)
{
    enum { FULL_CIRCLE = 36000 };
    if (!(hypot(north, east) > 0.1)) /* m/s: slower has no direction worth the name */
        return COURSE_UNKNOWN;
    const double cdeg = atan2(east, north) * (180.0 / M_PI) * 100.0;
    return (uint16_t)((to_wire(cdeg, -FULL_CIRCLE / 2, FULL_CIRCLE / 2) + FULL_CIRCLE) %
                      FULL_CIRCLE);
}

/* What a barometer takes for the altitude; 0 without one. */
static double pressure_altitude(double pressure)
{
    if (!(pressure > 0.0))
        return 0.0;
    return sea_temperature / lapse_rate * (1.0 - pow(pressure / sea_pressure, pressure_exponent));
}

static void sample_sensor(const struct io_sample *sample, struct io_mavlink_sensor *out)
{
    *out = (struct io_mavlink_sensor){
        .time_us = sample->sim_us,
        .pressure_hpa = (float)(sample->pressure / 100.0),
        .diff_pressure_hpa = (float)(sample->diff_pressure / 100.0),
        .pressure_altitude_m = (float)pressure_altitude(sample->pressure),
        .temperature_c = (float)sample->temperature,
        .fields = sample->fields,
    };
    for (int i = 0; i < 3; i++) {
        out->accel[i] = (float)sample->accel[i];
        out->gyro[i] = (float)sample->gyro[i];
        out->mag[i] = (float)(sample->mag[i] * 1e4); /* 1 T = 10^4 gauss */
    }
}

static void sample_gps(const struct io_sample *sample, struct io_mavlink_gps *out)
{
    const struct io_geodetic_fix *fix = &sample->fix;
    const double *v = fix->velocity;
    *out = (struct io_mavlink_gps){
        .time_us = sample->sim_us,
        .latitude_e7 = degrees_e7(fix->latitude),
        .longitude_e7 = degrees_e7(fix->longitude),
        .altitude_mm = to_i32(fix->altitude * 1e3),
        .eph = to_u16(fix->eph * 100.0), /* as PX4 reads it */
        .epv = to_u16(fix->epv * 100.0),
        .speed_cms = to_u16(hypot(v[0], v[1]) * 100.0),
        .velocity_cms = {to_i16(v[0] * 100.0), to_i16(v[1] * 100.0), to_i16(v[2] * 100.0)},
        .course_cdeg = course_cdeg(v[0], v[1]),
        .fix = to_u8(fix->type),
        .satellites = to_u8(fix->satellites),
    };
}

static void sample_state(const struct io_sample *sample, struct io_mavlink_state *out)
{
    *out = (struct io_mavlink_state){
        .time_us = sample->sim_us,
        .latitude_e7 = degrees_e7(sample->latitude),
        .longitude_e7 = degrees_e7(sample->longitude),
        .altitude_mm = to_i32(sample->altitude * 1e3),
        .true_cms = to_u16(sample->airspeed * 100.0),
    };
    for (int i = 0; i < 4; i++)
        out->attitude[i] = (float)sample->attitude[i];
    for (int i = 0; i < 3; i++) {
        out->rate[i] = (float)sample->rate[i];
        out->velocity_cms[i] = to_i16(sample->velocity[i] * 100.0);
        out->accel_mg[i] = to_i16(sample->true_accel[i] / 9.80665 * 1e3);
    }
}

/* A star tracker knows nothing of the position. */
static void sample_tracker(const struct io_sample *sample, struct io_mavlink_tracker *out)
{
    *out = (struct io_mavlink_tracker){
        .time_us = sample->sim_us,
        .position = {NAN, NAN, NAN},
        .covariance = {NAN},
    };
    for (int i = 0; i < 4; i++)
        out->attitude[i] = (float)sample->tracker[i];
}

static void sample_sun(const struct io_sample *sample, struct io_mavlink_vector *out)
{
    *out = (struct io_mavlink_vector){.time_us = sample->sim_us, .name = "sun"};
    for (int i = 0; i < 3; i++)
        out->value[i] = (float)sample->sun[i];
}

static void sample_angles(const struct io_sample *sample, struct io_mavlink_array *out)
{
    *out = (struct io_mavlink_array){.time_us = sample->sim_us, .name = "angles"};
    for (uint32_t i = 0; i < sample->angle_count && i < IO_ANGLE_MAX; i++)
        out->value[i] = (float)sample->angle[i];
}

static void sample_rc(const struct io_sample *sample, struct io_mavlink_rc *out)
{
    *out = (struct io_mavlink_rc){
        .boot_ms = (uint32_t)(sample->sim_us / 1000u),
        .count = IO_RC_MAX,
        .rssi = RSSI_UNKNOWN,
    };
    for (int i = 0; i < IO_MAVLINK_RC_MAX; i++)
        out->channel_us[i] = i < IO_RC_MAX ? sample->rc[i] : CHANNEL_UNUSED;
}

void io_mavlink_from_sample(const struct io_sample *sample, enum io_mavlink_kind kind,
                            struct io_mavlink_message *message)
{
    message->kind = kind;
    if (kind == IO_MAVLINK_SENSOR)
        sample_sensor(sample, &message->sensor);
    else if (kind == IO_MAVLINK_GPS)
        sample_gps(sample, &message->gps);
    else if (kind == IO_MAVLINK_STATE)
        sample_state(sample, &message->state);
    else if (kind == IO_MAVLINK_TRACKER)
        sample_tracker(sample, &message->tracker);
    else if (kind == IO_MAVLINK_VECTOR)
        sample_sun(sample, &message->vector);
    else if (kind == IO_MAVLINK_ARRAY)
        sample_angles(sample, &message->array);
    else if (kind == IO_MAVLINK_RC)
        sample_rc(sample, &message->rc);
    else
        RT_CHECK(false);
}

void io_mavlink_from_status(enum io_mavlink_status status, struct io_mavlink_message *message)
{
    message->kind = IO_MAVLINK_HEARTBEAT;
    message->heartbeat = (struct io_mavlink_heartbeat){
        .type = MAV_TYPE_GENERIC,
        .autopilot = MAV_AUTOPILOT_INVALID, /* we are not one */
        .status = (uint8_t)status,
    };
}

void io_mavlink_timesync_reply(const struct io_mavlink_message *request, uint64_t now_ns,
                               struct io_mavlink_message *answer)
{
    answer->kind = IO_MAVLINK_TIMESYNC;
    answer->timesync = (struct io_mavlink_timesync){
        .tc1 = (int64_t)now_ns,
        .ts1 = request->timesync.ts1,
        .target_system = request->system_id,
        .target_component = request->component_id,
    };
}

void io_mavlink_to_command(const struct io_mavlink_message *message, struct io_command *command)
{
    command->board_us = message->controls.time_us;
    command->flags = message->controls.flags;
    command->mode = message->controls.mode;
    memcpy(command->controls, message->controls.controls, sizeof command->controls);
}
