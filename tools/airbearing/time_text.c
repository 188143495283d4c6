#include "tools/airbearing/time_text.h"

#include <math.h>
#include <stdio.h>

const char *time_text(double ns, char text[TIME_TEXT_MAX])
{
    const double size = fabs(ns);
    if (size < 1e3)
        snprintf(text, TIME_TEXT_MAX, "%.0f ns", ns);
    else if (size < 1e6)
        snprintf(text, TIME_TEXT_MAX, "%.1f us", ns * 1e-3);
    else if (size < 1e9)
        snprintf(text, TIME_TEXT_MAX, "%.2f ms", ns * 1e-6);
    else
        snprintf(text, TIME_TEXT_MAX, "%.3f s", ns * 1e-9);
    return text;
}
