/*
 * The batch kernel with eight lanes on any processor: what AVX-512 runs, but for the instructions.
 */
#define DYN_WIDE         8
#define DYN_BATCH_KERNEL batch_eight
#include "tests/dynamics/kernel/batch/batch_eight.h"

#include "dynamics/kernel/batch/batch_wide.h"

#include "dynamics/kernel/batch/batch_rigid.h"
