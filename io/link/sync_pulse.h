/*
 * The sync pulse: a datagram sent at the start of every n-th frame, so that an external clock can
 * time-stamp the frame grid.
 *
 *      frame k starts -- pulse{sequence, frame, sim time, send time} --> kernel --> stopwatch
 *
 * On the wire it has 40 bytes, little-endian:
 *
 *      "ABGP"  sequence u32  frame u64  sim_ns u64  sent_ns u64  last u32  CRC-32 of all before
 *
 * sent_ns is CLOCK_MONOTONIC of the sender, read just before the pulse is handed to the kernel; it
 * also distinguishes the pulses of one run from those of another.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/bus/bus.h"

enum { IO_SYNC_PULSE_SIZE = 40 };

struct io_sync_pulse_message {
    uint64_t frame, sim_ns, sent_ns;
    uint32_t sequence; /* 0, 1, 2 ...; a gap means that a pulse was lost */
    uint32_t last;     /* 1: the run is over, and no frame started */
};

/* Context: any. */
void io_sync_pulse_encode(const struct io_sync_pulse_message *pulse,
                          unsigned char bytes[IO_SYNC_PULSE_SIZE]);
/* False when these bytes are not a pulse.  Context: any. */
bool io_sync_pulse_decode(const void *bytes, size_t size, struct io_sync_pulse_message *pulse);

/* A decoder for a byte stream, which may begin and end anywhere. */
struct io_sync_pulse_stream {
    size_t size;
    unsigned char bytes[IO_SYNC_PULSE_SIZE];
    uint64_t skipped; /* bytes that belonged to no pulse */
};
/* True when this byte was the last one of a pulse.  A zeroed stream is at its start.
 * Context: any. */
bool io_sync_pulse_feed(struct io_sync_pulse_stream *stream, unsigned char byte,
                        struct io_sync_pulse_message *pulse);

/* The sender of sync pulses. */
struct io_sync_pulse {
    struct io_bus bus;
    uint32_t every; /* frames */
    uint32_t sequence;
    uint64_t next_tick_ns;
    uint64_t sent, dropped; /* dropped: the kernel did not accept it */
};

/* Send a pulse every `every` frames, by UDP with a peer or by a serial line.  0, or -errno with one
 * line in error.  Context: setup. */
int io_sync_pulse_open(struct io_sync_pulse *sender, const struct io_bus_spec *spec, uint32_t every,
                       char error[IO_BUS_ERROR_MAX]);
/* Call at the start of a frame: sends a pulse when one is due.  Context: frame. */
void io_sync_pulse_emit(struct io_sync_pulse *sender, uint64_t frame, uint64_t sim_ns);
/* Send the last pulses and close.  May be called any number of times.  Context: after the run. */
void io_sync_pulse_close(struct io_sync_pulse *sender);
