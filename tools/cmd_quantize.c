/* SPDX-License-Identifier: MIT */
/* ggld quantize: a model with its tensors in another type. All cores convert
 * chunks, of which there are a few at a time, whatever the model's size. */
#include <inttypes.h>
#include <string.h>

#include <ggld/codec.h>
#include <ggld/write.h>

#include "chunks.h"
#include "command.h"
#include "ftype.h"
#include "model.h"
#include "paths.h"
#include "pipeline.h"
#include "progress.h"
#include "report.h"
#include "stop.h"

enum { OPT_TYPE, OPT_PURE };

#define CHUNK_ELEMS          (1u << 16)
#define KEY_FILE_TYPE        "general.file_type"
#define KEY_VERSION          "general.quantization_version"
#define KEY_ALIGNMENT        "general.alignment"
#define QUANTIZATION_VERSION 2
/* What a writer takes. */
#define ALIGNMENT_MAX  (1u << 20)
#define NAME_MAX_BYTES 63

typedef struct plan {
    const char *in_path;
    const char *out_path;
    model in;
    uint32_t type;
    uint32_t file_type;
    bool pure;
    uint32_t alignment_bytes;
    ggld_writer *writer;
    chunks chunks; /* of tensors that are not left to the writer to copy */
    progress bar;
} plan;

static bool is_integer_type(uint32_t type)
{
    return type >= GGLD_TYPE_I8 && type <= GGLD_TYPE_I64;
}

/* The convention of ggml's file types: matrices take the type where their rows
 * are whole blocks of it and F16 where not, vectors F32; integers are no
 * weights. */
static uint32_t type_for(const plan *p, const ggld_tensor_info *info)
{
    const ggld_type_traits *traits = ggld_type_traits_of(p->type);

    if (is_integer_type(info->type))
        return info->type;
    if (info->n_dims < 2)
        return p->pure ? GGLD_TYPE_F16 : GGLD_TYPE_F32;
    return info->dims[0] % traits->block_elems == 0 ? p->type : GGLD_TYPE_F16;
}

static bool key_is(ggld_string key, const char *name)
{
    return key.len == strlen(name) && memcmp(key.data, name, key.len) == 0;
}

/* What is written of a set is no shard any more. */
static bool is_split_key(ggld_string key)
{
    return key_is(key, "split.no") || key_is(key, "split.count") ||
           key_is(key, "split.tensors.count");
}

static ggld_status set_kv(const plan *p, const ggld_kv *kv, ggld_error *err)
{
    ggld_string key = ggld_kv_key(kv);

    if (key_is(key, KEY_FILE_TYPE))
        return ggld_writer_set_u32(p->writer, KEY_FILE_TYPE, p->file_type, err);
    if (key_is(key, KEY_VERSION))
        return ggld_writer_set_u32(p->writer, KEY_VERSION, QUANTIZATION_VERSION,
                                   err);
    if (key_is(key, KEY_ALIGNMENT))
        return ggld_writer_set_u32(p->writer, KEY_ALIGNMENT, p->alignment_bytes,
                                   err);
    if (p->in.info.n_shards > 1 && is_split_key(key))
        return GGLD_OK;
    return ggld_writer_copy_kv(p->writer, kv, err);
}

/* Of a key that is there more than once, the first counts. */
static void note_again(const plan *p, uint64_t index, ggld_string key)
{
    report_note(p->in_path,
                "key-value %" PRIu64 " '%.*s' is left out: its key was there "
                "before, and the first one is kept",
                index, key.len < 64 ? (int)key.len : 64, key.data);
}

static ggld_status set_kvs(const plan *p, ggld_error *err)
{
    const ggld_file *file = p->in.file;
    ggld_status status = GGLD_OK;

    for (uint64_t i = 0; i < ggld_kv_count(file) && status == GGLD_OK; i++) {
        const ggld_kv *kv = ggld_kv_at(file, i);
        ggld_string key = ggld_kv_key(kv);
        if (ggld_kv_find_n(file, key.data, key.len) == kv)
            status = set_kv(p, kv, err);
        else
            note_again(p, i, key);
    }
    if (status == GGLD_OK && ggld_kv_find(file, KEY_VERSION) == NULL)
        status = ggld_writer_set_u32(p->writer, KEY_VERSION,
                                     QUANTIZATION_VERSION, err);
    if (status == GGLD_OK && ggld_kv_find(file, KEY_FILE_TYPE) == NULL)
        status =
            ggld_writer_set_u32(p->writer, KEY_FILE_TYPE, p->file_type, err);
    return status;
}

static bool keeps_type(const plan *p, const ggld_tensor_info *info)
{
    return type_for(p, info) == info->type;
}

