/* SPDX-License-Identifier: MIT */
/* Files that are something else. */
#ifndef GGLD_READ_SNIFF_H
#define GGLD_READ_SNIFF_H

#include <stdint.h>

#include "../base/error.h"
#include "../base/span.h"

/* Says in *out what a file is that does not begin as a GGUF file does, from
 * its first bytes, and, where it has a path, from what is beside it. hint
 * stands behind what is not recognised. */
void ggld_sniff(ggld_error *out, ggld_span start, uint64_t file_bytes,
                const char *path, const char *hint);

#endif /* GGLD_READ_SNIFF_H */
