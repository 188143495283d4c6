/*
 * Facts are read from a synthetic /proc and /sys under a temporary root; plans and notes are pure.
 */
#include "rt/machine/machine.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tests/rt/fake_root.h"
#include "unity.h"

static struct rt_machine machine;
static struct rt_core_plan plan;
static char notes[RT_NOTE_MAX][RT_NOTE_SIZE];
static int note_count;

void setUp(void)
{
    make_root();
}

void tearDown(void)
{
    remove_root();
}

static void read_machine(void)
{
    rt_machine_read_from(root, &machine);
}

static void put_status(const char *cpus, const char *caps)
{
    char text[256];
    snprintf(text, sizeof text,
             "Name:\tx\nCapEff:\t%s\nCpus_allowed:\tff\nCpus_allowed_list:\t%s\n", caps, cpus);
    put("/proc/self/status", text);
}

static void expect_cpus(int count, const int *cpus)
{
    TEST_ASSERT_EQUAL_INT(count, machine.cpu_count);
    TEST_ASSERT_EQUAL_INT_ARRAY(cpus, machine.cpus, (unsigned)count);
}

static void test_an_empty_root_gives_cautious_facts(void)
{
    read_machine();
    expect_cpus(1, (int[]){0});
    TEST_ASSERT_EQUAL_INT(0, machine.isolated_count);
    TEST_ASSERT_FALSE(machine.kernel_rt);
    TEST_ASSERT_EQUAL_STRING("", machine.kernel);
    TEST_ASSERT_EQUAL_INT(0, machine.rt_runtime_us);
    TEST_ASSERT_FALSE(machine.rt_group_budget_missing);
    TEST_ASSERT_FALSE(machine.managed_irqs);
    TEST_ASSERT_FALSE(machine.cap_sys_nice || machine.cap_ipc_lock || machine.cap_sys_resource);
    TEST_ASSERT_EQUAL_UINT64(0, machine.memlock_limit);
    TEST_ASSERT_EQUAL_INT(1, machine.numa_nodes);
    TEST_ASSERT_FALSE(machine.tsc_clocksource);
    TEST_ASSERT_FALSE(machine.hypervisor);
}

static void test_usable_cores_are_those_of_the_mask(void)
{
    put_status("0,2-4,7", "0");
    read_machine();
    expect_cpus(5, (int[]){0, 2, 3, 4, 7});
}

static void test_broken_lists_do_no_harm(void)
{
    static const char *const bad[] = {"", "x", "-3", "5-2", "1-", ",,", "300-400", "0-99999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put_status(bad[i], "0");
        read_machine();
        TEST_ASSERT_GREATER_THAN_INT(0, machine.cpu_count);
        TEST_ASSERT_LESS_OR_EQUAL_INT(RT_CPU_MAX, machine.cpu_count);
    }
    TEST_ASSERT_EQUAL_INT(RT_CPU_MAX, machine.cpu_count); /* of the last: all there is room for */
}

/* With isolcpus the mask of every process lacks the isolated cores, but they may be asked for. */
static void test_isolated_cores_are_usable_although_the_mask_lacks_them(void)
{
    put_status("0,4", "0");
    put("/sys/devices/system/cpu/isolated", "1-3,5\n");
    put("/sys/devices/system/cpu/online", "0-5\n");
    read_machine();
    expect_cpus(6, (int[]){0, 1, 2, 3, 4, 5});
    TEST_ASSERT_EQUAL_INT(4, machine.isolated_count);
    static const bool isolated[] = {false, true, true, true, false, true};
    TEST_ASSERT_EQUAL_MEMORY(isolated, machine.isolated, sizeof isolated);
}

static void test_isolated_cores_outside_the_cpuset_are_not_usable(void)
{
    put_status("0", "0");
    put("/sys/devices/system/cpu/isolated", "1-3\n");
    put("/sys/devices/system/cpu/online", "0-3\n");
    put("/proc/self/cgroup", "3:cpuset:/box/inner\n0::/\n");
    put("/proc/self/mountinfo",
        "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n");
    put("/sys/fs/cgroup/cpuset/cpuset.effective_cpus", "0-3\n");
    put("/sys/fs/cgroup/cpuset/box/cpuset.effective_cpus", "0,2\n");
    read_machine();
    expect_cpus(2, (int[]){0, 2});
    TEST_ASSERT_EQUAL_INT(1, machine.isolated_count);
}

