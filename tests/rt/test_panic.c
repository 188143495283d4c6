/*
 * Each case runs in a child process.  The child's safe() writes a character into a pipe; the
 * parent looks at the characters, at stderr, and at what the child died of.
 */
#include "rt/panic.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "rt/alloc.h"
#include "rt/check.h"
#include "rt/thread.h"
#include "tests/rt/child.h"
#include "unity.h"

static int safe_pipe[2], words_pipe[2];
static char letters[64], words[1024];

void setUp(void)
{
    TEST_ASSERT_EQUAL_INT(0, pipe(safe_pipe));
    TEST_ASSERT_EQUAL_INT(0, pipe(words_pipe));
}

void tearDown(void)
{
    for (int i = 0; i < 2; i++) {
        close(safe_pipe[i]);
        close(words_pipe[i]);
    }
}

static void put(char letter)
{
    if (write(safe_pipe[1], &letter, 1) != 1)
        child_exit(99);
}

static void safe(void *self)
{
    put(*(char *)self);
}

static void install(void)
{
    static char letter = 's';
    dup2(words_pipe[1], STDERR_FILENO);
    rt_panic_install(safe, &letter);
}

static void drain(int fd, char *text, size_t size)
{
    const ssize_t got = read(fd, text, size - 1);
    text[got > 0 ? got : 0] = '\0';
}

/* Run body in a child; letters and words then hold what it wrote.  Both pipes get a last byte, so
 * that reading never waits. */
static int status_of(void (*body)(void *self), void *self)
{
    const int status = child_status(body, self);
    put('.');
    TEST_ASSERT_EQUAL_INT(1, write(words_pipe[1], ".", 1));
    drain(safe_pipe[0], letters, sizeof letters);
    drain(words_pipe[0], words, sizeof words);
    return status;
}

static void dies_of(int number, void (*body)(void *self), void *self)
{
    const int status = status_of(body, self);
    TEST_ASSERT_TRUE_MESSAGE(WIFSIGNALED(status), "died of no signal");
    TEST_ASSERT_EQUAL_INT(number, WTERMSIG(status));
}

static void raise_after_install(void *number)
{
    install();
    raise(*(int *)number);
    put('x'); /* the interrupted code must not run on */
}

static void test_every_fatal_signal_invalidates_the_outputs_and_then_kills(void)
{
    static int fatal[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
    static const char *const names[] = {"SIGILL (a check failed)",
                                        "SIGTRAP",
                                        "SIGSEGV (bad memory access or stack overflow)",
                                        "SIGBUS",
                                        "SIGFPE",
                                        "SIGABRT"};
    char thread[16] = "", line[160];
    TEST_ASSERT_EQUAL_INT(0, pthread_getname_np(pthread_self(), thread, sizeof thread));
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) {
        dies_of(fatal[i], raise_after_install, &fatal[i]);
        TEST_ASSERT_EQUAL_STRING("s.", letters);
        snprintf(line, sizeof line, "fatal: %s in thread %s; outputs went safe\n.", names[i],
                 thread);
        TEST_ASSERT_EQUAL_STRING(line, words);
    }
}

static void fail_a_check(void *self)
{
    install();
    RT_CHECK(self == NULL);
    put('x');
}

static void test_a_failed_check_invalidates_the_outputs_and_says_so_in_one_line(void)
{
    dies_of(SIGILL, fail_a_check, words);
    TEST_ASSERT_EQUAL_STRING("s.", letters);
    TEST_ASSERT_EQUAL_STRING_LEN("fatal: SIGILL (a check failed) in thread ", words, 41);
    TEST_ASSERT_NOT_NULL(strstr(words, "; outputs went safe\n."));
    TEST_ASSERT_EQUAL_PTR(strchr(words, '\n') + 1, strrchr(words, '.'));
}

static void write_nowhere(void *self)
{
    install();
    int *volatile nowhere = self; /* the compiler must not see where this goes */
    *nowhere = 1;
    put('x');
}

