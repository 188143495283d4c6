/*
 * Where is the frame thread of a running airbearing, and where are its pages?
 *
 *   where PID MS
 *
 * Looks for MS milliseconds, then writes one JSON object: policy and priority, the CPUs the thread
 * may run on and those it was seen on, how often it changed, and for the arena and the thread's own
 * stack the number of pages on each memory node, as move_pages(2) reports it.
 */
#include <dirent.h>
#include <numaif.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NODE_MAX = 4, BATCH = 512, PAGE = 4096, LINE = 4096 };

struct pages {
    unsigned long on[NODE_MAX], absent;
};

static FILE *open_of(int pid, int tid, const char *name)
{
    char path[96];
    if (tid)
        snprintf(path, sizeof path, "/proc/%d/task/%d/%s", pid, tid, name);
    else
        snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

/* The thread called `frame`. */
static int find_thread(int pid)
{
    char path[64], name[32];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *folder = opendir(path);
    int found = 0;
    for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
        const int tid = atoi(entry->d_name);
        if (tid <= 0)
            continue;
        FILE *file = open_of(pid, tid, "comm");
        if (fgets(name, sizeof name, file) && strcmp(name, "frame\n") == 0)
            found = tid;
        fclose(file);
    }
    if (folder)
        closedir(folder);
    return found;
}

/* Field 39 of stat: the CPU it ran on last. */
static int last_cpu(int pid, int tid)
{
    char line[1024];
    FILE *file = open_of(pid, tid, "stat");
    const char *at = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    for (int field = 2; at && field < 39; field++)
        at = strchr(at + 1, ' ');
    return at ? atoi(at) : -1;
}

static uint64_t seen_on(int pid, int tid, long ms)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    uint64_t seen = 0;
    for (long i = 0; i < ms / 5; i++) {
        const int cpu = last_cpu(pid, tid);
        if (cpu >= 0 && cpu < 64)
            seen |= UINT64_C(1) << cpu;
        nanosleep(&pause, NULL);
    }
    return seen;
}

static long migrations(int pid, int tid)
{
    char line[256];
    long count = -1;
    FILE *file = open_of(pid, tid, "sched");
    while (fgets(line, sizeof line, file))
        (void)sscanf(line, "se.nr_migrations : %ld", &count);
    fclose(file);
    return count;
}

/* While a thread sleeps, the last number but one of `syscall` is its stack pointer. */
static unsigned long stack_pointer(int pid, int tid)
{
    unsigned long sp = 0;
    for (int tries = 0; tries < 200 && sp == 0; tries++) {
        char line[256] = "";
        FILE *file = open_of(pid, tid, "syscall");
        char *end = fgets(line, sizeof line, file) ? strrchr(line, ' ') : NULL;
        fclose(file);
        if (!end || strncmp(line, "running", 7) == 0) {
            usleep(700);
            continue;
        }
        *end = '\0';
        sp = strtoul(strrchr(line, ' ') + 1, NULL, 16);
    }
    return sp;
}

static struct pages count_pages(int pid, unsigned long begin, unsigned long end)
{
    struct pages pages = {0};
    while (begin < end) {
        void *at[BATCH];
        int status[BATCH];
        unsigned long count = 0;
        for (; count < BATCH && begin < end; count++, begin += PAGE)
            at[count] = (void *)begin;
        if (move_pages(pid, count, at, NULL, status, 0) != 0)
            return pages;
        for (unsigned long i = 0; i < count; i++) {
            if (status[i] >= 0 && status[i] < NODE_MAX)
                pages.on[status[i]]++;
            else
                pages.absent++;
        }
    }
    return pages;
}

static void print_pages(const char *name, const struct pages *pages)
{
    printf(", \"%s\": {\"nodes\": [%lu, %lu], \"absent\": %lu}", name, pages->on[0], pages->on[1],
           pages->absent);
}

/* Did the mapping that begins there ask for a node? */
static int has_preference(int pid, unsigned long begin)
{
    char line[LINE], wanted[32];
    int found = 0;
    snprintf(wanted, sizeof wanted, "%08lx prefer", begin);
    FILE *file = open_of(pid, 0, "numa_maps");
    while (!found && fgets(line, sizeof line, file))
        found = strncmp(line, wanted, strlen(wanted)) == 0;
    fclose(file);
    return found;
}

static unsigned long present(const struct pages *pages)
{
    unsigned long sum = 0;
    for (int i = 0; i < NODE_MAX; i++)
        sum += pages->on[i];
    return sum;
}

/* The arena is by far the largest of those that ask for a node; the others are stacks. */
static void tell_pages(int pid, unsigned long sp)
{
    char line[LINE];
    unsigned long begin, end;
    struct pages arena = {0}, stack = {0};
    FILE *file = open_of(pid, 0, "maps");
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx-%lx rw", &begin, &end) != 2)
            continue;
        const int is_stack = begin <= sp && sp < end;
        if (!is_stack && !has_preference(pid, begin))
            continue;
        const struct pages found = count_pages(pid, begin, end);
        if (is_stack)
            stack = found;
        else if (present(&found) > present(&arena))
            arena = found;
    }
    fclose(file);
    print_pages("arena", &arena);
    print_pages("stack", &stack);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: where PID MS\n", stderr);
        return 64;
    }
    const int pid = atoi(argv[1]), tid = find_thread(pid);
    cpu_set_t allowed;
    struct sched_param param = {0};
    if (tid == 0 || sched_getaffinity(tid, sizeof allowed, &allowed) ||
        sched_getparam(tid, &param)) {
        fputs("where: no frame thread\n", stderr);
        return 1;
    }
    const long moved = migrations(pid, tid);
    const uint64_t seen = seen_on(pid, tid, atol(argv[2]));
    printf("{\"policy\": %d, \"priority\": %d, \"allowed\": %d, \"may_1\": %d, \"seen\": %llu, "
           "\"migrations\": %ld",
           sched_getscheduler(tid), param.sched_priority, CPU_COUNT(&allowed),
           CPU_ISSET(1, &allowed) != 0, (unsigned long long)seen, migrations(pid, tid) - moved);
    tell_pages(pid, stack_pointer(pid, tid));
    printf("}\n");
    return 0;
}
