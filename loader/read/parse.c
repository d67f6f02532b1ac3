/* SPDX-License-Identifier: MIT */
/* One pass over the metadata. A count is compared with what remains of the
 * file before it is believed, and even then arrays only grow as records are
 * really met: what is allocated is in proportion to what is there. */
#include "parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base/alloc.h"
#include "../base/checked.h"
#include "../base/index.h"
#include "../spec/decode.h"
#include "../spec/limits.h"
#include "../spec/types.h"
#include "hints.h"
#include "report.h"
#include "sniff.h"

#define FIRST_CAPACITY 64u

/* More than these of anything in metadata is damage, and no file that ends too
 * early: ggml takes no longer strings and arrays. */
#define MOST_IN_METADATA (UINT64_C(1) << 30)

static ggld_parsed broken_length(ggld_parse *p, ggld_subject subject,
                                 const ggld_fault *fault, uint64_t left)
{
    const char *filter = ggld_hint_filter(p->file->metadata, fault->offset,
                                          p->file->version == 1 ? 4 : 8);
    char each[64] = "";

    p->cut = *filter == '\0' && fault->number <= MOST_IN_METADATA;
    if (fault->unit > 1)
        snprintf(each, sizeof each, ", of %" PRIu32 " bytes each or more,",
                 fault->unit);
    ggld_report_describe(
        &p->error,
        fault->number > INT64_MAX ? GGLD_E_OVERFLOW : GGLD_E_TRUNCATED, subject,
        *filter != '\0' ? filter : ggld_hint_part(p->part),
        "%s %" PRIu64 "%s exceeds what remains of the file (%" PRIu64 " bytes)",
        fault->field, fault->number, each, left);
    return GGLD_PARSE_BROKEN;
}

static ggld_parsed broken_type(ggld_parse *p, ggld_subject subject,
                               const ggld_fault *fault)
{
    ggld_report_describe(&p->error, GGLD_E_VALUE_TYPE, subject,
                         ggld_hint_filter(p->file->metadata, fault->offset, 4),
                         "%s %" PRIu64 " is unknown (0 to 12 are known): what "
                         "follows can't be read",
                         fault->field, fault->number);
    return GGLD_PARSE_BROKEN;
}

/* A fault in the terms of the whole file, of which the metadata at hand may be
 * the first part only. */
static ggld_parsed broken(ggld_parse *p, ggld_subject subject,
                          const ggld_fault *fault)
{
    uint64_t file_bytes = p->file->source.size_bytes;
    uint64_t span_bytes = p->file->metadata.size;
    uint64_t left = file_bytes - (span_bytes - fault->left);

    if (fault->span_needed > span_bytes && fault->span_needed <= file_bytes) {
        p->span_needed = fault->span_needed;
        return GGLD_PARSE_MORE;
    }
    subject.place.offset = fault->offset;
    /* Of a string that is past the limit and not there either, that it is not
     * there says more. */
    if (fault->kind == GGLD_FAULT_STRING && fault->number > left)
        return broken_length(p, subject, fault, left);
    switch (fault->kind) {
    case GGLD_FAULT_LENGTH:
        return broken_length(p, subject, fault, left);
    case GGLD_FAULT_VALUE_TYPE:
        return broken_type(p, subject, fault);
    case GGLD_FAULT_END:
        p->cut = true;
        ggld_report_describe(&p->error, GGLD_E_TRUNCATED, subject,
                             ggld_hint_part(p->part),
                             "the file ends in the %s (%" PRIu64
                             " bytes at %" PRIu64 ", %" PRIu64 " are left)",
                             fault->field, fault->number, fault->offset, left);
        break;
    case GGLD_FAULT_DEPTH:
        ggld_report_describe(&p->error, GGLD_E_LIMIT, subject, "",
                             "arrays are nested deeper than %d",
                             GGLD_MAX_ARRAY_DEPTH);
        break;
    case GGLD_FAULT_STRING:
        ggld_report_describe(&p->error, GGLD_E_LIMIT, subject, "",
                             "%s %" PRIu64 " is past the limit of %" PRIu64
                             " bytes",
                             fault->field, fault->number, p->max_string_bytes);
        break;
    }
    return GGLD_PARSE_BROKEN;
}

static ggld_subject in_header(uint64_t offset)
{
    return ggld_subject_of(GGLD_IN_HEADER, GGLD_NO_INDEX, offset, NULL);
}

static ggld_parsed parse_version(ggld_parse *p, ggld_cursor *c)
{
    ggld_fault fault;
    uint32_t version;

    if (!ggld_decode_u32(c, "version", &version, &fault))
        return broken(p, in_header(c->pos), &fault);
    /* No version is so high that its low half is zero: those are the bytes of
     * a small one in the other order. */
    if (version != 0 && (version & 0xFFFF) == 0) {
        c->big_endian = true;
        version = __builtin_bswap32(version);
    }
    if (version < 1 || version > 3) {
        ggld_report_describe(&p->error, GGLD_E_VERSION,
                             in_header(GGLD_MAGIC_BYTES), "",
                             "version %" PRIu32 " is not known (1 to 3 are): "
                             "the file is damaged or newer than this library",
                             version);
        return GGLD_PARSE_BROKEN;
    }
    c->narrow = version == 1;
    p->file->version = version;
    p->file->big_endian = c->big_endian;
    return GGLD_PARSED;
}

