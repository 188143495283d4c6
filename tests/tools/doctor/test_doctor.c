/*
 * Findings on a synthetic machine: an ideal one, and for each finding what makes it worse.  Changes
 * are made to such a machine and taken back.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <unistd.h>

#include "rt/machine/sysroot.h"
#include "tests/rt/fake_root.h"
#include "tools/airbearing/doctor/change.h"
#include "tools/airbearing/doctor/finding.h"
#include "tools/airbearing/doctor/tune.h"
#include "unity.h"

static struct doctor_facts facts;
static struct doctor_findings findings;
static struct tune tune;
static struct tune_options no_options;
static char why[CHANGE_WHY_SIZE], stays[1024];

static const char all_caps[] = "Name:\tx\nCapEff:\t000001ffffffffff\nCpus_allowed_list:\t0-1\n";
static const char no_caps[] = "Name:\tx\nCapEff:\t0000000000000000\nCpus_allowed_list:\t0-1\n";
static const char limits[] = "Max locked memory         unlimited   unlimited    bytes\n"
                             "Max realtime priority     0           0\n";
static const char interrupts[] =
    "           CPU0       CPU1       CPU2\n"
    "  4:         17          5          0  IO-APIC   4-edge      ttyS0\n"
    " 30:          1          2          9  PCI-MSIX-0000:00:03.0   1-edge      eth0-rx\n"
    " 36:          0          0         77  PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n"
    "LOC:    1150824    1327773    4  Local timer interrupts\n";
static const char flags[] = "flags\t\t: fpu constant_tsc nonstop_tsc tsc_known_freq\n";

/* Bare metal, two ordinary cores, and core 2 for the frame alone. */
static void make_ideal(void)
{
    remove_root();
    make_root();
    put("/proc/sys/kernel/osrelease", "6.12.1-rt\n");
    put("/sys/kernel/realtime", "1\n");
    put("/proc/self/status", all_caps);
    put("/proc/self/limits", limits);
    put("/proc/cmdline", "quiet isolcpus=domain,managed_irq,2 nohz_full=2 rcu_nocbs=2\n");
    put("/proc/interrupts", interrupts);
    put("/proc/irq/4/smp_affinity_list", "0-2\n");
    put("/proc/irq/4/effective_affinity_list", "0\n");
    put("/proc/irq/30/smp_affinity_list", "0-2\n");
    put("/proc/irq/30/effective_affinity_list", "1\n");
    put("/proc/irq/36/smp_affinity_list", "0-2\n");
    put("/proc/irq/36/effective_affinity_list", "0\n");
    put("/sys/devices/system/cpu/online", "0-2\n");
    put("/sys/devices/system/cpu/isolated", "2\n");
    put("/sys/devices/system/cpu/nohz_full", "2\n");
    put("/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "performance\n");
    put("/sys/devices/system/cpu/cpu2/cpuidle/state0/latency", "0\n");
    put("/sys/devices/system/cpu/cpu2/cpuidle/state0/name", "POLL\n");
    put("/sys/devices/system/cpu/cpu2/cpuidle/state1/latency", "2\n");
    put("/sys/devices/system/cpu/cpu2/cpuidle/state1/name", "C1\n");
    put("/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2\n");
    put("/sys/devices/system/node/online", "0\n");
    put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    put("/sys/devices/virtual/workqueue/cpumask", "3\n");
    put("/sys/kernel/debug/sched/fair_server/cpu0/runtime", "50000000\n");
    put("/sys/kernel/debug/sched/fair_server/cpu1/runtime", "50000000\n");
    put("/sys/kernel/debug/sched/fair_server/cpu2/runtime", "0\n");
    put("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
    put("/proc/sys/kernel/sched_rt_runtime_us", "-1\n");
    put("/proc/sys/kernel/timer_migration", "0\n");
    put("/proc/meminfo", "MemTotal: 1 kB\nHugePages_Free:    64\nHugepagesize:    2048 kB\n");
    put("/proc/swaps", "Filename Type Size Used Priority\n");
    put("/proc/cpuinfo", flags);
    put("/proc/stat", "cpu  9 9 9 9 9 9 9 9 0 0\ncpu2 1 2 3 4 5 6 7 0 0 0\n");
    put("/proc/1/comm", "init\n");
    put("/dev/cpu_dma_latency", "");
    char registers[0x34 + 9] = "";
    memset(registers, 'x', 0x34);
    memcpy(registers + 0x34, "\5\0\0\0\0\0\0\0", 8);
    char name[128];
    put("/dev/cpu/2/msr", "");
    snprintf(name, sizeof name, "%s/dev/cpu/2/msr", root);
    FILE *file = fopen(name, "we");
    fwrite(registers, 1, 0x34 + 8, file);
    fclose(file);
}

static void read_facts(void)
{
    memset(&facts, 0, sizeof facts);
    rt_machine_read_from(root, &facts.machine);
    TEST_ASSERT_EQUAL_INT(0, rt_core_plan(&facts.machine, -1, -1, true, &facts.plan));
    const int cpu = facts.plan.frame_cpu >= 0 ? facts.plan.frame_cpu : 0;
    rt_audit_read(root, &facts.machine, cpu, &facts.audit);
    facts.uring = (struct doctor_uring){.defer = true, .multishot = true};
    rt_core_counters_read(root, cpu, &facts.before);
    facts.after = facts.before;
}

static void read_and_examine(void)
{
    read_facts();
    doctor_examine(&facts, &findings);
}

static const struct doctor_finding *find(const char *name)
{
    for (int i = 0; i < findings.count; i++)
        if (strcmp(findings.finding[i].name, name) == 0)
            return &findings.finding[i];
    TEST_FAIL_MESSAGE(name);
    return NULL;
}

static void expect(const char *name, enum doctor_state state, const char *seen)
{
    const struct doctor_finding *finding = find(name);
    char message[1024];
    snprintf(message, sizeof message, "%s: %s", name, finding->seen);
    TEST_ASSERT_EQUAL_STRING_MESSAGE(doctor_state_name[state], doctor_state_name[finding->state],
                                     message);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(finding->seen, seen), message);
}

void setUp(void)
{
    make_root();
    make_ideal();
}

void tearDown(void)
{
    remove_root();
}

static void drop(const char *path)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s", root, path);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, remove(name), name);
}

