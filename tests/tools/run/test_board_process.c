/*
 * The board as a process: where it is found, what it gets, how it ends and what goes with it.
 *
 * What is tested here kills processes that it finds in /proc.  So the tests run where only their
 * own can be found and killed, in a PID namespace with a /proc of its own, and not at all where
 * there is none to be had.
 */
#include "config/scenario.h"
#include "tools/airbearing/run/board_process.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unity.h"

enum { TEXT_MAX = 4 << 20 };

static struct cfg_scenario scenario;
static struct controller controller = {.output = -1};
static char path[] = "some.yaml", error[CFG_ERROR_MAX], said[TEXT_MAX];
static char shell[] = "sh", dash_c[] = "-c", script[1024];

void setUp(void)
{
    scenario = (struct cfg_scenario){.path = path};
    scenario.controller = (struct cfg_controller){
        .argument_count = 3, .argument = {shell, dash_c, script}, .cpu = -1};
    static struct cfg_marked place = {.section = "controller", .name = "", .mark = {12, 3}};
    scenario.marked = &place;
    error[0] = '\0';
}

void tearDown(void)
{
    controller_stop(&controller);
    if (controller.output >= 0)
        close(controller.output);
    controller = (struct controller){.output = -1};
}

static int start(const char *text)
{
    snprintf(script, sizeof script, "%s", text);
    return controller_start(&controller, &scenario, error);
}

static void start_and_wait(const char *text)
{
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, start(text), error);
    while (controller_running(&controller))
        usleep(1000);
}

/* It goes on, and has said something. */
static void start_and_hear(const char *text)
{
    char first = '\0';
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, start(text), error);
    while (first == '\0') {
        usleep(1000);
        TEST_ASSERT_EQUAL_INT(1, pread(controller.output, &first, 1, 0));
    }
    TEST_ASSERT_TRUE(controller_running(&controller));
}

/* What it has printed. */
static const char *shown(void)
{
    fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    const int fd = memfd_create("shown", MFD_CLOEXEC);
    TEST_ASSERT_TRUE(before >= 0 && fd >= 0);
    dup2(fd, STDOUT_FILENO);
    controller_print_output(&controller, "| ");
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    close(before);
    const ssize_t size = pread(fd, said, TEXT_MAX - 1, 0);
    close(fd);
    TEST_ASSERT_TRUE(size >= 0);
    said[size] = '\0';
    return said;
}

static void assert_end(const char *expected)
{
    char text[CONTROLLER_TEXT_MAX];
    controller_end_text(&controller, text);
    TEST_ASSERT_EQUAL_STRING(expected, text);
}

static void test_where_none_is_named_none_is_started(void)
{
    scenario.controller.argument_count = 0;
    TEST_ASSERT_EQUAL_INT(0, start(""));
    TEST_ASSERT_EQUAL_STRING("", controller.program);
    TEST_ASSERT_EQUAL_INT(-1, controller.output);
    TEST_ASSERT_FALSE(controller_running(&controller));
    TEST_ASSERT_FALSE(controller.died_early);
    TEST_ASSERT_EQUAL_STRING("", shown());
}

static void test_both_its_outputs_are_kept_and_its_input_is_empty(void)
{
    start_and_wait("echo one; echo two >&2; read x || echo no more; exit 7");
    TEST_ASSERT_EQUAL_STRING("| one\n| two\n| no more\n", shown());
    TEST_ASSERT_EQUAL_STRING("| one\n| two\n| no more\n", shown());
    TEST_ASSERT_TRUE(controller.died_early);
    TEST_ASSERT_FALSE(controller.killed);
    TEST_ASSERT_EQUAL_INT(0, controller.pid);
    assert_end("controller ended, status 7");
}

static void test_one_that_dies_of_a_signal_is_named_by_it(void)
{
    start_and_wait("kill -SEGV $$");
    assert_end("controller ended, SIGSEGV");
    TEST_ASSERT_TRUE(controller.died_early);
}

