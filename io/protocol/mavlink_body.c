/*
 * One row per message: its id, its kind, its decoder and its encoder.
 */
#include "io/protocol/mavlink_body.h"

#include <string.h>

#include "rt/check.h"

_Static_assert((int)IO_MAVLINK_ACTIVE == (int)MAV_STATE_ACTIVE, "MAV_STATE");
_Static_assert((int)IO_MAVLINK_EMERGENCY == (int)MAV_STATE_EMERGENCY, "MAV_STATE");
_Static_assert((int)IO_MAVLINK_POWEROFF == (int)MAV_STATE_POWEROFF, "MAV_STATE");
_Static_assert((int)IO_MAVLINK_TYPE_GENERIC == (int)MAV_TYPE_GENERIC, "MAV_TYPE");
_Static_assert((int)IO_MAVLINK_NO_AUTOPILOT == (int)MAV_AUTOPILOT_INVALID, "MAV_AUTOPILOT");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the wire's order, see encode_timesync");

/* TIMESYNC has 16 bytes in some dialects and 18 in others, with the same CRC.  The two target bytes
 * are written and read here, so that the generated headers may be of either dialect. */
enum { TIMESYNC_CORE = 16, TIMESYNC_FULL = 18 };

static void decode_heartbeat(const mavlink_message_t *rx, void *body)
{
    struct io_mavlink_heartbeat *out = body;
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

static void decode_time(const mavlink_message_t *rx, void *body)
{
    struct io_mavlink_time *out = body;
    mavlink_system_time_t in;
    mavlink_msg_system_time_decode(rx, &in);
    *out = (struct io_mavlink_time){.unix_us = in.time_unix_usec, .boot_ms = in.time_boot_ms};
}

static void decode_timesync(const mavlink_message_t *rx, void *body)
{
    struct io_mavlink_timesync *out = body;
    const char *payload = _MAV_PAYLOAD(rx);
    mavlink_timesync_t in;
    mavlink_msg_timesync_decode(rx, &in);
    *out = (struct io_mavlink_timesync){.tc1 = in.tc1, .ts1 = in.ts1};
    if (rx->len > TIMESYNC_CORE)
        out->target_system = (uint8_t)payload[TIMESYNC_CORE];
    if (rx->len > TIMESYNC_CORE + 1)
        out->target_component = (uint8_t)payload[TIMESYNC_CORE + 1];
}

static void decode_sensor(const mavlink_message_t *rx, void *body)
{
    struct io_mavlink_sensor *out = body;
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

static void decode_gps(const mavlink_message_t *rx, void *body)
{
    struct io_mavlink_gps *out = body;
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

static void decode_state(const mavlink_message_t *rx, void *body)
{
    struct io_mavlink_state *out = body;
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

static void decode_controls(const mavlink_message_t *rx, void *body)
{
    struct io_mavlink_controls *out = body;
    mavlink_hil_actuator_controls_t in;
    mavlink_msg_hil_actuator_controls_decode(rx, &in);
    *out = (struct io_mavlink_controls){
        .time_us = in.time_usec,
        .flags = in.flags,
        .mode = in.mode,
    };
    memcpy(out->controls, in.controls, sizeof out->controls);
}

static void decode_tracker(const mavlink_message_t *rx, void *body)
{
    struct io_mavlink_tracker *out = body;
    mavlink_att_pos_mocap_t in;
    mavlink_msg_att_pos_mocap_decode(rx, &in);
    *out = (struct io_mavlink_tracker){.time_us = in.time_usec, .position = {in.x, in.y, in.z}};
    memcpy(out->attitude, in.q, sizeof out->attitude);
    memcpy(out->covariance, in.covariance, sizeof out->covariance);
}

static void decode_vector(const mavlink_message_t *rx, void *body)
{
    struct io_mavlink_vector *out = body;
    mavlink_debug_vect_t in;
    mavlink_msg_debug_vect_decode(rx, &in);
    *out = (struct io_mavlink_vector){.time_us = in.time_usec, .value = {in.x, in.y, in.z}};
    memcpy(out->name, in.name, sizeof out->name);
}

static void decode_array(const mavlink_message_t *rx, void *body)
{
    struct io_mavlink_array *out = body;
    mavlink_debug_float_array_t in;
    mavlink_msg_debug_float_array_decode(rx, &in);
    *out = (struct io_mavlink_array){.time_us = in.time_usec, .id = in.array_id};
    memcpy(out->name, in.name, sizeof out->name);
    memcpy(out->value, in.data, sizeof out->value);
}

static void decode_rc(const mavlink_message_t *rx, void *body)
{
    struct io_mavlink_rc *out = body;
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

static void encode_heartbeat(struct io_mavlink_envelope *to, const void *body)
{
    const struct io_mavlink_heartbeat *in = body;
    (void)mavlink_msg_heartbeat_pack_status(to->sender->system_id, to->sender->component_id,
                                            &to->status, &to->tx, in->type, in->autopilot,
                                            in->base_mode, in->custom_mode, in->status);
}

static void encode_time(struct io_mavlink_envelope *to, const void *body)
{
    const struct io_mavlink_time *in = body;
    (void)mavlink_msg_system_time_pack_status(to->sender->system_id, to->sender->component_id,
                                              &to->status, &to->tx, in->unix_us, in->boot_ms);
}

static void encode_timesync(struct io_mavlink_envelope *to, const void *body)
{
    const struct io_mavlink_timesync *in = body;
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

static void encode_sensor(struct io_mavlink_envelope *to, const void *body)
{
    const struct io_mavlink_sensor *in = body;
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

static void encode_gps(struct io_mavlink_envelope *to, const void *body)
{
    const struct io_mavlink_gps *in = body;
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

static void encode_state(struct io_mavlink_envelope *to, const void *body)
{
    const struct io_mavlink_state *in = body;
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

static void encode_controls(struct io_mavlink_envelope *to, const void *body)
{
    const struct io_mavlink_controls *in = body;
    (void)mavlink_msg_hil_actuator_controls_pack_status(
        to->sender->system_id, to->sender->component_id, &to->status, &to->tx, in->time_us,
        in->controls, in->mode, in->flags);
}

static void encode_tracker(struct io_mavlink_envelope *to, const void *body)
{
    const struct io_mavlink_tracker *in = body;
    (void)mavlink_msg_att_pos_mocap_pack_status(
        to->sender->system_id, to->sender->component_id, &to->status, &to->tx, in->time_us,
        in->attitude, in->position[0], in->position[1], in->position[2], in->covariance);
}

static void encode_vector(struct io_mavlink_envelope *to, const void *body)
{
    const struct io_mavlink_vector *in = body;
    (void)mavlink_msg_debug_vect_pack_status(to->sender->system_id, to->sender->component_id,
                                             &to->status, &to->tx, in->name, in->time_us,
                                             in->value[0], in->value[1], in->value[2]);
}

static void encode_array(struct io_mavlink_envelope *to, const void *body)
{
    const struct io_mavlink_array *in = body;
    (void)mavlink_msg_debug_float_array_pack_status(to->sender->system_id, to->sender->component_id,
                                                    &to->status, &to->tx, in->time_us, in->name,
                                                    in->id, in->value);
}

static void encode_rc(struct io_mavlink_envelope *to, const void *body)
{
    const struct io_mavlink_rc *in = body;
    const uint16_t *us = in->channel_us;
    (void)mavlink_msg_rc_channels_pack_status(
        to->sender->system_id, to->sender->component_id, &to->status, &to->tx, in->boot_ms,
        in->count, us[0], us[1], us[2], us[3], us[4], us[5], us[6], us[7], us[8], us[9], us[10],
        us[11], us[12], us[13], us[14], us[15], us[16], us[17], in->rssi);
}

static const struct {
    uint32_t id;
    enum io_mavlink_kind kind;
    void (*decode)(const mavlink_message_t *rx, void *body);
    void (*encode)(struct io_mavlink_envelope *to, const void *body);
} rows[] = {
    {MAVLINK_MSG_ID_HEARTBEAT, IO_MAVLINK_HEARTBEAT, decode_heartbeat, encode_heartbeat},
    {MAVLINK_MSG_ID_SYSTEM_TIME, IO_MAVLINK_TIME, decode_time, encode_time},
    {MAVLINK_MSG_ID_TIMESYNC, IO_MAVLINK_TIMESYNC, decode_timesync, encode_timesync},
    {MAVLINK_MSG_ID_HIL_SENSOR, IO_MAVLINK_SENSOR, decode_sensor, encode_sensor},
    {MAVLINK_MSG_ID_HIL_GPS, IO_MAVLINK_GPS, decode_gps, encode_gps},
    {MAVLINK_MSG_ID_HIL_STATE_QUATERNION, IO_MAVLINK_STATE, decode_state, encode_state},
    {MAVLINK_MSG_ID_HIL_ACTUATOR_CONTROLS, IO_MAVLINK_CONTROLS, decode_controls, encode_controls},
    {MAVLINK_MSG_ID_ATT_POS_MOCAP, IO_MAVLINK_TRACKER, decode_tracker, encode_tracker},
    {MAVLINK_MSG_ID_DEBUG_VECT, IO_MAVLINK_VECTOR, decode_vector, encode_vector},
    {MAVLINK_MSG_ID_DEBUG_FLOAT_ARRAY, IO_MAVLINK_ARRAY, decode_array, encode_array},
    {MAVLINK_MSG_ID_RC_CHANNELS, IO_MAVLINK_RC, decode_rc, encode_rc},
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* All bodies are at the same place, that of the union. */
enum { BODY_OFFSET = offsetof(struct io_mavlink_message, heartbeat) };

enum io_mavlink_kind io_mavlink_kind_of(uint32_t id)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (rows[i].id == id)
            return rows[i].kind;
    return IO_MAVLINK_OTHER;
}

void io_mavlink_decode_body(const mavlink_message_t *rx, struct io_mavlink_message *message)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (rows[i].kind == message->kind)
            rows[i].decode(rx, (char *)message + BODY_OFFSET);
}

void io_mavlink_encode_body(struct io_mavlink_envelope *to,
                            const struct io_mavlink_message *message)
{
    for (int i = 0; i < ROW_COUNT; i++) {
        if (rows[i].kind == message->kind) {
            rows[i].encode(to, (const char *)message + BODY_OFFSET);
            return;
        }
    }
    RT_CHECK(false); /* the kind has no body */
}
