/*
 * Rows of numbers of a scenario: vectors, attitudes, matrices.
 *
 * Tested by tests/config/yaml/test_mistakes_values.c.
 */
#include "config/yaml/value.h"

#include <math.h>
#include <string.h>

#include "config/yaml/schema.h"
#include "config/yaml/unit.h"

enum { VECTOR_MAX = 6 };

/* Numbers that are being read, and their largest count. */
struct row {
    int room, count;
    double *items;
};

static bool wrong_count(const struct cfg_reader *reader, const struct cfg_key *key,
                        const struct cfg_node *node, int count)
{
    struct cfg_phrase want = {0};
    cfg_describe(key, &want);
    return cfg_fail_at(reader->report, node, NULL, "%s wants %s; here %s %d", key->name, want.text,
                       count == 1 ? "is" : "are", count);
}

/* True when a number may begin here: 1.2.3 and 1-2 are errors, not two numbers. */
static bool is_apart(const char *text, const char *at)
{
    return at == text || at[-1] == ' ' || at[-1] == '\t';
}

/* `1 2 3 deg/s`: numbers, then one unit for all. */
static bool read_line(const struct cfg_reader *reader, const struct cfg_key *key,
                      const struct cfg_node *node, struct row *row)
{
    const char *rest = node->text, *next;
    double number;
    while (is_apart(node->text, rest) && (next = cfg_number_parse(rest, &number)) != NULL) {
        if (row->count == row->room)
            return wrong_count(reader, key, node, row->room + 1);
        row->items[row->count++] = number;
        rest = next;
    }
    if (row->count == 0)
        return cfg_fail_wants(reader, key, node);
    struct cfg_phrase problem = {0};
    for (int i = 0; i < row->count; i++)
        if (!cfg_accept_quantity(key, rest, &row->items[i], &problem))
            return cfg_fail_at(reader->report, node, NULL, "%s", problem.text);
    return true;
}

/* [1 deg, 2] is refused, because the 2 would be in radians. */
static bool check_one_unit(const struct cfg_reader *reader, const struct cfg_key *key,
                           const struct cfg_node *list)
{
    const struct cfg_node *bare = NULL;
    bool some = false;
    double number;
    for (const struct cfg_node *item = list->first; item != NULL; item = item->next) {
        const char *unit = cfg_number_parse(item->text, &number);
        if (*unit != '\0')
            some = true;
        else if (number != 0.0)
            bare = item;
    }
    if (!some || bare == NULL)
        return true;
    return cfg_fail_at(reader->report, bare, NULL,
                       "%s has numbers with and without a unit; give each its own, or one behind "
                       "the last: 1 2 3 %s",
                       key->name, key->unit != NULL ? key->unit : "%");
}

static bool read_items(const struct cfg_reader *reader, const struct cfg_key *key,
                       const struct cfg_node *list, struct row *row)
{
    double *out = row->items;
    row->count = list->count;
    if (list->count > row->room || list->count == 0)
        return wrong_count(reader, key, list, list->count);
    for (const struct cfg_node *item = list->first; item != NULL; item = item->next) {
        struct cfg_phrase problem = {0};
        if (item->kind != CFG_NODE_SCALAR || item->empty)
            return cfg_fail_wants(reader, key, item);
        if (!cfg_quantity_parse(key, item->text, out++, &problem))
            return cfg_fail_at(reader->report, item, NULL, "%s", problem.text);
    }
    return check_one_unit(reader, key, list);
}

static bool read_numbers(const struct cfg_reader *reader, const struct cfg_key *key,
                         const struct cfg_node *node, struct row *row)
{
    if (node->kind == CFG_NODE_SCALAR)
        return node->empty ? cfg_fail_wants(reader, key, node) : read_line(reader, key, node, row);
    if (node->kind == CFG_NODE_LIST)
        return read_items(reader, key, node, row);
    return cfg_fail_wants(reader, key, node);
}

