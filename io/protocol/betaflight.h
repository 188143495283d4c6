/*
 * Betaflight's simulator structs, the pure codec: packed doubles and floats, little endian.
 *
 *      in   16 bytes (port 9002)   float motor_speed[4], 0 to 1; motors 2, 3, 4, 1, which is the
 *                                  order of Gazebo's iris: front right, rear left, front left, rear
 *                                  right
 *           68 bytes (port 9001)   u16 motor_count, 2 pad, float pwm[16] in us, motors from 1 on
 *      out  144 bytes (port 9003)  18 doubles: time, rates, specific force, attitude, velocity,
 *                                  position, pressure; forward, right, down and north, east, down:
 *                                  Betaflight itself turns the signs of pitch and yaw
 *           40 bytes (port 9004)   double time, u16 channel[16]
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/command.h"

enum { IO_BETAFLIGHT_FDM_SIZE = 144, IO_BETAFLIGHT_RC_SIZE = 40 };

/* The controls in the packet's own order, 0 where it has none.  False when the size or a number is
 * not Betaflight's.  Context: frame. */
bool io_betaflight_decode(const void *bytes, size_t size, float controls[IO_CONTROL_MAX]);

/* virtual_gps: Betaflight was built with it, and reads the fix of the receiver as degrees of
 * longitude and latitude and metres, its velocity as east, north, up.  Context: frame. */
void io_betaflight_fdm(const struct io_sample *sample, bool virtual_gps,
                       unsigned char bytes[IO_BETAFLIGHT_FDM_SIZE]);
/* Context: frame. */
void io_betaflight_rc(const struct io_sample *sample, unsigned char bytes[IO_BETAFLIGHT_RC_SIZE]);
