#include "config/import/wmm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/import/nastran_columns.h"

enum { HEAD_WORDS = 3, TERM_WORDS = 6, WORDS_MAX = 7, NINES_MIN = 12 };

static const double EPOCH_MIN = 1900.0, EPOCH_MAX = 2200.0;
static const double LARGEST = 1e6; /* nT, far more than any field of the Earth */

/* The words of a line; the struct holds the text. */
struct words {
    int count; /* of the line, kept are at most WORDS_MAX */
    char *text[WORDS_MAX];
    struct cfg_mark mark[WORDS_MAX];
};

struct reader {
    struct cfg_columns columns;
    struct cfg_complaint report;
    struct cfg_line line;
    struct words words;
    bool seen[DYN_MAGNETIC_FIELD_TERMS_MAX];
};

static void split_words(struct cfg_line *line, struct words *words)
{
    *words = (struct words){0};
    for (char *at = line->text + strspn(line->text, " "); *at != '\0'; at += strspn(at, " ")) {
        if (words->count < WORDS_MAX) {
            words->text[words->count] = at;
            words->mark[words->count] = (struct cfg_mark){line->number, (int)(at - line->text) + 1};
        }
        words->count++;
        at += strcspn(at, " ");
        if (*at != '\0')
            *at++ = '\0';
    }
}

/* The next line that is not blank.  false at the end of the text, and with a complaint. */
static bool next_line(struct reader *reader)
{
    do {
        if (!cfg_columns_next(&reader->columns, &reader->line))
            return false;
        if (reader->line.cut)
            return cfg_fail(&reader->report, NULL, (struct cfg_mark){reader->line.number, 1},
                            "a line of more than %d columns is not of a .COF file", CFG_LINE_MAX);
        split_words(&reader->line, &reader->words);
    } while (reader->words.count == 0);
    return true;
}

static bool is_end(const struct words *words)
{
    const size_t nines = strspn(words->text[0], "9");
    return words->count == 1 && nines >= NINES_MIN && words->text[0][nines] == '\0';
}

static bool read_head(struct reader *reader, struct cfg_wmm *wmm)
{
    const struct words *words = &reader->words;
    struct cfg_complaint *report = &reader->report;
    if (!next_line(reader))
        return cfg_fail(report, NULL, (struct cfg_mark){1, 1},
                        "nothing here; a .COF file begins with epoch, name and date");
    if (words->count != HEAD_WORDS || !cfg_columns_real(words->text[0], &wmm->model.epoch))
        return cfg_fail(report, NULL, words->mark[0],
                        "a .COF file begins with epoch, name and date; here is %s",
                        cfg_quote(words->text[0]).text);
    if (!(wmm->model.epoch >= EPOCH_MIN && wmm->model.epoch <= EPOCH_MAX))
        return cfg_fail(report, NULL, words->mark[0],
                        "the epoch is a year from %g to %g; here is %s", EPOCH_MIN, EPOCH_MAX,
                        cfg_quote(words->text[0]).text);
    if (strlen(words->text[1]) > CFG_WMM_NAME_MAX)
        return cfg_fail(report, NULL, words->mark[1], "a name of at most %d letters; here is %s",
                        CFG_WMM_NAME_MAX, cfg_quote(words->text[1]).text);
    strcpy(wmm->name, words->text[1]);
    return true;
}

static bool read_whole(struct reader *reader, int word, const char *name, int least, int most,
                       int *whole)
{
    const char *text = reader->words.text[word];
    if (cfg_columns_whole(text, whole) && *whole >= least && *whole <= most)
        return true;
    return cfg_fail(&reader->report, NULL, reader->words.mark[word],
                    "%s is a whole number from %d to %d; here is %s", name, least, most,
                    cfg_quote(text).text);
}

static bool read_real(struct reader *reader, int word, double *real)
{
    const char *text = reader->words.text[word];
    if (cfg_columns_real(text, real) && fabs(*real) <= LARGEST)
        return true;
    return cfg_fail(&reader->report, NULL, reader->words.mark[word],
                    "a coefficient is a number of nT up to %g; here is %s", LARGEST,
                    cfg_quote(text).text);
}

static bool read_term(struct reader *reader, struct dyn_magnetic_model *model)
{
    const struct words *words = &reader->words;
    int n, m;
    if (words->count != TERM_WORDS)
        return cfg_fail(&reader->report, NULL, words->mark[0],
                        "a term has %d numbers (degree, order, g, h and their change); here are %d",
                        TERM_WORDS, words->count);
    if (!read_whole(reader, 0, "the degree", 1, DYN_MAGNETIC_FIELD_DEGREE_MAX, &n) ||
        !read_whole(reader, 1, "the order", 0, n, &m))
        return false;
    const int k = dyn_magnetic_field_term(n, m);
    if (reader->seen[k])
        return cfg_fail(&reader->report, NULL, words->mark[0],
                        "degree %d, order %d is here for a second time", n, m);
    reader->seen[k] = true;
    model->degree = n > model->degree ? n : model->degree;
    return read_real(reader, 2, &model->g[k]) && read_real(reader, 3, &model->h[k]) &&
           read_real(reader, 4, &model->g_rate[k]) && read_real(reader, 5, &model->h_rate[k]);
}

/* Check at the line of nines that all terms have been read. */
static bool check_terms(struct reader *reader, const struct dyn_magnetic_model *model)
{
    const struct cfg_mark here = reader->words.mark[0];
    if (model->degree == 0)
        return cfg_fail(&reader->report, NULL, here, "the file ends without a term");
    for (int n = 1; n <= model->degree; n++)
        for (int m = 0; m <= n; m++)
            if (!reader->seen[dyn_magnetic_field_term(n, m)])
                return cfg_fail(&reader->report, NULL, here,
                                "the file ends without degree %d, order %d", n, m);
    return true;
}

static bool read_all(struct reader *reader, struct cfg_wmm *wmm)
{
    if (!read_head(reader, wmm))
        return false;
    while (next_line(reader)) {
        if (is_end(&reader->words))
            return check_terms(reader, &wmm->model);
        if (!read_term(reader, &wmm->model))
            return false;
    }
    return cfg_fail(&reader->report, NULL, (struct cfg_mark){reader->columns.line, 1},
                    "the file ends without its line of nines, so it is cut off");
}

bool cfg_wmm_parse(const char *path, const char *text, size_t size, struct cfg_wmm *wmm,
                   char error[CFG_ERROR_MAX])
{
    struct reader reader = {
        .columns = {.at = text, .end = text + size},
        .report = {.path = path, .line = error},
    };
    error[0] = '\0';
    *wmm = (struct cfg_wmm){0};
    if (size > CFG_WMM_TEXT_MAX)
        return cfg_fail(&reader.report, NULL, (struct cfg_mark){0, 0},
                        "more than %d bytes, which no .COF file has", CFG_WMM_TEXT_MAX);
    return read_all(&reader, wmm);
}

bool cfg_wmm_covers(const struct cfg_wmm *wmm, double year)
{
    return year >= wmm->model.epoch && year <= wmm->model.epoch + CFG_WMM_YEARS;
}
