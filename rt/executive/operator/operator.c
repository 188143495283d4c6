#include "rt/executive/operator/operator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/arena.h"
#include "rt/check.h"
#include "rt/executive/operator/operator_private.h"

/* ---- set-up ------------------------------------------------------------------------------ */

/* One layout answers size and placement. */
static size_t lay_out(struct operator_desk *desk, size_t state_size, int parameter_count, void *mem)
{
    size_t at = 0;
    void *asked =
        rt_layout_cut(mem, &at, rt_ring_size(sizeof(struct operator_request), OPERATOR_ASK_MAX));
    void *rings[3];
    for (int i = 0; i < 3; i++)
        rings[i] = rt_layout_cut(
            mem, &at, rt_ring_size(sizeof(struct operator_letter), 2 * OPERATOR_ASK_MAX));
    desk->snapshot = rt_layout_cut(mem, &at, state_size);
    for (int i = 0; i < OPERATOR_SIDE_COUNT; i++)
        desk->staging[i].state = rt_layout_cut(mem, &at, state_size);
    desk->parameters =
        rt_layout_cut(mem, &at, (size_t)parameter_count * sizeof *desk->parameters + RT_CACHE_LINE);
    if (mem) {
        desk->asked = rt_ring_place(sizeof(struct operator_request), OPERATOR_ASK_MAX, asked);
        desk->chores =
            rt_ring_place(sizeof(struct operator_letter), 2 * OPERATOR_ASK_MAX, rings[0]);
        desk->from_frame =
            rt_ring_place(sizeof(struct operator_letter), 2 * OPERATOR_ASK_MAX, rings[1]);
        desk->from_house =
            rt_ring_place(sizeof(struct operator_letter), 2 * OPERATOR_ASK_MAX, rings[2]);
    }
    return at;
}

void operator_show_value(struct operator_desk *desk, int index)
{
    uint64_t bits;
    memcpy(&bits, &desk->rig->cfg->parameter[index], sizeof bits);
    atomic_store_explicit(&desk->value[index], bits, memory_order_relaxed);
}

