#include "rt/mailbox.h"

#include <stdatomic.h>
#include <string.h>

#include "rt/arena.h"
#include "rt/check.h"

enum { BUFFER_COUNT = 3, FRESH = 4, BUFFER = 3 };

/*
 * The owners of the buffers:
 *
 *      writer: back        middle (| FRESH)        reader: front
 *              publish:  back <-> middle   take:  middle <-> front
 *
 * The three numbers are always a permutation of 0, 1, 2, so no buffer has two owners.
 */
struct rt_mailbox {
    unsigned char *buffer[BUFFER_COUNT]; /* set at set-up, then const */

    _Alignas(RT_CACHE_LINE) unsigned back; /* the writer's line */

    _Alignas(RT_CACHE_LINE) atomic_uint middle; /* the shared line */

    _Alignas(RT_CACHE_LINE) unsigned front; /* the reader's line */
};

static struct rt_mailbox *lay_out_mailbox(size_t item_size, void *mem, void *buffer[BUFFER_COUNT],
                                          size_t *size)
{
    RT_CHECK(item_size > 0);
    *size = 0;
    struct rt_mailbox *box = rt_layout_cut(mem, size, sizeof *box);
    for (int i = 0; i < BUFFER_COUNT; i++)
        buffer[i] = rt_layout_cut(mem, size, item_size);
    return box;
}

size_t rt_mailbox_size(size_t item_size)
{
    void *buffer[BUFFER_COUNT];
    size_t size;
    (void)lay_out_mailbox(item_size, NULL, buffer, &size);
    return size;
}

struct rt_mailbox *rt_mailbox_place(size_t item_size, void *mem)
{
    void *buffer[BUFFER_COUNT];
    size_t size;
    struct rt_mailbox *box = lay_out_mailbox(item_size, mem, buffer, &size);
    memset(mem, 0, size);
    for (int i = 0; i < BUFFER_COUNT; i++)
        box->buffer[i] = buffer[i];
    box->back = 0;
    atomic_init(&box->middle, 1u);
    box->front = 2;
    return box;
}

void *rt_mailbox_back(struct rt_mailbox *box)
{
    return box->buffer[box->back];
}

bool rt_mailbox_publish(struct rt_mailbox *box)
{
    /* Release: the reader that takes this buffer must see the whole message.  Acquire: the buffer
     * that comes back may be the one the reader just let go of; its reads must be over before the
     * writer fills it again. */
    const unsigned old =
        atomic_exchange_explicit(&box->middle, box->back | FRESH, memory_order_acq_rel);
    box->back = old & BUFFER;
    return !(old & FRESH);
}

const void *rt_mailbox_take(struct rt_mailbox *box, bool *fresh)
{
    /* Relaxed: this load only decides whether to swap; no part of the message is read because of
     * it.  FRESH can be cleared by this reader alone, so it is still there at the swap below. */
    *fresh = atomic_load_explicit(&box->middle, memory_order_relaxed) & FRESH;
    if (*fresh) {
        /* Acquire: pairs with the publish; the message is read after the swap that brought it.
         * Release: the reads of the old front must be over before the writer can get hold of
         * it. */
        const unsigned old =
            atomic_exchange_explicit(&box->middle, box->front, memory_order_acq_rel);
        box->front = old & BUFFER;
    }
    return box->buffer[box->front];
}
