/*
 * The interface of the vehicles: messages in, a command out.
 */
#pragma once

#include "tools/board/vehicles/pilot.h"
#include "tools/board/vehicles/quad.h"
#include "tools/board/vehicles/satellite.h"

enum board_vehicle_kind { BOARD_VEHICLE_SATELLITE, BOARD_VEHICLE_QUAD, BOARD_VEHICLE_PILOT };

struct board_vehicle {
    enum board_vehicle_kind kind;
    struct board_satellite satellite;
    struct board_quad quad;
    struct board_pilot pilot;
};

void board_vehicle_receive(struct board_vehicle *vehicle, const struct board_message *message);
/* Advance the board's own clock without a message. */
void board_vehicle_elapse(struct board_vehicle *vehicle, uint64_t time_us);
void board_vehicle_command(const struct board_vehicle *vehicle, struct board_command *command);