/* May a tensor that is no copy have it? */
static bool is_declarable(ggld_string name)
{
    size_t len = (size_t)name.len, at = 0, n = 1;
    uint32_t code;

    if (len == 0 || len > NAME_MAX_BYTES)
        return false;
    for (; at < len && n != 0; at += n)
        n = text_utf8(name.data + at, len - at, &code);
    return n != 0;
}

/* A tensor that keeps its type is taken over as it is, in chunks like the
 * others, between which a signal is heard. The writer's own copy, which hears
 * none, is for what has to be brought to another byte order and for what has
 * no data, or a name that only a copy may have. */
static bool is_fed(const void *user, const ggld_tensor_info *info)
{
    return !keeps_type(user, info) ||
           (!info->big_endian && info->size_bytes > 0 &&
            is_declarable(info->name));
}

static ggld_status declare(const plan *p, const ggld_tensor *tensor,
                           ggld_error *err)
{
    ggld_tensor_info info = model_tensor_info(tensor);

    if (!is_fed(p, &info))
        return ggld_writer_copy_tensor(p->writer, tensor, err);
    return ggld_writer_declare_tensor(p->writer, info.name.data,
                                      (size_t)info.name.len, type_for(p, &info),
                                      info.dims, info.n_dims, err);
}

/* ---- data ---- */

typedef struct slot {
    ggld_status status; /* of quantising */
    size_t size_bytes;
    float values[CHUNK_ELEMS];
    uint8_t blocks[CHUNK_ELEMS * sizeof(uint64_t)]; /* of the widest type */
} slot;

/* What can't be said in the new type is refused by the writer, which knows its
 * name and place. */
static ggld_status convert(const chunk *c, uint32_t type, slot *s,
                           ggld_error *err)
{
    ggld_view view = ggld_tensor_view(c->tensor);
    ggld_error refusal;

    ggld_status status =
        ggld_view_elems(&view, &view, c->first_elem, c->n_elems, err);
    if (status == GGLD_OK)
        status = ggld_view_read_f32(&view, s->values, c->n_elems, err);
    if (status == GGLD_OK)
        s->status = ggld_quantize_f32(type, s->values, c->n_elems, s->blocks,
                                      s->size_bytes, &refusal);
    return status;
}

/* On any thread. */
static ggld_status work(void *user, uint64_t item, void *memory,
                        ggld_error *err)
{
    const plan *p = user;
    slot *s = memory;
    chunk c = chunks_at(&p->chunks, item);
    uint32_t type = type_for(p, &c.info);
    const ggld_type_traits *traits = ggld_type_traits_of(type);

    s->status = GGLD_OK;
    s->size_bytes =
        (size_t)(c.n_elems / traits->block_elems) * traits->block_bytes;
    if (type != c.info.type)
        return convert(&c, type, s, err);
    return ggld_tensor_read_bytes(
        c.tensor, c.first_elem / traits->block_elems * traits->block_bytes,
        s->blocks, s->size_bytes, err);
}

static ggld_status put(void *user, uint64_t item, void *memory, ggld_error *err)
{
    plan *p = user;
    const slot *s = memory;
    uint64_t n_elems = chunks_at(&p->chunks, item).n_elems;

    progress_add(&p->bar, n_elems * sizeof(float));
    if (s->status != GGLD_OK)
        return ggld_writer_put_f32(p->writer, s->values, n_elems, err);
    return ggld_writer_put_bytes(p->writer, s->blocks, s->size_bytes, err);
}

static ggld_status put_tensors(plan *p, ggld_error *err)
{
    const pipeline line = { .n_items = p->chunks.n,
                            .slot_bytes = sizeof(slot),
                            .user = p,
                            .work = work,
                            .take = put };

    progress_begin(&p->bar, "quantize", p->chunks.n_elems * sizeof(float));
    ggld_status status = pipeline_run(&line, err);
    progress_end(&p->bar);
    return status;
}

static ggld_status write_model(plan *p, ggld_error *err)
{
    ggld_status status = set_kvs(p, err);

    for (uint64_t i = 0; i < ggld_tensor_count(p->in.file) && status == GGLD_OK;
         i++)
        status = declare(p, ggld_tensor_at(p->in.file, i), err);
    if (status == GGLD_OK)
        status = ggld_writer_begin(p->writer, p->out_path, err);
    if (status == GGLD_OK)
        status = put_tensors(p, err);
    if (status == GGLD_OK)
        status = ggld_writer_finish(p->writer, err);
    return status;
}

