/*
 * Mappings of files that other processes can truncate.
 *
 * A thread that touches a page of a mapped file that has been truncated gets a SIGBUS.  In guarded
 * memory this does not end the process: the handler replaces the whole mapping with zeroed memory,
 * sets a flag, and the access is repeated.  There is no cost before that; the owner of the mapping
 * reads the flag and reports the loss.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { RT_GUARDED_MAPPING_MAX = 16 };

/* Guard a mapping; *gone becomes true when the file was truncated.  False: there are too many, and
 * it is not guarded.  Context: setup. */
bool rt_guarded_mapping_add(void *mem, size_t size, atomic_bool *is_lost);
/* Stop guarding a mapping; call it before munmap.  Context: setup. */
void rt_guarded_mapping_remove(const void *mem);

/* Set the handler of a SIGBUS outside guarded memory.  Context: setup. */
void rt_guarded_mapping_set_fallback(void (*die)(int number));
