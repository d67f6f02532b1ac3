/* SPDX-License-Identifier: MIT */
/* The record codec's reading half. Work is bounded by the bytes there are: a
 * count is compared with what is left before anything is done count times. */
#include "decode.h"

#include "../base/checked.h"
#include "types.h"

static bool fail(ggld_fault *fault, ggld_fault_kind kind, const char *field,
                 uint64_t offset, uint64_t number)
{
    fault->kind = kind;
    fault->field = field;
    fault->offset = offset;
    fault->number = number;
    fault->unit = 1;
    fault->left = 0;
    fault->span_needed = 0;
    return false;
}

/* The field of size bytes at the cursor does not fit. */
static bool fail_end(const ggld_cursor *c, const char *field, uint64_t size,
                     ggld_fault *fault)
{
    fail(fault, GGLD_FAULT_END, field, c->pos, size);
    fault->left = ggld_cursor_left(c);
    fault->span_needed = c->pos + size;
    return false;
}

/* What a length at offset speaks of, size bytes at the cursor, is not there.
 * size saturates where it would wrap: no file is that long. */
static bool fail_length(const ggld_cursor *c, const char *field,
                        uint64_t offset, uint64_t number, uint64_t size,
                        ggld_fault *fault)
{
    fail(fault, GGLD_FAULT_LENGTH, field, offset, number);
    fault->left = ggld_cursor_left(c);
    if (!ggld_add_u64(c->pos, size, &fault->span_needed))
        fault->span_needed = UINT64_MAX;
    return false;
}

bool ggld_decode_u32(ggld_cursor *c, const char *field, uint32_t *out,
                     ggld_fault *fault)
{
    return ggld_cursor_u32(c, out) || fail_end(c, field, 4, fault);
}

bool ggld_decode_u64(ggld_cursor *c, const char *field, uint64_t *out,
                     ggld_fault *fault)
{
    return ggld_cursor_u64(c, out) || fail_end(c, field, 8, fault);
}

bool ggld_decode_len(ggld_cursor *c, const char *field, uint64_t *out,
                     ggld_fault *fault)
{
    return ggld_cursor_len(c, out) ||
           fail_end(c, field, ggld_cursor_len_bytes(c), fault);
}

bool ggld_decode_string(ggld_cursor *c, const char *field, uint64_t max_bytes,
                        ggld_string *out, ggld_fault *fault)
{
    uint64_t at = c->pos;
    uint64_t len;

    if (!ggld_decode_len(c, field, &len, fault))
        return false;
    if (max_bytes != 0 && len > max_bytes) {
        fail(fault, GGLD_FAULT_STRING, field, at, len);
        fault->left = ggld_cursor_left(c);
        return false;
    }
    const uint8_t *data = ggld_cursor_take(c, len);
    if (data == NULL)
        return fail_length(c, field, at, len, len, fault);
    out->data = (const char *)data;
    out->len = len;
    return true;
}

/* Vocabularies are most of a file's metadata, and this loop most of an open:
 * each length has to arrive before the next one's place is known, so that
 * nothing else may stand in that way. The place is a pointer in a register,
 * what is left is worked out beside it, and a string that does not fit is the
 * caller's to look at. Returns the strings still to come. */
static inline uint64_t pass(ggld_cursor *c, uint64_t count, uint64_t max,
                            bool narrow, bool big_endian)
{
    const uint8_t *p = c->span.data + c->pos;
    const uint8_t *end = c->span.data + c->span.size;
    ptrdiff_t width = narrow ? 4 : 8;

    for (; count > 0 && end - p >= width; count--) {
        uint64_t len = narrow ? ggld_load_u32(p, big_endian)
                              : ggld_load_u64(p, big_endian);
        if (len > (uint64_t)(end - p - width) || len > max)
            break;
        p += width + (ptrdiff_t)len;
    }
    c->pos = (uint64_t)(p - c->span.data);
    return count;
}

