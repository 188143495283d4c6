/*
 * Any text as a WMM.COF file.  What must hold:
 *   - bad input gives exactly one line that names the file, good input none,
 *   - what was accepted has an epoch, a degree and a field that is finite everywhere on the ground.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/import/wmm.h"
#include "config/scenario.h"
#include "rt/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_error(const char *error)
{
    RT_CHECK(strlen(error) < CFG_ERROR_MAX);
    RT_CHECK(strncmp(error, "f.cof:", 6) == 0);
    for (const char *c = error; *c != '\0'; c++)
        RT_CHECK((unsigned char)*c >= 0x20 && *c != 0x7f);
}

static void check_model(const struct cfg_wmm *wmm)
{
    struct dyn_magnetic_field field;
    RT_CHECK(wmm->model.degree >= 1 && wmm->model.degree <= DYN_MAGNETIC_FIELD_DEGREE_MAX);
    RT_CHECK(strlen(wmm->name) <= CFG_WMM_NAME_MAX);
    RT_CHECK(cfg_wmm_covers(wmm, wmm->model.epoch));
    dyn_magnetic_field_at_date(&wmm->model, wmm->model.epoch + CFG_WMM_YEARS, &field);
    for (int k = 0; k < 8; k++) {
        const struct dyn_vec3 r = {6.4e6 * cos(k), 6.4e6 * sin(k) * cos(3 * k),
                                   6.4e6 * sin(k) * sin(3 * k)};
        RT_CHECK(isfinite(dyn_norm(dyn_magnetic_field_at(&field, r))));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    /* exactly as long as the text, so that the sanitizer sees a read beyond it */
    char *text = malloc(size > 0 ? size : 1);
    struct cfg_wmm wmm;
    char error[CFG_ERROR_MAX];
    RT_CHECK(text != NULL);
    memcpy(text, bytes, size);
    const bool is_good = cfg_wmm_parse("f.cof", text, size, &wmm, error);
    RT_CHECK(is_good == (error[0] == '\0'));
    if (is_good)
        check_model(&wmm);
    else
        check_error(error);
    free(text);
    return 0;
}
