#include "rt/phase_lock.h"

#include <math.h>
#include <string.h>

#include "rt/check.h"

/* Windows: so many make a time constant; so many in a row within, or beyond, a tenth of a cycle
 * make the lock or its loss; so many without a word until the rate goes back to nominal. */
enum { WINDOWS = 8, STREAK = 4, HOLD = 5 * WINDOWS };

void rt_phase_begin(struct rt_phase *phase, const struct rt_phase_spec *spec)
{
    RT_CHECK(spec->period_ns > 0 && spec->cycle_ns > 0 && spec->limit_ppm > 0.0);
    RT_CHECK(spec->time_constant_ns >= WINDOWS);
    memset(phase, 0, sizeof *phase);
    phase->spec = *spec;
}

static uint64_t window_length(const struct rt_phase *phase)
{
    return phase->spec.time_constant_ns / WINDOWS;
}

/* The grid's own time: what the local clock would show had the grid never been moved. */
static uint64_t grid_time(const struct rt_phase *phase, uint64_t local_ns)
{
    return local_ns - (uint64_t)phase->offset_ns;
}

/* Where kept observations stand in order: by their delay, or by their phase where that is all that
 * is known of them. */
static bool before(const struct rt_phase *phase, uint64_t delay_ns, int64_t phase_ns, int i)
{
    if (phase->spec.has_delay)
        return delay_ns < phase->kept[i].delay_ns;
    return phase_ns < phase->kept[i].phase_ns;
}

/* From -cycle/2 up to +cycle/2.  Times of 64 bits wrap around, their differences do not mind. */
static int64_t wrap(const struct rt_phase *phase, uint64_t difference_ns)
{
    const int64_t cycle = (int64_t)phase->spec.cycle_ns;
    int64_t rest = (int64_t)difference_ns % cycle;
    if (rest < 0)
        rest += cycle;
    return rest < (cycle + 1) / 2 ? rest : rest - cycle;
}

void rt_phase_see(struct rt_phase *phase, const struct rt_phase_sight *sight)
{
    const uint64_t apart_ns = window_length(phase) / RT_PHASE_SEEN_MAX;
    phase->observations++;
    if (phase->seen == RT_PHASE_SEEN_MAX ||
        (phase->taken_ns != 0 && (int64_t)(sight->local_ns - phase->taken_ns) < (int64_t)apart_ns))
        return;
    phase->taken_ns = sight->local_ns;
    const uint64_t raw_ns = sight->board_ns - grid_time(phase, sight->local_ns);
    if (!phase->anchored)
        phase->anchor_ns = raw_ns;
    phase->anchored = true;
    const int64_t phase_ns = wrap(phase, raw_ns - phase->anchor_ns);
    int i = phase->seen++;
    for (; i > 0 && before(phase, sight->delay_ns, phase_ns, i - 1); i--)
        phase->kept[i] = phase->kept[i - 1];
    phase->kept[i].delay_ns = sight->delay_ns;
    phase->kept[i].phase_ns = phase_ns;
}

static double clamp(double value, double limit)
{
    return value > limit ? limit : value < -limit ? -limit : value;
}

/* A board that is ahead wants releases to come sooner: a positive error is a negative rate. */
static void steer(struct rt_phase *phase, double error_ns)
{
    const double limit = phase->spec.limit_ppm * 1e-6;
    const double tau_ns = (double)phase->spec.time_constant_ns;
    const double window_ns = (double)window_length(phase);
    phase->integral = clamp(phase->integral - error_ns * window_ns / (tau_ns * tau_ns), limit);
    const double wanted = phase->integral - 2.0 * error_ns / tau_ns;
    phase->rate = clamp(wanted, limit);
    phase->saturated = phase->rate != wanted || fabs(phase->integral) == limit;
}

static void unlock(struct rt_phase *phase)
{
    phase->losses += phase->locked;
    phase->locked = false;
    phase->good = 0;
}

static void judge(struct rt_phase *phase, double error_ns)
{
    const bool good = !phase->saturated && fabs(error_ns) <= (double)phase->spec.cycle_ns / 10.0;
    phase->good = good ? phase->good + 1 : 0;
    phase->bad = good ? 0 : phase->bad + 1;
    if (phase->good >= STREAK)
        phase->locked = true;
    if (phase->bad >= STREAK)
        unlock(phase);
}

/* Half a cycle off is as near to the next one: hold the phase that there is, and keep the rate. */
static double slip(struct rt_phase *phase, double error_ns)
{
    phase->anchor_ns += (uint64_t)(int64_t)error_ns;
    phase->slips++;
    unlock(phase);
    return 0.0;
}

/* A delay far above the usual may lie on either way, and says nothing of the phase.  One that stays
 * becomes the usual one. */
static bool held_up(struct rt_phase *phase, uint64_t delay_ns)
{
    if (phase->least_ns == 0 || delay_ns < phase->least_ns)
        phase->least_ns = delay_ns;
    const uint64_t above_ns = delay_ns - phase->least_ns;
    phase->least_ns += above_ns / WINDOWS;
    return above_ns > phase->spec.cycle_ns / 4;
}

static void close_window(struct rt_phase *phase)
{
    const int pick = phase->spec.has_delay ? 0 : phase->seen / 2;
    double error_ns = (double)phase->kept[pick].phase_ns;
    phase->blind = 0;
    rt_histogram_add(&phase->error_ns, (uint64_t)fabs(error_ns), phase->frame);
    /* The last quarter of the way to half a cycle: beyond, the sign is anybody's guess. */
    if (fabs(error_ns) > 0.375 * (double)phase->spec.cycle_ns)
        error_ns = slip(phase, error_ns);
    steer(phase, error_ns);
    judge(phase, error_ns);
}

/* What was needed to get the error away is not needed any more: only the lasting part is held. */
static void pass_blind(struct rt_phase *phase)
{
    phase->rate = phase->integral;
    if (++phase->blind >= STREAK)
        unlock(phase);
    if (phase->blind > HOLD)
        phase->rate = phase->integral *= 1.0 - 1.0 / WINDOWS;
}

int64_t rt_phase_step(struct rt_phase *phase, uint64_t release_ns, uint64_t slots)
{
    if (phase->window_ns == 0)
        phase->window_ns = release_ns + window_length(phase);
    if (release_ns >= phase->window_ns) {
        phase->window_ns = release_ns + window_length(phase);
        if (phase->seen > 0 && !(phase->spec.has_delay && held_up(phase, phase->kept[0].delay_ns)))
            close_window(phase);
        else
            pass_blind(phase);
        phase->seen = 0;
    }
    phase->frame++;
    phase->locked_steps += phase->locked;
    const double moved_ns =
        phase->rest_ns + phase->rate * (double)slots * (double)phase->spec.period_ns;
    const int64_t step_ns = (int64_t)floor(moved_ns + 0.5);
    phase->rest_ns = moved_ns - (double)step_ns;
    phase->offset_ns += step_ns;
    return step_ns;
}

double rt_phase_ppm(const struct rt_phase *phase)
{
    return phase->rate * -1e6;
}
