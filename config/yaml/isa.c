#include "config/yaml/isa.h"

#include <stdlib.h>
#include <string.h>

bool cfg_isa_named(const char *name, enum dyn_isa *isa)
{
    static const enum dyn_isa all[] = {DYN_ISA_SSE2, DYN_ISA_AVX2, DYN_ISA_AVX512};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        *isa = all[i];
        if (strcmp(name, dyn_isa_name(*isa)) == 0)
            return true;
    }
    return false;
}

bool cfg_isa(enum dyn_isa *isa, char error[CFG_ERROR_MAX])
{
    struct cfg_complaint report = {.path = "AIRBEARING_ISA", .line = error};
    const struct cfg_mark nowhere = {0, 0};
    const char *name = getenv("AIRBEARING_ISA");
    *isa = dyn_isa_best();
    error[0] = '\0';
    if (name == NULL || *name == '\0')
        return true;
    if (!cfg_isa_named(name, isa))
        return cfg_fail(&report, NULL, nowhere,
                        "there is no instruction set %s; write sse2, avx2 or avx512",
                        cfg_quote(name).text);
    return dyn_isa_runs(*isa) ||
           cfg_fail(&report, NULL, nowhere, "this processor has no %s; its best is %s", name,
                    dyn_isa_name(dyn_isa_best()));
}
