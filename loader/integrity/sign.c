/* SPDX-License-Identifier: MIT */
/* Ed25519 signatures by libcrypto. Keys are PEM; one with a passphrase is
 * refused, as nobody is there to be asked. */
#include <string.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <ggld/integrity.h>

#include "../base/error.h"

static int no_passphrase(char *buffer, int size, int writing, void *user)
{
    (void)buffer;
    (void)size;
    (void)writing;
    (void)user;
    return -1;
}

static ggld_status read_key(EVP_PKEY **out, const char *pem, bool secret,
                            ggld_error *err)
{
    EVP_PKEY *key = NULL;
    BIO *bio = BIO_new_mem_buf(pem, -1);
    if (bio == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "signature: no memory for the key");
    if (secret)
        key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
    else
        key = PEM_read_bio_PUBKEY(bio, NULL, no_passphrase, NULL);
    BIO_free(bio);
    ERR_clear_error();
    if (key == NULL || EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519) {
        EVP_PKEY_free(key);
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "signature: no Ed25519 %s key in PEM%s",
                         secret ? "private" : "public",
                         secret ? " without a passphrase" : "");
    }
    *out = key;
    return GGLD_OK;
}

ggld_status ggld_sign(const void *text, size_t size, const char *key_pem,
                      uint8_t signature[GGLD_SIGNATURE_BYTES], ggld_error *err)
{
    EVP_PKEY *key = NULL;
    uint8_t made[GGLD_SIGNATURE_BYTES];
    size_t len = sizeof made;
    ggld_status status = read_key(&key, key_pem, true, err);
    if (status != GGLD_OK)
        return status;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool good =
        ctx != NULL && EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) == 1 &&
        EVP_DigestSign(ctx, made, &len, text, size) == 1 && len == sizeof made;
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(key);
    ERR_clear_error();
    if (!good)
        return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_nowhere(),
                         "signature: libcrypto refuses to sign by Ed25519");
    memcpy(signature, made, sizeof made);
    return GGLD_OK;
}

ggld_status ggld_sign_check(const void *text, size_t size,
                            const char *public_key_pem,
                            const uint8_t signature[GGLD_SIGNATURE_BYTES],
                            ggld_error *err)
{
    EVP_PKEY *key = NULL;
    ggld_status status = read_key(&key, public_key_pem, false, err);
    if (status != GGLD_OK)
        return status;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ready =
        ctx != NULL && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) == 1;
    int good = ready ? EVP_DigestVerify(ctx, signature, GGLD_SIGNATURE_BYTES,
                                        text, size)
                     : -1;
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(key);
    ERR_clear_error();
    if (!ready)
        return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_nowhere(),
                         "signature: libcrypto refuses to check Ed25519");
    if (good != 1)
        return ggld_fail(err, GGLD_E_CHECKSUM, ggld_nowhere(),
                         "signature: it is not this key's signature of this "
                         "text");
    return GGLD_OK;
}
