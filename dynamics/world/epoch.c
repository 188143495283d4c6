#include "dynamics/world/epoch.h"

#include <math.h>

static const double DAY = 86400.0;

static int divide_down(int a, int b)
{
    return a / b - (a % b < 0);
}

/* Noons since J2000.0, by a year that begins in March and so ends with the leap day. */
static int noons_since_j2000(int year, int month, int day)
{
    const int late = month > 2 ? 0 : 1, y = year - late, m = month + 12 * late - 3;
    const int leaps = divide_down(y, 4) - divide_down(y, 100) + divide_down(y, 400);
    return 365 * y + leaps + (153 * m + 2) / 5 + day - 730426;
}

struct dyn_epoch dyn_epoch_of_date(int year, int month, int day, double seconds)
{
    return (struct dyn_epoch){noons_since_j2000(year, month, day), seconds - 0.5 * DAY};
}

double dyn_epoch_days(const struct dyn_epoch *epoch)
{
    return epoch->days + epoch->seconds / DAY;
}

double dyn_epoch_year(const struct dyn_epoch *epoch)
{
    const double midnights = dyn_epoch_days(epoch) + 0.5;
    int year = 2000 + (int)floor(midnights / 365.2425); /* right, or one off */
    year += noons_since_j2000(year + 1, 1, 1) <= midnights;
    year -= noons_since_j2000(year, 1, 1) > midnights;
    const double first = noons_since_j2000(year, 1, 1);
    return year + (midnights - first) / (noons_since_j2000(year + 1, 1, 1) - first);
}
