/* SPDX-License-Identifier: MIT */
/* ggld sign: a detached Ed25519 signature of a manifest. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "digests.h"
#include "outfile.h"
#include "paths.h"
#include "report.h"

enum { OPT_KEY, OPT_OUTPUT };

/* Only what can be verified is signed. */
static int check_manifest(const char *path, const char *text, size_t size,
                          uint32_t *chunk_algo)
{
    ggld_manifest *manifest;
    ggld_manifest_info info = { .struct_size = sizeof info };
    ggld_error err;
    if (ggld_manifest_parse(&manifest, "manifest", text, size,
                            GGLD_MANIFEST_ANY, &err) != GGLD_OK)
        return report_error(path, &err);
    ggld_manifest_get_info(manifest, &info);
    ggld_manifest_free(manifest);
    *chunk_algo = info.chunk_algo;
    return STATUS_GOOD;
}

static int write_signature(const args *a, const char *path,
                           const uint8_t signature[GGLD_SIGNATURE_BYTES])
{
    outfile f;
    if (paths_is_stdout(path)) {
        out_bytes(a->out, signature, GGLD_SIGNATURE_BYTES);
        return STATUS_GOOD;
    }
    int status = outfile_begin(&f, path);
    if (status != STATUS_GOOD)
        return status;
    out_bytes(&f.out, signature, GGLD_SIGNATURE_BYTES);
    return outfile_finish(&f, STATUS_GOOD);
}

static int sign(const args *a, const char *text, size_t size)
{
    char beside[DIGESTS_PATH_MAX];
    uint8_t signature[GGLD_SIGNATURE_BYTES];
    char *key;
    size_t key_size;
    uint32_t chunk_algo = 0;
    ggld_error err;
    const char *path = a->operands[0];
    int status = path_with(path, ".sig", beside);
    if (status == STATUS_GOOD)
        status = check_manifest(path, text, size, &chunk_algo);
    if (status == STATUS_GOOD)
        status = text_read(a->values[OPT_KEY], &key, &key_size);
    if (status != STATUS_GOOD)
        return status;
    if (ggld_sign(text, size, key, signature, &err) != GGLD_OK)
        status = report_error(a->values[OPT_KEY], &err);
    explicit_bzero(key, key_size);
    free(key);
    if (status != STATUS_GOOD)
        return status;
    status = write_signature(
        a, a->values[OPT_OUTPUT] != NULL ? a->values[OPT_OUTPUT] : beside,
        signature);
    if (status == STATUS_GOOD)
        digests_note_chunks(path, chunk_algo);
    return status;
}

static int sign_run(const args *a)
{
    char *text;
    size_t size;
    if (a->values[OPT_KEY] == NULL)
        return report_usage(a, "--key is needed: a PEM file with an Ed25519 "
                               "private key");
    const char *path = a->values[OPT_OUTPUT];
    if (paths_is_stdout(path) && a->out->terminal)
        return report_usage(a, "a signature is binary, and not for a terminal: "
                               "give -o OUT or redirect");
    if (path != NULL && !paths_is_stdout(path) &&
        (paths_same(path, a->operands[0]) ||
         paths_same(path, a->values[OPT_KEY])))
        return report_usage(a, "OUT is the manifest or the key itself");
    int status = text_read(a->operands[0], &text, &size);
    if (status != STATUS_GOOD)
        return status;
    status = sign(a, text, size);
    free(text);
    return status;
}

static const option_row options[] = {
    [OPT_KEY] = { "key", 'k', "PEM", "the Ed25519 private key" },
    [OPT_OUTPUT] = { "output", 'o', "OUT",
                     "write to OUT (default: MANIFEST.sig; - is standard "
                     "output)" },
    { NULL, 0, NULL, NULL },
};

const command_row command_sign = {
    "sign",
    "MANIFEST",
    "Signs a manifest, for ggld verify --pubkey",
    "The signature is 64 bytes, of the manifest's text as it is. A key is\n"
    "made by: openssl genpkey -algorithm ed25519 -out KEY.pem\n",
    1,
    1,
    options,
    sign_run,
};
