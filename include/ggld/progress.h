/* SPDX-License-Identifier: MIT */
/* What a call that may take long says meanwhile, and how it is ended early. */
#ifndef GGLD_PROGRESS_H
#define GGLD_PROGRESS_H

#include <stdint.h>

#include "version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Called on the thread that made the call, after every few megabytes of work,
 * and at the end of it. done_bytes never falls and ends at total_bytes, which
 * does not change. Not 0: the call gives up what it has begun, as after a
 * failure, and returns GGLD_E_CANCELLED. */
typedef int (*ggld_progress)(uint64_t done_bytes, uint64_t total_bytes,
                             void *user);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_PROGRESS_H */
