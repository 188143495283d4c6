#include "config/yaml/schema.h"

#include <math.h>
#include <string.h>

#include "config/yaml/suggest.h"
#include "config/yaml/value.h"
#include "rt/check.h"

static bool read_map(const struct cfg_reader *reader, const struct cfg_table *table,
                     const struct cfg_node *node, void *out);

static bool check_list(const struct cfg_reader *reader, const struct cfg_key *key,
                       const struct cfg_node *node)
{
    if (node->kind != CFG_NODE_LIST)
        return cfg_fail_wants(reader, key, node);
    if (key->required && node->count == 0)
        return cfg_fail_at(reader->report, node, NULL, "%s is empty; give at least one", key->name);
    if (key->size == 0 || node->count <= key->size)
        return true;
    return cfg_fail_at(reader->report, node, NULL, "%s has %d entries; it can have %d, remove some",
                       key->name, node->count, key->size);
}

static bool read_list(const struct cfg_reader *reader, const struct cfg_key *key,
                      const struct cfg_node *node, struct cfg_list *out)
{
    if (!check_list(reader, key, node))
        return false;
    unsigned char *items =
        cfg_load_arena_take(reader->pool, (size_t)node->count * key->table->size);
    *out = (struct cfg_list){.count = node->count, .items = items};
    for (const struct cfg_node *item = node->first; item != NULL; item = item->next) {
        if (!read_map(reader, key->table, item, items))
            return false;
        items += key->table->size;
    }
    return true;
}

static bool read_texts(const struct cfg_reader *reader, const struct cfg_key *key,
                       const struct cfg_node *node, struct cfg_list *out)
{
    if (!check_list(reader, key, node))
        return false;
    const char **items = cfg_load_arena_take(reader->pool, (size_t)node->count * sizeof *items);
    *out = (struct cfg_list){.count = node->count, .items = items};
    for (const struct cfg_node *item = node->first; item != NULL; item = item->next) {
        if (item->kind != CFG_NODE_SCALAR || item->empty)
            return cfg_fail_at(reader->report, item, NULL,
                               "an entry of %s wants a text, as in %s; here is %s", key->name,
                               key->example, cfg_node_kind_name(item));
        *items++ = item->text;
    }
    return true;
}

static bool read_value(const struct cfg_reader *reader, const struct cfg_key *key,
                       const struct cfg_node *node, void *out)
{
    if (node->empty)
        return cfg_fail_wants(reader, key, node);
    switch (key->type) {
    case CFG_VECTOR:
    case CFG_NUMBERS:
    case CFG_ROWS:
    case CFG_AXIS:
    case CFG_ATTITUDE:
        return cfg_read_row(reader, key, node, out);
    case CFG_COLOR:
        return cfg_read_color(reader, key, node, out);
    case CFG_TEXTS:
        return read_texts(reader, key, node, out);
    case CFG_MAP:
        return read_map(reader, key->table, node, out);
    case CFG_LIST:
        return read_list(reader, key, node, out);
    default:
        return cfg_read_scalar(reader, key, node, out);
    }
}

static bool missing(const struct cfg_reader *reader, const struct cfg_table *table,
                    const struct cfg_key *key, const struct cfg_node *map)
{
    return cfg_fail_at(reader->report, map, NULL, "%s needs \"%s\" (%s)%s%s", table->what,
                       key->name, key->help, key->example != NULL ? "; write e.g. " : "",
                       key->example != NULL ? key->example : "");
}

static bool read_fallback(const struct cfg_reader *reader, const struct cfg_key *key, void *out)
{
    if (key->type == CFG_MAP)
        return read_map(reader, key->table, NULL, out);
    if (key->fallback != NULL) {
        const struct cfg_node node = {.kind = CFG_NODE_SCALAR, .text = key->fallback};
        RT_CHECK(read_value(reader, key, &node, out)); /* the tables of the program are valid */
    } else if (key->type == CFG_QUANTITY || key->type == CFG_COLOR) {
        *(double *)out = nan("");
    } else if (key->type == CFG_CHOICE) {
        *(int *)out = -1;
    }
    return true;
}

static bool is_required(const struct cfg_key *key, const struct cfg_node *map)
{
    return key->required && (key->unless == NULL || cfg_node_find(map, key->unless) == NULL);
}

/* map is NULL when the file leaves the whole mapping out; then no required key is missing. */
static bool read_keys(const struct cfg_reader *reader, const struct cfg_table *table,
                      const struct cfg_table *keys, const struct cfg_node *map, void *out)
{
    for (int i = 0; i < keys->key_count; i++) {
        const struct cfg_key *key = &keys->keys[i];
        void *member = (unsigned char *)out + key->offset;
        const struct cfg_node *node = cfg_node_find(map, key->name);
        if (node == NULL && map != NULL && is_required(key, map))
            return missing(reader, table, key, map);
        if (node != NULL ? !read_value(reader, key, node, member)
                         : !read_fallback(reader, key, member))
            return false;
    }
    return true;
}

