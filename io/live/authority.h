/*
 * Authority to command: at any time at most one viewer has it; all others only watch.
 *
 * A viewer that may command (it gave the operator token) takes authority with its first command
 * while nobody has it, or by asking for it; it gives it back, or disconnects.  When another viewer
 * asks, the holder is notified; if the holder then gives authority, the viewer that asked gets it,
 * so that nobody comes in between.  Authority is never taken away, except from a holder that has
 * been silent for long when another asks (io_hub_expire_holder()); when the holder disconnects,
 * nobody has it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "io/live/foxglove.h"

/* Viewers by their numbers; 0: nobody. */
struct io_authority {
    uint64_t holder;
    uint64_t asking; /* the newest viewer that asks for it */
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

/* A command of this viewer takes authority if nobody has it.  False: another viewer has it, and
 * text gives the reason.  Context: any. */
bool io_authority_command(struct io_authority *authority, uint64_t viewer,
                          char text[IO_FOXGLOVE_TEXT_MAX]);
/* True when the request was executed; text describes the result.  Context: any. */
bool io_authority_act(struct io_authority *authority, enum io_authority_act act, uint64_t viewer,
                      char text[IO_FOXGLOVE_TEXT_MAX]);
/* Context: any. */
void io_authority_leave(struct io_authority *authority, uint64_t viewer);