/* A count in the header: what it counts, where it stands, how many the caller
 * allows, and the least bytes of one. */
typedef struct count_rule {
    const char *what;
    uint64_t offset;
    uint64_t limit;
    uint32_t min_bytes;
} count_rule;

/* Takes the least bytes of count records off *left. */
static ggld_parsed check_count(ggld_parse *p, const count_rule *rule,
                               uint64_t count, uint64_t *left)
{
    ggld_subject subject = in_header(rule->offset);
    uint64_t bytes;

    if (!ggld_mul_u64(count, rule->min_bytes, &bytes) || bytes > *left) {
        bool swapped = p->file->big_endian &&
                       __builtin_bswap64(count) <= *left / rule->min_bytes;
        const char *filter = ggld_hint_filter(p->file->metadata, rule->offset,
                                              p->file->version == 1 ? 4 : 8);
        p->cut = !swapped && *filter == '\0' && count <= MOST_IN_METADATA;
        ggld_report_describe(
            &p->error, count > INT64_MAX ? GGLD_E_OVERFLOW : GGLD_E_TRUNCATED,
            subject,
            swapped || *filter != '\0' ? filter : ggld_hint_part(p->part),
            "number of %s %" PRIu64 ", of %" PRIu32 " bytes each or more, "
            "exceeds what remains of the file (%" PRIu64 " bytes)%s",
            rule->what, count, rule->min_bytes, *left,
            swapped ? ": the version is big-endian, the count is not" : "");
        return GGLD_PARSE_BROKEN;
    }
    if (count > GGLD_INDEX_MAX || (rule->limit != 0 && count > rule->limit)) {
        ggld_report_describe(&p->error, GGLD_E_LIMIT, subject, "",
                             "number of %s %" PRIu64 " is past the limit of "
                             "%" PRIu64,
                             rule->what, count,
                             rule->limit != 0 ? rule->limit : GGLD_INDEX_MAX);
        return GGLD_PARSE_BROKEN;
    }
    *left -= bytes;
    return GGLD_PARSED;
}

static ggld_parsed parse_counts(ggld_parse *p, ggld_cursor *c,
                                uint64_t *n_tensors, uint64_t *n_kvs)
{
    ggld_fault fault;
    count_rule tensors = { "tensors", c->pos, p->max_tensors,
                           GGLD_MIN_TENSOR_BYTES(c->narrow) };
    count_rule kvs = { "key-values", c->pos + ggld_cursor_len_bytes(c),
                       p->max_kv, GGLD_MIN_KV_BYTES(c->narrow) };

    if (!ggld_decode_len(c, "number of tensors", n_tensors, &fault) ||
        !ggld_decode_len(c, "number of key-values", n_kvs, &fault))
        return broken(p, in_header(c->pos), &fault);
    uint64_t left = p->file->source.size_bytes - c->pos;
    ggld_parsed parsed = check_count(p, &tensors, *n_tensors, &left);
    if (parsed == GGLD_PARSED)
        parsed = check_count(p, &kvs, *n_kvs, &left);
    return parsed;
}

/* The array with room for one more record than n, of at most total. */
static void *make_room(ggld_parse *p, void *records, uint64_t *capacity,
                       uint64_t n, uint64_t total, size_t size)
{
    if (n < *capacity)
        return records;
    uint64_t wanted = *capacity == 0 ? FIRST_CAPACITY : *capacity * 2;
    wanted = ggld_min_u64(wanted, total);
    void *grown =
        ggld_grow(&p->file->allocator, records, *capacity, wanted, size);
    if (grown != NULL)
        *capacity = wanted;
    return grown;
}

static bool decode_type(ggld_cursor *c, uint32_t *out, ggld_fault *fault)
{
    uint64_t at = c->pos;
    if (!ggld_decode_u32(c, "value type", out, fault))
        return false;
    if (ggld_value_type_known(*out))
        return true;
    ggld_fault unknown = {
        GGLD_FAULT_VALUE_TYPE, "value type", at, *out, 0, 0
    };
    *fault = unknown;
    return false;
}

