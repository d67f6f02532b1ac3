/* SPDX-License-Identifier: MIT */
/* Where tensors' data lies. Tensors that follow one another in the table's
 * order need no more than one pass; others are gone through in the order of
 * their data, by a sorted list of their numbers. Nothing of the data itself is
 * read, but padding by a check. */
#include <inttypes.h>

#include "../base/alloc.h"
#include "../base/checked.h"
#include "../base/quote.h"
#include "../spec/limits.h"
#include "../spec/types.h"
#include "order.h"
#include "rules.h"

/* The pass over the tensors in the order of their data. */
typedef struct placing {
    ggld_rules *rules;
    const uint32_t *order; /* NULL: the table's */
    uint64_t file_bytes;
    uint64_t end;     /* of the data so far: the highest one */
    uint64_t end_of;  /* the tensor it belongs to; GGLD_NO_INDEX: none yet */
    uint64_t before;  /* the tensor that came before, likewise */
    uint64_t missing; /* bytes past the end of the file, of all tensors */
    uint64_t n_whole;
    bool unsure; /* the one before has no size: what follows is no gap */
} placing;

static ggld_tensor *tensor_at(const placing *p, uint64_t k)
{
    return &p->rules->file->tensors[p->order == NULL ? k : p->order[k]];
}

static bool is_known(const ggld_tensor *t)
{
    return ggld_type_row_of(t->type) != NULL;
}

/* Its shape or its offset is wrong, and was reported. */
static bool is_left_out(const ggld_tensor *t)
{
    return t->size_bytes == GGLD_NO_SIZE;
}

static uint64_t end_of(const ggld_tensor *t)
{
    uint64_t end;
    if (is_left_out(t))
        return t->offset;
    return ggld_add_u64(t->offset, t->size_bytes, &end) ? end : UINT64_MAX;
}

/* A place past the end of the file is its end: no byte is there to look at. */
static ggld_subject data_subject(const ggld_tensor *t, uint64_t offset)
{
    return ggld_subject_of(GGLD_IN_TENSOR_DATA, ggld_tensor_index_of(t),
                           ggld_min_u64(offset, t->file->source.size_bytes),
                           &t->name);
}

/* The offset field is the last of a record. */
static ggld_subject offset_subject(const ggld_tensor *t)
{
    uint64_t len_bytes = t->file->version == 1 ? 4 : 8;
    uint64_t field = t->info_offset + len_bytes + t->name.len + 4 +
                     t->n_dims * len_bytes + 4;
    return ggld_subject_of(GGLD_IN_TENSOR_INFO, ggld_tensor_index_of(t), field,
                           &t->name);
}

/* ---- offsets from the file's start ---- */

static bool make_absolute(ggld_rules *r)
{
    ggld_file *file = r->file;
    for (uint64_t i = 0; i < file->n_tensors; i++) {
        ggld_tensor *t = &file->tensors[i];
        uint64_t relative = t->offset;
        uint64_t size = is_left_out(t) ? 0 : t->size_bytes;
        uint64_t end;
        if (ggld_add_u64(file->data_offset, relative, &t->offset) &&
            ggld_add_u64(t->offset, size, &end))
            continue;
        t->offset = UINT64_MAX;
        if (!r->placed || is_left_out(t))
            continue;
        t->size_bytes = GGLD_NO_SIZE;
        if (!ggld_report_add(r->report, GGLD_GRADE_ERROR, GGLD_E_OVERFLOW,
                             offset_subject(t),
                             "data offset %" PRIu64 " lies past the end of any "
                             "file (this one has %" PRIu64 " bytes)",
                             relative, file->source.size_bytes))
            return false;
    }
    return true;
}

/* ---- order ---- */

static bool in_table_order(const ggld_file *file)
{
    uint64_t end = 0;
    for (uint64_t i = 0; i < file->n_tensors; i++) {
        if (file->tensors[i].offset < end)
            return false;
        end = end_of(&file->tensors[i]);
    }
    return true;
}

/* ---- tensors of unknown size ---- */

/* Such a tensor's extent ends where the next one's data starts, or with the
 * file. */
static void set_extents(const placing *p)
{
    uint64_t next = UINT64_MAX;
    for (uint64_t k = p->rules->file->n_tensors; k-- > 0;) {
        ggld_tensor *t = tensor_at(p, k);
        uint64_t end = next == UINT64_MAX ? p->file_bytes : next;
        if (!is_known(t) && !is_left_out(t))
            t->size_bytes = end > t->offset ? end - t->offset : 0;
        next = t->offset;
    }
}

/* ---- the rules ---- */

