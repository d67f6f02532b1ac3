/* SPDX-License-Identifier: MIT */
/* See header.h. First the members are counted, so that there is room for all of
 * them; then each is read; then they are put into the order of their data and
 * have to fill it, one behind the other. */
#include "header.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/alloc.h"
#include "../base/checked.h"
#include "../base/index.h"
#include "../base/quote.h"
#include "json.h"
#include "place.h"

typedef struct parser {
    ggld_st_header *h;
    struct json_tokener *tokener;
    const char *json;
    uint64_t size;
    uint64_t data_bytes;
    const char *label;
    ggld_allocator allocator;
    ggld_error *err;
} parser;

static uint64_t offset_of(const parser *p, ggld_string piece)
{
    return GGLD_ST_LENGTH_BYTES + (uint64_t)(piece.data - p->json);
}

static uint64_t data_offset(const parser *p)
{
    return GGLD_ST_LENGTH_BYTES + p->size;
}

static ggld_status fail_nomem(const parser *p)
{
    return ggld_fail(p->err, GGLD_E_NOMEM, ggld_nowhere(),
                     "%sno memory for a header of %" PRIu64 " bytes", p->label,
                     p->size);
}

static ggld_status fail_json(const parser *p, ggld_string piece,
                             const char *what)
{
    uint64_t offset = offset_of(p, piece);
    return ggld_fail(p->err, GGLD_E_STRING,
                     ggld_place_of(GGLD_IN_HEADER, GGLD_NO_INDEX, offset),
                     "%sheader: %s, at byte %" PRIu64 " of the file", p->label,
                     what, offset);
}

/* ---- names and texts ---- */

/* A string's own text, which is never longer than its JSON. */
static bool keep_text(const parser *p, struct json_object *value,
                      ggld_string *out)
{
    ggld_string text;
    if (!ggld_json_string(value, &text))
        return false;
    char *copy = p->h->pool + p->h->pool_used;
    memcpy(copy, text.data, (size_t)text.len);
    p->h->pool_used += text.len;
    out->data = copy;
    out->len = text.len;
    return true;
}

static bool keep_string(const parser *p, ggld_string piece, ggld_string *out)
{
    struct json_object *value = ggld_json_parse(p->tokener, piece);
    bool good = keep_text(p, value, out);
    json_object_put(value);
    return good;
}

static ggld_status fail_text(const parser *p, ggld_string piece)
{
    return fail_json(p, piece,
                     ggld_json_has_lone_half(piece)
                         ? "no valid text: half of a surrogate pair stands "
                           "alone"
                         : "not JSON");
}

static bool is_metadata(ggld_string name)
{
    return name.len == sizeof GGLD_ST_METADATA - 1 &&
           memcmp(name.data, GGLD_ST_METADATA, (size_t)name.len) == 0;
}

/* ---- __metadata__ ---- */

static ggld_status take_text(const parser *p, const ggld_json_member *member,
                             ggld_index *index)
{
    ggld_st_header *h = p->h;
    ggld_st_text *t = &h->texts[h->n_texts];
    const ggld_names names = { &h->texts[0].key, sizeof *h->texts };

    if (!keep_string(p, member->key, &t->key))
        return fail_text(p, member->key);
    if (ggld_json_has_lone_half(member->value))
        return fail_text(p, member->value);
    if (!keep_string(p, member->value, &t->value))
        return ggld_fail(p->err, GGLD_E_VALUE_TYPE,
                         ggld_place_of(GGLD_IN_HEADER, GGLD_NO_INDEX,
                                       offset_of(p, member->value)),
                         "%s" GGLD_ST_METADATA ": the value of %s is no text",
                         p->label, ggld_quote(t->key.data, t->key.len).text);
    if (ggld_index_insert(index, names, (uint32_t)h->n_texts) != h->n_texts)
        return ggld_fail(p->err, GGLD_E_DUPLICATE,
                         ggld_place_of(GGLD_IN_HEADER, GGLD_NO_INDEX,
                                       offset_of(p, member->key)),
                         "%s" GGLD_ST_METADATA ": %s is there twice", p->label,
                         ggld_quote(t->key.data, t->key.len).text);
    h->n_texts++;
    return GGLD_OK;
}

