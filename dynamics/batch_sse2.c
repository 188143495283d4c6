#define DYN_WIDE         2
#define DYN_BATCH_KERNEL dyn_batch_sse2
#include "dynamics/batch_wide.h"

#include "dynamics/batch_lanes.h"
