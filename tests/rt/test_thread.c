/*
 * What a thread gets depends on the machine and on the user that runs the test.  So each test first
 * asks the kernel, by a way of its own, what is allowed here, and then expects exactly that.
 */
#include "rt/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "rt/alloc.h"
#include "tests/rt/child.h"
#include "unity.h"

static struct rt_thread thread;

/* What the thread saw of itself. */
static struct {
    int tid, policy, priority, cpu_count, cpu;
    char name[16];
    bool stack_present, int_blocked, segv_blocked, signal_stack;
    void *self;
} seen;

void setUp(void)
{
    memset(&seen, 0, sizeof seen);
}

void tearDown(void)
{
}

static bool stack_present(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char resident[1024] = {0};
    pthread_attr_t attr;
    void *stack;
    size_t size;
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &stack, &size);
    pthread_attr_destroy(&attr);
    if (size / page > sizeof resident || mincore(stack, size, resident) != 0)
        return false;
    for (size_t i = 0; i < size / page; i++)
        if (!(resident[i] & 1))
            return false;
    return true;
}

static void look(void *self)
{
    struct sched_param param;
    cpu_set_t set;
    sigset_t blocked;
    stack_t signal_stack;
    pthread_getschedparam(pthread_self(), &seen.policy, &param);
    sched_getaffinity(0, sizeof set, &set);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    sigaltstack(NULL, &signal_stack);
    pthread_getname_np(pthread_self(), seen.name, sizeof seen.name);
    seen.tid = gettid();
    seen.priority = param.sched_priority;
    seen.cpu_count = CPU_COUNT(&set);
    seen.cpu = sched_getcpu();
    seen.stack_present = stack_present();
    seen.int_blocked = sigismember(&blocked, SIGINT);
    seen.segv_blocked = sigismember(&blocked, SIGSEGV);
    seen.signal_stack = !(signal_stack.ss_flags & SS_DISABLE) && signal_stack.ss_size >= 16 << 10;
    seen.self = self;
}

static void start(int policy, int priority, int cpu)
{
    const struct rt_thread_spec spec = {
        .name = "fifteen letters", .policy = policy, .priority = priority, .cpu = cpu};
    TEST_ASSERT_EQUAL_INT(0, rt_thread_start(&thread, &spec, look, &seen));
    rt_thread_join(&thread);
}

static int last_cpu(void)
{
    cpu_set_t set;
    int cpu = CPU_SETSIZE - 1;
    TEST_ASSERT_EQUAL_INT(0, sched_getaffinity(0, sizeof set, &set));
    while (!CPU_ISSET((size_t)cpu, &set))
        cpu--;
    return cpu;
}

