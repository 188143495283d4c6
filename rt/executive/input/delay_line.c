#include "rt/executive/input/delay_line.h"

#include <string.h>

#include "rt/check.h"

/* One layout answers size and placement. */
static size_t lay_out_slots(struct sim_delay_line *line, void *mem)
{
    const size_t slots = (size_t)line->slots;
    line->due = mem;
    line->items = mem ? (unsigned char *)mem + slots * sizeof *line->due : NULL;
    return slots * (sizeof *line->due + line->item_size);
}

size_t sim_delay_line_size(uint64_t delay, size_t item_size)
{
    struct sim_delay_line line = {.slots = delay + 1, .item_size = item_size};
    return lay_out_slots(&line, NULL);
}

void sim_delay_line_place(struct sim_delay_line *line, uint64_t delay,
                          const struct io_fault_state *fault, size_t item_size, void *mem)
{
    *line = (struct sim_delay_line){
        .fault = fault, .delay = delay, .slots = delay + 1, .item_size = item_size};
    (void)lay_out_slots(line, mem);
}

void sim_delay_line_push(struct sim_delay_line *line, uint64_t frame, const void *item)
{
    const uint64_t slot = line->put % line->slots;
    RT_CHECK(sim_delay_line_count(line) < line->slots);
    line->due[slot] = frame + line->delay;
    memcpy(line->items + slot * line->item_size, item, line->item_size);
    line->put++;
}

const void *sim_delay_line_peek(const struct sim_delay_line *line, uint64_t index, uint64_t *due)
{
    const uint64_t slot = (line->taken + index) % line->slots;
    if (due)
        *due = line->due[slot];
    return line->items + slot * line->item_size;
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

/* The newest of what is under way, if somebody waits for it. */
static const void *newest_pending(struct sim_delay_line *line)
{
    if (!line->delivers_last || sim_delay_line_count(line) == 0)
        return NULL;
    return sim_delay_line_peek(line, sim_delay_line_count(line) - 1, NULL);
}

const void *sim_delay_line_pass(struct sim_delay_line *line, uint64_t frame, uint64_t counted,
                                const void *in)
{
    if (line->slots == 0)
        return in;
    if (!io_fault_active(line->fault, counted)) {
        const void *last = newest_pending(line);
        sim_delay_line_clear(line);
        return in != NULL ? in : last;
    }
    if (in != NULL) {
        sim_delay_line_push(line, frame, in);
        line->hits++;
    }
    const void *out = NULL;
    for (const void *next; (next = sim_delay_line_pop(line, frame)) != NULL;)
        out = next;
    return out;
}
