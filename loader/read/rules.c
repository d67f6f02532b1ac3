/* SPDX-License-Identifier: MIT */
/* The rules for records one by one, and for names that are there twice. Offsets
 * in findings are worked out from where a record stands: its parts have a
 * fixed order. */
#include "rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base/alloc.h"
#include "../base/checked.h"
#include "../base/index.h"
#include "../spec/cursor.h"
#include "../spec/limits.h"
#include "../spec/shape.h"
#include "../spec/types.h"
#include "kv.h"

/* ggml's GGUF_MAX_ARRAY_ELEMENTS. */
#define GGML_MAX_ARRAY_ELEMS (1u << 30)

static uint64_t len_bytes(const ggld_file *file)
{
    return file->version == 1 ? 4 : 8;
}

bool ggld_rules_header(ggld_rules *r)
{
    const ggld_file *file = r->file;
    ggld_subject subject =
        ggld_subject_of(GGLD_IN_HEADER, GGLD_NO_INDEX, GGLD_MAGIC_BYTES, NULL);

    if (file->big_endian &&
        !ggld_report_add(r->report, GGLD_GRADE_STRICT, GGLD_E_VERSION, subject,
                         "version %" PRIu32 ", big-endian: ggml reads files "
                         "in this machine's order only",
                         file->version))
        return false;
    if (file->version != 1)
        return true;
    return ggld_report_add(r->report, GGLD_GRADE_STRICT, GGLD_E_VERSION,
                           subject,
                           "version 1: ggml reads versions 2 and 3 only; "
                           "write it anew (ggld upgrade)");
}

/* ---- key-values ---- */

static ggld_subject kv_subject(const ggld_file *file, uint64_t i)
{
    const ggld_kv *kv = &file->kvs[i];
    uint64_t start = kv->value_offset - 4 - kv->key.len - len_bytes(file);
    return ggld_subject_of(GGLD_IN_KV, i, start, &kv->key);
}

static bool check_key(ggld_rules *r, uint64_t i)
{
    ggld_file *file = r->file;
    const ggld_string *key = &file->kvs[i].key;
    ggld_names names = { &file->kvs[0].key, sizeof(ggld_kv) };
    ggld_subject subject = kv_subject(file, i);

    if (key->len == 0 &&
        !ggld_report_add(r->report, GGLD_GRADE_STRICT, GGLD_E_STRING, subject,
                         "the key is empty; ggml refuses that"))
        return false;
    if (key->len > GGLD_MAX_KEY_BYTES &&
        !ggld_report_add(r->report, GGLD_GRADE_ODD, GGLD_E_STRING, subject,
                         "the key has %" PRIu64 " bytes, the format allows %d",
                         key->len, GGLD_MAX_KEY_BYTES))
        return false;
    uint32_t first = ggld_index_insert(file->kv_index, names, (uint32_t)i);
    if (first == i)
        return true;
    return ggld_report_add(r->report, GGLD_GRADE_STRICT, GGLD_E_DUPLICATE,
                           subject,
                           "the key is there already, as kv %" PRIu32
                           " at byte %" PRIu64 "; the first one counts",
                           first, kv_subject(file, first).place.offset);
}

static bool check_array(ggld_rules *r, uint64_t i)
{
    ggld_array_iter it;
    ggld_subject subject = kv_subject(r->file, i);

    if (!ggld_kv_get_array(&r->file->kvs[i], &it))
        return true;
    subject.place.offset = r->file->kvs[i].value_offset;
    if (it.elem_type == GGLD_VALUE_ARRAY &&
        !ggld_report_add(r->report, GGLD_GRADE_STRICT, GGLD_E_VALUE_TYPE,
                         subject,
                         "an array of arrays: the format has it, ggml refuses "
                         "it"))
        return false;
    subject.place.offset += 4;
    return it.n_elems <= GGML_MAX_ARRAY_ELEMS ||
           ggld_report_add(r->report, GGLD_GRADE_STRICT, GGLD_E_LIMIT, subject,
                           "the array has %" PRIu64 " elements, ggml takes %u",
                           it.n_elems, GGML_MAX_ARRAY_ELEMS);
}

