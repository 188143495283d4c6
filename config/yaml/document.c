#include "config/yaml/document.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "config/yaml/syntax_error.h"
#include "rt/check.h"

/* A list or mapping that is not closed yet, and the key that has no value yet. */
struct level {
    struct cfg_node *node;
    const char *key;
    struct cfg_mark key_mark;
};

struct builder {
    struct cfg_load_arena *pool;
    struct cfg_complaint *report;
    const char *origin;
    struct cfg_node *root;
    int depth;
    struct level levels[CFG_DEPTH_MAX];
};

/* ---- text ---- */

/* The UTF-8 character at text and its number of bytes, 0 when it is not well-formed (RFC 3629). */
static size_t utf8_decode(const unsigned char *text, size_t left, uint32_t *point)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char c = text[0];
    const size_t size = c < 0x80 ? 1 : c >> 5 == 6 ? 2 : c >> 4 == 14 ? 3 : c >> 3 == 30 ? 4 : 0;
    if (size == 0 || size > left)
        return 0;
    *point = size == 1 ? c : c & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *point = *point << 6 | (text[i] & 0x3fu);
    }
    const bool surrogate = *point >= 0xd800 && *point < 0xe000;
    return *point >= least[size] && *point <= 0x10ffff && !surrogate ? size : 0;
}

/* Control characters, line breaks that only some programs recognize, invisible characters and code
 * points without a character. */
static bool is_control(uint32_t point)
{
    const bool usual = point == '\t' || point == '\n' || point == '\r';
    return (point < 0x20 && !usual) || (point >= 0x7f && point < 0xa0) || point == 0x2028 ||
           point == 0x2029 || point == 0xfeff || point == 0xfffe || point == 0xffff;
}

/* True when a line ends with this character; a single carriage return ends one, too. */
static bool ends_line(const char *text, size_t left)
{
    return text[0] == '\n' || (text[0] == '\r' && !(left > 1 && text[1] == '\n'));
}

/* libyaml refuses most of these, too, but reports the byte and not the line and column. */
static bool check_characters(const char *text, size_t size, const char *origin,
                             struct cfg_complaint *report)
{
    struct cfg_mark mark = {1, 1};
    for (size_t i = 0; i < size;) {
        uint32_t point = 0;
        const size_t step = utf8_decode((const unsigned char *)text + i, size - i, &point);
        if (step == 0)
            return cfg_fail(report, origin, mark,
                            "byte 0x%02x is not UTF-8 text; save the file as UTF-8",
                            (unsigned char)text[i]);
        if (is_control(point))
            return cfg_fail(report, origin, mark, "control character U+%04X; remove it",
                            (unsigned)point);
        if (point == '%' && mark.column == 1)
            return cfg_fail(report, origin, mark,
                            "directives (%%NAME) are not read in a scenario; remove the line");
        mark.column++;
        if (ends_line(text + i, size - i))
            mark = (struct cfg_mark){mark.line + 1, 1};
        i += step;
    }
    return true;
}

static bool check_text(const char *text, size_t size, const char *origin,
                       struct cfg_complaint *report)
{
    if (size > CFG_TEXT_MAX)
        return cfg_fail(report, origin, (struct cfg_mark){0, 0},
                        "more than %d bytes; no scenario is that long, is this the right file?",
                        CFG_TEXT_MAX);
    return check_characters(text, size, origin, report);
}

/* ---- events to nodes ---- */

static struct cfg_mark mark_of(const yaml_event_t *event)
{
    return cfg_syntax_mark(&event->start_mark);
}

static struct level *top(struct builder *builder)
{
    return builder->depth > 0 ? &builder->levels[builder->depth - 1] : NULL;
}

static bool awaits_key(const struct level *level)
{
    return level != NULL && level->node->kind == CFG_NODE_MAP && level->key == NULL;
}

static struct cfg_node *node_new(struct builder *builder, enum cfg_node_kind kind,
                                 struct cfg_mark mark)
{
    struct cfg_node *node = cfg_load_arena_take(builder->pool, sizeof *node);
    node->kind = kind;
    node->mark = mark;
    node->origin = builder->origin;
    return node;
}

