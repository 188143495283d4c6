#include "tools/board/vehicles/steer.h"

#include "tools/board/vehicles/quaternion.h"
#include "tools/board/vehicles/vector.h"

static const double share_attitude[3] = {1.0, 1.0, 1.0 / 3.0}, share_rate[3] = {1.0, 1.0, 0.5};
static const double rate_max[3] = {3.5, 3.5, 1.0};  /* rad/s */
static const double trim_gain = 4.0;                /* 1/s^2, of the integrated rate error */
static const double trim_max[3] = {0.3, 0.3, 0.05}; /* N m */

void board_steer_rate(const struct board_steer *steer, const double attitude[4],
                      const double wanted[4], double rate[3])
{
    board_quaternion_difference(attitude, wanted, rate);
    for (int i = 0; i < 3; i++)
        rate[i] = board_clamp(steer->attitude_gain * share_attitude[i] * rate[i], rate_max[i]);
}

void board_steer_torque(struct board_steer *steer, const double rate[3], const double wanted[3],
                        double dt, double torque[3])
{
    const double *I = steer->inertia;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double error = wanted[i] - rate[i];
        steer->trim[i] = board_clamp(steer->trim[i] + trim_gain * I[i] * error * dt, trim_max[i]);
        torque[i] = I[i] * steer->rate_gain * share_rate[i] * error +
                    (I[k] - I[j]) * rate[j] * rate[k] + steer->trim[i];
    }
}
