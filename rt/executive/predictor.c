#include "rt/executive/predictor.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rt/arena.h"
#include "rt/check.h"
#include "rt/clock.h"
#include "rt/thread.h"

struct predicted_pose { /* for the display; the positions follow */
    uint64_t log_ns;
    uint64_t carried;
};

struct sim_predictor {
    const struct sim_spec *spec; /* of the run, which it shares */
    struct sim *sim;
    struct rt_mailbox *prediction_input; /* from the frame */
    struct rt_mailbox *shown;            /* of struct place */
    void *shown_mem;
    size_t q_size;
    uint64_t every_ns; /* between two predictions */
    long pause_ns;     /* between two looks into the mailbox */
    struct rt_thread thread;
    atomic_bool stop;
    struct sim_predictor_result result;
};

/* ---- one prediction -------------------------------------------------------------------- */

static void read_inputs(void *self, struct sim *sim, uint64_t frame)
{
    (void)self;
    for (int i = 0; i < sim->spec->link_count; i++)
        for (const struct io_command *command;
             (command = sim_delay_line_pop(&sim->scratch.delay_in[i], frame)) != NULL;)
            sim_apply_command(sim, command, frame);
}

bool sim_predictor_run_ahead(struct sim *sim, const struct sim_prediction_input *from,
                             uint64_t frames, const atomic_bool *stop)
{
    sim->source = (struct sim_input){.read_inputs = read_inputs};
    sim_load_prediction_input(sim, from);
    const struct rt_frame_tasks tasks = sim_tasks(sim);
    for (uint64_t frame = from->frame; frame < from->frame + frames; frame++) {
        if (atomic_load_explicit(stop, memory_order_relaxed))
            return false;
        tasks.latch(tasks.self, frame, false);
        rt_schedule_run(sim->schedule, frame);
    }
    return true;
}

static void publish_prediction(struct sim_predictor *predictor, uint64_t log_ns)
{
    struct predicted_pose *place = rt_mailbox_back(predictor->shown);
    place->log_ns = log_ns;
    place->carried = predictor->sim->vehicle->arm ? predictor->sim->vehicle->arm->configuration : 0;
    memcpy(place + 1, predictor->sim->vehicle->x, predictor->q_size);
    (void)rt_mailbox_publish(predictor->shown);
}

static void predict(struct sim_predictor *predictor, const struct sim_prediction_input *from)
{
    struct sim_predictor_result *result = &predictor->result;
    const uint64_t begin_ns = rt_now_ns();
    if (!sim_predictor_run_ahead(predictor->sim, from, predictor->spec->predictor.ahead,
                                 &predictor->stop))
        return;
    const uint64_t spent_ns = rt_now_ns() - begin_ns;
    publish_prediction(predictor, from->log_ns);
    rt_histogram_add(&result->spent_ns, spent_ns, result->predictions);
    result->predictions++;
    result->late += spent_ns > predictor->every_ns;
    result->cut += from->cut;
}

/* The newest prediction input counts; inputs that came while it was busy are skipped. */
static void predictor_thread(void *self)
{
    struct sim_predictor *predictor = self;
    const struct timespec pause = {.tv_nsec = predictor->pause_ns};
    while (!atomic_load_explicit(&predictor->stop, memory_order_relaxed)) {
        bool fresh;
        const struct sim_prediction_input *from =
            rt_mailbox_take(predictor->prediction_input, &fresh);
        if (fresh)
            predict(predictor, from);
        else
            nanosleep(&pause, NULL);
    }
}

/* ---- set-up ---------------------------------------------------------------------------- */

static long pause_between(uint64_t every_ns)
{
    static const long least = 1000000, most = 5000000;
    const long wanted = (long)(every_ns / 20);
    return wanted < least ? least : wanted > most ? most : wanted;
}

static void place_output_mailbox(struct sim_predictor *predictor)
{
    predictor->q_size = (size_t)dyn_model_nq(predictor->sim->vehicle->plant.model) * sizeof(double);
    const size_t item = sizeof(struct predicted_pose) + predictor->q_size;
    const size_t size = rt_mailbox_size(item);
    predictor->shown_mem = aligned_alloc(RT_CACHE_LINE, (size / RT_CACHE_LINE + 1) * RT_CACHE_LINE);
    RT_CHECK(predictor->shown_mem);
    predictor->shown = rt_mailbox_place(item, predictor->shown_mem);
}

static void free_predictor(struct sim_predictor *predictor)
{
    free(predictor->shown_mem);
    free(predictor->sim);
    free(predictor);
}

struct sim_predictor *sim_predictor_open(const struct sim_spec *spec,
                                         struct rt_mailbox *prediction_input, int cpu, int *failure)
{
    const struct sim_predictor_spec *horizon = &spec->predictor;
    *failure = 0;
    if (horizon->every == 0)
        return NULL;
    struct sim_predictor *predictor = calloc(1, sizeof *predictor);
    RT_CHECK(predictor);
    predictor->spec = spec;
    predictor->sim = sim_create_motion_only(predictor->spec);
    predictor->prediction_input = prediction_input;
    predictor->every_ns = horizon->every * spec->period_ns;
    predictor->pause_ns = pause_between(predictor->every_ns);
    predictor->result.seconds_ahead = (double)(horizon->ahead * spec->period_ns) * 1e-9;
    place_output_mailbox(predictor);
    const struct rt_thread_spec thread = {.name = "ghost", .policy = SCHED_OTHER, .cpu = cpu};
    *failure = rt_thread_start(&predictor->thread, &thread, predictor_thread, predictor);
    if (*failure == 0)
        return predictor;
    free_predictor(predictor);
    return NULL;
}

const double *sim_predictor_newest(struct sim_predictor *predictor, uint64_t *log_ns, int *carried)
{
    bool fresh;
    const struct predicted_pose *place = rt_mailbox_take(predictor->shown, &fresh);
    *log_ns = place->log_ns;
    *carried = (int)place->carried;
    return fresh ? (const double *)(place + 1) : NULL;
}

void sim_predictor_stop(struct sim_predictor *predictor, struct sim_predictor_result *result)
{
    if (!predictor)
        return;
    if (!atomic_exchange_explicit(&predictor->stop, true, memory_order_relaxed))
        rt_thread_join(&predictor->thread);
    *result = predictor->result;
}

void sim_predictor_close(struct sim_predictor *predictor)
{
    struct sim_predictor_result unused;
    if (!predictor)
        return;
    sim_predictor_stop(predictor, &unused);
    free_predictor(predictor);
}
