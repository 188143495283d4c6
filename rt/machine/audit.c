/* Tested by tests/tools/doctor/test_doctor.c. */
#include "rt/machine/audit.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IDLE_STATE_MAX = 16, MSR_SMI_COUNT = 0x34, STEAL_COLUMN = 8 };

static bool file_exists(const char *root, const char *path, int mode)
{
    char name[RT_PATH_SIZE];
    return snprintf(name, sizeof name, "%s%s", root, path) < (int)sizeof name &&
           access(name, mode) == 0;
}

static enum rt_tristate tristate_of(bool yes)
{
    return yes ? RT_YES : RT_NO;
}

static void read_word(const char *root, const char *path, char word[RT_WORD_SIZE])
{
    char line[RT_LINE_SIZE];
    if (rt_sysroot_first_line(root, path, line))
        snprintf(word, RT_WORD_SIZE, "%.*s", RT_WORD_SIZE - 1, line);
}

static long read_long_or(const char *root, const char *path, long otherwise)
{
    (void)rt_sysroot_long(root, path, &otherwise);
    return otherwise;
}

static bool list_has(const char *list, int cpu)
{
    bool set[RT_LIST_MAX] = {false};
    rt_parse_list(list, set);
    return set[cpu];
}

/* --- the core --------------------------------------------------------------------------------- */

/* The value of an option of the boot line; NULL: not given. */
static const char *boot_option(const char *cmdline, const char *option)
{
    const size_t size = strlen(option);
    for (const char *at = cmdline; *at; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (strncmp(at, option, size) == 0 && (at[size] == '=' || at[size] == ' ' || !at[size]))
            return at[size] == '=' ? at + size + 1 : at + size;
    }
    return NULL;
}

/* A kernel that was built without it has no such file. */
static void read_nohz_full(const char *root, struct rt_audit *audit)
{
    char line[RT_LINE_SIZE];
    if (rt_sysroot_first_line(root, "/sys/devices/system/cpu/nohz_full", line))
        audit->nohz_full = tristate_of(list_has(line, audit->cpu));
    else if (file_exists(root, "/sys/devices/system/cpu/online", R_OK))
        audit->nohz_full = RT_NO;
}

/* By the boot line, or implied by nohz_full; the kernel's threads for it are seen later. */
static void read_rcu_nocbs(struct rt_audit *audit)
{
    const char *list = boot_option(audit->cmdline, "rcu_nocbs");
    if (audit->nohz_full == RT_YES ||
        (list &&
         (*list == ' ' || !*list || strncmp(list, "all", 3) == 0 || list_has(list, audit->cpu))))
        audit->rcu_nocbs = RT_YES;
    else if (audit->cmdline[0] != '\0')
        audit->rcu_nocbs = RT_NO;
}

/* A kernel mask, "f,00000003": groups of 32 bits in hexadecimal, the highest first. */
static bool mask_has(const char *mask, int cpu)
{
    const char *end = mask + strspn(mask, "0123456789abcdefABCDEF,");
    for (int digit = cpu / 4; end > mask;) {
        const char at = *--end;
        if (at == ',')
            continue;
        if (digit-- == 0)
            return ((at <= '9' ? at - '0' : (at | 32) - 'a' + 10) >> cpu % 4 & 1) != 0;
    }
    return false;
}

static void read_workqueues(const char *root, struct rt_audit *audit)
{
    char line[RT_LINE_SIZE];
    if (rt_sysroot_first_line(root, "/sys/devices/virtual/workqueue/cpumask", line))
        audit->workqueues = tristate_of(mask_has(line, audit->cpu));
}

static void read_idle(const char *root, struct rt_audit *audit)
{
    for (int i = 0; i < IDLE_STATE_MAX; i++) {
        char path[RT_PATH_SIZE], name[RT_WORD_SIZE] = "";
        long exit_us, disabled = 0;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/latency",
                 audit->cpu, i);
        if (!rt_sysroot_long(root, path, &exit_us))
            return;
        audit->idle_states_known = true;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/disable",
                 audit->cpu, i);
        (void)rt_sysroot_long(root, path, &disabled);
        if (disabled || exit_us <= audit->idle_exit_us)
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/name",
                 audit->cpu, i);
        read_word(root, path, name);
        audit->idle_exit_us = exit_us;
        memcpy(audit->idle_state, name, sizeof name);
    }
}

static void read_power(const char *root, struct rt_audit *audit)
{
    char path[RT_PATH_SIZE];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor",
             audit->cpu);
    read_word(root, path, audit->governor);
    read_idle(root, audit);
    audit->dma_latency = tristate_of(file_exists(root, "/dev/cpu_dma_latency", W_OK));
}

