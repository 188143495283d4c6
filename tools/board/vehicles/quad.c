#include "tools/board/vehicles/quad.h"

#include <math.h>
#include <string.h>

#include "tools/board/vehicles/quaternion.h"
#include "tools/board/vehicles/vector.h"

static const double gravity = 9.80665;
static const double healthy_min_s = 1.0, spool_s = 0.5;
static const double sense_age_max_s = 0.2, field_age_max_s = 1.0;
static const double fix_patience_s = 5.0; /* longest time of dead reckoning */
static const double idle = 0.1;           /* command of a motor that is armed and waits */
static const double sink = 0.5;           /* m/s of a descent with a known height */
static const double blind_lift = 0.95;    /* of the weight, in a descent without */
static const double step_max_s = 0.1;

void board_quad_begin(struct board_quad *quad, const struct board_airframe *airframe, double height,
                      double declination)
{
    *quad = (struct board_quad){.airframe = *airframe, .height = height};
    quad->attitude.declination = declination;
    quad->attitude.attitude[0] = 1.0;
    quad->hover =
        (struct board_hover){.speed_max = 3.0, .climb_max = 1.5, .tilt_max = 25.0 * M_PI / 180.0};
    quad->steer = (struct board_steer){.attitude_gain = 6.0, .rate_gain = 18.0};
    memcpy(quad->steer.inertia, airframe->inertia, sizeof airframe->inertia);
}

static bool is_flying(const struct board_quad *quad)
{
    return quad->phase >= BOARD_QUAD_TAKE_OFF && quad->phase <= BOARD_QUAD_DESCEND;
}

static bool is_healthy(const struct board_quad *quad)
{
    return quad->attitude.ready && quad->since_gyro < sense_age_max_s &&
           quad->since_accel < sense_age_max_s && quad->since_field < field_age_max_s &&
           board_place_has_fix(&quad->place) && board_place_has_height(&quad->place);
}

/* True when the sensors are good enough to stay in the air. */
static bool can_hold(const struct board_quad *quad)
{
    return quad->since_gyro < sense_age_max_s && quad->since_accel < sense_age_max_s &&
           quad->place.since_fix < fix_patience_s && board_place_has_height(&quad->place);
}

static void enter(struct board_quad *quad, enum board_quad_phase phase)
{
    quad->phase = phase;
    quad->phase_s = 0.0;
    quad->still_s = 0.0;
}

static double heading_of(const double q[4])
{
    return atan2(2.0 * (q[0] * q[3] + q[1] * q[2]), 1.0 - 2.0 * (q[2] * q[2] + q[3] * q[3]));
}

static void arm(struct board_quad *quad)
{
    enter(quad, BOARD_QUAD_ARMED);
    quad->heading = heading_of(quad->attitude.attitude);
    memcpy(quad->target, quad->place.position, sizeof quad->target);
    quad->target[2] -= quad->height;
    memset(quad->hover.integral, 0, sizeof quad->hover.integral);
    memset(quad->steer.trim, 0, sizeof quad->steer.trim);
}

/* True when the descent has ended for longer than a gust could hold the vehicle, or has lasted
 * long enough in any case. */
static bool has_landed(struct board_quad *quad, double dt)
{
    const bool still = fabs(quad->place.velocity[2]) < 0.2 && board_place_has_height(&quad->place);
    quad->still_s = still ? quad->still_s + dt : 0.0;
    return quad->still_s > 2.0 || quad->phase_s > 60.0;
}

static void resume(struct board_quad *quad)
{
    for (int i = 0; i < 2; i++)
        quad->target[i] = quad->place.position[i];
    enter(quad, BOARD_QUAD_TAKE_OFF);
}

