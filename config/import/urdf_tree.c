/*
 * The tree of a robot's links: one root, no circle, parents before children.
 */
#include "config/import/sort_bodies.h"
#include "config/import/urdf.h"

/* The joint that carries each link; -1: none. */
static bool find_carriers(const struct cfg_urdf *urdf, int *carrier, struct cfg_complaint *report)
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

static bool find_root(struct cfg_urdf *urdf, const int *carrier, struct cfg_complaint *report)
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

static bool refuse_circle(const struct cfg_urdf *urdf, int j, struct cfg_complaint *report)
{
    return cfg_fail(report, NULL, urdf->joints[j].mark,
                    "joint %s hangs in a circle that never meets the root %s",
                    cfg_quote(urdf->joints[j].name).text,
                    cfg_quote(urdf->links[urdf->root].name).text);
}

bool cfg_urdf_sort(struct cfg_urdf *urdf, struct cfg_load_arena *pool, struct cfg_complaint *report)
{
    int *carrier = cfg_load_arena_take(pool, (size_t)urdf->link_count * sizeof *carrier);
    int *above = cfg_load_arena_take(pool, (size_t)urdf->joint_count * sizeof *above);
    urdf->order = cfg_load_arena_take(pool, (size_t)urdf->joint_count * sizeof *urdf->order);
    if (!find_carriers(urdf, carrier, report) || !find_root(urdf, carrier, report))
        return false;
    for (int j = 0; j < urdf->joint_count; j++)
        above[j] = carrier[urdf->joints[j].parent];
    const int circle = cfg_sort_parents_first(above, urdf->joint_count, urdf->order);
    return circle < 0 || refuse_circle(urdf, circle, report);
}
