#include "tools/airbearing/operator.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/arena.h"
#include "rt/check.h"
#include "rt/clock.h"
#include "rt/ring.h"
#include "tools/airbearing/checkpoint.h"
#include "tools/airbearing/rig.h"

enum {
    ASK_MAX = 64,         /* requests that may wait */
    ACTS_PER_FRAME = 8,   /* carried out between two frames */
    STEP_MAX = 100000000, /* frames of one step */
};
static const uint64_t SCRIPTED = UINT64_MAX; /* ticket of an act of the command line */

/* What came of a request, in a word; whoever asks makes a sentence of it. */
enum outcome { DONE, NO_SUCH_INDEX, NO_ARM, OUT_OF_LIMITS, FILE_FAILED };

struct outcome_letter {
    struct operator_request request;
    uint64_t frame;
    enum outcome outcome;
    uint64_t copy_ns;
    char why[CHECKPOINT_ERROR_MAX];
};

/* Where the state that is to be restored stands on its way to the frame. */
enum staging { STAGE_EMPTY, STAGE_READING, STAGE_READY, STAGE_FAILED };

struct operator_desk {
    struct rig *rig;
    atomic_bool *knock;
    struct checkpoint_mark mark;
    struct operator_parameter *parameters;
    _Atomic uint64_t value[CFG_PARAMETER_MAX]; /* bits of a double, in force */
    atomic_bool shows_paused;

    struct rt_ring *asked;      /* asker to frame, of struct operator_request */
    struct rt_ring *chores;     /* frame to house, of struct outcome_letter */
    struct rt_ring *from_frame; /* to asker, of struct outcome_letter */
    struct rt_ring *from_house; /* to asker, of the same */

    /* frame thread */
    bool paused;
    uint64_t steps;    /* left to run before the pause goes on */
    uint64_t held;     /* releases of pauses so far; how long a file took does not count */
    uint64_t held_now; /* releases of the pause that lasts */
    const struct operator_scripted *script;
    int script_count, script_next;
    struct operator_result result;

    /* frame to house: written by the frame while not busy, read by the house while busy */
    atomic_bool snapshot_busy;
    unsigned char *snapshot;
    struct checkpoint taken;

    /* house to frame: written by the house while reading, read by the frame when ready */
    _Atomic int stage; /* enum staging */
    unsigned char *staged;
    struct checkpoint found;

    /* house */
    atomic_int failed;
    char failure[512];
    void *memory;
};

/* ---- set-up ------------------------------------------------------------------------------ */

/* One layout answers size and placement. */
static size_t lay_out(struct operator_desk *desk, size_t state_size, int parameter_count, void *mem)
{
    size_t at = 0;
    void *asked = rt_cut(mem, &at, rt_ring_size(sizeof(struct operator_request), ASK_MAX));
    void *rings[3];
    for (int i = 0; i < 3; i++)
        rings[i] = rt_cut(mem, &at, rt_ring_size(sizeof(struct outcome_letter), 2 * ASK_MAX));
    desk->snapshot = rt_cut(mem, &at, state_size);
    desk->staged = rt_cut(mem, &at, state_size);
    desk->parameters =
        rt_cut(mem, &at, (size_t)parameter_count * sizeof *desk->parameters + RT_CACHE_LINE);
    if (mem) {
        desk->asked = rt_ring_place(sizeof(struct operator_request), ASK_MAX, asked);
        desk->chores = rt_ring_place(sizeof(struct outcome_letter), 2 * ASK_MAX, rings[0]);
        desk->from_frame = rt_ring_place(sizeof(struct outcome_letter), 2 * ASK_MAX, rings[1]);
        desk->from_house = rt_ring_place(sizeof(struct outcome_letter), 2 * ASK_MAX, rings[2]);
    }
    return at;
}

static void show_value(struct operator_desk *desk, int index)
{
    uint64_t bits;
    memcpy(&bits, &desk->rig->cfg->parameter[index], sizeof bits);
    atomic_store_explicit(&desk->value[index], bits, memory_order_relaxed);
}

static void show_values(struct operator_desk *desk)
{
    for (int i = 0; i < desk->rig->scenario->parameter_count; i++)
        show_value(desk, i);
}

static void fill_parameters(struct operator_desk *desk)
{
    for (int i = 0; i < desk->rig->scenario->parameter_count; i++) {
        const struct cfg_parameter *from = &desk->rig->scenario->parameters[i];
        struct operator_parameter *to = &desk->parameters[i];
        _Static_assert(sizeof to->name == sizeof from->name && sizeof to->unit == sizeof from->unit,
                       "names fit");
        memcpy(to->name, from->name, sizeof to->name);
        memcpy(to->unit, from->unit, sizeof to->unit);
        to->low = from->low;
        to->high = from->high;
    }
}

