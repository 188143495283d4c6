/*
 * The public side of the batch kernels: the tree in their axes and order, and groups that are not
 * full.
 */
#include "dynamics/kernel/batch/batch.h"

#include <math.h>
#include <string.h>

#include "dynamics/check.h"
#include "dynamics/kernel/batch/batch_isa.h"
#include "dynamics/layout.h"

/* A link of the model during the placement of the batch. */
struct dyn_batch_branch {
    int size;                        /* the number of links from this one outward */
    int heir;                        /* the child with most links beyond it; -1: a leaf */
    int place;                       /* in the batch */
    int next;                        /* place of the next child that is not the heir */
    double phase_sine, phase_cosine; /* about z, of its axes in the batch */
    double slide;                    /* along z, of its origin in the batch */
};

/* ---- memory -------------------------------------------------------------------------------- */

static int is_round(const struct dyn_tree_link *link)
{
    return link->kind == DYN_TREE_LINK_SPHERICAL || link->kind == DYN_TREE_LINK_FREE;
}

/* Without a rotor. */
static int is_hinge(const struct dyn_tree_link *link)
{
    return link->kind == DYN_TREE_LINK_REVOLUTE && !link->has_rotor;
}

static size_t round_count(const struct dyn_model *model)
{
    size_t count = 0;
    for (int i = 0; i < model->link_count; i++)
        count += (size_t)is_round(&model->link[i]);
    return count;
}

/* A further sum is needed only towards a child with at most half of the links. */
static size_t sum_count(const struct dyn_model *model)
{
    size_t count = 1;
    for (int n = model->link_count; n > 0; n /= 2)
        count++;
    return count;
}

/* One layout answers both questions below, so size and placement cannot drift apart. */
static size_t lay_out_batch_work(struct dyn_batch_work *work, void *mem,
                                 const struct dyn_model *model)
{
    const size_t n = (size_t)model->link_count, nq = (size_t)model->nq, nv = (size_t)model->nv;
    const size_t wide = DYN_BATCH_WIDTH_MAX * sizeof(double);
    size_t at = 0;
    (void)dyn_layout_cut(mem, &at, sizeof *work);
    work->link = dyn_layout_cut(mem, &at, n * sizeof *work->link);
    work->leaf = dyn_layout_cut(mem, &at, n * sizeof *work->leaf);
    work->turning = dyn_layout_cut(mem, &at, n * sizeof *work->turning);
    work->force_spec = dyn_layout_cut(mem, &at, nv * sizeof *work->force_spec);
    work->moving = dyn_layout_cut(mem, &at, (n + 1) * DYN_BATCH_LINK_WIDES * wide);
    work->round = dyn_layout_cut(mem, &at, round_count(model) * DYN_BATCH_ROUND_WIDES * wide);
    work->sums = dyn_layout_cut(mem, &at, sum_count(model) * DYN_BATCH_SUM_WIDES * wide);
    work->q = dyn_layout_cut(mem, &at, nq * wide);
    work->v = dyn_layout_cut(mem, &at, nv * wide);
    work->tau = dyn_layout_cut(mem, &at, nv * wide);
    work->a = dyn_layout_cut(mem, &at, nv * wide);
    work->branch = dyn_layout_cut(mem, &at, n * sizeof *work->branch);
    return at;
}

size_t dyn_batch_work_size(const struct dyn_model *model)
{
    struct dyn_batch_work probe;
    DYN_CHECK(model->mimic_joint_count == 0 && model->modal_count == 0);
    return lay_out_batch_work(&probe, NULL, model);
}

/* ---- order --------------------------------------------------------------------------------- */

static void count_branches(const struct dyn_model *model, struct dyn_batch_branch *branch)
{
    for (int i = 0; i < model->link_count; i++)
        branch[i].heir = -1;
    for (int i = model->link_count - 1; i >= 0; i--) {
        const int parent = model->link[i].parent;
        branch[i].size++;
        if (parent < 0)
            continue;
        branch[parent].size += branch[i].size;
        if (branch[parent].heir < 0 || branch[i].size > branch[branch[parent].heir].size)
            branch[parent].heir = i;
    }
}

