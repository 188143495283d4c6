#include "tools/airbearing/doctor/change.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rt/machine/sysroot.h"

static const char heading[] = "airbearing doctor undo 1";

/* --- making and taking back ------------------------------------------------------------------- */

static int make_folder(const char *root, const char *path)
{
    char name[RT_PATH_SIZE];
    snprintf(name, sizeof name, "%s%s", root, path);
    return mkdir(name, 0755) == 0 ? 0 : -errno;
}

/* A missing file or folder needs no undo. */
static int remove_folder(const char *root, const char *path)
{
    char name[RT_PATH_SIZE];
    snprintf(name, sizeof name, "%s%s", root, path);
    return rmdir(name) == 0 || errno == ENOENT ? 0 : -errno;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t size = strlen(text), tail = strlen(end);
    return size >= tail && strcmp(text + size - tail, end) == 0;
}

/* A partition accepts any word and reports afterwards whether it is valid: "isolated invalid
 * (...)". */
static int check_partition(const char *root, const struct change *change)
{
    char line[RT_LINE_SIZE];
    if (!ends_with(change->path, "/cpuset.cpus.partition"))
        return 0;
    return rt_sysroot_first_line(root, change->path, line) && strstr(line, "invalid") ? -EBUSY : 0;
}

static int apply_change(const char *root, const struct change *change)
{
    if (change->kind == CHANGE_FOLDER)
        return make_folder(root, change->path);
    const int status = rt_sysroot_write(root, change->path, change->after);
    return status != 0 ? status : check_partition(root, change);
}

static int take_back(const char *root, const struct change *change)
{
    if (change->kind == CHANGE_FOLDER)
        return remove_folder(root, change->path);
    return rt_sysroot_write(root, change->path, change->before);
}

static void explain(char why[CHANGE_WHY_SIZE], const struct change *change, const char *text,
                    int status)
{
    if (change->kind == CHANGE_FOLDER)
        snprintf(why, CHANGE_WHY_SIZE, "%s: %s", change->path, strerror(-status));
    else
        snprintf(why, CHANGE_WHY_SIZE, "\"%.64s\" to %s: %s", text, change->path,
                 strerror(-status));
}

int changes_take_back(const char *root, const struct changes *changes, int count,
                      char why[CHANGE_WHY_SIZE])
{
    int first = 0;
    for (int i = count - 1; i >= 0; i--) {
        const int status = take_back(root, &changes->change[i]);
        /* The files of a removed folder need no undo. */
        if (status == 0 || (status == -ENOENT && strstr(changes->change[i].path, "/airbearing/")))
            continue;
        if (first == 0)
            explain(why, &changes->change[i], changes->change[i].before, status);
        first = first == 0 ? status : first;
    }
    return first;
}

int changes_make(const char *root, const struct changes *changes, char why[CHANGE_WHY_SIZE])
{
    for (int i = 0; i < changes->count; i++) {
        const struct change *change = &changes->change[i];
        const int status = apply_change(root, change);
        if (status == 0)
            continue;
        char stuck[CHANGE_WHY_SIZE] = "";
        explain(why, change, change->after, status);
        /* A partition that is invalid was written all the same. */
        const int done = status == -EBUSY && change->kind == CHANGE_WRITE ? i + 1 : i;
        if (changes_take_back(root, changes, done, stuck) != 0)
            snprintf(why + strlen(why), CHANGE_WHY_SIZE - strlen(why),
                     "; and what was done could not be taken back: %s", stuck);
        return status;
    }
    return 0;
}

/* --- trying ----------------------------------------------------------------------------------- */

static bool is_interrupt(const struct change *change)
{
    return strncmp(change->path, "/proc/irq/", 10) == 0;
}

/* A file in a folder that another change makes cannot be tried yet. */
static bool is_to_come(const struct changes *changes, const char *path)
{
    for (int i = 0; i < changes->count; i++) {
        const struct change *change = &changes->change[i];
        const size_t size = strlen(change->path);
        if (change->kind == CHANGE_FOLDER && strncmp(path, change->path, size) == 0)
            return true;
    }
    return false;
}

static int may_write(const char *root, const char *path)
{
    char name[RT_PATH_SIZE];
    snprintf(name, sizeof name, "%s%s", root, path);
    return access(name, W_OK) == 0 ? 0 : -errno;
}

/* Write an interrupt's own affinity back to find out whether the kernel lets it be moved. */
static bool refuses_to_move(const char *root, const struct change *change)
{
    const int status = rt_sysroot_write(root, change->path, change->before);
    return status == -EIO || status == -EPERM;
}

static void drop_unmovable(struct changes *changes, int at, char *stays, size_t stays_size)
{
    const size_t used = strlen(stays);
    snprintf(stays + used, stays_size - used, "%s%s", used > 0 ? ", " : "",
             changes->change[at].path);
    memmove(&changes->change[at], &changes->change[at + 1],
            (size_t)(changes->count - at - 1) * sizeof changes->change[0]);
    changes->count--;
}

