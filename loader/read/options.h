/* SPDX-License-Identifier: MIT */
/* Structs that cross the border: what the caller gave, checked, in this
 * version's form. */
#ifndef GGLD_READ_OPTIONS_H
#define GGLD_READ_OPTIONS_H

#include <ggld/file.h>

#include "../base/error.h"

/* options may be NULL. The allocator and verifier that *out points to are the
 * caller's, and complete. */
ggld_status ggld_options_take(const ggld_open_options *options,
                              ggld_open_options *out, ggld_error *err);
ggld_status ggld_source_take(const ggld_source *source, ggld_source *out,
                             ggld_error *err);

/* Copies what both sides know of a struct that the library fills in, and sets
 * the rest of the caller's to zero. struct_size comes first in both. */
void ggld_struct_give(void *out, const void *ours, size_t our_size);

#endif /* GGLD_READ_OPTIONS_H */
