/*
 * Wait-free single-producer single-consumer ring of fixed-size items, in caller memory.
 *
 * A full ring never blocks its producer: rt_ring_claim() returns NULL, the producer counts the
 * loss and goes on.  Items are written and read in place.
 *
 *      producer: item = rt_ring_claim(r); fill *item; rt_ring_push(r);
 *      consumer: item = rt_ring_front(r); use *item;  rt_ring_pop(r);
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct rt_ring;

/* count is rounded up to a power of two.  Context: setup. */
size_t rt_ring_size(size_t item_size, size_t count);
struct rt_ring *rt_ring_place(size_t item_size, size_t count, void *mem);

/* The next free item, or NULL when the ring is full (and counted as dropped).  Context: frame,
 * producer. */
void *rt_ring_claim(struct rt_ring *ring);
/* Publish the claimed item.  Context: frame, producer. */
void rt_ring_push(struct rt_ring *ring);

/* The oldest item, or NULL when empty.  Context: any, consumer. */
const void *rt_ring_front(struct rt_ring *ring);
/* Give the item back to the producer.  Context: any, consumer. */
void rt_ring_pop(struct rt_ring *ring);

/* Items lost to a full ring so far.  Context: any. */
uint64_t rt_ring_dropped(const struct rt_ring *ring);
