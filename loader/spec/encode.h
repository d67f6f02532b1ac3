/* SPDX-License-Identifier: MIT */
/* Records to bytes: version 3, or an older one, in either byte order. An encoder
 * without memory counts what one with memory would write, so that sizes and
 * bytes come from the same calls. */
#ifndef GGLD_SPEC_ENCODE_H
#define GGLD_SPEC_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

#include <ggld/types.h>

typedef struct ggld_encoder {
    uint8_t *data; /* NULL: counts only */
    uint64_t cap;
    uint64_t pos;    /* bytes counted or written */
    bool full;       /* something did not fit; what comes after is left out */
    bool big_endian; /* the order of what is written; may be set at first */
    /* Likewise; 0: the version that is written. Version 1 has lengths, counts
     * and dimensions of 4 bytes: a greater one does not fit. */
    uint32_t version;
} ggld_encoder;

static inline ggld_encoder ggld_encoder_counting(void)
{
    ggld_encoder e = { NULL, UINT64_MAX, 0, false, false, 0 };
    return e;
}

static inline ggld_encoder ggld_encoder_into(void *data, uint64_t cap)
{
    ggld_encoder e = { (uint8_t *)data, cap, 0, false, false, 0 };
    return e;
}

void ggld_encode_u32(ggld_encoder *e, uint32_t value);
void ggld_encode_u64(ggld_encoder *e, uint64_t value);
/* A length, count or dimension. */
void ggld_encode_len(ggld_encoder *e, uint64_t value);
void ggld_encode_bytes(ggld_encoder *e, const void *data, uint64_t size);
/* That byte, size times. */
void ggld_encode_fill(ggld_encoder *e, uint8_t byte, uint64_t size);
/* Length and bytes. */
void ggld_encode_string(ggld_encoder *e, ggld_string string);
/* count numbers of width bytes (1, 2, 4, 8) each, which are in the order that
 * is said, at any address. */
void ggld_encode_numbers(ggld_encoder *e, const void *numbers, uint32_t width,
                         uint64_t count, bool big_endian);

void ggld_encode_header(ggld_encoder *e, uint64_t n_tensors, uint64_t n_kvs);
/* value: the encoded value, in the encoder's order. */
void ggld_encode_kv(ggld_encoder *e, ggld_string key, uint32_t value_type,
                    const void *value, uint64_t value_bytes);
/* offset: from the start of the data section. */
void ggld_encode_tensor_info(ggld_encoder *e, ggld_string name,
                             const uint64_t *dims, uint32_t n_dims,
                             uint32_t tensor_type, uint64_t offset);

#endif /* GGLD_SPEC_ENCODE_H */
