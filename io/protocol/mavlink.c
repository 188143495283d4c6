/*
 * The parser of MAVLink frames, and the encoder of a frame.  Of the generated MAVLink headers only
 * the re-entrant functions are used: the parser state and the sequence number belong to the caller,
 * never to a channel of the library.
 */
#include "io/protocol/mavlink.h"

#include <string.h>

#include "io/protocol/mavlink_body.h"
#include "rt/check.h"

_Static_assert(IO_MAVLINK_FRAME_MAX == MAVLINK_MAX_PACKET_LEN, "a frame is MAVLink's longest");

struct source {
    uint8_t system_id, component_id;
    uint8_t next; /* the expected sequence number */
};

struct io_mavlink_parser {
    mavlink_status_t status;
    mavlink_message_t rx;
    struct io_mavlink_counters counters;
    struct source source[IO_MAVLINK_SOURCE_MAX];
    int source_count;
    bool in_garbage;   /* inside a run of bytes that do not start a frame */
    size_t frame_size; /* the bytes of the frame so far, as received */
    unsigned char frame[IO_MAVLINK_FRAME_MAX];
};

size_t io_mavlink_parser_size(void)
{
    return sizeof(struct io_mavlink_parser);
}

struct io_mavlink_parser *io_mavlink_parser_place(void *mem)
{
    struct io_mavlink_parser *parser = mem;
    memset(parser, 0, sizeof *parser);
    parser->status.parse_state = MAVLINK_PARSE_STATE_IDLE;
    return parser;
}

const struct io_mavlink_counters *io_mavlink_get_counters(const struct io_mavlink_parser *parser)
{
    return &parser->counters;
}

void io_mavlink_new_peer(struct io_mavlink_parser *parser)
{
    io_mavlink_end(parser); /* the old peer may have left half a message */
    parser->source_count = 0;
}

static bool is_idle(const struct io_mavlink_parser *parser)
{
    return parser->status.parse_state == MAVLINK_PARSE_STATE_IDLE;
}

void io_mavlink_end(struct io_mavlink_parser *parser)
{
    if (!is_idle(parser))
        parser->counters.bad_length++;
    parser->status.parse_state = MAVLINK_PARSE_STATE_IDLE;
    parser->in_garbage = false;
}

static struct source *find_source(struct io_mavlink_parser *parser)
{
    for (int i = 0; i < parser->source_count; i++) {
        struct source *source = &parser->source[i];
        if (source->system_id == parser->rx.sysid && source->component_id == parser->rx.compid)
            return source;
    }
    return NULL;
}

/* A message with an unknown id may be noise, so it never adds a source; but it counts in the
 * sequence of a known source.  Messages of sources beyond the table are accepted, but their
 * sequence is not checked. */
static void count_lost(struct io_mavlink_parser *parser, bool checked)
{
    const uint8_t sequence = parser->rx.seq;
    struct source *source = find_source(parser);
    if (source) {
        parser->counters.lost += (uint8_t)(sequence - source->next);
    } else {
        if (!checked || parser->source_count == IO_MAVLINK_SOURCE_MAX)
            return;
        source = &parser->source[parser->source_count++];
        source->system_id = parser->rx.sysid;
        source->component_id = parser->rx.compid;
    }
    source->next = (uint8_t)(sequence + 1);
}

/* MAVLink 2 trims trailing zeros, MAVLink 1 does not.  A longer payload is valid in both:
 * version 2 may have new fields that we do not know, and some libraries write those of version 2
 * into version 1. */
static bool length_fits(const mavlink_message_t *rx, const mavlink_msg_entry_t *entry)
{
    return rx->magic != MAVLINK_STX_MAVLINK1 || rx->len >= entry->min_msg_len;
}

static bool is_start(uint8_t byte)
{
    return byte == MAVLINK_STX || byte == MAVLINK_STX_MAVLINK1;
}

static void count_garbage(struct io_mavlink_parser *parser)
{
    parser->counters.bad_header += !parser->in_garbage;
    parser->in_garbage = true;
}

/* The checksum is wrong.  If bytes were lost, its last byte may already be the start of the next
 * frame. */