static bool in_child(void (*body)(void *), void *self)
{
    const int status = child_status(body, self);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void try_fifo(void *self)
{
    const struct sched_param param = {.sched_priority = 20};
    (void)self;
    child_exit(sched_setscheduler(0, SCHED_FIFO, &param) == 0 ? 0 : 1);
}

static void test_a_thread_runs_with_its_argument_name_and_number(void)
{
    start(SCHED_OTHER, 0, -1);
    TEST_ASSERT_EQUAL_PTR(&seen, seen.self);
    TEST_ASSERT_EQUAL_STRING("fifteen letters", seen.name);
    TEST_ASSERT_EQUAL_INT(seen.tid, thread.tid);
    TEST_ASSERT_TRUE(thread.tid != gettid());
    TEST_ASSERT_EQUAL_INT(SCHED_OTHER, thread.policy);
    TEST_ASSERT_EQUAL_INT(-1, thread.cpu);
    TEST_ASSERT_EQUAL_STRING("", thread.refused);
}

static void test_a_thread_starts_with_its_whole_stack_present(void)
{
    start(SCHED_OTHER, 0, -1);
    TEST_ASSERT_TRUE(seen.stack_present);
}

static void test_a_thread_takes_its_own_signals_only_and_on_a_stack_of_its_own(void)
{
    start(SCHED_OTHER, 0, -1);
    TEST_ASSERT_TRUE(seen.int_blocked);
    TEST_ASSERT_FALSE(seen.segv_blocked);
    TEST_ASSERT_TRUE(seen.signal_stack);
}

static void test_a_thread_is_on_its_core_from_the_first_moment(void)
{
    const int cpu = last_cpu();
    for (int i = 0; i < 20; i++) {
        start(SCHED_OTHER, 0, cpu);
        TEST_ASSERT_EQUAL_INT(cpu, thread.cpu);
        TEST_ASSERT_EQUAL_INT(1, seen.cpu_count);
        TEST_ASSERT_EQUAL_INT(cpu, seen.cpu);
        TEST_ASSERT_EQUAL_STRING("", thread.refused);
    }
}

static void test_a_core_that_is_not_there_is_refused_and_the_thread_runs(void)
{
    static const int none[] = {CPU_SETSIZE - 1, CPU_SETSIZE, 1 << 30};
    for (int i = 0; i < 3; i++) {
        start(SCHED_OTHER, 0, none[i]);
        TEST_ASSERT_EQUAL_PTR(&seen, seen.self);
        TEST_ASSERT_EQUAL_INT(-1, thread.cpu);
        TEST_ASSERT_NOT_NULL(strstr(thread.refused, "was refused for thread fifteen letters"));
        TEST_ASSERT_NOT_NULL(strstr(thread.refused, "cpuset"));
    }
}

static void test_a_thread_gets_its_policy_where_the_kernel_grants_it(void)
{
    if (!in_child(try_fifo, NULL))
        TEST_IGNORE_MESSAGE("this user may not have SCHED_FIFO");
    start(SCHED_FIFO, 20, last_cpu());
    TEST_ASSERT_EQUAL_STRING("", thread.refused);
    TEST_ASSERT_EQUAL_INT(SCHED_FIFO, seen.policy);
    TEST_ASSERT_EQUAL_INT(20, seen.priority);
    TEST_ASSERT_EQUAL_INT(SCHED_FIFO, thread.policy);
    TEST_ASSERT_EQUAL_INT(20, thread.priority);
    start(SCHED_RR, 7, -1);
    TEST_ASSERT_EQUAL_INT(SCHED_RR, seen.policy);
    TEST_ASSERT_EQUAL_INT(7, thread.priority);
}

static void start_ordinary(void *self)
{
    (void)self;
    const struct sched_param param = {.sched_priority = 20};
    const struct rt_thread_spec spec = {.name = "plain", .policy = SCHED_OTHER, .cpu = -1};
    if (sched_setscheduler(0, SCHED_FIFO, &param) != 0)
        child_exit(2);
    if (rt_thread_start(&thread, &spec, look, NULL) != 0)
        child_exit(3);
    rt_thread_join(&thread);
    child_exit(seen.policy == SCHED_OTHER && thread.policy == SCHED_OTHER ? 0 : 1);
}

static void test_an_ordinary_thread_of_a_fifo_starter_is_ordinary(void)
{
    if (!in_child(try_fifo, NULL))
        TEST_IGNORE_MESSAGE("this user may not have SCHED_FIFO");
    TEST_ASSERT_TRUE(in_child(start_ordinary, NULL));
}

/* Runs as a user without rights, whoever runs the test; the answer comes back by exit status. */
static void start_without_rights(void *self)
{
    (void)self;
    const struct rlimit none = {0, 0};
    const struct rt_thread_spec spec = {
        .name = "poor", .policy = SCHED_FIFO, .priority = 20, .cpu = -1};
    setrlimit(RLIMIT_RTPRIO, &none);
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
        child_exit(2);
    if (rt_thread_start(&thread, &spec, look, &seen) != 0)
        child_exit(3);
    rt_thread_join(&thread);
    const bool ran = seen.self == &seen && seen.policy == SCHED_OTHER;
    const bool told = thread.policy == SCHED_OTHER && thread.priority == 0 &&
                      strstr(thread.refused, "SCHED_FIFO 20 was refused for thread poor: ") &&
                      strstr(thread.refused, "no CAP_SYS_NICE") &&
                      strstr(thread.refused, "limit on real-time priority is 0;") &&
                      strstr(thread.refused, "limits.conf");
    child_exit(ran && told ? 0 : 1);
}

static void test_without_rights_a_thread_runs_as_ordinary_and_says_why(void)
{
    TEST_ASSERT_TRUE(in_child(start_without_rights, NULL));
}

/* ---- a kernel that refuses ---- */

/* From here on this process and its threads get the error for the call with this argument. */
static void refuse(int call, int argument, unsigned value, int error)
{
    const unsigned place =
        (unsigned)(offsetof(struct seccomp_data, args) + (size_t)argument * sizeof(uint64_t));
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, place),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof program / sizeof program[0], program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        child_exit(77);
}

