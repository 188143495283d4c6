/*
 * ArduPilot's JSON physics, the pure codec: servo packets in, one line of JSON out.
 *
 *      in   u16 magic, u16 frame_rate, u32 frame_count, then u16 pwm[16] (magic 18458) or
 *           pwm[32] (magic 29569); little endian, pulses in us
 *      out  "\n{...}\n"
 *
 * ArduPilot reads the line by searching for keys, so there is no blank after a colon, and a key
 * does not come after another one that contains it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/command.h"

enum { IO_ARDUPILOT_PWM_MAX = 32, IO_ARDUPILOT_REPLY_MAX = 768 };

struct io_ardupilot_servos {
    uint32_t frame_count; /* the frames of physics that ArduPilot has received */
    uint16_t frame_rate;  /* Hz, the rate that it asks for */
    uint16_t pwm_count;   /* 16 or 32 */
    uint16_t pwm_us[IO_ARDUPILOT_PWM_MAX];
};

/* False when the bytes are not exactly one servo packet.  Context: frame. */
bool io_ardupilot_decode(const void *bytes, size_t size, struct io_ardupilot_servos *servos);
/* 0 to 1 for 1000 to 2000 us; 0 for a channel without pulses.  Context: frame. */
void io_ardupilot_to_controls(const struct io_ardupilot_servos *servos,
                              float controls[IO_CONTROL_MAX]);

/* Encodes the motion of the vehicle, the range to the ground (rng_1), the battery if there is
 * one, and the RC channels if IO_SEND_RC is due.  Numbers have nine significant digits (the
 * time: microseconds); a number that is not finite becomes 0.  Returns the size, which is at
 * most that of the buffer; there is no terminating zero.  Context: frame. */
size_t io_ardupilot_encode(const struct io_sample *sample, char reply[IO_ARDUPILOT_REPLY_MAX]);
