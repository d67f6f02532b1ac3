/* SPDX-License-Identifier: MIT */
/* Any text as a manifest, in each format: what is taken is gone through, added
 * to itself, written in every format, and used to verify a small model. What
 * was written in a format is read again, and comes out the same. An input is
 * the format and the text. */
#include <string.h>

#include <openssl/evp.h>

#include <ggld/ggld.h>
#include <ggld/integrity.h>

#include "fuzz.h"

#define N_FORMATS 7 /* ANY too */

/* Header of a file without records: 24 bytes, and 8 of padding. */
static const uint8_t model_bytes[32] = "GGUF\3";

static ggld_manifest *parse(const void *text, size_t size, uint32_t format)
{
    ggld_manifest *m = NULL;
    ggld_error err = { 0 };
    ggld_status status = ggld_manifest_parse(&m, "m", text, size, format, &err);
    FUZZ_REQUIRE((status == GGLD_OK) == (m != NULL), "status %d", status);
    FUZZ_REQUIRE(err.code == status, "error has %d", err.code);
    for (const char *p = err.message; *p != '\0'; p++)
        FUZZ_REQUIRE((unsigned char)*p >= 0x20 && *p != 0x7F, "control byte");
    return m;
}

static void go_through(const ggld_manifest *m)
{
    ggld_manifest_info info = { .struct_size = sizeof info };
    ggld_manifest_entry entry = { .struct_size = sizeof entry };
    char text[GGLD_DIGEST_TEXT_MAX];
    volatile uint8_t sink = 0;

    ggld_manifest_get_info(m, &info);
    for (uint64_t i = 0; ggld_manifest_at(m, i, &entry); i++) {
        for (uint64_t k = 0; k < entry.name.len; k++)
            sink = (uint8_t)(sink + (uint8_t)entry.name.data[k]);
        for (uint64_t k = 0; k < entry.file.len; k++)
            sink = (uint8_t)(sink + (uint8_t)entry.file.data[k]);
        ggld_digest_text(&entry.digest, text);
    }
}

/* NULL where this format can't say it. */
static char *write_as(const ggld_manifest *m, uint32_t format, size_t *size)
{
    char *text = NULL;
    return ggld_manifest_write(m, format, &text, size, NULL) == GGLD_OK ? text
                                                                        : NULL;
}

static void write_and_read(const ggld_manifest *m, uint32_t format)
{
    size_t size = 0, again_size = 0;
    char *text = write_as(m, format, &size);
    if (text == NULL)
        return;
    ggld_manifest *back = parse(text, size, format);
    FUZZ_REQUIRE(back != NULL, "format %u does not read what it wrote:\n%s",
                 format, text);
    char *again = write_as(back, format, &again_size);
    /* Lines of that format are not told apart, and can't be written, before
     * the file that they are of is known. */
    if (format != GGLD_MANIFEST_LLAMA)
        FUZZ_REQUIRE(again != NULL && again_size == size &&
                         memcmp(text, again, size) == 0,
                     "format %u:\n%s\nis, read and written,\n%s", format, text,
                     again != NULL ? again : "nothing");
    free(text);
    free(again);
    ggld_manifest_free(back);
}

static void verify_with(const ggld_manifest *m, uint32_t mode)
{
    ggld_verifier_options how = ggld_verifier_options_init();
    ggld_open_options options = ggld_open_options_init();
    ggld_verifier verifier;
    ggld_file *file = NULL;

    how.mode = mode;
    how.n_threads = 1;
    if (ggld_verifier_from_manifest(&verifier, m, &how, NULL) != GGLD_OK)
        return;
    options.verifier = &verifier;
    if (ggld_open_memory(&file, model_bytes, sizeof model_bytes, &options,
                         NULL) == GGLD_OK)
        ggld_close(file);
    else
        verifier.release(verifier.ctx);
}

static void use(ggld_manifest *m)
{
    go_through(m);
    for (uint32_t format = 1; format < N_FORMATS; format++)
        write_and_read(m, format);
    verify_with(m, GGLD_VERIFY_ON_ACCESS);
    verify_with(m, GGLD_VERIFY_METADATA);
    uint64_t n = ggld_manifest_count(m);
    ggld_status status = ggld_manifest_append(m, m, NULL);
    FUZZ_REQUIRE(ggld_manifest_count(m) == (status == GGLD_OK ? 2 * n : n),
                 "appended to itself: %s", ggld_status_name(status));
    go_through(m);
}

static void try_text(const void *text, size_t size, uint32_t format)
{
    ggld_manifest *m = parse(text, size, format);
    if (m == NULL)
        return;
    use(m);
    ggld_manifest_free(m);
}

/* ggsum ends in a digest of all before it, which no fuzzer guesses: what comes
 * before the last line, with the right one. */
static void try_sealed(const uint8_t *text, size_t size)
{
    static const char start[] = "end sha256:";
    static const char digits[] = "0123456789abcdef";
    uint8_t hash[EVP_MAX_MD_SIZE];
    unsigned hash_size = 0;
    size_t body = size;

    while (body > 0 && (body == size || text[body - 1] != '\n'))
        body--;
    FUZZ_REQUIRE(EVP_Digest(text, body, hash, &hash_size, EVP_sha256(), NULL),
                 "sha256");
    size_t sealed_size = body + sizeof start - 1 + 2u * hash_size + 1;
    char *sealed = fuzz_alloc(sealed_size), *at = sealed;
    memcpy(at, text, body);
    at += body;
    memcpy(at, start, sizeof start - 1);
    at += sizeof start - 1;
    for (unsigned i = 0; i < hash_size; i++) {
        *at++ = digits[hash[i] >> 4];
        *at++ = digits[hash[i] & 15];
    }
    *at = '\n';
    try_text(sealed, sealed_size, GGLD_MANIFEST_GGSUM);
    free(sealed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    uint32_t format = data[0] % N_FORMATS;
    try_text(data + 1, size - 1, format);
    if (format == GGLD_MANIFEST_GGSUM)
        try_sealed(data + 1, size - 1);
    return 0;
}
