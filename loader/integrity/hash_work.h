/* SPDX-License-Identifier: MIT */
/* A hash under way: workers, each on one thread at a time, that take pieces of
 * a plan and work on them. Knows nothing of threads but that there are some. */
#ifndef GGLD_INTEGRITY_HASH_WORK_H
#define GGLD_INTEGRITY_HASH_WORK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hash_plan.h"

#define GGLD_HASH_MAX_WORKERS 16u

typedef struct ggld_hash_work ggld_hash_work;

/* The plan is made here; the file is to stay open until free. */
GGLD_MUST_CHECK
ggld_status ggld_hash_work_new(ggld_hash_work **out, const ggld_file *file,
                               const ggld_hash_request *request,
                               uint32_t n_workers, bool keep_cache,
                               ggld_error *err);
void ggld_hash_work_free(ggld_hash_work *w);
uint64_t ggld_hash_work_total_bytes(const ggld_hash_work *w);

/* Is there something left for this worker to begin or go on with? */
bool ggld_hash_work_left(const ggld_hash_work *w, uint32_t worker);
/* Works until about max_bytes are read, or nothing is left, or *stop; sets the
 * bytes that were read. May wait for other workers that are inside this call,
 * never for one that is not. */
GGLD_MUST_CHECK
ggld_status ggld_hash_work_run(ggld_hash_work *w, uint32_t worker,
                               uint64_t max_bytes, const _Atomic bool *stop,
                               uint64_t *n_bytes, ggld_error *err);
/* When all is done: what was found, as a manifest of the file of that name. */
GGLD_MUST_CHECK
ggld_status ggld_hash_work_manifest(ggld_hash_work *w, const char *name,
                                    ggld_manifest **out, ggld_error *err);

/* All of it at once, in n_threads threads that are gone afterwards. */
GGLD_MUST_CHECK
ggld_status ggld_hash_now(const ggld_file *file,
                          const ggld_hash_request *request, uint32_t n_threads,
                          const char *name, ggld_manifest **out,
                          ggld_error *err);

#endif /* GGLD_INTEGRITY_HASH_WORK_H */
