/*
 * Name index: sorted names for binary search.
 */
#pragma once

struct cfg_name {
    const char *text;
    int index; /* in the list */
};

/* Sort by text.  Returns the index of the first entry with the name of an earlier one, whose index
 * becomes *twin; -1: all differ.  Context: setup. */
int cfg_name_index_sort(struct cfg_name *names, int count, int *twin);

/* The index of a text among sorted names; -1: none.  Context: setup. */
int cfg_name_index_find(const struct cfg_name *names, int count, const char *text);
