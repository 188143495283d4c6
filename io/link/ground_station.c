#include "io/link/ground_station.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <common/mavlink.h>

#include "io/protocol/mavlink.h"
#include "rt/arena.h"
#include "rt/check.h"

_Static_assert((int)IO_GROUND_NAME_MAX == MAVLINK_MSG_PARAM_SET_FIELD_PARAM_ID_LEN,
               "the name of a parameter");

struct io_ground_station {
    struct io_ground_script script;
    struct io_mavlink_parser *parser;
    mavlink_status_t out;                       /* sequence numbers */
    bool has_autopilot;                         /* the heartbeat of a flight controller has come */
    uint8_t system_id, component_id, autopilot; /* of that flight controller */
    int current;                                /* index of the step; step_count: all have ended */
    uint64_t next_send, next_heartbeat;         /* frames */
    bool has_sent_heartbeat;
    struct io_ground_observer observer;
    struct io_ground_result result[IO_GROUND_STEP_MAX];
};

static struct io_ground_station *place_station(void *mem, size_t *size)
{
    *size = 0;
    struct io_ground_station *ground = rt_layout_cut(mem, size, sizeof *ground);
    void *parser = rt_layout_cut(mem, size, io_mavlink_parser_size());
    if (mem == NULL)
        return NULL;
    memset(ground, 0, sizeof *ground);
    ground->parser = io_mavlink_parser_place(parser);
    return ground;
}

size_t io_ground_station_size(void)
{
    size_t size;
    (void)place_station(NULL, &size);
    return size;
}

struct io_ground_station *io_ground_station_place(const struct io_ground_script *script, void *mem)
{
    size_t size;
    struct io_ground_station *ground = place_station(mem, &size);
    RT_CHECK(script->step_count <= IO_GROUND_STEP_MAX);
    ground->script = *script;
    for (int i = 0; i < IO_GROUND_STEP_MAX; i++)
        ground->result[i].answer = -1;
    return ground;
}

void io_ground_station_observe(struct io_ground_station *ground, struct io_ground_observer observer)
{
    ground->observer = observer;
}

static void notify_observer(const struct io_ground_station *ground, enum io_ground_event event,
                            uint64_t frame)
{
    const struct io_ground_observer *observer = &ground->observer;
    if (observer->observe != NULL)
        observer->observe(observer->self, observer->link, ground->current, frame, event,
                          ground->result[ground->current].answer);
}

/* Receiving. */

static const struct io_ground_step *step_of(const struct io_ground_station *ground)
{
    return &ground->script.step[ground->current];
}

static void end_step(struct io_ground_station *ground, enum io_ground_state state, uint64_t frame)
{
    struct io_ground_result *result = &ground->result[ground->current];
    result->state = state;
    result->ended = frame;
    notify_observer(ground, state == IO_GROUND_DONE ? IO_GROUND_ACCEPTED : IO_GROUND_GAVE_UP,
                    frame);
    ground->current++;
}

static uint16_t command_of(enum io_ground_action act)
{
    static const uint16_t command[IO_GROUND_ACTION_COUNT] = {
        [IO_GROUND_ARM] = MAV_CMD_COMPONENT_ARM_DISARM,
        [IO_GROUND_DISARM] = MAV_CMD_COMPONENT_ARM_DISARM,
        [IO_GROUND_MODE] = MAV_CMD_DO_SET_MODE,
        [IO_GROUND_TAKEOFF] = MAV_CMD_NAV_TAKEOFF,
        [IO_GROUND_LAND] = MAV_CMD_NAV_LAND,
    };
    return command[act];
}

static bool is_pending(const struct io_ground_station *ground)
{
    return ground->current < ground->script.step_count &&
           ground->result[ground->current].state == IO_GROUND_PENDING;
}

/* A command that the firmware does not support is not repeated. */
static void receive_ack(struct io_ground_station *ground, const mavlink_message_t *rx,
                        uint64_t frame)
{
    const uint16_t command = mavlink_msg_command_ack_get_command(rx);
    const uint8_t answer = mavlink_msg_command_ack_get_result(rx);
    if (!is_pending(ground) || step_of(ground)->act == IO_GROUND_SET ||
        command != command_of(step_of(ground)->act))
        return;
    ground->result[ground->current].answer = answer;
    if (answer == MAV_RESULT_ACCEPTED) {
        end_step(ground, IO_GROUND_DONE, frame);
        return;
    }
    notify_observer(ground, IO_GROUND_ANSWERED, frame);
    if (answer == MAV_RESULT_UNSUPPORTED)
        end_step(ground, IO_GROUND_FAILED, frame);
}

