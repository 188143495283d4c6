/*
 * The facts.  Every one of them is read from a file under root, so that a test, or a bug report
 * with a copy of somebody's /proc and /sys, can stand in for the machine.
 */
#include "rt/machine.h"

#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 1024, LINE_SIZE = 8192, CGROUP_SIZE = 256 };

static FILE *open_file(const char *root, const char *path)
{
    char name[PATH_SIZE];
    if (snprintf(name, sizeof name, "%s%s", root, path) >= (int)sizeof name)
        return NULL;
    return fopen(name, "re");
}

/* The next line without its end.  A longer one comes in pieces. */
static bool next_line(FILE *file, char line[LINE_SIZE])
{
    if (!fgets(line, LINE_SIZE, file))
        return false;
    line[strcspn(line, "\n")] = '\0';
    return true;
}

/* The first line of a file, such as most of /sys has. */
static bool read_line(const char *root, const char *path, char line[LINE_SIZE])
{
    FILE *file = open_file(root, path);
    if (!file)
        return false;
    const bool found = next_line(file, line);
    fclose(file);
    return found;
}

/* What follows key on the first line that begins with it. */
static bool read_field(const char *root, const char *path, const char *key, char value[LINE_SIZE])
{
    char line[LINE_SIZE];
    bool found = false;
    FILE *file = open_file(root, path);
    if (!file)
        return false;
    while (!found && next_line(file, line))
        found = strncmp(line, key, strlen(key)) == 0;
    fclose(file);
    if (found)
        memcpy(value, line + strlen(key), strlen(line + strlen(key)) + 1);
    return found;
}

static bool read_long(const char *root, const char *path, long *value)
{
    char line[LINE_SIZE], *end;
    if (!read_line(root, path, line))
        return false;
    const long number = strtol(line, &end, 10);
    if (end == line)
        return false;
    *value = number;
    return true;
}

/* Is word one of the words of list, which are parted by one of parts? */
static bool has_word(const char *list, const char *word, const char *parts)
{
    const size_t size = strlen(word);
    for (const char *at = list; *at; at += strcspn(at, parts)) {
        at += strspn(at, parts);
        if (strcspn(at, parts) == size && strncmp(at, word, size) == 0)
            return size > 0;
    }
    return false;
}

/* Add the numbers of a kernel list, "0-2,5", to set; stops at what is not one. */
static void parse_list(const char *list, bool set[RT_CPU_MAX])
{
    while (*list) {
        char *end;
        const long first = strtol(list, &end, 10);
        if (end == list)
            return;
        long last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long cpu = first; cpu >= 0 && cpu <= last && cpu < RT_CPU_MAX; cpu++)
            set[cpu] = true;
        list = end + strspn(end, ", \t");
    }
}

/* A cgroup of this process: directory = mount + path. */
struct cgroup {
    char mount[CGROUP_SIZE];
    char path[CGROUP_SIZE]; /* "" for the root */
};

/* The path of this process in the hierarchy of a v1 controller, or for "" in that of v2.  A line is
 * id:controllers:path. */
static bool read_cgroup_path(const char *root, const char *controller, char path[CGROUP_SIZE])
{
    char line[LINE_SIZE];
    bool found = false;
    FILE *file = open_file(root, "/proc/self/cgroup");
    if (!file)
        return false;
    while (!found && next_line(file, line)) {
        char *controllers = strchr(line, ':');
        char *at = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!at)
            continue;
        *at++ = '\0';
        controllers++;
        found = *controller ? has_word(controllers, controller, ",") : *controllers == '\0';
        if (found)
            snprintf(path, CGROUP_SIZE, "%.*s", CGROUP_SIZE - 1, at);
    }
    fclose(file);
    return found;
}

/* Where that hierarchy is mounted, and which of its directories is.  A line of mountinfo is
 * id parent device directory mount options... - type source super-options. */
static bool read_cgroup_mount(const char *root, const char *controller, char mount[CGROUP_SIZE],
                              char directory[CGROUP_SIZE])
{
    char line[LINE_SIZE], type[32], options[CGROUP_SIZE];
    bool found = false;
    FILE *file = open_file(root, "/proc/self/mountinfo");
    if (!file)
        return false;
    while (!found && next_line(file, line)) {
        const char *tail = strstr(line, " - ");
        if (!tail || sscanf(tail, " - %31s %*s %255s", type, options) != 2 ||
            sscanf(line, "%*s %*s %*s %255s %255s", directory, mount) != 2)
            continue;
        found = *controller ? !strcmp(type, "cgroup") && has_word(options, controller, ",")
                            : !strcmp(type, "cgroup2");
    }
    fclose(file);
    return found;
}

