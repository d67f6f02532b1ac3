/* SPDX-License-Identifier: MIT */
/* Names and keys of shards, as llama.cpp writes and reads them: it wants u16,
 * u16 and i32, and takes a count of 0 (a merged model) or 1 for no set. A
 * number of another integer type can't be mistaken, and is taken here. */
#include "split.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base/checked.h"
#include "../spec/types.h"
#include "kv.h"

#define KEY_NO        "split.no"
#define KEY_COUNT     "split.count"
#define KEY_N_TENSORS "split.tensors.count"

/* ---- names ---- */

#define SUFFIX       "-%05" PRIu32 "-of-%05" PRIu32 ".gguf"
#define SUFFIX_BYTES 20u /* "-00002-of-00003.gguf" */
#define DIGITS       5u

static bool number_of_digits(const char *text, uint32_t *out)
{
    uint32_t number = 0;
    for (size_t i = 0; i < DIGITS; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        number = number * 10 + (uint32_t)(text[i] - '0');
    }
    *out = number;
    return true;
}

bool ggld_split_name_of(const char *path, ggld_split_name *out)
{
    size_t len = strlen(path);
    uint32_t no, count;

    if (len < SUFFIX_BYTES)
        return false;
    const char *suffix = path + len - SUFFIX_BYTES;
    if (suffix[0] != '-' || !number_of_digits(suffix + 1, &no) ||
        memcmp(suffix + 6, "-of-", 4) != 0 ||
        !number_of_digits(suffix + 10, &count) ||
        strcmp(suffix + 15, ".gguf") != 0 || no == 0 || no > count ||
        count > GGLD_MAX_SHARDS)
        return false;
    ggld_split_name name = { path, len - SUFFIX_BYTES, no - 1, count };
    *out = name;
    return true;
}

ggld_split_name ggld_split_name_for(const char *path, uint32_t no,
                                    uint32_t count)
{
    ggld_split_name name = { path, strlen(path), 0, 0 };
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash != NULL ? slash : path, '.');

    if (!ggld_split_name_of(path, &name) && dot != NULL &&
        strcmp(dot, ".gguf") == 0)
        name.prefix_len = (size_t)(dot - path);
    name.no = no;
    name.count = count;
    return name;
}

size_t ggld_split_path_bytes(const ggld_split_name *name)
{
    return name->prefix_len + SUFFIX_BYTES + 1;
}

void ggld_split_path(char *out, const ggld_split_name *name)
{
    memcpy(out, name->path, name->prefix_len);
    snprintf(out + name->prefix_len, SUFFIX_BYTES + 1, SUFFIX, name->no + 1,
             name->count);
}

ggld_quoted ggld_split_label(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    char shortened[64];
    size_t len = strlen(name);

    if (len < sizeof shortened)
        return ggld_quote(name, len);
    size_t head = sizeof shortened - SUFFIX_BYTES - sizeof "...";
    head = (size_t)ggld_utf8_prefix(name, head);
    int used = snprintf(shortened, sizeof shortened, "%.*s...%s", (int)head,
                        name, name + len - SUFFIX_BYTES);
    return ggld_quote(shortened, (uint64_t)used);
}

/* ---- keys ---- */

static const ggld_kv *find(const ggld_file *file, const char *key)
{
    size_t len = strlen(key);
    for (uint64_t i = 0; i < file->n_kvs; i++)
        if (file->kvs[i].key.len == len &&
            memcmp(file->kvs[i].key.data, key, len) == 0)
            return &file->kvs[i];
    return NULL;
}

static bool number_at(const ggld_kv *kv, uint64_t *out)
{
    return kv != NULL && ggld_value_is_integer(kv->type) &&
           ggld_kv_get_u64(kv, out);
}

ggld_split ggld_split_of(const ggld_file *file)
{
    ggld_split split = { 0, UINT64_MAX };
    if (!number_at(find(file, KEY_COUNT), &split.count) || split.count == 1)
        split.count = 0;
    (void)number_at(find(file, KEY_NO), &split.no);
    return split;
}

static ggld_subject value_subject(const ggld_kv *kv)
{
    return ggld_subject_of(GGLD_IN_KV, (uint64_t)(kv - kv->file->kvs),
                           kv->value_offset, &kv->key);
}

