#include "config/import/nastran_punch.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/import/nastran_columns.h"

enum { DATA_COLUMNS = 72, TOKENS_MAX = 6, TOKEN_MAX = 31 };

/* Words of a line, separated by blanks; words that are longer than any number are cut. */
struct tokens {
    int count; /* of the line, kept are at most TOKENS_MAX */
    struct cfg_mark mark[TOKENS_MAX];
    char text[TOKENS_MAX][TOKEN_MAX + 1];
};

static bool next_line(struct cfg_columns *columns, struct cfg_line *line)
{
    if (!cfg_columns_next(columns, line))
        return false;
    line->size = line->size < DATA_COLUMNS ? line->size : DATA_COLUMNS;
    line->text[line->size] = '\0';
    return true;
}

static struct tokens split_line(const struct cfg_line *line)
{
    struct tokens tokens = {0};
    const char *at = line->text + strspn(line->text, " ");
    while (*at != '\0') {
        const size_t size = strcspn(at, " ");
        if (tokens.count < TOKENS_MAX) {
            tokens.mark[tokens.count] = (struct cfg_mark){line->number, (int)(at - line->text) + 1};
            memcpy(tokens.text[tokens.count], at, size < TOKEN_MAX ? size : TOKEN_MAX);
        }
        tokens.count++;
        at += size;
        at += strspn(at, " ");
    }
    return tokens;
}

static bool is_grid_row(const struct tokens *tokens)
{
    return tokens->count >= 2 && strcasecmp(tokens->text[1], "G") == 0;
}

/* ---- headers ---- */

/* The values of the `$` lines above some rows. */
struct header {
    bool is_open;   /* more `$` lines may follow */
    bool is_vector; /* an eigenvector, so the rows are wanted */
    bool has_value;
    bool has_number;
    double eigenvalue;
    int number;
    struct cfg_mark mark;
};

/* The value after `keyword =` at the beginning of text, or NULL. */
static const char *find_value(const char *text, const char *keyword)
{
    const size_t size = strlen(keyword);
    if (text == NULL || strncasecmp(text, keyword, size) != 0)
        return NULL;
    const char *at = text + size + strspn(text + size, " ");
    return *at == '=' ? at + 1 + strspn(at + 1, " ") : NULL;
}

static void copy_word(char out[TOKEN_MAX + 1], const char *at)
{
    const size_t size = strcspn(at, " ");
    memset(out, 0, TOKEN_MAX + 1);
    memcpy(out, at, size < TOKEN_MAX ? size : TOKEN_MAX);
}

static bool read_value(struct header *header, const struct cfg_line *line, const char *at,
                       struct cfg_complaint *report)
{
    char word[TOKEN_MAX + 1];
    copy_word(word, at);
    header->has_value = true;
    header->mark = (struct cfg_mark){line->number, 1};
    return cfg_columns_real(word, &header->eigenvalue) ||
           cfg_fail(report, NULL, (struct cfg_mark){line->number, (int)(at - line->text) + 1},
                    "EIGENVALUE wants a number; here is %s", cfg_quote(word).text);
}

static bool read_number(struct header *header, const struct cfg_line *line, const char *at,
                        struct cfg_complaint *report)
{
    char word[TOKEN_MAX + 1];
    copy_word(word, at);
    header->has_number = true;
    return (cfg_columns_whole(word, &header->number) && header->number > 0) ||
           cfg_fail(report, NULL, (struct cfg_mark){line->number, (int)(at - line->text) + 1},
                    "MODE wants a whole number, 1 or more; here is %s", cfg_quote(word).text);
}

static bool is_kind(const char *text, const char *kind)
{
    const char *at = text + 1 + strspn(text + 1, " ");
    const size_t size = strlen(kind);
    return strncasecmp(at, kind, size) == 0 && at[size + strspn(at + size, " ")] == '\0';
}

/* The kind of result is the only line without a value. */
static bool read_kind(struct header *header, const struct cfg_line *line,
                      struct cfg_complaint *report)
{
    const struct cfg_mark mark = {line->number, 1};
    if (strcasestr(line->text, " OUTPUT") == NULL) {
        header->is_vector =
            is_kind(line->text, "EIGENVECTOR") || is_kind(line->text, "EIGENVECTORS");
        return true;
    }
    return !header->is_vector || is_kind(line->text, "REAL OUTPUT") ||
           cfg_fail(report, NULL, mark, "only real modes are read; take those of SOL 103");
}

