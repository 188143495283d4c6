/*
 * A disk with one folder.  What is written is in the machine's memory until it is synced, the bytes
 * of a file and the names of the folder each by themselves: a loss of power keeps what was synced,
 * and of the rest whatever it likes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/seeded/real.h"
#include "tests/seeded/seeded.h"
#include "tests/seeded/wraps.h"

enum { FILE_MAX = 512, NAME_SIZE = 96, OPEN_MAX = 128, FD_FIRST = 1 << 20, CHANGE_MAX = 2048 };

struct bytes {
    unsigned char *data;
    size_t size, room;
};

struct file {
    struct bytes now, synced;
    bool was_synced;
    bool poisoned; /* a sync failed: what was written before it may never get there */
};

struct name {
    char text[NAME_SIZE];
    struct file *file; /* NULL: there is none of this name any more */
};

/* A change of names that has not been synced: a rename is one change of two. */
struct change {
    struct name name[2];
    int count;
};

struct opened {
    bool is_open, is_folder;
    struct file *file;
    char name[NAME_SIZE];
    size_t at;
};

static struct file files[FILE_MAX];
static int file_count;
static struct name names[FILE_MAX], synced_names[FILE_MAX];
static int name_count, synced_name_count;
static struct change changes[CHANGE_MAX];
static int change_count;
static struct opened opened[OPEN_MAX];
static struct name troubled[FILE_MAX]; /* names whose calls failed */
static uint64_t trouble[FILE_MAX];
static int troubled_count;

/* ---- bytes and names ------------------------------------------------------------------------- */

static void resize(struct bytes *bytes, size_t size)
{
    if (size > bytes->room) {
        const size_t room = 2 * size + 4096;
        unsigned char *data = seeded_allocate(room);
        if (bytes->size > 0)
            memcpy(data, bytes->data, bytes->size);
        bytes->data = data;
        bytes->room = room;
    }
    if (size > bytes->size)
        memset(bytes->data + bytes->size, 0, size - bytes->size);
    bytes->size = size;
}

static void copy(struct bytes *to, const struct bytes *from)
{
    resize(to, from->size);
    if (from->size > 0)
        memcpy(to->data, from->data, from->size);
}

static struct name *find(struct name *list, int count, const char *text)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(list[i].text, text) == 0)
            return &list[i];
    }
    return NULL;
}

static void put_name(struct name *list, int *count, const char *text, struct file *file)
{
    struct name *name = find(list, *count, text);
    if (!name) {
        if (*count == FILE_MAX)
            seeded_fail("more than %d names on the simulated disk", FILE_MAX);
        name = &list[(*count)++];
        snprintf(name->text, sizeof name->text, "%s", text);
    }
    name->file = file;
}

static struct file *file_of(const char *text)
{
    const struct name *name = find(names, name_count, text);
    return name ? name->file : NULL;
}

static void note_change(struct name a, struct name b, int count)
{
    if (change_count == CHANGE_MAX)
        seeded_fail("more than %d changes of names wait for a sync", CHANGE_MAX);
    changes[change_count++] = (struct change){{a, b}, count};
    put_name(names, &name_count, a.text, a.file);
    if (count > 1)
        put_name(names, &name_count, b.text, b.file);
}

static struct name named(const char *text, struct file *file)
{
    struct name name = {.file = file};
    snprintf(name.text, sizeof name.text, "%s", text);
    return name;
}

