/* SPDX-License-Identifier: MIT */
/* Tensors of a model in chunks that are numbered through, so that a chunk is
 * an item of a pipeline. */
#ifndef TOOLS_CHUNKS_H
#define TOOLS_CHUNKS_H

#include <stdbool.h>

#include "model.h"

typedef struct chunks {
    const model *m;
    uint64_t most_elems; /* of a chunk; a multiple of every block */
    uint64_t n;
    uint64_t n_elems; /* of all of them */
    uint64_t size_bytes;
    uint64_t n_tensors;
    uint64_t *end; /* by tensor: chunks up to its last one; to be freed */
} chunks;

typedef struct chunk {
    const ggld_tensor *tensor;
    ggld_tensor_info info;
    uint64_t first_elem;
    uint64_t n_elems;
    bool last; /* of its tensor */
} chunk;

/* Of the tensors that wanted says yes to, whose type has to be a known one.
 * Exit status. */
int chunks_make(chunks *c, const model *m, uint64_t most_elems,
                bool (*wanted)(const void *user, const ggld_tensor_info *info),
                const void *user);
void chunks_free(chunks *c);
/* number is below n. */
chunk chunks_at(const chunks *c, uint64_t number);

#endif /* TOOLS_CHUNKS_H */
