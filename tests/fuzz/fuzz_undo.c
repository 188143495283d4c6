/*
 * Any bytes as a line of an undo file, which root will act on.  What must hold of a line that is
 * understood:
 *   - its path leads nowhere but to settings of the kernel, and never upwards,
 *   - written again it is the same line.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "rt/check.h"
#include "tools/airbearing/doctor/change.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { LINE_MAX_SIZE = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char line[LINE_MAX_SIZE + 1], again[LINE_MAX_SIZE + 1];
    struct change change;
    if (size > LINE_MAX_SIZE)
        return 0;
    memcpy(line, bytes, size);
    line[size] = '\0';
    if (!change_parse(line, &change))
        return 0;
    const char *path = change.path;
    RT_CHECK(strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0);
    RT_CHECK(!strstr(path, "..") && !strchr(path, ' '));
    if (change.kind == CHANGE_FOLDER)
        RT_CHECK(strncmp(path, "/sys/fs/cgroup/", 15) == 0 && strstr(path, "/airbearing"));
    if (change.kind == CHANGE_FOLDER)
        snprintf(again, sizeof again, "folder %s", path);
    else
        snprintf(again, sizeof again, "write %s %s", path, change.before);
    RT_CHECK(strcmp(line, again) == 0);
    return 0;
}
