#include "tests/scenario/board/peer.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <common/mavlink.h>

enum { LIMIT_MS = 20000, ARGUMENT_MAX = 16 };

static const int64_t request_mark = 123456789; /* ts1 of our own TIMESYNC requests */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void open_socket(struct peer *peer)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof any;
    peer->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (bind(peer->fd, (struct sockaddr *)&any, size) != 0 ||
        getsockname(peer->fd, (struct sockaddr *)&any, &size) != 0)
        abort();
    snprintf(peer->address, sizeof peer->address, "127.0.0.1:%u", ntohs(any.sin_port));
}

static void become(const char *program, char **argv, int output)
{
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    execv(program, argv);
    _exit(127);
}

void peer_start(struct peer *peer, const char *program, const char *const *arguments)
{
    char *argv[ARGUMENT_MAX] = {strdup(program)};
    int ends[2];

    *peer = (struct peer){.fd = -1, .fields = 0x3f}; /* accelerometer and gyro */
    open_socket(peer);
    for (int i = 0; arguments[i] != NULL && i + 2 < ARGUMENT_MAX; i++)
        argv[i + 1] = strdup(strcmp(arguments[i], "@") == 0 ? peer->address : arguments[i]);
    if (pipe2(ends, O_CLOEXEC) != 0)
        abort();
    peer->pid = fork();
    if (peer->pid == 0)
        become(program, argv, ends[1]);
    close(ends[1]);
    peer->output = ends[0];
    for (int i = 0; argv[i] != NULL; i++)
        free(argv[i]);
}

static void send_message(struct peer *peer, mavlink_message_t *message)
{
    uint8_t bytes[MAVLINK_MAX_PACKET_LEN];
    uint16_t size = mavlink_msg_to_send_buffer(bytes, message);
    if (peer->break_next)
        bytes[size - 1] ^= 0x40;
    if (peer->tear_next)
        size /= 2;
    peer->break_next = peer->tear_next = false;
    if (send(peer->fd, bytes, size, 0) != size)
        peer->strangers++;
}

/* The sequence number is the peer's own, so that a test may leave one out. */
static mavlink_status_t *next_status(struct peer *peer)
{
    static mavlink_status_t status;
    status = (mavlink_status_t){.current_tx_seq = peer->sequence++};
    return &status;
}

void peer_send_sensor(struct peer *peer, uint64_t time_us, const double gyro[3])
{
    const mavlink_hil_sensor_t sensor = {.time_usec = time_us,
                                         .xgyro = (float)gyro[0],
                                         .ygyro = (float)gyro[1],
                                         .zgyro = (float)gyro[2],
                                         .fields_updated = peer->fields,
                                         .id = peer->instrument};
    mavlink_message_t message;
    mavlink_msg_hil_sensor_encode_status(1, 200, next_status(peer), &message, &sensor);
    send_message(peer, &message);
}

void peer_send_star(struct peer *peer, uint64_t time_us, const double attitude[4])
{
    mavlink_hil_state_quaternion_t state = {.time_usec = time_us};
    for (int i = 0; i < 4; i++)
        state.attitude_quaternion[i] = (float)attitude[i];
    mavlink_message_t message;
    mavlink_msg_hil_state_quaternion_encode_status(1, 200, next_status(peer), &message, &state);
    send_message(peer, &message);
}

void peer_send_status(struct peer *peer, int status)
{
    const mavlink_heartbeat_t heartbeat = {.system_status = (uint8_t)status, .mavlink_version = 3};
    mavlink_message_t message;
    mavlink_msg_heartbeat_encode_status(1, 200, next_status(peer), &message, &heartbeat);
    send_message(peer, &message);
}

static void take_heartbeat(struct peer *peer, const mavlink_message_t *message)
{
    peer->heartbeats++;
    peer->autopilot = mavlink_msg_heartbeat_get_autopilot(message);
    peer->base_mode = mavlink_msg_heartbeat_get_base_mode(message);
    peer->system_status = mavlink_msg_heartbeat_get_system_status(message);
}

static void take_command(struct peer *peer, const mavlink_message_t *message)
{
    mavlink_hil_actuator_controls_t command;
    mavlink_msg_hil_actuator_controls_decode(message, &command);
    peer->commands++;
    peer->mode = command.mode;
    peer->flags = command.flags;
    for (int i = 0; i < 16; i++)
        peer->controls[i] = (double)command.controls[i];
}

