/*
 * The calls as they are without the simulation.
 */
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

_Noreturn void __real__exit(int code);
int __real_main(int argc, char **argv);

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);

int __real_open64(const char *path, int flags, ...);
int __real_close(int fd);
ssize_t __real_read(int fd, void *bytes, size_t size);
ssize_t __real_write(int fd, const void *bytes, size_t size);

ssize_t __real_pread64(int fd, void *bytes, size_t size, off_t at);
ssize_t __real_pwrite64(int fd, const void *bytes, size_t size, off_t at);
int __real_stat64(const char *path, struct stat *status);
int __real_lstat64(const char *path, struct stat *status);
int __real_fstat64(int fd, struct stat *status);
int __real_ftruncate64(int fd, off_t size);
int __real_unlink(const char *path);
int __real_rename(const char *from, const char *to);
int __real_fsync(int fd);
int __real_flock(int fd, int what);
int __real_setsockopt(int fd, int level, int name, const void *value, unsigned size);
int __real_fcntl64(int fd, int command, ...);
