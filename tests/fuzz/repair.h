/*
 * Random bytes do not get past a checksum: this writes the right one into what a mutator changed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/io/wire.h"

static inline bool find_extra(uint32_t id, uint8_t *extra)
{
    static const struct {
        uint32_t id;
        uint8_t extra;
    } table[] = {{0, 50},   {2, 137},   {30, 39}, {65, 118},  {76, 152}, {93, 47},  {107, 108},
                 {111, 34}, {113, 124}, {115, 4}, {138, 109}, {250, 49}, {350, 232}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].id == id) {
            *extra = table[i].extra;
            return true;
        }
    }
    return false;
}

/* Write the checksum of a frame that starts here, if it is whole; returns its size, or 1. */
static inline size_t repair(uint8_t *frame, size_t size)
{
    const bool new = frame[0] == 0xfd;
    const size_t head = new ? 10 : 6;
    uint8_t extra;
    if ((!new &&frame[0] != 0xfe) || size < head || size < head + frame[1] + 2)
        return 1;
    const uint32_t id =
        new ? frame[7] | (uint32_t)frame[8] << 8 | (uint32_t)frame[9] << 16 : frame[5];
    if (!find_extra(id, &extra))
        return 1;
    const uint16_t crc = wire_crc(frame + 1, head + frame[1] - 1, extra);
    frame[head + frame[1]] = (uint8_t)crc;
    frame[head + frame[1] + 1] = (uint8_t)(crc >> 8);
    return head + frame[1] + 2;
}