static void read_siblings(const char *root, const struct rt_machine *machine,
                          struct rt_audit *audit)
{
    char path[RT_PATH_SIZE], line[RT_LINE_SIZE];
    bool set[RT_LIST_MAX] = {false};
    bool isolated = true;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
             audit->cpu);
    audit->siblings_known = rt_sysroot_first_line(root, path, line);
    if (!audit->siblings_known)
        return;
    rt_parse_list(line, set);
    set[audit->cpu] = false;
    for (int cpu = 0; cpu < RT_CPU_MAX; cpu++)
        isolated = isolated && (!set[cpu] || machine->isolated[cpu]);
    audit->siblings_isolated = tristate_of(isolated);
    rt_print_list(set, audit->siblings, sizeof audit->siblings);
}

static void read_node(const char *root, struct rt_audit *audit)
{
    char path[RT_PATH_SIZE], line[RT_LINE_SIZE];
    bool nodes[RT_LIST_MAX] = {false};
    audit->node = -1;
    if (rt_sysroot_first_line(root, "/sys/devices/system/node/online", line))
        rt_parse_list(line, nodes);
    for (int node = 0; node < RT_LIST_MAX && audit->node < 0; node++) {
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
        if (nodes[node] && rt_sysroot_first_line(root, path, line) && list_has(line, audit->cpu))
            audit->node = node;
    }
}

static void read_core(const char *root, const struct rt_machine *machine, struct rt_audit *audit)
{
    char path[RT_PATH_SIZE], line[RT_LINE_SIZE];
    if (rt_sysroot_first_line(root, "/sys/devices/system/cpu/online", line))
        rt_parse_list(line, audit->online);
    read_nohz_full(root, audit);
    read_rcu_nocbs(audit);
    read_workqueues(root, audit);
    read_power(root, audit);
    read_siblings(root, machine, audit);
    read_node(root, audit);
    snprintf(path, sizeof path, "/sys/kernel/debug/sched/fair_server/cpu%d/runtime", audit->cpu);
    audit->fair_server_runtime = read_long_or(root, path, -1);
    rt_interrupts_read(root, audit->cpu, &audit->interrupts);
}

/* --- the kernel ------------------------------------------------------------------------------- */

/* The choice of a file that shows all, "always [madvise] never". */
static void read_choice(const char *root, const char *path, char word[RT_WORD_SIZE])
{
    char line[RT_LINE_SIZE];
    if (!rt_sysroot_first_line(root, path, line))
        return;
    const char *begin = strchr(line, '[');
    if (begin)
        snprintf(word, RT_WORD_SIZE, "%.*s", (int)strcspn(begin + 1, "]"), begin + 1);
}

static long read_meminfo(const char *root, const char *key)
{
    char value[RT_LINE_SIZE];
    return rt_sysroot_field(root, "/proc/meminfo", key, value) ? strtol(value, NULL, 10) : -1;
}

/* A heading, and a line for each. */
static void read_swaps(const char *root, struct rt_audit *audit)
{
    char line[RT_LINE_SIZE];
    FILE *file = rt_sysroot_open(root, "/proc/swaps");
    audit->swaps = -1;
    if (!file)
        return;
    while (rt_sysroot_next_line(file, line)) {
        if (++audit->swaps == 1)
            snprintf(audit->swap, sizeof audit->swap, "%.*s",
                     (int)strcspn(line, " \t") < RT_LIST_SIZE ? (int)strcspn(line, " \t")
                                                              : RT_LIST_SIZE - 1,
                     line);
    }
    fclose(file);
    if (audit->swaps < 0)
        audit->swaps = 0; /* a kernel that cannot swap shows an empty file */
}

static long read_priority_limit(const char *root)
{
    char value[RT_LINE_SIZE];
    if (!rt_sysroot_field(root, "/proc/self/limits", "Max realtime priority", value))
        return -1;
    const char *soft = value + strspn(value, " ");
    return strncmp(soft, "unlimited", 9) == 0 ? LONG_MAX : strtol(soft, NULL, 10);
}

static void read_kernel(const char *root, struct rt_audit *audit)
{
    audit->rt_runtime_us = read_long_or(root, "/proc/sys/kernel/sched_rt_runtime_us", LONG_MIN);
    audit->timer_migration = read_long_or(root, "/proc/sys/kernel/timer_migration", -1);
    audit->numa_balancing = read_long_or(root, "/proc/sys/kernel/numa_balancing", -1);
    audit->io_uring_disabled = read_long_or(root, "/proc/sys/kernel/io_uring_disabled", -1);
    audit->priority_limit = read_priority_limit(root);
    read_choice(root, "/sys/kernel/mm/transparent_hugepage/enabled", audit->thp);
    /* Real-time kernels are built without. */
    if (file_exists(root, "/sys/kernel/mm", F_OK) &&
        !file_exists(root, "/sys/kernel/mm/transparent_hugepage", F_OK))
        memcpy(audit->thp, "none", sizeof "none");
    audit->huge_free = read_meminfo(root, "HugePages_Free:");
    audit->huge_kb = read_meminfo(root, "Hugepagesize:");
    read_swaps(root, audit);
}

