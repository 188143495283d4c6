#include "tools/board/vehicles/mixer.h"

#include <math.h>

enum { MOTORS = 4 };

/* Signs of Mx, My, Mz for each motor. */
static const double sense[MOTORS][3] = {
    {-1.0, 1.0, 1.0}, {1.0, -1.0, 1.0}, {1.0, 1.0, -1.0}, {-1.0, -1.0, -1.0}};

static void bounds(const double value[MOTORS], double *least, double *most)
{
    *least = *most = value[0];
    for (int i = 1; i < MOTORS; i++) {
        *least = fmin(*least, value[i]);
        *most = fmax(*most, value[i]);
    }
}

/* The share of `extra` that can be added without a motor out of its range. */
static double share(const double base[MOTORS], const double extra[MOTORS], double range)
{
    double low = 0.0, high = 1.0;
    for (int k = 0; k < 20; k++) {
        const double middle = k == 0 ? 1.0 : 0.5 * (low + high);
        double sum[MOTORS], least, most;
        for (int i = 0; i < MOTORS; i++)
            sum[i] = base[i] + middle * extra[i];
        bounds(sum, &least, &most);
        if (most - least <= range)
            low = middle;
        else
            high = middle;
        if (low >= 1.0)
            break;
    }
    return low;
}

static void add_share(double value[MOTORS], const double extra[MOTORS], double range)
{
    const double part = share(value, extra, range);
    for (int i = 0; i < MOTORS; i++)
        value[i] += part * extra[i];
}

void board_mix(const struct board_airframe *airframe, double thrust, const double torque[3],
               double motor[4])
{
    const double range = airframe->max_thrust;
    double force[MOTORS] = {0.0}, tilt[MOTORS], yaw[MOTORS], least, most;

    for (int i = 0; i < MOTORS; i++) {
        tilt[i] = 0.25 * (sense[i][0] * torque[0] / airframe->side_arm +
                          sense[i][1] * torque[1] / airframe->forward_arm);
        yaw[i] = 0.25 * sense[i][2] * torque[2] / airframe->drag_ratio;
    }
    add_share(force, tilt, range);
    add_share(force, yaw, range);
    bounds(force, &least, &most);
    const double common = fmin(fmax(0.25 * thrust, -least), range - most);
    for (int i = 0; i < MOTORS; i++)
        motor[i] = sqrt(fmin(fmax((force[i] + common) / range, 0.0), 1.0));
}