static bool read_vector(const struct cfg_reader *reader, const struct cfg_key *key,
                        const struct cfg_node *node, double *out)
{
    double numbers[VECTOR_MAX] = {0};
    struct row row = {.room = VECTOR_MAX, .items = numbers};
    if (!read_numbers(reader, key, node, &row))
        return false;
    const bool diagonal = key->size == 6 && row.count == 3;
    if (row.count != key->size && !diagonal)
        return wrong_count(reader, key, node, row.count);
    memcpy(out, numbers, (size_t)key->size * sizeof *out);
    return true;
}

/* ---- as many as there are ---- */

/* A row of unknown length; the length of the text limits it. */
static bool read_open_row(const struct cfg_reader *reader, const struct cfg_key *key,
                          const struct cfg_node *node, struct row *row)
{
    const size_t room = node->kind == CFG_NODE_SCALAR && node->text != NULL
                            ? strlen(node->text) / 2 + 1
                            : (size_t)node->count;
    *row = (struct row){.room = (int)room,
                        .items = cfg_load_arena_take(reader->pool, room * sizeof(double))};
    return read_numbers(reader, key, node, row);
}

static bool read_open(const struct cfg_reader *reader, const struct cfg_key *key,
                      const struct cfg_node *node, struct cfg_numbers *out)
{
    struct row row;
    if (!read_open_row(reader, key, node, &row))
        return false;
    *out = (struct cfg_numbers){node, row.count, row.items};
    return key->size == 0 || row.count <= key->size ||
           cfg_fail_at(reader->report, node, NULL, "%s has %d numbers; it can have %d", key->name,
                       row.count, key->size);
}

const struct cfg_node *cfg_rows_node(const struct cfg_rows *rows, int i)
{
    if (rows->node->kind != CFG_NODE_LIST)
        return rows->node;
    const struct cfg_node *row = rows->node->first;
    while (i-- > 0)
        row = row->next;
    return row;
}

/* One row; where the key has no length, that of the first row is used. */
static bool read_one(const struct cfg_reader *reader, const struct cfg_key *key,
                     const struct cfg_node *node, int rows, struct cfg_rows *out)
{
    struct row row;
    if (!read_open_row(reader, key, node, &row))
        return false;
    if (out->items == NULL) {
        out->columns = key->size > 0 ? key->size : row.count;
        out->items =
            cfg_load_arena_take(reader->pool, (size_t)rows * (size_t)out->columns * sizeof(double));
    }
    if (row.count != out->columns)
        return cfg_fail_at(reader->report, node, NULL, "a row of %s wants %d number%s; here %s %d",
                           key->name, out->columns, out->columns == 1 ? "" : "s",
                           row.count == 1 ? "is" : "are", row.count);
    memcpy(out->items + (size_t)out->count++ * (size_t)out->columns, row.items,
           (size_t)row.count * sizeof(double));
    return true;
}

static bool read_rows(const struct cfg_reader *reader, const struct cfg_key *key,
                      const struct cfg_node *node, struct cfg_rows *out)
{
    *out = (struct cfg_rows){.node = node};
    if (node->kind == CFG_NODE_SCALAR)
        return read_one(reader, key, node, 1, out);
    if (node->kind != CFG_NODE_LIST)
        return cfg_fail_wants(reader, key, node);
    if (node->count == 0)
        return cfg_fail_at(reader->report, node, NULL, "%s is empty; give at least one row",
                           key->name);
    for (const struct cfg_node *row = node->first; row != NULL; row = row->next)
        if (!read_one(reader, key, row, node->count, out))
            return false;
    return true;
}

/* ---- directions ---- */

static double norm(const double *vector, int size)
{
    double sum = 0.0;
    for (int i = 0; i < size; i++)
        sum += vector[i] * vector[i];
    return sqrt(sum);
}

