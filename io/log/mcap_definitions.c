#include "io/log/mcap_definitions.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_SIZE = 256, BYTES_MAX = 64 * 1024 * 1024 };

const struct io_mcap_definition *
io_mcap_definition_find(const struct io_mcap_definitions *definitions, uint16_t id)
{
    struct io_mcap_definition *const *page = definitions->pages[id / PAGE_SIZE];
    return page ? page[id % PAGE_SIZE] : NULL;
}

const struct io_mcap_definition *
io_mcap_definition_by_text(const struct io_mcap_definitions *definitions, const char *text)
{
    for (unsigned id = 0; id <= UINT16_MAX; id++) {
        if (!definitions->pages[id / PAGE_SIZE]) {
            id |= PAGE_SIZE - 1; /* on to the next page */
            continue;
        }
        const struct io_mcap_definition *found = io_mcap_definition_find(definitions, (uint16_t)id);
        if (found && strcmp(found->text, text) == 0)
            return found;
    }
    return NULL;
}

static struct io_mcap_definition *copy(struct io_slice content, struct io_slice text,
                                       uint16_t schema)
{
    struct io_mcap_definition *definition =
        malloc(sizeof *definition + content.size + text.size + 1);
    if (!definition)
        return NULL;
    char *end = (char *)definition->content + content.size;
    memcpy(definition->content, content.data, content.size);
    if (text.size > 0)
        memcpy(end, text.data, text.size);
    end[text.size] = '\0';
    definition->schema = schema;
    definition->text = end;
    definition->size = content.size;
    return definition;
}

enum io_mcap_define io_mcap_define(struct io_mcap_definitions *definitions, uint16_t id,
                                   struct io_slice content, struct io_slice text, uint16_t schema)
{
    const struct io_mcap_definition *known = io_mcap_definition_find(definitions, id);
    if (known) {
        const bool same =
            known->size == content.size && memcmp(known->content, content.data, content.size) == 0;
        return same ? IO_MCAP_DEFINED : IO_MCAP_DEFINE_CONTRADICTS;
    }
    const size_t bytes = content.size + text.size;
    struct io_mcap_definition ***page = &definitions->pages[id / PAGE_SIZE];
    if (!*page)
        *page = calloc(PAGE_SIZE, sizeof **page);
    if (!*page || bytes > BYTES_MAX - definitions->bytes)
        return IO_MCAP_DEFINE_TOO_MUCH;
    (*page)[id % PAGE_SIZE] = copy(content, text, schema);
    if (!(*page)[id % PAGE_SIZE])
        return IO_MCAP_DEFINE_TOO_MUCH;
    definitions->bytes += bytes;
    return IO_MCAP_DEFINED;
}

void io_mcap_definitions_free(struct io_mcap_definitions *definitions)
{
    for (int p = 0; p < IO_MCAP_DEFINITION_PAGES; p++) {
        for (int i = 0; definitions->pages[p] && i < PAGE_SIZE; i++)
            free(definitions->pages[p][i]);
        free(definitions->pages[p]);
    }
    *definitions = (struct io_mcap_definitions){0};
}