/* A thread under these refusals must run, and say this of them. */
static void start_and_compare(int policy, int priority, int cpu, const char *words)
{
    const struct rt_thread_spec spec = {
        .name = "worker", .policy = policy, .priority = priority, .cpu = cpu};
    if (rt_thread_start(&thread, &spec, look, &seen) != 0)
        child_exit(3);
    rt_thread_join(&thread);
    if (seen.self != &seen)
        child_exit(4);
    if (strcmp(words, thread.refused) != 0) {
        fprintf(stderr, "expected %s\nwas      %s\n", words, thread.refused);
        child_exit(1);
    }
}

static void refuse_the_policy(void *self)
{
    (void)self;
    refuse(SYS_sched_setscheduler, 1, SCHED_RR, EPERM);
    start_and_compare(SCHED_RR, 7, -1,
                      "SCHED_RR 7 was refused for thread worker: the limits allow it but the "
                      "kernel does not; a container must be started with CAP_SYS_NICE outside a "
                      "user namespace.");
}

static void refuse_the_policy_oddly(void *self)
{
    (void)self;
    refuse(SYS_sched_setscheduler, 1, SCHED_FIFO, ENOSYS);
    start_and_compare(SCHED_FIFO, 9, -1,
                      "SCHED_FIFO 9 was refused for thread worker: Function not implemented.");
}

static void refuse_the_core(void *self)
{
    char words[200];
    const int cpu = last_cpu();
    (void)self;
    refuse(SYS_sched_setaffinity, 0, 0, EPERM);
    snprintf(words, sizeof words,
             "Core %d was refused for thread worker (Operation not permitted): a container's "
             "filter must allow sched_setaffinity.",
             cpu);
    start_and_compare(SCHED_OTHER, 0, cpu, words);
    if (thread.cpu != -1)
        child_exit(5);
}

static void refuse_both(void *self)
{
    (void)self;
    refuse(SYS_sched_setscheduler, 1, SCHED_FIFO, ENOSYS);
    start_and_compare(SCHED_FIFO, 9, CPU_SETSIZE,
                      "SCHED_FIFO 9 was refused for thread worker: Function not implemented. Core "
                      "1024 was refused for thread worker (Invalid argument): it is not online or "
                      "not in this process's cpuset; choose another core, or add it to the "
                      "cpuset.");
}

static void refuse_the_stack(void *self)
{
    (void)self;
    refuse(SYS_madvise, 2, MADV_POPULATE_WRITE, EINVAL);
    start_and_compare(SCHED_OTHER, 0, -1,
                      "The stack of thread worker was not prefaulted (Invalid argument): "
                      "its first use of each page costs a fault; use Linux 5.14 or later.");
}

static void expect_refusal(void (*body)(void *))
{
    const int status = child_status(body, NULL);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        TEST_IGNORE_MESSAGE("this kernel takes no filter of system calls");
    TEST_ASSERT_EQUAL_INT(0, status);
}

static void test_what_the_kernel_refuses_is_reported_in_whole_sentences(void)
{
    expect_refusal(refuse_the_policy_oddly);
    expect_refusal(refuse_the_core);
    expect_refusal(refuse_both);
    expect_refusal(refuse_the_stack);
    if (!in_child(try_fifo, NULL))
        TEST_IGNORE_MESSAGE("this user may not have SCHED_FIFO");
    expect_refusal(refuse_the_policy);
}

/* The limit on real-time priority, of one that lacks the capability. */
static void start_within_limit(void *self)
{
    char words[300];
    const rlim_t wanted = *(rlim_t *)self;
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};
    if (setrlimit(RLIMIT_RTPRIO, &(struct rlimit){wanted, wanted}) != 0)
        child_exit(77);
    if (syscall(SYS_capget, &head, data) != 0)
        child_exit(2);
    data[0].effective &= ~(1u << CAP_SYS_NICE);
    data[0].permitted &= ~(1u << CAP_SYS_NICE);
    if (syscall(SYS_capset, &head, data) != 0)
        child_exit(2);
    snprintf(words, sizeof words,
             "SCHED_RR 7 was refused for thread worker: there is no CAP_SYS_NICE and the limit on "
             "real-time priority is %lu; run as root, or give the user `rtprio 99` in "
             "/etc/security/limits.conf.",
             (unsigned long)wanted);
    start_and_compare(SCHED_RR, 7, -1, wanted >= 7 ? "" : words);
}

