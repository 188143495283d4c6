#include "rt/phase_lock.h"

#include <math.h>
#include <string.h>

#include "rt/check.h"

/* Windows: so many make a time constant; so many in a row within, or beyond, a tenth of a cycle
 * make the lock or its loss; so many without an observation until the rate goes back to
 * nominal. */
enum { WINDOWS = 8, STREAK = 4, HOLD = 5 * WINDOWS };

void rt_phase_lock_begin(struct rt_phase_lock *lock, const struct rt_phase_lock_spec *spec)
{
    RT_CHECK(spec->period_ns > 0 && spec->cycle_ns > 0 && spec->limit_ppm > 0.0);
    RT_CHECK(spec->time_constant_ns >= WINDOWS);
    memset(lock, 0, sizeof *lock);
    lock->spec = *spec;
}

static uint64_t window_length(const struct rt_phase_lock *lock)
{
    return lock->spec.time_constant_ns / WINDOWS;
}

/* The grid's own time: what the local clock would show had the grid never been moved. */
static uint64_t grid_time(const struct rt_phase_lock *lock, uint64_t local_ns)
{
    return local_ns - (uint64_t)lock->offset_ns;
}

/* The sort key of the kept observations: their delay, or their phase where the delay is not
 * known. */
static bool sorts_before(const struct rt_phase_lock *lock, uint64_t delay_ns, int64_t phase_ns,
                         int i)
{
    if (lock->spec.has_delay)
        return delay_ns < lock->samples[i].delay_ns;
    return phase_ns < lock->samples[i].phase_ns;
}

/* From -cycle/2 up to +cycle/2.  64-bit times wrap around; their differences stay correct. */
static int64_t wrap(const struct rt_phase_lock *lock, uint64_t difference_ns)
{
    const int64_t cycle = (int64_t)lock->spec.cycle_ns;
    int64_t rest = (int64_t)difference_ns % cycle;
    if (rest < 0)
        rest += cycle;
    return rest < (cycle + 1) / 2 ? rest : rest - cycle;
}

void rt_phase_lock_observe(struct rt_phase_lock *lock, const struct rt_phase_sample *sample)
{
    const uint64_t apart_ns = window_length(lock) / RT_PHASE_LOCK_SAMPLE_MAX;
    lock->observations++;
    if (lock->sample_count == RT_PHASE_LOCK_SAMPLE_MAX ||
        (lock->last_sample_ns != 0 &&
         (int64_t)(sample->local_ns - lock->last_sample_ns) < (int64_t)apart_ns))
        return;
    lock->last_sample_ns = sample->local_ns;
    const uint64_t raw_ns = sample->board_ns - grid_time(lock, sample->local_ns);
    if (!lock->anchored)
        lock->anchor_ns = raw_ns;
    lock->anchored = true;
    const int64_t phase_ns = wrap(lock, raw_ns - lock->anchor_ns);
    int i = lock->sample_count++;
    for (; i > 0 && sorts_before(lock, sample->delay_ns, phase_ns, i - 1); i--)
        lock->samples[i] = lock->samples[i - 1];
    lock->samples[i].delay_ns = sample->delay_ns;
    lock->samples[i].phase_ns = phase_ns;
}

static double clamp(double value, double limit)
{
    return value > limit ? limit : value < -limit ? -limit : value;
}

/* A board that is ahead needs earlier releases: a positive error is a negative rate. */
static void update_rate(struct rt_phase_lock *lock, double error_ns)
{
    const double limit = lock->spec.limit_ppm * 1e-6;
    const double tau_ns = (double)lock->spec.time_constant_ns;
    const double window_ns = (double)window_length(lock);
    lock->integral = clamp(lock->integral - error_ns * window_ns / (tau_ns * tau_ns), limit);
    const double wanted = lock->integral - 2.0 * error_ns / tau_ns;
    lock->rate = clamp(wanted, limit);
    lock->saturated = lock->rate != wanted || fabs(lock->integral) == limit;
}

static void lose_lock(struct rt_phase_lock *lock)
{
    lock->losses += lock->locked;
    lock->locked = false;
    lock->good_windows = 0;
}

static void update_lock_state(struct rt_phase_lock *lock, double error_ns)
{
    const bool good_windows =
        !lock->saturated && fabs(error_ns) <= (double)lock->spec.cycle_ns / 10.0;
    lock->good_windows = good_windows ? lock->good_windows + 1 : 0;
    lock->bad_windows = good_windows ? 0 : lock->bad_windows + 1;
    if (lock->good_windows >= STREAK)
        lock->locked = true;
    if (lock->bad_windows >= STREAK)
        lose_lock(lock);
}

/* Half a cycle off is as near to the next cycle: hold the present phase, and keep the rate. */
static double count_slip(struct rt_phase_lock *lock, double error_ns)
{
    lock->anchor_ns += (uint64_t)(int64_t)error_ns;
    lock->slips++;
    lose_lock(lock);
    return 0.0;
}

/* A delay far above the usual one may lie in either direction, so the observation does not show
 * the phase.  One that stays becomes the usual one. */
static bool is_delayed(struct rt_phase_lock *lock, uint64_t delay_ns)
{
    if (lock->min_delay_ns == 0 || delay_ns < lock->min_delay_ns)
        lock->min_delay_ns = delay_ns;
    const uint64_t above_ns = delay_ns - lock->min_delay_ns;
    lock->min_delay_ns += above_ns / WINDOWS;
    return above_ns > lock->spec.cycle_ns / 4;
}

static void close_window(struct rt_phase_lock *lock)
{
    const int pick = lock->spec.has_delay ? 0 : lock->sample_count / 2;
    double error_ns = (double)lock->samples[pick].phase_ns;
    lock->empty_windows = 0;
    rt_histogram_add(&lock->error_ns, (uint64_t)fabs(error_ns), lock->frame);
    /* The last quarter before half a cycle: beyond, the sign is not known. */
    if (fabs(error_ns) > 0.375 * (double)lock->spec.cycle_ns)
        error_ns = count_slip(lock, error_ns);
    update_rate(lock, error_ns);
    update_lock_state(lock, error_ns);
}

/* The proportional part of the rate is dropped; only the integral part is held. */
static void pass_empty_window(struct rt_phase_lock *lock)
{
    lock->rate = lock->integral;
    if (++lock->empty_windows >= STREAK)
        lose_lock(lock);
    if (lock->empty_windows > HOLD)
        lock->rate = lock->integral *= 1.0 - 1.0 / WINDOWS;
}

int64_t rt_phase_lock_step(struct rt_phase_lock *lock, uint64_t release_ns, uint64_t slots)
{
    if (lock->window_ns == 0)
        lock->window_ns = release_ns + window_length(lock);
    if (release_ns >= lock->window_ns) {
        lock->window_ns = release_ns + window_length(lock);
        if (lock->sample_count > 0 &&
            !(lock->spec.has_delay && is_delayed(lock, lock->samples[0].delay_ns)))
            close_window(lock);
        else
            pass_empty_window(lock);
        lock->sample_count = 0;
    }
    lock->frame++;
    lock->locked_steps += lock->locked;
    const double moved_ns =
        lock->fraction_ns + lock->rate * (double)slots * (double)lock->spec.period_ns;
    const int64_t step_ns = (int64_t)floor(moved_ns + 0.5);
    lock->fraction_ns = moved_ns - (double)step_ns;
    lock->offset_ns += step_ns;
    return step_ns;
}

double rt_phase_lock_ppm(const struct rt_phase_lock *lock)
{
    return lock->rate * -1e6;
}
