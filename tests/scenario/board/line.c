#include "tests/scenario/board/line.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void line_begin(struct line *line, int fd, bool is_datagram)
{
    *line = (struct line){.fd = fd, .is_datagram = is_datagram, .hash = 0xcbf29ce484222325u};
}

static bool fetch(struct line *line, int limit_ms)
{
    struct pollfd wait = {.fd = line->fd, .events = POLLIN};
    if (limit_ms < 0 || poll(&wait, 1, limit_ms) <= 0)
        return false;
    const ssize_t size = read(line->fd, line->bytes, sizeof line->bytes);
    line->at = 0;
    line->size = size > 0 ? (size_t)size : 0;
    for (size_t i = 0; i < line->size; i++)
        line->hash = (line->hash ^ line->bytes[i]) * 0x100000001b3u;
    return size > 0;
}

bool line_next(struct line *line, mavlink_message_t *message, int limit_ms)
{
    const int64_t end_ms = now_ms() + limit_ms;
    mavlink_status_t status;
    while (line->at < line->size || fetch(line, (int)(end_ms - now_ms()))) {
        while (line->at < line->size) {
            if (mavlink_frame_char_buffer(&line->rx_message, &line->rx_status,
                                          line->bytes[line->at++], message,
                                          &status) == MAVLINK_FRAMING_OK)
                return true;
        }
    }
    return false;
}

bool line_await(struct line *line, uint32_t id, mavlink_message_t *message, int limit_ms)
{
    const int64_t end_ms = now_ms() + limit_ms;
    while (line_next(line, message, (int)(end_ms - now_ms()))) {
        if (message->msgid == id)
            return true;
    }
    return false;
}

void line_send(struct line *line, const mavlink_message_t *message)
{
    uint8_t bytes[MAVLINK_MAX_PACKET_LEN];
    const size_t size = mavlink_msg_to_send_buffer(bytes, message);
    if (write(line->fd, bytes, size) != (ssize_t)size)
        abort();
}

static void send_sensor(struct line *line, const struct board_message *r)
{
    const mavlink_hil_sensor_t sensor = {
        .time_usec = r->time_us,
        .xacc = (float)r->accel[0],
        .yacc = (float)r->accel[1],
        .zacc = (float)r->accel[2],
        .xgyro = (float)r->gyro[0],
        .ygyro = (float)r->gyro[1],
        .zgyro = (float)r->gyro[2],
        .xmag = (float)(r->field[0] * 1e4),
        .ymag = (float)(r->field[1] * 1e4),
        .zmag = (float)(r->field[2] * 1e4),
        .abs_pressure = (float)(r->pressure * 0.01),
        .fields_updated = (r->has_accel ? 0x7u : 0) | (r->has_gyro ? 0x38u : 0) |
                          (r->has_field ? 0x1c0u : 0) | (r->has_pressure ? 0x1a00u : 0),
    };
    mavlink_message_t message;
    mavlink_msg_hil_sensor_encode_status(1, 200, &line->tx_status, &message, &sensor);
    line_send(line, &message);
}

static void send_gps(struct line *line, const struct board_message *r)
{
    const double e7 = 1e7 * 180.0 / M_PI;
    const mavlink_hil_gps_t gps = {
        .lat = (int32_t)lround(r->latitude * e7),
        .lon = (int32_t)lround(r->longitude * e7),
        .alt = (int32_t)lround(r->altitude * 1e3),
        .vn = (int16_t)lround(r->velocity[0] * 100.0),
        .ve = (int16_t)lround(r->velocity[1] * 100.0),
        .vd = (int16_t)lround(r->velocity[2] * 100.0),
        .fix_type = (uint8_t)r->fix,
        .satellites_visible = 10,
    };
    mavlink_message_t message;
    mavlink_msg_hil_gps_encode_status(1, 200, &line->tx_status, &message, &gps);
    line_send(line, &message);
}

void line_send_reading(struct line *line, const struct board_message *reading)
{
    if (reading->type == BOARD_MESSAGE_GPS)
        send_gps(line, reading);
    else
        send_sensor(line, reading);
}