static void expect_text(const char *path, const char *text)
{
    char line[RT_LINE_SIZE];
    TEST_ASSERT_TRUE_MESSAGE(rt_sysroot_first_line(root, path, line), path);
    TEST_ASSERT_EQUAL_STRING_MESSAGE(text, line, path);
}

/* --- findings --------------------------------------------------------------------------------- */

static void test_an_ideal_machine_is_fit_and_has_nothing_to_remedy(void)
{
    read_and_examine();
    TEST_ASSERT_EQUAL_INT(2, facts.audit.cpu);
    for (int i = 0; i < findings.count; i++) {
        expect(findings.finding[i].name, DOCTOR_OK, "");
        TEST_ASSERT_EQUAL_STRING("", findings.finding[i].remedy);
    }
    TEST_ASSERT_EQUAL_INT(0, doctor_missing(&findings));
    TEST_ASSERT_GREATER_THAN_INT(8, doctor_essential(&findings));
}

/* One file of the ideal machine says something else, or nothing (NULL), and one finding changes. */
static const struct {
    const char *finding;
    const char *path, *text;
    enum doctor_state state;
    const char *seen;
} cases[] = {
    {"preempt-rt", "/sys/kernel/realtime", "0\n", DOCTOR_BAD, "6.12.1-rt is not"},
    {"isolated", "/sys/devices/system/cpu/isolated", "\n", DOCTOR_BAD, "core 1 is not isolated"},
    {"cores", "/proc/self/status", "CapEff:\tffffffffff\nCpus_allowed_list:\t0\n", DOCTOR_WARN,
     "two cores"},
    {"nohz-full", "/sys/devices/system/cpu/nohz_full", "(null)\n", DOCTOR_WARN, "core 2 ticks"},
    {"nohz-full", "/sys/devices/system/cpu/nohz_full", "0-1\n", DOCTOR_WARN, "core 2 ticks"},
    {"nohz-full", "/sys/devices/system/cpu/nohz_full", NULL, DOCTOR_WARN, "core 2 ticks"},
    {"workqueues", "/sys/devices/virtual/workqueue/cpumask", "7\n", DOCTOR_WARN, "core 2"},
    {"workqueues", "/sys/devices/virtual/workqueue/cpumask", "f,00000000\n", DOCTOR_OK, ""},
    {"workqueues", "/sys/devices/virtual/workqueue/cpumask", NULL, DOCTOR_UNKNOWN, ""},
    {"interrupts", "/proc/irq/30/effective_affinity_list", "1-2\n", DOCTOR_WARN, "30 eth0-rx x9"},
    {"interrupts", "/proc/irq/4/effective_affinity_list", NULL, DOCTOR_WARN, "4 ttyS0 x0"},
    {"interrupts", "/proc/irq/36/effective_affinity_list", "2\n", DOCTOR_OK, "no movable"},
    {"interrupts", "/proc/irq/4/smp_affinity_list", NULL, DOCTOR_OK, "no movable"},
    {"managed-interrupts", "/proc/irq/36/effective_affinity_list", "2\n", DOCTOR_WARN,
     "36 virtio1-req.0 x77"},
    {"governor", "/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n",
     DOCTOR_WARN, "powersave on core 2"},
    {"governor", "/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", NULL, DOCTOR_UNKNOWN,
     "the firmware decides"},
    {"c-states", "/sys/devices/system/cpu/cpu2/cpuidle/state0/latency", NULL, DOCTOR_UNKNOWN, ""},
    {"c-states", "/sys/devices/system/cpu/cpu2/cpuidle/state1/latency", "130\n", DOCTOR_OK,
     "C1 takes 130 us to wake; a run holds it off"},
    {"throttling", "/proc/sys/kernel/sched_rt_runtime_us", "950000\n", DOCTOR_BAD,
     "950000, and the I/O thread polls"},
    {"throttling", "/proc/sys/kernel/sched_rt_runtime_us", "0\n", DOCTOR_BAD, "no real-time"},
    {"throttling", "/proc/sys/kernel/sched_rt_runtime_us", NULL, DOCTOR_UNKNOWN, ""},
    {"cap-sys-nice", "/proc/self/status", no_caps, DOCTOR_BAD, "ulimit -r is 0"},
    {"memory-lock", "/proc/self/limits", "", DOCTOR_OK, "CAP_IPC_LOCK outweighs"},
    {"cap-ipc-lock", "/proc/self/status", no_caps, DOCTOR_WARN, "no CAP_IPC_LOCK"},
    {"clock-source", "/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n",
     DOCTOR_WARN, "hpet"},
    {"clock-source", "/sys/devices/system/clocksource/clocksource0/current_clocksource",
     "refined-jiffies\n", DOCTOR_BAD, "jiffies"},
    {"clock-source", "/sys/devices/system/clocksource/clocksource0/current_clocksource", NULL,
     DOCTOR_UNKNOWN, ""},
    {"tsc", "/proc/cpuinfo", "flags\t: fpu constant_tsc\n", DOCTOR_WARN, "not nonstop"},
    {"tsc", "/proc/cpuinfo", "flags\t: fpu nonstop_tsc\n", DOCTOR_WARN, "not constant"},
    {"tsc", "/proc/cpuinfo", "flags\t: constant_tsc nonstop_tsc\n", DOCTOR_OK, "keeps watching"},
    {"tsc", "/proc/cpuinfo", NULL, DOCTOR_UNKNOWN, ""},
    {"timer-migration", "/proc/sys/kernel/timer_migration", "1\n", DOCTOR_BAD,
     "core 2 is nohz_full"},
    {"timer-migration", "/proc/sys/kernel/timer_migration", NULL, DOCTOR_UNKNOWN, ""},
    {"smt", "/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "0,2\n", DOCTOR_WARN,
     "the twin 0"},
    {"smt", "/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", NULL, DOCTOR_UNKNOWN, ""},
    {"huge-pages", "/proc/meminfo", "HugePages_Free: 0\nHugepagesize: 2048 kB\n", DOCTOR_WARN,
     "none"},
    {"huge-pages", "/proc/meminfo", NULL, DOCTOR_UNKNOWN, ""},
    {"thp", "/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n", DOCTOR_WARN,
     "always"},
    {"thp", "/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n", DOCTOR_OK,
     "madvise"},
    {"thp", "/sys/kernel/mm/transparent_hugepage/enabled", NULL, DOCTOR_UNKNOWN, ""},
    {"swap", "/proc/swaps", "Filename Type\n/dev/sda2 partition\n/f file\n", DOCTOR_WARN,
     "/dev/sda2 and more"},
    {"swap", "/proc/swaps", NULL, DOCTOR_UNKNOWN, ""},
    {"time-daemons", "/proc/1/comm", "chronyd\n", DOCTOR_OK, "chronyd"},
    {"time-daemons", "/proc/1/comm", NULL, DOCTOR_UNKNOWN, ""},
    {"smi", "/dev/cpu/2/msr", "short", DOCTOR_UNKNOWN, ""},
    {"virtualization", "/proc/cpuinfo", "flags\t: constant_tsc nonstop_tsc hypervisor\n",
     DOCTOR_WARN, "virtual"},
    {"steal", "/proc/stat", "cpu2 1 2 3 4 5 6 7 8 0 0\n", DOCTOR_WARN, "80 ms since boot"},
    {"steal", "/proc/stat", "cpu2 1 2 3 4\n", DOCTOR_UNKNOWN, ""},
};

