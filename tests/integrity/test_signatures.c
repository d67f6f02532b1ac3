/* SPDX-License-Identifier: MIT */
/* Signatures, with openssl on the other side, and keys that are none. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static ggld_error err;

static char *key_folder(void)
{
    char *folder = output_of("mktemp -d | tr -d '\\n'");
    free(output_of("cd '%s' && openssl genpkey -algorithm ed25519 -out k.pem "
                   "&& openssl pkey -in k.pem -pubout -out p.pem && "
                   "openssl genpkey -algorithm ed25519 -out k2.pem && "
                   "openssl pkey -in k2.pem -pubout -out p2.pem && "
                   "openssl genpkey -algorithm ed25519 -aes256 -pass pass:x "
                   "-out locked.pem && "
                   "openssl ecparam -name prime256v1 -genkey -noout -out "
                   "ec.pem",
                   folder));
    return folder;
}

static char *key_text(const char *folder, const char *name)
{
    char key_path[256];
    size_t size;
    snprintf(key_path, sizeof key_path, "%s/%s", folder, name);
    return model_read(key_path, &size);
}

Test(signatures, signatures_go_both_ways_with_openssl)
{
    static const char text[] = "ggsum 1\n";
    uint8_t signature[GGLD_SIGNATURE_BYTES];
    char file[256];
    size_t size;
    char *folder = key_folder();
    char *key = key_text(folder, "k.pem"), *public = key_text(folder, "p.pem");
    char *other = key_text(folder, "p2.pem");
    cr_assert_eq(ggld_sign(text, strlen(text), key, signature, &err), GGLD_OK,
                 "%s", err.message);
    cr_expect_eq(ggld_sign_check(text, strlen(text), public, signature, &err),
                 GGLD_OK);
    cr_expect_eq(ggld_sign_check(text, strlen(text), other, signature, &err),
                 GGLD_E_CHECKSUM, "another key");
    cr_expect_eq(
        ggld_sign_check(text, strlen(text) - 1, public, signature, &err),
        GGLD_E_CHECKSUM, "another text");

    snprintf(file, sizeof file, "%s/text", folder);
    model_save(file, text, strlen(text));
    snprintf(file, sizeof file, "%s/sig", folder);
    model_save(file, signature, sizeof signature);
    free(output_of("cd '%s' && openssl pkeyutl -verify -rawin -pubin -inkey "
                   "p.pem -in text -sigfile sig && openssl pkeyutl -sign "
                   "-rawin -inkey k2.pem -in text -out sig2",
                   folder));
    char *theirs = key_text(folder, "sig2");
    memcpy(signature, theirs, sizeof signature);
    cr_expect_eq(ggld_sign_check(text, strlen(text), other, signature, &err),
                 GGLD_OK, "openssl's own: %s", err.message);
    signature[5] ^= 1;
    cr_expect_eq(ggld_sign_check(text, strlen(text), other, signature, &err),
                 GGLD_E_CHECKSUM, "a changed signature");
    (void)size;
    free(theirs);
    free(other);
    free(public);
    free(key);
    free(output_of("rm -r '%s'", folder));
    free(folder);
}

/* Named for what they are, with what to do. */
Test(signatures, keys_that_are_none_are_refused)
{
    static const struct {
        const char *name;
        bool secret;
        const char *says;
    } rows[] = {
        { "p.pem", true, "a public key, where the private one is wanted" },
        { "k.pem", false,
          "a private key, where its public half is wanted: "
          "openssl pkey -in KEY.pem -pubout" },
        { "locked.pem", true, "a key with a passphrase" },
        { "ec.pem", true, "its kind is EC, and Ed25519 is wanted" },
        { "ec-public.pem", false, "its kind is EC" },
        { "rsa.pem", true, "its kind is RSA" },
        { "rsa-public.pem", false, "its kind is RSA" },
        { "448.pem", true, "its kind is ED448" },
        { "k.der", true, "DER: openssl pkey -inform DER" },
        { "p.der", false, "DER: openssl pkey -pubin -inform DER" },
        { "cert.pem", false, "a certificate" },
        { "ssh", true, "OpenSSH's form" },
        { "ssh.pub", false, "OpenSSH's form" },
        { "none", true, "no private key in PEM" },
        { "none", false, "no public key in PEM" },
    };
    uint8_t signature[GGLD_SIGNATURE_BYTES] = { 0 };
    char *folder = key_folder();
    free(output_of(
        "cd '%s' && openssl pkey -in ec.pem -pubout -out ec-public.pem && "
        "openssl genpkey -algorithm RSA -out rsa.pem 2>/dev/null && "
        "openssl pkey -in rsa.pem -pubout -out rsa-public.pem && "
        "openssl genpkey -algorithm ed448 -out 448.pem && "
        "openssl pkey -in k.pem -outform DER -out k.der && "
        "openssl pkey -in k.pem -pubout -outform DER -out p.der && "
        "openssl req -x509 -key k.pem -subj /CN=x -out cert.pem && "
        "echo '-----BEGIN OPENSSH PRIVATE KEY-----' >ssh && "
        "echo 'ssh-ed25519 AAAA' >ssh.pub && : >none",
        folder));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *key = key_text(folder, rows[i].name);
        ggld_status status =
            rows[i].secret ? ggld_sign("x", 1, key, signature, &err)
                           : ggld_sign_check("x", 1, key, signature, &err);
        cr_expect_eq(status, GGLD_E_INVALID, "%s: got %s", rows[i].name,
                     ggld_status_name(status));
        cr_expect_not_null(strstr(err.message, rows[i].says),
                           "%s: expected '%s' in '%s'", rows[i].name,
                           rows[i].says, err.message);
        free(key);
    }
    free(output_of("rm -r '%s'", folder));
    free(folder);
}