static void test_one_that_never_stops_talking_fails_after_a_megabyte(void)
{
    start_and_wait("i=0; while [ $i -lt 2000 ] && printf '%01023d\\n' 0; do i=$((i + 1)); done "
                   "2>/dev/null; exit 5");
    assert_end("controller ended, status 5");
    /* lines of 1024, which are shown in pieces of 511, each behind its prefix */
    TEST_ASSERT_EQUAL_size_t(1024 * (1024 + 3 * 2), strlen(shown()));
}

static void test_it_is_alone_in_its_group_and_ignores_an_interrupt_of_the_terminal(void)
{
    start_and_wait("kill -INT $$; cut -d ' ' -f 5 /proc/$$/stat; echo $$");
    int group = 0, process = 0;
    TEST_ASSERT_EQUAL_INT(2, sscanf(shown(), "| %d | %d", &group, &process));
    TEST_ASSERT_EQUAL_INT(process, group);
    assert_end("controller ended, status 0");
}

static void test_it_runs_on_the_core_that_it_is_given(void)
{
    char expected[64];
    cpu_set_t set;
    int core = 0;
    TEST_ASSERT_EQUAL_INT(0, sched_getaffinity(0, sizeof set, &set));
    while (!CPU_ISSET((size_t)core, &set))
        core++;
    scenario.controller.cpu = core;
    start_and_wait("grep Cpus_allowed_list /proc/self/status");
    snprintf(expected, sizeof expected, "| Cpus_allowed_list:\t%d\n", core);
    TEST_ASSERT_EQUAL_STRING(expected, shown());
}

static void test_a_program_that_is_not_there_is_reported_with_its_path(void)
{
    char name[] = "no-such-program";
    scenario.controller.argument[0] = name;
    TEST_ASSERT_EQUAL_INT(-ENOENT, start(""));
    TEST_ASSERT_EQUAL_STRING(
        "some.yaml:12:3: controller.command: cannot start no-such-program: No such "
        "file or directory; give a path, or put it beside airbearing or on PATH",
        error);
    TEST_ASSERT_FALSE(controller_running(&controller));
    TEST_ASSERT_EQUAL_INT(0, controller.group);
}

static void test_a_core_that_is_not_there_is_reported(void)
{
    scenario.controller.cpu = CPU_SETSIZE - 1;
    TEST_ASSERT_EQUAL_INT(-EINVAL, start("exit 0"));
    TEST_ASSERT_EQUAL_STRING(
        "some.yaml:12:3: controller.command: cannot start sh: Invalid argument; is "
        "controller.cpu a core of this machine?",
        error);
}

static void test_a_program_beside_this_one_comes_before_that_of_the_path(void)
{
    char name[] = "test_board_process", again[] = "--beside", here[4096];
    const ssize_t size = readlink("/proc/self/exe", here, sizeof here - 1);
    TEST_ASSERT_TRUE(size > 0);
    here[size] = '\0';
    scenario.controller.argument[0] = name;
    scenario.controller.argument[1] = again;
    scenario.controller.argument[2] = NULL;
    scenario.controller.argument_count = 2;
    if (size >= 256)
        TEST_IGNORE_MESSAGE("this folder's name is too long");
    start_and_wait("");
    TEST_ASSERT_EQUAL_STRING(here, controller.program);
    TEST_ASSERT_EQUAL_STRING("| beside\n", shown());
    assert_end("controller ended, status 9");
    tearDown();
    scenario.controller.argument[0] = here; /* a path is taken as it is */
    start_and_wait("");
    TEST_ASSERT_EQUAL_STRING(here, controller.program);
}

static void assert_gone(int pid)
{
    TEST_ASSERT_TRUE(pid > 0);
    TEST_ASSERT_EQUAL_INT(-1, kill(pid, 0));
    TEST_ASSERT_EQUAL_INT(ESRCH, errno);
}

