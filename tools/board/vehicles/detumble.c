#include "tools/board/vehicles/detumble.h"

#include <math.h>
#include <string.h>

#include "tools/board/vehicles/vector.h"

static const double filter_s = 1.0;

void board_detumble_field(struct board_detumble *detumble, const double field[3], double dt)
{
    const double square = board_dot(field, field);
    if (!(square > 1e-16 && isfinite(square))) /* 10 nT: not a field */
        return;
    if (!detumble->has_field)
        memcpy(detumble->smooth, field, sizeof detumble->smooth);
    detumble->has_field = true;

    const double pass = 1.0 - exp(-dt / filter_s);
    for (int i = 0; i < 3; i++) {
        detumble->smooth[i] += pass * (field[i] - detumble->smooth[i]);
        detumble->change[i] = (field[i] - detumble->smooth[i]) / filter_s;
        detumble->dipole[i] =
            board_clamp(-detumble->gain * detumble->change[i] / square, detumble->dipole_max);
    }
}
