/*
 * What leaves in a frame: the true motion for the messages that carry it, and which messages are
 * due.
 *
 * Tested by tests/rt/executive/output/test_outbox.c.
 */
#include <math.h>
#include <string.h>

#include "rt/executive/output/sensors.h"
#include "rt/executive/sim_private.h"

void sim_job_sensor(void *self, uint64_t frame)
{
    const struct sim_device_job *device = self;
    sim_sensor_sample(device->sim, device->index, frame);
}

/* Where no receiver is simulated there is one that makes no errors. */
static struct io_geodetic_fix perfect_fix(const struct io_sample *sample)
{
    return (struct io_geodetic_fix){
        .latitude = sample->latitude,
        .longitude = sample->longitude,
        .altitude = sample->altitude,
        .velocity = {sample->velocity[0], sample->velocity[1], sample->velocity[2]},
        .eph = 0.3,
        .epv = 0.4,
        .type = 3,
        .satellites = 14,
    };
}

/* Along the z axis of the body, which points down on a vehicle that stands. */
static double range_to_ground(const struct sim *sim, const struct dyn_motion *motion)
{
    const struct dyn_environment *environment = &sim->vehicle->plant.environment;
    const double *q = motion->attitude;
    const double down = 1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]);
    const double height = environment->ground - motion->position[2];
    return environment->has_ground && height > 0.0 && down > 1e-3 ? height / down : 0.0;
}

/* True motion of the link's body, for the messages that carry truth. */
void sim_job_truth(void *self, uint64_t frame)
{
    const struct sim_device_job *device = self;
    struct sim *sim = device->sim;
    const struct sim_link *link = &sim->spec->links[device->index];
    struct io_sample *sample = &sim->scratch.sample[device->index];
    const double origin[3] = {0};
    struct dyn_motion motion;
    dyn_plant_motion(&sim->vehicle->plant, sim->vehicle->work, sim->vehicle->x, link->body, origin,
                     &motion);

    sample->frame = sim_executive_frame(sim, frame);
    sample->sim_us = sim->epoch_us[device->index] + sim_frame_log_ns(sim, frame) / 1000;
    memcpy(sample->attitude, motion.attitude, sizeof sample->attitude);
    memcpy(sample->rate, motion.rate, sizeof sample->rate);
    memcpy(sample->position, motion.position, sizeof sample->position);
    memcpy(sample->true_accel, motion.specific_force, sizeof sample->true_accel);
    const double *air = motion.air_velocity;
    sample->airspeed = sqrt(air[0] * air[0] + air[1] * air[1] + air[2] * air[2]);
    struct dyn_geodetic at;
    dyn_world_geodetic(&sim->spec->world, (double)(frame + 1) * sim->vehicle->h, motion.position,
                       motion.velocity, &at, sample->velocity);
    sample->latitude = at.latitude;
    sample->longitude = at.longitude;
    sample->altitude = at.height;
    sample->range = range_to_ground(sim, &motion);
    const struct dyn_supply supply = dyn_plant_supply(sim->vehicle->work);
    sample->voltage = supply.voltage;
    sample->current = supply.current;
    if (!sim->has_gps)
        sample->fix = perfect_fix(sample);
}

void sim_job_message_sensor(void *self, uint64_t frame)
{
    (void)frame;
    const struct sim_message_job *message = self;
    struct io_sample *sample = &message->sim->scratch.sample[message->link];
    struct io_trace *trace = &message->sim->scratch.trace[message->link];
    const struct sim_link *link = &message->sim->spec->links[message->link];
    bool *unasked = &message->sim->scratch.sensor_withheld[message->link];
    *unasked =
        message->sim->scratch.silent && !io_protocol_traits(link->spec.protocol)->marks_fields;
    if (*unasked) /* no other way to say that there is no rate or force yet */
        return;
    sample->due |= IO_SEND_SENSOR;
    if (trace->latch_ns == 0)
        return;
    sample->trace = *trace;
    *trace = (struct io_trace){0};
}

void sim_job_message_rc(void *self, uint64_t frame)
{
    const struct sim_message_job *message = self;
    const struct sim *sim = message->sim;
    struct io_sample *sample = &message->sim->scratch.sample[message->link];
    const struct io_rc_script *script = &sim->spec->links[message->link].sticks;
    const double time = (double)(frame + 1) * sim->vehicle->h;
    double channel[IO_RC_SCRIPT_CHANNEL_COUNT];
    for (int k = 0; k < IO_RC_MAX; k++)
        sample->rc[k] = k == 0 || k == 1 || k == 3 ? 1500 : 1000;
    if (script->step_count > 0) {
        const struct io_rc_script_view view = {
            .height = sim->vehicle->plant.environment.ground - sample->position[2],
            .climb = -sample->velocity[2],
        };
        io_rc_script_channels(script, time, &view, channel);
        for (int k = 0; k < IO_RC_MAX; k++)
            sample->rc[k] = (uint16_t)lround(channel[k]);
    }
    if (time >= sim->spec->links[message->link].sticks_from)
        sample->due |= IO_SEND_RC;
}

void sim_job_message(void *self, uint64_t frame)
{
    (void)frame;
    const struct sim_message_job *message = self;
    const uint32_t bit = 1u << message->message;
    if (!(message->sim->scratch.withheld_messages & bit))
        message->sim->scratch.sample[message->link].due |= bit;
}