static ggld_status take_texts(const parser *p, ggld_string value)
{
    ggld_json_members members = ggld_json_members_of(value.data, value.len);
    ggld_json_member member;
    uint64_t n;

    if (value.len == 4 && memcmp(value.data, "null", 4) == 0)
        return GGLD_OK;
    if (p->h->texts != NULL)
        return ggld_fail(
            p->err, GGLD_E_DUPLICATE,
            ggld_place_of(GGLD_IN_HEADER, GGLD_NO_INDEX, offset_of(p, value)),
            "%sheader: " GGLD_ST_METADATA " is there twice", p->label);
    if (value.data[0] != '{' || !ggld_json_count(value.data, value.len, &n))
        return fail_json(p, value, GGLD_ST_METADATA " is no object of texts");
    p->h->texts = ggld_alloc(&p->allocator, n + 1, sizeof *p->h->texts);
    ggld_index *index = ggld_index_new(&p->allocator, n);
    ggld_status status = GGLD_OK;
    if (p->h->texts == NULL || index == NULL)
        status = fail_nomem(p);
    while (status == GGLD_OK &&
           ggld_json_next(&members, &member) == GGLD_JSON_MEMBER)
        status = take_text(p, &member, index);
    ggld_free(&p->allocator, index);
    return status;
}

/* ---- one tensor ---- */

static ggld_status fail_tensor(const parser *p, const ggld_source_tensor *t,
                               ggld_status code, ggld_string piece,
                               const char *what)
{
    return ggld_fail(p->err, code,
                     ggld_place_of(GGLD_IN_TENSOR_INFO, p->h->n_tensors,
                                   offset_of(p, piece)),
                     "%stensor %s: %s", p->label,
                     ggld_quote(t->name.data, t->name.len).text, what);
}

static ggld_status take_dtype(const parser *p, ggld_source_tensor *t,
                              const ggld_dtype **out, ggld_string piece,
                              struct json_object *value)
{
    ggld_string name;
    if (value == NULL)
        return fail_tensor(p, t, GGLD_E_STRING, piece, "it has no dtype");
    if (!ggld_json_string(value, &name))
        return fail_tensor(p, t, GGLD_E_STRING, piece, "dtype is no text");
    *out = ggld_dtype_of_name(name);
    if (*out != NULL) {
        t->type_name = (*out)->name;
        t->type = (*out)->type;
        t->readable = (*out)->type != GGLD_NO_TYPE || (*out)->decode != NULL;
        return GGLD_OK;
    }
    return ggld_fail(p->err, GGLD_E_TENSOR_TYPE,
                     ggld_place_of(GGLD_IN_TENSOR_INFO, p->h->n_tensors,
                                   offset_of(p, piece)),
                     "%stensor %s: dtype %s is unknown", p->label,
                     ggld_quote(t->name.data, t->name.len).text,
                     ggld_quote(name.data, name.len).text);
}

static bool has_zero(const ggld_source_tensor *t)
{
    return t->dims[0] == 0 || t->dims[1] == 0 || t->dims[2] == 0 ||
           t->dims[3] == 0;
}

static ggld_status take_shape(const parser *p, ggld_source_tensor *t,
                              ggld_string piece, struct json_object *value)
{
    uint64_t n_elems = 1;

    if (value == NULL)
        return fail_tensor(p, t, GGLD_E_SHAPE, piece, "it has no shape");
    if (!json_object_is_type(value, json_type_array))
        return fail_tensor(p, t, GGLD_E_SHAPE, piece, "shape is no list");
    size_t n = json_object_array_length(value);
    if (n > 4)
        return ggld_fail(p->err, GGLD_E_SHAPE,
                         ggld_place_of(GGLD_IN_TENSOR_INFO, p->h->n_tensors,
                                       offset_of(p, piece)),
                         "%stensor %s: %zu dimensions; GGUF has at most 4",
                         p->label, ggld_quote(t->name.data, t->name.len).text,
                         n);
    t->n_dims = (uint8_t)n;
    for (size_t i = 0; i < 4; i++) {
        t->dims[i] = 1;
        if (i < n && !ggld_json_u64(json_object_array_get_idx(value, n - 1 - i),
                                    &t->dims[i]))
            return fail_tensor(p, t, GGLD_E_SHAPE, piece,
                               "shape has what is no size");
    }
    /* Zero times anything is nothing, whatever the order. */
    if (has_zero(t))
        return GGLD_OK;
    for (size_t i = 0; i < n; i++)
        if (!ggld_mul_u64(n_elems, t->dims[i], &n_elems) ||
            n_elems > INT64_MAX / 64)
            return fail_tensor(p, t, GGLD_E_OVERFLOW, piece,
                               "its shape is larger than any file");
    return GGLD_OK;
}

