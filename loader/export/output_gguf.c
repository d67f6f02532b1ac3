/* SPDX-License-Identifier: MIT */
/* GGUF as an output: what libggld writes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../base/checked.h"
#include "../base/quote.h"
#include "filetype.h"
#include "output_set.h"

#define KEY_ARCHITECTURE     "general.architecture"
#define KEY_TYPE             "general.type"
#define KEY_NAME             "general.name"
#define KEY_FILE_TYPE        "general.file_type"
#define KEY_VERSION          "general.quantization_version"
#define KEY_ALIGNMENT        "general.alignment"
#define QUANTIZATION_VERSION 2
/* What a writer takes. */
#define DEFAULT_ALIGNMENT 32
#define MAX_ALIGNMENT     (1u << 20)
#define MAX_NAME_BYTES    63

/* Of a set, the writer holds what the shards are made of. */
typedef struct gguf_output {
    ggld_writer *writer;
    ggld_output_set *set; /* NULL: one file */
} gguf_output;

static ggld_writer *writer_of(const ggld_export_plan *p)
{
    const gguf_output *o = p->state;
    return o->writer;
}

static bool takes(uint32_t type)
{
    uint32_t file_type;
    const ggld_type_traits *traits = ggld_type_traits_of(type);
    return traits != NULL && traits->can_quantize &&
           ggld_file_type_of(type, &file_type);
}

/* The convention of ggml's file types: matrices take the type where their rows
 * are whole blocks of it and F16 where not, vectors F32. */
static uint32_t choose(const ggld_export_plan *p, const ggld_source_tensor *t)
{
    uint32_t type = p->options.type;

    if (t->n_dims < 2)
        return (p->options.flags & GGLD_EXPORT_PURE) != 0 ? GGLD_TYPE_F16
                                                          : GGLD_TYPE_F32;
    return t->dims[0] % ggld_type_traits_of(type)->block_elems == 0
               ? type
               : GGLD_TYPE_F16;
}

/* May a tensor that is no copy have it? */
static bool is_declarable(ggld_string name)
{
    return name.len > 0 && name.len <= MAX_NAME_BYTES &&
           ggld_utf8_prefix(name.data, name.len) == name.len;
}

/* A tensor that keeps its type goes through chunks like the others, between
 * which a cancel is heard. The writer's own copy, which hears none, is for what
 * has to be brought to another byte order, and for names that only a copy may
 * have. */
static ggld_status arrange(ggld_export_plan *p, ggld_error *err)
{
    for (uint64_t i = 0; i < p->n_tensors; i++) {
        ggld_planned *planned = &p->tensors[i];
        const ggld_source_tensor *t = &p->source->tensors[planned->tensor];
        bool renamed = planned->name.data != t->name.data;
        planned->fed =
            planned->type != t->type || t->gguf == NULL ||
            (!t->copied_by_writer && (renamed || is_declarable(t->name)));
        if (!planned->fed && renamed)
            return ggld_fail(
                err, GGLD_E_UNSUPPORTED,
                ggld_place_of(GGLD_IN_TENSOR_INFO, planned->tensor, 0),
                "tensor %s: a big-endian %s that keeps its type can't be "
                "given another name",
                ggld_quote(t->name.data, t->name.len).text, t->type_name);
    }
    return GGLD_OK;
}

/* ---- key-values ---- */

static bool key_is(ggld_string key, const char *name)
{
    return key.len == strlen(name) && memcmp(key.data, name, key.len) == 0;
}

/* Keys that speak of the file, not of the model. */
static bool is_of_shards(const ggld_export_plan *p, ggld_string key)
{
    ggld_file_info info = { .struct_size = sizeof info };

    ggld_file_get_info(ggld_source_gguf_file(p->source), &info);
    return info.n_shards > 1 &&
           (key_is(key, "split.no") || key_is(key, "split.count") ||
            key_is(key, "split.tensors.count"));
}

static uint32_t file_type_of(const ggld_export_plan *p)
{
    uint32_t file_type = 0;
    (void)ggld_file_type_of(p->options.type, &file_type);
    return file_type;
}

static ggld_status set_file_type(const ggld_export_plan *p, ggld_error *err)
{
    return ggld_writer_set_u32(writer_of(p), KEY_FILE_TYPE, file_type_of(p),
                               err);
}

static ggld_status set_version(const ggld_export_plan *p, ggld_error *err)
{
    return ggld_writer_set_u32(writer_of(p), KEY_VERSION, QUANTIZATION_VERSION,
                               err);
}