static bool is_ours(const char *path)
{
    return strchr(path, '/') == NULL;
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

uint64_t disk_errors(const char *name)
{
    uint64_t sum = 0;
    for (int i = 0; i < troubled_count; i++) {
        if (strncmp(troubled[i].text, name, strlen(name)) == 0)
            sum += trouble[i];
    }
    return sum;
}

static void note_trouble(const char *name)
{
    int i = 0;
    while (i < troubled_count && strcmp(troubled[i].text, name) != 0)
        i++;
    if (i == troubled_count && troubled_count < FILE_MAX)
        troubled[troubled_count++] = named(name, NULL);
    if (i < troubled_count)
        trouble[i]++;
    seeded_shared->faults++;
}

/* The time that a call takes, and the error that it ends with; 0: none. */
static int leaf(const char *what, const char *name, uint64_t ns_max)
{
    static const int reasons[] = {EIO, ENOSPC, EACCES, EMFILE, EDQUOT};
    if (!seeded_self())
        return 0;
    while (seeded_now_ns >= seeded_weather.stop_ns && seeded_now_ns < seeded_weather.stop_until_ns)
        seeded_sleep(seeded_weather.stop_until_ns - seeded_now_ns + seeded_below(SEEDED_MS));
    seeded_sleep(5 * SEEDED_US +
                 seeded_below(seeded_now_ns < seeded_weather.quiet_ns ? ns_max : 100 * SEEDED_US));
    if (!seeded_breaks(seeded_weather.disk_errors)) {
        seeded_trace("%s %s", what, name);
        return 0;
    }
    const int reason = reasons[seeded_below(sizeof reasons / sizeof *reasons)];
    note_trouble(name);
    seeded_trace("%s %s fails: %s", what, name, strerrorname_np(reason));
    return reason;
}

static int fail(int error)
{
    errno = error;
    return -1;
}

/* ---- open files ------------------------------------------------------------------------------ */

static struct opened *opened_of(int fd)
{
    return fd >= FD_FIRST && fd < FD_FIRST + OPEN_MAX && opened[fd - FD_FIRST].is_open
               ? &opened[fd - FD_FIRST]
               : NULL;
}

bool disk_has(int fd)
{
    return opened_of(fd) != NULL;
}

static struct file *make_file(const char *name)
{
    if (file_count == FILE_MAX)
        seeded_fail("more than %d files on the simulated disk", FILE_MAX);
    struct file *file = &files[file_count++];
    note_change(named(name, file), named("", NULL), 1);
    return file;
}

int __wrap_open64(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    if (strncmp(path, "/proc", 5) == 0 || strncmp(path, "/sys", 4) == 0 ||
        strncmp(path, "/dev/cpu", 8) == 0)
        return fail(ENOENT);
    if (!is_ours(path))
        return __real_open64(path, flags, mode);
    const int error = leaf("open", path, 200 * SEEDED_US);
    if (error)
        return fail(error);
    const bool is_folder = strcmp(path, ".") == 0;
    struct file *file = is_folder ? NULL : file_of(path);
    if (!is_folder && !file && !(flags & O_CREAT))
        return fail(ENOENT);
    if (file && flags & O_CREAT && flags & O_EXCL)
        return fail(EEXIST);
    if (!is_folder && !file)
        file = make_file(path);
    if (file && flags & O_TRUNC)
        resize(&file->now, 0);
    for (int i = 0; i < OPEN_MAX; i++) {
        if (opened[i].is_open)
            continue;
        opened[i] = (struct opened){.is_open = true, .is_folder = is_folder, .file = file};
        snprintf(opened[i].name, sizeof opened[i].name, "%s", path);
        return FD_FIRST + i;
    }
    return fail(EMFILE);
}

int __wrap_close(int fd)
{
    struct opened *open = opened_of(fd);
    if (!open)
        return sockets_close(fd) ? 0 : __real_close(fd);
    const int error = leaf("close", open->name, 50 * SEEDED_US);
    open->is_open = false;
    return error ? fail(EIO) : 0;
}

int disk_write(int fd, const void *bytes, size_t size, uint64_t at)
{
    struct opened *open = opened_of(fd);
    const int error = leaf("write", open->name, 300 * SEEDED_US);
    if (error)
        return -error;
    if (size > 1 && seeded_breaks(seeded_weather.disk_errors)) {
        size = seeded_between(1, size - 1);
        seeded_trace("write %s is short: %zu bytes", open->name, size);
    }
    struct bytes *now = &open->file->now;
    if (now->size < at + size)
        resize(now, at + size);
    memcpy(now->data + at, bytes, size);
    return (int)size;
}

ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t size, off_t at)
{
    if (!disk_has(fd))
        return __real_pwrite64(fd, bytes, size, at);
    const int result = disk_write(fd, bytes, size, (uint64_t)at);
    return result < 0 ? fail(-result) : result;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
    struct opened *open = opened_of(fd);
    if (!open)
        return __real_write(fd, bytes, size);
    if (seeded_breaks(2 * seeded_weather.disk_errors))
        return fail(EINTR);
    const int result = disk_write(fd, bytes, size, open->at);
    open->at += result > 0 ? (size_t)result : 0;
    return result < 0 ? fail(-result) : result;
}

ssize_t __wrap_read(int fd, void *bytes, size_t size)
{
    struct opened *open = opened_of(fd);
    if (!open)
        return __real_read(fd, bytes, size);
    const int error = leaf("read", open->name, 300 * SEEDED_US);
    if (error)
        return fail(EIO);
    const struct bytes *now = &open->file->now;
    const size_t left = now->size > open->at ? now->size - open->at : 0;
    size_t count = size < left ? size : left;
    if (count > 1 && seeded_breaks(seeded_weather.disk_errors))
        count = seeded_between(1, count);
    memcpy(bytes, now->data + open->at, count);
    open->at += count;
    return (ssize_t)count;
}

ssize_t __wrap_pread64(int fd, void *bytes, size_t size, off_t at)
{
    struct opened *open = opened_of(fd);
    if (!open)
        return __real_pread64(fd, bytes, size, at);
    const size_t before = open->at;
    open->at = (size_t)at;
    const ssize_t count = __wrap_read(fd, bytes, size);
    open->at = before;
    return count;
}

