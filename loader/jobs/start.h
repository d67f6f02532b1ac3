/* SPDX-License-Identifier: MIT */
/* What the starts of prefetch and stream have in common. */
#ifndef GGLD_JOBS_START_H
#define GGLD_JOBS_START_H

#include <stddef.h>
#include <stdint.h>

#include <ggld/tensor.h>

#include "../base/error.h"

/* What is to be done in parallel where the app does not say: enough for a
 * local disk, and libuv's pool has four threads. */
#define GGLD_DEFAULT_PARALLEL 4u

/* GGLD_E_ABI unless the options' size is known and n reserved words are 0. */
ggld_status ggld_check_options(const char *job, size_t struct_size,
                               size_t known, const uint64_t *reserved, size_t n,
                               ggld_error *err);
/* A copy of the list, to be given to free(), or NULL. */
ggld_view *ggld_copy_views(const ggld_view *views, size_t n_views);

#endif /* GGLD_JOBS_START_H */
