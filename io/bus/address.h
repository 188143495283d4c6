/*
 * Conversion between our addresses and those of the kernel.
 */
#pragma once

#include <netinet/in.h>

#include "io/bus/packet.h"

/* Context: any. */
struct sockaddr_in io_address_to_kernel(struct io_address address);
struct io_address io_address_from_kernel(const struct sockaddr_in *name);
