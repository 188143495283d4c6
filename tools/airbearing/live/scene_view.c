#include "tools/airbearing/live/scene_view.h"
#include "config/scenario.h"
#include "rt/executive/arm/arm_configuration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/import/body_tree.h"
#include "dynamics/analysis/body_pose.h"
#include "dynamics/math/principal_axes.h"
#include "io/log/cdr.h"
#include "rt/arena.h"
#include "rt/check.h"

static const char world_frame[] = "world", map_frame[] = "map";
static const double hues[][3] = {
    {0.72, 0.76, 0.82}, {0.95, 0.70, 0.30}, {0.45, 0.68, 0.92},
    {0.60, 0.82, 0.50}, {0.90, 0.52, 0.50}, {0.70, 0.58, 0.88},
};
enum { HUE_COUNT = sizeof hues / sizeof *hues };

struct scene_view {
    const struct cfg_scenario *scenario;
    struct dyn_model *models[1 + SIM_PAYLOAD_MAX]; /* by what the arm holds */
    const struct dyn_model *model;                 /* the one in use */
    double *straight;                              /* room for positions whose modes are zero */
    int **along; /* by body with a tube: its nodes in the order of the line, -1 for the joint */
};

/* ---- the line of a tube ---------------------------------------------------------------- */

/* A point of the line, and its distance along it. */
struct stop {
    int node;
    double way;
};

static int compare_stops(const void *a, const void *b)
{
    const struct stop *x = a, *y = b;
    return x->way != y->way ? (x->way > y->way ? 1 : -1)
                            : (x->node > y->node) - (x->node < y->node);
}

static const struct sim_solid *tube_of(const struct sim_body *body)
{
    for (int i = 0; i < body->solid_count; i++)
        if (body->solids[i].type == SIM_SOLID_TUBE)
            return &body->solids[i];
    return NULL;
}

/* From joint to farthest node; the joint is first where the body lies on one side of it. */
static int *sort_nodes(const struct sim_flex *flex)
{
    const int count = flex->node_count;
    struct stop *stops = calloc((size_t)count + 1, sizeof *stops);
    int *along = calloc((size_t)count + 1, sizeof *along);
    struct dyn_vec3 far = {0};
    RT_CHECK(stops && along);
    for (int i = 0; i < count; i++) {
        const struct dyn_vec3 at = dyn_vec3_load(flex->nodes[i].node.r);
        if (dyn_dot(at, at) > dyn_dot(far, far))
            far = at;
    }
    for (int i = -1; i < count; i++)
        stops[i + 1] =
            (struct stop){i, i < 0 ? 0.0 : dyn_dot(far, dyn_vec3_load(flex->nodes[i].node.r))};
    qsort(stops, (size_t)count + 1, sizeof *stops, compare_stops);
    for (int i = 0; i <= count; i++)
        along[i] = stops[i].node;
    free(stops);
    return along;
}

/* ---- make and free --------------------------------------------------------------------- */

struct scene_view *scene_view_create(const struct cfg_scenario *scenario)
{
    const size_t count = (size_t)scenario->spec.body_count;
    struct scene_view *scene = calloc(1, sizeof *scene);
    struct dyn_body_spec *specs = calloc(count + 1, sizeof *specs);
    RT_CHECK(scene && specs);
    for (int i = 0; i < sim_arm_configuration_count(&scenario->spec); i++) {
        sim_arm_configuration_specs(&scenario->spec, i, specs);
        scene->models[i] = cfg_tree_place(specs, scenario->spec.body_count);
    }
    scene->scenario = scenario;
    scene->model = scene->models[sim_arm_first_configuration(&scenario->spec)];
    free(specs);
    scene->straight = calloc((size_t)dyn_model_nq(scene->model) + 1, sizeof(double));
    scene->along = calloc(count + 1, sizeof *scene->along);
    RT_CHECK(scene->straight && scene->along);
    for (size_t i = 0; i < count; i++)
        if (tube_of(&scenario->spec.bodies[i]) != NULL)
            scene->along[i] = sort_nodes(scenario->spec.bodies[i].flex);
    return scene;
}