int changes_try(const char *root, struct changes *changes, char *stays, size_t stays_size,
                char why[CHANGE_WHY_SIZE])
{
    stays[0] = '\0';
    for (int i = 0; i < changes->count; i++) {
        const struct change *change = &changes->change[i];
        if (change->kind == CHANGE_FOLDER || is_to_come(changes, change->path))
            continue;
        const int status = may_write(root, change->path);
        if (status != 0) {
            explain(why, change, change->after, status);
            return status;
        }
    }
    for (int i = changes->count - 1; i >= 0; i--)
        if (is_interrupt(&changes->change[i]) && refuses_to_move(root, &changes->change[i]))
            drop_unmovable(changes, i, stays, stays_size);
    return 0;
}

/* --- the undo file ---------------------------------------------------------------------------- */

int changes_save(const char *path, const struct changes *changes)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    FILE *file = fdopen(fd, "w");
    if (!file) {
        close(fd);
        return -ENOMEM;
    }
    fprintf(file, "%s\n", heading);
    for (int i = 0; i < changes->count; i++) {
        const struct change *change = &changes->change[i];
        if (change->kind == CHANGE_FOLDER)
            fprintf(file, "folder %s\n", change->path);
        else
            fprintf(file, "write %s %s\n", change->path, change->before);
    }
    const bool lost = fflush(file) != 0 || fsync(fd) != 0 || ferror(file);
    if (fclose(file) == 0 && !lost)
        return 0;
    unlink(path);
    return -EIO;
}

/* In fnmatch() a star does not match a slash, so each pattern covers one folder level. */
static bool may_be_ours(const struct change *change)
{
    static const char *const writes[] = {
        "/proc/sys/kernel/sched_rt_runtime_us",
        "/proc/sys/kernel/timer_migration",
        "/proc/sys/kernel/numa_balancing",
        "/proc/irq/[0-9]*/smp_affinity_list",
        "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor",
        "/sys/devices/virtual/workqueue/cpumask",
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/kernel/debug/sched/fair_server/cpu[0-9]*/runtime",
        "/sys/fs/cgroup/cgroup.subtree_control",
        "/sys/fs/cgroup/*/cgroup.subtree_control",
        "/sys/fs/cgroup/airbearing/cpuset.cpus",
        "/sys/fs/cgroup/*/airbearing/cpuset.cpus",
        "/sys/fs/cgroup/airbearing/cpuset.cpus.partition",
        "/sys/fs/cgroup/*/airbearing/cpuset.cpus.partition",
        NULL};
    static const char *const folders[] = {"/sys/fs/cgroup/airbearing",
                                          "/sys/fs/cgroup/*/airbearing", NULL};
    const char *const *pattern = change->kind == CHANGE_FOLDER ? folders : writes;
    if (strstr(change->path, "..") != NULL)
        return false;
    for (; *pattern; pattern++)
        if (fnmatch(*pattern, change->path, FNM_PATHNAME | FNM_NOESCAPE) == 0)
            return true;
    return false;
}

/* Copy up to end; false when there is no room. */
static bool copy_word(const char *from, size_t size, char *to, size_t room)
{
    if (size >= room)
        return false;
    memcpy(to, from, size);
    to[size] = '\0';
    return true;
}

bool change_parse(const char *line, struct change *change)
{
    memset(change, 0, sizeof *change);
    const bool folder = strncmp(line, "folder ", 7) == 0;
    if (!folder && strncmp(line, "write ", 6) != 0)
        return false;
    change->kind = folder ? CHANGE_FOLDER : CHANGE_WRITE;
    line += folder ? 7 : 6;
    const size_t size = strcspn(line, " ");
    if (!copy_word(line, size, change->path, sizeof change->path) || !may_be_ours(change))
        return false;
    if (folder)
        return line[size] == '\0';
    return line[size] == ' ' && copy_word(line + size + 1, strlen(line + size + 1), change->before,
                                          sizeof change->before);
}

static int load_lines(FILE *file, struct changes *changes, int *number)
{
    char line[RT_LINE_SIZE];
    *number = 1;
    if (!rt_sysroot_next_line(file, line) || strcmp(line, heading) != 0)
        return -EINVAL;
    for (changes->count = 0; rt_sysroot_next_line(file, line); changes->count++) {
        ++*number;
        if (changes->count == CHANGE_MAX || !change_parse(line, &changes->change[changes->count]))
            return -EINVAL;
    }
    return ferror(file) ? -EIO : 0;
}

int changes_load(const char *path, struct changes *changes, int *line)
{
    FILE *file = rt_sysroot_open("", path);
    *line = 0;
    if (!file)
        return -errno;
    const int status = load_lines(file, changes, line);
    fclose(file);
    return status;
}
