/*
 * Tested by tests/io/log/test_mcap_writer.c and test_telemetry.c.
 */
#include "io/log/ros2msg.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_MAX = 1 << 20 };

static const struct {
    const char *name;
    char kind;
    uint32_t size;
} types[] = {{"float64", 'f', 8}, {"float32", 'f', 4}, {"uint64", 'u', 8}, {"uint32", 'u', 4},
             {"uint16", 'u', 2},  {"uint8", 'u', 1},   {"int64", 'i', 8},  {"int32", 'i', 4},
             {"int16", 'i', 2},   {"int8", 'i', 1},    {"bool", 'u', 1},   {"byte", 'u', 1},
             {"char", 'u', 1}};

static const char *const symbols[] = {"A",  "Hz", "J", "N",   "Pa", "T",  "V",  "W", "deg",
                                      "kg", "m",  "K", "rad", "s",  "ns", "us", "%"};

struct io_ros2msg io_ros2msg_begin(const char *definition)
{
    return (struct io_ros2msg){.at = definition};
}

/* Symbols joined by blanks and slashes, with whole powers: "N m s", "m/s^2". */
static bool is_unit(const char *text)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, " /^");
        bool known = false;
        for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
            known |= strlen(symbols[i]) == length && strncmp(symbols[i], text, length) == 0;
        if (!known)
            return false;
        text += length;
        if (text[0] == '^' && isdigit((unsigned char)text[1]))
            text += 2;
        if (*text == ' ' || *text == '/')
            text += text[1] != '\0' ? 1 : 0;
        else if (*text != '\0')
            return false;
    }
    return true;
}

static void find_unit(struct io_ros2msg_field *field, const char *comment)
{
    const size_t name = strlen(field->name);
    const char *ending = name > 3 ? field->name + name - 3 : "";
    if (strcmp(ending, "_ns") == 0 || strcmp(ending, "_us") == 0) {
        strcpy(field->unit, ending + 1);
        return;
    }
    char text[IO_ROS2MSG_UNIT_MAX];
    size_t size = strcspn(comment, ",;\n");
    while (size > 0 && comment[size - 1] == ' ')
        size--;
    if (size == 0 || size >= sizeof text)
        return;
    memcpy(text, comment, size);
    text[size] = '\0';
    if (is_unit(text))
        strcpy(field->unit, text);
}

/* "float64[3]" or "float64". */
static bool read_type(const char *word, size_t length, struct io_ros2msg_field *field)
{
    const char *bracket = memchr(word, '[', length);
    const size_t name = bracket ? (size_t)(bracket - word) : length;
    for (size_t i = 0; i < sizeof types / sizeof types[0] && field->size == 0; i++) {
        if (strlen(types[i].name) != name || strncmp(types[i].name, word, name) != 0)
            continue;
        field->kind = types[i].kind;
        field->size = types[i].size;
    }
    field->count = 1;
    if (field->size == 0 || !bracket)
        return field->size > 0;
    char *rest;
    if (!isdigit((unsigned char)bracket[1]))
        return false; /* unbounded */
    const unsigned long count = strtoul(bracket + 1, &rest, 10);
    field->is_array = true;
    field->count = (uint32_t)count;
    return count > 0 && count <= COUNT_MAX && *rest == ']' && rest + 1 == word + length;
}

static bool read_line(struct io_ros2msg *schema, const char *line, struct io_ros2msg_field *field)
{
    const size_t type = strcspn(line, " \t\r\n#");
    const char *name = line + type + strspn(line + type, " \t");
    const size_t length = strcspn(name, " \t\r\n#=");
    const char *after = name + length + strspn(name + length, " \t\r");
    *field = (struct io_ros2msg_field){0};
    if (!read_type(line, type, field) || length == 0 || length >= sizeof field->name ||
        (*after != '#' && *after != '\n' && *after != '\0'))
        return false;
    memcpy(field->name, name, length);
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return false;
    if (*after == '#')
        find_unit(field, after + 1 + strspn(after + 1, " \t"));
    else
        find_unit(field, "");
    field->offset = (schema->offset + field->size - 1) / field->size * field->size;
    schema->offset = field->offset + (size_t)field->size * field->count;
    return true;
}

bool io_ros2msg_next(struct io_ros2msg *schema, struct io_ros2msg_field *field)
{
    while (!schema->bad && *schema->at != '\0') {
        const char *line = schema->at + strspn(schema->at, " \t\r");
        const char *end = strchr(line, '\n');
        schema->at = end ? end + 1 : line + strlen(line);
        if (*line == '\n' || *line == '#' || *line == '\0')
            continue;
        if (read_line(schema, line, field))
            return true;
        schema->bad = true;
    }
    return false;
}

void io_ros2msg_print(const struct io_ros2msg_field *field, uint32_t index,
                      const unsigned char *payload, char text[32])
{
    const unsigned char *at = payload + field->offset + (size_t)index * field->size;
    uint64_t bits = 0;
    for (uint32_t i = 0; i < field->size; i++)
        bits |= (uint64_t)at[i] << (8 * i);
    if (field->kind == 'u') {
        snprintf(text, 32, "%" PRIu64, bits);
    } else if (field->kind == 'i') {
        const unsigned unused = 64 - 8 * field->size;
        snprintf(text, 32, "%" PRId64, (int64_t)(bits << unused) >> unused);
    } else if (field->size == 8) {
        double value;
        memcpy(&value, &bits, sizeof value);
        snprintf(text, 32, "%.17g", value);
    } else {
        float value;
        const uint32_t low = (uint32_t)bits;
        memcpy(&value, &low, sizeof value);
        snprintf(text, 32, "%.9g", (double)value);
    }
}
