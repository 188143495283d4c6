/*
 * Memory of a file that others can cut off.
 *
 * Who touches a page of a mapped file that was truncated meanwhile takes a SIGBUS, in whatever
 * thread.  Of guarded memory that is no crash: the handler puts zeroed memory of our own in the
 * place of the whole mapping, says so by a flag, and the access is made again.  Nothing is waited
 * for and nothing is paid before it happens; the owner looks at the flag and tells of a loss.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { RT_GUARDED_MAPPING_MAX = 16 };

/* Guard a mapping; gone becomes true when it was taken away.  False: there are too many, and it is
 * not guarded.  Context: setup. */
bool rt_guarded_mapping_add(void *mem, size_t size, atomic_bool *is_lost);
/* No more, which must come before the mapping goes.  Context: setup. */
void rt_guarded_mapping_remove(const void *mem);

/* What is done about a SIGBUS in memory that nobody guards, instead of what was done before.
 * Context: setup. */
void rt_guarded_mapping_set_fallback(void (*die)(int number));
