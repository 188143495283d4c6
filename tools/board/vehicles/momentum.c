#include "tools/board/vehicles/momentum.h"

#include <math.h>

#include "tools/board/vehicles/vector.h"

void board_momentum_add(struct board_momentum *momentum, const double torque[3], double dt)
{
    for (int i = 0; i < 3; i++)
        momentum->wheels[i] += torque[i] * dt;
}

void board_momentum_unload(struct board_momentum *momentum, const double field[3])
{
    const double square = board_dot(field, field);
    double most = 0.0;
    if (!(square > 1e-16 && isfinite(square)))
        return;

    board_cross(momentum->wheels, field, momentum->dipole);
    for (int i = 0; i < 3; i++) {
        momentum->dipole[i] *= momentum->gain / square;
        most = fmax(most, fabs(momentum->dipole[i]));
    }
    for (int i = 0; i < 3 && most > momentum->dipole_max; i++)
        momentum->dipole[i] *= momentum->dipole_max / most;
}
