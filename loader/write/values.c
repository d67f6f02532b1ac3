/* SPDX-License-Identifier: MIT */
/* The public calls that set key-values: judge the key and the value, encode
 * the value, hand it to the list. */
#include <inttypes.h>
#include <string.h>

#include "../base/bytes.h"
#include "../base/quote.h"
#include "../spec/encode.h"
#include "../spec/limits.h"
#include "../spec/types.h"
#include "writer.h"

/* Where a key stands, or would. */
static ggld_place in_kv(const ggld_writer *w, ggld_string key)
{
    uint32_t i = ggld_name_list_find(&w->kvs.keys, key);
    return ggld_place_of(GGLD_IN_KV, i != GGLD_INDEX_NONE ? i : w->kvs.keys.n,
                         0);
}

ggld_kv_entry *ggld_writer_new_kv(const ggld_writer *w, ggld_string key,
                                  uint32_t type, uint64_t value_bytes,
                                  ggld_error *err)
{
    ggld_kv_entry *entry =
        ggld_kv_entry_new(&w->allocator, key, type, value_bytes);
    if (entry == NULL)
        ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                  "no memory for key %s with a value of %" PRIu64 " bytes",
                  ggld_quote(key.data, key.len).text, value_bytes);
    return entry;
}

static bool is_alignment_key(ggld_string key)
{
    size_t len = sizeof GGLD_KEY_ALIGNMENT - 1;
    return key.len == len && memcmp(key.data, GGLD_KEY_ALIGNMENT, len) == 0;
}

static ggld_status check_alignment(const ggld_writer *w,
                                   const ggld_kv_entry *entry, ggld_error *err)
{
    const char *name = ggld_value_type_name(entry->type);

    if (entry->type != GGLD_VALUE_U32)
        return ggld_fail(err, GGLD_E_ALIGNMENT, in_kv(w, entry->key),
                         "'" GGLD_KEY_ALIGNMENT "': its type is %s; it must be "
                         "u32",
                         name != NULL ? name : "unknown");
    uint32_t value = ggld_load_le32(entry->value);
    if (value != w->alignment_bytes)
        return ggld_fail(err, GGLD_E_ALIGNMENT, in_kv(w, entry->key),
                         "'" GGLD_KEY_ALIGNMENT "': %" PRIu32
                         " is not the writer's alignment, %" PRIu32
                         ": it is set by alignment_bytes in the options",
                         value, w->alignment_bytes);
    return GGLD_OK;
}

ggld_status ggld_writer_put_kv(ggld_writer *w, ggld_kv_entry *entry,
                               ggld_error *err)
{
    ggld_status status = GGLD_OK;
    if (is_alignment_key(entry->key))
        status = check_alignment(w, entry, err);
    if (status == GGLD_OK && !ggld_kvs_put(&w->kvs, &w->allocator, entry))
        status = ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                           "no memory for more than %" PRIu32 " key-values",
                           w->kvs.keys.n);
    if (status != GGLD_OK)
        ggld_free(&w->allocator, entry);
    return status;
}

bool ggld_writer_has(const ggld_writer *w, const char *key)
{
    return w != NULL && key != NULL &&
           ggld_name_list_find(&w->kvs.keys,
                               (ggld_string){ key, strlen(key) }) !=
               GGLD_INDEX_NONE;
}

/* May a caller set this key now? */
static ggld_status check_key(const ggld_writer *w, const char *key,
                             ggld_string *out, ggld_error *err)
{
    ggld_status status = ggld_writer_expect(w, GGLD_WRITER_DECLARING, err);
    if (status != GGLD_OK)
        return status;
    if (key == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "the key is NULL");
    ggld_string name = { key, strlen(key) };
    ggld_quoted quoted = ggld_quote(name.data, name.len);
    if (name.len == 0)
        return ggld_fail(err, GGLD_E_STRING, in_kv(w, name),
                         "the key is empty");
    if (name.len > GGLD_MAX_KEY_BYTES)
        return ggld_fail(err, GGLD_E_STRING, in_kv(w, name),
                         "key %s has %" PRIu64 " bytes, more than %d",
                         quoted.text, name.len, GGLD_MAX_KEY_BYTES);
    uint64_t good = ggld_utf8_prefix(name.data, name.len);
    if (good != name.len)
        return ggld_fail(err, GGLD_E_STRING, in_kv(w, name),
                         "key %s is not UTF-8 from byte %" PRIu64 " on",
                         quoted.text, good);
    *out = name;
    return GGLD_OK;
}

/* ---- numbers ---- */