/* Depth first, heirs last: the inward loop meets an heir first, so it needs no sum of its own. */
static void order_branches(const struct dyn_model *model, struct dyn_batch_branch *branch)
{
    int next_root = 0;
    for (int i = 0; i < model->link_count; i++) {
        const int parent = model->link[i].parent;
        struct dyn_batch_branch *on = parent < 0 ? NULL : &branch[parent], *b = &branch[i];
        if (on != NULL && on->heir == i) {
            b->place = on->place + on->size - b->size;
        } else {
            int *next = on == NULL ? &next_root : &on->next;
            b->place = *next;
            *next += b->size;
        }
        b->next = b->place + 1;
    }
}

/* ---- axes ---------------------------------------------------------------------------------- */

struct angle {
    double sine, cosine;
};

static struct angle make_angle(double sine, double cosine)
{
    const double length = hypot(sine, cosine);
    return (struct angle){sine / length, cosine / length};
}

static struct angle angle_sum(struct angle a, struct angle b)
{
    return (struct angle){a.sine * b.cosine + a.cosine * b.sine,
                          a.cosine * b.cosine - a.sine * b.sine};
}

static struct angle negated_angle(struct angle a)
{
    return (struct angle){-a.sine, a.cosine};
}

/* Components on axes turned about z. */
static struct dyn_mat3 rotation_of(struct angle a)
{
    return (struct dyn_mat3){{{a.cosine, a.sine, 0.0}, {-a.sine, a.cosine, 0.0}, {0.0, 0.0, 1.0}}};
}

/* E = turn tilt skew: about z, x and z. */
struct euler {
    struct angle turn, tilt, skew;
};

/* Where the axes are parallel only the sum of turn and skew matters: the skew is given.  Parallel
 * and perpendicular hold to rounding. */
static struct euler split_euler(const struct dyn_mat3 *E, struct angle skew)
{
    static const double ROUNDING = 1e-15;
    const struct dyn_vec3 z = E->row[2];
    const double sine = hypot(z.x, z.y);
    struct euler e = {.tilt = {0.0, z.z > 0.0 ? 1.0 : -1.0}, .skew = skew};
    if (sine > ROUNDING) {
        e.tilt = fabs(z.z) < ROUNDING ? (struct angle){1.0, 0.0} : make_angle(sine, z.z);
        e.skew = (struct angle){z.x / sine, -z.y / sine};
    }
    const struct dyn_vec3 normal = {e.skew.cosine, e.skew.sine, 0.0};
    e.turn = make_angle(-dyn_dot(E->row[1], normal), dyn_dot(E->row[0], normal));
    return e;
}

/* The link's axes are turned about z so that its heir has no skew or, for a leaf, that its mass
 * centre is on x.  The axes of ball and free links do not change, because velocities are
 * components in them. */
static void choose_phase(const struct dyn_model *model, int i, struct dyn_batch_branch *branch)
{
    const int heir = branch[i].heir;
    const struct dyn_vec3 mc = model->inertia[i].mc;
    struct angle phase = {0.0, 1.0};
    if (is_round(&model->link[i]))
        ;
    else if (heir >= 0)
        phase = split_euler(&model->link[heir].E, phase).skew;
    else if (mc.x != 0.0 || mc.y != 0.0)
        phase = make_angle(mc.y, mc.x);
    branch[i].phase_sine = phase.sine;
    branch[i].phase_cosine = phase.cosine;
}

static struct angle phase_of(const struct dyn_batch_branch *branch, int i)
{
    return i < 0 ? (struct angle){0.0, 1.0}
                 : (struct angle){branch[i].phase_sine, branch[i].phase_cosine};
}

/* Parent axes to the link's at q = 0. */
static struct dyn_mat3 zero_axes(const struct dyn_tree_link *link)
{
    const struct dyn_mat3 turned =
        rotation_of((struct angle){sin(link->offset), cos(link->offset)});
    return dyn_mat3_mul(&turned, &link->E);
}

/* From the parent's origin, which has slid already, to the link's, which has not: link axes at
 * q = 0. */