static void test_each_finding_follows_its_file(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make_ideal();
        if (cases[i].text)
            put(cases[i].path, cases[i].text);
        else
            drop(cases[i].path);
        read_and_examine();
        expect(cases[i].finding, cases[i].state, cases[i].seen);
        const struct doctor_finding *finding = find(cases[i].finding);
        if (finding->state == DOCTOR_BAD || finding->state == DOCTOR_WARN)
            TEST_ASSERT_TRUE_MESSAGE(finding->remedy[0] != '\0', finding->name);
        /* An essential thing that is bad or unknown makes the machine unfit, nothing else does. */
        const bool missing = finding->essential &&
                             (finding->state == DOCTOR_BAD || finding->state == DOCTOR_UNKNOWN);
        if (missing)
            TEST_ASSERT_GREATER_THAN_INT_MESSAGE(0, doctor_missing(&findings), finding->name);
        else if (strcmp(finding->name, "cap-ipc-lock") != 0)
            TEST_ASSERT_EQUAL_INT_MESSAGE(0, doctor_missing(&findings), finding->name);
    }
}

static void test_an_empty_machine_is_not_fit(void)
{
    remove_root();
    make_root();
    read_and_examine();
    TEST_ASSERT_GREATER_THAN_INT(6, doctor_missing(&findings));
    for (int i = 0; i < findings.count; i++)
        TEST_ASSERT_TRUE_MESSAGE(findings.finding[i].state != DOCTOR_OK ||
                                     !findings.finding[i].essential ||
                                     strcmp(findings.finding[i].name, "rt-group") == 0,
                                 findings.finding[i].name);
}

static void test_deep_idle_states_count_when_they_cannot_be_held_off(void)
{
    put("/sys/devices/system/cpu/cpu2/cpuidle/state1/latency", "130\n");
    drop("/dev/cpu_dma_latency");
    read_and_examine();
    expect("c-states", DOCTOR_WARN, "C1 takes 130 us");
    put("/sys/devices/system/cpu/cpu2/cpuidle/state1/disable", "1\n");
    read_and_examine();
    expect("c-states", DOCTOR_OK, "at most 0 us");
}

static void test_rcu_callbacks_are_known_by_boot_line_or_thread(void)
{
    static const char *const quiet = "/sys/devices/system/cpu/nohz_full";
    put(quiet, "\n");
    put("/proc/cmdline", "rcu_nocbs=1\n");
    read_and_examine();
    expect("rcu-nocbs", DOCTOR_WARN, "core 2");
    static const char *const given[] = {"rcu_nocbs\n", "a rcu_nocbs=all b\n", "rcu_nocbs=1-3\n"};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        put("/proc/cmdline", given[i]);
        read_and_examine();
        expect("rcu-nocbs", DOCTOR_OK, "core 2");
    }
    put("/proc/cmdline", "rcu_nocbs_x=2 xrcu_nocbs=2\n");
    read_and_examine();
    expect("rcu-nocbs", DOCTOR_WARN, "");
    put("/proc/77/comm", "rcuop/2\n");
    read_and_examine();
    expect("rcu-nocbs", DOCTOR_OK, "");
    put("/proc/77/comm", "rcuop/1\n");
    drop("/proc/cmdline");
    read_and_examine();
    expect("rcu-nocbs", DOCTOR_UNKNOWN, "");
    put(quiet, "2\n");
    read_and_examine();
    expect("rcu-nocbs", DOCTOR_OK, "");
}