static void put_partition(const char *kind)
{
    put_status("2-3", "0");
    put("/sys/devices/system/cpu/isolated", "\n");
    put("/proc/self/cgroup", "0::/rt/run\n");
    put("/proc/self/mountinfo",
        "24 1 0:22 / /sys rw - sysfs sysfs rw\n"
        "41 31 0:38 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
    put("/sys/fs/cgroup/rt/run/cpuset.cpus.partition", "member\n");
    put("/sys/fs/cgroup/rt/cpuset.cpus.partition", kind);
    put("/sys/fs/cgroup/rt/cpuset.cpus.effective", "2-3\n");
}

static void test_the_cores_of_an_isolated_partition_are_isolated(void)
{
    put_partition("isolated\n");
    read_machine();
    expect_cpus(2, (int[]){2, 3});
    TEST_ASSERT_EQUAL_INT(2, machine.isolated_count);
    put_partition("isolated invalid (Parent is not a partition root)\n");
    read_machine();
    TEST_ASSERT_EQUAL_INT(0, machine.isolated_count);
    put_partition("root\n");
    read_machine();
    TEST_ASSERT_EQUAL_INT(0, machine.isolated_count);
}

static void test_a_real_time_kernel_is_known_by_either_mark(void)
{
    put("/proc/version", "Linux version 6.1.0 (x) #1 SMP PREEMPT_DYNAMIC Debian\n");
    read_machine();
    TEST_ASSERT_FALSE(machine.kernel_rt);
    put("/proc/version", "Linux version 6.1.0-rt (x) #1 SMP PREEMPT_RT Debian\n");
    read_machine();
    TEST_ASSERT_TRUE(machine.kernel_rt);
    put("/proc/version", "?\n");
    put("/sys/kernel/realtime", "1\n");
    read_machine();
    TEST_ASSERT_TRUE(machine.kernel_rt);
    put("/sys/kernel/realtime", "0\n");
    read_machine();
    TEST_ASSERT_FALSE(machine.kernel_rt);
}

static void test_the_fair_server_came_with_6_12(void)
{
    static const struct {
        const char *release;
        bool fair_server;
    } kernel[] = {{"5.19.0", false}, {"6.1.0-54-rt-amd64", false}, {"6.11.9", false},
                  {"6.12.0", true},  {"6.18.44-fc", true},         {"7.0-rc1", true}};
    put_status("0-1", "0");
    for (size_t i = 0; i < sizeof kernel / sizeof kernel[0]; i++) {
        put("/proc/sys/kernel/osrelease", kernel[i].release);
        read_machine();
        TEST_ASSERT_EQUAL_STRING(kernel[i].release, machine.kernel);
        TEST_ASSERT_EQUAL_MESSAGE(kernel[i].fair_server, machine.fair_server, kernel[i].release);
    }
    put("/sys/kernel/debug/sched/fair_server/cpu0/runtime", "0\n");
    put("/sys/kernel/debug/sched/fair_server/cpu1/runtime", "50000000\n");
    read_machine();
    TEST_ASSERT_TRUE(machine.fair_server);
    put("/sys/kernel/debug/sched/fair_server/cpu1/runtime", "0\n");
    read_machine();
    TEST_ASSERT_FALSE(machine.fair_server);
}

static void test_throttling_values_are_read_as_they_are(void)
{
    static const long values[] = {950000, 1000000, -1};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[32];
        snprintf(text, sizeof text, "%ld\n", values[i]);
        put("/proc/sys/kernel/sched_rt_runtime_us", text);
        read_machine();
        TEST_ASSERT_EQUAL_INT64(values[i], machine.rt_runtime_us);
    }
}