static ggld_status set_text(const ggld_export_plan *p, const char *key,
                            const char *text, ggld_error *err)
{
    return text != NULL ? ggld_writer_set_string(writer_of(p), key, text,
                                                 strlen(text), err)
                        : GGLD_OK;
}

/* What a writer takes of the source's alignment. */
static uint32_t choose_alignment(const ggld_export_plan *p, uint64_t *said)
{
    ggld_file_info info = { .struct_size = sizeof info };
    const ggld_file *file = ggld_source_gguf_file(p->source);

    *said = DEFAULT_ALIGNMENT;
    if (file == NULL)
        return DEFAULT_ALIGNMENT;
    ggld_file_get_info(file, &info);
    *said = info.alignment_bytes;
    return ggld_is_power_of_two(*said) && *said <= MAX_ALIGNMENT
               ? (uint32_t)*said
               : DEFAULT_ALIGNMENT;
}

static ggld_status copy_kv(const ggld_export_plan *p, const ggld_kv *kv,
                           ggld_error *err)
{
    ggld_string key = ggld_kv_key(kv);
    uint64_t said;

    if (key_is(key, KEY_FILE_TYPE))
        return set_file_type(p, err);
    if (key_is(key, KEY_VERSION))
        return set_version(p, err);
    if (key_is(key, KEY_ALIGNMENT))
        return ggld_writer_set_u32(writer_of(p), KEY_ALIGNMENT,
                                   choose_alignment(p, &said), err);
    return is_of_shards(p, key) ? GGLD_OK
                                : ggld_writer_copy_kv(writer_of(p), kv, err);
}

/* Of a key that is there more than once, the first counts. */
static ggld_status copy_kvs(const ggld_export_plan *p, const ggld_file *file,
                            ggld_error *err)
{
    ggld_status status = GGLD_OK;

    for (uint64_t i = 0; i < ggld_kv_count(file) && status == GGLD_OK; i++) {
        const ggld_kv *kv = ggld_kv_at(file, i);
        ggld_string key = ggld_kv_key(kv);
        if (ggld_kv_find_n(file, key.data, key.len) == kv)
            status = copy_kv(p, kv, err);
        else
            ggld_plan_note(p,
                           "key-value %" PRIu64
                           " %s is left out: its key was there "
                           "before, and the first one is kept",
                           i, ggld_quote(key.data, key.len).text);
    }
    return status;
}

static bool is_general(ggld_string key)
{
    return key.len > 8 && memcmp(key.data, "general.", 8) == 0 &&
           memchr(key.data, '\0', (size_t)key.len) == NULL &&
           !key_is(key, KEY_FILE_TYPE) && !key_is(key, KEY_VERSION) &&
           !key_is(key, KEY_ALIGNMENT);
}

/* The general.* texts of a source that has no key-values. Of shards that say
 * the same, the last counts. */
static ggld_status copy_texts(const ggld_export_plan *p, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    ggld_string key, value;
    uint64_t i, n_left = 0;
    char name[256];

    for (i = 0; status == GGLD_OK &&
                p->source->format->text_at(p->source, i, &key, &value);
         i++) {
        if (!is_general(key) || key.len >= sizeof name) {
            n_left += !key_is(key, "format"); /* "pt": of all that are around */
            continue;
        }
        memcpy(name, key.data, (size_t)key.len);
        name[key.len] = '\0';
        status = ggld_writer_set_string(writer_of(p), name, value.data,
                                        (size_t)value.len, err);
    }
    if (n_left != 0)
        ggld_plan_note(p,
                       "%" PRIu64 " of %" PRIu64
                       " texts of metadata %s not carried over: GGUF takes "
                       "those of general.* keys",
                       n_left, i, n_left == 1 ? "is" : "are");
    return status;
}

/* What the caller says by name, and not key by key. */
static ggld_status set_names(const ggld_export_plan *p, ggld_error *err)
{
    const ggld_export_options *o = &p->options;
    ggld_status status = set_text(p, KEY_ARCHITECTURE, o->architecture, err);

    return status == GGLD_OK ? set_text(p, KEY_NAME, o->name, err) : status;
}

/* Of a source that has no key-values: names stand first, and win. */
static ggld_status make_kvs(const ggld_export_plan *p, ggld_error *err)
{
    ggld_status status =
        set_text(p, KEY_ARCHITECTURE, p->options.architecture, err);

    if (status == GGLD_OK)
        status = set_text(p, KEY_TYPE, "model", err);
    if (status == GGLD_OK)
        status = copy_texts(p, err);
    return status == GGLD_OK ? set_names(p, err) : status;
}