void scene_view_free(struct scene_view *scene)
{
    if (!scene)
        return;
    for (int i = 0; i < scene->scenario->spec.body_count; i++)
        free(scene->along[i]);
    free(scene->along);
    free(scene->straight);
    for (int i = 0; i < sim_arm_configuration_count(&scene->scenario->spec); i++)
        free(scene->models[i]);
    free(scene);
}

void scene_view_set_payload(struct scene_view *scene, int carried)
{
    scene->model = scene->models[carried];
}

/* ---- pieces of messages ---------------------------------------------------------------- */

static void put_vector(struct io_byte_writer *out, double x, double y, double z)
{
    io_cdr_f64(out, x);
    io_cdr_f64(out, y);
    io_cdr_f64(out, z);
}

static void put_pose(struct io_byte_writer *out, const struct dyn_pose *pose)
{
    put_vector(out, pose->origin.x, pose->origin.y, pose->origin.z);
    put_vector(out, pose->turn.x, pose->turn.y, pose->turn.z);
    io_cdr_f64(out, pose->turn.w);
}

static void put_color(struct io_byte_writer *out, int hue, double opacity)
{
    const double *color = hues[hue % HUE_COUNT];
    put_vector(out, color[0], color[1], color[2]);
    io_cdr_f64(out, opacity);
}

static void put_paint(struct io_byte_writer *out, const struct sim_solid *solid, int hue)
{
    const double *color = solid->painted ? solid->color : hues[hue % HUE_COUNT];
    put_vector(out, color[0], color[1], color[2]);
    io_cdr_f64(out, solid->opacity);
}

static void put_entity_head(struct io_byte_writer *out, uint64_t log_ns, const char *name)
{
    io_cdr_time(out, log_ns);
    io_cdr_text(out, name); /* the frame */
    io_cdr_text(out, name); /* the id */
    io_cdr_time(out, 0);    /* lives until it is replaced */
    io_put_u8(out, 1);      /* moves with its frame */
    io_cdr_u32(out, 0);     /* metadata */
    io_cdr_u32(out, 0);     /* arrows */
}

static void put_none(struct io_byte_writer *out, int lists)
{
    for (int i = 0; i < lists; i++)
        io_cdr_u32(out, 0);
}

/* ---- where ----------------------------------------------------------------------------- */

static void put_place(struct io_byte_writer *out, uint64_t log_ns, const char *parent,
                      const char *child, const struct dyn_pose *pose)
{
    io_cdr_time(out, log_ns);
    io_cdr_text(out, parent);
    io_cdr_text(out, child);
    put_pose(out, pose);
}

/* The world's axes are north, east, down.  Viewers draw z upwards, so the world is placed in a
 * map with axes east, north, up. */
static bool is_north_east_down(const struct cfg_scenario *scenario)
{
    return scenario->spec.environment.gravity[2] > 0.0;
}

void scene_view_transforms(const struct scene_view *scene, const double *q, uint64_t log_ns,
                           struct io_byte_writer *out)
{
    static const struct dyn_pose upright = {
        .turn = {.x = 0.70710678118654752, .y = 0.70710678118654752}};
    const struct cfg_scenario *scenario = scene->scenario;
    const bool has_map = is_north_east_down(scenario);
    io_cdr_u32(out, (uint32_t)scenario->spec.body_count + has_map);
    for (int i = 0; i < scenario->spec.body_count; i++) {
        const struct dyn_pose pose = dyn_body_pose(scene->model, q, i);
        put_place(out, log_ns, world_frame, scenario->spec.bodies[i].name, &pose);
    }
    if (has_map)
        put_place(out, log_ns, map_frame, world_frame, &upright);
}

