/*
 * What all kinds of bus share: the table of kinds, counters, recording, error lines.
 */
#include "io/bus/bus.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "io/bus/bus_ops.h"
#include "rt/check.h"

#define NAME(kind, name, module) [IO_BUS_##kind] = name,
const char *const io_bus_names[IO_BUS_KIND_COUNT + 1] = {IO_BUS_LIST(NAME)};
#undef NAME

void io_bus_count(_Atomic uint64_t *counter, uint64_t more)
{
    const uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + more, memory_order_relaxed);
}

static uint64_t read_counter(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

uint64_t io_bus_back_off(uint64_t *wait_ns)
{
    const uint64_t now = *wait_ns < IO_BUS_WAIT_NS_MIN ? IO_BUS_WAIT_NS_MIN : *wait_ns;
    *wait_ns = 2 * now > IO_BUS_WAIT_NS_MAX ? IO_BUS_WAIT_NS_MAX : 2 * now;
    return now;
}

void io_bus_watches_changed(struct io_bus *bus)
{
    const uint32_t now = atomic_load_explicit(&bus->generation, memory_order_relaxed);
    atomic_store_explicit(&bus->generation, now + 1, memory_order_relaxed);
}

void io_bus_peer_arrived(struct io_bus *bus, struct io_address peer)
{
    bus->peer = peer;
    atomic_store_explicit(&bus->connected, true, memory_order_relaxed);
    io_bus_watches_changed(bus);
    io_bus_count(&bus->tally.connects, 1);
}

void io_bus_peer_left(struct io_bus *bus)
{
    if (!io_bus_connected(bus))
        return;
    bus->peer = (struct io_address){0};
    atomic_store_explicit(&bus->connected, false, memory_order_relaxed);
    io_bus_watches_changed(bus);
    io_bus_count(&bus->tally.losses, 1);
}

/* Error lines. */

int io_bus_error(const struct io_bus *bus, const char *key, int status, char *error,
                 const char *format, ...)
{
    va_list values;
    const int used = snprintf(error, IO_BUS_ERROR_MAX,
                              "links.%s.%s: ", bus->spec.name ? bus->spec.name : "?", key);
    if (used < 0 || used >= IO_BUS_ERROR_MAX)
        return status;
    va_start(values, format);
    (void)vsnprintf(error + used, (size_t)(IO_BUS_ERROR_MAX - used), format, values);
    va_end(values);
    return status;
}

int io_bus_parse_address(const struct io_bus *bus, const char *key, const char *text,
                         struct io_address *address, char *error)
{
    if (io_address_parse(text, address) == 0)
        return 0;
    return io_bus_error(bus, key, -EINVAL, error,
                        "\"%s\" is not an IPv4 address and port like 127.0.0.1:14560", text);
}

int io_bus_bind_error(const struct io_bus *bus, struct io_address listen, int status, char *error)
{
    const char *text = bus->spec.listen;
    if (status == -EADDRINUSE)
        return io_bus_error(bus, "listen", status, error,
                            "port %u is in use (another run?); choose another port", listen.port);
    if (status == -EADDRNOTAVAIL)
        return io_bus_error(bus, "listen", status, error,
                            "%s is not an address of this machine; 0.0.0.0 listens on all of them",
                            text);
    return io_bus_error(bus, "listen", status, error, "cannot listen on %s: %s", text,
                        strerror(-status));
}

/* The kinds. */

#define ROW(kind, name, module) [IO_BUS_##kind] = &io_##module##_bus_ops,
static const struct io_bus_ops *const ops_of[IO_BUS_KIND_COUNT] = {IO_BUS_LIST(ROW)};
#undef ROW

const struct io_bus_traits *io_bus_traits(enum io_bus_kind kind)
{
    RT_CHECK((unsigned)kind < IO_BUS_KIND_COUNT);
    return &ops_of[kind]->traits;
}

static int open_recorder(struct io_bus *bus, char *error)
{
    const struct io_bus_spec *spec = &bus->spec;
    if (spec->record[0] == '\0')
        return 0;
    const size_t size = spec->record_size ? spec->record_size : IO_TAPE_RECORD_SIZE;
    const int status = io_tape_writer_open(&bus->recorder, spec->record, size, spec->clock);
    if (status < 0)
        return io_bus_error(bus, "record", status, error,
                            "cannot set %zu bytes aside for the tape %s: %s", size, spec->record,
                            strerror(-status));
    return 0;
}

int io_bus_open(struct io_bus *bus, const struct io_bus_spec *spec, char error[IO_BUS_ERROR_MAX])
{
    RT_CHECK((unsigned)spec->kind < IO_BUS_KIND_COUNT);
    error[0] = '\0';
    memset(bus, 0, sizeof *bus);
    bus->spec = *spec;
    int status = open_recorder(bus, error);
    if (status == 0)
        status = ops_of[spec->kind]->open(bus, error);
    if (status == 0)
        bus->ops = ops_of[spec->kind];
    else
        io_tape_writer_close(&bus->recorder);
    return status;
}

void io_bus_close(struct io_bus *bus)
{
    if (!bus->ops)
        return;
    bus->ops->close(bus);
    io_tape_writer_close(&bus->recorder);
    atomic_store(&bus->connected, false);
    bus->ops = NULL;
}

bool io_bus_kind_detects_peer(enum io_bus_kind kind)
{
    return ops_of[kind]->traits.detects_peer;
}

bool io_bus_kind_is_addressed(enum io_bus_kind kind)
{
    return ops_of[kind]->traits.addressed;
}

bool io_bus_kind_is_stream(enum io_bus_kind kind)
{
    return ops_of[kind]->traits.stream;
}

bool io_bus_is_stream(const struct io_bus *bus)
{
    return bus->ops->traits.stream;
}

bool io_bus_needs_polling(const struct io_bus *bus)
{
    return bus->ops->traits.needs_polling;
}

bool io_bus_connected(const struct io_bus *bus)
{
    return atomic_load_explicit(&bus->connected, memory_order_relaxed);
}

struct io_address io_bus_peer(const struct io_bus *bus)
{
    return bus->peer;
}

struct io_address io_bus_local(const struct io_bus *bus)
{
    return bus->ops->local ? bus->ops->local(bus) : (struct io_address){0};
}

int io_bus_watches(const struct io_bus *bus, struct io_bus_watch watch[IO_BUS_WATCH_MAX])
{
    return bus->ops->watches(bus, watch);
}

uint32_t io_bus_generation(const struct io_bus *bus)
{
    return atomic_load_explicit(&bus->generation, memory_order_relaxed);
}

void io_bus_account(struct io_bus *bus, const struct io_packet *packet)
{
    io_bus_count(&bus->tally.rx, 1);
    io_bus_count(&bus->tally.rx_bytes, packet->size);
    if (!packet->whole)
        io_bus_count(&bus->tally.cut, 1);
    if (bus->recorder.map && !io_tape_writer_append(&bus->recorder, packet->bytes, packet->size))
        io_bus_count(&bus->tally.unrecorded, 1);
}

int io_bus_receive(struct io_bus *bus, struct io_packet *packet)
{
    const int status = bus->ops->receive(bus, packet);
    if (status > 0)
        io_bus_account(bus, packet);
    else if (status < 0)
        io_bus_count(&bus->tally.errors, 1);
    return status;
}

int io_bus_send(struct io_bus *bus, struct io_address to, const void *bytes, size_t size,
                bool stamped)
{
    const int status = bus->ops->send ? bus->ops->send(bus, to, bytes, size, stamped) : -ENOTCONN;
    if (status == 0) {
        io_bus_count(&bus->tally.tx, 1);
        io_bus_count(&bus->tally.tx_bytes, size);
    } else if (status == -EAGAIN) {
        io_bus_count(&bus->tally.full, 1);
    } else if (status != -ENOTCONN) {
        io_bus_count(&bus->tally.errors, 1);
    }
    return status;
}

bool io_bus_has_tx_timestamp(const struct io_bus *bus)
{
    return bus->ops->has_tx_timestamp && bus->ops->has_tx_timestamp(bus);
}

bool io_bus_tx_timestamp(struct io_bus *bus, uint64_t *stamp_ns)
{
    return bus->ops->tx_timestamp && bus->ops->tx_timestamp(bus, stamp_ns);
}

size_t io_bus_backlog(struct io_bus *bus)
{
    return bus->ops->backlog ? bus->ops->backlog(bus) : 0;
}

void io_bus_tick(struct io_bus *bus, uint64_t now_ns)
{
    if (bus->ops->tick)
        bus->ops->tick(bus, now_ns);
}

void io_bus_newcomer_policy(struct io_bus *bus, enum io_bus_newcomer_policy newcomer_policy)
{
    bus->newcomer_policy = newcomer_policy;
}

void io_bus_send_emergency(struct io_bus *bus, struct io_address to, const void *bytes, size_t size)
{
    const int saved = errno; /* the interrupted code may be about to read it */
    if (size <= IO_EMERGENCY_MAX && bus->ops->send_emergency)
        bus->ops->send_emergency(bus, to, bytes, size);
    errno = saved;
}

void io_bus_counters(const struct io_bus *bus, struct io_bus_counters *counters)
{
    const struct io_bus_atomic_counters *tally = &bus->tally;
    *counters = (struct io_bus_counters){
        .rx = read_counter(&tally->rx),
        .rx_bytes = read_counter(&tally->rx_bytes),
        .tx = read_counter(&tally->tx),
        .tx_bytes = read_counter(&tally->tx_bytes),
        .errors = read_counter(&tally->errors),
        .full = read_counter(&tally->full),
        .cut = read_counter(&tally->cut),
        .connects = read_counter(&tally->connects),
        .losses = read_counter(&tally->losses),
        .refused = read_counter(&tally->refused),
        .unrecorded = read_counter(&tally->unrecorded),
    };
}
