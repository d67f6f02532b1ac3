/* SPDX-License-Identifier: MIT */
/* The formats of manifests, one pair of functions each. A parser fills an empty
 * manifest from a text that is its own to write in; names may go on pointing
 * into it. A writer appends to a text. */
#ifndef GGLD_INTEGRITY_FORMATS_H
#define GGLD_INTEGRITY_FORMATS_H

#include "lines.h"
#include "manifest.h"
#include "text.h"

typedef ggld_status ggld_manifest_parser(ggld_manifest *m, ggld_lines *l,
                                         ggld_error *err);
typedef ggld_status ggld_manifest_writer(const ggld_manifest *m, ggld_text *t,
                                         ggld_error *err);

ggld_manifest_parser ggld_ggsum_parse;
ggld_manifest_parser ggld_llama_parse;
ggld_manifest_parser ggld_sha256sum_parse;
ggld_manifest_parser ggld_bare_parse;
ggld_manifest_parser ggld_lfs_parse;
ggld_manifest_parser ggld_intoto_parse;

ggld_manifest_writer ggld_ggsum_write;
ggld_manifest_writer ggld_llama_write;
ggld_manifest_writer ggld_sha256sum_write;
ggld_manifest_writer ggld_bare_write;
ggld_manifest_writer ggld_lfs_write;
ggld_manifest_writer ggld_intoto_write;

/* For formats of digests of whole files: that subject's sha256. GGLD_E_INVALID
 * where there is none. */
GGLD_MUST_CHECK
ggld_status ggld_whole_sha256(const ggld_manifest *m, uint32_t subject,
                              const char *format, const ggld_entry **out,
                              ggld_error *err);
/* For formats that speak of one file: is it one? */
GGLD_MUST_CHECK
ggld_status ggld_one_file(const ggld_manifest *m, const char *format,
                          ggld_error *err);

/* Is it "ALGO (NAME) = HEX", whatever the algorithm? */
bool ggld_is_tag_line(ggld_word line);

/* A line about a whole file. */
GGLD_MUST_CHECK
ggld_status ggld_add_whole(ggld_manifest *m, uint64_t line, ggld_string path,
                           const ggld_digest *digest, ggld_error *err);

#define GGLD_IN_TOTO_TYPE      "https://in-toto.io/Statement/v1"
#define GGLD_IN_TOTO_PREDICATE "https://model_signing/signature/v1.0"
#define GGLD_IN_TOTO_OLD       "https://model_signing/Digests/v0.1"

/* The order of the names of a statement's files: that of the paths' parts, so
 * that "a/b" comes before "a-b". By bytes; of UTF-8 that is the order of the
 * characters too. */
int ggld_resource_order(ggld_string a, ggld_string b);

/* Where a type and dimensions stand as words. */
void ggld_shape_put(ggld_text *t, const ggld_shape *shape);
bool ggld_shape_take(ggld_word type, ggld_word dims, ggld_shape *out);

#endif /* GGLD_INTEGRITY_FORMATS_H */
