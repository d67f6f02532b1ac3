/* SPDX-License-Identifier: MIT */
/* The pieces of an open file that are verified as a whole, each once: chunks,
 * or, of a manifest without them, tensors. */
#ifndef GGLD_INTEGRITY_CELLS_H
#define GGLD_INTEGRITY_CELLS_H

#include "manifest.h"

typedef struct ggld_cells ggld_cells;

/* Both are to outlive it. GGLD_E_CHECKSUM: the file is not of the size that the
 * manifest has. */
GGLD_MUST_CHECK
ggld_status ggld_cells_new(ggld_cells **out, const ggld_manifest *m,
                           const ggld_file *file, ggld_error *err);
void ggld_cells_free(ggld_cells *cells);

/* Verifies those that the range touches and that have not been found good.
 * Any number of threads. */
GGLD_MUST_CHECK
ggld_status ggld_cells_check(ggld_cells *cells, const ggld_file *file,
                             uint64_t offset, uint64_t size, ggld_error *err);

#endif /* GGLD_INTEGRITY_CELLS_H */
