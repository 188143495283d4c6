#include "tools/board/vehicles/satellite.h"

#include <math.h>
#include <string.h>

#include "tools/board/vehicles/vector.h"

static const double step_max_s = 0.1, field_step_max_s = 2.0;

static double since(uint64_t now_us, uint64_t then_us, double most)
{
    return fmin(fmax((double)(int64_t)(now_us - then_us) * 1e-6, 0.0), most);
}

static void unload(struct board_satellite *s, double dt)
{
    double torque[3];
    for (int i = 0; i < 3; i++)
        torque[i] = s->controls[i] * s->law.torque_max;
    board_momentum_add(&s->momentum, torque, dt);
    if (s->has_field)
        board_momentum_unload(&s->momentum, s->field);
    for (int i = 0; i < 3; i++)
        s->controls[3 + i] = board_clamp(s->momentum.dipole[i] / s->momentum.dipole_max, 1.0);
}

/* The torque on the body is opposite to the motor's torque on the wheel. */
static void point(struct board_satellite *s, double dt)
{
    const struct board_estimator *e = &s->estimator;
    s->armed = e->has_attitude;
    memset(s->controls, 0, sizeof s->controls);
    if (!s->armed)
        return;
    board_law_update(&s->law, e->attitude, e->rate, dt);
    for (int i = 0; i < 3; i++)
        s->controls[i] = -s->law.torque[i] / s->law.torque_max;
    unload(s, dt);
}

static void take_field(struct board_satellite *s, const struct board_message *message)
{
    const double dt = since(message->time_us, s->field_us, field_step_max_s);
    if (s->detumbles) {
        s->armed = s->has_field;
        board_detumble_field(&s->detumble, message->field, s->has_field ? dt : 0.0);
        for (int i = 0; i < 3 && s->armed; i++)
            s->controls[i] = s->detumble.dipole[i] / s->detumble.dipole_max;
    }
    memcpy(s->field, message->field, sizeof s->field);
    s->has_field = true;
    s->field_us = message->time_us;
}

static void take_sensor(struct board_satellite *s, const struct board_message *message)
{
    const uint64_t before_us = s->estimator.time_us;
    if (message->has_field)
        take_field(s, message);
    if (message->has_gyro && board_estimator_gyro(&s->estimator, message->time_us, message->gyro) &&
        !s->detumbles)
        point(s, since(message->time_us, before_us, step_max_s));
}

void board_satellite_receive(struct board_satellite *satellite, const struct board_message *message)
{
    switch (message->type) {
    case BOARD_MESSAGE_SENSOR:
        take_sensor(satellite, message);
        break;
    case BOARD_MESSAGE_TRACKER:
        satellite->has_tracker = true;
        board_estimator_star(&satellite->estimator, message->time_us, message->attitude);
        break;
    case BOARD_MESSAGE_TRUTH:
        if (!satellite->has_tracker)
            board_estimator_star(&satellite->estimator, message->time_us, message->attitude);
        break;
    default:
        break;
    }
}

void board_satellite_command(const struct board_satellite *satellite, struct board_command *command)
{
    *command = (struct board_command){.armed = satellite->armed,
                                      .has_attitude = satellite->estimator.has_attitude};
    memcpy(command->controls, satellite->controls, sizeof satellite->controls);
    memcpy(command->attitude, satellite->estimator.attitude, sizeof command->attitude);
    memcpy(command->rate, satellite->estimator.rate, sizeof command->rate);
}
