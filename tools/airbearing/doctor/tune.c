#include "tools/airbearing/doctor/tune.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rt/check.h"
#include "rt/machine/cgroup.h"
#include "rt/machine/sysroot.h"

const char *const tune_name[] = {"throttling", "fair-server", "timer-migration", "thp",    "numa",
                                 "governor",   "workqueues",  "interrupts",      "cpuset", NULL};

struct plan {
    const char *root;
    const struct doctor_facts *facts;
    const struct tune_options *options;
    struct tune *tune;
    bool own[RT_LIST_MAX];    /* cores reserved for the run */
    bool others[RT_LIST_MAX]; /* all other cores */
    int other_count;
};

/* Own: the frame's core, and the I/O thread's where it has one to itself.  Others: the remaining
 * cores. */
static void part_cores(const struct doctor_facts *facts, bool own[RT_LIST_MAX],
                       bool others[RT_LIST_MAX])
{
    own[facts->audit.cpu] = true;
    if (facts->plan.io_polls)
        own[facts->plan.io_cpu] = true;
    for (int cpu = 0; cpu < RT_LIST_MAX; cpu++)
        others[cpu] = facts->audit.online[cpu] && !own[cpu] && !facts->machine.isolated[cpu];
}

static bool is_skipped(const struct plan *plan, const char *name)
{
    for (int i = 0; i < plan->options->skip_count; i++)
        if (strcmp(plan->options->skip[i], name) == 0)
            return true;
    return false;
}

static struct change *add_change(struct plan *plan, const char *name, enum change_kind kind,
                                 const char *path)
{
    struct changes *changes = &plan->tune->changes;
    if (changes->count == CHANGE_MAX || strlen(path) >= CHANGE_PATH_SIZE)
        return NULL;
    struct change *change = &changes->change[changes->count++];
    *change = (struct change){.name = name, .kind = kind};
    snprintf(change->path, sizeof change->path, "%s", path);
    return change;
}

static void add_write(struct plan *plan, const char *name, const char *path, const char *before,
                      const char *after)
{
    struct change *change = add_change(plan, name, CHANGE_WRITE, path);
    if (!change)
        return;
    snprintf(change->before, sizeof change->before, "%.*s", CHANGE_TEXT_SIZE - 1, before);
    snprintf(change->after, sizeof change->after, "%.*s", CHANGE_TEXT_SIZE - 1, after);
}

/* True for a file that can be read and has another value. */
static void plan_write(struct plan *plan, const char *name, const char *path, const char *after)
{
    char before[RT_LINE_SIZE];
    if (is_skipped(plan, name) || !rt_sysroot_first_line(plan->root, path, before) ||
        strcmp(before, after) == 0)
        return;
    add_write(plan, name, path, before, after);
}

