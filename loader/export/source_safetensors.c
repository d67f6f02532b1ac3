/* SPDX-License-Identifier: MIT */
/* safetensors files as a source: one, several, or the shards of an index. Their
 * data is read, never mapped, so that a file that is cut meanwhile is an
 * error and not a signal. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ggld/codec.h>

#include "../base/alloc.h"
#include "../base/bytes.h"
#include "../base/checked.h"
#include "../base/cut.h"
#include "../base/index.h"
#include "../base/quote.h"
#include "shards.h"

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* The name says so, or a length with a brace behind it does. */
static bool recognise(const ggld_source_look *look)
{
    return ends_with(look->path, ".safetensors") ||
           (look->head_bytes > GGLD_ST_LENGTH_BYTES &&
            look->head[GGLD_ST_LENGTH_BYTES] == '{' &&
            ggld_load_le64(look->head) <= GGLD_ST_MAX_HEADER_BYTES);
}

static ggld_status fail_nomem(ggld_error *err)
{
    return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                     "no memory to open a model");
}

/* ---- reading ---- */

/* All of it, past interruptions and short reads. label: as of make_label. */
static ggld_status read_at(const ggld_source_file *f, const char *label,
                           void *dst, uint64_t size, uint64_t offset,
                           ggld_place place, ggld_error *err)
{
    uint8_t *p = dst;

    while (size > 0) {
        size_t n = (size_t)ggld_min_u64(size, 1u << 30);
        ssize_t done = pread(f->fd, p, n, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return ggld_fail_errno(err, errno, place,
                                   "%sfile: can't read %" PRIu64
                                   " bytes at %" PRIu64,
                                   label, size, offset);
        if (done == 0)
            return ggld_fail_cut(err, GGLD_E_TRUNCATED, place, label,
                                 ggld_cut_size(f->fd, 0, offset),
                                 (uint64_t)f->stamp.st_size);
        p += done;
        size -= (uint64_t)done;
        offset += (uint64_t)done;
    }
    return GGLD_OK;
}

/* A length that is none may be what is often there under a name of safetensors. */
static ggld_status check_magic(const char *label,
                               const uint8_t length[GGLD_ST_LENGTH_BYTES],
                               ggld_error *err)
{
    static const struct {
        const char *magic;
        const char *what;
    } others[] = {
        { "GGUF", "this is a GGUF file, not safetensors" },
        { "PK\3\4", "this is a zip archive, as PyTorch writes, not "
                    "safetensors" },
        { "version ", "this is a Git LFS pointer: fetch the file itself "
                      "(git lfs pull)" },
    };

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (memcmp(length, others[i].magic, strlen(others[i].magic)) == 0)
            return ggld_fail(err, GGLD_E_MAGIC,
                             ggld_place_of(GGLD_IN_HEADER, GGLD_NO_INDEX, 0),
                             "%sheader: %s", label, others[i].what);
    return GGLD_OK;
}

static ggld_status fail_length(const char *label, uint64_t header,
                               uint64_t file, ggld_error *err)
{
    ggld_place place = ggld_place_of(GGLD_IN_HEADER, GGLD_NO_INDEX, 0);

    if (file < GGLD_ST_LENGTH_BYTES)
        return ggld_fail(err, GGLD_E_TRUNCATED, place,
                         "%sheader: a file of %" PRIu64
                         " bytes is no safetensors file",
                         label, file);
    if (header > GGLD_ST_MAX_HEADER_BYTES)
        return ggld_fail(err, GGLD_E_LIMIT, place,
                         "%sheader: its length of %" PRIu64
                         " bytes is more than %u: no safetensors file",
                         label, header, GGLD_ST_MAX_HEADER_BYTES);
    return ggld_fail(err, GGLD_E_TRUNCATED, place,
                     "%sheader: its length of %" PRIu64
                     " bytes goes past the end of the file (%" PRIu64 " bytes)",
                     label, header, file);
}

static ggld_status read_header(const ggld_source_file *f, ggld_st_header *out,
                               const char *label, ggld_error *err)
{
    uint64_t file = (uint64_t)f->stamp.st_size, size;
    ggld_place place = ggld_place_of(GGLD_IN_HEADER, GGLD_NO_INDEX, 0);
    uint8_t length[GGLD_ST_LENGTH_BYTES];

    if (file < sizeof length)
        return fail_length(label, 0, file, err);
    ggld_status status =
        read_at(f, label, length, sizeof length, 0, place, err);
    if (status != GGLD_OK)
        return status;
    size = ggld_load_le64(length);
    if (size > GGLD_ST_MAX_HEADER_BYTES || size > file - sizeof length) {
        status = check_magic(label, length, err);
        return status == GGLD_OK ? fail_length(label, size, file, err) : status;
    }
    char *json = malloc((size_t)size + 1);
    if (json == NULL)
        return fail_nomem(err);
    status = read_at(f, label, json, size, sizeof length, place, err);
    if (status == GGLD_OK)
        status = ggld_st_header_parse(out, json, size,
                                      file - sizeof length - size, label, err);
    free(json);
    return status;
}

/* ---- open ---- */

/* The only file, and the one that was given: an index names others. */
static bool is_alone(const ggld_export_source *s, size_t n_paths)
{
    return n_paths == 1 && s->format == &ggld_source_safetensors;
}

#define LABEL_MAX (GGLD_QUOTE_MAX + 16)

/* "'b.safetensors': ", or nothing of a file that is alone. */
static void make_label(char *label, size_t size, const char *path, bool alone)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;

    label[0] = '\0';
    if (!alone)
        snprintf(label, size, "%s: ", ggld_quote(name, strlen(name)).text);
}