/* --- time ------------------------------------------------------------------------------------- */

static void read_clock(const char *root, struct rt_audit *audit)
{
    char flags[RT_LINE_SIZE];
    read_word(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
              audit->clocksource);
    if (!rt_sysroot_field(root, "/proc/cpuinfo", "flags", flags))
        return;
    audit->constant_tsc = tristate_of(rt_has_word(flags, "constant_tsc", " \t:"));
    audit->nonstop_tsc = tristate_of(rt_has_word(flags, "nonstop_tsc", " \t:"));
    const char *promise = boot_option(audit->cmdline, "tsc");
    audit->reliable_tsc = tristate_of(rt_has_word(flags, "tsc_reliable", " \t:") ||
                                      rt_has_word(flags, "tsc_known_freq", " \t:") ||
                                      (promise && strncmp(promise, "reliable", 8) == 0));
}

/* Names as the kernel has them: at most 15 characters. */
static bool is_clock_daemon(const char *name)
{
    static const char *const known[] = {"chronyd", "ntpd",    "ntpsec",    "systemd-timesyn",
                                        "ptp4l",   "phc2sys", "timemaster"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i]) == 0)
            return true;
    return false;
}

static void note_process(const char *name, struct rt_audit *audit)
{
    int cpu, end = 0;
    if ((sscanf(name, "rcuop/%d%n", &cpu, &end) == 1 ||
         sscanf(name, "rcuos/%d%n", &cpu, &end) == 1) &&
        name[end] == '\0' && cpu == audit->cpu)
        audit->rcu_nocbs = RT_YES;
    if (is_clock_daemon(name) && audit->daemon_count < RT_DAEMON_MAX)
        snprintf(audit->daemon[audit->daemon_count++], RT_WORD_SIZE, "%.*s", RT_WORD_SIZE - 1,
                 name);
}

static DIR *open_folder(const char *root, const char *path)
{
    char name[RT_PATH_SIZE];
    return snprintf(name, sizeof name, "%s%s", root, path) < (int)sizeof name ? opendir(name)
                                                                              : NULL;
}

static void read_processes(const char *root, struct rt_audit *audit)
{
    char path[RT_PATH_SIZE], name[RT_LINE_SIZE];
    DIR *folder = open_folder(root, "/proc");
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(path, sizeof path, "/proc/%s/comm", entry->d_name);
        if (!rt_sysroot_first_line(root, path, name))
            continue;
        audit->processes_known = true;
        note_process(name, audit);
    }
    if (folder)
        closedir(folder);
}

static void read_ptp(const char *root, struct rt_audit *audit)
{
    DIR *folder = open_folder(root, "/sys/class/ptp");
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        audit->ptp_clocks += strncmp(entry->d_name, "ptp", 3) == 0;
    if (folder)
        closedir(folder);
}

void rt_audit_read(const char *root, const struct rt_machine *machine, int cpu,
                   struct rt_audit *audit)
{
    memset(audit, 0, sizeof *audit);
    audit->cpu = cpu >= 0 && cpu < RT_CPU_MAX ? cpu : 0;
    (void)rt_sysroot_first_line(root, "/proc/cmdline", audit->cmdline);
    read_core(root, machine, audit);
    read_kernel(root, audit);
    read_clock(root, audit);
    read_processes(root, audit);
    read_ptp(root, audit);
}

/* --- what is taken ---------------------------------------------------------------------------- */

static int64_t read_steal(const char *root, int cpu)
{
    char key[24], value[RT_LINE_SIZE];
    char *at = value;
    int64_t ticks = -1;
    snprintf(key, sizeof key, "cpu%d ", cpu);
    if (!rt_sysroot_field(root, "/proc/stat", key, value))
        return -1;
    for (int column = 1; column <= STEAL_COLUMN; column++) {
        char *end;
        ticks = strtoll(at, &end, 10);
        if (end == at)
            return -1; /* an old kernel has fewer */
        at = end;
    }
    return ticks;
}

/* Intel counts them in a register; the msr driver shows each register at its number. */
static int64_t read_smi(const char *root, int cpu)
{
    char path[RT_PATH_SIZE];
    uint64_t count;
    if (snprintf(path, sizeof path, "%s/dev/cpu/%d/msr", root, cpu) >= (int)sizeof path)
        return -1;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const bool got = pread(fd, &count, sizeof count, MSR_SMI_COUNT) == (ssize_t)sizeof count;
    close(fd);
    return got ? (int64_t)(count & UINT32_MAX) : -1;
}

void rt_core_counters_read(const char *root, int cpu, struct rt_core_counters *taken)
{
    taken->steal_ticks = read_steal(root, cpu);
    taken->smi_count = read_smi(root, cpu);
}