void scene_view_rigid_transforms(const struct scene_view *scene, const double *q, uint64_t log_ns,
                                 struct io_byte_writer *out)
{
    memcpy(scene->straight, q, (size_t)dyn_model_nq(scene->model) * sizeof *q);
    for (int i = 0; i < scene->scenario->spec.body_count; i++) {
        const int modes = dyn_model_modes(scene->model, i);
        if (modes > 0)
            memset(scene->straight + dyn_model_eta_index(scene->model, i), 0,
                   (size_t)modes * sizeof *q);
    }
    scene_view_transforms(scene, scene->straight, log_ns, out);
}

/* ---- what ------------------------------------------------------------------------------ */

/* The quaternion of these orthonormal right-handed axes, computed from its largest component, so
 * that half a turn keeps its signs (Shepperd 1978). */
static struct dyn_quat turn_of(struct dyn_vec3 x, struct dyn_vec3 y, struct dyn_vec3 z)
{
    const double w4 = 1.0 + x.x + y.y + z.z, x4 = 1.0 + x.x - y.y - z.z;
    const double y4 = 1.0 - x.x + y.y - z.z, z4 = 1.0 - x.x - y.y + z.z;
    struct dyn_quat turn = {w4, y.z - z.y, z.x - x.z, x.y - y.x};
    if (x4 > w4 && x4 >= y4 && x4 >= z4)
        turn = (struct dyn_quat){y.z - z.y, x4, x.y + y.x, z.x + x.z};
    else if (y4 > w4 && y4 >= z4)
        turn = (struct dyn_quat){z.x - x.z, x.y + y.x, y4, y.z + z.y};
    else if (z4 > w4)
        turn = (struct dyn_quat){x.y - y.x, z.x + x.z, y.z + z.y, z4};
    return dyn_quat_unit(turn);
}

/* Half a turn apart, axis and minus axis are the same to a box. */
static struct dyn_quat principal_turn(const struct dyn_principal *principal)
{
    return turn_of(principal->axis[0], principal->axis[1],
                   dyn_cross(principal->axis[0], principal->axis[1]));
}

/* I1 = m (b^2 + c^2) / 12 and so on; a side that vanishes is still drawn. */
static void put_box(struct io_byte_writer *out, const struct dyn_body_spec *spec, int hue)
{
    const struct dyn_sym3 inertia = dyn_sym3_load(spec->inertia);
    const struct dyn_principal principal = dyn_principal(&inertia);
    const double *I = principal.moment, sum = (I[0] + I[1] + I[2]) / 2.0;
    double side[3], longest = 0.0;
    for (int i = 0; i < 3; i++) {
        side[i] = sqrt(fmax(0.0, 12.0 * (sum - I[i]) / spec->mass));
        longest = fmax(longest, side[i]);
    }
    const double least = fmax(0.01 * longest, 1e-3);
    const struct dyn_pose pose = {.turn = principal_turn(&principal),
                                  .origin = dyn_vec3_load(spec->center)};
    put_pose(out, &pose);
    put_vector(out, fmax(side[0], least), fmax(side[1], least), fmax(side[2], least));
    put_color(out, hue, 0.9);
}

static void put_solid(struct io_byte_writer *out, const struct sim_solid *solid, int hue)
{
    const struct dyn_pose pose = {.turn = dyn_quat_load(solid->attitude),
                                  .origin = dyn_vec3_load(solid->at)};
    put_pose(out, &pose);
    put_vector(out, solid->size[0], solid->size[1], solid->size[2]);
    if (solid->type == SIM_SOLID_CYLINDER) { /* as wide at both ends */
        io_cdr_f64(out, 1.0);
        io_cdr_f64(out, 1.0);
    }
    put_paint(out, solid, hue);
}