static void put_v1(const char *path, const char *directory)
{
    char text[512];
    snprintf(text, sizeof text, "4:memory:/m\n2:cpu,cpuacct:%s\n3:cpuset:/other\n0::/\n", path);
    put("/proc/self/cgroup", text);
    snprintf(text, sizeof text,
             "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
             "34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
             "32 31 0:29 %s /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup "
             "rw,cpu,cpuacct\n",
             directory);
    put("/proc/self/mountinfo", text);
}

static void test_a_cgroup_without_real_time_budget_is_found(void)
{
    put_v1("/user/me", "/");
    put("/sys/fs/cgroup/cpu/cpu.rt_runtime_us", "950000\n");
    put("/sys/fs/cgroup/cpu/user/me/cpu.rt_runtime_us", "0\n");
    read_machine();
    TEST_ASSERT_TRUE(machine.rt_group_budget_missing);
    TEST_ASSERT_EQUAL_STRING("/sys/fs/cgroup/cpu/user/me", machine.rt_group);
    put("/sys/fs/cgroup/cpu/user/me/cpu.rt_runtime_us", "100000\n");
    read_machine();
    TEST_ASSERT_FALSE(machine.rt_group_budget_missing);
    put_v1("/", "/");
    read_machine();
    TEST_ASSERT_FALSE(machine.rt_group_budget_missing);
}

static void test_in_a_container_the_cgroup_is_found_below_what_is_mounted(void)
{
    put_v1("/docker/abc/job", "/docker/abc");
    put("/sys/fs/cgroup/cpu/job/cpu.rt_runtime_us", "0\n");
    read_machine();
    TEST_ASSERT_TRUE(machine.rt_group_budget_missing);
    TEST_ASSERT_EQUAL_STRING("/sys/fs/cgroup/cpu/job", machine.rt_group);
}

static void test_a_kernel_without_real_time_groups_misses_no_budget(void)
{
    put_v1("/user/me", "/");
    put("/sys/fs/cgroup/cpu/user/me/cpu.shares", "1024\n");
    read_machine();
    TEST_ASSERT_FALSE(machine.rt_group_budget_missing);
}

static void test_managed_interrupts_are_known_by_driver(void)
{
    static const struct {
        const char *name;
        bool managed;
    } irq[] = {{"virtio1-req.0", true},  {"nvme0q1", true},          {"nvme12q31", true},
               {"nvme0q0", false},       {"virtio2-input.0", false}, {"eth0-rx-0", false},
               {"virtio1-req.0x", false}};
    for (size_t i = 0; i < sizeof irq / sizeof irq[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "           CPU0       CPU1       \n"
                 " 24:          1          0  IO-APIC   5-edge      ACPI:Ged\n"
                 " 36:          0      32946 PCI-MSIX-0000:00:02.0   1-edge      %s\n"
                 "NMI:          0          0   Non-maskable interrupts\nERR:          0\n",
                 irq[i].name);
        put("/proc/interrupts", text);
        read_machine();
        TEST_ASSERT_EQUAL_MESSAGE(irq[i].managed, machine.managed_irqs, irq[i].name);
    }
}

/* CAP_IPC_LOCK is bit 14, CAP_SYS_NICE bit 23, CAP_SYS_RESOURCE bit 24 (capabilities(7)). */
static void test_capabilities_are_those_of_the_mask(void)
{
    put_status("0", "0000000000004000");
    read_machine();
    TEST_ASSERT_TRUE(machine.cap_ipc_lock && !machine.cap_sys_nice && !machine.cap_sys_resource);
    put_status("0", "0000000000800000");
    read_machine();
    TEST_ASSERT_TRUE(!machine.cap_ipc_lock && machine.cap_sys_nice && !machine.cap_sys_resource);
    put_status("0", "000001fffeffffff");
    read_machine();
    TEST_ASSERT_TRUE(machine.cap_ipc_lock && machine.cap_sys_nice && !machine.cap_sys_resource);
    put_status("0", "000001ffffffffff");
    read_machine();
    TEST_ASSERT_TRUE(machine.cap_ipc_lock && machine.cap_sys_nice && machine.cap_sys_resource);
}

