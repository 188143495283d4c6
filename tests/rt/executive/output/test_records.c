/*
 * The C structs of the log against the ros2msg texts beside them: a reader who knows only the text
 * must find every field where the struct has it.
 */
#include "config/scenario.h"
#include "rt/executive/output/records.h"
#include "rt/executive/output/sensor_types.h"
#include "rt/executive/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unity.h"

static const char text[] =
    "name: test\n"
    "rate: 1 kHz\n"
    "bodies:\n"
    "  - {name: bus, joint: {type: free}, mass: 100 kg, inertia: 8 13 6 kg m^2}\n"
    "links:\n"
    "  - {name: board, listen: 127.0.0.1:14560, body: bus, send: {sensor: 250 Hz},\n"
    "     ground: [{at: 1 s, arm: true}, {at: 2 s, takeoff: 2.5 m}]}\n";

static struct io_channel_spec channels[IO_CHANNEL_MAX];
static struct sim_record_layout layout;

void setUp(void)
{
    static const struct sim_record_jobs jobs = {.count = 2, .name = {"sense", "step"}};
    struct cfg_scenario *scenario;
    char error[CFG_ERROR_MAX] = "";
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, cfg_scenario_load_text("test.yaml", text, sizeof text - 1, NULL, 0, &scenario, error),
        error);
    layout = sim_record_layout(&scenario->spec, 7, 6, jobs.count);
    sim_record_channels(&scenario->spec, 7, 6, &jobs, channels);
    cfg_scenario_free(scenario);
}

void tearDown(void)
{
}

/* Where CDR puts the field, by the text alone: each number is aligned to its size.  Without a name
 * the size of the whole. */
static size_t place_of(const char *definition, const char *wanted)
{
    size_t at = 0;
    for (const char *line = definition; *line != '\0'; line = strchr(line, '\n') + 1) {
        unsigned bits, count = 1;
        char name[64];
        if (sscanf(line, "%*[a-z]%u[%u] %63s", &bits, &count, name) != 3) {
            count = 1;
            if (sscanf(line, "%*[a-z]%u %63s", &bits, name) != 2)
                continue; /* a comment */
        }
        at = (at + bits / 8 - 1) / (bits / 8) * (bits / 8);
        if (wanted != NULL && strcmp(name, wanted) == 0)
            return at;
        at += count * (bits / 8);
    }
    return wanted == NULL ? at : SIZE_MAX;
}