static bool check_offset(const placing *p, const ggld_tensor *t)
{
    const ggld_file *file = p->rules->file;
    uint64_t relative = t->offset - file->data_offset;

    if (relative % file->alignment_bytes == 0)
        return true;
    return ggld_report_add(p->rules->report, GGLD_GRADE_STRICT,
                           GGLD_E_ALIGNMENT, offset_subject(t),
                           "data offset %" PRIu64 " is no multiple of the "
                           "alignment %" PRIu64,
                           relative, file->alignment_bytes);
}

static bool check_order(const placing *p, const ggld_tensor *t)
{
    const ggld_tensor *tensors = p->rules->file->tensors;
    if (p->before == GGLD_NO_INDEX || p->before < ggld_tensor_index_of(t))
        return true;
    const ggld_string *name = &tensors[p->before].name;
    return ggld_report_add(p->rules->report, GGLD_GRADE_STRICT,
                           GGLD_E_UNSUPPORTED, data_subject(t, t->offset),
                           "data at %" PRIu64 " lies behind that of tensor "
                           "%" PRIu64 " %s, which comes later in the table; "
                           "ggml takes one order only",
                           t->offset, p->before,
                           ggld_quote(name->data, name->len).text);
}

/* t starts before the data so far ends. */
static bool report_overlap(const placing *p, const ggld_tensor *t)
{
    const ggld_tensor *other = &p->rules->file->tensors[p->end_of];
    uint64_t shared = ggld_min_u64(end_of(t), p->end) - t->offset;
    ggld_subject subject = data_subject(t, t->offset);

    if (t->size_bytes == 0)
        return ggld_report_add(
            p->rules->report, GGLD_GRADE_STRICT, GGLD_E_OVERLAP, subject,
            "it has no bytes and lies at %" PRIu64 ", within tensor %" PRIu64
            " %s",
            t->offset, p->end_of,
            ggld_quote(other->name.data, other->name.len).text);
    return ggld_report_add(p->rules->report, GGLD_GRADE_ERROR, GGLD_E_OVERLAP,
                           subject,
                           "data at %" PRIu64 " + %" PRIu64
                           " bytes shares %" PRIu64 " bytes with tensor "
                           "%" PRIu64 " %s",
                           t->offset, t->size_bytes, shared, p->end_of,
                           ggld_quote(other->name.data, other->name.len).text);
}

static bool check_gap(const placing *p, const ggld_tensor *t)
{
    uint64_t expected;

    if (t->offset < p->end)
        return report_overlap(p, t);
    if (p->unsure ||
        !ggld_align_up(p->end, p->rules->file->alignment_bytes, &expected) ||
        t->offset <= expected)
        return true;
    return ggld_report_add(
        p->rules->report, GGLD_GRADE_STRICT, GGLD_E_UNSUPPORTED,
        data_subject(t, expected),
        "%" PRIu64 " bytes before its data at %" PRIu64 " are unused%s; ggml "
        "takes no gaps",
        t->offset - expected, t->offset,
        p->end_of == GGLD_NO_INDEX ? " (the first data is not at 0)" : "");
}

/* Without bytes there is nothing to be missing, not even where the file ends
 * in the padding before the data. */
static bool is_whole(const placing *p, const ggld_tensor *t)
{
    uint64_t end = p->file_bytes;
    if (t->size_bytes == 0 && end < p->rules->file->data_offset)
        end = p->rules->file->data_offset;
    return end_of(t) <= end;
}

/* How much of the file is not there, for the messages. */
static void count_missing(placing *p)
{
    const ggld_file *file = p->rules->file;
    for (uint64_t i = 0; i < file->n_tensors; i++) {
        const ggld_tensor *t = &file->tensors[i];
        if (is_left_out(t))
            continue;
        if (is_whole(p, t))
            p->n_whole++;
        else if (end_of(t) - p->file_bytes > p->missing)
            p->missing = end_of(t) - p->file_bytes;
    }
}

/* ggml goes to where data starts, be there any or not. */
static bool check_empty_end(const placing *p, const ggld_tensor *t)
{
    uint64_t start = p->rules->file->data_offset;
    if (start <= p->file_bytes)
        return true;
    return ggld_report_add(p->rules->report, GGLD_GRADE_STRICT,
                           GGLD_E_TRUNCATED, data_subject(t, p->file_bytes),
                           "it has no bytes, but data would start at %" PRIu64
                           ", past the end of the file (%" PRIu64 " bytes)",
                           start, p->file_bytes);
}

