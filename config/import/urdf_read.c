#include "config/import/urdf_read.h"

#include <math.h>
#include <string.h>

#include "config/yaml/suggest.h"
#include "config/yaml/unit.h"
#include "dynamics/math/spatial.h"

/* ---- known elements ---- */

/* The names that are read in an element, and those that are usual in it, to distinguish misspelt
 * names from extensions. All lists end with NULL. */
struct shape {
    const char *name;
    const char *attributes[8];
    const char *children[10];
};

static const struct shape shapes[] = {
    {"robot", {"name", "version"}, {"link", "joint", "material", "transmission", "gazebo"}},
    {"link", {"name", "type"}, {"inertial", "visual", "collision"}},
    {"inertial", {NULL}, {"origin", "mass", "inertia"}},
    {"origin", {"xyz", "rpy", "quat_xyzw"}, {NULL}},
    {"mass", {"value"}, {NULL}},
    {"inertia", {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"}, {NULL}},
    {"joint",
     {"name", "type"},
     {"parent", "child", "origin", "axis", "limit", "dynamics", "mimic", "calibration",
      "safety_controller"}},
    {"parent", {"link"}, {NULL}},
    {"child", {"link"}, {NULL}},
    {"axis", {"xyz"}, {NULL}},
    {"limit", {"lower", "upper", "effort", "velocity"}, {NULL}},
    {"dynamics", {"damping", "friction"}, {NULL}},
    {"mimic", {"joint", "multiplier", "offset"}, {NULL}},
    {"visual", {"name"}, {"origin", "geometry", "material"}},
    {"geometry", {NULL}, {"box", "cylinder", "sphere", "capsule", "mesh"}},
    {"box", {"size"}, {NULL}},
    {"cylinder", {"radius", "length"}, {NULL}},
    {"sphere", {"radius"}, {NULL}},
    {"material", {"name"}, {"color", "texture"}},
    {"color", {"rgba"}, {NULL}},
};

static bool is_listed(const char *const *list, const char *name)
{
    while (*list != NULL && strcmp(*list, name) != 0)
        list++;
    return *list != NULL;
}

/* The name in the list that a misspelt name is meant to be; NULL: none. A name with a prefix
 * belongs to another program. */
static const char *meant(const char *const *list, const char *name)
{
    struct cfg_suggestion suggestion = cfg_suggest_begin(name);
    if (is_listed(list, name) || strchr(name, ':') != NULL)
        return NULL;
    for (; *list != NULL; list++)
        cfg_suggest_offer(&suggestion, *list);
    return suggestion.best;
}

static bool check_child(const struct cfg_urdf_reader *reader, const struct shape *shape,
                        const struct cfg_element *child)
{
    const char *best = meant(shape->children, child->name);
    if (strncmp(child->name, "xacro:", 6) == 0)
        return cfg_fail(reader->report, NULL, child->mark,
                        "<%.60s> is xacro, not URDF; run xacro on the file first", child->name);
    if (best != NULL)
        return cfg_fail(reader->report, NULL, child->mark,
                        "<%s> has no element <%.60s>; did you mean <%s>?", shape->name, child->name,
                        best);
    return true;
}

bool cfg_urdf_check(const struct cfg_urdf_reader *reader, const struct cfg_element *element)
{
    const struct shape *shape = shapes;
    while (strcmp(shape->name, element->name) != 0)
        shape++;
    for (const struct cfg_attribute *a = element->attributes; a != NULL; a = a->next) {
        const char *best = meant(shape->attributes, a->name);
        if (best != NULL)
            return cfg_fail(reader->report, NULL, a->mark,
                            "<%s> has no attribute \"%.60s\"; did you mean \"%s\"?", shape->name,
                            a->name, best);
    }
    for (const struct cfg_element *child = element->first; child != NULL; child = child->next)
        if (!check_child(reader, shape, child))
            return false;
    return true;
}

bool cfg_urdf_child(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                    const char *name, const struct cfg_element **child)
{
    *child = cfg_xml_child(element, name);
    if (*child == NULL)
        return true;
    for (const struct cfg_element *more = (*child)->next; more != NULL; more = more->next)
        if (strcmp(more->name, name) == 0)
            return cfg_fail(reader->report, NULL, more->mark,
                            "a second <%s> in <%s>; the first is in line %d, remove one", name,
                            element->name, (*child)->mark.line);
    return cfg_urdf_check(reader, *child);
}

bool cfg_urdf_need_child(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                         const char *name, const struct cfg_element **child)
{
    if (!cfg_urdf_child(reader, element, name, child))
        return false;
    return *child != NULL || cfg_fail(reader->report, NULL, element->mark,
                                      "<%s> has no <%s>; add one", element->name, name);
}

const struct cfg_attribute *cfg_urdf_need(const struct cfg_urdf_reader *reader,
                                          const struct cfg_element *element, const char *name)
{
    const struct cfg_attribute *attribute = cfg_xml_attribute(element, name);
    if (attribute == NULL)
        cfg_fail(reader->report, NULL, element->mark, "<%s> needs %s=\"...\"", element->name, name);
    else if (attribute->value[0] == '\0')
        cfg_fail(reader->report, NULL, attribute->mark, "%s of <%s> is empty", name, element->name);
    else
        return attribute;
    return NULL;
}

/* ---- numbers ---- */

static bool parse_numbers(const char *text, int count, double *out)
{
    for (int k = 0; k < count; k++) {
        const char *rest = cfg_number_parse(text, &out[k]);
        if (rest == NULL || !isfinite(out[k]) || (*rest != '\0' && rest[-1] != ' '))
            return false;
        text = rest;
    }
    return *text == '\0';
}

bool cfg_urdf_numbers(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                      const char *name, int count, double *out)
{
    const struct cfg_attribute *attribute =
        element != NULL ? cfg_xml_attribute(element, name) : NULL;
    double numbers[4];
    if (attribute == NULL)
        return true;
    if (!parse_numbers(attribute->value, count, numbers))
        return cfg_fail(reader->report, NULL, attribute->mark,
                        "%s of <%s> wants %d number%s; here "
                        "is %s",
                        name, element->name, count, count > 1 ? "s" : "",
                        cfg_quote(attribute->value).text);
    memcpy(out, numbers, (size_t)count * sizeof *out);
    return true;
}

/* Rotations about the fixed axes x, y, z, in this order. */
static void quat_from_rpy(const double rpy[3], double quat[4])
{
    const struct dyn_quat roll = dyn_quat_exp((struct dyn_vec3){rpy[0], 0.0, 0.0});
    const struct dyn_quat pitch = dyn_quat_exp((struct dyn_vec3){0.0, rpy[1], 0.0});
    const struct dyn_quat yaw = dyn_quat_exp((struct dyn_vec3){0.0, 0.0, rpy[2]});
    dyn_quat_store(dyn_quat_mul(yaw, dyn_quat_mul(pitch, roll)), quat);
}

static bool read_quat(const struct cfg_urdf_reader *reader, const struct cfg_element *origin,
                      double quat[4])
{
    const struct cfg_attribute *attribute = cfg_xml_attribute(origin, "quat_xyzw");
    double e[4] = {0.0};
    if (cfg_xml_attribute(origin, "rpy") != NULL)
        return cfg_fail(reader->report, NULL, attribute->mark,
                        "<origin> has both rpy and quat_xyzw; remove one");
    if (!cfg_urdf_numbers(reader, origin, "quat_xyzw", 4, e))
        return false;
    const struct dyn_quat q = {e[3], e[0], e[1], e[2]};
    if (!(fabs(sqrt(dyn_quat_square(q)) - 1.0) <= 1e-3))
        return cfg_fail(reader->report, NULL, attribute->mark,
                        "quat_xyzw is not a unit quaternion: its length is %.6g",
                        sqrt(dyn_quat_square(q)));
    dyn_quat_store(dyn_quat_unit(q), quat);
    return true;
}

bool cfg_urdf_origin(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                     double xyz[3], double quat[4])
{
    const struct cfg_element *origin;
    double rpy[3] = {0.0, 0.0, 0.0};
    if (!cfg_urdf_child(reader, element, "origin", &origin) ||
        !cfg_urdf_numbers(reader, origin, "xyz", 3, xyz) ||
        !cfg_urdf_numbers(reader, origin, "rpy", 3, rpy))
        return false;
    quat_from_rpy(rpy, quat);
    return origin == NULL || cfg_xml_attribute(origin, "quat_xyzw") == NULL ||
           read_quat(reader, origin, quat);
}
