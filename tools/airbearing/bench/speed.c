#include "tools/airbearing/bench/speed.h"

#include <string.h>

enum { CONTENDERS_MAX = 2 * SPEED_ISA_COUNT, TURN_NS = 2000000 };

struct contender {
    enum dyn_isa isa;
    bool is_batch;
    int rounds; /* over the pool, in one turn */
    double state_ns[SPEED_SEGMENTS];
};

static void run_pool(const struct subject *subject, bool is_batch)
{
    if (is_batch) {
        subject_batch(subject);
        return;
    }
    for (int i = 0; i < subject->state_count; i++)
        subject_forward(subject, i);
}

static double turn_ns(const struct subject *subject, const struct contender *contender)
{
    dyn_model_use_isa(subject->tree, contender->isa);
    const double begin_ns = median_cpu_ns();
    for (int round = 0; round < contender->rounds; round++)
        run_pool(subject, contender->is_batch);
    return median_cpu_ns() - begin_ns;
}

/* The first turn is also the warm-up. */
static void choose_rounds(const struct subject *subject, struct contender *contender)
{
    contender->rounds = 1;
    while (turn_ns(subject, contender) < TURN_NS)
        contender->rounds *= 2;
}

static int enter(const struct subject *subject, int only, struct contender *contenders)
{
    int count = 0;
    for (int isa = 0; isa < SPEED_ISA_COUNT; isa++) {
        if ((only >= 0 && isa != only) || !dyn_isa_runs((enum dyn_isa)isa))
            continue;
        contenders[count++] = (struct contender){.isa = (enum dyn_isa)isa};
        if (subject->batch_work != NULL)
            contenders[count++] = (struct contender){.isa = (enum dyn_isa)isa, .is_batch = true};
    }
    return count;
}

void speed_measure(const struct subject *subject, int only, struct speed speeds[SPEED_ISA_COUNT])
{
    struct contender contenders[CONTENDERS_MAX];
    const int count = enter(subject, only, contenders);
    const enum dyn_isa own = dyn_model_isa(subject->tree);

    for (int i = 0; i < count; i++)
        choose_rounds(subject, &contenders[i]);
    for (int segment = 0; segment < SPEED_SEGMENTS; segment++)
        for (int i = 0; i < count; i++) {
            /* so that the order differs between turns */
            struct contender *next = &contenders[segment % 2 == 0 ? i : count - 1 - i];
            next->state_ns[segment] =
                turn_ns(subject, next) / (next->rounds * subject->state_count);
        }
    dyn_model_use_isa(subject->tree, own);

    memset(speeds, 0, SPEED_ISA_COUNT * sizeof *speeds);
    for (int i = 0; i < count; i++) {
        struct speed *speed = &speeds[contenders[i].isa];
        const struct median spread = median_of(contenders[i].state_ns, SPEED_SEGMENTS);
        speed->is_measured = true;
        *(contenders[i].is_batch ? &speed->batch_ns : &speed->forward_ns) = spread;
    }
}
