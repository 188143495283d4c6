/*
 * MAVLink frames made by hand from the published definition (X.25 checksum, header, CRC extra),
 * sharing no code with the codec under test.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct wire {
    unsigned char bytes[512];
    size_t size;
};

/* CRC-16/MCRF4XX, bit by bit. */
static inline uint16_t wire_crc(const unsigned char *bytes, size_t size, uint8_t extra)
{
    uint16_t crc = 0xffff;
    for (size_t i = 0; i <= size; i++) {
        crc ^= i < size ? bytes[i] : extra;
        for (int bit = 0; bit < 8; bit++)
            crc = (uint16_t)(crc & 1 ? crc >> 1 ^ 0x8408 : crc >> 1);
    }
    return crc;
}

static inline void wire_put(struct wire *wire, const void *bytes, size_t size)
{
    memcpy(wire->bytes + wire->size, bytes, size);
    wire->size += size;
}

static inline void wire_byte(struct wire *wire, unsigned byte)
{
    wire->bytes[wire->size++] = (unsigned char)byte;
}

static inline void wire_end(struct wire *wire, uint8_t extra)
{
    const uint16_t crc = wire_crc(wire->bytes + 1, wire->size - 1, extra);
    wire_byte(wire, crc & 0xff);
    wire_byte(wire, crc >> 8);
}

/* A MAVLink 1 frame from (1, 1). */
static inline struct wire wire_v1(uint8_t sequence, uint8_t id, uint8_t extra, const void *payload,
                                  size_t size)
{
    const unsigned char head[] = {0xfe, (unsigned char)size, sequence, 1, 1, id};
    struct wire wire = {.size = 0};
    wire_put(&wire, head, sizeof head);
    wire_put(&wire, payload, size);
    wire_end(&wire, extra);
    return wire;
}

/* A MAVLink 2 frame from (1, 1), payload as given, not trimmed. */
static inline struct wire wire_v2(uint8_t flags, uint8_t sequence, uint32_t id, uint8_t extra,
                                  const void *payload, size_t size)
{
    const unsigned char head[] = {0xfd,
                                  (unsigned char)size,
                                  flags,
                                  0,
                                  sequence,
                                  1,
                                  1,
                                  (unsigned char)id,
                                  (unsigned char)(id >> 8),
                                  (unsigned char)(id >> 16)};
    struct wire wire = {.size = 0};
    wire_put(&wire, head, sizeof head);
    wire_put(&wire, payload, size);
    wire_end(&wire, extra);
    return wire;
}
