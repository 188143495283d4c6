/*
 * Matrices with names on their rows and columns, for people and as JSON.
 */
#pragma once

/* The name of a row or a column, at most 127 characters. */
struct table_name {
    char text[128];
};

struct table {
    const char *title;
    int rows, columns;
    const struct table_name *row_names, *column_names;
    const double *entry; /* by rows */
};

/* In blocks of columns that fit a terminal, five digits. */
void table_print(const struct table *table);

/* One line of JSON each, 17 digits: a list, a list of lists, a list of names. */
void table_json_row(const double *row, int count);
void table_json_matrix(const struct table *table);
void table_json_names(const struct table_name *names, int count);
