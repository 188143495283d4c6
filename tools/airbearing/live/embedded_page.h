/*
 * The page that a run serves: the cockpit, or a line that it was not built.
 */
#pragma once

#include "config/scenario.h"
#include "io/live/server.h"

enum { PAGE_MAX = 4 };

/* The number of files.  Context: any. */
int embedded_page_cockpit(struct io_page pages[PAGE_MAX]);

/* The robot of the scenario, for viewers that draw it themselves: /model.urdf.  Context: any. */
struct io_page embedded_page_urdf(const struct cfg_file *urdf);
