#pragma once

#include "dynamics/batch_kernel.h"

extern const struct dyn_batch_kernel batch_eight;