void cfg_node_append(struct cfg_node *parent, struct cfg_node *child)
{
    if (parent->last != NULL)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    child->next = NULL;
    parent->count++;
}

static bool attach(struct builder *builder, struct cfg_node *node)
{
    struct level *level = top(builder);
    if (level == NULL) {
        builder->root = node;
        return true;
    }
    if (node->mark.line == 0)
        node->mark = level->key != NULL ? level->key_mark : level->node->mark;
    const int limit = level->node->kind == CFG_NODE_MAP ? CFG_KEYS_MAX : CFG_ITEMS_MAX;
    if (level->node->count == limit)
        return cfg_fail(builder->report, builder->origin, node->mark,
                        "more than %d entries in one %s; no scenario needs that many", limit,
                        level->node->kind == CFG_NODE_MAP ? "mapping" : "list");
    node->key = level->key;
    node->key_mark = level->key_mark;
    level->key = NULL;
    cfg_node_append(level->node, node);
    return true;
}

static bool take_key(struct builder *builder, const char *text, struct cfg_mark mark)
{
    struct level *level = top(builder);
    const struct cfg_node *before = cfg_node_find(level->node, text);
    if (before != NULL)
        return cfg_fail(builder->report, builder->origin, mark,
                        "%s is given twice; it already stands in line %d, remove one",
                        cfg_quote(text).text, before->key_mark.line);
    level->key = text;
    level->key_mark = mark;
    return true;
}

/* A plain scalar has at least one character; libyaml makes an empty one where nothing is written.
 */
static bool is_absent(const yaml_event_t *event)
{
    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && event->data.scalar.length == 0;
}

static bool is_empty(const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (is_absent(event) || strcmp(text, "~") == 0 || strcmp(text, "null") == 0);
}

static bool take_scalar(struct builder *builder, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    const size_t size = event->data.scalar.length;
    const struct cfg_mark mark = mark_of(event);
    if (memchr(text, '\0', size) != NULL)
        return cfg_fail(builder->report, builder->origin, mark, "NUL inside a text; remove it");

    const char *copy = cfg_load_arena_copy(builder->pool, text, size);
    if (awaits_key(top(builder)))
        return take_key(builder, copy, mark);
    const struct cfg_mark nowhere = {0, 0};
    struct cfg_node *node = node_new(builder, CFG_NODE_SCALAR, is_absent(event) ? nowhere : mark);
    node->text = copy;
    node->empty = is_empty(event);
    return attach(builder, node);
}

static bool open_level(struct builder *builder, enum cfg_node_kind kind, struct cfg_mark mark)
{
    if (awaits_key(top(builder)))
        return cfg_fail(builder->report, builder->origin, mark,
                        "a key is a plain word, not a list or a mapping; put quotes around text "
                        "that begins with [ or {");
    if (builder->depth == CFG_DEPTH_MAX)
        return cfg_fail(builder->report, builder->origin, mark,
                        "more than %d lists and mappings inside each other; no scenario needs that",
                        CFG_DEPTH_MAX);
    struct cfg_node *node = node_new(builder, kind, mark);
    if (!attach(builder, node))
        return false;
    builder->levels[builder->depth++] = (struct level){.node = node};
    return true;
}

static bool refuse_syntax(struct builder *builder, const yaml_event_t *event, const char *what)
{
    return cfg_fail(builder->report, builder->origin, mark_of(event), "%s", what);
}

/* An event begins at its anchor or its tag, whichever comes first. */
static bool check_properties(struct builder *builder, const yaml_event_t *event,
                             const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (anchor != NULL && tag != NULL)
        return refuse_syntax(builder, event, CFG_NO_ANCHORS_OR_TAGS);
    if (anchor != NULL)
        return refuse_syntax(builder, event, CFG_NO_ANCHORS);
    return tag == NULL || refuse_syntax(builder, event, CFG_NO_TAGS);
}

static bool begin_document(struct builder *builder, const yaml_event_t *event)
{
    return builder->root == NULL ||
           refuse_syntax(builder, event,
                         "a second document begins here; a scenario is one, remove the ---");
}

