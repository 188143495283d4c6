/*
 * The board's end of the wire: MAVLink 2 over UDP, the way a PX4 board talks in
 * hardware-in-the-loop mode.  Knows messages and sockets, no control.  TIMESYNC is dealt with
 * inside: requests of the simulator are answered, answers to our own become round trips.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { BOARD_CONTROL_COUNT = 3 };

enum board_message_type {
    BOARD_MESSAGE_OTHER,
    BOARD_MESSAGE_SENSOR,
    BOARD_MESSAGE_STAR,
    BOARD_MESSAGE_STATUS,
};

struct board_message {
    enum board_message_type type;
    uint64_t time_us;   /* sensor, star: the simulator's clock */
    bool has_gyro;      /* sensor: all three rates are new */
    double gyro[3];     /* rad/s, body axes */
    double attitude[4]; /* star: w, x, y, z */
    int status;         /* MAV_STATE of the simulator */
};

enum { BOARD_STATUS_EMERGENCY = 6, BOARD_STATUS_POWEROFF = 7 };

struct board_wire_counters {
    uint64_t rx, tx;  /* messages */
    uint64_t rx_lost; /* gaps in the simulator's sequence numbers */
    uint64_t rx_bad;  /* broken frames */
    uint64_t round_trips;
};

struct board_wire;

/* Open a socket to "host:port" or "[address]:port".  NULL with one line in error. */
struct board_wire *board_wire_open(const char *address, char error[256]);
void board_wire_close(struct board_wire *wire);

/* For poll(). */
int board_wire_descriptor(const struct board_wire *wire);

/* The next message that is already here; false when there is none. */
bool board_wire_next(struct board_wire *wire, struct board_message *message);

/* Nobody listening yet is no error: the next heartbeat tries again. */
void board_wire_send_heartbeat(struct board_wire *wire, bool armed);
void board_wire_send_timesync(struct board_wire *wire);
void board_wire_send_controls(struct board_wire *wire, bool armed,
                              const double controls[BOARD_CONTROL_COUNT]);

/* From now on every send is swallowed; a test aid. */
void board_wire_mute(struct board_wire *wire);

void board_wire_counters(const struct board_wire *wire, struct board_wire_counters *counters);
/* Median of the newest TIMESYNC round trips, ns; 0 when there was none. */
uint64_t board_wire_round_trip(const struct board_wire *wire);

/* CLOCK_MONOTONIC. */
uint64_t board_now_ns(void);
