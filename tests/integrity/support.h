/* SPDX-License-Identifier: MIT */
/* Jobs as plain calls, and models as the tests of digests need them. */
#ifndef TEST_INTEGRITY_SUPPORT_H
#define TEST_INTEGRITY_SUPPORT_H

#include <ggld/ggld.h>
#include <ggld/integrity.h>

#include "model.h"

#define BIT_SHA256 GGLD_ALGO_BIT(GGLD_ALGO_SHA256)
#define BIT_SHA1   GGLD_ALGO_BIT(GGLD_ALGO_SHA1)
#define BIT_XXH3   GGLD_ALGO_BIT(GGLD_ALGO_XXH3)
#define BIT_XXH64  GGLD_ALGO_BIT(GGLD_ALGO_XXH64)
#define BIT_UUID   GGLD_ALGO_BIT(GGLD_ALGO_UUID)

ggld_hash_options hash_options(uint32_t algos, uint32_t scopes,
                               const char *name);
/* Runs the job on a loop of its own, which must close afterwards. */
ggld_status hash_file(ggld_file *file, const ggld_hash_options *options,
                      ggld_manifest **out, ggld_error *err);
ggld_status hash_path(const char *path, const ggld_hash_options *options,
                      ggld_manifest **out, ggld_error *err);
/* The file as bytes. */
ggld_status hash_whole(const char *path, const ggld_hash_options *options,
                       ggld_manifest **out, ggld_error *err);
ggld_status verify_file(ggld_file *file, const ggld_manifest *manifest,
                        const ggld_verify_options *options,
                        ggld_verify_report **out, ggld_error *err);
ggld_status verify_path(const char *path, const ggld_manifest *manifest,
                        ggld_verify_report **out, ggld_error *err);

/* Exits where it can't be written; to be freed. */
char *manifest_text(const ggld_manifest *manifest, uint32_t format,
                    size_t *size);
/* ggld_manifest_parse of the text, called "m". */
ggld_status parse_text(ggld_manifest **out, const char *text, size_t size,
                       uint32_t format, ggld_error *err);

/* The digest's text of that scope, algo and tensor, or "" where there is none;
 * static. */
const char *digest_in(const ggld_manifest *manifest, uint32_t scope,
                      uint32_t algo, const char *name);

/* Output of a shell command, which must succeed; to be freed. */
char *output_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Three tensors of known bytes: "t" of "abc", "blk.0 x" of "a", "e:f" of
 * nothing. */
void model_write_abc(const char *path);

#endif /* TEST_INTEGRITY_SUPPORT_H */
