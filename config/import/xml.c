#include "config/import/xml.h"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "rt/check.h"

/* ---- marks ---- */

/* libxml2 visits the elements in the order of the text, so a walk from `<` to `<` in parallel finds
 * their marks. */
struct cursor {
    const char *at;
    struct cfg_mark mark;
};

static void step(struct cursor *cursor, size_t count)
{
    for (; count > 0 && *cursor->at != '\0'; count--, cursor->at++) {
        const unsigned char c = (unsigned char)*cursor->at;
        if (c == '\n')
            cursor->mark = (struct cfg_mark){cursor->mark.line + 1, 1};
        else if ((c & 0xc0) != 0x80) /* the first byte of a character */
            cursor->mark.column++;
    }
}

static bool starts_with(const struct cursor *cursor, const char *word)
{
    return strncmp(cursor->at, word, strlen(word)) == 0;
}

/* strchr is used, because strstr under a sanitizer reads to the end of the text. */
static void step_past(struct cursor *cursor, const char *end)
{
    const size_t size = strlen(end);
    const char *found = strchr(cursor->at, end[0]);
    while (found != NULL && strncmp(found, end, size) != 0)
        found = strchr(found + 1, end[0]);
    step(cursor, found != NULL ? (size_t)(found - cursor->at) + size : SIZE_MAX);
}

