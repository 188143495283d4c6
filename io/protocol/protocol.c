/*
 * The table of protocols.  Each public function calls the one of the row; what every row
 * has, `receive`, is called in the row itself.
 */
#include "io/protocol/protocol.h"

#include <string.h>

#include "io/protocol/protocol_ops.h"
#include "rt/arena.h"
#include "rt/check.h"

#define ROW(kind, name, row) [IO_PROTOCOL_##kind] = &row,
static const struct io_protocol_ops *const rows[IO_PROTOCOL_COUNT] = {IO_PROTOCOL_LIST(ROW)};
#undef ROW

#define NAME(kind, name, row) [IO_PROTOCOL_##kind] = name,
const char *const io_protocol_names[IO_PROTOCOL_COUNT + 1] = {IO_PROTOCOL_LIST(NAME)};
#undef NAME

static const struct io_protocol_ops *ops_of(enum io_protocol_kind kind)
{
    RT_CHECK((int)kind >= 0 && kind < IO_PROTOCOL_COUNT);
    return rows[kind];
}

const struct io_protocol_traits *io_protocol_traits(enum io_protocol_kind kind)
{
    return &ops_of(kind)->traits;
}

const char *io_protocol_name(enum io_protocol_kind kind)
{
    return ops_of(kind)->traits.name;
}

/* One layout gives the size and the placement; *state is the place of the row's state. */
static size_t lay_out(const struct io_protocol_ops *ops, void *mem, void **state)
{
    size_t at = 0;
    (void)rt_layout_cut(mem, &at, sizeof(struct io_protocol));
    *state = ops->state_size ? rt_layout_cut(mem, &at, ops->state_size()) : NULL;
    return at;
}

size_t io_protocol_size(const struct io_protocol_spec *spec)
{
    void *state;
    return lay_out(ops_of(spec->kind), NULL, &state);
}

struct io_protocol *io_protocol_place(const struct io_protocol_spec *spec, void *mem)
{
    const struct io_protocol_ops *ops = ops_of(spec->kind);
    struct io_protocol *protocol = mem;
    void *state;
    memset(mem, 0, lay_out(ops, mem, &state));
    protocol->ops = ops;
    protocol->spec = *spec;
    protocol->state = state;
    if (ops->place)
        ops->place(protocol);
    return protocol;
}

void io_protocol_encode(struct io_protocol *protocol, const struct io_sample *sample,
                        uint64_t unix_us, const struct io_protocol_port *port)
{
    if (protocol->ops->encode)
        protocol->ops->encode(protocol, sample, unix_us, port);
}

void io_protocol_query_time(struct io_protocol *protocol, uint64_t now_ns,
                            const struct io_protocol_port *port)
{
    if (protocol->ops->query_time)
        protocol->ops->query_time(protocol, now_ns, port);
}

void io_protocol_send_status(struct io_protocol *protocol, enum io_status status,
                             const struct io_protocol_port *port)
{
    if (protocol->ops->send_status)
        protocol->ops->send_status(protocol, status, port);
}

size_t io_protocol_invalid_message(const struct io_protocol *protocol,
                                   unsigned char bytes[IO_PROTOCOL_INVALID_MAX])
{
    return protocol->ops->invalid_message ? protocol->ops->invalid_message(protocol, bytes) : 0;
}

void io_protocol_receive_ground(struct io_protocol *protocol, const void *bytes, size_t size,
                                const struct io_protocol_port *port)
{
    if (protocol->ops->receive_ground)
        protocol->ops->receive_ground(protocol, bytes, size, port);
}

void io_protocol_new_peer(struct io_protocol *protocol)
{
    if (protocol->ops->new_peer)
        protocol->ops->new_peer(protocol);
}

struct io_protocol_counters io_protocol_get_counters(const struct io_protocol *protocol)
{
    return protocol->ops->get_counters ? protocol->ops->get_counters(protocol) : protocol->counters;
}

const struct io_protocol_facts *io_protocol_facts(const struct io_protocol *protocol)
{
    return &protocol->facts;
}

double io_protocol_bandwidth(const struct io_protocol_spec *spec, const double hz[IO_MESSAGE_COUNT],
                             int angle_count)
{
    const struct io_protocol_ops *ops = ops_of(spec->kind);
    double load = 0.0;
    for (int i = 0; i < IO_MESSAGE_COUNT && ops->message_size; i++)
        load += hz[i] * ops->message_size((enum io_message)i, angle_count);
    return load;
}
