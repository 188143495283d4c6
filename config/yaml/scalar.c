/*
 * Scalars of a scenario: numbers with units, words of a list, names and texts.
 *
 * Tested by tests/config/yaml/test_mistakes_values.c.
 */
#include "config/yaml/value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml/suggest.h"
#include "config/yaml/unit.h"
#include "rt/check.h"

enum { NAME_LENGTH_MAX = 47 };

static const char *unit_of(const struct cfg_key *key)
{
    return key->unit != NULL ? key->unit : "";
}

void cfg_describe(const struct cfg_key *key, struct cfg_phrase *phrase)
{
    static const char *const nouns[] = {
        [CFG_NAME] = "a name",       [CFG_TEXT] = "a text",
        [CFG_TEXTS] = "a list",      [CFG_INTEGER] = "a whole number",
        [CFG_QUANTITY] = "a number", [CFG_VECTOR] = "numbers",
        [CFG_NUMBERS] = "numbers",   [CFG_ROWS] = "a list of rows",
        [CFG_AXIS] = "3 numbers",    [CFG_ATTITUDE] = "4 numbers (w x y z) or roll, pitch and yaw",
        [CFG_CHOICE] = "a word",     [CFG_MAP] = "a mapping",
        [CFG_LIST] = "a list",       [CFG_COLOR] = "a color"};
    if (key->type == CFG_VECTOR)
        cfg_phrase_add(phrase, key->size == 6 ? "3 or 6 " : "%d ", key->size);
    cfg_phrase_add(phrase, "%s", nouns[key->type]);
    if (key->unit != NULL)
        cfg_phrase_add(phrase, " in %s", key->unit);
    if (key->word != NULL)
        cfg_phrase_add(phrase, " or %s", key->word);
    if (key->example != NULL)
        cfg_phrase_add(phrase, ", e.g. %s", key->example);
}

/* The text in the file, short enough for a message. */
static struct cfg_quote found(const struct cfg_node *node)
{
    struct cfg_quote quote;
    if (node->kind == CFG_NODE_SCALAR && !node->empty)
        return cfg_quote(node->text);
    snprintf(quote.text, sizeof quote.text, "%s", cfg_node_kind_name(node));
    return quote;
}

bool cfg_fail_wants(const struct cfg_reader *reader, const struct cfg_key *key,
                    const struct cfg_node *node)
{
    struct cfg_phrase want = {0};
    cfg_describe(key, &want);
    return cfg_fail_at(reader->report, node, NULL, "%s wants %s; here is %s", key->name, want.text,
                       found(node).text);
}

static void add_choices(struct cfg_phrase *phrase, const struct cfg_key *key)
{
    for (int i = 0; cfg_choice(key, i) != NULL; i++)
        cfg_phrase_add(phrase, "%s%s",
                       i == 0                           ? ""
                       : cfg_choice(key, i + 1) != NULL ? ", "
                                                        : " or ",
                       cfg_choice(key, i));
}