static bool boundary(void *self, uint64_t frame);

struct operator_desk *operator_open(struct rig *rig, atomic_bool *knock,
                                    const char *const *overrides, int override_count)
{
    const size_t state_size = rig->cfg->state_size;
    const int parameters = rig->scenario->parameter_count;
    struct operator_desk *desk = calloc(1, sizeof *desk);
    if (!desk)
        return NULL;
    const size_t size = lay_out(desk, state_size, parameters, NULL);
    desk->memory = aligned_alloc(RT_CACHE_LINE, (size / RT_CACHE_LINE + 1) * RT_CACHE_LINE);
    if (!desk->memory) {
        free(desk);
        return NULL;
    }
    memset(desk->memory, 0, size); /* and touched, so that the frame finds its pages there */
    (void)lay_out(desk, state_size, parameters, desk->memory);
    desk->rig = rig;
    desk->knock = knock;
    desk->result.state_size = state_size;
    checkpoint_mark(rig->cfg, overrides, override_count, &desk->mark);
    fill_parameters(desk);
    show_values(desk);
    rig->desk = (struct rig_desk){desk, boundary};
    return desk;
}

void operator_close(struct operator_desk *desk)
{
    if (!desk)
        return;
    free(desk->memory);
    free(desk);
}

static void knock(struct operator_desk *desk)
{
    /* Release: who sees the knock sees what was pushed before it. */
    atomic_store_explicit(desk->knock, true, memory_order_release);
}

void operator_script(struct operator_desk *desk, const struct operator_scripted *acts, int count)
{
    desk->script = acts;
    desk->script_count = count;
    if (count > 0)
        knock(desk);
}

int operator_begin_with(struct operator_desk *desk, const char *path, char error[256])
{
    char why[CHECKPOINT_ERROR_MAX];
    if (checkpoint_read(path, &desk->mark, desk->rig->cfg, desk->staged, &desk->found, why)) {
        snprintf(error, 256, "%.80s: %s", path, why);
        return -1;
    }
    atomic_store_explicit(&desk->stage, STAGE_READY, memory_order_release);
    return 0;
}

void operator_begin_from(struct operator_desk *desk, const void *state, uint64_t hash)
{
    memcpy(desk->staged, state, desk->rig->cfg->state_size);
    desk->found = (struct checkpoint){.hash = hash, .state = desk->staged};
    atomic_store_explicit(&desk->stage, STAGE_READY, memory_order_release);
}

/* ---- frame thread ------------------------------------------------------------------------- */

/* A full ring loses the answer, not the act. */
static void tell(struct rt_ring *ring, const struct operator_request *request, uint64_t frame,
                 enum outcome outcome, uint64_t copy_ns)
{
    struct outcome_letter *letter =
        request->ticket == SCRIPTED ? NULL : (struct outcome_letter *)rt_ring_claim(ring);
    if (!letter)
        return;
    letter->request = *request;
    letter->frame = frame;
    letter->outcome = outcome;
    letter->copy_ns = copy_ns;
    letter->why[0] = '\0';
    rt_ring_push(ring);
}

static void record(struct operator_desk *desk, const struct operator_request *request,
                   uint64_t frame, const struct rig_snapshot *snapshot)
{
    struct record_act act = {.frame = frame,
                             .value = request->value,
                             .index = request->index,
                             .act = (uint8_t)request->act};
    rig_act(desk->rig, &act, snapshot);
    desk->result.acts++;
}

/* False: the house has not finished with the one before. */
static bool take_checkpoint(struct operator_desk *desk, const struct operator_request *request,
                            uint64_t frame)
{
    struct rig *rig = desk->rig;
    if (atomic_load_explicit(&desk->snapshot_busy, memory_order_acquire))
        return false;
    struct outcome_letter *chore = rt_ring_claim(desk->chores);
    if (!chore)
        return false;
    const uint64_t begin_ns = rt_now_ns();
    memcpy(desk->snapshot, rig->cfg->state, rig->cfg->state_size);
    const uint64_t copy_ns = rt_now_ns() - begin_ns;
    desk->taken = (struct checkpoint){
        .frame = rig->cfg->schedule->frame, .hash = rig->hash, .state = desk->snapshot};
    desk->result.checkpoints++;
    if (copy_ns > desk->result.copy_ns_max)
        desk->result.copy_ns_max = copy_ns;
    chore->request = *request;
    chore->frame = frame;
    chore->copy_ns = copy_ns;
    atomic_store_explicit(&desk->snapshot_busy, true, memory_order_relaxed);
    rt_ring_push(desk->chores); /* releases all of the above */
    record(desk, request, frame, NULL);
    return true;
}

