#include "rt/executive/output/effector_types.h"

static const double origin[3] = {0};

static void start_wheel(const struct sim_vehicle *vehicle, const struct sim_effector *effector,
                        double *state)
{
    struct dyn_motion motion;
    dyn_plant_motion(&vehicle->plant, vehicle->work, vehicle->x, effector->effector.body, origin,
                     &motion);
    state[0] = dyn_wheel_momentum(&effector->effector.wheel, motion.rate, effector->speed);
}

static double wheel_speed(const struct sim_vehicle *vehicle, const struct dyn_effector *effector,
                          const double *state)
{
    struct dyn_motion motion;
    dyn_plant_motion(&vehicle->plant, vehicle->work, vehicle->x, effector->body, origin, &motion);
    return dyn_wheel_speed(&effector->wheel, motion.rate, state[0]);
}

static void start_rotor(const struct sim_vehicle *vehicle, const struct sim_effector *effector,
                        double *state)
{
    (void)vehicle;
    state[0] = effector->speed;
}

static double rotor_speed(const struct sim_vehicle *vehicle, const struct dyn_effector *effector,
                          const double *state)
{
    (void)vehicle;
    return dyn_rotor_speed(&effector->rotor, state[0]);
}

const struct sim_effector_type sim_effector_types[DYN_EFFECTOR_TYPE_COUNT] = {
    [DYN_EFFECTOR_WHEEL] = {.schema = "airbearing_msgs/msg/Wheel",
                            .text = "float64 torque # N m, motor command after the drive\n"
                                    "float64 speed # rad/s, relative to the body\n",
                            .state = "momentum of a wheel, N m s",
                            .start = start_wheel,
                            .speed = wheel_speed},
    [DYN_EFFECTOR_ROTOR] = {.schema = "airbearing_msgs/msg/Rotor",
                            .text =
                                "float64 command # 0 to 1, after the drive\n"
                                "float64 speed # rad/s, relative to the body, about the thrust\n",
                            .state = "speed of a rotor, rad/s",
                            .start = start_rotor,
                            .speed = rotor_speed},
    [DYN_EFFECTOR_TORQUER] = {.schema = "airbearing_msgs/msg/Torquer",
                              .text = "float64 dipole # A m^2, after the drive\n"
                                      "float64 unused\n"},
    [DYN_EFFECTOR_THRUSTER] = {.schema = "airbearing_msgs/msg/Thruster",
                               .text = "float64 command # 0 to 1, after the drive\n"
                                       "float64 unused\n",
                               .state = "level of a thruster"},
    [DYN_EFFECTOR_BATTERY] = {.state = "charge used of a battery, A s"},
};
