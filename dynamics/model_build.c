/*
 * The model is built from the specs of its bodies: the links and their order, inertia, modes, joint
 * forces and mimicking joints.  Tested by tests/dynamics/test_model.c.
 */
#include "dynamics/model.h"

#include <string.h>

#include "dynamics/check.h"
#include "dynamics/flex/modal_link.h"
#include "dynamics/joint.h"
#include "dynamics/kernel/align_links.h"
#include "dynamics/kernel/link_tree.h"
#include "dynamics/layout.h"
#include "dynamics/math/principal_axes.h"

static int force_spec_is_empty(const struct dyn_joint_force_spec *force_spec)
{
    return force_spec->stiffness == 0.0 && force_spec->damping == 0.0 &&
           force_spec->coulomb == 0.0 && force_spec->limit_stiffness == 0.0;
}

static int force_entry_count_of(const struct dyn_body_spec *spec)
{
    const int nv = spec->mimic.on ? 1 : dyn_joint_nv(spec);
    int count = 0;
    for (int k = 0; k < nv; k++)
        count += !force_spec_is_empty(&spec->force_spec[k]);
    return count;
}

/* The counts of the model. */
static struct dyn_model count_model(const struct dyn_body_spec *specs, int body_count)
{
    struct dyn_model sum = {.body_count = body_count};
    for (int i = 0; i < body_count; i++) {
        const int modes = dyn_flex_modes(&specs[i]), nodes = dyn_modal_nodes(&specs[i]);
        sum.link_count += dyn_joint_screw_count(&specs[i]) + nodes;
        sum.nq += dyn_joint_nq(&specs[i]) + modes;
        sum.nv += dyn_joint_nv(&specs[i]) + modes;
        sum.modal_count += modes > 0;
        sum.node_count += nodes;
        sum.force_entry_count += force_entry_count_of(&specs[i]);
        sum.mimic_joint_count += specs[i].mimic.on;
    }
    sum.full_nq = sum.nq + sum.mimic_joint_count;
    sum.full_nv = sum.nv + sum.mimic_joint_count;
    return sum;
}

/* One layout answers both questions below, so size and placement cannot drift apart.  `next` is
 * scratch of the placement: per depth the next free link. */
static size_t lay_out_model(struct dyn_model *model, const struct dyn_body_spec *specs, void *mem,
                            int **next)
{
    const size_t n = (size_t)model->body_count, links = (size_t)model->link_count;
    size_t at = 0;
    (void)dyn_layout_cut(mem, &at, sizeof *model);
    model->link = dyn_layout_cut(mem, &at, links * sizeof *model->link);
    model->inertia = dyn_layout_cut(mem, &at, links * sizeof *model->inertia);
    model->place = dyn_layout_cut(mem, &at, links * sizeof *model->place);
    model->angle_at = dyn_layout_cut(mem, &at, (links + 3) * sizeof *model->angle_at);
    model->offset_sine = dyn_layout_cut(mem, &at, (links + 3) * sizeof *model->offset_sine);
    model->offset_cosine = dyn_layout_cut(mem, &at, (links + 3) * sizeof *model->offset_cosine);
    model->force_entry =
        dyn_layout_cut(mem, &at, (size_t)model->force_entry_count * sizeof *model->force_entry);
    model->mimic_joint =
        dyn_layout_cut(mem, &at, (size_t)model->mimic_joint_count * sizeof *model->mimic_joint);
    dyn_modal_lay_out(model, specs, mem, &at);
    model->spec = dyn_layout_cut(mem, &at, n * sizeof *model->spec);
    model->q_index = dyn_layout_cut(mem, &at, n * sizeof *model->q_index);
    model->v_index = dyn_layout_cut(mem, &at, n * sizeof *model->v_index);
    model->body_link = dyn_layout_cut(mem, &at, n * sizeof *model->body_link);
    model->body_node = dyn_layout_cut(mem, &at, n * sizeof *model->body_node);
    model->body_in_link = dyn_layout_cut(mem, &at, n * sizeof *model->body_in_link);
    model->link_from_body = dyn_layout_cut(mem, &at, n * sizeof *model->link_from_body);
    *next = dyn_layout_cut(mem, &at, (2 * links + n + 1) * sizeof **next);
    return at;
}