static void ask_for_file(struct operator_desk *desk, const struct operator_request *request,
                         uint64_t frame)
{
    struct outcome_letter *chore = rt_ring_claim(desk->chores);
    if (!chore)
        return;
    chore->request = *request;
    chore->frame = frame;
    atomic_store_explicit(&desk->stage, STAGE_READING, memory_order_relaxed);
    rt_ring_push(desk->chores);
}

/* False: not yet, the file is being read. */
static bool restore(struct operator_desk *desk, const struct operator_request *request,
                    uint64_t frame)
{
    /* Acquire: with the word come the bytes. */
    const int stage = atomic_load_explicit(&desk->stage, memory_order_acquire);
    if (stage == STAGE_EMPTY)
        ask_for_file(desk, request, frame);
    if (stage == STAGE_EMPTY || stage == STAGE_READING)
        return false;
    if (stage == STAGE_READY) {
        const struct rig_snapshot snapshot = {desk->staged, desk->found.hash};
        record(desk, request, frame, &snapshot);
        show_values(desk);
        tell(desk->from_frame, request, frame, DONE, 0);
    }
    atomic_store_explicit(&desk->stage, STAGE_EMPTY, memory_order_relaxed);
    return true;
}

static enum outcome tune(struct operator_desk *desk, const struct operator_request *request,
                         uint64_t frame)
{
    const struct cfg_scenario *scenario = desk->rig->scenario;
    if (request->index >= (uint32_t)scenario->parameter_count)
        return NO_SUCH_INDEX;
    const struct cfg_parameter *parameter = &scenario->parameters[request->index];
    if (!(request->value >= parameter->low && request->value <= parameter->high))
        return OUT_OF_LIMITS;
    record(desk, request, frame, NULL);
    show_value(desk, (int)request->index);
    return DONE;
}

static enum outcome fault(struct operator_desk *desk, const struct operator_request *request,
                          uint64_t frame)
{
    if (request->index >= (uint32_t)desk->rig->scenario->fault_count)
        return NO_SUCH_INDEX;
    record(desk, request, frame, NULL);
    return DONE;
}

static enum outcome safe(struct operator_desk *desk, const struct operator_request *request,
                         uint64_t frame)
{
    if (desk->rig->cfg->arm == NULL)
        return NO_ARM;
    record(desk, request, frame, NULL);
    return DONE;
}

static enum outcome pace(struct operator_desk *desk, const struct operator_request *request,
                         uint64_t frame)
{
    if (request->act == OPERATOR_STEP && !(request->value >= 1.0 && request->value <= STEP_MAX))
        return OUT_OF_LIMITS;
    desk->paused = request->act != OPERATOR_RESUME;
    desk->steps = request->act == OPERATOR_STEP ? (uint64_t)request->value : 0;
    record(desk, request, frame, NULL);
    return DONE;
}

/* False: not yet; it stays the next. */
static bool carry_out(struct operator_desk *desk, const struct operator_request *request,
                      uint64_t frame)
{
    enum outcome outcome = DONE;
    switch (request->act) {
    case OPERATOR_CHECKPOINT:
        return take_checkpoint(desk, request, frame);
    case OPERATOR_RESTORE:
        return restore(desk, request, frame);
    case OPERATOR_RESET:
        record(desk, request, frame, NULL);
        show_values(desk);
        break;
    case OPERATOR_TUNE:
        outcome = tune(desk, request, frame);
        break;
    case OPERATOR_FAULT:
        outcome = fault(desk, request, frame);
        break;
    case OPERATOR_SAFE:
        outcome = safe(desk, request, frame);
        break;
    case OPERATOR_PAUSE:
    case OPERATOR_RESUME:
    case OPERATOR_STEP:
        outcome = pace(desk, request, frame);
        break;
    default:
        outcome = NO_SUCH_INDEX;
    }
    tell(desk->from_frame, request, frame, outcome, 0);
    return true;
}

static const struct operator_scripted *scripted(const struct operator_desk *desk, uint64_t frame)
{
    const struct operator_scripted *next =
        desk->script_next < desk->script_count ? &desk->script[desk->script_next] : NULL;
    return next && next->boundary <= frame + desk->held ? next : NULL;
}

