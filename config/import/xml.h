/*
 * XML text as a tree of elements with their marks.
 *
 * libxml2 reads the syntax; this tree has a line and a column for every element and attribute,
 * which libxml2 does not keep.  Nothing outside the text is read: no DTD, no own entities, no
 * includes, no network.
 *
 * Tested by tests/config/import/test_urdf.c.
 */
#pragma once

#include "config/yaml/complaint.h"
#include "config/yaml/load_arena.h"

enum {
    CFG_XML_TEXT_MAX = 16 << 20,    /* bytes */
    CFG_XML_ELEMENTS_MAX = 1 << 20, /* deeper than 256 libxml2 refuses */
    CFG_XML_ATTRIBUTES_MAX = 256,   /* of one element: libxml2 compares each with every other */
};

struct cfg_attribute {
    const char *name; /* with its prefix: "xlink:href" */
    const char *value;
    struct cfg_mark mark; /* the first character of the value */
    struct cfg_attribute *next;
};

struct cfg_element {
    const char *name; /* with its prefix: "xacro:if" */
    struct cfg_mark mark;
    struct cfg_attribute *attributes;
    struct cfg_element *first, *next; /* children and siblings, in file order */
};

/* The root, or NULL with the complaint in report.  The text ends with NUL. Everything is allocated
 * from the pool.  Context: setup. */
struct cfg_element *cfg_xml_parse(struct cfg_load_arena *pool, const char *text, size_t size,
                                  struct cfg_complaint *report);

/* NULL: none.  Context: setup. */
const struct cfg_attribute *cfg_xml_attribute(const struct cfg_element *element, const char *name);
const struct cfg_element *cfg_xml_child(const struct cfg_element *element, const char *name);

/* True when the text looks like XML: its first character is `<`.  Context: setup. */
bool cfg_xml_looks_like(const char *text);
