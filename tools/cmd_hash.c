/* SPDX-License-Identifier: MIT */
/* ggld hash: the digests of models, as a manifest. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "command.h"
#include "digests.h"
#include "jobs.h"
#include "model.h"
#include "opts.h"
#include "outfile.h"
#include "paths.h"
#include "report.h"
#include "text.h"

enum {
    OPT_ALGO,
    OPT_FORMAT,
    OPT_OUTPUT,
    OPT_SAVE,
    OPT_WHOLE,
    OPT_CHUNKS,
    OPT_UNCACHED,
    OPT_SINGLE,
    OPT_JSON
};

/* What is made of all files. */
typedef struct hashing {
    const args *a;
    uint32_t format;
    ggld_hash_options options;
    ggld_manifest *all;
    json_object *json; /* an array, or NULL */
} hashing;

typedef struct hash_run {
    job_run run;
    ggld_manifest *manifest;
} hash_run;

/* ---- options ---- */

/* What a format says when nothing else is asked for. */
static void fill_defaults(uint32_t format, bool whole, ggld_hash_options *o)
{
    switch (format) {
    case GGLD_MANIFEST_GGSUM:
        o->scopes = GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR | GGLD_SCOPE_CHUNKS;
        if (whole)
            o->scopes |= GGLD_SCOPE_FILE | GGLD_SCOPE_TENSORS;
        break;
    case GGLD_MANIFEST_LLAMA:
        o->scopes = GGLD_SCOPE_TENSOR | GGLD_SCOPE_TENSORS;
        if (o->algos == 0) /* as llama-gguf-hash does */
            o->algos = GGLD_ALGO_BIT(GGLD_ALGO_XXH64);
        break;
    default:
        o->scopes = GGLD_SCOPE_FILE;
        break;
    }
    if ((o->algos & GGLD_ALGO_BIT(GGLD_ALGO_UUID)) != 0)
        o->scopes |= GGLD_SCOPE_TENSORS;
}

/* ALGO, ALGO:SIZE or none. */
static int parse_chunks(const args *a, const char *text, ggld_hash_options *o)
{
    char algo[16];
    size_t len;
    if (text == NULL)
        return STATUS_GOOD;
    if (strcmp(text, "none") == 0) {
        o->scopes &= ~(uint32_t)GGLD_SCOPE_CHUNKS;
        return STATUS_GOOD;
    }
    len = strcspn(text, ":");
    if (len < sizeof algo) {
        memcpy(algo, text, len);
        algo[len] = '\0';
        if (ggld_algo_from_name(algo, &o->chunk_algo) &&
            (text[len] == '\0' || (opts_size(text + len + 1, &o->chunk_bytes) &&
                                   o->chunk_bytes != 0)))
            return STATUS_GOOD;
    }
    return report_usage(a,
                        "--chunks is '%s': sha256 or xxh3, or sha256:256K, or "
                        "none",
                        text);
}

/* Can all be said of several files? Shards: of how many FILE is one; 0: several
 * files were given. */
static int check_many(const hashing *h, uint32_t n_shards)
{
    const char *format = ggld_manifest_format_name(h->format);
    bool ggsum = h->format == GGLD_MANIFEST_GGSUM;

    if (h->a->values[OPT_SAVE] != NULL || h->a->values[OPT_JSON] != NULL ||
        (!ggsum && h->format != GGLD_MANIFEST_DIGEST &&
         h->format != GGLD_MANIFEST_LFS))
        return STATUS_GOOD;
    if (n_shards != 0)
        return report_usage(h->a,
                            "%s speaks of one file, and FILE is a shard of a "
                            "set of %" PRIu32 ": --single hashes that one%s",
                            format, n_shards,
                            ggsum ? ", --save writes a ggsum beside each"
                                  : "; sha256sum speaks of all");
    return report_usage(h->a, "%s speaks of one file, and %d were given: %s",
                        format, h->a->n_operands,
                        ggsum ? "--save writes a ggsum beside each"
                              : "sha256sum speaks of several");
}

/* A uuid is the model's, over all its tensors, and llama-gguf-hash, which
 * defines it, knows no sets: there is none to compare it with. */
static int check_set(const hashing *h, uint32_t n_shards)
{
    if ((h->options.algos & GGLD_ALGO_BIT(GGLD_ALGO_UUID)) != 0)
        return report_usage(h->a,
                            "a uuid is of all tensors of one file, and FILE is "
                            "a shard of a set of %" PRIu32
                            ": --single has that of this file, and that of "
                            "the model is to be had when it is merged",
                            n_shards);
    return check_many(h, n_shards);
}

/* What the format can't say is not worth reading a model for. */
static int check_algos(const hashing *h)
{
    bool sha256_only =
        h->format != GGLD_MANIFEST_GGSUM && h->format != GGLD_MANIFEST_LLAMA;
    uint32_t algos = h->options.algos;
    if (!sha256_only || algos == 0 || algos == GGLD_ALGO_BIT(GGLD_ALGO_SHA256))
        return STATUS_GOOD;
    return report_usage(h->a,
                        "--algo is '%s', and %s has sha256 only; use ggsum or "
                        "llama for others",
                        h->a->values[OPT_ALGO],
                        ggld_manifest_format_name(h->format));
}

