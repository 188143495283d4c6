/*
 * Our forward and inverse dynamics judged by another engine.
 *
 *      test_engines ENGINE MODELS_DIR SCENARIOS_DIR
 *
 * Skipped (77) when this build has no such engine; models of the reference are left out where they
 * are not.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/check.h"
#include "tests/peers/generated_models.h"
#include "tests/peers/subject.h"
#include "unity.h"

enum { STATES = 100 };

static const struct engine *engine;
static const char *models_dir, *scenarios_dir;

void setUp(void)
{
}

void tearDown(void)
{
}

struct errors {
    double forward; /* our acceleration against the engine's */
    double inverse; /* what our inverse dynamics makes of its acceleration, against tau */
};

/* On a long chain MuJoCo, which solves with the mass matrix, keeps ten digits; and the last digit
 * of an acceleration, times the inertia of the whole chain, is the tenth of the torque. */
static struct errors errors_max(const struct subject *subject)
{
    const int is_long = subject->engine.nv >= 100;
    const int is_mujoco = strcmp(engine->name, "mujoco") == 0;
    return (struct errors){.forward = is_long && is_mujoco ? 1e-8 : 1e-10,
                           .inverse = is_long ? 1e-8 : 1e-10};
}

static struct errors worst_errors(const struct subject *subject, void *self)
{
    struct errors worst = {0.0, 0.0};
    double *ours = calloc((size_t)subject->engine.nv, sizeof *ours);
    double *theirs = calloc((size_t)subject->engine.nv, sizeof *theirs);
    RT_CHECK(ours && theirs);
    struct subject_state state;
    subject_state_open(subject, &state);
    for (int i = 0; i < STATES; i++) {
        subject_state_random(subject, i, &state);
        engine->put(self, 0, state.q, state.v, state.tau);
        engine->run(self, 0);
        engine->get(self, 0, theirs);
        subject_forward(subject, &state, ours);
        worst.forward = fmax(worst.forward, subject_error(subject, ours, theirs));
        subject_inverse(subject, &state, theirs, ours);
        worst.inverse = fmax(worst.inverse, subject_error(subject, ours, state.tau));
    }
    subject_state_close(&state);
    free(ours);
    free(theirs);
    return worst;
}

/* Asks both and closes the subject. */
static void compare(const char *name, struct subject *subject)
{
    void *self = engine->open(&subject->engine, 1);
    TEST_ASSERT_NOT_NULL_MESSAGE(self, name);
    const struct errors worst = worst_errors(subject, self), bound = errors_max(subject);
    printf("%-8s %-14s %3d dof, %d states: forward %.2g, inverse %.2g\n", engine->name, name,
           subject->engine.nv, STATES, worst.forward, worst.inverse);
    engine->close(self);
    subject_close(subject);
    TEST_ASSERT_TRUE_MESSAGE(worst.forward < bound.forward, name);
    TEST_ASSERT_TRUE_MESSAGE(worst.inverse < bound.inverse, name);
}

static void compare_made(const char *name, struct dyn_body_spec *specs, int body_count)
{
    struct subject subject;
    subject_make(&subject, specs, body_count);
    free(specs);
    subject.engine.gravity[0] = 3.0;
    subject.engine.gravity[1] = -4.0;
    compare(name, &subject);
}

static void test_the_engine_agrees_on_the_models_of_the_reference(void)
{
    static const struct {
        const char *name;
        int free_base, serial;
    } models[] = {{"ur5", 0, 1},     {"panda7", 0, 1},  {"talos", 1, 0},   {"spacecraft22", 1, 0},
                  {"chain10", 0, 1}, {"chain30", 0, 1}, {"chain100", 0, 1}};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        struct subject subject;
        if (engine->serial_only && !models[i].serial)
            continue;
        if (subject_load(&subject, models_dir, models[i].name, models[i].free_base) != 0)
            printf("%-8s %-14s skipped: not in %s\n", engine->name, models[i].name, models_dir);
        else
            compare(models[i].name, &subject);
    }
}

static void test_the_engine_agrees_on_the_arm_of_our_own(void)
{
    struct subject subject;
    TEST_ASSERT_EQUAL_INT(0, subject_load(&subject, scenarios_dir, "arm7", 0));
    compare("arm7", &subject);
}

static void test_the_engine_agrees_on_random_chains(void)
{
    compare_made("made chain10", generated_chain(10), 10);
    compare_made("made chain100", generated_chain(100), 100);
}

static void test_the_engine_agrees_on_a_synthetic_spacecraft(void)
{
    compare_made("made craft", generated_spacecraft(), GENERATED_SPACECRAFT_BODIES);
}

static void test_the_engine_agrees_on_trees_of_every_joint(void)
{
    for (unsigned seed = 0; seed < 20; seed++) {
        const int free_base = seed % 2 == 0;
        const int body_count = 2 + (int)seed;
        char name[32];
        (void)snprintf(name, sizeof name, "%s tree %u", free_base ? "free" : "fixed", seed);
        compare_made(name, generated_tree(body_count, free_base, seed), body_count);
    }
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 64;
    engine = engine_find(argv[1]);
    models_dir = argv[2];
    scenarios_dir = argv[3];
    if (!engine) {
        printf("skipped: %s is not installed\n", argv[1]);
        return 77;
    }
    UNITY_BEGIN();
    RUN_TEST(test_the_engine_agrees_on_the_models_of_the_reference);
    RUN_TEST(test_the_engine_agrees_on_random_chains);
    if (!engine->serial_only) {
        RUN_TEST(test_the_engine_agrees_on_the_arm_of_our_own);
        RUN_TEST(test_the_engine_agrees_on_a_synthetic_spacecraft);
        RUN_TEST(test_the_engine_agrees_on_trees_of_every_joint);
    }
    return UNITY_END();
}