#define HAS(channel, type, field)                                                                  \
    TEST_ASSERT_EQUAL_size_t_MESSAGE(offsetof(struct type, field),                                 \
                                     place_of(channels[channel].definition, #field), #field)

/* The same of a field that lies in a struct within. */
#define HAS_INSIDE(channel, type, place, field)                                                    \
    TEST_ASSERT_EQUAL_size_t_MESSAGE(offsetof(struct type, place),                                 \
                                     place_of(channels[channel].definition, field), field)

static void test_every_payload_is_as_long_as_its_text_says(void)
{
    for (int i = 0; i < layout.count; i++)
        TEST_ASSERT_EQUAL_size_t_MESSAGE(channels[i].payload_size,
                                         place_of(channels[i].definition, NULL), channels[i].topic);
}

static void test_every_kind_of_sensor_has_a_row_whose_text_is_as_wide_as_its_reading(void)
{
    for (int kind = 0; kind < SIM_SENSOR_KIND_COUNT; kind++) {
        const struct sim_sensor_type *type = &sim_sensor_types[kind];
        TEST_ASSERT_NOT_NULL(type->name);
        TEST_ASSERT_EQUAL_size_t_MESSAGE((size_t)type->width * sizeof(double),
                                         place_of(type->text, NULL), type->name);
        TEST_ASSERT_TRUE(type->width <= SIM_READING_MAX && type->width <= IO_FAULT_COMPONENT_MAX);
        TEST_ASSERT_TRUE(type->fault_width >= 1 && type->fault_width <= type->width);
        TEST_ASSERT_TRUE(type->samples + sizeof(uint64_t) <= type->state_size);
        TEST_ASSERT_TRUE(type->delay >= offsetof(struct sim_sensor, triad));
        TEST_ASSERT_TRUE(type->delay < sizeof(struct sim_sensor));
        TEST_ASSERT_EQUAL_INT((type->message != 0 || type->field != 0) && type->put == NULL, 0);
        for (int other = 0; other < kind; other++) {
            TEST_ASSERT_TRUE(strcmp(type->name, sim_sensor_types[other].name) != 0);
            TEST_ASSERT_TRUE(strcmp(type->schema, sim_sensor_types[other].schema) != 0);
        }
    }
}

static void test_a_loop_latency_has_its_parts_in_the_order_of_the_flow(void)
{
    TEST_ASSERT_EQUAL_STRING("/latency", channels[layout.latency].topic);
    HAS(layout.latency, sim_record_latency, frame);
    HAS(layout.latency, sim_record_latency, rx_ns);
    HAS(layout.latency, sim_record_latency, link);
    for (int i = 0; i < IO_LATENCY_SUM; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s_ns", io_latency_part_name[i]);
        TEST_ASSERT_EQUAL_size_t_MESSAGE(offsetof(struct sim_record_latency, part_ns) +
                                             8 * (size_t)i,
                                         place_of(channels[layout.latency].definition, name), name);
    }
}

static void test_frames_inputs_jobs_and_clocks_lie_where_their_texts_say(void)
{
    HAS(layout.frame, sim_record_frame, frame);
    HAS(layout.frame, sim_record_frame, release_ns);
    HAS(layout.frame, sim_record_frame, start_ns);
    HAS(layout.frame, sim_record_frame, end_ns);
    HAS(layout.frame, sim_record_frame, state_hash);
    HAS(layout.frame, sim_record_frame, missed);
    HAS(layout.frame, sim_record_frame, cause);
    HAS(layout.frame, sim_record_frame, held);
    HAS(layout.input, sim_record_input, ordinal);
    HAS_INSIDE(layout.input, sim_record_input, command.rx_ns, "rx_ns");
    HAS_INSIDE(layout.input, sim_record_input, command.ready_ns, "ready_ns");
    HAS_INSIDE(layout.input, sim_record_input, command.board_us, "board_us");
    HAS_INSIDE(layout.input, sim_record_input, command.flags, "flags");
    HAS_INSIDE(layout.input, sim_record_input, command.sequence, "sequence");
    HAS_INSIDE(layout.input, sim_record_input, command.mode, "mode");
    HAS_INSIDE(layout.input, sim_record_input, command.controls, "controls");
    HAS_INSIDE(layout.input, sim_record_input, command.kind, "kind");
    HAS_INSIDE(layout.input, sim_record_input, command.link, "link");
    HAS(layout.job, sim_record_job, begin_ns);
    HAS(layout.job, sim_record_job, due);
    HAS(layout.job, sim_record_job, spent_ns);
    HAS(layout.ground, sim_record_ground, link);
    HAS(layout.ground, sim_record_ground, step);
    HAS(layout.ground, sim_record_ground, event);
    HAS(layout.ground, sim_record_ground, answer);
    TEST_ASSERT_NOT_NULL(
        strstr(channels[layout.ground].definition, "# step 1 board: takeoff 2.5 m\n"));
    HAS(layout.clock, sim_record_clock, raw_ns);
    HAS(layout.clock, sim_record_clock, realtime_ns);
    HAS(layout.clock, sim_record_clock, window_ns);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_payload_is_as_long_as_its_text_says);
    RUN_TEST(test_every_kind_of_sensor_has_a_row_whose_text_is_as_wide_as_its_reading);
    RUN_TEST(test_a_loop_latency_has_its_parts_in_the_order_of_the_flow);
    RUN_TEST(test_frames_inputs_jobs_and_clocks_lie_where_their_texts_say);
    return UNITY_END();
}