static bool read_axis(const struct cfg_reader *reader, const struct cfg_key *key,
                      const struct cfg_node *node, double out[3])
{
    const struct cfg_key plain = {
        .name = key->name, .type = CFG_VECTOR, .size = 3, .example = key->example};
    if (!read_vector(reader, &plain, node, out))
        return false;
    const double length = norm(out, 3);
    if (!(length > 1e-6) || !isfinite(length))
        return cfg_fail_at(reader->report, node, NULL,
                           "%s has no direction; write e.g. 0 1 0 for the y axis", key->name);
    for (int i = 0; i < 3; i++)
        out[i] /= length;
    return true;
}

/* ---- attitude ---- */

struct euler {
    const struct cfg_node *node;
    double roll, pitch, yaw;
};

#define EULER_KEY(member, text)                                                                    \
    {                                                                                              \
        .name = #member, .type = CFG_QUANTITY, .offset = offsetof(struct euler, member),           \
        .unit = "rad", .fallback = "0", .example = "20 deg", .help = text                          \
    }
static const struct cfg_key euler_keys[] = {
    EULER_KEY(roll, "last turn, about the turned x axis"),
    EULER_KEY(pitch, "second turn, about the turned y axis"),
    EULER_KEY(yaw, "first turn, about z"),
};
const struct cfg_table cfg_euler_table = {
    .what = "an attitude", .size = sizeof(struct euler), .key_count = 3, .keys = euler_keys};

/* Rotations about z, then y, then x: q = qz qy qx. */
static void quaternion_of(const struct euler *euler, double q[4])
{
    const double cx = cos(euler->roll / 2), sx = sin(euler->roll / 2);
    const double cy = cos(euler->pitch / 2), sy = sin(euler->pitch / 2);
    const double cz = cos(euler->yaw / 2), sz = sin(euler->yaw / 2);
    q[0] = cz * cy * cx + sz * sy * sx;
    q[1] = cz * cy * sx - sz * sy * cx;
    q[2] = cz * sy * cx + sz * cy * sx;
    q[3] = sz * cy * cx - cz * sy * sx;
}

static bool read_quaternion(const struct cfg_reader *reader, const struct cfg_key *key,
                            const struct cfg_node *node, double out[4])
{
    const struct cfg_key plain = {
        .name = key->name, .type = CFG_ATTITUDE, .size = 4, .example = key->example};
    double numbers[VECTOR_MAX] = {0};
    struct row row = {.room = VECTOR_MAX, .items = numbers};
    if (!read_numbers(reader, &plain, node, &row))
        return false;
    if (row.count != 4)
        return wrong_count(reader, &plain, node, row.count);
    const double length = norm(numbers, 4);
    if (!(fabs(length - 1.0) <= 1e-3)) /* leaves room for 0.7071 */
        return cfg_fail_at(
            reader->report, node, NULL,
            "%s is not a unit quaternion (w x y z): its length is %.6g; divide by it, or "
            "write {roll: 20 deg, pitch: 0, yaw: 0}",
            key->name, length);
    for (int i = 0; i < 4; i++)
        out[i] = numbers[i] / length;
    return true;
}

static bool read_attitude(const struct cfg_reader *reader, const struct cfg_key *key,
                          const struct cfg_node *node, double out[4])
{
    if (node->kind != CFG_NODE_MAP)
        return read_quaternion(reader, key, node, out);
    struct euler euler = {0};
    if (!cfg_schema_read(&cfg_euler_table, node, &euler, reader->pool, reader->report))
        return false;
    quaternion_of(&euler, out);
    return true;
}

bool cfg_read_row(const struct cfg_reader *reader, const struct cfg_key *key,
                  const struct cfg_node *node, void *out)
{
    switch (key->type) {
    case CFG_NUMBERS:
        return read_open(reader, key, node, out);
    case CFG_ROWS:
        return read_rows(reader, key, node, out);
    case CFG_AXIS:
        return read_axis(reader, key, node, out);
    case CFG_ATTITUDE:
        return read_attitude(reader, key, node, out);
    default:
        return read_vector(reader, key, node, out);
    }
}
