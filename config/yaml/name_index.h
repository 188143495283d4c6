/*
 * Name index: sorted names for binary search.
 */
#pragma once

struct cfg_name {
    const char *text;
    int index; /* in the list */
};

/* Sort by text.  The index of the first entry whose name an earlier one has, which is put in *twin;
 * -1: all differ.  Context: setup. */
int cfg_name_index_sort(struct cfg_name *names, int count, int *twin);

/* The index that goes with a text among sorted names; -1: none.  Context: setup. */
int cfg_name_index_find(const struct cfg_name *names, int count, const char *text);
