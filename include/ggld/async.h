/* SPDX-License-Identifier: MIT */
/* Jobs on the app's own libuv loop (libggld-uv): opening, warming and going
 * through a model without blocking, and without a thread of one's own.
 *
 * A job is started on a loop, works in chunks on libuv's thread pool, reports
 * progress on the loop's thread and makes exactly one completion call there,
 * whatever happens. Starting only checks the arguments and queues: it never
 * blocks and calls nothing. Any number of jobs may run at once, on one file or
 * many; more than the pool has room for wait their turn.
 *
 * Two kinds of failure. A start that returns a status other than GGLD_OK has
 * started nothing, holds nothing and will call nothing: an argument is NULL, an
 * options struct is not of this version (GGLD_E_ABI), or there is no memory.
 * All else, such as a view that is not inside its tensor, a budget that is too
 * small, a file that ends too early, is the completion call's result.
 *
 * Lifetime
 *  - A ggld_job is valid from its start until its completion call returns, and
 *    is used on the loop's thread only (but see ggld_chunk_call).
 *  - A job counts as a holder of its file (ggld_file_ref) and gives that up
 *    just before the completion call. The app may ggld_close() its own at any
 *    time after start; unmapping then happens on the pool, not on the loop.
 *  - Arrays, strings and options given to start are copied, by start: of an
 *    array of views that is 24 bytes each, on the loop's thread. A million of
 *    them take it some tens of milliseconds, mostly for memory that is new; who
 *    can't wait so long starts several jobs, turn by turn.
 *
 * Sets. A job's file may be a set (file.h) or one of its shards, which then
 * holds the set.
 *
 * The pool. Work runs on libuv's thread pool, which the app's own file system
 * and getaddrinfo() calls share: 4 threads, unless UV_THREADPOOL_SIZE says
 * otherwise (up to 1024; it is read once, when the first work is queued). A job
 * has up to n_parallel chunks there at a time, 4 by default, each for as long as
 * its read takes; an app's own call behind them waits for one of them. Where
 * that is too long, set UV_THREADPOOL_SIZE to more than all jobs' n_parallel
 * together, or n_parallel to less than the pool has. libuv makes its threads
 * with the first work that is queued, and where the system refuses one (EAGAIN:
 * RLIMIT_NPROC, a cgroup's pids.max) it calls abort(): who may run there should
 * try pthread_create() first, as the command ggld does.
 *
 * Budgets. max_resident_bytes is a job's own: jobs at one time add up, also on
 * one file, and a stream drops what a prefetch has warmed.
 *
 * Closing the loop. A job has no handles, only uv_work_t requests:
 *  - uv_run(UV_RUN_DEFAULT) returns when all jobs are done, if nothing else
 *    keeps it; after the completion call nothing of the job is on the loop.
 *  - uv_stop() suspends jobs: at most the chunks that are under way are
 *    finished by the pool and wait. Running the loop again resumes them.
 *  - uv_loop_close() fails with UV_EBUSY while a job is not done. To be rid of
 *    a loop early: ggld_job_cancel() each job, then uv_run(UV_RUN_DEFAULT)
 *    until it returns 0, which takes no longer than a chunk, then close.
 *  - A loop that is never run again keeps its jobs' memory and files; that is
 *    a leak, and no call is made. Freeing a loop's memory with jobs on it is an
 *    error, as with any uv request. */
#ifndef GGLD_ASYNC_H
#define GGLD_ASYNC_H

#include "error.h"
#include "file.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s; /* uv_loop_t */
typedef struct ggld_job ggld_job;

/* The completion call. result is never NULL and holds only during the call;
 * result->code is GGLD_OK, GGLD_E_CANCELLED, or says what failed. */
typedef void (*ggld_job_done)(ggld_job *job, const ggld_error *result,
                              void *user);
/* At most 20 times a second, and once more at the end of a job that succeeds,
 * unless the last call said the same. total_bytes does not change. */
typedef void (*ggld_job_progress)(ggld_job *job, uint64_t done_bytes,
                                  uint64_t total_bytes, void *user);

/* The job's result becomes GGLD_E_CANCELLED, unless it has failed before or
 * its last chunk is done. What waits for the pool is withdrawn, what runs there
 * ends with its chunk; no more chunks are handed out or progress reported. The
 * completion call comes later, from the loop. Loop's thread only; may be called
 * from progress and chunk calls, and more than once. */
GGLD_API void ggld_job_cancel(ggld_job *job);

/* ---- open ---- */

