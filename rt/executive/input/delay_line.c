#include "rt/executive/input/delay_line.h"

#include <string.h>

#include "rt/check.h"

/* One layout answers size and placement. */
static size_t lay_out_slots(struct sim_delay_line *line, void *mem)
{
    const uint64_t delay = line->spec.delay + line->spec.fault_delay;
    line->slots = delay > 0 ? delay + 1 : 0;
    const size_t slots = (size_t)line->slots;
    line->due = mem;
    line->items = mem ? (unsigned char *)mem + slots * sizeof *line->due : NULL;
    return slots * (sizeof *line->due + line->spec.item_size);
}

size_t sim_delay_line_size(const struct sim_delay_line_spec *spec)
{
    struct sim_delay_line line = {.spec = *spec};
    return lay_out_slots(&line, NULL);
}

void sim_delay_line_place(struct sim_delay_line *line, const struct sim_delay_line_spec *spec,
                          void *mem)
{
    *line = (struct sim_delay_line){.spec = *spec};
    (void)lay_out_slots(line, mem);
}

static bool fault_is_on(const struct sim_delay_line *line, uint64_t counted)
{
    return line->spec.fault != NULL && io_fault_active(line->spec.fault, counted);
}

void sim_delay_line_push_due(struct sim_delay_line *line, uint64_t due, const void *item)
{
    RT_CHECK(sim_delay_line_count(line) < line->slots);
    const uint64_t slot = line->put % line->slots;
    line->due[slot] = due;
    memmove(line->items + slot * line->spec.item_size, item, line->spec.item_size);
    line->put++;
}

void sim_delay_line_push(struct sim_delay_line *line, uint64_t frame, uint64_t counted,
                         const void *item)
{
    const bool held = fault_is_on(line, counted);
    line->hits += held;
    sim_delay_line_push_due(line, frame + line->spec.delay + (held ? line->spec.fault_delay : 0),
                            item);
}

const void *sim_delay_line_peek(const struct sim_delay_line *line, uint64_t index, uint64_t *due)
{
    const uint64_t slot = (line->taken + index) % line->slots;
    if (due)
        *due = line->due[slot];
    return line->items + slot * line->spec.item_size;
}

const void *sim_delay_line_pop(struct sim_delay_line *line, uint64_t frame)
{
    uint64_t due;
    if (sim_delay_line_count(line) == 0)
        return NULL;
    const void *item = sim_delay_line_peek(line, 0, &due);
    if (due > frame)
        return NULL;
    line->taken++;
    return item;
}

void sim_delay_line_clear(struct sim_delay_line *line)
{
    line->taken = line->put;
}

void sim_delay_line_keep_newest(struct sim_delay_line *line)
{
    if (sim_delay_line_count(line) > 0)
        line->taken = line->put - 1;
}

/* How many of the items under way the fault still holds back: the last ones, which are not due
 * before an item that goes in now. */
static uint64_t held_count(const struct sim_delay_line *line, uint64_t frame)
{
    uint64_t held = 0, due;
    for (; held < sim_delay_line_count(line); held++) {
        (void)sim_delay_line_peek(line, sim_delay_line_count(line) - 1 - held, &due);
        if (due < frame + line->spec.delay)
            break;
    }
    return held;
}

void sim_delay_line_end_fault(struct sim_delay_line *line, uint64_t frame, uint64_t counted,
                              bool has_newer)
{
    if (line->spec.fault == NULL || fault_is_on(line, counted))
        return;
    const uint64_t held = held_count(line, frame);
    if (held == 0)
        return;
    const void *newest = sim_delay_line_peek(line, sim_delay_line_count(line) - 1, NULL);
    line->put -= held;
    if (line->spec.delivers_last && !has_newer)
        sim_delay_line_push_due(line, frame + line->spec.delay, newest);
}

const void *sim_delay_line_pass(struct sim_delay_line *line, uint64_t frame, uint64_t counted,
                                const void *in)
{
    if (line->slots == 0)
        return in;
    sim_delay_line_end_fault(line, frame, counted, in != NULL);
    if (in != NULL)
        sim_delay_line_push(line, frame, counted, in);
    const void *out = NULL;
    for (const void *next; (next = sim_delay_line_pop(line, frame)) != NULL;)
        out = next;
    return out;
}
