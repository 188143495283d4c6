#include "tools/airbearing/analysis/matrix_print.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 100, NUMBER = 11 };

static int widest(const struct matrix_label *names, int count, int least)
{
    for (int k = 0; k < count; k++) {
        const int width = (int)strlen(names[k].text);
        least = width > least ? width : least;
    }
    return least;
}

/* Print -0 as 0. */
static double unsigned_zero(double x)
{
    return x == 0.0 ? 0.0 : x;
}

static void print_block(const struct table *table, int from, int to, int head, int width)
{
    printf("  %*s", head, "");
    for (int c = from; c < to; c++)
        printf(" %*s", width, table->column_names[c].text);
    puts("");
    for (int r = 0; r < table->rows; r++) {
        printf("  %-*s", head, table->row_names[r].text);
        for (int c = from; c < to; c++)
            printf(" %*.5g", width, unsigned_zero(table->entry[r * table->columns + c]));
        puts("");
    }
}

void matrix_print(const struct table *table)
{
    const int head = widest(table->row_names, table->rows, 1);
    const int width = widest(table->column_names, table->columns, NUMBER);
    const int fit = (LINE - 2 - head) / (width + 1);
    const int step = fit > 0 ? fit : 1;
    printf("%s\n", table->title);
    for (int from = 0; from < table->columns; from += step)
        print_block(table, from, from + step < table->columns ? from + step : table->columns, head,
                    width);
}

void matrix_json_row(const double *row, int count)
{
    putchar('[');
    for (int k = 0; k < count; k++)
        printf("%s%.17g", k > 0 ? "," : "", unsigned_zero(row[k]));
    putchar(']');
}

void matrix_json(const struct table *table)
{
    putchar('[');
    for (int r = 0; r < table->rows; r++) {
        fputs(r > 0 ? "," : "", stdout);
        matrix_json_row(table->entry + (size_t)r * (size_t)table->columns, table->columns);
    }
    putchar(']');
}

void matrix_json_labels(const struct matrix_label *names, int count)
{
    putchar('[');
    for (int k = 0; k < count; k++) {
        json_t *text = json_string(names[k].text);
        fputs(k > 0 ? "," : "", stdout);
        json_dumpf(text, stdout, JSON_ENCODE_ANY);
        json_decref(text);
    }
    putchar(']');
}
