/* SPDX-License-Identifier: MIT */
/* What a hash has found, as a manifest. */
#ifndef GGLD_INTEGRITY_HASH_MANIFEST_H
#define GGLD_INTEGRITY_HASH_MANIFEST_H

#include "hash_plan.h"
#include "manifest.h"

/* Of a file of that name. The tree moves from results to the manifest. */
GGLD_MUST_CHECK
ggld_status ggld_hash_manifest(const ggld_hash_plan *plan,
                               ggld_hash_results *results, const char *name,
                               ggld_manifest **out, ggld_error *err);

#endif /* GGLD_INTEGRITY_HASH_MANIFEST_H */
