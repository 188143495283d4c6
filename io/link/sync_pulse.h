/*
 * A pulse on the frame grid: a word that leaves when a frame starts, so that somebody with a clock
 * of his own can say when that was.
 *
 *      frame k starts -- pulse{sequence, frame, sim time, when it left} --> kernel --> stopwatch
 *
 * On the wire it is 40 bytes, little-endian:
 *
 *      "ABGP"  sequence u32  frame u64  sim_ns u64  sent_ns u64  last u32  CRC-32 of all before
 *
 * sent_ns is CLOCK_MONOTONIC of the sender, taken right before the pulse was handed to the kernel:
 * it tells one run's pulses from another's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/bus/bus.h"

enum { IO_SYNC_PULSE_SIZE = 40 };

struct io_sync_pulse_message {
    uint64_t frame, sim_ns, sent_ns;
    uint32_t sequence; /* 0, 1, 2 ...: a gap means that one got lost */
    uint32_t last;     /* 1: the run is over, no frame started here */
};

/* Context: any. */
void io_sync_pulse_encode(const struct io_sync_pulse_message *pulse,
                          unsigned char bytes[IO_SYNC_PULSE_SIZE]);
/* False when these bytes are no pulse.  Context: any. */
bool io_sync_pulse_decode(const void *bytes, size_t size, struct io_sync_pulse_message *pulse);

/* Bytes of a line that may begin and break off anywhere. */
struct io_sync_pulse_stream {
    size_t size;
    unsigned char bytes[IO_SYNC_PULSE_SIZE];
    uint64_t skipped; /* bytes that belonged to no pulse */
};
/* True when this byte was the last one of a pulse.  Zeroed, a stream is at its start.
 * Context: any. */
bool io_sync_pulse_feed(struct io_sync_pulse_stream *stream, unsigned char byte,
                        struct io_sync_pulse_message *pulse);

/* Who sends them: a bus and a count. */
struct io_sync_pulse {
    struct io_bus bus;
    uint32_t every; /* frames */
    uint32_t sequence;
    uint64_t next_tick_ns;
    uint64_t sent, dropped; /* dropped: the kernel did not take it */
};

/* UDP with a peer, or a serial line; every so many frames.  0, or -errno with one line in error.
 * Context: setup. */
int io_sync_pulse_open(struct io_sync_pulse *sender, const struct io_bus_spec *spec, uint32_t every,
                       char error[IO_BUS_ERROR_MAX]);
/* At the start of this frame: a pulse leaves when it is due.  Context: frame. */
void io_sync_pulse_emit(struct io_sync_pulse *sender, uint64_t frame, uint64_t sim_ns);
/* Tell that there will be no more; close.  Any number of times.  Context: after the run. */
void io_sync_pulse_close(struct io_sync_pulse *sender);