static void test_the_memory_limit_is_the_soft_one(void)
{
    put("/proc/self/limits", "Limit                     Soft Limit           Hard Limit   Units\n"
                             "Max locked memory         8388608              unlimited    bytes\n");
    read_machine();
    TEST_ASSERT_EQUAL_UINT64(8388608, machine.memlock_limit);
    put("/proc/self/limits", "Max locked memory         unlimited            unlimited    bytes\n");
    read_machine();
    TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, machine.memlock_limit);
}

static void test_hardware_facts_are_read(void)
{
    put("/sys/devices/system/node/online", "0-1,3\n");
    put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    put("/sys/devices/system/cpu/smt/active", "1\n");
    put("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu sse2 hypervisor lahf_lm\n");
    read_machine();
    TEST_ASSERT_EQUAL_INT(3, machine.numa_nodes);
    TEST_ASSERT_TRUE(machine.tsc_clocksource && machine.smt && machine.hypervisor);
    put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "kvm-clock\n");
    put("/sys/devices/system/cpu/smt/active", "0\n");
    put("/proc/cpuinfo", "flags\t\t: fpu sse2 hypervisors\n");
    read_machine();
    TEST_ASSERT_FALSE(machine.tsc_clocksource || machine.smt || machine.hypervisor);
}

/* The real machine, against system calls the reader does not use. */
static void test_this_machine_agrees_with_its_system_calls(void)
{
    struct utsname name;
    struct rlimit limit;
    cpu_set_t set;
    rt_machine_read(&machine);
    TEST_ASSERT_EQUAL_INT(0, uname(&name));
    TEST_ASSERT_EQUAL_STRING_LEN(name.release, machine.kernel, 63);
    TEST_ASSERT_EQUAL_INT(0, getrlimit(RLIMIT_MEMLOCK, &limit));
    TEST_ASSERT_EQUAL_UINT64(limit.rlim_cur, machine.memlock_limit);
    TEST_ASSERT_EQUAL_INT(0, sched_getaffinity(0, sizeof set, &set));
    TEST_ASSERT_GREATER_OR_EQUAL_INT(CPU_COUNT(&set), machine.cpu_count);
    for (int i = 0; i < machine.cpu_count; i++)
        TEST_ASSERT_TRUE(CPU_ISSET((size_t)machine.cpus[i], &set) ||
                         machine.isolated[machine.cpus[i]]);
}

/* A machine of count cores from 0 on, of which the listed ones are isolated. */
static void make_cores(int count, int isolated_count, const int *isolated)
{
    memset(&machine, 0, sizeof machine);
    machine.cpu_count = count;
    for (int i = 0; i < count; i++)
        machine.cpus[i] = i;
    machine.isolated_count = isolated_count;
    for (int i = 0; i < isolated_count; i++)
        machine.isolated[isolated[i]] = true;
}

static void expect_plan(int frame_cpu, int io_cpu, int housekeeping_cpu, bool io_polls, bool shared)
{
    TEST_ASSERT_EQUAL_INT_MESSAGE(frame_cpu, plan.frame_cpu, plan.reason);
    TEST_ASSERT_EQUAL_INT_MESSAGE(io_cpu, plan.io_cpu, plan.reason);
    TEST_ASSERT_EQUAL_INT_MESSAGE(housekeeping_cpu, plan.housekeeping_cpu, plan.reason);
    TEST_ASSERT_EQUAL_MESSAGE(io_polls, plan.io_polls, plan.reason);
    TEST_ASSERT_EQUAL_MESSAGE(shared, plan.shared, plan.reason);
}

static void make_plan(int frame_cpu, int io_cpu, bool threaded)
{
    TEST_ASSERT_EQUAL_INT(0, rt_core_plan(&machine, frame_cpu, io_cpu, threaded, &plan));
}

