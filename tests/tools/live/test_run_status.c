/*
 * The run status that viewers get: every change once, and a fault between two looks as well.
 */
#include "config/scenario.h"
#include "tools/airbearing/live/run_status.h"

#include <stdio.h>
#include <string.h>

#include "unity.h"

enum { NOTE_MAX = 16 };

static struct cfg_scenario scenario;
static struct run_status run_status;
static int images, events;
static unsigned char image[NOTE_MAX][16];
static size_t size;
static char event[NOTE_MAX][160];

static void on_image(void *self, const struct io_byte_writer *given)
{
    TEST_ASSERT_EQUAL_PTR(&run_status, self);
    size = given->size;
    TEST_ASSERT_TRUE(size <= sizeof image[0]);
    memcpy(image[images++ % NOTE_MAX], given->data, size);
}

static void on_event(void *self, const char *text)
{
    TEST_ASSERT_EQUAL_PTR(&run_status, self);
    snprintf(event[events++ % NOTE_MAX], sizeof event[0], "%s", text);
}

void setUp(void)
{
    memset(&scenario, 0, sizeof scenario);
    scenario.spec.fault_count = 3;
    for (int i = 0; i < 3; i++)
        snprintf(scenario.spec.faults[i].text, sizeof scenario.spec.faults[i].text, "fault %c",
                 'a' + i);
    images = events = 0;
    run_status_open(&run_status, &scenario,
                    (struct run_status_sink){&run_status, on_image, on_event});
}

void tearDown(void)
{
    run_status_close(&run_status);
}

/* The pause, three bytes of alignment, the count, and a byte for each fault. */
static void expect_image(int index, bool paused, uint8_t a, uint8_t b, uint8_t c)
{
    const unsigned char expected[] = {paused, 0, 0, 0, 3, 0, 0, 0, a, b, c};
    TEST_ASSERT_LESS_THAN_INT(images, index);
    TEST_ASSERT_EQUAL_size_t(sizeof expected, size);
    TEST_ASSERT_EQUAL_MEMORY(expected, image[index], sizeof expected);
}

static void test_the_first_status_is_sent_and_then_what_changes(void)
{
    run_status_update(&run_status, false, 0, 0);
    TEST_ASSERT_EQUAL_INT(1, images);
    expect_image(0, false, 0, 0, 0);
    for (int i = 0; i < 5; i++)
        run_status_update(&run_status, false, 0, 0);
    TEST_ASSERT_EQUAL_INT(1, images);
    run_status_update(&run_status, true, 0, 0);
    expect_image(1, true, 0, 0, 0);
    run_status_update(&run_status, true, 2, 2); /* switched on in the pause */
    expect_image(2, true, 0, 1, 0);
    run_status_update(&run_status, false, 2, 0);
    expect_image(3, false, 0, 1, 0);
    TEST_ASSERT_EQUAL_INT(4, images);
}

static void test_faults_are_reported_when_they_begin_and_end(void)
{
    run_status_update(&run_status, false, 0, 0);
    run_status_update(&run_status, false, 1 | 4, 1 | 4);
    TEST_ASSERT_EQUAL_INT(2, events);
    TEST_ASSERT_EQUAL_STRING("fault begins: fault a", event[0]);
    TEST_ASSERT_EQUAL_STRING("fault begins: fault c", event[1]);
    run_status_update(&run_status, false, 1 | 2, 2);
    TEST_ASSERT_EQUAL_STRING("fault begins: fault b", event[2]);
    TEST_ASSERT_EQUAL_STRING("fault ends: fault c", event[3]);
    run_status_update(&run_status, false, 1 | 2, 1 | 2); /* that one struck is known */
    TEST_ASSERT_EQUAL_INT(4, events);
    TEST_ASSERT_EQUAL_INT(3, images);
}

static void test_a_fault_shorter_than_a_status_period_is_reported_too(void)
{
    run_status_update(&run_status, false, 4, 4);
    images = events = 0;
    run_status_update(&run_status, false, 4, 2);
    TEST_ASSERT_EQUAL_INT(2, images);
    expect_image(0, false, 0, 1, 1);
    expect_image(1, false, 0, 0, 1);
    TEST_ASSERT_EQUAL_INT(2, events);
    TEST_ASSERT_EQUAL_STRING("fault begins: fault b", event[0]);
    TEST_ASSERT_EQUAL_STRING("fault ends: fault b", event[1]);
}

static void test_a_scenario_without_faults_has_an_empty_list(void)
{
    scenario.spec.fault_count = 0;
    run_status_update(&run_status, true, 0, 0);
    TEST_ASSERT_EQUAL_size_t(8, size);
    TEST_ASSERT_EQUAL_MEMORY("\1\0\0\0\0\0\0\0", image[0], 8);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_first_status_is_sent_and_then_what_changes);
    RUN_TEST(test_faults_are_reported_when_they_begin_and_end);
    RUN_TEST(test_a_fault_shorter_than_a_status_period_is_reported_too);
    RUN_TEST(test_a_scenario_without_faults_has_an_empty_list);
    return UNITY_END();
}
