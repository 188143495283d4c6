/*
 * The facts about the machine.  Each is read from a file under root, so that a test, or a bug
 * report with a copy of /proc and /sys, can replace the machine.
 */
#include "rt/machine/machine.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/machine/cgroup.h"
#include "rt/machine/interrupts.h"
#include "rt/machine/sysroot.h"

/* Cores that this process's cpuset allows: the nearest cpuset up the tree has the list. */
static void read_allowed(const char *root, bool allowed[RT_CPU_MAX])
{
    static const char *const controller[] = {"cpuset", ""};
    static const char *const name[] = {"cpuset.effective_cpus", "cpuset.cpus.effective"};
    char line[RT_LINE_SIZE];
    for (int version = 0; version < 2; version++) {
        struct rt_cgroup cgroup;
        if (!rt_cgroup_find(root, controller[version], &cgroup))
            continue;
        do {
            if (rt_cgroup_read_line(root, &cgroup, name[version], line)) {
                rt_parse_list(line, allowed);
                return;
            }
        } while (rt_cgroup_to_parent(&cgroup));
    }
    if (rt_sysroot_first_line(root, "/sys/devices/system/cpu/online", line))
        rt_parse_list(line, allowed);
}

/* Isolated by the boot line, or by the cgroup v2 partition this process lives in. */
static void read_isolated(const char *root, bool isolated[RT_CPU_MAX])
{
    char line[RT_LINE_SIZE];
    struct rt_cgroup cgroup;
    if (rt_sysroot_first_line(root, "/sys/devices/system/cpu/isolated", line))
        rt_parse_list(line, isolated);
    if (!rt_cgroup_find(root, "", &cgroup))
        return;
    do {
        if (!rt_cgroup_read_line(root, &cgroup, "cpuset.cpus.partition", line) ||
            strcmp(line, "isolated") != 0)
            continue;
        if (rt_cgroup_read_line(root, &cgroup, "cpuset.cpus.effective", line))
            rt_parse_list(line, isolated);
        return;
    } while (rt_cgroup_to_parent(&cgroup));
}

/*
 * With isolcpus the kernel starts every process outside the isolated cores, yet allows it to move
 * there.  So they count as usable although the affinity mask lacks them.
 */
static void read_cpus(const char *root, struct rt_machine *machine)
{
    bool mask[RT_CPU_MAX] = {false}, allowed[RT_CPU_MAX] = {false};
    char line[RT_LINE_SIZE];
    if (rt_sysroot_field(root, "/proc/self/status", "Cpus_allowed_list:", line))
        rt_parse_list(line + strspn(line, " \t"), mask);
    read_allowed(root, allowed);
    read_isolated(root, machine->isolated);
    for (int cpu = 0; cpu < RT_CPU_MAX; cpu++) {
        if (!mask[cpu] && !(machine->isolated[cpu] && allowed[cpu]))
            continue;
        machine->cpus[machine->cpu_count++] = cpu;
        machine->isolated_count += machine->isolated[cpu];
    }
    if (machine->cpu_count == 0)
        machine->cpu_count = 1; /* at least core 0, since this code runs on a core */
    long smt = 0;
    machine->smt = rt_sysroot_long(root, "/sys/devices/system/cpu/smt/active", &smt) && smt == 1;
}

/* The server can be switched off core by core; only root may read the file. */
static bool is_fair_server_on(const char *root, const struct rt_machine *machine)
{
    for (int i = 0; i < machine->cpu_count; i++) {
        char path[RT_PATH_SIZE];
        long runtime = 1;
        snprintf(path, sizeof path, "/sys/kernel/debug/sched/fair_server/cpu%d/runtime",
                 machine->cpus[i]);
        if (!rt_sysroot_long(root, path, &runtime) || runtime != 0)
            return true;
    }
    return false;
}

