/*
 * Colors: by name, or red, green and blue from 0 to 1.
 */
#include "config/yaml/value.h"

#include <ctype.h>
#include <string.h>

#include "config/yaml/suggest.h"

static const struct {
    const char *name;
    double rgb[3];
} colors[] = {
    {"black", {0.05, 0.05, 0.05}},  {"blue", {0.15, 0.35, 0.85}},   {"brown", {0.50, 0.32, 0.18}},
    {"cyan", {0.20, 0.75, 0.80}},   {"gold", {0.90, 0.70, 0.25}},   {"gray", {0.50, 0.50, 0.50}},
    {"green", {0.25, 0.65, 0.30}},  {"grey", {0.50, 0.50, 0.50}},   {"magenta", {0.80, 0.25, 0.70}},
    {"orange", {0.95, 0.55, 0.15}}, {"purple", {0.50, 0.30, 0.75}}, {"red", {0.85, 0.20, 0.18}},
    {"silver", {0.75, 0.77, 0.80}}, {"white", {0.95, 0.95, 0.95}},  {"yellow", {0.95, 0.85, 0.25}},
};
enum { COLOR_COUNT = sizeof colors / sizeof *colors };

const char *cfg_color_name(int i)
{
    return i < COLOR_COUNT ? colors[i].name : NULL;
}

static bool read_named(const struct cfg_reader *reader, const struct cfg_key *key,
                       const struct cfg_node *node, double out[3])
{
    struct cfg_suggestion suggestion = cfg_suggest_begin(node->text);
    struct cfg_phrase names = {0};
    for (int i = 0; i < COLOR_COUNT; i++) {
        if (strcmp(colors[i].name, node->text) == 0) {
            memcpy(out, colors[i].rgb, sizeof colors[i].rgb);
            return true;
        }
        cfg_suggest_offer(&suggestion, colors[i].name);
        cfg_phrase_add(&names, "%s%s", i > 0 ? ", " : "", colors[i].name);
    }
    if (suggestion.best != NULL)
        return cfg_fail_at(reader->report, node, NULL, "%s cannot be %s; did you mean \"%s\"?",
                           key->name, cfg_quote(node->text).text, suggestion.best);
    return cfg_fail_at(reader->report, node, NULL, "%s cannot be %s; write 3 numbers, or one of %s",
                       key->name, cfg_quote(node->text).text, names.text);
}

bool cfg_read_color(const struct cfg_reader *reader, const struct cfg_key *key,
                    const struct cfg_node *node, double out[3])
{
    const struct cfg_key plain = {.name = key->name,
                                  .type = CFG_VECTOR,
                                  .size = 3,
                                  .limit = CFG_BETWEEN,
                                  .max = 1.0,
                                  .example = key->example};
    if (node->kind == CFG_NODE_SCALAR && !node->empty && isalpha((unsigned char)node->text[0]))
        return read_named(reader, key, node, out);
    return cfg_read_row(reader, &plain, node, out);
}