static void reject_checksum(struct io_mavlink_parser *parser, uint8_t byte)
{
    parser->counters.bad_crc++;
    if (is_start(byte))
        (void)mavlink_frame_char_buffer(&parser->rx, &parser->status, byte, NULL, NULL);
}

/* A frame is complete; sound: its checksum is right, which cannot be known of an unknown id. */
static void end_frame(struct io_mavlink_parser *parser, bool sound, uint8_t byte,
                      struct io_mavlink_message *message)
{
    const mavlink_message_t *rx = &parser->rx;
    const mavlink_msg_entry_t *entry = mavlink_get_msg_entry(rx->msgid);
    if (entry && !sound) {
        reject_checksum(parser, byte);
        return;
    }
    if (entry && !length_fits(rx, entry)) {
        parser->counters.bad_length++;
        return;
    }
    parser->counters.messages++;
    parser->counters.unknown += !entry;
    count_lost(parser, entry != NULL);
    message->kind = entry ? io_mavlink_kind_of(rx->msgid) : IO_MAVLINK_UNKNOWN;
    message->id = rx->msgid;
    message->system_id = rx->sysid;
    message->component_id = rx->compid;
    message->sequence = rx->seq;
    message->version = rx->magic == MAVLINK_STX_MAVLINK1 ? 1 : 2;
}

/* When a signature follows, the library reports a bad checksum twice: before the signature and
 * after it.  The frame ends after it. */
static void feed_byte(struct io_mavlink_parser *parser, uint8_t byte,
                      struct io_mavlink_message *message)
{
    const bool was_idle = is_idle(parser);
    const uint8_t framing =
        mavlink_frame_char_buffer(&parser->rx, &parser->status, byte, NULL, NULL);
    if (framing != MAVLINK_FRAMING_INCOMPLETE && is_idle(parser))
        end_frame(parser, framing == MAVLINK_FRAMING_OK, byte, message);
    else if (is_idle(parser))
        count_garbage(parser); /* not the start of a frame, or flags that we do not understand */
    else if (was_idle)
        parser->in_garbage = false;
}

/* A frame is never longer than the buffer, because the library counts its bytes too. */
static void keep_bytes(struct io_mavlink_parser *parser, const unsigned char *bytes, size_t size)
{
    RT_CHECK(size <= sizeof parser->frame - parser->frame_size);
    memcpy(parser->frame + parser->frame_size, bytes, size);
    parser->frame_size += size;
}

size_t io_mavlink_feed(struct io_mavlink_parser *parser, const unsigned char *bytes, size_t size,
                       struct io_mavlink_message *message)
{
    size_t begin = 0; /* the start of that part of the frame that is in these bytes */
    message->kind = IO_MAVLINK_NONE;
    for (size_t i = 0; i < size; i++) {
        feed_byte(parser, bytes[i], message);
        if (parser->status.parse_state == MAVLINK_PARSE_STATE_GOT_STX) {
            parser->frame_size = 0;
            begin = i;
        }
        if (message->kind != IO_MAVLINK_NONE) {
            keep_bytes(parser, bytes + begin, i + 1 - begin);
            return i + 1;
        }
    }
    if (!is_idle(parser))
        keep_bytes(parser, bytes + begin, size - begin);
    return size;
}

const unsigned char *io_mavlink_frame(const struct io_mavlink_parser *parser, size_t *size)
{
    *size = parser->frame_size;
    return parser->frame;
}

const mavlink_message_t *io_mavlink_received(const struct io_mavlink_parser *parser)
{
    return &parser->rx;
}

void io_mavlink_decode(const struct io_mavlink_parser *parser, struct io_mavlink_message *message)
{
    io_mavlink_decode_body(&parser->rx, message);
}

size_t io_mavlink_encode(struct io_mavlink_sender *sender, const struct io_mavlink_message *message,
                         unsigned char frame[IO_MAVLINK_FRAME_MAX])
{
    struct io_mavlink_envelope to = {.sender = sender,
                                     .status = {.current_tx_seq = sender->sequence}};
    io_mavlink_encode_body(&to, message);
    sender->sequence = to.status.current_tx_seq;
    return mavlink_msg_to_send_buffer(frame, &to.tx);
}
