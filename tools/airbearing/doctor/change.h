/*
 * Changes of a running system that can be taken back.
 *
 * What was there before is on disk ahead of the first change.  A change that fails takes those
 * before it back: all of them happen, or none.  An undo file names only files that a change of ours
 * may have written; anything else in it is refused, since whoever undoes is root.
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
    char before[CHANGE_TEXT_SIZE]; /* what takes it back */
};

struct changes {
    int count;
    struct change change[CHANGE_MAX];
};

/* Could each be made by this user?  0, or -errno with the reason.  Changes nothing but drops
 * interrupts that refuse to be moved, naming them in stays.  Context: setup. */
int changes_try(const char *root, struct changes *changes, char *stays, size_t stays_size,
                char why[CHANGE_WHY_SIZE]);

/* Make all of them.  0, or -errno with the reason after what was done has been taken back.
 * Context: setup. */
int changes_make(const char *root, const struct changes *changes, char why[CHANGE_WHY_SIZE]);

/* Take all of them back, the last first, as far as that goes.  0, or -errno of the first that
 * stays, with the reason.  Context: setup. */
int changes_take_back(const char *root, const struct changes *changes, int count,
                      char why[CHANGE_WHY_SIZE]);

/* Write the undo file, which must not exist: an older one knows older settings.  0 or -errno.
 * Context: setup. */
int changes_save(const char *path, const struct changes *changes);

/* Read one; 0, -errno when it cannot be read, -EINVAL with *line where it is wrong.
 * Context: setup. */
int changes_load(const char *path, struct changes *changes, int *line);

/* One line of an undo file, without its end.  False when it is none.  Context: any. */
bool change_parse(const char *line, struct change *change);