static int run_plan(plan *p)
{
    ggld_writer_options options = ggld_writer_options_init();
    ggld_status status;
    ggld_error err;

    if (chunks_make(&p->chunks, &p->in, CHUNK_ELEMS, is_fed, p) != STATUS_GOOD)
        return STATUS_FAULT;
    options.alignment_bytes = p->alignment_bytes;
    stop_watch();
    status = ggld_writer_new(&p->writer, &options, &err);
    if (status == GGLD_OK) {
        status = write_model(p, &err);
        ggld_writer_free(p->writer);
    }
    chunks_free(&p->chunks);
    if (status == GGLD_E_CANCELLED)
        return stop_report(p->out_path);
    /* Data that can't be read, or not be said in the new type, is the input's
     * fault. */
    if (status != GGLD_OK)
        return report_error(err.section == GGLD_IN_TENSOR_DATA ? p->in_path
                                                               : p->out_path,
                            &err);
    return STATUS_GOOD;
}

/* All or nothing: a tensor that can't be read is found before writing. */
static int check_tensors(const plan *p)
{
    for (uint64_t i = 0; i < ggld_tensor_count(p->in.file); i++) {
        ggld_tensor_info info = model_tensor(&p->in, i);
        const ggld_type_traits *traits = ggld_type_traits_of(info.type);
        if (traits != NULL && traits->can_dequantize)
            continue;
        return report(p->in_path,
                      "tensor %" PRIu64 " '%.*s' is of %s, which can't be read",
                      i, info.name.len < 64 ? (int)info.name.len : 64,
                      info.name.data, model_type_text(info.type).text);
    }
    return STATUS_GOOD;
}

static void choose_alignment(plan *p)
{
    uint64_t alignment = p->in.info.alignment_bytes;

    p->alignment_bytes = 32;
    if ((alignment & (alignment - 1)) == 0 && alignment <= ALIGNMENT_MAX)
        p->alignment_bytes = (uint32_t)alignment;
    else
        report_note(p->in_path,
                    "alignment %" PRIu64 " is not one that ggml takes: 32 is "
                    "written",
                    alignment);
}

static int print_result(output *o, const plan *p)
{
    model out;
    int status = model_open(&out, p->out_path);

    if (status != STATUS_GOOD)
        return status;
    text_put_name(o, p->out_path, strlen(p->out_path));
    out_printf(o, ": %s, %s to %s (%.1f%%)\n", ftype_name(p->file_type),
               text_size(p->in.info.file_bytes).text,
               text_size(out.info.file_bytes).text,
               100.0 * (double)out.info.file_bytes /
                   (double)p->in.info.file_bytes);
    model_close(&out);
    return STATUS_GOOD;
}

static int parse_type(const args *a, plan *p)
{
    const char *name = a->values[OPT_TYPE];
    const ggld_type_traits *traits;

    if (name == NULL)
        return report_usage(a, "--type is missing: f32, f16, bf16, q8_0, q4_0, "
                               "...");
    if (!ggld_type_from_name(name, &p->type))
        return report_usage(a, "unknown type '%s'", name);
    traits = ggld_type_traits_of(p->type);
    if (!traits->can_quantize || !ftype_of_tensor_type(p->type, &p->file_type))
        return report_usage(a,
                            "type '%s' can't be written: f32, f16, bf16, "
                            "q8_0, q4_0, q4_1, q5_0 or q5_1",
                            traits->name);
    return STATUS_GOOD;
}

static int quantize_run(const args *a)
{
    plan p = { .in_path = a->operands[0],
               .out_path = a->operands[1],
               .pure = a->values[OPT_PURE] != NULL };
    int status = parse_type(a, &p);

    if (status != STATUS_GOOD)
        return status;
    if (paths_same(p.in_path, p.out_path))
        return report_usage(a, "IN and OUT are the same file");
    status = model_open(&p.in, p.in_path);
    if (status != STATUS_GOOD)
        return status;
    status = model_has(&p.in, p.out_path)
                 ? report_usage(a, "OUT is a shard of IN")
                 : check_tensors(&p);
    if (status == STATUS_GOOD) {
        choose_alignment(&p);
        status = run_plan(&p);
    }
    if (status == STATUS_GOOD)
        status = print_result(a->out, &p);
    model_close(&p.in);
    return status;
}

static const option_row options[] = {
    [OPT_TYPE] = { "type", 't', "TYPE",
                   "f32, f16, bf16, q8_0, q4_0, q4_1, q5_0 or q5_1" },
    [OPT_PURE] = { "pure", 0, NULL,
                   "tensors of one dimension become f16, not f32" },
    { NULL, 0, NULL, NULL },
};

const command_row command_quantize = {
    "quantize",
    "IN OUT",
    "Writes a model with its tensors in another type",
    "Tensors of two or more dimensions take TYPE where their rows are whole\n"
    "blocks of it, and f16 where not; those of one dimension become f32;\n"
    "integers stay. Key-values are carried over, general.file_type and\n"
    "general.quantization_version set. OUT appears only complete.\n",
    2,
    2,
    options,
    quantize_run,
};
