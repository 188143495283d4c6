/*
 * KDL: Vereshchagin's hybrid dynamics along a chain, linear in its length.
 *
 * The solver wants a constraint at the tip; one that acts in no direction does nothing.
 */
#include <kdl/chainhdsolver_vereshchagin.hpp>
#include <memory>
#include <vector>

#include "tests/peers/engine.h"

namespace
{

struct Slot {
    KDL::JntArray q, v, tau;
};

struct Kdl {
    KDL::Chain chain;
    std::unique_ptr<KDL::ChainHdSolver_Vereshchagin> solver; /* keeps a reference to the chain */
    KDL::Jacobian no_direction;
    KDL::JntArray no_energy, a, constraint_tau;
    KDL::Wrenches no_wrench;
    std::vector<Slot> slots;
};

KDL::Vector vector(const double *x)
{
    return KDL::Vector(x[0], x[1], x[2]);
}

KDL::RigidBodyInertia mass_of(const engine_body &body)
{
    const double *I = body.inertia;
    return KDL::RigidBodyInertia(body.mass, vector(body.center),
                                 KDL::RotationalInertia(I[0], I[1], I[2], I[3], I[4], I[5]));
}

/* A row of motions is a row of segments, of which the last has the mass. */
void add_body(KDL::Chain &chain, const engine_body &body)
{
    const double *quat = body.place_quat;
    KDL::Frame place(KDL::Rotation::Quaternion(quat[1], quat[2], quat[3], quat[0]),
                     vector(body.place_xyz));
    for (int k = 0; k < body.motion_count; k++) {
        const engine_motion &motion = body.motions[k];
        const KDL::Joint joint(place.p, place.M * vector(motion.axis),
                               motion.type == ENGINE_TURN ? KDL::Joint::RotAxis
                                                          : KDL::Joint::TransAxis);
        const bool carries = k + 1 == body.motion_count;
        chain.addSegment(
            KDL::Segment(joint, place, carries ? mass_of(body) : KDL::RigidBodyInertia::Zero()));
        place = KDL::Frame::Identity();
    }
}

/* A chain whose numbers come in the order of its joints. */
bool is_serial(const engine_model &model)
{
    int v = 0;
    for (int i = 0; i < model.body_count; i++) {
        const engine_body &body = model.bodies[i];
        if (body.parent != i - 1 || body.motion_count == 0)
            return false;
        for (int k = 0; k < body.motion_count; k++, v++) {
            const engine_motion &motion = body.motions[k];
            if ((motion.type != ENGINE_TURN && motion.type != ENGINE_SLIDE) || motion.v != v)
                return false;
        }
    }
    return true;
}

void *open_kdl(const engine_model *model, int slot_count)
{
    if (!is_serial(*model))
        return nullptr;
    Kdl *kdl = new Kdl;
    for (int i = 0; i < model->body_count; i++)
        add_body(kdl->chain, model->bodies[i]);
    const unsigned nv = (unsigned)model->nv;
    const KDL::Twist upward(-vector(model->gravity), KDL::Vector::Zero());
    kdl->solver.reset(new KDL::ChainHdSolver_Vereshchagin(kdl->chain, upward, 1));
    kdl->no_direction = KDL::Jacobian(1);
    KDL::SetToZero(kdl->no_direction);
    kdl->no_energy = KDL::JntArray(1);
    kdl->a = kdl->constraint_tau = KDL::JntArray(nv);
    kdl->no_wrench.assign(kdl->chain.getNrOfSegments(), KDL::Wrench::Zero());
    const Slot empty = {KDL::JntArray(nv), KDL::JntArray(nv), KDL::JntArray(nv)};
    kdl->slots.assign((size_t)slot_count, empty);
    return kdl;
}

void put_kdl(void *self, int index, const double *q, const double *v, const double *tau)
{
    Slot &slot = static_cast<Kdl *>(self)->slots[(size_t)index];
    for (unsigned k = 0; k < slot.q.rows(); k++) {
        slot.q(k) = q[k];
        slot.v(k) = v[k];
        slot.tau(k) = tau[k];
    }
}

void run_kdl(void *self, int index)
{
    Kdl &kdl = *static_cast<Kdl *>(self);
    const Slot &slot = kdl.slots[(size_t)index];
    kdl.solver->CartToJnt(slot.q, slot.v, kdl.a, kdl.no_direction, kdl.no_energy, kdl.no_wrench,
                          slot.tau, kdl.constraint_tau);
}

void get_kdl(void *self, int, double *a)
{
    const Kdl &kdl = *static_cast<Kdl *>(self);
    for (unsigned k = 0; k < kdl.a.rows(); k++)
        a[k] = kdl.a(k);
}

void close_kdl(void *self)
{
    delete static_cast<Kdl *>(self);
}

} // namespace

extern "C" const engine engine_kdl = {"kdl", 1, open_kdl, put_kdl, run_kdl, get_kdl, close_kdl};
