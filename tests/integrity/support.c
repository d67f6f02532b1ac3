/* SPDX-License-Identifier: MIT */
/* What the tests of digests share. */
#include "support.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

ggld_hash_options hash_options(uint32_t algos, uint32_t scopes,
                               const char *name)
{
    ggld_hash_options options = ggld_hash_options_init();
    options.algos = algos;
    options.scopes = scopes;
    options.name = name;
    return options;
}

typedef struct ending {
    int n_calls;
    ggld_error result;
    ggld_manifest *manifest;
    ggld_verify_report *report;
} ending;

static void take_manifest(ggld_job *job, ggld_manifest *manifest,
                          const ggld_error *result, void *user)
{
    ending *e = user;
    (void)job;
    e->n_calls++;
    e->result = *result;
    e->manifest = manifest;
}

static void take_report(ggld_job *job, ggld_verify_report *report,
                        const ggld_error *result, void *user)
{
    ending *e = user;
    (void)job;
    e->n_calls++;
    e->result = *result;
    e->report = report;
}

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "support: %s\n", what);
    exit(1);
}

static ggld_status run(uv_loop_t *loop, ggld_status started, const ending *e,
                       ggld_error *err)
{
    if (started == GGLD_OK)
        must(uv_run(loop, UV_RUN_DEFAULT) == 0, "expected the loop to end");
    must(uv_loop_close(loop) == 0, "expected nothing left on the loop");
    if (started != GGLD_OK)
        return started;
    must(e->n_calls == 1, "expected one completion call");
    if (e->result.code != GGLD_OK)
        *err = e->result;
    return e->result.code;
}

ggld_status hash_file(ggld_file *file, const ggld_hash_options *options,
                      ggld_manifest **out, ggld_error *err)
{
    uv_loop_t loop;
    ggld_job *job;
    ending e = { 0 };
    uv_loop_init(&loop);
    ggld_status status =
        ggld_hash_start(&job, &loop, file, options, take_manifest, &e, err);
    status = run(&loop, status, &e, err);
    must((status == GGLD_OK) == (e.manifest != NULL),
         "expected a manifest with success only");
    if (status == GGLD_OK)
        *out = e.manifest;
    return status;
}

ggld_status hash_path(const char *path, const ggld_hash_options *options,
                      ggld_manifest **out, ggld_error *err)
{
    ggld_file *file;
    ggld_status status = ggld_open_path(&file, path, NULL, err);
    if (status != GGLD_OK)
        return status;
    status = hash_file(file, options, out, err);
    ggld_close(file);
    return status;
}

ggld_status hash_whole(const char *path, const ggld_hash_options *options,
                       ggld_manifest **out, ggld_error *err)
{
    uv_loop_t loop;
    ggld_job *job;
    ending e = { 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    must(fd >= 0, path);
    uv_loop_init(&loop);
    ggld_status status =
        ggld_hash_whole_start(&job, &loop, fd, options, take_manifest, &e, err);
    status = run(&loop, status, &e, err);
    close(fd);
    must((status == GGLD_OK) == (e.manifest != NULL),
         "expected a manifest with success only");
    if (status == GGLD_OK)
        *out = e.manifest;
    return status;
}

ggld_status verify_file(ggld_file *file, const ggld_manifest *manifest,
                        const ggld_verify_options *options,
                        ggld_verify_report **out, ggld_error *err)
{
    uv_loop_t loop;
    ggld_job *job;
    ending e = { 0 };
    uv_loop_init(&loop);
    ggld_status status = ggld_verify_start(&job, &loop, file, manifest, options,
                                           take_report, &e, err);
    status = run(&loop, status, &e, err);
    must((status == GGLD_OK) == (e.report != NULL),
         "expected a report with success only");
    if (status == GGLD_OK)
        *out = e.report;
    return status;
}

ggld_status verify_path(const char *path, const ggld_manifest *manifest,
                        ggld_verify_report **out, ggld_error *err)
{
    ggld_file *file;
    ggld_verify_options options = ggld_verify_options_init();
    options.path = path;
    ggld_status status = ggld_open_path(&file, path, NULL, err);
    if (status != GGLD_OK)
        return status;
    status = verify_file(file, manifest, &options, out, err);
    ggld_close(file);
    return status;
}

char *manifest_text(const ggld_manifest *manifest, uint32_t format,
                    size_t *size)
{
    char *text = NULL;
    ggld_error err = { 0 };
    must(ggld_manifest_write(manifest, format, &text, size, &err) == GGLD_OK,
         err.message);
    return text;
}

ggld_status parse_text(ggld_manifest **out, const char *text, size_t size,
                       uint32_t format, ggld_error *err)
{
    return ggld_manifest_parse(out, "m", text, size, format, err);
}

const char *digest_in(const ggld_manifest *manifest, uint32_t scope,
                      uint32_t algo, const char *name)
{
    static char text[GGLD_DIGEST_TEXT_MAX];
    ggld_manifest_entry e = { .struct_size = sizeof e };
    for (uint64_t i = 0; ggld_manifest_at(manifest, i, &e); i++) {
        if (e.scope != scope || e.digest.algo != algo ||
            e.name.len != strlen(name) ||
            memcmp(e.name.data, name, e.name.len) != 0)
            continue;
        ggld_digest_text(&e.digest, text);
        return text;
    }
    return "";
}

char *output_of(const char *format, ...)
{
    char command[1024];
    size_t used = 0;
    char *output = calloc(1, 65536);
    va_list args;
    va_start(args, format);
    int len = vsnprintf(command, sizeof command, format, args);
    va_end(args);
    must(len > 0 && (size_t)len < sizeof command && output != NULL, "command");
    FILE *f = popen(command, "r");
    must(f != NULL, command);
    while (used < 65535) {
        size_t n = fread(output + used, 1, 65535 - used, f);
        if (n == 0)
            break;
        used += n;
    }
    must(pclose(f) == 0, command);
    return output;
}

void model_write_abc(const char *path)
{
    const uint64_t three = 3, one = 1, none = 0;
    ggld_writer *w;
    ggld_error err;
    bool good = ggld_writer_new(&w, NULL, &err) == GGLD_OK &&
                ggld_writer_set_string(w, "general.architecture", "llama", 5,
                                       &err) == GGLD_OK &&
                ggld_writer_declare_tensor(w, "t", 1, GGLD_TYPE_I8, &three, 1,
                                           &err) == GGLD_OK &&
                ggld_writer_declare_tensor(w, "blk.0 x", 7, GGLD_TYPE_I8, &one,
                                           1, &err) == GGLD_OK &&
                ggld_writer_declare_tensor(w, "e:f", 3, GGLD_TYPE_I8, &none, 1,
                                           &err) == GGLD_OK &&
                ggld_writer_begin(w, path, &err) == GGLD_OK &&
                ggld_writer_put_bytes(w, "abca", 4, &err) == GGLD_OK &&
                ggld_writer_finish(w, &err) == GGLD_OK;
    must(good, err.message);
    ggld_writer_free(w);
}
