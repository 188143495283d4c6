/*
 * A bus carries packets of bytes to a far end and back.  One interface, nine kinds:
 *
 *   UDP      datagrams; the far end is an address
 *   TCP      a stream; server (listen) or client (peer); one peer at a time
 *   serial   a stream; the device may vanish and come back, as USB adapters do
 *   CAN      a stream cut into frames of one identifier (io/bus/can.h)
 *   shared   messages through shared memory (io/bus/shm.h)
 *   tape     packets of a recorded file, at their recorded times (io/bus/tape.h)
 *   evdev    reports of a hand controller; nothing is sent (io/bus/evdev.h)
 *   spacenav reports of a SpaceMouse, from its daemon (io/bus/spacenav.h)
 *   cockpit  reports of the hand controller on the cockpit page (io/bus/cockpit.h)
 *
 * After io_bus_open() nothing here blocks, allocates or resolves a name.  A bus belongs to one
 * thread, the one that receives, sends and ticks; only functions with "Context: any" may be called
 * from others.  A peer may go and come back at any time: io_bus_tick() finds it again, and a send
 * in between returns -ENOTCONN.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/bus/can.h"
#include "io/bus/cockpit.h"
#include "io/bus/evdev.h"
#include "io/bus/packet.h"
#include "io/bus/serial.h"
#include "io/bus/shm.h"
#include "io/bus/spacenav.h"
#include "io/bus/tape.h"
#include "io/bus/tcp.h"
#include "io/bus/udp.h"

enum {
    IO_BUS_ADDRESS_MAX = 64,
    IO_BUS_DEVICE_MAX = 128,
    IO_BUS_ERROR_MAX = 256,
    IO_BUS_WATCH_MAX = 2, /* descriptors of one bus: the listener and the connection */
};

/* One line per kind: the end of its enum value, its name in a scenario, and NAME of its files: its
 * state is struct io_NAME, its member of struct io_bus is NAME, its row io_NAME_bus_ops
 * (bus_ops.h). */
#define IO_BUS_LIST(ROW)                                                                           \
    ROW(UDP, "udp", udp)                                                                           \
    ROW(TCP, "tcp", tcp)                                                                           \
    ROW(SERIAL, "serial", serial)                                                                  \
    ROW(CAN, "can", can)                                                                           \
    ROW(SHM, "shared", shm)                                                                        \
    ROW(TAPE, "tape", tape)                                                                        \
    ROW(EVDEV, "evdev", evdev)                                                                     \
    ROW(SPACENAV, "spacenav", spacenav)                                                            \
    ROW(COCKPIT, "cockpit", cockpit)

/* IO_BUS_UDP, IO_BUS_TCP and so on, in the order of the list. */
enum io_bus_kind {
#define IO_BUS_KIND(kind, name, module) IO_BUS_##kind,
    IO_BUS_LIST(IO_BUS_KIND)
#undef IO_BUS_KIND
        IO_BUS_KIND_COUNT
};
/* The names, in the order of the list, and NULL. */
extern const char *const io_bus_names[IO_BUS_KIND_COUNT + 1];

/* The groups of keys of a link that a kind of bus reads. */
enum io_bus_keys {
    IO_BUS_KEYS_ENDS = 1,   /* listen and peer */
    IO_BUS_KEYS_DEVICE = 2, /* device */
    IO_BUS_KEYS_SERIAL = 4, /* baud and rs485 */
    IO_BUS_KEYS_CAN = 8,    /* can_fd, can_id and can_reply_id */
};

/* Properties of a kind of bus that are known before it is open. */
struct io_bus_traits {
    bool addressed;           /* many far ends are possible; each packet has an address */
    bool stream;              /* the bus keeps no message borders */
    bool detects_peer;        /* the bus knows whether its far end is there */
    bool needs_polling;       /* no descriptor becomes readable when a packet comes */
    bool datagrams;           /* each message leaves as one datagram */
    bool one_end;             /* of listen and peer it has one: server or client */
    bool makes_hands;         /* its reports are those of a hand controller, and of nothing else */
    bool carries_hands;       /* it can carry the reports of a hand controller, too */
    bool only_one;            /* a run has at most one link on it */
    unsigned keys;            /* of enum io_bus_keys */
    const char *usual_device; /* where the scenario gives none; NULL: it has to */
    const char *example_device; /* for the sentence that asks for one */
};