/* The usual form of files has a loop where nothing is left to choose. */
static uint64_t pass_strings(ggld_cursor *c, uint64_t count, uint64_t max_bytes)
{
    uint64_t max = max_bytes != 0 ? max_bytes : UINT64_MAX;
    if (!c->narrow && !c->big_endian)
        return pass(c, count, max, false, false);
    return pass(c, count, max, c->narrow, c->big_endian);
}

static bool skip_strings(ggld_cursor *c, uint64_t count,
                         uint64_t max_string_bytes, ggld_fault *fault)
{
    ggld_string ignored;
    return pass_strings(c, count, max_string_bytes) == 0 ||
           ggld_decode_string(c, "string length", max_string_bytes, &ignored,
                              fault);
}

/* The least bytes that one element of an array takes. */
static uint64_t min_elem_bytes(const ggld_cursor *c, uint32_t elem_type)
{
    if (elem_type == GGLD_VALUE_STRING)
        return ggld_cursor_len_bytes(c);
    if (elem_type == GGLD_VALUE_ARRAY)
        return 4 + ggld_cursor_len_bytes(c);
    return ggld_value_size(elem_type);
}

/* The arrays that are still to come at a depth are counted on a small stack,
 * not by recursion. */
bool ggld_array_walk_done(ggld_array_walk *walk)
{
    while (walk->left[walk->depth] == 0) {
        if (walk->depth == 0)
            return true;
        walk->depth--;
    }
    return false;
}

bool ggld_decode_array_head(ggld_cursor *c, ggld_array_walk *walk,
                            uint32_t *elem_type, uint64_t *count,
                            ggld_fault *fault)
{
    uint64_t type_at = c->pos;
    if (!ggld_decode_u32(c, "array element type", elem_type, fault))
        return false;
    if (!ggld_value_type_known(*elem_type))
        return fail(fault, GGLD_FAULT_VALUE_TYPE, "array element type", type_at,
                    *elem_type);
    uint64_t count_at = c->pos;
    if (!ggld_decode_len(c, "array count", count, fault))
        return false;
    uint64_t elem_bytes = min_elem_bytes(c, *elem_type);
    uint64_t bytes;
    if (!ggld_mul_u64(*count, elem_bytes, &bytes))
        bytes = UINT64_MAX;
    if (bytes > ggld_cursor_left(c)) {
        fail_length(c, "array count", count_at, *count, bytes, fault);
        fault->unit = (uint32_t)elem_bytes;
        return false;
    }

    walk->left[walk->depth]--;
    if (*elem_type != GGLD_VALUE_ARRAY)
        return true;
    if (++walk->depth == GGLD_MAX_ARRAY_DEPTH)
        return fail(fault, GGLD_FAULT_DEPTH, "array nesting", type_at,
                    walk->depth + 1);
    walk->left[walk->depth] = *count;
    return true;
}

static bool skip_array(ggld_cursor *c, uint64_t max_string_bytes,
                       ggld_fault *fault)
{
    ggld_array_walk walk = ggld_array_walk_init();
    uint32_t elem_type;
    uint64_t count;

    while (!ggld_array_walk_done(&walk)) {
        if (!ggld_decode_array_head(c, &walk, &elem_type, &count, fault))
            return false;
        if (elem_type == GGLD_VALUE_STRING) {
            if (!skip_strings(c, count, max_string_bytes, fault))
                return false;
        } else {
            ggld_cursor_take(c, count * ggld_value_size(elem_type));
        }
    }
    return true;
}

bool ggld_decode_skip_value(ggld_cursor *c, uint32_t value_type,
                            uint64_t max_string_bytes, ggld_fault *fault)
{
    ggld_string ignored;

    if (value_type == GGLD_VALUE_ARRAY)
        return skip_array(c, max_string_bytes, fault);
    if (value_type == GGLD_VALUE_STRING)
        return ggld_decode_string(c, "string length", max_string_bytes,
                                  &ignored, fault);
    uint32_t size = ggld_value_size(value_type);
    if (ggld_cursor_take(c, size) == NULL)
        return fail_end(c, "value", size, fault);
    return true;
}