/* file is NULL unless result->code is GGLD_OK; then it is the app's, counted
 * once, to be given to ggld_close(). */
typedef void (*ggld_open_done)(ggld_job *job, ggld_file *file,
                               const ggld_error *result, void *user);

/* ggld_open_path() on the pool, as one chunk. What options->allocator and
 * ->verifier point to is copied; the verifier is the job's like the file's: on
 * failure its release is not called, as with ggld_open_path. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_open_start(ggld_job **out, struct uv_loop_s *loop,
                            const char *path, const ggld_open_options *options,
                            ggld_open_done done, void *user, ggld_error *err);

/* ---- how bytes come in ---- */

/* For the io field of options; all shards of a set are read in one way. Errors
 * in reading, and a file that has become shorter, are the job's result with
 * every one of them. */
typedef enum ggld_io_kind {
    /* By purpose and file system. To stream a file with a verifier: see
     * ggld_stream_start(). To warm, and to stream with no budget:
     * GGLD_IO_PREAD. To stream within a budget: GGLD_IO_DIRECT on a local disk
     * (what is in memory already is copied from there), GGLD_IO_PREAD on
     * network, FUSE and memory file systems, and where the system refuses
     * direct reads. Files with no descriptor (memory, GGLD_OPEN_COPY, the app's
     * own source) are read through their source. */
    GGLD_IO_AUTO = 0,
    /* The file's map, populated chunk by chunk on the pool; chunks of bytes
     * are then not copied. A file that has become shorter is an error up to
     * when the chunk is handed out. Somebody who truncates the file while a
     * chunk is being used makes that use fail with SIGBUS. */
    GGLD_IO_MAP = 1,
    /* Reads through the page cache. The one for network and FUSE mounts. */
    GGLD_IO_PREAD = 2,
    /* Reads past the page cache (O_DIRECT). Can't warm. */
    GGLD_IO_DIRECT = 3,
    /* io_uring: direct to stream, through the page cache to warm.
     * GGLD_E_UNSUPPORTED where the build or the system has none. */
    GGLD_IO_URING = 4
} ggld_io_kind;

/* ---- prefetch ---- */

typedef struct ggld_prefetch_options {
    size_t struct_size;          /* sizeof(ggld_prefetch_options) */
    uint32_t flags;              /* 0 */
    uint32_t io;                 /* GGLD_IO_... */
    uint64_t max_resident_bytes; /* stop when so much is warm; 0: no limit */
    ggld_job_progress progress;  /* may be NULL */
    uint64_t chunk_bytes;        /* 0: 16 MiB */
    uint32_t n_parallel;         /* chunks at a time, up to 16; 0: 4 */
    uint32_t reserved32;
    uint64_t reserved[3];
} ggld_prefetch_options;

static inline ggld_prefetch_options ggld_prefetch_options_init(void)
{
    ggld_prefetch_options options = { sizeof(ggld_prefetch_options),
                                      0,
                                      GGLD_IO_AUTO,
                                      0,
                                      NULL,
                                      0,
                                      0,
                                      0,
                                      { 0, 0, 0 } };
    return options;
}

/* Brings views into the page cache, in the order given: what the app needs
 * first comes first, and can be used while the rest is on its way. Views are of
 * one file, whose holder the job becomes; with n_views 0 there is nothing to
 * do. Total and done bytes are those of the blocks that the views touch.
 *
 * With a budget, the first max_resident_bytes of them are warmed and the job
 * succeeds there: to go on would push out what is needed first. With a
 * budget of less than 64 MiB the kernel is asked for just those pages; otherwise
 * its readahead comes on top, some megabytes behind the last byte and before each
 * gap between views. What was in memory before stays, and is not counted.
 * GGLD_E_INVALID for a budget that is smaller than a chunk. No verifier is asked: nothing is handed out. options may be NULL. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_prefetch_start(ggld_job **out, struct uv_loop_s *loop,
                                const ggld_view *views, size_t n_views,
                                const ggld_prefetch_options *options,
                                ggld_job_done done, void *user,
                                ggld_error *err);

/* ---- stream ---- */

/* What chunks hold. */
typedef enum ggld_stream_format {
    GGLD_STREAM_BYTES = 0, /* as stored, in the file's byte order */
    GGLD_STREAM_F32 = 1,   /* as ggld_view_read_f32 gives them */
    GGLD_STREAM_F16 = 2    /* as ggld_view_read_f16 does */
} ggld_stream_format;

