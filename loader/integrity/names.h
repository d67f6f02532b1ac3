/* SPDX-License-Identifier: MIT */
/* Names of files and tensors in manifests: written so that any bytes survive a
 * line of text, and judged before they are believed. */
#ifndef GGLD_INTEGRITY_NAMES_H
#define GGLD_INTEGRITY_NAMES_H

#include <stdbool.h>

#include <ggld/types.h>

#include "lines.h"
#include "text.h"

/* One word: bytes up to a space, DEL, percent signs and what is not UTF-8
 * stand as %XX (capitals), an empty name as a lone %. */
void ggld_name_put(ggld_text *t, ggld_string name);
/* Back, in place. false where a byte stands plain that put would escape, or a
 * percent sign is not one of put's. */
bool ggld_name_take(ggld_word word, ggld_string *out);

/* Has the path a part ".."? */
bool ggld_path_escapes(ggld_string path);
/* What follows the last slash. */
ggld_string ggld_path_base(ggld_string path);
bool ggld_string_equal(ggld_string a, ggld_string b);
ggld_string ggld_string_of(const char *text);

#endif /* GGLD_INTEGRITY_NAMES_H */
