#include "config/import/urdf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/import/urdf_read.h"
#include "config/yaml/suggest.h"

/* ---- links ---- */

static bool read_not_negative(const struct cfg_urdf_reader *reader,
                              const struct cfg_element *element, const char *name, double *out)
{
    if (!cfg_urdf_numbers(reader, element, name, 1, out))
        return false;
    return *out >= 0.0 ||
           cfg_fail(reader->report, NULL, cfg_xml_attribute(element, name)->mark,
                    "%s of <%s> must not be negative; here is %.10g", name, element->name, *out);
}

static bool read_inertia(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                         double inertia[6])
{
    static const char *const names[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    for (int k = 0; k < 6; k++) {
        if (k < 3 && cfg_urdf_need(reader, element, names[k]) == NULL)
            return false;
        if (!cfg_urdf_numbers(reader, element, names[k], 1, &inertia[k]))
            return false;
    }
    struct dyn_body_spec spec = {.parent = -1, .joint = DYN_JOINT_FIXED, .place_quat = {1.0}};
    int body;
    memcpy(spec.inertia, inertia, sizeof spec.inertia);
    return dyn_model_problem(&spec, 1, &body) == NULL ||
           cfg_fail(reader->report, NULL, element->mark,
                    "no body has this inertia: each principal moment is at most the sum of the "
                    "other two; check the numbers");
}

/* Components in the inertial's axes to components in the link's. */
static void turn_inertia(const double quat[4], double inertia[6])
{
    const struct dyn_mat3 E = dyn_quat_to_child(dyn_quat_load(quat));
    const struct dyn_sym3 own = dyn_sym3_load(inertia);
    const struct dyn_sym3 I = dyn_sym3_to_parent(&own, &E);
    const double e[6] = {I.xx, I.yy, I.zz, I.xy, I.xz, I.yz};
    memcpy(inertia, e, sizeof e);
}

static bool read_inertial(const struct cfg_urdf_reader *reader, const struct cfg_element *inertial,
                          struct cfg_urdf_link *link)
{
    const struct cfg_element *mass, *inertia;
    double quat[4];
    if (!cfg_urdf_origin(reader, inertial, link->center, quat) ||
        !cfg_urdf_need_child(reader, inertial, "mass", &mass) ||
        !cfg_urdf_need_child(reader, inertial, "inertia", &inertia) ||
        cfg_urdf_need(reader, mass, "value") == NULL ||
        !read_not_negative(reader, mass, "value", &link->mass) ||
        !read_inertia(reader, inertia, link->inertia))
        return false;
    turn_inertia(quat, link->inertia);
    return true;
}

static bool read_link(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                      struct cfg_urdf_link *link)
{
    const struct cfg_attribute *name = cfg_urdf_need(reader, element, "name");
    const struct cfg_element *inertial;
    if (name == NULL || !cfg_urdf_check(reader, element) ||
        !cfg_urdf_child(reader, element, "inertial", &inertial))
        return false;
    link->name = name->value;
    link->mark = element->mark;
    link->element = element;
    return inertial == NULL || read_inertial(reader, inertial, link);
}

/* ---- names ---- */

/* Sort, and refuse a name that is used twice; marks[i] is the mark of entry i. */
static bool sort_names(const struct cfg_urdf_reader *reader, const char *what,
                       struct cfg_name *names, const struct cfg_mark *marks, int count)
{
    int twin;
    const int again = cfg_name_index_sort(names, count, &twin);
    if (again < 0)
        return true;
    int at = 0;
    while (names[at].index != again)
        at++;
    return cfg_fail(reader->report, NULL, marks[again],
                    "there is already a %s %s in line %d; choose another name", what,
                    cfg_quote(names[at].text).text, marks[twin].line);
}

static bool resolve(const struct cfg_urdf_reader *reader, const struct cfg_attribute *attribute,
                    const char *what, const struct cfg_name *names, int count, int *index)
{
    struct cfg_suggestion suggestion = cfg_suggest_begin(attribute->value);
    *index = cfg_name_index_find(names, count, attribute->value);
    if (*index >= 0)
        return true;
    for (int i = 0; i < count; i++)
        cfg_suggest_offer(&suggestion, names[i].text);
    return cfg_fail(reader->report, NULL, attribute->mark,
                    suggestion.best != NULL ? "there is no %s %s; did you mean \"%.60s\"?"
                                            : "there is no %s %s",
                    what, cfg_quote(attribute->value).text, suggestion.best);
}

/* ---- joints ---- */

static bool read_type(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                      enum dyn_joint_type *type, bool *unbounded)
{
    static const char *const names[] = {"fixed",    "revolute", "continuous", "prismatic",
                                        "floating", "planar",   NULL};
    static const enum dyn_joint_type types[] = {DYN_JOINT_FIXED,    DYN_JOINT_REVOLUTE,
                                                DYN_JOINT_REVOLUTE, DYN_JOINT_PRISMATIC,
                                                DYN_JOINT_FREE,     DYN_JOINT_PLANAR};
    const struct cfg_attribute *attribute = cfg_urdf_need(reader, element, "type");
    if (attribute == NULL)
        return false;
    int k = 0;
    while (names[k] != NULL && strcmp(names[k], attribute->value) != 0)
        k++;
    if (names[k] == NULL)
        return cfg_fail(reader->report, NULL, attribute->mark,
                        "there is no joint type %s; take fixed, revolute, continuous, prismatic, "
                        "floating or planar",
                        cfg_quote(attribute->value).text);
    *type = types[k];
    *unbounded = k == 2 || k >= 4;
    return true;
}

static bool read_end(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                     const char *name, int *link)
{
    const struct cfg_element *end;
    if (!cfg_urdf_need_child(reader, element, name, &end))
        return false;
    const struct cfg_attribute *attribute = cfg_urdf_need(reader, end, "link");
    return attribute != NULL &&
           resolve(reader, attribute, "link", reader->link_names, reader->urdf->link_count, link);
}

/* URDF does not define the axes within the plane: here it is the projection of the joint frame's x,
 * or of y where the normal is nearly x. */
static void find_axis2(const double normal[3], double axis2[3])
{
    const struct dyn_vec3 n = dyn_vec3_load(normal);
    const struct dyn_vec3 x = {1.0, 0.0, 0.0}, y = {0.0, 1.0, 0.0};
    const struct dyn_vec3 start = fabs(n.x) > 0.9 ? y : x;
    const struct dyn_vec3 flat = dyn_sub(start, dyn_scale(dyn_dot(start, n), n));
    dyn_vec3_store(dyn_scale(1.0 / dyn_norm(flat), flat), axis2);
}

static bool read_axis(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                      struct cfg_urdf_joint *joint)
{
    const struct cfg_element *axis;
    joint->axis[0] = 1.0;
    if (!cfg_urdf_child(reader, element, "axis", &axis) ||
        !cfg_urdf_numbers(reader, axis, "xyz", 3, joint->axis))
        return false;
    if (joint->type == DYN_JOINT_FIXED || joint->type == DYN_JOINT_FREE)
        return true;
    /* scaled first: the square of a tiny number is zero */
    const double *a = joint->axis, most = fmax(fabs(a[0]), fmax(fabs(a[1]), fabs(a[2])));
    if (most == 0.0)
        return cfg_fail(reader->report, NULL, cfg_xml_attribute(axis, "xyz")->mark,
                        "the axis has no direction: it is 0 0 0");
    const struct dyn_vec3 scaled = {a[0] / most, a[1] / most, a[2] / most};
    dyn_vec3_store(dyn_scale(1.0 / dyn_norm(scaled), scaled), joint->axis);
    if (joint->type == DYN_JOINT_PLANAR)
        find_axis2(joint->axis, joint->axis2);
    return true;
}

static bool read_limit(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                       bool unbounded, struct cfg_urdf_limit *limit)
{
    const struct cfg_element *child;
    *limit = (struct cfg_urdf_limit){-HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};
    if (!cfg_urdf_child(reader, element, "limit", &child))
        return false;
    if (child == NULL)
        return true;
    double lower = 0.0, upper = 0.0;
    if (!cfg_urdf_numbers(reader, child, "lower", 1, &lower) ||
        !cfg_urdf_numbers(reader, child, "upper", 1, &upper) ||
        !read_not_negative(reader, child, "effort", &limit->effort) ||
        !read_not_negative(reader, child, "velocity", &limit->velocity))
        return false;
    if (unbounded)
        return true;
    limit->lower = lower;
    limit->upper = upper;
    return lower <= upper || cfg_fail(reader->report, NULL, child->mark,
                                      "<limit> has lower %.10g above upper %.10g", lower, upper);
}

static bool read_dynamics(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                          struct cfg_urdf_joint *joint)
{
    const struct cfg_element *child;
    if (!cfg_urdf_child(reader, element, "dynamics", &child) ||
        (child != NULL && (!read_not_negative(reader, child, "damping", &joint->damping) ||
                           !read_not_negative(reader, child, "friction", &joint->friction))))
        return false;
    const bool several = joint->type == DYN_JOINT_PLANAR || joint->type == DYN_JOINT_FREE;
    return !several || joint->damping == 0.0 ||
           cfg_fail(reader->report, NULL, cfg_xml_attribute(child, "damping")->mark,
                    "a joint that turns and slides has no one damping; remove it");
}

static bool read_joint(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                       struct cfg_urdf_joint *joint)
{
    const struct cfg_attribute *name = cfg_urdf_need(reader, element, "name");
    bool unbounded = false;
    if (name == NULL)
        return false;
    joint->name = name->value;
    joint->mark = element->mark;
    return cfg_urdf_check(reader, element) &&
           read_type(reader, element, &joint->type, &unbounded) &&
           read_end(reader, element, "parent", &joint->parent) &&
           read_end(reader, element, "child", &joint->child) &&
           cfg_urdf_origin(reader, element, joint->xyz, joint->quat) &&
           read_axis(reader, element, joint) &&
           read_limit(reader, element, unbounded, &joint->limit) &&
           read_dynamics(reader, element, joint);
}

/* Called after all joints are read, because the leader may come after its follower. */
static bool read_mimic(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                       int j)
{
    const struct cfg_element *child;
    struct cfg_mimic *mimic = &reader->urdf->mimics[j];
    *mimic = (struct cfg_mimic){-1, 1.0, 0.0};
    if (!cfg_urdf_child(reader, element, "mimic", &child))
        return false;
    if (child == NULL)
        return true;
    const struct cfg_attribute *leader = cfg_urdf_need(reader, child, "joint");
    if (leader == NULL ||
        !resolve(reader, leader, "joint", reader->joint_names, reader->urdf->joint_count,
                 &mimic->leader) ||
        !cfg_urdf_numbers(reader, child, "multiplier", 1, &mimic->ratio) ||
        !cfg_urdf_numbers(reader, child, "offset", 1, &mimic->offset))
        return false;
    if (mimic->leader == j)
        return cfg_fail(reader->report, NULL, leader->mark, "a joint cannot mimic itself");
    if (!cfg_urdf_is_single(&reader->urdf->joints[mimic->leader]) ||
        !cfg_urdf_is_single(&reader->urdf->joints[j]))
        return cfg_fail(reader->report, NULL, child->mark,
                        "only revolute, continuous and prismatic joints can mimic or lead");
    return true;
}

/* ---- the robot ---- */

static int count_children(const struct cfg_element *element, const char *name)
{
    int count = 0;
    for (const struct cfg_element *child = element->first; child != NULL; child = child->next)
        count += strcmp(child->name, name) == 0;
    return count;
}

/* The n-th child of a name is element n of its array. */
static const struct cfg_element *next_named(const struct cfg_element *child, const char *name)
{
    while (child != NULL && strcmp(child->name, name) != 0)
        child = child->next;
    return child;
}

static bool read_links(struct cfg_urdf_reader *reader, const struct cfg_element *robot)
{
    struct cfg_urdf *urdf = reader->urdf;
    const struct cfg_element *element = robot->first;
    urdf->link_count = count_children(robot, "link");
    if (urdf->link_count == 0)
        return cfg_fail(reader->report, NULL, robot->mark, "the robot has no link; add one");
    if (urdf->link_count > CFG_URDF_LINKS_MAX)
        return cfg_fail(reader->report, NULL, robot->mark, "more than %d links",
                        CFG_URDF_LINKS_MAX);
    urdf->links = cfg_load_arena_take(reader->pool, (size_t)urdf->link_count * sizeof *urdf->links);
    struct cfg_name *names =
        cfg_load_arena_take(reader->pool, (size_t)urdf->link_count * sizeof *names);
    struct cfg_mark *marks =
        cfg_load_arena_take(reader->pool, (size_t)urdf->link_count * sizeof *marks);
    for (int i = 0; i < urdf->link_count; i++, element = element->next) {
        element = next_named(element, "link");
        if (!read_link(reader, element, &urdf->links[i]))
            return false;
        names[i] = (struct cfg_name){urdf->links[i].name, i};
        marks[i] = element->mark;
    }
    reader->link_names = names;
    return sort_names(reader, "link", names, marks, urdf->link_count);
}

static bool read_joints(struct cfg_urdf_reader *reader, const struct cfg_element *robot)
{
    struct cfg_urdf *urdf = reader->urdf;
    const struct cfg_element *element = robot->first;
    urdf->joint_count = count_children(robot, "joint");
    urdf->joints =
        cfg_load_arena_take(reader->pool, (size_t)urdf->joint_count * sizeof *urdf->joints);
    struct cfg_name *names =
        cfg_load_arena_take(reader->pool, (size_t)urdf->joint_count * sizeof *names);
    struct cfg_mark *marks =
        cfg_load_arena_take(reader->pool, (size_t)urdf->joint_count * sizeof *marks);
    for (int i = 0; i < urdf->joint_count; i++, element = element->next) {
        element = next_named(element, "joint");
        if (!read_joint(reader, element, &urdf->joints[i]))
            return false;
        names[i] = (struct cfg_name){urdf->joints[i].name, i};
        marks[i] = element->mark;
    }
    reader->joint_names = names;
    return sort_names(reader, "joint", names, marks, urdf->joint_count);
}

static bool read_mimics(const struct cfg_urdf_reader *reader, const struct cfg_element *robot)
{
    struct cfg_urdf *urdf = reader->urdf;
    const struct cfg_element *element = robot->first;
    urdf->mimics =
        cfg_load_arena_take(reader->pool, (size_t)urdf->joint_count * sizeof *urdf->mimics);
    for (int i = 0; i < urdf->joint_count; i++, element = element->next) {
        element = next_named(element, "joint");
        if (!read_mimic(reader, element, i))
            return false;
    }
    const int circle = cfg_mimic_resolve(urdf->mimics, urdf->joint_count);
    return circle < 0 || cfg_fail(reader->report, NULL, urdf->joints[circle].mark,
                                  "joint %s mimics itself in the end; let one of the circle lead",
                                  cfg_quote(urdf->joints[circle].name).text);
}

const struct cfg_urdf *cfg_urdf_parse(struct cfg_load_arena *pool, const char *text, size_t size,
                                      struct cfg_complaint *report)
{
    struct cfg_urdf *urdf = cfg_load_arena_take(pool, sizeof *urdf);
    struct cfg_urdf_reader reader = {.pool = pool, .report = report, .urdf = urdf};
    const struct cfg_element *robot = cfg_xml_parse(pool, text, size, report);
    if (robot == NULL)
        return NULL;
    if (strcmp(robot->name, "robot") != 0) {
        cfg_fail(report, NULL, robot->mark, "a URDF begins with <robot>; here is <%.60s>",
                 robot->name);
        return NULL;
    }
    const struct cfg_attribute *name = cfg_xml_attribute(robot, "name");
    urdf->name = name != NULL ? name->value : "";
    urdf->robot = robot;
    const bool good = cfg_urdf_check(&reader, robot) && read_links(&reader, robot) &&
                      read_joints(&reader, robot) && read_mimics(&reader, robot) &&
                      cfg_urdf_sort(urdf, pool, report);
    return good ? urdf : NULL;
}
