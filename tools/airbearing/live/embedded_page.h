/*
 * The page that a run serves: the cockpit, or where it could not be built a line that says so.
 */
#pragma once

#include "config/scenario.h"
#include "io/live/server.h"

enum { PAGE_MAX = 4 };

/* How many there are.  Context: any. */
int embedded_page_cockpit(struct io_page pages[PAGE_MAX]);

/* The robot of the scenario, for viewers that draw it themselves: /model.urdf.  Context: any. */
struct io_page embedded_page_urdf(const struct cfg_file *urdf);
