#include "tools/airbearing/bench/beams.h"
#include "config/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dynamics/plant.h"
#include "rt/check.h"
#include "tools/airbearing/bench/speed.h"

enum { TURN_NS = 2000000, NAME_MAX_SIZE = 32 };

static const char *const fidelity_of[BEAMS_KINDS] = {"rigid", "ruthless", "consistent"};
static const double step_s = 1e-4;

/* One chain, and the plant it is alone. */
struct chain {
    char name[NAME_MAX_SIZE];
    struct subject subject;
    struct dyn_plant plant;
    struct dyn_plant_work *work;
    double *x; /* of the plant, while it steps */
    int rounds[2];
    double forward_ns[SPEED_SEGMENTS], step_ns[SPEED_SEGMENTS];
};

static int open_chain(struct chain *chain, const char *fidelity, const struct beams *beams,
                      int states, char error[CFG_ERROR_MAX])
{
    (void)snprintf(chain->name, sizeof chain->name, "%s%dx%d", fidelity, beams->bodies,
                   beams->modes);
    const struct subject_source source = {.name = chain->name, .is_made = true};
    const int failure = subject_open(&chain->subject, &source, states, error);
    if (failure)
        return failure;
    chain->plant = (struct dyn_plant){.model = chain->subject.tree,
                                      .environment.gravity = {0.0, 0.0, -9.81},
                                      .integrator = DYN_RK4,
                                      .substeps = 1};
    chain->work =
        dyn_plant_work_place(&chain->plant, subject_room(dyn_plant_work_size(&chain->plant)));
    chain->x = subject_room((size_t)dyn_plant_state_count(&chain->plant) * sizeof *chain->x);
    return 0;
}

static void close_chain(struct chain *chain)
{
    subject_close(&chain->subject);
    free(chain->work);
    free(chain->x);
}

/* Each call starts from its own state, so that no chain diverges. */
static void step_chain(struct chain *chain, int state)
{
    const struct subject *subject = &chain->subject;
    const size_t nq = (size_t)subject->nq, nv = (size_t)subject->nv;
    memcpy(chain->x, subject->q + (size_t)state * nq, nq * sizeof *chain->x);
    memcpy(chain->x + nq, subject->v + (size_t)state * nv, nv * sizeof *chain->x);
    dyn_plant_step(&chain->plant, NULL, NULL, step_s, chain->work, chain->x);
}

static double turn_ns(struct chain *chain, bool is_step)
{
    const double begin_ns = median_cpu_ns();
    for (int round = 0; round < chain->rounds[is_step]; round++)
        for (int i = 0; i < chain->subject.state_count; i++)
            if (is_step)
                step_chain(chain, i);
            else
                subject_forward(&chain->subject, i);
    return median_cpu_ns() - begin_ns;
}

static void choose_rounds(struct chain *chain, bool is_step)
{
    chain->rounds[is_step] = 1;
    while (turn_ns(chain, is_step) < TURN_NS)
        chain->rounds[is_step] *= 2;
}

static double call_ns(struct chain *chain, bool is_step)
{
    return turn_ns(chain, is_step) / (chain->rounds[is_step] * chain->subject.state_count);
}

static void take_turns(struct chain *chains)
{
    for (int segment = 0; segment < SPEED_SEGMENTS; segment++)
        for (int i = 0; i < BEAMS_KINDS; i++) {
            struct chain *next = &chains[segment % 2 == 0 ? i : BEAMS_KINDS - 1 - i];
            next->forward_ns[segment] = call_ns(next, false);
            next->step_ns[segment] = call_ns(next, true);
        }
}

static double median_ratio(const double *above, const double *below)
{
    double ratio[SPEED_SEGMENTS];
    for (int k = 0; k < SPEED_SEGMENTS; k++)
        ratio[k] = above[k] / below[k];
    return median_of(ratio, SPEED_SEGMENTS).median;
}

static void fill_rows(struct chain *chains, struct beams *beams)
{
    for (int i = BEAMS_KINDS - 1; i >= 0;
         i--) { /* the rigid one last: sorting destroys the order of the turns */
        struct beams_row *row = &beams->row[i];
        const struct subject_source source = {.name = chains[i].name, .is_made = true};
        row->fidelity = fidelity_of[i];
        row->ratio = median_ratio(chains[i].forward_ns, chains[0].forward_ns);
        row->forward_ns = median_of(chains[i].forward_ns, SPEED_SEGMENTS);
        row->step_ns = median_of(chains[i].step_ns, SPEED_SEGMENTS);
        count_measure(&source, beams->isa, &row->count);
    }
}