static void test_timers_stay_on_a_core_that_ticks(void)
{
    put("/proc/sys/kernel/timer_migration", "1\n");
    put("/sys/devices/system/cpu/nohz_full", "\n");
    read_and_examine();
    expect("timer-migration", DOCTOR_OK, "keeps its timers");
    TEST_ASSERT_EQUAL_INT(0, doctor_missing(&findings));
}

static void test_the_fair_server_counts_where_tasks_can_starve(void)
{
    put("/sys/kernel/debug/sched/fair_server/cpu2/runtime", "50000000\n");
    read_and_examine();
    expect("fair-server", DOCTOR_OK, "nothing to serve");
    facts.machine.isolated[2] = false;
    doctor_examine(&facts, &findings);
    expect("fair-server", DOCTOR_WARN, "core 2");
    facts.machine.fair_server = false;
    doctor_examine(&facts, &findings);
    expect("fair-server", DOCTOR_OK, "none");
}

static void test_throttling_is_bearable_where_nothing_polls(void)
{
    put("/proc/sys/kernel/sched_rt_runtime_us", "950000\n");
    read_and_examine();
    facts.plan.io_polls = false;
    doctor_examine(&facts, &findings);
    expect("throttling", DOCTOR_WARN, "950000");
    TEST_ASSERT_EQUAL_INT(0, doctor_missing(&findings));
}

static void test_one_core_is_too_few(void)
{
    read_and_examine();
    facts.machine.cpu_count = 1;
    doctor_examine(&facts, &findings);
    expect("cores", DOCTOR_BAD, "one core");
    TEST_ASSERT_EQUAL_INT(1, doctor_missing(&findings));
}

