/*
 * What the benchmarks run on: models and states that look random, are physical, and are the same
 * everywhere; how times are gathered; and how children are asked.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/scenario.h"
#include "tools/airbearing/bench/builtin_models.h"
#include "tools/airbearing/bench/child_process.h"
#include "tools/airbearing/bench/random.h"
#include "tools/airbearing/bench/speed.h"
#include "tools/airbearing/bench/subject.h"
#include "unity.h"

void setUp(void)
{
}

void tearDown(void)
{
}

static void assert_near(double want, double got, const char *what)
{
    char message[128];
    snprintf(message, sizeof message, "%s: %.12g, not %.12g", what, got, want);
    TEST_ASSERT_TRUE_MESSAGE(fabs(got - want) <= 1e-7 * fmax(fabs(want), 1e-3), message);
}

/* ---- numbers ----------------------------------------------------------------------------- */

/* The published splitmix64 begins, from 0, with e220a8397b1dcdaf, 6e789e6aa1b965f4. */
static void test_random_numbers_are_those_of_splitmix64(void)
{
    uint64_t state = 0;
    const double first = ldexp((double)(0xe220a8397b1dcdafu >> 11), -52) - 1.0;
    const double second = ldexp((double)(0x6e789e6aa1b965f4u >> 11), -52) - 1.0;
    TEST_ASSERT_TRUE(random_number(&state) == first);
    TEST_ASSERT_TRUE(random_number(&state) == second);
}

static void test_a_direction_has_length_one_and_does_not_start_near_zero(void)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        uint64_t state = seed, same = seed;
        double unit[1], raw;
        random_unit(&state, unit, 1);
        TEST_ASSERT_TRUE(fabs(fabs(unit[0]) - 1.0) < 1e-15);
        do
            raw = random_number(&same);
        while (raw * raw < 0.01);
        TEST_ASSERT_TRUE(state == same && (unit[0] > 0.0) == (raw > 0.0));
        double four[4], square = 0.0;
        random_unit(&state, four, 4);
        for (int k = 0; k < 4; k++)
            square += four[k] * four[k];
        TEST_ASSERT_TRUE(fabs(square - 1.0) < 1e-14);
    }
}

static void test_a_set_of_times_has_a_median_and_a_lowest(void)
{
    double odd[] = {3.0, 1.0, 2.0, 9.0, 8.0}, even[] = {4.0, 1.0, 3.0, 2.0}, one[] = {7.0};
    struct median spread = median_of(odd, 5);
    TEST_ASSERT_TRUE(spread.median == 3.0 && spread.lowest == 1.0);
    spread = median_of(even, 4);
    TEST_ASSERT_TRUE(spread.median == 3.0 && spread.lowest == 1.0);
    spread = median_of(one, 1);
    TEST_ASSERT_TRUE(spread.median == 7.0 && spread.lowest == 7.0);
}

static double thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void test_time_is_the_threads_own(void)
{
    const double before = thread_ns(), now = median_cpu_ns(), after = thread_ns();
    TEST_ASSERT_TRUE(before <= now && now <= after);
}

/* ---- models ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    int bodies, nq, nv;
    double specs, tables, answers; /* weighted sums, as they were when all of the below held */
} known[] = {
    {"arm7", 7, 7, 7, 171.515683595, 0, 71.8061072021},
    {"chain3", 3, 3, 3, 21.8272651866, 0, 28.3282935623},
    {"spacecraft22", 23, 29, 28, 3539.26740698, 0, -323.208661087},
    {"rigid3x4", 3, 3, 3, 37.1976486199, -64.6651349931, 41.1023576321},
    {"ruthless3x1", 3, 6, 6, 34.4556437908, 24.6606507732, -791.041173655},
    {"ruthless2x4mixed", 2, 10, 10, 22.337191606, -254.609704346, 17137.2999757},
    {"consistent2x5mixed", 2, 12, 12, 10.7183118983, -74.1757420843, -13436.297399},
    {"consistent2x6", 2, 14, 14, 13.519293301, -483.458275315, -17305.4553178},
    {"inconsistent1x7mixed", 1, 8, 8, 9.65428445525, -143.537883754, -33323.0565154},
};

static double weigh(const double *values, size_t count, double *weight)
{
    double sum = 0.0;
    for (size_t k = 0; values != NULL && k < count; k++) {
        sum += *weight * values[k];
        *weight = *weight < 3.0 ? *weight + 0.1 : 1.0;
    }
    return sum;
}

