/*
 * A whole life of a protocol: bytes of a board, of a ground station, samples, new boards, in any
 * order.  What must hold:
 *   - nothing is said or forwarded that is longer than promised, and what is forwarded is a frame,
 *   - no command is taken before a peer was received,
 *   - how a stream is cut changes nothing,
 *   - every packet of a board that speaks in packets is counted, once.
 *
 * The input: kind, seed of the cuts, then any number of (what, size, bytes).
 */
#include <string.h>

#include "io/protocol/protocol.h"
#include "rt/check.h"
#include "tests/fuzz/repair.h"

enum { MEMORY = 1 << 15, LINE_MAX_SIZE = 4096, HEAD = 2, ASKED_NS = 7 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t max_size);

static _Alignas(64) unsigned char cut_mem[MEMORY], whole_mem[MEMORY];

/* All that a protocol wanted, as one number. */
struct diary {
    uint64_t hash;
    bool heard;
    bool is_mavlink;
};

static void write_down(struct diary *diary, char what, const void *bytes, size_t size)
{
    const unsigned char *in = bytes;
    diary->hash = (diary->hash ^ (unsigned char)what) * 0x100000001b3;
    for (size_t i = 0; i < size; i++)
        diary->hash = (diary->hash ^ in[i]) * 0x100000001b3;
}

static void on_heard(void *self)
{
    struct diary *diary = self;
    diary->heard = true;
    write_down(diary, 'h', NULL, 0);
}

static bool on_command(void *self, const struct io_command *command)
{
    const struct diary *diary = self;
    RT_CHECK(diary->heard);
    RT_CHECK(command->rx_ns == 0 && command->ready_ns == 0 && command->sequence == 0);
    write_down(self, 'c', command, sizeof *command);
    return true;
}

static void on_send(void *self, const void *bytes, size_t size, enum io_destination way,
                    bool stamped)
{
    RT_CHECK(size > 0 && size <= IO_PROTOCOL_FRAME_MAX);
    write_down(self, stamped ? 'S' : 's', bytes, size);
    write_down(self, (char)way, NULL, 0);
}

static void on_clock(void *self, uint64_t asked_ns, uint64_t board_ns)
{
    const struct diary *diary = self;
    RT_CHECK(diary->is_mavlink && diary->heard && asked_ns == ASKED_NS && board_ns != 0);
    write_down(self, 't', &board_ns, sizeof board_ns);
}

static void on_forward(void *self, const void *bytes, size_t size)
{
    const struct diary *diary = self;
    const unsigned char *frame = bytes;
    RT_CHECK(diary->is_mavlink && size >= 8 && size <= 280);
    RT_CHECK(frame[0] == 0xfd || frame[0] == 0xfe);
    const size_t signature = frame[0] == 0xfd && frame[2] & 1 ? 13 : 0;
    RT_CHECK(size == frame[1] + (frame[0] == 0xfd ? 12u : 8u) + signature);
    write_down(self, 'f', bytes, size);
}

struct life {
    struct io_protocol *protocol;
    struct io_protocol_port port;
    struct diary diary;
    unsigned cuts; /* 0: in one piece */
};

static void begin(struct life *life, const struct io_protocol_spec *spec, void *mem, unsigned cuts)
{
    RT_CHECK(io_protocol_size(spec) <= MEMORY);
    memset(life, 0, sizeof *life);
    life->protocol = io_protocol_place(spec, mem);
    life->port = (struct io_protocol_port){
        .self = &life->diary,
        .heard = on_heard,
        .command = on_command,
        .send = on_send,
        .clock = on_clock,
        .forward = on_forward,
    };
    life->diary.is_mavlink = io_protocol_traits(spec->kind)->forwards;
    life->cuts = cuts;
}

static void hear(struct life *life, const uint8_t *bytes, size_t size)
{
    if (life->cuts == 0) {
        life->protocol->ops->receive(life->protocol, bytes, size, 5, &life->port);
        return;
    }
    for (size_t at = 0; at < size;) {
        life->cuts = life->cuts * 1103515245u + 12345u;
        const size_t piece = life->cuts >> 16 & 31;
        const size_t length = piece < size - at ? piece : size - at;
        life->protocol->ops->receive(life->protocol, bytes + at, length, 5, &life->port);
        at += length;
        life->cuts |= 1;
    }
}

static void say(struct life *life, const uint8_t *bytes, size_t size)
{
    struct io_sample sample = {0};
    memcpy(&sample, bytes, size < sizeof sample ? size : sizeof sample);
    io_protocol_encode(life->protocol, &sample, 7, &life->port);
}

static void live(struct life *life, unsigned what, const uint8_t *bytes, size_t size)
{
    switch (what % 8) {
    case 5:
        io_protocol_receive_ground(life->protocol, bytes, size, &life->port);
        break;
    case 6:
        say(life, bytes, size);
        break;
    case 7:
        io_protocol_new_peer(life->protocol);
        io_protocol_query_time(life->protocol, ASKED_NS, &life->port);
        break;
    default:
        hear(life, bytes, size);
    }
}

static void check_counters(struct life *life, uint64_t packets)
{
    const struct io_protocol_counters counters = io_protocol_get_counters(life->protocol);
    if (!life->diary.is_mavlink)
        RT_CHECK(counters.rx + counters.rx_bad == packets && counters.duplicates <= counters.rx);
    RT_CHECK((io_protocol_facts(life->protocol)->board == IO_BOARD_SILENT) == !life->diary.heard);
}

/* Sizes above 255 are made of the fuzzer's pieces; 0 stands for all that is left. */
static size_t chapter_size(const uint8_t *bytes, size_t size)
{
    return bytes[1] == 0 || bytes[1] > size - HEAD ? size - HEAD : bytes[1];
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < HEAD)
        return 0;
    const struct io_protocol_spec spec = {
        .kind = (enum io_protocol_kind)(bytes[0] % IO_PROTOCOL_COUNT),
        .system_id = 42,
        .component_id = 1,
        .stream = bytes[0] & 0x80,
        .virtual_gps = bytes[0] & 0x40,
    };
    struct life whole, cut;
    uint64_t packets = 0;
    begin(&whole, &spec, whole_mem, 0);
    begin(&cut, &spec, cut_mem, bytes[1] | 1u);
    for (size_t at = HEAD; size - at >= HEAD;) {
        const size_t length = chapter_size(bytes + at, size - at);
        live(&whole, bytes[at], bytes + at + HEAD, length);
        live(&cut, bytes[at], bytes + at + HEAD, length);
        packets += bytes[at] % 8 < 5;
        at += HEAD + length;
    }
    check_counters(&whole, packets);
    if (spec.stream && whole.diary.is_mavlink)
        RT_CHECK(whole.diary.hash == cut.diary.hash);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
    size = LLVMFuzzerMutate(bytes, size, max_size < LINE_MAX_SIZE ? max_size : LINE_MAX_SIZE);
    if (seed % 8 != 0)
        for (size_t at = HEAD; at < size;)
            at += repair(bytes + at, size - at);
    return size;
}
