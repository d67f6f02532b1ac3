/* SPDX-License-Identifier: MIT */
/* What the tests of manifests that use Criterion share. */
#ifndef TEST_INTEGRITY_EXPECT_H
#define TEST_INTEGRITY_EXPECT_H

#include "support.h"

/* The digests of the model at path, made under that name. */
ggld_manifest *hash_as(const char *path, const char *name, uint32_t algos,
                       uint32_t scopes);
/* The file at path is as m has it; what: of which manifest that is. */
void expect_good(const char *path, const ggld_manifest *m, const char *what);
/* The text is no manifest, and the message has says in it. */
void expect_refused(const char *text, ggld_status code, const char *says);

#endif /* TEST_INTEGRITY_EXPECT_H */
