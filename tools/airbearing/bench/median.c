#include "tools/airbearing/bench/median.h"

#include <stdlib.h>
#include <time.h>

#include "rt/check.h"

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct median median_of(double *values, int count)
{
    RT_CHECK(count > 0);
    qsort(values, (size_t)count, sizeof *values, by_size);
    return (struct median){.median = values[count / 2], .lowest = values[0]};
}

double median_cpu_ns(void)
{
    struct timespec now;
    RT_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}
