#include "io/log/mcap_inflate.h"

#include <errno.h>
#include <stdlib.h>

int io_mcap_inflate(struct io_mcap_inflater *inflater, struct io_slice stored, size_t size,
                    struct io_slice *plain, const char **why)
{
    if (inflater->capacity < size || !inflater->bytes) {
        free(inflater->bytes);
        inflater->capacity = size;
        inflater->bytes = malloc(size + 1);
    }
    if (!inflater->context)
        inflater->context = ZSTD_createDCtx();
    if (!inflater->bytes || !inflater->context)
        return -ENOMEM;
    const size_t got =
        ZSTD_decompressDCtx(inflater->context, inflater->bytes, size, stored.data, stored.size);
    if (ZSTD_isError(got)) {
        *why = ZSTD_getErrorName(got);
        return -EBADMSG;
    }
    *plain = (struct io_slice){.data = inflater->bytes, .size = got};
    return 0;
}

void io_mcap_inflater_free(struct io_mcap_inflater *inflater)
{
    free(inflater->bytes);
    ZSTD_freeDCtx(inflater->context);
}
