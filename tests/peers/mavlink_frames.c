/*
 * Our side of the MAVLink round trip that mavlink_peer.mjs judges.
 *
 *   mavlink_frames encode   one frame of each kind to the standard output
 *   mavlink_frames decode   frames from the standard input, one line of JSON for each message
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "io/protocol/mavlink.h"

static const struct io_sample sample = {
    .sim_us = 123456789,
    .fields = IO_FIELD_ACCEL | IO_FIELD_GYRO | IO_FIELD_MAG | IO_FIELD_BARO,
    .accel = {0.5, -0.25, -9.8125},
    .gyro = {0.125, -0.0625, 0.03125},
    .mag = {0.5e-4, -0.25e-4, 2.0e-4},
    .pressure = 95000.0,
    .temperature = 15.5,
    .fix = {.latitude = 0.827246, /* 47.397704 deg */
            .longitude = -0.149148,
            .altitude = 488.125,
            .velocity = {3.0, -4.0, 1.5},
            .eph = 1.0,
            .epv = 1.0,
            .type = 3,
            .satellites = 10},
    .diff_pressure = 150.0,
    .airspeed = 12.25,
    .tracker = {0.5, 0.5, -0.5, 0.5},
    .sun = {0.5, 0.0, -0.75},
    .angle = {0.25, -1.5, 3.0},
    .angle_count = 3,
    .rc = {1500, 1501, 1000, 1502, 2000},
    .attitude = {0.5, -0.5, 0.25, 0.75},
    .rate = {0.125, 0.25, -0.375},
    .velocity = {3.0, -4.0, 1.5},
    .latitude = 0.827246, /* 47.397704 deg */
    .longitude = -0.149148,
    .altitude = 488.125,
    .true_accel = {9.80665, -19.6133, 4.903325},
};

static void put(struct io_mavlink_sender *sender, const struct io_mavlink_message *message)
{
    unsigned char frame[IO_MAVLINK_FRAME_MAX];
    (void)fwrite(frame, 1, io_mavlink_encode(sender, message, frame), stdout);
}

static int encode(void)
{
    struct io_mavlink_sender sender = {.system_id = 42, .component_id = 200, .sequence = 253};
    struct io_mavlink_message message;
    io_mavlink_from_status(IO_MAVLINK_ACTIVE, &message);
    put(&sender, &message);
    message = (struct io_mavlink_message){.kind = IO_MAVLINK_TIME,
                                          .time = {.unix_us = 1700000000123456, .boot_ms = 123456}};
    put(&sender, &message);
    const struct io_mavlink_message request = {
        .system_id = 1, .component_id = 2, .timesync = {.ts1 = 1234567890123}};
    io_mavlink_timesync_reply(&request, 987654321, &message);
    put(&sender, &message);
    io_mavlink_from_sample(&sample, IO_MAVLINK_GPS, &message);
    put(&sender, &message);
    io_mavlink_from_sample(&sample, IO_MAVLINK_STATE, &message);
    put(&sender, &message);
    io_mavlink_from_sample(&sample, IO_MAVLINK_SENSOR, &message);
    put(&sender, &message);
    message = (struct io_mavlink_message){.kind = IO_MAVLINK_CONTROLS,
                                          .controls = {.time_us = 4000, .flags = 1, .mode = 0x81}};
    for (int i = 0; i < IO_CONTROL_MAX; i++)
        message.controls.controls[i] = (float)(i - 8) / 8.0f;
    put(&sender, &message);
    const enum io_mavlink_kind more[] = {IO_MAVLINK_TRACKER, IO_MAVLINK_VECTOR, IO_MAVLINK_ARRAY,
                                         IO_MAVLINK_RC};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        io_mavlink_from_sample(&sample, more[i], &message);
        put(&sender, &message);
    }
    return 0;
}

static void print_floats(const char *name, const float *values, int count)
{
    printf(",\"%s\":[", name);
    for (int i = 0; i < count; i++)
        printf("%s%.9g", i ? "," : "", (double)values[i]);
    printf("]");
}

static void print_ints(const char *name, const int16_t *values)
{
    printf(",\"%s\":[%d,%d,%d]", name, values[0], values[1], values[2]);
}

static void print_sensor(const struct io_mavlink_sensor *sensor)
{
    printf(",\"time\":%" PRIu64, sensor->time_us);
    print_floats("accel", sensor->accel, 3);
    print_floats("gyro", sensor->gyro, 3);
    print_floats("mag", sensor->mag, 3);
    printf(",\"pressure\":%.9g,\"diff\":%.9g,\"altitude\":%.9g,\"temperature\":%.9g",
           (double)sensor->pressure_hpa, (double)sensor->diff_pressure_hpa,
           (double)sensor->pressure_altitude_m, (double)sensor->temperature_c);
    printf(",\"fields\":%" PRIu32 ",\"sensor\":%u", sensor->fields, sensor->id);
}

