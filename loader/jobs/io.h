/* SPDX-License-Identifier: MIT */
/* How a job's bytes come in: one open file, or the shards of one, behind one of
 * several engines, with a lane for each slot of the job, so that slots share
 * nothing. All calls are for the pool; a lane is used by one thread at a
 * time. */
#ifndef GGLD_JOBS_IO_H
#define GGLD_JOBS_IO_H

#include <stdbool.h>
#include <stdint.h>

#include <ggld/async.h>

#include "../base/error.h"
#include "buffer.h"
#include "job.h"
#include "plan.h"

typedef struct ggld_uring ggld_uring;

/* A file that bytes are in. */
typedef struct ggld_io_shard {
    ggld_backing backing;
    uint64_t file_bytes;
    int direct_fd; /* or -1 */
} ggld_io_shard;

typedef struct ggld_lane {
    const ggld_io_shard *at; /* that it reads now; NULL: none yet */
    /* An open file description of its own, so that the kernel's readahead sees
     * one reader in order; or the file's, not to be closed. */
    int fd;
    bool fd_is_own;
    ggld_buffer buffer;
    const uint8_t *data; /* the extent fetched last */
    ggld_uring *ring;    /* NULL unless GGLD_IO_URING */
} ggld_lane;

typedef struct ggld_io {
    ggld_io_shard *shards; /* NULL: it was not opened */
    uint32_t n_shards;
    uint32_t first_shard; /* number of shards[0] in the set */
    uint32_t kind;        /* GGLD_IO_..., never auto */
    bool by_source;       /* no descriptor: through ggld_tensor_read_bytes */
    bool verifies;        /* a verifier looks at data, by itself */
    bool cache_first; /* direct, but what is in memory is copied from there */
    bool exact;       /* no readahead */
    int null_fd;      /* or -1 */
    uint32_t n_lanes;
    ggld_lane lanes[GGLD_JOB_MAX_SLOTS];
} ggld_io;

typedef enum ggld_purpose {
    GGLD_TO_WARM,    /* bytes are to be in the page cache */
    GGLD_TO_KEEP,    /* bytes are wanted, and may stay in the page cache */
    GGLD_TO_PASS_BY, /* bytes are wanted, and are not to stay */
} ggld_purpose;

/* What GGLD_IO_AUTO stands for on the file's file system; on one of that f_type
 * (statfs(2)). */
uint32_t ggld_io_choose(int fd, ggld_purpose purpose);
uint32_t ggld_io_choose_on(uint32_t fs_type, ggld_purpose purpose);

/* With a budget of less there is no readahead: it would not fit. Without, pages
 * come in ones, which takes twice the processor's time of large ones. */
#define GGLD_IO_EXACT_BELOW (64u << 20)

/* One kind serves all shards. kind as the app asked for it. budget_bytes 0: none.
 * GGLD_E_INVALID: there is no such kind, or it does not serve the purpose;
 * GGLD_E_UNSUPPORTED: the file, its verifier, the file system or this build does
 * not offer it. On success io is to be closed. */
ggld_status ggld_io_open(ggld_io *io, const ggld_file *file, uint32_t kind,
                         ggld_purpose purpose, uint64_t budget_bytes,
                         ggld_error *err);
void ggld_io_close(ggld_io *io);

static inline const ggld_io_shard *ggld_io_shard_of(const ggld_io *io,
                                                    uint32_t shard)
{
    return &io->shards[shard - io->first_shard];
}
/* Makes the lane read that shard from now on. */
void ggld_io_turn_to(ggld_io *io, uint32_t lane, uint32_t shard);

/* Does fetch fill a buffer, so that a lane needs one? */
bool ggld_io_needs_buffer(const ggld_io *io);
/* Makes lanes 0 to n_lanes - 1, for extents of up to buffer_bytes (0: none is
 * fetched). Once. */
ggld_status ggld_io_add_lanes(ggld_io *io, uint32_t n_lanes,
                              uint64_t buffer_bytes, ggld_error *err);

/* The extent's bytes at io->lanes[lane].data, until the next fetch. Asks no
 * verifier (but where by_source). GGLD_E_TRUNCATED, GGLD_E_IO. */
ggld_status ggld_io_fetch(ggld_io *io, uint32_t lane, const ggld_job_plan *plan,
                          const ggld_extent *extent, ggld_error *err);
/* Is the extent, read before and used since, still in the file? Where it was
 * read from the map, what has been cut off it was zeros. Else GGLD_E_TRUNCATED.
 */
ggld_status ggld_io_recheck(const ggld_io *io, const ggld_job_plan *plan,
                            const ggld_extent *extent, ggld_error *err);
/* Brings the extent into the page cache. */
ggld_status ggld_io_warm(ggld_io *io, uint32_t lane, const ggld_job_plan *plan,
                         const ggld_extent *extent, ggld_error *err);
/* Where exact: has the system begin to read the extent, which ggld_io_read() is
 * then to read in small pieces. The others do so by themselves. */
void ggld_io_ask(ggld_io *io, uint32_t lane, const ggld_extent *extent);
/* Reads exactly n bytes of the part, from skip bytes of it on, through the
 * page cache (or the source). */
ggld_status ggld_io_read(ggld_io *io, uint32_t lane, const ggld_part *part,
                         uint64_t skip, void *dst, uint64_t n, ggld_error *err);
/* Takes the extent out of the process's map and of the page cache; in that also
 * what lies beside it from offset from to offset to, as far as the kernel's
 * pages may reach, as it drops large ones as a whole or not at all. */
void ggld_io_drop(ggld_io *io, const ggld_extent *extent, uint64_t from,
                  uint64_t to);

#endif /* GGLD_JOBS_IO_H */
