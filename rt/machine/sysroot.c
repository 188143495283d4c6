#include "rt/machine/sysroot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

FILE *rt_sysroot_open(const char *root, const char *path)
{
    char name[RT_PATH_SIZE];
    if (snprintf(name, sizeof name, "%s%s", root, path) >= (int)sizeof name)
        return NULL;
    return fopen(name, "re");
}

bool rt_sysroot_next_line(FILE *file, char line[RT_LINE_SIZE])
{
    if (!fgets(line, RT_LINE_SIZE, file))
        return false;
    line[strcspn(line, "\n")] = '\0';
    return true;
}

/* The first line of a file, such as most of /sys has. */
bool rt_sysroot_first_line(const char *root, const char *path, char line[RT_LINE_SIZE])
{
    FILE *file = rt_sysroot_open(root, path);
    if (!file)
        return false;
    const bool found = rt_sysroot_next_line(file, line);
    fclose(file);
    return found;
}

bool rt_sysroot_field(const char *root, const char *path, const char *key, char value[RT_LINE_SIZE])
{
    char line[RT_LINE_SIZE];
    bool found = false;
    FILE *file = rt_sysroot_open(root, path);
    if (!file)
        return false;
    while (!found && rt_sysroot_next_line(file, line))
        found = strncmp(line, key, strlen(key)) == 0;
    fclose(file);
    if (found)
        memcpy(value, line + strlen(key), strlen(line + strlen(key)) + 1);
    return found;
}

bool rt_sysroot_long(const char *root, const char *path, long *value)
{
    char line[RT_LINE_SIZE], *end;
    if (!rt_sysroot_first_line(root, path, line))
        return false;
    const long number = strtol(line, &end, 10);
    if (end == line)
        return false;
    *value = number;
    return true;
}

bool rt_has_word(const char *list, const char *word, const char *parts)
{
    const size_t size = strlen(word);
    for (const char *at = list; *at; at += strcspn(at, parts)) {
        at += strspn(at, parts);
        if (strcspn(at, parts) == size && strncmp(at, word, size) == 0)
            return size > 0;
    }
    return false;
}

void rt_parse_list(const char *list, bool set[RT_LIST_MAX])
{
    while (*list) {
        char *end;
        const long first = strtol(list, &end, 10);
        if (end == list)
            return;
        long last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long cpu = first; cpu >= 0 && cpu <= last && cpu < RT_LIST_MAX; cpu++)
            set[cpu] = true;
        list = end + strspn(end, ", \t");
    }
}

void rt_print_list(const bool set[RT_LIST_MAX], char *list, int size)
{
    int used = 0;
    list[0] = '\0';
    for (int first = 0; first < RT_LIST_MAX; first++) {
        if (!set[first])
            continue;
        int last = first;
        while (last + 1 < RT_LIST_MAX && set[last + 1])
            last++;
        char part[32];
        const int length = snprintf(part, sizeof part, last > first ? "%s%d-%d" : "%s%d",
                                    used > 0 ? "," : "", first, last);
        if (used + length >= size)
            return;
        memcpy(list + used, part, (size_t)length + 1);
        used += length;
        first = last;
    }
}

/* One write, because the kernel takes one write as one setting; with an end of line, because an
 * empty write would do nothing. */
int rt_sysroot_write(const char *root, const char *path, const char *text)
{
    char name[RT_PATH_SIZE], line[RT_PATH_SIZE];
    const int size = snprintf(line, sizeof line, "%s\n", text);
    if (snprintf(name, sizeof name, "%s%s", root, path) >= (int)sizeof name ||
        size >= (int)sizeof line)
        return -ENAMETOOLONG;
    const int fd = open(name, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    const ssize_t wrote = write(fd, line, (size_t)size);
    const int error = wrote < 0 ? errno : wrote < size ? EIO : 0;
    close(fd);
    return -error;
}
