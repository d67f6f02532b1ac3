/* SPDX-License-Identifier: MIT */
/* Several digests at once over one run of bytes, given in any pieces. */
#ifndef GGLD_INTEGRITY_DIGEST_H
#define GGLD_INTEGRITY_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ggld/integrity.h>

#define GGLD_ALGO_LIMIT 6 /* one past the highest ggld_algo */

/* All that there are. */
#define GGLD_ALGO_ALL                                                  \
    (GGLD_ALGO_BIT(GGLD_ALGO_XXH64) | GGLD_ALGO_BIT(GGLD_ALGO_XXH3) |  \
     GGLD_ALGO_BIT(GGLD_ALGO_SHA1) | GGLD_ALGO_BIT(GGLD_ALGO_SHA256) | \
     GGLD_ALGO_BIT(GGLD_ALGO_UUID))

/* Bytes of a digest; 0 for what is no algo. */
uint32_t ggld_algo_size(uint32_t algo);
/* The best of a set of bits; 0 of none. */
uint32_t ggld_algo_best(uint32_t algos);

bool ggld_digest_equal(const ggld_digest *a, const ggld_digest *b);
/* Is it the digest of no bytes at all? */
bool ggld_digest_is_empty_input(const ggld_digest *digest);
/* From text as ggld_digest_text makes it, in either case: hex must have just
 * the length that the algo's text has. */
bool ggld_digest_parse(ggld_digest *out, uint32_t algo, const char *text,
                       size_t len);

/* The states of a set of algos. */
typedef struct ggld_hasher {
    uint32_t algos; /* bits */
    bool failed;    /* libcrypto refused a step: finish says so */
    void *states[GGLD_ALGO_LIMIT];
} ggld_hasher;

/* Ready for a first run. On failure (GGLD_E_NOMEM, or GGLD_E_UNSUPPORTED
 * where libcrypto is set up to refuse an algo) *h is empty. */
GGLD_MUST_CHECK
ggld_status ggld_hasher_init(ggld_hasher *h, uint32_t algos, ggld_error *err);
void ggld_hasher_free(ggld_hasher *h);  /* an empty one (all zero) too */
void ggld_hasher_start(ggld_hasher *h); /* a new run */
void ggld_hasher_update(ggld_hasher *h, const void *data, size_t size);
/* The run's digest of one of the algos. */
GGLD_MUST_CHECK
ggld_status ggld_hasher_finish(ggld_hasher *h, uint32_t algo, ggld_digest *out,
                               ggld_error *err);

/* One algo over bytes that are all there. */
GGLD_MUST_CHECK
ggld_status ggld_digest_of(ggld_digest *out, uint32_t algo, const void *data,
                           size_t size, ggld_error *err);

#endif /* GGLD_INTEGRITY_DIGEST_H */
