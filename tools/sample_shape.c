/* SPDX-License-Identifier: MIT */
/* The tensors and the key-values of a sample; see sample.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sample.h"

#define PER_LAYER 9

typedef enum extent { NONE, EMBD, FF, KV, VOCAB } extent;

typedef struct tensor_row {
    const char *name;
    extent dims[2];
} tensor_row;

static const tensor_row layer_rows[PER_LAYER] = {
    { "attn_norm", { EMBD, NONE } },   { "ffn_down", { FF, EMBD } },
    { "ffn_gate", { EMBD, FF } },      { "ffn_up", { EMBD, FF } },
    { "ffn_norm", { EMBD, NONE } },    { "attn_k", { EMBD, KV } },
    { "attn_output", { EMBD, EMBD } }, { "attn_q", { EMBD, EMBD } },
    { "attn_v", { EMBD, KV } },
};
static const tensor_row first_row = { "token_embd", { EMBD, VOCAB } };
static const tensor_row norm_row = { "output_norm", { EMBD, NONE } };
static const tensor_row last_row = { "output", { EMBD, VOCAB } };

uint64_t sample_tensor_count(const sample_shape *shape)
{
    return shape->n_layers * PER_LAYER + 3;
}

static uint64_t extent_of(const sample_shape *shape, extent e)
{
    switch (e) {
    case EMBD:
        return shape->n_embd;
    case FF:
        return shape->n_ff;
    case KV:
        return shape->n_embd / shape->n_heads * shape->n_kv_heads;
    case VOCAB:
        return shape->n_vocab;
    default:
        return 1;
    }
}

sample_tensor sample_tensor_at(const sample_shape *shape, uint64_t index)
{
    uint64_t last = sample_tensor_count(shape) - 1;
    const tensor_row *row = index == 0          ? &first_row
                            : index == last     ? &last_row
                            : index == last - 1 ? &norm_row
                                                : NULL;
    sample_tensor t;

    if (row == NULL) {
        row = &layer_rows[(index - 1) % PER_LAYER];
        snprintf(t.name, sizeof t.name, "blk.%" PRIu64 ".%s.weight",
                 (index - 1) / PER_LAYER, row->name);
    } else {
        snprintf(t.name, sizeof t.name, "%s.weight", row->name);
    }
    t.n_dims = row->dims[1] == NONE ? 1 : 2;
    t.type = t.n_dims == 1      ? (uint32_t)GGLD_TYPE_F32
             : row == &last_row ? shape->output_type
                                : shape->type;
    t.dims[0] = extent_of(shape, row->dims[0]);
    t.dims[1] = extent_of(shape, row->dims[1]);
    t.n_elems = t.dims[0] * t.dims[1];
    const ggld_type_traits *traits = ggld_type_traits_of(t.type);
    t.size_bytes = t.n_elems / traits->block_elems * traits->block_bytes;
    return t;
}

uint64_t sample_data_bytes(const sample_shape *shape)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < sample_tensor_count(shape); i++)
        sum += sample_tensor_at(shape, i).size_bytes;
    return sum;
}

/* Key-values by table: a string, a number or a float each. */
typedef struct kv_row {
    const char *key;
    const char *text;
    uint64_t number;
    float real;
} kv_row;

static ggld_status put_row(ggld_writer *w, const kv_row *row, ggld_error *err)
{
    if (row->text != NULL)
        return ggld_writer_set_string(w, row->key, row->text, strlen(row->text),
                                      err);
    if (row->real != 0)
        return ggld_writer_set_f32(w, row->key, row->real, err);
    return ggld_writer_set_u32(w, row->key, (uint32_t)row->number, err);
}

static ggld_status put_rows(ggld_writer *w, const kv_row *rows, size_t n,
                            ggld_error *err)
{
    ggld_status status = GGLD_OK;

    for (size_t i = 0; i < n && status == GGLD_OK; i++)
        status = put_row(w, &rows[i], err);
    return status;
}

static ggld_status put_languages(ggld_writer *w, ggld_error *err)
{
    static const ggld_string languages[] = { { "en", 2 }, { "de", 2 } };
    return ggld_writer_set_strings(w, "general.languages", languages, 2, err);
}

static ggld_status put_llama(ggld_writer *w, const sample_shape *s,
                             ggld_error *err)
{
    const kv_row rows[] = {
        { "llama.vocab_size", NULL, s->n_vocab, 0 },
        { "llama.context_length", NULL, s->n_context, 0 },
        { "llama.embedding_length", NULL, s->n_embd, 0 },
        { "llama.block_count", NULL, s->n_layers, 0 },
        { "llama.feed_forward_length", NULL, s->n_ff, 0 },
        { "llama.rope.dimension_count", NULL, s->n_embd / s->n_heads, 0 },
        { "llama.rope.freq_base", NULL, 0, s->rope_base },
        { "llama.attention.head_count", NULL, s->n_heads, 0 },
        { "llama.attention.head_count_kv", NULL, s->n_kv_heads, 0 },
        { "llama.attention.layer_norm_rms_epsilon", NULL, 0, 1e-5f },
    };
    return put_rows(w, rows, sizeof rows / sizeof rows[0], err);
}

ggld_status sample_put_kvs(ggld_writer *w, const sample_shape *s,
                           ggld_error *err)
{
    const kv_row rows[] = {
        { "general.architecture", "llama", 0, 0 },
        { "general.type", "model", 0, 0 },
        { "general.name", s->name, 0, 0 },
        { "general.description", "random weights, made by ggld sample", 0, 0 },
        { "general.license", "cc0-1.0", 0, 0 },
        { "general.file_type", NULL, s->file_type, 0 },
        { "general.quantization_version", NULL, 2, 0 },
    };
    ggld_status status = put_rows(w, rows, sizeof rows / sizeof rows[0], err);

    if (status == GGLD_OK)
        status = put_languages(w, err);
    if (status == GGLD_OK)
        status = put_llama(w, s, err);
    if (status == GGLD_OK)
        status = sample_put_vocab(w, s, err);
    return status;
}
