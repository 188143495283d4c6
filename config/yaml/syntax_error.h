/*
 * Errors of libyaml as complaints of one line.
 */
#pragma once

#include <yaml.h>

#include "config/yaml/complaint.h"

/* Features of YAML that a scenario must not use. */
#define CFG_NO_ALIASES "aliases (*name) are not read in a scenario; write the value out"
#define CFG_NO_ANCHORS "anchors (&name) are not read in a scenario; remove it"
#define CFG_NO_TAGS    "tags (!name) are not read in a scenario; remove it"
#define CFG_NO_ANCHORS_OR_TAGS                                                                     \
    "anchors (&name) and tags (!name) are not read in a scenario; remove them"

/* libyaml counts from 0.  Context: setup. */
struct cfg_mark cfg_syntax_mark(const yaml_mark_t *mark);

/* Report what stopped the parser of this text.  Always false.  Context: setup. */
bool cfg_syntax_fail(struct cfg_complaint *report, const char *origin, const yaml_parser_t *parser,
                     const char *text, size_t size);
