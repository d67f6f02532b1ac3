/* SPDX-License-Identifier: MIT */
/* The metadata of a file to be written, as bytes. */
#ifndef GGLD_WRITE_EMIT_H
#define GGLD_WRITE_EMIT_H

#include "../spec/encode.h"
#include "kvs.h"
#include "plan.h"

/* Header, key-values, tensor table, in the encoder's order; no padding behind.
 * The number of bytes does not depend on the tensors' offsets. */
void ggld_emit_metadata(ggld_encoder *e, const ggld_kvs *kvs,
                        const ggld_out_tensor *tensors, uint64_t n_tensors);
/* What stands in front of the table, and rows of it. */
void ggld_emit_kvs(ggld_encoder *e, const ggld_kvs *kvs, uint64_t n_tensors);
void ggld_emit_tensors(ggld_encoder *e, const ggld_out_tensor *tensors,
                       uint64_t n_tensors);

#endif /* GGLD_WRITE_EMIT_H */