static void test_one_core_pins_nothing_and_nothing_spins(void)
{
    make_cores(1, 0, NULL);
    make_plan(-1, -1, true);
    expect_plan(-1, -1, 0, false, true);
    make_plan(0, 0, true);
    expect_plan(0, 0, 0, false, true);
}

static void test_of_two_cores_the_frame_has_the_higher_and_io_blocks(void)
{
    make_cores(2, 0, NULL);
    make_plan(-1, -1, true);
    expect_plan(1, 0, 0, false, false);
    TEST_ASSERT_EQUAL_STRING("The frame has core 1; I/O blocks on core 0, because it shares "
                             "that core and must not spin; core 0 is for housekeeping.",
                             plan.reason);
}

static void test_an_isolated_core_is_the_frame_s_even_when_it_is_the_lower(void)
{
    make_cores(2, 1, (int[]){0});
    make_plan(-1, -1, true);
    expect_plan(0, 1, 1, false, false);
    make_cores(8, 1, (int[]){3});
    make_plan(-1, -1, true);
    expect_plan(3, 7, 0, true, false);
}

static void test_three_cores_let_io_poll(void)
{
    make_cores(3, 0, NULL);
    make_plan(-1, -1, true);
    expect_plan(2, 1, 0, true, false);
    make_cores(8, 2, (int[]){4, 5});
    make_plan(-1, -1, true);
    expect_plan(5, 4, 0, true, false);
    TEST_ASSERT_EQUAL_STRING("The frame has isolated core 5; I/O polls on isolated core 4 of its "
                             "own; core 0 is for housekeeping.",
                             plan.reason);
}

static void test_when_all_cores_are_isolated_one_still_does_the_housekeeping(void)
{
    make_cores(3, 3, (int[]){0, 1, 2});
    make_plan(-1, -1, true);
    expect_plan(2, 1, 0, true, false);
    make_cores(2, 2, (int[]){0, 1});
    make_plan(-1, -1, true);
    expect_plan(1, 0, 0, false, false);
}

static void test_inline_io_has_no_core(void)
{
    make_cores(4, 0, NULL);
    make_plan(-1, -1, false);
    expect_plan(3, -1, 0, false, false);
    make_plan(2, 3, false);
    expect_plan(2, -1, 0, false, false);
}

static void test_the_scenario_s_choice_is_kept(void)
{
    make_cores(4, 0, NULL);
    make_plan(0, 2, true);
    expect_plan(0, 2, 1, true, false);
    make_plan(-1, 3, true);
    expect_plan(2, 3, 0, true, false);
    make_plan(1, 1, true);
    expect_plan(1, 1, 0, false, true);
}

static void test_a_choice_without_a_housekeeping_core_makes_io_block(void)
{
    make_cores(2, 0, NULL);
    make_plan(0, 1, true);
    expect_plan(0, 1, 1, false, false);
    make_plan(-1, 1, true);
    expect_plan(0, 1, 1, false, false);
}

static void test_a_core_that_is_not_usable_is_an_error(void)
{
    make_cores(2, 0, NULL);
    TEST_ASSERT_EQUAL_INT(-EINVAL, rt_core_plan(&machine, 2, -1, true, &plan));
    TEST_ASSERT_NOT_NULL(strstr(plan.reason, "core 2 "));
    TEST_ASSERT_EQUAL_INT(-EINVAL, rt_core_plan(&machine, 1, 9, true, &plan));
    TEST_ASSERT_NOT_NULL(strstr(plan.reason, "core 9 "));
}

/* Whatever the machine and the choice: nothing that spins shares the house's core. */
static void test_nothing_ever_spins_on_the_last_housekeeping_core(void)
{
    for (int count = 1; count <= 6; count++)
        for (unsigned set = 0; set < 1u << count; set++)
            for (int frame = -1; frame < count; frame++)
                for (int io = -1; io < count; io++) {
                    make_cores(count, 0, NULL);
                    for (int i = 0; i < count; i++)
                        machine.isolated[i] = set >> i & 1;
                    make_plan(frame, io, true);
                    TEST_ASSERT_TRUE(plan.housekeeping_cpu >= 0 && plan.housekeeping_cpu < count);
                    if (plan.io_polls)
                        TEST_ASSERT_TRUE(plan.io_cpu != plan.housekeeping_cpu &&
                                         plan.io_cpu != plan.frame_cpu && count >= 3);
                    if (count > 1 && !(frame >= 0 && frame == io))
                        TEST_ASSERT_FALSE(plan.shared);
                    TEST_ASSERT_TRUE(frame < 0 || plan.frame_cpu == frame);
                    TEST_ASSERT_TRUE(io < 0 || plan.io_cpu == io);
                }
}

