#include "config/import/nastran_card.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
    NAME_COLUMNS = 8,
    DATA_COLUMNS = 64, /* of a line with columns, behind its name */
    LABEL_COLUMN = NAME_COLUMNS + DATA_COLUMNS,
    LINE_FIELDS = 8, /* of a line; of a line with a star half as many, twice as wide */
};

/* A piece of a line: columns from `from` to before `to`. */
struct piece {
    int from, to;
};

/* The state while a card is assembled. */
struct builder {
    struct cfg_card *card;
    struct cfg_complaint *report;
    int next;                      /* field */
    char label[CFG_FIELD_MAX + 1]; /* label that the last line has for its continuation */
};

static struct piece trim(const struct cfg_line *line, int from, int to)
{
    struct piece piece = {from < line->size ? from : line->size, to < line->size ? to : line->size};
    while (piece.from < piece.to && line->text[piece.from] == ' ')
        piece.from++;
    while (piece.to > piece.from && line->text[piece.to - 1] == ' ')
        piece.to--;
    return piece;
}

static bool is_free(const struct cfg_line *line)
{
    return strchr(line->text, ',') != NULL;
}

/* The piece between commas that begins at a column. */
static struct piece comma_piece(const struct cfg_line *line, int from)
{
    int to = from;
    while (to < line->size && line->text[to] != ',')
        to++;
    return (struct piece){from, to};
}

/* The column behind the comma that ends a piece, or the end of the line. */
static int behind(const struct cfg_line *line, struct piece piece)
{
    return piece.to < line->size ? piece.to + 1 : line->size;
}

static struct piece name_piece(const struct cfg_line *line)
{
    const int to = is_free(line) ? comma_piece(line, 0).to : NAME_COLUMNS;
    return trim(line, 0, to);
}

static bool is_continuation(const struct cfg_line *line)
{
    const struct piece name = name_piece(line);
    return name.from == name.to || line->text[name.from] == '+' || line->text[name.from] == '*';
}

/* ---- lines ---- */

/* True when there is an unused line that is not only a comment. */
static bool peek(struct cfg_deck *deck)
{
    while (!deck->has_line) {
        struct cfg_line *line = &deck->line;
        if (!cfg_columns_next(&deck->columns, line))
            return false;
        line->size = (int)strcspn(line->text, "$");
        line->text[line->size] = '\0';
        const struct piece all = trim(line, 0, line->size);
        deck->has_line = all.from < all.to;
    }
    return true;
}

/* True when the line begins with these two words. */
static bool begins(const struct cfg_line *line, const char *first, const char *second)
{
    const struct piece all = trim(line, 0, line->size);
    const char *at = line->text + all.from;
    if (strncasecmp(at, first, strlen(first)) != 0)
        return false;
    at += strlen(first);
    const size_t gap = strspn(at, " ,");
    return gap > 0 && strncasecmp(at + gap, second, strlen(second)) == 0;
}

void cfg_deck_open(struct cfg_deck *deck, const char *text, size_t size, const char *const *names,
                   struct cfg_complaint *report)
{
    const struct cfg_columns start = {text, text + size, 0};
    *deck = (struct cfg_deck){.columns = start, .names = names, .report = report};
    while (peek(deck)) {
        deck->has_line = false;
        if (begins(&deck->line, "BEGIN", "BULK"))
            return;
    }
    deck->columns = start;
}

/* ---- fields ---- */

static bool store(const struct builder *builder, const struct cfg_line *line, struct piece piece,
                  char out[CFG_FIELD_MAX + 1])
{
    const struct piece inner = trim(line, piece.from, piece.to);
    const size_t size = (size_t)(inner.to - inner.from);
    if (size > CFG_FIELD_MAX)
        return cfg_fail(builder->report, NULL, (struct cfg_mark){line->number, inner.from + 1},
                        "a field of %s is longer than %d characters; shorten it",
                        builder->card->name, CFG_FIELD_MAX);
    memcpy(out, line->text + inner.from, size);
    out[size] = '\0';
    return true;
}

static bool add_field(struct builder *builder, const struct cfg_line *line, struct piece piece)
{
    const struct piece inner = trim(line, piece.from, piece.to);
    const int at = builder->next++;
    if (inner.from == inner.to)
        return true;
    if (at >= CFG_CARD_FIELDS_MAX)
        return cfg_fail(builder->report, NULL, (struct cfg_mark){line->number, inner.from + 1},
                        "%s has no more than %d fields; remove the rest", builder->card->name,
                        CFG_CARD_FIELDS_MAX);
    struct cfg_field *field = &builder->card->field[at];
    field->mark = (struct cfg_mark){line->number, inner.from + 1};
    return store(builder, line, piece, field->text);
}

static bool add_free(struct builder *builder, const struct cfg_line *line, int count)
{
    struct piece piece = comma_piece(line, 0);
    for (int k = 0; k < count; k++) {
        piece = comma_piece(line, behind(line, piece));
        if (!add_field(builder, line, piece))
            return false;
    }
    piece = comma_piece(line, behind(line, piece));
    const struct piece rest = trim(line, behind(line, piece), line->size);
    if (rest.from < rest.to || line->cut)
        return cfg_fail(
            builder->report, NULL, (struct cfg_mark){line->number, rest.from + 1},
            "more than %d fields in a line of %s; go on in a line below that begins with %s", count,
            builder->card->name, count < LINE_FIELDS ? "*," : ",");
    return store(builder, line, piece, builder->label);
}

