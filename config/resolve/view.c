/*
 * Resolves the views: the kernel uses none of it.
 */
#include <math.h>
#include <string.h>

#include "config/resolve/resolve.h"

/* ---- solids ---- */

static void fill_solid(const struct cfg_keys_solid *keys, struct sim_solid *solid)
{
    static const double upright[4] = {1.0};
    const double across = 2.0 * keys->radius;
    const bool turned = keys->type == SIM_SOLID_BOX || keys->type == SIM_SOLID_CYLINDER;
    *solid = (struct sim_solid){
        .type = (enum sim_solid_type)keys->type,
        .size = {across, across, keys->type == SIM_SOLID_CYLINDER ? keys->length : across},
        .painted = !isnan(keys->color[0]),
        .opacity = keys->opacity,
    };
    if (keys->type == SIM_SOLID_BOX)
        memcpy(solid->size, keys->size, sizeof solid->size);
    memcpy(solid->at, keys->at, sizeof solid->at);
    memcpy(solid->attitude, turned ? keys->attitude : upright, sizeof solid->attitude);
    if (solid->painted)
        memcpy(solid->color, keys->color, sizeof solid->color);
}

/* A tube needs a line, and a body has one line. */
static bool check_tube(const struct cfg_resolve *resolve, const struct cfg_keys_solid *keys,
                       const struct sim_body *body)
{
    if (keys->type != SIM_SOLID_TUBE)
        return true;
    if (body->flex == NULL || body->flex->node_count == 0)
        return cfg_fail_at(resolve->report, keys->node, "type",
                           "a tube goes through the nodes of a flexible body, and \"%s\" has none; "
                           "give it flex with nodes, or draw a cylinder",
                           body->name);
    for (int i = 0; i < body->solid_count; i++)
        if (body->solids[i].type == SIM_SOLID_TUBE)
            return cfg_fail_at(resolve->report, keys->node, "type",
                               "a body has one line through its nodes, so one tube; remove this");
    return true;
}

bool cfg_resolve_solids(const struct cfg_resolve *resolve, const struct cfg_keys_body *keys,
                        struct sim_body *body)
{
    const struct cfg_keys_solid *solids = keys->solids.items;
    body->has_solids = keys->solids.items != NULL;
    body->solids = cfg_load_arena_take(&resolve->scenario->kept,
                                       (size_t)keys->solids.count * sizeof *body->solids);
    for (int i = 0; i < keys->solids.count; i++) {
        if (!check_tube(resolve, &solids[i], body))
            return false;
        fill_solid(&solids[i], &body->solids[body->solid_count++]);
    }
    return true;
}

/* ---- cameras ---- */

static bool check_camera(const struct cfg_resolve *resolve, const struct cfg_keys_camera *keys)
{
    const struct cfg_scenario *scenario = resolve->scenario;
    const struct dyn_vec3 across = dyn_cross(dyn_vec3_load(keys->look), dyn_vec3_load(keys->up));
    for (int i = 0; i < scenario->camera_count; i++)
        if (strcmp(scenario->cameras[i].name, keys->name) == 0)
            return cfg_fail_at(resolve->report, keys->node, "name",
                               "there is already a camera \"%s\"; choose another name", keys->name);
    return dyn_norm(across) > 1e-3 ||
           cfg_fail_at(resolve->report, keys->node, "up",
                       "up and look are one line, so it does not tell what is up; write another");
}

bool cfg_resolve_cameras(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_camera *keys = resolve->keys->cameras.items;
    struct cfg_scenario *scenario = resolve->scenario;
    for (int i = 0; i < resolve->keys->cameras.count; i++) {
        struct cfg_camera camera = {.body = -1, .field = keys[i].field};
        if (!check_camera(resolve, &keys[i]) ||
            (keys[i].body != NULL &&
             !cfg_find_body(resolve, keys[i].node, "body", keys[i].body, &camera.body)))
            return false;
        strcpy(camera.name, keys[i].name);
        memcpy(camera.at, keys[i].at, sizeof camera.at);
        memcpy(camera.look, keys[i].look, sizeof camera.look);
        memcpy(camera.up, keys[i].up, sizeof camera.up);
        scenario->cameras[scenario->camera_count++] = camera;
    }
    return true;
}