static double weigh_specs(const struct builtin_model *made)
{
    double sum = 0.0, weight = 1.0;
    for (int i = 0; i < made->body_count; i++) {
        const struct dyn_body_spec *spec = &made->specs[i];
        sum += (i + 1) * (spec->parent + 2.0 * (double)spec->joint + 0.5 * spec->node);
        sum += weigh(spec->axis, 3, &weight) + weigh(spec->place_quat, 4, &weight) +
               weigh(spec->place_xyz, 3, &weight) + weigh(&spec->mass, 1, &weight) +
               weigh(spec->center, 3, &weight) + weigh(spec->inertia, 6, &weight);
    }
    return sum;
}

static double weigh_tables(const struct dyn_flex *flex)
{
    const size_t m = flex ? (size_t)flex->modes : 0;
    double weight = 1.0;
    if (m == 0)
        return 0.0;
    double sum = weigh(flex->P, m * 3, &weight) + weigh(flex->L, m * 9, &weight) +
                 weigh(flex->S, m * 3, &weight) + weigh(flex->N, m * m * 9, &weight) +
                 weigh(flex->P2, m * m * 3, &weight) + weigh(flex->L2, m * m * 9, &weight) +
                 weigh(flex->M, m * m, &weight) + 1e-6 * weigh(flex->K, m * m, &weight) +
                 weigh(flex->C, m * m, &weight);
    const struct dyn_node *tip = flex->node;
    return sum + weigh(tip->psi, m * 3, &weight) + weigh(tip->theta, m * 3, &weight) +
           weigh(tip->psi2, m * m * 3, &weight) + weigh(tip->theta2, m * m * 3, &weight) +
           10.0 * (double)flex->fidelity + flex->nodes + flex->stiffens;
}

static void open_made(struct subject *subject, const char *name, int states)
{
    const struct subject_source source = {.name = name, .is_made = true};
    char error[CFG_ERROR_MAX];
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, subject_open(subject, &source, states, error), name);
}

static double weigh_answers(const char *name)
{
    struct subject subject;
    double sum = 0.0, weight = 1.0;
    open_made(&subject, name, 3);
    for (int state = 0; state < 3; state++) {
        subject_forward(&subject, state);
        TEST_ASSERT_TRUE_MESSAGE(subject_is_finite(&subject), name);
        sum += weigh(subject.a, (size_t)subject.nv, &weight);
    }
    subject_close(&subject);
    return sum;
}

static void test_models_are_always_the_same(void)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct builtin_model made;
        struct subject subject;
        TEST_ASSERT_TRUE_MESSAGE(builtin_model_create(known[i].name, &made), known[i].name);
        open_made(&subject, known[i].name, 1);
        const double answers = weigh_answers(known[i].name);
        TEST_ASSERT_EQUAL_INT(known[i].bodies, made.body_count);
        TEST_ASSERT_EQUAL_INT(known[i].nq, subject.nq);
        TEST_ASSERT_EQUAL_INT(known[i].nv, subject.nv);
        TEST_ASSERT_EQUAL_STRING(known[i].name, subject.name);
        assert_near(known[i].specs, weigh_specs(&made), known[i].name);
        assert_near(known[i].tables, weigh_tables(made.specs[0].flex), known[i].name);
        assert_near(known[i].answers, answers, known[i].name);
        subject_close(&subject);
        builtin_model_free(&made);
    }
}

/* Principal moments of a real body obey the triangle inequality; the trace test is enough here. */
static void test_bodies_are_physical(void)
{
    struct builtin_model made;
    TEST_ASSERT_TRUE(builtin_model_create("chain50", &made));
    for (int i = 0; i < made.body_count; i++) {
        const struct dyn_body_spec *s = &made.specs[i];
        const double *I = s->inertia;
        TEST_ASSERT_TRUE(s->mass > 0.0 && s->parent == i - 1);
        TEST_ASSERT_TRUE(I[0] + I[1] > I[2] && I[1] + I[2] > I[0] && I[2] + I[0] > I[1]);
        const double det = I[0] * (I[1] * I[2] - I[5] * I[5]) - I[3] * (I[3] * I[2] - I[5] * I[4]) +
                           I[4] * (I[3] * I[5] - I[1] * I[4]);
        TEST_ASSERT_TRUE(det > 0.0);
    }
    builtin_model_free(&made);
}

static void test_names(void)
{
    static const char *const good[] = {"chain1",       "chain999",           "rigid1x1",
                                       "ruthless2x16", "consistent3x4mixed", "inconsistent1x2"};
    static const char *const bad[] = {"",
                                      "arm",
                                      "arm77",
                                      "chain",
                                      "chain0",
                                      "chain01",
                                      "chain-1",
                                      "chain100001",
                                      "chain3x",
                                      "rigid",
                                      "rigid3",
                                      "rigid0x4",
                                      "rigid4x0",
                                      "rigid4x17",
                                      "rigid4x4x",
                                      "rigidx4",
                                      "rigid4xmixed",
                                      "rigid4mixed",
                                      "flexible3x4",
                                      "mixed3x4",
                                      "spacecraft22x2",
                                      "chain3mixed"};
    struct builtin_model made;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        TEST_ASSERT_TRUE_MESSAGE(builtin_model_create(good[i], &made), good[i]);
        builtin_model_free(&made);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        TEST_ASSERT_FALSE_MESSAGE(builtin_model_create(bad[i], &made), bad[i]);
}

