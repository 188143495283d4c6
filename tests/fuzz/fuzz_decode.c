/*
 * Any text as a schema, up to the first NUL, and what follows it as a message.  What must hold:
 *   - nothing outside the bytes is read,
 *   - names and units are printable on a terminal,
 *   - fields lie one behind the other.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/check.h"
#include "tools/airbearing/cdr_decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static volatile double sink;

static void check_text(const char text[CDR_FIELD_NAME_MAX])
{
    RT_CHECK(memchr(text, '\0', CDR_FIELD_NAME_MAX));
    for (const char *at = text; *at; at++)
        RT_CHECK(*at >= ' ' && *at <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct cdr_layout decode;
    const size_t length = strnlen((const char *)bytes, size);
    char *text = malloc(length + 1);
    RT_CHECK(text);
    memcpy(text, bytes, length);
    text[length] = '\0';
    cdr_layout_parse(&decode, text);
    free(text);
    RT_CHECK(decode.field_count >= 0 && decode.field_count <= CDR_FIELD_MAX);
    size_t end = 0;
    for (int i = 0; i < decode.field_count; i++) {
        const struct cdr_field *field = &decode.field[i];
        check_text(field->name);
        check_text(field->unit);
        RT_CHECK(field->at >= end && field->count >= 1 && field->count <= CDR_ARRAY_MAX);
        end = field->at + field->size * (size_t)field->count;
        for (int k = -1; k <= field->count; k++)
            sink = cdr_field_number(field, k, bytes + length, size - length);
    }
    return 0;
}
