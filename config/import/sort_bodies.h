/*
 * Parents before children.
 */
#pragma once

/* order: the indices of all, each behind its parent (-1: it has none) and as they stand otherwise.
 * The index of one that hangs in a circle, with order of no use; -1: none does.
 * Context: setup. */
int cfg_sort_parents_first(const int *parent, int count, int *order);