static bool take_event(struct builder *builder, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return begin_document(builder, event);
    case YAML_SCALAR_EVENT:
        return check_properties(builder, event, event->data.scalar.anchor,
                                event->data.scalar.tag) &&
               take_scalar(builder, event);
    case YAML_SEQUENCE_START_EVENT:
        return check_properties(builder, event, event->data.sequence_start.anchor,
                                event->data.sequence_start.tag) &&
               open_level(builder, CFG_NODE_LIST, mark_of(event));
    case YAML_MAPPING_START_EVENT:
        return check_properties(builder, event, event->data.mapping_start.anchor,
                                event->data.mapping_start.tag) &&
               open_level(builder, CFG_NODE_MAP, mark_of(event));
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        RT_CHECK(builder->depth > 0);
        builder->depth--;
        return true;
    case YAML_ALIAS_EVENT:
        return refuse_syntax(builder, event, CFG_NO_ALIASES);
    default: /* stream start and end, document end */
        return true;
    }
}

/* False when the parser fails; a refusal of this file is in the report. */
static bool take_events(struct builder *builder, yaml_parser_t *parser)
{
    bool more = true;
    while (more) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event))
            return false;
        more = take_event(builder, &event) && event.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    return true;
}

static void parse(struct builder *builder, const char *text, size_t size)
{
    yaml_parser_t parser;
    RT_CHECK(yaml_parser_initialize(&parser));
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    if (!take_events(builder, &parser))
        cfg_syntax_fail(builder->report, builder->origin, &parser, text, size);
    yaml_parser_delete(&parser);
}

struct cfg_node *cfg_document_parse(struct cfg_load_arena *pool, const char *text, size_t size,
                                    const char *origin, struct cfg_complaint *report)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    const size_t skip = size >= 3 && memcmp(text, byte_order_mark, 3) == 0 ? 3 : 0;
    if (!check_text(text + skip, size - skip, origin, report))
        return NULL;
    struct builder builder = {.pool = pool, .report = report, .origin = origin};
    if (size > skip)
        parse(&builder, text + skip, size - skip);
    if (builder.root == NULL)
        cfg_fail(report, origin, (struct cfg_mark){1, 1}, "%s",
                 origin != NULL
                     ? "there is no value behind the ="
                     : "nothing is written here; a scenario begins with name: and bodies:");
    return report->line[0] == '\0' ? builder.root : NULL;
}

/* ---- the tree ---- */

struct cfg_node *cfg_node_find(const struct cfg_node *map, const char *key)
{
    if (map == NULL || map->kind != CFG_NODE_MAP)
        return NULL;
    struct cfg_node *child = map->first;
    while (child != NULL && strcmp(child->key, key) != 0)
        child = child->next;
    return child;
}

static const char *name_of(const struct cfg_node *item)
{
    const struct cfg_node *name = cfg_node_find(item, "name");
    return name != NULL && name->kind == CFG_NODE_SCALAR ? name->text : "";
}

struct cfg_node *cfg_node_named(const struct cfg_node *list, const char *name)
{
    struct cfg_node *item = list->first;
    while (item != NULL && strcmp(name_of(item), name) != 0)
        item = item->next;
    return item;
}

const char *cfg_node_kind_name(const struct cfg_node *node)
{
    static const char *const names[] = {[CFG_NODE_SCALAR] = "a single value",
                                        [CFG_NODE_LIST] = "a list",
                                        [CFG_NODE_MAP] = "a mapping"};
    return node->empty ? "nothing" : names[node->kind];
}

bool cfg_fail_at(struct cfg_complaint *report, const struct cfg_node *node, const char *key,
                 const char *format, ...)
{
    char what[CFG_ERROR_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);

    const struct cfg_node *value = key != NULL ? cfg_node_find(node, key) : NULL;
    const struct cfg_node *place = value != NULL ? value : node;
    if (place == NULL)
        return cfg_fail(report, NULL, (struct cfg_mark){1, 1}, "%s", what);
    return cfg_fail(report, place->origin, place->mark, "%s", what);
}
