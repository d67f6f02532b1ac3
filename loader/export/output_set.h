/* SPDX-License-Identifier: MIT */
/* GGUF in shards: names, and libggld's writer of sets. */
#ifndef GGLD_EXPORT_OUTPUT_SET_H
#define GGLD_EXPORT_OUTPUT_SET_H

#include "output.h"

typedef struct ggld_output_set ggld_output_set;

/* Shards of what model declares; it is to be freed after the set. On failure
 * *out may be set, and is to be freed. */
ggld_status ggld_output_set_begin(ggld_output_set **out,
                                  const ggld_export_plan *p, ggld_writer *model,
                                  const char *path, ggld_error *err);
ggld_status ggld_output_set_put(ggld_output_set *o, const void *data,
                                size_t size, ggld_error *err);
ggld_status ggld_output_set_seal(ggld_output_set *o, ggld_error *err);
/* Names the shards, and tells of them whoever wants to hear it. */
ggld_status ggld_output_set_finish(ggld_output_set *o,
                                   const ggld_export_plan *p, ggld_error *err);
/* o may be NULL. */
void ggld_output_set_free(ggld_output_set *o);

#endif /* GGLD_EXPORT_OUTPUT_SET_H */