size_t dyn_model_size(const struct dyn_body_spec *specs, int body_count)
{
    struct dyn_model probe = count_model(specs, body_count);
    int *next;
    return lay_out_model(&probe, specs, NULL, &next);
}

static void normalise3(double e[3])
{
    const struct dyn_vec3 a = dyn_vec3_load(e);
    const double norm = dyn_norm(a);
    if (norm > 0.0)
        dyn_vec3_store(dyn_scale(1.0 / norm, a), e);
}

/* The axes of the specs are unit to six digits; the kernel needs them unit to rounding. */
static void normalise_spec(struct dyn_body_spec *spec)
{
    dyn_quat_store(dyn_quat_unit(dyn_quat_load(spec->place_quat)), spec->place_quat);
    normalise3(spec->axis);
    normalise3(spec->axis2);
    normalise3(spec->rotor.axis);
    for (int k = 0; k < spec->screw_count; k++) {
        const struct dyn_vec3 turn = dyn_vec3_load(spec->screw[k]);
        normalise3(dyn_dot(turn, turn) > 0.0 ? spec->screw[k] : spec->screw[k] + 3);
    }
}

/* A node of a body that is rigid for now is a place on its frame. */
static void rigidify_node(struct dyn_body_spec *spec, const struct dyn_body_spec *on)
{
    if (spec->node == 0 || dyn_flex_modes(on) > 0)
        return;
    for (int k = 0; k < 3; k++)
        spec->place_xyz[k] += on->flex->node[spec->node - 1].r[k];
    spec->node = 0;
}

static struct dyn_pose inverse_pose(const struct dyn_pose *pose)
{
    const struct dyn_quat back = dyn_quat_conjugate(pose->turn);
    return (struct dyn_pose){back, dyn_scale(-1.0, dyn_quat_rotate(back, pose->origin))};
}

static struct dyn_transform transform_of(const struct dyn_pose *pose)
{
    return (struct dyn_transform){dyn_quat_to_child(pose->turn), pose->origin};
}

/* Links between the world and body i's joint; depth is by body, of its last link. */
static int depth_under(const struct dyn_model *model, const int *depth, int i)
{
    const struct dyn_body_spec *spec = &model->spec[i];
    return spec->parent < 0 ? 0 : depth[spec->parent] + (spec->node > 0);
}

static void order_links(struct dyn_model *model, int *next)
{
    int *depth = next + model->link_count + 1; /* by body: of its last link, from 1 */
    for (int i = 0; i < model->body_count; i++) {
        const struct dyn_body_spec *spec = &model->spec[i];
        depth[i] = depth_under(model, depth, i);
        for (int k = 0; k < dyn_joint_screw_count(spec); k++)
            next[++depth[i]]++;
        if (dyn_modal_nodes(spec) > 0)
            next[depth[i] + 1] += dyn_modal_nodes(spec);
    }
    /* next[d] becomes the first link of depth d + 1 */
    int from = 0;
    for (int d = 0; d <= model->link_count; d++) {
        const int here = d < model->link_count ? next[d + 1] : 0;
        next[d] = from;
        from += here;
    }
}

static void place_rotor(struct dyn_tree_link *link, const struct dyn_geared_rotor *rotor,
                        const struct dyn_mat3 *from_body)
{
    if (rotor->terms == DYN_ROTOR_NONE)
        return;
    link->has_rotor = 1;
    link->rotor = rotor->ratio * rotor->ratio * rotor->inertia;
    if (rotor->terms == DYN_ROTOR_FULL)
        link->rotor_spin = dyn_scale(rotor->ratio * rotor->inertia,
                                     dyn_mul_t(from_body, dyn_vec3_load(rotor->axis)));
}

static const struct dyn_pose identity = {.turn = {1.0, 0.0, 0.0, 0.0}};

/* The link that carries body i's joint, and the frame in it to which the spec's place refers. */
static int joint_base_of(const struct dyn_model *model, int i, struct dyn_pose *on)
{
    const struct dyn_body_spec *spec = &model->spec[i];
    *on = identity;
    if (spec->parent < 0)
        return -1;
    if (spec->node > 0)
        return model->node_link[model->body_node[spec->parent] + spec->node - 1];
    *on = model->body_in_link[spec->parent];
    return model->body_link[spec->parent];
}