const struct cfg_key *cfg_table_find(const struct cfg_table *table, int variant, const char *name)
{
    for (int i = 0; i < table->key_count; i++)
        if (strcmp(table->keys[i].name, name) == 0)
            return &table->keys[i];
    for (int i = 0; i < table->variant_count; i++) {
        const struct cfg_key *key =
            variant < 0 || variant == i ? cfg_table_find(&table->variants[i], -1, name) : NULL;
        if (key != NULL)
            return key;
    }
    return NULL;
}

static void offer_keys(const struct cfg_table *table, struct cfg_suggestion *suggestion,
                       struct cfg_phrase *names)
{
    for (int i = 0; i < table->key_count; i++) {
        cfg_suggest_offer(suggestion, table->keys[i].name);
        cfg_phrase_add(names, "%s%s", names->size > 0 ? ", " : "", table->keys[i].name);
    }
}

void cfg_table_advise(const struct cfg_table *table, int variant, const char *name,
                      struct cfg_phrase *phrase)
{
    struct cfg_suggestion suggestion = cfg_suggest_begin(name);
    struct cfg_phrase names = {0};
    offer_keys(table, &suggestion, &names);
    for (int i = 0; i < table->variant_count; i++)
        if (variant < 0 || variant == i)
            offer_keys(&table->variants[i], &suggestion, &names);
    if (suggestion.best != NULL)
        cfg_phrase_add(phrase, "did you mean \"%s\"?", suggestion.best);
    else
        cfg_phrase_add(phrase, "it takes %s", names.text);
}

static bool check_known(const struct cfg_reader *reader, const struct cfg_table *table, int variant,
                        const struct cfg_node *map)
{
    const struct cfg_table *named = variant < 0 ? table : &table->variants[variant];
    for (const struct cfg_node *node = map->first; node != NULL; node = node->next) {
        if (cfg_table_find(table, variant, node->key) != NULL)
            continue;
        struct cfg_phrase advice = {0};
        cfg_table_advise(table, variant, node->key, &advice);
        return cfg_fail(reader->report, node->origin, node->key_mark, "unknown key %s in %s; %s",
                        cfg_quote(node->key).text, named->what, advice.text);
    }
    return true;
}

/* The variant for the value of `type`; -1: the table has none. */
static bool read_variant(const struct cfg_reader *reader, const struct cfg_table *table,
                         const struct cfg_node *map, int *variant)
{
    *variant = -1;
    if (table->variant_count == 0)
        return true;
    const struct cfg_key *key = cfg_table_find(table, 0, "type");
    const struct cfg_node *node = cfg_node_find(map, "type");
    RT_CHECK(key != NULL);
    if (node == NULL && key->required)
        return missing(reader, table, key, map);
    return node == NULL ? read_fallback(reader, key, variant)
                        : read_value(reader, key, node, variant);
}

/* `overrun: stop` for `overrun: {policy: stop}`. */
static const struct cfg_node *expand_shorthand(const struct cfg_reader *reader,
                                               const struct cfg_table *table,
                                               const struct cfg_node *node)
{
    if (node->kind != CFG_NODE_SCALAR || table->shorthand == NULL || node->empty)
        return node;
    struct cfg_node *map = cfg_load_arena_take(reader->pool, sizeof *map);
    struct cfg_node *value = cfg_load_arena_take(reader->pool, sizeof *value);
    *value = *node;
    value->key = table->shorthand;
    *map = *node;
    map->kind = CFG_NODE_MAP;
    map->count = 0;
    map->first = map->last = NULL;
    cfg_node_append(map, value);
    return map;
}

static bool no_map(const struct cfg_reader *reader, const struct cfg_table *table,
                   const struct cfg_node *node)
{
    struct cfg_phrase names = {0};
    for (int i = 0; i < table->key_count && i < 3; i++)
        cfg_phrase_add(&names, "%s: .., ", table->keys[i].name);
    return cfg_fail_at(reader->report, node, NULL, "%s wants keys, {%s..}; here is %s", table->what,
                       names.text, cfg_node_kind_name(node));
}

static bool read_map(const struct cfg_reader *reader, const struct cfg_table *table,
                     const struct cfg_node *node, void *out)
{
    int variant = -1;
    const struct cfg_node *map = node;
    if (node != NULL) {
        map = expand_shorthand(reader, table, node);
        if (map->kind != CFG_NODE_MAP)
            return no_map(reader, table, map);
        if (!read_variant(reader, table, map, &variant) ||
            !check_known(reader, table, variant, map))
            return false;
    }
    *(const struct cfg_node **)out = map;
    const struct cfg_table *named = variant < 0 ? table : &table->variants[variant];
    return read_keys(reader, named, table, map, out) &&
           (variant < 0 || read_keys(reader, named, named, map, out));
}

bool cfg_schema_read(const struct cfg_table *table, const struct cfg_node *node, void *out,
                     struct cfg_load_arena *pool, struct cfg_complaint *report)
{
    const struct cfg_reader reader = {.pool = pool, .report = report};
    return read_map(&reader, table, node, out);
}
