/*
 * SocketCAN and CAN FD as a stream of bytes.
 *
 * A message is cut, in order, into frames that carry its bytes and nothing else: no header, no
 * padding, no length.  All frames sent have the identifier can_id_tx.  Only frames with can_id_rx
 * are received, and their bytes one after the other are the stream.
 *
 *   classic   every frame has 8 bytes, and the last one the rest
 *   FD        every frame has the largest of 64, 48, 32, 24, 20, 16, 12, 8 ... 1 bytes that is not
 *             more than the rest, because other lengths do not exist: 61 bytes go as 48 + 12 + 1;
 *             all frames have the bit rate switch set
 *
 * CAN keeps the order of frames of one identifier, so a protocol that finds its own message
 * borders, such as MAVLink, runs over it unchanged.  Remote frames and error frames are ignored.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/bus/packet.h"
#include "io/bus/partial_send.h"
#include "io/bus/stable_fd.h"

struct io_can {
    struct io_stable_fd stable_fd;
    bool fd_frames;
    uint32_t id_tx; /* in the format of the kernel, with the flag of extended identifiers */
    uint64_t retry_ns, wait_ns;
    struct io_partial_frame partial;
    unsigned char bytes[64];
};

/* The number of bytes that the next frame carries when `left` remain.  Context: any. */
size_t io_can_frame_size(size_t left, bool fd_frames);
/* Read and write frames on a descriptor that carries struct can_frame or canfd_frame, one per call:
 * a raw CAN socket, or a socket pair of a test.  The read returns 1, 0 or -errno; the write returns
 * the bytes of the frames that were accepted, or -errno when there was none.  Context: frame. */
int io_can_read(int fd, unsigned char bytes[64], struct io_packet *packet);
int io_can_write(int fd, uint32_t id, bool fd_frames, const void *bytes, size_t size);