static void test_a_limit_counts_where_the_capability_is_missing(void)
{
    static rlim_t limits[] = {0, 6, 7};
    if (!in_child(try_fifo, NULL))
        TEST_IGNORE_MESSAGE("this user may not have SCHED_FIFO");
    for (int i = 0; i < 3; i++) {
        const int status = child_status(start_within_limit, &limits[i]);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
            TEST_IGNORE_MESSAGE("the limit on real-time priority is lower here");
        TEST_ASSERT_EQUAL_INT(0, status);
    }
}

static bool write_file(const char *directory, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return done;
}

static void start_in_group(void *directory)
{
    char remedy[300];
    const struct rt_thread_spec spec = {
        .name = "grouped", .policy = SCHED_FIFO, .priority = 20, .cpu = -1};
    if (!write_file(directory, "cgroup.procs", "0"))
        child_exit(2);
    if (rt_thread_start(&thread, &spec, look, &seen) != 0)
        child_exit(3);
    rt_thread_join(&thread);
    snprintf(remedy, sizeof remedy, "no real-time budget; write 950000 to %s/cpu.rt_runtime_us",
             (char *)directory);
    child_exit(thread.policy == SCHED_OTHER && strstr(thread.refused, remedy) ? 0 : 1);
}

static void test_in_a_cgroup_without_budget_it_names_the_file_to_write(void)
{
    char directory[100], budget[150];
    if (!in_child(try_fifo, NULL))
        TEST_IGNORE_MESSAGE("this user may not have SCHED_FIFO");
    snprintf(directory, sizeof directory, "/sys/fs/cgroup/cpu/airbearing-test-%d", getpid());
    snprintf(budget, sizeof budget, "%s/cpu.rt_runtime_us", directory);
    if (mkdir(directory, 0755) != 0)
        TEST_IGNORE_MESSAGE("no cgroup v1 cpu hierarchy to make a group in");
    const bool grouped = access(budget, F_OK) == 0;
    const bool told = grouped && in_child(start_in_group, directory);
    rmdir(directory);
    if (!grouped)
        TEST_IGNORE_MESSAGE("this kernel has no RT_GROUP_SCHED");
    TEST_ASSERT_TRUE(told);
}

static void test_a_stack_that_no_machine_has_is_an_error(void)
{
    const struct rt_thread_spec spec = {.name = "x", .cpu = -1, .stack_size = SIZE_MAX / 4};
    TEST_ASSERT_LESS_THAN_INT(0, rt_thread_start(&thread, &spec, look, NULL));
}

static long locked_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "VmLck: %ld", &kib);
    if (file)
        fclose(file);
    return kib;
}

static void lock_and_look(void *self)
{
    char reason[RT_REASON_MAX] = "?";
    (void)self;
    const bool locked = rt_lock_memory(reason);
    const bool truth = locked_kib() > 1000;
    child_exit(locked == truth && locked == (reason[0] == '\0') ? 0 : 1);
}

static void test_memory_is_locked_or_there_is_a_reason(void)
{
    if (!rt_alloc_is_counted())
        TEST_IGNORE_MESSAGE("sanitizers turn mlockall off");
    TEST_ASSERT_TRUE(in_child(lock_and_look, NULL));
}

/* By another user, or by the capability alone. */
static int by_user = true, by_capability = false;

static void give_up_locking(const int *way)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};
    if (*way && geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
        child_exit(2);
    if (syscall(SYS_capget, &head, data) != 0)
        child_exit(2);
    data[0].effective &= ~(1u << CAP_IPC_LOCK);
    data[0].permitted &= ~(1u << CAP_IPC_LOCK);
    if (syscall(SYS_capset, &head, data) != 0)
        child_exit(2);
}

static void lock_without_rights(void *way)
{
    char reason[RT_REASON_MAX];
    const struct rlimit small = {64 << 10, 64 << 10};
    setrlimit(RLIMIT_MEMLOCK, &small);
    give_up_locking(way);
    child_exit(!rt_lock_memory(reason) && strstr(reason, "limit is 64 KiB (ulimit -l)") &&
                       strstr(reason, "CAP_IPC_LOCK") && strstr(reason, "limits.conf")
                   ? 0
                   : 1);
}

