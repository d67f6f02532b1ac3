/* SPDX-License-Identifier: MIT */
/* safetensors as an output: a header made in memory, and data behind it. As the
 * reference has it, tensors of wider elements come first, so that each lies on
 * a multiple of its elements' size. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "../base/alloc.h"
#include "../base/bytes.h"
#include "../base/index.h"
#include "../base/quote.h"
#include "../base/sink.h"
#include "header.h"
#include "output.h"

/* The header, as it grows. */
typedef struct text {
    char *data;
    size_t n;
    size_t cap;
    bool failed;
} text;

typedef struct state {
    ggld_sink sink;
    ggld_allocator allocator;
    text header;
} state;

static bool takes(uint32_t type)
{
    return type == GGLD_TYPE_F32 || type == GGLD_TYPE_F16 ||
           type == GGLD_TYPE_BF16;
}

static uint32_t choose(const ggld_export_plan *p, const ggld_source_tensor *t)
{
    bool keeps = (p->options.flags & GGLD_EXPORT_KEEP_TYPES) != 0;
    return keeps && ggld_is_float(t->type) ? t->type : p->options.type;
}

/* ---- order ---- */

static int by_width(const void *a, const void *b)
{
    const ggld_planned *x = a, *y = b;
    uint32_t p = ggld_type_traits_of(x->type)->block_bytes;
    uint32_t q = ggld_type_traits_of(y->type)->block_bytes;

    if (p != q)
        return p > q ? -1 : 1;
    return x->tensor < y->tensor ? -1 : x->tensor > y->tensor;
}

static ggld_status fail_name(const ggld_planned *planned, ggld_status code,
                             const char *what, ggld_error *err)
{
    return ggld_fail(
        err, code, ggld_place_of(GGLD_IN_TENSOR_INFO, planned->tensor, 0),
        "tensor %" PRIu64 " %s: %s", planned->tensor,
        ggld_quote(planned->name.data, planned->name.len).text, what);
}

static ggld_status check_name(const ggld_planned *planned, ggld_error *err)
{
    ggld_string name = planned->name;

    if (ggld_utf8_prefix(name.data, name.len) != name.len)
        return fail_name(planned, GGLD_E_STRING,
                         "the name is not UTF-8, which JSON needs", err);
    if (memchr(name.data, '\0', (size_t)name.len) != NULL)
        return fail_name(planned, GGLD_E_STRING, "the name has a NUL", err);
    if (name.len == sizeof GGLD_ST_METADATA - 1 &&
        memcmp(name.data, GGLD_ST_METADATA, (size_t)name.len) == 0)
        return fail_name(planned, GGLD_E_STRING,
                         "safetensors keeps this name for itself", err);
    return GGLD_OK;
}

static ggld_status check_names(const ggld_export_plan *p, ggld_index *index,
                               ggld_error *err)
{
    const ggld_names names = { &p->tensors[0].name, sizeof *p->tensors };
    ggld_status status = GGLD_OK;

    for (uint64_t i = 0; i < p->n_tensors && status == GGLD_OK; i++) {
        status = check_name(&p->tensors[i], err);
        if (status == GGLD_OK &&
            ggld_index_insert(index, names, (uint32_t)i) != i)
            status = fail_name(&p->tensors[i], GGLD_E_DUPLICATE,
                               "another tensor has that name", err);
    }
    return status;
}

