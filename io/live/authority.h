/*
 * Who may command.  Many look on, one flies: authority is one viewer's at a time.
 *
 * A viewer that may command (it gave the operator token) takes it with its first command while
 * nobody has it, or by asking for it; it gives it back, or leaves.  Another that wants it asks, and
 * the holder is told: when it gives it then, that is to who asks, so that nobody comes in between.
 * Nobody takes it away, but from a holder that has said nothing for long and is asked
 * (io_hub_expire_holder()); who leaves or is silent gives it to nobody.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/live/foxglove.h"

/* Viewers by their numbers; 0: nobody. */
struct io_authority {
    uint64_t holder;
    uint64_t asking; /* the newest that wants it */
};

/* The channel: uint32 holder, asking, viewers. */
enum { IO_AUTHORITY_IMAGE_SIZE = 12 };
extern const char io_authority_topic[], io_authority_schema[], io_authority_definition[];

enum io_authority_act {
    IO_AUTHORITY_TAKE,
    IO_AUTHORITY_GIVE,
    IO_AUTHORITY_ASK,
    IO_AUTHORITY_ACT_COUNT
};
extern const struct io_foxglove_service io_authority_services[IO_AUTHORITY_ACT_COUNT];

/* A command of this viewer's: it takes what nobody has.  False: another has it, and text says so.
 * Context: any. */
bool io_authority_command(struct io_authority *authority, uint64_t viewer,
                          char text[IO_FOXGLOVE_TEXT_MAX]);
/* True when it was done; text says what is so now.  Context: any. */
bool io_authority_act(struct io_authority *authority, enum io_authority_act act, uint64_t viewer,
                      char text[IO_FOXGLOVE_TEXT_MAX]);
/* Context: any. */
void io_authority_leave(struct io_authority *authority, uint64_t viewer);
