#include "tools/airbearing/run/board_process.h"
#include "config/scenario.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Prefer the program of that name in the folder of this one. */
static void find_beside(const char *name, char path[256])
{
    char self[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    snprintf(path, 256, "%s", name);
    if (length <= 0 || strchr(name, '/'))
        return;
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    char beside[PATH_MAX + 256];
    snprintf(beside, sizeof beside, "%s/%s", self, name);
    if (access(beside, X_OK) == 0 && strlen(beside) < 256)
        snprintf(path, 256, "%.255s", beside);
}

/* Runs in the child of a vfork, which shares our memory until it execs: it makes system calls
 * only. */
static int become(const struct controller *controller, const struct cfg_controller *spec,
                  char *const *argument)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)setpgid(0, 0); /* a script and what it starts end together */
    if (spec->cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)spec->cpu, &set);
        if (sched_setaffinity(0, sizeof set, &set) < 0)
            return errno;
    }
    const struct sched_param priority = {.sched_priority = spec->priority};
    if (spec->priority > 0 && sched_setscheduler(0, SCHED_FIFO, &priority) < 0)
        return errno;
    signal(SIGINT, SIG_IGN); /* the run ends it, not the terminal */
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    if (controller->output >= 0) {
        dup2(controller->output, STDOUT_FILENO);
        dup2(controller->output, STDERR_FILENO);
    }
    execvp(controller->program, argument);
    return errno;
}

/*
 * vfork, not fork: a fork would make every page of this process copy-on-write, and the frame and
 * I/O threads would then fault on each page they write.
 */
static int spawn(struct controller *controller, const struct cfg_controller *spec,
                 char *const *argument)
{
    volatile int failure = 0;
    const pid_t pid = vfork();
    if (pid == 0) {
        failure = become(controller, spec, argument);
        _exit(127);
    }
    if (pid < 0)
        return errno;
    controller->pid = controller->group = pid;
    if (failure) {
        waitpid(pid, &controller->status, 0);
        controller->pid = controller->group = 0;
    }
    return failure;
}

/* A file for the controller's output, of a fixed size, so that endless output does not fill the
 * memory: writes beyond it fail. */
static int open_output(void)
{
    enum { OUTPUT_MAX = 1 << 20 };
    const int fd = memfd_create("controller", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && (ftruncate(fd, OUTPUT_MAX) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

int controller_start(struct controller *controller, const struct cfg_scenario *scenario,
                     char error[CFG_ERROR_MAX])
{
    const struct cfg_controller *spec = &scenario->controller;
    const struct cfg_mark mark = cfg_scenario_mark(scenario, "controller", "");
    *controller = (struct controller){.output = -1};
    if (spec->argument_count == 0)
        return 0;
    char *argument[CFG_ARGUMENT_MAX + 1] = {0};
    memcpy(argument, spec->argument, (size_t)spec->argument_count * sizeof *argument);
    find_beside(spec->argument[0], controller->program);
    controller->output = open_output();
    /* Orphans of the controller, even in another session, become children of this process. */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    const int failure = spawn(controller, spec, argument);
    if (failure == 0)
        return 0;
    snprintf(error, CFG_ERROR_MAX, "%s:%d:%d: controller.command: cannot start %s: %s; %s",
             scenario->path, mark.line, mark.column, controller->program, strerror(failure),
             failure == EPERM ? "policy: fifo needs privileges; run as root or write policy: other"
             : failure == EINVAL ? "is controller.cpu a core of this machine?"
                                 : "give a path, or put it beside airbearing or on PATH");
    return -failure;
}

/* ---- its end --------------------------------------------------------------------------- */

/* The parent of a process; 0: the process has ended. */
static pid_t parent_of(pid_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (size <= 0)
        return 0;
    text[size] = '\0';
    const char *after = strrchr(text, ')'); /* the name may have any character */
    int parent = 0;
    return after != NULL && sscanf(after, ") %*c %d", &parent) == 1 ? (pid_t)parent : 0;
}

/* Kill every child of this process; returns their number.  The controller itself has been reaped,
 * so the children are processes that it has started. */
static int kill_children(void)
{
    int count = 0;
    DIR *processes = opendir("/proc");
    for (const struct dirent *entry; processes != NULL && (entry = readdir(processes)) != NULL;) {
        const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid <= 0 || parent_of(pid) != getpid())
            continue;
        count++;
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL,
                      WNOHANG); /* one that has not ended yet is found by the next poll */
    }
    if (processes != NULL)
        closedir(processes);
    return count;
}

/* End all processes that the controller has left behind, and their children. */
static void end_offspring(struct controller *controller)
{
    enum { LOOKS_MAX = 200 };
    const struct timespec pause = {.tv_nsec = 5000000};
    if (controller->group <= 0)
        return;
    (void)kill(-controller->group, SIGKILL);
    controller->group = 0;
    for (int i = 0; i < LOOKS_MAX && kill_children() > 0; i++)
        nanosleep(&pause, NULL);
}

bool controller_running(struct controller *controller)
{
    if (controller->pid == 0)
        return false;
    if (waitpid(controller->pid, &controller->status, WNOHANG) != controller->pid)
        return true;
    controller->pid = 0;
    controller->died_early = !controller->stopping;
    end_offspring(controller);
    return false;
}

void controller_end_text(const struct controller *controller, char text[CONTROLLER_TEXT_MAX])
{
    if (WIFSIGNALED(controller->status))
        snprintf(text, CONTROLLER_TEXT_MAX, "controller ended, SIG%s",
                 sigabbrev_np(WTERMSIG(controller->status)));
    else
        snprintf(text, CONTROLLER_TEXT_MAX, "controller ended, status %d",
                 WEXITSTATUS(controller->status));
}

/* Wait up to so many seconds for the end of the controller; true when it has ended. */
static bool ends_within(struct controller *controller, int seconds)
{
    enum { LOOKS_PER_SECOND = 200 };
    const struct timespec pause = {.tv_nsec = 1000000000 / LOOKS_PER_SECOND};
    for (int i = 0; i < seconds * LOOKS_PER_SECOND && controller_running(controller); i++)
        nanosleep(&pause, NULL);
    return !controller_running(controller);
}

static void stop_leader(struct controller *controller)
{
    if (controller->pid == 0 || ends_within(controller, 1))
        return;
    kill(-controller->group, SIGTERM);
    if (ends_within(controller, 1))
        return;
    controller->killed = true;
    kill(-controller->group, SIGKILL);
    waitpid(controller->pid, &controller->status, 0);
    controller->pid = 0;
}

void controller_stop(struct controller *controller)
{
    controller->stopping = true;
    stop_leader(controller);
    end_offspring(controller);
}

void controller_print_output(const struct controller *controller, const char *prefix)
{
    if (controller->output < 0)
        return;
    FILE *file = fdopen(dup(controller->output), "r");
    if (!file)
        return;
    rewind(file);
    char line[512];
    while (fgets(line, sizeof line, file) &&
           line[0] != '\0') /* zeros: the end of what was written */
        printf("%s%s", prefix, line);
    fclose(file);
}