static ggld_status arrange(ggld_export_plan *p, ggld_error *err)
{
    const ggld_allocator allocator = ggld_allocator_of(NULL);
    ggld_index *index = ggld_index_new(&allocator, p->n_tensors);

    if (index == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for a list of tensors");
    ggld_status status = check_names(p, index, err);
    ggld_free(&allocator, index);
    for (uint64_t i = 0; i < p->n_tensors; i++)
        p->tensors[i].fed = true;
    if (status == GGLD_OK && p->n_tensors != 0)
        qsort(p->tensors, (size_t)p->n_tensors, sizeof *p->tensors, by_width);
    return status;
}

/* ---- the header ---- */

static void add(text *t, const char *data, size_t n)
{
    if (t->failed)
        return;
    if (n > t->cap - t->n) {
        size_t cap = 2 * (t->cap + n);
        char *grown = realloc(t->data, cap);
        if (grown == NULL) {
            t->failed = true;
            return;
        }
        t->data = grown;
        t->cap = cap;
    }
    memcpy(t->data + t->n, data, n);
    t->n += n;
}

static void add_format(text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_format(text *t, const char *format, ...)
{
    char piece[256];
    va_list list;

    va_start(list, format);
    int n = vsnprintf(piece, sizeof piece, format, list);
    va_end(list);
    add(t, piece, (size_t)n);
}

/* With quotes, and what has to be escaped so. */
static void add_string(text *t, ggld_string s)
{
    struct json_object *value = json_object_new_string_len(s.data, (int)s.len);
    size_t n = 0;
    const char *json =
        value == NULL
            ? NULL
            : json_object_to_json_string_length(
                  value,
                  JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &n);
    if (json != NULL)
        add(t, json, n);
    else
        t->failed = true;
    json_object_put(value);
}

static bool is_general(ggld_string key, ggld_string value)
{
    return key.len > 8 && memcmp(key.data, "general.", 8) == 0 &&
           ggld_utf8_prefix(key.data, key.len) == key.len &&
           value.len <= GGLD_ST_MAX_HEADER_BYTES &&
           ggld_utf8_prefix(value.data, value.len) == value.len;
}

/* Did an earlier text have that key? Shards may say the same. */
static bool was_there(const ggld_export_plan *p, uint64_t i, ggld_string key)
{
    ggld_string other, value;

    for (uint64_t k = 0; k < i; k++)
        if (p->source->format->text_at(p->source, k, &other, &value) &&
            other.len == key.len &&
            memcmp(other.data, key.data, (size_t)key.len) == 0)
            return true;
    return false;
}

static void add_metadata(const ggld_export_plan *p, text *t)
{
    ggld_string key, value;
    uint64_t i, n_left = 0;
    bool any = false;

    for (i = 0; p->source->format->text_at(p->source, i, &key, &value); i++) {
        if (!is_general(key, value) || was_there(p, i, key)) {
            n_left += !is_general(key, value);
            continue;
        }
        add_format(t, "%s", any ? "," : "\"" GGLD_ST_METADATA "\":{");
        add_string(t, key);
        add(t, ":", 1);
        add_string(t, value);
        any = true;
    }
    if (any)
        add(t, "}", 1);
    if (n_left != 0)
        ggld_plan_note(p,
                       "%" PRIu64 " of %" PRIu64
                       " key-values %s not carried over: safetensors take "
                       "texts of general.* keys",
                       n_left, i, n_left == 1 ? "is" : "are");
}

static void add_tensor(const ggld_export_plan *p, const ggld_planned *planned,
                       uint64_t *offset, text *t)
{
    const ggld_source_tensor *in = &p->source->tensors[planned->tensor];
    uint64_t size = ggld_bytes_of(planned->type, ggld_source_elems(in));

    if (t->n > 1)
        add(t, ",", 1);
    add_string(t, planned->name);
    add_format(t, ":{\"dtype\":\"%s\",\"shape\":[",
               ggld_dtype_of_type(planned->type)->name);
    for (uint32_t i = in->n_dims; i > 0; i--)
        add_format(t, "%" PRIu64 "%s", in->dims[i - 1], i > 1 ? "," : "");
    add_format(t, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", *offset,
               *offset + size);
    *offset += size;
}

/* With spaces behind it, up to a multiple of 8. */
static ggld_status make_header(const ggld_export_plan *p, text *t,
                               uint64_t *data_bytes, ggld_error *err)
{
    *data_bytes = 0;
    add(t, "{", 1);
    add_metadata(p, t);
    for (uint64_t i = 0; i < p->n_tensors; i++)
        add_tensor(p, &p->tensors[i], data_bytes, t);
    add(t, "}", 1);
    add(t, "       ", (8 - t->n % 8) % 8);
    if (t->failed)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for a header of %" PRIu64 " tensors",
                         p->n_tensors);
    if (t->n > GGLD_ST_MAX_HEADER_BYTES)
        return ggld_fail(err, GGLD_E_LIMIT, ggld_nowhere(),
                         "the header has %zu bytes, and readers take %u", t->n,
                         GGLD_ST_MAX_HEADER_BYTES);
    return GGLD_OK;
}

static ggld_status write_header(state *s, ggld_error *err)
{
    uint8_t length[GGLD_ST_LENGTH_BYTES];

    ggld_store_le64(length, s->header.n);
    ggld_status status = ggld_sink_write(&s->sink, length, sizeof length, err);
    if (status == GGLD_OK)
        status = ggld_sink_write(&s->sink, s->header.data, s->header.n, err);
    return status;
}

/* ---- the file ---- */

static ggld_status begin(ggld_export_plan *p, const char *path, ggld_error *err)
{
    uint64_t data_bytes;
    state *s = calloc(1, sizeof *s);

    if (s == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for an output");
    p->state = s;
    s->allocator = ggld_allocator_of(NULL);
    ggld_sink_init(&s->sink);
    ggld_status status = make_header(p, &s->header, &data_bytes, err);
    if (status == GGLD_OK)
        status = ggld_sink_open(&s->sink, path,
                                GGLD_ST_LENGTH_BYTES + s->header.n + data_bytes,
                                true, &s->allocator, err);
    return status == GGLD_OK ? write_header(s, err) : status;
}

static ggld_status put(ggld_export_plan *p, const void *data, size_t size,
                       ggld_error *err)
{
    state *s = p->state;
    return ggld_sink_write(&s->sink, data, size, err);
}

static ggld_status seal(ggld_export_plan *p, ggld_error *err)
{
    state *s = p->state;
    return ggld_sink_seal(&s->sink, err);
}

static ggld_status finish(ggld_export_plan *p, ggld_error *err)
{
    state *s = p->state;
    return ggld_target_commit(&s->sink.target, err);
}

static void free_state(ggld_export_plan *p)
{
    state *s = p->state;

    p->state = NULL;
    if (s == NULL)
        return;
    ggld_sink_close(&s->sink);
    free(s->header.data);
    free(s);
}

const ggld_output_format ggld_output_safetensors = {
    GGLD_EXPORT_SAFETENSORS,
    ".safetensors",
    takes,
    choose,
    arrange,
    begin,
    put,
    seal,
    finish,
    free_state,
};