static void test_a_cgroup_without_budget_is_bad(void)
{
    put("/proc/self/cgroup", "1:cpu:/box\n");
    put("/proc/self/mountinfo", "34 31 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
    put("/sys/fs/cgroup/cpu/box/cpu.rt_runtime_us", "0\n");
    read_and_examine();
    expect("rt-group", DOCTOR_BAD, "/sys/fs/cgroup/cpu/box has no");
    put("/sys/fs/cgroup/cpu/box/cpu.rt_runtime_us", "10000\n");
    read_and_examine();
    expect("rt-group", DOCTOR_OK, "has a budget");
}

static void test_a_limit_on_priority_does_for_the_capability(void)
{
    put("/proc/self/status", no_caps);
    put("/proc/self/limits", "Max locked memory         268435456   unlimited    bytes\n"
                             "Max realtime priority     99          99\n");
    read_and_examine();
    expect("cap-sys-nice", DOCTOR_OK, "ulimit -r");
    expect("memory-lock", DOCTOR_OK, "262144 KiB");
    TEST_ASSERT_EQUAL_INT(0, doctor_missing(&findings));
    put("/proc/self/limits", "Max locked memory         268435455   unlimited    bytes\n"
                             "Max realtime priority     89          99\n");
    read_and_examine();
    expect("cap-sys-nice", DOCTOR_BAD, "89");
    expect("memory-lock", DOCTOR_BAD, "262143 KiB");
    drop("/proc/self/limits");
    read_and_examine();
    expect("cap-sys-nice", DOCTOR_UNKNOWN, "");
}

static void test_managed_interrupts_are_known_from_debugfs_too(void)
{
    put("/proc/irq/30/effective_affinity_list", "2\n");
    put("/sys/kernel/debug/irq/irqs/30", "handler:  x\ndstate:   0x1\n  IRQD_AFFINITY_MANAGED\n");
    read_and_examine();
    expect("interrupts", DOCTOR_OK, "");
    expect("managed-interrupts", DOCTOR_WARN, "30 eth0-rx");
}

static void test_an_interrupt_that_was_sent_elsewhere_counts_no_more(void)
{
    put("/proc/irq/30/effective_affinity_list", "2\n");
    put("/proc/irq/30/smp_affinity_list", "0-1\n");
    read_and_examine();
    expect("interrupts", DOCTOR_OK, "no movable");
}

static void test_managed_and_movable_interrupts_are_named_apart(void)
{
    put("/proc/irq/30/effective_affinity_list", "2\n");
    put("/proc/irq/36/effective_affinity_list", "2\n");
    read_and_examine();
    expect("interrupts", DOCTOR_WARN, "1 movable on core 2: 30 eth0-rx x9");
    TEST_ASSERT_NULL(strstr(find("interrupts")->seen, "virtio"));
    expect("managed-interrupts", DOCTOR_WARN, "1 on core 2: 36 virtio1-req.0 x77");
    TEST_ASSERT_NULL(strstr(find("managed-interrupts")->seen, "eth0"));
}

static void test_a_number_without_a_device_is_no_interrupt(void)
{
    put("/proc/irq/7/smp_affinity_list", "0-2\n");
    put("/proc/irq/7/effective_affinity_list", "2\n");
    put("/proc/irq/default_smp_affinity", "7\n");
    read_and_examine();
    expect("interrupts", DOCTOR_OK, "no movable");
}

/* Groups of 32 bits, the highest first: core 35 is bit 3 of the second group. */
static void test_a_mask_of_many_cores_is_read_at_the_right_bit(void)
{
    put("/sys/devices/virtual/workqueue/cpumask", "8,00010000\n");
    read_facts();
    for (int cpu = 15; cpu <= 36; cpu++) {
        rt_audit_read(root, &facts.machine, cpu, &facts.audit);
        TEST_ASSERT_EQUAL_INT(cpu == 35 || cpu == 16 ? RT_YES : RT_NO, facts.audit.workqueues);
    }
}

static void test_a_kernel_without_transparent_huge_pages_has_no_trouble_with_them(void)
{
    drop("/sys/kernel/mm/transparent_hugepage/enabled");
    drop("/sys/kernel/mm/transparent_hugepage");
    read_and_examine();
    expect("thp", DOCTOR_OK, "none");
}

static void test_nodes_count_when_pages_move(void)
{
    put("/sys/devices/system/node/online", "0-1\n");
    read_and_examine();
    expect("numa", DOCTOR_UNKNOWN, "2 nodes");
    put("/sys/devices/system/node/node1/cpulist", "2\n");
    put("/sys/devices/system/node/node0/cpulist", "0-1\n");
    put("/proc/sys/kernel/numa_balancing", "1\n");
    read_and_examine();
    expect("numa", DOCTOR_WARN, "moves pages");
    put("/proc/sys/kernel/numa_balancing", "0\n");
    read_and_examine();
    expect("numa", DOCTOR_OK, "on node 1");
}

static void test_an_isolated_twin_is_no_trouble(void)
{
    put("/sys/devices/system/cpu/isolated", "1-2\n");
    put("/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "1-2\n");
    read_and_examine();
    expect("smt", DOCTOR_OK, "the twin 1, isolated too");
}

static void test_two_daemons_that_steer_the_system_clock_are_one_too_many(void)
{
    put("/proc/10/comm", "ptp4l\n");
    put("/proc/11/comm", "phc2sys\n");
    put("/sys/class/ptp/ptp0/x", "");
    read_and_examine();
    expect("time-daemons", DOCTOR_OK, "1 PTP clock");
    put("/proc/12/comm", "systemd-timesyn\n");
    read_and_examine();
    expect("time-daemons", DOCTOR_WARN, "systemd-timesyn");
}

static void test_io_uring_is_tried(void)
{
    read_and_examine();
    facts.uring = (struct doctor_uring){.error = ENOSYS};
    doctor_examine(&facts, &findings);
    expect("io-uring", DOCTOR_WARN, "not implemented");
    facts.uring = (struct doctor_uring){.multishot = true};
    doctor_examine(&facts, &findings);
    expect("io-uring", DOCTOR_WARN, "without deferred completions (6.1)");
    put("/proc/sys/kernel/io_uring_disabled", "2\n");
    read_and_examine();
    expect("io-uring", DOCTOR_WARN, "io_uring_disabled");
}

/* --- what was measured ------------------------------------------------------------------------ */

static void make_measured(void)
{
    read_facts();
    facts.measured = true;
    facts.baseline.thread.policy = SCHED_FIFO;
    facts.baseline.thread.cpu = 2;
    for (uint64_t i = 1; i <= 100; i++)
        rt_histogram_add(&facts.baseline.wake_latency, i * 100, i);
    facts.baseline.spun_ns = 400000000;
}

static void test_gaps_beyond_the_limit_make_it_unfit(void)
{
    make_measured();
    facts.baseline.gap_count = 1;
    facts.baseline.gap_ns_max = facts.baseline.gap_ns_total = DOCTOR_GAP_BAD_NS;
    doctor_examine(&facts, &findings);
    expect("gaps", DOCTOR_WARN, "longest 1.000 ms");
    TEST_ASSERT_EQUAL_INT(0, doctor_missing(&findings));
    facts.baseline.gap_ns_max++;
    doctor_examine(&facts, &findings);
    expect("gaps", DOCTOR_BAD, "1 over 10 us in 0.40 s");
    TEST_ASSERT_EQUAL_INT(1, doctor_missing(&findings));
    facts.baseline.gap_ns_max = DOCTOR_GAP_WARN_NS;
    doctor_examine(&facts, &findings);
    expect("gaps", DOCTOR_OK, "");
}

static void test_a_late_timer_alone_does_not_make_it_unfit(void)
{
    make_measured();
    doctor_examine(&facts, &findings);
    expect("timer", DOCTOR_OK, "100 wake-ups: min 0.1, median 5.");
    rt_histogram_add(&facts.baseline.wake_latency, 50000000, 101);
    doctor_examine(&facts, &findings);
    expect("timer", DOCTOR_WARN, "max 50000.0");
    TEST_ASSERT_EQUAL_INT(0, doctor_missing(&findings));
}

static void test_a_measurement_elsewhere_proves_nothing(void)
{
    make_measured();
    facts.baseline.thread.cpu = -1;
    doctor_examine(&facts, &findings);
    expect("gaps", DOCTOR_UNKNOWN, "core 2 was refused");
    TEST_ASSERT_EQUAL_INT(1, doctor_missing(&findings));
}

static void test_a_refused_policy_outweighs_the_capability(void)
{
    make_measured();
    facts.baseline.thread.policy = SCHED_OTHER;
    doctor_examine(&facts, &findings);
    expect("cap-sys-nice", DOCTOR_BAD, "refused");
}

static void test_time_stolen_while_measuring_makes_it_unfit(void)
{
    make_measured();
    facts.before.steal_ticks = 100;
    facts.after.steal_ticks = 100;
    doctor_examine(&facts, &findings);
    expect("steal", DOCTOR_WARN, "1000 ms since boot, none while measuring");
    facts.after.steal_ticks = 103;
    doctor_examine(&facts, &findings);
    expect("steal", DOCTOR_BAD, "30 ms while measuring");
    TEST_ASSERT_EQUAL_INT(1, doctor_missing(&findings));
}

static void test_firmware_interrupts_are_counted(void)
{
    make_measured();
    TEST_ASSERT_EQUAL_INT64(5, facts.before.smi_count);
    doctor_examine(&facts, &findings);
    expect("smi", DOCTOR_OK, "5 since boot, none while measuring");
    facts.after.smi_count = 7;
    doctor_examine(&facts, &findings);
    expect("smi", DOCTOR_WARN, "2 while measuring, 7 since boot");
}

/* --- changes ---------------------------------------------------------------------------------- */

/* Four ordinary cores with cgroup v2: nothing is as it should be. */
static void make_plain(void)
{
    remove_root();
    make_root();
    put("/proc/self/status", "CapEff:\t000001ffffffffff\nCpus_allowed_list:\t0-3\n");
    put("/proc/self/cgroup", "0::/user.slice\n");
    put("/proc/self/mountinfo", "34 31 0:31 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory\n");
    put("/sys/fs/cgroup/cgroup.subtree_control", "cpu memory\n");
    put("/sys/devices/system/cpu/online", "0-3\n");
    put("/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "schedutil\n");
    put("/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "powersave\n");
    put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
    put("/sys/devices/system/node/online", "0-1\n");
    put("/sys/devices/virtual/workqueue/cpumask", "f\n");
    put("/sys/kernel/debug/sched/fair_server/cpu3/runtime", "50000000\n");
    put("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
    put("/proc/sys/kernel/sched_rt_runtime_us", "950000\n");
    put("/proc/sys/kernel/timer_migration", "1\n");
    put("/proc/sys/kernel/numa_balancing", "1\n");
    put("/proc/interrupts", "  CPU0 CPU1 CPU2 CPU3\n 30: 1 2 3 4 MSI 1-edge eth0\n"
                            " 31: 1 2 3 4 MSI 1-edge nvme0q4\n 32: 1 2 3 4 MSI 1-edge eth1\n");
    put("/proc/irq/30/smp_affinity_list", "0-3\n");
    put("/proc/irq/30/effective_affinity_list", "3\n");
    put("/proc/irq/31/smp_affinity_list", "3\n");
    put("/proc/irq/31/effective_affinity_list", "3\n");
    put("/proc/irq/32/smp_affinity_list", "0\n");
    put("/proc/irq/32/effective_affinity_list", "0\n");
    read_facts();
    tune_plan(root, &facts, &no_options, &tune);
}

/* What a cgroup's folder has in it as soon as it is made. */
static void make_partition_folder(void)
{
    put("/sys/fs/cgroup/airbearing/cpuset.cpus", "\n");
    put("/sys/fs/cgroup/airbearing/cpuset.cpus.partition", "member\n");
    tune_plan(root, &facts, &no_options, &tune);
}

static const struct {
    const char *path, *before, *after;
} settings[] = {
    {"/proc/sys/kernel/sched_rt_runtime_us", "950000", "-1"},
    {"/sys/kernel/debug/sched/fair_server/cpu3/runtime", "50000000", "0"},
    {"/proc/sys/kernel/timer_migration", "1", "0"},
    {"/sys/kernel/mm/transparent_hugepage/enabled", "always", "never"},
    {"/proc/sys/kernel/numa_balancing", "1", "0"},
    {"/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "schedutil", "performance"},
    {"/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "powersave", "performance"},
    {"/sys/devices/virtual/workqueue/cpumask", "f", "3"},
    {"/proc/irq/30/smp_affinity_list", "0-3", "0-1"},
    {"/sys/fs/cgroup/cgroup.subtree_control", "-cpuset", "+cpuset"},
    {"/sys/fs/cgroup/airbearing/cpuset.cpus", "", "1-3"},
    {"/sys/fs/cgroup/airbearing/cpuset.cpus.partition", "member", "isolated"},
};

enum { SETTING_COUNT = sizeof settings / sizeof settings[0] };

static void test_the_plan_has_what_is_needed_and_nothing_else(void)
{
    make_plain();
    make_partition_folder();
    TEST_ASSERT_EQUAL_INT(SETTING_COUNT, tune.changes.count);
    for (int i = 0; i < SETTING_COUNT; i++) {
        TEST_ASSERT_EQUAL_STRING(settings[i].path, tune.changes.change[i].path);
        TEST_ASSERT_EQUAL_STRING(settings[i].before, tune.changes.change[i].before);
        TEST_ASSERT_EQUAL_STRING(settings[i].after, tune.changes.change[i].after);
    }
}

static void test_what_is_skipped_is_left_alone(void)
{
    make_plain();
    for (const char *const *name = tune_name; *name; name++) {
        const struct tune_options options = {.skip = {*name}, .skip_count = 1};
        int named = 0;
        tune_plan(root, &facts, &no_options, &tune);
        for (int i = 0; i < tune.changes.count; i++)
            named += strcmp(tune.changes.change[i].name, *name) == 0;
        TEST_ASSERT_GREATER_THAN_INT_MESSAGE(0, named, *name);
        const int all = tune.changes.count;
        tune_plan(root, &facts, &options, &tune);
        TEST_ASSERT_EQUAL_INT_MESSAGE(all - named, tune.changes.count, *name);
    }
}

static void test_an_ideal_machine_needs_no_change(void)
{
    char line[512];
    read_facts();
    tune_plan(root, &facts, &no_options, &tune);
    TEST_ASSERT_EQUAL_INT(2, tune.changes.count); /* for the core that the I/O polls on */
    put("/sys/kernel/debug/sched/fair_server/cpu1/runtime", "0\n");
    put("/proc/irq/30/effective_affinity_list", "0\n");
    tune_plan(root, &facts, &no_options, &tune);
    TEST_ASSERT_EQUAL_INT(0, tune.changes.count);
    tune_boot_line(&facts, line, sizeof line);
    TEST_ASSERT_EQUAL_STRING("", line);
}

static void test_the_boot_line_names_the_cores_that_spin(void)
{
    char line[512];
    make_plain();
    tune_boot_line(&facts, line, sizeof line);
    TEST_ASSERT_EQUAL_STRING("isolcpus=domain,managed_irq,2-3 nohz_full=2-3 rcu_nocbs=2-3 "
                             "irqaffinity=0-1",
                             line);
}

static void test_two_cores_get_no_partition(void)
{
    make_plain();
    put("/proc/self/status", "CapEff:\t000001ffffffffff\nCpus_allowed_list:\t0-1\n");
    put("/sys/devices/system/cpu/online", "0-1\n");
    read_facts();
    tune_plan(root, &facts, &no_options, &tune);
    for (int i = 0; i < tune.changes.count; i++)
        TEST_ASSERT_NULL(strstr(tune.changes.change[i].path, "cgroup"));
    TEST_ASSERT_NOT_NULL(strstr(tune.advice[0], "2 cores"));
}

static void expect_settings(bool after)
{
    for (int i = 0; i < SETTING_COUNT; i++)
        expect_text(settings[i].path, after ? settings[i].after : settings[i].before);
}

static void test_changes_are_applied_saved_and_undone(void)
{
    static struct changes loaded;
    char file[128];
    int line;
    make_plain();
    make_partition_folder();
    snprintf(file, sizeof file, "%s/undo", root);
    TEST_ASSERT_EQUAL_INT(0, changes_try(root, &tune.changes, stays, sizeof stays, why));
    TEST_ASSERT_EQUAL_STRING("", stays);
    TEST_ASSERT_EQUAL_INT(0, changes_save(file, &tune.changes));
    TEST_ASSERT_EQUAL_INT(-EEXIST, changes_save(file, &tune.changes));
    TEST_ASSERT_EQUAL_INT(0, changes_make(root, &tune.changes, why));
    expect_settings(true);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, changes_load(file, &loaded, &line), "load");
    TEST_ASSERT_EQUAL_INT(SETTING_COUNT, loaded.count);
    TEST_ASSERT_EQUAL_INT(0, changes_take_back(root, &loaded, loaded.count, why));
    expect_settings(false);
}

/* Here a new folder stays empty, so the first write into it fails: the last change but one. */
static void test_a_change_that_fails_takes_the_others_back(void)
{
    char folder[128];
    make_plain();
    snprintf(folder, sizeof folder, "%s/sys/fs/cgroup/airbearing", root);
    TEST_ASSERT_EQUAL_INT(0, changes_try(root, &tune.changes, stays, sizeof stays, why));
    TEST_ASSERT_EQUAL_INT(-ENOENT, changes_make(root, &tune.changes, why));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why, "cpuset.cpus: No such file"), why);
    TEST_ASSERT_NULL(strstr(why, "could not be taken back"));
    for (int i = 0; i < SETTING_COUNT - 2; i++)
        expect_text(settings[i].path, settings[i].before);
    TEST_ASSERT_EQUAL_INT(-1, access(folder, F_OK));
}

static void test_what_cannot_be_undone_is_reported(void)
{
    make_plain();
    tune.changes.count = 0;
    tune.changes.change[tune.changes.count++] =
        (struct change){"thp", CHANGE_FOLDER, "/sys/fs/cgroup/airbearing", "", ""};
    tune.changes.change[tune.changes.count++] =
        (struct change){"thp", CHANGE_WRITE, "/sys/absent", "1", "0"};
    put("/sys/fs/cgroup/airbearing/x", ""); /* mkdir fails at once */
    TEST_ASSERT_EQUAL_INT(-EEXIST, changes_make(root, &tune.changes, why));
    TEST_ASSERT_EQUAL_INT(-ENOENT, changes_take_back(root, &tune.changes, 2, why));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why, "/sys/absent"), why);
}

static void test_nothing_is_tried_where_a_file_cannot_be_written(void)
{
    make_plain();
    drop("/proc/sys/kernel/timer_migration");
    TEST_ASSERT_EQUAL_INT(-ENOENT, changes_try(root, &tune.changes, stays, sizeof stays, why));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why, "timer_migration"), why);
}

