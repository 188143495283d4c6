#include "tools/airbearing/live/camera.h"
#include "config/scenario.h"

#include <jansson.h>

#include "rt/check.h"

static const double DEGREE = 3.14159265358979323846 / 180.0;

static json_t *vector(const double v[3])
{
    return json_pack("[f, f, f]", v[0], v[1], v[2]);
}

char *camera_json(const struct cfg_scenario *scenario)
{
    if (scenario->camera_count == 0)
        return NULL;
    json_t *all = json_array();
    for (int i = 0; i < scenario->camera_count; i++) {
        const struct cfg_camera *camera = &scenario->cameras[i];
        const char *body = camera->body >= 0 ? scenario->spec.bodies[camera->body].name : "world";
        json_array_append_new(all, json_pack("{s:s, s:s, s:o, s:o, s:o, s:f}", "name", camera->name,
                                             "body", body, "at", vector(camera->at), "look",
                                             vector(camera->look), "up", vector(camera->up),
                                             "field", camera->field / DEGREE));
    }
    char *text = json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(9));
    RT_CHECK(text != NULL);
    json_decref(all);
    return text;
}
