/*
 * A WMM.COF file read from disk; the program has its own inside.
 */
#pragma once

#include <errno.h>
#include <stdlib.h>

#include "config/import/wmm.h"
#include "config/yaml/text_file.h"

/* 0, or -EINVAL (-errno for an unreadable file) with one line in error. */
static inline int load_wmm(const char *path, struct cfg_wmm *wmm, char error[CFG_ERROR_MAX])
{
    char *text;
    size_t size;
    int status = cfg_file_read(path, "WMM.COF", CFG_WMM_TEXT_MAX, &text, &size, error);
    if (status == 0)
        status = cfg_wmm_parse(path, text, size, wmm, error) ? 0 : -EINVAL;
    free(text);
    return status;
}
