/*
 * Lists, and writing: the one function that changes a machine.
 */
#include "rt/root.h"

#include <errno.h>

#include "tests/rt/fake_root.h"
#include "unity.h"

void setUp(void)
{
    make_root();
}

void tearDown(void)
{
    remove_root();
}

static void test_a_list_is_printed_as_it_was_read(void)
{
    static const char *const lists[] = {"", "0", "255", "0-255", "1,3,5-7,254-255", "0-1,3"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        bool set[RT_LIST_MAX] = {false};
        char list[64];
        rt_parse_list(lists[i], set);
        rt_print_list(set, list, sizeof list);
        TEST_ASSERT_EQUAL_STRING(lists[i], list);
    }
}

static void test_a_list_without_room_ends_at_a_whole_part(void)
{
    bool set[RT_LIST_MAX] = {false};
    char list[8];
    rt_parse_list("1,33,100-200", set);
    rt_print_list(set, list, sizeof list);
    TEST_ASSERT_EQUAL_STRING("1,33", list);
}

static void test_writing_replaces_a_file_and_makes_none(void)
{
    char line[RT_LINE_SIZE];
    put("/sys/x", "a longer text\n");
    TEST_ASSERT_EQUAL_INT(0, rt_root_write(root, "/sys/x", "7"));
    FILE *file = rt_root_open(root, "/sys/x");
    TEST_ASSERT_TRUE(rt_root_next(file, line));
    TEST_ASSERT_EQUAL_STRING("7", line);
    TEST_ASSERT_FALSE(rt_root_next(file, line)); /* nothing of the old text is left */
    fclose(file);
    TEST_ASSERT_EQUAL_INT(-ENOENT, rt_root_write(root, "/sys/y", "7"));
    TEST_ASSERT_EQUAL_INT(-EISDIR, rt_root_write(root, "/sys", "7"));
    TEST_ASSERT_EQUAL_INT(-ENOSPC, rt_root_write("", "/dev/full", "7"));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_list_is_printed_as_it_was_read);
    RUN_TEST(test_a_list_without_room_ends_at_a_whole_part);
    RUN_TEST(test_writing_replaces_a_file_and_makes_none);
    return UNITY_END();
}
