/*
 * Syncs of a folder by the name of a file in it.
 */
#include "io/log/durable_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unity.h"

static char folder[] = "/tmp/test_folder.XXXXXX";

void setUp(void)
{
}

void tearDown(void)
{
}

static void test_the_folder_of_a_name_is_synced_whether_the_file_is_there_or_not(void)
{
    char path[64];
    snprintf(path, sizeof path, "%s/file", folder);
    TEST_ASSERT_EQUAL(0, io_durable_sync_folder(path));
    TEST_ASSERT_EQUAL(0, io_durable_sync_folder("/file"));
    TEST_ASSERT_EQUAL(0, io_durable_sync_folder("file"));
}

static void test_a_folder_that_is_not_there_is_reported(void)
{
    char path[64];
    snprintf(path, sizeof path, "%s/no/file", folder);
    TEST_ASSERT_EQUAL(-ENOENT, io_durable_sync_folder(path));
    snprintf(path, sizeof path, "%s/file", folder);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    TEST_ASSERT_EQUAL(0, io_durable_sync_file(fd));
    close(fd);
    snprintf(path, sizeof path, "%s/file/inside", folder);
    TEST_ASSERT_EQUAL(-ENOTDIR, io_durable_sync_folder(path));
    snprintf(path, sizeof path, "%s/file", folder);
    unlink(path);
}

static void test_a_name_that_is_too_long_is_reported(void)
{
    static char path[8192];
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 3] = '/';
    TEST_ASSERT_EQUAL(-ENAMETOOLONG, io_durable_sync_folder(path));
}

static void test_what_has_nothing_to_sync_is_no_failure(void)
{
    int ends[2];
    TEST_ASSERT_EQUAL(0, pipe(ends));
    TEST_ASSERT_EQUAL(0, io_durable_sync_file(ends[1]));
    close(ends[0]);
    close(ends[1]);
    TEST_ASSERT_EQUAL(-EBADF, io_durable_sync_file(-1));
}

int main(void)
{
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    UNITY_BEGIN();
    RUN_TEST(test_the_folder_of_a_name_is_synced_whether_the_file_is_there_or_not);
    RUN_TEST(test_a_folder_that_is_not_there_is_reported);
    RUN_TEST(test_a_name_that_is_too_long_is_reported);
    RUN_TEST(test_what_has_nothing_to_sync_is_no_failure);
    const int failures = UNITY_END();
    rmdir(folder);
    return failures;
}
