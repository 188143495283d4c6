#include "tools/board/vehicles/hover.h"

#include <math.h>

#include "tools/board/vehicles/quaternion.h"
#include "tools/board/vehicles/vector.h"

static const double gravity = 9.80665;
static const double place_gain[3] = {0.9, 0.9, 1.0};    /* 1/s */
static const double velocity_gain[3] = {1.8, 1.8, 3.0}; /* 1/s */
static const double integral_gain[3] = {0.5, 0.5, 1.5}; /* 1/s^2 */
static const double integral_max[3] = {3.0, 3.0, 4.0};  /* m/s^2 */
static const double lift_min = 0.3, lift_max = 1.8;     /* of gravity */

static void want_velocity(const struct board_hover *hover, const double target[3],
                          const double position[3], double wanted[3])
{
    for (int i = 0; i < 3; i++)
        wanted[i] = place_gain[i] * (target[i] - position[i]);
    board_shrink(wanted, 2, hover->speed_max);
    wanted[2] = fmin(fmax(wanted[2], -hover->climb_max), 0.5 * hover->climb_max);
}

/* Turn by the heading, then tilt z onto the direction by the shortest rotation. */
void board_hover_lean(const double thrust[3], double heading, double attitude[4])
{
    const double turn[4] = {cos(0.5 * heading), 0.0, 0.0, sin(0.5 * heading)};
    const double size = board_length(thrust);
    double axis[3], tip[4];

    if (!(size > 1e-9)) {
        for (int i = 0; i < 4; i++)
            attitude[i] = turn[i];
        return;
    }
    const double down[3] = {-thrust[0] / size, -thrust[1] / size, -thrust[2] / size};
    board_cross((double[]){0.0, 0.0, 1.0}, down, axis);
    tip[0] = 1.0 + down[2];
    for (int i = 0; i < 3; i++)
        tip[i + 1] = axis[i];
    if (!board_quaternion_normalise(tip))
        tip[0] = 0.0, tip[1] = 1.0;
    board_quaternion_multiply(tip, turn, attitude);
}

void board_hover_update(struct board_hover *hover, const double target[3], double heading,
                        const double position[3], const double velocity[3], double dt,
                        double attitude[4], double *lift)
{
    double wanted[3], thrust[3], error[3];
    want_velocity(hover, target, position, wanted);
    for (int i = 0; i < 3; i++) {
        error[i] = wanted[i] - velocity[i];
        thrust[i] = velocity_gain[i] * error[i] + hover->integral[i] - (i == 2 ? gravity : 0.0);
    }

    const double bounded = -fmin(fmax(-thrust[2], lift_min * gravity), lift_max * gravity);
    const double side_max = -bounded * tan(hover->tilt_max);
    const double side = hypot(thrust[0], thrust[1]);
    for (int i = 0; i < 3; i++) { /* nothing winds up at a limit */
        if (i < 2 ? side < side_max : bounded == thrust[2])
            hover->integral[i] =
                board_clamp(hover->integral[i] + integral_gain[i] * error[i] * dt, integral_max[i]);
    }
    thrust[2] = bounded;
    board_shrink(thrust, 2, side_max);
    board_hover_lean(thrust, heading, attitude);
    *lift = board_length(thrust);
}
