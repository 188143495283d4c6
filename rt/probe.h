/*
 * USDT probes of the frame loop, provider `airbearing`, for bpftrace, perf and SystemTap.  Each is
 * one nop until a tracer attaches; without <sys/sdt.h> at build time there are none.
 *
 *      release   a frame woke up            frame, release_ns
 *      latch     it takes its inputs        frame, start_ns
 *      step      its jobs have run          frame, when the first began
 *      commit    a sample has left          frame of the sample, when (0 without a recorder)
 *      overrun   a frame ended late         frame, end_ns
 *
 * Stamps are CLOCK_MONOTONIC in nanoseconds.
 */
#pragma once

#include <stdint.h>

#ifdef RT_HAS_PROBES
#include <sys/sdt.h>
#define RT_PROBE(name, frame, stamp_ns)                                                            \
    DTRACE_PROBE2(airbearing, name, (uint64_t)(frame), (uint64_t)(stamp_ns))
#else
#define RT_PROBE(name, frame, stamp_ns) ((void)(frame), (void)(stamp_ns))
#endif