static bool add_fixed(struct builder *builder, const struct cfg_line *line, int count)
{
    const int width = DATA_COLUMNS / count;
    for (int k = 0; k < count; k++) {
        const int from = NAME_COLUMNS + k * width;
        if (!add_field(builder, line, (struct piece){from, from + width}))
            return false;
    }
    return store(builder, line, (struct piece){LABEL_COLUMN, LABEL_COLUMN + NAME_COLUMNS},
                 builder->label);
}

static bool add_line(struct builder *builder, const struct cfg_line *line, bool is_wide)
{
    const int count = is_wide ? LINE_FIELDS / 2 : LINE_FIELDS;
    builder->next =
        (builder->next + count - 1) / count * count; /* a single wide line has half the fields */
    return (is_free(line) ? add_free : add_fixed)(builder, line, count);
}

/* A label is the common text of field 10 of a line and field 1 of the next; where either is blank,
 * the order of the lines decides. */
static bool check_label(const struct builder *builder, const struct cfg_line *line)
{
    char own[CFG_FIELD_MAX + 1];
    const struct piece name = name_piece(line);
    if (!store(builder, line, name, own))
        return false;
    const char *asked = builder->label + strspn(builder->label, "+*");
    const char *is = own + strspn(own, "+*");
    return *asked == '\0' || *is == '\0' || strcasecmp(asked, is) == 0 ||
           cfg_fail(builder->report, NULL, (struct cfg_mark){line->number, name.from + 1},
                    "this goes on with another card: %s asks for %s, here is %s; put each "
                    "continuation behind its card",
                    builder->card->name, cfg_quote(builder->label).text, cfg_quote(own).text);
}

/* ---- cards ---- */

/* Name in upper case and without the star that makes fields wide. */
static bool read_name(const struct cfg_line *line, struct cfg_card *card)
{
    struct piece name = name_piece(line);
    const bool is_wide = line->text[name.to - 1] == '*';
    name = trim(line, name.from, name.to - is_wide);
    const int size =
        name.to - name.from < CFG_CARD_NAME_MAX ? name.to - name.from : CFG_CARD_NAME_MAX;
    *card = (struct cfg_card){.mark = {line->number, name.from + 1}};
    for (int k = 0; k < size; k++)
        card->name[k] = (char)toupper((unsigned char)line->text[name.from + k]);
    for (int k = 0; k < CFG_CARD_FIELDS_MAX; k++)
        card->field[k].mark = card->mark;
    return is_wide;
}

static bool is_wanted(const struct cfg_deck *deck, const char *name)
{
    const char *const *wanted = deck->names;
    while (*wanted != NULL && strcmp(*wanted, name) != 0)
        wanted++;
    return *wanted != NULL;
}

/* A statement that changes other cards cannot be ignored. */
static bool check_control(const struct cfg_deck *deck, const struct cfg_card *card)
{
    if (strncmp(card->name, "INCLUDE", 7) == 0)
        return cfg_fail(deck->report, NULL, card->mark,
                        "INCLUDE is not followed; put the lines of that file here");
    if (strncmp(card->name, "BEGIN", 5) == 0)
        return cfg_fail(deck->report, NULL, card->mark,
                        "a second BEGIN: superelements are not read; give one model a file");
    if (card->name[0] == '=')
        return cfg_fail(deck->report, NULL, card->mark,
                        "cards that repeat others (=) are not read; write them out");
    return true;
}

static bool build(struct cfg_deck *deck, struct cfg_card *card, bool is_wide)
{
    struct builder builder = {.card = card, .report = deck->report};
    if (!add_line(&builder, &deck->line, is_wide))
        return false;
    deck->has_line = false;
    while (peek(deck) && is_continuation(&deck->line)) {
        const struct cfg_line *line = &deck->line;
        const struct piece name = name_piece(line);
        if (!check_label(&builder, line) ||
            !add_line(&builder, line, name.from < name.to && line->text[name.from] == '*'))
            return false;
        deck->has_line = false;
    }
    return true;
}

bool cfg_deck_next(struct cfg_deck *deck, struct cfg_card *card)
{
    while (peek(deck)) {
        if (!is_continuation(&deck->line)) {
            const bool is_wide = read_name(&deck->line, card);
            if (strcmp(card->name, "ENDDATA") == 0 || !check_control(deck, card))
                return false;
            if (is_wanted(deck, card->name))
                return build(deck, card, is_wide);
        }
        deck->has_line = false;
    }
    return false;
}

/* ---- values ---- */

bool cfg_card_has(const struct cfg_card *card, int field)
{
    return card->field[field].text[0] != '\0';
}

bool cfg_card_real(const struct cfg_card *card, int field, const char *name, double *real,
                   struct cfg_complaint *report)
{
    const struct cfg_field *from = &card->field[field];
    *real = 0.0;
    return from->text[0] == '\0' || cfg_columns_real(from->text, real) ||
           cfg_fail(report, NULL, from->mark, "%s of %s wants a number; here is %s", name,
                    card->name, cfg_quote(from->text).text);
}

bool cfg_card_whole(const struct cfg_card *card, int field, const char *name, int least, int *whole,
                    struct cfg_complaint *report)
{
    const struct cfg_field *from = &card->field[field];
    if (from->text[0] == '\0')
        return cfg_fail(report, NULL, from->mark, "%s has no %s; add it", card->name, name);
    return (cfg_columns_whole(from->text, whole) && *whole >= least) ||
           cfg_fail(report, NULL, from->mark,
                    "%s of %s wants a whole number, %d or more; here is %s", name, card->name,
                    least, cfg_quote(from->text).text);
}