static void test_a_bad_access_invalidates_the_outputs_and_then_kills(void)
{
    dies_of(SIGSEGV, write_nowhere, (void *)16);
    TEST_ASSERT_EQUAL_STRING("s.", letters);
}

static volatile bool deeper = true;

/* Not a tail call, and every frame is used. */
static int overflow(volatile char *above)
{
    volatile char here[4096];
    here[0] = (char)(above[0] + 1);
    return deeper ? overflow(here) + here[0] : 0;
}

static void overflow_main(void *self)
{
    char start = 0;
    const struct rlimit small = {256 << 10, 256 << 10};
    (void)self;
    install();
    setrlimit(RLIMIT_STACK, &small);
    put((char)overflow(&start));
}

static void overflow_thread(void *self)
{
    char start = 0;
    (void)self;
    put((char)overflow(&start));
}

static void check_in_thread(void *self)
{
    RT_CHECK(self == words);
    put('x');
}

static void start_thread(void *run)
{
    const struct rt_thread_spec spec = {.name = "deep", .policy = SCHED_OTHER, .cpu = -1};
    struct rt_thread thread;
    install();
    if (rt_thread_start(&thread, &spec, *(void (**)(void *))run, NULL) == 0)
        rt_thread_join(&thread);
}

static void test_a_failed_check_in_a_started_thread_invalidates_the_outputs(void)
{
    void (*run)(void *) = check_in_thread;
    dies_of(SIGILL, start_thread, &run);
    TEST_ASSERT_EQUAL_STRING("s.", letters);
    TEST_ASSERT_NOT_NULL(strstr(words, "in thread deep;"));
}

static void test_a_stack_overflow_invalidates_the_outputs_too(void)
{
    void (*run)(void *) = overflow_thread;
    if (!rt_alloc_is_counted())
        TEST_IGNORE_MESSAGE("sanitizer build: the sanitizer owns the signal stack");
    dies_of(SIGSEGV, overflow_main, NULL);
    TEST_ASSERT_EQUAL_STRING("s.", letters);
    dies_of(SIGSEGV, start_thread, &run);
    TEST_ASSERT_EQUAL_STRING("s.", letters);
    TEST_ASSERT_NOT_NULL(strstr(words, "in thread deep;"));
}

static void fault_in_safe(void *self)
{
    put('a');
    int *volatile nowhere = self; /* the compiler must not see where this goes */
    *nowhere = 1;
    put('x');
}

static void abort_in_safe(void *self)
{
    (void)self;
    put('a');
    abort();
}

static void crash_twice(void *again)
{
    install();
    rt_panic_install(*(void (**)(void *))again, (void *)16);
    raise(SIGFPE);
}

static void test_a_crash_while_the_outputs_are_invalidated_kills_at_once(void)
{
    void (*fault)(void *) = fault_in_safe, (*quit)(void *) = abort_in_safe;
    dies_of(SIGSEGV, crash_twice, &fault);
    TEST_ASSERT_EQUAL_STRING("a.", letters);
    dies_of(SIGABRT, crash_twice, &quit);
    TEST_ASSERT_EQUAL_STRING("a.", letters);
}

static pthread_barrier_t together;

static void slow_safe(void *self)
{
    const struct timespec while_others_crash = {.tv_nsec = 30000000};
    (void)self;
    put('a');
    nanosleep(&while_others_crash, NULL);
    put('b');
}

static void *crash(void *self)
{
    pthread_barrier_wait(&together);
    raise(SIGSEGV);
    put('x');
    return self;
}

static void crash_in_many_threads(void *self)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    install();
    rt_panic_install(slow_safe, NULL);
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, crash, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], &self);
    put('x');
}

static void test_of_many_crashing_threads_one_invalidates_the_outputs_and_finishes(void)
{
    dies_of(SIGSEGV, crash_in_many_threads, NULL);
    TEST_ASSERT_EQUAL_STRING("ab.", letters);
}

