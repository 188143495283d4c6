#include "tools/airbearing/run/terminal.h"

#include <stdio.h>
#include <unistd.h>

enum { TABLE_LINES = 6, BAR_WIDTH = 30 };

static int drawn; /* lines of the table on the screen */

static void draw_bar(double fraction)
{
    for (int i = 0; i < BAR_WIDTH; i++)
        fputs(i < fraction * BAR_WIDTH ? "#" : ".", stdout);
}

static double newest_latency_us(const struct run *run)
{
    if (!run->links)
        return 0.0;
    const struct io_latency *latency = io_link_latency(run->links, 0);
    return (double)atomic_load_explicit(&latency->last[IO_LATENCY_SUM], memory_order_relaxed) *
           1e-3;
}

/* The line of the motion: attitude in orbit, position above ground. */
static void draw_motion(const struct run *run, const struct sim_live *live)
{
    const double degrees = 180.0 / 3.14159265358979323846;
    const double *signal = live->signal;
    if (run->scenario->spec.environment.has_ground)
        printf("\033[K  altitude        %.2f m   position error %.2f m   speed %.2f m/s   tilt "
               "%.1f deg\n",
               signal[SIM_SIGNAL_ALTITUDE], signal[SIM_SIGNAL_POSITION_ERROR],
               signal[SIM_SIGNAL_SPEED], signal[SIM_SIGNAL_TILT] * degrees);
    else
        printf("\033[K  attitude error  %.4f deg   rate %.4f deg/s   fastest wheel %.0f rpm\n",
               signal[SIM_SIGNAL_ATTITUDE_ERROR] * degrees, signal[SIM_SIGNAL_RATE] * degrees,
               signal[SIM_SIGNAL_WHEEL_SPEED] * 9.549296585513721);
}

void terminal_draw(const struct run *run)
{
    static uint64_t drawn_ns;
    static struct rt_frame_live frame;
    static struct sim_live sim;
    const uint64_t now_ns = rt_now_ns();
    if (!isatty(STDOUT_FILENO) || now_ns - drawn_ns < 100000000u)
        return;
    drawn_ns = now_ns;
    bool fresh;
    frame = *(const struct rt_frame_live *)rt_mailbox_take(run->frame_live, &fresh);
    sim = *(const struct sim_live *)rt_mailbox_take(run->sim_live, &fresh);

    const double seconds = (double)frame.frame / run->scenario->spec.rate_hz;
    if (drawn)
        printf("\033[%dA", TABLE_LINES);
    printf("\033[K%s  %7.2f s of %g s  [", run->scenario->spec.name, seconds,
           run->scenario->spec.seconds);
    draw_bar(seconds / run->scenario->spec.seconds);
    printf("]\n\033[K  frames          %llu   late %llu   missed %llu\n",
           (unsigned long long)frame.frame, (unsigned long long)frame.overruns,
           (unsigned long long)frame.missed);
    printf("\033[K  margin          %.1f us (least)\n", (double)frame.margin_ns_min * 1e-3);
    printf("\033[K  start error     %.2f us (median)   busy %.1f us (median)\n",
           (double)frame.start_error_ns * 1e-3, (double)frame.busy_ns * 1e-3);
    printf("\033[K  loop latency    %.1f us (newest)   commands %llu\n", newest_latency_us(run),
           (unsigned long long)sim.inputs);
    draw_motion(run, &sim);
    fflush(stdout);
    drawn = TABLE_LINES;
}

void terminal_end(void)
{
    if (drawn)
        printf("\n");
}