static int parse(hashing *h, const args *a)
{
    bool json = a->values[OPT_JSON] != NULL, save = a->values[OPT_SAVE] != NULL;
    h->a = a;
    h->format = GGLD_MANIFEST_GGSUM;
    h->options = ggld_hash_options_init();
    int status = format_parse(a, a->values[OPT_FORMAT], &h->format);
    if (status == STATUS_GOOD)
        status = algos_parse(a, a->values[OPT_ALGO], &h->options.algos);
    if (status == STATUS_GOOD && !json)
        status = check_algos(h);
    if (status != STATUS_GOOD)
        return status;
    fill_defaults(h->format, a->values[OPT_WHOLE] != NULL, &h->options);
    if (a->values[OPT_UNCACHED] != NULL)
        h->options.flags = GGLD_HASH_KEEP_CACHE;
    h->options.progress = job_run_progress;
    if (json && (save || a->values[OPT_OUTPUT] != NULL))
        return report_usage(a, "--json prints, it does not write manifests");
    if (save &&
        (a->values[OPT_OUTPUT] != NULL || h->format != GGLD_MANIFEST_GGSUM))
        return report_usage(a, "--save writes FILE.ggsum for each FILE; it "
                               "takes no --output and no other format");
    if (a->n_operands > 1) {
        status = check_many(h, 0);
        if (status != STATUS_GOOD)
            return status;
    }
    return parse_chunks(a, a->values[OPT_CHUNKS], &h->options);
}

/* ---- one file ---- */

static void take_manifest(ggld_job *job, ggld_manifest *manifest,
                          const ggld_error *result, void *user)
{
    hash_run *r = user;
    r->manifest = manifest;
    job_run_done(job, result, &r->run);
}

static int hash_model(hashing *h, const model *m, hash_run *r)
{
    uv_loop_t loop;
    ggld_job *job;
    ggld_error err;
    h->options.name = m->path;
    int status = job_run_begin(&r->run, &loop, m->path, "hashing");
    if (status != STATUS_GOOD)
        return status;
    if (ggld_hash_start(&job, &loop, m->file, &h->options, take_manifest, r,
                        &err) != GGLD_OK)
        return job_run_failed(&r->run, &loop, &err);
    return job_run_finish(&r->run, &loop);
}

static json_object *json_digests(const ggld_manifest *manifest)
{
    json_object *array = js_array();
    ggld_manifest_entry e = { .struct_size = sizeof e };
    for (uint64_t i = 0; ggld_manifest_at(manifest, i, &e); i++) {
        json_object *row = js_object();
        js_set_text(row, "of", scope_text(e.scope));
        js_set(row, "name",
               e.scope == GGLD_SCOPE_TENSOR
                   ? js_text(e.name.data, (size_t)e.name.len)
                   : NULL);
        js_set(row, "digest", js_digest(&e.digest));
        js_append(array, row);
    }
    return array;
}

static json_object *json_file(const model *m, const hash_run *r)
{
    ggld_manifest_info info = { .struct_size = sizeof info };
    json_object *object = js_object();
    ggld_manifest_get_info(r->manifest, &info);
    js_set_text(object, "file", m->path);
    js_set_u64(object, "file_bytes", m->info.file_bytes);
    js_set_u64(object, "metadata_bytes", m->info.metadata_bytes);
    js_set(object, "root", js_digest(&info.root));
    js_set(object, "digests", json_digests(r->manifest));
    js_set_u64(object, "read_bytes", r->run.done_bytes);
    js_set(object, "seconds", js_measure(r->run.seconds));
    js_set(object, "bytes_per_s", js_measure(job_rate(&r->run)));
    return object;
}

static bool put_part(void *user, const char *text, size_t size)
{
    output *o = user;
    out_bytes(o, text, size);
    return true; /* a failure is remembered by the output */
}

/* Part by part: there may be a million lines. */
static int put_manifest(hashing *h, const ggld_manifest *manifest, output *o)
{
    char *text;
    size_t size;
    ggld_error err;
    ggld_status status =
        o->terminal
            ? ggld_manifest_write(manifest, h->format, &text, &size, &err)
            : ggld_manifest_write_to(manifest, h->format, put_part, o, &err);
    if (status != GGLD_OK)
        return report_error(h->a->operands[0], &err);
    if (o->terminal) {
        text_put_lines(o, text, size);
        free(text);
    }
    return STATUS_GOOD;
}

static int write_manifest(hashing *h, const ggld_manifest *manifest,
                          const char *path)
{
    outfile f;
    int status = outfile_begin(&f, path);
    if (status != STATUS_GOOD)
        return status;
    return outfile_finish(&f, put_manifest(h, manifest, &f.out));
}

static int save_beside(hashing *h, const ggld_manifest *manifest,
                       const char *path)
{
    char beside[DIGESTS_PATH_MAX];
    int status = path_with(path, ".ggsum", beside);
    return status == STATUS_GOOD ? write_manifest(h, manifest, beside) : status;
}

