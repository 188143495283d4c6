#include "tools/airbearing/late.h"

#include <string.h>

size_t late_size(size_t item_size)
{
    return item_size * IO_FAULT_DELAY_MAX;
}

void late_place(struct late *late, const struct io_fault_spec *fault,
                const struct io_fault_state *state, size_t item_size, void *mem)
{
    *late = (struct late){.fault = fault, .state = state, .item_size = item_size, .items = mem};
}

const void *late_pass(struct late *late, uint64_t frame, const void *in)
{
    if (late->fault == NULL || !io_fault_active(late->state, frame))
        return in;
    const uint64_t delay = (uint64_t)late->fault->value;
    const uint64_t slot = frame % IO_FAULT_DELAY_MAX;
    late->frame[slot] = in != NULL ? frame + 1 : 0;
    if (in != NULL) {
        memcpy(late->items + slot * late->item_size, in, late->item_size);
        late->hits++;
    }
    const uint64_t then = frame - delay, from = then % IO_FAULT_DELAY_MAX;
    const int there = frame >= delay && late->frame[from] == then + 1;
    return there ? late->items + from * late->item_size : NULL;
}
