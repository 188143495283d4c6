/* A fuzzer with a bug in it, which must be found and told. */
#include <stddef.h>
#include <stdint.h>

#include "rt/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    (void)bytes;
    RT_CHECK(size == 0);
    return 0;
}
