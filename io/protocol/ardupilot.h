/*
 * ArduPilot's JSON physics, the pure codec: servo packets in, one line of JSON out.
 *
 *      in   u16 magic, u16 frame_rate, u32 frame_count, u16 pwm[16] (magic 18458) or pwm[32]
 * (29569), little endian, pulses in us out  "\n{...}\n"; read by searching for keys, so there is no
 * blank after a colon and no key that holds another one before it
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/command.h"

enum { IO_ARDUPILOT_PWM_MAX = 32, IO_ARDUPILOT_REPLY_MAX = 768 };

struct io_ardupilot_servos {
    uint32_t frame_count; /* frames of physics that it has received */
    uint16_t frame_rate;  /* Hz that it would like */
    uint16_t pwm_count;   /* 16 or 32 */
    uint16_t pwm_us[IO_ARDUPILOT_PWM_MAX];
};

/* False when this is no servo packet, whole and alone.  Context: frame. */
bool io_ardupilot_decode(const void *bytes, size_t size, struct io_ardupilot_servos *servos);
/* 0 to 1 for 1000 to 2000 us; 0 for a channel without pulses.  Context: frame. */
void io_ardupilot_to_controls(const struct io_ardupilot_servos *servos,
                              float controls[IO_CONTROL_MAX]);

/* What the vehicle does, the range to the ground (rng_1) and the battery where there is one; nine
 * significant digits (the time: microseconds); what is not finite becomes 0.  With IO_SEND_RC due,
 * the sticks too.  Returns the size, never more than the buffer and without a zero at the end.
 * Context: frame. */
size_t io_ardupilot_encode(const struct io_sample *sample, char reply[IO_ARDUPILOT_REPLY_MAX]);