typedef struct extent {
    uint64_t begin; /* from the header's end on */
    uint64_t end;
} extent;

static ggld_status take_offsets(const parser *p, const ggld_source_tensor *t,
                                extent *out, ggld_string piece,
                                struct json_object *value)
{
    if (value == NULL)
        return fail_tensor(p, t, GGLD_E_STRING, piece,
                           "it has no data_offsets");
    if (!json_object_is_type(value, json_type_array) ||
        json_object_array_length(value) != 2)
        return fail_tensor(p, t, GGLD_E_STRING, piece,
                           "data_offsets is not a list of two offsets");
    if (!ggld_json_u64(json_object_array_get_idx(value, 0), &out->begin) ||
        !ggld_json_u64(json_object_array_get_idx(value, 1), &out->end))
        return fail_tensor(p, t, GGLD_E_STRING, piece,
                           "data_offsets has what is no valid offset");
    return GGLD_OK;
}

/* Do size, shape and type fit, and is it inside? */
static ggld_status take_extent(const parser *p, ggld_source_tensor *t,
                               const ggld_dtype *dtype, const extent *e,
                               ggld_string piece)
{
    ggld_place place = ggld_place_of(GGLD_IN_TENSOR_INFO, p->h->n_tensors,
                                     offset_of(p, piece));
    ggld_quoted name = ggld_quote(t->name.data, t->name.len);
    uint64_t n_elems = ggld_source_elems(t);
    uint64_t bits = n_elems * dtype->bits; /* elements are bounded */
    uint64_t data = data_offset(p);

    if (e->end < e->begin)
        return ggld_fail(p->err, GGLD_E_OVERFLOW, place,
                         "%stensor %s: its data ends at %" PRIu64
                         ", before it begins at %" PRIu64,
                         p->label, name.text, e->end, e->begin);
    if (bits % 8 != 0 || bits / 8 != e->end - e->begin)
        return ggld_fail(p->err, GGLD_E_SHAPE, place,
                         "%stensor %s: %" PRIu64 " elements of %s are %" PRIu64
                         " bytes, but its data has %" PRIu64,
                         p->label, name.text, n_elems, dtype->name, bits / 8,
                         e->end - e->begin);
    if (e->end > p->data_bytes)
        return ggld_fail(p->err, GGLD_E_TRUNCATED, place,
                         "%stensor %s: data at %" PRIu64 " + %" PRIu64
                         " bytes ends at %" PRIu64
                         ", past the end of the file (%" PRIu64 " bytes)",
                         p->label, name.text, data + e->begin,
                         e->end - e->begin, data + e->end,
                         data + p->data_bytes);
    t->file_offset_bytes = data + e->begin;
    t->size_bytes = e->end - e->begin;
    return GGLD_OK;
}

static struct json_object *field(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;
    (void)json_object_object_get_ex(object, key, &value);
    return value;
}

static ggld_status take_fields(const parser *p, ggld_source_tensor *t,
                               ggld_string piece, struct json_object *object)
{
    const ggld_dtype *dtype = NULL;
    extent e = { 0, 0 };
    uint64_t n = 0;
    ggld_status status;

    if (object == NULL || !json_object_is_type(object, json_type_object) ||
        !ggld_json_count(piece.data, piece.len, &n))
        return fail_tensor(p, t, GGLD_E_STRING, piece,
                           "is not described by a JSON object");
    if (n != (uint64_t)json_object_object_length(object))
        return fail_tensor(p, t, GGLD_E_DUPLICATE, piece,
                           "a field is there twice");
    status = take_dtype(p, t, &dtype, piece, field(object, "dtype"));
    if (status == GGLD_OK)
        status = take_shape(p, t, piece, field(object, "shape"));
    if (status == GGLD_OK)
        status = take_offsets(p, t, &e, piece, field(object, "data_offsets"));
    return status == GGLD_OK ? take_extent(p, t, dtype, &e, piece) : status;
}

