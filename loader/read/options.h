/* SPDX-License-Identifier: MIT */
/* Structs that cross the border: what the caller gave, checked, in this
 * version's form. */
#ifndef GGLD_READ_OPTIONS_H
#define GGLD_READ_OPTIONS_H

#include <ggld/file.h>

#include "../base/error.h"

/* options may be NULL. The allocator that *out points to is the caller's, and
 * complete; its verifier, where there is one, is *verifier. */
ggld_status ggld_options_take(const ggld_open_options *options,
                              ggld_open_options *out, ggld_verifier *verifier,
                              ggld_error *err);
ggld_status ggld_source_take(const ggld_source *source, ggld_source *out,
                             ggld_error *err);

#endif /* GGLD_READ_OPTIONS_H */