static void receive_parameter(struct io_ground_station *ground, const mavlink_message_t *rx,
                              uint64_t frame)
{
    char name[IO_GROUND_NAME_MAX + 1] = {0};
    mavlink_msg_param_value_get_param_id(rx, name);
    if (!is_pending(ground) || step_of(ground)->act != IO_GROUND_SET ||
        strcmp(name, step_of(ground)->name) != 0)
        return;
    ground->result[ground->current].answer = MAV_RESULT_ACCEPTED;
    end_step(ground, IO_GROUND_DONE, frame);
}

static void receive_heartbeat(struct io_ground_station *ground, struct io_mavlink_message *message)
{
    io_mavlink_decode(ground->parser, message);
    if (message->heartbeat.autopilot == MAV_AUTOPILOT_INVALID)
        return;
    ground->has_autopilot = true;
    ground->system_id = message->system_id;
    ground->component_id = message->component_id;
    ground->autopilot = message->heartbeat.autopilot;
}

/* The generated decoders need the message, but the parser keeps the frame.  MAVLink 2 has ten bytes
 * before the payload, and trims it; MAVLink 1 has six. */
static void unpack(const struct io_mavlink_parser *parser, const struct io_mavlink_message *message,
                   mavlink_message_t *rx)
{
    size_t size;
    const unsigned char *frame = io_mavlink_frame(parser, &size);
    const size_t head = message->version == 1 ? 6 : 10;
    memset(rx, 0, sizeof *rx);
    rx->msgid = message->id & 0xffffff;
    rx->len = frame[1];
    memcpy(rx->payload64, frame + head, rx->len);
}

static void handle_message(struct io_ground_station *ground, struct io_mavlink_message *message,
                           uint64_t frame)
{
    mavlink_message_t rx;
    if (message->kind == IO_MAVLINK_HEARTBEAT)
        receive_heartbeat(ground, message);
    if (message->kind != IO_MAVLINK_OTHER)
        return;
    unpack(ground->parser, message, &rx);
    if (message->id == MAVLINK_MSG_ID_COMMAND_ACK)
        receive_ack(ground, &rx, frame);
    else if (message->id == MAVLINK_MSG_ID_PARAM_VALUE)
        receive_parameter(ground, &rx, frame);
}

void io_ground_station_receive(struct io_ground_station *ground, const void *bytes, size_t size,
                               uint64_t frame)
{
    for (size_t used = 0; used < size;) {
        struct io_mavlink_message message;
        used += io_mavlink_feed(ground->parser, (const unsigned char *)bytes + used, size - used,
                                &message);
        if (message.kind != IO_MAVLINK_NONE)
            handle_message(ground, &message, frame);
    }
}

/* Sending. */

static void send_frame(const mavlink_message_t *tx, const struct io_ground_station_port *port)
{
    unsigned char bytes[IO_MAVLINK_FRAME_MAX];
    const size_t size = mavlink_msg_to_send_buffer(bytes, tx);
    port->send(port->self, bytes, size);
}

static void send_heartbeat(struct io_ground_station *ground,
                           const struct io_ground_station_port *port)
{
    const mavlink_heartbeat_t beat = {.type = MAV_TYPE_GCS,
                                      .autopilot = MAV_AUTOPILOT_INVALID,
                                      .system_status = MAV_STATE_ACTIVE,
                                      .mavlink_version = 3};
    mavlink_message_t tx;
    mavlink_msg_heartbeat_encode_status(ground->script.system_id, ground->script.component_id,
                                        &ground->out, &tx, &beat);
    send_frame(&tx, port);
}

