/* SPDX-License-Identifier: MIT */
/* Arrays: iterators, which are a place in the metadata and nothing more, and
 * the index over a long array of strings. */
#include <inttypes.h>
#include <string.h>

#include "../base/alloc.h"
#include "../base/quote.h"
#include "../spec/decode.h"
#include "../spec/types.h"
#include "kv.h"

/* What an iterator's opaque words are. */
enum { AT_FILE, AT_OFFSET };

static const ggld_file *iter_file(const ggld_array_iter *it)
{
    return (const ggld_file *)(uintptr_t)it->opaque[AT_FILE];
}

static ggld_cursor iter_cursor(const ggld_array_iter *it)
{
    return ggld_cursor_at(iter_file(it), it->opaque[AT_OFFSET]);
}

static void iter_step(ggld_array_iter *it, const ggld_cursor *c)
{
    it->opaque[AT_OFFSET] = c->pos;
    it->next++;
}

/* An iterator over the array whose element type stands at the cursor, which
 * moves to the first element. */
static bool iter_begin(const ggld_file *file, ggld_cursor *c,
                       ggld_array_iter *out)
{
    ggld_array_iter it = { 0, 0, 0, { (uintptr_t)file, 0, 0, 0 } };
    if (!ggld_cursor_u32(c, &it.elem_type) || !ggld_cursor_len(c, &it.n_elems))
        return false;
    it.opaque[AT_OFFSET] = c->pos;
    *out = it;
    return true;
}

bool ggld_kv_get_array(const ggld_kv *kv, ggld_array_iter *out)
{
    ggld_cursor c = ggld_cursor_at(kv->file, kv->value_offset);
    return kv->type == GGLD_VALUE_ARRAY && iter_begin(kv->file, &c, out);
}

/* The next element's bytes where it is of fixed size; the cursor is past it. */
static const uint8_t *next_scalar(const ggld_array_iter *it, ggld_cursor *c)
{
    uint32_t size = ggld_value_size(it->elem_type);
    if (it->next >= it->n_elems || size == 0)
        return NULL;
    *c = iter_cursor(it);
    return ggld_cursor_take(c, size);
}

bool ggld_array_next_u64(ggld_array_iter *it, uint64_t *out)
{
    ggld_cursor c;
    const uint8_t *p = next_scalar(it, &c);
    if (p == NULL || !ggld_number_u64(p, it->elem_type, c.big_endian, out))
        return false;
    iter_step(it, &c);
    return true;
}

bool ggld_array_next_i64(ggld_array_iter *it, int64_t *out)
{
    ggld_cursor c;
    const uint8_t *p = next_scalar(it, &c);
    if (p == NULL || !ggld_number_i64(p, it->elem_type, c.big_endian, out))
        return false;
    iter_step(it, &c);
    return true;
}

bool ggld_array_next_f64(ggld_array_iter *it, double *out)
{
    ggld_cursor c;
    const uint8_t *p = next_scalar(it, &c);
    if (p == NULL || !ggld_number_f64(p, it->elem_type, c.big_endian, out))
        return false;
    iter_step(it, &c);
    return true;
}

bool ggld_array_next_bool(ggld_array_iter *it, bool *out)
{
    ggld_cursor c;
    const uint8_t *p =
        it->elem_type == GGLD_VALUE_BOOL ? next_scalar(it, &c) : NULL;
    if (p == NULL)
        return false;
    *out = *p != 0;
    iter_step(it, &c);
    return true;
}

bool ggld_array_next_string(ggld_array_iter *it, ggld_string *out)
{
    ggld_cursor c = iter_cursor(it);
    uint64_t len;

    if (it->elem_type != GGLD_VALUE_STRING || it->next >= it->n_elems ||
        !ggld_cursor_len(&c, &len))
        return false;
    const uint8_t *data = ggld_cursor_take(&c, len);
    if (data == NULL)
        return false;
    out->data = (const char *)data;
    out->len = len;
    iter_step(it, &c);
    return true;
}

bool ggld_array_next_array(ggld_array_iter *it, ggld_array_iter *out)
{
    ggld_cursor c = iter_cursor(it);
    ggld_cursor end = c;
    ggld_fault fault;
    ggld_array_iter inner;

    if (it->elem_type != GGLD_VALUE_ARRAY || it->next >= it->n_elems ||
        !ggld_decode_skip_value(&end, GGLD_VALUE_ARRAY, 0, &fault) ||
        !iter_begin(iter_file(it), &c, &inner))
        return false;
    iter_step(it, &end);
    *out = inner;
    return true;
}

/* ---- string index ---- */

struct ggld_string_index {
    ggld_allocator allocator;
    const ggld_file *file;
    uint64_t count;
    uint64_t offsets[]; /* of each string's length, in the metadata */
};

ggld_status ggld_string_index_new(ggld_string_index **out, const ggld_kv *kv,
                                  ggld_error *err)
{
    ggld_array_iter it;
    ggld_string ignored;
    uint64_t index = (uint64_t)(kv - kv->file->kvs);

    if (!ggld_kv_get_array(kv, &it) || it.elem_type != GGLD_VALUE_STRING)
        return ggld_fail(err, GGLD_E_VALUE_TYPE,
                         ggld_place_of(GGLD_IN_KV, index, kv->value_offset),
                         "kv %" PRIu64 " %s: not an array of strings", index,
                         ggld_quote(kv->key.data, kv->key.len).text);
    /* The file was long enough for the count when it was opened: what this
     * asks for is at most twice the array's own bytes. */
    ggld_string_index *made =
        ggld_alloc_bytes(&kv->file->allocator,
                         sizeof *made + it.n_elems * sizeof made->offsets[0]);
    if (made == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for an index of %" PRIu64 " strings",
                         it.n_elems);
    made->allocator = kv->file->allocator;
    made->file = kv->file;
    made->count = 0;
    while (made->count < it.n_elems) {
        made->offsets[made->count] = it.opaque[AT_OFFSET];
        if (!ggld_array_next_string(&it, &ignored))
            break;
        made->count++;
    }
    *out = made;
    return GGLD_OK;
}

uint64_t ggld_string_index_count(const ggld_string_index *index)
{
    return index->count;
}

ggld_string ggld_string_index_at(const ggld_string_index *index, uint64_t i)
{
    ggld_string found = { "", 0 };
    if (i >= index->count)
        return found;
    ggld_array_iter it = {
        GGLD_VALUE_STRING, 1, 0, { (uintptr_t)index->file, index->offsets[i] }
    };
    (void)ggld_array_next_string(&it, &found);
    return found;
}

void ggld_string_index_free(ggld_string_index *index)
{
    if (index == NULL)
        return;
    ggld_allocator allocator = index->allocator;
    ggld_free(&allocator, index);
}
