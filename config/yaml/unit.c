#include "config/yaml/unit.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml/suggest.h"
#include "rt/check.h"

enum { NESTING_MAX = 4, POWER_MAX = 6, HALVES_MAX = 24, NAME_SIZE = 16 };

#define PI 3.14159265358979323846

struct named_unit {
    const char *name;
    bool prefixes;
    double factor;
    int halves[CFG_DIMENSION_COUNT];
};

// clang-format off
static const struct named_unit units[] = {
    /* name     prefix  factor            kg  m   s  A rad, in halves */
    {"m",       true,   1.0,            { 0,  2,  0,  0, 0}},
    {"g",       true,   1e-3,           { 2,  0,  0,  0, 0}},
    {"s",       true,   1.0,            { 0,  0,  2,  0, 0}},
    {"min",     false,  60.0,           { 0,  0,  2,  0, 0}},
    {"h",       false,  3600.0,         { 0,  0,  2,  0, 0}},
    {"Hz",      true,   1.0,            { 0,  0, -2,  0, 0}},
    {"rad",     true,   1.0,            { 0,  0,  0,  0, 2}},
    {"deg",     false,  PI / 180.0,     { 0,  0,  0,  0, 2}},
    {"arcmin",  false,  PI / 10800.0,   { 0,  0,  0,  0, 2}},
    {"arcsec",  false,  PI / 648000.0,  { 0,  0,  0,  0, 2}},
    {"rpm",     false,  PI / 30.0,      { 0,  0, -2,  0, 2}},
    {"g0",      true,   9.80665,        { 0,  2, -4,  0, 0}},
    {"N",       true,   1.0,            { 2,  2, -4,  0, 0}},
    {"J",       true,   1.0,            { 2,  4, -4,  0, 0}},
    {"W",       true,   1.0,            { 2,  4, -6,  0, 0}},
    {"Pa",      true,   1.0,            { 2, -2, -4,  0, 0}},
    {"A",       true,   1.0,            { 0,  0,  0,  2, 0}},
    {"V",       true,   1.0,            { 2,  4, -6, -2, 0}},
    {"ohm",     true,   1.0,            { 2,  4, -6, -4, 0}},
    {"T",       true,   1.0,            { 2,  0, -4, -2, 0}},
    {"gauss",   true,   1e-4,           { 2,  0, -4, -2, 0}},
    {"%",       false,  1e-2,           { 0,  0,  0,  0, 0}},
    {"ppm",     false,  1e-6,           { 0,  0,  0,  0, 0}},
};
static const struct {
    const char *name;
    double factor;
} prefixes[] = {
    {"n", 1e-9}, {"u", 1e-6}, {"\xc2\xb5", 1e-6}, {"\xce\xbc", 1e-6}, {"m", 1e-3},
    {"c", 1e-2}, {"k", 1e3},  {"M", 1e6},         {"G", 1e9},
};
/* Spellings that are suggested for a misspelt unit, besides the plain names. */
static const char *const common[] = {
    "kg", "mm", "cm", "km", "ms", "us", "ns", "kHz", "MHz", "mrad", "urad", "mN", "uT",
    "nT", "mg0", "ug0",
};
// clang-format on

enum { UNIT_COUNT = sizeof units / sizeof units[0] };

struct cursor {
    const char *at;
    struct cfg_phrase *problem;
    int nesting;
};

static bool parse_product(struct cursor *cursor, struct cfg_unit *unit);

static void skip_blanks(struct cursor *cursor)
{
    while (*cursor->at == ' ' || *cursor->at == '\t')
        cursor->at++;
}

