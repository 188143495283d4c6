/*
 * The keys of the views: the solids of a body, and cameras.
 */
#include "config/keys/keys.h"

static const char *const solids[] = {[SIM_SOLID_BOX] = "box",
                                     [SIM_SOLID_CYLINDER] = "cylinder",
                                     [SIM_SOLID_SPHERE] = "sphere",
                                     [SIM_SOLID_TUBE] = "tube",
                                     NULL};

// clang-format off

#define AT(member) .offset = offsetof(struct cfg_keys_solid, member)
#define CENTER_KEY \
    {"at", CFG_VECTOR, AT(at), .size = 3, .unit = "m", .fallback = "0 0 0", \
     .example = "0 0.1 0 m", .help = "its middle, body axes"}
#define ATTITUDE_KEY \
    {"attitude", CFG_ATTITUDE, AT(attitude), .fallback = "1 0 0 0", .example = "{pitch: 90 deg}", \
     .help = "its axes in the body's"}
#define RADIUS_KEY(text) \
    {"radius", CFG_QUANTITY, AT(radius), .required = true, .unit = "m", .limit = CFG_POSITIVE, \
     .example = "radius: 0.1 m", .help = text}
static const struct cfg_key box_keys[] = {
    {"size", CFG_VECTOR, AT(size), .required = true, .size = 3, .unit = "m", .limit = CFG_POSITIVE,
     .example = "size: 1 0.5 0.2 m", .help = "its sides"},
    CENTER_KEY, ATTITUDE_KEY,
};
static const struct cfg_key cylinder_keys[] = {
    RADIUS_KEY("about its z axis"),
    {"length", CFG_QUANTITY, AT(length), .required = true, .unit = "m", .limit = CFG_POSITIVE,
     .example = "length: 1 m", .help = "along its z axis"},
    CENTER_KEY, ATTITUDE_KEY,
};
static const struct cfg_key sphere_keys[] = {RADIUS_KEY("of the ball"), CENTER_KEY};
static const struct cfg_key tube_keys[] = {
    RADIUS_KEY("about the line from the joint through the body's nodes, as it bends"),
};
static const struct cfg_table solid_variants[] = {
    [SIM_SOLID_BOX] = {CFG_KEYS("a box", box_keys)},
    [SIM_SOLID_CYLINDER] = {CFG_KEYS("a cylinder", cylinder_keys)},
    [SIM_SOLID_SPHERE] = {CFG_KEYS("a sphere", sphere_keys)},
    [SIM_SOLID_TUBE] = {CFG_KEYS("a tube", tube_keys)},
};
static const struct cfg_key solid_keys[] = {
    CFG_TYPE_KEY(solids, "type: box"),
    {"color", CFG_COLOR, AT(color), .otherwise = "by body", .example = "silver",
     .help = "a name, or red, green and blue"},
    {"opacity", CFG_QUANTITY, AT(opacity), .limit = CFG_BETWEEN, .min = 0, .max = 1,
     .fallback = "1", .example = "0.5", .help = "0 is not to be seen"},
};
const struct cfg_table cfg_solid_table = {
    CFG_KEYS("a shape", solid_keys), .size = sizeof(struct cfg_keys_solid),
    .variant_count = CFG_COUNT(solid_variants), .variants = solid_variants};
#undef AT

#define AT(member) .offset = offsetof(struct cfg_keys_camera, member)
static const struct cfg_key camera_keys[] = {
    {"name", CFG_NAME, AT(name), .required = true, .example = "name: elbow",
     .help = "as the viewer is offered it"},
    {"body", CFG_NAME, AT(body), .otherwise = "the world", .example = "boom",
     .help = "the body that carries it"},
    {"at", CFG_VECTOR, AT(at), .size = 3, .unit = "m", .fallback = "0 0 0",
     .example = "0 0 0.5 m", .help = "where, body axes"},
    {"look", CFG_AXIS, AT(look), .fallback = "1 0 0", .example = "1 0 0",
     .help = "the way it looks, body axes"},
    {"up", CFG_AXIS, AT(up), .fallback = "0 0 -1", .example = "0 0 -1",
     .help = "what is up in its picture, body axes"},
    {"field", CFG_QUANTITY, AT(field), .unit = "rad", .limit = CFG_BETWEEN, .min = 0.01, .max = 3,
     .fallback = "50 deg", .example = "50 deg", .help = "of view, from the lower to the upper edge"},
};
const struct cfg_table cfg_camera_table = {
    CFG_KEYS("a camera", camera_keys), .size = sizeof(struct cfg_keys_camera)};
#undef AT
