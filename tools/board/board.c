/*
 * A reference attitude control board for closed-loop tests without hardware.
 *
 * It is the simulator's peer and shares no code with it: what it knows of the other side is what
 * the wire says, so it also checks our reading of the protocol.
 *
 *      HIL_SENSOR (gyro) ────────────> estimator ──attitude, rate──> law ──torque──> controls
 *      HIL_STATE_QUATERNION (star) ──────^                                HIL_ACTUATOR_CONTROLS
 *
 * One control answers each sensor message.  The controls stay zero, and the board disarmed, until
 * the first star has given it an attitude.
 */
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/board/estimator.h"
#include "tools/board/law.h"
#include "tools/board/options.h"
#include "tools/board/wire.h"

enum { EXIT_OK = 0, EXIT_SILENT = 1, EXIT_ADDRESS = 2, EXIT_USAGE_ERROR = 64 };
enum { BATCH_MAX = 64 }; /* messages between two looks at the clock */

static const uint64_t second_ns = 1000000000u;
static const uint64_t heartbeat_period_ns = 1000000000u;
static const uint64_t sync_period_ns = 100000000u;

enum end { END_NOT, END_SIGNAL, END_POWEROFF, END_EMERGENCY, END_SILENT, END_NO_ANSWER };

struct board {
    struct board_options options;
    struct board_wire *wire;
    struct board_estimator estimator;
    struct board_law law;
    bool armed; /* the controls are the law's */
    double controls[BOARD_CONTROL_COUNT];
    uint64_t sensors;
    uint64_t first_sensor_us;
    bool heard; /* the simulator has spoken */
    uint64_t heard_ns, heartbeat_ns, sync_ns;
    enum end end;
};

static volatile sig_atomic_t signalled;

static void note_signal(int number)
{
    (void)number;
    signalled = 1;
}

/* Signals arrive only inside ppoll(), so none can slip in between test and sleep. */
static void catch_signals(sigset_t *while_waiting)
{
    struct sigaction action = {.sa_handler = note_signal};
    sigset_t blocked;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, while_waiting);
    sigdelset(while_waiting, SIGINT);
    sigdelset(while_waiting, SIGTERM);
}

/* The body feels the opposite of what the motor does to the wheel. */
static void control(struct board *board, double dt)
{
    const struct board_estimator *e = &board->estimator;
    board->armed = e->has_attitude;
    if (board->armed)
        board_law_update(&board->law, e->attitude, e->rate, dt);
    for (int i = 0; i < BOARD_CONTROL_COUNT; i++)
        board->controls[i] = board->armed ? -board->law.torque[i] / board->law.torque_max : 0.0;
}

/* Faults on purpose; true when this sensor message is to be ignored. */
static bool misbehave(struct board *board, uint64_t time_us)
{
    const struct board_options *options = &board->options;
    const double age_s = (double)(int64_t)(time_us - board->first_sensor_us) * 1e-6;

    if (options->die_after_s > 0.0 && age_s >= options->die_after_s)
        _exit(EXIT_OK);
    if (options->mute_after_s > 0.0 && age_s >= options->mute_after_s)
        board_wire_mute(board->wire);
    return options->drop > 0 && board->sensors % options->drop == 0;
}

static void take_sensor(struct board *board, const struct board_message *message)
{
    if (board->sensors++ == 0)
        board->first_sensor_us = message->time_us;
    if (misbehave(board, message->time_us))
        return;

    const uint64_t before_us = board->estimator.time_us;
    if (message->has_gyro &&
        board_estimator_gyro(&board->estimator, message->time_us, message->gyro)) {
        const double dt = (double)(int64_t)(message->time_us - before_us) * 1e-6;
        control(board, fmin(fmax(dt, 0.0), 0.1));
    }
    board_wire_send_controls(board->wire, board->armed, board->controls);
}

static void stop_commanding(struct board *board)
{
    board->armed = false;
    memset(board->controls, 0, sizeof board->controls);
    board_wire_send_controls(board->wire, board->armed, board->controls);
}

