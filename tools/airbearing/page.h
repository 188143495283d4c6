/*
 * The page that a run serves: the cockpit, or where it could not be built a line that says so.
 */
#pragma once

#include "io/telemetry/server.h"

enum { PAGE_MAX = 4 };

/* How many there are.  Context: any. */
int page_cockpit(struct io_page pages[PAGE_MAX]);