/* ArduPilot takes the height above home, PX4 the height above the sea. */
static void fill_command(const struct io_ground_station *ground, const struct io_ground_step *step,
                         mavlink_command_long_t *command)
{
    switch (step->act) {
    case IO_GROUND_ARM:
        command->param1 = 1.0f;
        break;
    case IO_GROUND_MODE:
        command->param1 = MAV_MODE_FLAG_CUSTOM_MODE_ENABLED;
        command->param2 = (float)step->mode[0];
        command->param3 = (float)step->mode[1];
        break;
    case IO_GROUND_TAKEOFF:
    case IO_GROUND_LAND:
        if (ground->autopilot == MAV_AUTOPILOT_PX4) /* at the current place and heading */
            command->param4 = command->param5 = command->param6 = NAN;
        if (step->act == IO_GROUND_TAKEOFF)
            command->param7 =
                ground->autopilot == MAV_AUTOPILOT_PX4 ? step->above_sea : step->value;
        break;
    default:
        break;
    }
}

static void send_step(struct io_ground_station *ground, const struct io_ground_station_port *port)
{
    const struct io_ground_step *step = step_of(ground);
    const uint8_t us = ground->script.system_id, part = ground->script.component_id;
    mavlink_message_t tx;
    if (step->act == IO_GROUND_SET) {
        mavlink_param_set_t set = {.param_value = step->value,
                                   .target_system = ground->system_id,
                                   .target_component = ground->component_id,
                                   .param_type = MAV_PARAM_TYPE_REAL32};
        memcpy(set.param_id, step->name, sizeof set.param_id);
        mavlink_msg_param_set_encode_status(us, part, &ground->out, &tx, &set);
    } else {
        mavlink_command_long_t command = {.command = command_of(step->act),
                                          .target_system = ground->system_id,
                                          .target_component = ground->component_id};
        fill_command(ground, step, &command);
        mavlink_msg_command_long_encode_status(us, part, &ground->out, &tx, &command);
    }
    send_frame(&tx, port);
}

/* Send the command of the step, for the first time or again, or give up. */
static void send_or_fail_step(struct io_ground_station *ground, uint64_t frame,
                              const struct io_ground_station_port *port)
{
    struct io_ground_result *result = &ground->result[ground->current];
    if (result->state == IO_GROUND_WAITING) {
        result->state = IO_GROUND_PENDING;
        result->asked = frame;
    } else if (frame - result->asked >= step_of(ground)->limit_frames) {
        end_step(ground, IO_GROUND_FAILED, frame);
        return;
    } else if (frame < ground->next_send) {
        return;
    }
    ground->next_send = frame + ground->script.second;
    if (!ground->has_autopilot)
        return; /* no flight controller is known yet; the time limit runs */
    result->tries++;
    notify_observer(ground, IO_GROUND_SENT, frame);
    send_step(ground, port);
}

void io_ground_station_update(struct io_ground_station *ground, uint64_t frame,
                              const struct io_ground_station_port *port)
{
    if (!ground->has_sent_heartbeat || frame >= ground->next_heartbeat) {
        ground->has_sent_heartbeat = true;
        ground->next_heartbeat = frame + ground->script.second;
        send_heartbeat(ground, port);
    }
    if (ground->current < ground->script.step_count && frame >= step_of(ground)->frame)
        send_or_fail_step(ground, frame, port);
}

const struct io_ground_result *io_ground_result(const struct io_ground_station *ground, int step)
{
    return &ground->result[step];
}

const char *io_ground_step_text(const struct io_ground_step *step, char text[IO_GROUND_TEXT_MAX])
{
    static const char *const name[] = {"arm", "disarm", "mode", "takeoff", "land", "set"};
    const char *act = name[step->act];
    if (step->act == IO_GROUND_TAKEOFF)
        snprintf(text, IO_GROUND_TEXT_MAX, "%s %.4g m", act, (double)step->value);
    else if (step->act == IO_GROUND_SET)
        snprintf(text, IO_GROUND_TEXT_MAX, "%s %s %.6g", act, step->name, (double)step->value);
    else
        snprintf(text, IO_GROUND_TEXT_MAX, "%s%s%s", act, step->name[0] ? " " : "", step->name);
    return text;
}

const char *io_ground_answer_name(int answer)
{
    static const char *const name[] = {
        "accepted", "temporarily rejected", "denied",   "unsupported",
        "failed",   "in progress",          "cancelled"};
    if (answer < 0)
        return "no answer";
    return answer < (int)(sizeof name / sizeof name[0]) ? name[answer] : "refused";
}
