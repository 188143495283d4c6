/*
 * Counts heap calls of watched threads after the seal.  Every run reports the count; in test
 * builds (-Dtrap_allocations=true) the first one traps where it happens.
 *
 * alloc.c defines malloc and its relatives on top of glibc's own; sanitizer builds leave it out,
 * and rt_alloc_is_counted() then answers false.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* From here on heap calls of the calling thread are counted.  Context: frame thread, I/O thread. */
void rt_alloc_watch(void);
/* Stop counting heap calls of the calling thread.  Context: frame thread, I/O thread. */
void rt_alloc_unwatch(void);
/* Heap calls of watched threads so far.  Context: any. */
uint64_t rt_alloc_count(void);
bool rt_alloc_is_counted(void);
