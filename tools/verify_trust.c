/* SPDX-License-Identifier: MIT */
/* Why a manifest is believed: its signature, its root, and how far they go. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "report.h"
#include "verifying.h"

int verify_check_signature(verifying *v, const char *text, size_t size)
{
    char path[DIGESTS_PATH_MAX];
    char *key = NULL, *signature = NULL;
    size_t key_size, signature_size;
    ggld_error err;
    int status = path_with(v->manifest_path, ".sig", path);
    if (status == STATUS_GOOD)
        status = text_read(path, &signature, &signature_size);
    if (status == STATUS_GOOD && signature_size != GGLD_SIGNATURE_BYTES)
        status = report(path, "no Ed25519 signature: it has %zu byte%s, not %d",
                        signature_size, text_plural(signature_size),
                        GGLD_SIGNATURE_BYTES);
    if (status == STATUS_GOOD)
        status = text_read(v->a->values[VERIFY_PUBKEY], &key, &key_size);
    if (status == STATUS_GOOD &&
        ggld_sign_check(text, size, key, (const uint8_t *)signature, &err) !=
            GGLD_OK)
        /* What is wrong with a key is not the signature's fault. */
        status = report_error(
            err.code == GGLD_E_INVALID ? v->a->values[VERIFY_PUBKEY] : path,
            &err);
    v->is_signed = status == STATUS_GOOD;
    free(key);
    free(signature);
    return status;
}

/* As --root has it, with or without "sha256:" before. */
static const char *root_hex(const char *given)
{
    return strncmp(given, "sha256:", 7) == 0 ? given + 7 : given;
}

int verify_check_root(verifying *v)
{
    char is[GGLD_DIGEST_TEXT_MAX];
    const char *wanted = root_hex(v->a->values[VERIFY_ROOT]);
    ggld_manifest_info info = { .struct_size = sizeof info };
    ggld_manifest_get_info(v->manifest, &info);
    ggld_digest_text(&info.root, is);
    if (info.root.algo == 0)
        return report(v->manifest_path, "it has no chunks, and so no root");
    v->is_pinned = strcasecmp(is, wanted) == 0;
    if (v->is_pinned)
        return STATUS_GOOD;
    return report(v->manifest_path, "its root is %s, not the one given", is);
}

static bool is_sha256_hex(const char *hex)
{
    return strspn(hex, "0123456789abcdefABCDEF") == 64 && hex[64] == '\0';
}

bool verify_is_bare_digest(const char *given)
{
    return is_sha256_hex(given) && access(given, F_OK) != 0;
}

/* A digest that stands in the manifest's place. */
int verify_check_digest_text(const args *a)
{
    const char *given = a->n_operands > 1 ? a->operands[1] : "";
    if (strncmp(given, "sha256:", 7) != 0 || is_sha256_hex(given + 7))
        return STATUS_GOOD;
    return report_usage(a,
                        "'%.120s' is no digest: sha256: and 64 hex digits "
                        "are wanted",
                        given);
}

int verify_check_root_text(const args *a)
{
    const char *given = a->values[VERIFY_ROOT];
    const char *hex = given != NULL ? root_hex(given) : NULL;
    if (hex == NULL || is_sha256_hex(hex))
        return STATUS_GOOD;
    return report_usage(a,
                        "--root is '%s': the 64 hex digits of a manifest's "
                        "root are wanted (its line \"root sha256:HEX\")",
                        given);
}

/* Under a signature the digests of tensors are compared too: it is whoever
 * verifies on access by this manifest that is told. */
void verify_note_chunks(const verifying *v)
{
    ggld_manifest_info info = { .struct_size = sizeof info };
    ggld_manifest_get_info(v->manifest, &info);
    uint32_t chunks = info.forgeable & (uint32_t)GGLD_SCOPE_CHUNKS;
    uint32_t metadata = info.forgeable & (uint32_t)GGLD_SCOPE_METADATA;
    if (v->is_pinned && (chunks | metadata) != 0)
        report_note(v->manifest_path,
                    "its %s %s digests that a forger can match: its root finds "
                    "damage only (see ggld hash --chunks sha256)",
                    chunks != 0 ? "chunks" : "metadata",
                    chunks != 0 ? "have" : "has");
    else if (v->is_signed && chunks != 0)
        digests_note_chunks(v->manifest_path, info.chunk_algo);
}
