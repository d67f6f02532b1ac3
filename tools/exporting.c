/* SPDX-License-Identifier: MIT */
/* See exporting.h. */
#include "exporting.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "advice.h"
#include "ftype.h"
#include "keep.h"
#include "leftovers.h"
#include "opts.h"
#include "paths.h"
#include "pipeline.h"
#include "report.h"
#include "stop.h"
#include "text.h"
#include "watch.h"

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static int refuse_twice(const args *a, const exporting *x)
{
    for (size_t i = 0; i < x->n_inputs; i++)
        for (size_t j = 0; j < i; j++)
            if (paths_same(x->inputs[i], x->inputs[j]))
                return report_usage(a,
                                    "IN is given twice: '%.200s' and '%.200s' "
                                    "are one file",
                                    x->inputs[j], x->inputs[i]);
    return STATUS_GOOD;
}

static int begin(const args *a, const char *label, exporting *x)
{
    memset(x, 0, sizeof *x);
    x->args = a;
    x->label = label;
    x->inputs = (const char *const *)a->operands;
    x->n_inputs = (size_t)a->n_operands - 1;
    x->path = a->operands[x->n_inputs];
    x->options = ggld_export_options_init();
    x->options.n_threads = pipeline_threads();
    int status = paths_refuse_stdout(a, "OUT", x->path);
    if (status != STATUS_GOOD)
        return status;
    for (size_t i = 0; i < x->n_inputs; i++)
        if (paths_same(x->inputs[i], x->path))
            return report_usage(a, "IN and OUT are the same file");
    x->out = a->out;
    x->to_safetensors = ends_with(x->path, ".safetensors");
    return refuse_twice(a, x);
}

int exporting_type(const args *a, const char *name, uint32_t *out)
{
    char why[KEEP_WHY_MAX];

    return keep_read_type(name, out, why) ? STATUS_GOOD
                                          : report_usage(a, "%s", why);
}

/* ---- --keep ---- */

static int parse_keep(const args *a, const char *text, ggld_export_keep *out)
{
    char why[KEEP_WHY_MAX];
    size_t glob_bytes;

    if (!keep_read(text, &glob_bytes, &out->type, why))
        return report_usage(a, "%s", why);
    out->glob = strndup(text, glob_bytes);
    return out->glob != NULL ? STATUS_GOOD : report(text, "no memory");
}

int exporting_keeps(const args *a, int option, exporting *x)
{
    int at = 0, status = STATUS_GOOD;
    const char *text;

    x->keeps = calloc((size_t)a->n_given + 1, sizeof *x->keeps);
    x->options.keeps = x->keeps;
    if (x->keeps == NULL)
        return report("--keep", "no memory");
    while (status == STATUS_GOOD && (text = opts_given(a, option, &at)) != NULL)
        status = parse_keep(a, text, &x->keeps[x->options.n_keeps++]);
    return status;
}

/* ---- --skip ---- */

int exporting_skips(const args *a, int option, exporting *x)
{
    int at = 0;
    const char *text;

    x->skips = calloc((size_t)a->n_given + 1, sizeof *x->skips);
    x->options.skips = x->skips;
    if (x->skips == NULL)
        return report("--skip", "no memory");
    while ((text = opts_given(a, option, &at)) != NULL)
        x->skips[x->options.n_skips++] = text;
    return STATUS_GOOD;
}

/* ---- --set ---- */

static ggld_status set_metadata(ggld_writer *w, void *user, ggld_error *err)
{
    const exporting *x = user;
    ggld_status status = GGLD_OK;

    for (size_t i = 0; i < x->n_settings && status == GGLD_OK; i++)
        status = setting_write(&x->settings[i], w, err);
    return status;
}

int exporting_settings(const args *a, int option, exporting *x)
{
    int at = 0, status = STATUS_GOOD;
    const char *text;

    x->settings = calloc((size_t)a->n_given + 1, sizeof *x->settings);
    if (x->settings == NULL)
        return report("--set", "no memory");
    while (status == STATUS_GOOD && (text = opts_given(a, option, &at)) != NULL)
        status = setting_parse(a, text, &x->settings[x->n_settings++]);
    if (x->n_settings != 0)
        x->options.set_metadata = set_metadata;
    return status;
}

