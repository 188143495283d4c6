/*
 * Prints the tables as a reference: one line per key.
 */
#include "config/keys/keys.h"
#include "config/scenario.h"
#include "config/yaml/unit.h"
#include "config/yaml/value.h"

#include <string.h>

enum { NAME_WIDTH = 22, VALUE_WIDTH = 44, DEFAULT_WIDTH = 26 };

static void describe_range(const struct cfg_key *key, struct cfg_phrase *value)
{
    if (key->limit == CFG_POSITIVE)
        cfg_phrase_add(value, " > 0");
    else if (key->limit == CFG_NOT_NEGATIVE)
        cfg_phrase_add(value, " >= 0");
    else if (key->limit == CFG_BETWEEN)
        cfg_phrase_add(value, " %.6g..%.6g", key->min, key->max);
}

static void describe_choices(const struct cfg_key *key, struct cfg_phrase *value)
{
    for (int i = 0; cfg_choice(key, i) != NULL; i++)
        cfg_phrase_add(value, "%s%s", i > 0 ? " | " : "", cfg_choice(key, i));
}

static void describe_value(const struct cfg_key *key, struct cfg_phrase *value)
{
    static const char *const nouns[] = {
        [CFG_NAME] = "name",         [CFG_TEXT] = "text",       [CFG_TEXTS] = "list of texts",
        [CFG_INTEGER] = "count",     [CFG_QUANTITY] = "number", [CFG_VECTOR] = "numbers",
        [CFG_NUMBERS] = "numbers",   [CFG_ROWS] = "rows",       [CFG_AXIS] = "direction",
        [CFG_ATTITUDE] = "attitude", [CFG_CHOICE] = "",         [CFG_MAP] = "mapping",
        [CFG_LIST] = "list",         [CFG_COLOR] = "color"};
    if (key->type == CFG_VECTOR)
        cfg_phrase_add(value, key->size == 6 ? "3 or 6 " : "%d ", key->size);
    cfg_phrase_add(value, "%s", nouns[key->type]);
    if (key->type == CFG_CHOICE)
        describe_choices(key, value);
    if (key->type == CFG_ROWS && key->size > 0)
        cfg_phrase_add(value, " of %d numbers", key->size);
    if (key->unit != NULL)
        cfg_phrase_add(value, ", %s", key->unit);
    describe_range(key, value);
    if (key->word != NULL)
        cfg_phrase_add(value, " | %s", key->word);
    if (key->table != NULL && key->table->shorthand != NULL)
        cfg_phrase_add(value, ", or its %s alone", key->table->shorthand);
}

static void describe_default(const struct cfg_key *key, struct cfg_phrase *text)
{
    if (key->required)
        cfg_phrase_add(text, "required%s%s", key->unless != NULL ? " without " : "",
                       key->unless != NULL ? key->unless : "");
    else if (key->otherwise != NULL)
        cfg_phrase_add(text, "(%s)", key->otherwise);
    else if (key->fallback != NULL)
        cfg_phrase_add(text, "%s", key->fallback);
}

/* The length of the part of a text that fits into the column of values, cut between choices. */
static int fitting(const char *text)
{
    const size_t size = strlen(text);
    for (size_t at = VALUE_WIDTH; size > VALUE_WIDTH && at > 0; at--)
        if (strncmp(text + at, " | ", 3) == 0)
            return (int)at;
    return (int)size;
}

static void print_table(const struct cfg_table *table, int indent, FILE *out);

/* Choices that do not fit continue on the next line. */
static void print_key(const struct cfg_key *key, int indent, FILE *out)
{
    struct cfg_phrase value = {0}, fallback = {0};
    describe_value(key, &value);
    describe_default(key, &fallback);
    int size = fitting(value.text);
    fprintf(out, "%*s%-*s %-*.*s %-*s %s\n", indent, "", NAME_WIDTH - indent, key->name,
            VALUE_WIDTH, size, value.text, DEFAULT_WIDTH, fallback.text, key->help);
    for (const char *rest = value.text + size; *rest != '\0'; rest += size) {
        size = fitting(rest);
        fprintf(out, "%*s%.*s\n", NAME_WIDTH, "", size, rest);
    }
    if (key->table != NULL)
        print_table(key->table, indent + 2, out);
}

static void print_table(const struct cfg_table *table, int indent, FILE *out)
{
    const int shown = table->like != NULL ? table->shown : table->key_count;
    for (int i = 0; i < shown; i++)
        print_key(&table->keys[i], indent, out);
    if (table->like != NULL)
        fprintf(out, "%*s%s\n", indent, "", table->like);
    for (int i = 0; i < table->variant_count; i++) {
        fprintf(out, "%*s-- %s\n", indent, "", table->variants[i].what);
        print_table(&table->variants[i], indent, out);
    }
}

void cfg_schema_print(FILE *out)
{
    fprintf(out, "%-*s %-*s %-*s %s\n", NAME_WIDTH, "key", VALUE_WIDTH, "value, SI unit, range",
            DEFAULT_WIDTH, "default", "meaning");
    print_table(&cfg_scenario_table, 0, out);
    fputs("\n"
          "number     with its unit, 10 ms or 5 deg/s; a bare number is SI\n"
          "numbers    [1 deg, 2 deg, 3 deg] or 1 2 3 deg\n"
          "rows       [1 2 3, 4 5 6] or [[1, 2, 3], [4, 5, 6]]\n"
          "attitude   quaternion w x y z, or {roll: .., pitch: .., yaw: ..}: turns about z, y, x\n"
          "color      3 numbers, red green blue from 0 to 1, or",
          out);
    for (int i = 0; cfg_color_name(i) != NULL; i++)
        fprintf(out, " %s", cfg_color_name(i));
    fputs("\nunit      ", out);
    for (int i = 0; cfg_unit_name(i) != NULL; i++)
        fprintf(out, " %s", cfg_unit_name(i));
    fputs("\n           with n u m c k M G before the SI ones; joined by blanks, /, ^2, sqrt()\n",
          out);
}
