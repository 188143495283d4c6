/*
 * Coefficients of the World Magnetic Model, as its WMM.COF file has them:
 *
 *          2025.0            WMM-2025     11/13/2024
 *        1  0  -29351.8       0.0       12.0        0.0
 *        1  1   -1410.8    4545.4        9.7      -21.5
 *      999999999999999999999999999999999999999999999999
 *
 * Epoch, name and date of issue; then a term to a line: degree, order, g, h and what they change by
 * in a year, nT; nines end it.  Terms come in any order, all of them up to some degree.
 */
#pragma once

#include <stdbool.h>

#include "config/yaml/complaint.h"
#include "dynamics/world/magnetic_field.h"

enum {
    CFG_WMM_TEXT_MAX = 1 << 20, /* bytes of a file */
    CFG_WMM_NAME_MAX = 31,
    CFG_WMM_YEARS = 5, /* that a model is good for */
};

struct cfg_wmm {
    char name[CFG_WMM_NAME_MAX + 1];
    struct dyn_magnetic_model model;
};

/* path stands for the text in messages.  false with one line in error.  Context: setup. */
bool cfg_wmm_parse(const char *path, const char *text, size_t size, struct cfg_wmm *wmm,
                   char error[CFG_ERROR_MAX]);

/* Is the model meant for this year, as 2025.5?  Context: setup. */
bool cfg_wmm_covers(const struct cfg_wmm *wmm, double year);
