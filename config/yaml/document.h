/*
 * YAML text as a tree in which every node has its position.
 *
 * libyaml reads the syntax; the tree is built here, to limit depth and size, to refuse double keys
 * and to apply overrides.  Anchors, aliases, tags, directives and further documents are refused: a
 * scenario has each value once, in its place.
 */
#pragma once

#include "config/yaml/complaint.h"
#include "config/yaml/load_arena.h"

enum {
    CFG_TEXT_MAX = 16 << 20, /* bytes of a scenario */
    CFG_DEPTH_MAX = 16,      /* lists and mappings inside each other */
    CFG_KEYS_MAX = 64,       /* in one mapping */
    CFG_ITEMS_MAX = 16384,   /* in one list */
};

enum cfg_node_kind { CFG_NODE_SCALAR, CFG_NODE_LIST, CFG_NODE_MAP };

struct cfg_node {
    enum cfg_node_kind kind;
    bool empty;           /* scalar: nothing written, or ~ or null */
    struct cfg_mark mark; /* its first character; that of its key where nothing is written */
    const char *origin;   /* the override it came from; NULL: the file */
    const char *text;     /* scalar, UTF-8, no NUL inside */
    const char *key;      /* its key when the parent is a mapping */
    struct cfg_mark key_mark;
    int count; /* children, in file order */
    struct cfg_node *first, *last, *next;
};

/* The tree of a text, or NULL with the complaint in report.  origin marks every node of an
 * override's value.  Everything is allocated from the pool.  Context: setup. */
struct cfg_node *cfg_document_parse(struct cfg_load_arena *pool, const char *text, size_t size,
                                    const char *origin, struct cfg_complaint *report);

/* A child of a mapping by key, of a list by the `name` of its items; NULL: none.
 * Context: setup. */
struct cfg_node *cfg_node_find(const struct cfg_node *map, const char *key);
struct cfg_node *cfg_node_named(const struct cfg_node *list, const char *name);

/* "a list", "a mapping", "nothing", for messages.  Context: setup. */
const char *cfg_node_kind_name(const struct cfg_node *node);

void cfg_node_append(struct cfg_node *parent, struct cfg_node *child);

/* Complain at a node, or at the value of one of its keys when that was given.  Node NULL means a
 * mapping that the file leaves out.  Always false.  Context: setup. */
bool cfg_fail_at(struct cfg_complaint *report, const struct cfg_node *node, const char *key,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
