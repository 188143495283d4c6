/*
 * Any bytes as a checkpoint.  What must hold:
 *   - nothing outside the bytes is read,
 *   - what is accepted has a whole run state of the size that was asked for,
 *   - an error is one printable line.
 * Random bytes never have the right checksum, so every input is also tried with one that fits.
 */
#include <stdlib.h>
#include <string.h>

#include "rt/check.h"
#include "rt/executive/state/checkpoint.h"
#include "rt/executive/state/digest.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static volatile unsigned char sink;

static void try_bytes(const uint8_t *bytes, size_t size)
{
    /* as the corpus has it */
    const struct sim_checkpoint_identity mark = {.program = "0.1.0",
                                                 .isa = "avx2",
                                                 .scenario = 1,
                                                 .model = 2,
                                                 .layout = 3,
                                                 .period_ns = 1000000,
                                                 .state_size = 64};
    char error[SIM_CHECKPOINT_ERROR_MAX] = "";
    struct sim_checkpoint found = {0};
    if (sim_checkpoint_parse(bytes, size, &mark, &found, error)) {
        RT_CHECK(memchr(error, '\0', sizeof error) && error[0] != '\0');
        for (const char *at = error; *at; at++)
            RT_CHECK((unsigned char)*at >= ' ' && *at != 0x7f);
        return;
    }
    for (size_t i = 0; i < mark.state_size; i++)
        sink ^= ((const unsigned char *)found.state)[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    try_bytes(bytes, size);
    if (size < 8)
        return 0;
    uint8_t *fitted = malloc(size);
    RT_CHECK(fitted);
    memcpy(fitted, bytes, size);
    const uint64_t sum = sim_digest_bytes(bytes, size - 8);
    memcpy(fitted + size - 8, &sum, sizeof sum);
    try_bytes(fitted, size);
    free(fitted);
    return 0;
}
