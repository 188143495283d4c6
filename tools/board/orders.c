#include "tools/board/orders.h"

#include <string.h>
#include <sys/socket.h>

#include "tools/board/wires/socket.h"

enum { MODE_BASE = 0x01, MODE_ARMED = 0x80, BEAT_PERIOD_US = 1000000 };

bool board_orders_open(struct board_orders *orders, const char *address, struct board_quad *quad,
                       char error[256])
{
    *orders = (struct board_orders){.fd = -1, .quad = quad, .relative = orders->relative};
    quad->waits = true;
    if (address == NULL)
        return true;
    orders->fd = board_socket_udp(address, error);
    return orders->fd >= 0;
}

/* As in a flight controller, "not ready" means a later try may succeed. */
static uint8_t obey(const struct board_orders *orders, const mavlink_command_long_t *command)
{
    struct board_quad *quad = orders->quad;
    const double above = orders->relative ? 0.0 : quad->place.altitude;
    bool done;
    switch (command->command) {
    case MAV_CMD_COMPONENT_ARM_DISARM:
        done = board_quad_arm(quad, command->param1 > 0.5f);
        break;
    case MAV_CMD_NAV_TAKEOFF:
        done = board_quad_take_off(quad, (double)command->param7 - above);
        break;
    case MAV_CMD_NAV_LAND:
        done = board_quad_land(quad);
        break;
    case MAV_CMD_DO_SET_MODE:
        done = true;
        break;
    default:
        return MAV_RESULT_UNSUPPORTED;
    }
    return done ? MAV_RESULT_ACCEPTED : MAV_RESULT_TEMPORARILY_REJECTED;
}

static void acknowledge(struct board_orders *orders, struct board_frames *frames,
                        const mavlink_message_t *asked, mavlink_message_t *reply)
{
    mavlink_command_long_t command;
    mavlink_msg_command_long_decode(asked, &command);
    const mavlink_command_ack_t ack = {.command = command.command,
                                       .result = obey(orders, &command),
                                       .target_system = asked->sysid,
                                       .target_component = asked->compid};
    mavlink_msg_command_ack_encode_status(BOARD_SYSTEM_ID, BOARD_COMPONENT_ID, &frames->tx_status,
                                          reply, &ack);
}

/* Any parameter may be set; the value is sent back. */
static void confirm(struct board_frames *frames, const mavlink_message_t *asked,
                    mavlink_message_t *reply)
{
    mavlink_param_set_t set;
    mavlink_msg_param_set_decode(asked, &set);
    mavlink_param_value_t value = {
        .param_value = set.param_value, .param_count = 1, .param_type = set.param_type};
    memcpy(value.param_id, set.param_id, sizeof value.param_id);
    mavlink_msg_param_value_encode_status(BOARD_SYSTEM_ID, BOARD_COMPONENT_ID, &frames->tx_status,
                                          reply, &value);
}

bool board_orders_take(struct board_orders *orders, struct board_frames *frames,
                       const mavlink_message_t *asked, mavlink_message_t *reply)
{
    if (asked->msgid == MAVLINK_MSG_ID_COMMAND_LONG)
        acknowledge(orders, frames, asked, reply);
    else if (asked->msgid == MAVLINK_MSG_ID_PARAM_SET)
        confirm(frames, asked, reply);
    else
        return false;
    return true;
}

static void post(const struct board_orders *orders, const mavlink_message_t *raw)
{
    uint8_t bytes[MAVLINK_MAX_PACKET_LEN];
    const uint16_t size = mavlink_msg_to_send_buffer(bytes, raw);
    if (send(orders->fd, bytes, size, 0) < 0)
        send(orders->fd, bytes, size, 0); /* the first send may report an earlier refusal */
}

void board_orders_turn(struct board_orders *orders, uint64_t time_us)
{
    uint8_t bytes[2048];
    ssize_t size;
    mavlink_message_t asked, raw;
    if (orders->fd < 0)
        return;
    while ((size = recv(orders->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        for (ssize_t i = 0; i < size; i++)
            if (board_frames_push(&orders->frames, bytes[i], &asked) &&
                board_orders_take(orders, &orders->frames, &asked, &raw))
                post(orders, &raw);
    if (time_us < orders->next_beat_us)
        return;
    orders->next_beat_us = time_us + BEAT_PERIOD_US;
    const bool armed = orders->quad->phase >= BOARD_QUAD_ARMED;
    board_frames_heartbeat(&orders->frames, MAV_TYPE_QUADROTOR,
                           (uint8_t)(MODE_BASE | (armed ? MODE_ARMED : 0)), armed, &raw);
    if (orders->relative)
        mavlink_msg_heartbeat_pack_status(
            BOARD_SYSTEM_ID, BOARD_COMPONENT_ID, &orders->frames.tx_status, &raw,
            MAV_TYPE_QUADROTOR, MAV_AUTOPILOT_ARDUPILOTMEGA, MODE_BASE, 0, MAV_STATE_STANDBY);
    post(orders, &raw);
}
