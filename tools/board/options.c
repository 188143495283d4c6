#include "tools/board/options.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/board/vehicles/quaternion.h"

static const double degree = M_PI / 180.0;

enum key {
    KEY_CONNECT = 1, /* the wire */
    KEY_WIRE,
    KEY_BAUD,
    KEY_PWM32,
    KEY_NO_HIL,
    KEY_LOCK_AFTER,
    KEY_TARGET, /* satellites */
    KEY_TORQUE,
    KEY_RATE_LIMIT,
    KEY_AUTHORITY,
    KEY_ATTITUDE_GAIN,
    KEY_RATE_GAIN,
    KEY_TRIM_GAIN,
    KEY_ROLL_OFF,
    KEY_DETUMBLE,
    KEY_DETUMBLE_GAIN,
    KEY_DIPOLE,
    KEY_UNLOAD_GAIN,
    KEY_ALTITUDE, /* quadrotors */
    KEY_MASS,
    KEY_MAX_THRUST,
    KEY_ARMS,
    KEY_DRAG_RATIO,
    KEY_GROUND,
    KEY_DECLINATION,
    KEY_VEHICLE, /* both */
    KEY_INERTIA,
    KEY_TIMEOUT,
    KEY_WAIT,
    KEY_QUIET,
    KEY_HELP,
    KEY_CLOCK_PPM,
    KEY_DROP,
    KEY_MUTE_AFTER,
    KEY_DIE_AFTER,
};

static const struct option table[] = {
    {"connect", required_argument, NULL, KEY_CONNECT},
    {"wire", required_argument, NULL, KEY_WIRE},
    {"vehicle", required_argument, NULL, KEY_VEHICLE},
    {"baud", required_argument, NULL, KEY_BAUD},
    {"pwm32", no_argument, NULL, KEY_PWM32},
    {"no-hil", no_argument, NULL, KEY_NO_HIL},
    {"lock-after", required_argument, NULL, KEY_LOCK_AFTER},
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
    {"detumble", no_argument, NULL, KEY_DETUMBLE},
    {"detumble-gain", required_argument, NULL, KEY_DETUMBLE_GAIN},
    {"dipole", required_argument, NULL, KEY_DIPOLE},
    {"unload-gain", required_argument, NULL, KEY_UNLOAD_GAIN},
    {"altitude", required_argument, NULL, KEY_ALTITUDE},
    {"mass", required_argument, NULL, KEY_MASS},
    {"max-thrust", required_argument, NULL, KEY_MAX_THRUST},
    {"arms", required_argument, NULL, KEY_ARMS},
    {"drag-ratio", required_argument, NULL, KEY_DRAG_RATIO},
    {"declination", required_argument, NULL, KEY_DECLINATION},
    {"ground", required_argument, NULL, KEY_GROUND},
    {"clock-ppm", required_argument, NULL, KEY_CLOCK_PPM},
    {"drop", required_argument, NULL, KEY_DROP},
    {"mute-after", required_argument, NULL, KEY_MUTE_AFTER},
    {"die-after", required_argument, NULL, KEY_DIE_AFTER},
    {NULL, 0, NULL, 0},
};

