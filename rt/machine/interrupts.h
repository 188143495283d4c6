/*
 * Device interrupts, and which of them a core gets.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rt/machine/sysroot.h"

enum { RT_IRQ_MAX = 128, RT_IRQ_NAME_SIZE = 48 };

struct rt_irq {
    int number;
    char name[RT_IRQ_NAME_SIZE];
    bool managed;   /* the kernel places it, and refuses to move it */
    uint64_t count; /* how often this core had it since boot */
};

struct rt_interrupts {
    bool known; /* /proc/irq could be read */
    int total;  /* on this core, more than count when there was no room */
    int count;
    struct rt_irq irq[RT_IRQ_MAX]; /* those that are delivered to this core */
    int managed_count;             /* of those */
};

/* The interrupts that are delivered to a core.  Context: setup. */
void rt_interrupts_read(const char *root, int cpu, struct rt_interrupts *interrupts);

/* Whether a driver's interrupts are managed, as known from their name.  Context: any. */
bool rt_irq_is_managed(const char *name);
