/*
 * A satellite's attitude control: points with three wheels, unloads them with three torquers, or
 * detumbles with the torquers alone.
 *
 *      gyro ─────────────────────> estimator ──attitude, rate──> law ──torque──> wheels 0, 1, 2
 *      star tracker, else truth ──────^                           │
 *      magnetometer ──────────────────────────────> momentum <────┘ ──dipole──> torquers 3, 4, 5
 *
 *      magnetometer ──> detumble ──dipole──> torquers 0, 1, 2
 *
 * The controls stay zero, and the board disarmed, until the first star tracker message or, when
 * it detumbles, until the second magnetometer sample.
 */
#pragma once

#include "tools/board/message.h"
#include "tools/board/vehicles/detumble.h"
#include "tools/board/vehicles/estimator.h"
#include "tools/board/vehicles/law.h"
#include "tools/board/vehicles/momentum.h"

struct board_satellite {
    struct board_law law;
    struct board_momentum momentum;
    struct board_detumble detumble;
    bool detumbles; /* instead of pointing */

    struct board_estimator estimator;
    bool has_tracker; /* the true attitude is ignored from now on */
    bool has_field;
    uint64_t field_us;
    double field[3];
    bool armed; /* the controls are those of the law */
    double controls[6];
};

void board_satellite_receive(struct board_satellite *satellite,
                             const struct board_message *message);
void board_satellite_command(const struct board_satellite *satellite,
                             struct board_command *command);