/* Behind those of the files before it. None are kept twice. */
static ggld_status take_tensors(ggld_export_source *s, ggld_st_header *h,
                                uint32_t file, ggld_error *err)
{
    if (s->tensors == NULL) {
        s->tensors = h->tensors;
        h->tensors = NULL;
    } else {
        uint64_t n = s->n_tensors + h->n_tensors;
        ggld_source_tensor *all =
            n < SIZE_MAX / sizeof *all
                ? realloc(s->tensors, ((size_t)n + 1) * sizeof *all)
                : NULL;
        if (all == NULL)
            return fail_nomem(err);
        s->tensors = all;
        memcpy(all + s->n_tensors, h->tensors,
               (size_t)h->n_tensors * sizeof *all);
        free(h->tensors);
        h->tensors = NULL;
    }
    for (uint64_t i = 0; i < h->n_tensors; i++)
        s->tensors[s->n_tensors++].file = file;
    return GGLD_OK;
}

ggld_status ggld_shards_open(ggld_export_source *s, const char *const *paths,
                             size_t n_paths, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    char label[LABEL_MAX];
    ggld_shards *shards = calloc(1, sizeof *shards);

    s->state = shards;
    if (shards == NULL || n_paths > UINT32_MAX ||
        (shards->headers = calloc(n_paths, sizeof *shards->headers)) == NULL)
        return fail_nomem(err);
    for (size_t i = 0; i < n_paths && status == GGLD_OK; i++) {
        status = ggld_source_add_file(s, paths[i], err);
        if (status != GGLD_OK)
            return status;
        shards->n++;
        make_label(label, sizeof label, paths[i], is_alone(s, n_paths));
        (void)posix_fadvise(s->files[i].fd, 0, 0, POSIX_FADV_SEQUENTIAL);
        ggld_st_header *h = &shards->headers[i];
        status = read_header(&s->files[i], h, label, err);
        if (status == GGLD_OK)
            status = take_tensors(s, h, (uint32_t)i, err);
        if (status != GGLD_OK && err != NULL)
            err->shard = (uint32_t)i;
    }
    return status;
}

/* The name's "-00002-of-00005.safetensors": false where it has none. */
static bool shard_number(const char *path, unsigned *number, unsigned *count)
{
    const size_t len = sizeof "-00001-of-00002.safetensors" - 1;
    int end = 0;

    if (strlen(path) < len)
        return false;
    path += strlen(path) - len;
    /* NOLINTNEXTLINE(cert-err34-c): five digits fit. */
    return sscanf(path, "-%5u-of-%5u.safetensors%n", number, count, &end) ==
               2 &&
           (size_t)end == len;
}

static ggld_status open_files(ggld_export_source *s, const char *const *paths,
                              size_t n_paths, ggld_error *err)
{
    unsigned number, count;

    if (shard_number(paths[0], &number, &count) && count > 1 && n_paths < count)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "%s is one of %u shards, and %zu were given: give "
                         "all of them, or their index (.json)",
                         ggld_quote(paths[0], strlen(paths[0])).text, count,
                         n_paths);
    return ggld_shards_open(s, paths, n_paths, err);
}

/* ---- list ---- */

