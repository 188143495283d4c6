/*
 * What the tests of links share: a board that is only a socket and the codec, a stranger
 * beside it, and a link between them that is started in the way that the argument of the program
 * names: threaded, polling, inline, or refused (threaded, without io_uring).
 */
#pragma once

#include "io/bus/udp.h"
#include "io/link/link.h"
#include "io/protocol/mavlink.h"
#include "rt/clock.h"
#include "unity.h"

enum { LINK_MEMORY = 2 << 20, MS = 1000000 };
static const uint64_t PATIENCE_NS = 20000000000; /* long, because the machine may stall */

struct board {
    struct io_udp udp;
    struct io_address simulator;
    struct io_mavlink_sender sender;
    struct io_mavlink_parser *parser;
    struct io_mavlink_message message; /* the one received last */
    struct io_packet packet;           /* not all read yet when at < size */
    size_t at;
    _Alignas(64) unsigned char parser_mem[4096];
};

extern enum io_link_mode mode;
extern bool polls;         /* the I/O thread polls */
extern bool memory_locked; /* page faults can be counted */
extern unsigned char memory[LINK_MEMORY];
extern struct io_links *links;
extern struct rt_thread thread;
extern struct rt_watchdog watchdog;
extern struct io_command command;
extern struct board board, stranger;
extern const struct rt_thread_spec thread_spec;
extern const struct io_address loopback;

/* Read the argument and prepare the process: 0, or the exit code with which to end. */
int prepare_link_tests(int argc, char **argv);

/* The spec of a UDP link with MAVLink that listens on a free port of loopback. */
struct io_link_spec make_spec(uint64_t lost_after_ns);
/* Place, open and start one link; the boards then know its address. */
void start(const struct io_link_spec *spec);
void board_send(struct board *from, const struct io_mavlink_message *message);
/* Send a command with this board time. */
void board_command(struct board *from, uint64_t time_us);
void board_heartbeat(struct board *from);
void pause_ms(long ms);
/* The next message, in from->message; false when none has come so far. */
bool board_receive(struct board *from);
/* Give the link a chance to work: poll it in inline mode, and yield the core. */
void poll_once(void);
/* Wait for the next message, which must be of this kind and from the simulator. */
void board_expect(struct board *from, enum io_mavlink_kind kind);
struct io_link_counts counters(void);
/* Wait until the link has received so many messages, good or bad. */
void wait_messages(uint64_t count);
void wait_commands(uint64_t count);
/* A sample that its time distinguishes from others. */
struct io_sample make_sample(uint64_t frame, uint32_t due);
/* Hand over a sample of this frame with these messages due. */
void commit(uint64_t frame, uint32_t due);
/* Start, and let the board become the peer. */
void start_spec_with_board(const struct io_link_spec *spec);
void start_with_board(uint64_t lost_after_ns);
void wait_losses(uint64_t count);
/* Open one more link, beside the one that runs, and stop it again. */
int open_second(const struct io_link_spec *spec, char error[IO_ERROR_MAX]);
