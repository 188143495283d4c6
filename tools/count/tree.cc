/*
 * The sources around the kernel, and the algorithms of dynamics/analysis, compiled with counting
 * numbers.
 */
#include <cerrno>
#include <cstdlib>

#include "tools/count/number.h"
#include "tools/count/tree.h"

/* One kernel for all instruction sets. */
#define dyn_aba_avx2   dyn_aba_sse2
#define dyn_aba_avx512 dyn_aba_sse2
#define double number
namespace counting
{
#include "dynamics/analysis/crba.c"
#include "dynamics/analysis/kinematics.c"
#include "dynamics/analysis/ldl.c"
#include "dynamics/analysis/rnea.c"
#include "dynamics/analysis/tree_pose.c"
#include "dynamics/flex/modal_shape.c"
#include "dynamics/joint_force.c"
#include "dynamics/kernel/aba.c"
#include "dynamics/kernel/mimic.c"
#include "dynamics/kernel/work.c"
#include "dynamics/math/cholesky.c"

struct flop_count counted;
} // namespace counting
#undef double

namespace
{

using counting::number;

number *numbers(double *a)
{
    return reinterpret_cast<number *>(a);
}

const number *numbers(const double *a)
{
    return reinterpret_cast<const number *>(a);
}

/* Room for a work, freed with it. */
struct room {
    void *mem;
    explicit room(std::size_t size) : mem(std::aligned_alloc(64, (size + 63) / 64 * 64))
    {
    }
    room(const room &) = delete;
    ~room()
    {
        std::free(mem);
    }
};

counting::dyn_state state_of(const count_call *call)
{
    return {numbers(call->q), numbers(call->v)};
}

counting::dyn_input input_of(const count_call *call)
{
    counting::dyn_input input = {};
    input.tau = numbers(call->tau);
    for (int k = 0; k < 3; k++)
        input.gravity[k] = call->gravity[k];
    return input;
}

flop_count take_count()
{
    const flop_count count = counting::counted;
    counting::counted = flop_count();
    return count;
}

/* dyn_crba_forward() of a tree whose joints need no rest of their own, part by part. */
void run_composite(const counting::dyn_model *model, const count_call *call,
                   counting::dyn_crba_work *work, number *a, flop_count *parts)
{
    const counting::dyn_state state = state_of(call);
    const counting::dyn_input input = input_of(call);

    take_count();
    counting::find_rest_acceleration(model, &state, work->rest);
    counting::dyn_rnea(model, &state, work->rest, &input, work->tree_pose->kernel, a);
    for (int k = 0; k < model->nv; k++)
        a[k] = input.tau[k] - a[k];
    parts[COUNT_BIAS] = take_count();
    counting::dyn_tree_pose_from_kernel(model, work->tree_pose);
    counting::dyn_composite_rows(model, work);
    parts[COUNT_MATRIX] = take_count();
    counting::dyn_ldl_factor(work->ldl);
    parts[COUNT_FACTOR] = take_count();
    counting::dyn_ldl_solve(work->ldl, a);
    for (int k = 0; k < model->nv; k++)
        a[k] += work->rest[k];
    parts[COUNT_SOLVE] = take_count();
}

} // namespace

int count_articulated(const struct dyn_model *tree, const struct count_call *call, double *a,
                      struct flop_count *count)
{
    const auto *model = reinterpret_cast<const counting::dyn_model *>(tree);
    const room room(counting::dyn_work_size(model));
    const counting::dyn_state state = state_of(call);
    const counting::dyn_input input = input_of(call);
    counting::dyn_output output = {numbers(a), nullptr};
    if (room.mem == nullptr)
        return -ENOMEM;

    counting::dyn_work *work = counting::dyn_work_place(model, room.mem);
    take_count();
    counting::dyn_aba(model, &state, &input, work, &output);
    *count = take_count();
    return 0;
}

int count_composite(const struct dyn_model *tree, const struct count_call *call, double *a,
                    struct flop_count parts[COUNT_PARTS])
{
    const auto *model = reinterpret_cast<const counting::dyn_model *>(tree);
    const room room(counting::dyn_crba_work_size(model));
    if (room.mem == nullptr)
        return -ENOMEM;

    run_composite(model, call, counting::dyn_crba_work_place(model, room.mem), numbers(a), parts);
    return 0;
}