static const char *file_name(const ggld_export_source *s, uint32_t file)
{
    const char *path = s->files[file].path, *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static ggld_status fail_twice(const ggld_export_source *s, uint64_t i,
                              uint64_t first, ggld_error *err)
{
    const ggld_source_tensor *t = &s->tensors[i];
    const char *a = file_name(s, s->tensors[first].file);
    const char *b = file_name(s, t->file);

    return ggld_fail(
        err, GGLD_E_DUPLICATE, ggld_place_of(GGLD_IN_TENSOR_INFO, i, 0),
        "tensor %s is in %s and in %s",
        ggld_quote(t->name.data, t->name.len).text,
        ggld_quote(a, strlen(a)).text, ggld_quote(b, strlen(b)).text);
}

/* They are there; no two may have one name. */
ggld_status ggld_shards_list(ggld_export_source *s, ggld_error *err)
{
    const ggld_allocator allocator = ggld_allocator_of(NULL);
    const ggld_names names = { &s->tensors[0].name, sizeof *s->tensors };
    const uint64_t n = s->n_tensors;
    ggld_index *index =
        n < GGLD_INDEX_MAX ? ggld_index_new(&allocator, n) : NULL;
    ggld_status status = index == NULL ? fail_nomem(err) : GGLD_OK;

    for (uint32_t i = 0; i < n && status == GGLD_OK; i++) {
        uint32_t first = ggld_index_insert(index, names, i);
        if (first != i)
            status = fail_twice(s, i, first, err);
    }
    ggld_free(&allocator, index);
    return status;
}

/* ---- data ---- */

static ggld_status read_bytes(const ggld_export_source *s, uint64_t tensor,
                              uint64_t first_byte, void *dst, size_t size,
                              ggld_error *err)
{
    const ggld_source_tensor *t = &s->tensors[tensor];
    const ggld_source_file *f = &s->files[t->file];
    char label[LABEL_MAX];

    make_label(label, sizeof label, f->path, is_alone(s, s->n_files));
    ggld_status status =
        read_at(f, label, dst, size, t->file_offset_bytes + first_byte,
                ggld_place_of(GGLD_IN_TENSOR_DATA, tensor, 0), err);
    if (status != GGLD_OK && err != NULL)
        err->shard = t->file;
    return status;
}

static ggld_status read_f32(const ggld_export_source *s, uint64_t tensor,
                            uint64_t first_elem, float *dst, uint64_t n_elems,
                            void *scratch, ggld_error *err)
{
    const ggld_source_tensor *t = &s->tensors[tensor];
    const ggld_string type = { t->type_name, strlen(t->type_name) };
    const ggld_dtype *dtype = ggld_dtype_of_name(type);
    uint32_t width = dtype->bits / 8;
    size_t size = (size_t)n_elems * width;

    ggld_status status =
        read_bytes(s, tensor, first_elem * width, scratch, size, err);
    if (status != GGLD_OK)
        return status;
    if (dtype->decode == NULL)
        return ggld_dequantize_f32(dtype->type, scratch, size, dst, n_elems,
                                   err);
    const uint8_t *bytes = scratch;
    float values[256];
    for (unsigned i = 0; i < 256; i++)
        values[i] = dtype->decode((uint8_t)i);
    for (uint64_t i = 0; i < n_elems; i++)
        dst[i] = values[bytes[i]];
    return GGLD_OK;
}

/* One file's behind the other's. */
static bool text_at(const ggld_export_source *s, uint64_t i, ggld_string *key,
                    ggld_string *value)
{
    const ggld_shards *shards = s->state;

    for (uint32_t k = 0; k < shards->n; k++) {
        const ggld_st_header *h = &shards->headers[k];
        if (i < h->n_texts) {
            *key = h->texts[i].key;
            *value = h->texts[i].value;
            return true;
        }
        i -= h->n_texts;
    }
    return false;
}

static void close_shards(ggld_export_source *s)
{
    ggld_shards *shards = s->state;

    if (shards == NULL)
        return;
    for (uint32_t i = 0; i < shards->n; i++)
        ggld_st_header_free(&shards->headers[i]);
    free(shards->headers);
    free(shards->index);
    free(shards);
}

const ggld_source_format ggld_source_safetensors = {
    "safetensors", recognise, open_files, ggld_shards_list,
    read_bytes,    read_f32,  text_at,    close_shards,
};

/* ---- the index of shards ---- */

static bool recognise_index(const ggld_source_look *look)
{
    return look->n_paths == 1 &&
           (ends_with(look->path, ".json") ||
            (look->head_bytes > 1 && look->head[0] == '{'));
}

const ggld_source_format ggld_source_index = {
    "safetensors index",
    recognise_index,
    ggld_shard_index_open,
    ggld_shard_index_list,
    read_bytes,
    read_f32,
    text_at,
    close_shards,
};
