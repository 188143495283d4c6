/*
 * The kernel of dyn_aba(), compiled with counting lanes.
 */
#include "tools/count/lane.h"

#define DYN_ABA_KERNEL dyn_aba_sse2
#define double number
namespace counting
{
#include "dynamics/kernel/aba_kernel.h"
}
