/*
 * The cgroup this process lives in, in either version of the hierarchy.
 */
#pragma once

#include <stdbool.h>

#include "rt/machine/sysroot.h"

enum { RT_CGROUP_SIZE = 256 };

/* Its directory is mount + path. */
struct rt_cgroup {
    char mount[RT_CGROUP_SIZE];
    char path[RT_CGROUP_SIZE]; /* "" for the root */
};

/* The cgroup of a v1 controller, or for "" that of v2; false where there is none.  Context:
 * setup. */
bool rt_cgroup_find(const char *root, const char *controller, struct rt_cgroup *cgroup);

/* The first line of one of its files.  Context: setup. */
bool rt_cgroup_read_line(const char *root, const struct rt_cgroup *cgroup, const char *name,
                         char line[RT_LINE_SIZE]);

/* To the parent; false at the root.  Context: setup. */
bool rt_cgroup_to_parent(struct rt_cgroup *cgroup);