/* What cannot be taken as an alignment in any mode. */
static bool refuse_alignment(ggld_rules *r, const ggld_kv *kv,
                             ggld_subject subject, bool is_number,
                             uint64_t value)
{
    int64_t negative = 0;

    r->placed = false;
    if (!is_number && !ggld_value_is_integer(kv->type))
        return ggld_report_add(
            r->report, GGLD_GRADE_ERROR, GGLD_E_ALIGNMENT, subject,
            "the value is of type %s, not a number that can be an alignment",
            ggld_value_type_name(kv->type));
    if (!is_number)
        (void)ggld_kv_get_i64(kv, &negative);
    if (value == 0)
        return ggld_report_add(r->report, GGLD_GRADE_ERROR, GGLD_E_ALIGNMENT,
                               subject,
                               "value %" PRId64 " can't be an alignment (32 is "
                               "usual)",
                               negative);
    return ggld_report_add(r->report, GGLD_GRADE_ERROR, GGLD_E_ALIGNMENT,
                           subject,
                           "value %" PRIu64 " is neither a power of two nor a "
                           "multiple of 8",
                           value);
}

static bool check_alignment(ggld_rules *r, uint64_t i)
{
    const ggld_kv *kv = &r->file->kvs[i];
    ggld_subject subject = kv_subject(r->file, i);
    uint64_t value = 0;
    bool is_number =
        ggld_value_is_integer(kv->type) && ggld_kv_get_u64(kv, &value);

    subject.place.offset = kv->value_offset;
    if (!ggld_is_power_of_two(value) && (value == 0 || value % 8 != 0))
        return refuse_alignment(r, kv, subject, is_number, value);
    r->file->alignment_bytes = value;
    if (!ggld_is_power_of_two(value) &&
        !ggld_report_add(r->report, GGLD_GRADE_STRICT, GGLD_E_ALIGNMENT,
                         subject,
                         "value %" PRIu64 " is no power of two; ggml refuses "
                         "that",
                         value))
        return false;
    if (kv->type != GGLD_VALUE_U32 &&
        !ggld_report_add(r->report, GGLD_GRADE_STRICT, GGLD_E_ALIGNMENT,
                         subject,
                         "the value is of type %s; ggml takes u32 only",
                         ggld_value_type_name(kv->type)))
        return false;
    return value % 8 == 0 ||
           ggld_report_add(r->report, GGLD_GRADE_NOTE, GGLD_E_ALIGNMENT,
                           subject,
                           "value %" PRIu64 " is no multiple of 8, as the "
                           "format asks for",
                           value);
}

static bool key_is(const ggld_string *key, const char *text)
{
    size_t len = strlen(text);
    return key->len == len && memcmp(key->data, text, len) == 0;
}

bool ggld_rules_kvs(ggld_rules *r)
{
    bool aligned = false;
    for (uint64_t i = 0; i < r->file->n_kvs; i++) {
        if (!check_key(r, i) || !check_array(r, i))
            return false;
        if (!aligned && key_is(&r->file->kvs[i].key, GGLD_KEY_ALIGNMENT)) {
            aligned = true;
            if (!check_alignment(r, i))
                return false;
        }
        if (r->report->finding != NULL && !ggld_content_kv(r, i))
            return false;
    }
    return true;
}

/* ---- tensors ---- */

static ggld_subject tensor_subject(const ggld_file *file, uint64_t i,
                                   uint64_t field)
{
    const ggld_tensor *t = &file->tensors[i];
    return ggld_subject_of(GGLD_IN_TENSOR_INFO, i, t->info_offset + field,
                           &t->name);
}

/* Where in its record a tensor's dimension d stands; its type follows the last
 * one. */