/* Nothing is mapped at address 0, so that writing there is an error of the device, as it is with a
 * managed interrupt. */
static void test_an_interrupt_that_refuses_is_left_out_and_named(void)
{
    char name[128];
    make_plain();
    const int planned = tune.changes.count;
    drop("/proc/irq/30/smp_affinity_list");
    snprintf(name, sizeof name, "%s/proc/irq/30/smp_affinity_list", root);
    TEST_ASSERT_EQUAL_INT(0, symlink("/proc/self/mem", name));
    TEST_ASSERT_EQUAL_INT(0, changes_try(root, &tune.changes, stays, sizeof stays, why));
    TEST_ASSERT_EQUAL_STRING("/proc/irq/30/smp_affinity_list", stays);
    TEST_ASSERT_EQUAL_INT(planned - 1, tune.changes.count);
    for (int i = 0; i < tune.changes.count; i++)
        TEST_ASSERT_NULL(strstr(tune.changes.change[i].path, "/irq/"));
}

static void test_an_invalid_partition_is_a_failure(void)
{
    make_plain();
    make_partition_folder();
    struct change *last = &tune.changes.change[tune.changes.count - 1];
    strcpy(last->after, "isolated invalid (Cpu list in cpuset.cpus not exclusive)");
    TEST_ASSERT_EQUAL_INT(-EBUSY, changes_make(root, &tune.changes, why));
    expect_settings(false);
}