/* ---- --map ---- */

/* NULL: said why. */
static char *read_map(const char *path, size_t *size)
{
    struct stat st;
    FILE *f = fopen(path, "rbe");

    if (f == NULL) {
        report_errno(path, errno, "cannot open");
        return NULL;
    }
    if (fstat(fileno(f), &st) != 0 || !S_ISREG(st.st_mode)) {
        fclose(f);
        report(path, "is no regular file");
        return NULL;
    }
    char *text = malloc((size_t)st.st_size + 1);
    *size = text != NULL ? fread(text, 1, (size_t)st.st_size, f) : 0;
    int failed = ferror(f) ? errno : 0;
    fclose(f);
    if (text != NULL && failed == 0) {
        text[*size] = '\0';
        return text;
    }
    if (text == NULL)
        report(path, "no memory for it");
    else
        report_errno(path, failed, "cannot read");
    free(text);
    return NULL;
}

int exporting_map(const char *path, exporting *x)
{
    char why[RENAMES_WHY_MAX];
    size_t size;

    if (path == NULL)
        return STATUS_GOOD;
    char *text = read_map(path, &size);
    if (text == NULL)
        return STATUS_FAULT;
    if (!renames_read(&x->map, text, size, why))
        return report(path, "%s", why);
    x->options.renames = x->map.table;
    x->options.n_renames = x->map.n;
    return STATUS_GOOD;
}

/* ---- --max-size ---- */

int exporting_shards(const args *a, int max_size, int force, exporting *x)
{
    const char *size = a->values[max_size];

    if (a->values[force] != NULL)
        x->options.flags |= GGLD_EXPORT_REPLACE_SHARDS;
    if (size == NULL)
        return STATUS_GOOD;
    if (!opts_size(size, &x->options.max_shard_bytes) ||
        x->options.max_shard_bytes == 0)
        return report_usage(a, "'%s' is no size: 500M, 2G, or bytes", size);
    return STATUS_GOOD;
}

/* As 'ggld split' says it. */
static void on_shard(const char *path, uint64_t n_tensors, uint64_t file_bytes,
                     void *user)
{
    exporting *x = user;

    x->set_bytes += file_bytes;
    x->n_shards++;
    text_put_name(x->out, path, strlen(path));
    out_printf(x->out, ": %" PRIu64 " tensor%s, %s\n", n_tensors,
               text_plural(n_tensors), text_size(file_bytes).text);
    if (file_bytes > x->options.max_shard_bytes)
        report_note(path,
                    "%" PRIu64 " bytes, more than %" PRIu64
                    ": what is in it can't be split",
                    file_bytes, x->options.max_shard_bytes);
}

/* ---- doing it ---- */

static int on_progress(uint64_t done_bytes, uint64_t total_bytes, void *user)
{
    exporting *x = user;
    return watch_progress(done_bytes, total_bytes, &x->bar);
}

static void on_note(const char *text, void *user)
{
    const exporting *x = user;
    const char *advice = advice_of(x->args, text);

    report_note(x->inputs[0], "%s%s%s", text, advice != NULL ? ": " : "",
                advice != NULL ? advice : "");
}

static int report_failure(const exporting *x, const char *path,
                          const ggld_error *err)
{
    const char *advice = advice_of(x->args, err->message);

    return advice != NULL ? report(path, "%s: %s", err->message, advice)
                          : report_error(path, err);
}

/* A pattern without a tensor is an option that does not fit the model. */
static bool is_of_pattern(const ggld_error *err)
{
    return err->code == GGLD_E_INVALID &&
           (strncmp(err->message, "keep ", 5) == 0 ||
            strncmp(err->message, "skip ", 5) == 0);
}

