#include "config/resolve/device.h"

#include <stdlib.h>
#include <string.h>

#include "rt/check.h"

static const struct cfg_keys_device *device_keys(const struct cfg_resolve *resolve, int i)
{
    return (const struct cfg_keys_device *)resolve->keys->devices.items + i;
}

static bool check_name(const struct cfg_resolve *resolve, int i)
{
    const struct cfg_keys_device *device = device_keys(resolve, i);
    for (int k = 0; k < i; k++)
        if (strcmp(device_keys(resolve, k)->name, device->name) == 0)
            return cfg_fail_at(resolve->report, device->node, "name",
                               "there is already a device \"%s\"; choose another name",
                               device->name);
    return true;
}

/* The commanded effectors first, otherwise in the order of the file. */
static void sort_effectors(struct cfg_scenario *scenario)
{
    struct sim_effector *sorted = calloc(SIM_EFFECTOR_MAX, sizeof *sorted);
    int at = 0;
    RT_CHECK(sorted != NULL);
    for (int commanded = 1; commanded >= 0; commanded--) {
        for (int i = 0; i < scenario->spec.effector_count; i++)
            if ((scenario->spec.effectors[i].link >= 0) == commanded)
                sorted[at++] = scenario->spec.effectors[i];
        if (commanded)
            scenario->spec.drive_count = at;
    }
    free(scenario->spec.effectors);
    scenario->spec.effectors = sorted;
}

bool cfg_resolve_devices(const struct cfg_resolve *resolve)
{
    struct cfg_scenario *scenario = resolve->scenario;
    const size_t count = (size_t)resolve->keys->devices.count;
    scenario->spec.sensors = calloc(count + 1, sizeof *scenario->spec.sensors);
    scenario->spec.effectors = calloc(SIM_EFFECTOR_MAX, sizeof *scenario->spec.effectors);
    RT_CHECK(scenario->spec.sensors != NULL && scenario->spec.effectors != NULL);
    for (int i = 0; i < resolve->keys->devices.count; i++) {
        const struct cfg_keys_device *keys = device_keys(resolve, i);
        if (!check_name(resolve, i))
            return false;
        if (keys->type < CFG_DEVICE_EFFECTOR ? !cfg_resolve_sensor(resolve, keys)
                                             : !cfg_resolve_effector(resolve, keys))
            return false;
    }
    sort_effectors(scenario);
    return true;
}