static struct dyn_tree_link link_at(const struct dyn_pose *at, enum dyn_tree_link_kind kind,
                                    int parent)
{
    const struct dyn_transform X = transform_of(at);
    return (struct dyn_tree_link){
        .parent = parent, .kind = kind, .E = X.E, .origin = X.r, .modal = -1, .node = -1};
}

/* The links of body i's joint, at their depths. */
static void place_links(struct dyn_model *model, int i, int depth, int *next, int q_at, int v_at)
{
    const struct dyn_body_spec *spec = &model->spec[i];
    const struct dyn_pose place = {dyn_quat_load(spec->place_quat), dyn_vec3_load(spec->place_xyz)};
    struct dyn_pose on;
    int parent = joint_base_of(model, i, &on);
    struct dyn_pose at = dyn_pose_mul(&on, &place);

    for (int k = 0; k < dyn_joint_screw_count(spec); k++) {
        const struct dyn_screw screw = dyn_joint_screw(spec, k);
        const int index = next[depth + k]++;
        struct dyn_tree_link *link = &model->link[index];
        at = dyn_pose_mul(&at, &screw.frame);
        model->place[index] = at;
        *link = link_at(&at, screw.kind, parent);
        link->q_at = q_at + k;
        link->v_at = v_at + k;
        link->pitch = screw.pitch;
        link->body = i;
        if (k == 0) {
            const struct dyn_mat3 body_in_link = dyn_quat_to_child(on.turn);
            place_rotor(link, &spec->rotor, &body_in_link);
        }
        at = inverse_pose(&screw.frame);
        parent = index;
    }
    model->body_link[i] = parent;
    model->body_in_link[i] = at;
    model->link_from_body[i] = transform_of(&at);
}

/* The modes of body i and the links of its nodes; the numbers come when all axes are known. */
static void place_modes(struct dyn_model *model, int i, int depth, int *next)
{
    const struct dyn_body_spec *spec = &model->spec[i];
    const int l = model->body_link[i], modes = dyn_flex_modes(spec);

    model->body_node[i] = model->node_count;
    if (modes == 0)
        return;
    model->link[l].modal = model->modal_count;
    struct dyn_modal_link *modal = &model->modal[model->modal_count];
    modal->link = l;
    modal->q_at = model->nq;
    modal->v_at = model->nv;
    modal->modes = modes;
    modal->first_node = model->node_count;
    modal->nodes = dyn_modal_nodes(spec);
    for (int k = 0; k < modal->nodes; k++) {
        const int index = next[depth]++;
        const struct dyn_pose on_body = {identity.turn, dyn_vec3_load(spec->flex->node[k].r)};
        const struct dyn_pose at = dyn_pose_mul(&model->body_in_link[i], &on_body);
        model->place[index] = at;
        model->link[index] = link_at(&at, DYN_TREE_LINK_FIXED, l);
        model->link[index].body = i;
        model->link[index].node = model->node_count;
        model->node[model->node_count].modal = model->modal_count;
        model->node_link[model->node_count++] = index;
    }
    model->modal_count++;
    model->nq += modes;
    model->nv += modes;
}

/* Add the inertia of body i to its link. */
static void place_inertia(struct dyn_model *model, int i)
{
    const struct dyn_body_spec *spec = &model->spec[i];
    const int l = model->body_link[i];
    if (l < 0)
        return;
    const struct dyn_sym3 own = dyn_sym3_load(spec->inertia);
    const struct dyn_sym3 Ic = dyn_sym3_to_parent(&own, &model->link_from_body[i].E);
    const struct dyn_vec3 c = dyn_pose_point(&model->body_in_link[i], dyn_vec3_load(spec->center));
    const struct dyn_inertia J = dyn_inertia_make(spec->mass, c, &Ic);
    model->inertia[l] = dyn_inertia_add(&model->inertia[l], &J);
}

