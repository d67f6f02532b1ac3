/* SPDX-License-Identifier: MIT */
/* The changes: each judged by itself, here; what becomes of the model as a
 * whole is judged before it is written. */
#include <inttypes.h>
#include <string.h>

#include "../base/bytes.h"
#include "../base/quote.h"
#include "../base/structs.h"
#include "../spec/limits.h"
#include "edit.h"

/* What says that a file is a shard, and which. */
static const char *const shard_keys[] = { "split.no", "split.count",
                                          "split.tensors.count" };

uint64_t ggld_edit_find(const ggld_edit *edit, ggld_string key)
{
    uint64_t i = 0;
    while (i < edit->n_kvs && !ggld_text_same(edit->kvs[i].key, key))
        i++;
    return i;
}

static ggld_status check_reserved(ggld_string key, bool removed,
                                  ggld_error *err)
{
    for (size_t i = 0; i < sizeof shard_keys / sizeof shard_keys[0]; i++)
        if (ggld_text_same(key, ggld_text_of(shard_keys[i])))
            return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                             "key '%s' says which shard of a set the file is, "
                             "and is not set by hand: split or merge the model",
                             shard_keys[i]);
    if (!removed && ggld_text_same(key, ggld_text_of(GGLD_KEY_PADDING)))
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "key '" GGLD_KEY_PADDING "' is room for edits, and "
                         "not set by hand: ask for it by reserve_bytes "
                         "(ggld edit --reserve)");
    return GGLD_OK;
}

/* Keys that every program reads, and takes as nothing but this. */
static ggld_status check_type(ggld_string key, uint32_t type, ggld_error *err)
{
    static const struct {
        const char *key;
        uint32_t type;
    } rows[] = {
        { "general.architecture", GGLD_VALUE_STRING },
        { "general.file_type", GGLD_VALUE_U32 },
        { "general.quantization_version", GGLD_VALUE_U32 },
        { GGLD_KEY_ALIGNMENT, GGLD_VALUE_U32 },
    };
    const char *name = ggld_value_type_name(type);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (type != rows[i].type &&
            ggld_text_same(key, ggld_text_of(rows[i].key)))
            return ggld_fail(err, GGLD_E_VALUE_TYPE, ggld_nowhere(),
                             "key '%s' is a %s, and can't be of type %s",
                             rows[i].key, ggld_value_type_name(rows[i].type),
                             name != NULL ? name : "unknown");
    return GGLD_OK;
}

/* A key that is to be. */
static ggld_status check_key(const char *text, ggld_string *out,
                             ggld_error *err)
{
    if (text == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "the key is NULL");
    ggld_string key = ggld_text_of(text);
    uint64_t good = ggld_utf8_prefix(key.data, key.len);
    if (key.len == 0)
        return ggld_fail(err, GGLD_E_STRING, ggld_nowhere(),
                         "the key is empty");
    if (key.len > GGLD_MAX_KEY_BYTES)
        return ggld_fail(err, GGLD_E_STRING, ggld_nowhere(),
                         "key %s has %" PRIu64 " bytes, more than %d",
                         ggld_quote(key.data, key.len).text, key.len,
                         GGLD_MAX_KEY_BYTES);
    if (good != key.len)
        return ggld_fail(err, GGLD_E_STRING, ggld_nowhere(),
                         "key %s is not UTF-8 from byte %" PRIu64 " on",
                         ggld_quote(key.data, key.len).text, good);
    *out = key;
    return check_reserved(key, false, err);
}

ggld_status ggld_edit_check_key(const char *key, uint32_t type, ggld_error *err)
{
    ggld_string name = { "", 0 };
    ggld_status status = check_key(key, &name, err);

    return status == GGLD_OK ? check_type(name, type, err) : status;
}

/* A key that should be there; *at is where. */
static ggld_status find_key(const ggld_edit *edit, const char *text,
                            uint64_t *at, ggld_error *err)
{
    if (text == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "the key is NULL");
    ggld_string key = ggld_text_of(text);
    *at = ggld_edit_find(edit, key);
    if (*at < edit->n_kvs)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(), "key %s is not there",
                     ggld_quote(key.data, key.len).text);
}

static ggld_status fail_memory(ggld_error *err)
{
    return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                     "no memory for a change");
}

/* A copy of the text; *own is to be freed. */
static bool copy_text(const ggld_edit *edit, ggld_string text, ggld_string *out,
                      void **own)
{
    char *copy = ggld_alloc_bytes(&edit->allocator, text.len);
    if (copy == NULL)
        return false;
    memcpy(copy, text.data, (size_t)text.len);
    out->data = copy;
    out->len = text.len;
    *own = copy;
    return true;
}

/* ---- set ---- */

