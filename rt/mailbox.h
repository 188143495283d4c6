/*
 * Newest-wins mailbox: one writer, one reader, both wait-free; a reader never sees a partly
 * written message.
 *
 * Three buffers: the writer owns one, the reader owns one, the third is in the middle.  Publishing
 * and taking each swap their own buffer with the middle one in a single atomic exchange.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct rt_mailbox;

/* Context: setup. */
size_t rt_mailbox_size(size_t item_size);
struct rt_mailbox *rt_mailbox_place(size_t item_size, void *mem);

/* The writer's own buffer; its old content is arbitrary.  Context: frame, writer. */
void *rt_mailbox_back(struct rt_mailbox *box);
/* Publish the back buffer as the newest message.  False: the message before was not taken, and is
 * lost.  Context: frame, writer. */
bool rt_mailbox_publish(struct rt_mailbox *box);

/* The newest message; *fresh is set when it came since the last take.  Before the first publish it
 * is all zeros.  Valid until the next take.  Context: frame, reader. */
const void *rt_mailbox_take(struct rt_mailbox *box, bool *fresh);
