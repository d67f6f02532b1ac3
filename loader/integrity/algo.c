/* SPDX-License-Identifier: MIT */
/* The table of algorithms: names, sizes, worth; and digests as text. */
#include <string.h>
#include <strings.h>

#include "digest.h"
#include "hex.h"

static const struct {
    const char *name;
    uint32_t size;
    uint32_t rank; /* less is better */
} algos[GGLD_ALGO_LIMIT] = {
    [GGLD_ALGO_XXH64] = { "xxh64", 8, 4 },
    [GGLD_ALGO_XXH3] = { "xxh3", 8, 3 },
    [GGLD_ALGO_SHA1] = { "sha1", 20, 2 },
    [GGLD_ALGO_SHA256] = { "sha256", 32, 1 },
    [GGLD_ALGO_UUID] = { "uuid", 16, 5 },
};

const char *ggld_algo_name(uint32_t algo)
{
    return algo < GGLD_ALGO_LIMIT ? algos[algo].name : NULL;
}

bool ggld_algo_from_name(const char *name, uint32_t *out)
{
    for (uint32_t i = 1; i < GGLD_ALGO_LIMIT; i++) {
        if (strcasecmp(name, algos[i].name) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

uint32_t ggld_algo_size(uint32_t algo)
{
    return algo < GGLD_ALGO_LIMIT ? algos[algo].size : 0;
}

uint32_t ggld_algo_best(uint32_t bits)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < GGLD_ALGO_LIMIT; i++)
        if ((bits & GGLD_ALGO_BIT(i)) != 0 &&
            (best == 0 || algos[i].rank < algos[best].rank))
            best = i;
    return best;
}

bool ggld_digest_equal(const ggld_digest *a, const ggld_digest *b)
{
    return a->algo == b->algo && a->size == b->size &&
           memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

bool ggld_digest_is_empty_input(const ggld_digest *digest)
{
    ggld_digest empty;
    return ggld_digest_of(&empty, digest->algo, "", 0, NULL) == GGLD_OK &&
           ggld_digest_equal(digest, &empty);
}

/* A uuid has a dash before these bytes. */
static bool dash_before(uint32_t algo, uint32_t byte)
{
    return algo == GGLD_ALGO_UUID &&
           (byte == 4 || byte == 6 || byte == 8 || byte == 10);
}

void ggld_digest_text(const ggld_digest *digest, char out[GGLD_DIGEST_TEXT_MAX])
{
    uint32_t size = digest->size <= GGLD_DIGEST_MAX ? digest->size : 0;
    for (uint32_t i = 0; i < size; i++) {
        if (dash_before(digest->algo, i))
            *out++ = '-';
        ggld_hex_of_byte(digest->bytes[i], out);
        out += 2;
    }
    *out = '\0';
}

bool ggld_digest_parse(ggld_digest *out, uint32_t algo, const char *text,
                       size_t len)
{
    ggld_digest digest = { algo, ggld_algo_size(algo), { 0 } };
    size_t at = 0;

    for (uint32_t i = 0; i < digest.size; i++) {
        if (dash_before(algo, i) && (at == len || text[at++] != '-'))
            return false;
        if (len - at < 2 || !ggld_byte_of_hex(text + at, &digest.bytes[i]))
            return false;
        at += 2;
    }
    if (digest.size == 0 || at != len)
        return false;
    *out = digest;
    return true;
}
