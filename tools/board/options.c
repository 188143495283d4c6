#include "tools/board/options.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/board/quaternion.h"

static const double degree = M_PI / 180.0;

static const char help[] =
    "board - reference attitude control board: MAVLink 2 over UDP in, wheel controls out\n"
    "\n"
    "usage: board [--connect HOST:PORT] [options]\n"
    "\n"
    "It behaves like a PX4 board in hardware-in-the-loop mode.  It announces itself with "
    "HEARTBEAT\n"
    "until a simulator answers, steers with the gyro of HIL_SENSOR and the attitude of\n"
    "HIL_STATE_QUATERNION (its star tracker), and answers every HIL_SENSOR with one\n"
    "HIL_ACTUATOR_CONTROLS: controls 0, 1, 2 are the motor torques of three wheels along x, y, z\n"
    "as shares of their largest torque.  A positive control turns the body the negative way.\n"
    "\n"
    "  --connect HOST:PORT   where the simulator listens (127.0.0.1:14560)\n"
    "  --target W,X,Y,Z      attitude to hold, body to world (1,0,0,0)\n"
    "  --timeout S           end when a connected simulator is silent for S seconds (5)\n"
    "  --wait S              end when none answers for S seconds; 0: never (60)\n"
    "  --quiet               no summary at the end\n"
    "  --help                this text\n"
    "\n"
    "vehicle and gains\n"
    "  --inertia X,Y,Z       principal inertias, kg m^2 (12,14,10)\n"
    "  --torque T            largest torque of a wheel, N m (0.2)\n"
    "  --rate-limit R        fastest slew, deg/s (6)\n"
    "  --authority A         share of the torque that braking is planned with (0.8)\n"
    "  --attitude-gain K     rate wanted per angle, 1/s (1.7)\n"
    "  --rate-gain C         acceleration per rate error, 1/s (3.4)\n"
    "  --trim-gain I         acceleration per integrated rate error, 1/s^2 (0.5)\n"
    "  --roll-off F          bandwidth of the torque, Hz (5)\n"
    "\n"
    "test aids, to see what a simulator makes of a bad board; S is simulated time\n"
    "  --drop N              ignore every N-th HIL_SENSOR\n"
    "  --mute-after S        go on listening, send nothing any more\n"
    "  --die-after S         vanish without a word\n"
    "\n"
    "It ends on SIGINT, SIGTERM, on a HEARTBEAT of the simulator with MAV_STATE_POWEROFF or\n"
    "MAV_STATE_EMERGENCY (zero controls go out first), or on silence.\n"
    "exit: 0 ended as told, 1 simulator silent, 2 bad address, 64 usage\n";

enum key {
    KEY_CONNECT = 1,
    KEY_TARGET,
    KEY_TIMEOUT,
    KEY_WAIT,
    KEY_QUIET,
    KEY_HELP,
    KEY_INERTIA,
    KEY_TORQUE,
    KEY_RATE_LIMIT,
    KEY_AUTHORITY,
    KEY_ATTITUDE_GAIN,
    KEY_RATE_GAIN,
    KEY_TRIM_GAIN,
    KEY_ROLL_OFF,
    KEY_DROP,
    KEY_MUTE_AFTER,
    KEY_DIE_AFTER,
};

static const struct option table[] = {
    {"connect", required_argument, NULL, KEY_CONNECT},
    {"target", required_argument, NULL, KEY_TARGET},
    {"timeout", required_argument, NULL, KEY_TIMEOUT},
    {"wait", required_argument, NULL, KEY_WAIT},
    {"quiet", no_argument, NULL, KEY_QUIET},
    {"help", no_argument, NULL, KEY_HELP},
    {"inertia", required_argument, NULL, KEY_INERTIA},
    {"torque", required_argument, NULL, KEY_TORQUE},
    {"rate-limit", required_argument, NULL, KEY_RATE_LIMIT},
    {"authority", required_argument, NULL, KEY_AUTHORITY},
    {"attitude-gain", required_argument, NULL, KEY_ATTITUDE_GAIN},
    {"rate-gain", required_argument, NULL, KEY_RATE_GAIN},
    {"trim-gain", required_argument, NULL, KEY_TRIM_GAIN},
    {"roll-off", required_argument, NULL, KEY_ROLL_OFF},
    {"drop", required_argument, NULL, KEY_DROP},
    {"mute-after", required_argument, NULL, KEY_MUTE_AFTER},
    {"die-after", required_argument, NULL, KEY_DIE_AFTER},
    {NULL, 0, NULL, 0},
};

