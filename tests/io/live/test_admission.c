/*
 * Admission: which connection is closed when there are too many.
 */
#include "io/live/admission.h"

#include <string.h>

#include "unity.h"

enum { HOME = 0x7f000001, NEAR = 0x0a000001, FAR = 0x0a000002 };

static struct io_admission door;
static char people[2 * IO_ADMISSION_MAX];
static bool said[2 * IO_ADMISSION_MAX];

void setUp(void)
{
    memset(&door, 0, sizeof door);
    memset(said, 0, sizeof said);
}

void tearDown(void)
{
}

static bool has_said(void *connection)
{
    return said[(char *)connection - people];
}

/* The number of the connection that is closed for this one; -1: none. */
static int come(int number, uint32_t address)
{
    char *victim = io_admission_add(&door, &people[number], address, has_said);
    if (victim)
        io_admission_remove(&door, victim);
    return victim ? (int)(victim - people) : -1;
}

static void crowd_in(int first, int count, uint32_t address)
{
    for (int i = 0; i < count; i++)
        TEST_ASSERT_EQUAL_INT(-1, come(first + i, address));
}

static void test_the_oldest_idle_connection_is_closed_for_the_newest(void)
{
    crowd_in(0, IO_ADMISSION_WAITING_MAX, HOME);
    TEST_ASSERT_EQUAL_INT(0, come(300, HOME));
    TEST_ASSERT_EQUAL_INT(1, come(301, HOME));
    TEST_ASSERT_EQUAL_UINT64(2, door.dismissed);
}

static void test_a_connection_with_unread_bytes_stays(void)
{
    crowd_in(0, IO_ADMISSION_WAITING_MAX, HOME);
    said[0] = said[1] = true;
    TEST_ASSERT_EQUAL_INT(2, come(300, HOME));
    TEST_ASSERT_TRUE(io_admission_note_request(&door, &people[3], false)); /* it has got its page */
    TEST_ASSERT_EQUAL_INT(4, come(301, HOME));
    memset(said, true, sizeof said);
    TEST_ASSERT_EQUAL_INT(3, come(302, HOME)); /* before those that still wait for a reply */
    TEST_ASSERT_EQUAL_INT(0, come(303, HOME));
}

static void test_a_connection_with_a_token_or_a_session_stays_whatever_comes(void)
{
    crowd_in(0, 20, HOME);
    for (int i = 0; i < 10; i++) {
        TEST_ASSERT_TRUE(io_admission_note_request(&door, &people[i], true));
        io_admission_note_session(&door, &people[10 + i], false);
    }
    for (int i = 20; i < 2 * IO_ADMISSION_MAX; i++)
        TEST_ASSERT_TRUE(come(i, HOME) == -1 || i > IO_ADMISSION_WAITING_MAX);
    for (int i = 0; i < 20; i++)
        TEST_ASSERT_TRUE(door.entry[i].connection == &people[i]);
}

static void test_a_connection_of_the_address_with_the_most_is_closed(void)
{
    crowd_in(0, 10, NEAR);
    crowd_in(20, 5, FAR);
    for (int i = 0; i < IO_ADMISSION_WAITING_MAX - 15; i++)
        TEST_ASSERT_EQUAL_INT(-1, come(100 + i, HOME));
    TEST_ASSERT_EQUAL_INT(100, come(300, FAR));
    TEST_ASSERT_EQUAL_INT(101, come(301, NEAR));
}

static void test_an_address_has_so_many_and_loopback_has_no_address(void)
{
    crowd_in(0, IO_ADMISSION_ADDRESS_MAX, NEAR);
    TEST_ASSERT_EQUAL_INT(0, come(100, NEAR));
    TEST_ASSERT_EQUAL_INT(-1, come(101, FAR));
    setUp();
    crowd_in(0, IO_ADMISSION_ADDRESS_MAX + 1, HOME);
}

static void test_an_address_has_a_limit_of_sessions_except_for_operators(void)
{
    for (int i = 0; i < IO_ADMISSION_SESSIONS_MAX; i++) {
        TEST_ASSERT_EQUAL_INT(-1, come(i, NEAR));
        TEST_ASSERT_TRUE(io_admission_allows_session(&door, &people[i], false));
        io_admission_note_session(&door, &people[i], false);
    }
    crowd_in(100, 1, NEAR);
    TEST_ASSERT_FALSE(io_admission_allows_session(&door, &people[100], false));
    TEST_ASSERT_TRUE(io_admission_allows_session(&door, &people[100], true));
    io_admission_note_session(&door, &people[100], true);
    crowd_in(101, 1, FAR);
    TEST_ASSERT_TRUE(io_admission_allows_session(&door, &people[101], false));
    io_admission_remove(&door, &people[5]);
    crowd_in(102, 1, NEAR);
    TEST_ASSERT_TRUE(io_admission_allows_session(&door, &people[102], false));
    for (int i = 0; i < 60; i++) {
        crowd_in(200 + i, 1, HOME);
        TEST_ASSERT_TRUE(io_admission_allows_session(&door, &people[200 + i], false));
        io_admission_note_session(&door, &people[200 + i], false);
    }
}

static void test_a_connection_without_a_request_is_closed_in_time(void)
{
    void *overdue[IO_ADMISSION_MAX];
    crowd_in(0, 3, HOME);
    TEST_ASSERT_TRUE(io_admission_note_request(&door, &people[1], false));
    TEST_ASSERT_EQUAL_INT(0, io_admission_tick(&door, IO_ADMISSION_REQUEST_LIMIT_NS, overdue));
    crowd_in(3, 1, HOME);
    TEST_ASSERT_EQUAL_INT(2, io_admission_tick(&door, 1, overdue));
    TEST_ASSERT_TRUE(overdue[0] == &people[0] && overdue[1] == &people[2]);
    TEST_ASSERT_FALSE(io_admission_note_request(&door, &people[0], false)); /* too late */
    io_admission_remove(&door, &people[0]);
    TEST_ASSERT_EQUAL_INT(1, io_admission_tick(&door, 1, overdue)); /* the other is still open */
    TEST_ASSERT_TRUE(
        io_admission_note_request(&door, &people[2], true)); /* and gives a token after all */
    TEST_ASSERT_EQUAL_INT(0, io_admission_tick(&door, 1, overdue));
    TEST_ASSERT_EQUAL_UINT64(2, door.dismissed);
}

static void test_where_there_is_no_place_at_all_the_newest_goes(void)
{
    for (int i = 0; i < IO_ADMISSION_MAX; i++) {
        TEST_ASSERT_EQUAL_INT(-1, come(i, HOME));
        io_admission_note_session(&door, &people[i], false);
    }
    TEST_ASSERT_EQUAL_INT(300, come(300, HOME));
    TEST_ASSERT_TRUE(
        io_admission_note_request(&door, &people[300], false)); /* unknown connection */
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_the_oldest_idle_connection_is_closed_for_the_newest);
    RUN_TEST(test_a_connection_with_unread_bytes_stays);
    RUN_TEST(test_a_connection_with_a_token_or_a_session_stays_whatever_comes);
    RUN_TEST(test_a_connection_of_the_address_with_the_most_is_closed);
    RUN_TEST(test_an_address_has_so_many_and_loopback_has_no_address);
    RUN_TEST(test_an_address_has_a_limit_of_sessions_except_for_operators);
    RUN_TEST(test_a_connection_without_a_request_is_closed_in_time);
    RUN_TEST(test_where_there_is_no_place_at_all_the_newest_goes);
    return UNITY_END();
}
