/*
 * Waits for a bus in tests: bounded, and long enough for a machine that stalls for tens of
 * milliseconds at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "io/bus/bus.h"
#include "rt/clock.h"
#include "unity.h"

enum { WAIT_TRIES = 5000 };

static inline void wait_moment(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    (void)nanosleep(&moment, NULL);
}

static inline void open_bus(struct io_bus *bus, const struct io_bus_spec *spec)
{
    char error[IO_BUS_ERROR_MAX];
    const int status = io_bus_open(bus, spec, error);
    TEST_ASSERT_EQUAL_MESSAGE(0, status, error);
    TEST_ASSERT_EQUAL_STRING("", error);
}

/* The open must fail with this status and a line that begins with `line` and contains `remedy`. */
static inline void refuse_bus(const struct io_bus_spec *spec, int status, const char *line,
                              const char *remedy)
{
    struct io_bus bus;
    char error[IO_BUS_ERROR_MAX];
    TEST_ASSERT_EQUAL_MESSAGE(status, io_bus_open(&bus, spec, error), error);
    TEST_ASSERT_EQUAL_STRING_LEN_MESSAGE(line, error, strlen(line), error);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error, remedy), error);
    TEST_ASSERT_NULL_MESSAGE(strchr(error, '\n'), error);
    io_bus_close(&bus);
}

static inline void wait_connected(struct io_bus *bus, bool connected)
{
    struct io_packet packet;
    for (int i = 0; i < WAIT_TRIES && io_bus_connected(bus) != connected; i++) {
        io_bus_tick(bus, rt_now_ns());
        if (!connected)
            (void)io_bus_receive(bus, &packet);
        wait_moment();
    }
    TEST_ASSERT_EQUAL(connected, io_bus_connected(bus));
}

static inline void wait_packet(struct io_bus *bus, struct io_packet *packet)
{
    int status = 0;
    for (int i = 0; i < WAIT_TRIES && (status = io_bus_receive(bus, packet)) == 0; i++)
        wait_moment();
    TEST_ASSERT_EQUAL(1, status);
}

/* Receive so many bytes of a stream, in any number of pieces. */
static inline void wait_bytes(struct io_bus *bus, unsigned char *bytes, size_t size)
{
    struct io_packet packet;
    for (size_t done = 0; done < size; done += packet.size) {
        wait_packet(bus, &packet);
        TEST_ASSERT_LESS_OR_EQUAL_size_t(size - done, packet.size);
        memcpy(bytes + done, packet.bytes, packet.size);
    }
}

static inline struct io_bus_counters counters_of(const struct io_bus *bus)
{
    struct io_bus_counters counters;
    io_bus_counters(bus, &counters);
    return counters;
}
