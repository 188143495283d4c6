#include "dynamics/world/epoch.h"

#include <math.h>

static const double DAY = 86400.0;

static int divide_down(int a, int b)
{
    return a / b - (a % b < 0);
}

/* Noons since J2000.0, by a year that begins in March and so ends with the leap day. */
static int noon_of(int year, int month, int day)
{
    const int late = month > 2 ? 0 : 1, y = year - late, m = month + 12 * late - 3;
    const int leaps = divide_down(y, 4) - divide_down(y, 100) + divide_down(y, 400);
    return 365 * y + leaps + (153 * m + 2) / 5 + day - 730426;
}

struct dyn_instant dyn_instant_of_date(int year, int month, int day, double seconds)
{
    return (struct dyn_instant){noon_of(year, month, day), seconds - 0.5 * DAY};
}

double dyn_instant_days(const struct dyn_instant *instant)
{
    return instant->days + instant->seconds / DAY;
}

double dyn_instant_year(const struct dyn_instant *instant)
{
    const double midnights = dyn_instant_days(instant) + 0.5;
    int year = 2000 + (int)floor(midnights / 365.2425); /* right, or one off */
    year += noon_of(year + 1, 1, 1) <= midnights;
    year -= noon_of(year, 1, 1) > midnights;
    const double first = noon_of(year, 1, 1);
    return year + (midnights - first) / (noon_of(year + 1, 1, 1) - first);
}
