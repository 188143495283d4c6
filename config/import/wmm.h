/*
 * Coefficients of the World Magnetic Model from its WMM.COF file:
 *
 *          2025.0            WMM-2025     11/13/2024
 *        1  0  -29351.8       0.0       12.0        0.0
 *        1  1   -1410.8    4545.4        9.7      -21.5
 *      999999999999999999999999999999999999999999999999
 *
 * Epoch, name and date of issue; then one term per line: degree, order, g, h and their change per
 * year, nT; a line of nines is the end. The terms come in any order, all of them up to some degree.
 */
#pragma once

#include <stdbool.h>

#include "config/yaml/complaint.h"
#include "dynamics/world/magnetic_field.h"

enum {
    CFG_WMM_TEXT_MAX = 1 << 20, /* bytes of a file */
    CFG_WMM_NAME_MAX = 31,
    CFG_WMM_YEARS = 5, /* years that a model is valid for */
};

struct cfg_wmm {
    char name[CFG_WMM_NAME_MAX + 1];
    struct dyn_magnetic_model model;
};

/* Messages call the text `path`.  false with one line in error.  Context: setup. */
bool cfg_wmm_parse(const char *path, const char *text, size_t size, struct cfg_wmm *wmm,
                   char error[CFG_ERROR_MAX]);

/* True when the model is valid for this year, such as 2025.5.  Context: setup. */
bool cfg_wmm_covers(const struct cfg_wmm *wmm, double year);
