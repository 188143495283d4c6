/*
 * A viewer's calls become requests to the operator, and its answers go back as text.
 */
#include "tools/airbearing/live/services.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "unity.h"

/* ---- an operator that does nothing ---- */

struct sim_operator {
    struct sim_operator_request asked;
    int count;
    bool full;
    struct sim_operator_answer answer;
    bool answered;
    int stops, losses;
    uint64_t stop_ticket;
};

bool sim_operator_request_act(struct sim_operator *sim_operator,
                              const struct sim_operator_request *request)
{
    sim_operator->asked = *request;
    sim_operator->count++;
    return !sim_operator->full;
}

bool sim_operator_stop_arm(struct sim_operator *sim_operator, uint64_t ticket)
{
    sim_operator->stops++;
    sim_operator->stop_ticket = ticket;
    return true;
}

void sim_operator_client_lost(struct sim_operator *sim_operator)
{
    sim_operator->losses++;
}

bool sim_operator_next_answer(struct sim_operator *sim_operator, struct sim_operator_answer *answer)
{
    const bool has = sim_operator->answered;
    *answer = sim_operator->answer;
    sim_operator->answered = false;
    return has;
}

int sim_operator_parameter_count(const struct sim_operator *sim_operator)
{
    (void)sim_operator;
    return 2;
}

const struct sim_operator_parameter *sim_operator_parameter(const struct sim_operator *sim_operator,
                                                            int index)
{
    static const struct sim_operator_parameter parameters[] = {{.name = "a"}, {.name = "b"}};
    (void)sim_operator;
    return &parameters[index];
}

double sim_operator_parameter_value(const struct sim_operator *sim_operator, int index)
{
    (void)sim_operator;
    return index + 0.5;
}

int sim_operator_fault_count(const struct sim_operator *sim_operator)
{
    (void)sim_operator;
    return 2;
}

const char *sim_operator_fault_name(const struct sim_operator *sim_operator, int index)
{
    (void)sim_operator;
    return index ? "gyro stuck" : "wheel bias";
}

bool sim_operator_is_paused(const struct sim_operator *sim_operator)
{
    (void)sim_operator;
    return false;
}

/* ---- */

static struct sim_operator stand_in;
static struct operator_services services;
static const struct io_service_table *seam;
static char note[256];

static void take_note(void *self, const char *text)
{
    (void)self;
    snprintf(note, sizeof note, "%s", text);
}

void setUp(void)
{
    memset(&stand_in, 0, sizeof stand_in);
    note[0] = '\0';
    seam = services_open(&services, &stand_in, (struct service_listener){NULL, take_note});
}

void tearDown(void)
{
}

static const char *call(const char *name, const struct io_foxglove_arguments *arguments)
{
    for (int i = 0; i < seam->service_count; i++) {
        if (strcmp(seam->services[i].name, name) == 0)
            return seam->call(seam->self, 7, i, arguments);
    }
    return "no such service";
}

static void test_each_service_is_its_act(void)
{
    static const struct {
        const char *name;
        enum sim_act act;
    } acts[] = {{"/pause", SIM_ACT_PAUSE},
                {"/resume", SIM_ACT_RESUME},
                {"/step", SIM_ACT_STEP},
                {"/reset", SIM_ACT_RESET},
                {"/checkpoint", SIM_ACT_CHECKPOINT},
                {"/restore", SIM_ACT_RESTORE},
                {"/fault", SIM_ACT_FAULT}};
    struct io_foxglove_arguments arguments = {.frames = 3, .active = true};
    TEST_ASSERT_EQUAL_INT(8, seam->service_count);
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        strcpy(arguments.text, acts[i].act == SIM_ACT_FAULT ? "gyro stuck" : "a.checkpoint");
        TEST_ASSERT_NULL_MESSAGE(call(acts[i].name, &arguments), acts[i].name);
        TEST_ASSERT_EQUAL_INT(acts[i].act, stand_in.asked.act);
        TEST_ASSERT_EQUAL_UINT64(7, stand_in.asked.ticket);
    }
}

