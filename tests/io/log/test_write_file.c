/*
 * A file holds the new bytes or the old ones, whatever kind of file it is and wherever it is.
 */
#include "io/log/write_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unity.h"

static char folder[] = "/tmp/whole_file.XXXXXX";
static char path[64], other[64], held[256];

void setUp(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(other, sizeof other, "%s/other", folder);
}

static int count_files(void)
{
    int count = 0;
    DIR *open = opendir(folder);
    for (const struct dirent *entry; (entry = readdir(open)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(open);
    return count;
}

void tearDown(void)
{
    char beside[96];
    snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid());
    unlink(beside);
    unlink(path);
    unlink(other);
    TEST_ASSERT_EQUAL_INT(0, rmdir(folder));
}

static const char *content(const char *name)
{
    FILE *file = fopen(name, "re");
    TEST_ASSERT_NOT_NULL(file);
    held[fread(held, 1, sizeof held - 1, file)] = '\0';
    fclose(file);
    return held;
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(name, "we");
    TEST_ASSERT_NOT_NULL(file);
    fputs(text, file);
    fclose(file);
}

static void test_a_file_that_was_not_there(void)
{
    TEST_ASSERT_EQUAL_INT(0, io_write_file(path, "new bytes", 3));
    TEST_ASSERT_EQUAL_STRING("new", content(path));
    TEST_ASSERT_EQUAL_INT(1, count_files());
}

static void test_a_file_that_was_there_is_replaced_and_keeps_its_mode(void)
{
    struct stat before, after;
    put(path, "old and longer");
    TEST_ASSERT_EQUAL_INT(0, chmod(path, 0640));
    const int reader = open(path, O_RDONLY | O_CLOEXEC);
    fstat(reader, &before);
    TEST_ASSERT_EQUAL_INT(0, io_write_file(path, "new", 3));
    TEST_ASSERT_EQUAL_STRING("new", content(path));
    TEST_ASSERT_EQUAL_INT(0, stat(path, &after));
    TEST_ASSERT_EQUAL_HEX(0640, after.st_mode & 0777);
    /* A process that has the file open still sees all of the old contents. */
    TEST_ASSERT_TRUE(before.st_ino != after.st_ino);
    TEST_ASSERT_EQUAL_INT(14, read(reader, held, sizeof held));
    close(reader);
    TEST_ASSERT_EQUAL_INT(1, count_files());
}

static void test_a_link_is_written_through(void)
{
    struct stat status;
    put(other, "old and longer");
    TEST_ASSERT_EQUAL_INT(0, symlink(other, path));
    TEST_ASSERT_EQUAL_INT(0, io_write_file(path, "new", 3));
    TEST_ASSERT_EQUAL_STRING("new", content(other));
    TEST_ASSERT_EQUAL_INT(0, lstat(path, &status));
    TEST_ASSERT_TRUE(S_ISLNK(status.st_mode));
}

/* The temporary name is in use by another process, and its file is left alone. */
static void test_what_lies_beside_it_stays(void)
{
    char beside[96];
    snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid());
    put(path, "old and longer");
    put(beside, "precious");
    TEST_ASSERT_EQUAL_INT(0, io_write_file(path, "new", 3));
    TEST_ASSERT_EQUAL_STRING("new", content(path));
    TEST_ASSERT_EQUAL_STRING("precious", content(beside));
}

static void test_a_name_with_no_room_for_more(void)
{
    char name[NAME_MAX + 1], longest[sizeof folder + NAME_MAX + 2];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    snprintf(longest, sizeof longest, "%s/%s", folder, name);
    put(longest, "old and longer");
    TEST_ASSERT_EQUAL_INT(0, io_write_file(longest, "new", 3));
    TEST_ASSERT_EQUAL_STRING("new", content(longest));
    unlink(longest);
}

static void test_what_cannot_be_written(void)
{
    char away[96];
    snprintf(away, sizeof away, "%s/no/file", folder);
    TEST_ASSERT_EQUAL_INT(-ENOENT, io_write_file(away, "new", 3));
    TEST_ASSERT_EQUAL_INT(-EISDIR, io_write_file(folder, "new", 3));
    TEST_ASSERT_EQUAL_INT(-ENOSPC, io_write_file("/dev/full", "new", 3));
    TEST_ASSERT_EQUAL_INT(0, count_files());
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_a_file_that_was_not_there);
    RUN_TEST(test_a_file_that_was_there_is_replaced_and_keeps_its_mode);
    RUN_TEST(test_a_link_is_written_through);
    RUN_TEST(test_what_lies_beside_it_stays);
    RUN_TEST(test_a_name_with_no_room_for_more);
    RUN_TEST(test_what_cannot_be_written);
    return UNITY_END();
}