static void ask_to_stop(void *number)
{
    rt_stop_on_signals();
    if (rt_stop_signal() != 0)
        child_exit(1);
    raise(*(int *)number);
    child_exit(rt_stop_signal() == *(int *)number ? 42 : 2);
}

static void test_the_first_stop_signal_is_a_flag(void)
{
    static int asks[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) {
        const int status = status_of(ask_to_stop, &asks[i]);
        TEST_ASSERT_TRUE(WIFEXITED(status));
        TEST_ASSERT_EQUAL_INT(42, WEXITSTATUS(status));
    }
}

static void ask_twice(void *self)
{
    (void)self;
    install();
    rt_stop_on_signals();
    raise(SIGINT);
    put('1');
    raise(SIGTERM);
    put('x');
}

static void test_the_second_stop_signal_invalidates_the_outputs_and_kills(void)
{
    dies_of(SIGTERM, ask_twice, NULL);
    TEST_ASSERT_EQUAL_STRING("1s.", letters);
    TEST_ASSERT_NOT_NULL(strstr(words, "second SIGTERM"));
}

static void ask_twice_without_panic(void *number)
{
    dup2(words_pipe[1], STDERR_FILENO);
    rt_stop_on_signals();
    raise(SIGINT);
    put('1');
    raise(*(int *)number);
    put('x');
}

static void test_the_second_stop_signal_kills_without_outputs_too(void)
{
    static int asks[] = {SIGINT, SIGTERM, SIGHUP};
    static const char *const names[] = {"SIGINT", "SIGTERM", "SIGHUP"};
    char thread[16] = "", line[160];
    TEST_ASSERT_EQUAL_INT(0, pthread_getname_np(pthread_self(), thread, sizeof thread));
    for (int i = 0; i < 3; i++) {
        dies_of(asks[i], ask_twice_without_panic, &asks[i]);
        TEST_ASSERT_EQUAL_STRING("1.", letters);
        snprintf(line, sizeof line, "fatal: second %s in thread %s\n.", names[i], thread);
        TEST_ASSERT_EQUAL_STRING(line, words);
    }
}

static void *interrupt_later(void *target)
{
    const struct timespec moment = {.tv_nsec = 20000000};
    nanosleep(&moment, NULL);
    pthread_kill(*(pthread_t *)target, SIGTERM);
    return NULL;
}

static void wait_for_stop(void *self)
{
    pthread_t main_thread = pthread_self(), other;
    (void)self;
    rt_stop_on_signals();
    pthread_create(&other, NULL, interrupt_later, &main_thread);
    const bool woken = poll(NULL, 0, 30000) < 0 && errno == EINTR;
    pthread_join(other, NULL);
    child_exit(woken && rt_stop_signal() == SIGTERM ? 42 : 1);
}

static void test_a_stop_signal_ends_a_wait(void)
{
    const int status = status_of(wait_for_stop, NULL);
    TEST_ASSERT_TRUE(WIFEXITED(status));
    TEST_ASSERT_EQUAL_INT(42, WEXITSTATUS(status));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_every_fatal_signal_invalidates_the_outputs_and_then_kills);
    RUN_TEST(test_a_failed_check_invalidates_the_outputs_and_says_so_in_one_line);
    RUN_TEST(test_a_bad_access_invalidates_the_outputs_and_then_kills);
    RUN_TEST(test_a_failed_check_in_a_started_thread_invalidates_the_outputs);
    RUN_TEST(test_a_stack_overflow_invalidates_the_outputs_too);
    RUN_TEST(test_a_crash_while_the_outputs_are_invalidated_kills_at_once);
    RUN_TEST(test_of_many_crashing_threads_one_invalidates_the_outputs_and_finishes);
    RUN_TEST(test_the_first_stop_signal_is_a_flag);
    RUN_TEST(test_the_second_stop_signal_invalidates_the_outputs_and_kills);
    RUN_TEST(test_the_second_stop_signal_kills_without_outputs_too);
    RUN_TEST(test_a_stop_signal_ends_a_wait);
    return UNITY_END();
}