static void print_gps(const struct io_mavlink_gps *gps)
{
    printf(",\"time\":%" PRIu64 ",\"place\":[%d,%d,%d]", gps->time_us, gps->latitude_e7,
           gps->longitude_e7, gps->altitude_mm);
    print_ints("velocity", gps->velocity_cms);
    printf(",\"eph\":%u,\"epv\":%u,\"speed\":%u,\"course\":%u,\"yaw\":%u", gps->eph, gps->epv,
           gps->speed_cms, gps->course_cdeg, gps->yaw_cdeg);
    printf(",\"fix\":%u,\"satellites\":%u,\"receiver\":%u", gps->fix, gps->satellites, gps->id);
}

static void print_state(const struct io_mavlink_state *state)
{
    printf(",\"time\":%" PRIu64 ",\"place\":[%d,%d,%d]", state->time_us, state->latitude_e7,
           state->longitude_e7, state->altitude_mm);
    print_floats("attitude", state->attitude, 4);
    print_floats("rate", state->rate, 3);
    print_ints("velocity", state->velocity_cms);
    print_ints("accel", state->accel_mg);
    printf(",\"airspeed\":[%u,%u]", state->indicated_cms, state->true_cms);
}

static void print_body(const struct io_mavlink_message *message)
{
    const struct io_mavlink_heartbeat *heartbeat = &message->heartbeat;
    const struct io_mavlink_timesync *timesync = &message->timesync;
    switch (message->kind) {
    case IO_MAVLINK_HEARTBEAT:
        printf(",\"heartbeat\":[%" PRIu32 ",%u,%u,%u,%u,%u]", heartbeat->custom_mode,
               heartbeat->type, heartbeat->autopilot, heartbeat->base_mode, heartbeat->status,
               heartbeat->version);
        break;
    case IO_MAVLINK_TIME:
        printf(",\"unix\":%" PRIu64 ",\"boot\":%" PRIu32, message->time.unix_us,
               message->time.boot_ms);
        break;
    case IO_MAVLINK_TIMESYNC:
        printf(",\"tc1\":%" PRId64 ",\"ts1\":%" PRId64 ",\"target\":[%u,%u]", timesync->tc1,
               timesync->ts1, timesync->target_system, timesync->target_component);
        break;
    case IO_MAVLINK_SENSOR:
        print_sensor(&message->sensor);
        break;
    case IO_MAVLINK_GPS:
        print_gps(&message->gps);
        break;
    case IO_MAVLINK_STATE:
        print_state(&message->state);
        break;
    case IO_MAVLINK_CONTROLS:
        printf(",\"time\":%" PRIu64 ",\"flags\":%" PRIu64 ",\"mode\":%u", message->controls.time_us,
               message->controls.flags, message->controls.mode);
        print_floats("controls", message->controls.controls, IO_CONTROL_MAX);
        break;
    case IO_MAVLINK_TRACKER:
        print_floats("attitude", message->tracker.attitude, 4);
        break;
    case IO_MAVLINK_VECTOR:
        print_floats(message->vector.name, message->vector.value, 3);
        break;
    case IO_MAVLINK_ARRAY:
        print_floats(message->array.name, message->array.value, IO_ANGLE_MAX);
        break;
    case IO_MAVLINK_RC:
        printf(",\"boot\":%" PRIu32 ",\"throttle\":%u,\"count\":%u", message->rc.boot_ms,
               message->rc.channel_us[2], message->rc.count);
        break;
    case IO_MAVLINK_NONE:
    case IO_MAVLINK_UNKNOWN:
    case IO_MAVLINK_OTHER:
        break;
    }
}

static void print_message(const struct io_mavlink_message *message)
{
    printf("{\"id\":%" PRIu32 ",\"version\":%u,\"from\":[%u,%u],\"sequence\":%u", message->id,
           message->version, message->system_id, message->component_id, message->sequence);
    print_body(message);
    printf("}\n");
}

static int decode(void)
{
    static _Alignas(64) unsigned char mem[4096];
    struct io_mavlink_parser *parser = io_mavlink_parser_place(mem);
    unsigned char bytes[100]; /* frames are cut wherever it happens */
    size_t size;
    while ((size = fread(bytes, 1, sizeof bytes, stdin)) > 0) {
        for (size_t at = 0; at < size;) {
            struct io_mavlink_message message;
            at += io_mavlink_feed(parser, bytes + at, size - at, &message);
            io_mavlink_decode(parser, &message);
            if (message.kind != IO_MAVLINK_NONE)
                print_message(&message);
        }
    }
    const struct io_mavlink_counters *counted = io_mavlink_get_counters(parser);
    printf("{\"bad\":%" PRIu64 ",\"lost\":%" PRIu64 "}\n",
           counted->bad_crc + counted->bad_length + counted->bad_header, counted->lost);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "encode") == 0)
        return encode();
    if (argc == 2 && strcmp(argv[1], "decode") == 0)
        return decode();
    (void)fprintf(stderr, "usage: mavlink_frames encode|decode\n");
    return 64;
}
