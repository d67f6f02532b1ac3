/* SPDX-License-Identifier: MIT */
/* Comparing what a manifest says of a file with what is. */
#ifndef GGLD_INTEGRITY_VERIFY_H
#define GGLD_INTEGRITY_VERIFY_H

#include "hash_plan.h"
#include "manifest.h"

/* What must be hashed to check everything that the manifest (one that
 * ggld_manifest_select gave) says. GGLD_E_INVALID: it says nothing. */
GGLD_MUST_CHECK
ggld_status ggld_verify_request_of(const ggld_manifest *expected,
                                   ggld_hash_request *out, ggld_error *err);

/* Before anything is read. GGLD_E_INVALID: the manifest is of another model: it
 * has tensors, none of which is in the file, and not as many (all of a file's
 * tensors may have been renamed). */
GGLD_MUST_CHECK
ggld_status ggld_verify_fits(const ggld_manifest *expected,
                             const ggld_file *file, ggld_error *err);

/* actual is what that request gave for the file. *out is NULL, or has a report
 * on other shards that this one is added to. of_set: the file is a shard, which
 * messages then name. The report borrows nothing. */
GGLD_MUST_CHECK
ggld_status ggld_verify_compare(ggld_verify_report **out,
                                const ggld_manifest *expected,
                                const ggld_manifest *actual,
                                const ggld_file *file, bool of_set,
                                ggld_error *err);

/* Of a file that could not be looked into: size, and the digests of all of it
 * and of the metadata; actual has what was hashed. The rest is noted as not
 * covered. */
GGLD_MUST_CHECK
ggld_status ggld_verify_compare_whole(ggld_verify_report **out,
                                      const ggld_manifest *expected,
                                      const ggld_manifest *actual,
                                      ggld_error *err);

#endif /* GGLD_INTEGRITY_VERIFY_H */
