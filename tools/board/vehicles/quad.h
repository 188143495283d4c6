/*
 * Small flight software of a quadrotor: it checks its sensors, arms, takes off, holds its place
 * at a height above the start, and descends level when it has lost its sensors.
 *
 *      disarmed --healthy for 1 s--> armed --0.5 s--> take-off --at the height--> hold
 *                                                        |                          |
 *             landed <------------------------------- descend <----- senses lost ---+
 *
 * Time is the simulator's alone, so the same messages give the same commands to the last bit.
 */
#pragma once

#include "tools/board/message.h"
#include "tools/board/vehicles/attitude.h"
#include "tools/board/vehicles/hover.h"
#include "tools/board/vehicles/mixer.h"
#include "tools/board/vehicles/place.h"
#include "tools/board/vehicles/steer.h"

enum board_quad_phase {
    BOARD_QUAD_DISARMED,
    BOARD_QUAD_ARMED,
    BOARD_QUAD_TAKE_OFF,
    BOARD_QUAD_HOLD,
    BOARD_QUAD_DESCEND,
    BOARD_QUAD_LANDED,
};

struct board_quad {
    struct board_airframe airframe;
    double height; /* m above the start, to hold */
    bool waits;    /* for orders: it neither arms nor takes off by itself */
    bool may_go;   /* the order to take off has been received */
    bool lands;    /* the order to land has been received */

    struct board_attitude attitude;
    struct board_place place;
    struct board_hover hover;
    struct board_steer steer;
    enum board_quad_phase phase;
    double phase_s;                              /* since the phase began */
    double healthy_s;                            /* time since all sensors are healthy */
    double still_s;                              /* time since the descent has stopped */
    double since_gyro, since_accel, since_field; /* s */
    bool has_time;
    uint64_t time_us;
    double heading;   /* rad, to hold */
    double target[3]; /* m, to hold */
    double motor[4];
};

void board_quad_begin(struct board_quad *quad, const struct board_airframe *airframe, double height,
                      double declination);
void board_quad_receive(struct board_quad *quad, const struct board_message *message);
/* Advance the board's clock without a message. */
void board_quad_elapse(struct board_quad *quad, uint64_t time_us);
void board_quad_command(const struct board_quad *quad, struct board_command *command);
/* Orders; false: not possible now.  The height is above the start, m. */
bool board_quad_arm(struct board_quad *quad, bool on);
bool board_quad_take_off(struct board_quad *quad, double height);
bool board_quad_land(struct board_quad *quad);
const char *board_quad_phase_name(enum board_quad_phase phase);
