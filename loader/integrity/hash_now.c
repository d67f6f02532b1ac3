/* SPDX-License-Identifier: MIT */
/* A hash in threads of its own, for callers that wait and have no loop. */
#include "hash_work.h"

#include <pthread.h>
#include <stdlib.h>

#include <ggld/integrity.h>

typedef struct hash_thread {
    ggld_hash_work *work;
    uint32_t number;
    _Atomic bool *stop;
    ggld_status status;
    ggld_error err;
    pthread_t thread;
    bool started;
} hash_thread;

static void *hash_thread_run(void *arg)
{
    hash_thread *t = arg;
    uint64_t n_bytes;
    t->status = ggld_hash_work_run(t->work, t->number, UINT64_MAX, t->stop,
                                   &n_bytes, &t->err);
    if (t->status != GGLD_OK)
        atomic_store(t->stop, true);
    return NULL;
}

/* A thread that can't be had leaves more work to the others; the first one is
 * the caller's own. */
static ggld_status run_all(ggld_hash_work *w, uint32_t n_threads,
                           ggld_error *err)
{
    hash_thread threads[GGLD_HASH_MAX_WORKERS] = { 0 };
    _Atomic bool stop = false;
    for (uint32_t i = 0; i < n_threads; i++) {
        threads[i].work = w;
        threads[i].number = i;
        threads[i].stop = &stop;
        if (i != 0)
            threads[i].started =
                pthread_create(&threads[i].thread, NULL, hash_thread_run,
                               &threads[i]) == 0;
    }
    (void)hash_thread_run(&threads[0]);
    const hash_thread *worst = &threads[0];
    for (uint32_t i = 1; i < n_threads; i++) {
        if (threads[i].started)
            pthread_join(threads[i].thread, NULL);
        /* One that was stopped by another's failure says less. */
        if (threads[i].status != GGLD_OK &&
            (worst->status == GGLD_OK || worst->status == GGLD_E_CANCELLED))
            worst = &threads[i];
    }
    if (worst->status != GGLD_OK && err != NULL)
        *err = worst->err;
    return worst->status;
}

ggld_status ggld_hash_now(const ggld_file *file,
                          const ggld_hash_request *request, uint32_t n_threads,
                          const char *name, ggld_manifest **out,
                          ggld_error *err)
{
    ggld_hash_work *w;
    ggld_status status =
        ggld_hash_work_new(&w, file, request, n_threads, false, err);
    if (status != GGLD_OK)
        return status;
    status = run_all(w, n_threads, err);
    if (status == GGLD_OK)
        status = ggld_hash_work_manifest(w, name, out, err);
    ggld_hash_work_free(w);
    return status;
}