struct io_bus_spec {
    enum io_bus_kind kind;
    const char *name;                /* of the link, for error lines: "links.<name>..." */
    char listen[IO_BUS_ADDRESS_MAX]; /* UDP: bind to it; TCP: be a server there */
    char peer[IO_BUS_ADDRESS_MAX];   /* UDP: the only far end; TCP: be a client of it; "": none */
    char device[IO_BUS_DEVICE_MAX];  /* serial path, CAN interface, shared name, tape file, input */
    char record[IO_BUS_DEVICE_MAX];  /* any kind: a tape that records what comes in; "": none */
    uint64_t record_size;            /* bytes reserved for that tape; 0: IO_TAPE_RECORD_SIZE */
    uint32_t baud;                   /* serial */
    bool rs485;                      /* serial: the driver switches direction */
    bool fd;                         /* CAN FD */
    uint32_t can_id_tx, can_id_rx;   /* above 0x7ff: extended */
    const struct rt_clock *clock;    /* the clock of tapes; NULL: CLOCK_MONOTONIC */
    const struct io_evdev_host *input; /* evdev: the devices; NULL: this machine */
};

struct io_bus_counters {
    uint64_t rx, rx_bytes; /* packets, or pieces of a stream */
    uint64_t tx, tx_bytes; /* frames that were accepted, not necessarily out yet */
    uint64_t errors;       /* receives and sends that failed, except for a full buffer */
    uint64_t full;         /* sends that found the buffer full */
    uint64_t cut;          /* packets that were longer than IO_DATAGRAM_MAX */
    uint64_t connects;     /* peers and devices that connected, the first one included */
    uint64_t losses;       /* times that a connected peer or device was lost */
    uint64_t refused;      /* connections refused because there already was a peer */
    uint64_t unrecorded;   /* packets for which the tape was too short */
};

/* Written by the thread of the bus, read by any. */
struct io_bus_atomic_counters {
    _Atomic uint64_t rx, rx_bytes, tx, tx_bytes;
    _Atomic uint64_t errors, full, cut, connects, losses, refused, unrecorded;
};

/* What happens to a new connection while there already is a peer. */
enum io_bus_newcomer_policy {
    IO_BUS_REFUSE_NEWCOMER, /* it is closed */
    IO_BUS_DEFER_NEWCOMER,  /* it waits in the queue of the listener */
    IO_BUS_REPLACE_PEER,    /* it replaces the peer */
};

struct io_bus_ops;

struct io_bus {
    const struct io_bus_ops *ops; /* NULL: closed */
    struct io_bus_spec spec;
    atomic_bool connected;
    _Atomic uint32_t generation;
    enum io_bus_newcomer_policy
        newcomer_policy;    /* for a connection that comes while there is a peer */
    struct io_address peer; /* named by the spec, or connected; port 0: none */
    struct io_bus_atomic_counters tally;
    struct io_tape_writer recorder;
    union { /* struct io_udp udp; struct io_tcp tcp; and so on */
#define IO_BUS_STATE(kind, name, module) struct io_##module module;
        IO_BUS_LIST(IO_BUS_STATE)
#undef IO_BUS_STATE
    };
};

/* 0, or -errno with one line in error that names the key of the link and what to do.  An absent far
 * end is not an error.  Context: setup. */
int io_bus_open(struct io_bus *bus, const struct io_bus_spec *spec, char error[IO_BUS_ERROR_MAX]);
/* The properties of a kind.  Context: any. */
const struct io_bus_traits *io_bus_traits(enum io_bus_kind kind);
/* True when this kind knows whether its far end is there.  Context: any. */
bool io_bus_kind_detects_peer(enum io_bus_kind kind);
/* True when this kind may receive from many far ends, which have an address each.  Context: any. */
bool io_bus_kind_is_addressed(enum io_bus_kind kind);
/* As io_bus_is_stream(), before the bus is open.  Context: any. */
bool io_bus_kind_is_stream(enum io_bus_kind kind);
/* The sending end of a cockpit, for io_cockpit_send().  The caller closes it; it may outlive the
 * bus.  -1: the bus is of another kind, or no descriptor is left.  Context: setup. */