static uint64_t dim_field(const ggld_file *file, const ggld_tensor *t,
                          uint32_t d)
{
    return len_bytes(file) + t->name.len + 4 + d * len_bytes(file);
}

static bool check_name(ggld_rules *r, uint64_t i)
{
    ggld_file *file = r->file;
    const ggld_string *name = &file->tensors[i].name;
    ggld_names names = { &file->tensors[0].name, sizeof(ggld_tensor) };
    ggld_subject subject = tensor_subject(file, i, 0);

    if (name->len == 0 &&
        !ggld_report_add(r->report, GGLD_GRADE_ODD, GGLD_E_STRING, subject,
                         "the name is empty"))
        return false;
    if (name->len > GGLD_GGML_NAME_BYTES &&
        !ggld_report_add(r->report, GGLD_GRADE_STRICT, GGLD_E_STRING, subject,
                         "the name has %" PRIu64 " bytes; ggml takes %d, the "
                         "format %d",
                         name->len, GGLD_GGML_NAME_BYTES, GGLD_MAX_NAME_BYTES))
        return false;
    uint32_t first = ggld_index_insert(file->tensor_index, names, (uint32_t)i);
    if (first == i)
        return true;
    return ggld_report_add(
        r->report, GGLD_GRADE_ERROR, GGLD_E_DUPLICATE, subject,
        "the name is that of tensor %" PRIu32 " at byte %" PRIu64 " too", first,
        file->tensors[first].info_offset);
}

static bool check_unknown_type(ggld_rules *r, uint64_t i)
{
    const ggld_tensor *t = &r->file->tensors[i];
    const char *removed = ggld_removed_type_name(t->type);
    ggld_subject subject =
        tensor_subject(r->file, i, dim_field(r->file, t, t->n_dims));

    if (removed != NULL)
        return ggld_report_add(
            r->report, GGLD_GRADE_STRICT, GGLD_E_TENSOR_TYPE, subject,
            "type %" PRIu32 " (%s) was removed from the format: re-quantise "
            "the model; repacking now happens at load time",
            t->type, removed);
    return ggld_report_add(r->report, GGLD_GRADE_STRICT, GGLD_E_TENSOR_TYPE,
                           subject,
                           "type %" PRIu32 " is not known: this tensor can't "
                           "be read; the others can",
                           t->type);
}

typedef struct dims_string {
    char text[GGLD_MAX_DIMS * 24];
} dims_string;

/* "4096 x 32"; only of tensors that have dimensions. */
static dims_string dims_text(const ggld_tensor *t)
{
    dims_string s;
    int used = snprintf(s.text, sizeof s.text, "%" PRIu64, t->dims[0]);
    for (uint32_t d = 1; d < t->n_dims; d++)
        used += snprintf(s.text + used, sizeof s.text - (size_t)used,
                         " x %" PRIu64, t->dims[d]);
    return s;
}

static bool report_shape(ggld_rules *r, uint64_t i, ggld_shape_verdict verdict,
                         const ggld_type_traits *traits)
{
    ggld_tensor *t = &r->file->tensors[i];
    ggld_subject subject = tensor_subject(r->file, i, dim_field(r->file, t, 0));

    t->size_bytes = GGLD_NO_SIZE;
    if (verdict == GGLD_SHAPE_ROW)
        return ggld_report_add(r->report, GGLD_GRADE_ERROR, GGLD_E_SHAPE,
                               subject,
                               "rows of %" PRIu64 " elements are not whole "
                               "blocks of %s (%" PRIu32 " elements)",
                               t->dims[0], traits->name, traits->block_elems);
    return ggld_report_add(
        r->report, GGLD_GRADE_ERROR, GGLD_E_OVERFLOW, subject,
        "%s elements take more %s than a file can have", dims_text(t).text,
        verdict == GGLD_SHAPE_BYTES_OVERFLOW ? "bytes" : "room");
}

/* ggml holds dimensions in int64_t, and looks at each before it multiplies;
 * beside a dimension of 0 such a number does no harm. */
