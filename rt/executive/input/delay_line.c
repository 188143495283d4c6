#include "rt/executive/input/delay_line.h"

#include <string.h>

#include "rt/check.h"

/* One layout answers size and placement. */
static size_t lay_out(struct late *late, void *mem)
{
    const size_t slots = (size_t)late->slots;
    late->due = mem;
    late->items = mem ? (unsigned char *)mem + slots * sizeof *late->due : NULL;
    return slots * (sizeof *late->due + late->item_size);
}

size_t late_size(uint64_t delay, size_t item_size)
{
    struct late late = {.slots = delay + 1, .item_size = item_size};
    return lay_out(&late, NULL);
}

void late_place(struct late *late, uint64_t delay, const struct io_fault_state *fault,
                size_t item_size, void *mem)
{
    *late =
        (struct late){.fault = fault, .delay = delay, .slots = delay + 1, .item_size = item_size};
    (void)lay_out(late, mem);
}

void late_put(struct late *late, uint64_t frame, const void *item)
{
    const uint64_t slot = late->put % late->slots;
    RT_CHECK(late_count(late) < late->slots);
    late->due[slot] = frame + late->delay;
    memcpy(late->items + slot * late->item_size, item, late->item_size);
    late->put++;
}

const void *late_look(const struct late *late, uint64_t index, uint64_t *due)
{
    const uint64_t slot = (late->taken + index) % late->slots;
    if (due)
        *due = late->due[slot];
    return late->items + slot * late->item_size;
}

const void *late_take(struct late *late, uint64_t frame)
{
    uint64_t due;
    if (late_count(late) == 0)
        return NULL;
    const void *item = late_look(late, 0, &due);
    if (due > frame)
        return NULL;
    late->taken++;
    return item;
}

void late_drop(struct late *late)
{
    late->taken = late->put;
}

void late_keep_newest(struct late *late, uint64_t shift)
{
    if (late_count(late) == 0)
        return;
    late->taken = late->put - 1;
    late->due[late->taken % late->slots] += shift;
}

/* The newest of what is under way, if somebody waits for it. */
static const void *last_word(struct late *late)
{
    if (!late->has_last_word || late_count(late) == 0)
        return NULL;
    return late_look(late, late_count(late) - 1, NULL);
}

const void *late_pass(struct late *late, uint64_t frame, const void *in)
{
    if (late->slots == 0)
        return in;
    if (!io_fault_active(late->fault, frame)) {
        const void *last = last_word(late);
        late_drop(late);
        return in != NULL ? in : last;
    }
    if (in != NULL) {
        late_put(late, frame, in);
        late->hits++;
    }
    const void *out = NULL;
    for (const void *next; (next = late_take(late, frame)) != NULL;)
        out = next;
    return out;
}