static struct dyn_vec3 arm_at_zero(const struct dyn_model *model, int i, const struct dyn_mat3 *E,
                                   const struct dyn_batch_branch *branch)
{
    const struct dyn_tree_link *link = &model->link[i];
    struct dyn_vec3 arm = link->origin;
    if (link->parent >= 0)
        arm.z -= branch[link->parent].slide;
    return dyn_mul(E, arm);
}

/*
 * To the foot of the perpendicular from the parent's origin.  Inertias are about the origin: at a
 * distant origin they would lose the digits of the inertia about the mass centre, so where
 * parallel axes move the origin away link by link, it starts at the link again.
 */
static void choose_slide(const struct dyn_model *model, int i, struct dyn_batch_branch *branch)
{
    static const double FARTHEST = 2.0; /* of the link's size */
    const struct dyn_tree_link *link = &model->link[i];
    const struct dyn_inertia *inertia = &model->inertia[i];
    const struct dyn_mat3 E = zero_axes(link);
    const double slide = -arm_at_zero(model, i, &E, branch).z;
    double size = dyn_norm(link->origin);

    if (inertia->mass > 0.0)
        size += dyn_norm(inertia->mc) / inertia->mass;
    if (is_hinge(link) && fabs(slide) <= FARTHEST * size)
        branch[i].slide = slide;
}

static void place_axes(const struct dyn_model *model, int i, const struct dyn_batch_branch *branch,
                       struct dyn_batch_link *to)
{
    const struct dyn_tree_link *link = &model->link[i];
    const struct angle phase = phase_of(branch, i), phase_on = phase_of(branch, link->parent);
    const struct dyn_mat3 E = zero_axes(link);
    const struct euler e = split_euler(&E, phase_on);
    const struct angle skew = angle_sum(e.skew, negated_angle(phase_on)),
                       turn = angle_sum(e.turn, phase);
    const struct dyn_mat3 turned = rotation_of(e.turn), turned_on = rotation_of(phase_on);
    const int is_heir = link->parent >= 0 && branch[link->parent].heir == i;

    to->turn_sine = turn.sine, to->turn_cosine = turn.cosine;
    to->tilt_sine = e.tilt.sine, to->tilt_cosine = e.tilt.cosine;
    to->skew_sine = skew.sine, to->skew_cosine = skew.cosine;
    to->tilt = e.tilt.cosine == 1.0   ? DYN_BATCH_TILT_NONE
               : e.tilt.cosine == 0.0 ? DYN_BATCH_TILT_QUARTER
                                      : DYN_BATCH_TILT_ANY;
    to->is_skewed = skew.cosine != 1.0 && !(is_heir && !is_round(&model->link[link->parent]));
    dyn_vec3_store(dyn_mul_t(&turned, arm_at_zero(model, i, &E, branch)), to->r);
    to->r[2] += branch[i].slide;
    dyn_vec3_store(dyn_mul(&turned_on, link->rotor_spin), to->rotor_spin);
}

/* ---- inertia ------------------------------------------------------------------------------- */

static void place_inertia(const struct dyn_inertia *inertia, struct angle phase,
                          struct dyn_batch_link *to)
{
    const struct dyn_mat3 turned = rotation_of(phase), back = rotation_of(negated_angle(phase));
    const struct dyn_sym3 I = dyn_sym3_to_parent(&inertia->I, &back);
    const double each[6] = {I.xx, I.yy, I.zz, I.xy, I.xz, I.yz};
    to->mass = inertia->mass;
    dyn_vec3_store(dyn_mul(&turned, inertia->mc), to->mc);
    memcpy(to->I, each, sizeof to->I);
}

static void add_inertia(const struct dyn_inertia *inertia, struct dyn_batch_link *to)
{
    const struct dyn_vec3 mc = inertia->mc;
    const struct dyn_sym3 I = inertia->I;
    to->mass += inertia->mass;
    to->mc[0] += mc.x, to->mc[1] += mc.y, to->mc[2] += mc.z;
    to->I[0] += I.xx, to->I[1] += I.yy, to->I[2] += I.zz;
    to->I[3] += I.xy, to->I[4] += I.xz, to->I[5] += I.yz;
}

