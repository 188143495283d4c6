#include "config/yaml/complaint.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { QUOTE_SHOWN = 40 };

static size_t place_format(char *out, const struct cfg_complaint *report, const char *origin,
                           struct cfg_mark mark)
{
    int size;
    if (origin != NULL)
        size = snprintf(out, CFG_ERROR_MAX, "--set %.120s: ", origin);
    else if (mark.line > 0)
        size = snprintf(out, CFG_ERROR_MAX, "%.200s:%d:%d: ", report->path, mark.line, mark.column);
    else
        size = snprintf(out, CFG_ERROR_MAX, "%.200s: ", report->path);
    return size > 0 ? (size_t)size : 0;
}

bool cfg_fail(struct cfg_complaint *report, const char *origin, struct cfg_mark mark,
              const char *format, ...)
{
    if (report->line[0] != '\0')
        return false;

    const size_t at = place_format(report->line, report, origin, mark);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report->line + at, CFG_ERROR_MAX - at, format, arguments);
    va_end(arguments);

    /* The path, the override and libyaml's text may have line breaks, but a complaint is one line.
     */
    for (char *c = report->line; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return false;
}

void cfg_phrase_add(struct cfg_phrase *phrase, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const size_t room = sizeof phrase->text - phrase->size;
    const int size = vsnprintf(phrase->text + phrase->size, room, format, arguments);
    va_end(arguments);
    if (size > 0)
        phrase->size += (size_t)size < room ? (size_t)size : room - 1;
}

/* The number of bytes of the character that begins here. */
static size_t character_size(const char *text)
{
    size_t size = 1;
    while (((unsigned char)text[size] & 0xc0) == 0x80)
        size++;
    return size;
}

struct cfg_quote cfg_quote(const char *text)
{
    size_t size = 0;
    while (text[size] != '\0' && size + character_size(text + size) <= QUOTE_SHOWN)
        size += character_size(text + size);

    struct cfg_quote quote;
    const char *more = text[size] != '\0' ? "..." : "";
    snprintf(quote.text, sizeof quote.text, "\"%.*s%s\"", (int)size, text, more);
    return quote;
}