/* Part of one view. Valid until the call that it is given to returns. */
typedef struct ggld_chunk {
    const ggld_tensor *tensor;
    size_t view; /* its number in the list, or the tensor's in the table */
    /* size_bytes stored bytes (aligned to nothing), or n_elems values
     * (aligned to theirs). */
    const void *data;
    /* Values: which ones of the tensor. Bytes: those of the blocks, which may
     * begin before the view and end behind it; both 0 for an unknown type. */
    uint64_t first_elem;
    uint64_t n_elems;
    /* The stored bytes that they are, or are made of; whole blocks. */
    uint64_t first_byte;
    uint64_t size_bytes;
    /* With GGLD_STREAM_ON_WORKERS, below n_parallel: of two calls at one time
     * each has another number, for the app's own buffers. Otherwise 0. */
    uint32_t worker;
    uint32_t reserved;
} ggld_chunk;

/* Not 0: no more, the job's result becomes GGLD_E_CANCELLED. */
typedef int (*ggld_chunk_call)(ggld_job *job, const ggld_chunk *chunk,
                               void *user);

/* Chunks are handed out on the pool's threads, several at a time and in no
 * order, from buffers that fit a core's second-level cache: for work that is to
 * scale with cores. ggld_job_cancel() can't be called there; return non-zero
 * instead. Without the flag chunks come on the loop's thread, in order. */
#define GGLD_STREAM_ON_WORKERS (1u << 0)

typedef struct ggld_stream_options {
    size_t struct_size;  /* sizeof(ggld_stream_options) */
    uint32_t flags;      /* GGLD_STREAM_ON_WORKERS */
    uint32_t io;         /* GGLD_IO_... */
    uint32_t format;     /* GGLD_STREAM_BYTES, _F32, _F16 */
    uint32_t n_parallel; /* chunks at a time, up to 16; 0: 4 */
    /* Of the job's buffers and of the file's pages that it has brought in,
     * together: pages behind are dropped from the map and the page cache, also
     * those that were there before. With 64 MiB or more the kernel's
     * readahead comes on top (some megabytes, with GGLD_IO_MAP and _PREAD). 0, or enough for everything: nothing is
     * dropped. */
    uint64_t max_resident_bytes;
    /* Of a chunk's data. 0: 4 MiB, or 128 KiB on workers, or what the budget
     * has room for. */
    uint64_t chunk_bytes;
    ggld_job_progress progress; /* in stored bytes; may be NULL */
    uint64_t reserved[4];
} ggld_stream_options;

static inline ggld_stream_options ggld_stream_options_init(void)
{
    ggld_stream_options options = { sizeof(ggld_stream_options),
                                    0,
                                    GGLD_IO_AUTO,
                                    GGLD_STREAM_BYTES,
                                    0,
                                    0,
                                    0,
                                    NULL,
                                    { 0, 0, 0, 0 } };
    return options;
}

/* Goes through the views, or all tensors where views is NULL, in the order of
 * the file (of a set: shard by shard), reading ahead of the chunks that are
 * handed out and dropping those behind: for models larger than memory. A view
 * that is in the list twice comes
 * twice.
 *
 * The file's verifier is asked about each chunk before it is handed out. A file
 * with one that looks at data is read where that looks, so that what is handed
 * out, or dequantised, are the bytes in memory that were checked: in the map, by
 * GGLD_IO_AUTO and GGLD_IO_MAP; in the page cache, by GGLD_IO_AUTO and
 * GGLD_IO_PREAD, where the file is not mapped (GGLD_OPEN_PREAD). Other engines
 * are GGLD_E_UNSUPPORTED. What the verifier reads for itself comes on top of the
 * budget, for as long as until the stream has passed it: those of manifests read
 * a whole chunk of theirs, or, where the manifest has none, a whole tensor, and
 * in mode GGLD_VERIFY_FULL the file.
 *
 * GGLD_E_INVALID: a view is not inside its tensor or of another file; the
 * budget is smaller than one chunk needs. GGLD_E_TENSOR_TYPE,
 * GGLD_E_UNSUPPORTED: values of a type that can't be dequantised, or an engine
 * that is not there. These come before the first chunk; GGLD_E_TRUNCATED and
 * GGLD_E_IO where reading ends. options may be NULL. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_stream_start(ggld_job **out, struct uv_loop_s *loop,
                              ggld_file *file, const ggld_view *views,
                              size_t n_views,
                              const ggld_stream_options *options,
                              ggld_chunk_call chunk, ggld_job_done done,
                              void *user, ggld_error *err);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_ASYNC_H */
