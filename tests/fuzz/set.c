/* SPDX-License-Identifier: MIT */
/* A model in shards, opened as one set from any of them: refused in one clean
 * line that names the shard and a place in it; or it can be read to its last
 * byte, and is what its shards opened alone are, one after the other. Merged,
 * and split anew, it is the same model.
 *
 * An input begins with a byte of the flags below; then follow the shards, each
 * from one "GGUF" to the next. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <ggld/diff.h>
#include <ggld/ggld.h>
#include <ggld/shards.h>

#include "folder.h"
#include "fuzz.h"

/* split.no and split.count are what the names of the files say. */
#define RIGHT      1u
#define FROM_OF(f) ((f) >> 1 & 3u) /* the shard whose path is given */
/* One of the shards is not there. */
#define ABSENT        8u
#define ABSENT_OF(f)  ((f) >> 4 & 3u)
#define BY_TWO        64u /* split into shards of two tensors, else of one */
#define MAX_SHARDS    4u
#define PREFIX        "m"
#define LABEL_BYTES   22 /* "m-00001-of-00004.gguf" and a NUL */
#define N_TYPE_WIDTHS 13

typedef struct shard {
    uint8_t *bytes;
    size_t size;
    bool absent;
    char label[LABEL_BYTES];
    char *path;
} shard;

typedef struct made {
    uint32_t n, from;
    shard at[MAX_SHARDS];
} made;

/* ---- the files ---- */

static const uint8_t *next_magic(const uint8_t *data, size_t size)
{
    return size > 4 ? memmem(data + 4, size - 4, "GGUF", 4) : NULL;
}

static void cut(made *m, const uint8_t *data, size_t size)
{
    while (m->n < MAX_SHARDS && (size > 0 || m->n == 0)) {
        const uint8_t *end =
            m->n + 1 < MAX_SHARDS ? next_magic(data, size) : NULL;
        size_t n = end != NULL ? (size_t)(end - data) : size;
        shard *s = &m->at[m->n++];
        s->bytes = fuzz_alloc(n + 1);
        memcpy(s->bytes, data, n);
        s->size = n;
        data += n;
        size -= n;
    }
}

/* The key's value, in either byte order, where it is an integer. */
static void put_right(shard *s, const char *key, uint32_t value)
{
    static const uint8_t widths[N_TYPE_WIDTHS] = { 1, 1, 2, 2, 4, 4, 0,
                                                   0, 0, 0, 8, 8, 0 };
    uint8_t *at = memmem(s->bytes, s->size, key, strlen(key));

    if (at == NULL)
        return;
    at += strlen(key);
    size_t left = (size_t)(s->bytes + s->size - at);
    if (left < 4)
        return;
    bool big = at[0] == 0;
    uint8_t type = at[big ? 3 : 0];
    size_t width = type < N_TYPE_WIDTHS ? widths[type] : 0;
    if (left < 4 + width)
        return;
    for (size_t i = 0; i < width; i++) {
        size_t byte = big ? width - 1 - i : i;
        at[4 + i] = (uint8_t)(byte < 4 ? value >> 8 * byte : 0);
    }
}

static void save(made *m, uint8_t flags)
{
    m->from = FROM_OF(flags) % m->n;
    for (uint32_t i = 0; i < m->n; i++) {
        shard *s = &m->at[i];
        (void)ggld_shard_path(s->label, sizeof s->label, PREFIX, i, m->n);
        s->path = folder_file(s->label);
        s->absent =
            (flags & ABSENT) != 0 && ABSENT_OF(flags) == i && i != m->from;
        if ((flags & RIGHT) != 0) {
            put_right(s, "split.no", i);
            put_right(s, "split.count", m->n);
        }
        if (!s->absent)
            file_put(s->path, s->bytes, s->size);
    }
}

static void forget(made *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        free(m->at[i].bytes);
        free(m->at[i].path);
    }
}

/* ---- refusals ---- */