static void send_sync(struct peer *peer, int64_t tc1, int64_t ts1)
{
    const mavlink_timesync_t sync = {.tc1 = tc1, .ts1 = ts1};
    mavlink_message_t message;
    mavlink_msg_timesync_encode_status(1, 200, next_status(peer), &message, &sync);
    send_message(peer, &message);
}

void peer_send_request(struct peer *peer)
{
    send_sync(peer, 0, request_mark);
}

static void take_sync(struct peer *peer, const mavlink_message_t *message)
{
    mavlink_timesync_t sync; /* decoded whole: the getters load misaligned */
    mavlink_msg_timesync_decode(message, &sync);
    const int64_t tc1 = sync.tc1, ts1 = sync.ts1;
    if (tc1 != 0) {
        peer->answers += tc1 > 0 && ts1 == request_mark;
        return;
    }
    peer->requests++;
    if (!peer->silent)
        send_sync(peer, now_ms() * 1000000, ts1);
}

static void take_message(struct peer *peer, const mavlink_message_t *message)
{
    if (message->sysid != 1 || message->compid != 1 || message->magic != MAVLINK_STX)
        peer->strangers++;
    else if (message->msgid == MAVLINK_MSG_ID_HEARTBEAT)
        take_heartbeat(peer, message);
    else if (message->msgid == MAVLINK_MSG_ID_HIL_ACTUATOR_CONTROLS)
        take_command(peer, message);
    else if (message->msgid == MAVLINK_MSG_ID_TIMESYNC)
        take_sync(peer, message);
    else
        peer->strangers++;
}

/* One datagram, if one comes within the limit. */
static bool receive(struct peer *peer, int limit_ms)
{
    struct pollfd wait = {.fd = peer->fd, .events = POLLIN};
    if (poll(&wait, 1, limit_ms) <= 0)
        return false;

    uint8_t bytes[2048];
    struct sockaddr_in from;
    socklen_t from_size = sizeof from;
    const ssize_t size =
        recvfrom(peer->fd, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &from_size);
    if (size > 0 && !peer->connected)
        peer->connected = connect(peer->fd, (struct sockaddr *)&from, from_size) == 0;

    mavlink_message_t rx, message;
    mavlink_status_t state = {.parse_state = MAVLINK_PARSE_STATE_IDLE}, status;
    for (ssize_t i = 0; i < size; i++) {
        if (mavlink_frame_char_buffer(&rx, &state, bytes[i], &message, &status) ==
            MAVLINK_FRAMING_OK)
            take_message(peer, &message);
    }
    return true;
}

bool peer_meet(struct peer *peer)
{
    const int64_t end_ms = now_ms() + LIMIT_MS;
    while (peer->heartbeats == 0 && now_ms() < end_ms)
        receive(peer, 100);
    return peer->heartbeats > 0;
}

bool peer_await_command(struct peer *peer, unsigned commands, int limit_ms)
{
    const int64_t end_ms = now_ms() + limit_ms;
    while (peer->commands <= commands) {
        const int64_t left_ms = end_ms - now_ms();
        if (left_ms <= 0 || !receive(peer, (int)left_ms))
            return false;
    }
    return true;
}

/* The pipe closes when the board ends; what it says and sends until then is kept. */
bool peer_await_end(struct peer *peer)
{
    const int64_t end_ms = now_ms() + LIMIT_MS;
    size_t size = 0;
    ssize_t got = 1;
    while (got > 0 && now_ms() < end_ms) {
        struct pollfd wait = {.fd = peer->output, .events = POLLIN};
        receive(peer, 0);
        if (poll(&wait, 1, 10) > 0) {
            got = read(peer->output, peer->text + size, sizeof peer->text - 1 - size);
            size += got > 0 ? (size_t)got : 0;
        }
    }
    while (receive(peer, 0))
        continue;
    if (got > 0)
        return false;

    int status;
    waitpid(peer->pid, &status, 0);
    peer->ended = true;
    peer->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return true;
}

void peer_signal(const struct peer *peer, int number)
{
    kill(peer->pid, number);
}

void peer_close(struct peer *peer)
{
    if (peer->pid > 0 && !peer->ended) {
        kill(peer->pid, SIGKILL);
        waitpid(peer->pid, NULL, 0);
    }
    if (peer->pid > 0) {
        close(peer->fd);
        close(peer->output);
    }
    peer->pid = 0;
}