static ggld_status set_kvs(const ggld_export_plan *p, ggld_error *err)
{
    const ggld_export_options *o = &p->options;
    const ggld_file *file = ggld_source_gguf_file(p->source);
    ggld_status status =
        file != NULL ? copy_kvs(p, file, err) : make_kvs(p, err);

    if (status == GGLD_OK && file != NULL)
        status = set_names(p, err);
    if (status == GGLD_OK && !ggld_writer_has(writer_of(p), KEY_VERSION))
        status = set_version(p, err);
    if (status == GGLD_OK && !ggld_writer_has(writer_of(p), KEY_FILE_TYPE))
        status = set_file_type(p, err);
    if (status == GGLD_OK && o->set_metadata != NULL)
        status = o->set_metadata(writer_of(p), o->user, err);
    if (status == GGLD_OK && !ggld_writer_has(writer_of(p), KEY_ARCHITECTURE))
        ggld_plan_note(p, "no " KEY_ARCHITECTURE
                          " is set, without which llama.cpp loads no model");
    return status;
}

/* ---- tensors ---- */

static ggld_status declare(const ggld_export_plan *p,
                           const ggld_planned *planned, ggld_error *err)
{
    const ggld_source_tensor *t = &p->source->tensors[planned->tensor];

    if (!planned->fed)
        return ggld_writer_copy_tensor(writer_of(p), t->gguf, err);
    return ggld_writer_declare_tensor(writer_of(p), planned->name.data,
                                      (size_t)planned->name.len, planned->type,
                                      t->dims, t->n_dims, err);
}

/* Of what the writer copies by itself, between the puts. */
static int on_copied(uint64_t done_bytes, uint64_t total_bytes, void *user)
{
    (void)done_bytes;
    (void)total_bytes;
    return ggld_plan_progress(user, NULL) != GGLD_OK;
}

static ggld_status new_output(ggld_export_plan *p, ggld_error *err)
{
    ggld_writer_options options = ggld_writer_options_init();
    gguf_output *o = calloc(1, sizeof *o);
    uint64_t said;

    if (o == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "no memory for a writer");
    p->state = o;
    options.alignment_bytes = choose_alignment(p, &said);
    if (said != options.alignment_bytes)
        ggld_plan_note(p,
                       "alignment %" PRIu64
                       " is not one that ggml takes: %d is "
                       "written",
                       said, DEFAULT_ALIGNMENT);
    options.progress = on_copied;
    options.progress_user = p;
    return ggld_writer_new(&o->writer, &options, err);
}

static ggld_status begin(ggld_export_plan *p, const char *path, ggld_error *err)
{
    ggld_status status = new_output(p, err);
    gguf_output *o = p->state;

    if (status == GGLD_OK)
        status = set_kvs(p, err);
    for (uint64_t i = 0; i < p->n_tensors && status == GGLD_OK; i++)
        status = declare(p, &p->tensors[i], err);
    if (status != GGLD_OK)
        return status;
    return p->options.max_shard_bytes != 0
               ? ggld_output_set_begin(&o->set, p, o->writer, path, err)
               : ggld_writer_begin(o->writer, path, err);
}

static ggld_status put(ggld_export_plan *p, const void *data, size_t size,
                       ggld_error *err)
{
    const gguf_output *o = p->state;
    return o->set != NULL ? ggld_output_set_put(o->set, data, size, err)
                          : ggld_writer_put_bytes(o->writer, data, size, err);
}

static ggld_status seal(ggld_export_plan *p, ggld_error *err)
{
    const gguf_output *o = p->state;
    return o->set != NULL ? ggld_output_set_seal(o->set, err)
                          : ggld_writer_seal(o->writer, err);
}

static ggld_status finish(ggld_export_plan *p, ggld_error *err)
{
    const gguf_output *o = p->state;
    return o->set != NULL ? ggld_output_set_finish(o->set, p, err)
                          : ggld_writer_finish(o->writer, err);
}

static void free_output(ggld_export_plan *p)
{
    gguf_output *o = p->state;

    if (o == NULL)
        return;
    ggld_output_set_free(o->set);
    ggld_writer_free(o->writer);
    free(o);
    p->state = NULL;
}

const ggld_output_format ggld_output_gguf = {
    GGLD_EXPORT_GGUF, ".gguf",     takes, choose, arrange, begin, put, seal,
    finish,           free_output,
};