/* A machine nothing can be said against. */
static void make_ideal(void)
{
    make_cores(4, 2, (int[]){2, 3});
    machine.kernel_rt = true;
    strcpy(machine.kernel, "6.12.1-rt");
    machine.rt_runtime_us = -1;
    machine.cap_sys_nice = machine.cap_ipc_lock = machine.cap_sys_resource = true;
    machine.memlock_limit = UINT64_MAX;
    machine.tsc_clocksource = true;
}

static void make_notes(void)
{
    make_plan(-1, -1, true);
    note_count = rt_machine_notes(&machine, &plan, notes);
}

/* One note, and it has all of these words. */
static void expect_note(const char *fact, const char *cost, const char *remedy)
{
    make_notes();
    TEST_ASSERT_EQUAL_INT(1, note_count);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(notes[0], fact), notes[0]);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(notes[0], cost), notes[0]);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(notes[0], remedy), notes[0]);
    TEST_ASSERT_EQUAL_INT('.', notes[0][strlen(notes[0]) - 1]);
    make_ideal();
}

static void test_an_ideal_machine_gets_no_notes(void)
{
    make_ideal();
    machine.fair_server = true;  /* harmless on an isolated core */
    machine.managed_irqs = true; /* likewise */
    machine.cap_sys_resource = false;
    make_notes();
    TEST_ASSERT_EQUAL_INT(0, note_count);
}

static void test_each_fact_gets_its_note(void)
{
    make_ideal();
    machine.kernel_rt = false;
    expect_note("6.12.1-rt is not PREEMPT_RT", "milliseconds", "real-time kernel");
    machine.tsc_clocksource = false;
    expect_note("not tsc", "slow", "tsc=reliable");
    machine.hypervisor = true;
    expect_note("virtual machine", "take the core away", "host");
    machine.smt = true;
    expect_note("Hyper-threading", "slows", "nosmt");
    machine.rt_runtime_us = 950000;
    expect_note("950000", "as the polling I/O does", "-1 to /proc/sys/kernel/sched_rt_runtime_us");
    strcpy(machine.rt_group, "/sys/fs/cgroup/cpu/x");
    machine.rt_group_budget_missing = true;
    expect_note("no real-time budget", "refused", "/sys/fs/cgroup/cpu/x/cpu.rt_runtime_us");
    machine.cap_sys_nice = false;
    expect_note("CAP_SYS_NICE", "delay", "rtprio");
    machine.isolated[2] = machine.isolated[3] = false;
    expect_note("core 3 is not isolated", "other tasks", "isolcpus=domain,managed_irq,3");
    machine.cap_ipc_lock = false;
    machine.memlock_limit = 8 << 20;
    expect_note("8192 KiB", "costs a frame", "memlock unlimited");
}

static void test_on_a_core_that_is_not_isolated_more_can_disturb(void)
{
    make_ideal();
    machine.isolated[2] = machine.isolated[3] = false;
    machine.fair_server = machine.managed_irqs = true;
    make_notes();
    TEST_ASSERT_EQUAL_INT(3, note_count);
    TEST_ASSERT_NOT_NULL(strstr(notes[1], "managed"));
    TEST_ASSERT_NOT_NULL(strstr(notes[2], "fair server"));
}