static void advise(struct plan *plan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void advise(struct plan *plan, const char *format, ...)
{
    va_list list;
    RT_CHECK(plan->tune->advice_count < TUNE_ADVICE_MAX);
    va_start(list, format);
    vsnprintf(plan->tune->advice[plan->tune->advice_count++], DOCTOR_TEXT_SIZE, format, list);
    va_end(list);
}

/* --- without a reboot ------------------------------------------------------------------------- */

static void plan_kernel(struct plan *plan)
{
    const struct rt_audit *audit = &plan->facts->audit;
    plan_write(plan, "throttling", "/proc/sys/kernel/sched_rt_runtime_us", "-1");
    for (int cpu = 0; cpu < RT_LIST_MAX; cpu++) {
        char path[CHANGE_PATH_SIZE];
        snprintf(path, sizeof path, "/sys/kernel/debug/sched/fair_server/cpu%d/runtime", cpu);
        if (plan->own[cpu])
            plan_write(plan, "fair-server", path, "0");
    }
    plan_write(plan, "timer-migration", "/proc/sys/kernel/timer_migration", "0");
    if (strcmp(audit->thp, "always") == 0 && !is_skipped(plan, "thp"))
        add_write(plan, "thp", "/sys/kernel/mm/transparent_hugepage/enabled", audit->thp, "never");
    if (plan->facts->machine.numa_nodes > 1)
        plan_write(plan, "numa", "/proc/sys/kernel/numa_balancing", "0");
}

static void plan_governors(struct plan *plan)
{
    for (int cpu = 0; cpu < RT_LIST_MAX; cpu++) {
        char path[CHANGE_PATH_SIZE];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
        if (plan->own[cpu])
            plan_write(plan, "governor", path, "performance");
    }
}

/* A kernel mask: groups of 32 bits in hexadecimal, the highest first. */
static void print_mask(const bool set[RT_LIST_MAX], char *mask, size_t size)
{
    size_t used = 0;
    mask[0] = '\0';
    for (int group = RT_LIST_MAX / 32 - 1; group >= 0; group--) {
        uint32_t bits = 0;
        for (int i = 0; i < 32; i++)
            bits |= (uint32_t)set[group * 32 + i] << i;
        if (bits == 0 && used == 0 && group > 0)
            continue;
        used += (size_t)snprintf(mask + used, size - used, used > 0 ? ",%08x" : "%x", bits);
    }
}

static void plan_workqueues(struct plan *plan)
{
    char mask[CHANGE_TEXT_SIZE];
    print_mask(plan->others, mask, sizeof mask);
    if (plan->facts->audit.workqueues == RT_YES && plan->other_count > 0)
        plan_write(plan, "workqueues", "/sys/devices/virtual/workqueue/cpumask", mask);
}

static void plan_interrupts_of(struct plan *plan, int cpu, const char *others)
{
    struct rt_interrupts interrupts;
    rt_interrupts_read(plan->root, cpu, &interrupts);
    for (int i = 0; i < interrupts.count; i++) {
        char path[CHANGE_PATH_SIZE];
        snprintf(path, sizeof path, "/proc/irq/%d/smp_affinity_list", interrupts.irq[i].number);
        if (!interrupts.irq[i].managed)
            plan_write(plan, "interrupts", path, others);
    }
}

static void plan_interrupts(struct plan *plan)
{
    char others[CHANGE_TEXT_SIZE];
    rt_print_list(plan->others, others, sizeof others);
    for (int cpu = 0; cpu < RT_LIST_MAX && plan->other_count > 0; cpu++)
        if (plan->own[cpu])
            plan_interrupts_of(plan, cpu, others);
}

/*
 * The cores of a partition: the frame's, one for the I/O and one for the rest of the program, as
 * long as one remains for all other processes.  A process in it has no other cores.
 */
static int pick_partition(const struct doctor_facts *facts, bool set[RT_LIST_MAX])
{
    const struct rt_machine *machine = &facts->machine;
    const int most = machine->cpu_count - 1 < 3 ? machine->cpu_count - 1 : 3;
    int count = 1;
    set[facts->audit.cpu] = true;
    for (int i = machine->cpu_count - 1; i >= 0 && count < most; i--)
        if (!set[machine->cpus[i]]) {
            set[machine->cpus[i]] = true;
            count++;
        }
    return count;
}

static bool has_controller(const char *root, const char *mount, const char *name)
{
    char path[CHANGE_PATH_SIZE], line[RT_LINE_SIZE];
    snprintf(path, sizeof path, "%s/%s", mount, name);
    return rt_sysroot_first_line(root, path, line) && rt_has_word(line, "cpuset", " ");
}

static bool is_folder(const char *root, const char *path)
{
    char name[RT_PATH_SIZE];
    snprintf(name, sizeof name, "%s%s/", root, path);
    return access(name, F_OK) == 0;
}

static void write_partition(struct plan *plan, const char *mount, const char *cpus)
{
    char path[CHANGE_PATH_SIZE];
    snprintf(path, sizeof path, "%s/cgroup.subtree_control", mount);
    if (!has_controller(plan->root, mount, "cgroup.subtree_control"))
        add_write(plan, "cpuset", path, "-cpuset", "+cpuset");
    snprintf(path, sizeof path, "%s/airbearing", mount);
    const bool exists = is_folder(plan->root, path);
    if (!exists)
        add_change(plan, "cpuset", CHANGE_FOLDER, path);
    snprintf(path, sizeof path, "%s/airbearing/cpuset.cpus", mount);
    if (exists)
        plan_write(plan, "cpuset", path, cpus);
    else
        add_write(plan, "cpuset", path, "", cpus);
    snprintf(path, sizeof path, "%s/airbearing/cpuset.cpus.partition", mount);
    if (exists)
        plan_write(plan, "cpuset", path, "isolated");
    else
        add_write(plan, "cpuset", path, "member", "isolated");
    advise(plan,
           "start runs inside the partition: sh -c 'echo $$ > %s/airbearing/cgroup.procs; exec "
           "airbearing run SCENARIO'",
           mount);
}

static void plan_cpuset(struct plan *plan)
{
    struct rt_cgroup cgroup;
    bool set[RT_LIST_MAX] = {false};
    char cpus[CHANGE_TEXT_SIZE];
    if (is_skipped(plan, "cpuset") || doctor_isolated(plan->facts))
        return;
    if (!rt_cgroup_find(plan->root, "", &cgroup) ||
        !has_controller(plan->root, cgroup.mount, "cgroup.controllers")) {
        advise(plan, "no cpuset partition: cgroup v2 has no cpusets here; isolation needs the boot "
                     "line");
        return;
    }
    if (pick_partition(plan->facts, set) < 2) {
        advise(plan,
               "no cpuset partition: with %d cores the whole program would share one; "
               "isolation needs the boot line",
               plan->facts->machine.cpu_count);
        return;
    }
    rt_print_list(set, cpus, sizeof cpus);
    write_partition(plan, cgroup.mount, cpus);
}

static void plan_advice(struct plan *plan)
{
    advise(plan, "/dev/cpu_dma_latency is held by each run for as long as it lasts; nothing to "
                 "set here");
    if (plan->facts->audit.swaps > 0)
        advise(plan, "swapoff -a while nothing needs the space; a run locks its own memory");
}

void tune_plan(const char *root, const struct doctor_facts *facts,
               const struct tune_options *options, struct tune *tune)
{
    struct plan plan = {.root = root, .facts = facts, .options = options, .tune = tune};
    tune->changes.count = tune->advice_count = 0;
    part_cores(facts, plan.own, plan.others);
    for (int cpu = 0; cpu < RT_LIST_MAX; cpu++)
        plan.other_count += plan.others[cpu];
    plan_kernel(&plan);
    plan_governors(&plan);
    plan_workqueues(&plan);
    plan_interrupts(&plan);
    plan_cpuset(&plan);
    plan_advice(&plan);
}

/* --- with one --------------------------------------------------------------------------------- */

void tune_boot_line(const struct doctor_facts *facts, char *line, size_t size)
{
    bool own[RT_LIST_MAX] = {false}, others[RT_LIST_MAX] = {false};
    char cores[RT_LIST_SIZE], rest[RT_LIST_SIZE];
    line[0] = '\0';
    part_cores(facts, own, others);
    rt_print_list(own, cores, sizeof cores);
    rt_print_list(others, rest, sizeof rest);
    /* nohz_full includes rcu_nocbs. */
    const bool all = doctor_isolated(facts) && facts->audit.nohz_full == RT_YES;
    if (rest[0] != '\0' && !all)
        snprintf(line, size,
                 "isolcpus=domain,managed_irq,%s nohz_full=%s rcu_nocbs=%s irqaffinity=%s", cores,
                 cores, cores, rest);
}
