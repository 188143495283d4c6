/* A fuzzer with a bug in it, which must be found and reported: any input of LEAST bytes or more. */
#include <stddef.h>
#include <stdint.h>

#include "rt/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    (void)bytes;
    RT_CHECK(size < LEAST);
    return 0;
}
