#include "tools/board/wire.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <common/mavlink.h>

_Static_assert((int)BOARD_STATUS_EMERGENCY == (int)MAV_STATE_EMERGENCY, "MAV_STATE");
_Static_assert((int)BOARD_STATUS_POWEROFF == (int)MAV_STATE_POWEROFF, "MAV_STATE");

enum { SYSTEM_ID = 1, COMPONENT_ID = 1 };
enum { GYRO_BITS = 0x38, MODE_BASE = 0x21, MODE_ARMED = 0x80 }; /* 0x21: custom mode, HIL */
enum { DATAGRAM_MAX = 2048, ROUND_TRIP_MAX = 1024 };

struct board_wire {
    int fd;
    bool muted;
    bool has_sequence;
    uint8_t sequence; /* of the simulator's last message */
    mavlink_status_t rx_status, tx_status;
    mavlink_message_t rx_message;
    uint8_t datagram[DATAGRAM_MAX];
    size_t at, size; /* what is left of it: [at, size) */
    uint64_t round_trip_ns[ROUND_TRIP_MAX];
    struct board_wire_counters counters;
};

uint64_t board_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* "host:port" in two; brackets around an IPv6 address are taken off. */
static bool split(const char *address, char host[128], char port[16])
{
    const char *colon = strrchr(address, ':');
    if (colon == NULL || colon == address || strlen(colon + 1) == 0)
        return false;

    size_t size = (size_t)(colon - address);
    if (address[0] == '[' && colon[-1] == ']') {
        address++;
        size -= 2;
    }
    if (size == 0 || size >= 128 || strlen(colon + 1) >= 16)
        return false;
    memcpy(host, address, size);
    host[size] = '\0';
    strcpy(port, colon + 1);

    char *end;
    const long number = strtol(port, &end, 10);
    return *end == '\0' && number > 0 && number <= UINT16_MAX;
}