static bool check_end(const placing *p, const ggld_tensor *t)
{
    if (is_whole(p, t))
        return check_empty_end(p, t);
    return ggld_report_add(
        p->rules->report, GGLD_GRADE_ERROR, GGLD_E_TRUNCATED,
        data_subject(t, t->offset),
        "data at %" PRIu64 " + %" PRIu64 " bytes ends at %" PRIu64
        ", past the end of the file (%" PRIu64 " bytes); missing: %" PRIu64
        " bytes, tensors whole: %" PRIu64 " of %" PRIu64,
        t->offset, t->size_bytes, end_of(t), p->file_bytes, p->missing,
        p->n_whole, p->rules->file->n_tensors);
}

/* The padding between the data so far and t. */
static bool check_padding(const placing *p, const ggld_tensor *t)
{
    uint64_t end;
    if (p->rules->report->finding == NULL || t->offset <= p->end ||
        p->end_of == GGLD_NO_INDEX ||
        !ggld_align_up(p->end, p->rules->file->alignment_bytes, &end))
        return true;
    return ggld_content_padding(p->rules, p->end, ggld_min_u64(end, t->offset));
}

static bool check_placed(placing *p)
{
    const ggld_rules *r = p->rules;
    if (r->report->finding != NULL &&
        !ggld_content_padding(p->rules, r->table_end, r->file->data_offset))
        return false;
    for (uint64_t k = 0; k < p->rules->file->n_tensors; k++) {
        const ggld_tensor *t = tensor_at(p, k);
        p->unsure |= is_left_out(t);
        if (is_left_out(t))
            continue;
        if (!check_offset(p, t) || !check_order(p, t) || !check_gap(p, t) ||
            !check_padding(p, t) || !check_end(p, t))
            return false;
        p->unsure = false;
        p->before = ggld_tensor_index_of(t);
        if (end_of(t) >= p->end) {
            p->end = end_of(t);
            p->end_of = p->before;
        }
    }
    return p->rules->report->finding == NULL || p->unsure ||
           ggld_content_tail(p->rules, p->end);
}

/* ---- the data section ---- */

static bool any_data(const ggld_file *file)
{
    for (uint64_t i = 0; i < file->n_tensors; i++)
        if (!is_known(&file->tensors[i]) || file->tensors[i].size_bytes != 0)
            return true;
    return false;
}

/* A file that is cut off in its padding is cut off; but an alignment that is
 * larger than the file was never right. */
static bool check_data_start(ggld_rules *r)
{
    const ggld_file *file = r->file;
    if (!r->placed || file->alignment_bytes <= file->source.size_bytes ||
        file->data_offset <= file->source.size_bytes || !any_data(file))
        return true;
    const ggld_kv *kv = ggld_kv_find(file, GGLD_KEY_ALIGNMENT);
    if (kv == NULL)
        return true;
    r->placed = false;
    return ggld_report_add(
        r->report, GGLD_GRADE_ERROR, GGLD_E_ALIGNMENT,
        ggld_subject_of(GGLD_IN_KV, (uint64_t)(kv - file->kvs),
                        kv->value_offset, &kv->key),
        "value %" PRIu64 ": data would start at %" PRIu64
        ", past the end of the file (%" PRIu64 " bytes)",
        file->alignment_bytes, file->data_offset, file->source.size_bytes);
}

static uint64_t sum_elems(const ggld_file *file)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < file->n_tensors; i++)
        if (is_known(&file->tensors[i]) &&
            !ggld_add_u64(sum, file->tensors[i].n_elems, &sum))
            return UINT64_MAX;
    return sum;
}

static bool place_in_order(ggld_rules *r, const uint32_t *order)
{
    placing p = { .rules = r,
                  .order = order,
                  .file_bytes = r->file->source.size_bytes,
                  .end = r->file->data_offset,
                  .end_of = GGLD_NO_INDEX,
                  .before = GGLD_NO_INDEX };
    set_extents(&p);
    if (!r->placed)
        return true;
    count_missing(&p);
    return check_placed(&p);
}

bool ggld_rules_placement(ggld_rules *r)
{
    ggld_file *file = r->file;
    const ggld_allocator *a = &file->allocator;

    /* So large an alignment that the sum wraps: there is no such file, and no
     * data either, or else the rule for the start has its say. */
    if (!ggld_align_up(r->table_end, file->alignment_bytes, &file->data_offset))
        file->data_offset = UINT64_MAX;
    file->n_elems = sum_elems(file);
    if (!check_data_start(r) || !make_absolute(r))
        return false;
    if (in_table_order(file))
        return place_in_order(r, NULL);
    uint32_t *order = ggld_alloc(a, file->n_tensors, sizeof *order);
    if (order == NULL)
        return ggld_report_nomem(r->report, "sorting tensors by their data");
    ggld_order_sort(order, file->tensors, file->n_tensors);
    bool on = place_in_order(r, order);
    ggld_free(a, order);
    return on;
}