/* Which shard the message begins with; NULL: with none. */
static const shard *named_shard(const made *m, const char *message)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (message[0] == '\'' &&
            strncmp(message + 1, m->at[i].label, strlen(m->at[i].label)) == 0)
            return &m->at[i];
    return NULL;
}

static void check_refusal(const made *m, uint32_t from, ggld_status status,
                          const ggld_error *err)
{
    const shard *s = named_shard(m, err->message);

    fuzz_require_line(err, status);
    if (status == GGLD_E_IO) {
        FUZZ_REQUIRE(err->shard < m->n && m->at[err->shard].absent &&
                         strstr(err->message, m->at[err->shard].label) != NULL,
                     "shard %" PRIu32 ": %s", err->shard, err->message);
        return;
    }
    FUZZ_REQUIRE(status >= GGLD_E_MAGIC && err->section != GGLD_IN_NONE, "%s",
                 err->message);
    FUZZ_REQUIRE(s != NULL || err->shard == 0,
                 "shard %" PRIu32 " is not named: %s", err->shard,
                 err->message);
    s = s != NULL ? s : &m->at[from];
    FUZZ_REQUIRE(err->offset <= s->size, "offset %" PRIu64 " of %zu: %s",
                 err->offset, s->size, err->message);
}

/* ---- ways to open ---- */

static ggld_file *open_one(const char *path, uint32_t flags, ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file = NULL;

    options.flags = flags;
    memset(err, 0, sizeof *err);
    ggld_status status = ggld_open_path(&file, path, &options, err);
    FUZZ_REQUIRE((status == GGLD_OK) == (file != NULL) && err->code == status,
                 "status %d, code %d", status, err->code);
    return file;
}

static uint32_t count_shards(const ggld_file *file)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_file_get_info(file, &info);
    return info.n_shards;
}

static bool same_string(ggld_string a, ggld_string b)
{
    return a.len == b.len &&
           (a.len == 0 || memcmp(a.data, b.data, (size_t)a.len) == 0);
}

static void compare_kvs(const ggld_file *a, const ggld_file *b)
{
    FUZZ_REQUIRE(ggld_kv_count(a) == ggld_kv_count(b), "key-values");
    for (uint64_t i = 0; i < ggld_kv_count(a); i++) {
        const ggld_kv *x = ggld_kv_at(a, i), *y = ggld_kv_at(b, i);
        FUZZ_REQUIRE(
            same_string(ggld_kv_key(x), ggld_kv_key(y)) &&
                same_string(ggld_kv_raw(x).bytes, ggld_kv_raw(y).bytes) &&
                ggld_kv_type(x) == ggld_kv_type(y),
            "key-value %" PRIu64, i);
    }
}

static ggld_tensor_info info_of(const ggld_tensor *tensor)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_tensor_get_info(tensor, &info);
    return info;
}

/* Both to their last bytes; whole: nothing may be missing. */
static void compare_data(const ggld_tensor *a, const ggld_tensor *b,
                         uint64_t size, bool whole)
{
    uint8_t x[256], y[256];
    ggld_error err;

    for (uint64_t at = 0; at < size; at += sizeof x) {
        size_t n = (size_t)(size - at < sizeof x ? size - at : sizeof x);
        ggld_status first = ggld_tensor_read_bytes(a, at, x, n, &err);
        ggld_status second = ggld_tensor_read_bytes(b, at, y, n, NULL);
        FUZZ_REQUIRE(first == second, "%s", err.message);
        FUZZ_REQUIRE(first == GGLD_OK || !whole, "%s", err.message);
        if (first != GGLD_OK)
            return;
        FUZZ_REQUIRE(memcmp(x, y, n) == 0, "data at %" PRIu64, at);
    }
}

static void compare_tensor(const ggld_tensor *a, const ggld_tensor *b,
                           bool whole)
{
    ggld_tensor_info x = info_of(a), y = info_of(b);

    FUZZ_REQUIRE(same_string(x.name, y.name) && x.type == y.type &&
                     x.n_dims == y.n_dims &&
                     memcmp(x.dims, y.dims, sizeof x.dims) == 0 &&
                     x.size_bytes == y.size_bytes &&
                     x.file_offset_bytes == y.file_offset_bytes &&
                     x.big_endian == y.big_endian,
                 "tensors %" PRIu64 " and %" PRIu64, x.index, y.index);
    compare_data(a, b, x.size_bytes, whole);
}

