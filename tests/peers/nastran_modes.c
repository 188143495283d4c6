/*
 * What config/nastran makes of two files, as JSON, for tests to weigh:
 *
 *      nastran_modes BULK PUNCH MODES GRID
 *
 * Mass and centre of the stations, and of each mode its eigenvalue, modal mass, momentum (sum of
 * m psi), greatest share of mass with another mode, and psi and theta at the grid.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/import/nastran.h"
#include "config/scenario.h"
#include "config/yaml/text_file.h"
#include "dynamics/math/spatial.h"

static void print_vector(const char *name, const double e[3])
{
    printf("\"%s\": [%.17g, %.17g, %.17g]", name, e[0], e[1], e[2]);
}

static void print_mass(const struct cfg_nastran *body)
{
    double mass = 0.0, center[3] = {0.0};
    for (int i = 0; i < body->station_count; i++)
        mass += body->stations[i].mass;
    for (int i = 0; i < body->station_count; i++)
        for (int k = 0; k < 3; k++)
            center[k] += body->stations[i].mass * body->stations[i].r[k] / mass;
    printf("\"mass\": %.17g, ", mass);
    print_vector("center", center);
}

static double shared(const struct cfg_nastran *body, int p)
{
    double most = 0.0;
    for (int q = 0; q < body->mode_count; q++) {
        double sum = 0.0;
        for (int i = 0; i < body->station_count; i++)
            sum += body->stations[i].mass * dyn_dot(dyn_vec3_load(body->stations[i].psi + 3 * p),
                                                    dyn_vec3_load(body->stations[i].psi + 3 * q));
        if (q != p)
            most = fmax(most, fabs(sum) / sqrt(body->modes[p].mass * body->modes[q].mass));
    }
    return most;
}

static void print_mode(const struct cfg_nastran *body, int p, const struct dyn_node *node)
{
    double momentum[3] = {0.0};
    for (int i = 0; i < body->station_count; i++)
        for (int k = 0; k < 3; k++)
            momentum[k] += body->stations[i].mass * body->stations[i].psi[3 * p + k];
    printf("{\"eigenvalue\": %.17g, \"mass\": %.17g, \"shared\": %.17g, ",
           body->modes[p].eigenvalue, body->modes[p].mass, shared(body, p));
    print_vector("momentum", momentum);
    printf(", ");
    print_vector("psi", node->psi + 3 * p);
    printf(", ");
    print_vector("theta", node->theta + 3 * p);
    printf("}");
}

static struct cfg_nastran_text read_text(const char *path, char **text, char error[CFG_ERROR_MAX])
{
    size_t size;
    if (cfg_file_read(path, "model", CFG_NASTRAN_TEXT_MAX, text, &size, error) != 0) {
        fprintf(stderr, "%s\n", error);
        exit(2);
    }
    return (struct cfg_nastran_text){path, *text, size};
}

int main(int argc, char **argv)
{
    struct cfg_load_arena pool = {0};
    char error[CFG_ERROR_MAX], *bulk_text, *punch_text;
    if (argc != 5)
        return 64;
    const struct cfg_nastran_choice choice = {
        .modes = atoi(argv[3]), .slowest = 0.01, .length = 1.0, .mass = 1.0, .tolerance = 0.05};
    const struct cfg_nastran_text bulk = read_text(argv[1], &bulk_text, error);
    const struct cfg_nastran_text punch = read_text(argv[2], &punch_text, error);
    const struct cfg_nastran *body = cfg_nastran_parse(&pool, &bulk, &punch, &choice, error);
    free(bulk_text);
    free(punch_text);
    if (body == NULL) {
        fprintf(stderr, "%s\n", error);
        return 2;
    }
    const struct dyn_node *node = cfg_nastran_find(body, atoi(argv[4]));
    if (node == NULL)
        return 2;
    printf("{");
    print_mass(body);
    printf(", \"modes\": [");
    for (int p = 0; p < body->mode_count; p++) {
        printf("%s", p > 0 ? ", " : "");
        print_mode(body, p, node);
    }
    printf("]}\n");
    cfg_load_arena_free(&pool);
    return 0;
}