/* ---- subjects ---------------------------------------------------------------------------- */

static void test_three_ways_give_one_answer(void)
{
    static const char *const names[] = {"arm7", "spacecraft22", "ruthless3x4mixed",
                                        "consistent2x6"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct subject subject;
        open_made(&subject, names[i], 8);
        const size_t nv = (size_t)subject.nv;
        double *all = calloc(8 * nv, sizeof *all), *one = calloc(nv, sizeof *one);
        struct dyn_crba_work *work =
            dyn_crba_work_place(subject.tree, subject_room(dyn_crba_work_size(subject.tree)));
        const bool has_batch = subject.batch_work != NULL;
        TEST_ASSERT_EQUAL_INT(i < 2, has_batch);
        if (has_batch) {
            subject_batch(&subject);
            memcpy(all, subject.a, 8 * nv * sizeof *all);
        }
        for (int state = 0; state < 8; state++) {
            subject_forward(&subject, state);
            memcpy(one, subject.a, nv * sizeof *one);
            subject_composite(&subject, state, work);
            for (size_t k = 0; k < nv; k++) {
                const double size = 1e-6 * fmax(1.0, fabs(one[k]));
                TEST_ASSERT_DOUBLE_WITHIN(size, one[k], subject.a[k]);
                if (has_batch)
                    TEST_ASSERT_DOUBLE_WITHIN(size, one[k], all[k * 8 + (size_t)state]);
            }
        }
        free(work);
        free(all);
        free(one);
        subject_close(&subject);
    }
}

static void test_states_lie_within_their_bounds(void)
{
    struct subject subject;
    double most[3] = {0.0};
    open_made(&subject, "chain30", 64);
    for (int k = 0; k < 64 * 30; k++) {
        most[0] = fmax(most[0], fabs(subject.q[k]));
        most[1] = fmax(most[1], fabs(subject.v[k]));
        most[2] = fmax(most[2], fabs(subject.tau[k]));
    }
    TEST_ASSERT_DOUBLE_WITHIN(0.05, 2.96, most[0]);
    TEST_ASSERT_DOUBLE_WITHIN(0.02, 0.99, most[1]);
    TEST_ASSERT_DOUBLE_WITHIN(0.2, 9.9, most[2]);
    subject_close(&subject);
}

static void test_an_answer_that_is_not_finite_is_detected(void)
{
    struct subject subject;
    open_made(&subject, "arm7", 1);
    subject_forward(&subject, 0);
    TEST_ASSERT_TRUE(subject_is_finite(&subject));
    for (int k = 0; k < 7; k++) {
        const double was = subject.a[k];
        subject.a[k] = NAN;
        TEST_ASSERT_FALSE(subject_is_finite(&subject));
        subject.a[k] = was;
    }
    subject_close(&subject);
}

static void test_each_instruction_set_is_measured_that_was_asked_for(void)
{
    struct subject subject;
    struct speed speeds[SPEED_ISA_COUNT];
    open_made(&subject, "chain2", 4);
    const enum dyn_isa own = dyn_model_isa(subject.tree);
    speed_measure(&subject, DYN_ISA_SSE2, speeds);
    for (int isa = 0; isa < SPEED_ISA_COUNT; isa++) {
        TEST_ASSERT_EQUAL_INT(isa == DYN_ISA_SSE2, speeds[isa].is_measured);
        const struct median all[2] = {speeds[isa].forward_ns, speeds[isa].batch_ns};
        for (int k = 0; k < 2; k++)
            TEST_ASSERT_TRUE(isa == DYN_ISA_SSE2
                                 ? all[k].lowest > 0.0 && all[k].median >= all[k].lowest
                                 : all[k].median == 0.0);
    }
    TEST_ASSERT_EQUAL_INT(own, dyn_model_isa(subject.tree));
    subject_close(&subject);
    open_made(&subject, "ruthless1x1", 4);
    speed_measure(&subject, -1, speeds);
    TEST_ASSERT_TRUE(speeds[DYN_ISA_SSE2].is_measured);
    TEST_ASSERT_TRUE(speeds[DYN_ISA_SSE2].batch_ns.median == 0.0);
    for (int isa = 0; isa < SPEED_ISA_COUNT; isa++)
        TEST_ASSERT_EQUAL_INT(dyn_isa_runs((enum dyn_isa)isa), speeds[isa].is_measured);
    subject_close(&subject);
}