/* The set against its shards, opened alone. */
static void compare_alone(const made *m, const ggld_file *set, uint32_t flags)
{
    bool whole = (flags & GGLD_OPEN_METADATA) == 0;
    uint64_t next = 0;
    ggld_error err;

    for (uint32_t no = 0; no < m->n; no++) {
        const ggld_file *member = ggld_file_shard(set, no);
        ggld_file *alone =
            open_one(m->at[no].path, flags | GGLD_OPEN_SINGLE, &err);
        FUZZ_REQUIRE(alone != NULL && member != NULL, "%s", err.message);
        compare_kvs(alone, member);
        if (no == 0)
            compare_kvs(alone, set);
        FUZZ_REQUIRE(ggld_tensor_count(alone) == ggld_tensor_count(member),
                     "tensors of shard %" PRIu32, no);
        for (uint64_t i = 0; i < ggld_tensor_count(alone); i++) {
            const ggld_tensor *t = ggld_tensor_at(set, next++);
            ggld_string name = info_of(t).name;
            compare_tensor(ggld_tensor_at(alone, i), t, whole);
            FUZZ_REQUIRE(ggld_tensor_find_n(set, name.data, (size_t)name.len) ==
                             t,
                         "tensor %" PRIu64 " is not found", i);
        }
        ggld_close(alone);
    }
    FUZZ_REQUIRE(ggld_tensor_count(set) == next, "tensors");
}

/* In the ways that there are to read: all agree. NULL: it is refused. */
static ggld_file *open_agreed(const made *m, uint32_t mode)
{
    static const uint32_t ways[] = { GGLD_OPEN_COPY, GGLD_OPEN_PREAD };
    const char *path = m->at[m->from].path;
    ggld_error err, other;
    ggld_file *file = open_one(path, mode, &err);

    for (int i = 0; i < 2; i++) {
        ggld_file *again = open_one(path, mode | ways[i], &other);
        FUZZ_REQUIRE(memcmp(&err, &other, sizeof err) == 0,
                     "by map: %s; in another way: %s", err.message,
                     other.message);
        if (again != NULL && count_shards(again) == m->n)
            compare_alone(m, again, mode | ways[i]);
        ggld_close(again);
    }
    if (file == NULL)
        check_refusal(m, m->from, err.code, &err);
    else if (count_shards(file) > 1)
        compare_alone(m, file, mode);
    return file;
}

static void hear(ggld_severity severity, const ggld_error *finding, void *user)
{
    bool *refuses = user;
    fuzz_require_line(finding, finding->code);
    *refuses = *refuses || severity == GGLD_ERROR;
}

static void check(const made *m, uint32_t mode, bool opens)
{
    ggld_open_options options = ggld_open_options_init();
    bool refuses = false;
    ggld_error err = { .code = GGLD_OK };

    options.flags = mode;
    FUZZ_REQUIRE(ggld_check_path(m->at[m->from].path, &options, hear, &refuses,
                                 &err) == GGLD_OK,
                 "%s", err.message);
    FUZZ_REQUIRE(refuses == !opens, "check finds %s error",
                 refuses ? "an" : "no");
}

/* A set is one from each of its shards. */
static void open_from_each(const made *m, bool is_set)
{
    ggld_error err;

    for (uint32_t i = 0; i < m->n; i++) {
        if (i == m->from || m->at[i].absent)
            continue;
        ggld_file *file = open_one(m->at[i].path, 0, &err);
        bool also = file != NULL && count_shards(file) == m->n;
        if (file == NULL)
            check_refusal(m, i, err.code, &err);
        FUZZ_REQUIRE(m->n < 2 || also == is_set,
                     "from %s it opens, from %s: %s",
                     m->at[is_set ? m->from : i].label,
                     m->at[is_set ? i : m->from].label, err.message);
        if (is_set)
            compare_alone(m, file, 0);
        ggld_close(file);
    }
}

