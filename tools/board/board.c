/*
 * A reference control board for closed-loop tests without hardware.
 *
 * It is the simulator's peer and shares no code with it: it knows of the simulator only what is
 * on the wire, so it also checks our reading of each protocol.
 *
 *      wire ──message──> vehicle ──command──> wire
 *
 * The wire decides when a command is sent: as the answer to a sensor message, or by the clock.
 */
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/board/options.h"
#include "tools/board/orders.h"
#include "tools/board/vehicles/vehicle.h"
#include "tools/board/wires/wire.h"

enum { EXIT_OK = 0, EXIT_SILENT = 1, EXIT_ADDRESS = 2, EXIT_USAGE_ERROR = 64 };
enum { BATCH_MAX = 64 }; /* messages between two readings of the clock */

static const uint64_t second_ns = 1000000000u;
static const uint64_t nap_ns_max = 20000000u; /* finer than all periodic work */

enum board_end {
    END_NOT,
    END_SIGNAL,
    END_POWEROFF,
    END_HUNG_UP,
    END_EMERGENCY,
    END_SILENT,
    END_NO_ANSWER
};

struct board {
    struct board_options options;
    struct board_wire *wire;
    struct board_vehicle vehicle;
    struct board_orders orders;
    struct board_command command;
    uint64_t sensors;
    uint64_t first_sensor_us;
    bool heard; /* a message of the simulator has come */
    uint64_t heard_ns;
    enum board_end end;
};

static volatile sig_atomic_t signalled;

static void note_signal(int number)
{
    (void)number;
    signalled = 1;
}

/* Signals are delivered only inside ppoll(), so none is lost between the test and the wait. */
static void catch_signals(sigset_t *while_waiting)
{
    struct sigaction action = {.sa_handler = note_signal};
    sigset_t blocked;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a closed connection must not kill the board */

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, while_waiting);
    sigdelset(while_waiting, SIGINT);
    sigdelset(while_waiting, SIGTERM);
}

/* Injected faults; true when this sensor message is to be ignored. */
static bool inject_misbehaviour(struct board *board, uint64_t time_us)
{
    const struct board_options *options = &board->options;
    const double age_s = (double)(int64_t)(time_us - board->first_sensor_us) * 1e-6;

    if (options->die_after_s > 0.0 && age_s >= options->die_after_s)
        _exit(EXIT_OK);
    if (options->mute_after_s > 0.0 && age_s >= options->mute_after_s)
        board->wire->muted = true;
    return options->drop > 0 && board->sensors % options->drop == 0;
}

static void handle_sensor(struct board *board, const struct board_message *message)
{
    if (board->sensors++ == 0)
        board->first_sensor_us = message->time_us;
    if (inject_misbehaviour(board, message->time_us))
        return;

    if (board->options.ground != NULL)
        board_orders_turn(&board->orders, message->time_us);
    board_vehicle_receive(&board->vehicle, message);
    board_vehicle_command(&board->vehicle, &board->command);
    board->wire->kind->answer(board->wire, &board->command);
}

static void stop_commanding(struct board *board)
{
    board->command = (struct board_command){.armed = false};
    board->wire->kind->answer(board->wire, &board->command);
}

static void handle_status(struct board *board, int status)
{
    if (status == BOARD_STATUS_POWEROFF) {
        board->end = END_POWEROFF;
    } else if (status == BOARD_STATUS_EMERGENCY) {
        stop_commanding(board);
        board->end = END_EMERGENCY;
    }
}

static void handle_message(struct board *board, const struct board_message *message)
{
    if (message->type == BOARD_MESSAGE_SENSOR || message->type == BOARD_MESSAGE_STATE)
        handle_sensor(board, message);
    else if (message->type == BOARD_MESSAGE_STATUS)
        handle_status(board, message->status);
    else
        board_vehicle_receive(&board->vehicle, message);
}

static void handle_messages(struct board *board)
{
    struct board_wire *wire = board->wire;
    struct board_message message;
    for (int i = 0; i < BATCH_MAX && !board->end && wire->kind->next(wire, &message); i++) {
        board->heard = true;
        board->heard_ns = board_now_ns();
        handle_message(board, &message);
    }
}

/* Work that is due by the clock, whatever the simulator does. */
static void keep_time(struct board *board, uint64_t now_ns)
{
    const double limit_s = board->heard ? board->options.timeout_s : board->options.wait_s;

    if (board->wire->has_own_clock) {
        board_vehicle_elapse(&board->vehicle, now_ns / 1000);
        board_vehicle_command(&board->vehicle, &board->command);
    }
    board->wire->kind->keep_time(board->wire, now_ns, board->heard, &board->command);
    if (limit_s > 0.0 && (double)(now_ns - board->heard_ns) > limit_s * (double)second_ns)
        board->end = board->heard ? END_SILENT : END_NO_ANSWER;
    if (board->wire->closed)
        board->end = END_HUNG_UP;
    if (signalled)
        board->end = END_SIGNAL;
}