int __wrap_ftruncate64(int fd, off_t size)
{
    struct opened *open = opened_of(fd);
    if (!open)
        return __real_ftruncate64(fd, size);
    const int error = leaf("ftruncate", open->name, 100 * SEEDED_US);
    if (error)
        return fail(EIO);
    resize(&open->file->now, (size_t)size);
    return 0;
}

/* ---- syncs ----------------------------------------------------------------------------------- */

static void sync_names(void)
{
    for (int i = 0; i < change_count; i++) {
        for (int k = 0; k < changes[i].count; k++)
            put_name(synced_names, &synced_name_count, changes[i].name[k].text,
                     changes[i].name[k].file);
    }
    change_count = 0;
}

int __wrap_fsync(int fd)
{
    struct opened *open = opened_of(fd);
    if (!open)
        return __real_fsync(fd);
    const int error = leaf("fsync", open->name, seeded_weather.sync_ns_max);
    if (error && open->file)
        open->file->poisoned = true;
    if (error)
        return fail(EIO);
    if (open->is_folder) {
        sync_names();
    } else if (!open->file->poisoned) {
        copy(&open->file->synced, &open->file->now);
        open->file->was_synced = true;
    }
    return 0;
}

int __wrap_fdatasync(int fd)
{
    return __wrap_fsync(fd);
}

/* ---- names ----------------------------------------------------------------------------------- */

int __wrap_rename(const char *from, const char *to)
{
    if (!is_ours(from))
        return __real_rename(from, to);
    const int error = leaf("rename to", to, 200 * SEEDED_US);
    if (error)
        return fail(error == EMFILE ? EIO : error);
    struct file *file = file_of(from);
    if (!file)
        return fail(ENOENT);
    note_change(named(from, NULL), named(to, file), 2);
    invariants_file(to);
    return 0;
}

int __wrap_unlink(const char *path)
{
    if (!is_ours(path))
        return __real_unlink(path);
    const int error = leaf("unlink", path, 100 * SEEDED_US);
    if (error)
        return fail(EIO);
    if (!file_of(path))
        return fail(ENOENT);
    note_change(named(path, NULL), named("", NULL), 1);
    return 0;
}

static int describe(const struct file *file, bool is_folder, struct stat *status)
{
    if (!file && !is_folder)
        return fail(ENOENT);
    *status = (struct stat){.st_mode = is_folder ? S_IFDIR | 0755 : S_IFREG | 0644,
                            .st_dev = 1,
                            .st_nlink = 1,
                            .st_ino = is_folder ? 1 : (ino_t)(file - files) + 2,
                            .st_size = file ? (off_t)file->now.size : 0};
    return 0;
}

int __wrap_stat64(const char *path, struct stat *status)
{
    return is_ours(path) ? describe(file_of(path), strcmp(path, ".") == 0, status)
                         : __real_stat64(path, status);
}

int __wrap_lstat64(const char *path, struct stat *status)
{
    return is_ours(path) ? __wrap_stat64(path, status) : __real_lstat64(path, status);
}

int __wrap_fstat64(int fd, struct stat *status)
{
    const struct opened *open = opened_of(fd);
    return open ? describe(open->file, open->is_folder, status) : __real_fstat64(fd, status);
}

int __wrap_flock(int fd, int what)
{
    return disk_has(fd) ? 0 : __real_flock(fd, what);
}

/* ---- loss of power --------------------------------------------------------------------------- */

/* Of the changes that were not synced some are there and some are not. */
static struct file *after_crash(const char *text)
{
    const struct name *name = find(synced_names, synced_name_count, text);
    struct file *file = name ? name->file : NULL;
    for (int i = 0; i < change_count; i++) {
        const bool is_there = seeded_chance(2);
        for (int k = 0; k < changes[i].count && is_there; k++) {
            if (strcmp(changes[i].name[k].text, text) == 0)
                file = changes[i].name[k].file;
        }
    }
    return file;
}

const unsigned char *disk_after_crash(const char *name, size_t *size)
{
    static struct bytes left;
    const struct file *file = after_crash(name);
    *size = 0;
    if (!file)
        return NULL;
    const bool is_clean =
        file->was_synced && file->now.size == file->synced.size &&
        (file->now.size == 0 || memcmp(file->now.data, file->synced.data, file->now.size) == 0);
    resize(&left, 0);
    copy(&left, &file->synced);
    if (!is_clean && seeded_chance(2)) { /* some of the new bytes got there */
        copy(&left, &file->now);
        const size_t from = seeded_below(left.size + 1);
        memset(left.data + from, 0, left.size - from);
        if (seeded_chance(2))
            resize(&left, from);
    }
    *size = left.size;
    return left.data ? left.data : (const unsigned char *)"";
}

const unsigned char *disk_now(const char *name, size_t *size)
{
    const struct file *file = file_of(name);
    *size = file ? file->now.size : 0;
    return file && file->now.data ? file->now.data : NULL;
}
