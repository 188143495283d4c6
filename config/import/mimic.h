/*
 * Joints that follow others: q = ratio q(leader) + offset.
 */
#pragma once

struct cfg_mimic {
    int leader; /* index; -1: its coordinate is its own */
    double ratio, offset;
};

/* A joint that mimics a mimic is made to mimic its leader directly.  The index of a joint that
 * follows itself in the end; -1: none.  Context: setup. */
int cfg_mimic_resolve(struct cfg_mimic *mimics, int count);
