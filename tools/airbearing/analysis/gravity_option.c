#include "tools/airbearing/analysis/gravity_option.h"

#include <math.h>
#include <stddef.h>

#include "config/yaml/unit.h"

bool gravity_option_parse(const char *text, double gravity[3])
{
    for (int k = 0; k < 3; k++) {
        text = cfg_number_parse(text, &gravity[k]);
        if (text == NULL || !isfinite(gravity[k]) || *text != (k < 2 ? ',' : '\0'))
            return false;
        text++;
    }
    return true;
}
