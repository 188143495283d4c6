#include "rt/executive/state/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rt/hash.h"

enum { BLOCK = 1 << 16 };
_Static_assert(BLOCK % 8 == 0, "only the last block may end within a word");

struct digest {
    uint64_t hash, size;
};

/* The last word is filled up with zeros; the size, hashed last, tells how many. */
static void add_block(struct digest *digest, const unsigned char *bytes, size_t size)
{
    const size_t whole = size / 8 * 8;
    unsigned char last[8] = {0};
    digest->hash = rt_hash(digest->hash, bytes, whole);
    digest->size += size;
    if (size == whole)
        return;
    memcpy(last, bytes + whole, size - whole);
    digest->hash = rt_hash(digest->hash, last, sizeof last);
}

uint64_t sim_digest_bytes(const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    struct digest digest = {0};
    for (size_t at = 0; at < size; at += BLOCK)
        add_block(&digest, from + at, size - at < BLOCK ? size - at : BLOCK);
    return rt_hash_mix(digest.hash, digest.size);
}

uint64_t sim_digest_join(uint64_t hash, const void *bytes, size_t size)
{
    const uint64_t pair[2] = {hash, sim_digest_bytes(bytes, size)};
    return sim_digest_bytes(pair, sizeof pair);
}

bool sim_digest_file(const char *path, uint64_t *hash, uint64_t *size)
{
    static unsigned char block[BLOCK];
    struct digest digest = {0};
    size_t got;
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return false;
    while ((got = fread(block, 1, sizeof block, file)) > 0)
        add_block(&digest, block, got);
    const bool is_read = !ferror(file);
    fclose(file);
    *hash = rt_hash_mix(digest.hash, digest.size);
    *size = digest.size;
    return is_read;
}

const char *sim_digest_text(uint64_t hash, char text[SIM_DIGEST_TEXT_SIZE])
{
    snprintf(text, SIM_DIGEST_TEXT_SIZE, "%016" PRIx64, hash);
    return text;
}
