#include "rt/executive/output/expectations.h"

void expect_begin(struct expect_watch *watch, const struct cfg_expect *expect)
{
    *watch = (struct expect_watch){.expect = expect};
}

void expect_see(struct expect_watch *watch, double seconds, double value)
{
    const struct cfg_expect *expect = watch->expect;
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

enum expect_verdict expect_judge(const struct expect_watch *watch)
{
    const struct cfg_expect *expect = watch->expect;
    if (watch->seen == 0)
        return EXPECT_NOT_REACHED;
    if (!expect->within)
        return watch->broken == 0 ? EXPECT_MET : EXPECT_FAILED;
    if (watch->held > 0)
        return EXPECT_MET;
    /* A run that ended inside the window proves nothing; 1 us is less than any period. */
    return watch->last_seconds + 1e-6 < expect->seconds && !watch->window_closed
               ? EXPECT_NOT_REACHED
               : EXPECT_FAILED;
}