/* To the next `<` that begins an element or a declaration; false at the end of the text. */
static bool next_tag(struct cursor *cursor)
{
    static const char *const spans[][2] = {
        {"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}, {"</", ">"}};
    while (*cursor->at != '\0') {
        size_t i = 0;
        while (i < 4 && !starts_with(cursor, spans[i][0]))
            i++;
        if (i == 4 && *cursor->at == '<')
            return true;
        if (i == 4) {
            step(cursor, strcspn(cursor->at, "<"));
        } else {
            step(cursor, strlen(spans[i][0])); /* <!--> is not a complete comment */
            step_past(cursor, spans[i][1]);
        }
    }
    return false;
}

static struct cursor cursor_at_start(const char *text)
{
    struct cursor cursor = {text, {1, 1}};
    if (starts_with(&cursor, "\xef\xbb\xbf"))
        cursor.at += 3;
    return cursor;
}

static void skip_blanks(struct cursor *cursor)
{
    step(cursor, strspn(cursor->at, " \t\r\n"));
}

static void skip_value(struct cursor *cursor)
{
    const char quote[2] = {cursor->at[-1], '\0'};
    step_past(cursor, quote);
}

/* From inside a tag to the value of its next attribute of that name, past namespace declarations,
 * which libxml2 does not count as attributes.  false, with the cursor unchanged, where it is not
 * found: a name that is not ASCII has other bytes in another encoding. */
static bool find_value(struct cursor *cursor, const char *name)
{
    struct cursor ahead = *cursor;
    bool found = false;
    while (!found) {
        skip_blanks(&ahead);
        const size_t size = strcspn(ahead.at, "= \t\r\n/>");
        if (size == 0)
            return false;
        found = strlen(name) == size && strncmp(ahead.at, name, size) == 0;
        step(&ahead, strcspn(ahead.at, "\"'"));
        step(&ahead, 1);
        if (!found)
            skip_value(&ahead);
    }
    *cursor = ahead;
    return true;
}

/* ---- before libxml2 ---- */

bool cfg_xml_looks_like(const char *text)
{
    struct cursor cursor = cursor_at_start(text);
    skip_blanks(&cursor);
    return *cursor.at == '<';
}

/* The number of quoted values in the tag at the cursor, at most one more than the limit. */
static int count_values(struct cursor cursor)
{
    int count = 0;
    step(&cursor, 1);
    while (count <= CFG_XML_ATTRIBUTES_MAX) {
        step(&cursor, strcspn(cursor.at, "\"'<>"));
        if (*cursor.at != '"' && *cursor.at != '\'')
            break;
        step(&cursor, 1);
        skip_value(&cursor);
        count++;
    }
    return count;
}

static bool check_tags(const char *text, struct cfg_complaint *report)
{
    struct cursor cursor = cursor_at_start(text);
    int elements = 0;
    for (; next_tag(&cursor); step(&cursor, 1)) {
        if (starts_with(&cursor, "<!"))
            return cfg_fail(report, NULL, cursor.mark,
                            "document types and entities (<!...>) are not read; remove them");
        if (++elements > CFG_XML_ELEMENTS_MAX)
            return cfg_fail(report, NULL, cursor.mark, "more than %d elements; is this a robot?",
                            CFG_XML_ELEMENTS_MAX);
        if (count_values(cursor) > CFG_XML_ATTRIBUTES_MAX)
            return cfg_fail(report, NULL, cursor.mark,
                            "more than %d attributes in one element; is this a robot?",
                            CFG_XML_ATTRIBUTES_MAX);
    }
    return true;
}

static bool check_text(const char *text, size_t size, struct cfg_complaint *report)
{
    const struct cfg_mark nowhere = {0, 0};
    if (size > CFG_XML_TEXT_MAX)
        return cfg_fail(report, NULL, nowhere, "more than %d bytes; is this the right file?",
                        CFG_XML_TEXT_MAX);
    if (strlen(text) != size)
        return cfg_fail(report, NULL, nowhere,
                        "the file is not text (it has a zero byte); save it as UTF-8");
    if (!cfg_xml_looks_like(text))
        return cfg_fail(report, NULL, (struct cfg_mark){1, 1},
                        "the file is not XML: it begins with %s",
                        text[0] != '\0' ? cfg_quote(text).text : "nothing");
    return check_tags(text, report);
}

/* ---- libxml2's tree to ours ---- */

struct builder {
    struct cfg_load_arena *pool;
    struct cursor cursor;
};

static const char *copy_name(struct cfg_load_arena *pool, const xmlNs *space, const xmlChar *name)
{
    const char *local = (const char *)name;
    if (space == NULL || space->prefix == NULL)
        return cfg_load_arena_copy(pool, local, strlen(local));
    const char *prefix = (const char *)space->prefix;
    const size_t size = strlen(prefix) + 1 + strlen(local);
    char *full = cfg_load_arena_take(pool, size + 1);
    snprintf(full, size + 1, "%s:%s", prefix, local);
    return full;
}

static struct cfg_attribute *build_attribute(struct builder *builder, const xmlAttr *from)
{
    struct cfg_attribute *attribute = cfg_load_arena_take(builder->pool, sizeof *attribute);
    xmlChar *value = xmlNodeListGetString(from->doc, from->children, 1);
    const char *text = value != NULL ? (const char *)value : "";
    attribute->name = copy_name(builder->pool, from->ns, from->name);
    attribute->value = cfg_load_arena_copy(builder->pool, text, strlen(text));
    xmlFree(value);
    attribute->mark = builder->cursor.mark;
    if (find_value(&builder->cursor, attribute->name)) {
        attribute->mark = builder->cursor.mark;
        skip_value(&builder->cursor);
    }
    return attribute;
}

static struct cfg_element *build(struct builder *builder, const xmlNode *from)
{
    struct cfg_element *element = cfg_load_arena_take(builder->pool, sizeof *element);
    element->name = copy_name(builder->pool, from->ns, from->name);
    const bool found = next_tag(&builder->cursor);
    element->mark = builder->cursor.mark; /* the last known mark, where the walk has failed */
    if (found) {
        step(&builder->cursor, 1);
        step(&builder->cursor, strcspn(builder->cursor.at, " \t\r\n/>"));
    }

    struct cfg_attribute **attribute = &element->attributes;
    for (const xmlAttr *a = from->properties; a != NULL; a = a->next) {
        *attribute = build_attribute(builder, a);
        attribute = &(*attribute)->next;
    }
    struct cfg_element **child = &element->first;
    for (const xmlNode *n = from->children; n != NULL; n = n->next) {
        if (n->type == XML_ELEMENT_NODE) {
            *child = build(builder, n);
            child = &(*child)->next;
        }
    }
    return element;
}

/* ---- parsing ---- */

/* Keep the first error, because later ones usually follow from it. An undeclared prefix is not an
 * error, because many robots have some. */
static void take_error(void *parser, xmlErrorPtr error)
{
    struct cfg_complaint *report = ((xmlParserCtxtPtr)parser)->_private;
    if (error->level < XML_ERR_ERROR || error->domain == XML_FROM_NAMESPACE)
        return;
    const char *words = error->message != NULL ? error->message : "cannot be read";
    const int column = error->int2 > 0 ? error->int2 : 1;
    cfg_fail(report, NULL, (struct cfg_mark){error->line, column}, "XML syntax: %.*s",
             (int)strcspn(words, "\n"), words);
}

/* The walk reads bytes, so only encodings are accepted in which the byte `<` is always that
 * character. */
static bool check_encoding(const xmlDoc *document, struct cfg_complaint *report)
{
    static const char *const good[] = {"UTF-8", "UTF8", "US-ASCII", "ASCII"};
    const char *name = (const char *)document->encoding;
    if (name == NULL || strncasecmp(name, "ISO-8859-", 9) == 0)
        return true;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (strcasecmp(name, good[i]) == 0)
            return true;
    return cfg_fail(report, NULL, (struct cfg_mark){1, 1},
                    "the encoding %s is not read; save the "
                    "file as UTF-8",
                    cfg_quote(name).text);
}

static void ignore_error(void *self, const char *format, ...)
{
    (void)self, (void)format;
}

static xmlDoc *read_text(const char *text, size_t size, struct cfg_complaint *report)
{
    const int options = XML_PARSE_NONET | XML_PARSE_NOBLANKS | XML_PARSE_NOWARNING;
    xmlParserCtxtPtr parser = xmlNewParserCtxt();
    RT_CHECK(parser != NULL && size <= INT_MAX);
    parser->_private = report;
    parser->sax->serror = take_error;
    const xmlGenericErrorFunc told = xmlGenericError;
    void *const listener = xmlGenericErrorContext;
    xmlSetGenericErrorFunc(NULL, ignore_error); /* some errors do not reach the handler */
    xmlDoc *document = xmlCtxtReadMemory(parser, text, (int)size, NULL, NULL, options);
    xmlSetGenericErrorFunc(listener, told);
    xmlFreeParserCtxt(parser);
    if (document != NULL)
        report->line[0] = '\0'; /* libxml2 continued, so it was only a warning */
    if (document == NULL)
        cfg_fail(report, NULL, (struct cfg_mark){1, 1}, "XML syntax: cannot be read");
    return document;
}

struct cfg_element *cfg_xml_parse(struct cfg_load_arena *pool, const char *text, size_t size,
                                  struct cfg_complaint *report)
{
    if (!check_text(text, size, report))
        return NULL;
    xmlDoc *document = read_text(text, size, report);
    if (document == NULL)
        return NULL;
    struct builder builder = {pool, cursor_at_start(text)};
    struct cfg_element *root = NULL;
    if (check_encoding(document, report))
        root = build(&builder, xmlDocGetRootElement(document));
    xmlFreeDoc(document);
    return root;
}

const struct cfg_attribute *cfg_xml_attribute(const struct cfg_element *element, const char *name)
{
    const struct cfg_attribute *attribute = element->attributes;
    while (attribute != NULL && strcmp(attribute->name, name) != 0)
        attribute = attribute->next;
    return attribute;
}

const struct cfg_element *cfg_xml_child(const struct cfg_element *element, const char *name)
{
    const struct cfg_element *child = element->first;
    while (child != NULL && strcmp(child->name, name) != 0)
        child = child->next;
    return child;
}
