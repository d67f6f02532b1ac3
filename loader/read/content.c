/* SPDX-License-Identifier: MIT */
/* What only a check looks at, for it takes time and no loader minds it: text,
 * bools, padding, and what lies behind the last tensor. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base/checked.h"
#include "../base/quote.h"
#include "../spec/decode.h"
#include "../spec/limits.h"
#include "../spec/types.h"
#include "kv.h"
#include "rules.h"

#define BUFFER_BYTES 4096u
/* ggml's GGUF_MAX_STRING_LENGTH. */
#define GGML_MAX_STRING_BYTES (1u << 30)

/* ---- text and bools ---- */

/* How many of something there are, and where the first one is. */
typedef struct tally {
    uint64_t count;
    uint64_t first;
} tally;

static void tally_add(tally *t, uint64_t offset)
{
    if (t->count++ == 0)
        t->first = offset;
}

typedef struct values {
    uint64_t n_strings;
    tally not_text;
    tally with_nul;
    tally too_long;
    uint64_t n_bools;
    tally odd_bools;
} values;

static bool take_string(ggld_cursor *c, values *v)
{
    uint64_t len, at = c->pos;
    if (!ggld_cursor_len(c, &len))
        return false;
    const uint8_t *data = ggld_cursor_take(c, len);
    if (data == NULL)
        return false;
    v->n_strings++;
    if (ggld_utf8_prefix(data, len) != len)
        tally_add(&v->not_text, at);
    if (len != 0 && memchr(data, 0, (size_t)len) != NULL)
        tally_add(&v->with_nul, at);
    if (len > GGML_MAX_STRING_BYTES)
        tally_add(&v->too_long, at);
    return true;
}

static bool take_bool(ggld_cursor *c, values *v)
{
    uint64_t at = c->pos;
    const uint8_t *p = ggld_cursor_take(c, 1);
    if (p == NULL)
        return false;
    v->n_bools++;
    if (*p > 1)
        tally_add(&v->odd_bools, at);
    return true;
}

/* count elements that are not arrays. */
static bool take_elems(ggld_cursor *c, uint32_t elem_type, uint64_t count,
                       values *v)
{
    bool (*take)(ggld_cursor *, values *) =
        elem_type == GGLD_VALUE_STRING ? take_string : take_bool;

    if (elem_type != GGLD_VALUE_STRING && elem_type != GGLD_VALUE_BOOL)
        return ggld_cursor_take(c, count * ggld_value_size(elem_type)) != NULL;
    for (uint64_t i = 0; i < count; i++)
        if (!take(c, v))
            return false;
    return true;
}

static void take_array(ggld_cursor *c, values *v)
{
    ggld_array_walk walk = ggld_array_walk_init();
    ggld_fault fault;
    uint32_t elem_type;
    uint64_t count;

    while (!ggld_array_walk_done(&walk))
        if (!ggld_decode_array_head(c, &walk, &elem_type, &count, &fault) ||
            !take_elems(c, elem_type, count, v))
            return;
}

static values take_values(const ggld_kv *kv)
{
    ggld_cursor c = ggld_cursor_at(kv->file, kv->value_offset);
    values v = { 0 };

    if (kv->type == GGLD_VALUE_STRING)
        (void)take_string(&c, &v);
    else if (kv->type == GGLD_VALUE_BOOL)
        (void)take_bool(&c, &v);
    else if (kv->type == GGLD_VALUE_ARRAY)
        take_array(&c, &v);
    return v;
}

static bool report_tally(ggld_rules *r, uint64_t index, ggld_grade grade,
                         ggld_status code, const tally *t, uint64_t of,
                         const char *what)
{
    if (t->count == 0)
        return true;
    ggld_subject subject =
        ggld_subject_of(GGLD_IN_KV, index, t->first, &r->file->kvs[index].key);
    return ggld_report_add(r->report, grade, code, subject,
                           "%" PRIu64 " of %" PRIu64 " %s, the first at byte "
                           "%" PRIu64,
                           t->count, of, what, t->first);
}

/* A key or a name: not a value, and so one finding at most for each fault. */
static bool check_text(ggld_rules *r, ggld_subject subject, const char *what)
{
    const ggld_string *text = subject.name;
    uint64_t run = ggld_utf8_prefix(text->data, text->len);
    uint64_t nul = strnlen(text->data, (size_t)text->len);

    if (run != text->len &&
        !ggld_report_add(r->report, GGLD_GRADE_ODD, GGLD_E_STRING, subject,
                         "the %s is not UTF-8 from byte %" PRIu64
                         " of its %" PRIu64 " on",
                         what, run, text->len))
        return false;
    return nul == text->len ||
           ggld_report_add(r->report, GGLD_GRADE_ODD, GGLD_E_STRING, subject,
                           "the %s has a NUL at byte %" PRIu64
                           " of its %" PRIu64,
                           what, nul, text->len);
}

