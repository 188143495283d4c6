#include "tools/airbearing/record.h"

#include <stdio.h>

#include "rt/check.h"

/* A ring holds this much of the run: longer than any outage seen on a shared machine. */
static const double ring_seconds = 2.0;

static const char frame_definition[] =
    "# One frame of the executive; times on CLOCK_MONOTONIC.\n"
    "uint64 frame\n"
    "uint64 release_ns # when it should have started\n"
    "uint64 start_ns\n"
    "uint64 end_ns\n"
    "uint64 state_hash # rolled over the run state after every frame\n"
    "uint32 missed # releases dropped right before this frame\n"
    "uint8 cause # of an overrun: 0 none 1 fault 2 switch 3 io 4 stolen 5 own 6 unknown\n"
    "uint8 held # 1: ran in catch-up with held inputs\n";

static const char input_definition[] =
    "# An input as the frame latched it; replay needs these and the scenario.\n"
    "uint64 frame\n"
    "uint64 ordinal\n"
    "uint64 rx_ns # last byte in, CLOCK_MONOTONIC\n"
    "uint64 ready_ns # latchable\n"
    "uint64 board_us # the board's own clock\n"
    "uint64 flags\n"
    "uint32 sequence\n"
    "uint32 mode\n"
    "float32[16] controls\n"
    "uint8 kind # 0 command 1 link lost\n"
    "uint8 link\n";

static const char *const triad_definition[] = {
    [CFG_GYRO] = "float64[3] rate # rad/s, as the instrument says\n",
    [CFG_ACCELEROMETER] = "float64[3] specific_force # m/s^2, as the instrument says\n",
    [CFG_MAGNETOMETER] = "float64[3] magnetic_field # tesla, as the instrument says\n",
};
static const char *const triad_schema[] = {
    [CFG_GYRO] = "airbearing_msgs/msg/Gyro",
    [CFG_ACCELEROMETER] = "airbearing_msgs/msg/Accelerometer",
    [CFG_MAGNETOMETER] = "airbearing_msgs/msg/Magnetometer",
};

static const char wheel_definition[] = "float64 torque # N m, motor command after the drive\n"
                                       "float64 speed # rad/s, relative to the body\n";

struct record_layout record_layout(const struct cfg_scenario *scenario, int nq, int nv)
{
    struct record_layout layout = {.frame = 0, .input = 1, .plant = 2, .sensor = 3};
    layout.wheel = layout.sensor + scenario->sensor_count;
    layout.count = layout.wheel + scenario->wheel_count;
    layout.plant_size = (uint32_t)((nq + nv + scenario->wheel_count + 1) * 8);
    return layout;
}

/* Append a fixed-size array to the text, or nothing when it is empty. */
static size_t add_array(char *text, size_t room, size_t at, const char *name, int count,
                        const char *comment)
{
    if (count == 0)
        return at;
    const int length =
        snprintf(text + at, room - at, "float64[%d] %s # %s\n", count, name, comment);
    RT_CHECK(length > 0 && (size_t)length < room - at);
    return at + (size_t)length;
}

/* The one definition that depends on the scenario. */
static const char *plant_definition(int nq, int nv, int wheel_count)
{
    static char text[512];
    size_t at =
        add_array(text, sizeof text, 0, "q", nq, "positions: base x y z qw qx qy qz, then joints");
    at = add_array(text, sizeof text, at, "v", nv,
                   "velocities: base rate and velocity in body axes, then joints");
    at = add_array(text, sizeof text, at, "wheel_momentum", wheel_count,
                   "N m s, absolute, along the axis");
    const int length = snprintf(text + at, sizeof text - at,
                                "float64 attitude_error # rad, from the target attitude\n");
    RT_CHECK(length > 0 && (size_t)length < sizeof text - at);
    return text;
}

static void describe(struct io_channel_spec *channel, const char *topic, const char *schema,
                     const char *definition, size_t payload_size, double rate_hz)
{
    const double wanted = rate_hz * ring_seconds;
    snprintf(channel->topic, sizeof channel->topic, "%s", topic);
    snprintf(channel->schema, sizeof channel->schema, "%s", schema);
    channel->definition = definition;
    channel->payload_size = (uint32_t)payload_size;
    channel->depth = wanted < 64.0 ? 64 : (uint32_t)wanted;
}

void record_channels(const struct cfg_scenario *scenario, int nq, int nv,
                     struct io_channel_spec channels[IO_CHANNEL_MAX])
{
    const struct record_layout layout = record_layout(scenario, nq, nv);
    const double log_hz = scenario->rate_hz / scenario->log_every;
    RT_CHECK(layout.count <= IO_CHANNEL_MAX);
    describe(&channels[layout.frame], "/frame", "airbearing_msgs/msg/Frame", frame_definition,
             RECORD_FRAME_SIZE, scenario->rate_hz);
    describe(&channels[layout.input], "/input", "airbearing_msgs/msg/Input", input_definition,
             RECORD_INPUT_SIZE, scenario->rate_hz);
    describe(&channels[layout.plant], "/plant", "airbearing_msgs/msg/Plant",
             plant_definition(nq, nv, scenario->wheel_count), layout.plant_size, log_hz);
    for (int i = 0; i < scenario->sensor_count; i++) {
        const struct cfg_sensor *sensor = &scenario->sensors[i];
        char topic[IO_TOPIC_MAX];
        snprintf(topic, sizeof topic, "/device/%s", sensor->name);
        describe(&channels[layout.sensor + i], topic, triad_schema[sensor->kind],
                 triad_definition[sensor->kind], 3 * sizeof(double),
                 scenario->rate_hz / sensor->every);
    }
    for (int i = 0; i < scenario->wheel_count; i++) {
        char topic[IO_TOPIC_MAX];
        snprintf(topic, sizeof topic, "/device/%s", scenario->wheels[i].name);
        describe(&channels[layout.wheel + i], topic, "airbearing_msgs/msg/Wheel", wheel_definition,
                 2 * sizeof(double), log_hz);
    }
}