static void read_kernel(const char *root, struct rt_machine *machine)
{
    char line[RT_LINE_SIZE];
    int major = 0, minor = 0;
    long value = 0;
    if (rt_sysroot_first_line(root, "/proc/sys/kernel/osrelease", line)) {
        snprintf(machine->kernel, sizeof machine->kernel, "%.63s", line);
        (void)sscanf(line, "%d.%d", &major, &minor);
    }
    if (major > 6 || (major == 6 && minor >= 12))
        machine->fair_server = is_fair_server_on(root, machine);
    machine->kernel_rt =
        (rt_sysroot_long(root, "/sys/kernel/realtime", &value) && value == 1) ||
        (rt_sysroot_first_line(root, "/proc/version", line) && strstr(line, "PREEMPT_RT"));
    (void)rt_sysroot_long(root, "/proc/sys/kernel/sched_rt_runtime_us", &machine->rt_runtime_us);
}

/* Only a v1 `cpu` hierarchy of a kernel with RT_GROUP_SCHED has this file. */
static void read_rt_group(const char *root, struct rt_machine *machine)
{
    char line[RT_LINE_SIZE];
    struct rt_cgroup cgroup;
    if (!rt_cgroup_find(root, "cpu", &cgroup) ||
        !rt_cgroup_read_line(root, &cgroup, "cpu.rt_runtime_us", line))
        return;
    machine->rt_group_budget_missing = strcmp(line, "0") == 0;
    if (snprintf(machine->rt_group, sizeof machine->rt_group, "%s%s", cgroup.mount, cgroup.path) >=
        (int)sizeof machine->rt_group)
        snprintf(machine->rt_group, sizeof machine->rt_group, "%.255s", cgroup.path);
}

static bool read_managed_irqs(const char *root)
{
    char line[RT_LINE_SIZE];
    bool managed = false;
    FILE *file = rt_sysroot_open(root, "/proc/interrupts");
    if (!file)
        return false;
    while (!managed && rt_sysroot_next_line(file, line)) {
        const char *name = strrchr(line, ' ');
        managed = name && rt_irq_is_managed(name + 1);
    }
    fclose(file);
    return managed;
}

static void read_capabilities(const char *root, struct rt_machine *machine)
{
    char line[RT_LINE_SIZE];
    uint64_t effective = 0;
    if (rt_sysroot_field(root, "/proc/self/status", "CapEff:", line))
        effective = strtoull(line, NULL, 16);
    machine->cap_sys_nice = effective >> CAP_SYS_NICE & 1;
    machine->cap_ipc_lock = effective >> CAP_IPC_LOCK & 1;
    machine->cap_sys_resource = effective >> CAP_SYS_RESOURCE & 1;
    if (rt_sysroot_field(root, "/proc/self/limits", "Max locked memory", line))
        machine->memlock_limit = strncmp(line + strspn(line, " "), "unlimited", 9) == 0
                                     ? UINT64_MAX
                                     : strtoull(line, NULL, 10);
}

static void read_hardware(const char *root, struct rt_machine *machine)
{
    char line[RT_LINE_SIZE];
    bool nodes[RT_CPU_MAX] = {false};
    if (rt_sysroot_first_line(root, "/sys/devices/system/node/online", line))
        rt_parse_list(line, nodes);
    for (int i = 0; i < RT_CPU_MAX; i++)
        machine->numa_nodes += nodes[i];
    if (machine->numa_nodes == 0)
        machine->numa_nodes = 1;
    machine->tsc_clocksource =
        rt_sysroot_first_line(
            root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", line) &&
        strcmp(line, "tsc") == 0;
    machine->hypervisor = rt_sysroot_field(root, "/proc/cpuinfo", "flags", line) &&
                          rt_has_word(line, "hypervisor", " \t:");
}

void rt_machine_read_from(const char *root, struct rt_machine *machine)
{
    memset(machine, 0, sizeof *machine);
    read_cpus(root, machine);
    read_kernel(root, machine);
    read_rt_group(root, machine);
    read_capabilities(root, machine);
    read_hardware(root, machine);
    machine->managed_irqs = read_managed_irqs(root);
}

void rt_machine_read(struct rt_machine *machine)
{
    rt_machine_read_from("", machine);
}
