/*
 * An emergency message that changes while it is read.  A page boundary lies within the message, and
 * the second page is not accessible yet: the reader is interrupted in the middle of its copy by a
 * signal handler, which plays the writer, and continues with a message of which it has the old
 * beginning.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/bus/shm.h"
#include "unity.h"

static unsigned char *pages;
static size_t page_size;
static struct io_shm_ring *ring;
static struct io_shm_port port;
static uint32_t turn_meanwhile; /* the sequence that the writer leaves */

static void write_meanwhile(int number)
{
    (void)number;
    if (mprotect(pages + page_size, page_size, PROT_READ | PROT_WRITE))
        _exit(1);
    memset(ring->emergency, 'n', sizeof ring->emergency);
    atomic_store(&ring->emergency_sequence, turn_meanwhile);
}

void setUp(void)
{
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    pages = mmap(NULL, 2 * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TEST_ASSERT_TRUE(pages != MAP_FAILED);
    ring = (struct io_shm_ring *)(void *)(pages + page_size -
                                          192); /* 56 bytes of the message are in the first page */
    port = (struct io_shm_port){.ring = ring};
    memset(ring->emergency, 'o', sizeof ring->emergency);
    ring->emergency_size = 200;
    atomic_store(&ring->emergency_sequence, 2);
    const struct sigaction action = {.sa_handler = write_meanwhile};
    TEST_ASSERT_EQUAL(0, sigaction(SIGSEGV, &action, NULL));
}

void tearDown(void)
{
    (void)signal(SIGSEGV, SIG_DFL);
    (void)munmap(pages, 2 * page_size);
}

static void hide_the_rest(void)
{
    TEST_ASSERT_EQUAL(0, mprotect(pages + page_size, page_size, PROT_NONE));
}

static void test_an_emergency_message_that_stays_is_received_once(void)
{
    unsigned char bytes[IO_EMERGENCY_MAX], old[200];
    size_t size = 0;
    memset(old, 'o', sizeof old);
    TEST_ASSERT_TRUE(io_shm_pull_emergency(&port, bytes, &size));
    TEST_ASSERT_EQUAL_size_t(200, size);
    TEST_ASSERT_EQUAL_MEMORY(old, bytes, 200);
    TEST_ASSERT_FALSE(io_shm_pull_emergency(&port, bytes, &size));
}

static void
test_an_emergency_message_that_changes_meanwhile_is_received_whole_at_the_next_poll(void)
{
    unsigned char bytes[IO_EMERGENCY_MAX], new[200];
    size_t size = 0;
    memset(new, 'n', sizeof new);
    turn_meanwhile = 4;
    hide_the_rest();
    TEST_ASSERT_FALSE(io_shm_pull_emergency(&port, bytes, &size));
    TEST_ASSERT_TRUE(io_shm_pull_emergency(&port, bytes, &size));
    TEST_ASSERT_EQUAL_MEMORY(new, bytes, 200);
    TEST_ASSERT_FALSE(io_shm_pull_emergency(&port, bytes, &size));
}

static void test_a_writer_that_began_meanwhile_is_waited_for(void)
{
    unsigned char bytes[IO_EMERGENCY_MAX];
    size_t size = 0;
    turn_meanwhile = 3;
    hide_the_rest();
    TEST_ASSERT_FALSE(io_shm_pull_emergency(&port, bytes, &size));
    TEST_ASSERT_FALSE(io_shm_pull_emergency(&port, bytes, &size));
    atomic_store(&ring->emergency_sequence, 4);
    TEST_ASSERT_TRUE(io_shm_pull_emergency(&port, bytes, &size));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_an_emergency_message_that_stays_is_received_once);
    RUN_TEST(test_an_emergency_message_that_changes_meanwhile_is_received_whole_at_the_next_poll);
    RUN_TEST(test_a_writer_that_began_meanwhile_is_waited_for);
    return UNITY_END();
}