/* Of which file an error speaks. */
static const char *at_fault(const exporting *x, const ggld_error *err)
{
    bool input = err->section == GGLD_IN_TENSOR_DATA ||
                 err->section == GGLD_IN_TENSOR_INFO ||
                 err->code == GGLD_E_CHANGED;

    if (!input)
        return x->path;
    return x->inputs[x->n_inputs > err->shard ? err->shard : 0];
}

static uint64_t file_bytes(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void print_result(output *o, const exporting *x,
                         const ggld_export_source *source)
{
    ggld_export_source_info info = { .struct_size = sizeof info };
    uint64_t out_bytes =
        x->options.max_shard_bytes != 0 ? x->set_bytes : file_bytes(x->path);
    uint32_t file_type = 0;

    ggld_export_source_get_info(source, &info);
    (void)ftype_of_tensor_type(x->options.type, &file_type);
    if (x->n_shards != 0)
        out_printf(o, "%" PRIu64 " shard%s", x->n_shards,
                   text_plural(x->n_shards));
    else
        text_put_name(o, x->path, strlen(x->path));
    out_printf(o, ": %s, %s to %s (%.1f%%)\n",
               (x->options.flags & GGLD_EXPORT_KEEP_TYPES) != 0
                   ? "types kept"
                   : ftype_name(file_type),
               text_size(info.file_bytes).text, text_size(out_bytes).text,
               info.file_bytes == 0
                   ? 100.0
                   : 100.0 * (double)out_bytes / (double)info.file_bytes);
}

static int run_source(const args *a, exporting *x,
                      const ggld_export_source *source)
{
    ggld_export_source_info info = { .struct_size = sizeof info };
    ggld_error err;

    ggld_export_source_get_info(source, &info);
    if (x->keeps_types && x->to_safetensors && strcmp(info.format, "gguf") != 0)
        x->options.flags |= GGLD_EXPORT_KEEP_TYPES;
    x->options.progress = on_progress;
    x->options.note = on_note;
    x->options.shard = on_shard;
    x->options.user = x;
    /* Of shards the names are not known before they are planned. */
    if (x->options.max_shard_bytes == 0)
        leftovers_remove(x->path);
    stop_watch();
    progress_begin(&x->bar, x->label, 0);
    ggld_status status = ggld_export(source, x->path, &x->options, &err);
    progress_end(&x->bar);
    if (status == GGLD_E_CANCELLED)
        return stop_report(x->path);
    if (status != GGLD_OK && is_of_pattern(&err))
        return report_usage(a, "--%s", err.message);
    if (status != GGLD_OK && report_is_onto_itself(&err))
        return report_usage(a, "%s", err.message);
    if (status != GGLD_OK)
        return report_failure(x, at_fault(x, &err), &err);
    print_result(a->out, x, source);
    return STATUS_GOOD;
}

static int run(const args *a, exporting *x)
{
    ggld_export_source *source;
    ggld_error err;

    if (ggld_export_source_open(&source, x->inputs, x->n_inputs, &err) !=
        GGLD_OK)
        return report_error(x->inputs[x->n_inputs > err.shard ? err.shard : 0],
                            &err);
    int status = x->options.max_shard_bytes == 0 &&
                         ggld_export_source_has(source, x->path)
                     ? report_usage(a, "OUT is a shard of IN")
                     : run_source(a, x, source);
    ggld_export_source_close(source);
    return status;
}

static void free_all(exporting *x)
{
    for (size_t i = 0; i < x->options.n_keeps; i++)
        free((void *)(uintptr_t)x->keeps[i].glob);
    for (size_t i = 0; i < x->n_settings; i++)
        setting_free(&x->settings[i]);
    free(x->keeps);
    free(x->skips);
    free(x->settings);
    renames_free(&x->map);
}

int exporting_command(const args *a, const char *label,
                      int (*parse)(const args *a, exporting *x))
{
    exporting x;
    int status = begin(a, label, &x);

    if (status == STATUS_GOOD)
        status = parse(a, &x);
    if (status == STATUS_GOOD)
        status = run(a, &x);
    free_all(&x);
    return status;
}
