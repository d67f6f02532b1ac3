/* SPDX-License-Identifier: MIT */
/* The JSON header of a safetensors file, read and judged. */
#ifndef GGLD_EXPORT_HEADER_H
#define GGLD_EXPORT_HEADER_H

#include "dtype.h"
#include "source.h"

/* What the reference implementation takes. */
#define GGLD_ST_MAX_HEADER_BYTES 100000000u
/* The length in front of it. */
#define GGLD_ST_LENGTH_BYTES 8u
#define GGLD_ST_METADATA     "__metadata__"

typedef struct ggld_st_text {
    ggld_string key;
    ggld_string value;
} ggld_st_text;

typedef struct ggld_st_header {
    /* In the order of their data; offsets are in the file. Who takes them over
     * leaves NULL. */
    ggld_source_tensor *tensors;
    uint64_t n_tensors;
    ggld_st_text *texts; /* of __metadata__ */
    uint64_t n_texts;
    char *pool; /* where names and texts are */
    uint64_t pool_used;
} ggld_st_header;

/* json: the header, size bytes; data_bytes: what follows it in the file. label
 * stands in front of messages. On failure there is nothing to free. */
ggld_status ggld_st_header_parse(ggld_st_header *out, const char *json,
                                 uint64_t size, uint64_t data_bytes,
                                 const char *label, ggld_error *err);
void ggld_st_header_free(ggld_st_header *h);

#endif /* GGLD_EXPORT_HEADER_H */