bool ggld_content_kv(ggld_rules *r, uint64_t index)
{
    const ggld_kv *kv = &r->file->kvs[index];
    uint64_t start =
        (uint64_t)((const uint8_t *)kv->key.data - r->file->metadata.data);
    values v = take_values(kv);

    return check_text(r, ggld_subject_of(GGLD_IN_KV, index, start, &kv->key),
                      "key") &&
           report_tally(r, index, GGLD_GRADE_ODD, GGLD_E_STRING, &v.not_text,
                        v.n_strings, "strings are not UTF-8") &&
           report_tally(r, index, GGLD_GRADE_ODD, GGLD_E_STRING, &v.with_nul,
                        v.n_strings, "strings hold a NUL") &&
           report_tally(r, index, GGLD_GRADE_STRICT, GGLD_E_LIMIT, &v.too_long,
                        v.n_strings,
                        "strings are longer than the 2^30 bytes "
                        "that ggml takes") &&
           report_tally(r, index, GGLD_GRADE_ODD, GGLD_E_VALUE, &v.odd_bools,
                        v.n_bools, "bools are neither 0 nor 1");
}

bool ggld_content_name(ggld_rules *r, uint64_t index)
{
    const ggld_tensor *t = &r->file->tensors[index];
    return check_text(
        r,
        ggld_subject_of(GGLD_IN_TENSOR_INFO, index, t->info_offset, &t->name),
        "name");
}

bool ggld_content_model(ggld_rules *r)
{
    ggld_subject subject = ggld_subject_of(GGLD_IN_KV, GGLD_NO_INDEX, 0, NULL);
    const ggld_kv *kv = ggld_kv_find(r->file, "general.architecture");

    if (kv != NULL && kv->type == GGLD_VALUE_STRING)
        return true;
    if (kv != NULL)
        return ggld_report_add(
            r->report, GGLD_GRADE_ODD, GGLD_E_VALUE_TYPE,
            ggld_subject_of(GGLD_IN_KV, (uint64_t)(kv - r->file->kvs),
                            kv->value_offset - 4, &kv->key),
            "the value is of type %s, not string: ggml takes the container, "
            "programs that run models refuse it",
            ggld_value_type_name(kv->type));
    return ggld_report_add(r->report, GGLD_GRADE_NOTE, GGLD_E_UNSUPPORTED,
                           subject,
                           "there is no 'general.architecture': programs that "
                           "run models ask for it");
}

/* ---- bytes between and behind ---- */

static ggld_subject in_file(uint64_t offset)
{
    return ggld_subject_of(GGLD_IN_FILE, GGLD_NO_INDEX, offset, NULL);
}

/* Reads up to a buffer's size from offset on, before end. 0: there is nothing,
 * or it can't be read, which ends the work. */
static size_t read_piece(ggld_rules *r, uint64_t offset, uint64_t end,
                         uint8_t buffer[BUFFER_BYTES])
{
    end = ggld_min_u64(end, r->file->source.size_bytes);
    if (offset >= end)
        return 0;
    size_t size = (size_t)ggld_min_u64(end - offset, BUFFER_BYTES);
    ggld_status status = ggld_file_read(r->file, offset, buffer, size,
                                        in_file(offset).place, r->report->err);
    if (status == GGLD_OK)
        return size;
    r->report->status = status;
    return 0;
}

static size_t zero_run(const uint8_t *data, size_t size)
{
    size_t n = 0;
    while (n < size && data[n] == 0)
        n++;
    return n;
}

bool ggld_content_padding(ggld_rules *r, uint64_t offset, uint64_t end)
{
    uint8_t buffer[BUFFER_BYTES];
    size_t got;

    while ((got = read_piece(r, offset, end, buffer)) != 0) {
        size_t zeros = zero_run(buffer, got);
        if (zeros != got)
            return ggld_report_add(r->report, GGLD_GRADE_ODD, GGLD_E_VALUE,
                                   in_file(offset + zeros),
                                   "padding up to byte %" PRIu64
                                   " is not zero at byte %" PRIu64 " (0x%02x)",
                                   end, offset + zeros, buffer[zeros]);
        offset += got;
    }
    return r->report->status == GGLD_OK;
}

static const char *tail_kind(const uint8_t *data, size_t size)
{
    if (size >= GGLD_MAGIC_BYTES &&
        memcmp(data, GGLD_MAGIC, GGLD_MAGIC_BYTES) == 0)
        return "another GGUF file";
    return zero_run(data, size) == size ? "zeros" : "other data";
}

bool ggld_content_tail(ggld_rules *r, uint64_t data_end)
{
    uint64_t file_bytes = r->file->source.size_bytes;
    uint8_t buffer[BUFFER_BYTES];
    uint64_t end;

    if (!ggld_align_up(data_end, r->file->alignment_bytes, &end))
        return true;
    if (file_bytes < end && file_bytes >= data_end)
        return ggld_report_add(r->report, GGLD_GRADE_NOTE, GGLD_E_UNSUPPORTED,
                               in_file(file_bytes),
                               "the last padding is missing: the file ends at "
                               "%" PRIu64 ", the alignment asks for %" PRIu64,
                               file_bytes, end);
    if (!ggld_content_padding(r, data_end, end))
        return false;
    size_t got = read_piece(r, end, file_bytes, buffer);
    if (got == 0)
        return r->report->status == GGLD_OK;
    return ggld_report_add(r->report, GGLD_GRADE_NOTE, GGLD_E_UNSUPPORTED,
                           in_file(end),
                           "%" PRIu64 " bytes from %" PRIu64 " on belong to no "
                           "tensor; they start with %s",
                           file_bytes - end, end, tail_kind(buffer, got));
}
