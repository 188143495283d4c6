/*
 * Reads numbers out of a CDR message by its ros2msg text: fields of fixed size, in the order of
 * the text, up to the first that is not.  Text and bytes need not be valid.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CDR_FIELD_MAX = 32, CDR_FIELD_NAME_MAX = 32, CDR_ARRAY_MAX = 4096 };

struct cdr_field {
    char name[CDR_FIELD_NAME_MAX];
    char unit[CDR_FIELD_NAME_MAX]; /* the comment up to its first comma; "" for none */
    char type;                     /* 'f' float, 'u' unsigned, 'i' signed */
    size_t size;                   /* of one number, bytes */
    size_t at;                     /* from the first byte after the CDR header */
    int count;                     /* 1: not an array */
};

struct cdr_layout {
    int field_count;
    struct cdr_field field[CDR_FIELD_MAX];
};

/* Context: any. */
void cdr_layout_parse(struct cdr_layout *decode, const char *text);
/* Find a field by its name; NULL: there is none. */
const struct cdr_field *cdr_layout_find(const struct cdr_layout *decode, const char *name);
/* One number of a field; bytes begin with the CDR header.  NAN where they end before it. */
double cdr_field_number(const struct cdr_field *field, int index, const void *bytes, size_t size);
