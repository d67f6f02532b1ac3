/* SPDX-License-Identifier: MIT */
/* What ggld_open_verified does with a verifier beside giving it to open. ctx is
 * the verifier's, of ggld_verifier_from_manifest. */
#ifndef GGLD_INTEGRITY_VERIFIER_H
#define GGLD_INTEGRITY_VERIFIER_H

#include <ggld/integrity.h>

/* Verifies everything now. */
GGLD_MUST_CHECK
ggld_status ggld_verifier_check_all(void *ctx, const ggld_file *file,
                                    ggld_error *err);
/* The file's data is known to be good: nothing more is checked. */
void ggld_verifier_trust(void *ctx);

#endif /* GGLD_INTEGRITY_VERIFIER_H */
