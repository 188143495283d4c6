/*
 * Matrices with names on their rows and columns, for people and as JSON.
 */
#pragma once

/* The name of a row or a column, at most 127 characters. */
struct matrix_label {
    char text[128];
};

struct table {
    const char *title;
    int rows, columns;
    const struct matrix_label *row_names, *column_names;
    const double *entry; /* by rows */
};

/* Print with five digits, in blocks of columns that fit a terminal. */
void matrix_print(const struct table *table);

/* One line of JSON each, 17 digits: a list, a list of lists, a list of names. */
void matrix_json_row(const double *row, int count);
void matrix_json(const struct table *table);
void matrix_json_labels(const struct matrix_label *names, int count);
