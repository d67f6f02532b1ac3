/* SPDX-License-Identifier: MIT */
/* Loads and stores of multi-byte numbers at any address, in either order,
 * independent of this machine's. Compilers make one instruction of each. */
#ifndef GGLD_BASE_BYTES_H
#define GGLD_BASE_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define GGLD_HOST_BIG_ENDIAN 1
#else
#define GGLD_HOST_BIG_ENDIAN 0
#endif

static inline uint16_t ggld_load_u16(const void *p, bool big_endian)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return big_endian == GGLD_HOST_BIG_ENDIAN ? v : __builtin_bswap16(v);
}

static inline uint32_t ggld_load_u32(const void *p, bool big_endian)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return big_endian == GGLD_HOST_BIG_ENDIAN ? v : __builtin_bswap32(v);
}

static inline uint64_t ggld_load_u64(const void *p, bool big_endian)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return big_endian == GGLD_HOST_BIG_ENDIAN ? v : __builtin_bswap64(v);
}

static inline uint16_t ggld_load_le16(const void *p)
{
    return ggld_load_u16(p, false);
}

static inline uint32_t ggld_load_le32(const void *p)
{
    return ggld_load_u32(p, false);
}

static inline uint64_t ggld_load_le64(const void *p)
{
    return ggld_load_u64(p, false);
}

static inline void ggld_store_u32(void *p, uint32_t v, bool big_endian)
{
    v = ggld_load_u32(&v, big_endian);
    memcpy(p, &v, sizeof v);
}

static inline void ggld_store_u64(void *p, uint64_t v, bool big_endian)
{
    v = ggld_load_u64(&v, big_endian);
    memcpy(p, &v, sizeof v);
}

static inline void ggld_store_le16(void *p, uint16_t v)
{
    v = ggld_load_le16(&v);
    memcpy(p, &v, sizeof v);
}

static inline void ggld_store_le32(void *p, uint32_t v)
{
    v = ggld_load_le32(&v);
    memcpy(p, &v, sizeof v);
}

static inline void ggld_store_le64(void *p, uint64_t v)
{
    v = ggld_load_le64(&v);
    memcpy(p, &v, sizeof v);
}

static inline float ggld_float_of_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline uint32_t ggld_bits_of_float(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static inline double ggld_double_of_bits(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline uint64_t ggld_bits_of_double(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

#endif /* GGLD_BASE_BYTES_H */
