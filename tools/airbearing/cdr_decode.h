/*
 * Numbers out of a CDR message whose ros2msg text is at hand: fields of fixed size, in the order of
 * the text, up to the first that is not.  Text and bytes may come from anywhere.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DECODE_FIELD_MAX = 32, DECODE_NAME_MAX = 32, DECODE_COUNT_MAX = 4096 };

struct decode_field {
    char name[DECODE_NAME_MAX];
    char unit[DECODE_NAME_MAX]; /* the comment up to its first comma; "" for none */
    char type;                  /* 'f' float, 'u' unsigned, 'i' signed */
    size_t size;                /* of one, bytes */
    size_t at;                  /* from the first byte after the CDR header */
    int count;                  /* 1: no array */
};

struct decode {
    int field_count;
    struct decode_field field[DECODE_FIELD_MAX];
};

/* Context: any. */
void decode_open(struct decode *decode, const char *text);
/* NULL: there is none of this name. */
const struct decode_field *decode_find(const struct decode *decode, const char *name);
/* One number of a field; bytes begin with the CDR header.  NAN where they end before it. */
double decode_number(const struct decode_field *field, int index, const void *bytes, size_t size);
