/*
 * The x axis of a link whose joint turns about z may point anywhere across z: the difference goes
 * into an offset of the angle.  So x is laid along the common normal of the link's axis and that
 * of its first child, and the child's axes at q = 0 are the link's, turned about x alone.  Of nine
 * products per axis set four are left.
 */
#include "dynamics/kernel/align_links.h"

#include "dynamics/math/spatial.h"

/* A joint whose motion is the same for any direction of x. */
static int is_round(const struct dyn_tree_link *link)
{
    return link->kind != DYN_TREE_LINK_SPHERICAL && link->kind != DYN_TREE_LINK_FREE;
}

/* Components in axes that are turned by phi about z. */
static struct dyn_vec3 rotated_components(struct dyn_vec3 a, double phi)
{
    const double s = sin(phi), c = cos(phi);
    return (struct dyn_vec3){c * a.x + s * a.y, c * a.y - s * a.x, a.z};
}

static struct dyn_mat3 about_z(double phi)
{
    const double s = sin(phi), c = cos(phi);
    return (struct dyn_mat3){{{c, s, 0.0}, {-s, c, 0.0}, {0.0, 0.0, 1.0}}};
}

static struct dyn_pose rotated_pose(const struct dyn_pose *pose, double phi)
{
    const struct dyn_quat back = {cos(0.5 * phi), 0.0, 0.0, -sin(0.5 * phi)};
    return (struct dyn_pose){dyn_quat_mul(back, pose->turn), rotated_components(pose->origin, phi)};
}

/* Children come after their parents, so the last to be written is the first. */
static void find_children(const struct dyn_model *model, int *first_child)
{
    for (int i = 0; i < model->link_count; i++)
        first_child[i] = -1;
    for (int i = model->link_count - 1; i >= 0; i--) {
        const struct dyn_tree_link *link = &model->link[i];
        if (link->parent >= 0 && dyn_tree_link_turns(link))
            first_child[link->parent] = i;
    }
}

/* How far x must turn to lie on the common normal with the child's axis. */
static double normal_angle(const struct dyn_tree_link *child)
{
    const struct dyn_vec3 z = child->E.row[2];
    return z.x == 0.0 && z.y == 0.0 ? 0.0 : atan2(z.x, -z.y);
}

/* E = (about z by psi) (about x): the second stays, psi is the answer. */
static double split_axes(struct dyn_mat3 *E)
{
    const double psi = atan2(-E->row[1].x, E->row[0].x);
    const double norm = hypot(E->row[2].y, E->row[2].z);
    const double s = -E->row[2].y / norm, c = E->row[2].z / norm;
    *E = (struct dyn_mat3){{{1.0, 0.0, 0.0}, {0.0, c, s}, {0.0, -s, c}}};
    return psi;
}

/* Link i in the new axes of its parent, turned by phi_on, and in its own, turned by phi. */
static void realign(struct dyn_model *model, int i, double phi_on, double phi, int is_first)
{
    struct dyn_tree_link *link = &model->link[i];
    const struct dyn_mat3 back_on = about_z(-phi_on), back = about_z(-phi);
    double psi = 0.0;

    link->E = dyn_mat3_mul(&link->E, &back_on);
    link->origin = rotated_components(link->origin, phi_on);
    link->rotor_spin = rotated_components(link->rotor_spin, phi_on);
    model->place[i] = rotated_pose(&model->place[i], phi_on);
    model->inertia[i] = dyn_inertia_turn(&model->inertia[i], &back);
    if (is_first) {
        psi = split_axes(&link->E);
        link->axial = 1;
    }
    const struct dyn_quat about = {cos(0.5 * phi), 0.0, 0.0, sin(0.5 * phi)};
    model->place[i].turn = dyn_quat_mul(model->place[i].turn, about);
    if (dyn_tree_link_turns(link)) {
        link->offset = psi + phi;
    } else {
        const struct dyn_mat3 forth = about_z(phi);
        link->E = dyn_mat3_mul(&forth, &link->E);
        link->offset = 0.0;
    }
}

void dyn_model_align(struct dyn_model *model, int *first_child)
{
    find_children(model, first_child);
    for (int i = 0; i < model->link_count; i++) {
        struct dyn_tree_link *link = &model->link[i];
        const int child = first_child[i];
        link->offset = child >= 0 && is_round(link) ? normal_angle(&model->link[child]) : 0.0;
    }
    for (int b = 0; b < model->body_count; b++)
        if (model->body_link[b] >= 0)
            model->body_in_link[b] =
                rotated_pose(&model->body_in_link[b], model->link[model->body_link[b]].offset);
    /* parents last: until then the offset of a parent has only its own part */
    for (int i = model->link_count - 1; i >= 0; i--) {
        const int parent = model->link[i].parent;
        const int is_first =
            parent >= 0 && first_child[parent] == i && is_round(&model->link[parent]);
        realign(model, i, parent >= 0 ? model->link[parent].offset : 0.0, model->link[i].offset,
                is_first);
    }
}