static void test_without_rights_memory_is_not_locked_and_it_says_why(void)
{
    if (!rt_alloc_is_counted())
        TEST_IGNORE_MESSAGE("sanitizers turn mlockall off");
    TEST_ASSERT_TRUE(in_child(lock_without_rights, &by_user));
    TEST_ASSERT_TRUE(in_child(lock_without_rights, &by_capability));
}

static bool may_lock(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};
    return syscall(SYS_capget, &head, data) == 0 && (data[0].effective >> CAP_IPC_LOCK & 1);
}

static void lock_what_does_not_fit(void *self)
{
    char reason[RT_REASON_MAX];
    (void)self;
    refuse(SYS_mlockall, 0, MCL_CURRENT | MCL_FUTURE, ENOMEM);
    child_exit(!rt_lock_memory(reason) &&
                       strcmp(reason,
                              "Memory is not locked (Cannot allocate memory): a page that "
                              "was taken away costs a frame; give the machine or its memory "
                              "cgroup more memory.") == 0
                   ? 0
                   : 1);
}

static void test_memory_that_does_not_fit_is_not_locked_and_it_says_why(void)
{
    if (!rt_alloc_is_counted())
        TEST_IGNORE_MESSAGE("sanitizers turn mlockall off");
    if (!may_lock())
        TEST_IGNORE_MESSAGE("this user has no CAP_IPC_LOCK");
    expect_refusal(lock_what_does_not_fit);
}

/* The limit would let mlockall pass, and make what comes after it fail. */
static void lock_with_little_room(void *way)
{
    char reason[RT_REASON_MAX];
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file || fscanf(file, "%ld", &pages) != 1)
        child_exit(2);
    fclose(file);
    const rlim_t bytes = (rlim_t)(pages * sysconf(_SC_PAGESIZE)) + (1 << 20);
    const struct rlimit tight = {bytes, bytes};
    if (setrlimit(RLIMIT_MEMLOCK, &tight) != 0)
        child_exit(77); /* the hard limit is lower still */
    give_up_locking(way);
    const bool locked = rt_lock_memory(reason);
    void *later = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    child_exit(!locked && later != MAP_FAILED ? 0 : 1);
}

static void test_a_lock_never_takes_the_room_of_what_comes_later(void)
{
    if (!rt_alloc_is_counted())
        TEST_IGNORE_MESSAGE("sanitizers turn mlockall off");
    int *const ways[] = {&by_user, &by_capability};
    for (int i = 0; i < 2; i++) {
        const int status = child_status(lock_with_little_room, ways[i]);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
            TEST_IGNORE_MESSAGE("the limit on locked memory is below this program's size");
        TEST_ASSERT_EQUAL_INT(0, status);
    }
}

int main(void)
{
    UNITY_BEGIN();
    /* First: threads leave the process with more mapped than a small limit allows. */
    RUN_TEST(test_a_lock_never_takes_the_room_of_what_comes_later);
    RUN_TEST(test_a_thread_runs_with_its_argument_name_and_number);
    RUN_TEST(test_a_thread_starts_with_its_whole_stack_present);
    RUN_TEST(test_a_thread_takes_its_own_signals_only_and_on_a_stack_of_its_own);
    RUN_TEST(test_a_thread_is_on_its_core_from_the_first_moment);
    RUN_TEST(test_a_core_that_is_not_there_is_refused_and_the_thread_runs);
    RUN_TEST(test_a_thread_gets_its_policy_where_the_kernel_grants_it);
    RUN_TEST(test_an_ordinary_thread_of_a_fifo_starter_is_ordinary);
    RUN_TEST(test_without_rights_a_thread_runs_as_ordinary_and_says_why);
    RUN_TEST(test_what_the_kernel_refuses_is_reported_in_whole_sentences);
    RUN_TEST(test_a_limit_counts_where_the_capability_is_missing);
    RUN_TEST(test_in_a_cgroup_without_budget_it_names_the_file_to_write);
    RUN_TEST(test_a_stack_that_no_machine_has_is_an_error);
    RUN_TEST(test_memory_is_locked_or_there_is_a_reason);
    RUN_TEST(test_memory_that_does_not_fit_is_not_locked_and_it_says_why);
    RUN_TEST(test_without_rights_memory_is_not_locked_and_it_says_why);
    return UNITY_END();
}
