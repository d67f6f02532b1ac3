/* SPDX-License-Identifier: MIT */
#include "shaped.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { F32, F16, Q4_0, Q8_0 = 8, I8 = 24 };
enum { U32 = 4, FLOAT32 = 6, BOOL = 7, TEXT = 8, ARRAY = 9, S32 = 5 };

/* ---- fields ---- */

static void mark(shaped *s, field_kind kind, size_t width)
{
    if (s->n_fields == SHAPED_MAX_FIELDS)
        abort();
    field f = { kind, s->img.size, width };
    s->fields[s->n_fields++] = f;
}

static void put(shaped *s, field_kind kind, uint64_t value, size_t width)
{
    mark(s, kind, width);
    image_number(&s->img, value, width);
}

static void put_len(shaped *s, field_kind kind, uint64_t value)
{
    put(s, kind, value, s->img.version == 1 ? 4 : 8);
}

static void put_text(shaped *s, const char *text)
{
    put_len(s, FIELD_LENGTH, strlen(text));
    image_bytes(&s->img, text, strlen(text));
}

static void begin(shaped *s, const char *name, uint32_t version,
                  bool big_endian, uint64_t n_tensors, uint64_t n_kvs)
{
    memset(s, 0, sizeof *s);
    s->name = name;
    s->img = image_new(version, big_endian, n_tensors, n_kvs);
    size_t width = version == 1 ? 4 : 8;
    s->fields[s->n_fields++] = (field){ FIELD_TYPE, 4, 4 };
    s->fields[s->n_fields++] = (field){ FIELD_COUNT, 8, width };
    s->fields[s->n_fields++] = (field){ FIELD_COUNT, 8 + width, width };
}

/* ---- records ---- */

static extent *record(shaped *s)
{
    size_t n = s->n_kvs + s->n_tensors;
    if (n == SHAPED_MAX_RECORDS)
        abort();
    s->records[n].begin = s->img.size;
    return &s->records[n];
}

static void record_end(shaped *s, extent *r)
{
    r->end = s->img.size;
    s->table_end = s->img.size;
}

static void put_key(shaped *s, const char *key, uint32_t type)
{
    put_text(s, key);
    put(s, FIELD_TYPE, type, 4);
}

static void kv_number(shaped *s, const char *key, uint32_t type, uint64_t value)
{
    extent *r = record(s);
    put_key(s, key, type);
    put(s, FIELD_VALUE, value, type == BOOL ? 1 : 4);
    record_end(s, r);
    s->n_kvs++;
}

static void kv_text(shaped *s, const char *key, const char *value)
{
    extent *r = record(s);
    put_key(s, key, TEXT);
    put_text(s, value);
    record_end(s, r);
    s->n_kvs++;
}

/* Of n strings, or of n numbers of four bytes. */
static void kv_array(shaped *s, const char *key, uint32_t type, uint64_t n)
{
    char text[24];
    extent *r = record(s);
    put_key(s, key, ARRAY);
    put(s, FIELD_TYPE, type, 4);
    put_len(s, FIELD_COUNT, n);
    for (uint64_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "t%llu", (unsigned long long)i);
        if (type == TEXT)
            put_text(s, text);
        else
            image_u32(&s->img, (uint32_t)i);
    }
    record_end(s, r);
    s->n_kvs++;
}

static void kv_nested(shaped *s, const char *key)
{
    extent *r = record(s);
    put_key(s, key, ARRAY);
    put(s, FIELD_TYPE, ARRAY, 4);
    put_len(s, FIELD_COUNT, 3);
    for (uint32_t i = 0; i < 3; i++) {
        put(s, FIELD_TYPE, i == 1 ? TEXT : U32, 4);
        put_len(s, FIELD_COUNT, i);
        if (i == 1)
            put_text(s, "inner");
        else
            for (uint32_t k = 0; k < i; k++)
                image_u32(&s->img, k);
    }
    record_end(s, r);
    s->n_kvs++;
}

static uint64_t bytes_of(uint32_t type, uint64_t n_elems)
{
    switch (type) {
    case F32:
        return 4 * n_elems;
    case F16:
        return 2 * n_elems;
    case Q4_0:
        return n_elems / 32 * 18;
    case Q8_0:
        return n_elems / 32 * 34;
    default:
        return n_elems;
    }
}

/* Behind those before it. Its extent counts from the data section for now. */
static void tensor(shaped *s, const char *name, uint32_t type, uint32_t n_dims,
                   uint64_t d0, uint64_t d1, size_t alignment)
{
    size_t before = s->n_tensors == 0 ? 0 : s->data[s->n_tensors - 1].end;
    extent *r = record(s);
    extent *data = &s->data[s->n_tensors];
    uint64_t elems = (n_dims > 0 ? d0 : 1) * (n_dims > 1 ? d1 : 1);

    data->begin = (before + alignment - 1) / alignment * alignment;
    data->end = data->begin + (size_t)bytes_of(type, elems);
    put_text(s, name);
    put(s, FIELD_COUNT, n_dims, 4);
    if (n_dims > 0)
        put_len(s, FIELD_DIM, d0);
    if (n_dims > 1)
        put_len(s, FIELD_DIM, d1);
    put(s, FIELD_TYPE, type, 4);
    put(s, FIELD_OFFSET, data->begin, 8);
    record_end(s, r);
    s->n_tensors++;
}