static bool read_header(struct header *header, const struct cfg_line *line,
                        struct cfg_complaint *report)
{
    if (!header->is_open)
        *header = (struct header){.is_open = true};
    const char *value = find_value(line->text, "$EIGENVALUE");
    const char *number = value != NULL ? find_value(strcasestr(value, "MODE"), "MODE")
                                       : find_value(line->text, "$MODE");
    if (strchr(line->text, '=') == NULL)
        return read_kind(header, line, report);
    if (header->is_vector && find_value(line->text, "$POINT ID") != NULL)
        return cfg_fail(report, NULL, (struct cfg_mark){line->number, 1},
                        "modes are read mode by mode, not point by point; ask for SORT1");
    return (value == NULL || read_value(header, line, value, report)) &&
           (number == NULL || read_number(header, line, number, report));
}

static bool check_header(const struct header *header, struct cfg_mark row,
                         struct cfg_complaint *report)
{
    if (!header->has_value)
        return cfg_fail(report, NULL, row,
                        "no $EIGENVALUE stands above this eigenvector; punch the modes of SOL 103");
    return header->has_number || cfg_fail(report, NULL, header->mark,
                                          "this mode has no number; add MODE = n to the line");
}

/* ---- modes ---- */

static int compare_modes(const void *a, const void *b)
{
    const struct cfg_punch_mode *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

struct scan {
    struct cfg_punch_mode *modes; /* NULL: the rows are only counted */
    int mode_count;
    struct cfg_complaint *report;
};

static bool open_mode(struct scan *scan, const struct header *header, struct cfg_mark row,
                      const char *text)
{
    if (!check_header(header, row, scan->report))
        return false;
    if (scan->mode_count == CFG_PUNCH_MODES_MAX)
        return cfg_fail(scan->report, NULL, header->mark, "more than %d modes; punch fewer",
                        CFG_PUNCH_MODES_MAX);
    if (scan->modes != NULL)
        scan->modes[scan->mode_count] = (struct cfg_punch_mode){
            .number = header->number,
            .mark = header->mark,
            .eigenvalue = header->eigenvalue,
            .start = row,
            .text = text,
        };
    scan->mode_count++;
    return true;
}

static bool count_row(const struct scan *scan, struct cfg_mark row)
{
    if (scan->modes == NULL)
        return true;
    struct cfg_punch_mode *mode = &scan->modes[scan->mode_count - 1];
    return ++mode->row_count <= CFG_PUNCH_ROWS_MAX ||
           cfg_fail(scan->report, NULL, row, "more than %d grids in a mode; take a smaller model",
                    CFG_PUNCH_ROWS_MAX);
}

static bool scan_text(struct scan *scan, const char *text, const char *end)
{
    struct cfg_columns columns = {text, end, 0};
    struct cfg_line line;
    struct header header = {0};
    for (const char *at = text; next_line(&columns, &line); at = columns.at) {
        const struct tokens tokens = split_line(&line);
        const struct cfg_mark mark = {line.number, 1};
        if (line.text[0] == '$') {
            if (!read_header(&header, &line, scan->report))
                return false;
        } else if (tokens.count > 0 && header.is_vector) {
            if (header.is_open && !open_mode(scan, &header, mark, at))
                return false;
            header.is_open = false;
            if (is_grid_row(&tokens) && !count_row(scan, mark))
                return false;
        } else if (tokens.count > 0) {
            header.is_open = false;
        }
    }
    return true;
}

static bool sort_modes(struct cfg_punch *punch, struct cfg_complaint *report)
{
    qsort(punch->modes, (size_t)punch->mode_count, sizeof *punch->modes, compare_modes);
    for (int i = 1; i < punch->mode_count; i++) {
        const struct cfg_punch_mode *a = &punch->modes[i - 1], *b = &punch->modes[i];
        const bool in_order = a->mark.line < b->mark.line;
        if (a->number == b->number)
            return cfg_fail(report, NULL, in_order ? b->mark : a->mark,
                            "there is already a mode %d in line %d; keep one subcase", a->number,
                            in_order ? a->mark.line : b->mark.line);
    }
    return true;
}

const struct cfg_punch *cfg_punch_scan(struct cfg_load_arena *pool, const char *text, size_t size,
                                       struct cfg_complaint *report)
{
    struct cfg_punch *punch = cfg_load_arena_take(pool, sizeof *punch);
    struct scan scan = {.report = report};
    punch->end = text + size;
    if (!scan_text(&scan, text, punch->end))
        return NULL;
    if (scan.mode_count == 0) {
        cfg_fail(report, NULL, (struct cfg_mark){0, 0},
                 "no eigenvectors in this file; ask NASTRAN for DISPLACEMENT(PUNCH)=ALL");
        return NULL;
    }
    punch->mode_count = scan.mode_count;
    punch->modes = cfg_load_arena_take(pool, (size_t)scan.mode_count * sizeof *punch->modes);
    scan = (struct scan){.modes = punch->modes, .report = report};
    return scan_text(&scan, text, punch->end) && sort_modes(punch, report) ? punch : NULL;
}

int cfg_punch_find(const struct cfg_punch *punch, int number)
{
    const struct cfg_punch_mode key = {.number = number};
    const struct cfg_punch_mode *found =
        bsearch(&key, punch->modes, (size_t)punch->mode_count, sizeof *punch->modes, compare_modes);
    return found != NULL ? (int)(found - punch->modes) : -1;
}

/* ---- rows ---- */

static int compare_rows(const void *a, const void *b)
{
    const struct cfg_punch_row *x = a, *y = b;
    return x->grid != y->grid            ? (x->grid < y->grid ? -1 : 1)
           : x->mark.line < y->mark.line ? -1
                                         : x->mark.line > y->mark.line;
}

/* Three numbers that end a line, from the given word on. */
static bool read_triple(const struct tokens *tokens, int first, double *out,
                        struct cfg_complaint *report)
{
    if (tokens->count != first + 3)
        return cfg_fail(report, NULL, tokens->mark[0],
                        "a row of an eigenvector has three numbers in columns 19 to 72; here %s %d",
                        tokens->count - first == 1 ? "is" : "are", tokens->count - first);
    for (int k = 0; k < 3; k++)
        if (!cfg_columns_real(tokens->text[first + k], &out[k]))
            return cfg_fail(report, NULL, tokens->mark[first + k],
                            "an eigenvector has numbers; here is %s",
                            cfg_quote(tokens->text[first + k]).text);
    return true;
}

static bool read_travel(const struct tokens *tokens, struct cfg_punch_row *row,
                        struct cfg_complaint *report)
{
    row->mark = tokens->mark[0];
    if (!cfg_columns_whole(tokens->text[0], &row->grid) || row->grid < 1)
        return cfg_fail(report, NULL, tokens->mark[0], "a grid has a number; here is %s",
                        cfg_quote(tokens->text[0]).text);
    return read_triple(tokens, 2, row->shape, report);
}

static bool is_continuation(const struct tokens *tokens)
{
    return tokens->count > 0 && strcasecmp(tokens->text[0], "-CONT-") == 0;
}

/* The continuation line of a grid, with its rotation. */
static bool read_turn(struct cfg_columns *columns, struct cfg_punch_row *row,
                      struct cfg_complaint *report)
{
    struct cfg_line line;
    struct tokens tokens = {0};
    if (next_line(columns, &line))
        tokens = split_line(&line);
    if (!is_continuation(&tokens))
        return cfg_fail(report, NULL, row->mark,
                        "grid %d has no -CONT- line below it; is the file complete?", row->grid);
    return read_triple(&tokens, 1, row->shape + 3, report);
}

/* Scalar points and other points, which have another letter after their number, are ignored. */
static bool is_other_row(const struct tokens *tokens)
{
    int id;
    return tokens->count == 0 || is_continuation(tokens) ||
           (tokens->count >= 2 && cfg_columns_whole(tokens->text[0], &id) &&
            strlen(tokens->text[1]) == 1);
}

static bool read_rows(const struct cfg_punch *punch, const struct cfg_punch_mode *mode,
                      struct cfg_punch_row *rows, struct cfg_complaint *report)
{
    struct cfg_columns columns = {mode->text, punch->end, mode->start.line - 1};
    struct cfg_line line;
    int count = 0;
    while (next_line(&columns, &line) && line.text[0] != '$') {
        const struct tokens tokens = split_line(&line);
        if (is_grid_row(&tokens)) {
            if (!read_travel(&tokens, &rows[count], report) ||
                !read_turn(&columns, &rows[count++], report))
                return false;
        } else if (!is_other_row(&tokens)) {
            return cfg_fail(report, NULL, tokens.mark[0],
                            "a row of an eigenvector begins with a grid's number and G, or with "
                            "-CONT-; here is %s",
                            cfg_quote(tokens.text[0]).text);
        }
    }
    return true;
}

bool cfg_punch_read(const struct cfg_punch *punch, const struct cfg_punch_mode *mode,
                    struct cfg_punch_row *rows, struct cfg_complaint *report)
{
    if (!read_rows(punch, mode, rows, report))
        return false;
    qsort(rows, (size_t)mode->row_count, sizeof *rows, compare_rows);
    for (int i = 1; i < mode->row_count; i++)
        if (rows[i].grid == rows[i - 1].grid)
            return cfg_fail(report, NULL, rows[i].mark,
                            "there is already a grid %d in line %d of this mode; remove one",
                            rows[i].grid, rows[i - 1].mark.line);
    return true;
}
