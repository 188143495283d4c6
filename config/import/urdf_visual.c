/*
 * The visuals of a URDF's links that are simple shapes.
 */
#include <string.h>

#include "config/import/urdf.h"
#include "config/import/urdf_read.h"

/* ---- color ---- */

static bool read_rgba(const struct cfg_urdf_reader *reader, const struct cfg_element *color,
                      struct cfg_urdf_visual *visual)
{
    if (cfg_urdf_need(reader, color, "rgba") == NULL ||
        !cfg_urdf_numbers(reader, color, "rgba", 4, visual->rgba))
        return false;
    for (int k = 0; k < 4; k++)
        if (!(visual->rgba[k] >= 0.0 && visual->rgba[k] <= 1.0))
            return cfg_fail(reader->report, NULL, cfg_xml_attribute(color, "rgba")->mark,
                            "rgba of <color> wants numbers from 0 to 1; here is %.10g",
                            visual->rgba[k]);
    visual->painted = true;
    return true;
}

/* A material of the robot by its name; NULL: there is none with a color. */
static const struct cfg_element *find_color(const struct cfg_element *robot, const char *name)
{
    for (const struct cfg_element *e = robot->first; e != NULL; e = e->next) {
        const struct cfg_attribute *own =
            strcmp(e->name, "material") == 0 ? cfg_xml_attribute(e, "name") : NULL;
        const struct cfg_element *color = own != NULL ? cfg_xml_child(e, "color") : NULL;
        if (color != NULL && strcmp(own->value, name) == 0)
            return color;
    }
    return NULL;
}

static bool read_material(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                          struct cfg_urdf_visual *visual)
{
    const struct cfg_element *material, *color;
    if (!cfg_urdf_child(reader, element, "material", &material))
        return false;
    if (material == NULL)
        return true;
    if (!cfg_urdf_child(reader, material, "color", &color))
        return false;
    const struct cfg_attribute *name = cfg_xml_attribute(material, "name");
    if (color == NULL && name != NULL)
        color = find_color(reader->robot, name->value);
    return color == NULL || read_rgba(reader, color, visual);
}

/* ---- shape ---- */

static bool read_length(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                        const char *name, int count, double *out)
{
    if (cfg_urdf_need(reader, element, name) == NULL ||
        !cfg_urdf_numbers(reader, element, name, count, out))
        return false;
    for (int k = 0; k < count; k++)
        if (!(out[k] > 0.0))
            return cfg_fail(reader->report, NULL, cfg_xml_attribute(element, name)->mark,
                            "%s of <%s> must be above 0; here is %.10g", name, element->name,
                            out[k]);
    return true;
}

/* *simple: it is a shape that is drawn. */
static bool read_form(const struct cfg_urdf_reader *reader, const struct cfg_element *geometry,
                      struct cfg_urdf_visual *visual, bool *simple)
{
    static const char *const names[] = {
        [CFG_URDF_BOX] = "box", [CFG_URDF_CYLINDER] = "cylinder", [CFG_URDF_SPHERE] = "sphere"};
    const struct cfg_element *child = NULL;
    int form = 0;
    for (; form < 3; form++) {
        if (!cfg_urdf_child(reader, geometry, names[form], &child))
            return false;
        if (child != NULL)
            break;
    }
    *simple = child != NULL;
    visual->form = (enum cfg_urdf_form)form;
    if (child == NULL)
        return true;
    if (form == CFG_URDF_BOX)
        return read_length(reader, child, "size", 3, visual->size);
    return read_length(reader, child, "radius", 1, &visual->size[0]) &&
           (form == CFG_URDF_SPHERE || read_length(reader, child, "length", 1, &visual->size[1]));
}

static bool read_visual(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                        struct cfg_urdf_visual *visual, bool *simple)
{
    const struct cfg_element *geometry;
    return cfg_urdf_check(reader, element) &&
           cfg_urdf_need_child(reader, element, "geometry", &geometry) &&
           read_form(reader, geometry, visual, simple) &&
           cfg_urdf_origin(reader, element, visual->xyz, visual->quat) &&
           read_material(reader, element, visual);
}

int cfg_urdf_visuals(const struct cfg_urdf *urdf, int link, struct cfg_load_arena *pool,
                     struct cfg_complaint *report, struct cfg_urdf_visual **visuals)
{
    const struct cfg_element *element = urdf->links[link].element;
    const struct cfg_urdf_reader reader = {.pool = pool, .report = report, .robot = urdf->robot};
    int count = 0;
    for (const struct cfg_element *e = element->first; e != NULL; e = e->next)
        count += strcmp(e->name, "visual") == 0;
    *visuals = cfg_load_arena_take(pool, (size_t)count * sizeof **visuals);
    count = 0;
    for (const struct cfg_element *e = element->first; e != NULL; e = e->next) {
        struct cfg_urdf_visual visual = {0};
        bool simple = false;
        if (strcmp(e->name, "visual") != 0)
            continue;
        if (!read_visual(&reader, e, &visual, &simple))
            return -1;
        if (simple)
            (*visuals)[count++] = visual;
    }
    return count;
}
