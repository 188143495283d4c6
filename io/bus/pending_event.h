/*
 * One thing to hand out that no descriptor of the far end tells of: how a hand controller stood
 * when it came.  Whoever sleeps on the bus is woken by a descriptor of our own.
 */
#pragma once

#include <stdbool.h>

struct io_news {
    int fd; /* readable while there is one; -1: closed */
    bool is;
};

/* 0 or -errno.  Context: setup. */
int io_news_open(struct io_news *news);
void io_news_close(struct io_news *news);
/* Context: frame. */
void io_news_tell(struct io_news *news);
/* True once for each telling.  Context: frame. */
bool io_news_take(struct io_news *news);
