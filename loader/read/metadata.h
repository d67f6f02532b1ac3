/* SPDX-License-Identifier: MIT */
/* The bytes that records are parsed from: in the map, in a private copy of the
 * whole file, or in private memory that grows until the metadata fits. Sets
 * file->map, metadata, private_metadata; all of them fail with the file as it
 * was, to be released as ever. */
#ifndef GGLD_READ_METADATA_H
#define GGLD_READ_METADATA_H

#include <stdint.h>

#include "../base/error.h"
#include "file.h"

ggld_status ggld_metadata_begin(ggld_file *file, ggld_error *err);
/* At least the first needed bytes, which the file has. Pointers into what was
 * there are no longer valid. */
ggld_status ggld_metadata_more(ggld_file *file, uint64_t needed,
                               ggld_error *err);
/* Exactly the bytes before the data section, with the records' strings moved
 * along. */
ggld_status ggld_metadata_settle(ggld_file *file, ggld_error *err);

#endif /* GGLD_READ_METADATA_H */
