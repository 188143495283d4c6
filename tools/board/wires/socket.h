/*
 * Sockets and serial lines that do not block.  Each returns a descriptor, or -1 with one
 * line in error.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* UDP to "host:port" or "[address]:port"; a connected socket receives from this peer only. */
int board_socket_udp(const char *address, char error[256]);
/* TCP to the same; the connection may not be established yet. */
int board_socket_tcp(const char *address, char error[256]);
/* UDP to the port of the address plus `offset`, or, with `bound`, a socket bound to that port on
 * this machine. */
int board_socket_udp_beside(const char *address, int offset, bool bound, char error[256]);
/* A serial line in raw mode at any rate. */
int board_socket_serial(const char *path, unsigned baud, char error[256]);