static void test_a_stop_is_not_queued_and_works_when_the_queue_is_full(void)
{
    const struct io_foxglove_arguments nothing = {0};
    stand_in.full = true;
    TEST_ASSERT_EQUAL_STRING("/safe", seam->services[seam->stop_service].name);
    TEST_ASSERT_TRUE(seam->stop(seam->self, 11));
    TEST_ASSERT_EQUAL_INT(1, stand_in.stops);
    TEST_ASSERT_EQUAL_UINT64(11, stand_in.stop_ticket);
    seam->lost(seam->self);
    TEST_ASSERT_EQUAL_INT(1, stand_in.losses);
    TEST_ASSERT_NOT_NULL(call("/safe", &nothing));
    TEST_ASSERT_EQUAL_INT(0, stand_in.count);
}

static void test_arguments_reach_the_operator(void)
{
    struct io_foxglove_arguments arguments = {.frames = 3};
    TEST_ASSERT_NULL(call("/step", &arguments));
    TEST_ASSERT_EQUAL_DOUBLE(3.0, stand_in.asked.value);
    strcpy(arguments.text, "before-burn");
    TEST_ASSERT_NULL(call("/restore", &arguments));
    TEST_ASSERT_EQUAL_STRING("before-burn", stand_in.asked.path);
    strcpy(arguments.text, "gyro stuck");
    arguments.active = true;
    TEST_ASSERT_NULL(call("/fault", &arguments));
    TEST_ASSERT_EQUAL_UINT32(1, stand_in.asked.index);
    TEST_ASSERT_EQUAL_DOUBLE(1.0, stand_in.asked.value);
    strcpy(arguments.text, "0");
    arguments.active = false;
    TEST_ASSERT_NULL(call("/fault", &arguments));
    TEST_ASSERT_EQUAL_UINT32(0, stand_in.asked.index);
    TEST_ASSERT_EQUAL_DOUBLE(0.0, stand_in.asked.value);
    TEST_ASSERT_NULL(seam->set(seam->self, 9, 1, -2.5));
    TEST_ASSERT_EQUAL_INT(SIM_ACT_TUNE, stand_in.asked.act);
    TEST_ASSERT_EQUAL_UINT32(1, stand_in.asked.index);
    TEST_ASSERT_EQUAL_DOUBLE(-2.5, stand_in.asked.value);
    TEST_ASSERT_EQUAL_STRING("b", seam->parameter_name(seam->self, 1));
    TEST_ASSERT_EQUAL_DOUBLE(1.5, seam->parameter_value(seam->self, 1));
}

static void test_arguments_that_make_no_sense_do_not_reach_the_operator(void)
{
    const struct io_foxglove_arguments nothing = {0}, unknown = {.text = "gyro"};
    TEST_ASSERT_NOT_NULL(call("/step", &nothing));
    TEST_ASSERT_NOT_NULL(call("/checkpoint", &nothing));
    TEST_ASSERT_NOT_NULL(call("/fault", &unknown));
    static const char *const others[] = {"rms.yaml",      "checkpoint",      ".checkpoint",
                                         "/a.checkpoint", "../a.checkpoint", "a.checkpoint.c"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct io_foxglove_arguments file = {0};
        strcpy(file.text, others[i]);
        TEST_ASSERT_NOT_NULL_MESSAGE(call("/checkpoint", &file), others[i]);
    }
    TEST_ASSERT_NOT_NULL(seam->set(seam->self, 1, 0, (double)INFINITY));
    TEST_ASSERT_EQUAL_INT(0, stand_in.count);
    stand_in.full = true;
    TEST_ASSERT_NOT_NULL(call("/pause", &nothing));
}

static void test_answers_come_with_their_frame_and_are_noted(void)
{
    struct io_service_reply answer;
    TEST_ASSERT_FALSE(seam->answer(seam->self, &answer));
    stand_in.answered = true;
    stand_in.answer =
        (struct sim_operator_answer){.ticket = 5, .frame = 12, .done = true, .text = "paused"};
    TEST_ASSERT_TRUE(seam->answer(seam->self, &answer));
    TEST_ASSERT_EQUAL_UINT64(5, answer.ticket);
    TEST_ASSERT_TRUE(answer.done);
    TEST_ASSERT_EQUAL_STRING("paused (frame 12)", answer.text);
    TEST_ASSERT_EQUAL_STRING("paused (frame 12)", note);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_each_service_is_its_act);
    RUN_TEST(test_a_stop_is_not_queued_and_works_when_the_queue_is_full);
    RUN_TEST(test_arguments_reach_the_operator);
    RUN_TEST(test_arguments_that_make_no_sense_do_not_reach_the_operator);
    RUN_TEST(test_answers_come_with_their_frame_and_are_noted);
    return UNITY_END();
}
