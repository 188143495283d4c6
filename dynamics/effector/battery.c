#include "dynamics/effector/battery.h"

#include <stddef.h>

#include "dynamics/effector/parameter_check.h"

static const char *battery_problem(const void *law)
{
    const struct dyn_battery *battery = law;
    if (!dyn_is_positive(battery->voltage_empty) || !dyn_is_positive(battery->voltage_full) ||
        battery->voltage_empty > battery->voltage_full)
        return "a battery's voltage_empty is positive and not above voltage_full";
    if (!dyn_is_positive(battery->capacity))
        return "the battery's capacity must be positive";
    if (!dyn_is_not_negative(battery->resistance) || !dyn_is_not_negative(battery->idle_current))
        return "resistance and idle_current of a battery must not be negative";
    if (!(battery->resistance * battery->idle_current < battery->voltage_empty))
        return "the idle_current is more than the battery can give";
    if (!(battery->efficiency > 0.0 && battery->efficiency <= 1.0))
        return "the efficiency must be above 0 and not above 1";
    return NULL;
}

/* V^2 - (E - R idle) V + R P / efficiency = 0, the greater root. */
double dyn_battery_voltage(const struct dyn_battery *battery, double used, double power)
{
    const double fall = battery->voltage_full - battery->voltage_empty;
    const double open =
        battery->voltage_full - fall * dyn_clamp(used / battery->capacity, 0.0, 1.0);
    const double half = 0.5 * (open - battery->resistance * battery->idle_current);
    const double square = half * half - battery->resistance * power / battery->efficiency;
    return half + sqrt(square > 0.0 ? square : 0.0);
}

double dyn_battery_current(const struct dyn_battery *battery, double used, double power)
{
    const double voltage = dyn_battery_voltage(battery, used, power);
    return battery->idle_current + power / (battery->efficiency * voltage);
}

static int battery_state_count(const void *law)
{
    (void)law;
    return 1;
}

static void battery_eval(const void *law, const struct dyn_effector_input *input, double command,
                         const double *state, double *state_rate, struct dyn_vec6 *force)
{
    (void)command;
    state_rate[0] = dyn_battery_current(law, state[0], input->power);
    *force = (struct dyn_vec6){.ang = {0.0, 0.0, 0.0}};
}

const struct dyn_effector_ops dyn_battery_ops = {.cost = 350.0,
                                                 .problem = battery_problem,
                                                 .eval = battery_eval,
                                                 .state_count = battery_state_count};
