/*
 * MuJoCo: composite bodies and a sparse L'DL solve.
 *
 * The model goes in as MJCF text in MuJoCo's own file system in memory.  Inertias are given by
 * principal axes: what MuJoCo makes of a full inertia matrix has only eight digits.  Its parser
 * refuses more than a hundred nested elements, its includes do not: a long chain is cut.
 */
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/peers/engine.h"

enum { PART_DEPTH = 80, NAME_SIZE = 32 };

struct mujoco {
    const struct engine_model *model;
    mjModel *m;
    mjData *d;
    double *slots; /* of nq + 2 nv numbers */
};

/* Principal moments and the axes they belong to, by Jacobi's turns about one axis after another. */
static void principal_axes(const double inertia[6], double moment[3], double quat[4])
{
    double A[3][3] = {{inertia[0], inertia[3], inertia[4]},
                      {inertia[3], inertia[1], inertia[5]},
                      {inertia[4], inertia[5], inertia[2]}};
    mju_zero4(quat);
    quat[0] = 1.0;
    for (int turn = 0; turn < 30; turn++) {
        const int k = turn % 3, i = (k + 1) % 3, j = (k + 2) % 3;
        if (A[i][j] == 0.0)
            continue;
        const double angle = 0.5 * atan(2.0 * A[i][j] / (A[i][i] - A[j][j]));
        const double c = cos(angle), s = sin(angle);
        const double ii = A[i][i], jj = A[j][j], ij = A[i][j], ki = A[k][i], kj = A[k][j];
        A[i][i] = c * c * ii + 2.0 * s * c * ij + s * s * jj;
        A[j][j] = s * s * ii - 2.0 * s * c * ij + c * c * jj;
        A[i][j] = A[j][i] = 0.0;
        A[k][i] = A[i][k] = c * ki + s * kj;
        A[k][j] = A[j][k] = c * kj - s * ki;
        double step[4] = {cos(angle / 2.0), 0.0, 0.0, 0.0};
        step[1 + k] = sin(angle / 2.0);
        mju_mulQuat(quat, quat, step);
    }
    for (int k = 0; k < 3; k++)
        moment[k] = A[k][k];
}

static void write_numbers(FILE *out, const char *key, const double *values, int count)
{
    (void)fprintf(out, " %s=\"", key);
    for (int k = 0; k < count; k++)
        (void)fprintf(out, "%s%.17g", k ? " " : "", values[k]);
    (void)fputc('"', out);
}

static void write_joint(FILE *out, const struct engine_motion *motion)
{
    static const char *const types[] = {"hinge", "slide", "ball", "free"};
    (void)fprintf(out, "<joint name=\"v%d\" type=\"%s\"", motion->v, types[motion->type]);
    if (motion->type == ENGINE_TURN || motion->type == ENGINE_SLIDE)
        write_numbers(out, "axis", motion->axis, 3);
    (void)fputs("/>\n", out);
}

static void write_inertial(FILE *out, const struct engine_body *body)
{
    double moment[3], quat[4];
    principal_axes(body->inertia, moment, quat);
    (void)fputs("<inertial", out);
    write_numbers(out, "mass", &body->mass, 1);
    write_numbers(out, "pos", body->center, 3);
    write_numbers(out, "quat", quat, 4);
    write_numbers(out, "diaginertia", moment, 3);
    (void)fputs("/>\n", out);
}

static int add_file(mjVFS *files, const char *name, const char *text, size_t size)
{
    if (mj_makeEmptyFileVFS(files, name, (int)size) != 0)
        return -1;
    memcpy(files->filedata[mj_findFileVFS(files, name)], text, size);
    return 0;
}

static void write_children(FILE *out, mjVFS *files, const struct engine_model *model, int parent,
                           int depth);

/* The children of a body deep down, in a file of their own. */
static void write_part(FILE *out, mjVFS *files, const struct engine_model *model, int parent)
{
    char name[NAME_SIZE], *text = NULL;
    size_t size = 0;
    (void)snprintf(name, sizeof name, "part%d.xml", parent);
    (void)fprintf(out, "<include file=\"%s\"/>\n", name);
    FILE *part = open_memstream(&text, &size);
    (void)fputs("<mujocoinclude>\n", part);
    write_children(part, files, model, parent, 0);
    (void)fputs("</mujocoinclude>\n", part);
    (void)fclose(part);
    (void)add_file(files, name, text, size); /* a missing one is reported by the loader */
    free(text);
}

static void write_children(FILE *out, mjVFS *files, const struct engine_model *model, int parent,
                           int depth)
{
    for (int i = parent + 1; i < model->body_count; i++) {
        const struct engine_body *body = &model->bodies[i];
        if (body->parent != parent)
            continue;
        (void)fputs("<body", out);
        write_numbers(out, "pos", body->place_xyz, 3);
        write_numbers(out, "quat", body->place_quat, 4);
        (void)fputs(">\n", out);
        write_inertial(out, body);
        for (int k = 0; k < body->motion_count; k++)
            write_joint(out, &body->motions[k]);
        if (depth < PART_DEPTH)
            write_children(out, files, model, i, depth + 1);
        else
            write_part(out, files, model, i);
        (void)fputs("</body>\n", out);
    }
}

