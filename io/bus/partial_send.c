#include "io/bus/partial_send.h"

#include <errno.h>
#include <string.h>

int io_partial_flush(struct io_partial_frame *partial, io_partial_write *write, void *self)
{
    while (partial->at < partial->size) {
        const ssize_t taken =
            write(self, partial->bytes + partial->at, partial->size - partial->at);
        if (taken < 0)
            return (int)taken;
        partial->at += (size_t)taken;
    }
    return 0;
}

int io_partial_send(struct io_partial_frame *partial, io_partial_write *write, void *self,
                    const void *bytes, size_t size)
{
    if (size > sizeof partial->bytes)
        return -EMSGSIZE;
    const int status = io_partial_flush(partial, write, self);
    if (status < 0 || size == 0)
        return status;
    const ssize_t taken = write(self, bytes, size);
    if (taken < 0)
        return (int)taken;
    partial->at = 0;
    partial->size = size - (size_t)taken;
    memcpy(partial->bytes, (const unsigned char *)bytes + taken, partial->size);
    return 0;
}