static const struct board_options defaults = {
    .address = "127.0.0.1:14560",
    .law = {.target = {1.0, 0.0, 0.0, 0.0},
            .inertia = {12.0, 14.0, 10.0},
            .torque_max = 0.2,
            .rate_limit = 6.0 * M_PI / 180.0,
            .attitude_gain = 1.7,
            .rate_gain = 3.4,
            .trim_gain = 0.5,
            .authority = 0.8,
            .roll_off = 5.0},
    .timeout_s = 5.0,
    .wait_s = 60.0,
};

/* Exactly count numbers, separated by commas. */
static bool read_numbers(const char *text, double *values, int count)
{
    for (int i = 0; i < count; i++) {
        char *end;
        values[i] = strtod(text, &end);
        if (end == text || !isfinite(values[i]) || *end != (i + 1 < count ? ',' : '\0'))
            return false;
        text = end + 1;
    }
    return true;
}

static bool read_above_zero(const char *text, double *value)
{
    return read_numbers(text, value, 1) && *value > 0.0;
}

static bool read_not_negative(const char *text, double *value)
{
    return read_numbers(text, value, 1) && *value >= 0.0;
}

static bool read_inertia(const char *text, double inertia[3])
{
    return read_numbers(text, inertia, 3) && inertia[0] > 0.0 && inertia[1] > 0.0 &&
           inertia[2] > 0.0;
}

static bool read_target(const char *text, double target[4])
{
    return read_numbers(text, target, 4) && board_quaternion_normalise(target);
}

static bool read_rate(const char *text, double *rate)
{
    const bool ok = read_above_zero(text, rate);
    *rate *= degree;
    return ok;
}

static bool read_share(const char *text, double *share)
{
    return read_above_zero(text, share) && *share <= 1.0;
}

static bool read_count(const char *text, uint64_t *count)
{
    double value;
    if (!read_numbers(text, &value, 1) || value < 1.0 || value > 1e9 || value != floor(value))
        return false;
    *count = (uint64_t)value;
    return true;
}

static bool read_gain(enum key key, const char *text, struct board_law *law)
{
    switch (key) {
    case KEY_TARGET:
        return read_target(text, law->target);
    case KEY_INERTIA:
        return read_inertia(text, law->inertia);
    case KEY_TORQUE:
        return read_above_zero(text, &law->torque_max);
    case KEY_RATE_LIMIT:
        return read_rate(text, &law->rate_limit);
    case KEY_AUTHORITY:
        return read_share(text, &law->authority);
    case KEY_ATTITUDE_GAIN:
        return read_above_zero(text, &law->attitude_gain);
    case KEY_RATE_GAIN:
        return read_above_zero(text, &law->rate_gain);
    case KEY_TRIM_GAIN:
        return read_not_negative(text, &law->trim_gain);
    default:
        return read_above_zero(text, &law->roll_off);
    }
}

static bool read_option(enum key key, const char *text, struct board_options *options)
{
    switch (key) {
    case KEY_CONNECT:
        options->address = text;
        return true;
    case KEY_QUIET:
        options->quiet = true;
        return true;
    case KEY_TIMEOUT:
        return read_above_zero(text, &options->timeout_s);
    case KEY_WAIT:
        return read_not_negative(text, &options->wait_s);
    case KEY_DROP:
        return read_count(text, &options->drop);
    case KEY_MUTE_AFTER:
        return read_above_zero(text, &options->mute_after_s);
    case KEY_DIE_AFTER:
        return read_above_zero(text, &options->die_after_s);
    default:
        return read_gain(key, text, &options->law);
    }
}

enum board_options_result board_options_read(int argc, char **argv, struct board_options *options)
{
    int key, index = 0;

    *options = defaults;
    while ((key = getopt_long(argc, argv, "", table, &index)) != -1) {
        if (key == KEY_HELP) {
            fputs(help, stdout);
            return BOARD_OPTIONS_HELP;
        }
        if (key == '?') {
            fputs("try board --help\n", stderr);
            return BOARD_OPTIONS_WRONG;
        }
        if (!read_option((enum key)key, optarg, options)) {
            fprintf(stderr, "board: --%s: \"%s\" will not do; try board --help\n",
                    table[index].name, optarg);
            return BOARD_OPTIONS_WRONG;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "board: what is \"%s\"? try board --help\n", argv[optind]);
        return BOARD_OPTIONS_WRONG;
    }
    return BOARD_OPTIONS_GO;
}
