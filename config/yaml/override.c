#include "config/yaml/override.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml/suggest.h"
#include "config/yaml/value.h"

/* A node on the path. */
struct place {
    struct cfg_node *node;
    const struct cfg_table *table; /* of the mapping, or of the entries of the list; NULL: none */
    const char *name;              /* its name in messages */
};

struct override {
    const char *text;
    struct cfg_load_arena *pool;
    struct cfg_complaint *report;
};

static bool fail_override(const struct override *override, const char *what, const char *name,
                          const char *advice)
{
    return cfg_fail(override->report, override->text, (struct cfg_mark){0, 0}, "%s %s; %s", what,
                    cfg_quote(name).text, advice);
}

/* The next part of a dotted path, or NULL at its end. */
static char *next_word(char **path)
{
    char *word = *path;
    if (word == NULL)
        return NULL;
    char *dot = strchr(word, '.');
    if (dot != NULL)
        *dot = '\0';
    *path = dot != NULL ? dot + 1 : NULL;
    return word;
}

/* Replace node by value, with the same position among its siblings. */
static void replace(struct cfg_node *node, const struct cfg_node *value)
{
    struct cfg_node kept = *node;
    *node = *value;
    node->key = kept.key;
    node->key_mark = kept.key_mark;
    node->mark = kept.mark;
    node->next = kept.next;
}

static struct cfg_node *add_child(const struct override *override, struct cfg_node *map,
                                  const char *key)
{
    struct cfg_node *child = cfg_load_arena_take(override->pool, sizeof *child);
    child->kind = CFG_NODE_MAP;
    child->origin = override->text;
    child->key = key;
    child->mark = child->key_mark = map->mark;
    cfg_node_append(map, child);
    return child;
}

/* `overrun: stop` becomes `overrun: {policy: stop}`, so that a sibling can be set. */
static void spell_out(const struct override *override, struct cfg_node *node,
                      const struct cfg_table *table)
{
    if (node->kind != CFG_NODE_SCALAR || node->empty || table == NULL || table->shorthand == NULL)
        return;
    struct cfg_node map = {.kind = CFG_NODE_MAP, .origin = node->origin};
    struct cfg_node *value = cfg_load_arena_take(override->pool, sizeof *value);
    *value = *node;
    value->key = table->shorthand;
    cfg_node_append(&map, value);
    replace(node, &map);
}

static bool has_inside(const struct cfg_key *key)
{
    return key->type != CFG_NAME && key->type != CFG_TEXT && key->type != CFG_INTEGER &&
           key->type != CFG_QUANTITY && key->type != CFG_CHOICE;
}

/* Go from a mapping to the value of a key, which is created when the file leaves it out. */
static bool enter_key(const struct override *override, struct place *place, char *word, bool last)
{
    const struct cfg_key *key = cfg_table_find(place->table, -1, word);
    if (key == NULL) {
        struct cfg_phrase advice = {0};
        cfg_table_advise(place->table, -1, word, &advice);
        return fail_override(override, "there is no key", word, advice.text);
    }
    if (!last && !has_inside(key))
        return fail_override(override, "there is nothing inside", word, "end the path there");

    struct cfg_node *child = cfg_node_find(place->node, word);
    if (child == NULL && !last && key->type != CFG_MAP && key->type != CFG_ATTITUDE)
        return fail_override(override, "the file does not give", word, "set it as a whole");
    if (child == NULL)
        child = add_child(override, place->node, word);
    const struct cfg_table *table = key->type == CFG_ATTITUDE ? &cfg_euler_table : key->table;
    if (!last)
        spell_out(override, child, table);
    *place = (struct place){.node = child, .table = table, .name = word};
    return true;
}

static struct cfg_node *entry_at(const struct cfg_node *list, const char *word)
{
    char *end;
    const long index = isdigit((unsigned char)word[0]) ? strtol(word, &end, 10) : -1;
    if (index < 0 || *end != '\0')
        return cfg_node_named(list, word);
    struct cfg_node *item = list->first;
    for (long i = 0; item != NULL && i < index; i++)
        item = item->next;
    return item;
}

static bool no_entry(const struct override *override, const struct place *place, const char *word)
{
    struct cfg_suggestion suggestion = cfg_suggest_begin(word);
    struct cfg_phrase advice = {0};
    for (const struct cfg_node *item = place->node->first; item != NULL; item = item->next) {
        const struct cfg_node *name = cfg_node_find(item, "name");
        if (name != NULL && name->kind == CFG_NODE_SCALAR)
            cfg_suggest_offer(&suggestion, name->text);
    }
    if (suggestion.best != NULL)
        cfg_phrase_add(&advice, "did you mean \"%s\"?", suggestion.best);
    else
        cfg_phrase_add(&advice, "give the name or number of one of its %d entries",
                       place->node->count);
    return cfg_fail(override->report, override->text, (struct cfg_mark){0, 0},
                    "%s has no entry %s; %s", place->name, cfg_quote(word).text, advice.text);
}

static bool enter_entry(const struct override *override, struct place *place, const char *word)
{
    struct cfg_node *item = entry_at(place->node, word);
    if (item == NULL)
        return no_entry(override, place, word);
    *place = (struct place){.node = item, .table = place->table, .name = word};
    return true;
}

static bool enter_child(const struct override *override, struct place *place, char *word, bool last)
{
    if (place->node->kind == CFG_NODE_MAP && place->table != NULL)
        return enter_key(override, place, word, last);
    if (place->node->kind == CFG_NODE_LIST)
        return enter_entry(override, place, word);
    return fail_override(override, "in the file there is nothing inside", place->name,
                         "set it as a whole");
}

bool cfg_override_apply(const struct cfg_table *table, struct cfg_node *root, const char *text,
                        struct cfg_load_arena *pool, struct cfg_complaint *report)
{
    const struct override override = {.text = text, .pool = pool, .report = report};
    const char *sign = strchr(text, '=');
    if (sign == NULL || sign == text)
        return cfg_fail(report, text, (struct cfg_mark){0, 0},
                        "an override is key=value, e.g. --set rate=\"500 Hz\"");
    struct cfg_node *value = cfg_document_parse(pool, sign + 1, strlen(sign + 1), text, report);
    if (value == NULL)
        return false;

    char *path = cfg_load_arena_copy(pool, text, (size_t)(sign - text));
    struct place place = {.node = root, .table = table, .name = "a scenario"};
    for (char *word = next_word(&path); word != NULL; word = next_word(&path))
        if (!enter_child(&override, &place, word, path == NULL))
            return false;
    replace(place.node, value);
    return true;
}
