/*
 * Any bytes from a simulator into the reference board's codecs, and what they say into its
 * vehicles.  What must hold: whatever was said, every control is a number within its range, and a
 * vehicle that is not armed commands nothing.
 *
 * The input is a row of packets: kind, length, bytes.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rt/check.h"
#include "tools/board/codecs/ardupilot.h"
#include "tools/board/codecs/betaflight.h"
#include "tools/board/codecs/frames.h"
#include "tools/board/vehicles/vehicle.h"

enum { KIND_JSON, KIND_MOTION, KIND_RADIO, KIND_FRAMES, KIND_MESSAGE, KINDS, PACKET_MAX = 1024 };
enum { VEHICLES = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct board_vehicle vehicle[VEHICLES]; /* satellite, detumbling one, quad, pilot */

static void begin(void)
{
    static const struct board_airframe iris = {.mass = 1.5,
                                               .inertia = {0.029, 0.029, 0.055},
                                               .max_thrust = 7.0,
                                               .forward_arm = 0.22,
                                               .side_arm = 0.20,
                                               .drag_ratio = 0.016};
    memset(vehicle, 0, sizeof vehicle);
    for (int i = 0; i < 2; i++)
        vehicle[i].satellite =
            (struct board_satellite){.law = {.target = {1.0, 0.0, 0.0, 0.0},
                                             .inertia = {12.0, 14.0, 10.0},
                                             .torque_max = 0.2,
                                             .rate_limit = 0.1,
                                             .attitude_gain = 1.7,
                                             .rate_gain = 3.4,
                                             .trim_gain = 0.5,
                                             .authority = 0.8,
                                             .roll_off = 5.0},
                                     .momentum = {.gain = 0.005, .dipole_max = 10.0},
                                     .detumble = {.gain = 4e-5, .dipole_max = 0.2},
                                     .detumbles = i == 1};
    vehicle[2].kind = BOARD_VEHICLE_QUAD;
    board_quad_begin(&vehicle[2].quad, &iris, 10.0, 0.05);
    vehicle[3].kind = BOARD_VEHICLE_PILOT;
    board_pilot_begin(&vehicle[3].pilot, &iris);
}

static void check(const struct board_vehicle *which)
{
    const double least = which->kind == BOARD_VEHICLE_SATELLITE ? -1.0 - 1e-9 : 0.0;
    struct board_command command;
    board_vehicle_command(which, &command);
    for (int i = 0; i < BOARD_CONTROL_COUNT; i++) {
        RT_CHECK(command.controls[i] >= least && command.controls[i] <= 1.0 + 1e-9);
        RT_CHECK(command.armed || command.controls[i] == 0.0);
    }
}

static void take(const struct board_message *message)
{
    for (int i = 0; i < VEHICLES; i++) {
        board_vehicle_receive(&vehicle[i], message);
        check(&vehicle[i]);
    }
}

static void take_frames(const uint8_t *bytes, size_t size)
{
    static struct board_frames frames;
    struct board_message message;
    mavlink_message_t raw, reply;
    frames = (struct board_frames){.rx = 0};
    for (size_t i = 0; i < size; i++) {
        if (!board_frames_push(&frames, bytes[i], &raw))
            continue;
        board_frames_read(&raw, &message);
        board_frames_reply(&frames, &raw, &reply);
        take(&message);
    }
}

/* A payload that is past its checksum, whichever message it is. */
static void take_payload(const uint8_t *bytes, size_t size)
{
    static const uint32_t id[] = {0, 107, 113, 115, 138};
    struct board_message message;
    mavlink_message_t raw = {.msgid = id[bytes[0] % 5], .len = 255};
    memcpy(_MAV_PAYLOAD_NON_CONST(&raw), bytes + 1, size - 1);
    board_frames_read(&raw, &message);
    take(&message);
}

static void take_packet(unsigned kind, const uint8_t *bytes, size_t size)
{
    static char text[PACKET_MAX + 1];
    struct board_message message;
    switch (kind % KINDS) {
    case KIND_JSON:
        memcpy(text, bytes, size);
        text[size] = '\0';
        if (board_ardupilot_read(text, &message))
            take(&message);
        break;
    case KIND_MOTION:
        if (board_betaflight_read_fdm(bytes, size, &message))
            take(&message);
        break;
    case KIND_RADIO:
        if (board_betaflight_read_rc(bytes, size, &message))
            take(&message);
        break;
    case KIND_FRAMES:
        take_frames(bytes, size);
        break;
    default:
        if (size > 0)
            take_payload(bytes, size);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    begin();
    for (size_t at = 0; at + 3 <= size;) {
        const size_t wanted = (bytes[at + 1] | (size_t)bytes[at + 2] << 8) % PACKET_MAX;
        const size_t left = size - at - 3;
        const size_t length = wanted < left ? wanted : left;
        take_packet(bytes[at], bytes + at + 3,
                    length < 255 || bytes[at] % KINDS != KIND_MESSAGE ? length : 254);
        at += 3 + length;
    }
    return 0;
}