/* True when the next one has to wait. */
static bool carry_out_some(struct operator_desk *desk, uint64_t frame)
{
    for (int i = 0; i < ACTS_PER_FRAME; i++) {
        const struct operator_scripted *act = scripted(desk, frame);
        const struct operator_request *request =
            act ? &act->request : (const struct operator_request *)rt_ring_front(desk->asked);
        if (!request)
            return false;
        if (!rig_has_room_for_act(desk->rig) || !carry_out(desk, request, frame))
            return true;
        if (act)
            desk->script_next++;
        else
            rt_ring_pop(desk->asked);
    }
    return false;
}

/* Between two frames.  No wall clock paces a run that is not real: there an act that needs a file
 * is worth waiting for, so that it comes before the frame that it was asked for. */
static bool boundary(void *self, uint64_t frame)
{
    struct operator_desk *desk = self;
    /* Acquire: what was pushed before a knock is seen after it. */
    (void)atomic_exchange_explicit(desk->knock, false, memory_order_acquire);
    const bool stalled = carry_out_some(desk, frame);
    const bool waits = stalled && desk->rig->scenario->pace != RT_PACE_REAL;
    const bool steps = !waits && desk->paused && desk->steps > 0;
    const bool hold = waits || (desk->paused && !steps);
    desk->steps -= steps;
    desk->held += hold && !waits;

    if (stalled || desk->paused || desk->script_next < desk->script_count ||
        rt_ring_front(desk->asked))
        knock(desk);
    atomic_store_explicit(&desk->shows_paused, desk->paused, memory_order_relaxed);
    desk->held_now = hold ? desk->held_now + 1 : 0;
    if (hold)
        rig_idle(desk->rig, desk->held_now);
    return hold;
}

/* ---- house -------------------------------------------------------------------------------- */

/* The first act of the command line that fails is told at the end. */
static void note_failure(struct operator_desk *desk, const struct operator_request *request,
                         const char *why)
{
    if (atomic_fetch_add_explicit(&desk->failed, 1, memory_order_relaxed) == 0)
        snprintf(desk->failure, sizeof desk->failure, "%s %s: %s",
                 request->act == OPERATOR_CHECKPOINT ? "checkpoint" : "restore", request->path,
                 why);
}

static void answer(struct operator_desk *desk, const struct outcome_letter *chore,
                   enum outcome outcome, const char *why)
{
    if (chore->request.ticket == SCRIPTED) {
        if (outcome != DONE)
            note_failure(desk, &chore->request, why);
        return;
    }
    struct outcome_letter *letter = rt_ring_claim(desk->from_house);
    if (!letter)
        return;
    *letter = *chore;
    letter->outcome = outcome;
    snprintf(letter->why, sizeof letter->why, "%s", why);
    rt_ring_push(desk->from_house);
}

static void write_checkpoint(struct operator_desk *desk, const struct outcome_letter *chore)
{
    char why[CHECKPOINT_ERROR_MAX] = "";
    const int failure = checkpoint_write(chore->request.path, &desk->mark, &desk->taken, why);
    atomic_store_explicit(&desk->snapshot_busy, false, memory_order_release);
    answer(desk, chore, failure ? FILE_FAILED : DONE, why);
}

static void read_checkpoint(struct operator_desk *desk, const struct outcome_letter *chore)
{
    char why[CHECKPOINT_ERROR_MAX] = "";
    const int failure = checkpoint_read(chore->request.path, &desk->mark, desk->rig->cfg,
                                        desk->staged, &desk->found, why);
    if (failure)
        answer(desk, chore, FILE_FAILED, why);
    atomic_store_explicit(&desk->stage, failure ? STAGE_FAILED : STAGE_READY, memory_order_release);
    knock(desk);
}

void operator_keep_house(struct operator_desk *desk)
{
    for (const struct outcome_letter *chore; (chore = rt_ring_front(desk->chores)) != NULL;) {
        if (chore->request.act == OPERATOR_CHECKPOINT)
            write_checkpoint(desk, chore);
        else
            read_checkpoint(desk, chore);
        rt_ring_pop(desk->chores);
    }
}

void operator_result(const struct operator_desk *desk, struct operator_result *result)
{
    *result = desk->result;
    result->unreached = desk->script_count - desk->script_next;
    result->failed = atomic_load_explicit(&desk->failed, memory_order_relaxed);
    snprintf(result->failure, sizeof result->failure, "%s", desk->failure);
}

/* ---- asker --------------------------------------------------------------------------------- */

