#include "rt/executive/output/expectations.h"

void sim_expectation_begin(struct sim_expectation_watch *watch,
                           const struct sim_expectation *expect)
{
    *watch = (struct sim_expectation_watch){.expect = expect};
}

void sim_expectation_update(struct sim_expectation_watch *watch, double seconds, double value)
{
    const struct sim_expectation *expect = watch->expect;
    const bool inside = expect->within ? seconds <= expect->seconds : seconds >= expect->seconds;
    if (!inside) {
        watch->window_closed = expect->within;
        return;
    }
    const bool holds = expect->below ? value < expect->limit : value > expect->limit;
    /* `after` keeps the value that came closest to breaking it, `within` the one closest to meeting
     * it. */
    const bool keep_larger = expect->below != expect->within;
    if (watch->seen == 0 || (keep_larger ? value > watch->worst : value < watch->worst))
        watch->worst = value;
    watch->seen++;
    watch->last_seconds = seconds;
    watch->held += holds;
    watch->broken += !holds;
}

enum sim_expectation_verdict sim_expectation_judge(const struct sim_expectation_watch *watch)
{
    const struct sim_expectation *expect = watch->expect;
    if (watch->seen == 0)
        return SIM_EXPECTATION_NOT_REACHED;
    if (!expect->within)
        return watch->broken == 0 ? SIM_EXPECTATION_MET : SIM_EXPECTATION_FAILED;
    if (watch->held > 0)
        return SIM_EXPECTATION_MET;
    /* A run that ended inside the window proves nothing; 1 us is less than any period. */
    return watch->last_seconds + 1e-6 < expect->seconds && !watch->window_closed
               ? SIM_EXPECTATION_NOT_REACHED
               : SIM_EXPECTATION_FAILED;
}