static void place_force_entries(struct dyn_model *model, int i, int q_at, int v_at)
{
    const struct dyn_body_spec *spec = &model->spec[i];
    const int nv = spec->mimic.on ? 1 : dyn_joint_nv(spec);
    const int has_quat = spec->joint == DYN_JOINT_FREE || spec->joint == DYN_JOINT_SPHERICAL;
    for (int k = 0; k < nv; k++)
        if (!force_spec_is_empty(&spec->force_spec[k]))
            model->force_entry[model->force_entry_count++] =
                (struct dyn_joint_force_entry){.v_at = v_at + k,
                                               .q_at = has_quat ? -1 : q_at + k,
                                               .force_spec = spec->force_spec[k]};
}

/* Leaders have their indices by now. */
static void place_mimic_joint(struct dyn_model *model, int i)
{
    const struct dyn_mimic *mimic = &model->spec[i].mimic;
    model->mimic_joint[model->mimic_joint_count++] = (struct dyn_mimic_joint){
        .q_at = model->q_index[i],
        .v_at = model->v_index[i],
        .q_of = model->q_index[mimic->leader],
        .v_of = model->v_index[mimic->leader],
        .ratio = mimic->ratio,
        .offset = mimic->offset,
    };
}

static void place_body(struct dyn_model *model, int i, int *next)
{
    const struct dyn_body_spec *spec = &model->spec[i];
    const int *depth = next + model->link_count + 1;
    /* full coordinates: those of the mimicking joints come last */
    const int q_at = spec->mimic.on ? model->full_nq++ : model->nq;
    const int v_at = spec->mimic.on ? model->full_nv++ : model->nv;

    model->q_index[i] = q_at;
    model->v_index[i] = v_at;
    place_links(model, i, depth_under(model, depth, i), next, q_at, v_at);
    place_inertia(model, i);
    place_force_entries(model, i, q_at, v_at);
    model->nq += dyn_joint_nq(spec);
    model->nv += dyn_joint_nv(spec);
    place_modes(model, i, depth[i], next);
}

/* Inertia as the kernel turns it into world axes: a sphere and two rods cost least. */
static void place_inertia_rods(struct dyn_model *model)
{
    for (int l = 0; l < model->link_count + 3; l++)
        model->angle_at[l] = -1;
    for (int l = 0; l < model->link_count; l++) {
        struct dyn_tree_link *link = &model->link[l];
        model->angle_at[l] = dyn_tree_link_turns(link) ? link->q_at : -1;
        model->offset_sine[l] = sin(link->offset);
        model->offset_cosine[l] = cos(link->offset);
        const struct dyn_principal p = dyn_principal(&model->inertia[l].I);
        link->mass = model->inertia[l].mass;
        link->mc = model->inertia[l].mc;
        link->sphere = p.moment[0];
        link->massless = link->mass == 0.0 && p.moment[2] == 0.0;
        for (int k = 0; k < 3; k++) {
            link->sphere_rows[k].e[k] = link->sphere;
            link->mass_rows[k].e[k] = link->mass;
            dyn_vec3_store(link->E.row[k], link->E_rows[k].e);
        }
        dyn_vec3_store(link->origin, link->origin_row.e);
        for (int k = 0; k < 2; k++)
            link->root[k] = dyn_scale(sqrt(p.moment[k + 1] - p.moment[0]), p.axis[k + 1]);
    }
}

/* The pass of a link without a body that carries this many others, the last of them `heir`. */
static enum dyn_tree_link_pass bare_pass(const struct dyn_model *model, int carried, int heir)
{
    if (carried == 0)
        return DYN_PASS_EMPTY_NODE;
    const struct dyn_tree_link *link = &model->link[heir];
    const int is_lone = carried == 1 && link->kind == DYN_TREE_LINK_REVOLUTE && !link->has_rotor;
    return is_lone ? DYN_PASS_LONE_NODE : DYN_PASS_OTHER;
}

