/* SPDX-License-Identifier: MIT */
/* Records into an encoder, in file order. */
#include "emit.h"

void ggld_emit_metadata(ggld_encoder *e, const ggld_kvs *kvs,
                        const ggld_out_tensor *tensors, uint64_t n_tensors)
{
    ggld_encode_header(e, n_tensors, kvs->keys.n);
    for (uint32_t i = 0; i < kvs->keys.n; i++) {
        const ggld_kv_entry *kv = kvs->entries[i];
        ggld_encode_kv(e, kv->key, kv->type, kv->value, kv->value_bytes);
    }
    for (uint64_t i = 0; i < n_tensors; i++) {
        const ggld_out_tensor *t = &tensors[i];
        ggld_encode_tensor_info(e, t->name, t->dims, t->n_dims, t->type,
                                t->offset);
    }
}
