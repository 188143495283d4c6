#include "tools/board/codecs/frames.h"

#include <math.h>

_Static_assert((int)BOARD_STATUS_EMERGENCY == (int)MAV_STATE_EMERGENCY, "MAV_STATE");
_Static_assert((int)BOARD_STATUS_POWEROFF == (int)MAV_STATE_POWEROFF, "MAV_STATE");

/* fields_updated of HIL_SENSOR; a sensor counts only when all its bits are set. */
enum { ACCEL_BITS = 0x7, GYRO_BITS = 0x38, FIELD_BITS = 0x1c0, PRESSURE_BITS = 0x1a00 };

static const double tesla_per_gauss = 1e-4, pascal_per_hectopascal = 100.0;

static void count_message(struct board_frames *frames, uint8_t sequence)
{
    if (frames->has_sequence)
        frames->rx_lost += (uint8_t)(sequence - frames->sequence - 1);
    frames->has_sequence = true;
    frames->sequence = sequence;
    frames->rx++;
}

bool board_frames_push(struct board_frames *frames, uint8_t byte, mavlink_message_t *raw)
{
    mavlink_status_t status;
    const uint8_t framing =
        mavlink_frame_char_buffer(&frames->rx_message, &frames->rx_status, byte, raw, &status);
    if (framing == MAVLINK_FRAMING_OK)
        count_message(frames, raw->seq);
    else if (framing != MAVLINK_FRAMING_INCOMPLETE)
        frames->rx_bad++;
    return framing == MAVLINK_FRAMING_OK;
}

void board_frames_reset(struct board_frames *frames)
{
    frames->rx_status.parse_state = MAVLINK_PARSE_STATE_IDLE;
}

static void write_frame(double out[3], float x, float y, float z, double scale)
{
    out[0] = (double)x * scale;
    out[1] = (double)y * scale;
    out[2] = (double)z * scale;
}

static void read_sensor(const mavlink_message_t *raw, struct board_message *message)
{
    mavlink_hil_sensor_t sensor;
    mavlink_msg_hil_sensor_decode(raw, &sensor);
    if (sensor.id != 0) /* a second sensor; this board uses one */
        return;
    message->type = BOARD_MESSAGE_SENSOR;
    message->time_us = sensor.time_usec;
    message->has_accel = (sensor.fields_updated & ACCEL_BITS) == ACCEL_BITS;
    message->has_gyro = (sensor.fields_updated & GYRO_BITS) == GYRO_BITS;
    message->has_field = (sensor.fields_updated & FIELD_BITS) == FIELD_BITS;
    message->has_pressure = (sensor.fields_updated & PRESSURE_BITS) == PRESSURE_BITS;
    write_frame(message->accel, sensor.xacc, sensor.yacc, sensor.zacc, 1.0);
    write_frame(message->gyro, sensor.xgyro, sensor.ygyro, sensor.zgyro, 1.0);
    write_frame(message->field, sensor.xmag, sensor.ymag, sensor.zmag, tesla_per_gauss);
    message->pressure = (double)sensor.abs_pressure * pascal_per_hectopascal;
}

static void read_gps(const mavlink_message_t *raw, struct board_message *message)
{
    const double e7 = 1e-7 * M_PI / 180.0;
    mavlink_hil_gps_t gps;
    mavlink_msg_hil_gps_decode(raw, &gps);
    if (gps.id != 0)
        return;
    message->type = BOARD_MESSAGE_GPS;
    message->time_us = gps.time_usec;
    message->fix = gps.fix_type;
    message->latitude = gps.lat * e7;
    message->longitude = gps.lon * e7;
    message->altitude = gps.alt * 1e-3;
    write_frame(message->velocity, gps.vn, gps.ve, gps.vd, 0.01);
}

static void read_truth(const mavlink_message_t *raw, struct board_message *message)
{
    mavlink_hil_state_quaternion_t state;
    mavlink_msg_hil_state_quaternion_decode(raw, &state);
    message->type = BOARD_MESSAGE_TRUTH;
    message->time_us = state.time_usec;
    for (int i = 0; i < 4; i++)
        message->attitude[i] = (double)state.attitude_quaternion[i];
}

static void read_tracker(const mavlink_message_t *raw, struct board_message *message)
{
    mavlink_att_pos_mocap_t tracker;
    mavlink_msg_att_pos_mocap_decode(raw, &tracker);
    message->type = BOARD_MESSAGE_TRACKER;
    message->time_us = tracker.time_usec;
    for (int i = 0; i < 4; i++)
        message->attitude[i] = (double)tracker.q[i];
}

/* A forwarded heartbeat of a ground station is not the simulator's. */
static void read_heartbeat(const mavlink_message_t *raw, struct board_message *message)
{
    if (mavlink_msg_heartbeat_get_type(raw) == MAV_TYPE_GCS)
        return;
    message->type = BOARD_MESSAGE_STATUS;
    message->status = mavlink_msg_heartbeat_get_system_status(raw);
}