static void test_an_undo_file_names_only_what_is_ours(void)
{
    static const char *const good[] = {
        "write /proc/sys/kernel/timer_migration 1",
        "write /proc/irq/30/smp_affinity_list 0-3,5",
        "write /sys/fs/cgroup/unified/cgroup.subtree_control -cpuset",
        "write /sys/fs/cgroup/airbearing/cpuset.cpus ",
        "folder /sys/fs/cgroup/airbearing",
    };
    static const char *const bad[] = {
        "",
        "write",
        "write ",
        "write /proc/sys/kernel/timer_migration",
        "write /etc/passwd root",
        "write /proc/irq/../sys/kernel/core_pattern x",
        "write /proc/irq/1/2/smp_affinity_list 0",
        "write /proc/irq//smp_affinity_list 0",
        "write /sys/fs/cgroup/a/b/cgroup.subtree_control -cpuset",
        "write /sys/fs/cgroup/../cgroup.subtree_control x",
        "folder /sys/fs/cgroup/other",
        "folder /sys/fs/cgroup/airbearing 1",
        "folder /proc/sys/kernel/timer_migration",
        " write /proc/sys/kernel/timer_migration 1",
    };
    struct change change;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        TEST_ASSERT_TRUE_MESSAGE(change_parse(good[i], &change), good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        TEST_ASSERT_FALSE_MESSAGE(change_parse(bad[i], &change), bad[i]);
}

static void test_a_wrong_undo_file_is_refused_with_its_line(void)
{
    static struct changes loaded;
    char file[128];
    int line;
    snprintf(file, sizeof file, "%s/undo", root);
    TEST_ASSERT_EQUAL_INT(-ENOENT, changes_load(file, &loaded, &line));
    TEST_ASSERT_EQUAL_INT(0, line);
    put("/undo", "");
    TEST_ASSERT_EQUAL_INT(-EINVAL, changes_load(file, &loaded, &line));
    TEST_ASSERT_EQUAL_INT(1, line);
    put("/undo", "airbearing doctor undo 1\nwrite /proc/sys/kernel/timer_migration 1\nrm /\n");
    TEST_ASSERT_EQUAL_INT(-EINVAL, changes_load(file, &loaded, &line));
    TEST_ASSERT_EQUAL_INT(3, line);
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_an_ideal_machine_is_fit_and_has_nothing_to_remedy);
    RUN_TEST(test_each_finding_follows_its_file);
    RUN_TEST(test_an_empty_machine_is_not_fit);
    RUN_TEST(test_deep_idle_states_count_when_they_cannot_be_held_off);
    RUN_TEST(test_rcu_callbacks_are_known_by_boot_line_or_thread);
    RUN_TEST(test_timers_stay_on_a_core_that_ticks);
    RUN_TEST(test_the_fair_server_counts_where_tasks_can_starve);
    RUN_TEST(test_throttling_is_bearable_where_nothing_polls);
    RUN_TEST(test_one_core_is_too_few);
    RUN_TEST(test_a_cgroup_without_budget_is_bad);
    RUN_TEST(test_a_limit_on_priority_does_for_the_capability);
    RUN_TEST(test_managed_interrupts_are_known_from_debugfs_too);
    RUN_TEST(test_an_interrupt_that_was_sent_elsewhere_counts_no_more);
    RUN_TEST(test_managed_and_movable_interrupts_are_named_apart);
    RUN_TEST(test_a_number_without_a_device_is_no_interrupt);
    RUN_TEST(test_a_mask_of_many_cores_is_read_at_the_right_bit);
    RUN_TEST(test_a_kernel_without_transparent_huge_pages_has_no_trouble_with_them);
    RUN_TEST(test_nodes_count_when_pages_move);
    RUN_TEST(test_an_isolated_twin_is_no_trouble);
    RUN_TEST(test_two_daemons_that_steer_the_system_clock_are_one_too_many);
    RUN_TEST(test_io_uring_is_tried);
    RUN_TEST(test_gaps_beyond_the_limit_make_it_unfit);
    RUN_TEST(test_a_late_timer_alone_does_not_make_it_unfit);
    RUN_TEST(test_a_measurement_elsewhere_proves_nothing);
    RUN_TEST(test_a_refused_policy_outweighs_the_capability);
    RUN_TEST(test_time_stolen_while_measuring_makes_it_unfit);
    RUN_TEST(test_firmware_interrupts_are_counted);
    RUN_TEST(test_the_plan_has_what_is_needed_and_nothing_else);
    RUN_TEST(test_what_is_skipped_is_left_alone);
    RUN_TEST(test_an_ideal_machine_needs_no_change);
    RUN_TEST(test_the_boot_line_names_the_cores_that_spin);
    RUN_TEST(test_two_cores_get_no_partition);
    RUN_TEST(test_changes_are_applied_saved_and_undone);
    RUN_TEST(test_a_change_that_fails_takes_the_others_back);
    RUN_TEST(test_what_cannot_be_undone_is_reported);
    RUN_TEST(test_nothing_is_tried_where_a_file_cannot_be_written);
    RUN_TEST(test_an_interrupt_that_refuses_is_left_out_and_named);
    RUN_TEST(test_an_invalid_partition_is_a_failure);
    RUN_TEST(test_an_undo_file_names_only_what_is_ours);
    RUN_TEST(test_a_wrong_undo_file_is_refused_with_its_line);
    return UNITY_END();
}
