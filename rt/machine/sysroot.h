/*
 * Small files under a root: "" for this machine's own /proc, /sys and /dev, or a directory with a
 * copy of another machine's, or one that a test made.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum { RT_PATH_SIZE = 1024, RT_LINE_SIZE = 8192, RT_LIST_MAX = 256 };

/* NULL when there is no such file.  Context: setup. */
FILE *rt_sysroot_open(const char *root, const char *path);

/* The next line without its end.  A longer one comes in pieces.  Context: setup. */
bool rt_sysroot_next_line(FILE *file, char line[RT_LINE_SIZE]);

/* The first line of a file, such as most of /sys has.  Context: setup. */
bool rt_sysroot_first_line(const char *root, const char *path, char line[RT_LINE_SIZE]);

/* The text after key on the first line that begins with it.  Context: setup. */
bool rt_sysroot_field(const char *root, const char *path, const char *key,
                      char value[RT_LINE_SIZE]);

/* Context: setup. */
bool rt_sysroot_long(const char *root, const char *path, long *value);

/* Replace the content of a file, which must exist.  The only function that changes anything.  0 or
 * -errno, as the kernel answers the write.  Context: setup. */
int rt_sysroot_write(const char *root, const char *path, const char *text);

/* Whether word is one of the words of list, which are separated by any character of parts.
 * Context: any. */
bool rt_has_word(const char *list, const char *word, const char *parts);

/* Add the numbers of a kernel list, "0-2,5", to set; stops at what is not one.  Context: any. */
void rt_parse_list(const char *list, bool set[RT_LIST_MAX]);

/* The shortest list of the same numbers; as much of it as fits.  Context: any. */
void rt_print_list(const bool set[RT_LIST_MAX], char *list, int size);
