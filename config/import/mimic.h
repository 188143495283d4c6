/*
 * Joints that follow others: q = ratio q(leader) + offset.
 */
#pragma once

struct cfg_mimic {
    int leader; /* index of the leader; -1: the joint follows none */
    double ratio, offset;
};

/* Make a joint that mimics a mimic follow the last leader directly. Returns the index of a joint
 * that follows itself in a circle; -1: none.  Context: setup. */
int cfg_mimic_resolve(struct cfg_mimic *mimics, int count);