static ggld_subject file_subject(void)
{
    return ggld_subject_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0, NULL);
}

/* The number, if its type can be one, and what is to be said of the type. */
static bool judge_number(const ggld_kv *kv, ggld_report *report, uint32_t type,
                         uint64_t *out, bool *known)
{
    *known = number_at(kv, out);
    if (!*known && ggld_value_is_integer(kv->type))
        return ggld_report_add(report, GGLD_GRADE_ERROR, GGLD_E_VALUE_TYPE,
                               value_subject(kv),
                               "the value is negative; a shard opens alone "
                               "with GGLD_OPEN_SINGLE");
    if (!*known)
        return ggld_report_add(
            report, GGLD_GRADE_ERROR, GGLD_E_VALUE_TYPE, value_subject(kv),
            "the value is of type %s, not %s; a shard opens alone with "
            "GGLD_OPEN_SINGLE",
            ggld_value_type_name(kv->type), ggld_value_type_name(type));
    return kv->type == type ||
           ggld_report_add(
               report, GGLD_GRADE_STRICT, GGLD_E_VALUE_TYPE, value_subject(kv),
               "the value is of type %s; llama.cpp takes %s only",
               ggld_value_type_name(kv->type), ggld_value_type_name(type));
}

bool ggld_split_count(const ggld_file *file, ggld_report *report, uint32_t *out)
{
    const ggld_kv *kv = find(file, KEY_COUNT);
    uint64_t count;
    bool known;

    *out = 0;
    if (kv == NULL)
        return true;
    if (!judge_number(kv, report, GGLD_VALUE_U16, &count, &known))
        return false;
    if (!known || count < 2)
        return true;
    if (count > GGLD_MAX_SHARDS)
        return ggld_report_add(report, GGLD_GRADE_ERROR, GGLD_E_SHARD,
                               value_subject(kv),
                               "value %" PRIu64 ": a set has at most %u shards",
                               count, GGLD_MAX_SHARDS);
    *out = (uint32_t)count;
    return true;
}

/* A number that each shard must have. */
static bool judge_own(const ggld_file *file, ggld_report *report,
                      const char *key, uint64_t expected, const char *what,
                      uint32_t of)
{
    const ggld_kv *kv = find(file, key);
    uint64_t number;
    bool known;

    if (kv == NULL)
        return ggld_report_add(report, GGLD_GRADE_ERROR, GGLD_E_SHARD,
                               file_subject(),
                               "it has no %s, so it is no shard of a set", key);
    if (!judge_number(kv, report, GGLD_VALUE_U16, &number, &known))
        return false;
    if (!known || number == expected)
        return true;
    return ggld_report_add(report, GGLD_GRADE_ERROR, GGLD_E_SHARD,
                           value_subject(kv),
                           "value %" PRIu64 " should be %" PRIu64 ": by its "
                           "name it is %s %" PRIu32,
                           number, expected, what, of);
}

bool ggld_split_member(const ggld_file *file, ggld_report *report, uint32_t no,
                       uint32_t count)
{
    return judge_own(file, report, KEY_COUNT, count, "one of", count) &&
           judge_own(file, report, KEY_NO, no, "shard", no + 1);
}

bool ggld_split_total(const ggld_file *file, ggld_report *report,
                      uint64_t n_tensors)
{
    const ggld_kv *kv = find(file, KEY_N_TENSORS);
    uint64_t number;
    bool known;

    if (kv == NULL)
        return file->shard != 0 ||
               ggld_report_add(report, GGLD_GRADE_STRICT, GGLD_E_SHARD,
                               file_subject(),
                               "it has no " KEY_N_TENSORS ", which llama.cpp "
                               "asks of the first shard");
    if (!judge_number(kv, report, GGLD_VALUE_I32, &number, &known))
        return false;
    if (!known || number == n_tensors)
        return true;
    return ggld_report_add(
        report, GGLD_GRADE_ERROR, GGLD_E_SHARD, value_subject(kv),
        "value %" PRIu64 ", but the shards have %" PRIu64 " tensors together",
        number, n_tensors);
}
