/*
 * Betaflight's simulator structs, the pure codec: packed doubles and floats, little endian.
 *
 *      in   16 bytes (port 9002)   float motor_speed[4], 0 to 1; motors 2, 3, 4, 1, which is the
 *                                  order of Gazebo's iris: front right, rear left, front left,
 *                                  rear right
 *           68 bytes (port 9001)   u16 motor_count, 2 bytes padding, float pwm[16] in us, motors
 *                                  from 1 on
 *      out  144 bytes (port 9003)  18 doubles: time, rates, specific force, attitude, velocity,
 *                                  position, pressure; axes forward, right, down and north, east,
 *                                  down: Betaflight itself changes the signs of pitch and yaw
 *           40 bytes (port 9004)   double time, u16 channel[16]
 *
 * That is the layout of 4.x and 2025.12.  The packets of 2026.6 have the same sizes and other
 * meanings, those of the new plugin for Gazebo:
 *
 *      motor_speed           motors 1, 2, 3, 4: rear right, front right, rear left, front left
 *      rates                 Betaflight changes the sign of pitch only, so yaw is sent negated
 *      specific force        Betaflight negates all three, and 2026.6 is the first version that
 *                            estimates its attitude from them: forward is sent negated, so that
 *                            Betaflight gets forward, left, up
 *      attitude              Betaflight negates y and z and rotates the world by 90 degrees, to
 *                            get forward, left, up in north, west, up; so our attitude is sent
 *                            rotated by 90 degrees about down
 *      position, velocity    longitude, latitude (deg), altitude (m), east, north, up; the
 *                            position is mirrored about that of the first packet
 *      pressure              not read: Betaflight computes it from the altitude
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/command.h"

enum io_betaflight_variant { IO_BETAFLIGHT_4_5, IO_BETAFLIGHT_2026_6, IO_BETAFLIGHT_VARIANT_COUNT };

enum {
    IO_BETAFLIGHT_FDM_SIZE = 144,
    IO_BETAFLIGHT_RC_SIZE = 40,
    IO_BETAFLIGHT_SPEED_SIZE = 16 /* of the packet with motor_speed */
};

/* The controls in the order of the packet, 0 where it has none.  False when the size is not that
 * of a Betaflight packet or a number is not finite.  Context: frame. */
bool io_betaflight_decode(const void *bytes, size_t size, float controls[IO_CONTROL_MAX]);

/* virtual_gps: Betaflight was built with it.  It then reads the position as longitude and
 * latitude in degrees and altitude in metres, and the velocity as east, north, up.  Context:
 * frame. */
void io_betaflight_fdm(const struct io_sample *sample, bool virtual_gps,
                       unsigned char bytes[IO_BETAFLIGHT_FDM_SIZE]);
/* The same for 2026.6; mirror is the longitude and latitude of the first packet, in degrees.
 * Context: frame. */
void io_betaflight_fdm_2026(const struct io_sample *sample, const double mirror[2],
                            unsigned char bytes[IO_BETAFLIGHT_FDM_SIZE]);
/* Reorder motor speeds of 2026.6 to the order of 4.5.  Context: frame. */
void io_betaflight_reorder(float controls[IO_CONTROL_MAX]);

/* Context: frame. */
void io_betaflight_rc(const struct io_sample *sample, unsigned char bytes[IO_BETAFLIGHT_RC_SIZE]);
