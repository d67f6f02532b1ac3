/* SPDX-License-Identifier: MIT */
/* What a job goes through, as ranges of the file: views become pieces of whole
 * blocks, pieces are cut or joined into extents, each one chunk of I/O. No
 * I/O here. */
#ifndef GGLD_JOBS_PLAN_H
#define GGLD_JOBS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ggld/tensor.h>

#include "../base/error.h"

/* A view as the stored bytes of every block that it touches. */
typedef struct ggld_piece {
    const ggld_tensor *tensor;
    uint64_t tensor_index;
    uint32_t shard;
    size_t view; /* number in the caller's list */
    uint32_t type;
    bool big_endian;
    uint32_t block_bytes; /* 1 where the type is not known */
    uint32_t block_elems; /* 0 where it is not */
    uint64_t first_byte;  /* in the tensor; where a block begins */
    uint64_t n_bytes;     /* not 0 */
    uint64_t offset;      /* in the file */
    uint64_t first_elem;  /* of the view; may be inside the first block */
    uint64_t n_elems;
} ggld_piece;

/* The part of one piece that lies in an extent. Whole blocks. */
typedef struct ggld_part {
    const ggld_piece *piece;
    uint64_t first_byte; /* in the tensor */
    uint64_t n_bytes;
    uint64_t offset; /* in the file */
} ggld_part;

/* A run of one shard's file that is read in one go. */
typedef struct ggld_extent {
    uint32_t shard;
    size_t piece; /* the first one */
    size_t n_pieces;
    uint64_t skip; /* bytes of the first that came before */
    uint64_t offset;
    uint64_t size;    /* gaps between pieces included */
    uint64_t payload; /* gaps not included */
} ggld_extent;

typedef struct ggld_job_plan {
    ggld_piece *pieces;
    size_t n_pieces;
    uint64_t total_bytes;
    uint64_t max_payload; /* extents stop there: a budget */
    /* Output bytes of a value, where values are wanted, or 0. */
    uint32_t value_bytes;
    size_t next_piece;
    uint64_t next_skip;
    uint64_t planned; /* payload so far */
} ggld_job_plan;

/* The n_views views, or all tensors where views is NULL, in the order given or
 * that of the file. value_bytes 0: stored bytes are wanted, of any type.
 * GGLD_E_INVALID: a view with no tensor, of another file, or past its tensor.
 * GGLD_E_TENSOR_TYPE, GGLD_E_UNSUPPORTED: values of it can't be had. On
 * success plan is to be freed. */
ggld_status ggld_job_plan_make(ggld_job_plan *plan, const ggld_file *file,
                               const ggld_view *views, size_t n_views,
                               bool file_order, uint32_t value_bytes,
                               ggld_error *err);
void ggld_job_plan_free(ggld_job_plan *plan);

/* The next extent of at most max_bytes of the file and max_out bytes of output
 * (both at least one block's); false at the end. */
bool ggld_job_plan_next(ggld_job_plan *plan, uint64_t max_bytes,
                        uint64_t max_out, ggld_extent *out);

/* Goes through an extent's parts: *i starts at 0; false behind the last. */
bool ggld_extent_part(const ggld_job_plan *plan, const ggld_extent *extent,
                      size_t *i, ggld_part *out);

/* Output bytes of n_bytes stored bytes (whole blocks) of the piece. */
uint64_t ggld_piece_out(const ggld_job_plan *plan, const ggld_piece *piece,
                        uint64_t n_bytes);

/* Fails at an offset in the file: "tensor 12 'blk.0.attn_q.weight': ", of a set
 * "tensor 12 'blk.0.attn_q.weight' in 'm-00002-of-00003.gguf': ", and what
 * format makes. sys_errno 0: none, otherwise its text is put behind. */
ggld_status ggld_piece_fail(const ggld_piece *piece, ggld_status code,
                            int sys_errno, uint64_t offset, ggld_error *err,
                            const char *format, ...)
    __attribute__((format(printf, 6, 7)));

#endif /* GGLD_JOBS_PLAN_H */
