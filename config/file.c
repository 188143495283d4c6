#include "config/file.h"

#include <errno.h>
#include <fcntl.h>
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

static int unreadable(const char *path, const char *what, int code, char error[CFG_ERROR_MAX])
{
    struct cfg_report report = {.path = path, .line = error};
    const struct cfg_mark nowhere = {0, 0};
    if (code == ENOENT)
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
