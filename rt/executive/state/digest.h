/*
 * 64-bit hashes of files and bytes, to tell whether two are the same.  They find accidents, not
 * forgers: whoever can write a log can write one that fits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIM_DIGEST_TEXT_SIZE = 17 };

/* Of any number of bytes.  Context: setup. */
uint64_t sim_digest_bytes(const void *bytes, size_t size);
/* The hash of what was hashed before and of these bytes.  Context: any. */
uint64_t sim_digest_join(uint64_t hash, const void *bytes, size_t size);
/* Of a whole file; false when it cannot be read.  Context: setup. */
bool sim_digest_file(const char *path, uint64_t *hash, uint64_t *size);
/* As 16 digits.  Context: any. */
const char *sim_digest_text(uint64_t hash, char text[SIM_DIGEST_TEXT_SIZE]);