static const struct board_options defaults = {
    .wire = &board_wire_mavlink,
    .wire_setup = {.baud = 921600, .lock_after = 20},
    .law = {.target = {1.0, 0.0, 0.0, 0.0},
            .inertia = {12.0, 14.0, 10.0},
            .torque_max = 0.2,
            .rate_limit = 6.0 * M_PI / 180.0,
            .attitude_gain = 1.7,
            .rate_gain = 3.4,
            .trim_gain = 0.5,
            .authority = 0.8,
            .roll_off = 5.0},
    .momentum = {.gain = 0.005, .dipole_max = 10.0},
    .detumble = {.gain = 4e-5, .dipole_max = 0.2},
    .airframe = {.mass = 1.5,
                 .inertia = {0.029, 0.029, 0.055},
                 .max_thrust = 7.0,
                 .forward_arm = 0.22,
                 .side_arm = 0.20,
                 .drag_ratio = 0.016},
    .height = 10.0,
    .declination =
        2.663 * M_PI / 180.0, /* of the field in Zurich, the default start of simulators */
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

static bool read_ppm(const char *text, double *ppm)
{
    return read_numbers(text, ppm, 1) && fabs(*ppm) <= 1e5;
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

static bool read_baud(const char *text, unsigned *baud)
{
    uint64_t value;
    const bool ok = read_count(text, &value) && value <= 20000000;
    *baud = ok ? (unsigned)value : 0;
    return ok;
}

static bool read_wire(const char *text, struct board_options *options)
{
    const struct board_wire_kind *kind = board_wire_find(text);
    if (kind != NULL)
        options->wire = kind;
    return kind != NULL;
}

static bool read_dipole(const char *text, struct board_options *options)
{
    const bool ok = read_above_zero(text, &options->momentum.dipole_max);
    options->detumble.dipole_max = options->momentum.dipole_max;
    return ok;
}

static bool read_declination(const char *text, double *declination)
{
    const bool ok = read_numbers(text, declination, 1) && fabs(*declination) <= 180.0;
    *declination *= degree;
    return ok;
}

static bool read_arms(const char *text, struct board_airframe *airframe)
{
    double arm[2];
    if (!read_numbers(text, arm, 2) || !(arm[0] > 0.0 && arm[1] > 0.0))
        return false;
    airframe->forward_arm = arm[0];
    airframe->side_arm = arm[1];
    return true;
}

static bool read_inertias(const char *text, struct board_options *options)
{
    if (!read_inertia(text, options->law.inertia))
        return false;
    memcpy(options->airframe.inertia, options->law.inertia, sizeof options->law.inertia);
    return true;
}

static bool read_wire_option(enum key key, const char *text, struct board_options *options)
{
    struct board_wire_setup *setup = &options->wire_setup;
    switch (key) {
    case KEY_CONNECT:
        setup->address = text;
        return true;
    case KEY_WIRE:
        return read_wire(text, options);
    case KEY_BAUD:
        return read_baud(text, &setup->baud);
    case KEY_PWM32:
        return setup->is_pwm32 = true;
    case KEY_NO_HIL:
        return setup->is_not_hil = true;
    default:
        return read_count(text, &setup->lock_after);
    }
}

static bool read_satellite_option(enum key key, const char *text, struct board_options *options)
{
    struct board_law *law = &options->law;
    switch (key) {
    case KEY_TARGET:
        return read_target(text, law->target);
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
    case KEY_ROLL_OFF:
        return read_above_zero(text, &law->roll_off);
    case KEY_DETUMBLE:
        return options->detumbles = true;
    case KEY_DETUMBLE_GAIN:
        return read_above_zero(text, &options->detumble.gain);
    case KEY_DIPOLE:
        return read_dipole(text, options);
    default:
        return read_not_negative(text, &options->momentum.gain);
    }
}

static bool read_quad_option(enum key key, const char *text, struct board_options *options)
{
    struct board_airframe *airframe = &options->airframe;
    switch (key) {
    case KEY_ALTITUDE:
        return read_above_zero(text, &options->height);
    case KEY_MASS:
        return read_above_zero(text, &airframe->mass);
    case KEY_MAX_THRUST:
        return read_above_zero(text, &airframe->max_thrust);
    case KEY_ARMS:
        return read_arms(text, airframe);
    case KEY_DRAG_RATIO:
        return read_above_zero(text, &airframe->drag_ratio);
    case KEY_GROUND:
        options->ground = text;
        return true;
    default:
        return read_declination(text, &options->declination);
    }
}

static bool read_general_option(enum key key, const char *text, struct board_options *options)
{
    switch (key) {
    case KEY_QUIET:
        return options->quiet = true;
    case KEY_INERTIA:
        return read_inertias(text, options);
    case KEY_TIMEOUT:
        return read_above_zero(text, &options->timeout_s);
    case KEY_WAIT:
        return read_not_negative(text, &options->wait_s);
    case KEY_CLOCK_PPM:
        return read_ppm(text, &options->clock_ppm);
    case KEY_DROP:
        return read_count(text, &options->drop);
    case KEY_MUTE_AFTER:
        return read_above_zero(text, &options->mute_after_s);
    default:
        return read_above_zero(text, &options->die_after_s);
    }
}

/* The enum is sorted by group. */
static bool read_option(enum key key, const char *text, struct board_options *options)
{
    if (key <= KEY_LOCK_AFTER)
        return read_wire_option(key, text, options);
    if (key <= KEY_UNLOAD_GAIN)
        return read_satellite_option(key, text, options);
    if (key <= KEY_DECLINATION)
        return read_quad_option(key, text, options);
    return read_general_option(key, text, options);
}

/* ArduPilot and Betaflight fly quadrotors, and Betaflight by hand. */
static bool choose_vehicle(const char *name, struct board_options *options)
{
    const bool is_aircraft =
        options->wire == &board_wire_ardupilot || options->wire == &board_wire_betaflight;
    const bool is_quad = name == NULL ? is_aircraft : strcmp(name, "quad") == 0;

    if (name != NULL && !is_quad && strcmp(name, "satellite") != 0) {
        fprintf(stderr, "board: --vehicle: \"%s\" is not satellite or quad; try board --help\n",
                name);
        return false;
    }
    if (is_aircraft && !is_quad) {
        fprintf(stderr, "board: --wire %s flies no satellite; try board --help\n",
                options->wire->name);
        return false;
    }
    options->vehicle = is_quad ? BOARD_VEHICLE_QUAD : BOARD_VEHICLE_SATELLITE;
    if (options->wire == &board_wire_betaflight)
        options->vehicle = BOARD_VEHICLE_PILOT;
    return true;
}

/* Options that depend on others, in any order. */
static bool settle(const char *vehicle, struct board_options *options)
{
    const struct board_airframe *airframe = &options->airframe;
    if (!choose_vehicle(vehicle, options))
        return false;
    if (options->wire_setup.address == NULL)
        options->wire_setup.address = options->wire->address;
    if (options->vehicle == BOARD_VEHICLE_QUAD &&
        4.0 * airframe->max_thrust < 12.0 * airframe->mass) {
        fputs("board: four motors of --max-thrust do not lift --mass; try board --help\n", stderr);
        return false;
    }
    return true;
}

enum board_options_result board_options_read(int argc, char **argv, struct board_options *options)
{
    int key, index = 0;
    const char *vehicle = NULL;

    *options = defaults;
    while ((key = getopt_long(argc, argv, "", table, &index)) != -1) {
        if (key == KEY_HELP) {
            for (int i = 0; board_help[i] != NULL; i++)
                fputs(board_help[i], stdout);
            return BOARD_OPTIONS_HELP;
        }
        if (key == '?') {
            fputs("try board --help\n", stderr);
            return BOARD_OPTIONS_WRONG;
        }
        if (key == KEY_VEHICLE)
            vehicle = optarg;
        else if (!read_option((enum key)key, optarg, options)) {
            fprintf(stderr, "board: --%s: \"%s\" will not do; try board --help\n",
                    table[index].name, optarg);
            return BOARD_OPTIONS_WRONG;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "board: what is \"%s\"? try board --help\n", argv[optind]);
        return BOARD_OPTIONS_WRONG;
    }
    return settle(vehicle, options) ? BOARD_OPTIONS_GO : BOARD_OPTIONS_WRONG;
}