static void test_cap_sys_resource_is_missed_only_with_a_low_limit(void)
{
    make_ideal();
    machine.cap_ipc_lock = machine.cap_sys_resource = false;
    make_notes();
    TEST_ASSERT_EQUAL_INT(0, note_count);
    machine.memlock_limit = 1 << 20;
    make_notes();
    TEST_ASSERT_EQUAL_INT(2, note_count);
    TEST_ASSERT_NOT_NULL(strstr(notes[1], "CAP_SYS_RESOURCE"));
}

static void test_few_cores_are_noted(void)
{
    make_ideal();
    machine.cpu_count = 2;
    machine.isolated[1] = true;
    expect_note("two cores", "I/O blocks", "three cores");
    machine.cpu_count = 1;
    expect_note("one core", "delays the frame", "at least two");
}

static void test_the_worst_machine_s_notes_all_fit(void)
{
    rt_machine_read_from(root, &machine);
    machine.smt = machine.fair_server = machine.managed_irqs = machine.hypervisor = true;
    machine.rt_group_budget_missing = true;
    machine.rt_runtime_us = 950000;
    memset(machine.rt_group, 'g', sizeof machine.rt_group - 1);
    memset(machine.kernel, 'k', sizeof machine.kernel - 1);
    for (int count = 1; count <= 3; count++) {
        machine.cpu_count = count;
        machine.cpus[count - 1] = count - 1;
        make_notes();
        TEST_ASSERT_GREATER_THAN_INT(10, note_count);
        for (int i = 0; i < note_count; i++)
            TEST_ASSERT_EQUAL_INT('.', notes[i][strlen(notes[i]) - 1]);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_an_empty_root_gives_cautious_facts);
    RUN_TEST(test_usable_cores_are_those_of_the_mask);
    RUN_TEST(test_broken_lists_do_no_harm);
    RUN_TEST(test_isolated_cores_are_usable_although_the_mask_lacks_them);
    RUN_TEST(test_isolated_cores_outside_the_cpuset_are_not_usable);
    RUN_TEST(test_the_cores_of_an_isolated_partition_are_isolated);
    RUN_TEST(test_a_real_time_kernel_is_known_by_either_mark);
    RUN_TEST(test_the_fair_server_came_with_6_12);
    RUN_TEST(test_throttling_values_are_read_as_they_are);
    RUN_TEST(test_a_cgroup_without_real_time_budget_is_found);
    RUN_TEST(test_in_a_container_the_cgroup_is_found_below_what_is_mounted);
    RUN_TEST(test_a_kernel_without_real_time_groups_misses_no_budget);
    RUN_TEST(test_managed_interrupts_are_known_by_driver);
    RUN_TEST(test_capabilities_are_those_of_the_mask);
    RUN_TEST(test_the_memory_limit_is_the_soft_one);
    RUN_TEST(test_hardware_facts_are_read);
    RUN_TEST(test_this_machine_agrees_with_its_system_calls);
    RUN_TEST(test_one_core_pins_nothing_and_nothing_spins);
    RUN_TEST(test_of_two_cores_the_frame_has_the_higher_and_io_blocks);
    RUN_TEST(test_an_isolated_core_is_the_frame_s_even_when_it_is_the_lower);
    RUN_TEST(test_three_cores_let_io_poll);
    RUN_TEST(test_when_all_cores_are_isolated_one_still_does_the_housekeeping);
    RUN_TEST(test_inline_io_has_no_core);
    RUN_TEST(test_the_scenario_s_choice_is_kept);
    RUN_TEST(test_a_choice_without_a_housekeeping_core_makes_io_block);
    RUN_TEST(test_a_core_that_is_not_usable_is_an_error);
    RUN_TEST(test_nothing_ever_spins_on_the_last_housekeeping_core);
    RUN_TEST(test_an_ideal_machine_gets_no_notes);
    RUN_TEST(test_each_fact_gets_its_note);
    RUN_TEST(test_on_a_core_that_is_not_isolated_more_can_disturb);
    RUN_TEST(test_cap_sys_resource_is_missed_only_with_a_low_limit);
    RUN_TEST(test_few_cores_are_noted);
    RUN_TEST(test_the_worst_machine_s_notes_all_fit);
    return UNITY_END();
}
