#include "config/yaml/name_index.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    const struct cfg_name *x = a, *y = b;
    const int order = strcmp(x->text, y->text);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

int cfg_name_index_sort(struct cfg_name *names, int count, int *twin)
{
    int first = -1;
    qsort(names, (size_t)count, sizeof *names, compare);
    for (int i = 1; i < count; i++) {
        if (strcmp(names[i - 1].text, names[i].text) != 0 || (first >= 0 && names[i].index > first))
            continue;
        first = names[i].index;
        *twin = names[i - 1].index;
    }
    return first;
}

int cfg_name_index_find(const struct cfg_name *names, int count, const char *text)
{
    int low = 0, high = count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (strcmp(names[middle].text, text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && strcmp(names[low].text, text) == 0 ? names[low].index : -1;
}