static void test_what_it_has_started_ends_with_it(void)
{
    int of_group = 0, of_session = 0;
    start_and_wait("sleep 3600 & echo $!; setsid sleep 3600 & echo $!; exit 3");
    TEST_ASSERT_EQUAL_INT(2, sscanf(shown(), "| %d | %d", &of_group, &of_session));
    assert_gone(of_group);
    assert_gone(of_session);
    TEST_ASSERT_EQUAL_INT(0, controller.group);
    assert_end("controller ended, status 3");
}

static void test_one_that_ends_when_it_is_asked_to_did_not_die_early(void)
{
    start_and_hear("trap 'exit 4' TERM; echo $$; while :; do sleep 0.01; done");
    controller_stop(&controller);
    TEST_ASSERT_FALSE(controller.died_early);
    TEST_ASSERT_FALSE(controller.killed);
    assert_end("controller ended, status 4");
    assert_gone(atoi(shown() + 2));
}

static void test_one_that_does_not_end_is_killed_with_what_it_has_started(void)
{
    int leader = 0, other = 0;
    start_and_hear("trap '' TERM; sleep 3600 & echo $$ $!; while :; do sleep 1; done");
    controller_stop(&controller);
    TEST_ASSERT_FALSE(controller.died_early);
    TEST_ASSERT_TRUE(controller.killed);
    TEST_ASSERT_EQUAL_INT(0, controller.pid);
    assert_end("controller ended, SIGKILL");
    TEST_ASSERT_EQUAL_INT(2, sscanf(shown(), "| %d %d", &leader, &other));
    assert_gone(leader);
    assert_gone(other);
}

static void test_no_other_process_is_in_reach(void)
{
    TEST_ASSERT_EQUAL_INT(2, getpid());
    TEST_ASSERT_EQUAL_INT(1, getppid());
    char self[32] = "";
    TEST_ASSERT_EQUAL_INT(1, readlink("/proc/self", self, sizeof self - 1));
    TEST_ASSERT_EQUAL_STRING("2", self);
}

static int run_tests(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_no_other_process_is_in_reach);
    if (Unity.TestFailures > 0)
        return UNITY_END();
    RUN_TEST(test_where_none_is_named_none_is_started);
    RUN_TEST(test_both_its_outputs_are_kept_and_its_input_is_empty);
    RUN_TEST(test_one_that_dies_of_a_signal_is_named_by_it);
    RUN_TEST(test_one_that_never_stops_talking_fails_after_a_megabyte);
    RUN_TEST(test_it_is_alone_in_its_group_and_ignores_an_interrupt_of_the_terminal);
    RUN_TEST(test_it_runs_on_the_core_that_it_is_given);
    RUN_TEST(test_a_program_that_is_not_there_is_reported_with_its_path);
    RUN_TEST(test_a_core_that_is_not_there_is_reported);
    RUN_TEST(test_a_program_beside_this_one_comes_before_that_of_the_path);
    RUN_TEST(test_what_it_has_started_ends_with_it);
    RUN_TEST(test_one_that_ends_when_it_is_asked_to_did_not_die_early);
    RUN_TEST(test_one_that_does_not_end_is_killed_with_what_it_has_started);
    return UNITY_END();
}

/* The exit code of a child that does this. */
static int in_child(int (*act)(void))
{
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const int code = act();
        fflush(stdout);
        _exit(code);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : 1;
}

enum { SKIPPED = 77 };

/* The first process of the namespace. */
static int begin(void)
{
    if (getpid() != 1 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("proc", "/proc", "proc", 0, NULL))
        return SKIPPED;
    return in_child(run_tests);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--beside") == 0) {
        puts("beside");
        return 9;
    }
    if (unshare(CLONE_NEWPID | CLONE_NEWNS) &&
        unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS)) {
        puts("no PID namespace is to be had here");
        return SKIPPED;
    }
    return in_child(begin);
}
