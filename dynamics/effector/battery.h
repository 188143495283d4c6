/*
 * The battery that feeds the rotors of the plant: state, the charge used, A s.
 *
 *      E = voltage_full - (voltage_full - voltage_empty) used / capacity       at no load
 *      I = idle_current + P / (efficiency V),   V = E - resistance I
 *
 * where P is the power of the rotors at their speeds, so V is the root of a quadratic and nothing
 * has to be iterated.  A demand above its greatest power leaves the battery at the voltage of that
 * power.  An empty one stays at voltage_empty.  Rotors turn as fast as V / voltage_full lets them.
 */
#pragma once

#include "dynamics/effector/effector_ops.h"

struct dyn_battery {
    double voltage_full;  /* V */
    double voltage_empty; /* V */
    double capacity;      /* A s */
    double resistance;    /* ohm */
    double idle_current;  /* A, the current of the rest of the vehicle */
    double efficiency;    /* of motors and their electronics, above 0 to 1 */
};

/* Its row. */
extern const struct dyn_effector_ops dyn_battery_ops;

/* Voltage at the terminals, V, and current out of them, A, at this power of the rotors, W.
 * Context: frame. */
double dyn_battery_voltage(const struct dyn_battery *battery, double used, double power);
double dyn_battery_current(const struct dyn_battery *battery, double used, double power);
