/*
 * Sorts bodies so that parents come before children.
 */
#pragma once

/* order becomes the indices of all bodies, each after its parent (-1: it has none), otherwise in
 * file order. Returns the index of a body in a circle, and order is not valid; -1: there is none.
 * Context: setup. */
int cfg_sort_parents_first(const int *parent, int count, int *order);