/* What becomes of one file's manifest, which is this call's. */
static int keep(hashing *h, const model *m, hash_run *r)
{
    int status = STATUS_GOOD;
    ggld_error err;
    if (h->json != NULL) {
        js_append(h->json, json_file(m, r));
    } else if (h->a->values[OPT_SAVE] != NULL) {
        status = save_beside(h, r->manifest, m->path);
    } else if (h->all == NULL) {
        h->all = r->manifest;
        return STATUS_GOOD;
    } else if (ggld_manifest_append(h->all, r->manifest, &err) != GGLD_OK) {
        status = report_error(m->path, &err);
    }
    ggld_manifest_free(r->manifest);
    return status;
}

static int hash_file(hashing *h, const model *m)
{
    hash_run r = { .manifest = NULL };
    int status = hash_model(h, m, &r);
    if (status != STATUS_GOOD)
        return status;
    if (h->json == NULL)
        job_note(&r.run);
    return keep(h, m, &r);
}

/* Of a set each shard, as a file of its own. */
static int hash_one(hashing *h, const char *path)
{
    model m;
    int status =
        model_open_with(&m, path, single_flag(h->a->values[OPT_SINGLE]));
    if (status != STATUS_GOOD)
        return status;
    if (m.info.n_shards == 1)
        status = hash_file(h, &m);
    else
        status = check_set(h, m.info.n_shards);
    for (uint32_t i = 0; m.info.n_shards > 1 && i < m.info.n_shards; i++) {
        model shard = m;
        /* It is borrowed from the set; a job only counts it. */
        shard.file = (ggld_file *)(uintptr_t)ggld_file_shard(m.file, i);
        shard.path = ggld_file_path(shard.file);
        shard.info = model_file_info(shard.file);
        if (status == STATUS_GOOD && h->a->values[OPT_OUTPUT] != NULL &&
            paths_same(h->a->values[OPT_OUTPUT], shard.path))
            status = report_usage(h->a, "OUT is a shard of FILE");
        if (status == STATUS_GOOD)
            status = hash_file(h, &shard);
    }
    model_close(&m);
    return status;
}

/* ---- all files ---- */

static int hash_all(hashing *h)
{
    int status = STATUS_GOOD;
    for (int i = 0; i < h->a->n_operands && status == STATUS_GOOD; i++)
        status = hash_one(h, h->a->operands[i]);
    return status;
}

static int check_output(const args *a)
{
    const char *path = a->values[OPT_OUTPUT];
    for (int i = 0; path != NULL && i < a->n_operands; i++)
        if (paths_same(path, a->operands[i]))
            return report_usage(a, "OUT is FILE itself");
    return STATUS_GOOD;
}

static int hash_run_command(const args *a)
{
    hashing h = { 0 };
    int status = check_output(a);
    if (status == STATUS_GOOD)
        status = parse(&h, a);
    if (status != STATUS_GOOD)
        return status;
    if (a->values[OPT_JSON] != NULL)
        h.json = js_array();
    status = hash_all(&h);
    if (status != STATUS_GOOD)
        json_object_put(h.json);
    else if (h.json != NULL)
        js_print(a->out, h.json);
    else if (h.all != NULL && a->values[OPT_OUTPUT] != NULL)
        status = write_manifest(&h, h.all, a->values[OPT_OUTPUT]);
    else if (h.all != NULL)
        status = put_manifest(&h, h.all, a->out);
    ggld_manifest_free(h.all);
    return status;
}

static const option_row options[] = {
    [OPT_ALGO] = { "algo", 'a', "ALGO,...",
                   "sha256 (default), sha1, xxh64, xxh3, uuid", true },
    [OPT_FORMAT] = { "format", 'f', "FORMAT",
                     "ggsum (default), llama, sha256sum, digest, lfs, in-toto" },
    [OPT_OUTPUT] = { "output", 'o', "OUT", "write to OUT" },
    [OPT_SAVE] = { "save", 's', NULL, "write FILE.ggsum beside each FILE" },
    [OPT_WHOLE] = { "whole", 0, NULL,
                    "ggsum: also of the whole file, and all tensors as one" },
    [OPT_CHUNKS] = { "chunks", 0, "ALGO",
                     "ggsum: xxh3 (default), sha256, sha256:256K, none" },
    [OPT_UNCACHED] = { "uncached", 0, NULL,
                       "leave the page cache as it is found" },
    [OPT_SINGLE] = OPTION_SINGLE,
    [OPT_JSON] = { "json", 0, NULL, "print JSON" },
    { NULL, 0, NULL, NULL },
};

const command_row command_hash = {
    "hash",
    "FILE...",
    "Prints a manifest: the digests of a model, for ggld verify",
    "Digests of the metadata, of each tensor, and of chunks of the data, in\n"
    "one pass on all processors. Other formats have what those have: llama\n"
    "that of llama-gguf-hash, the rest the sha256 of the whole file.\n",
    1,
    ANY_NUMBER,
    options,
    hash_run_command,
};
