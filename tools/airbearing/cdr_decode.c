#include "tools/airbearing/cdr_decode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    char type;
    size_t size;
} types[] = {
    {"float64", 'f', 8}, {"float32", 'f', 4}, {"uint64", 'u', 8}, {"int64", 'i', 8},
    {"uint32", 'u', 4},  {"int32", 'i', 4},   {"uint16", 'u', 2}, {"int16", 'i', 2},
    {"uint8", 'u', 1},   {"int8", 'i', 1},    {"bool", 'u', 1},   {"byte", 'u', 1},
};
enum { TYPE_COUNT = sizeof types / sizeof *types, LINE_MAX_SIZE = 256 };

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Parse a type, `float64[3]` or `uint8`; false for a type without a fixed size. */
static bool read_type(const char *word, struct cdr_field *field)
{
    const size_t length = strcspn(word, "[");
    char *end;
    field->count = 1;
    if (word[length] == '[') {
        const long count = strtol(word + length + 1, &end, 10);
        if (strcmp(end, "]") != 0 || count < 1 || count > CDR_ARRAY_MAX)
            return false;
        field->count = (int)count;
    }
    for (int i = 0; i < TYPE_COUNT; i++) {
        if (strlen(types[i].name) == length && memcmp(types[i].name, word, length) == 0) {
            field->type = types[i].type;
            field->size = types[i].size;
            return true;
        }
    }
    return false;
}

static bool read_name(const char *word, struct cdr_field *field)
{
    if (strlen(word) >= CDR_FIELD_NAME_MAX)
        return false;
    for (const char *at = word; *at; at++) {
        if (!is_plain(*at))
            return false;
    }
    strcpy(field->name, word);
    return true;
}

/* Copy the part before the comma of "rad/s, as the instrument says", if it is printable. */
static void read_unit(const char *comment, struct cdr_field *field)
{
    size_t length = strcspn(comment, ",;:");
    field->unit[0] = '\0';
    if (length >= 12 || comment[length] == ':')
        return;
    for (size_t i = 0; i < length; i++) {
        if (comment[i] < ' ' || comment[i] > '~')
            return;
    }
    memcpy(field->unit, comment, length);
    field->unit[length] = '\0';
}

/* Read the next field; false after the last one of fixed size. */
static bool read_line(struct cdr_layout *decode, char *line, size_t *at)
{
    char *comment = strchr(line, '#');
    char *rest;
    if (comment)
        *comment++ = '\0';
    const char *type = strtok_r(line, " \t\r", &rest);
    const char *name = strtok_r(NULL, " \t\r", &rest);
    if (!type)
        return true; /* empty, or a comment alone */
    if (!name || decode->field_count == CDR_FIELD_MAX)
        return false;
    struct cdr_field *field = &decode->field[decode->field_count];
    if (strchr(name, '=') || (rest && strchr(rest, '=')))
        return true; /* a constant has no bytes in the message */
    if (!read_type(type, field) || !read_name(name, field))
        return false;
    read_unit(comment ? comment + strspn(comment, " ") : "", field);
    field->at = (*at + field->size - 1) / field->size * field->size;
    *at = field->at + field->size * (size_t)field->count;
    decode->field_count++;
    return true;
}

void cdr_layout_parse(struct cdr_layout *decode, const char *text)
{
    size_t at = 0;
    decode->field_count = 0;
    while (*text) {
        char line[LINE_MAX_SIZE];
        const size_t length = strcspn(text, "\n");
        if (length >= sizeof line)
            return;
        memcpy(line, text, length);
        line[length] = '\0';
        if (!read_line(decode, line, &at))
            return;
        text += length + (text[length] == '\n');
    }
}

const struct cdr_field *cdr_layout_find(const struct cdr_layout *decode, const char *name)
{
    for (int i = 0; i < decode->field_count; i++) {
        if (strcmp(decode->field[i].name, name) == 0)
            return &decode->field[i];
    }
    return NULL;
}

static double float_of(uint64_t bits, size_t size)
{
    double wide;
    float narrow;
    const uint32_t low = (uint32_t)bits;
    memcpy(&wide, &bits, sizeof wide);
    memcpy(&narrow, &low, sizeof narrow);
    return size == 8 ? wide : (double)narrow;
}

double cdr_field_number(const struct cdr_field *field, int index, const void *bytes, size_t size)
{
    const unsigned char *data = bytes;
    const size_t at = 4 + field->at + field->size * (size_t)index;
    uint64_t bits = 0;
    if (index < 0 || index >= field->count || at + field->size > size)
        return (double)NAN;
    for (size_t i = 0; i < field->size; i++)
        bits |= (uint64_t)data[at + i] << (8 * i);
    if (field->type == 'f')
        return float_of(bits, field->size);
    if (field->type == 'u')
        return (double)bits;
    const unsigned shift = 64 - 8 * (unsigned)field->size;
    return (double)((int64_t)(bits << shift) >> shift);
}
