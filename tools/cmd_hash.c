/* SPDX-License-Identifier: MIT */
/* ggld hash: the digests of models, as a manifest. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "command.h"
#include "digests.h"
#include "hashing.h"
#include "jobs.h"
#include "model.h"
#include "outfile.h"
#include "paths.h"
#include "report.h"
#include "text.h"

typedef struct hash_run {
    job_run run;
    ggld_manifest *manifest;
} hash_run;

/* ---- one file ---- */

static void take_manifest(ggld_job *job, ggld_manifest *manifest,
                          const ggld_error *result, void *user)
{
    hash_run *r = user;
    r->manifest = manifest;
    job_run_done(job, result, &r->run);
}

/* A statement's files are named from a folder, which has a name of its own: its
 * real one, so that no path of it goes by ".." or a link. */
static int full_name(const char *path, char out[DIGESTS_PATH_MAX])
{
    char folder[DIGESTS_PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    int n = snprintf(folder, sizeof folder, "%.*s", (int)(base - path), path);
    char *real =
        n < (int)sizeof folder ? realpath(n == 0 ? "." : folder, NULL) : NULL;
    if (real == NULL)
        return report_errno(path, errno, "cannot tell its folder");
    n = snprintf(out, DIGESTS_PATH_MAX, "%s/%s",
                 strcmp(real, "/") == 0 ? "" : real, base);
    free(real);
    return n < DIGESTS_PATH_MAX
               ? STATUS_GOOD
               : report_errno(path, ENAMETOOLONG, "cannot tell its folder");
}

/* m has a file, or fd is open. */
static ggld_status start(const ggld_hash_options *options, uv_loop_t *loop,
                         const model *m, int fd, hash_run *r, ggld_error *err)
{
    ggld_job *job;
    ggld_hash_options whole = *options;
    if (m->file != NULL)
        return ggld_hash_start(&job, loop, m->file, options, take_manifest, r,
                               err);
    whole.flags = 0;
    return ggld_hash_whole_start(&job, loop, fd, &whole, take_manifest, r, err);
}

static int hash_model(const hashing *h, const model *m, int fd, hash_run *r)
{
    uv_loop_t loop;
    ggld_error err;
    char name[DIGESTS_PATH_MAX];
    ggld_hash_options options = h->options;
    options.name = m->path;
    if (h->format == GGLD_MANIFEST_IN_TOTO) {
        if (full_name(m->path, name) != STATUS_GOOD)
            return STATUS_FAULT;
        options.name = name;
    }
    int status = job_run_begin(&r->run, &loop, m->path, "hashing");
    if (status != STATUS_GOOD)
        return status;
    if (start(&options, &loop, m, fd, r, &err) != GGLD_OK)
        return job_run_failed(&r->run, &loop, &err);
    return job_run_finish(&r->run, &loop);
}

static void json_digests(js *w, const char *key, const ggld_manifest *manifest)
{
    ggld_manifest_entry e = { .struct_size = sizeof e };
    js_array(w, key);
    for (uint64_t i = 0; ggld_manifest_at(manifest, i, &e); i++) {
        js_object(w, NULL);
        js_text(w, "of", scope_text(e.scope));
        if (e.scope == GGLD_SCOPE_TENSOR)
            js_string(w, "name", e.name.data, (size_t)e.name.len);
        else
            js_null(w, "name");
        js_digest(w, "digest", &e.digest);
        js_end(w);
    }
    js_end(w);
}

static void json_file(js *w, const model *m, const hash_run *r)
{
    ggld_manifest_info info = { .struct_size = sizeof info };
    ggld_manifest_get_info(r->manifest, &info);
    js_object(w, NULL);
    js_text(w, "file", m->path);
    js_u64(w, "file_bytes", m->info.file_bytes);
    js_u64(w, "metadata_bytes", m->info.metadata_bytes);
    js_digest(w, "root", &info.root);
    json_digests(w, "digests", r->manifest);
    js_u64(w, "read_bytes", r->run.done_bytes);
    js_measure(w, "seconds", r->run.seconds);
    js_measure(w, "bytes_per_s", job_rate(&r->run));
    js_end(w);
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
    char *text = NULL;
    size_t size = 0;
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
        json_file(h->json, m, r);
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

static int hash_file(hashing *h, const model *m, int fd)
{
    hash_run r = { .manifest = NULL };
    int status = hash_model(h, m, fd, &r);
    if (status == STATUS_GOOD && m->file != NULL)
        status = model_unchanged(m);
    if (status != STATUS_GOOD) {
        ggld_manifest_free(r.manifest);
        return status;
    }
    if (h->json == NULL)
        job_note(&r.run);
    return keep(h, m, &r);
}

/* A regular file that can be read, and does not open as a model. */
static bool is_no_model(const char *path, uint32_t flags)
{
    ggld_open_options how = ggld_open_options_init();
    ggld_file *file;
    struct stat st;
    ggld_error err;
    how.flags = flags;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    if (ggld_open_path(&file, path, &how, &err) == GGLD_OK) {
        ggld_close(file);
        return false;
    }
    return err.sys_errno == 0 && err.code != GGLD_E_NOMEM &&
           !model_opens_alone(path);
}

/* Its sha256 can be had all the same. */
static int hash_any(hashing *h, const char *path)
{
    struct stat st;
    model m = { .path = path };
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0) {
        int status = report_errno(path, errno, "cannot open");
        if (fd >= 0)
            close(fd);
        return status;
    }
    m.info.file_bytes = (uint64_t)st.st_size;
    int status = hash_file(h, &m, fd);
    close(fd);
    if (status == STATUS_GOOD && m.info.file_bytes == 0)
        report_note(path, "it is empty: the digest is that of no bytes at all");
    return status;
}

/* Of a set each shard, as a file of its own. */
static int hash_one(hashing *h, const char *path)
{
    model m;
    uint32_t flags = single_flag(h->a->values[OPT_SINGLE]);
    if (hashing_whole_files(h) && is_no_model(path, flags))
        return hash_any(h, path);
    int status = model_open_with(&m, path, flags);
    if (status != STATUS_GOOD)
        return status;
    if (m.info.n_shards == 1)
        status = hash_file(h, &m, -1);
    else
        status = hashing_check_set(h, m.info.n_shards);
    for (uint32_t i = 0; m.info.n_shards > 1 && i < m.info.n_shards; i++) {
        model shard = m;
        /* It is borrowed from the set; a job only counts it. */
        shard.file = (ggld_file *)(uintptr_t)ggld_file_shard(m.file, i);
        shard.path = ggld_file_path(shard.file);
        shard.info = model_file_info(shard.file);
        if (status == STATUS_GOOD && h->out_path != NULL &&
            paths_same(h->out_path, shard.path))
            status = report_usage(h->a, "OUT is a shard of FILE");
        if (status == STATUS_GOOD)
            status = hash_file(h, &shard, -1);
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

static int check_output(const hashing *h)
{
    for (int i = 0; h->out_path != NULL && i < h->a->n_operands; i++)
        if (paths_same(h->out_path, h->a->operands[i]))
            return report_usage(h->a, "OUT is FILE itself");
    return STATUS_GOOD;
}

static int hash_run_command(const args *a)
{
    hashing h = { 0 };
    int status = hashing_parse(&h, a);
    if (status == STATUS_GOOD)
        status = check_output(&h);
    if (status != STATUS_GOOD)
        return status;
    js w = js_begin(a->out);
    if (a->values[OPT_JSON] != NULL) {
        h.json = &w;
        js_array(&w, NULL);
    }
    status = hash_all(&h);
    if (status != STATUS_GOOD)
        out_drop(a->out);
    else if (h.json != NULL)
        js_end(&w);
    else if (h.all != NULL && h.out_path != NULL)
        status = write_manifest(&h, h.all, h.out_path);
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
    [OPT_OUTPUT] = { "output", 'o', "OUT",
                     "write to OUT (- is standard output)" },
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
