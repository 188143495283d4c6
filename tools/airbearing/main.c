/*
 * airbearing: a hard real-time hardware-in-the-loop simulation executive.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/airbearing/command.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"run", command_run, "run a scenario in closed loop with its board"},
    {"check", command_check, "parse and compile a scenario; print tree, jobs, cores and memory"},
    {"timing", command_timing, "whether a recorded run kept time, and the causes of late frames"},
    {"stopwatch", command_stopwatch, "stamp a run's pulses with another clock, for timing --truth"},
    {"replay", command_replay, "run a log's recorded inputs again and compare every frame"},
    {"log", command_log, "show, repair and export a log"},
    {"eval", command_eval, "accelerations or forces of a model at given states"},
    {"linearize", command_linearize, "A, B, C, D of a model about a point"},
    {"modes", command_modes, "natural frequencies and damping of a model about a point"},
    {"doctor", command_doctor,
     "whether this machine is fit for hard real time, and how to improve it"},
    {"top", command_top, "show a run that is served live, in this terminal"},
    {"bench", command_bench, "speed of the dynamics, and the overhead of the executive"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_help(FILE *out)
{
    fprintf(out, "usage: airbearing COMMAND [options]\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(out, "\nSee airbearing COMMAND --help; airbearing --version prints the version.\n");
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("airbearing %s\n", AIRBEARING_VERSION);
        return EXIT_OK;
    }
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    }
    fprintf(stderr, "airbearing: there is no command \"%s\"; airbearing --help lists them\n",
            argv[1]);
    return EXIT_USAGE;
}

/* A command whose output could not be written has failed.  One that ends with 2 or 64 has already
 * printed its line. */
static int after_output(int code)
{
    const bool is_lost = fflush(stdout) != 0 || ferror(stdout);
    if (!is_lost || code == EXIT_BAD_INPUT || code == EXIT_USAGE)
        return code;
    fputs("airbearing: the output cannot be written\n", stderr);
    return code == EXIT_OK ? EXIT_BAD_INPUT : code;
}

/* Open the standard descriptors that the caller closed, so that no file or socket of ours becomes
 * one.  They are read-only: a write fails, as it would if they were still closed. */
static void hold_standard_descriptors(void)
{
    int fd = 0;
    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    hold_standard_descriptors();
    return after_output(dispatch(argc, argv));
}