static mjModel *load(const struct engine_model *model)
{
    char *text = NULL, error[500] = "no memory";
    size_t size = 0;
    mjModel *m = NULL;
    mjVFS *files = malloc(sizeof *files);
    FILE *out = open_memstream(&text, &size);
    if (!files || !out)
        goto done;
    mj_defaultVFS(files);
    (void)fputs("<mujoco>\n<compiler angle=\"radian\" inertiafromgeom=\"false\"/>\n<option", out);
    write_numbers(out, "gravity", model->gravity, 3);
    (void)fputs("><flag contact=\"disable\" constraint=\"disable\"/></option>\n<worldbody>\n", out);
    write_children(out, files, model, -1, 0);
    (void)fputs("</worldbody>\n</mujoco>\n", out);
    (void)fflush(out);
    if (add_file(files, "model.xml", text, size) == 0)
        m = mj_loadXML("model.xml", files, error, (int)sizeof error);
    mj_deleteVFS(files);
done:
    if (!m)
        (void)fprintf(stderr, "mujoco: %s\n", error);
    if (out)
        (void)fclose(out);
    free(text);
    free(files);
    return m;
}

static void close_mujoco(void *self)
{
    struct mujoco *mujoco = self;
    if (mujoco->d)
        mj_deleteData(mujoco->d);
    if (mujoco->m)
        mj_deleteModel(mujoco->m);
    free(mujoco->slots);
    free(mujoco);
}

static void *open_mujoco(const struct engine_model *model, int slot_count)
{
    struct mujoco *mujoco = calloc(1, sizeof *mujoco);
    if (!mujoco)
        return NULL;
    mujoco->model = model;
    mujoco->slots =
        calloc((size_t)slot_count * (size_t)(model->nq + 2 * model->nv), sizeof(double));
    mujoco->m = mujoco->slots ? load(model) : NULL;
    mujoco->d = mujoco->m ? mj_makeData(mujoco->m) : NULL;
    if (mujoco->d && mujoco->m->nq == model->nq && mujoco->m->nv == model->nv)
        return mujoco;
    close_mujoco(mujoco);
    return NULL;
}

static double *slot_of(const struct mujoco *mujoco, int slot)
{
    return mujoco->slots + (size_t)slot * (size_t)(mujoco->model->nq + 2 * mujoco->model->nv);
}

static void put_motion(const struct engine_motion *motion, const double *q, const double *v,
                       const double *tau, double *qpos, double *qvel, double *force)
{
    static const int nq[] = {1, 1, 4, 7}, nv[] = {1, 1, 3, 6};
    mju_copy(qpos, q, nq[motion->type]);
    if (motion->type != ENGINE_FREE) {
        mju_copy(qvel, v, nv[motion->type]);
        mju_copy(force, tau, nv[motion->type]);
        return;
    }
    /* linear first, in world axes; angular in body axes */
    mju_rotVecQuat(qvel, v + 3, q + 3);
    mju_copy3(qvel + 3, v);
    mju_rotVecQuat(force, tau + 3, q + 3);
    mju_copy3(force + 3, tau);
}

static void get_motion(const struct engine_motion *motion, const double *qpos, const double *qvel,
                       const double *qacc, double *a)
{
    static const int nv[] = {1, 1, 3, 6};
    if (motion->type != ENGINE_FREE) {
        mju_copy(a, qacc, nv[motion->type]);
        return;
    }
    /* dv/dt in body axes is R' (dv/dt in world axes) - w x v */
    double back[4], v[3], turning[3];
    mju_negQuat(back, qpos + 3);
    mju_rotVecQuat(v, qvel, back);
    mju_cross(turning, qvel + 3, v);
    mju_copy3(a, qacc + 3);
    mju_rotVecQuat(a + 3, qacc, back);
    mju_subFrom3(a + 3, turning);
}

static int joint_of(const struct mujoco *mujoco, const struct engine_motion *motion)
{
    char name[NAME_SIZE];
    (void)snprintf(name, sizeof name, "v%d", motion->v);
    return mj_name2id(mujoco->m, mjOBJ_JOINT, name);
}

static void put_mujoco(void *self, int slot, const double *q, const double *v, const double *tau)
{
    struct mujoco *mujoco = self;
    const struct engine_model *model = mujoco->model;
    double *qpos = slot_of(mujoco, slot), *qvel = qpos + model->nq, *force = qvel + model->nv;
    for (int i = 0; i < model->body_count; i++)
        for (int k = 0; k < model->bodies[i].motion_count; k++) {
            const struct engine_motion *motion = &model->bodies[i].motions[k];
            const int joint = joint_of(mujoco, motion);
            const int at = mujoco->m->jnt_dofadr[joint];
            put_motion(motion, q + motion->q, v + motion->v, tau + motion->v,
                       qpos + mujoco->m->jnt_qposadr[joint], qvel + at, force + at);
        }
}

static void run_mujoco(void *self, int slot)
{
    const struct mujoco *mujoco = self;
    const int nq = mujoco->m->nq, nv = mujoco->m->nv;
    const double *from = slot_of(mujoco, slot);
    mju_copy(mujoco->d->qpos, from, nq);
    mju_copy(mujoco->d->qvel, from + nq, nv);
    mju_copy(mujoco->d->qfrc_applied, from + nq + nv, nv);
    mj_forward(mujoco->m, mujoco->d);
}

static void get_mujoco(void *self, int slot, double *a)
{
    const struct mujoco *mujoco = self;
    const struct engine_model *model = mujoco->model;
    const double *qpos = slot_of(mujoco, slot), *qvel = qpos + model->nq;
    for (int i = 0; i < model->body_count; i++)
        for (int k = 0; k < model->bodies[i].motion_count; k++) {
            const struct engine_motion *motion = &model->bodies[i].motions[k];
            const int joint = joint_of(mujoco, motion);
            const int at = mujoco->m->jnt_dofadr[joint];
            get_motion(motion, qpos + mujoco->m->jnt_qposadr[joint], qvel + at,
                       mujoco->d->qacc + at, a + motion->v);
        }
}

const struct engine engine_mujoco = {.name = "mujoco",
                                     .open = open_mujoco,
                                     .put = put_mujoco,
                                     .run = run_mujoco,
                                     .get = get_mujoco,
                                     .close = close_mujoco};
