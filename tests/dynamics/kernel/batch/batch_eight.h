#pragma once

#include "dynamics/kernel/batch/batch_isa.h"

extern const struct dyn_batch_kernel batch_eight;