bool cfg_is_name(const char *text)
{
    if (!isalpha((unsigned char)text[0]) || strlen(text) > NAME_LENGTH_MAX)
        return false;
    for (const char *c = text; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-')
            return false;
    return true;
}

static bool read_name(const struct cfg_reader *reader, const struct cfg_key *key,
                      const struct cfg_node *node, const char **out)
{
    if (!cfg_is_name(node->text))
        return cfg_fail_at(reader->report, node, NULL,
                           "%s cannot be %s; a name is a letter, then letters, digits, _ or -, at "
                           "most %d in all",
                           key->name, cfg_quote(node->text).text, NAME_LENGTH_MAX);
    *out = node->text;
    return true;
}

static bool read_choice(const struct cfg_reader *reader, const struct cfg_key *key,
                        const struct cfg_node *node, int *out)
{
    struct cfg_suggestion suggestion = cfg_suggest_begin(node->text);
    for (int i = 0; cfg_choice(key, i) != NULL; i++) {
        if (strcmp(cfg_choice(key, i), node->text) == 0) {
            *out = i;
            return true;
        }
        cfg_suggest_offer(&suggestion, cfg_choice(key, i));
    }
    if (suggestion.best != NULL)
        return cfg_fail_at(reader->report, node, NULL, "%s cannot be %s; did you mean \"%s\"?",
                           key->name, cfg_quote(node->text).text, suggestion.best);
    struct cfg_phrase choices = {0};
    add_choices(&choices, key);
    return cfg_fail_at(reader->report, node, NULL, "%s cannot be %s; write %s", key->name,
                       cfg_quote(node->text).text, choices.text);
}

static bool within_limit(const struct cfg_key *key, double value)
{
    switch (key->limit) {
    case CFG_POSITIVE:
        return value > 0.0;
    case CFG_NOT_NEGATIVE:
        return value >= 0.0;
    case CFG_BETWEEN:
        return value >= key->min && value <= key->max;
    case CFG_ANY:
        break;
    }
    return true;
}

/* The limits in the unit that the value is written in. */
static void describe_limit(const struct cfg_key *key, const char *unit, double factor,
                           struct cfg_phrase *phrase)
{
    const char *blank = *unit != '\0' ? " " : "";
    if (key->limit == CFG_POSITIVE)
        cfg_phrase_add(phrase, "above 0%s%.40s", blank, unit);
    else if (key->limit == CFG_NOT_NEGATIVE)
        cfg_phrase_add(phrase, "0%s%.40s or more", blank, unit);
    else
        cfg_phrase_add(phrase, "from %.10g to %.10g%s%.40s", key->min / factor, key->max / factor,
                       blank, unit);
}

static bool read_integer(const struct cfg_reader *reader, const struct cfg_key *key,
                         const struct cfg_node *node, int64_t *out)
{
    if (key->word != NULL && strcmp(node->text, key->word) == 0) {
        *out = -1;
        return true;
    }
    char *end;
    errno = 0;
    const long long value = strtoll(node->text, &end, 10);
    if (end == node->text || *end != '\0' || isspace((unsigned char)node->text[0]))
        return cfg_fail_wants(reader, key, node);
    if (errno != 0)
        return cfg_fail_at(reader->report, node, NULL, "%s has too many digits; shorten %s",
                           key->name, cfg_quote(node->text).text);
    if (within_limit(key, (double)value)) {
        *out = value;
        return true;
    }
    struct cfg_phrase limit = {0};
    describe_limit(key, "", 1.0, &limit);
    return cfg_fail_at(reader->report, node, NULL, "%s must be %s; here is %s", key->name,
                       limit.text, cfg_quote(node->text).text);
}

/* The SI unit of the key; it is from a table of the program, so it parses. */
static struct cfg_unit own_unit(const struct cfg_key *key)
{
    struct cfg_unit unit;
    struct cfg_phrase problem = {0};
    RT_CHECK(cfg_unit_parse(unit_of(key), &unit, &problem));
    return unit;
}

/* Factor of the unit that a value carries; a bare number is SI. */
static bool find_factor(const struct cfg_key *key, const char *text, double *factor,
                        struct cfg_phrase *problem)
{
    struct cfg_unit unit;
    const struct cfg_unit own = own_unit(key);
    *factor = 1.0;
    if (*text == '\0')
        return true;
    if (!cfg_unit_parse(text, &unit, problem))
        return false;
    *factor = unit.factor;
    if (cfg_unit_same_dimension(&unit, &own))
        return true;
    const bool gravity = strcmp(text, "g") == 0 && strcmp(unit_of(key), "m/s^2") == 0;
    cfg_phrase_add(problem, "%s wants %s, not %.40s%s", key->name,
                   key->unit != NULL ? key->unit : "a plain number", text,
                   gravity ? " (gram); write g0 for standard gravity" : "");
    return false;
}

bool cfg_accept_quantity(const struct cfg_key *key, const char *unit, double *value,
                         struct cfg_phrase *problem)
{
    double factor;
    if (!find_factor(key, unit, &factor, problem))
        return false;
    const double written = *value;
    *value *= factor;
    if (!isfinite(*value)) {
        cfg_phrase_add(problem, "%s is too large for a number; check it", key->name);
        return false;
    }
    if (within_limit(key, *value))
        return true;
    struct cfg_phrase limit = {0};
    describe_limit(key, *unit != '\0' ? unit : unit_of(key), factor, &limit);
    cfg_phrase_add(problem, "%s must be %s; here is %.10g", key->name, limit.text, written);
    return false;
}

bool cfg_quantity_parse(const struct cfg_key *key, const char *text, double *value,
                        struct cfg_phrase *problem)
{
    const char *unit = cfg_number_parse(text, value);
    if (unit == NULL) {
        struct cfg_phrase want = {0};
        cfg_describe(key, &want);
        cfg_phrase_add(problem, "%s wants %s; here is %s", key->name, want.text,
                       cfg_quote(text).text);
        return false;
    }
    return cfg_accept_quantity(key, unit, value, problem);
}

static bool read_quantity(const struct cfg_reader *reader, const struct cfg_key *key,
                          const struct cfg_node *node, double *out)
{
    if (key->word != NULL && strcmp(node->text, key->word) == 0) {
        *out = 0.0;
        return true;
    }
    struct cfg_phrase problem = {0};
    return cfg_quantity_parse(key, node->text, out, &problem) ||
           cfg_fail_at(reader->report, node, NULL, "%s", problem.text);
}

bool cfg_read_scalar(const struct cfg_reader *reader, const struct cfg_key *key,
                     const struct cfg_node *node, void *out)
{
    if (node->kind != CFG_NODE_SCALAR)
        return cfg_fail_wants(reader, key, node);
    switch (key->type) {
    case CFG_NAME:
        return read_name(reader, key, node, out);
    case CFG_INTEGER:
        return read_integer(reader, key, node, out);
    case CFG_QUANTITY:
        return read_quantity(reader, key, node, out);
    case CFG_CHOICE:
        return read_choice(reader, key, node, out);
    default:
        *(const char **)out = node->text;
        return true;
    }
}