static void test_a_subject_without_a_model_says_why(void)
{
    struct subject subject;
    char error[CFG_ERROR_MAX];
    const struct subject_source nobody = {.name = "arm8", .is_made = true};
    const struct subject_source absent = {.name = "/nowhere/absent.urdf"};
    TEST_ASSERT_TRUE(subject_open(&subject, &nobody, 1, error) < 0);
    TEST_ASSERT_NOT_NULL(strstr(error, "there is no made model \"arm8\""));
    TEST_ASSERT_TRUE(subject_open(&subject, &absent, 1, error) < 0);
    TEST_ASSERT_NOT_NULL(strstr(error, "/nowhere/absent.urdf"));
}

/* ---- children ---------------------------------------------------------------------------- */

static int shell(const char *text, char *output, size_t size)
{
    char *const argv[] = {(char *)"sh", (char *)"-c", (char *)text, NULL};
    return child_run(argv, output, size);
}

static void test_a_child_is_read_on_both_streams(void)
{
    char output[64];
    TEST_ASSERT_EQUAL_INT(0, shell("echo a; echo b >&2", output, sizeof output));
    TEST_ASSERT_EQUAL_STRING("a\nb\n", output);
    TEST_ASSERT_EQUAL_INT(7, shell("exit 7", output, sizeof output));
    TEST_ASSERT_EQUAL_STRING("", output);
    TEST_ASSERT_EQUAL_INT(-1, shell("kill -9 $$", output, sizeof output));
    char *const nobody[] = {(char *)"no-such-program", NULL};
    output[0] = 'x';
    TEST_ASSERT_EQUAL_INT(-1, child_run(nobody, output, sizeof output));
    TEST_ASSERT_EQUAL_STRING("", output);
}

static void test_of_a_child_that_says_much_the_beginning_is_kept(void)
{
    char output[8] = "-------";
    TEST_ASSERT_EQUAL_INT(3, shell("i=0; while [ $i -lt 9000 ]; do echo 0123456789; "
                                   "i=$((i+1)); done; exit 3",
                                   output, sizeof output));
    TEST_ASSERT_EQUAL_STRING("0123456", output);
    TEST_ASSERT_EQUAL_INT(0, shell("printf 1234567", output, sizeof output));
    TEST_ASSERT_EQUAL_STRING("1234567", output);
}

static void test_the_program_finds_itself_and_what_is_beside_it(void)
{
    char self[4096], beside[4096];
    TEST_ASSERT_EQUAL_INT(0, child_self(self, sizeof self));
    const char *name = strrchr(self, '/') + 1;
    TEST_ASSERT_EQUAL_STRING("test_builtin_models", name);
    TEST_ASSERT_EQUAL_INT(0, child_beside(name, beside, sizeof beside));
    TEST_ASSERT_EQUAL_STRING(self, beside);
    TEST_ASSERT_EQUAL_INT(-1, child_beside("no-such-file", beside, sizeof beside));
    const size_t length = strlen(self);
    TEST_ASSERT_EQUAL_INT(-1, child_self(beside, length));
    TEST_ASSERT_EQUAL_INT(-1, child_self(beside, length + 1));
    TEST_ASSERT_EQUAL_INT(0, child_self(beside, length + 2));
    TEST_ASSERT_EQUAL_STRING(self, beside);
    TEST_ASSERT_EQUAL_INT(-1, child_beside("a-name-that-is-longer", beside, length + 2));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_random_numbers_are_those_of_splitmix64);
    RUN_TEST(test_a_direction_has_length_one_and_does_not_start_near_zero);
    RUN_TEST(test_a_set_of_times_has_a_median_and_a_lowest);
    RUN_TEST(test_time_is_the_threads_own);
    RUN_TEST(test_models_are_always_the_same);
    RUN_TEST(test_bodies_are_physical);
    RUN_TEST(test_names);
    RUN_TEST(test_three_ways_give_one_answer);
    RUN_TEST(test_states_lie_within_their_bounds);
    RUN_TEST(test_an_answer_that_is_not_finite_is_detected);
    RUN_TEST(test_each_instruction_set_is_measured_that_was_asked_for);
    RUN_TEST(test_a_subject_without_a_model_says_why);
    RUN_TEST(test_a_child_is_read_on_both_streams);
    RUN_TEST(test_of_a_child_that_says_much_the_beginning_is_kept);
    RUN_TEST(test_the_program_finds_itself_and_what_is_beside_it);
    return UNITY_END();
}
