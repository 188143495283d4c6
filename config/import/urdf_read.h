/*
 * Reads elements of a URDF: misspelt names are refused, numbers are checked. For the files of
 * config/import that read a URDF.
 *
 * Tested by tests/config/import/test_urdf.c.
 */
#pragma once

#include "config/import/xml.h"
#include "config/yaml/complaint.h"
#include "config/yaml/load_arena.h"
#include "config/yaml/name_index.h"

struct cfg_urdf;

struct cfg_urdf_reader {
    struct cfg_load_arena *pool;
    struct cfg_complaint *report;
    struct cfg_urdf *urdf;           /* NULL when the text has been read */
    const struct cfg_element *robot; /* then */
    /* by name, for look-up */
    const struct cfg_name *link_names, *joint_names;
};

/* All below: false or NULL with the complaint in report.  Context: setup. */

/* Refuse misspelt attributes and children. */
bool cfg_urdf_check(const struct cfg_urdf_reader *reader, const struct cfg_element *element);

/* The only child of that name, checked; *child is NULL when the file leaves it out, which the
 * second function refuses. */
bool cfg_urdf_child(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                    const char *name, const struct cfg_element **child);
bool cfg_urdf_need_child(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                         const char *name, const struct cfg_element **child);

/* An attribute that must be there. */
const struct cfg_attribute *cfg_urdf_need(const struct cfg_urdf_reader *reader,
                                          const struct cfg_element *element, const char *name);

/* At most four numbers of an attribute; unchanged where the file leaves out the attribute or the
 * whole element. */
bool cfg_urdf_numbers(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                      const char *name, int count, double *out);

/* The origin child of an inertial, a joint or a visual. */
bool cfg_urdf_origin(const struct cfg_urdf_reader *reader, const struct cfg_element *element,
                     double xyz[3], double quat[4]);
