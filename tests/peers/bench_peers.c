/*
 * Forward dynamics, ours and other engines', timed side by side in one pinned thread.
 *
 *      bench_peers MODELS_DIR SEGMENTS
 *
 * One line of JSON a model: nanoseconds per call of every contender in every segment.  In a segment
 * all contenders have their turn, so that each meets the same machine; a turn goes over the same 64
 * states, setting the state included, and is measured in thread CPU time.  tools/bench-peers
 * judges.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dynamics/kernel/batch/batch.h"
#include "rt/check.h"
#include "tests/peers/generated_models.h"
#include "tests/peers/subject.h"

enum { STATES = 64, CONTENDERS_MAX = 8, TURN_NS = 4000000 };

/* Far above what rounding does to the worst of them on the longest chain, far below a mistake. */
static const double error_max = 1e-6;

struct contender {
    const char *name;
    void (*run)(void *self, int slot);
    void *self;
    const struct engine *engine; /* NULL: ours */
    double error;                /* against ours, worst of the states */
    int rounds;                  /* over the states, in one turn */
    double *call_ns;             /* by segment */
};

struct bench {
    const char *name;
    const char *source;
    struct subject subject;
    struct subject plain; /* the same on the plain instruction set */
    struct subject_state states[STATES];
    double *ours, *theirs;  /* an acceleration of each */
    struct dyn_batch batch; /* the states once more, side by side */
    struct dyn_batch_work *batch_work;
    double *batch_mem;
    int contender_count;
    struct contender contenders[CONTENDERS_MAX];
};