static uint32_t count_solids(const struct sim_body *body, enum sim_solid_type type)
{
    uint32_t count = 0;
    for (int i = 0; i < body->solid_count; i++)
        count += body->solids[i].type == type;
    return count;
}

static void put_solids(struct io_byte_writer *out, const struct sim_body *body,
                       enum sim_solid_type type, int hue)
{
    for (int i = 0; i < body->solid_count; i++)
        if (body->solids[i].type == type)
            put_solid(out, &body->solids[i], hue);
}

/* The scenario asks for no shape. */
static bool is_hidden(const struct sim_body *body)
{
    return body->has_solids && body->solid_count == 0;
}

static bool is_rotor_of(const struct sim_effector *effector, int body)
{
    return effector->effector.type == DYN_EFFECTOR_ROTOR && effector->effector.body == body;
}

static uint32_t count_rotors(const struct cfg_scenario *scenario, int body)
{
    uint32_t count = 0;
    for (int i = 0; i < scenario->spec.effector_count; i++)
        count += is_rotor_of(&scenario->spec.effectors[i], body);
    return count;
}

/* The rotation from the z axis, the axis of a cylinder. */
static struct dyn_quat turn_to(const double axis[3])
{
    const struct dyn_quat turn = {.w = 1.0 + axis[2], .x = -axis[1], .y = axis[0]};
    if (turn.w < 1e-9)
        return (struct dyn_quat){.x = 1.0};
    return dyn_quat_unit(turn);
}

static void put_disc(struct io_byte_writer *out, const struct dyn_rotor *rotor, int hue)
{
    const struct dyn_pose pose = {.turn = turn_to(rotor->axis), .origin = dyn_vec3_load(rotor->at)};
    const double across = fmax(dyn_norm(pose.origin), 0.05); /* its size is not known */
    put_pose(out, &pose);
    put_vector(out, across, across, 0.05 * across);
    io_cdr_f64(out, 1.0);
    io_cdr_f64(out, 1.0);
    put_color(out, hue + 2, 0.5);
}

static void put_body(const struct scene_view *scene, int body, uint64_t log_ns,
                     struct io_byte_writer *out)
{
    const struct cfg_scenario *scenario = scene->scenario;
    const struct sim_body *drawn = &scenario->spec.bodies[body];
    const bool boxed = !drawn->has_solids && drawn->spec.mass > 0.0;
    const uint32_t discs = is_hidden(drawn) ? 0 : count_rotors(scenario, body);
    put_entity_head(out, log_ns, drawn->name);
    io_cdr_u32(out, boxed ? 1 : count_solids(drawn, SIM_SOLID_BOX)); /* cubes */
    if (boxed)
        put_box(out, &drawn->spec, body);
    put_solids(out, drawn, SIM_SOLID_BOX, body);
    io_cdr_u32(out, count_solids(drawn, SIM_SOLID_SPHERE)); /* spheres */
    put_solids(out, drawn, SIM_SOLID_SPHERE, body);
    io_cdr_u32(out, count_solids(drawn, SIM_SOLID_CYLINDER) + discs); /* cylinders */
    put_solids(out, drawn, SIM_SOLID_CYLINDER, body);
    for (int i = 0; i < scenario->spec.effector_count && discs > 0; i++) {
        if (is_rotor_of(&scenario->spec.effectors[i], body))
            put_disc(out, &scenario->spec.effectors[i].effector.rotor, body);
    }
    put_none(out, 4); /* lines, triangles, texts, models */
}

/* A flexible body is drawn in its deformed shape; a tube also in its straight one. */
static bool is_drawn_bent(const struct scene_view *scene, int body)
{
    const struct sim_body *drawn = &scene->scenario->spec.bodies[body];
    return drawn->flex != NULL && drawn->flex->node_count > 0 && !is_hidden(drawn) &&
           (dyn_model_modes(scene->model, body) > 0 || scene->along[body] != NULL);
}