static ggld_status take_tensor(const parser *p, ggld_string name,
                               const ggld_json_member *member,
                               ggld_index *index)
{
    ggld_st_header *h = p->h;
    ggld_source_tensor *t = &h->tensors[h->n_tensors];
    const ggld_names names = { &h->tensors[0].name, sizeof *h->tensors };

    t->name = name;
    if (memchr(name.data, '\0', (size_t)name.len) != NULL)
        return fail_tensor(p, t, GGLD_E_STRING, member->key,
                           "the name has a NUL");
    uint32_t first = ggld_index_insert(index, names, (uint32_t)h->n_tensors);
    if (first != h->n_tensors)
        return fail_tensor(p, t, GGLD_E_DUPLICATE, member->key,
                           "the name is there twice");
    struct json_object *object = ggld_json_parse(p->tokener, member->value);
    ggld_status status = take_fields(p, t, member->value, object);
    json_object_put(object);
    if (status == GGLD_OK)
        h->n_tensors++;
    return status;
}

/* ---- all of them ---- */

static ggld_status take_members(const parser *p, ggld_index *index)
{
    ggld_json_members members = ggld_json_members_of(p->json, p->size);
    ggld_json_member member;
    ggld_status status = GGLD_OK;
    ggld_string name;

    while (status == GGLD_OK &&
           ggld_json_next(&members, &member) == GGLD_JSON_MEMBER) {
        if (!keep_string(p, member.key, &name))
            return fail_text(p, member.key);
        status = is_metadata(name) ? take_texts(p, member.value)
                                   : take_tensor(p, name, &member, index);
    }
    return status;
}

static ggld_status parse(const parser *p)
{
    ggld_json_members members = ggld_json_members_of(p->json, p->size);
    ggld_json_member member;
    uint64_t n = 0;
    ggld_json_step step;

    while ((step = ggld_json_next(&members, &member)) == GGLD_JSON_MEMBER)
        n++;
    if (step == GGLD_JSON_BROKEN) {
        ggld_string rest = { p->json + members.pos, 0 };
        return fail_json(p, rest, "not JSON");
    }
    if (n >= GGLD_INDEX_MAX)
        return fail_nomem(p);
    p->h->tensors = ggld_alloc(&p->allocator, n + 1, sizeof *p->h->tensors);
    p->h->pool = ggld_alloc_bytes(&p->allocator, p->size);
    ggld_index *index = ggld_index_new(&p->allocator, n);
    ggld_status status = GGLD_OK;
    if (p->h->tensors == NULL || p->h->pool == NULL || index == NULL)
        status = fail_nomem(p);
    if (status == GGLD_OK)
        status = take_members(p, index);
    ggld_free(&p->allocator, index);
    return status == GGLD_OK ? ggld_st_place(p->h, data_offset(p),
                                             p->data_bytes, p->label, p->err)
                             : status;
}

ggld_status ggld_st_header_parse(ggld_st_header *out, const char *json,
                                 uint64_t size, uint64_t data_bytes,
                                 const char *label, ggld_error *err)
{
    ggld_st_header h = { 0 };
    parser p = { &h,    ggld_json_tokener(),     json, size, data_bytes,
                 label, ggld_allocator_of(NULL), err };
    ggld_status status = GGLD_E_NOMEM;

    if (p.tokener == NULL)
        (void)fail_nomem(&p);
    else
        status = parse(&p);
    if (p.tokener != NULL)
        json_tokener_free(p.tokener);
    if (status == GGLD_OK)
        *out = h;
    else
        ggld_st_header_free(&h);
    return status;
}

void ggld_st_header_free(ggld_st_header *h)
{
    free(h->tensors);
    free(h->texts);
    free(h->pool);
    memset(h, 0, sizeof *h);
}
