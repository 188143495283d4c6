/* Where checkpoints may be written, and what is read as one: never through a symbolic link, and
 * nothing that is not a checkpoint gives way to one. */
#include "rt/executive/state/checkpoint.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unity.h"

static char directory[] = "/tmp/airbearing-checkpoint-XXXXXX";
static const unsigned char state[16] = "a state";
static const struct sim_checkpoint_identity mark = {
    .program = "1", .isa = "sse2", .state_size = 16};
static const struct sim_checkpoint checkpoint = {.frame = 7, .hash = 9, .state = state};
static char error[SIM_CHECKPOINT_ERROR_MAX];

void setUp(void)
{
    strcpy(directory + strlen(directory) - 6, "XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(directory));
    TEST_ASSERT_EQUAL_INT(0, chdir(directory));
    error[0] = '\0';
}

void tearDown(void)
{
    static const char *const names[] = {"a.checkpoint", "a.checkpoint.part", "notes", "pipe"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)unlink(names[i]);
    TEST_ASSERT_EQUAL_INT(0, chdir("/"));
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, rmdir(directory), "something else was left behind");
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(name, "wb");
    TEST_ASSERT_NOT_NULL(file);
    fputs(text, file);
    fclose(file);
}

static void expect_text(const char *name, const char *text)
{
    char found[64] = "";
    FILE *file = fopen(name, "rb");
    TEST_ASSERT_NOT_NULL(file);
    found[fread(found, 1, sizeof found - 1, file)] = '\0';
    fclose(file);
    TEST_ASSERT_EQUAL_STRING(text, found);
}

static void expect_refused(const char *part)
{
    TEST_ASSERT_EQUAL_INT(-1, sim_checkpoint_write("a.checkpoint", &mark, &checkpoint, error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, part), error);
}

static void expect_written(void)
{
    struct sim_checkpoint found;
    unsigned char bytes[512];
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, sim_checkpoint_write("a.checkpoint", &mark, &checkpoint, error), error);
    FILE *file = fopen("a.checkpoint", "rb");
    TEST_ASSERT_NOT_NULL(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    TEST_ASSERT_EQUAL_INT(0, sim_checkpoint_parse(bytes, size, &mark, &found, error));
    TEST_ASSERT_EQUAL_MEMORY(state, found.state, sizeof state);
    TEST_ASSERT_EQUAL_INT(-1, access("a.checkpoint.part", F_OK));
}

static void test_a_link_in_the_place_of_the_checkpoint_is_refused(void)
{
    put("notes", "precious");
    TEST_ASSERT_EQUAL_INT(0, symlink("notes", "a.checkpoint"));
    expect_refused("symbolic link");
    expect_text("notes", "precious");
    char target[16] = "";
    TEST_ASSERT_EQUAL_INT(5, readlink("a.checkpoint", target, sizeof target));
}

static void test_a_link_in_the_place_of_the_part_is_refused(void)
{
    put("notes", "precious");
    TEST_ASSERT_EQUAL_INT(0, symlink("notes", "a.checkpoint.part"));
    expect_refused("symbolic link");
    expect_text("notes", "precious");
}

static void test_a_link_to_nothing_is_refused_and_makes_nothing(void)
{
    TEST_ASSERT_EQUAL_INT(0, symlink("notes", "a.checkpoint.part"));
    expect_refused("symbolic link");
    TEST_ASSERT_EQUAL_INT(-1, access("notes", F_OK));
}

static void test_what_is_not_a_checkpoint_is_left_as_it_is(void)
{
    put("a.checkpoint", "ABCHECKED: a list of things to do");
    expect_refused("not a checkpoint");
    expect_text("a.checkpoint", "ABCHECKED: a list of things to do");
    TEST_ASSERT_EQUAL_INT(0, unlink("a.checkpoint"));
    put("a.checkpoint.part", "precious");
    expect_refused("not a checkpoint");
    expect_text("a.checkpoint.part", "precious");
    TEST_ASSERT_EQUAL_INT(0, unlink("a.checkpoint.part"));
    TEST_ASSERT_EQUAL_INT(0, mkfifo("a.checkpoint", 0600));
    expect_refused("not a checkpoint");
}

static void test_an_older_checkpoint_and_the_rest_of_one_are_replaced(void)
{
    expect_written();
    put("a.checkpoint.part", "ABCH");
    expect_written();
    put("a.checkpoint", "");
    expect_written();
}

static void test_a_checkpoint_is_not_read_through_a_link(void)
{
    struct sim_checkpoint found;
    unsigned char into[sizeof state];
    expect_written();
    TEST_ASSERT_EQUAL_INT(0, symlink("a.checkpoint", "notes"));
    TEST_ASSERT_EQUAL_INT(-1, sim_checkpoint_read("notes", &mark, NULL, into, &found, error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, "symbolic link"), error);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_link_in_the_place_of_the_checkpoint_is_refused);
    RUN_TEST(test_a_link_in_the_place_of_the_part_is_refused);
    RUN_TEST(test_a_link_to_nothing_is_refused_and_makes_nothing);
    RUN_TEST(test_what_is_not_a_checkpoint_is_left_as_it_is);
    RUN_TEST(test_an_older_checkpoint_and_the_rest_of_one_are_replaced);
    RUN_TEST(test_a_checkpoint_is_not_read_through_a_link);
    return UNITY_END();
}
