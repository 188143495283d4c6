/*
 * Lists, and writing: the one function that changes a machine.
 */
#include "rt/machine/sysroot.h"

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

/* In memory of just that size, with and without room for the last part and its end. */
static void test_a_list_fills_its_room_and_no_more(void)
{
    bool set[RT_LIST_MAX] = {false};
    rt_parse_list("1,33,100-200", set);
    for (int size = 1; size <= 13; size++) {
        char *list = malloc((size_t)size);
        TEST_ASSERT_NOT_NULL(list);
        rt_print_list(set, list, size);
        TEST_ASSERT_EQUAL_STRING(size < 2    ? ""
                                 : size < 5  ? "1"
                                 : size < 13 ? "1,33"
                                             : "1,33,100-200",
                                 list);
        free(list);
    }
}

static void test_a_list_is_read_up_to_what_is_none(void)
{
    static const struct {
        const char *list, *read;
    } lists[] = {{"1, 3\t5-6", "1,3,5-6"}, {"2,x,4", "2"},     {"5-4,7", "7"}, {"-3,5", "5"},
                 {"250-300", "250-255"},   {"256,300,9", "9"}, {"4-", ""},     {"all", ""}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        bool *set = calloc(RT_LIST_MAX, sizeof *set);
        char list[64];
        TEST_ASSERT_NOT_NULL(set);
        rt_parse_list(lists[i].list, set);
        rt_print_list(set, list, sizeof list);
        free(set);
        TEST_ASSERT_EQUAL_STRING_MESSAGE(lists[i].read, list, lists[i].list);
    }
}

static void test_a_word_is_whole_or_not_there(void)
{
    TEST_ASSERT_TRUE(rt_has_word("nohz,domain,managed_irq", "domain", ","));
    TEST_ASSERT_TRUE(rt_has_word("nohz,domain", "nohz", ","));
    TEST_ASSERT_TRUE(rt_has_word("  a b\tc", "c", " \t"));
    TEST_ASSERT_TRUE(rt_has_word(",,a", "a", ","));
    TEST_ASSERT_FALSE(rt_has_word("nohz,domain", "dom", ","));
    TEST_ASSERT_FALSE(rt_has_word("nohz,domain", "domains", ","));
    TEST_ASSERT_FALSE(rt_has_word("nohz domain", "domain", ","));
    TEST_ASSERT_FALSE(rt_has_word("", "a", ","));
    TEST_ASSERT_FALSE(rt_has_word("a,", "", ","));
}

static void test_lines_fields_and_numbers_are_read(void)
{
    char line[RT_LINE_SIZE] = "kept", value[RT_LINE_SIZE] = "kept";
    long number = 5;
    put("/proc/x", "Name:\ttask\nCapEff: 0f\nCap: 7\n");
    put("/sys/n", "-12 and more\n");
    put("/sys/word", "none\n");
    put("/sys/empty", "");
    TEST_ASSERT_TRUE(rt_sysroot_first_line(root, "/proc/x", line));
    TEST_ASSERT_EQUAL_STRING("Name:\ttask", line);
    TEST_ASSERT_TRUE(rt_sysroot_field(root, "/proc/x", "CapEff:", value));
    TEST_ASSERT_EQUAL_STRING(" 0f", value);
    TEST_ASSERT_TRUE(rt_sysroot_field(root, "/proc/x", "Cap:", value));
    TEST_ASSERT_EQUAL_STRING(" 7", value);
    TEST_ASSERT_FALSE(rt_sysroot_field(root, "/proc/x", "task", value));
    TEST_ASSERT_EQUAL_STRING(" 7", value); /* as it was */
    TEST_ASSERT_FALSE(rt_sysroot_field(root, "/proc/y", "Cap:", value));
    TEST_ASSERT_FALSE(rt_sysroot_first_line(root, "/proc/y", line));
    TEST_ASSERT_FALSE(rt_sysroot_first_line(root, "/sys/empty", line));
    TEST_ASSERT_TRUE(rt_sysroot_long(root, "/sys/n", &number));
    TEST_ASSERT_EQUAL_INT(-12, number);
    TEST_ASSERT_FALSE(rt_sysroot_long(root, "/sys/word", &number));
    TEST_ASSERT_FALSE(rt_sysroot_long(root, "/sys/empty", &number));
    TEST_ASSERT_EQUAL_INT(-12, number);
}

/* A name and a text of the greatest length, and of one more. */
static void test_what_is_too_long_is_not_written(void)
{
    static char text[RT_PATH_SIZE + 1], path[RT_PATH_SIZE + 1];
    put("/sys/x", "old\n");
    memset(text, 'a', RT_PATH_SIZE - 2); /* and the end of line */
    TEST_ASSERT_EQUAL_INT(0, rt_sysroot_write(root, "/sys/x", text));
    text[RT_PATH_SIZE - 2] = 'a';
    TEST_ASSERT_EQUAL_INT(-ENAMETOOLONG, rt_sysroot_write(root, "/sys/x", text));
    path[0] = '/';
    memset(path + 1, '/', RT_PATH_SIZE - 2 - strlen(root));
    TEST_ASSERT_EQUAL_INT(-EISDIR, rt_sysroot_write(root, path, "7"));
    path[strlen(path)] = '/';
    TEST_ASSERT_EQUAL_INT(-ENAMETOOLONG, rt_sysroot_write(root, path, "7"));
}

static void test_writing_replaces_a_file_and_makes_none(void)
{
    char line[RT_LINE_SIZE];
    put("/sys/x", "a longer text\n");
    TEST_ASSERT_EQUAL_INT(0, rt_sysroot_write(root, "/sys/x", "7"));
    FILE *file = rt_sysroot_open(root, "/sys/x");
    TEST_ASSERT_TRUE(rt_sysroot_next_line(file, line));
    TEST_ASSERT_EQUAL_STRING("7", line);
    TEST_ASSERT_FALSE(rt_sysroot_next_line(file, line)); /* nothing of the old text is left */
    fclose(file);
    TEST_ASSERT_EQUAL_INT(-ENOENT, rt_sysroot_write(root, "/sys/y", "7"));
    TEST_ASSERT_EQUAL_INT(-EISDIR, rt_sysroot_write(root, "/sys", "7"));
    TEST_ASSERT_EQUAL_INT(-ENOSPC, rt_sysroot_write("", "/dev/full", "7"));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_list_is_printed_as_it_was_read);
    RUN_TEST(test_a_list_without_room_ends_at_a_whole_part);
    RUN_TEST(test_a_list_fills_its_room_and_no_more);
    RUN_TEST(test_a_list_is_read_up_to_what_is_none);
    RUN_TEST(test_a_word_is_whole_or_not_there);
    RUN_TEST(test_lines_fields_and_numbers_are_read);
    RUN_TEST(test_what_is_too_long_is_not_written);
    RUN_TEST(test_writing_replaces_a_file_and_makes_none);
    return UNITY_END();
}
