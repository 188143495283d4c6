#include "tools/airbearing/bench/child_process.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Both streams of the new process into the pipe. */
static int start(char *const argv[], const int pipe_ends[2], pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
    posix_spawn_file_actions_addclose(&actions, pipe_ends[1]);
    const int failure = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

/* Read to the end, even beyond the buffer: a full pipe would block the writer. */
static void drain(int fd, char *output, size_t size)
{
    char spill[4096];
    size_t at = 0;
    for (;;) {
        const int fits = at + 1 < size;
        const ssize_t got =
            read(fd, fits ? output + at : spill, fits ? size - 1 - at : sizeof spill);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        at += fits ? (size_t)got : 0;
    }
    output[at] = '\0';
}

int child_run(char *const argv[], char *output, size_t size)
{
    int pipe_ends[2], status = -1;
    pid_t pid;
    output[0] = '\0';
    if (pipe(pipe_ends) != 0)
        return -1;
    const int failure = start(argv, pipe_ends, &pid);
    close(pipe_ends[1]);
    if (failure == 0) {
        drain(pipe_ends[0], output, size);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    close(pipe_ends[0]);
    return failure == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int child_self(char *path, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
    return length > 0 && (size_t)length < size - 1 ? 0 : -1;
}

int child_beside(const char *name, char *path, size_t size)
{
    if (child_self(path, size) != 0)
        return -1;
    char *end = strrchr(path, '/') + 1;
    const size_t room = size - (size_t)(end - path);
    return (size_t)snprintf(end, room, "%s", name) < room && access(path, X_OK) == 0 ? 0 : -1;
}
