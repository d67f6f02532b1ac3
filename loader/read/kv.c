/* SPDX-License-Identifier: MIT */
/* Getters of single values. A file may change under its map, so that lengths
 * are looked at anew and every pointer comes from the span. */
#include "kv.h"

#include <string.h>

#include "../base/index.h"
#include "../spec/types.h"

ggld_cursor ggld_cursor_at(const ggld_file *file, uint64_t offset)
{
    ggld_cursor c = { file->metadata, ggld_min_u64(offset, file->metadata.size),
                      file->big_endian, file->version == 1 };
    return c;
}

/* ---- numbers ---- */

typedef enum number_kind {
    NUMBER_UNSIGNED,
    NUMBER_NEGATIVE,
    NUMBER_FLOAT,
    NUMBER_NONE
} number_kind;

typedef struct number {
    number_kind kind;
    uint64_t bits; /* UNSIGNED: the value; NEGATIVE: in two's complement */
    double real;
} number;

static number number_unsigned(uint64_t value)
{
    number n = { NUMBER_UNSIGNED, value, 0 };
    return n;
}

static number number_signed(int64_t value)
{
    number n = { value < 0 ? NUMBER_NEGATIVE : NUMBER_UNSIGNED, (uint64_t)value,
                 0 };
    return n;
}

static number number_float(double value)
{
    number n = { NUMBER_FLOAT, 0, value };
    return n;
}

static number number_load(const uint8_t *p, uint32_t type, bool big)
{
    number none = { NUMBER_NONE, 0, 0 };
    switch (type) {
    case GGLD_VALUE_U8:
        return number_unsigned(p[0]);
    case GGLD_VALUE_I8:
        return number_signed((int8_t)p[0]);
    case GGLD_VALUE_U16:
        return number_unsigned(ggld_load_u16(p, big));
    case GGLD_VALUE_I16:
        return number_signed((int16_t)ggld_load_u16(p, big));
    case GGLD_VALUE_U32:
        return number_unsigned(ggld_load_u32(p, big));
    case GGLD_VALUE_I32:
        return number_signed((int32_t)ggld_load_u32(p, big));
    case GGLD_VALUE_U64:
        return number_unsigned(ggld_load_u64(p, big));
    case GGLD_VALUE_I64:
        return number_signed((int64_t)ggld_load_u64(p, big));
    case GGLD_VALUE_F32:
        return number_float((double)ggld_float_of_bits(ggld_load_u32(p, big)));
    case GGLD_VALUE_F64:
        return number_float(ggld_double_of_bits(ggld_load_u64(p, big)));
    default:
        return none;
    }
}

/* Limits in double are exact: 2^63 and 2^64. A NaN fails every comparison. */
#define TWO_63 9223372036854775808.0
#define TWO_64 18446744073709551616.0

bool ggld_number_u64(const uint8_t *p, uint32_t type, bool big_endian,
                     uint64_t *out)
{
    number n = number_load(p, type, big_endian);
    if (n.kind == NUMBER_FLOAT && n.real >= 0 && n.real < TWO_64 &&
        (double)(uint64_t)n.real == n.real)
        n = number_unsigned((uint64_t)n.real);
    if (n.kind != NUMBER_UNSIGNED)
        return false;
    *out = n.bits;
    return true;
}

bool ggld_number_i64(const uint8_t *p, uint32_t type, bool big_endian,
                     int64_t *out)
{
    number n = number_load(p, type, big_endian);
    if (n.kind == NUMBER_FLOAT && n.real >= -TWO_63 && n.real < TWO_63 &&
        (double)(int64_t)n.real == n.real)
        n = number_signed((int64_t)n.real);
    if (n.kind == NUMBER_FLOAT || n.kind == NUMBER_NONE ||
        (n.kind == NUMBER_UNSIGNED && n.bits > INT64_MAX))
        return false;
    *out = (int64_t)n.bits;
    return true;
}

/* Does the double that an integer was rounded to still have its value? */
static bool unsigned_to_double(uint64_t bits, double *out)
{
    double real = (double)bits;
    if (real >= TWO_64 || (uint64_t)real != bits)
        return false;
    *out = real;
    return true;
}

