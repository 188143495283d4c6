/*
 * Mistakes that people make, one by one: each must be refused with exactly the line that names its
 * place and what to do.  An entry is an edit of a good scenario (tests/config/base.h), a part of a
 * small one, or a whole text.  The tables stand beside the resolver that complains.
 */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/scenario.h"
#include "tests/config/base.h"
#include "unity.h"

#define D127                                                                                       \
    "ddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"                              \
    "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"

struct mistake {
    const char *good, *bad;
    const char *complaint; /* line:column: what */
};

struct whole {
    const char *text;
    const char *complaint;
};

/* A vehicle with these in it, and link l where no other is given: environment in line 2, devices
 * in 6, links in 7, the rest from 8 on. */
#define GYRO "{name: g, type: gyro, body: a}"
struct part {
    const char *environment, *devices, *links, *rest;
    const char *complaint;
};

void setUp(void)
{
}

void tearDown(void)
{
}

static void expect_complaint(const char *text, const char *complaint)
{
    struct cfg_scenario *scenario;
    char error[CFG_ERROR_MAX];
    const int status =
        cfg_scenario_load_text("s.yaml", text, strlen(text), NULL, 0, &scenario, error);
    TEST_ASSERT_EQUAL_INT_MESSAGE(-EINVAL, status, text);
    TEST_ASSERT_NULL(scenario);
    TEST_ASSERT_EQUAL_STRING_LEN("s.yaml:", error, strlen("s.yaml:"));
    TEST_ASSERT_NULL(strchr(error, '\n'));
    TEST_ASSERT_EQUAL_STRING(complaint, error + strlen("s.yaml:"));
}

static inline void expect_good(const char *text)
{
    char error[CFG_ERROR_MAX];
    struct cfg_scenario *scenario;
    TEST_ASSERT_EQUAL_INT_MESSAGE(
        0, cfg_scenario_load_text("s.yaml", text, strlen(text), NULL, 0, &scenario, error), error);
    cfg_scenario_free(scenario);
}

/* The base with one piece exchanged, which must be in it exactly once. */
static inline char *edit(const char *good, const char *bad)
{
    const char *at = strstr(base_text, good);
    TEST_ASSERT_NOT_NULL_MESSAGE(at, good);
    TEST_ASSERT_NULL_MESSAGE(strstr(at + 1, good), good);
    char *text = malloc(sizeof base_text + strlen(bad));
    TEST_ASSERT_NOT_NULL(text);
    sprintf(text, "%.*s%s%s", (int)(at - base_text), base_text, bad, at + strlen(good));
    return text;
}

static inline void refuse_edits(const struct mistake *mistakes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *text = edit(mistakes[i].good, mistakes[i].bad);
        expect_complaint(text, mistakes[i].complaint);
        free(text);
    }
}

static inline const char * or (const char *text, const char *otherwise)
{
    return text != NULL ? text : otherwise;
}

static inline void refuse_parts(const struct part *parts, size_t count)
{
    static char text[2048];
    for (size_t i = 0; i < count; i++) {
        const struct part *part = &parts[i];
        snprintf(text, sizeof text,
                 "name: x\nenvironment: {%s}\nbodies:\n"
                 "- {name: a, joint: free, mass: 9, inertia: 3 3 3}\n"
                 "- {name: arm, parent: a, joint: {type: revolute, axis: 0 0 1}, mass: 1, inertia: "
                 "1 1 1}\n"
                 "devices: [%s]\nlinks: [%s]\n%s\n",
                 or (part->environment, ""), or (part->devices, ""),
                 or (part->links, "{name: l, body: a}"), or (part->rest, ""));
        expect_complaint(text, part->complaint);
    }
}

static inline void refuse_texts(const struct whole *wholes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect_complaint(wholes[i].text, wholes[i].complaint);
}

#define REFUSE_EDITS(table) refuse_edits(table, sizeof(table) / sizeof(table)[0])
#define REFUSE_PARTS(table) refuse_parts(table, sizeof(table) / sizeof(table)[0])
#define REFUSE_TEXTS(table) refuse_texts(table, sizeof(table) / sizeof(table)[0])
