/*
 * A synthetic machine: /proc and /sys under a temporary root.
 */
#pragma once

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "unity.h"

static char root[64];

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *walk)
{
    (void)stat;
    (void)kind;
    (void)walk;
    return remove(path);
}

static void make_root(void)
{
    snprintf(root, sizeof root, "/tmp/airbearing-machine-XXXXXX");
    TEST_ASSERT_NOT_NULL(mkdtemp(root));
}

static void remove_root(void)
{
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* A file of the synthetic machine, with the directories above it. */
static void put(const char *path, const char *text)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = strchr(name + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(name, 0755);
        *slash = '/';
    }
    FILE *file = fopen(name, "we");
    TEST_ASSERT_NOT_NULL_MESSAGE(file, name);
    fputs(text, file);
    fclose(file);
}
