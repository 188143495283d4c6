/*
 * A quadrotor flown by hand in angle mode, as Betaflight does it: the sticks are roll and pitch
 * angle, yaw rate and throttle, in the order AETR, and channel 5 arms.  Arming needs the throttle
 * low; a radio that is silent for half a second disarms.
 */
#pragma once

#include "tools/board/message.h"
#include "tools/board/vehicles/mixer.h"
#include "tools/board/vehicles/steer.h"

struct board_pilot {
    struct board_airframe airframe;
    struct board_steer steer;
    bool armed;
    bool refused; /* the switch went up with the throttle high; it must go down first */
    bool has_sticks;
    uint16_t stick[BOARD_STICK_COUNT]; /* us */
    double since_sticks;               /* s */
    bool has_time;
    uint64_t time_us;
    double attitude[4], rate[3];
    double motor[4];
};

void board_pilot_begin(struct board_pilot *pilot, const struct board_airframe *airframe);
void board_pilot_receive(struct board_pilot *pilot, const struct board_message *message);
void board_pilot_command(const struct board_pilot *pilot, struct board_command *command);
