/*
 * The schemas or the channels of a file by their 16-bit id.  Each is copied, because it may be in a
 * chunk whose buffer the next chunk overwrites; the size of all copies is bounded.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "io/log/byte_reader.h"

enum { IO_MCAP_DEFINITION_PAGES = 256 };

struct io_mcap_definition {
    uint16_t schema;  /* of a channel: the id of its schema, 0 for none */
    const char *text; /* the topic of a channel, the definition of a schema; ends with a NUL */
    size_t size;
    unsigned char content[]; /* the record, to distinguish a repetition from a contradiction */
};

struct io_mcap_definitions {
    struct io_mcap_definition **pages[IO_MCAP_DEFINITION_PAGES];
    size_t bytes; /* of all copies */
};

enum io_mcap_define {
    IO_MCAP_DEFINED,
    IO_MCAP_DEFINE_CONTRADICTS, /* the id is already defined differently */
    IO_MCAP_DEFINE_TOO_MUCH,    /* more than 64 MiB of definitions, or out of memory */
};

/* Store a record by its id; a repetition of the same record is accepted.  Context: any. */
enum io_mcap_define io_mcap_define(struct io_mcap_definitions *definitions, uint16_t id,
                                   struct io_slice content, struct io_slice text, uint16_t schema);

/* NULL when the id is not defined.  Context: any. */
const struct io_mcap_definition *
io_mcap_definition_find(const struct io_mcap_definitions *definitions, uint16_t id);
/* The first channel of this topic, or NULL. */
const struct io_mcap_definition *
io_mcap_definition_by_text(const struct io_mcap_definitions *definitions, const char *text);
void io_mcap_definitions_free(struct io_mcap_definitions *definitions);
