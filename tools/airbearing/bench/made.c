#include "tools/airbearing/bench/made.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rt/check.h"
#include "tools/airbearing/bench/random.h"

/* A few point masses and a small ball: physical by construction. */
static void set_inertia(uint64_t *random, double size, double inertia[6])
{
    inertia[0] = inertia[1] = inertia[2] = 0.05 * size * size;
    for (int k = 0; k < 4; k++) {
        const double mass = 1.1 + random_number(random);
        const double x = size * random_number(random);
        const double y = size * random_number(random);
        const double z = size * random_number(random);
        inertia[0] += mass * (y * y + z * z);
        inertia[1] += mass * (x * x + z * z);
        inertia[2] += mass * (x * x + y * y);
        inertia[3] -= mass * x * y;
        inertia[4] -= mass * x * z;
        inertia[5] -= mass * y * z;
    }
}

/* Nothing about it is square to anything: no number that a kernel could leave out is zero. */
static struct dyn_body_spec make_body(uint64_t *random, int parent, enum dyn_joint_type joint)
{
    const double size = 0.3;
    struct dyn_body_spec spec = {.parent = parent, .joint = joint, .place_quat = {1.0}};
    random_unit(random, spec.axis, 3);
    if (joint != DYN_JOINT_FREE) {
        random_unit(random, spec.place_quat, 4);
        for (int k = 0; k < 3; k++)
            spec.place_xyz[k] = 2.0 * size * random_number(random);
    }
    spec.mass = 1.1 + random_number(random);
    for (int k = 0; k < 3; k++)
        spec.center[k] = size * random_number(random);
    set_inertia(random, size, spec.inertia);
    return spec;
}

static struct dyn_body_spec *new_bodies(int count)
{
    struct dyn_body_spec *specs = calloc((size_t)count, sizeof *specs);
    RT_CHECK(specs);
    return specs;
}

static struct dyn_body_spec *make_chain(int count)
{
    uint64_t random = (uint64_t)count;
    struct dyn_body_spec *specs = new_bodies(count);
    for (int i = 0; i < count; i++)
        specs[i] = make_body(&random, i - 1, DYN_JOINT_REVOLUTE);
    return specs;
}

static struct dyn_body_spec *make_spacecraft(int *body_count)
{
    static const int hinges[] = {1, 1, 2, 2, 2, 3, 3, 4, 4}; /* of each appendage, 22 in all */
    uint64_t random = 22;
    struct dyn_body_spec *specs = new_bodies(23);
    int count = 0;
    specs[count++] = make_body(&random, -1, DYN_JOINT_FREE);
    for (size_t i = 0; i < sizeof hinges / sizeof *hinges; i++)
        for (int k = 0; k < hinges[i]; k++, count++)
            specs[count] = make_body(&random, k == 0 ? 0 : count - 1, DYN_JOINT_REVOLUTE);
    *body_count = count;
    return specs;
}

/* The number behind "chain"; 0: that is no such name. */
static int chain_length(const char *name)
{
    static const char prefix[] = "chain";
    const size_t length = sizeof prefix - 1;
    char *end;
    if (strncmp(name, prefix, length) != 0 || name[length] < '1' || name[length] > '9')
        return 0;
    const unsigned long count = strtoul(name + length, &end, 10);
    return *end == '\0' && count <= MADE_CHAIN_MAX ? (int)count : 0;
}

struct dyn_body_spec *made_model(const char *name, int *body_count)
{
    if (strcmp(name, "spacecraft22") == 0)
        return make_spacecraft(body_count);
    *body_count = strcmp(name, "arm7") == 0 ? 7 : chain_length(name);
    return *body_count > 0 ? make_chain(*body_count) : NULL;
}