static bool check_dims(ggld_rules *r, uint64_t i)
{
    const ggld_tensor *t = &r->file->tensors[i];
    for (uint32_t d = 0; d < t->n_dims; d++)
        if (t->dims[d] > INT64_MAX &&
            !ggld_report_add(
                r->report, GGLD_GRADE_STRICT, GGLD_E_OVERFLOW,
                tensor_subject(r->file, i, dim_field(r->file, t, d)),
                "dimension %" PRIu32 " is %" PRIu64 ", which ggml takes as "
                "negative",
                d, t->dims[d]))
            return false;
    return true;
}

static bool check_shape(ggld_rules *r, uint64_t i)
{
    ggld_tensor *t = &r->file->tensors[i];
    const ggld_type_traits *traits = ggld_type_traits_of(t->type);
    ggld_shape_verdict verdict =
        ggld_shape_elems(t->dims, t->n_dims, &t->n_elems);

    if (verdict != GGLD_SHAPE_OK)
        return report_shape(r, i, verdict, traits);
    if (!check_dims(r, i))
        return false;
    if (traits == NULL)
        return check_unknown_type(r, i);
    verdict = ggld_shape_bytes(traits, t->dims, t->n_dims, t->n_elems,
                               &t->size_bytes);
    return verdict == GGLD_SHAPE_OK || report_shape(r, i, verdict, traits);
}

/* A name as ggml sees it: up to its first NUL. */
static uint64_t cut_len(const ggld_string *name)
{
    return strnlen(name->data, (size_t)name->len);
}

static bool same_name(const ggld_string *a, const ggld_string *b)
{
    return a->len == b->len && memcmp(a->data, b->data, (size_t)a->len) == 0;
}

static bool any_name_has_nul(const ggld_file *file)
{
    for (uint64_t i = 0; i < file->n_tensors; i++)
        if (cut_len(&file->tensors[i].name) != file->tensors[i].name.len)
            return true;
    return false;
}

static bool compare_cut_names(ggld_rules *r, ggld_string *cut,
                              ggld_index *index)
{
    const ggld_file *file = r->file;
    ggld_names names = { cut, sizeof *cut };

    for (uint64_t i = 0; i < file->n_tensors; i++) {
        cut[i] = file->tensors[i].name;
        cut[i].len = cut_len(&cut[i]);
        uint32_t first = ggld_index_insert(index, names, (uint32_t)i);
        /* Names that are the same to the last byte were spoken of before. */
        if (first == i ||
            same_name(&file->tensors[first].name, &file->tensors[i].name))
            continue;
        if (!ggld_report_add(r->report, GGLD_GRADE_STRICT, GGLD_E_DUPLICATE,
                             tensor_subject(file, i, 0),
                             "up to its NUL the name is that of tensor "
                             "%" PRIu32 "; ggml takes both for one",
                             first))
            return false;
    }
    return true;
}

static bool check_cut_names(ggld_rules *r)
{
    const ggld_allocator *a = &r->file->allocator;
    uint64_t n = r->file->n_tensors;

    if (!ggld_report_wants(r->report, GGLD_GRADE_STRICT) ||
        !any_name_has_nul(r->file))
        return true;
    ggld_string *cut = ggld_alloc(a, n, sizeof *cut);
    ggld_index *index = cut == NULL ? NULL : ggld_index_new(a, n);
    bool on = index == NULL ? ggld_report_nomem(r->report, "comparing names")
                            : compare_cut_names(r, cut, index);
    ggld_free(a, index);
    ggld_free(a, cut);
    return on;
}

bool ggld_rules_tensors(ggld_rules *r)
{
    for (uint64_t i = 0; i < r->file->n_tensors; i++) {
        if (!check_name(r, i) || !check_shape(r, i))
            return false;
        if (r->report->finding != NULL && !ggld_content_name(r, i))
            return false;
    }
    return check_cut_names(r);
}
