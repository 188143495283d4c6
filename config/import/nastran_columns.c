#include "config/import/nastran_columns.h"

#include <math.h>
#include <string.h>

#include "config/yaml/unit.h"

enum { TAB = 8, REAL_MAX = 48, WHOLE_DIGITS_MAX = 9 };

static void put_column(struct cfg_line *line, char c)
{
    line->cut = line->cut || line->size == CFG_LINE_MAX;
    if (!line->cut)
        line->text[line->size++] = c;
}

bool cfg_columns_next(struct cfg_columns *columns, struct cfg_line *line)
{
    if (columns->at == columns->end)
        return false;
    line->number = ++columns->line;
    line->size = 0;
    line->cut = false;
    for (; columns->at < columns->end && *columns->at != '\n'; columns->at++) {
        const char c = *columns->at;
        if (c != '\t') {
            put_column(line, c != '\0' ? c : '?'); /* so that the text ends at its size */
            continue;
        }
        do
            put_column(line, ' ');
        while (!line->cut && line->size % TAB != 0);
    }
    columns->at += columns->at < columns->end;
    if (line->size > 0 && !line->cut && line->text[line->size - 1] == '\r')
        line->size--;
    line->text[line->size] = '\0';
    return true;
}

bool cfg_columns_real(const char *text, double *real)
{
    const size_t digits = strspn(text, "+-") + strspn(text + strspn(text, "+-"), "0123456789.");
    const bool has_letter = text[digits] != '\0' && strchr("eEdD", text[digits]) != NULL;
    const bool has_sign = text[digits] == '+' || text[digits] == '-';
    const char *exponent = text + digits + (has_letter ? 1 : 0);
    char plain[REAL_MAX] = "";
    if (digits + strlen(exponent) + 2 > sizeof plain)
        return false;
    memcpy(plain, text, digits);
    if (has_letter || has_sign)
        plain[digits] = 'e';
    strcat(plain, exponent);
    const char *rest = cfg_number_parse(plain, real);
    return rest != NULL && *rest == '\0' && isfinite(*real);
}

bool cfg_columns_whole(const char *text, int *whole)
{
    const bool negative = text[0] == '-';
    const char *digits = text + (negative || text[0] == '+');
    const size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > WHOLE_DIGITS_MAX || digits[count] != '\0')
        return false;
    *whole = 0;
    for (size_t k = 0; k < count; k++)
        *whole = 10 * *whole + (digits[k] - '0');
    *whole = negative ? -*whole : *whole;
    return true;
}
