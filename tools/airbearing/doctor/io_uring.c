#include <errno.h>
#include <liburing.h>

#include "tools/airbearing/doctor/finding.h"

enum { ENTRIES = 4 };

/* Multishot recvmsg has no probe bit of its own; it came with the zero-copy send, which has one. */
static bool has_multishot(struct io_uring *ring)
{
    struct io_uring_probe *probe = io_uring_get_probe_ring(ring);
    const bool has = probe && io_uring_opcode_supported(probe, IORING_OP_SEND_ZC);
    io_uring_free_probe(probe);
    return has;
}

void doctor_try_uring(struct doctor_uring *uring)
{
    struct io_uring ring;
    *uring = (struct doctor_uring){
        .error = -io_uring_queue_init(ENTRIES, &ring,
                                      IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN)};
    uring->defer = uring->error == 0;
    if (uring->error == EINVAL)
        uring->error = -io_uring_queue_init(ENTRIES, &ring, 0);
    if (uring->error != 0)
        return;
    uring->multishot = has_multishot(&ring);
    io_uring_queue_exit(&ring);
}