/* ---- merged, and split anew ---- */

static int differs(const ggld_difference *d, void *user)
{
    (void)user;
    FUZZ_REQUIRE(d == NULL, "difference of kind %" PRIu32, d->kind);
    return 1;
}

static void same_models(const ggld_file *a, const ggld_file *b)
{
    ggld_error err;

    FUZZ_REQUIRE(ggld_diff(a, b, NULL, differs, NULL, &err) == GGLD_OK, "%s",
                 err.message);
    FUZZ_REQUIRE(ggld_tensor_count(a) == ggld_tensor_count(b), "tensors");
    for (uint64_t i = 0; i < ggld_tensor_count(a); i++)
        FUZZ_REQUIRE(same_string(info_of(ggld_tensor_at(a, i)).name,
                                 info_of(ggld_tensor_at(b, i)).name),
                     "tensor %" PRIu64, i);
}

static void split_anew(const ggld_file *merged, const ggld_file *set,
                       uint8_t flags)
{
    static char *prefix;
    ggld_split_options options = ggld_split_options_init();
    ggld_split_plan *plan = NULL;
    ggld_error err;
    char first[512];

    if (prefix == NULL)
        prefix = folder_file("again");
    options.max_tensors = (flags & BY_TWO) != 0 ? 2 : 1;
    ggld_status status = ggld_split_plan_new(&plan, merged, &options, &err);
    if (status == GGLD_OK)
        status = ggld_split_write(plan, prefix, &err);
    FUZZ_REQUIRE(status == GGLD_OK, "%s", err.message);
    uint32_t n = ggld_split_plan_count(plan);
    ggld_split_plan_free(plan);
    (void)ggld_shard_path(first, sizeof first, prefix, 0, n);
    ggld_file *again = open_one(first, 0, &err);
    FUZZ_REQUIRE(again != NULL && count_shards(again) == n, "%s", err.message);
    same_models(set, again);
    ggld_close(again);
}

static void merge(const ggld_file *set, uint8_t flags)
{
    static char *path;
    ggld_error err;

    if (path == NULL)
        path = folder_file("merged.gguf");
    ggld_status status = ggld_merge(set, path, NULL, &err);
    if (status != GGLD_OK) {
        fuzz_require_line(&err, status);
        FUZZ_REQUIRE(status != GGLD_E_IO && status != GGLD_E_CHANGED, "%s",
                     err.message);
        FUZZ_REQUIRE(access(path, F_OK) != 0, "it is there, and: %s",
                     err.message);
        return;
    }
    ggld_file *merged = open_one(path, 0, &err);
    FUZZ_REQUIRE(merged != NULL, "%s", err.message);
    same_models(set, merged);
    split_anew(merged, set, flags);
    ggld_close(merged);
}

static void try_set(const made *m, uint8_t flags)
{
    ggld_file *file = open_agreed(m, 0);
    ggld_file *strict = open_agreed(m, GGLD_OPEN_STRICT);
    ggld_file *metadata = open_agreed(m, GGLD_OPEN_METADATA);
    bool is_set = file != NULL && m->n > 1 && count_shards(file) == m->n;

    FUZZ_REQUIRE(file != NULL || strict == NULL,
                 "strict takes what is refused by default");
    FUZZ_REQUIRE(metadata != NULL || file == NULL, "metadata alone is refused");
    check(m, 0, file != NULL);
    check(m, GGLD_OPEN_STRICT, strict != NULL);
    open_from_each(m, is_set);
    if (is_set)
        merge(file, flags);
    ggld_close(file);
    ggld_close(strict);
    ggld_close(metadata);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    made m = { 0 };

    if (size == 0)
        return 0;
    cut(&m, data + 1, size - 1);
    save(&m, data[0]);
    try_set(&m, data[0]);
    forget(&m);
    (void)folder_empty();
    return 0;
}
