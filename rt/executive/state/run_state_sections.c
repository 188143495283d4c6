/*
 * The run state part by part: names, places, and the job that writes each.
 *
 * Tested by tests/rt/executive/test_jobs.c and state/test_run_state.c.
 */
#include <stdio.h>
#include <string.h>

#include "rt/check.h"
#include "rt/executive/output/sensor_types.h"
#include "rt/executive/state/run_state_private.h"

struct section_list {
    const struct sim_vehicle *vehicle;
    struct sim_run_state_section *out;
    int count;
};

static void name_section(struct section_list *list, const char *what, const char *name,
                         const char *job, const void *at, size_t size)
{
    RT_CHECK(list->count < SIM_RUN_STATE_SECTION_MAX);
    struct sim_run_state_section *section = &list->out[list->count++];
    snprintf(section->name, sizeof section->name, "%s%s%s", what, *name ? " " : "", name);
    section->job = job;
    section->offset = (size_t)((const unsigned char *)at - list->vehicle->state);
    section->size = size;
}

static void name_devices(struct section_list *list)
{
    const struct sim_vehicle *vehicle = list->vehicle;
    const struct sim_spec *spec = vehicle->spec;
    for (int i = 0; i < spec->drive_count; i++)
        name_section(list, "drive", spec->effectors[i].name, "drives", &vehicle->drive[i],
                     sizeof vehicle->drive[i]);
    for (int i = 0; i < spec->sensor_count; i++)
        name_section(list, "device", spec->sensors[i].name, spec->sensors[i].name,
                     vehicle->instrument[i], sim_sensor_state_size(spec->sensors[i].kind));
    for (int i = 0; i < spec->fault_count; i++) {
        const struct sim_fault *fault = &spec->faults[i];
        name_section(list, "fault", fault->text,
                     fault->sensor >= 0     ? spec->sensors[fault->sensor].name
                     : fault->effector >= 0 ? "drives"
                                            : "latch",
                     &vehicle->fault[i], sizeof vehicle->fault[i]);
    }
}

int sim_run_state_section_count(const struct sim_spec *spec)
{
    return 4 + spec->drive_count + spec->sensor_count + spec->fault_count + spec->link_count +
           sim_has_arm(spec);
}

int sim_run_state_sections(const struct sim_vehicle *vehicle,
                           struct sim_run_state_section sections[SIM_RUN_STATE_SECTION_MAX])
{
    _Static_assert(SIM_EFFECTOR_MAX + 64 + SIM_FAULT_MAX + IO_LINK_MAX + 5 <=
                       SIM_RUN_STATE_SECTION_MAX,
                   "every part has a name");
    const struct sim_spec *spec = vehicle->spec;
    struct section_list list = {vehicle, sections, 0};
    name_section(&list, "plant", "", "step", vehicle->x,
                 (size_t)dyn_plant_state_count(&vehicle->plant) * sizeof *vehicle->x);
    name_devices(&list);
    for (int i = 0; i < spec->link_count; i++)
        name_section(&list, "link", spec->links[i].name, "latch", &vehicle->link[i],
                     sizeof vehicle->link[i]);
    name_section(&list, "surroundings", "", spec->has_gust ? "gust" : "world",
                 vehicle->surroundings, sizeof *vehicle->surroundings);
    name_section(&list, "schedule", "", "step", vehicle->schedule, sizeof *vehicle->schedule);
    name_section(&list, "parameters", "", "latch", vehicle->parameter,
                 (size_t)spec->parameter_count * sizeof *vehicle->parameter);
    if (vehicle->arm != NULL)
        name_section(&list, "arm", "", "servo", vehicle->arm, sizeof *vehicle->arm);
    RT_CHECK(list.count == sim_run_state_section_count(spec));
    return list.count;
}
