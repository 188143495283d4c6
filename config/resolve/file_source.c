#include "config/resolve/file_source.h"

#include <stdlib.h>
#include <string.h>

#include "config/yaml/text_file.h"

/* A path relative to the scenario's folder. */
static const char *path_beside_scenario(struct cfg_load_arena *pool, const char *scenario,
                                        const char *name)
{
    const char *slash = strrchr(scenario, '/');
    const size_t folder = slash != NULL && name[0] != '/' ? (size_t)(slash - scenario) + 1 : 0;
    char *path = cfg_load_arena_take(pool, folder + strlen(name) + 1);
    memcpy(path, scenario, folder);
    memcpy(path + folder, name, strlen(name));
    return path;
}

static struct cfg_file *keep_file(struct cfg_scenario *scenario, const char *name, const char *path,
                                  const char *text, size_t size)
{
    struct cfg_file *file = cfg_load_arena_take(&scenario->kept, sizeof *file);
    *file = (struct cfg_file){.name = cfg_load_arena_copy(&scenario->kept, name, strlen(name)),
                              .path = path,
                              .text = cfg_load_arena_copy(&scenario->kept, text, size),
                              .size = size,
                              .next = scenario->files};
    scenario->files = file;
    return file;
}

const struct cfg_file *cfg_file_source_take(const struct cfg_resolve *resolve, const char *name,
                                            const char *what, size_t max, char error[CFG_ERROR_MAX])
{
    struct cfg_scenario *scenario = resolve->scenario;
    const struct cfg_file_source *source = resolve->source;
    size_t size;
    for (const struct cfg_file *file = scenario->files; file != NULL; file = file->next)
        if (strcmp(file->name, name) == 0)
            return file;
    if (source != NULL) {
        const char *found = source->find(source->context, name, &size);
        if (found != NULL)
            return keep_file(scenario, name, name, found, size);
        snprintf(error, CFG_ERROR_MAX, "%.200s: the log does not carry this file; run again", name);
        return NULL;
    }
    char *text;
    const char *path = path_beside_scenario(&scenario->kept, scenario->path, name);
    if (cfg_file_read(path, what, max, &text, &size, error) != 0)
        return NULL;
    const struct cfg_file *file = keep_file(scenario, name, path, text, size);
    free(text);
    return file;
}