static const struct named_unit *find_unit(const char *name)
{
    for (int i = 0; i < UNIT_COUNT; i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

/* A whole name has precedence over a prefix with a name: min is a minute, not milli-in. */
static bool look_up(const char *name, struct cfg_unit *unit)
{
    const struct named_unit *found = find_unit(name);
    double factor = 1.0;
    for (size_t i = 0; found == NULL && i < sizeof prefixes / sizeof prefixes[0]; i++) {
        const size_t size = strlen(prefixes[i].name);
        if (strncmp(name, prefixes[i].name, size) != 0)
            continue;
        found = find_unit(name + size);
        if (found != NULL && !found->prefixes)
            found = NULL;
        factor = prefixes[i].factor;
    }
    if (found == NULL)
        return false;
    unit->factor = found->factor * factor;
    memcpy(unit->halves, found->halves, sizeof unit->halves);
    return true;
}

static bool unknown_unit(struct cursor *cursor, const char *name)
{
    struct cfg_suggestion suggestion = cfg_suggest_begin(name);
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        cfg_suggest_offer(&suggestion, common[i]);
    for (int i = 0; i < UNIT_COUNT; i++)
        cfg_suggest_offer(&suggestion, units[i].name);
    if (suggestion.best != NULL)
        cfg_phrase_add(cursor->problem, "unknown unit %s; did you mean \"%s\"?",
                       cfg_quote(name).text, suggestion.best);
    else
        cfg_phrase_add(cursor->problem,
                       "unknown unit %s; units look like ms, deg/s, N m/rad or kg m^2",
                       cfg_quote(name).text);
    return false;
}

static bool is_name_byte(char c)
{
    const unsigned char u = (unsigned char)c;
    return isalnum(u) || u >= 0x80 || u == '%' || u == '_' || u == '"' || u == '\'';
}

static bool parse_name(struct cursor *cursor, struct cfg_unit *unit)
{
    char name[NAME_SIZE];
    size_t size = 0;
    while (is_name_byte(cursor->at[size]))
        size++;
    const size_t kept = size < sizeof name ? size : sizeof name - 1;
    memcpy(name, cursor->at, kept);
    name[kept] = '\0';
    if (size == 0) {
        if (*cursor->at != '\0')
            cfg_phrase_add(cursor->problem, "no unit begins with %s; units look like deg/s",
                           cfg_quote(cursor->at).text);
        else
            cfg_phrase_add(cursor->problem, "the unit ends too early; units look like deg/s");
        return false;
    }
    cursor->at += size;
    return (size == kept && look_up(name, unit)) || unknown_unit(cursor, name);
}

static bool parse_root(struct cursor *cursor, struct cfg_unit *unit, bool is_sqrt)
{
    if (cursor->nesting++ == NESTING_MAX) {
        cfg_phrase_add(cursor->problem, "too many brackets in the unit; write it flat");
        return false;
    }
    cursor->at += is_sqrt ? strlen("sqrt(") : strlen("(");
    if (!parse_product(cursor, unit))
        return false;
    if (*cursor->at != ')') {
        cfg_phrase_add(cursor->problem, "the unit lacks a closing bracket; add it");
        return false;
    }
    cursor->at++;
    cursor->nesting--;
    if (!is_sqrt)
        return true;
    unit->factor = sqrt(unit->factor);
    for (int i = 0; i < CFG_DIMENSION_COUNT; i++) {
        if (unit->halves[i] % 2 != 0) {
            cfg_phrase_add(cursor->problem, "the unit has a root of a root; simplify it");
            return false;
        }
        unit->halves[i] /= 2;
    }
    return true;
}

static void raise_to(struct cfg_unit *unit, long power)
{
    const double factor = unit->factor;
    unit->factor = 1.0;
    for (long i = 0; i < labs(power); i++)
        unit->factor *= factor;
    if (power < 0)
        unit->factor = 1.0 / unit->factor;
    for (int i = 0; i < CFG_DIMENSION_COUNT; i++)
        unit->halves[i] *= (int)power;
}

static bool parse_power(struct cursor *cursor, struct cfg_unit *unit)
{
    skip_blanks(cursor);
    if (*cursor->at != '^')
        return true;
    char *end;
    const long power = strtol(cursor->at + 1, &end, 10);
    if (end == cursor->at + 1 || isspace((unsigned char)cursor->at[1]) || labs(power) > POWER_MAX) {
        cfg_phrase_add(cursor->problem, "a power in a unit is a whole number up to %d, as in m^2",
                       POWER_MAX);
        return false;
    }
    cursor->at = end;
    raise_to(unit, power);
    return true;
}

static bool parse_factor(struct cursor *cursor, struct cfg_unit *unit)
{
    skip_blanks(cursor);
    const bool is_sqrt = strncmp(cursor->at, "sqrt(", strlen("sqrt(")) == 0;
    const bool good = is_sqrt || *cursor->at == '(' ? parse_root(cursor, unit, is_sqrt)
                                                    : parse_name(cursor, unit);
    return good && parse_power(cursor, unit);
}

static bool multiply(struct cursor *cursor, struct cfg_unit *unit, const struct cfg_unit *factor,
                     bool divide)
{
    unit->factor = divide ? unit->factor / factor->factor : unit->factor * factor->factor;
    for (int i = 0; i < CFG_DIMENSION_COUNT; i++) {
        unit->halves[i] += divide ? -factor->halves[i] : factor->halves[i];
        if (abs(unit->halves[i]) > HALVES_MAX) {
            cfg_phrase_add(cursor->problem, "the unit has a power that no quantity has; check it");
            return false;
        }
    }
    return true;
}

static bool parse_product(struct cursor *cursor, struct cfg_unit *unit)
{
    *unit = (struct cfg_unit){.factor = 1.0};
    bool divide = false;
    for (;;) {
        struct cfg_unit factor = {0};
        if (!parse_factor(cursor, &factor) || !multiply(cursor, unit, &factor, divide))
            return false;
        skip_blanks(cursor);
        if (*cursor->at == '\0' || *cursor->at == ')')
            return true;
        divide = *cursor->at == '/';
        if (divide || *cursor->at == '*')
            cursor->at++;
    }
}

bool cfg_unit_parse(const char *text, struct cfg_unit *unit, struct cfg_phrase *problem)
{
    *unit = (struct cfg_unit){.factor = 1.0};
    struct cursor cursor = {.at = text, .problem = problem};
    skip_blanks(&cursor);
    if (*cursor.at == '\0')
        return true;
    if (!parse_product(&cursor, unit))
        return false;
    if (*cursor.at == '\0')
        return true;
    cfg_phrase_add(problem, "the unit has a closing bracket too many; remove it");
    return false;
}

bool cfg_unit_same_dimension(const struct cfg_unit *a, const struct cfg_unit *b)
{
    return memcmp(a->halves, b->halves, sizeof a->halves) == 0;
}

/* Skip the digits from `at` on and add their number to *digits. */
static const char *skip_digits(const char *at, int *digits)
{
    while (isdigit((unsigned char)*at)) {
        at++;
        ++*digits;
    }
    return at;
}

/* strtod also reads hexadecimal, inf and nan; a scenario has decimal numbers only. */
static const char *decimal_end(const char *text)
{
    int digits = 0, exponent_digits = 0;
    const char *at = text + (*text == '+' || *text == '-');
    at = skip_digits(at, &digits);
    if (*at == '.')
        at = skip_digits(at + 1, &digits);
    if (digits == 0)
        return NULL;
    if (*at != 'e' && *at != 'E')
        return at;
    const char *exponent = at + 1 + (at[1] == '+' || at[1] == '-');
    exponent = skip_digits(exponent, &exponent_digits);
    return exponent_digits > 0 ? exponent : at;
}

const char *cfg_number_parse(const char *text, double *number)
{
    while (*text == ' ' || *text == '\t')
        text++;
    const char *end = decimal_end(text);
    if (end == NULL)
        return NULL;
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    RT_CHECK(plain != (locale_t)0);
    *number = strtod_l(text, NULL, plain);
    freelocale(plain);
    while (*end == ' ' || *end == '\t')
        end++;
    return end;
}

const char *cfg_unit_name(int index)
{
    return index < UNIT_COUNT ? units[index].name : NULL;
}
