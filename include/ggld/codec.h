/* SPDX-License-Identifier: MIT */
/* Buffers to buffers, for apps that load by themselves. Results are bit for
 * bit those of ggml's reference implementation, on every processor: products
 * and sums are single precision, each rounded once, never fused. */
#ifndef GGLD_CODEC_H
#define GGLD_CODEC_H

#include "error.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Dequantises n_elems elements of little-endian blocks at src into dst.
 *
 * n_elems must be a whole number of blocks and src_bytes at least their size
 * (bytes past it are not read). dst has room for n_elems floats. Neither needs
 * an alignment; they must not overlap. Any bytes are valid blocks: what is not
 * a number comes out as NaN or infinity.
 *
 * GGLD_E_INVALID: n_elems or src_bytes do not fit. GGLD_E_TENSOR_TYPE: the
 * type is unknown or removed. GGLD_E_UNSUPPORTED: it can't be dequantised.
 * Any thread. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_dequantize_f32(uint32_t tensor_type, const void *src,
                                size_t src_bytes, float *dst, uint64_t n_elems,
                                ggld_error *err);

/* The same to half floats: each value as ggld_dequantize_f32 gives it, then
 * rounded to the nearest half, ties to even, past 65504 to infinity. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_dequantize_f16(uint32_t tensor_type, const void *src,
                                size_t src_bytes, uint16_t *dst,
                                uint64_t n_elems, ggld_error *err);

/* Quantises n_elems floats into little-endian blocks at dst, byte for byte as
 * ggml's reference does.
 *
 * n_elems must be a whole number of blocks and dst_bytes at least their size.
 * GGLD_E_VALUE: a NaN, an infinity, or a block whose scale is past what a half
 * can hold (65504); offset in the error is the element, dst holds what the
 * reference would write, NaN and infinities taken as zero. GGLD_E_UNSUPPORTED:
 * no quantiser for this type. Any thread. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_quantize_f32(uint32_t tensor_type, const float *src,
                              uint64_t n_elems, void *dst, size_t dst_bytes,
                              ggld_error *err);

/* Reverses the byte order of each number in the blocks, in place: what a
 * big-endian file stores becomes what ggld_dequantize_f32 reads, and back.
 *
 * GGLD_E_INVALID: size_bytes is not that of whole blocks. GGLD_E_TENSOR_TYPE:
 * the type is unknown or removed. Any thread. */
GGLD_API GGLD_MUST_CHECK
ggld_status ggld_swap_bytes(uint32_t tensor_type, void *blocks,
                            size_t size_bytes, ggld_error *err);

/* Which instruction set the calls above and views use on this processor:
 * "scalar", "avx2" or "neon". Static. Any thread. */
GGLD_API const char *ggld_instruction_set(void);

#ifdef __cplusplus
}
#endif
#endif /* GGLD_CODEC_H */
