/*
 * Changes of a running system that can be undone.
 *
 * The old values are on disk before the first change.  When a change fails, those before it are
 * undone: all of them happen, or none.  An undo file names only files that a change of ours may
 * have written; anything else in it is refused, because the undo runs as root.
 *
 * Tested by tests/tools/doctor/test_doctor.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CHANGE_MAX = 192, CHANGE_PATH_SIZE = 320, CHANGE_TEXT_SIZE = 288, CHANGE_WHY_SIZE = 640 };

enum change_kind { CHANGE_WRITE, CHANGE_FOLDER };

struct change {
    const char *name; /* what --skip calls it; NULL when read from an undo file */
    enum change_kind kind;
    char path[CHANGE_PATH_SIZE];
    char after[CHANGE_TEXT_SIZE];
    char before[CHANGE_TEXT_SIZE]; /* the value that undoes it */
};

struct changes {
    int count;
    struct change change[CHANGE_MAX];
};

/* Check that this user can make each change; 0, or -errno with the reason.  Nothing is changed;
 * interrupts that cannot be moved are dropped from the list and named in stays.  Context: setup. */
int changes_try(const char *root, struct changes *changes, char *stays, size_t stays_size,
                char why[CHANGE_WHY_SIZE]);

/* Make all changes.  0, or -errno with the reason after an undo.  Context: setup. */
int changes_make(const char *root, const struct changes *changes, char why[CHANGE_WHY_SIZE]);

/* Undo all changes, the last first, as far as possible.  0, or -errno of the first that failed,
 * with the reason.  Context: setup. */
int changes_take_back(const char *root, const struct changes *changes, int count,
                      char why[CHANGE_WHY_SIZE]);

/* Write the undo file, which must not exist: an older one has older settings.  0 or -errno.
 * Context: setup. */
int changes_save(const char *path, const struct changes *changes);

/* Read an undo file; 0, -errno when it cannot be read, -EINVAL with *line where it is wrong.
 * Context: setup. */
int changes_load(const char *path, struct changes *changes, int *line);

/* Parse one line of an undo file, without its newline.  False when it is invalid.  Context: any. */
bool change_parse(const char *line, struct change *change);