static bool find_cgroup(const char *root, const char *controller, struct cgroup *cgroup)
{
    char directory[CGROUP_SIZE];
    if (!read_cgroup_path(root, controller, cgroup->path) ||
        !read_cgroup_mount(root, controller, cgroup->mount, directory))
        return false;
    /* In a container only the container's part of the hierarchy may be mounted. */
    const size_t hidden = strcmp(directory, "/") == 0 ? 0 : strlen(directory);
    if (hidden > 0 && strncmp(cgroup->path, directory, hidden) == 0)
        memmove(cgroup->path, cgroup->path + hidden, strlen(cgroup->path + hidden) + 1);
    if (strcmp(cgroup->path, "/") == 0)
        cgroup->path[0] = '\0';
    return true;
}

static bool read_in_cgroup(const char *root, const struct cgroup *cgroup, const char *name,
                           char line[LINE_SIZE])
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s%s/%s", cgroup->mount, cgroup->path, name);
    return read_line(root, path, line);
}

/* To the parent; false at the root. */
static bool climb(struct cgroup *cgroup)
{
    char *slash = strrchr(cgroup->path, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

/* Cores that this process's cpuset lets it ask for: the nearest cpuset up the tree says so. */
static void read_allowed(const char *root, bool allowed[RT_CPU_MAX])
{
    static const char *const controller[] = {"cpuset", ""};
    static const char *const name[] = {"cpuset.effective_cpus", "cpuset.cpus.effective"};
    char line[LINE_SIZE];
    for (int version = 0; version < 2; version++) {
        struct cgroup cgroup;
        if (!find_cgroup(root, controller[version], &cgroup))
            continue;
        do {
            if (read_in_cgroup(root, &cgroup, name[version], line)) {
                parse_list(line, allowed);
                return;
            }
        } while (climb(&cgroup));
    }
    if (read_line(root, "/sys/devices/system/cpu/online", line))
        parse_list(line, allowed);
}

/* Isolated by the boot line, or by the cgroup v2 partition this process lives in. */
static void read_isolated(const char *root, bool isolated[RT_CPU_MAX])
{
    char line[LINE_SIZE];
    struct cgroup cgroup;
    if (read_line(root, "/sys/devices/system/cpu/isolated", line))
        parse_list(line, isolated);
    if (!find_cgroup(root, "", &cgroup))
        return;
    do {
        if (!read_in_cgroup(root, &cgroup, "cpuset.cpus.partition", line) ||
            strcmp(line, "isolated") != 0)
            continue;
        if (read_in_cgroup(root, &cgroup, "cpuset.cpus.effective", line))
            parse_list(line, isolated);
        return;
    } while (climb(&cgroup));
}

/*
 * With isolcpus the kernel starts every process outside the isolated cores, yet lets it ask for
 * them.  So they count as usable although the affinity mask lacks them.
 */
static void read_cpus(const char *root, struct rt_machine *machine)
{
    bool mask[RT_CPU_MAX] = {false}, allowed[RT_CPU_MAX] = {false};
    char line[LINE_SIZE];
    if (read_field(root, "/proc/self/status", "Cpus_allowed_list:", line))
        parse_list(line + strspn(line, " \t"), mask);
    read_allowed(root, allowed);
    read_isolated(root, machine->isolated);
    for (int cpu = 0; cpu < RT_CPU_MAX; cpu++) {
        if (!mask[cpu] && !(machine->isolated[cpu] && allowed[cpu]))
            continue;
        machine->cpus[machine->cpu_count++] = cpu;
        machine->isolated_count += machine->isolated[cpu];
    }
    if (machine->cpu_count == 0)
        machine->cpu_count = 1; /* core 0: this very code runs somewhere */
    long smt = 0;
    machine->smt = read_long(root, "/sys/devices/system/cpu/smt/active", &smt) && smt == 1;
}

/* The server can be switched off core by core; only root may look. */
static bool fair_server_on(const char *root, const struct rt_machine *machine)
{
    for (int i = 0; i < machine->cpu_count; i++) {
        char path[PATH_SIZE];
        long runtime = 1;
        snprintf(path, sizeof path, "/sys/kernel/debug/sched/fair_server/cpu%d/runtime",
                 machine->cpus[i]);
        if (!read_long(root, path, &runtime) || runtime != 0)
            return true;
    }
    return false;
}

static void read_kernel(const char *root, struct rt_machine *machine)
{
    char line[LINE_SIZE];
    int major = 0, minor = 0;
    long value = 0;
    if (read_line(root, "/proc/sys/kernel/osrelease", line)) {
        snprintf(machine->kernel, sizeof machine->kernel, "%.63s", line);
        (void)sscanf(line, "%d.%d", &major, &minor);
    }
    if (major > 6 || (major == 6 && minor >= 12))
        machine->fair_server = fair_server_on(root, machine);
    machine->kernel_rt = (read_long(root, "/sys/kernel/realtime", &value) && value == 1) ||
                         (read_line(root, "/proc/version", line) && strstr(line, "PREEMPT_RT"));
    (void)read_long(root, "/proc/sys/kernel/sched_rt_runtime_us", &machine->rt_runtime_us);
}

/* Only a v1 `cpu` hierarchy of a kernel with RT_GROUP_SCHED has this file. */
static void read_rt_group(const char *root, struct rt_machine *machine)
{
    char line[LINE_SIZE];
    struct cgroup cgroup;
    if (!find_cgroup(root, "cpu", &cgroup) ||
        !read_in_cgroup(root, &cgroup, "cpu.rt_runtime_us", line))
        return;
    machine->rt_group_budget_missing = strcmp(line, "0") == 0;
    if (snprintf(machine->rt_group, sizeof machine->rt_group, "%s%s", cgroup.mount, cgroup.path) >=
        (int)sizeof machine->rt_group)
        snprintf(machine->rt_group, sizeof machine->rt_group, "%.255s", cgroup.path);
}

/*
 * Whether an interrupt is managed shows only when somebody tries to move it.  Known by name are
 * the queues of two drivers that always ask for it: nvme ("nvme0q1"; queue 0 is not) and
 * virtio-blk ("virtio1-req.0").
 */
static bool is_managed(const char *name)
{
    int device, queue, end = 0;
    if (sscanf(name, "nvme%dq%d%n", &device, &queue, &end) == 2)
        return queue > 0 && name[end] == '\0';
    return sscanf(name, "virtio%d-req.%d%n", &device, &queue, &end) == 2 && name[end] == '\0';
}

static bool read_managed_irqs(const char *root)
{
    char line[LINE_SIZE];
    bool managed = false;
    FILE *file = open_file(root, "/proc/interrupts");
    if (!file)
        return false;
    while (!managed && next_line(file, line)) {
        const char *name = strrchr(line, ' ');
        managed = name && is_managed(name + 1);
    }
    fclose(file);
    return managed;
}

static void read_rights(const char *root, struct rt_machine *machine)
{
    char line[LINE_SIZE];
    uint64_t effective = 0;
    if (read_field(root, "/proc/self/status", "CapEff:", line))
        effective = strtoull(line, NULL, 16);
    machine->cap_sys_nice = effective >> CAP_SYS_NICE & 1;
    machine->cap_ipc_lock = effective >> CAP_IPC_LOCK & 1;
    machine->cap_sys_resource = effective >> CAP_SYS_RESOURCE & 1;
    if (read_field(root, "/proc/self/limits", "Max locked memory", line))
        machine->memlock_limit = strncmp(line + strspn(line, " "), "unlimited", 9) == 0
                                     ? UINT64_MAX
                                     : strtoull(line, NULL, 10);
}

static void read_hardware(const char *root, struct rt_machine *machine)
{
    char line[LINE_SIZE];
    bool nodes[RT_CPU_MAX] = {false};
    if (read_line(root, "/sys/devices/system/node/online", line))
        parse_list(line, nodes);
    for (int i = 0; i < RT_CPU_MAX; i++)
        machine->numa_nodes += nodes[i];
    if (machine->numa_nodes == 0)
        machine->numa_nodes = 1;
    machine->tsc_clocksource =
        read_line(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", line) &&
        strcmp(line, "tsc") == 0;
    machine->hypervisor =
        read_field(root, "/proc/cpuinfo", "flags", line) && has_word(line, "hypervisor", " \t:");
}

void rt_machine_read_from(const char *root, struct rt_machine *machine)
{
    memset(machine, 0, sizeof *machine);
    read_cpus(root, machine);
    read_kernel(root, machine);
    read_rt_group(root, machine);
    read_rights(root, machine);
    read_hardware(root, machine);
    machine->managed_irqs = read_managed_irqs(root);
}

void rt_machine_read(struct rt_machine *machine)
{
    rt_machine_read_from("", machine);
}