/* The part of a leaf's inertia that is moved to the parent (struct dyn_batch_leaf): a rod on the
 * axis. */
static void move_rod_to_parent(struct dyn_batch_link *leaf, struct dyn_batch_link *on)
{
    const struct dyn_vec3 r = {leaf->r[0], leaf->r[1], leaf->r[2]};
    const struct dyn_inertia rod = {.mass = leaf->mass,
                                    .mc = {0.0, 0.0, leaf->mc[2]},
                                    .I = {.xx = leaf->I[1], .yy = leaf->I[1]}};
    const struct angle skew = {leaf->skew_sine, leaf->skew_cosine};
    const struct dyn_mat3 tilted = {{{1.0, 0.0, 0.0},
                                     {0.0, leaf->tilt_cosine, leaf->tilt_sine},
                                     {0.0, -leaf->tilt_sine, leaf->tilt_cosine}}};
    const struct dyn_mat3 skewed = rotation_of(leaf->is_skewed ? skew : (struct angle){0.0, 1.0});
    const struct dyn_mat3 E = dyn_mat3_mul(&tilted, &skewed);
    const struct dyn_inertia shifted = dyn_inertia_shift(&rod, r);
    const struct dyn_inertia turned = dyn_inertia_turn(&shifted, &E);

    if (on != NULL)
        add_inertia(&turned, on);
    leaf->mass = leaf->mc[2] = 0.0;
    leaf->I[0] -= leaf->I[1];
    leaf->I[1] = 0.0;
}

static struct dyn_batch_leaf make_leaf(const struct dyn_batch_link *link)
{
    /* as wide_inverse() */
    const double D_inv = link->I[2] > 0.0 ? 1.0 / link->I[2] : (double)NAN;
    return (struct dyn_batch_leaf){.D_inv = D_inv,
                                   .gx = link->I[4] * D_inv,
                                   .gy = link->I[5] * D_inv,
                                   .g = link->mc[0] * D_inv};
}

/* ---- placement ----------------------------------------------------------------------------- */

static enum dyn_batch_method method_of(const struct dyn_tree_link *link,
                                       const struct dyn_batch_link *to)
{
    return is_round(link)                       ? DYN_BATCH_ROUND
           : !is_hinge(link) || to->r[2] != 0.0 ? DYN_BATCH_AXIAL
           : to->is_leaf                        ? DYN_BATCH_LEAF
                                                : DYN_BATCH_HINGE;
}

static void place_link(const struct dyn_model *model, int i, struct dyn_batch_work *work)
{
    const struct dyn_tree_link *link = &model->link[i];
    const struct dyn_batch_branch *branch = work->branch;
    const struct dyn_vec3 slid = {0.0, 0.0, branch[i].slide};
    const struct dyn_inertia inertia = dyn_inertia_shift(&model->inertia[i], dyn_scale(-1.0, slid));
    struct dyn_batch_link *to = &work->link[branch[i].place];
    const int parent = link->parent < 0 ? -1 : branch[link->parent].place;
    const struct dyn_vec3 spin = link->rotor_spin;

    *to = (struct dyn_batch_link){
        .parent = parent,
        .kind = link->kind,
        .q_at = link->q_at,
        .v_at = link->v_at,
        .is_leaf = branch[i].heir < 0,
        .is_first = link->parent >= 0 && branch[link->parent].heir == i,
        .has_rotor = link->has_rotor,
        .is_coupled = parent >= 0 && dyn_dot(spin, spin) > 0.0,
        .pitch = link->pitch,
        .rotor = link->rotor,
    };
    to->sum = parent < 0 ? 0 : work->link[parent].sum + !to->is_first;
    if (parent >= 0 && !to->is_first)
        work->link[parent].is_fork = 1;
    place_axes(model, i, branch, to);
    place_inertia(&inertia, phase_of(branch, i), to);
    to->method = method_of(link, to);
}