static void wait_for_input(const struct board_wire *wire, const sigset_t *while_waiting)
{
    struct pollfd wait[2] = {{.fd = wire->fd[0], .events = POLLIN},
                             {.fd = wire->fd[1], .events = POLLIN}};
    const uint64_t now_ns = board_now_ns();
    uint64_t left_ns = nap_ns_max;
    if (wire->due_ns != 0 && wire->due_ns < now_ns + nap_ns_max)
        left_ns = wire->due_ns > now_ns ? wire->due_ns - now_ns : 0;
    const struct timespec limit = {.tv_nsec = (long)left_ns};
    ppoll(wait, 2, &limit, while_waiting);
}

static void run_loop(struct board *board)
{
    sigset_t while_waiting;

    catch_signals(&while_waiting);
    board->heard_ns = board_now_ns();
    while (!board->end) {
        /* Read the messages before the clock: a delayed board must not take the simulator for
         * silent while messages wait in the socket. */
        handle_messages(board);
        if (!board->end)
            keep_time(board, board_now_ns());
        if (!board->end)
            wait_for_input(board->wire, &while_waiting);
    }
}

static const char *end_text(enum board_end end)
{
    switch (end) {
    case END_POWEROFF:
        return "simulator ended";
    case END_HUNG_UP:
        return "simulator hung up";
    case END_EMERGENCY:
        return "simulator in emergency, commands stopped";
    case END_SILENT:
        return "simulator silent";
    case END_NO_ANSWER:
        return "no simulator answered";
    default:
        return "stopped";
    }
}

static void summarise_vehicle(const struct board_vehicle *vehicle)
{
    const struct board_satellite *satellite = &vehicle->satellite;
    const struct board_quad *quad = &vehicle->quad;

    if (vehicle->kind == BOARD_VEHICLE_SATELLITE && satellite->estimator.has_attitude)
        printf("; attitude error %.4f deg",
               board_law_error(&satellite->law, satellite->estimator.attitude) * 180.0 / M_PI);
    if (vehicle->kind == BOARD_VEHICLE_QUAD)
        printf("; %s, %.2f m from the target", board_quad_phase_name(quad->phase),
               hypot(hypot(quad->target[0] - quad->place.position[0],
                           quad->target[1] - quad->place.position[1]),
                     quad->target[2] - quad->place.position[2]));
    if (vehicle->kind == BOARD_VEHICLE_PILOT)
        printf("; %s", vehicle->pilot.armed ? "armed" : "disarmed");
}

static void summarise(const struct board *board)
{
    struct board_wire_counters count;
    board->wire->kind->count(board->wire, &count);

    printf("board: %s; %llu in, %llu out, %llu lost, %llu bad", end_text(board->end),
           (unsigned long long)count.rx, (unsigned long long)count.tx,
           (unsigned long long)count.rx_lost, (unsigned long long)count.rx_bad);
    summarise_vehicle(&board->vehicle);
    if (count.round_trips > 0)
        printf("; round trip %.0f us", (double)count.round_trip_ns * 1e-3);
    putchar('\n');
}

static void set_up(const struct board_options *options, struct board_vehicle *vehicle)
{
    vehicle->kind = options->vehicle;
    vehicle->satellite = (struct board_satellite){.law = options->law,
                                                  .momentum = options->momentum,
                                                  .detumble = options->detumble,
                                                  .detumbles = options->detumbles};
    board_quad_begin(&vehicle->quad, &options->airframe, options->height, options->declination);
    board_pilot_begin(&vehicle->pilot, &options->airframe);
}

static bool open_orders(struct board *board, char error[256])
{
    const char *at = board->options.ground;
    if (at == NULL)
        return true;
    const bool shares = strcmp(at, "wire") == 0;
    board->orders.relative = board->options.wire == &board_wire_ardupilot;
    board->wire->orders = shares ? &board->orders : NULL;
    return board_orders_open(&board->orders, shares ? NULL : at, &board->vehicle.quad, error);
}

int main(int argc, char **argv)
{
    static struct board board;
    char error[256];

    const enum board_options_result result = board_options_read(argc, argv, &board.options);
    if (result != BOARD_OPTIONS_GO)
        return result == BOARD_OPTIONS_HELP ? EXIT_OK : EXIT_USAGE_ERROR;
    board_clock_skew(board.options.clock_ppm);
    set_up(&board.options, &board.vehicle);
    board.wire = board.options.wire->open(&board.options.wire_setup, error);
    if (board.wire == NULL || !open_orders(&board, error)) {
        fprintf(stderr, "board: %s\n", error);
        return EXIT_ADDRESS;
    }

    run_loop(&board);
    const bool silent = board.end == END_SILENT || board.end == END_NO_ANSWER;
    if (!board.options.quiet)
        summarise(&board);
    else if (silent || board.end == END_EMERGENCY)
        fprintf(stderr, "board: %s\n", end_text(board.end));
    board.wire->kind->close(board.wire);
    return silent ? EXIT_SILENT : EXIT_OK;
}
