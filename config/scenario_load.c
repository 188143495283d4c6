/*
 * From a text to a scenario: the document, its keys, and everything resolved in order.
 *
 * Tested by tests/config/test_scenario.c.
 */
#include "config/scenario.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/resolve/resolve.h"
#include "config/resolve/stability.h"
#include "config/yaml/isa.h"
#include "config/yaml/override.h"
#include "config/yaml/text_file.h"
#include "rt/check.h"
#include "rt/executive/state/digest.h"

/* ---- pointing and controller, too small for files of their own ---- */

static bool resolve_pointing(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_pointing *pointing = &resolve->keys->pointing;
    struct cfg_scenario *scenario = resolve->scenario;
    memcpy(scenario->spec.target, pointing->target, sizeof scenario->spec.target);
    memcpy(scenario->spec.target_position, pointing->position,
           sizeof scenario->spec.target_position);
    return pointing->body == NULL || cfg_find_body(resolve, pointing->node, "body", pointing->body,
                                                   &scenario->spec.target_body);
}

/* The process must not take the cores of the run's threads. */
static bool check_priority(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_controller *keys = &resolve->keys->controller;
    const struct cfg_scenario *scenario = resolve->scenario;
    const bool inlined = scenario->spec.io_mode == IO_LINK_INLINE;
    const int least = inlined ? scenario->spec.frame_priority : scenario->spec.io_priority;
    if (keys->node == NULL)
        return true;
    if (keys->policy != 1)
        return cfg_node_find(keys->node, "priority") == NULL ||
               cfg_fail_at(resolve->report, keys->node, "priority",
                           "priority goes with policy: fifo; write that, or remove it");
    return keys->priority < least ||
           cfg_fail_at(resolve->report, keys->node, "priority",
                       "the controller's priority (%d) must be below the %s thread's (%d); lower "
                       "it",
                       (int)keys->priority, inlined ? "frame" : "I/O", least);
}

static bool resolve_controller(const struct cfg_resolve *resolve)
{
    const struct cfg_keys_controller *keys = &resolve->keys->controller;
    struct cfg_controller *controller = &resolve->scenario->controller;
    const char *const *words = keys->command.items;
    if (keys->node != NULL)
        cfg_scenario_note(resolve->scenario, "controller", "", keys->node->mark);
    controller->cpu = (int)keys->cpu;
    controller->priority = keys->policy == 1 ? (int)keys->priority : 0;
    if (keys->command.count > 0 && resolve->scenario->spec.link_count == 0)
        return cfg_fail_at(resolve->report, keys->node, "command",
                           "there is no link for the controller to talk on; add one to links");
    if (!check_priority(resolve))
        return false;
    for (int i = 0; i < keys->command.count; i++) {
        controller->argument[i] = strdup(words[i]);
        RT_CHECK(controller->argument[i] != NULL);
        controller->argument_count++;
    }
    return true;
}

/* The link needs to know which of its buttons belong to an arm. */
static bool resolve_buttons(const struct cfg_resolve *resolve)
{
    const struct sim_arm *arm = &resolve->scenario->spec.arm;
    if (arm->joint_count > 0)
        resolve->scenario->spec.links[arm->button_link].spec.hand.once =
            io_arm_panel_idempotent_buttons(&arm->panel);
    return true;
}

static bool resolve_all(const struct cfg_resolve *resolve)
{
    return cfg_resolve_run(resolve) && cfg_resolve_bodies(resolve) && cfg_resolve_orbit(resolve) &&
           cfg_resolve_links(resolve) && cfg_resolve_arm(resolve) && resolve_buttons(resolve) &&
           cfg_resolve_devices(resolve) && cfg_resolve_clock(resolve) &&
           cfg_resolve_predictor(resolve) && cfg_resolve_message_rates(resolve) &&
           cfg_resolve_model(resolve) && cfg_resolve_frame_table(resolve) &&
           resolve_pointing(resolve) && resolve_controller(resolve) &&
           cfg_resolve_faults(resolve) && cfg_resolve_expects(resolve) &&
           cfg_resolve_log(resolve) && cfg_resolve_tunables(resolve) &&
           cfg_resolve_cameras(resolve) && cfg_check_stability(resolve);
}

/* ---- digest of the scenario for run states ---- */

/* Addresses, pace, recording, prediction and views are not part of the run state, so the digest
 * leaves them out. */