void board_frames_read(const mavlink_message_t *raw, struct board_message *message)
{
    *message = (struct board_message){.type = BOARD_MESSAGE_OTHER};
    switch (raw->msgid) {
    case MAVLINK_MSG_ID_HIL_SENSOR:
        read_sensor(raw, message);
        break;
    case MAVLINK_MSG_ID_HIL_GPS:
        read_gps(raw, message);
        break;
    case MAVLINK_MSG_ID_HIL_STATE_QUATERNION:
        read_truth(raw, message);
        break;
    case MAVLINK_MSG_ID_ATT_POS_MOCAP:
        read_tracker(raw, message);
        break;
    case MAVLINK_MSG_ID_HEARTBEAT:
        read_heartbeat(raw, message);
        break;
    default:
        break;
    }
}

void board_frames_heartbeat(struct board_frames *frames, uint8_t type, uint8_t mode, bool armed,
                            mavlink_message_t *raw)
{
    const mavlink_heartbeat_t heartbeat = {
        .type = type,
        .autopilot = MAV_AUTOPILOT_PX4,
        .base_mode = mode,
        .system_status = armed ? MAV_STATE_ACTIVE : MAV_STATE_STANDBY,
        .mavlink_version = 3,
    };
    mavlink_msg_heartbeat_encode_status(BOARD_SYSTEM_ID, BOARD_COMPONENT_ID, &frames->tx_status,
                                        raw, &heartbeat);
}

void board_frames_controls(struct board_frames *frames, uint64_t time_us, uint8_t mode,
                           uint64_t flags, const double controls[BOARD_CONTROL_COUNT],
                           mavlink_message_t *raw)
{
    mavlink_hil_actuator_controls_t actuator = {.time_usec = time_us, .flags = flags, .mode = mode};
    for (int i = 0; i < BOARD_CONTROL_COUNT; i++)
        actuator.controls[i] = (float)controls[i];
    mavlink_msg_hil_actuator_controls_encode_status(BOARD_SYSTEM_ID, BOARD_COMPONENT_ID,
                                                    &frames->tx_status, raw, &actuator);
}

void board_frames_timesync(struct board_frames *frames, int64_t tc1, int64_t ts1,
                           mavlink_message_t *raw)
{
    const mavlink_timesync_t sync = {.tc1 = tc1, .ts1 = ts1};
    mavlink_msg_timesync_encode_status(BOARD_SYSTEM_ID, BOARD_COMPONENT_ID, &frames->tx_status, raw,
                                       &sync);
}

void board_frames_request(struct board_frames *frames, uint32_t id, uint32_t period_us,
                          mavlink_message_t *raw)
{
    const mavlink_command_long_t command = {
        .param1 = (float)id, .param2 = (float)period_us, .command = MAV_CMD_SET_MESSAGE_INTERVAL};
    mavlink_msg_command_long_encode_status(BOARD_SYSTEM_ID, BOARD_COMPONENT_ID, &frames->tx_status,
                                           raw, &command);
}

void board_frames_attitude(struct board_frames *frames, uint32_t time_ms, const double q[4],
                           const double rate[3], mavlink_message_t *raw)
{
    const double sine = 2.0 * (q[0] * q[2] - q[3] * q[1]);
    const mavlink_attitude_t attitude = {
        .time_boot_ms = time_ms,
        .roll = (float)atan2(2.0 * (q[0] * q[1] + q[2] * q[3]),
                             1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2])),
        .pitch = (float)asin(fmin(fmax(sine, -1.0), 1.0)),
        .yaw = (float)atan2(2.0 * (q[0] * q[3] + q[1] * q[2]),
                            1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3])),
        .rollspeed = (float)rate[0],
        .pitchspeed = (float)rate[1],
        .yawspeed = (float)rate[2],
    };
    mavlink_msg_attitude_encode_status(BOARD_SYSTEM_ID, BOARD_COMPONENT_ID, &frames->tx_status, raw,
                                       &attitude);
}

static void reply_command(struct board_frames *frames, const mavlink_message_t *asked,
                          mavlink_message_t *raw)
{
    mavlink_command_long_t command;
    mavlink_msg_command_long_decode(asked, &command);
    const mavlink_command_ack_t ack = {.command = command.command,
                                       .result = MAV_RESULT_ACCEPTED,
                                       .target_system = asked->sysid,
                                       .target_component = asked->compid};
    mavlink_msg_command_ack_encode_status(BOARD_SYSTEM_ID, BOARD_COMPONENT_ID, &frames->tx_status,
                                          raw, &ack);
}

/* One parameter is enough to show that a request arrived. */
static void reply_parameters(struct board_frames *frames, mavlink_message_t *raw)
{
    const mavlink_param_value_t value = {.param_value = 1.0f,
                                         .param_count = 1,
                                         .param_id = "SYS_HITL",
                                         .param_type = MAV_PARAM_TYPE_REAL32};
    mavlink_msg_param_value_encode_status(BOARD_SYSTEM_ID, BOARD_COMPONENT_ID, &frames->tx_status,
                                          raw, &value);
}

bool board_frames_reply(struct board_frames *frames, const mavlink_message_t *asked,
                        mavlink_message_t *raw)
{
    if (asked->msgid == MAVLINK_MSG_ID_COMMAND_LONG)
        reply_command(frames, asked, raw);
    else if (asked->msgid == MAVLINK_MSG_ID_PARAM_REQUEST_LIST)
        reply_parameters(frames, raw);
    else
        return false;
    return true;
}