static void put_data(shaped *s, size_t alignment)
{
    image_pad(&s->img, alignment);
    size_t start = s->img.size;
    for (size_t i = 0; i < s->n_tensors; i++) {
        s->data[i].begin += start;
        s->data[i].end += start;
        image_pad(&s->img, alignment);
        image_data(&s->img, s->data[i].end - s->data[i].begin);
    }
    image_pad(&s->img, alignment);
}

void shaped_free(shaped *s)
{
    image_free(&s->img);
}

/* ---- shapes ---- */

static void language(shaped *s, uint32_t version, bool big_endian,
                     uint64_t rest)
{
    char name[64];
    begin(s, version == 1 ? "language, version 1" : "language", version,
          big_endian, rest != 0 ? 10 : 9, 10);
    s->strict = version != 1 && !big_endian;
    kv_text(s, "general.architecture", "llama");
    kv_text(s, "general.name", "sweep");
    kv_number(s, "general.alignment", U32, 32);
    kv_number(s, "llama.block_count", U32, 2);
    kv_number(s, "llama.rope.freq_base", FLOAT32, 0x461C4000);
    kv_array(s, "tokenizer.ggml.tokens", TEXT, 12);
    kv_array(s, "tokenizer.ggml.scores", FLOAT32, 12);
    kv_array(s, "tokenizer.ggml.token_type", S32, 12);
    kv_number(s, "tokenizer.ggml.add_bos_token", BOOL, 1);
    kv_text(s, "tokenizer.chat_template", "{% for m in messages %}\n{{m}}");
    tensor(s, "token_embd.weight", Q4_0, 2, 32, 12, 32);
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "blk.%d.attn_norm.weight", i);
        tensor(s, name, F32, 1, 32, 0, 32);
        snprintf(name, sizeof name, "blk.%d.attn_q.weight", i);
        tensor(s, name, Q8_0, 2, 32, 4, 32);
        snprintf(name, sizeof name, "blk.%d.ffn_up.weight", i);
        tensor(s, name, Q4_0, 2, 64, 2, 32);
    }
    tensor(s, "output_norm.weight", F32, 1, 32, 0, 32);
    tensor(s, "output.weight", F16, 2, 32, 3, 32);
    if (rest != 0)
        tensor(s, "rest", I8, 1, rest, 0, 32);
    put_data(s, 32);
}

void shaped_language(shaped *s, uint32_t version, bool big_endian)
{
    language(s, version, big_endian, 0);
}

void shaped_4096(shaped *s)
{
    language(s, 3, false, 1);
    size_t begin_of_rest = s->data[s->n_tensors - 1].begin;
    shaped_free(s);
    language(s, 3, false, 4096 - begin_of_rest);
    s->name = "4096 bytes";
}

void shaped_diffusion(shaped *s)
{
    static const char far[] =
        "model.diffusion_model.output_blocks.11.1.transformer_blocks.0.attn2."
        "to_out.0.weight";
    begin(s, "diffusion", 3, false, 4, 1);
    kv_number(s, "general.alignment", U32, 64);
    tensor(s, "marker", F32, 2, 4, 0, 64);
    tensor(s, far, F16, 2, 7, 9, 64);
    tensor(s, "scale", F32, 0, 0, 0, 64);
    tensor(s, "bias", F32, 1, 33, 0, 64);
    put_data(s, 64);
}

void shaped_vocabulary(shaped *s)
{
    begin(s, "vocabulary", 2, false, 0, 3);
    kv_text(s, "general.architecture", "llama");
    kv_array(s, "tokens", TEXT, 30);
    kv_nested(s, "nested");
}

void shaped_long(shaped *s)
{
    char name[32];
    begin(s, "many records", 3, false, 1500, 1500);
    for (int i = 0; i < 1500; i++) {
        snprintf(name, sizeof name, "key.%d", i);
        image_kv_u32(&s->img, name, 1);
    }
    for (int i = 0; i < 1500; i++) {
        snprintf(name, sizeof name, "t.%d", i);
        image_tensor(&s->img, name, 1, (uint64_t[]){ 0 }, F32, 0);
    }
    image_pad(&s->img, 32);
}

void shaped_dense(shaped *s)
{
    begin(s, "dense records", 3, false, 0, 0);
    while (s->img.size < 24 + 24 * 13 * 300)
        image_bytes(&s->img, "", 1);
}
