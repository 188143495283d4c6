#include "config/yaml/syntax_error.h"

#include <string.h>

#include "rt/check.h"

/* One error message of libyaml; NULL: any. */
struct known {
    const char *problem, *context;
    bool at_context; /* report where the item began, not where libyaml stopped */
    const char *words;
};

/* A list or mapping that continues with an unexpected item. */
struct unfinished {
    const char *problem, *kind, *wants;
};

#define NO_TABS      "a tab cannot indent; use spaces"
#define CHECK_AROUND "; check the indentation, quotes and brackets"

// clang-format off
static const struct known refused[] = {
    {NULL, "while scanning an alias", true, CFG_NO_ALIASES},
    {NULL, "while scanning an anchor", true, CFG_NO_ANCHORS},
    {NULL, "while scanning a tag", true, CFG_NO_TAGS},
    {NULL, "while parsing a tag", true, CFG_NO_TAGS},
    {"found undefined tag handle", NULL, false, CFG_NO_TAGS},
};

static const struct known slips[] = {
    {NULL, "while scanning a quoted scalar", true,
     "this text is not closed; add the quote at its end"},
    {"could not find expected ':'", NULL, true,
     "a key wants a : and a space behind it, on the same line"},
    {"mapping values are not allowed in this context", NULL, false,
     "this : has no key; check the indentation and the line above, or put quotes around the text"},
    {"found unexpected ':'", NULL, false,
     "a : wants a space behind it; or put quotes around the text"},
    {"block sequence entries are not allowed in this context", NULL, false,
     "a list of - begins on a line of its own"},
    {"found a tab character that violates indentation", NULL, false, NO_TABS},
    {"found a tab character where an indentation space is expected", NULL, false, NO_TABS},
    {"found unknown escape character", NULL, false,
     "there is no such escape; write \\\\ for a backslash, or use single quotes"},
    {"did not find expected hexdecimal number", NULL, false,
     "the escape lacks digits; write as many as \\x41, \\u0041 and \\U00000041 have"},
    {"did not find expected comment or line break", NULL, false,
     "text behind | or > begins on the next line; or put quotes around all of it"},
    {"did not find expected node content", NULL, false,
     "a value is missing before this; write one or remove this"},
    {"did not find expected <document start>", NULL, false,
     "this stands behind the end of the document; remove it, or check the indentation"},
};

static const struct unfinished unfinished[] = {
    {"did not find expected ',' or ']'", "list", "a , or its ] here"},
    {"did not find expected ',' or '}'", "mapping", "a , or its } here"},
    {"did not find expected key", "mapping", "a key here" CHECK_AROUND},
    {"did not find expected '-' indicator", "list", "a - here" CHECK_AROUND},
};
// clang-format on

struct cfg_mark cfg_syntax_mark(const yaml_mark_t *mark)
{
    return (struct cfg_mark){(int)mark->line + 1, (int)mark->column + 1};
}

static bool is_same(const char *known, const char *said)
{
    return known == NULL || (said != NULL && strcmp(known, said) == 0);
}

static const struct known *find_known(const struct known *known, size_t count,
                                      const yaml_parser_t *parser)
{
    for (size_t i = 0; i < count; i++)
        if (is_same(known[i].problem, parser->problem) &&
            is_same(known[i].context, parser->context))
            return &known[i];
    return NULL;
}

static const struct unfinished *find_unfinished(const yaml_parser_t *parser)
{
    for (size_t i = 0; i < sizeof unfinished / sizeof unfinished[0]; i++)
        if (is_same(unfinished[i].problem, parser->problem))
            return &unfinished[i];
    return NULL;
}

static struct cfg_mark place_of(const struct known *known, const yaml_parser_t *parser)
{
    return cfg_syntax_mark(known->at_context ? &parser->context_mark : &parser->problem_mark);
}

/* The first byte of character number `index`; characters that cannot begin a value have only one
 * byte. */
static char character_at(const char *text, size_t size, size_t index)
{
    size_t i = 0;
    while (index > 0 && ++i < size)
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            index--;
    return i < size ? text[i] : '\0';
}

static bool fail_at_character(struct cfg_complaint *report, const char *origin,
                              struct cfg_mark mark, char character)
{
    if (character == '\t')
        return cfg_fail(report, origin, mark, "YAML syntax: " NO_TABS);
    return cfg_fail(report, origin, mark,
                    "YAML syntax: no value begins with %c; put quotes around the text", character);
}

bool cfg_syntax_fail(struct cfg_complaint *report, const char *origin, const yaml_parser_t *parser,
                     const char *text, size_t size)
{
    RT_CHECK(parser->error != YAML_MEMORY_ERROR);
    const struct cfg_mark mark = cfg_syntax_mark(&parser->problem_mark);
    const struct known *known = find_known(refused, sizeof refused / sizeof refused[0], parser);
    if (known != NULL)
        return cfg_fail(report, origin, place_of(known, parser), "%s", known->words);
    known = find_known(slips, sizeof slips / sizeof slips[0], parser);
    if (known != NULL)
        return cfg_fail(report, origin, place_of(known, parser), "YAML syntax: %s", known->words);
    const struct unfinished *open = find_unfinished(parser);
    if (open != NULL)
        return cfg_fail(report, origin, mark, "YAML syntax: the %s that begins in line %d wants %s",
                        open->kind, cfg_syntax_mark(&parser->context_mark).line, open->wants);
    if (is_same("found character that cannot start any token", parser->problem))
        return fail_at_character(report, origin, mark,
                                 character_at(text, size, parser->problem_mark.index));
    return cfg_fail(report, origin, mark, "YAML syntax: %s", parser->problem);
}
