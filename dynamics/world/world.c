#include "dynamics/world/world.h"

#include "dynamics/world/sun_position.h"

void dyn_world_begin(struct dyn_world *world)
{
    world->frame = dyn_home_at(&world->home);
}

struct dyn_epoch dyn_world_epoch(const struct dyn_world *world, double seconds)
{
    return (struct dyn_epoch){world->epoch.days, world->epoch.seconds + seconds};
}

/* ECEF axes to the world's, for directions: in orbit ECI, else those of the home. */
static struct dyn_vec3 to_world(const struct dyn_world *world, const struct dyn_mat3 *turn,
                                struct dyn_vec3 ecef)
{
    return world->kind == DYN_WORLD_ORBIT ? dyn_mul_t(turn, ecef) : dyn_mul(&world->frame.E, ecef);
}

static struct dyn_vec3 to_ecef(const struct dyn_world *world, const struct dyn_mat3 *turn,
                               const double position[3])
{
    const struct dyn_vec3 r = dyn_vec3_load(position);
    return world->kind == DYN_WORLD_ORBIT ? dyn_mul(turn, r) : dyn_home_to_ecef(&world->frame, r);
}

/* From the place r (ECEF), and for one on the ground by its horizon: the Earth's ball may be above
 * its head. */
static void update_sun(const struct dyn_world *world, const struct dyn_mat3 *turn,
                       struct dyn_vec3 r, const struct dyn_epoch *now,
                       struct dyn_environment *environment)
{
    const struct dyn_vec3 sun = dyn_mul(turn, dyn_sun_position(now)), to_sun = dyn_sub(sun, r);
    const struct dyn_vec3 seen = to_world(world, turn, dyn_scale(1.0 / dyn_norm(to_sun), to_sun));
    dyn_vec3_store(seen, environment->sun);
    environment->sun_visible_fraction = world->kind == DYN_WORLD_ORBIT
                                            ? dyn_sun_visible_fraction(sun, r)
                                            : (seen.z < 0.0 ? 1.0 : 0.0);
}

void dyn_world_update(const struct dyn_world *world, double seconds, const double position[3],
                      struct dyn_environment *environment)
{
    const struct dyn_epoch now = dyn_world_epoch(world, seconds);
    const struct dyn_mat3 turn = dyn_earth_eci_to_ecef(&now);
    const struct dyn_vec3 r = to_ecef(world, &turn, position);

    if (world->has_field && !world->fixed_field) {
        const struct dyn_vec3 field = dyn_magnetic_field_at(&world->field, r);
        dyn_vec3_store(to_world(world, &turn, field), environment->magnetic_field);
    }
    update_sun(world, &turn, r, &now, environment);
}

void dyn_world_geodetic(const struct dyn_world *world, double seconds, const double position[3],
                        const double velocity[3], struct dyn_geodetic *at, double velocity_ned[3])
{
    const struct dyn_epoch now = dyn_world_epoch(world, seconds);
    const struct dyn_mat3 turn = dyn_earth_eci_to_ecef(&now);
    const struct dyn_vec3 v = dyn_vec3_load(velocity);

    *at = dyn_earth_to_geodetic(to_ecef(world, &turn, position));
    const struct dyn_home here = dyn_home_at(at);
    const struct dyn_vec3 v_ecef =
        world->kind == DYN_WORLD_ORBIT
            ? dyn_earth_velocity_to_ecef(&turn, dyn_vec3_load(position), v)
            : dyn_mul_t(&world->frame.E, v);
    dyn_vec3_store(dyn_mul(&here.E, v_ecef), velocity_ned);
}
