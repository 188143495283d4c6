/*
 * Any text as a scenario, with any overrides (behind the first NUL, one after each NUL).
 * What must hold:
 *   - bad input gives exactly one line that names its place, good input none,
 *   - what was accepted keeps the promises of config/scenario.h: sorted parents, indices inside
 * their arrays, finite numbers, rates on the grid,
 *   - it can be placed and stepped.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/compile.h"
#include "rt/check.h"

enum { OVERRIDE_MAX = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Overrides are C strings: copies, since the input need not end with NUL. */
static int split_overrides(const uint8_t *bytes, size_t size, char *overrides[OVERRIDE_MAX])
{
    int count = 0;
    while (size > 0 && count < OVERRIDE_MAX) {
        const size_t length = strnlen((const char *)bytes, size);
        overrides[count++] = strndup((const char *)bytes, length);
        const size_t used = length < size ? length + 1 : size;
        bytes += used;
        size -= used;
    }
    return count;
}

static void check_error(const char *error)
{
    RT_CHECK(strlen(error) > 0 && strlen(error) < CFG_ERROR_MAX);
    RT_CHECK(strncmp(error, "f.yaml:", 7) == 0 || strncmp(error, "--set ", 6) == 0);
    for (const char *c = error; *c != '\0'; c++)
        RT_CHECK((unsigned char)*c >= 0x20 && *c != 0x7f);
}

static void check_finite(const double *numbers, int count)
{
    for (int i = 0; i < count; i++)
        RT_CHECK(isfinite(numbers[i]));
}

static void check_mimic(const struct cfg_scenario *scenario, int i)
{
    const struct dyn_mimic *mimic = &scenario->bodies[i].spec.mimic;
    if (!mimic->on)
        return;
    RT_CHECK(mimic->leader >= 0 && mimic->leader < scenario->body_count && mimic->leader != i);
    RT_CHECK(!scenario->bodies[mimic->leader].spec.mimic.on);
    RT_CHECK(isfinite(mimic->ratio) && isfinite(mimic->offset));
}

static void check_flex(const struct cfg_scenario *scenario, const struct cfg_body *body)
{
    const struct cfg_flex *flex = body->flex;
    RT_CHECK((flex != NULL) == (body->spec.flex != NULL));
    const int parent = body->spec.parent;
    const struct cfg_flex *below = parent >= 0 ? scenario->bodies[parent].flex : NULL;
    RT_CHECK(body->spec.node >= 0 && body->spec.node <= (below != NULL ? below->modal.nodes : 0));
    if (flex == NULL)
        return;
    const int modes = flex->modal.modes;
    RT_CHECK(modes >= 1 && modes <= DYN_MODES_MAX && flex->share < 1.0);
    RT_CHECK(flex->first_hz >= 0.0 && flex->last_hz >= flex->first_hz);
    check_finite(flex->modal.M, modes * modes);
    check_finite(flex->modal.K, modes * modes);
    check_finite(flex->modal.C, modes * modes);
    check_finite(flex->modal.N, 9 * modes * modes);
    check_finite(flex->start, modes);
    check_finite(flex->start_rate, modes);
    for (int i = 0; i < flex->modal.nodes; i++)
        check_finite(flex->modal.node[i].psi, 3 * modes);
}

static void check_bodies(const struct cfg_scenario *scenario)
{
    RT_CHECK(scenario->body_count >= 1);
    for (int i = 0; i < scenario->body_count; i++) {
        const struct cfg_body *body = &scenario->bodies[i];
        RT_CHECK(body->spec.parent >= -1 && body->spec.parent < i);
        RT_CHECK(body->spec.mass >= 0.0 && body->mark.line >= 1);
        check_finite(body->position, 7);
        check_finite(body->velocity, 6);
        check_finite(body->held_a, 6);
        check_finite(body->spec.inertia, 6);
        check_mimic(scenario, i);
        check_flex(scenario, body);
    }
}

