/*
 * The table of a run in a terminal: of figures that are synthetic and all different, by a clock
 * that the test moves.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config/scenario.h"
#include "tools/airbearing/run/terminal.h"
#include "unity.h"

enum { TEXT_MAX = 4096 };

static bool terminal;
static uint64_t now_ns;
static struct io_latency latency[2];

int __wrap_isatty(int fd);
uint64_t __wrap_rt_now_ns(void);
const struct io_latency *__wrap_io_link_latency(const struct io_links *links, int link);

static struct io_links *const the_links = (struct io_links *)&latency;

int __wrap_isatty(int fd)
{
    TEST_ASSERT_EQUAL_INT(STDOUT_FILENO, fd);
    return terminal;
}

uint64_t __wrap_rt_now_ns(void)
{
    return now_ns;
}

const struct io_latency *__wrap_io_link_latency(const struct io_links *links, int link)
{
    TEST_ASSERT_EQUAL_PTR(the_links, links);
    return &latency[link];
}

static struct run run;
static struct cfg_scenario scenario;
static char said[TEXT_MAX];

static struct rt_mailbox *make_box(size_t size)
{
    void *mem = aligned_alloc(64, (rt_mailbox_size(size) / 64 + 1) * 64);
    TEST_ASSERT_NOT_NULL(mem);
    return rt_mailbox_place(size, mem);
}

static void tell_frame(struct rt_frame_live figures)
{
    *(struct rt_frame_live *)rt_mailbox_back(run.frame_live) = figures;
    (void)rt_mailbox_publish(run.frame_live);
}

static void tell_rig(struct sim_live figures)
{
    *(struct sim_live *)rt_mailbox_back(run.sim_live) = figures;
    (void)rt_mailbox_publish(run.sim_live);
}

void setUp(void)
{
    memset(&scenario, 0, sizeof scenario);
    memset(&run, 0, sizeof run);
    memset(latency, 0, sizeof latency);
    strcpy(scenario.spec.name, "made");
    scenario.spec.rate_hz = 500.0;
    scenario.spec.seconds = 20.0;
    run.scenario = &scenario;
    run.frame_live = make_box(sizeof(struct rt_frame_live));
    run.sim_live = make_box(sizeof(struct sim_live));
    terminal = true;
    now_ns += 1000000000; /* long after the test before */
}

void tearDown(void)
{
    free(run.frame_live);
    free(run.sim_live);
}

static const char *heard(void (*print)(void))
{
    fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    const int fd = memfd_create("said", MFD_CLOEXEC);
    TEST_ASSERT_TRUE(before >= 0 && fd >= 0);
    dup2(fd, STDOUT_FILENO);
    print();
    const ssize_t size = pread(fd, said, TEXT_MAX - 1, 0); /* what was not flushed is not seen */
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    close(fd);
    TEST_ASSERT_TRUE(size >= 0);
    said[size] = '\0';
    return said;
}

static void draw(void)
{
    terminal_draw(&run);
}

static void end(void)
{
    terminal_end();
    fflush(stdout);
}

/* Before the first table there is nothing to leave behind; so this is the first test. */
static void test_nothing_is_drawn_without_a_terminal(void)
{
    terminal = false;
    TEST_ASSERT_EQUAL_STRING("", heard(draw));
    TEST_ASSERT_EQUAL_STRING("", heard(end));
}

#define K "\033[K"

static void fill(void)
{
    tell_frame((struct rt_frame_live){.frame = 2500,
                                      .overruns = 21,
                                      .missed = 3,
                                      .start_error_ns = 4560,
                                      .busy_ns = 78900,
                                      .margin_ns_min = -12500});
    tell_rig((struct sim_live){.signal = {[SIM_SIGNAL_ATTITUDE_ERROR] = 0.25,
                                          [SIM_SIGNAL_RATE] = 0.125,
                                          [SIM_SIGNAL_WHEEL_SPEED] = 100.0,
                                          [SIM_SIGNAL_SPEED] = 3.25,
                                          [SIM_SIGNAL_TILT] = 0.5,
                                          [SIM_SIGNAL_ALTITUDE] = 12.375,
                                          [SIM_SIGNAL_POSITION_ERROR] = 1.75},
                               .inputs = 77});
    atomic_store(&latency[0].last[IO_LATENCY_SUM], 31400);
    atomic_store(&latency[1].last[IO_LATENCY_SUM], 99900);
    atomic_store(&latency[0].last[IO_LATENCY_SUM - 1], 88800);
}

/* 5 of 20 s are 7.5 of 30 signs; a sign begun is a sign. */
static void test_the_first_table_begins_where_the_cursor_is(void)
{
    fill();
    run.links = the_links;
    TEST_ASSERT_EQUAL_STRING(K "made     5.00 s of 20 s  [########......................]\n" K
                               "  frames          2500   late 21   missed 3\n" K
                               "  margin          -12.5 us (least)\n" K
                               "  start error     4.56 us (median)   busy 78.9 us (median)\n" K
                               "  loop latency    31.4 us (newest)   commands 77\n" K
                               "  attitude error  14.3239 deg   rate 7.1620 deg/s   "
                               "fastest wheel 955 rpm\n",
                             heard(draw));
}

static void test_the_next_is_drawn_over_it(void)
{
    fill();
    scenario.spec.environment.has_ground = true;
    TEST_ASSERT_EQUAL_STRING("\033[6A" K "made     5.00 s of 20 s  "
                             "[########......................]\n" K
                             "  frames          2500   late 21   missed 3\n" K
                             "  margin          -12.5 us (least)\n" K
                             "  start error     4.56 us (median)   busy 78.9 us (median)\n" K
                             "  loop latency    0.0 us (newest)   commands 77\n" K
                             "  altitude        12.38 m   position error 1.75 m   speed 3.25 m/s   "
                             "tilt 28.6 deg\n",
                             heard(draw));
    TEST_ASSERT_EQUAL_STRING("\n", heard(end));
}

static void test_a_table_is_drawn_ten_times_a_second(void)
{
    TEST_ASSERT_EQUAL_STRING_LEN("\033[6A", heard(draw), 4);
    now_ns += 99999999;
    TEST_ASSERT_EQUAL_STRING("", heard(draw));
    now_ns += 1;
    TEST_ASSERT_EQUAL_STRING_LEN("\033[6A", heard(draw), 4);
    TEST_ASSERT_EQUAL_STRING("", heard(draw));
}

static void test_the_bar_is_empty_at_the_start_and_full_at_the_end(void)
{
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(heard(draw), "   0.00 s of 20 s  "
                                                     "[..............................]\n"),
                                 said);
    tell_frame((struct rt_frame_live){.frame = 9999});
    now_ns += 1000000000;
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(heard(draw), "  20.00 s of 20 s  "
                                                     "[##############################]\n"),
                                 said);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_nothing_is_drawn_without_a_terminal);
    RUN_TEST(test_the_first_table_begins_where_the_cursor_is);
    RUN_TEST(test_the_next_is_drawn_over_it);
    RUN_TEST(test_a_table_is_drawn_ten_times_a_second);
    RUN_TEST(test_the_bar_is_empty_at_the_start_and_full_at_the_end);
    return UNITY_END();
}
