/* SPDX-License-Identifier: MIT */
/* Records into an encoder, in file order. */
#include "emit.h"

#include "../spec/transcode.h"

/* Entries hold values in little-endian, whatever the file's order. */
static void emit_kv(ggld_encoder *e, const ggld_kv_entry *kv)
{
    ggld_cursor c = { .span = { kv->value, kv->value_bytes } };
    ggld_fault ignored;

    if (!e->big_endian) {
        ggld_encode_kv(e, kv->key, kv->type, kv->value, kv->value_bytes);
        return;
    }
    ggld_encode_kv(e, kv->key, kv->type, NULL, 0);
    if (!ggld_transcode_value(&c, kv->type, e, &ignored))
        e->full = true; /* it never is: the writer has encoded it */
}

void ggld_emit_kvs(ggld_encoder *e, const ggld_kvs *kvs, uint64_t n_tensors)
{
    ggld_encode_header(e, n_tensors, kvs->keys.n);
    for (uint32_t i = 0; i < kvs->keys.n; i++)
        emit_kv(e, ggld_kvs_at(kvs, i));
}

void ggld_emit_tensors(ggld_encoder *e, const ggld_out_tensor *tensors,
                       uint64_t n_tensors)
{
    for (uint64_t i = 0; i < n_tensors; i++) {
        const ggld_out_tensor *t = &tensors[i];
        ggld_encode_tensor_info(e, t->name, t->dims, t->n_dims, t->type,
                                t->offset);
    }
}

void ggld_emit_metadata(ggld_encoder *e, const ggld_kvs *kvs,
                        const ggld_out_tensor *tensors, uint64_t n_tensors)
{
    ggld_emit_kvs(e, kvs, n_tensors);
    ggld_emit_tensors(e, tensors, n_tensors);
}