static void measure_chains(struct chain *chains, int isa, struct beams *beams)
{
    for (int i = 0; i < BEAMS_KINDS; i++) {
        if (isa >= 0)
            dyn_model_use_isa(chains[i].subject.tree, (enum dyn_isa)isa);
        choose_rounds(&chains[i], false);
        choose_rounds(&chains[i], true);
    }
    for (int i = 0; i < BEAMS_KINDS; i++)
        RT_CHECK(subject_is_finite(&chains[i].subject));
    beams->isa = dyn_model_isa(chains[0].subject.tree);
    take_turns(chains);
    fill_rows(chains, beams);
}

int beams_measure(int bodies, int modes, int isa, struct beams *beams, char error[CFG_ERROR_MAX])
{
    const int states = bodies * modes > SUBJECT_STATES * SUBJECT_STATES ? 4 : SUBJECT_STATES;
    static struct chain chains[BEAMS_KINDS];
    int opened = 0, failure = 0;

    *beams = (struct beams){.bodies = bodies, .modes = modes};
    while (opened < BEAMS_KINDS && failure == 0) {
        failure = open_chain(&chains[opened], fidelity_of[opened], beams, states, error);
        opened += failure == 0;
    }
    if (failure == 0)
        measure_chains(chains, isa, beams);
    for (int i = 0; i < opened; i++)
        close_chain(&chains[i]);
    return failure;
}

/* ---- as a table ---- */

static void print_count(const struct operation_count *count)
{
    if (count->has_instructions)
        printf(" %13.0f", count->instructions);
    else
        printf(" %13s", "-");
    if (count->has_flops)
        printf(" %9.0f\n", count_sum(count));
    else
        printf(" %9s\n", "-");
}

void beams_print(const struct beams *beams)
{
    printf("\n%d beams with %d modes each, hinged in a chain, %s; instructions (%s) and flops a "
           "call\n%-14s %18s %9s %6s %18s %13s %9s\n",
           beams->bodies, beams->modes, dyn_isa_name(beams->isa),
           dyn_isa_name(beams->row[0].count.isa), "fidelity", "forward ns", "per body", "ratio",
           "RK4 step us", "instructions", "flops");
    for (int i = 0; i < BEAMS_KINDS; i++) {
        const struct beams_row *row = &beams->row[i];
        printf("%-14s %9.0f (%6.0f) %9.1f %6.2f %9.2f (%6.2f)", row->fidelity,
               row->forward_ns.median, row->forward_ns.lowest,
               row->forward_ns.median / beams->bodies, row->ratio, 1e-3 * row->step_ns.median,
               1e-3 * row->step_ns.lowest);
        print_count(&row->count);
    }
    if (beams->bodies == 16 && beams->modes == 4)
        printf("    quoted, not measured here: NASA 42 (11e3cc3, gcc -O2, 2.8 GHz Xeon, virtual), "
               "as many bodies and modes: "
               "2000 to 2300 us\n    a step of RK4, by dense elimination\n");
}

/* ---- as JSON ---- */

static json_t *number_or_null(bool is_known, double value)
{
    return is_known ? json_real(value) : json_null();
}

static json_t *row_json(const struct beams_row *row)
{
    const struct operation_count *count = &row->count;
    return json_pack("{s:s,s:f,s:f,s:f,s:f,s:f,s:o,s:o}", "fidelity", row->fidelity, "forward_ns",
                     row->forward_ns.median, "forward_ns_min", row->forward_ns.lowest, "ratio",
                     row->ratio, "rk4_step_ns", row->step_ns.median, "rk4_step_ns_min",
                     row->step_ns.lowest, "instructions",
                     number_or_null(count->has_instructions, count->instructions), "flops",
                     number_or_null(count->has_flops, count_sum(count)));
}

json_t *beams_json(const struct beams *beams)
{
    json_t *object = json_pack("{s:i,s:i,s:s,s:s,s:[]}", "bodies", beams->bodies, "modes",
                               beams->modes, "isa", dyn_isa_name(beams->isa), "instructions_isa",
                               dyn_isa_name(beams->row[0].count.isa), "rows");
    for (int i = 0; i < BEAMS_KINDS; i++)
        json_array_append_new(json_object_get(object, "rows"), row_json(&beams->row[i]));
    return object;
}