int io_bus_cockpit_sender(const struct io_bus *bus);
/* May be called any number of times; a zeroed bus counts as closed.  Context: after the run. */
void io_bus_close(struct io_bus *bus);

/* True for a stream, which keeps no message borders: a packet may hold half a message or three.
 * Context: any. */
bool io_bus_is_stream(const struct io_bus *bus);
/* True while there is a far end; always true for UDP, which cannot know.  Context: any. */
bool io_bus_connected(const struct io_bus *bus);
/* The far end, named by the spec or connected; port 0: none is known.  Kinds without addresses
 * return io_address_far_end.  Context: the thread of the bus. */
struct io_address io_bus_peer(const struct io_bus *bus);
/* The address that was bound; port 0: none.  Context: any, after open. */
struct io_address io_bus_local(const struct io_bus *bus);

/* 1 with the next packet, 0 when there is none, -errno once when the far end is lost or the kernel
 * refuses.  Stamps are as in struct io_packet; serial has none.  Context: frame. */
int io_bus_receive(struct io_bus *bus, struct io_packet *packet);
/* Send a frame whole or not at all: 0, -EAGAIN (the buffer of the kernel is full), -ENOTCONN (no
 * far end), -EMSGSIZE, -errno.  When a stream accepts a part, the rest is kept and leaves before
 * anything else.  Only UDP uses `to`.  stamped asks for a stamp (UDP, TCP).  Context: frame. */
int io_bus_send(struct io_bus *bus, struct io_address to, const void *bytes, size_t size,
                bool stamped);
/* True when the kernel stamps frames that leave.  Context: frame. */
bool io_bus_has_tx_timestamp(const struct io_bus *bus);
/* True with the stamp of the newest stamped frame, once, when it has come.  Context: frame. */
bool io_bus_tx_timestamp(struct io_bus *bus, uint64_t *stamp_ns);
/* Bytes that were sent and still wait in this machine; 0 where that is not known.  Context:
 * frame. */
size_t io_bus_backlog(struct io_bus *bus);

/* Accept a peer, connect again, search for a vanished device, send the rest of a frame: a bounded
 * number of system calls, none of which blocks.  To be called about every 20 ms.  Context: frame.
 */
void io_bus_tick(struct io_bus *bus, uint64_t now_ns);
/* Set the policy, which is IO_BUS_REFUSE_NEWCOMER at first and IO_BUS_DEFER_NEWCOMER after a
 * replacement.  Without effect on kinds without connections.  Context: frame. */
void io_bus_newcomer_policy(struct io_bus *bus, enum io_bus_newcomer_policy newcomer_policy);

/* The descriptors on which a thread can sleep: each becomes readable when there is a packet to
 * receive or, with wants_tick, work for a tick.  Returns their number; 0: this kind has none
 * (shared memory, tape), or there is no far end.  They change only with the generation, as peers
 * and devices do.  Context: the thread of the bus. */
struct io_bus_watch {
    int fd;
    bool wants_tick;
};
int io_bus_watches(const struct io_bus *bus, struct io_bus_watch watch[IO_BUS_WATCH_MAX]);
uint32_t io_bus_generation(const struct io_bus *bus);
/* True when only io_bus_receive() can tell whether a packet came.  Context: any. */
bool io_bus_needs_polling(const struct io_bus *bus);
/* Count and record a packet that the reactor received without io_bus_receive().  Context: frame. */
void io_bus_account(struct io_bus *bus, const struct io_packet *packet);

/* Send an emergency message of at most IO_EMERGENCY_MAX bytes without queueing, even in the middle
 * of a half-sent frame.  Repeat it, because it may be lost.  Async-signal-safe, between open and
 * close.  Context: any. */
void io_bus_send_emergency(struct io_bus *bus, struct io_address to, const void *bytes,
                           size_t size);

/* Context: any. */
void io_bus_counters(const struct io_bus *bus, struct io_bus_counters *counters);
