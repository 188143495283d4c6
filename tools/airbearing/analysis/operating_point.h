/*
 * The operating point of linearize and modes: the state of a model, the forces on it, and the
 * joints that are locked or prescribed.
 *
 * Tested by tests/scenario/commands/test_linear.py and test_model_texts.py.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "config/model_file.h"
#include "dynamics/state.h"
#include "tools/airbearing/analysis/matrix_print.h"

struct operating_point_options {
    const char *model, *at; /* at NULL: the model's start, at rest */
    enum cfg_base base;
    bool gravity_given, json;
    double gravity[3];
};

struct operating_point {
    struct cfg_model *model;
    double *q, *v, *tau; /* in the kernel's order */
    unsigned char *held;
    double *held_a;
    struct dyn_input input; /* of all the above */
    int count;              /* velocities that are not held */
    int *free_v;            /* those, in the order of the file */
};

/* The kernel's index of free velocity k. */
static inline int operating_point_v_index(const struct operating_point *point, int k)
{
    return point->model->v_at[point->free_v[k]];
}

/* What a name stands for. */
enum operating_point_signal { POINT_POSITION, POINT_VELOCITY, POINT_FORCE, POINT_ACCELERATION };

/* Options of a command with an operating point: 0 to continue, else the exit code; *done is set
 * by --help, which prints `usage` and the common options. */
int operating_point_read_options(int argc, char **argv, const char *usage,
                                 struct operating_point_options *options, bool *done);

/* Model and point; an exit code, with one line on stderr where it is not EXIT_OK. */
int operating_point_load(const struct operating_point_options *options,
                         struct operating_point *point);
void operating_point_free(struct operating_point *point);

struct dyn_state operating_point_state(const struct operating_point *point);

/* The name of free velocity k, or of its coordinate, force or acceleration. */
struct matrix_label operating_point_name(const struct operating_point *point,
                                         enum operating_point_signal signal, int k);

/* Memory aligned to a cache line; ends the program with a line when memory runs out. */
void *operating_point_alloc(size_t size);