/* A new entry behind the others, without a value yet. */
static bool add_kv(ggld_edit *edit, ggld_string key)
{
    if (edit->n_kvs == edit->cap_kvs) {
        uint64_t cap = 2 * edit->cap_kvs + 16;
        ggld_edit_kv *kvs = ggld_grow(&edit->allocator, edit->kvs, edit->n_kvs,
                                      cap, sizeof *kvs);
        if (kvs == NULL)
            return false;
        edit->kvs = kvs;
        edit->cap_kvs = cap;
    }
    ggld_edit_kv *kv = &edit->kvs[edit->n_kvs];
    memset(kv, 0, sizeof *kv);
    kv->origin = GGLD_NO_INDEX;
    if (!copy_text(edit, key, &kv->key, &kv->own_key))
        return false;
    edit->n_kvs++;
    return true;
}

static ggld_status take_value(const ggld_edit_value *theirs,
                              ggld_edit_value *out, ggld_error *err)
{
    if (theirs == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "the value is NULL");
    ggld_status status = ggld_struct_take("ggld_edit_value", theirs,
                                          offsetof(ggld_edit_value, reserved),
                                          out, sizeof *out, err);
    if (status == GGLD_OK &&
        !ggld_all_zero(out->reserved, sizeof out->reserved))
        status = ggld_fail(err, GGLD_E_ABI, ggld_nowhere(),
                           "ggld_edit_value: a reserved field is not zero");
    return status;
}

ggld_status ggld_edit_set(ggld_edit *edit, const char *key,
                          const ggld_edit_value *value, ggld_error *err)
{
    ggld_edit_value v;
    ggld_string name = { "", 0 }, bytes = { "", 0 };

    ggld_status status = ggld_edit_expect(edit, err);
    if (status == GGLD_OK)
        status = check_key(key, &name, err);
    if (status == GGLD_OK)
        status = take_value(value, &v, err);
    if (status == GGLD_OK)
        status = check_type(name, v.type, err);
    if (status == GGLD_OK)
        status = ggld_edit_encode_value(edit, name, &v, &bytes, err);
    if (status != GGLD_OK)
        return status;
    uint64_t at = ggld_edit_find(edit, name);
    if (at == edit->n_kvs && !add_kv(edit, name)) {
        ggld_free(&edit->allocator, (void *)(uintptr_t)bytes.data);
        return fail_memory(err);
    }
    ggld_edit_kv *kv = &edit->kvs[at];
    edit->judged = false;
    ggld_free(&edit->allocator, kv->own_value);
    kv->type = v.type;
    kv->value = bytes;
    kv->own_value = (void *)(uintptr_t)bytes.data;
    return GGLD_OK;
}

/* ---- unset, rename ---- */

ggld_status ggld_edit_unset(ggld_edit *edit, const char *key, ggld_error *err)
{
    uint64_t n = 0, at = 0;

    ggld_status status = ggld_edit_expect(edit, err);
    if (status == GGLD_OK)
        status = find_key(edit, key, &at, err);
    if (status == GGLD_OK)
        status = check_reserved(ggld_text_of(key), true, err);
    if (status != GGLD_OK)
        return status;
    for (uint64_t i = 0; i < edit->n_kvs; i++) {
        if (!ggld_text_same(edit->kvs[i].key, ggld_text_of(key))) {
            edit->kvs[n++] = edit->kvs[i];
            continue;
        }
        ggld_free(&edit->allocator, edit->kvs[i].own_key);
        ggld_free(&edit->allocator, edit->kvs[i].own_value);
    }
    edit->n_kvs = n;
    edit->judged = false;
    return GGLD_OK;
}

/* One copy for all that have the key: the first owns it. They stay together,
 * as whatever is done to a key is done to all of them. */
static ggld_status rename_all(ggld_edit *edit, uint64_t first,
                              ggld_string new_key, ggld_error *err)
{
    ggld_string old_key = edit->kvs[first].key, copy;
    void *old_own = edit->kvs[first].own_key, *own;

    if (!copy_text(edit, new_key, &copy, &own))
        return fail_memory(err);
    for (uint64_t i = edit->n_kvs; i-- > first;)
        if (ggld_text_same(edit->kvs[i].key, old_key))
            edit->kvs[i].key = copy;
    edit->kvs[first].own_key = own;
    edit->judged = false;
    ggld_free(&edit->allocator, old_own);
    return GGLD_OK;
}

ggld_status ggld_edit_rename(ggld_edit *edit, const char *old_key,
                             const char *new_key, ggld_error *err)
{
    ggld_string name = { "", 0 };
    uint64_t at = 0;

    ggld_status status = ggld_edit_expect(edit, err);
    if (status == GGLD_OK)
        status = find_key(edit, old_key, &at, err);
    if (status == GGLD_OK)
        status = check_reserved(ggld_text_of(old_key), false, err);
    if (status == GGLD_OK)
        status = check_key(new_key, &name, err);
    if (status != GGLD_OK || strcmp(old_key, new_key) == 0)
        return status;
    uint64_t other = ggld_edit_find(edit, name);
    if (other < edit->n_kvs)
        return ggld_fail(err, GGLD_E_DUPLICATE,
                         ggld_place_of(GGLD_IN_KV, other, 0),
                         "key %s is there already, as key-value %" PRIu64
                         ": remove it first",
                         ggld_quote(name.data, name.len).text, other);
    return rename_all(edit, at, name, err);
}