static void take_status(struct board *board, int status)
{
    if (status == BOARD_STATUS_POWEROFF) {
        board->end = END_POWEROFF;
    } else if (status == BOARD_STATUS_EMERGENCY) {
        stop_commanding(board);
        board->end = END_EMERGENCY;
    }
}

static void take_messages(struct board *board)
{
    struct board_message message;
    for (int i = 0; i < BATCH_MAX && !board->end && board_wire_next(board->wire, &message); i++) {
        board->heard = true;
        board->heard_ns = board_now_ns();
        if (message.type == BOARD_MESSAGE_SENSOR)
            take_sensor(board, &message);
        else if (message.type == BOARD_MESSAGE_STAR)
            board_estimator_star(&board->estimator, message.time_us, message.attitude);
        else if (message.type == BOARD_MESSAGE_STATUS)
            take_status(board, message.status);
    }
}

/* What is due by the clock, whatever the simulator does. */
static void keep_time(struct board *board, uint64_t now_ns)
{
    const double limit_s = board->heard ? board->options.timeout_s : board->options.wait_s;

    if (now_ns >= board->heartbeat_ns) {
        board_wire_send_heartbeat(board->wire, board->armed);
        board->heartbeat_ns = now_ns + heartbeat_period_ns;
    }
    if (board->heard && now_ns >= board->sync_ns) {
        board_wire_send_timesync(board->wire);
        board->sync_ns = now_ns + sync_period_ns;
    }
    if (limit_s > 0.0 && (double)(now_ns - board->heard_ns) > limit_s * (double)second_ns)
        board->end = board->heard ? END_SILENT : END_NO_ANSWER;
    if (signalled)
        board->end = END_SIGNAL;
}

static void run(struct board *board)
{
    struct pollfd wait = {.fd = board_wire_descriptor(board->wire), .events = POLLIN};
    const struct timespec nap = {.tv_nsec = 20000000}; /* finer than all that is due */
    sigset_t while_waiting;

    catch_signals(&while_waiting);
    board->heard_ns = board_now_ns();
    while (!board->end) {
        /* Read before looking at the clock: a board that was held up itself must not call the
         * simulator silent while its messages wait in the socket. */
        take_messages(board);
        if (!board->end)
            keep_time(board, board_now_ns());
        if (!board->end)
            ppoll(&wait, 1, &nap, &while_waiting);
    }
}

static const char *why(enum end end)
{
    switch (end) {
    case END_POWEROFF:
        return "simulator ended";
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

static void summarise(const struct board *board)
{
    struct board_wire_counters count;
    board_wire_counters(board->wire, &count);

    printf("board: %s; %llu in, %llu out, %llu lost, %llu bad", why(board->end),
           (unsigned long long)count.rx, (unsigned long long)count.tx,
           (unsigned long long)count.rx_lost, (unsigned long long)count.rx_bad);
    if (board->estimator.has_attitude)
        printf("; attitude error %.4f deg",
               board_law_error(&board->law, board->estimator.attitude) * 180.0 / M_PI);
    if (count.round_trips > 0)
        printf("; round trip %.0f us", (double)board_wire_round_trip(board->wire) * 1e-3);
    putchar('\n');
}

int main(int argc, char **argv)
{
    static struct board board;
    char error[256];

    const enum board_options_result result = board_options_read(argc, argv, &board.options);
    if (result != BOARD_OPTIONS_GO)
        return result == BOARD_OPTIONS_HELP ? EXIT_OK : EXIT_USAGE_ERROR;
    board.law = board.options.law;
    board.wire = board_wire_open(board.options.address, error);
    if (board.wire == NULL) {
        fprintf(stderr, "board: %s\n", error);
        return EXIT_ADDRESS;
    }

    run(&board);
    const bool silent = board.end == END_SILENT || board.end == END_NO_ANSWER;
    if (!board.options.quiet)
        summarise(&board);
    else if (silent || board.end == END_EMERGENCY)
        fprintf(stderr, "board: %s\n", why(board.end));
    board_wire_close(board.wire);
    return silent ? EXIT_SILENT : EXIT_OK;
}