static void check_devices(const struct cfg_scenario *scenario)
{
    for (int i = 0; i < scenario->sensor_count; i++) {
        const struct cfg_sensor *sensor = &scenario->sensors[i];
        RT_CHECK(sensor->body >= 0 && sensor->body < scenario->body_count);
        RT_CHECK(sensor->every >= 1);
        RT_CHECK(sensor->triad.delay < IO_TRIAD_DELAY_MAX && sensor->triad.sample_time > 0.0);
        check_finite(sensor->triad.mounting, 9);
    }
    for (int i = 0; i < scenario->effector_count; i++) {
        const struct cfg_effector *effector = &scenario->effectors[i];
        RT_CHECK(dyn_effector_flaw(&effector->effector, scenario->body_count) == NULL);
        RT_CHECK(effector->link >= -1 && effector->link < scenario->link_count);
        RT_CHECK(effector->control >= 0 && effector->control < IO_CONTROL_MAX);
        RT_CHECK(effector->drive.delay < IO_DRIVE_DELAY_MAX);
        check_finite(&effector->drive.gain, 1);
    }
}

static void check_run(const struct cfg_scenario *scenario)
{
    RT_CHECK(scenario->period_ns >= 50000 && scenario->period_ns <= 1000000000);
    RT_CHECK(scenario->max_catch_up >= 1 && scenario->substeps >= 1 && scenario->log_every >= 1);
    RT_CHECK(2 * scenario->lead_ns < scenario->period_ns + 2);
    RT_CHECK(scenario->target_body >= 0 && scenario->target_body < scenario->body_count);
    RT_CHECK(scenario->controller.argument_count < CFG_ARGUMENT_MAX);
    RT_CHECK(scenario->expect_count <= CFG_EXPECT_MAX && scenario->link_count <= IO_LINK_MAX);
    for (int i = 0; i < scenario->link_count; i++) {
        RT_CHECK(scenario->links[i].body >= 0 && scenario->links[i].body < scenario->body_count);
        RT_CHECK(scenario->links[i].spec.name == scenario->links[i].name);
    }
}

static void check_print(const struct cfg_scenario *scenario)
{
    static FILE *nowhere;
    if (nowhere == NULL)
        nowhere = fopen("/dev/null", "w");
    RT_CHECK(nowhere != NULL);
    cfg_scenario_print(scenario, nowhere);
}

/* Whatever comes of it; a step that is not finite is taken back. */
static void check_step(const struct cfg_scenario *scenario)
{
    const size_t size = (cfg_rig_size(scenario) + 63) / 64 * 64;
    void *mem = aligned_alloc(64, size);
    RT_CHECK(mem != NULL);
    struct cfg_rig *rig = cfg_rig_place(scenario, memset(mem, 0, size));
    rig->plant.substeps = 1;
    (void)dyn_plant_step(&rig->plant, rig->command, NULL, rig->h, rig->work, rig->x);
    free(mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char error[CFG_ERROR_MAX], *overrides[OVERRIDE_MAX];
    const size_t text_size = size > 0 ? strnlen((const char *)bytes, size) : 0;
    const size_t skip = text_size < size ? text_size + 1 : size;
    const int count = split_overrides(bytes + skip, size - skip, overrides);
    struct cfg_scenario *scenario;
    const int status =
        cfg_scenario_load_text("f.yaml", (const char *)bytes, text_size,
                               (const char *const *)overrides, count, &scenario, error);
    RT_CHECK((status == 0) == (scenario != NULL));
    if (scenario == NULL) {
        check_error(error);
    } else {
        RT_CHECK(error[0] == '\0');
        check_run(scenario);
        check_bodies(scenario);
        check_devices(scenario);
        check_print(scenario);
        check_step(scenario);
        cfg_scenario_free(scenario);
    }
    for (int i = 0; i < count; i++)
        free(overrides[i]);
    return 0;
}