static bool bears_on_state(const char *override)
{
    static const char *const neutral[] = {"seconds", "pace", "commit",    "overrun", "require",
                                          "frame",   "io",   "links",     "expect",  "controller",
                                          "log",     "name", "predictor", "cameras"};
    const size_t length = strcspn(override, ".=");
    for (size_t i = 0; i < sizeof neutral / sizeof neutral[0]; i++)
        if (strlen(neutral[i]) == length && strncmp(override, neutral[i], length) == 0)
            return false;
    return true;
}

static void hash_text(struct cfg_scenario *scenario, const char *const *overrides,
                      int override_count)
{
    struct sim_spec *spec = &scenario->spec;
    spec->text_hash = sim_digest_join(0, scenario->text, scenario->text_size);
    for (int i = 0; i < override_count; i++)
        if (bears_on_state(overrides[i]))
            spec->text_hash = sim_digest_join(spec->text_hash, overrides[i], strlen(overrides[i]));
    for (const struct cfg_file *file = scenario->files; file != NULL; file = file->next)
        spec->files_hash = sim_digest_join(spec->files_hash, file->text, file->size);
}

/* ---- loading ---- */

static bool read_document(struct cfg_scenario *scenario, const char *const *overrides,
                          int override_count, const struct cfg_file_source *source,
                          struct cfg_load_arena *pool, struct cfg_complaint *report)
{
    struct cfg_keys_scenario keys = {0};
    const struct cfg_resolve resolve = {&keys, scenario, report, source};
    struct cfg_node *root =
        cfg_document_parse(pool, scenario->text, scenario->text_size, NULL, report);
    if (root == NULL)
        return false;
    for (int i = 0; i < override_count; i++)
        if (!cfg_override_apply(&cfg_scenario_table, root, overrides[i], pool, report))
            return false;
    return cfg_schema_read(&cfg_scenario_table, root, &keys, pool, report) &&
           cfg_take_urdf(&resolve, &keys, pool) && resolve_all(&resolve);
}

/* Takes ownership of text. */
static int load_document(const char *name, char *text, size_t size, const char *const *overrides,
                         int override_count, const struct cfg_file_source *source,
                         struct cfg_scenario **out, char error[CFG_ERROR_MAX])
{
    struct cfg_complaint report = {.path = name, .line = error};
    struct cfg_load_arena pool = {0};
    struct cfg_scenario *scenario = calloc(1, sizeof *scenario);
    RT_CHECK(scenario != NULL);
    scenario->path = strdup(name);
    scenario->text = text;
    scenario->text_size = size;
    RT_CHECK(scenario->path != NULL);

    *out = NULL;
    const bool good = cfg_isa(&scenario->spec.isa, error) &&
                      read_document(scenario, overrides, override_count, source, &pool, &report);
    cfg_load_arena_free(&pool);
    if (good) {
        hash_text(scenario, overrides, override_count);
        *out = scenario;
    } else {
        cfg_scenario_free(scenario);
    }
    return good ? 0 : -EINVAL;
}

int cfg_scenario_load_logged(const char *name, const char *text, size_t size,
                             const char *const *overrides, int override_count,
                             const struct cfg_file_source *source, struct cfg_scenario **scenario,
                             char error[CFG_ERROR_MAX])
{
    char *copy = malloc(size + 1);
    RT_CHECK(copy != NULL);
    if (size > 0)
        memcpy(copy, text, size);
    copy[size] = '\0';
    return load_document(name, copy, size, overrides, override_count, source, scenario, error);
}

int cfg_scenario_load_text(const char *name, const char *text, size_t size,
                           const char *const *overrides, int override_count,
                           struct cfg_scenario **scenario, char error[CFG_ERROR_MAX])
{
    return cfg_scenario_load_logged(name, text, size, overrides, override_count, NULL, scenario,
                                    error);
}

int cfg_scenario_load(const char *path, const char *const *overrides, int override_count,
                      struct cfg_scenario **scenario, char error[CFG_ERROR_MAX])
{
    char *text;
    size_t size;
    *scenario = NULL;
    const int status = cfg_file_read(path, "scenario", CFG_TEXT_MAX, &text, &size, error);
    return status
               ? status
               : load_document(path, text, size, overrides, override_count, NULL, scenario, error);
}
