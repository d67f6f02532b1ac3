/* SPDX-License-Identifier: MIT */
/* Fields and values of records, read from a cursor. Nothing is copied and
 * nothing judged but what keeps the cursor from going on. */
#ifndef GGLD_SPEC_DECODE_H
#define GGLD_SPEC_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#include <ggld/types.h>

#include "cursor.h"
#include "limits.h"

typedef enum ggld_fault_kind {
    GGLD_FAULT_END,        /* the bytes end within a field of fixed size */
    GGLD_FAULT_LENGTH,     /* a length or count is more than what is left */
    GGLD_FAULT_VALUE_TYPE, /* number is no value type */
    GGLD_FAULT_DEPTH,      /* arrays nested deeper than the limit */
    GGLD_FAULT_STRING      /* a string is longer than max_string_bytes */
} ggld_fault_kind;

typedef struct ggld_fault {
    ggld_fault_kind kind;
    const char *field; /* "key length", "value type", "array count" ... */
    uint64_t offset;   /* in the span, of the field */
    uint64_t number;   /* that the field holds; of END: bytes it needs */
    uint32_t unit;     /* of LENGTH: least bytes of each that number counts */
    uint64_t left;     /* bytes of the span behind it; of END: from it on */
    /* Bytes that the span must have for this fault to go away, or 0 where no
     * size helps. (A span may be the first part of a file that is read bit by
     * bit.) */
    uint64_t span_needed;
} ggld_fault;

/* All of these: false and *fault where it is not possible; the cursor is then
 * anywhere within the record. */
bool ggld_decode_u32(ggld_cursor *c, const char *field, uint32_t *out,
                     ggld_fault *fault);
bool ggld_decode_len(ggld_cursor *c, const char *field, uint64_t *out,
                     ggld_fault *fault);
bool ggld_decode_u64(ggld_cursor *c, const char *field, uint64_t *out,
                     ggld_fault *fault);
/* max_bytes 0: no limit. */
bool ggld_decode_string(ggld_cursor *c, const char *field, uint64_t max_bytes,
                        ggld_string *out, ggld_fault *fault);

/* Through an array value, nested ones too, depth first: until the walk is
 * done, read the next head, and then, where its elements are not arrays
 * themselves, go past the elements. */
typedef struct ggld_array_walk {
    uint64_t left[GGLD_MAX_ARRAY_DEPTH]; /* arrays to come at each depth */
    uint32_t depth;
} ggld_array_walk;

static inline ggld_array_walk ggld_array_walk_init(void)
{
    ggld_array_walk walk = { { 1 }, 0 };
    return walk;
}

bool ggld_array_walk_done(ggld_array_walk *walk);
/* The count is one that can be there: elements of fixed size are. */
bool ggld_decode_array_head(ggld_cursor *c, ggld_array_walk *walk,
                            uint32_t *elem_type, uint64_t *count,
                            ggld_fault *fault);
/* Past a value of that type, nested arrays too. */
bool ggld_decode_skip_value(ggld_cursor *c, uint32_t value_type,
                            uint64_t max_string_bytes, ggld_fault *fault);

#endif /* GGLD_SPEC_DECODE_H */
