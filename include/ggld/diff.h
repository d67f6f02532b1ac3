/* SPDX-License-Identifier: MIT */
/* What two models say differently, whatever their versions, their byte orders,
 * and the files that they are split into. */
#ifndef GGLD_DIFF_H
#define GGLD_DIFF_H

#include "error.h"
#include "file.h"
#include "progress.h"
#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Permanent, like codes of errors. */
typedef enum ggld_difference_kind {
    GGLD_KV_REMOVED = 0, /* a has it, b has not */
    GGLD_KV_ADDED = 1,
    GGLD_KV_CHANGED = 2, /* another type, or another value */
    GGLD_TENSOR_REMOVED = 3,
    GGLD_TENSOR_ADDED = 4,
    GGLD_TENSOR_RESHAPED = 5,
    GGLD_TENSOR_RETYPED = 6,
    /* Type and shape are the same, stored bytes are not. */
    GGLD_TENSOR_DATA = 7,
    /* They may be: the type is unknown, so that bytes in two byte orders, or
     * under two shapes, say nothing. */
    GGLD_TENSOR_OPAQUE = 8
} ggld_difference_kind;

typedef struct ggld_difference {
    size_t struct_size; /* sizeof(ggld_difference), the library's */
    uint32_t kind;      /* ggld_difference_kind */
    bool has_values;    /* the fields from n_elems on are set */
    /* Of key-values, or of tensors; NULL in the file that has none. */
    const ggld_kv *a_kv;
    const ggld_kv *b_kv;
    const ggld_tensor *a_tensor;
    const ggld_tensor *b_tensor;
    uint64_t first_byte; /* TENSOR_DATA: of the tensor's, that differs */

    /* With GGLD_DIFF_VALUES, of TENSOR_RETYPED (where the shape is the same)
     * and TENSOR_DATA: the values as ggld_view_read_f32 gives them, all of
     * them. Two NaNs are equal, as are two infinities of one sign. A NaN beside
     * a number counts in n_nan and not in max and rms; infinity beside anything
     * but itself makes both infinite. */
    uint64_t n_elems;
    uint64_t n_unequal; /* n_nan included */
    uint64_t n_nan;
    uint64_t max_elem; /* the first with the greatest difference */
    double max;        /* of |a - b| */
    double rms;        /* root of the mean of (a - b)^2 over n_elems - n_nan */
    uint64_t reserved[2];
} ggld_difference;

/* The difference, and what it points to but the files' own, holds during the
 * call. Not 0: no more; ggld_diff returns GGLD_E_CANCELLED. */
typedef int (*ggld_difference_call)(const ggld_difference *difference,
                                    void *user);

/* Measure how far values are apart, where bytes or types differ. */
#define GGLD_DIFF_VALUES (1u << 0)
/* Look at metadata only: data is not read, and differs in nothing. */
#define GGLD_DIFF_METADATA (1u << 1)

typedef struct ggld_diff_options {
    size_t struct_size;     /* sizeof(ggld_diff_options) */
    uint32_t flags;         /* GGLD_DIFF_... */
    uint32_t reserved32;    /* 0 */
    ggld_progress progress; /* may be NULL */
    void *progress_user;
    uint64_t reserved[4];
} ggld_diff_options;

static inline ggld_diff_options ggld_diff_options_init(void)
{
    ggld_diff_options options = {
        sizeof(ggld_diff_options), 0, 0, NULL, NULL, { 0, 0, 0, 0 }
    };
    return options;
}

/* Calls difference for each: key-values removed and changed in a's order, then
 * those added in b's; tensors likewise. None: the models are the same.
 *
 * Compared by key and by name; order does not matter, of a key that is there
 * twice the first counts. Values of two types differ, if they are the same
 * number too. Not compared: ggld.padding, which is room for edits; split.no,
 * split.count and split.tensors.count, which say how it is stored; padding,
 * gaps and bytes behind the data.
 *
 * GGLD_OK: they were gone through. GGLD_E_IO, GGLD_E_TRUNCATED, GGLD_E_CHECKSUM
 * (from a verifier) and so on: data can't be read; GGLD_E_CHANGED: a file has
 * changed meanwhile, and what was said of it may be wrong. Memory does not grow
 * with tensors. options may be NULL. Any thread. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_diff(const ggld_file *a, const ggld_file *b,
                      const ggld_diff_options *options,
                      ggld_difference_call difference, void *user,
                      ggld_error *err);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_DIFF_H */