bool operator_ask(struct operator_desk *desk, const struct operator_request *request)
{
    struct operator_request *asked = rt_ring_claim(desk->asked);
    if (!asked)
        return false;
    *asked = *request;
    asked->path[sizeof asked->path - 1] = '\0';
    if (asked->ticket == SCRIPTED)
        asked->ticket--;
    rt_ring_push(desk->asked);
    knock(desk);
    return true;
}

static void say_done(const struct operator_desk *desk, const struct outcome_letter *letter,
                     char *text, size_t size)
{
    const struct operator_request *request = &letter->request;
    const struct cfg_scenario *scenario = desk->rig->scenario;
    switch (request->act) {
    case OPERATOR_PAUSE:
        snprintf(text, size, "paused before frame %" PRIu64, letter->frame);
        break;
    case OPERATOR_RESUME:
        snprintf(text, size, "goes on with frame %" PRIu64, letter->frame);
        break;
    case OPERATOR_STEP:
        snprintf(text, size, "%.0f frames from frame %" PRIu64 " on, then a pause", request->value,
                 letter->frame);
        break;
    case OPERATOR_RESET:
        snprintf(text, size, "as at the start, before frame %" PRIu64, letter->frame);
        break;
    case OPERATOR_CHECKPOINT:
        snprintf(text, size, "%" PRIu64 " bytes taken before frame %" PRIu64 " in %" PRIu64 " ns",
                 desk->mark.state_size, letter->frame, letter->copy_ns);
        break;
    case OPERATOR_RESTORE:
        snprintf(text, size, "put back before frame %" PRIu64, letter->frame);
        break;
    case OPERATOR_FAULT:
        snprintf(text, size, "%s: %s before frame %" PRIu64, scenario->faults[request->index].text,
                 request->value != 0.0 ? "begins" : "ends", letter->frame);
        break;
    case OPERATOR_SAFE:
        snprintf(text, size, "the arm stops before frame %" PRIu64, letter->frame);
        break;
    default:
        snprintf(text, size, "%s is %.10g %s from frame %" PRIu64 " on",
                 scenario->parameters[request->index].name, request->value,
                 scenario->parameters[request->index].unit, letter->frame);
    }
}

static void say_refused(const struct operator_desk *desk, const struct outcome_letter *letter,
                        char *text, size_t size)
{
    const struct operator_request *request = &letter->request;
    const bool tunes = request->act == OPERATOR_TUNE;
    if (letter->outcome == FILE_FAILED)
        snprintf(text, size, "%s", letter->why);
    else if (letter->outcome == NO_ARM)
        snprintf(text, size, "there is no arm to stop in this scenario");
    else if (letter->outcome == NO_SUCH_INDEX && (tunes || request->act == OPERATOR_FAULT))
        snprintf(text, size, "there is no %s %" PRIu32, tunes ? "parameter" : "fault",
                 request->index);
    else if (letter->outcome == NO_SUCH_INDEX)
        snprintf(text, size, "nobody knows how to do that");
    else if (tunes)
        snprintf(text, size, "%.10g is not from %.10g to %.10g", request->value,
                 desk->parameters[request->index].low, desk->parameters[request->index].high);
    else
        snprintf(text, size, "%.10g is no number of frames", request->value);
}

bool operator_answers(struct operator_desk *desk, struct operator_answer *answer)
{
    struct rt_ring *ring = desk->from_frame;
    const struct outcome_letter *letter = rt_ring_front(ring);
    if (!letter) {
        ring = desk->from_house;
        letter = rt_ring_front(ring);
    }
    if (!letter)
        return false;
    *answer = (struct operator_answer){
        .ticket = letter->request.ticket, .frame = letter->frame, .done = letter->outcome == DONE};
    (answer->done ? say_done : say_refused)(desk, letter, answer->text, sizeof answer->text);
    rt_ring_pop(ring);
    return true;
}

/* ---- what there is -------------------------------------------------------------------------- */

int operator_parameter_count(const struct operator_desk *desk)
{
    return desk->rig->scenario->parameter_count;
}

const struct operator_parameter *operator_parameter(const struct operator_desk *desk, int index)
{
    return &desk->parameters[index];
}

double operator_value(const struct operator_desk *desk, int index)
{
    const uint64_t bits = atomic_load_explicit(&desk->value[index], memory_order_relaxed);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

int operator_fault_count(const struct operator_desk *desk)
{
    return desk->rig->scenario->fault_count;
}

const char *operator_fault_name(const struct operator_desk *desk, int index)
{
    return desk->rig->scenario->faults[index].text;
}

bool operator_paused(const struct operator_desk *desk)
{
    return atomic_load_explicit(&desk->shows_paused, memory_order_relaxed);
}
