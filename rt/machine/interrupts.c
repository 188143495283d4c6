#include "rt/machine/interrupts.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/*
 * Whether an interrupt is managed shows only in debugfs or when one tries to move it.  The queues
 * of two drivers that always use it are known by name: nvme ("nvme0q1"; queue 0 is not) and
 * virtio-blk ("virtio1-req.0").
 */
bool rt_irq_is_managed(const char *name)
{
    int device, queue, end = 0;
    if (sscanf(name, "nvme%dq%d%n", &device, &queue, &end) == 2)
        return queue > 0 && name[end] == '\0';
    return sscanf(name, "virtio%d-req.%d%n", &device, &queue, &end) == 2 && name[end] == '\0';
}

static bool debugfs_says_managed(const char *root, int number)
{
    char path[RT_PATH_SIZE], line[RT_LINE_SIZE];
    bool managed = false;
    snprintf(path, sizeof path, "/sys/kernel/debug/irq/irqs/%d", number);
    FILE *file = rt_sysroot_open(root, path);
    if (!file)
        return false;
    while (!managed && rt_sysroot_next_line(file, line))
        managed = strstr(line, "IRQD_AFFINITY_MANAGED") != NULL;
    fclose(file);
    return managed;
}

/* Which column of /proc/interrupts a core has; -1: none.  Offline cores have no column. */
static int column_of(const char *heading, int cpu)
{
    int column = 0, number, length = 0;
    for (; sscanf(heading, " CPU%d%n", &number, &length) == 1; heading += length, column++)
        if (number == cpu)
            return column;
    return -1;
}

/* A line is number: one count for each core, chip, kind and at last the names of the devices. */
static bool parse_line(const char *line, int number, int column, struct rt_irq *irq)
{
    char *at;
    if (strtol(line, &at, 10) != number || *at != ':')
        return false;
    at++;
    for (int i = 0; isdigit((unsigned char)at[strspn(at, " ")]); i++) {
        char *end;
        const uint64_t count = strtoull(at, &end, 10);
        if (*end != ' ' && *end != '\0')
            break; /* a chip whose name begins with a digit */
        if (i == column)
            irq->count = count;
        at = end;
    }
    const char *name = strrchr(at, ' ');
    snprintf(irq->name, sizeof irq->name, "%.*s", RT_IRQ_NAME_SIZE - 1, name ? name + 1 : "");
    return true;
}

static void read_interrupt_line(const char *root, int cpu, struct rt_irq *irq)
{
    char line[RT_LINE_SIZE];
    FILE *file = rt_sysroot_open(root, "/proc/interrupts");
    if (!file)
        return;
    const int column = rt_sysroot_next_line(file, line) ? column_of(line, cpu) : -1;
    while (rt_sysroot_next_line(file, line) && !parse_line(line, irq->number, column, irq))
        ;
    fclose(file);
}

/* True when one of its lists has this core, or when there is no such list. */
static bool list_allows(const char *root, int number, const char *name, int cpu)
{
    char path[RT_PATH_SIZE], line[RT_LINE_SIZE];
    bool set[RT_LIST_MAX] = {false};
    snprintf(path, sizeof path, "/proc/irq/%d/%s", number, name);
    if (!rt_sysroot_first_line(root, path, line) || line[0] == '\0')
        return true;
    rt_parse_list(line, set);
    return set[cpu];
}

/* True when the interrupt may go to this core and does.  One that was moved shows its old core
 * until it fires again; old kernels do not show the core at all. */
static bool is_delivered(const char *root, int number, int cpu)
{
    return list_allows(root, number, "smp_affinity_list", cpu) &&
           list_allows(root, number, "effective_affinity_list", cpu);
}

static void add_interrupt(const char *root, int cpu, int number, struct rt_interrupts *interrupts)
{
    struct rt_irq irq = {.number = number};
    read_interrupt_line(root, cpu, &irq);
    /* An interrupt number without a line belongs to no device and never fires. */
    if (irq.name[0] == '\0')
        return;
    irq.managed = rt_irq_is_managed(irq.name) || debugfs_says_managed(root, number);
    interrupts->total++;
    interrupts->managed_count += irq.managed;
    if (interrupts->count < RT_IRQ_MAX)
        interrupts->irq[interrupts->count++] = irq;
}

static int compare_numbers(const void *a, const void *b)
{
    return ((const struct rt_irq *)a)->number - ((const struct rt_irq *)b)->number;
}

void rt_interrupts_read(const char *root, int cpu, struct rt_interrupts *interrupts)
{
    char path[RT_PATH_SIZE];
    memset(interrupts, 0, sizeof *interrupts);
    if (cpu < 0 || cpu >= RT_LIST_MAX ||
        snprintf(path, sizeof path, "%s/proc/irq", root) >= (int)sizeof path)
        return;
    DIR *directory = opendir(path);
    if (!directory)
        return;
    interrupts->known = true;
    for (const struct dirent *entry; (entry = readdir(directory));) {
        char *end;
        const long number = strtol(entry->d_name, &end, 10);
        if (end == entry->d_name || *end != '\0' || number < 0 || number > INT32_MAX)
            continue;
        if (is_delivered(root, (int)number, cpu))
            add_interrupt(root, cpu, (int)number, interrupts);
    }
    closedir(directory);
    qsort(interrupts->irq, (size_t)interrupts->count, sizeof interrupts->irq[0], compare_numbers);
}
