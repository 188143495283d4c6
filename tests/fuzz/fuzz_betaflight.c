/*
 * Any bytes as a packet of Betaflight, and any bytes as a sample.  What must hold: only the two
 * sizes are packets, what comes out of one is finite, and a refused one leaves the controls alone.
 */
#include <math.h>
#include <string.h>

#include "io/protocol/betaflight.h"
#include "rt/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_decode(const uint8_t *bytes, size_t size)
{
    float controls[IO_CONTROL_MAX];
    for (int i = 0; i < IO_CONTROL_MAX; i++)
        controls[i] = -7.0f;
    const bool understood = io_betaflight_decode(bytes, size, controls);
    RT_CHECK(!understood || size == 16 || size == 68);
    for (int i = 0; i < IO_CONTROL_MAX; i++)
        RT_CHECK(understood ? isfinite(controls[i]) : controls[i] == -7.0f);
}

static void check_encode(const uint8_t *bytes, size_t size)
{
    struct io_sample sample = {0};
    unsigned char fdm[IO_BETAFLIGHT_FDM_SIZE], rc[IO_BETAFLIGHT_RC_SIZE];
    memcpy(&sample, bytes, size < sizeof sample ? size : sizeof sample);
    io_betaflight_fdm(&sample, size & 1, fdm);
    RT_CHECK(memcmp(fdm + 8, sample.gyro, sizeof sample.gyro) == 0);
    io_betaflight_rc(&sample, rc);
    RT_CHECK(memcmp(rc + 8, sample.rc, sizeof sample.rc) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    check_decode(bytes, size);
    check_encode(bytes, size);
    return 0;
}