static void next_phase(struct board_quad *quad, double dt)
{
    const double gap = fabs(quad->place.position[2] - quad->target[2]);
    switch (quad->phase) {
    case BOARD_QUAD_DISARMED:
        if (quad->healthy_s >= healthy_min_s && !quad->waits)
            arm(quad);
        break;
    case BOARD_QUAD_ARMED:
        if (!is_healthy(quad))
            enter(quad, BOARD_QUAD_DISARMED);
        else if (quad->phase_s >= spool_s && (!quad->waits || quad->may_go))
            enter(quad, BOARD_QUAD_TAKE_OFF);
        break;
    case BOARD_QUAD_TAKE_OFF:
    case BOARD_QUAD_HOLD:
        if (!can_hold(quad) || quad->lands)
            enter(quad, BOARD_QUAD_DESCEND);
        else if (quad->phase == BOARD_QUAD_TAKE_OFF && gap < 0.3)
            enter(quad, BOARD_QUAD_HOLD);
        break;
    case BOARD_QUAD_DESCEND:
        if (can_hold(quad) && !quad->lands)
            resume(quad);
        else if (has_landed(quad, dt))
            enter(quad, BOARD_QUAD_LANDED);
        break;
    case BOARD_QUAD_LANDED:
        break;
    }
}

/* Advance the time by dt, with or without a message. */
static void pass(struct board_quad *quad, double dt)
{
    quad->phase_s += dt;
    quad->since_gyro += dt;
    quad->since_accel += dt;
    quad->since_field += dt;
    quad->healthy_s = is_healthy(quad) ? quad->healthy_s + dt : 0.0;
}

static double advance(struct board_quad *quad, uint64_t time_us)
{
    const double dt = (double)(int64_t)(time_us - quad->time_us) * 1e-6;
    const double step = quad->has_time ? fmin(fmax(dt, 0.0), step_max_s) : 0.0;
    quad->has_time = true;
    quad->time_us = time_us;
    return step;
}

/* Descend level: by the height where it is known, else with a thrust a little below the weight. */
static void descend(struct board_quad *quad, double dt, double wanted[4], double *lift)
{
    const struct board_place *p = &quad->place;
    double below[3] = {p->position[0], p->position[1], p->position[2] + sink};
    const double level[3] = {0.0, 0.0, p->velocity[2]};

    board_hover_update(&quad->hover, below, quad->heading, p->position, level, dt, wanted, lift);
    if (!board_place_has_height(p) || quad->since_accel >= sense_age_max_s)
        *lift = blind_lift * gravity;
    board_hover_lean((double[]){0.0, 0.0, -1.0}, quad->heading, wanted);
}

static void fly(struct board_quad *quad, double dt)
{
    double wanted[4], rate[3], torque[3] = {0.0, 0.0, 0.0}, lift;
    if (quad->phase == BOARD_QUAD_DESCEND)
        descend(quad, dt, wanted, &lift);
    else
        board_hover_update(&quad->hover, quad->target, quad->heading, quad->place.position,
                           quad->place.velocity, dt, wanted, &lift);
    if (quad->since_gyro < sense_age_max_s) { /* without a rate, zero torque is the best choice */
        board_steer_rate(&quad->steer, quad->attitude.attitude, wanted, rate);
        board_steer_torque(&quad->steer, quad->attitude.rate, rate, dt, torque);
    }
    board_mix(&quad->airframe, quad->airframe.mass * lift, torque, quad->motor);
}

static void control(struct board_quad *quad, double dt)
{
    pass(quad, dt);
    next_phase(quad, dt);
    if (is_flying(quad)) {
        fly(quad, dt);
        return;
    }
    for (int i = 0; i < 4; i++)
        quad->motor[i] = quad->phase == BOARD_QUAD_ARMED ? idle : 0.0;
}

static bool is_finite(const double v[3])
{
    return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]);
}

static void take_sensor(struct board_quad *quad, const struct board_message *message)
{
    const double dt = advance(quad, message->time_us);
    struct board_attitude *attitude = &quad->attitude;

    if (message->has_field && is_finite(message->field)) {
        board_attitude_field(attitude, message->field, fmin(quad->since_field + dt, step_max_s));
        quad->since_field = -dt; /* pass() adds it again */
    }
    if (message->has_gyro && is_finite(message->gyro)) {
        board_attitude_gyro(attitude, message->gyro, dt);
        quad->since_gyro = -dt;
    }
    if (message->has_accel && is_finite(message->accel)) {
        board_attitude_accel(attitude, message->accel, dt, !board_place_has_fix(&quad->place));
        quad->since_accel = -dt;
    }
    if (attitude->ready && quad->since_accel < 0.0)
        board_place_accel(&quad->place, attitude->attitude, message->accel, dt);
    else
        board_place_elapse(&quad->place, dt);
    if (message->has_pressure && attitude->ready)
        board_place_pressure(&quad->place, message->pressure, is_flying(quad));
    control(quad, dt);
}

