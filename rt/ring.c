#include "rt/ring.h"

#include <stdatomic.h>
#include <string.h>

#include "rt/arena.h"
#include "rt/check.h"

/*
 * tail counts items pushed, head counts items popped; both only grow, item k lies in slot
 * k & mask.  Each side writes one cache line and keeps a copy of the other's counter there, so in
 * the usual case (by that copy neither full nor empty) it does not touch the other's line at all.
 */
struct rt_ring {
    /* set at set-up, then const */
    unsigned char *items;
    size_t stride;
    uint64_t mask;

    /* the producer's line */
    _Alignas(RT_CACHE_LINE) _Atomic uint64_t tail;
    uint64_t cached_head;
    _Atomic uint64_t dropped;

    /* the consumer's line */
    _Alignas(RT_CACHE_LINE) _Atomic uint64_t head;
    uint64_t cached_tail;
};

static size_t power_of_two(size_t count)
{
    RT_CHECK(count > 0 && count <= SIZE_MAX / 4);
    size_t power = 1;
    while (power < count)
        power *= 2;
    return power;
}

/* Items begin on a cache line, so filling one never disturbs the reader of its neighbour. */
static size_t item_stride(size_t item_size)
{
    size_t stride = 0;
    RT_CHECK(item_size > 0);
    (void)rt_layout_cut(NULL, &stride, item_size);
    return stride;
}

static struct rt_ring *lay_out_ring(size_t stride, size_t count, void *mem, unsigned char **items,
                                    size_t *size)
{
    RT_CHECK(count <= SIZE_MAX / 2 / stride);
    *size = 0;
    struct rt_ring *ring = rt_layout_cut(mem, size, sizeof *ring);
    *items = rt_layout_cut(mem, size, count * stride);
    return ring;
}

size_t rt_ring_size(size_t item_size, size_t count)
{
    unsigned char *items;
    size_t size;
    (void)lay_out_ring(item_stride(item_size), power_of_two(count), NULL, &items, &size);
    return size;
}

struct rt_ring *rt_ring_place(size_t item_size, size_t count, void *mem)
{
    const size_t stride = item_stride(item_size), slots = power_of_two(count);
    unsigned char *items;
    size_t size;
    struct rt_ring *ring = lay_out_ring(stride, slots, mem, &items, &size);
    memset(mem, 0, size);
    ring->items = items;
    ring->stride = stride;
    ring->mask = slots - 1;
    return ring;
}

static unsigned char *slot_at(const struct rt_ring *ring, uint64_t index)
{
    return ring->items + (index & ring->mask) * ring->stride;
}

/* One writer per counter, so a plain load and store is a safe increment. */
static void increment(_Atomic uint64_t *counter)
{
    const uint64_t count = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, count + 1, memory_order_relaxed);
}

void *rt_ring_claim(struct rt_ring *ring)
{
    /* Relaxed: only the producer writes tail. */
    const uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    /* Acquire: the consumer's reads of a slot before it moved head must be over before the producer
     * overwrites that slot. */
    if (tail - ring->cached_head > ring->mask)
        ring->cached_head = atomic_load_explicit(&ring->head, memory_order_acquire);
    if (tail - ring->cached_head > ring->mask) {
        increment(&ring->dropped);
        return NULL;
    }
    return slot_at(ring, tail);
}

void rt_ring_push(struct rt_ring *ring)
{
    const uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed) + 1;
    RT_CHECK(tail - ring->cached_head <= ring->mask + 1); /* nothing was claimed */
    /* Release: the consumer that sees the new tail must see the whole item. */
    atomic_store_explicit(&ring->tail, tail, memory_order_release);
}

const void *rt_ring_front(struct rt_ring *ring)
{
    /* Relaxed: only the consumer writes head. */
    const uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    /* Acquire: pairs with the push; the item's bytes must be read after the tail that covers
     * them. */
    if (head == ring->cached_tail)
        ring->cached_tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    return head == ring->cached_tail ? NULL : slot_at(ring, head);
}

void rt_ring_pop(struct rt_ring *ring)
{
    const uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    RT_CHECK(head != ring->cached_tail); /* there was a front */
    /* Release: the producer that sees the slot free must not see it being read any more. */
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

/* Relaxed: the count is for a report, and no item depends on it. */
uint64_t rt_ring_dropped(const struct rt_ring *ring)
{
    return atomic_load_explicit(&ring->dropped, memory_order_relaxed);
}