/* ---- tensors ---- */

static uint64_t find_tensor(const ggld_edit *edit, ggld_string name)
{
    uint64_t i = 0;
    while (i < edit->n_tensors && !ggld_text_same(edit->names[i].name, name))
        i++;
    return i;
}

static ggld_status check_name(const ggld_edit *edit, uint64_t at,
                              ggld_string name, ggld_error *err)
{
    ggld_place place = ggld_place_of(GGLD_IN_TENSOR_INFO, at, 0);
    uint64_t good = ggld_utf8_prefix(name.data, name.len);
    uint64_t other = find_tensor(edit, name);

    if (name.len == 0)
        return ggld_fail(err, GGLD_E_STRING, place,
                         "tensor %" PRIu64 ": the new name is empty", at);
    if (name.len > GGLD_GGML_NAME_BYTES)
        return ggld_fail(err, GGLD_E_STRING, place,
                         "tensor %" PRIu64 ": the new name %s has %" PRIu64
                         " bytes, more than %d",
                         at, ggld_quote(name.data, name.len).text, name.len,
                         GGLD_GGML_NAME_BYTES);
    if (good != name.len)
        return ggld_fail(err, GGLD_E_STRING, place,
                         "tensor %" PRIu64 ": the new name %s is not UTF-8 "
                         "from byte %" PRIu64 " on",
                         at, ggld_quote(name.data, name.len).text, good);
    if (other < edit->n_tensors && other != at)
        return ggld_fail(err, GGLD_E_DUPLICATE, place,
                         "tensor %" PRIu64 ": the new name %s is that of "
                         "tensor %" PRIu64,
                         at, ggld_quote(name.data, name.len).text, other);
    return GGLD_OK;
}

ggld_status ggld_edit_rename_tensor(ggld_edit *edit, const char *old_name,
                                    const char *new_name, ggld_error *err)
{
    ggld_string copy;
    void *own;

    ggld_status status = ggld_edit_expect(edit, err);
    if (status != GGLD_OK)
        return status;
    if (old_name == NULL || new_name == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "the name is NULL");
    uint64_t at = find_tensor(edit, ggld_text_of(old_name));
    if (at == edit->n_tensors)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "tensor %s is not there",
                         ggld_quote(old_name, strlen(old_name)).text);
    status = check_name(edit, at, ggld_text_of(new_name), err);
    if (status != GGLD_OK)
        return status;
    if (!copy_text(edit, ggld_text_of(new_name), &copy, &own))
        return fail_memory(err);
    ggld_free(&edit->allocator, edit->names[at].own);
    edit->names[at].name = copy;
    edit->names[at].own = own;
    edit->judged = false;
    return GGLD_OK;
}

/* ---- asking ---- */

bool ggld_edit_type_of(const ggld_edit *edit, const char *key, uint32_t *type,
                       uint32_t *elem_type)
{
    uint64_t at = ggld_edit_find(edit, ggld_text_of(key));
    if (at == edit->n_kvs)
        return false;
    const ggld_edit_kv *kv = &edit->kvs[at];
    if (type != NULL)
        *type = kv->type;
    if (kv->type == GGLD_VALUE_ARRAY && elem_type != NULL)
        *elem_type = ggld_load_u32(kv->value.data, edit->info.big_endian);
    return true;
}

uint64_t ggld_edit_origin(const ggld_edit *edit, const char *key, size_t len)
{
    ggld_string text = { key, len };
    uint64_t at = ggld_edit_find(edit, text);
    return at < edit->n_kvs ? edit->kvs[at].origin : GGLD_NO_INDEX;
}

static bool kv_is_as_it_was(const ggld_edit *edit, const ggld_edit_kv *now)
{
    const ggld_kv *then = ggld_kv_at(edit->file, now->origin);
    return now->type == ggld_kv_type(then) &&
           ggld_text_same(now->key, ggld_kv_key(then)) &&
           ggld_text_same(now->value, ggld_kv_raw(then).bytes);
}

/* Those that are still there are in their old order: new ones come last. */
uint64_t ggld_edit_n_changed(const ggld_edit *edit)
{
    uint64_t n = ggld_kv_count(edit->file);

    for (uint64_t i = 0; i < edit->n_kvs; i++) {
        const ggld_edit_kv *kv = &edit->kvs[i];
        if (kv->origin == GGLD_NO_INDEX)
            n++;
        else if (kv_is_as_it_was(edit, kv))
            n--; /* of the old ones, what is left in the end is gone or other */
    }
    for (uint64_t i = 0; i < edit->n_tensors; i++) {
        ggld_tensor_info info = { .struct_size = sizeof info };
        ggld_tensor_get_info(ggld_tensor_at(edit->file, i), &info);
        n += !ggld_text_same(edit->names[i].name, info.name);
    }
    return n;
}