static void take_gps(struct board_quad *quad, const struct board_message *message)
{
    const double place[3] = {message->latitude, message->longitude, message->altitude};
    double error[3], dt;
    if (message->fix < 3 || !quad->attitude.ready)
        return;
    board_place_fix(&quad->place, place, message->velocity, error, &dt);
    board_attitude_velocity(&quad->attitude, error, quad->place.force, dt);
}

/* The simulator sends the whole state: nothing is estimated. */
static void take_state(struct board_quad *quad, const struct board_message *message)
{
    const double dt = advance(quad, message->time_us);
    if (is_finite(message->gyro) && is_finite(message->position) && is_finite(message->velocity)) {
        board_attitude_set(&quad->attitude, message->attitude, message->gyro);
        memcpy(quad->place.position, message->position, sizeof message->position);
        memcpy(quad->place.velocity, message->velocity, sizeof message->velocity);
        quad->place.has_fix = true;
        quad->place.since_fix = 0.0;
        quad->since_gyro = quad->since_accel = quad->since_field = -dt;
    }
    control(quad, dt);
}

bool board_quad_arm(struct board_quad *quad, bool on)
{
    const bool on_ground = quad->phase <= BOARD_QUAD_ARMED || quad->phase == BOARD_QUAD_LANDED;
    if (!on) {
        if (on_ground)
            enter(quad, BOARD_QUAD_DISARMED);
        return on_ground;
    }
    if (quad->phase == BOARD_QUAD_DISARMED && quad->healthy_s >= healthy_min_s)
        arm(quad);
    return quad->phase == BOARD_QUAD_ARMED || is_flying(quad);
}

/* In PX4 the order may come before the motors are armed, in ArduPilot after. */
bool board_quad_take_off(struct board_quad *quad, double height)
{
    if (!(height > 0.0) || quad->healthy_s < healthy_min_s || is_flying(quad))
        return false;
    if (quad->phase == BOARD_QUAD_ARMED)
        quad->target[2] += quad->height - height;
    quad->height = height;
    quad->may_go = true;
    quad->lands = false;
    return true;
}

bool board_quad_land(struct board_quad *quad)
{
    quad->lands = is_flying(quad);
    return quad->lands;
}

void board_quad_receive(struct board_quad *quad, const struct board_message *message)
{
    if (message->type == BOARD_MESSAGE_SENSOR)
        take_sensor(quad, message);
    else if (message->type == BOARD_MESSAGE_GPS)
        take_gps(quad, message);
    else if (message->type == BOARD_MESSAGE_STATE)
        take_state(quad, message);
}

void board_quad_elapse(struct board_quad *quad, uint64_t time_us)
{
    if (!quad->has_time || (int64_t)(time_us - quad->time_us) < 50000)
        return;
    const double dt = advance(quad, time_us);
    board_place_elapse(&quad->place, dt);
    control(quad, dt);
}

void board_quad_command(const struct board_quad *quad, struct board_command *command)
{
    *command = (struct board_command){
        .armed = quad->phase == BOARD_QUAD_ARMED || is_flying(quad),
        .has_attitude = quad->attitude.ready,
    };
    memcpy(command->controls, quad->motor, sizeof quad->motor);
    memcpy(command->attitude, quad->attitude.attitude, sizeof command->attitude);
    memcpy(command->rate, quad->attitude.rate, sizeof command->rate);
}

const char *board_quad_phase_name(enum board_quad_phase phase)
{
    static const char *const name[] = {"disarmed", "armed",   "take-off",
                                       "hold",     "descend", "landed"};
    return name[phase];
}
