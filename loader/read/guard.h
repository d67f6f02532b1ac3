/* SPDX-License-Identifier: MIT */
/* Work on bytes of a map, which may not be there any more (ggld/guard.h). */
#ifndef GGLD_READ_GUARD_H
#define GGLD_READ_GUARD_H

#include "../base/error.h"
#include "../base/span.h"
#include "file.h"

/* Reads bytes and writes what the caller gets: no lock, no allocation, no call
 * of the app's, as it may end in the middle. */
typedef void ggld_map_work(void *ctx);

/* Does the work on bytes, a part of the file's map or anything else. Where the
 * guard is installed, bytes that are gone are GGLD_E_IO; place names the
 * record. */
GGLD_MUST_CHECK
ggld_status ggld_guard_run(const ggld_file *file, ggld_span bytes,
                           ggld_map_work *work, void *ctx, ggld_place place,
                           ggld_error *err);

/* ggld_file_intact, of a source. */
ggld_status ggld_guard_intact(const ggld_source *source, ggld_error *err);

#endif /* GGLD_READ_GUARD_H */