static double cpu_ns(void)
{
    struct timespec now;
    RT_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* The last core that is allowed: the first has most of the interrupts. */
static void pin(void)
{
    cpu_set_t allowed, one;
    RT_CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    size_t cpu = CPU_SETSIZE - 1;
    while (!CPU_ISSET(cpu, &allowed))
        cpu--;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    RT_CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
}

static double *numbers(int count)
{
    double *mem = calloc((size_t)count, sizeof *mem);
    RT_CHECK(mem);
    return mem;
}

/* ---- contenders ---- */

static void run_ours(void *self, int slot)
{
    const struct bench *bench = self;
    subject_forward(&bench->subject, &bench->states[slot], bench->ours);
}

static void run_plain(void *self, int slot)
{
    const struct bench *bench = self;
    subject_forward(&bench->plain, &bench->states[slot], bench->ours);
}

/* All states at the first of them, so that a turn over the states costs what the batch costs. */
static void run_batch(void *self, int slot)
{
    const struct bench *bench = self;
    const size_t given = (size_t)(bench->subject.engine.nq + 2 * bench->subject.engine.nv) * STATES;
    if (slot == 0)
        dyn_aba_batch(bench->subject.tree, &bench->batch, bench->batch_work,
                      bench->batch_mem + given);
}

static struct contender *add(struct bench *bench, const char *name, int segments)
{
    RT_CHECK(bench->contender_count < CONTENDERS_MAX);
    struct contender *contender = &bench->contenders[bench->contender_count++];
    *contender = (struct contender){.name = name, .call_ns = numbers(segments)};
    return contender;
}

static void spread(const double *from, int count, int slot, double *to)
{
    for (int k = 0; k < count; k++)
        to[k * STATES + slot] = from[k];
}

static void open_batch(struct bench *bench)
{
    const int nq = bench->subject.engine.nq, nv = bench->subject.engine.nv;
    const size_t size = (dyn_batch_work_size(bench->subject.tree) + 63) / 64 * 64;
    void *mem = aligned_alloc(64, size);
    RT_CHECK(mem);
    bench->batch_work = dyn_batch_work_place(bench->subject.tree, mem);
    bench->batch_mem = numbers((nq + 3 * nv) * STATES);
    double *q = bench->batch_mem, *v = q + nq * STATES, *tau = v + nv * STATES;
    for (int i = 0; i < STATES; i++) {
        spread(bench->states[i].q, nq, i, q);
        spread(bench->states[i].v, nv, i, v);
        spread(bench->states[i].tau, nv, i, tau);
    }
    bench->batch =
        (struct dyn_batch){.count = STATES, .stride = STATES, .q = q, .v = v, .tau = tau};
    memcpy(bench->batch.gravity, bench->subject.engine.gravity, sizeof bench->batch.gravity);
}

static void add_own(struct bench *bench, const char *name, void (*run)(void *self, int slot),
                    int segments)
{
    struct contender *contender = add(bench, name, segments);
    contender->run = run;
    contender->self = bench;
}

static void add_ours(struct bench *bench, int segments)
{
    add_own(bench, "ours", run_ours, segments);
    if (dyn_model_isa(bench->subject.tree) != DYN_ISA_SSE2)
        add_own(bench, "sse2", run_plain, segments);
    open_batch(bench);
    add_own(bench, "batch", run_batch, segments);
}

/* A race between engines that answer different questions is void. */
static void check_answers(struct bench *bench, struct contender *contender)
{
    for (int i = 0; i < STATES; i++) {
        contender->run(contender->self, i);
        contender->engine->get(contender->self, i, bench->theirs);
        run_ours(bench, i);
        const double error = subject_error(&bench->subject, bench->ours, bench->theirs);
        contender->error = error > contender->error ? error : contender->error;
    }
    if (contender->error > error_max) {
        (void)fprintf(stderr, "bench_peers: %s is %.2g off on %s\n", contender->name,
                      contender->error, bench->name);
        exit(1);
    }
}

/* Where this build has it and it knows such models. */
static void add_engine(struct bench *bench, const char *name, int segments)
{
    const struct engine *engine = engine_find(name);
    void *self = engine ? engine->open(&bench->subject.engine, STATES) : NULL;
    if (!self)
        return;
    for (int i = 0; i < STATES; i++)
        engine->put(self, i, bench->states[i].q, bench->states[i].v, bench->states[i].tau);
    struct contender *contender = add(bench, engine->name, segments);
    contender->engine = engine;
    contender->run = engine->run;
    contender->self = self;
    check_answers(bench, contender);
}

/* ---- the race ---- */

static double turn_ns(const struct contender *contender)
{
    const double begin = cpu_ns();
    for (int round = 0; round < contender->rounds; round++)
        for (int i = 0; i < STATES; i++)
            contender->run(contender->self, i);
    return cpu_ns() - begin;
}

static void choose_rounds(struct contender *contender)
{
    contender->rounds = 1;
    while (turn_ns(contender) < TURN_NS)
        contender->rounds *= 2;
}

static void race(struct bench *bench, int segments)
{
    for (int i = 0; i < bench->contender_count; i++)
        choose_rounds(&bench->contenders[i]);
    for (int segment = 0; segment < segments; segment++)
        for (int i = 0; i < bench->contender_count; i++) {
            /* nobody is always behind the same one */
            const int next = segment % 2 == 0 ? i : bench->contender_count - 1 - i;
            struct contender *contender = &bench->contenders[next];
            contender->call_ns[segment] = turn_ns(contender) / (contender->rounds * STATES);
        }
}

static void print(const struct bench *bench, int segments)
{
    printf("{\"model\":\"%s\",\"source\":\"%s\",\"dof\":%d,\"contenders\":{", bench->name,
           bench->source, bench->subject.engine.nv);
    for (int i = 0; i < bench->contender_count; i++) {
        const struct contender *contender = &bench->contenders[i];
        printf("%s\"%s\":{\"error\":%.3g,\"call_ns\":[", i ? "," : "", contender->name,
               contender->error);
        for (int k = 0; k < segments; k++)
            printf("%s%.1f", k ? "," : "", contender->call_ns[k]);
        printf("]}");
    }
    printf("}}\n");
    (void)fflush(stdout);
}

/* ---- models ---- */

static int load(struct bench *bench, struct subject *subject, const char *dir, int free_base)
{
    struct dyn_body_spec *specs = NULL;
    int body_count = 0;
    bench->source = "urdf";
    if (subject_load(subject, dir, bench->name, free_base) == 0)
        return 0;
    bench->source = "made";
    if (strcmp(bench->name, "spacecraft22") == 0)
        specs = generated_spacecraft(), body_count = GENERATED_SPACECRAFT_BODIES;
    else if (sscanf(bench->name, "chain%d", &body_count) == 1)
        specs = generated_chain(body_count);
    else
        return 1;
    subject_make(subject, specs, body_count);
    free(specs);
    return 0;
}

static void run_model(const char *name, int free_base, const char *dir, int segments)
{
    struct bench bench = {.name = name};
    if (load(&bench, &bench.subject, dir, free_base) != 0 ||
        load(&bench, &bench.plain, dir, free_base) != 0)
        return;
    dyn_model_use_isa((struct dyn_model *)bench.plain.tree, DYN_ISA_SSE2);
    bench.ours = numbers(bench.subject.engine.nv);
    bench.theirs = numbers(bench.subject.engine.nv);
    for (int i = 0; i < STATES; i++) {
        subject_state_open(&bench.subject, &bench.states[i]);
        subject_state_random(&bench.subject, i, &bench.states[i]);
    }
    add_ours(&bench, segments);
    add_engine(&bench, "mujoco", segments);
    add_engine(&bench, "simbody", segments);
    add_engine(&bench, "kdl", segments);
    race(&bench, segments);
    print(&bench, segments);
    for (int i = 0; i < bench.contender_count; i++) {
        if (bench.contenders[i].engine)
            bench.contenders[i].engine->close(bench.contenders[i].self);
        free(bench.contenders[i].call_ns);
    }
    for (int i = 0; i < STATES; i++)
        subject_state_close(&bench.states[i]);
    free(bench.batch_mem);
    free(bench.batch_work);
    free(bench.ours);
    free(bench.theirs);
    subject_close(&bench.subject);
    subject_close(&bench.plain);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int free_base;
    } models[] = {{"ur5", 0},   {"panda7", 0},  {"spacecraft22", 1},
                  {"talos", 1}, {"chain30", 0}, {"chain100", 0}};
    const int segments = argc == 3 ? atoi(argv[2]) : 0;
    if (segments < 1) {
        (void)fprintf(stderr, "usage: bench_peers MODELS_DIR SEGMENTS\n");
        return 64;
    }
    pin();
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        run_model(models[i].name, models[i].free_base, argv[1], segments);
    return 0;
}
