#include "tools/board/vehicles/place.h"

#include <math.h>

#include "tools/board/vehicles/vector.h"

static const double gravity = 9.80665;
static const double equator = 6378137.0, eccentricity2 = 6.69437999014e-3; /* WGS 84 */

static const double fix_gain = 1.0, fix_velocity_gain = 0.3, velocity_gain = 2.0;
static const double pole = 1.0; /* 1/s, triple, of height, its rate and its bias */
static const double gps_pole = 0.6;

static const double pressure_age_max_s = 1.0, change_age_max_s = 1.0, fix_age_max_s = 1.0;
static const double correction_max_s = 0.3; /* a late sample has no larger weight */

static double barometric_height(double pressure)
{
    return 44330.77 * (1.0 - pow(pressure / 101325.0, 0.190263));
}

static bool barometer_lives(const struct board_place *p)
{
    return p->has_pressure && p->since_pressure < pressure_age_max_s &&
           p->since_change < change_age_max_s;
}

bool board_place_has_fix(const struct board_place *p)
{
    return p->has_fix && p->since_fix < fix_age_max_s;
}

bool board_place_has_height(const struct board_place *p)
{
    return barometer_lives(p) || board_place_has_fix(p);
}

void board_place_elapse(struct board_place *p, double dt)
{
    p->since_pressure += dt;
    p->since_change += dt;
    p->since_fix += dt;
}

void board_place_accel(struct board_place *p, const double attitude[4], const double accel[3],
                       double dt)
{
    board_to_world(attitude, accel, p->force);
    for (int i = 0; i < 3; i++) {
        const double fall = i == 2 ? gravity + p->lift_bias : 0.0;
        const double before = p->velocity[i];
        p->velocity[i] += (p->force[i] + fall) * dt;
        p->position[i] += 0.5 * (before + p->velocity[i]) * dt;
    }
    board_place_elapse(p, dt);
}

/* Three equal poles: the errors of height, its rate and the bias fade together. */
static void correct_height(struct board_place *p, double error, double w, double dt)
{
    p->position[2] -= 3.0 * w * error * dt;
    p->velocity[2] -= 3.0 * w * w * error * dt;
    p->lift_bias = board_clamp(p->lift_bias - w * w * w * error * dt, 0.5);
}

void board_place_pressure(struct board_place *p, double pressure, bool flying)
{
    const double height = barometric_height(pressure);
    const double dt = fmin(p->since_pressure, correction_max_s);
    if (!(pressure > 1000.0 && pressure < 200000.0))
        return;

    /* On the ground a simulated barometer without noise may repeat the same number for ever. */
    if (!p->has_pressure || pressure != p->pressure || !flying)
        p->since_change = 0.0;
    if (!p->has_pressure)
        p->ground = height;
    p->has_pressure = true;
    p->pressure = pressure;
    p->since_pressure = 0.0;
    if (!flying)
        p->ground += fmin(2.0 * dt, 1.0) * (height - p->ground);
    if (barometer_lives(p))
        correct_height(p, height - p->ground + p->position[2], pole, dt);
}

/* Metres north, east and up of the start. */
static void to_local(const struct board_place *p, const double place[3], double local[3])
{
    const double s = sin(p->latitude), w = 1.0 - eccentricity2 * s * s;
    local[0] = (place[0] - p->latitude) * equator * (1.0 - eccentricity2) / (w * sqrt(w));
    local[1] =
        remainder(place[1] - p->longitude, 2.0 * M_PI) * equator / sqrt(w) * cos(p->latitude);
    local[2] = place[2] - p->altitude;
}

static void begin_fix(struct board_place *p, const double place[3])
{
    p->latitude = place[0];
    p->longitude = place[1];
    p->altitude = place[2];
    p->has_fix = true;
    p->since_fix = 0.0;
}

void board_place_fix(struct board_place *p, const double place[3], const double velocity[3],
                     double error[3], double *dt)
{
    double local[3];
    if (!p->has_fix)
        begin_fix(p, place);
    *dt = fmin(p->since_fix, correction_max_s);
    p->since_fix = 0.0;
    to_local(p, place, local);

    for (int i = 0; i < 3; i++) {
        error[i] = velocity[i] - p->velocity[i];
        p->velocity[i] += velocity_gain * error[i] * *dt;
    }
    for (int i = 0; i < 2; i++) {
        const double off = local[i] - p->position[i];
        p->position[i] += fix_gain * off * *dt;
        p->velocity[i] += fix_velocity_gain * off * *dt;
    }
    const double height_error = local[2] + p->position[2];
    if (barometer_lives(p))
        p->gps_height_offset += fmin(*dt, 1.0) * (height_error - p->gps_height_offset);
    else
        correct_height(p, height_error - p->gps_height_offset, gps_pole, *dt);
}