/* A connected socket hears nobody but the simulator. */
static int connect_to(const char *host, const char *port, char error[256])
{
    const struct addrinfo hint = {.ai_socktype = SOCK_DGRAM};
    struct addrinfo *found;
    const int failure = getaddrinfo(host, port, &hint, &found);
    if (failure != 0) {
        snprintf(error, 256, "%s: %s", host, gai_strerror(failure));
        return -1;
    }

    const int fd = socket(found->ai_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const bool ok = fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0;
    if (!ok)
        snprintf(error, 256, "%s:%s: %s", host, port, strerror(errno));
    freeaddrinfo(found);
    if (!ok && fd >= 0)
        close(fd);
    return ok ? fd : -1;
}

struct board_wire *board_wire_open(const char *address, char error[256])
{
    char host[128], port[16];
    if (!split(address, host, port)) {
        snprintf(error, 256, "%.100s: an address is host:port, such as 127.0.0.1:14560", address);
        return NULL;
    }
    const int fd = connect_to(host, port, error);
    if (fd < 0)
        return NULL;

    struct board_wire *wire = calloc(1, sizeof *wire);
    if (wire == NULL) {
        snprintf(error, 256, "out of memory");
        close(fd);
        return NULL;
    }
    wire->fd = fd;
    return wire;
}

void board_wire_close(struct board_wire *wire)
{
    close(wire->fd);
    free(wire);
}

int board_wire_descriptor(const struct board_wire *wire)
{
    return wire->fd;
}

static void send_message(struct board_wire *wire, const mavlink_message_t *message)
{
    uint8_t bytes[MAVLINK_MAX_PACKET_LEN];
    const uint16_t size = mavlink_msg_to_send_buffer(bytes, message);
    if (!wire->muted && send(wire->fd, bytes, size, 0) == size)
        wire->counters.tx++;
}

static uint8_t mode_of(bool armed)
{
    return (uint8_t)(MODE_BASE | (armed ? MODE_ARMED : 0));
}

void board_wire_send_heartbeat(struct board_wire *wire, bool armed)
{
    const mavlink_heartbeat_t heartbeat = {
        .type = MAV_TYPE_GENERIC,
        .autopilot = MAV_AUTOPILOT_PX4,
        .base_mode = mode_of(armed),
        .system_status = armed ? MAV_STATE_ACTIVE : MAV_STATE_STANDBY,
        .mavlink_version = 3,
    };
    mavlink_message_t message;
    mavlink_msg_heartbeat_encode_status(SYSTEM_ID, COMPONENT_ID, &wire->tx_status, &message,
                                        &heartbeat);
    send_message(wire, &message);
}

/* Flags stay 0: this board runs on its own clock and does not keep lockstep. */
void board_wire_send_controls(struct board_wire *wire, bool armed,
                              const double controls[BOARD_CONTROL_COUNT])
{
    mavlink_hil_actuator_controls_t actuator = {
        .time_usec = board_now_ns() / 1000,
        .mode = mode_of(armed),
    };
    for (int i = 0; i < BOARD_CONTROL_COUNT; i++)
        actuator.controls[i] = (float)controls[i];
    mavlink_message_t message;
    mavlink_msg_hil_actuator_controls_encode_status(SYSTEM_ID, COMPONENT_ID, &wire->tx_status,
                                                    &message, &actuator);
    send_message(wire, &message);
}

static void send_sync(struct board_wire *wire, int64_t tc1, int64_t ts1)
{
    const mavlink_timesync_t sync = {.tc1 = tc1, .ts1 = ts1};
    mavlink_message_t message;
    mavlink_msg_timesync_encode_status(SYSTEM_ID, COMPONENT_ID, &wire->tx_status, &message, &sync);
    send_message(wire, &message);
}

void board_wire_send_timesync(struct board_wire *wire)
{
    send_sync(wire, 0, (int64_t)board_now_ns());
}

/* A request has no tc1 and is answered; an answer brings our own ts1 back. */
static void take_sync(struct board_wire *wire, const mavlink_timesync_t *sync)
{
    const uint64_t now_ns = board_now_ns();
    if (sync->tc1 == 0) {
        send_sync(wire, (int64_t)now_ns, sync->ts1);
    } else if (sync->ts1 > 0 && (uint64_t)sync->ts1 <= now_ns) {
        const uint64_t slot = wire->counters.round_trips++ % ROUND_TRIP_MAX;
        wire->round_trip_ns[slot] = now_ns - (uint64_t)sync->ts1;
    }
}

static void read_sensor(const mavlink_message_t *raw, struct board_message *message)
{
    mavlink_hil_sensor_t sensor;
    mavlink_msg_hil_sensor_decode(raw, &sensor);
    if (sensor.id != 0) /* a second instrument; this board has one */
        return;
    message->type = BOARD_MESSAGE_SENSOR;
    message->time_us = sensor.time_usec;
    message->has_gyro = (sensor.fields_updated & GYRO_BITS) == GYRO_BITS;
    message->gyro[0] = (double)sensor.xgyro;
    message->gyro[1] = (double)sensor.ygyro;
    message->gyro[2] = (double)sensor.zgyro;
}

static void read_star(const mavlink_message_t *raw, struct board_message *message)
{
    mavlink_hil_state_quaternion_t state;
    mavlink_msg_hil_state_quaternion_decode(raw, &state);
    message->type = BOARD_MESSAGE_STAR;
    message->time_us = state.time_usec;
    for (int i = 0; i < 4; i++)
        message->attitude[i] = (double)state.attitude_quaternion[i];
}

static void read_message(struct board_wire *wire, const mavlink_message_t *raw,
                         struct board_message *message)
{
    mavlink_timesync_t sync;

    *message = (struct board_message){.type = BOARD_MESSAGE_OTHER};
    switch (raw->msgid) {
    case MAVLINK_MSG_ID_HIL_SENSOR:
        read_sensor(raw, message);
        break;
    case MAVLINK_MSG_ID_HIL_STATE_QUATERNION:
        read_star(raw, message);
        break;
    case MAVLINK_MSG_ID_HEARTBEAT:
        message->type = BOARD_MESSAGE_STATUS;
        message->status = mavlink_msg_heartbeat_get_system_status(raw);
        break;
    case MAVLINK_MSG_ID_TIMESYNC:
        mavlink_msg_timesync_decode(raw, &sync);
        take_sync(wire, &sync);
        break;
    default:
        break;
    }
}

static void count_message(struct board_wire *wire, uint8_t sequence)
{
    if (wire->has_sequence)
        wire->counters.rx_lost += (uint8_t)(sequence - wire->sequence - 1);
    wire->has_sequence = true;
    wire->sequence = sequence;
    wire->counters.rx++;
}

/* A frame never spans datagrams, so a torn one must not eat the next. */
static bool fetch_datagram(struct board_wire *wire)
{
    ssize_t size;
    do {
        size = recv(wire->fd, wire->datagram, sizeof wire->datagram, 0);
    } while (size < 0 && (errno == EINTR || errno == ECONNREFUSED));

    wire->at = 0;
    wire->size = size > 0 ? (size_t)size : 0;
    wire->rx_status.parse_state = MAVLINK_PARSE_STATE_IDLE;
    return size > 0;
}

bool board_wire_next(struct board_wire *wire, struct board_message *message)
{
    mavlink_message_t raw;
    mavlink_status_t status;

    while (wire->at < wire->size || fetch_datagram(wire)) {
        const uint8_t byte = wire->datagram[wire->at++];
        const uint8_t framing =
            mavlink_frame_char_buffer(&wire->rx_message, &wire->rx_status, byte, &raw, &status);
        if (framing == MAVLINK_FRAMING_OK) {
            count_message(wire, raw.seq);
            read_message(wire, &raw, message);
            return true;
        }
        if (framing != MAVLINK_FRAMING_INCOMPLETE)
            wire->counters.rx_bad++;
    }
    return false;
}

void board_wire_mute(struct board_wire *wire)
{
    wire->muted = true;
}

void board_wire_counters(const struct board_wire *wire, struct board_wire_counters *counters)
{
    *counters = wire->counters;
}

static int compare_ns(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

uint64_t board_wire_round_trip(const struct board_wire *wire)
{
    uint64_t sorted[ROUND_TRIP_MAX];
    const uint64_t all = wire->counters.round_trips;
    const size_t count = all < ROUND_TRIP_MAX ? (size_t)all : ROUND_TRIP_MAX;
    if (count == 0)
        return 0;
    memcpy(sorted, wire->round_trip_ns, sizeof sorted);
    qsort(sorted, count, sizeof sorted[0], compare_ns);
    return sorted[count / 2];
}
