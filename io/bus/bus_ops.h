/*
 * The methods and properties of a kind of bus.  Only io/bus includes this.
 *
 * A method is called with a bus of its own kind.  A kind reports changes of its far end with
 * io_bus_peer_arrived() and io_bus_peer_left(); bus.c counts packets and failures.
 */
#pragma once

#include "io/bus/bus.h"

struct io_bus_ops {
    struct io_bus_traits traits;
    int (*open)(struct io_bus *bus, char error[IO_BUS_ERROR_MAX]);
    void (*close)(struct io_bus *bus);
    int (*receive)(struct io_bus *bus, struct io_packet *packet);
    int (*watches)(const struct io_bus *bus, struct io_bus_watch watch[IO_BUS_WATCH_MAX]);
    /* the rest may be NULL: the kind does not have it */
    int (*send)(struct io_bus *bus, struct io_address to, const void *bytes, size_t size,
                bool stamped);
    void (*send_emergency)(struct io_bus *bus, struct io_address to, const void *bytes,
                           size_t size);
    void (*tick)(struct io_bus *bus, uint64_t now_ns);
    bool (*has_tx_timestamp)(const struct io_bus *bus);
    bool (*tx_timestamp)(struct io_bus *bus, uint64_t *stamp_ns);
    size_t (*backlog)(struct io_bus *bus);
    struct io_address (*local)(const struct io_bus *bus);
};

/* io_udp_bus_ops, io_tcp_bus_ops and so on. */
#define IO_BUS_OPS(kind, name, module) extern const struct io_bus_ops io_##module##_bus_ops;
IO_BUS_LIST(IO_BUS_OPS)
#undef IO_BUS_OPS

/* The pause between two attempts to find a far end again. */
enum { IO_BUS_WAIT_NS_MIN = 50000000, IO_BUS_WAIT_NS_MAX = 2000000000 };
/* The pause before the next attempt; doubles *wait_ns up to its bound. */
uint64_t io_bus_back_off(uint64_t *wait_ns);

/* The descriptors of io_bus_watches() have changed. */
void io_bus_watches_changed(struct io_bus *bus);
void io_bus_peer_arrived(struct io_bus *bus, struct io_address peer);
void io_bus_peer_left(struct io_bus *bus);
/* A counter has one writer, so no locked instruction is needed. */
void io_bus_count(_Atomic uint64_t *counter, uint64_t more);

/* Write one line to error, after "links.<name>.<key>: ".  Returns status. */
__attribute__((format(printf, 5, 6))) int io_bus_error(const struct io_bus *bus, const char *key,
                                                       int status, char *error, const char *format,
                                                       ...);
/* Parse an address of the spec: 0, or -EINVAL with a line in error. */
int io_bus_parse_address(const struct io_bus *bus, const char *key, const char *text,
                         struct io_address *address, char *error);
/* Write the reason why an address could not be bound to error.  Returns status. */
int io_bus_bind_error(const struct io_bus *bus, struct io_address listen, int status, char *error);
