/*
 * The subcommands of airbearing; each gets its own argc and argv and returns the exit code.
 */
#pragma once

enum exit_code {
    EXIT_OK = 0,
    EXIT_VERDICT_NO = 1, /* an expectation failed, require not met, replay differs, doctor unfit */
    EXIT_BAD_INPUT = 2,
    EXIT_BY_POLICY = 3, /* overrun with policy stop, link lost, controller ended, frames hung */
    EXIT_USAGE = 64,
    EXIT_INTERRUPTED = 130, /* by SIGINT or SIGTERM */
};

int command_run(int argc, char **argv);
int command_check(int argc, char **argv);
int command_timing(int argc, char **argv);
int command_stopwatch(int argc, char **argv);
int command_replay(int argc, char **argv);
int command_log(int argc, char **argv);
int command_eval(int argc, char **argv);
int command_linearize(int argc, char **argv);
int command_modes(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_top(int argc, char **argv);
int command_bench(int argc, char **argv);
