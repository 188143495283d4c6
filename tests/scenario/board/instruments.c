#include "tests/scenario/board/instruments.h"

#include <math.h>

static const double latitude = 47.397742 * M_PI / 180.0, longitude = 8.545594 * M_PI / 180.0;
static const double altitude = 488.0;
static const double field[3] = {21.5e-6, 1.0e-6, 42.7e-6}; /* T, world */
static const double gyro_bias[3] = {0.005, -0.004, 0.003}; /* rad/s */

static double noise(struct instruments *instruments, double deviation)
{
    return instruments->loudness * deviation * io_noise_normal(&instruments->noise);
}

/* The standard atmosphere of the troposphere. */
static double pressure_at(double height)
{
    return 101325.0 * pow(1.0 - 0.0065 * height / 288.15, 5.25588);
}

static void read_gps(struct instruments *instruments, const struct quadrotor *quadrotor,
                     struct board_message *gps)
{
    const double *p = quadrotor_position(quadrotor), *v = quadrotor_velocity(quadrotor);
    const double s = sin(latitude), w = 1.0 - 0.00669438 * s * s;
    const double north_m = 6378137.0 * (1.0 - 0.00669438) / pow(w, 1.5);
    const double east_m = 6378137.0 / sqrt(w) * cos(latitude);
    *gps = (struct board_message){.type = BOARD_MESSAGE_GPS, .fix = 3};
    gps->latitude = latitude + (p[0] + noise(instruments, 0.2)) / north_m;
    gps->longitude = longitude + (p[1] + noise(instruments, 0.2)) / east_m;
    gps->altitude = altitude - p[2] + noise(instruments, 0.4);
    for (int i = 0; i < 3; i++)
        gps->velocity[i] = v[i] + noise(instruments, 0.08);
}

static void read_inertial(struct instruments *instruments, const struct quadrotor *quadrotor,
                          struct board_message *sensor)
{
    sensor->has_gyro = !instruments->no_gyro;
    sensor->has_accel = !instruments->no_accel;
    quadrotor_force(quadrotor, sensor->accel);
    for (int i = 0; i < 3; i++) {
        sensor->gyro[i] = quadrotor_rate(quadrotor)[i] + gyro_bias[i] + noise(instruments, 0.003);
        sensor->accel[i] += noise(instruments, 0.05);
    }
}

static void read_slow(struct instruments *instruments, const struct quadrotor *quadrotor,
                      struct board_message *sensor)
{
    sensor->has_field = sensor->has_pressure = true;
    quadrotor_see(quadrotor, field, sensor->field);
    for (int i = 0; i < 3; i++)
        sensor->field[i] += noise(instruments, 0.3e-6);
    if (!instruments->stuck_pressure)
        instruments->pressure =
            pressure_at(altitude - quadrotor_position(quadrotor)[2]) + noise(instruments, 2.0);
    sensor->pressure = instruments->pressure;
}

int instruments_read(struct instruments *instruments, const struct quadrotor *quadrotor,
                     uint64_t step, struct board_message message[2])
{
    int count = 0;
    if (step % 25 == 0 && !instruments->no_gps) {
        const struct board_message before = instruments->old_fix;
        read_gps(instruments, quadrotor, &instruments->old_fix);
        message[count++] = instruments->late_gps ? before : instruments->old_fix;
    }
    message[count] = (struct board_message){.type = BOARD_MESSAGE_SENSOR,
                                            .time_us = (step + 1) * INSTRUMENTS_STEP_US};
    read_inertial(instruments, quadrotor, &message[count]);
    if (step % 5 == 0)
        read_slow(instruments, quadrotor, &message[count]);
    return count + 1;
}
