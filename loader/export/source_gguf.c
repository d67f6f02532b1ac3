/* SPDX-License-Identifier: MIT */
/* GGUF files as a source: what libggld reads. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <ggld/codec.h>
#include <ggld/tensor.h>

#include "../base/quote.h"
#include "plan.h"
#include "source.h"

static bool recognise(const ggld_source_look *look)
{
    (void)look;
    return true;
}

/* A shard's descriptor, to see what becomes of it; there is none where bytes
 * are the app's. */
static ggld_status take_stamp(ggld_source_file *f, const ggld_file *shard,
                              ggld_error *err)
{
    ggld_backing backing = { .struct_size = sizeof backing };
    const char *path = ggld_file_path(shard);

    f->fd = -1;
    f->path = strdup(path != NULL ? path : "the file");
    if (f->path == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory to open a model");
    ggld_file_get_backing(shard, &backing);
    if (backing.fd < 0)
        return GGLD_OK;
    f->fd = fcntl(backing.fd, F_DUPFD_CLOEXEC, 0);
    if (f->fd >= 0 && fstat(f->fd, &f->stamp) == 0)
        return GGLD_OK;
    return ggld_fail_errno(err, errno,
                           ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0),
                           "file: fstat");
}

static ggld_status take_stamps(ggld_export_source *s, ggld_error *err)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_status status = GGLD_OK;

    ggld_file_get_info(s->state, &info);
    s->files = calloc(info.n_shards, sizeof *s->files);
    if (s->files == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory to open a model");
    while (s->n_files < info.n_shards && status == GGLD_OK) {
        status = take_stamp(&s->files[s->n_files],
                            ggld_file_shard(s->state, s->n_files), err);
        s->n_files++;
    }
    return status;
}

static ggld_status open_gguf(ggld_export_source *s, const char *const *paths,
                             size_t n_paths, ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file;

    /* Each byte is read once: through a map that would take a fault for every
     * few pages, and a file that is cut meanwhile would be a signal. */
    options.flags = GGLD_OPEN_PREAD;
    ggld_status status = ggld_open_path(&file, paths[0], &options, err);
    if (status != GGLD_OK)
        return status;
    s->state = file;
    if (n_paths > 1)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "%s is a GGUF model; of several files only "
                         "safetensors are one model together",
                         ggld_quote(paths[0], strlen(paths[0])).text);
    return GGLD_OK;
}

/* One number to an element, so that swapping it needs no table. */
static bool is_plain(const ggld_type_traits *traits)
{
    return traits != NULL && traits->block_elems == 1;
}

static void take_tensor(ggld_export_source *s, uint64_t i)
{
    ggld_source_tensor *t = &s->tensors[i];
    ggld_tensor_info info = { .struct_size = sizeof info };

    t->gguf = ggld_tensor_at(s->state, i);
    ggld_tensor_get_info(t->gguf, &info);
    const ggld_type_traits *traits = ggld_type_traits_of(info.type);
    t->name = info.name;
    t->type = info.type;
    t->type_name = traits != NULL ? traits->name : NULL;
    t->readable = traits != NULL && traits->can_dequantize;
    t->n_dims = (uint8_t)info.n_dims;
    memcpy(t->dims, info.dims, sizeof t->dims);
    t->size_bytes = info.size_bytes;
    t->copied_by_writer = info.big_endian && !is_plain(traits);
    t->file = info.shard;
    t->file_offset_bytes = info.file_offset_bytes;
}

static ggld_status list(ggld_export_source *s, ggld_error *err)
{
    uint64_t n = ggld_tensor_count(s->state);
    ggld_status status = ggld_source_room(s, n, err);

    if (status == GGLD_OK)
        status = take_stamps(s, err);
    if (status != GGLD_OK)
        return status;
    for (uint64_t i = 0; i < n; i++)
        take_tensor(s, i);
    s->n_tensors = n;
    return GGLD_OK;
}

/* first_byte and size are whole elements. */
static void swap_plain(uint8_t *p, size_t size, uint32_t width)
{
    for (size_t i = 0; i < size; i += width)
        for (uint32_t k = 0; k < width / 2; k++) {
            uint8_t byte = p[i + k];
            p[i + k] = p[i + width - 1 - k];
            p[i + width - 1 - k] = byte;
        }
}

static ggld_status read_bytes(const ggld_export_source *s, uint64_t tensor,
                              uint64_t first_byte, void *dst, size_t size,
                              ggld_error *err)
{
    const ggld_source_tensor *t = &s->tensors[tensor];
    ggld_tensor_info info = { .struct_size = sizeof info };

    ggld_status status =
        ggld_tensor_read_bytes(t->gguf, first_byte, dst, size, err);
    ggld_tensor_get_info(t->gguf, &info);
    if (status == GGLD_OK && info.big_endian)
        swap_plain(dst, size, ggld_type_traits_of(t->type)->block_bytes);
    return status;
}

/* Of whole blocks as they are in the machine's formats: one read of them all,
 * where a view reads through a small buffer, again and again. */
static ggld_status read_blocks(const ggld_source_tensor *t, uint64_t first_elem,
                               float *dst, uint64_t n_elems, void *scratch,
                               ggld_error *err)
{
    size_t size = (size_t)ggld_stored_bytes(t, n_elems);

    ggld_status status = ggld_tensor_read_bytes(
        t->gguf, ggld_stored_bytes(t, first_elem), scratch, size, err);
    return status == GGLD_OK
               ? ggld_dequantize_f32(t->type, scratch, size, dst, n_elems, err)
               : status;
}

static ggld_status read_f32(const ggld_export_source *s, uint64_t tensor,
                            uint64_t first_elem, float *dst, uint64_t n_elems,
                            void *scratch, ggld_error *err)
{
    const ggld_source_tensor *t = &s->tensors[tensor];
    uint64_t block = ggld_type_traits_of(t->type)->block_elems;
    ggld_view view = ggld_tensor_view(t->gguf);
    ggld_tensor_info info = { .struct_size = sizeof info };

    ggld_tensor_get_info(t->gguf, &info);
    if (!info.big_endian && first_elem % block == 0 && n_elems % block == 0)
        return read_blocks(t, first_elem, dst, n_elems, scratch, err);
    ggld_status status =
        ggld_view_elems(&view, &view, first_elem, n_elems, err);
    if (status == GGLD_OK)
        status = ggld_view_read_f32(&view, dst, n_elems, err);
    return status;
}

/* Of a key that is there more than once, the first counts. */
static bool text_at(const ggld_export_source *s, uint64_t i, ggld_string *key,
                    ggld_string *value)
{
    const ggld_kv *kv = ggld_kv_at(s->state, i);

    if (kv == NULL)
        return false;
    *key = ggld_kv_key(kv);
    if (ggld_kv_find_n(s->state, key->data, key->len) != kv ||
        !ggld_kv_get_string(kv, value))
        key->len = 0;
    return true;
}

static void close_gguf(ggld_export_source *s)
{
    ggld_close(s->state);
}

ggld_file *ggld_source_gguf_file(const ggld_export_source *s)
{
    return s->format == &ggld_source_gguf ? s->state : NULL;
}

const ggld_source_format ggld_source_gguf = {
    "gguf",     recognise, open_gguf, list,
    read_bytes, read_f32,  text_at,   close_gguf,
};
