#include "tools/airbearing/report/report_figures.h"

#include <sched.h>

const char *const report_limit_name[] = {[DYN_VALIDITY_RATE] = "rate",
                                         [DYN_VALIDITY_DEFLECTION] = "deflection",
                                         [DYN_VALIDITY_STIFFNESS] = "stiffness",
                                         [DYN_VALIDITY_INERTIA] = "inertia"};

uint64_t report_wall_ns(const struct rt_frame *frame)
{
    if (frame->frames == 0)
        return 0;
    return frame->last_release_ns - frame->first_release_ns + frame->spec.period_ns;
}

uint64_t report_lag_ns(const struct rt_frame *frame)
{
    return frame->missed * frame->spec.period_ns;
}

int report_frame_policy(const struct run *run)
{
    return run->stuck ? run->frame_thread.policy : run->end_policy;
}

uint64_t report_fault_hits(const struct run *run, int i)
{
    const struct sim_fault *fault = &run->scenario->spec.faults[i];
    if (fault->link >= 0 && fault->spec.kind == IO_FAULT_DELAY)
        return run->sim->scratch.delay_out[fault->link].hits +
               run->sim->scratch.delay_in[fault->link].hits;
    return fault->link >= 0 && run->links
               ? io_link_fault_hits(run->links, fault->link, fault->link_fault_index)
               : run->sim->vehicle->fault[i].hits;
}

double report_predictor_speed(const struct sim_predictor_result *predicted)
{
    return predicted->seconds_ahead /
           ((double)rt_histogram_quantile(&predicted->spent_ns, 0.5) * 1e-9);
}

bool report_realtime(const struct run *run, const char **why)
{
    const int cpu = run->plan.frame_cpu;
    *why = NULL;
    if (!run->machine.kernel_rt)
        *why = "the kernel is not PREEMPT_RT";
    else if (report_frame_policy(run) != SCHED_FIFO && report_frame_policy(run) != SCHED_RR)
        *why = "the frame thread has no real-time priority";
    else if (run->io_thread.tid && run->io_thread.policy != SCHED_FIFO)
        *why = "the I/O thread has no real-time priority";
    else if (!run->memory_locked)
        *why = "memory is not locked";
    else if (cpu < 0 || run->frame_thread.cpu != cpu)
        *why = "the frame thread is not pinned to its core";
    else if (cpu >= RT_CPU_MAX || !run->machine.isolated[cpu])
        *why = "the frame thread's core is not isolated";
    return *why == NULL;
}