/* With room for two numbers a link. */
static void place_passes(struct dyn_model *model, int *room)
{
    int *carried = room, *heir = room + model->link_count;
    memset(room, 0, 2 * (size_t)model->link_count * sizeof *room);
    for (int l = 0; l < model->link_count; l++) {
        struct dyn_tree_link *link = &model->link[l];
        link->pass = link->kind == DYN_TREE_LINK_REVOLUTE ? DYN_PASS_REVOLUTE
                     : link->kind == DYN_TREE_LINK_FREE   ? DYN_PASS_FREE
                                                          : DYN_PASS_OTHER;
        if (link->parent >= 0) {
            carried[link->parent]++;
            heir[link->parent] = l;
        }
    }
    for (int b = 0; b < model->body_count; b++) /* carries at least two */
        if (model->body_link[b] >= 0)
            carried[model->body_link[b]] += 2;
    for (int n = 0; n < model->node_count; n++) {
        const int l = model->node_link[n];
        model->link[l].pass = bare_pass(model, carried[l], heir[l]);
        if (model->link[l].pass == DYN_PASS_LONE_NODE)
            model->link[heir[l]].pass = DYN_PASS_LONE_REVOLUTE;
    }
}

struct dyn_model *dyn_model_place(const struct dyn_body_spec *specs, int body_count, void *mem)
{
    struct dyn_model *model = mem;
    const struct dyn_model sum = count_model(specs, body_count);
    int *next;

    memset(mem, 0, dyn_model_size(specs, body_count));
    *model = sum;
    lay_out_model(model, specs, mem, &next);
    model->isa = dyn_isa_best();
    for (int i = 0; i < body_count; i++) {
        DYN_CHECK(specs[i].parent < i);
        model->spec[i] = specs[i];
        normalise_spec(&model->spec[i]);
        if (specs[i].parent >= 0)
            rigidify_node(&model->spec[i], &specs[specs[i].parent]);
    }
    order_links(model, next);
    model->full_nq = sum.nq, model->full_nv = sum.nv;
    model->nq = model->nv = model->force_entry_count = model->mimic_joint_count = 0;
    model->modal_count = model->node_count = 0;
    for (int i = 0; i < body_count; i++)
        place_body(model, i, next);
    for (int i = 0; i < body_count; i++)
        if (specs[i].mimic.on)
            place_mimic_joint(model, i);
    dyn_model_align(model, next);
    for (int i = 0; i < body_count; i++)
        model->link_from_body[i] = transform_of(&model->body_in_link[i]);
    dyn_modal_place(model);
    for (int i = 0; i < body_count; i++)
        model->spec[i].flex = NULL; /* the author's; the links have it all */
    place_inertia_rods(model);
    place_passes(model, next);
    return model;
}

void dyn_model_use_isa(struct dyn_model *model, enum dyn_isa isa)
{
    DYN_CHECK(dyn_isa_runs(isa));
    model->isa = isa;
}

enum dyn_isa dyn_model_isa(const struct dyn_model *model)
{
    return model->isa;
}

struct dyn_joint_force_spec *dyn_model_force_spec(struct dyn_model *model, int body, int k)
{
    for (int i = 0; i < model->force_entry_count; i++)
        if (model->force_entry[i].v_at == model->v_index[body] + k)
            return &model->force_entry[i].force_spec;
    return NULL;
}

int dyn_model_body_count(const struct dyn_model *model)
{
    return model->body_count;
}

int dyn_model_nq(const struct dyn_model *model)
{
    return model->nq;
}

int dyn_model_nv(const struct dyn_model *model)
{
    return model->nv;
}

int dyn_model_q_index(const struct dyn_model *model, int body)
{
    return model->q_index[body];
}

int dyn_model_v_index(const struct dyn_model *model, int body)
{
    return model->v_index[body];
}

/* The modes of a body; NULL: none. */
static const struct dyn_modal_link *modal_link_of(const struct dyn_model *model, int body)
{
    const int l = model->body_link[body];
    const int own = l >= 0 && model->link[l].modal >= 0 && model->link[l].body == body;
    return own ? &model->modal[model->link[l].modal] : NULL;
}

int dyn_model_modes(const struct dyn_model *model, int body)
{
    const struct dyn_modal_link *modal = modal_link_of(model, body);
    return modal != NULL ? modal->modes : 0;
}

int dyn_model_eta_index(const struct dyn_model *model, int body)
{
    const struct dyn_modal_link *modal = modal_link_of(model, body);
    return modal != NULL ? modal->q_at : 0;
}

int dyn_model_xi_index(const struct dyn_model *model, int body)
{
    const struct dyn_modal_link *modal = modal_link_of(model, body);
    return modal != NULL ? modal->v_at : 0;
}
