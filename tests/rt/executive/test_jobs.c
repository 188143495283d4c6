#include "rt/executive/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "config/scenario.h"
#include "unity.h"

/* A vehicle that has every kind of job but the arm's. */
static const char text[] =
    "name: all\nrate: 1 kHz\nseconds: 5\npace: real\nintegrator: rk4\nseed: 5\n"
    "environment: {world: local, ground: 0 m, gust: {sigma: 1 1 1 m/s}}\n"
    "bodies:\n"
    "  - {name: bus, joint: free, mass: 100 kg, inertia: 8 13 6 kg m^2}\n"
    "devices:\n"
    "  - {name: gyro, type: gyro, body: bus, rate: 250 Hz}\n"
    "  - {name: gps, type: gps, body: bus, rate: 10 Hz}\n"
    "  - {name: wheel, type: wheel, body: bus, axis: 0 0 1, inertia: 0.02 kg m^2,\n"
    "     max_torque: 0.1 N m, max_speed: 600 rad/s, command: {link: board, control: 0}}\n"
    "links:\n"
    "  - {name: board, protocol: mavlink, bus: udp, body: bus,\n"
    "     listen: \"127.0.0.1:14560\"}\n"
    "faults:\n"
    "  - {name: lean, device: gyro, type: bias, at: 1 s, value: 1 rad/s}\n"
    "  - {name: stuck, device: wheel, type: stuck, at: 1 s}\n"
    "log: {parts: true}\n";

static struct cfg_scenario *scenario;

void setUp(void)
{
    char error[CFG_ERROR_MAX] = "";
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, cfg_scenario_load_text("test.yaml", text, sizeof text - 1, NULL, 0, &scenario, error),
        error);
}

void tearDown(void)
{
    cfg_scenario_free(scenario);
}

static const struct sim_job_row *row_named(const char *name)
{
    for (int i = 0; i < sim_job_row_count; i++)
        if (sim_job_rows[i].name != NULL && strcmp(sim_job_rows[i].name, name) == 0)
            return &sim_job_rows[i];
    return NULL;
}

/* Is the first word of a section's name in the list? */
static bool writes(const char *list, const char *section)
{
    const size_t length = strcspn(section, " ");
    for (const char *word = list; *word != '\0';) {
        const size_t size = strcspn(word, ",");
        if (size == length && strncmp(word, section, length) == 0)
            return true;
        word += size;
        word += strspn(word, ", ");
    }
    return false;
}

/* The job that a section of the run state names is one whose row says that it writes it. */
static void test_every_section_is_written_by_the_job_that_it_names(void)
{
    struct sim *sim = sim_create(&scenario->spec);
    const struct sim_job_row *sensor = NULL;
    for (int i = 0; i < sim_job_row_count; i++)
        if (sim_job_rows[i].when == SIM_FOR_EACH_SENSOR)
            sensor = &sim_job_rows[i];
    TEST_ASSERT_NOT_NULL(sensor);
    static struct sim_run_state_section sections[SIM_RUN_STATE_SECTION_MAX];
    const int count = sim_run_state_sections(sim->vehicle, sections);
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(sections[i].job, "latch") == 0)
            continue; /* what a frame latches is no job */
        const struct sim_job_row *row = row_named(sections[i].job);
        TEST_ASSERT_TRUE_MESSAGE(writes((row ? row : sensor)->writes, sections[i].name),
                                 sections[i].name);
        found++;
    }
    TEST_ASSERT_EQUAL_INT(8, found); /* plant, wheel, gyro, gps, two faults, wind, schedule */
    free(sim);
}

/* What a predictor runs moves the vehicle, and all that moves it comes before what reads it. */
static void test_jobs_that_move_come_first(void)
{
    bool reads = false;
    for (int i = 0; i < sim_job_row_count; i++) {
        TEST_ASSERT_FALSE(reads && sim_job_rows[i].moves);
        reads = reads || !sim_job_rows[i].moves;
    }
    const struct sim_inject none = {0};
    struct sim_job_list all, moving;
    sim_list_jobs(&scenario->spec, &none, SIM_ALL_JOBS, NULL, &all);
    sim_list_jobs(&scenario->spec, &none, SIM_JOBS_THAT_MOVE, NULL, &moving);
    TEST_ASSERT_LESS_THAN_INT(all.count, moving.count);
    for (int i = 0; i < moving.count; i++)
        TEST_ASSERT_EQUAL_STRING(all.job[i].name, moving.job[i].name);
    TEST_ASSERT_EQUAL_STRING("step", moving.job[moving.count - 1].name);
}

/* Names and periods, in the order of the frame. */
static void test_the_list_of_a_spec(void)
{
    static const struct {
        const char *name;
        uint32_t every;
    } expected[] = {{"world", 100}, {"gust", 1}, {"drives", 1}, {"step", 1},
                    {"solve", 1},   {"gyro", 4}, {"gps", 100},  {"truth", 4}};
    const struct sim_inject none = {0};
    struct sim_job_list list;
    sim_list_jobs(&scenario->spec, &none, SIM_ALL_JOBS, NULL, &list);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        TEST_ASSERT_EQUAL_STRING(expected[i].name, list.job[i].name);
        TEST_ASSERT_EQUAL_UINT32_MESSAGE(expected[i].every, list.job[i].every, expected[i].name);
        TEST_ASSERT_EQUAL_UINT32(expected[i].every - 1, list.job[i].phase);
    }
    TEST_ASSERT_EQUAL_STRING("hash", list.job[list.count - 1].name);
    TEST_ASSERT_EQUAL_STRING("log", list.job[list.count - 2].name);
    TEST_ASSERT_EQUAL_STRING("watch", list.job[list.count - 3].name);
}

/* Parts of the run state are hashed where the log asks for it, and trouble is injected on request.
 */
static void test_rows_that_are_asked_for(void)
{
    const struct sim_inject late = {.kind = SIM_INJECT_DELAY};
    struct sim_job_list list;
    sim_list_jobs(&scenario->spec, &late, SIM_ALL_JOBS, NULL, &list);
    TEST_ASSERT_EQUAL_STRING("inject", list.job[0].name);
    void (*with_parts)(void *, uint64_t) = list.job[list.count - 1].run;
    scenario->spec.log_parts = false;
    sim_list_jobs(&scenario->spec, &late, SIM_ALL_JOBS, NULL, &list);
    TEST_ASSERT_EQUAL_STRING("hash", list.job[list.count - 1].name);
    TEST_ASSERT_TRUE(with_parts != list.job[list.count - 1].run);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_section_is_written_by_the_job_that_it_names);
    RUN_TEST(test_jobs_that_move_come_first);
    RUN_TEST(test_the_list_of_a_spec);
    RUN_TEST(test_rows_that_are_asked_for);
    return UNITY_END();
}
