/* SPDX-License-Identifier: MIT */
/* ggld sample: a llama-shaped model of random weights, to try things on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "ftype.h"
#include "leftovers.h"
#include "opts.h"
#include "paths.h"
#include "progress.h"
#include "report.h"
#include "sample.h"
#include "stop.h"
#include "text.h"

enum {
    OPT_TYPE,
    OPT_LAYERS,
    OPT_VOCAB,
    OPT_LIKE,
    OPT_SIZE,
    OPT_SPARSE,
    OPT_SEED,
    OPT_FORCE
};

/* Elements are made in chunks: a whole number of any type's blocks. */
#define CHUNK_ELEMS (SAMPLE_CHUNK_BYTES / sizeof(float))
#define LAYERS_MAX  100000
#define VOCAB_MAX   16000000
#define FF_STEP     256
#define TYPES_END   64 /* past the number of any type */

static const sample_shape shape_small = {
    .name = "ggld sample",
    .n_layers = 2,
    .n_vocab = 1024,
    .n_special = 8,
    .n_embd = 256,
    .n_ff = 768,
    .n_heads = 4,
    .n_kv_heads = 2,
    .n_context = 2048,
    .rope_base = 10000,
};

static const sample_shape shape_llama3_8b = {
    .name = "ggld sample like llama3-8b",
    .n_layers = 32,
    .n_vocab = 128256,
    .n_special = 256,
    .n_merges = 280147,
    .n_embd = 4096,
    .n_ff = 14336,
    .n_heads = 32,
    .n_kv_heads = 8,
    .n_context = 8192,
    .rope_base = 500000,
};

static int parse_like(const args *a, sample_shape *shape)
{
    const char *like = a->values[OPT_LIKE];

    *shape = like == NULL ? shape_small : shape_llama3_8b;
    if (like != NULL && strcmp(like, "llama3-8b") != 0)
        return report_usage(a, "unknown model '%s': llama3-8b", like);
    return STATUS_GOOD;
}

/* Types that a model can be of, in the order of their numbers. */
static int unknown_type(const args *a, const char *name)
{
    const ggld_type_traits *traits;
    char list[400] = "";
    size_t n = 0;
    uint32_t file_type;

    for (uint32_t type = 0; type < TYPES_END; type++)
        if ((traits = ggld_type_traits_of(type)) != NULL &&
            ftype_of_tensor_type(type, &file_type) && n < sizeof list)
            n += (size_t)snprintf(list + n, sizeof list - n, "%s%s",
                                  n != 0 ? ", " : "", traits->name);
    return report_usage(a, "no model is of type '%.40s': %s", name, list);
}

/* The mix that llama.cpp makes: a better type for the output of a four-bit
 * model. The small one is all of one type. */
static int parse_type(const args *a, sample_shape *shape)
{
    const char *name = a->values[OPT_TYPE] ? a->values[OPT_TYPE] : "q4_0";
    bool mixed = a->values[OPT_LIKE] != NULL;

    if (!ggld_type_from_name(name, &shape->type) ||
        !ftype_of_tensor_type(shape->type, &shape->file_type))
        return unknown_type(a, name);
    shape->output_type = shape->type;
    if (mixed && ggld_type_traits_of(shape->type)->block_elems > 1 &&
        shape->type != GGLD_TYPE_Q8_0)
        shape->output_type = GGLD_TYPE_Q6_K;
    return STATUS_GOOD;
}

static int parse_number(const args *a, int option, uint64_t least,
                        uint64_t most, uint64_t *out)
{
    const char *text = a->values[option];

    if (text == NULL || opts_number(text, least, most, out))
        return STATUS_GOOD;
    return report_usage(a,
                        "--%s is '%s': a number from %" PRIu64 " to %" PRIu64,
                        a->command->options[option].name, text, least, most);
}

/* --size is met by the feed-forward's width: the number of records, and so the
 * metadata, stays what it is. */
static int parse_size(const args *a, sample_shape *shape)
{
    sample_shape narrow = *shape, wide = *shape;
    uint64_t wanted;

    if (a->values[OPT_SIZE] == NULL)
        return STATUS_GOOD;
    if (!opts_size(a->values[OPT_SIZE], &wanted) || wanted > UINT64_C(1) << 56)
        return report_usage(a,
                            "--size is '%s': a number of bytes, with K, M, "
                            "G or T for more",
                            a->values[OPT_SIZE]);
    narrow.n_ff = FF_STEP;
    wide.n_ff = UINT64_C(2) * FF_STEP;
    uint64_t least = sample_data_bytes(&narrow);
    uint64_t step = sample_data_bytes(&wide) - least;
    if (wanted < least)
        return report_usage(a, "--size is %s: this model has at least %s",
                            text_size(wanted).text, text_size(least).text);
    shape->n_ff = FF_STEP * (1 + (wanted - least) / step);
    return STATUS_GOOD;
}

static int parse_shape(const args *a, sample_shape *shape)
{
    int status = parse_like(a, shape);

    shape->seed = 1;
    if (status == STATUS_GOOD)
        status = parse_type(a, shape);
    if (status == STATUS_GOOD)
        status = parse_number(a, OPT_LAYERS, 1, LAYERS_MAX, &shape->n_layers);
    if (status == STATUS_GOOD)
        status = parse_number(a, OPT_VOCAB, SAMPLE_VOCAB_MIN, VOCAB_MAX,
                              &shape->n_vocab);
    if (status == STATUS_GOOD)
        status = parse_number(a, OPT_SEED, 0, UINT64_MAX, &shape->seed);
    if (status == STATUS_GOOD)
        status = parse_size(a, shape);
    /* Unless the model says how many: one for each word. */
    if (shape->n_merges == 0 || a->values[OPT_VOCAB] != NULL)
        shape->n_merges = shape->n_vocab - 256 - shape->n_special;
    return status;
}

