/*
 * SocketCAN and CAN FD as a stream of bytes.
 *
 * A message is cut, in order, into frames that carry its bytes and nothing else: no header, no
 * padding, no length.  All frames sent have the identifier can_id_tx; of those on the bus only
 * frames with can_id_rx are heard, and their bytes one after the other are the stream.
 *
 *   classic   every frame has 8 bytes, the last one what is left
 *   FD        every frame has the largest of 64, 48, 32, 24, 20, 16, 12, 8 ... 1 bytes that is not
 *             more than what is left, because other lengths do not exist: 61 go as 48 + 12 + 1;
 *             all with the bit rate switch set
 *
 * CAN keeps the order of frames of one identifier, so a protocol that finds its own message
 * borders, such as MAVLink, runs over it unchanged.  Remote frames and error frames are not heard.
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
    uint32_t id_tx; /* as the kernel wants it, with the flag of extended identifiers */
    uint64_t retry_ns, wait_ns;
    struct io_partial_frame partial;
    unsigned char bytes[64];
};

/* Bytes that the next frame carries when so many are left.  Context: any. */
size_t io_can_frame_size(size_t left, bool fd_frames);
/* On a descriptor that carries struct can_frame or canfd_frame, one per read and write: what the
 * bus does with a raw CAN socket, and a test with a pair of its own.  Context: frame. */
int io_can_read(int fd, unsigned char bytes[64], struct io_packet *packet);
int io_can_write(int fd, uint32_t id, bool fd_frames, const void *bytes, size_t size);
