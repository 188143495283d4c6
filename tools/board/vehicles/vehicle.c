#include "tools/board/vehicles/vehicle.h"

void board_vehicle_receive(struct board_vehicle *vehicle, const struct board_message *message)
{
    switch (vehicle->kind) {
    case BOARD_VEHICLE_SATELLITE:
        board_satellite_receive(&vehicle->satellite, message);
        break;
    case BOARD_VEHICLE_QUAD:
        board_quad_receive(&vehicle->quad, message);
        break;
    case BOARD_VEHICLE_PILOT:
        board_pilot_receive(&vehicle->pilot, message);
        break;
    }
}

void board_vehicle_elapse(struct board_vehicle *vehicle, uint64_t time_us)
{
    if (vehicle->kind == BOARD_VEHICLE_QUAD)
        board_quad_elapse(&vehicle->quad, time_us);
}

void board_vehicle_command(const struct board_vehicle *vehicle, struct board_command *command)
{
    switch (vehicle->kind) {
    case BOARD_VEHICLE_SATELLITE:
        board_satellite_command(&vehicle->satellite, command);
        break;
    case BOARD_VEHICLE_QUAD:
        board_quad_command(&vehicle->quad, command);
        break;
    case BOARD_VEHICLE_PILOT:
        board_pilot_command(&vehicle->pilot, command);
        break;
    }
}
