/*
 * Any two texts as NASTRAN bulk data and punch file, parted by a line of `%%`; the first byte says
 * how many modes are wanted, and whether by number.  What must hold:
 *   - bad input gives exactly one line that names one of the files, good input none,
 *   - what was accepted keeps the promises of config/import/nastran.h: nodes by id, finite shapes,
 * modes with mass, positive stiffness, and every station's shapes in the tables.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/import/nastran.h"
#include "config/scenario.h"
#include "rt/check.h"

enum { WANTED_MAX = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_error(const char *error)
{
    RT_CHECK(strlen(error) < CFG_ERROR_MAX);
    RT_CHECK(strncmp(error, "f.bdf:", 6) == 0 || strncmp(error, "f.pch:", 6) == 0);
    for (const char *c = error; *c != '\0'; c++)
        RT_CHECK((unsigned char)*c >= 0x20 && *c != 0x7f);
}

static void check_finite(const double *numbers, int count)
{
    for (int k = 0; k < count; k++)
        RT_CHECK(isfinite(numbers[k]));
}

static void check_nodes(const struct cfg_nastran *body)
{
    for (int i = 0; i < body->node_count; i++) {
        const struct cfg_nastran_node *node = &body->nodes[i];
        RT_CHECK(node->grid > (i > 0 ? body->nodes[i - 1].grid : 0));
        RT_CHECK(cfg_nastran_find(body, node->grid) == &node->node);
        check_finite(node->node.r, 3);
        check_finite(node->node.psi, 3 * body->mode_count);
        check_finite(node->node.theta, 3 * body->mode_count);
    }
}

static void check_stations(const struct cfg_nastran *body)
{
    for (int i = 0; i < body->station_count; i++) {
        const struct dyn_station *station = &body->stations[i];
        RT_CHECK(station->mass >= 0.0 && isfinite(station->mass));
        check_finite(station->r, 3);
        check_finite(station->inertia, 6);
        check_finite(station->psi, 3 * body->mode_count);
        check_finite(station->theta, 3 * body->mode_count);
    }
}

static void check_body(const struct cfg_nastran *body, int modes)
{
    RT_CHECK(body->mode_count == modes && body->station_count >= 1 && body->node_count >= 1);
    for (int p = 0; p < modes; p++) {
        RT_CHECK(body->modes[p].number > 0 && body->modes[p].mass > 0.0);
        RT_CHECK(body->modes[p].eigenvalue > 0.0);
        RT_CHECK(isfinite(body->modes[p].eigenvalue * body->modes[p].mass));
    }
    check_nodes(body);
    check_stations(body);
}

/* Exactly as long as the text, so that the sanitizer sees a read beyond it. */
static struct cfg_nastran_text copy(const char *name, const uint8_t *from, size_t size)
{
    char *text = malloc(size > 0 ? size : 1);
    RT_CHECK(text != NULL);
    memcpy(text, from, size);
    return (struct cfg_nastran_text){name, text, size};
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const int numbers[WANTED_MAX] = {2, 1, 3, 4};
    if (size < 1)
        return 0;
    const uint8_t *end = bytes + size, *cut = memmem(bytes + 1, size - 1, "%%\n", 3);
    const uint8_t *second = cut != NULL ? cut + 3 : end;
    const int modes = 1 + (bytes[0] & 3);
    const struct cfg_nastran_choice choice = {
        .modes = modes,
        .numbers = bytes[0] & 4 ? numbers : NULL,
        .slowest = 0.01,
        .length = bytes[0] & 8 ? 1e-3 : 1.0,
        .mass = 1.0,
        .tolerance = 0.05,
    };
    const struct cfg_nastran_text bulk =
        copy("f.bdf", bytes + 1, (size_t)((cut != NULL ? cut : end) - bytes - 1));
    const struct cfg_nastran_text punch = copy("f.pch", second, (size_t)(end - second));
    struct cfg_load_arena pool = {0};
    char error[CFG_ERROR_MAX];
    const struct cfg_nastran *body = cfg_nastran_parse(&pool, &bulk, &punch, &choice, error);
    RT_CHECK((body != NULL) == (error[0] == '\0'));
    if (body != NULL)
        check_body(body, modes);
    else
        check_error(error);
    cfg_load_arena_free(&pool);
    free((void *)(uintptr_t)bulk.text);
    free((void *)(uintptr_t)punch.text);
    return 0;
}
