/* SPDX-License-Identifier: MIT */
/* Ed25519 signatures by libcrypto. Keys are PEM; one with a passphrase is
 * refused, as nobody is there to be asked. What is no such key is named for what
 * it is, with the command that makes a fit one of it. */
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

/* What a text is that has no key as it is wanted; openssl's words for the way
 * out. */
static const struct {
    const char *has; /* NULL: the first byte of DER */
    bool of_secret, of_public;
    const char *what;
} others[] = {
    { "-----BEGIN ENCRYPTED PRIVATE KEY", true, false,
      "a key with a passphrase, which nobody is asked for: openssl pkey -in "
      "KEY.pem -out PLAIN.pem takes it off" },
    { "Proc-Type: 4,ENCRYPTED", true, false,
      "a key with a passphrase, which nobody is asked for: openssl pkey -in "
      "KEY.pem -out PLAIN.pem takes it off" },
    { "PRIVATE KEY-----", false, true,
      "a private key, where its public half is wanted: openssl pkey -in "
      "KEY.pem -pubout -out PUBLIC.pem" },
    { "-----BEGIN PUBLIC KEY-----", true, false,
      "a public key, where the private one is wanted, which signs" },
    { "-----BEGIN CERTIFICATE-----", true, true,
      "a certificate, where a key is wanted: openssl x509 -in CERT.pem "
      "-pubkey -noout gives its public key" },
    { "OPENSSH PRIVATE KEY", true, true,
      "OpenSSH's form of a key: openssl genpkey -algorithm ed25519 makes one in "
      "PEM" },
    { "ssh-", true, true,
      "OpenSSH's form of a key: openssl genpkey -algorithm ed25519 makes one in "
      "PEM" },
    { NULL, true, false,
      "not PEM, by its first byte DER: openssl pkey -inform DER -in KEY.der "
      "-out KEY.pem" },
    { NULL, false, true,
      "not PEM, by its first byte DER: openssl pkey -pubin -inform DER -in "
      "KEY.der -out KEY.pem" },
};

static const char *what_it_is(const char *text, bool secret)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (!(secret ? others[i].of_secret : others[i].of_public))
            continue;
        if (others[i].has == NULL ? text[0] == 0x30
                                  : strstr(text, others[i].has) != NULL)
            return others[i].what;
    }
    return secret ? "no private key in PEM (\"-----BEGIN PRIVATE KEY-----\"): "
                    "openssl genpkey -algorithm ed25519 makes one"
                  : "no public key in PEM (\"-----BEGIN PUBLIC KEY-----\"): "
                    "openssl pkey -in KEY.pem -pubout makes one of the private "
                    "key";
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
    if (key == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(), "key: %s",
                         what_it_is(pem, secret));
    if (EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519) {
        const char *type = EVP_PKEY_get0_type_name(key);
        ggld_status status = ggld_fail(
            err, GGLD_E_INVALID, ggld_nowhere(),
            "key: its kind is %s, and Ed25519 is wanted: openssl genpkey "
            "-algorithm ed25519 -out KEY.pem makes one",
            type != NULL ? type : "unknown");
        EVP_PKEY_free(key);
        return status;
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
