#include "tools/airbearing/controller.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The program beside this one, where there is one of that name. */
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

/* Runs in the child of a vfork: shares our memory until it execs, so it only calls the kernel. */
static int become(const struct controller *controller, const struct cfg_controller *spec,
                  char *const *argument)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
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
    controller->pid = pid;
    if (failure) {
        waitpid(pid, &controller->status, 0);
        controller->pid = 0;
    }
    return failure;
}

int controller_start(struct controller *controller, const struct cfg_scenario *scenario,
                     char error[CFG_ERROR_MAX])
{
    const struct cfg_controller *spec = &scenario->controller;
    *controller = (struct controller){.output = -1};
    if (spec->argument_count == 0)
        return 0;
    char *argument[CFG_ARGUMENT_MAX + 1] = {0};
    memcpy(argument, spec->argument, (size_t)spec->argument_count * sizeof *argument);
    find_beside(spec->argument[0], controller->program);
    controller->output = memfd_create("controller", MFD_CLOEXEC);
    const int failure = spawn(controller, spec, argument);
    if (failure == 0)
        return 0;
    snprintf(error, CFG_ERROR_MAX, "%s:%d:%d: controller.command: cannot start %s: %s; %s",
             scenario->path, spec->mark.line, spec->mark.column, controller->program,
             strerror(failure),
             failure == EPERM ? "policy: fifo needs privileges; run as root or write policy: other"
             : failure == EINVAL ? "is controller.cpu a core of this machine?"
                                 : "give a path, or put it beside airbearing or on PATH");
    return -failure;
}

bool controller_running(struct controller *controller)
{
    if (controller->pid == 0)
        return false;
    if (waitpid(controller->pid, &controller->status, WNOHANG) != controller->pid)
        return true;
    controller->pid = 0;
    controller->died_early = !controller->stopping;
    return false;
}

static bool ends_within(struct controller *controller, int tenths)
{
    const struct timespec tenth = {.tv_nsec = 100000000};
    for (int i = 0; i < tenths && controller_running(controller); i++)
        nanosleep(&tenth, NULL);
    return !controller_running(controller);
}

void controller_stop(struct controller *controller)
{
    controller->stopping = true;
    if (controller->pid == 0 || ends_within(controller, 10))
        return;
    kill(controller->pid, SIGTERM);
    if (ends_within(controller, 10))
        return;
    controller->killed = true;
    kill(controller->pid, SIGKILL);
    waitpid(controller->pid, &controller->status, 0);
    controller->pid = 0;
}

void controller_show(const struct controller *controller, const char *prefix)
{
    if (controller->output < 0)
        return;
    FILE *file = fdopen(dup(controller->output), "r");
    if (!file)
        return;
    rewind(file);
    char line[512];
    while (fgets(line, sizeof line, file))
        printf("%s%s", prefix, line);
    fclose(file);
}
