#include "io/bus/partial_send.h"

#include <errno.h>
#include <string.h>

int io_stream_flush(struct io_stream_rest *rest, io_stream_write *write, void *self)
{
    while (rest->at < rest->size) {
        const ssize_t taken = write(self, rest->bytes + rest->at, rest->size - rest->at);
        if (taken < 0)
            return (int)taken;
        rest->at += (size_t)taken;
    }
    return 0;
}

int io_stream_send(struct io_stream_rest *rest, io_stream_write *write, void *self,
                   const void *bytes, size_t size)
{
    if (size > sizeof rest->bytes)
        return -EMSGSIZE;
    const int status = io_stream_flush(rest, write, self);
    if (status < 0 || size == 0)
        return status;
    const ssize_t taken = write(self, bytes, size);
    if (taken < 0)
        return (int)taken;
    rest->at = 0;
    rest->size = size - (size_t)taken;
    memcpy(rest->bytes, (const unsigned char *)bytes + taken, rest->size);
    return 0;
}
