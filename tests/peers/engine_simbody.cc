/*
 * Simbody: articulated bodies.
 *
 * A mobilizer moves a frame M of the body in a frame F of its parent; its turns are about z, its
 * slides along x, and the velocities of its balls and free bodies are in the axes of F.
 */
#include <Simbody.h>
#include <cstdio>
#include <vector>

#include "tests/peers/engine.h"

using namespace SimTK;

namespace
{

struct Slot {
    Vector q, u, force;
};

struct Mobilizer {
    const engine_motion *motion;
    MobilizedBody body;
    int q, u; /* where its numbers begin in the engine's */
};

struct Simbody {
    MultibodySystem system;
    SimbodyMatterSubsystem matter{system};
    GeneralForceSubsystem forces{system};
    Force::DiscreteForces efforts{forces, matter};
    std::vector<Mobilizer> mobilizers;
    std::vector<Slot> slots;
    State state;
};

Vec3 vec3(const double *x)
{
    return Vec3(x[0], x[1], x[2]);
}

void store(double *to, const Vec3 &x)
{
    for (int k = 0; k < 3; k++)
        to[k] = x[k];
}

Rotation rotation(const double *quat)
{
    return Rotation(Quaternion(quat[0], quat[1], quat[2], quat[3]));
}

Body mass_of(const engine_body &body)
{
    const double *I = body.inertia;
    const Vec3 center = vec3(body.center);
    const Inertia central(I[0], I[1], I[2], I[3], I[4], I[5]);
    return Body::Rigid(
        MassProperties(body.mass, center, central.shiftFromMassCenter(-center, body.mass)));
}

MobilizedBody mobilize(MobilizedBody &parent, const Transform &place, const engine_motion &motion,
                       const Body &body)
{
    switch (motion.type) {
    case ENGINE_TURN: {
        const Rotation along(UnitVec3(vec3(motion.axis)), ZAxis);
        return MobilizedBody::Pin(parent, place * Transform(along), body, Transform(along));
    }
    case ENGINE_SLIDE: {
        const Rotation along(UnitVec3(vec3(motion.axis)), XAxis);
        return MobilizedBody::Slider(parent, place * Transform(along), body, Transform(along));
    }
    case ENGINE_BALL:
        return MobilizedBody::Ball(parent, place, body, Transform());
    case ENGINE_FREE:
        break;
    }
    return MobilizedBody::Free(parent, place, body, Transform());
}

/* A row of motions is a row of bodies, of which the last has the mass. */
MobilizedBody add_body(Simbody &simbody, MobilizedBody &parent, const engine_body &body)
{
    Transform place(rotation(body.place_quat), vec3(body.place_xyz));
    if (body.motion_count == 0)
        return MobilizedBody::Weld(parent, place, mass_of(body), Transform());
    MobilizedBody last = parent;
    for (int k = 0; k < body.motion_count; k++) {
        const bool carries = k + 1 == body.motion_count;
        const Body mass = carries ? mass_of(body) : Body(Body::Massless());
        last = mobilize(last, place, body.motions[k], mass);
        simbody.mobilizers.push_back({&body.motions[k], last, 0, 0});
        place = Transform();
    }
    return last;
}

void build(Simbody &simbody, const engine_model &model)
{
    Force::UniformGravity(simbody.forces, simbody.matter, vec3(model.gravity));
    std::vector<MobilizedBody> bodies;
    for (int i = 0; i < model.body_count; i++) {
        const engine_body &body = model.bodies[i];
        MobilizedBody parent = simbody.matter.Ground();
        if (body.parent >= 0)
            parent = bodies[(size_t)body.parent];
        bodies.push_back(add_body(simbody, parent, body));
    }
    simbody.state = simbody.system.realizeTopology();
    simbody.system.realizeModel(simbody.state);
    for (Mobilizer &mobilizer : simbody.mobilizers) {
        mobilizer.q = mobilizer.body.getFirstQIndex(simbody.state);
        mobilizer.u = mobilizer.body.getFirstUIndex(simbody.state);
    }
}

void *open_simbody(const engine_model *model, int slot_count)
{
    Simbody *simbody = new Simbody;
    try {
        build(*simbody, *model);
        const Slot empty = {Vector(model->nq, 0.0), Vector(model->nv, 0.0), Vector(model->nv, 0.0)};
        simbody->slots.assign((size_t)slot_count, empty);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "simbody: %s\n", error.what());
        delete simbody;
        return nullptr;
    }
    return simbody;
}

void put_vector(Vector &to, int at, const Vec3 &x)
{
    for (int k = 0; k < 3; k++)
        to[at + k] = x[k];
}

void put_simbody(void *self, int index, const double *q, const double *v, const double *tau)
{
    Simbody &simbody = *static_cast<Simbody *>(self);
    Slot &slot = simbody.slots[(size_t)index];
    for (const Mobilizer &mobilizer : simbody.mobilizers) {
        const engine_motion &motion = *mobilizer.motion;
        const bool is_free = motion.type == ENGINE_FREE;
        if (motion.type == ENGINE_TURN || motion.type == ENGINE_SLIDE) {
            slot.q[mobilizer.q] = q[motion.q];
            slot.u[mobilizer.u] = v[motion.v];
            slot.force[mobilizer.u] = tau[motion.v];
            continue;
        }
        const double *quat = q + motion.q + (is_free ? 3 : 0);
        for (int k = 0; k < 4; k++)
            slot.q[mobilizer.q + k] = quat[k];
        if (is_free)
            put_vector(slot.q, mobilizer.q + 4, vec3(q + motion.q));
        const Rotation R = rotation(quat);
        for (int k = 0; k < (is_free ? 6 : 3); k += 3) {
            put_vector(slot.u, mobilizer.u + k, R * vec3(v + motion.v + k));
            put_vector(slot.force, mobilizer.u + k, R * vec3(tau + motion.v + k));
        }
    }
}

void run_simbody(void *self, int index)
{
    Simbody &simbody = *static_cast<Simbody *>(self);
    const Slot &slot = simbody.slots[(size_t)index];
    simbody.state.updQ() = slot.q;
    simbody.state.updU() = slot.u;
    simbody.efforts.setAllMobilityForces(simbody.state, slot.force);
    simbody.system.realize(simbody.state, Stage::Acceleration);
}

void get_simbody(void *self, int index, double *a)
{
    const Simbody &simbody = *static_cast<Simbody *>(self);
    const Slot &slot = simbody.slots[(size_t)index];
    const Vector &udot = simbody.state.getUDot();
    for (const Mobilizer &mobilizer : simbody.mobilizers) {
        const engine_motion &motion = *mobilizer.motion;
        if (motion.type == ENGINE_TURN || motion.type == ENGINE_SLIDE) {
            a[motion.v] = udot[mobilizer.u];
            continue;
        }
        const double *quat = &slot.q[mobilizer.q];
        const Rotation back = ~rotation(quat);
        store(a + motion.v, back * vec3(&udot[mobilizer.u]));
        if (motion.type == ENGINE_FREE) {
            /* dv/dt in body axes is R' (dv/dt in world axes) - w x v */
            const Vec3 w = vec3(&slot.u[mobilizer.u]), v = vec3(&slot.u[mobilizer.u + 3]);
            store(a + motion.v + 3, back * (vec3(&udot[mobilizer.u + 3]) - w % v));
        }
    }
}

void close_simbody(void *self)
{
    delete static_cast<Simbody *>(self);
}

} // namespace

extern "C" const engine engine_simbody = {"simbody",   0,           open_simbody, put_simbody,
                                          run_simbody, get_simbody, close_simbody};
