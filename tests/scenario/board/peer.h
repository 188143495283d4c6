/*
 * The other end of the board's wire, under a test's control: starts the board program, speaks
 * MAVLink to it over the loopback, and reads what it printed.  Every wait is bounded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PEER_TEXT_MAX = 8192 };

struct peer {
    pid_t pid;
    int fd;     /* UDP, bound to an own port */
    int output; /* the board's stdout and stderr */
    char address[32];
    bool connected; /* the board has spoken, and the socket is connected to it */
    uint8_t sequence;
    bool silent;        /* answer no TIMESYNC either */
    bool break_next;    /* spoil the CRC of the next message */
    bool tear_next;     /* send only its first half */
    uint8_t instrument; /* id of HIL_SENSOR */
    uint32_t fields;    /* fields_updated of HIL_SENSOR */

    unsigned heartbeats, requests, answers, commands, strangers; /* messages of the board */
    uint8_t autopilot, base_mode, system_status;                 /* of its last HEARTBEAT */
    uint8_t mode; /* of its last HIL_ACTUATOR_CONTROLS */
    uint64_t flags;
    double controls[16];
    bool ended;
    int exit_code; /* once ended; -1: killed by a signal */
    char text[PEER_TEXT_MAX];
};

/* Start `program` with these arguments (NULL at the end); "@" stands for the peer's address. */
void peer_start(struct peer *peer, const char *program, const char *const *arguments);
/* Wait for the first HEARTBEAT. */
bool peer_meet(struct peer *peer);

void peer_send_sensor(struct peer *peer, uint64_t time_us, const double gyro[3]);
void peer_send_star(struct peer *peer, uint64_t time_us, const double attitude[4]);
void peer_send_status(struct peer *peer, int status);
void peer_send_request(struct peer *peer); /* TIMESYNC */

/* Take in messages until one more command has come than `commands`, or limit_ms have passed. */
bool peer_await_command(struct peer *peer, unsigned commands, int limit_ms);

/* Wait for the end of the board, its exit code and its text. */
bool peer_await_end(struct peer *peer);
void peer_signal(const struct peer *peer, int number);
/* Nothing is left over, whatever happened before. */
void peer_close(struct peer *peer);