typedef struct job {
    const sample_shape *shape;
    bool sparse;
    ggld_writer *writer;
    void *chunk;
    progress bar;
} job;

static ggld_status put_tensor(job *j, uint64_t index, ggld_error *err)
{
    sample_tensor t = sample_tensor_at(j->shape, index);
    /* Each tensor has a start of its own: the order does not matter. */
    uint64_t rng = j->shape->seed * 0x9E3779B97F4A7C15u + index;
    ggld_status status = GGLD_OK;
    uint64_t n;

    if (j->sparse)
        return ggld_writer_put_zeros(j->writer, t.size_bytes, err);
    for (uint64_t i = 0; i < t.n_elems && status == GGLD_OK; i += n) {
        n = t.n_elems - i < CHUNK_ELEMS ? t.n_elems - i : CHUNK_ELEMS;
        if (stop_asked())
            return GGLD_E_CANCELLED;
        status = sample_put_data(j->writer, &t, n, &rng, j->chunk, err);
        progress_add(&j->bar, (uint64_t)((double)t.size_bytes * (double)n /
                                         (double)t.n_elems));
    }
    return status;
}

static ggld_status write_sample(job *j, const char *path, ggld_error *err)
{
    uint64_t n = sample_tensor_count(j->shape);
    ggld_status status = sample_put_kvs(j->writer, j->shape, err);

    for (uint64_t i = 0; i < n && status == GGLD_OK; i++) {
        sample_tensor t = sample_tensor_at(j->shape, i);
        status = ggld_writer_declare_tensor(j->writer, t.name, strlen(t.name),
                                            t.type, t.dims, t.n_dims, err);
    }
    if (status == GGLD_OK)
        status = ggld_writer_begin(j->writer, path, err);
    for (uint64_t i = 0; i < n && status == GGLD_OK; i++)
        status = put_tensor(j, i, err);
    if (status == GGLD_OK)
        status = ggld_writer_finish(j->writer, err);
    return status;
}

static int run_job(job *j, const char *path)
{
    ggld_writer_options options = ggld_writer_options_init();
    ggld_error err;
    ggld_status status;

    options.flags = j->sparse ? GGLD_WRITE_SPARSE : 0;
    j->chunk = malloc(SAMPLE_CHUNK_BYTES);
    if (j->chunk == NULL)
        return report(path, "no memory for a chunk");
    leftovers_remove(path);
    stop_watch();
    progress_begin(&j->bar, "sample", sample_data_bytes(j->shape));
    status = ggld_writer_new(&j->writer, &options, &err);
    if (status == GGLD_OK) {
        status = write_sample(j, path, &err);
        ggld_writer_free(j->writer);
    }
    progress_end(&j->bar);
    free(j->chunk);
    if (status == GGLD_E_CANCELLED)
        return stop_report(path);
    return status == GGLD_OK ? STATUS_GOOD : report_error(path, &err);
}

/* A model is not lost for a toy. A pipe or a device is written to. */
static int check_free(const args *a, const char *path)
{
    struct stat st;

    if (a->values[OPT_FORCE] != NULL || stat(path, &st) != 0 ||
        !S_ISREG(st.st_mode))
        return STATUS_GOOD;
    return report(path, "is there already: give another name, or --force");
}

static int sample_run(const args *a)
{
    const char *path = a->operands[0];
    sample_shape shape;
    job j = { .shape = &shape, .sparse = a->values[OPT_SPARSE] != NULL };
    int status = paths_refuse_stdout(a, "OUT", path);

    if (status == STATUS_GOOD)
        status = parse_shape(a, &shape);
    if (status == STATUS_GOOD)
        status = check_free(a, path);
    if (status == STATUS_GOOD)
        status = run_job(&j, path);
    if (status != STATUS_GOOD)
        return status;
    text_put_name(a->out, path, strlen(path));
    out_printf(a->out, ": %s, %" PRIu64 " tensors, %s of data%s\n",
               ftype_name(shape.file_type), sample_tensor_count(&shape),
               text_size(sample_data_bytes(&shape)).text,
               j.sparse ? " (a hole)" : "");
    return STATUS_GOOD;
}

static const option_row options[] = {
    [OPT_TYPE] = { "type", 't', "TYPE", "of the matrices (default q4_0)" },
    [OPT_LAYERS] = { "layers", 0, "N", "number of layers (default 2)" },
    [OPT_VOCAB] = { "vocab", 0, "N", "number of tokens (default 1024)" },
    [OPT_LIKE] = { "like", 0, "MODEL",
                   "the shapes, mix and vocabulary size of llama3-8b" },
    [OPT_SIZE] = { "size", 0, "SIZE",
                   "widen the feed-forward until the data is about SIZE" },
    [OPT_SPARSE] = { "sparse", 0, NULL,
                     "leave the data a hole: zeros that take no room" },
    [OPT_SEED] = { "seed", 0, "N", "start of the random numbers (default 1)" },
    [OPT_FORCE] = { "force", 'f', NULL, "replace a file that is there" },
    { NULL, 0, NULL, NULL },
};

const command_row command_sample = {
    "sample",
    "OUT",
    "Makes a small llama-shaped model to try things on",
    "Random weights, the same for the same options on every machine. With\n"
    "--like llama3-8b --sparse it is a file of 4.3 GiB made in no time, with\n"
    "metadata of the real size; --size 400G makes that as large.\n",
    1,
    1,
    options,
    sample_run,
};
