/*
 * The files of the page that a run serves.
 */
#pragma once

#include "io/telemetry/server.h"

extern const struct io_page pages[];
extern const int page_count;