bool ggld_number_f64(const uint8_t *p, uint32_t type, bool big_endian,
                     double *out)
{
    number n = number_load(p, type, big_endian);
    double real;

    switch (n.kind) {
    case NUMBER_FLOAT:
        *out = n.real;
        return true;
    case NUMBER_UNSIGNED:
        return unsigned_to_double(n.bits, out);
    case NUMBER_NEGATIVE:
        if (!unsigned_to_double(0 - n.bits, &real))
            return false;
        *out = -real;
        return true;
    case NUMBER_NONE:
        break;
    }
    return false;
}

bool ggld_value_is_integer(uint32_t value_type)
{
    return value_type <= GGLD_VALUE_I32 || value_type == GGLD_VALUE_U64 ||
           value_type == GGLD_VALUE_I64;
}

/* ---- the public getters ---- */

/* The bytes of a value of fixed size, or NULL. */
static const uint8_t *scalar_of(const ggld_kv *kv)
{
    uint32_t size = ggld_value_size(kv->type);
    return size == 0 ? NULL
                     : ggld_span_at(kv->file->metadata, kv->value_offset, size);
}

bool ggld_kv_get_u64(const ggld_kv *kv, uint64_t *out)
{
    const uint8_t *p = scalar_of(kv);
    return p != NULL && ggld_number_u64(p, kv->type, kv->file->big_endian, out);
}

bool ggld_kv_get_i64(const ggld_kv *kv, int64_t *out)
{
    const uint8_t *p = scalar_of(kv);
    return p != NULL && ggld_number_i64(p, kv->type, kv->file->big_endian, out);
}

bool ggld_kv_get_f64(const ggld_kv *kv, double *out)
{
    const uint8_t *p = scalar_of(kv);
    return p != NULL && ggld_number_f64(p, kv->type, kv->file->big_endian, out);
}

bool ggld_kv_get_bool(const ggld_kv *kv, bool *out)
{
    const uint8_t *p = kv->type == GGLD_VALUE_BOOL ? scalar_of(kv) : NULL;
    if (p == NULL)
        return false;
    *out = *p != 0;
    return true;
}

bool ggld_kv_get_string(const ggld_kv *kv, ggld_string *out)
{
    ggld_cursor c = ggld_cursor_at(kv->file, kv->value_offset);
    uint64_t len;

    if (kv->type != GGLD_VALUE_STRING || !ggld_cursor_len(&c, &len))
        return false;
    const uint8_t *data = ggld_cursor_take(&c, len);
    if (data == NULL)
        return false;
    out->data = (const char *)data;
    out->len = len;
    return true;
}

ggld_raw_value ggld_kv_raw(const ggld_kv *kv)
{
    const ggld_file *file = kv->file;
    ggld_raw_value raw = { { (const char *)file->metadata.data +
                                 kv->value_offset,
                             kv->value_bytes },
                           file->version,
                           file->big_endian,
                           kv->value_offset };
    return raw;
}

uint64_t ggld_kv_count(const ggld_file *file)
{
    return file->n_kvs;
}

const ggld_kv *ggld_kv_at(const ggld_file *file, uint64_t index)
{
    return index < file->n_kvs ? &file->kvs[index] : NULL;
}

const ggld_kv *ggld_kv_find_n(const ggld_file *file, const char *key,
                              size_t len)
{
    if (file->n_kvs == 0)
        return NULL;
    ggld_names names = { &file->kvs[0].key, sizeof(ggld_kv) };
    uint32_t i = ggld_index_find(file->kv_index, names, key, len);
    return i == GGLD_INDEX_NONE ? NULL : &file->kvs[i];
}

const ggld_kv *ggld_kv_find(const ggld_file *file, const char *key)
{
    return ggld_kv_find_n(file, key, strlen(key));
}

ggld_string ggld_kv_key(const ggld_kv *kv)
{
    return kv->key;
}

uint32_t ggld_kv_type(const ggld_kv *kv)
{
    return kv->type;
}