void operator_show_values(struct operator_desk *desk)
{
    for (int i = 0; i < desk->rig->scenario->parameter_count; i++)
        operator_show_value(desk, i);
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

struct operator_desk *operator_open(struct rig *rig, atomic_bool *boundary_wanted,
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
    desk->boundary_wanted = desk->estop.boundary_wanted = boundary_wanted;
    desk->result.state_size = state_size;
    checkpoint_mark(rig->cfg, overrides, override_count, &desk->mark);
    fill_parameters(desk);
    operator_show_values(desk);
    rig->desk = (struct rig_desk){desk, operator_boundary, operator_heed};
    return desk;
}

void operator_close(struct operator_desk *desk)
{
    if (!desk)
        return;
    free(desk->memory);
    free(desk);
}

void operator_knock(struct operator_desk *desk)
{
    /* Release: who sees the knock sees what was pushed before it. */
    atomic_store_explicit(desk->boundary_wanted, true, memory_order_release);
}

void operator_script(struct operator_desk *desk, const struct operator_scripted *acts, int count)
{
    desk->script = acts;
    desk->script_count = count;
    if (count > 0)
        operator_knock(desk);
}

/* The first act of the command line is the restore that this is for. */
static void stage_first(struct operator_desk *desk)
{
    desk->staging[OPERATOR_SIDE_SCRIPT].serial = 0;
    atomic_store_explicit(&desk->staging[OPERATOR_SIDE_SCRIPT].stage, OPERATOR_READY,
                          memory_order_release);
}

int operator_begin_with(struct operator_desk *desk, const char *path, char error[256])
{
    struct operator_staging *staging = &desk->staging[OPERATOR_SIDE_SCRIPT];
    if (checkpoint_read(path, &desk->mark, desk->rig->cfg, staging->state, &staging->found,
                        staging->why)) {
        snprintf(error, 256, "%.80s: %s", path, staging->why);
        return -1;
    }
    stage_first(desk);
    return 0;
}

void operator_begin_from(struct operator_desk *desk, const void *state, uint64_t hash)
{
    struct operator_staging *staging = &desk->staging[OPERATOR_SIDE_SCRIPT];
    memcpy(staging->state, state, desk->rig->cfg->state_size);
    staging->found = (struct checkpoint){.hash = hash, .state = staging->state};
    stage_first(desk);
}

struct rt_estop *operator_estop(struct operator_desk *desk)
{
    return &desk->estop;
}

/* Is this hand at the arm, or as far away as the scenario wants it? */
static bool is_near(const struct cfg_scenario *scenario, int link)
{
    if (scenario->arm.joint_count == 0 || link < 0 || scenario->links[link].delay > 0)
        return false;
    for (int i = 0; i < scenario->fault_count; i++) {
        const struct cfg_fault *fault = &scenario->faults[i];
        if (fault->link == link && fault->spec.kind == IO_FAULT_DELAY && fault->way != CFG_WAY_OUT)
            return false;
    }
    return true;
}

void operator_watch(struct operator_desk *desk, struct io_links *links)
{
    const struct cfg_arm *arm = &desk->rig->scenario->arm;
    const int hand[] = {arm->translation.link, arm->rotation.link, arm->button_link};
    const int button = arm->panel.button[IO_ARM_PANEL_SAFE];
    for (int i = 0; i < 3; i++) {
        const bool has_button = hand[i] == arm->button_link && button >= 0;
        if (is_near(desk->rig->scenario, hand[i]))
            io_links_estop(links, hand[i], has_button ? 1u << button : 0, &desk->estop);
    }
}

void operator_lost(struct operator_desk *desk)
{
    if (is_near(desk->rig->scenario, desk->rig->scenario->arm.button_link))
        (void)rt_estop_raise(&desk->estop, RT_ESTOP_OPERATOR_LOST, rt_now_ns());
}

void operator_meet_hands(struct operator_desk *desk)
{
    desk->reader.read[RT_ESTOP_BUTTON] = rt_estop_count(&desk->estop, RT_ESTOP_BUTTON);
    desk->reader.read[RT_ESTOP_OPERATOR_LOST] =
        rt_estop_count(&desk->estop, RT_ESTOP_OPERATOR_LOST);
}

/* ---- the end ------------------------------------------------------------------------------- */

void operator_end(struct operator_desk *desk)
{
    /* Release: the asker takes over what the frame thread left. */
    atomic_store_explicit(&desk->over, true, memory_order_release);
}

/* Acts of the command line that lie behind the end, but for one that was due and waits. */
static int unreached(const struct operator_desk *desk)
{
    int count = 0;
    for (int i = 0; i < desk->script_count; i++)
        count += i >= (desk->script[i].request.act == OPERATOR_SAFE ? desk->stop_next
                                                                    : desk->script_next);
    return count - desk->script_late;
}

static void name_failure(const struct operator_desk *desk, struct operator_result *result,
                         uint64_t unfinished)
{
    const struct operator_letter *letter = &desk->frame_failure;
    char why[192];
    if (desk->failure[0] != '\0') {
        snprintf(result->failure, sizeof result->failure, "%s", desk->failure);
    } else if (desk->frame_failed > 0) {
        operator_say(desk, letter, why, sizeof why);
        const bool restores = letter->request.act == OPERATOR_RESTORE;
        snprintf(result->failure, sizeof result->failure, "%s%s: %s", restores ? "restore " : "",
                 restores ? letter->request.path : desk->script[letter->serial].text, why);
    } else if (desk->script_late) {
        snprintf(result->failure, sizeof result->failure,
                 "%s: the run ended before it could be carried out",
                 desk->script[desk->script_next].text);
    } else if (unfinished > 0) {
        snprintf(result->failure, sizeof result->failure,
                 "checkpoint: the disk did not answer, so its file is not known to be written");
    }
}

void operator_result(const struct operator_desk *desk, struct operator_result *result)
{
    const uint64_t unfinished =
        desk->scripted_checkpoints - atomic_load_explicit(&desk->written, memory_order_acquire);
    *result = desk->result;
    result->unreached = unreached(desk);
    result->failed = atomic_load_explicit(&desk->failed, memory_order_relaxed) +
                     desk->frame_failed + desk->script_late + (int)unfinished;
    name_failure(desk, result, unfinished);
}

/* ---- asker --------------------------------------------------------------------------------- */

bool operator_ask(struct operator_desk *desk, const struct operator_request *request)
{
    struct operator_request *asked = rt_ring_claim(desk->asked);
    if (!asked)
        return false;
    *asked = *request;
    asked->path[sizeof asked->path - 1] = '\0';
    if (asked->ticket == OPERATOR_SCRIPTED)
        asked->ticket--;
    rt_ring_push(desk->asked);
    operator_knock(desk);
    return true;
}

bool operator_stop(struct operator_desk *desk, uint64_t ticket)
{
    const uint32_t number = rt_estop_raise(&desk->estop, RT_ESTOP_OPERATOR, rt_now_ns());
    for (int i = 0; i < OPERATOR_STOPS_MAX; i++) {
        if (desk->waiting[i].number != 0)
            continue;
        desk->waiting[i] = (struct operator_waiting_stop){ticket, number};
        return true;
    }
    return false;
}

/* A stop that the frame has read, or never will. */
static bool answer_stop(struct operator_desk *desk, bool over, struct operator_answer *answer)
{
    /* Acquire: with the count come the frames. */
    const uint32_t stopped = atomic_load_explicit(&desk->stopped, memory_order_acquire);
    for (int i = 0; i < OPERATOR_STOPS_MAX; i++) {
        struct operator_waiting_stop *waiting = &desk->waiting[i];
        const bool read = (int32_t)(stopped - waiting->number) >= 0;
        if (waiting->number == 0 || !(read || over))
            continue;
        const struct operator_letter letter = {
            .request = {.act = OPERATOR_SAFE},
            .frame = atomic_load_explicit(
                &desk->stopped_before[waiting->number % OPERATOR_READ_MAX], memory_order_relaxed),
            .outcome = desk->rig->cfg->arm == NULL ? OPERATOR_NO_ARM : OPERATOR_DONE,
        };
        *answer = (struct operator_answer){.ticket = waiting->ticket,
                                           .frame = letter.frame,
                                           .done = letter.outcome == OPERATOR_DONE};
        operator_say(desk, &letter, answer->text, sizeof answer->text);
        if (answer->done && !read) /* nothing moves any more */
            snprintf(answer->text, sizeof answer->text,
                     "the run has ended, and no frame follows the stop");
        waiting->number = 0;
        return true;
    }
    return false;
}

/* What nobody will carry out any more. */
static bool answer_rest(struct operator_desk *desk, struct operator_answer *answer)
{
    const struct operator_request *request = rt_ring_front(desk->asked);
    if (!request)
        return false;
    const struct operator_letter letter = {.request = *request, .outcome = OPERATOR_RUN_OVER};
    *answer = (struct operator_answer){.ticket = request->ticket};
    operator_say(desk, &letter, answer->text, sizeof answer->text);
    rt_ring_pop(desk->asked);
    return true;
}

bool operator_answers(struct operator_desk *desk, struct operator_answer *answer)
{
    /* Acquire: the frame thread has looked for the last time before it was over. */
    const bool over = atomic_load_explicit(&desk->over, memory_order_acquire);
    if (answer_stop(desk, over, answer))
        return true;
    struct rt_ring *ring = desk->from_frame;
    const struct operator_letter *letter = rt_ring_front(ring);
    if (!letter) {
        ring = desk->from_house;
        letter = rt_ring_front(ring);
    }
    if (!letter)
        return over && answer_rest(desk, answer);
    *answer = (struct operator_answer){.ticket = letter->request.ticket,
                                       .frame = letter->frame,
                                       .done = letter->outcome == OPERATOR_DONE};
    operator_say(desk, letter, answer->text, sizeof answer->text);
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
