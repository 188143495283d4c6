#include "config/yaml/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rt/check.h"

enum { FIRST_ROOM = 1 << 16 };

/* Up to limit bytes and a NUL; NULL with errno. */
static char *read_all(int fd, size_t limit, size_t *size)
{
    size_t room = FIRST_ROOM;
    char *text = malloc(room + 1);
    ssize_t got = 1;
    RT_CHECK(text != NULL);
    *size = 0;
    while (got > 0 && *size < limit) {
        if (*size == room) {
            room *= 2;
            text = realloc(text, room + 1);
            RT_CHECK(text != NULL);
        }
        const size_t want = (room < limit ? room : limit) - *size;
        got = read(fd, text + *size, want);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            *size += (size_t)got;
    }
    text[*size] = '\0';
    if (got >= 0)
        return text;
    free(text);
    return NULL;
}

/* Users often give a scenario without its folder, or with another extension: look for that name in
 * the folder of the path, and among the shipped scenarios. */
static bool find_alike(const char *path, char found[PATH_MAX])
{
    static const char *const places[] = {"", "scenarios/", "config/scenarios/"};
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    const int folder = (int)(name - path),
              stem = (int)(dot && dot > name ? dot - name : (int)strlen(name));
    for (size_t i = 0; stem > 0 && i < sizeof places / sizeof *places; i++) {
        const int size =
            snprintf(found, PATH_MAX, "%.*s%s%.*s.yaml", folder, path, places[i], stem, name);
        if (size < PATH_MAX && access(found, R_OK) == 0)
            return true;
    }
    return false;
}

static int unreadable(const char *path, const char *what, int code, char error[CFG_ERROR_MAX])
{
    struct cfg_complaint report = {.path = path, .line = error};
    const struct cfg_mark nowhere = {0, 0};
    char alike[PATH_MAX];
    if (code == ENOENT && strcmp(what, "scenario") == 0 && find_alike(path, alike))
        cfg_fail(&report, NULL, nowhere, "there is no such file; did you mean %s?", alike);
    else if (code == ENOENT)
        cfg_fail(&report, NULL, nowhere, "there is no such file; check the path");
    else if (code == EISDIR)
        cfg_fail(&report, NULL, nowhere, "this is a directory; name the %s file in it", what);
    else if (code == EACCES)
        cfg_fail(&report, NULL, nowhere, "no permission to read it; check its owner and mode");
    else
        cfg_fail(&report, NULL, nowhere, "cannot be read (%s); name a %s file", strerror(code),
                 what);
    return -code;
}

int cfg_file_read(const char *path, const char *what, size_t max, char **text, size_t *size,
                  char error[CFG_ERROR_MAX])
{
    error[0] = '\0';
    *text = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return unreadable(path, what, errno, error);
    *text = read_all(fd, max + 1, size);
    const int code = errno;
    close(fd);
    return *text == NULL ? unreadable(path, what, code, error) : 0;
}
