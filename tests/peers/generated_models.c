#include "tests/peers/generated_models.h"

#include <stdlib.h>
#include <string.h>

#include "rt/check.h"
#include "tests/peers/noise.h"

/* Of a few point masses and a small ball, so that it is physical by construction. */
static void random_inertia(uint64_t *rng, double size, double I[6])
{
    I[0] = I[1] = I[2] = 0.05 * size * size;
    I[3] = I[4] = I[5] = 0.0;
    for (int k = 0; k < 4; k++) {
        const double m = 1.1 + noise(rng);
        const double x = size * noise(rng), y = size * noise(rng), z = size * noise(rng);
        I[0] += m * (y * y + z * z);
        I[1] += m * (x * x + z * z);
        I[2] += m * (x * x + y * y);
        I[3] -= m * x * y;
        I[4] -= m * x * z;
        I[5] -= m * y * z;
    }
}

static struct dyn_body_spec random_body(uint64_t *rng, int parent, enum dyn_joint_type joint)
{
    const double size = 0.3;
    struct dyn_body_spec spec = {.parent = parent, .joint = joint, .place_quat = {1.0}};
    noise_unit(rng, spec.axis, 3);
    double aside[3];
    noise_unit(rng, aside, 3);
    spec.axis2[0] = spec.axis[1] * aside[2] - spec.axis[2] * aside[1];
    spec.axis2[1] = spec.axis[2] * aside[0] - spec.axis[0] * aside[2];
    spec.axis2[2] = spec.axis[0] * aside[1] - spec.axis[1] * aside[0];
    const double length = sqrt(spec.axis2[0] * spec.axis2[0] + spec.axis2[1] * spec.axis2[1] +
                               spec.axis2[2] * spec.axis2[2]);
    for (int k = 0; k < 3; k++)
        spec.axis2[k] /= length;
    if (joint != DYN_JOINT_FREE) {
        noise_unit(rng, spec.place_quat, 4);
        for (int k = 0; k < 3; k++)
            spec.place_xyz[k] = 2.0 * size * noise(rng);
    }
    spec.mass = 1.1 + noise(rng);
    for (int k = 0; k < 3; k++)
        spec.center[k] = size * noise(rng);
    random_inertia(rng, size, spec.inertia);
    return spec;
}

static enum dyn_joint_type random_joint(uint64_t *rng)
{
    static const enum dyn_joint_type types[] = {
        DYN_JOINT_FIXED,     DYN_JOINT_REVOLUTE,  DYN_JOINT_PRISMATIC, DYN_JOINT_CYLINDRICAL,
        DYN_JOINT_UNIVERSAL, DYN_JOINT_SPHERICAL, DYN_JOINT_PLANAR,
    };
    const int count = (int)(sizeof types / sizeof types[0]);
    return types[(int)(0.5 * (noise(rng) + 1.0) * count)];
}

static struct dyn_body_spec *new_specs(int body_count)
{
    struct dyn_body_spec *specs = calloc((size_t)body_count, sizeof *specs);
    RT_CHECK(specs);
    return specs;
}

struct dyn_body_spec *generated_chain(int body_count)
{
    uint64_t rng = (uint64_t)body_count;
    struct dyn_body_spec *specs = new_specs(body_count);
    for (int i = 0; i < body_count; i++) {
        specs[i] = random_body(&rng, i - 1, DYN_JOINT_REVOLUTE);
        memset(specs[i].axis, 0, sizeof specs[i].axis);
        specs[i].axis[i % 3] = 1.0;
    }
    return specs;
}

struct dyn_body_spec *generated_spacecraft(void)
{
    static const int hinges[] = {1, 1, 2, 2, 2, 3, 3, 4, 4}; /* of each appendage, 22 in all */
    enum { APPENDAGES = sizeof hinges / sizeof hinges[0] };
    uint64_t rng = GENERATED_SPACECRAFT_BODIES;
    struct dyn_body_spec *specs = new_specs(GENERATED_SPACECRAFT_BODIES);
    specs[0] = random_body(&rng, -1, DYN_JOINT_FREE);
    int count = 1;
    for (int i = 0; i < APPENDAGES; i++)
        for (int k = 0; k < hinges[i]; k++, count++)
            specs[count] = random_body(&rng, k == 0 ? 0 : count - 1, DYN_JOINT_REVOLUTE);
    return specs;
}

struct dyn_body_spec *generated_tree(int body_count, int free_base, unsigned seed)
{
    uint64_t rng = seed;
    struct dyn_body_spec *specs = new_specs(body_count);
    for (int i = 0; i < body_count; i++) {
        /* half of them chains, and now and then another root */
        const int any = (int)(0.5 * (noise(&rng) + 1.0) * (i + 1)) - 1;
        const int parent = noise(&rng) > 0.0 ? i - 1 : any;
        const enum dyn_joint_type joint = random_joint(&rng);
        specs[i] = random_body(&rng, parent, free_base && i == 0 ? DYN_JOINT_FREE : joint);
    }
    return specs;
}