static ggld_status set_number(ggld_writer *w, const char *key, uint32_t type,
                              const void *value, ggld_error *err)
{
    uint32_t width = ggld_value_size(type);
    ggld_string name = { NULL, 0 };

    ggld_status status = check_key(w, key, &name, err);
    if (status != GGLD_OK)
        return status;
    ggld_kv_entry *entry = ggld_writer_new_kv(w, name, type, width, err);
    if (entry == NULL)
        return GGLD_E_NOMEM;
    ggld_encoder e = ggld_encoder_into(entry->value, width);
    ggld_encode_numbers(&e, value, width, 1, GGLD_HOST_BIG_ENDIAN);
    return ggld_writer_put_kv(w, entry, err);
}

ggld_status ggld_writer_set_u8(ggld_writer *w, const char *key, uint8_t value,
                               ggld_error *err)
{
    return set_number(w, key, GGLD_VALUE_U8, &value, err);
}

ggld_status ggld_writer_set_i8(ggld_writer *w, const char *key, int8_t value,
                               ggld_error *err)
{
    return set_number(w, key, GGLD_VALUE_I8, &value, err);
}

ggld_status ggld_writer_set_u16(ggld_writer *w, const char *key, uint16_t value,
                                ggld_error *err)
{
    return set_number(w, key, GGLD_VALUE_U16, &value, err);
}

ggld_status ggld_writer_set_i16(ggld_writer *w, const char *key, int16_t value,
                                ggld_error *err)
{
    return set_number(w, key, GGLD_VALUE_I16, &value, err);
}

ggld_status ggld_writer_set_u32(ggld_writer *w, const char *key, uint32_t value,
                                ggld_error *err)
{
    return set_number(w, key, GGLD_VALUE_U32, &value, err);
}

ggld_status ggld_writer_set_i32(ggld_writer *w, const char *key, int32_t value,
                                ggld_error *err)
{
    return set_number(w, key, GGLD_VALUE_I32, &value, err);
}

ggld_status ggld_writer_set_u64(ggld_writer *w, const char *key, uint64_t value,
                                ggld_error *err)
{
    return set_number(w, key, GGLD_VALUE_U64, &value, err);
}

ggld_status ggld_writer_set_i64(ggld_writer *w, const char *key, int64_t value,
                                ggld_error *err)
{
    return set_number(w, key, GGLD_VALUE_I64, &value, err);
}

ggld_status ggld_writer_set_f32(ggld_writer *w, const char *key, float value,
                                ggld_error *err)
{
    return set_number(w, key, GGLD_VALUE_F32, &value, err);
}

ggld_status ggld_writer_set_f64(ggld_writer *w, const char *key, double value,
                                ggld_error *err)
{
    return set_number(w, key, GGLD_VALUE_F64, &value, err);
}

ggld_status ggld_writer_set_bool(ggld_writer *w, const char *key, bool value,
                                 ggld_error *err)
{
    uint8_t byte = value ? 1 : 0;
    return set_number(w, key, GGLD_VALUE_BOOL, &byte, err);
}

/* ---- text and arrays ---- */

static ggld_status fail_text(const ggld_writer *w, ggld_string key,
                             ggld_string text, uint64_t good, ggld_error *err)
{
    return ggld_fail(err, GGLD_E_STRING, in_kv(w, key),
                     "key %s: text %s is not UTF-8 from byte %" PRIu64 " on",
                     ggld_quote(key.data, key.len).text,
                     ggld_quote(text.data, text.len).text, good);
}

static ggld_status check_text(const ggld_writer *w, ggld_string key,
                              ggld_string text, ggld_error *err)
{
    if (text.len == 0)
        return GGLD_OK;
    if (text.data == NULL)
        return ggld_fail(err, GGLD_E_INVALID, in_kv(w, key),
                         "key %s: a text of %" PRIu64 " bytes is NULL",
                         ggld_quote(key.data, key.len).text, text.len);
    uint64_t good = ggld_utf8_prefix(text.data, text.len);
    return good == text.len ? GGLD_OK : fail_text(w, key, text, good, err);
}

ggld_status ggld_writer_set_string(ggld_writer *w, const char *key,
                                   const char *data, size_t len,
                                   ggld_error *err)
{
    ggld_string text = { data, len };
    ggld_string name = { NULL, 0 };

    ggld_status status = check_key(w, key, &name, err);
    if (status == GGLD_OK)
        status = check_text(w, name, text, err);
    if (status != GGLD_OK)
        return status;
    ggld_encoder size = ggld_encoder_counting();
    ggld_encode_string(&size, text);
    ggld_kv_entry *entry =
        ggld_writer_new_kv(w, name, GGLD_VALUE_STRING, size.pos, err);
    if (entry == NULL)
        return GGLD_E_NOMEM;
    ggld_encoder e = ggld_encoder_into(entry->value, entry->value_bytes);
    ggld_encode_string(&e, text);
    return ggld_writer_put_kv(w, entry, err);
}

