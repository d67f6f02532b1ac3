/* SPDX-License-Identifier: MIT */
/* The record of a model that was verified, in the folder of such records: found
 * if and only if it is what was recorded, byte for byte, and nobody else may
 * write it.
 *
 * An input is a byte of the flags below, and patches of the record (place and
 * what is changed) or a record. */
#include <dirent.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ggld/ggld.h>
#include <ggld/integrity.h>

#include "folder.h"
#include "fuzz.h"

#define WHOLE  1u /* the input is a record */
#define SHARED 2u /* others may write it */
#define CUT    4u /* its last byte is not there */

#define HEX16 "0123456789abcdef"

static struct {
    ggld_verify_cache *cache;
    ggld_manifest *manifest;
    ggld_file *file;
    ggld_file_identity identity;
    char *record;
    uint8_t *text;
    size_t size;
} known;

static void must(ggld_status status, const ggld_error *err)
{
    FUZZ_REQUIRE(status == GGLD_OK, "%s", err->message);
}

static void free_known(void)
{
    ggld_verify_cache_free(known.cache);
    ggld_manifest_free(known.manifest);
    ggld_close(known.file);
    free(known.record);
    free(known.text);
}

/* It is all that is in the folder. */
static void find_record(void)
{
    DIR *d = opendir(folder_path());
    const struct dirent *entry = NULL;

    FUZZ_REQUIRE(d != NULL, "%s", folder_path());
    do
        entry = readdir(d);
    while (entry != NULL && entry->d_name[0] == '.');
    FUZZ_REQUIRE(entry != NULL, "no record in %s", folder_path());
    known.record = folder_file(entry->d_name);
    closedir(d);
    known.text = file_get(known.record, &known.size);
}

static void know(void)
{
    static const uint8_t model[32] = "GGUF\3";
    static const char pointer[] =
        "version https://git-lfs.github.com/spec/v1\noid sha256:" HEX16 HEX16
            HEX16 HEX16 "\nsize 32\n";
    bool stored = false;
    ggld_error err;
    int fd = memfd_create("model", MFD_CLOEXEC);

    FUZZ_REQUIRE(fd >= 0 && write(fd, model, sizeof model) == sizeof model,
                 "a model");
    must(ggld_open_fd(&known.file, fd, NULL, &err), &err);
    must(ggld_manifest_parse(&known.manifest, "m", pointer, sizeof pointer - 1,
                             GGLD_MANIFEST_ANY, &err),
         &err);
    must(ggld_verify_cache_new(&known.cache, folder_path(), &err), &err);
    must(ggld_file_identity_of_fd(&known.identity, fd, &err), &err);
    known.identity.opaque[7] = 0; /* as if it were old */
    must(ggld_verify_cache_put(known.cache, &known.identity, fd, known.file,
                               known.manifest, "m", &stored, &err),
         &err);
    FUZZ_REQUIRE(stored, "it was not recorded");
    close(fd);
    find_record();
    atexit(free_known);
}

/* The record as it is, changed where the input says so. */
static uint8_t *patched(const uint8_t *data, size_t size)
{
    uint8_t *text = fuzz_alloc(known.size);

    memcpy(text, known.text, known.size);
    for (size_t i = 0; i + 2 < size; i += 3)
        text[(data[i] | (size_t)data[i + 1] << 8) % known.size] ^= data[i + 2];
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (known.record == NULL)
        know();
    bool whole = (data[0] & WHOLE) != 0;
    bool shared = (data[0] & SHARED) != 0;
    uint8_t *text = whole ? NULL : patched(data + 1, size - 1);
    size_t n = whole ? size - 1 : known.size - ((data[0] & CUT) != 0);

    file_put(known.record, whole ? data + 1 : text, n);
    FUZZ_REQUIRE(chmod(known.record, shared ? 0620 : 0600) == 0, "chmod");
    bool same = !shared && n == known.size &&
                memcmp(whole ? data + 1 : text, known.text, n) == 0;
    FUZZ_REQUIRE(ggld_verify_cache_has(known.cache, &known.identity, known.file,
                                       known.manifest, "m") == same,
                 "a record that is %s is %s", same ? "the same" : "another",
                 same ? "not found" : "found");
    free(text);
    return 0;
}