/* The tables of those links that have any. */
static void count_links(const struct dyn_model *model, struct dyn_batch_work *work)
{
    int leaves = 0, rounds = 0;
    for (int i = 0; i < model->link_count; i++) {
        struct dyn_batch_link *link = &work->link[i];
        if (link->method == DYN_BATCH_ROUND) {
            link->nth = rounds++;
        } else if (link->method == DYN_BATCH_LEAF) {
            link->nth = leaves++;
            work->leaf[link->nth] = make_leaf(link);
            move_rod_to_parent(link, link->parent < 0 ? NULL : &work->link[link->parent]);
        }
        if (link->method != DYN_BATCH_ROUND && link->kind != DYN_TREE_LINK_PRISMATIC)
            work->turning[work->turning_count++] = i;
    }
}

struct dyn_batch_work *dyn_batch_work_place(const struct dyn_model *model, void *mem)
{
    struct dyn_batch_work *work = mem;

    memset(mem, 0, dyn_batch_work_size(model));
    lay_out_batch_work(work, mem, model);
    count_branches(model, work->branch);
    order_branches(model, work->branch);
    for (int i = 0; i < model->link_count; i++) {
        choose_phase(model, i, work->branch);
        choose_slide(model, i, work->branch);
    }
    for (int i = 0; i < model->link_count; i++)
        place_link(model, i, work);
    count_links(model, work);
    for (int k = 0; k < model->nv; k++)
        work->force_spec[k] = -1;
    for (int k = 0; k < model->force_entry_count; k++)
        work->force_spec[model->force_entry[k].v_at] = k;
    return work;
}

/* ---- groups -------------------------------------------------------------------------------- */

static const struct dyn_batch_kernel *batch_kernel_of(const struct dyn_model *model)
{
    return model->isa == DYN_ISA_AVX512 ? &dyn_batch_avx512
           : model->isa == DYN_ISA_AVX2 ? &dyn_batch_avx2
                                        : &dyn_batch_sse2;
}

int dyn_batch_width(const struct dyn_model *model)
{
    return batch_kernel_of(model)->width;
}

/* The last states of a batch; the very last one fills the lanes that are left. */
static void fill_group(const double *rows, int row_count, size_t stride, int count, int width,
                       double *to)
{
    for (int k = 0; k < row_count; k++)
        for (int s = 0; s < width; s++)
            to[k * width + s] = rows[(size_t)k * stride + (size_t)(s < count ? s : count - 1)];
}

static void run_partial_group(const struct dyn_batch_kernel *kernel, const struct dyn_model *model,
                              const struct dyn_batch_group *rest, int count,
                              struct dyn_batch_work *work)
{
    const int width = kernel->width;
    struct dyn_batch_group group = *rest;

    fill_group(rest->q, model->nq, rest->stride, count, width, work->q);
    fill_group(rest->v, model->nv, rest->stride, count, width, work->v);
    if (rest->tau != NULL)
        fill_group(rest->tau, model->nv, rest->stride, count, width, work->tau);
    group.stride = (size_t)width;
    group.q = work->q, group.v = work->v, group.a = work->a;
    group.tau = rest->tau != NULL ? work->tau : NULL;
    kernel->run(model, &group, work);
    for (int k = 0; k < model->nv; k++)
        memcpy(rest->a + (size_t)k * rest->stride, work->a + k * width,
               (size_t)count * sizeof *rest->a);
}

void dyn_batch_run(const struct dyn_batch_kernel *kernel, const struct dyn_model *model,
                   const struct dyn_batch *batch, struct dyn_batch_work *work, double *a)
{
    struct dyn_batch_group group = {
        .stride = batch->stride,
        .q = batch->q,
        .v = batch->v,
        .tau = batch->tau,
        .a = a,
        .gravity = {batch->gravity[0], batch->gravity[1], batch->gravity[2]},
    };
    for (int left = batch->count; left > 0; left -= kernel->width) {
        if (left < kernel->width)
            run_partial_group(kernel, model, &group, left, work);
        else
            kernel->run(model, &group, work);
        group.q += kernel->width;
        group.v += kernel->width;
        group.a += kernel->width;
        if (group.tau != NULL)
            group.tau += kernel->width;
    }
}

void dyn_aba_batch(const struct dyn_model *model, const struct dyn_batch *batch,
                   struct dyn_batch_work *work, double *a)
{
    dyn_batch_run(batch_kernel_of(model), model, batch, work, a);
}
