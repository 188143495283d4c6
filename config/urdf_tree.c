/*
 * How the links of a robot hang together: one root, no circle, parents before children.
 */
#include "config/urdf.h"

/* The joint that carries each link; -1: none. */
static bool find_carriers(const struct cfg_urdf *urdf, int *carrier, struct cfg_report *report)
{
    for (int i = 0; i < urdf->link_count; i++)
        carrier[i] = -1;
    for (int j = 0; j < urdf->joint_count; j++) {
        const struct cfg_urdf_joint *joint = &urdf->joints[j];
        int *first = &carrier[joint->child];
        if (*first >= 0)
            return cfg_fail(report, NULL, joint->mark,
                            "joint %s carries link %s, which joint %s carries already; a URDF is a "
                            "tree",
                            cfg_quote(joint->name).text,
                            cfg_quote(urdf->links[joint->child].name).text,
                            cfg_quote(urdf->joints[*first].name).text);
        *first = j;
    }
    return true;
}

static bool find_root(struct cfg_urdf *urdf, const int *carrier, struct cfg_report *report)
{
    urdf->root = -1;
    for (int i = 0; i < urdf->link_count; i++) {
        if (carrier[i] >= 0)
            continue;
        if (urdf->root >= 0)
            return cfg_fail(report, NULL, urdf->links[i].mark,
                            "link %s hangs on no joint, and neither does %s; a robot has one root",
                            cfg_quote(urdf->links[i].name).text,
                            cfg_quote(urdf->links[urdf->root].name).text);
        urdf->root = i;
    }
    return urdf->root >= 0 ||
           cfg_fail(report, NULL, urdf->joints[0].mark,
                    "every link hangs on a joint, so they go in a circle; a robot has one root");
}

/* Pass over the joints until all hang on the root, or none of the rest does. */
static int place_joints(struct cfg_urdf *urdf, bool *placed, bool *reached)
{
    int count = 0, before = -1;
    reached[urdf->root] = true;
    while (count > before) {
        before = count;
        for (int j = 0; j < urdf->joint_count; j++) {
            if (placed[j] || !reached[urdf->joints[j].parent])
                continue;
            placed[j] = reached[urdf->joints[j].child] = true;
            urdf->order[count++] = j;
        }
    }
    return count;
}

/* Up from a joint that does not hang on the root one never leaves the circle. */
static bool refuse_circle(const struct cfg_urdf *urdf, const int *carrier, const bool *placed,
                          struct cfg_report *report)
{
    int j = 0;
    while (placed[j])
        j++;
    for (int up = 0; up < urdf->joint_count; up++)
        j = carrier[urdf->joints[j].parent];
    return cfg_fail(report, NULL, urdf->joints[j].mark,
                    "joint %s hangs in a circle that never meets the root %s",
                    cfg_quote(urdf->joints[j].name).text,
                    cfg_quote(urdf->links[urdf->root].name).text);
}

bool cfg_urdf_sort(struct cfg_urdf *urdf, struct cfg_pool *pool, struct cfg_report *report)
{
    int *carrier = cfg_pool_take(pool, (size_t)urdf->link_count * sizeof *carrier);
    bool *reached = cfg_pool_take(pool, (size_t)urdf->link_count * sizeof *reached);
    bool *placed = cfg_pool_take(pool, (size_t)urdf->joint_count * sizeof *placed);
    urdf->order = cfg_pool_take(pool, (size_t)urdf->joint_count * sizeof *urdf->order);
    return find_carriers(urdf, carrier, report) && find_root(urdf, carrier, report) &&
           (place_joints(urdf, placed, reached) == urdf->joint_count ||
            refuse_circle(urdf, carrier, placed, report));
}
