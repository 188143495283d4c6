#include "io/protocol/ardupilot.h"

#include <math.h>
#include <string.h>

#include "rt/check.h"

enum {
    MAGIC_16 = 18458,
    MAGIC_32 = 29569,
    HEAD_SIZE = 8,
    DIGITS = 9,          /* significant ones; a float has seven and a half */
    ZEROS_MAX = 4,       /* zeros in front of a small number; a smaller one gets an exponent */
    NUMBER_MAX = 24,     /* the most characters of one number */
    RC_CHANNELS_MAX = 12 /* the channels that ArduPilot reads */
};

/* The reading of a range finder without an echo: far beyond the range of any real one. */
static const double no_echo_m = 1000.0;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the wire's order");

static uint16_t read_u16(const unsigned char *bytes)
{
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

bool io_ardupilot_decode(const void *bytes, size_t size, struct io_ardupilot_servos *servos)
{
    const unsigned char *in = bytes;
    if (size < HEAD_SIZE)
        return false;
    const uint16_t magic = read_u16(in);
    if (magic != MAGIC_16 && magic != MAGIC_32)
        return false;
    const uint16_t count = magic == MAGIC_16 ? 16 : 32;
    if (size != HEAD_SIZE + 2u * count)
        return false;
    *servos = (struct io_ardupilot_servos){.frame_rate = read_u16(in + 2), .pwm_count = count};
    memcpy(&servos->frame_count, in + 4, sizeof servos->frame_count);
    memcpy(servos->pwm_us, in + HEAD_SIZE, 2u * count);
    return true;
}

void io_ardupilot_to_controls(const struct io_ardupilot_servos *servos,
                              float controls[IO_CONTROL_MAX])
{
    for (int i = 0; i < IO_CONTROL_MAX; i++) {
        const uint16_t us = servos->pwm_us[i];
        controls[i] = us == 0 ? 0.0f : ((float)us - 1000.0f) / 1000.0f;
    }
}

/* A line under construction.  printf may allocate memory for a double, so the digits are written
 * here. */
struct line {
    char *text;
    size_t size;
};

static void put_char(struct line *line, char c)
{
    RT_CHECK(line->size < IO_ARDUPILOT_REPLY_MAX);
    line->text[line->size++] = c;
}

static void put_text(struct line *line, const char *text)
{
    while (*text)
        put_char(line, *text++);
}

/* At least `width` digits. */
static void put_integer(struct line *line, uint64_t value, int width)
{
    char digits[NUMBER_MAX];
    int count = 0;
    for (; value > 0 || count < width; value /= 10)
        digits[count++] = (char)('0' + value % 10);
    while (count > 0)
        put_char(line, digits[--count]);
}

/* value = digits * 10^(exponent - DIGITS + 1), with DIGITS digits. */
static uint64_t split_decimal(double value, int *exponent)
{
    uint64_t limit = 1;
    for (int i = 0; i < DIGITS; i++)
        limit *= 10;
    int power = (int)floor(log10(value));
    uint64_t digits = (uint64_t)llround(value / pow(10.0, power) * (double)(limit / 10));
    if (digits >= limit) { /* 9.9999999996 */
        digits /= 10;
        power++;
    }
    *exponent = power;
    return digits;
}

/* Writes d.dddd with the point after the first `whole` digits (0 or less: 0.0ddd), without
 * trailing zeros. */
static void put_digits(struct line *line, uint64_t digits, int whole)
{
    uint64_t unit = 1;
    for (int i = whole; i < DIGITS; i++)
        unit *= 10;
    put_integer(line, digits / unit, 1);
    uint64_t rest = digits % unit;
    if (rest == 0)
        return;
    int width = DIGITS - whole;
    for (; rest % 10 == 0; rest /= 10)
        width--;
    put_char(line, '.');
    put_integer(line, rest, width);
}

static void put_number(struct line *line, double value)
{
    if (!isnormal(value)) {
        put_char(line, '0');
        return;
    }
    int exponent;
    const uint64_t digits = split_decimal(fabs(value), &exponent);
    if (value < 0.0)
        put_char(line, '-');
    if (exponent >= -ZEROS_MAX && exponent < DIGITS) {
        put_digits(line, digits, exponent + 1);
    } else {
        put_digits(line, digits, 1);
        put_text(line, exponent < 0 ? "e-" : "e");
        put_integer(line, (uint64_t)(exponent < 0 ? -exponent : exponent), 1);
    }
}

static void put_vector(struct line *line, const char *key, const double *value, int count)
{
    put_text(line, key);
    put_text(line, ":[");
    for (int i = 0; i < count; i++) {
        if (i > 0)
            put_char(line, ',');
        put_number(line, value[i]);
    }
    put_char(line, ']');
}

static void put_seconds(struct line *line, uint64_t us)
{
    put_integer(line, us / 1000000u, 1);
    put_char(line, '.');
    put_integer(line, us % 1000000u, 6);
}

static void put_rc(struct line *line, const uint16_t *us)
{
    put_text(line, ",\"rc\":{");
    for (int i = 0; i < RC_CHANNELS_MAX; i++) {
        put_text(line, i > 0 ? ",\"rc_" : "\"rc_");
        put_integer(line, (uint64_t)i + 1, 1);
        put_text(line, "\":");
        put_integer(line, us[i], 1);
    }
    put_char(line, '}');
}

static void put_battery(struct line *line, double voltage, double current)
{
    put_text(line, ",\"battery\":{\"voltage\":");
    put_number(line, voltage);
    put_text(line, ",\"current\":");
    put_number(line, current);
    put_char(line, '}');
}

size_t io_ardupilot_encode(const struct io_sample *sample, char reply[IO_ARDUPILOT_REPLY_MAX])
{
    struct line line = {.text = reply};
    put_text(&line, "\n{\"timestamp\":");
    put_seconds(&line, sample->sim_us);
    put_vector(&line, ",\"imu\":{\"gyro\"", sample->gyro, 3);
    put_vector(&line, ",\"accel_body\"", sample->accel, 3);
    put_vector(&line, "},\"position\"", sample->position, 3);
    put_vector(&line, ",\"velocity\"", sample->velocity, 3);
    put_vector(&line, ",\"quaternion\"", sample->attitude, 4);
    put_text(&line, ",\"airspeed\":");
    put_number(&line, sample->airspeed);
    put_text(&line, ",\"rng_1\":");
    put_number(&line, sample->range > 0.0 ? sample->range : no_echo_m);
    if (sample->voltage > 0.0)
        put_battery(&line, sample->voltage, sample->current);
    if (sample->due & IO_SEND_RC)
        put_rc(&line, sample->rc);
    put_text(&line, "}\n");
    return line.size;
}
