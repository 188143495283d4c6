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

struct place { /* letter to whoever shows it; the positions follow */
    uint64_t log_ns;
    uint64_t carried;
};

struct ghost {
    struct cfg_scenario *scenario; /* its own: a parameter that is tuned is written into it */
    struct rig *rig;
    struct rt_mailbox *outlook; /* from the frame */
    struct rt_mailbox *shown;   /* of struct place */
    void *shown_mem;
    size_t q_size;
    uint64_t every_ns; /* between two predictions */
    long pause_ns;     /* between two looks into the mailbox */
    struct rt_thread thread;
    atomic_bool stop;
    struct ghost_result result;
};

/* ---- one prediction -------------------------------------------------------------------- */

static void gather(void *self, struct rig *rig, uint64_t frame)
{
    (void)self;
    for (int i = 0; i < rig->scenario->link_count; i++)
        for (const struct rig_letter *letter; (letter = late_take(&rig->wire[i], frame)) != NULL;)
            rig_apply_letter(rig, letter, frame);
}

bool ghost_run_ahead(struct rig *rig, const struct rig_outlook *from, uint64_t frames,
                     const atomic_bool *stop)
{
    rig->source = (struct rig_source){.gather = gather};
    rig_look_out(rig, from);
    const struct rt_frame_tasks tasks = rig_tasks(rig);
    for (uint64_t frame = from->frame; frame < from->frame + frames; frame++) {
        if (atomic_load_explicit(stop, memory_order_relaxed))
            return false;
        tasks.latch(tasks.self, frame, false);
        rt_schedule_run(rig->schedule, frame);
    }
    return true;
}

static void show(struct ghost *ghost, uint64_t log_ns)
{
    struct place *place = rt_mailbox_back(ghost->shown);
    place->log_ns = log_ns;
    place->carried = ghost->rig->cfg->arm ? ghost->rig->cfg->arm->configuration : 0;
    memcpy(place + 1, ghost->rig->cfg->x, ghost->q_size);
    (void)rt_mailbox_publish(ghost->shown);
}

static void predict(struct ghost *ghost, const struct rig_outlook *from)
{
    struct ghost_result *result = &ghost->result;
    const uint64_t begin_ns = rt_now_ns();
    if (!ghost_run_ahead(ghost->rig, from, ghost->scenario->predictor.ahead, &ghost->stop))
        return;
    const uint64_t spent_ns = rt_now_ns() - begin_ns;
    show(ghost, from->log_ns);
    rt_histogram_add(&result->spent_ns, spent_ns, result->predictions);
    result->predictions++;
    result->late += spent_ns > ghost->every_ns;
    result->cut += from->cut;
}

/* The newest outlook counts; those that came while it was busy are passed over. */
static void run(void *self)
{
    struct ghost *ghost = self;
    const struct timespec pause = {.tv_nsec = ghost->pause_ns};
    while (!atomic_load_explicit(&ghost->stop, memory_order_relaxed)) {
        bool fresh;
        const struct rig_outlook *from = rt_mailbox_take(ghost->outlook, &fresh);
        if (fresh)
            predict(ghost, from);
        else
            nanosleep(&pause, NULL);
    }
}

/* ---- set-up ---------------------------------------------------------------------------- */

static const void *find_file(void *scenario, const char *name, size_t *size)
{
    const struct cfg_file *file = ((const struct cfg_scenario *)scenario)->files;
    while (file != NULL && strcmp(file->name, name) != 0)
        file = file->next;
    if (file == NULL)
        return NULL;
    *size = file->size;
    return file->text;
}

/* It was good once. */
static struct cfg_scenario *read_again(const struct cfg_scenario *scenario,
                                       const char *const *overrides, int override_count)
{
    char error[CFG_ERROR_MAX];
    struct cfg_scenario *copy;
    const struct cfg_shelf shelf = {find_file, (void *)(uintptr_t)scenario};
    RT_CHECK(cfg_scenario_load_logged(scenario->path, scenario->text, scenario->text_size,
                                      overrides, override_count, &shelf, &copy, error) == 0);
    copy->isa = scenario->isa;
    return copy;
}

static long pause_between(uint64_t every_ns)
{
    static const long least = 1000000, most = 5000000;
    const long wanted = (long)(every_ns / 20);
    return wanted < least ? least : wanted > most ? most : wanted;
}

static void place_shown(struct ghost *ghost)
{
    ghost->q_size = (size_t)dyn_model_nq(ghost->rig->cfg->plant.model) * sizeof(double);
    const size_t item = sizeof(struct place) + ghost->q_size;
    const size_t size = rt_mailbox_size(item);
    ghost->shown_mem = aligned_alloc(RT_CACHE_LINE, (size / RT_CACHE_LINE + 1) * RT_CACHE_LINE);
    RT_CHECK(ghost->shown_mem);
    ghost->shown = rt_mailbox_place(item, ghost->shown_mem);
}

static void release(struct ghost *ghost)
{
    free(ghost->shown_mem);
    free(ghost->rig);
    cfg_scenario_free(ghost->scenario);
    free(ghost);
}

struct ghost *ghost_open(const struct cfg_scenario *scenario, const char *const *overrides,
                         int override_count, struct rt_mailbox *outlook, int cpu, int *failure)
{
    const struct cfg_predictor *predictor = &scenario->predictor;
    *failure = 0;
    if (predictor->every == 0)
        return NULL;
    struct ghost *ghost = calloc(1, sizeof *ghost);
    RT_CHECK(ghost);
    ghost->scenario = read_again(scenario, overrides, override_count);
    ghost->rig = rig_that_moves(ghost->scenario);
    ghost->outlook = outlook;
    ghost->every_ns = predictor->every * scenario->period_ns;
    ghost->pause_ns = pause_between(ghost->every_ns);
    ghost->result.seconds_ahead = (double)(predictor->ahead * scenario->period_ns) * 1e-9;
    place_shown(ghost);
    const struct rt_thread_spec spec = {.name = "ghost", .policy = SCHED_OTHER, .cpu = cpu};
    *failure = rt_thread_start(&ghost->thread, &spec, run, ghost);
    if (*failure == 0)
        return ghost;
    release(ghost);
    return NULL;
}

const double *ghost_newest(struct ghost *ghost, uint64_t *log_ns, int *carried)
{
    bool fresh;
    const struct place *place = rt_mailbox_take(ghost->shown, &fresh);
    *log_ns = place->log_ns;
    *carried = (int)place->carried;
    return fresh ? (const double *)(place + 1) : NULL;
}

void ghost_stop(struct ghost *ghost, struct ghost_result *result)
{
    if (!ghost)
        return;
    if (!atomic_exchange_explicit(&ghost->stop, true, memory_order_relaxed))
        rt_thread_join(&ghost->thread);
    *result = ghost->result;
}

void ghost_close(struct ghost *ghost)
{
    struct ghost_result unused;
    if (!ghost)
        return;
    ghost_stop(ghost, &unused);
    release(ghost);
}
