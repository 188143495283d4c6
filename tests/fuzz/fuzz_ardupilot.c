/*
 * Any bytes as a servo packet, and any bytes as the numbers of a sample.  What must hold:
 *   - what was understood has the size and the magic of a packet, and its channels are those bytes,
 *   - a line begins and ends where it should, holds no blank, and its numbers can be read back.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/protocol/ardupilot.h"
#include "rt/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_decode(const uint8_t *bytes, size_t size)
{
    struct io_ardupilot_servos servos;
    float controls[IO_CONTROL_MAX];
    if (!io_ardupilot_decode(bytes, size, &servos))
        return;
    RT_CHECK(size == 8u + 2u * servos.pwm_count);
    RT_CHECK((bytes[0] | bytes[1] << 8) == (size == 40 ? 18458 : 29569));
    RT_CHECK(memcmp(servos.pwm_us, bytes + 8, size - 8) == 0);
    io_ardupilot_to_controls(&servos, controls);
    for (int i = 0; i < IO_CONTROL_MAX; i++)
        RT_CHECK(controls[i] >= -1.0f && controls[i] <= 64.6f);
}

static void check_vector(const char *line, const char *key, const double *value, int count)
{
    const char *at = strstr(line, key);
    RT_CHECK(at);
    char *next = (char *)(uintptr_t)at + strlen(key);
    for (int i = 0; i < count; i++) {
        const double back = strtod(next, &next);
        const double expected = isnormal(value[i]) ? value[i] : 0.0;
        RT_CHECK(fabs(back - expected) <= 5.1e-9 * fabs(expected));
        RT_CHECK(*next == (i + 1 < count ? ',' : ']'));
        next++;
    }
}

static void check_encode(const uint8_t *bytes, size_t size)
{
    struct io_sample sample = {0};
    char line[IO_ARDUPILOT_REPLY_MAX + 1];
    memcpy(&sample, bytes, size < sizeof sample ? size : sizeof sample);
    const size_t length = io_ardupilot_encode(&sample, line);
    RT_CHECK(length <= IO_ARDUPILOT_REPLY_MAX);
    line[length] = '\0';
    RT_CHECK(strlen(line) == length && !strchr(line, ' '));
    RT_CHECK(line[0] == '\n' && line[1] == '{');
    RT_CHECK(strcmp(line + length - 2, "}\n") == 0);
    RT_CHECK(strchr(line + 1, '\n') == line + length - 1);
    check_vector(line, "\"gyro\":[", sample.gyro, 3);
    check_vector(line, "\"accel_body\":[", sample.accel, 3);
    check_vector(line, "\"position\":[", sample.position, 3);
    check_vector(line, "\"velocity\":[", sample.velocity, 3);
    check_vector(line, "\"quaternion\":[", sample.attitude, 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    check_decode(bytes, size);
    check_encode(bytes, size);
    return 0;
}