void scene_view_static(const struct scene_view *scene, uint64_t log_ns, struct io_byte_writer *out)
{
    const int count = scene->scenario->spec.body_count;
    io_cdr_u32(out, 0); /* deletions */
    io_cdr_u32(out, (uint32_t)count);
    for (int i = 0; i < count; i++)
        put_body(scene, i, log_ns, out);
}

/* ---- what bends ------------------------------------------------------------------------ */

bool scene_view_has_flex(const struct scene_view *scene)
{
    for (int i = 0; i < scene->scenario->spec.body_count; i++) {
        if (is_drawn_bent(scene, i))
            return true;
    }
    return false;
}

/* r + sum psi_p eta_p; the shortening by a bend is too small to be seen. */
static struct dyn_vec3 bent(const struct dyn_node *node, const double *eta, int modes)
{
    struct dyn_vec3 at = dyn_vec3_load(node->r);
    for (int p = 0; p < modes; p++)
        at = dyn_add(at, dyn_scale(eta[p], dyn_vec3_load(node->psi + 3 * p)));
    return at;
}

/* From the joint through the nodes: in the order of the file, of a tube along the body. */
static void put_points(const struct scene_view *scene, int body, const double *q,
                       struct io_byte_writer *out)
{
    const struct sim_flex *flex = scene->scenario->spec.bodies[body].flex;
    const double *eta = q + dyn_model_eta_index(scene->model, body);
    const int modes = dyn_model_modes(scene->model, body);
    const int *along = scene->along[body];
    io_cdr_u32(out, 1 + (uint32_t)flex->node_count);
    for (int i = 0; i <= flex->node_count; i++) {
        const int node = along != NULL ? along[i] : i - 1;
        const struct dyn_vec3 at =
            node < 0 ? (struct dyn_vec3){0} : bent(&flex->nodes[node].node, eta, modes);
        put_vector(out, at.x, at.y, at.z);
    }
}

/* The thickness of a tube, else 3 pixels at any distance. */
static void put_line(const struct scene_view *scene, int body, const double *q,
                     struct io_byte_writer *out)
{
    enum { LINE_STRIP = 0 };
    const struct sim_solid *tube = tube_of(&scene->scenario->spec.bodies[body]);
    const struct dyn_pose here = {.turn = {.w = 1.0}};
    io_put_u8(out, LINE_STRIP);
    put_pose(out, &here);
    io_cdr_f64(out, tube != NULL ? tube->size[0] : 3.0);
    io_put_u8(out, tube == NULL); /* in pixels */
    put_points(scene, body, q, out);
    if (tube != NULL)
        put_paint(out, tube, body);
    else
        put_color(out, body + 1, 1.0);
    put_none(out, 2); /* colors, indices */
}

void scene_view_flex_lines(const struct scene_view *scene, const double *q, uint64_t log_ns,
                           struct io_byte_writer *out)
{
    const struct cfg_scenario *scenario = scene->scenario;
    uint32_t count = 0;
    for (int i = 0; i < scenario->spec.body_count; i++)
        count += is_drawn_bent(scene, i);
    io_cdr_u32(out, 0); /* deletions */
    io_cdr_u32(out, count);
    for (int i = 0; i < scenario->spec.body_count; i++) {
        if (!is_drawn_bent(scene, i))
            continue;
        put_entity_head(out, log_ns, scenario->spec.bodies[i].name);
        put_none(out, 3); /* cubes, spheres, cylinders */
        io_cdr_u32(out, 1);
        put_line(scene, i, q, out);
        put_none(out, 3); /* triangles, texts, models */
    }
}

/* A line depends on the modes only. */
void scene_view_rigid_lines(const struct scene_view *scene, uint64_t log_ns,
                            struct io_byte_writer *out)
{
    memset(scene->straight, 0, (size_t)dyn_model_nq(scene->model) * sizeof(double));
    scene_view_flex_lines(scene, scene->straight, log_ns, out);
}
