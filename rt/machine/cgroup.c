#include "rt/machine/cgroup.h"

#include <stdio.h>
#include <string.h>

/* The path of this process in the hierarchy of a v1 controller, or for "" in that of v2.  A line is
 * id:controllers:path. */
static bool read_cgroup_path(const char *root, const char *controller, char path[RT_CGROUP_SIZE])
{
    char line[RT_LINE_SIZE];
    bool found = false;
    FILE *file = rt_sysroot_open(root, "/proc/self/cgroup");
    if (!file)
        return false;
    while (!found && rt_sysroot_next_line(file, line)) {
        char *controllers = strchr(line, ':');
        char *at = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!at)
            continue;
        *at++ = '\0';
        controllers++;
        found = *controller ? rt_has_word(controllers, controller, ",") : *controllers == '\0';
        if (found)
            snprintf(path, RT_CGROUP_SIZE, "%.*s", RT_CGROUP_SIZE - 1, at);
    }
    fclose(file);
    return found;
}

/* Where that hierarchy is mounted, and which of its directories is.  A line of mountinfo is
 * id parent device directory mount options... - type source super-options. */
static bool read_cgroup_mount(const char *root, const char *controller, char mount[RT_CGROUP_SIZE],
                              char directory[RT_CGROUP_SIZE])
{
    char line[RT_LINE_SIZE], type[32], options[RT_CGROUP_SIZE];
    bool found = false;
    FILE *file = rt_sysroot_open(root, "/proc/self/mountinfo");
    if (!file)
        return false;
    while (!found && rt_sysroot_next_line(file, line)) {
        const char *tail = strstr(line, " - ");
        if (!tail || sscanf(tail, " - %31s %*s %255s", type, options) != 2 ||
            sscanf(line, "%*s %*s %*s %255s %255s", directory, mount) != 2)
            continue;
        found = *controller ? !strcmp(type, "cgroup") && rt_has_word(options, controller, ",")
                            : !strcmp(type, "cgroup2");
    }
    fclose(file);
    return found;
}

bool rt_cgroup_find(const char *root, const char *controller, struct rt_cgroup *cgroup)
{
    char directory[RT_CGROUP_SIZE];
    if (!read_cgroup_path(root, controller, cgroup->path) ||
        !read_cgroup_mount(root, controller, cgroup->mount, directory))
        return false;
    /* In a container only the container's part of the hierarchy may be mounted. */
    const size_t hidden = strcmp(directory, "/") == 0 ? 0 : strlen(directory);
    if (hidden > 0 && strncmp(cgroup->path, directory, hidden) == 0)
        memmove(cgroup->path, cgroup->path + hidden, strlen(cgroup->path + hidden) + 1);
    if (strcmp(cgroup->path, "/") == 0)
        cgroup->path[0] = '\0';
    return true;
}

bool rt_cgroup_read_line(const char *root, const struct rt_cgroup *cgroup, const char *name,
                         char line[RT_LINE_SIZE])
{
    char path[RT_PATH_SIZE];
    snprintf(path, sizeof path, "%s%s/%s", cgroup->mount, cgroup->path, name);
    return rt_sysroot_first_line(root, path, line);
}

bool rt_cgroup_to_parent(struct rt_cgroup *cgroup)
{
    char *slash = strrchr(cgroup->path, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}
