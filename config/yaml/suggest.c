#include "config/yaml/suggest.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

enum { WORD_MAX = 48 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/*
 * Edits between two words: insert, delete, change, swap two neighbours (optimal string alignment).
 * Three rows of the usual table are enough.
 */
static int edit_distance(const char *a, const char *b)
{
    int rows[3][WORD_MAX + 1];
    const int m = (int)strlen(a), n = (int)strlen(b);
    for (int j = 0; j <= n; j++)
        rows[0][j] = j;
    for (int i = 1; i <= m; i++) {
        int *row = rows[i % 3];
        const int *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            row[j] = least(above[j], row[j - 1]) + 1;
            row[j] = least(row[j], above[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[m % 3][n];
}

/* The number of edits that are accepted: one in a short word, up to three in a long one. */
static int slips_allowed(size_t length)
{
    return length <= 2 ? 0 : length <= 4 ? 1 : length <= 8 ? 2 : 3;
}

struct cfg_suggestion cfg_suggest_begin(const char *word)
{
    return (struct cfg_suggestion){.word = word, .distance = slips_allowed(strlen(word)) + 1};
}

void cfg_suggest_offer(struct cfg_suggestion *suggestion, const char *candidate)
{
    if (strlen(suggestion->word) > WORD_MAX || strlen(candidate) > WORD_MAX)
        return;
    const int distance = edit_distance(suggestion->word, candidate);
    if (distance >= suggestion->distance)
        return;
    suggestion->distance = distance;
    suggestion->best = candidate;
}
