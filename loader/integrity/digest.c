/* SPDX-License-Identifier: MIT */
/* Digests by libcrypto and libxxhash, which use the processor's own
 * instructions; nothing is computed by hand here. A step that libcrypto
 * refuses is remembered and told at the end. */
#include "digest.h"

#include <string.h>

#include <openssl/evp.h>
#include <xxhash.h>
#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<xxh_x86dispatch.h>)
/* Installed where the library has it: functions that choose at run time, where
 * the plain ones are built for the oldest processor. Four times as fast. */
#include <xxh_x86dispatch.h>
#endif
#endif

#include "../base/error.h"

/* uuid5(NAMESPACE_URL, "en.wikipedia.org/wiki/Llama.cpp"). */
static const uint8_t uuid_namespace[16] = { 0xef, 0x00, 0x12, 0x06, 0xda, 0xdc,
                                            0x5f, 0x6d, 0xa1, 0x5f, 0x33, 0x59,
                                            0xe5, 0x77, 0xd4, 0xe5 };

static const EVP_MD *md_of(uint32_t algo)
{
    return algo == GGLD_ALGO_SHA256 ? EVP_sha256() : EVP_sha1();
}

static void *state_new(uint32_t algo)
{
    if (algo == GGLD_ALGO_XXH3)
        return XXH3_createState();
    if (algo == GGLD_ALGO_XXH64)
        return XXH64_createState();
    return EVP_MD_CTX_new();
}

static void state_free(uint32_t algo, void *state)
{
    if (algo == GGLD_ALGO_XXH3)
        XXH3_freeState(state);
    else if (algo == GGLD_ALGO_XXH64)
        XXH64_freeState(state);
    else
        EVP_MD_CTX_free(state);
}

static bool state_start(uint32_t algo, void *state)
{
    if (algo == GGLD_ALGO_XXH3)
        return XXH3_64bits_reset(state) == XXH_OK;
    if (algo == GGLD_ALGO_XXH64)
        return XXH64_reset(state, 0) == XXH_OK;
    if (EVP_DigestInit_ex2(state, md_of(algo), NULL) != 1)
        return false;
    return algo != GGLD_ALGO_UUID ||
           EVP_DigestUpdate(state, uuid_namespace, sizeof uuid_namespace) == 1;
}

static bool state_update(uint32_t algo, void *state, const void *data,
                         size_t size)
{
    if (algo == GGLD_ALGO_XXH3)
        return XXH3_64bits_update(state, data, size) == XXH_OK;
    if (algo == GGLD_ALGO_XXH64)
        return XXH64_update(state, data, size) == XXH_OK;
    return EVP_DigestUpdate(state, data, size) == 1;
}

/* As llama-gguf-hash and xxhsum print them: the highest byte first. */
static void store_u64(uint64_t value, uint8_t out[8])
{
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(value >> (56 - 8 * i));
}

static bool state_finish(uint32_t algo, void *state,
                         uint8_t out[GGLD_DIGEST_MAX])
{
    uint8_t md[EVP_MAX_MD_SIZE];
    if (algo == GGLD_ALGO_XXH3) {
        store_u64(XXH3_64bits_digest(state), out);
        return true;
    }
    if (algo == GGLD_ALGO_XXH64) {
        store_u64(XXH64_digest(state), out);
        return true;
    }
    if (EVP_DigestFinal_ex(state, md, NULL) != 1)
        return false;
    memcpy(out, md, ggld_algo_size(algo));
    if (algo == GGLD_ALGO_UUID) { /* RFC 9562, 5.5: version 5, variant 10 */
        out[6] = (uint8_t)((out[6] & 0x0F) | 0x50);
        out[8] = (uint8_t)((out[8] & 0x3F) | 0x80);
    }
    return true;
}

static ggld_status refused(uint32_t algo, ggld_error *err)
{
    return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_nowhere(),
                     "digest: libcrypto refuses %s here", ggld_algo_name(algo));
}

ggld_status ggld_hasher_init(ggld_hasher *h, uint32_t algos, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    memset(h, 0, sizeof *h);
    h->algos = algos;
    for (uint32_t i = 1; i < GGLD_ALGO_LIMIT && status == GGLD_OK; i++) {
        if ((algos & GGLD_ALGO_BIT(i)) == 0)
            continue;
        h->states[i] = state_new(i);
        if (h->states[i] == NULL)
            status = ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                               "digest: no memory for %s", ggld_algo_name(i));
        else if (!state_start(i, h->states[i]))
            status = refused(i, err);
    }
    if (status != GGLD_OK)
        ggld_hasher_free(h);
    return status;
}

void ggld_hasher_free(ggld_hasher *h)
{
    for (uint32_t i = 1; i < GGLD_ALGO_LIMIT; i++)
        if (h->states[i] != NULL)
            state_free(i, h->states[i]);
    memset(h, 0, sizeof *h);
}

void ggld_hasher_start(ggld_hasher *h)
{
    h->failed = false;
    for (uint32_t i = 1; i < GGLD_ALGO_LIMIT; i++)
        if (h->states[i] != NULL && !state_start(i, h->states[i]))
            h->failed = true;
}

void ggld_hasher_update(ggld_hasher *h, const void *data, size_t size)
{
    for (uint32_t i = 1; i < GGLD_ALGO_LIMIT; i++)
        if (h->states[i] != NULL && !state_update(i, h->states[i], data, size))
            h->failed = true;
}

ggld_status ggld_hasher_finish(ggld_hasher *h, uint32_t algo, ggld_digest *out,
                               ggld_error *err)
{
    ggld_digest digest = { algo, ggld_algo_size(algo), { 0 } };
    if (h->failed || !state_finish(algo, h->states[algo], digest.bytes))
        return refused(algo, err);
    *out = digest;
    return GGLD_OK;
}

ggld_status ggld_digest_of(ggld_digest *out, uint32_t algo, const void *data,
                           size_t size, ggld_error *err)
{
    if (algo == GGLD_ALGO_XXH3) { /* no state: half the time of a chunk's */
        ggld_digest digest = { algo, 8, { 0 } };
        store_u64(XXH3_64bits(data, size), digest.bytes);
        *out = digest;
        return GGLD_OK;
    }
    ggld_hasher h;
    ggld_status status = ggld_hasher_init(&h, GGLD_ALGO_BIT(algo), err);
    if (status != GGLD_OK)
        return status;
    ggld_hasher_update(&h, data, size);
    status = ggld_hasher_finish(&h, algo, out, err);
    ggld_hasher_free(&h);
    return status;
}
