/*
 * Keeps the cores out of deep idle states (/dev/cpu_dma_latency).
 */
#pragma once

/* Ask the kernel to keep every core out of idle states that take time to leave, for as long as the
 * returned descriptor is open.  -errno where that is refused; the run is then only less punctual.
 * Context: setup. */
int rt_cpu_latency_hold(void);