static ggld_parsed parse_kv(ggld_parse *p, ggld_cursor *c, ggld_kv *kv,
                            uint64_t index)
{
    ggld_subject subject = ggld_subject_of(GGLD_IN_KV, index, c->pos, NULL);
    ggld_fault fault;

    kv->file = p->file;
    if (!ggld_decode_string(c, "key length", p->max_string_bytes, &kv->key,
                            &fault))
        return broken(p, subject, &fault);
    subject.name = &kv->key;
    if (!decode_type(c, &kv->type, &fault))
        return broken(p, subject, &fault);
    kv->value_offset = c->pos;
    if (!ggld_decode_skip_value(c, kv->type, p->max_string_bytes, &fault))
        return broken(p, subject, &fault);
    kv->value_bytes = c->pos - kv->value_offset;
    return GGLD_PARSED;
}

static ggld_parsed parse_kvs(ggld_parse *p, ggld_cursor *c, uint64_t total)
{
    ggld_file *file = p->file;
    for (uint64_t i = 0; i < total; i++) {
        ggld_kv *kvs =
            make_room(p, file->kvs, &p->kv_capacity, i, total, sizeof *kvs);
        if (kvs == NULL)
            return GGLD_PARSE_NOMEM;
        file->kvs = kvs;
        ggld_parsed parsed = parse_kv(p, c, &kvs[i], i);
        if (parsed != GGLD_PARSED)
            return parsed;
        file->n_kvs = i + 1;
        p->table_end = c->pos;
    }
    return GGLD_PARSED;
}

static bool decode_dims(ggld_cursor *c, ggld_tensor *t, ggld_fault *fault)
{
    for (uint32_t d = 0; d < GGLD_MAX_DIMS; d++)
        t->dims[d] = 1;
    for (uint32_t d = 0; d < t->n_dims; d++)
        if (!ggld_decode_len(c, "dimension", &t->dims[d], fault))
            return false;
    return true;
}

static ggld_parsed parse_tensor(ggld_parse *p, ggld_cursor *c, ggld_tensor *t,
                                uint64_t index)
{
    ggld_subject subject =
        ggld_subject_of(GGLD_IN_TENSOR_INFO, index, c->pos, NULL);
    ggld_fault fault;

    t->file = p->file;
    t->info_offset = c->pos;
    t->size_bytes = 0;
    if (!ggld_decode_string(c, "name length", p->max_string_bytes, &t->name,
                            &fault))
        return broken(p, subject, &fault);
    subject.name = &t->name;
    subject.place.offset = c->pos;
    if (!ggld_decode_u32(c, "number of dimensions", &t->n_dims, &fault))
        return broken(p, subject, &fault);
    if (t->n_dims > GGLD_MAX_DIMS) {
        ggld_report_describe(&p->error, GGLD_E_SHAPE, subject,
                             ggld_hint_filter(c->span, subject.place.offset, 4),
                             "%" PRIu32 " dimensions, more than %d", t->n_dims,
                             GGLD_MAX_DIMS);
        return GGLD_PARSE_BROKEN;
    }
    if (!decode_dims(c, t, &fault) ||
        !ggld_decode_u32(c, "tensor type", &t->type, &fault) ||
        !ggld_decode_u64(c, "data offset", &t->offset, &fault))
        return broken(p, subject, &fault);
    return GGLD_PARSED;
}

static ggld_parsed parse_tensors(ggld_parse *p, ggld_cursor *c, uint64_t total)
{
    ggld_file *file = p->file;
    for (uint64_t i = 0; i < total; i++) {
        ggld_tensor *tensors = make_room(p, file->tensors, &p->tensor_capacity,
                                         i, total, sizeof *tensors);
        if (tensors == NULL)
            return GGLD_PARSE_NOMEM;
        file->tensors = tensors;
        ggld_parsed parsed = parse_tensor(p, c, &tensors[i], i);
        if (parsed != GGLD_PARSED)
            return parsed;
        file->n_tensors = i + 1;
        p->table_end = c->pos;
    }
    return GGLD_PARSED;
}

ggld_parsed ggld_parse_run(ggld_parse *p)
{
    ggld_span span = p->file->metadata;
    ggld_cursor c = { span, GGLD_MAGIC_BYTES, false, false };
    uint64_t n_tensors = 0, n_kvs = 0;

    p->file->n_kvs = 0;
    p->file->n_tensors = 0;
    const uint8_t *magic = ggld_span_at(span, 0, GGLD_MAGIC_BYTES);
    if (magic == NULL || memcmp(magic, GGLD_MAGIC, GGLD_MAGIC_BYTES) != 0) {
        ggld_sniff(&p->error, span, p->file->source.size_bytes, p->file->path,
                   ggld_hint_part(p->part));
        return GGLD_PARSE_BROKEN;
    }
    ggld_parsed parsed = parse_version(p, &c);
    if (parsed == GGLD_PARSED)
        parsed = parse_counts(p, &c, &n_tensors, &n_kvs);
    if (parsed == GGLD_PARSED) {
        p->table_end = c.pos;
        p->n_kvs = n_kvs;
        p->n_tensors = n_tensors;
        parsed = parse_kvs(p, &c, n_kvs);
    }
    if (parsed == GGLD_PARSED)
        parsed = parse_tensors(p, &c, n_tensors);
    return parsed;
}
