/* SPDX-License-Identifier: MIT */
/* Values as the caller has them, judged and brought to the file's form. */
#include <inttypes.h>
#include <string.h>

#include "../base/bytes.h"
#include "../base/quote.h"
#include "../spec/types.h"
#include "edit.h"

static ggld_place in_kv(const ggld_edit *edit, ggld_string key)
{
    return ggld_place_of(GGLD_IN_KV, ggld_edit_find(edit, key), 0);
}

static ggld_status fail_key(const ggld_edit *edit, ggld_string key,
                            ggld_status code, const char *what, ggld_error *err)
{
    return ggld_fail(err, code, in_kv(edit, key), "key %s: %s",
                     ggld_quote(key.data, key.len).text, what);
}

static ggld_status check_text(const ggld_edit *edit, ggld_string key,
                              ggld_string text, ggld_error *err)
{
    if (text.len == 0)
        return GGLD_OK;
    if (text.data == NULL)
        return fail_key(edit, key, GGLD_E_INVALID, "a text is NULL", err);
    uint64_t good = ggld_utf8_prefix(text.data, text.len);
    if (good == text.len)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_STRING, in_kv(edit, key),
                     "key %s: text %s is not UTF-8 from byte %" PRIu64 " on",
                     ggld_quote(key.data, key.len).text,
                     ggld_quote(text.data, text.len).text, good);
}

/* Element i of data, which need not be aligned. */
static ggld_string string_at(const ggld_edit_value *value, uint64_t i)
{
    ggld_string s;
    memcpy(&s, (const uint8_t *)value->data + i * sizeof s, sizeof s);
    return s;
}

static ggld_status check_bools(const ggld_edit *edit, ggld_string key,
                               const ggld_edit_value *value, ggld_error *err)
{
    const uint8_t *bools = value->data;
    for (uint64_t i = 0; i < value->size; i++)
        if (bools[i] > 1)
            return ggld_fail(err, GGLD_E_VALUE, in_kv(edit, key),
                             "key %s: bool %" PRIu64 " is %u; it is 0 or 1",
                             ggld_quote(key.data, key.len).text, i, bools[i]);
    return GGLD_OK;
}

static ggld_status check_value(const ggld_edit *edit, ggld_string key,
                               const ggld_edit_value *value, ggld_error *err)
{
    bool is_array = value->type == GGLD_VALUE_ARRAY;
    uint32_t type = is_array ? value->elem_type : value->type;
    ggld_status status = GGLD_OK;

    if (!ggld_value_type_known(type) || type == GGLD_VALUE_ARRAY)
        return ggld_fail(err, GGLD_E_VALUE_TYPE, in_kv(edit, key),
                         "key %s: %s type %" PRIu32 " can't be set",
                         ggld_quote(key.data, key.len).text,
                         is_array ? "an array of element" : "value", type);
    if (value->size != 0 && value->data == NULL)
        return fail_key(edit, key, GGLD_E_INVALID, "its data is NULL", err);
    if (!is_array && type != GGLD_VALUE_STRING && value->size != 1)
        return fail_key(edit, key, GGLD_E_INVALID,
                        "a number's size is 1: there is one", err);
    if (type == GGLD_VALUE_BOOL)
        return check_bools(edit, key, value, err);
    if (type != GGLD_VALUE_STRING)
        return GGLD_OK;
    if (!is_array) {
        ggld_string text = { value->data, value->size };
        return check_text(edit, key, text, err);
    }
    for (uint64_t i = 0; i < value->size && status == GGLD_OK; i++)
        status = check_text(edit, key, string_at(value, i), err);
    return status;
}

static void encode_value(ggld_encoder *e, const ggld_edit_value *value)
{
    uint32_t type = value->type;

    if (type == GGLD_VALUE_STRING) {
        ggld_string text = { value->data, value->size };
        ggld_encode_string(e, text);
        return;
    }
    if (type == GGLD_VALUE_ARRAY) {
        type = value->elem_type;
        ggld_encode_u32(e, type);
        ggld_encode_len(e, value->size);
    }
    if (type != GGLD_VALUE_STRING) {
        ggld_encode_numbers(e, value->data, ggld_value_size(type), value->size,
                            GGLD_HOST_BIG_ENDIAN);
        return;
    }
    for (uint64_t i = 0; i < value->size && !e->full; i++)
        ggld_encode_string(e, string_at(value, i));
}

ggld_status ggld_edit_encode_value(const ggld_edit *edit, ggld_string key,
                                   const ggld_edit_value *value,
                                   ggld_string *out, ggld_error *err)
{
    ggld_status status = check_value(edit, key, value, err);
    if (status != GGLD_OK)
        return status;
    ggld_encoder size = ggld_edit_encoder(edit, NULL, UINT64_MAX);
    encode_value(&size, value);
    if (size.full)
        return fail_key(edit, key, GGLD_E_OVERFLOW,
                        "its value is longer than the file's version can say",
                        err);
    uint8_t *bytes = ggld_alloc_bytes(&edit->allocator, size.pos);
    if (bytes == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for key %s with a value of %" PRIu64
                         " bytes",
                         ggld_quote(key.data, key.len).text, size.pos);
    ggld_encoder e = ggld_edit_encoder(edit, bytes, size.pos);
    encode_value(&e, value);
    out->data = (const char *)bytes;
    out->len = e.pos;
    return GGLD_OK;
}