static ggld_status check_bools(const ggld_writer *w, ggld_string key,
                               const uint8_t *bools, uint64_t n,
                               ggld_error *err)
{
    for (uint64_t i = 0; i < n; i++)
        if (bools[i] > 1)
            return ggld_fail(err, GGLD_E_VALUE, in_kv(w, key),
                             "key %s: element %" PRIu64
                             " is %u; a bool is 0 or 1",
                             ggld_quote(key.data, key.len).text, i, bools[i]);
    return GGLD_OK;
}

static ggld_status check_array(const ggld_writer *w, ggld_string key,
                               uint32_t elem_type, const void *data,
                               uint64_t n_elems, ggld_error *err)
{
    bool is_text = elem_type == GGLD_VALUE_STRING;

    if (!ggld_value_type_known(elem_type) || elem_type == GGLD_VALUE_ARRAY ||
        (is_text && n_elems != 0))
        return ggld_fail(err, GGLD_E_VALUE_TYPE, in_kv(w, key),
                         "key %s: an array of element type %" PRIu32
                         " can't be set from numbers%s",
                         ggld_quote(key.data, key.len).text, elem_type,
                         is_text ? "; call ggld_writer_set_strings" : "");
    if (n_elems != 0 && data == NULL)
        return ggld_fail(err, GGLD_E_INVALID, in_kv(w, key),
                         "key %s: the data of %" PRIu64 " elements is NULL",
                         ggld_quote(key.data, key.len).text, n_elems);
    if (elem_type == GGLD_VALUE_BOOL)
        return check_bools(w, key, data, n_elems, err);
    return GGLD_OK;
}

static void encode_array(ggld_encoder *e, uint32_t elem_type, const void *data,
                         uint64_t n_elems)
{
    ggld_encode_u32(e, elem_type);
    ggld_encode_u64(e, n_elems);
    ggld_encode_numbers(e, data, ggld_value_size(elem_type), n_elems,
                        GGLD_HOST_BIG_ENDIAN);
}

/* What a counting encoder says of a value, for an allocation that fails where
 * it lost count. */
static uint64_t counted_bytes(const ggld_encoder *e)
{
    return e->full ? UINT64_MAX : e->pos;
}

ggld_status ggld_writer_set_array(ggld_writer *w, const char *key,
                                  uint32_t elem_type, const void *data,
                                  uint64_t n_elems, ggld_error *err)
{
    ggld_string name = { NULL, 0 };

    ggld_status status = check_key(w, key, &name, err);
    if (status == GGLD_OK)
        status = check_array(w, name, elem_type, data, n_elems, err);
    if (status != GGLD_OK)
        return status;
    ggld_encoder size = ggld_encoder_counting();
    encode_array(&size, elem_type, data, n_elems);
    ggld_kv_entry *entry = ggld_writer_new_kv(w, name, GGLD_VALUE_ARRAY,
                                              counted_bytes(&size), err);
    if (entry == NULL)
        return GGLD_E_NOMEM;
    ggld_encoder e = ggld_encoder_into(entry->value, entry->value_bytes);
    encode_array(&e, elem_type, data, n_elems);
    return ggld_writer_put_kv(w, entry, err);
}

static void encode_strings(ggld_encoder *e, const ggld_string *strings,
                           uint64_t n_strings)
{
    ggld_encode_u32(e, GGLD_VALUE_STRING);
    ggld_encode_u64(e, n_strings);
    for (uint64_t i = 0; i < n_strings; i++)
        ggld_encode_string(e, strings[i]);
}

ggld_status ggld_writer_set_strings(ggld_writer *w, const char *key,
                                    const ggld_string *strings,
                                    uint64_t n_strings, ggld_error *err)
{
    ggld_string name = { NULL, 0 };

    ggld_status status = check_key(w, key, &name, err);
    if (status != GGLD_OK)
        return status;
    if (n_strings != 0 && strings == NULL)
        return ggld_fail(err, GGLD_E_INVALID, in_kv(w, name),
                         "key %s: the data of %" PRIu64 " strings is NULL",
                         ggld_quote(name.data, name.len).text, n_strings);
    for (uint64_t i = 0; i < n_strings && status == GGLD_OK; i++)
        status = check_text(w, name, strings[i], err);
    if (status != GGLD_OK)
        return status;
    ggld_encoder size = ggld_encoder_counting();
    encode_strings(&size, strings, n_strings);
    ggld_kv_entry *entry = ggld_writer_new_kv(w, name, GGLD_VALUE_ARRAY,
                                              counted_bytes(&size), err);
    if (entry == NULL)
        return GGLD_E_NOMEM;
    ggld_encoder e = ggld_encoder_into(entry->value, entry->value_bytes);
    encode_strings(&e, strings, n_strings);
    return ggld_writer_put_kv(w, entry, err);
}
