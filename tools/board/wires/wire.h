/*
 * The board's end of a wire: messages and sockets, no control.  Each kind of wire behaves like
 * one kind of flight software:
 *
 *      mavlink      MAVLink 2 over UDP; one command answers each sensor message
 *      px4          PX4 in the loop, TCP, in lockstep with the simulator's clock
 *      px4-hitl     a PX4 board, serial line or UDP, on its own clock
 *      ardupilot    ArduPilot's JSON interface, UDP, in lockstep
 *      betaflight   Betaflight's four UDP ports
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/board/message.h"

struct board_orders;

struct board_wire_setup {
    const char *address; /* NULL: the kind's own */
    unsigned baud;       /* serial lines */
    bool is_pwm32;       /* ardupilot: 32 channels */
    bool is_not_hil;     /* px4-hitl: not in hardware-in-the-loop mode */
    uint64_t lock_after; /* px4: answer from this sensor message on */
};

struct board_wire_counters {
    uint64_t rx, tx;  /* messages */
    uint64_t rx_lost; /* gaps in the simulator's sequence numbers */
    uint64_t rx_bad;  /* broken frames */
    uint64_t round_trips;
    uint64_t round_trip_ns; /* median of the newest */
};

struct board_wire;

struct board_wire_kind {
    const char *name;
    const char *address; /* default */
    struct board_wire *(*open)(const struct board_wire_setup *setup, char error[256]);
    void (*close)(struct board_wire *wire);
    /* The next message that has arrived; false when there is none. */
    bool (*next)(struct board_wire *wire, struct board_message *message);
    /* The command that answers a sensor or state message. */
    void (*answer)(struct board_wire *wire, const struct board_command *command);
    /* Send what is due by the clock; heard: the simulator has sent a message. */
    void (*keep_time)(struct board_wire *wire, uint64_t now_ns, bool heard,
                      const struct board_command *command);
    void (*count)(const struct board_wire *wire, struct board_wire_counters *counters);
};

/* The wire as the program's loop uses it. */
struct board_wire {
    const struct board_wire_kind *kind;
    struct board_orders *orders; /* of a ground station that shares the wire; NULL: none */
    int fd[2];                   /* for poll(), -1: none */
    bool muted;                  /* every send is dropped; a test aid */
    bool closed;                 /* the simulator has closed the connection */
    bool has_own_clock; /* messages are stamped at arrival, and time advances without them */
    uint64_t due_ns;    /* next call of keep_time(), 0: not urgent */
};

extern const struct board_wire_kind board_wire_mavlink, board_wire_px4, board_wire_hitl,
    board_wire_ardupilot, board_wire_betaflight;

/* Find a kind of wire by its name; NULL: there is none. */
const struct board_wire_kind *board_wire_find(const char *name);

/* Make its clock run fast by so many parts in a million. */
void board_clock_skew(double ppm);
/* CLOCK_MONOTONIC, skewed. */
uint64_t board_now_ns(void);
