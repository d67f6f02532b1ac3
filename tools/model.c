/* SPDX-License-Identifier: MIT */
/* See model.h. */
#include "model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <ggld/guard.h>

#include "nearest.h"
#include "paths.h"
#include "pending.h"
#include "report.h"

static void model_opened(model *m, const char *path, uint32_t flags)
{
    m->path = path;
    m->open_flags = flags;
    m->info = model_file_info(m->file);
    m->whole = true;
    m->n_whole = ggld_tensor_count(m->file);
    m->data_all_bytes = m->info.data_bytes;
}

static ggld_status open_flags(model *m, const char *path, uint32_t flags,
                              ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();
    options.flags = flags;
    return ggld_open_path(&m->file, path, &options, err);
}

/* Of a file that an edit has left between old and new that is what is wrong,
 * whatever the reader says. */
static int model_open_failed(const char *path, const ggld_error *err,
                             bool single)
{
    ggld_error why;

    if (pending_is_between(pending_of(path, &why)))
        return report_error(path, &why);
    return single ? report_error_single(path, err) : report_error(path, err);
}

/* What opens may still be a file that an edit has left between old and new. */
static int model_good(const char *path)
{
    ggld_error why;

    if (pending_is_between(pending_of(path, &why)))
        report_note(path, "%s", why.message);
    return STATUS_GOOD;
}

int model_open(model *m, const char *path)
{
    ggld_error err;

    memset(m, 0, sizeof *m);
    if (open_flags(m, path, 0, &err) != GGLD_OK)
        return model_open_failed(path, &err, false);
    model_opened(m, path, 0);
    return model_good(path);
}

int model_open_with(model *m, const char *path, uint32_t flags)
{
    ggld_error err;

    memset(m, 0, sizeof *m);
    if (open_flags(m, path, flags, &err) != GGLD_OK)
        return model_open_failed(path, &err, true);
    model_opened(m, path, flags);
    return model_good(path);
}

/* What one file's table asks for: where its data ends; bytes past the end of
 * the file. */
typedef struct measured {
    uint64_t end;
    uint64_t missing;
} measured;

static void model_measure_tensor(model *m, const ggld_tensor_info *info,
                                 uint64_t file_bytes, measured *of)
{
    uint64_t end;

    /* Past any file's end: that is not missing, but wrong. */
    if (__builtin_add_overflow(info->file_offset_bytes, info->size_bytes,
                               &end)) {
        of->end = UINT64_MAX;
        return;
    }
    of->end = end > of->end ? end : of->end;
    if (end <= file_bytes || info->size_bytes == 0) {
        m->n_whole++;
        return;
    }
    ggld_tensor_info first = { .shard = UINT32_MAX };
    if (m->missing_bytes != 0 || of->missing != 0)
        first = model_tensor(m, m->first_missing);
    if (info->shard < first.shard ||
        (info->shard == first.shard &&
         info->file_offset_bytes < first.file_offset_bytes))
        m->first_missing = info->index;
    if (end - file_bytes > of->missing)
        of->missing = end - file_bytes;
}

/* What the tables ask for and what there is of it. */
static void model_measure(model *m)
{
    m->n_whole = 0;
    m->data_all_bytes = 0;
    for (uint32_t s = 0; s < m->info.n_shards; s++) {
        const ggld_file *shard = ggld_file_shard(m->file, s);
        ggld_file_info info = model_file_info(shard);
        measured of = { info.metadata_bytes, 0 };
        for (uint64_t i = 0; i < ggld_tensor_count(shard); i++) {
            ggld_tensor_info t = model_tensor_info(ggld_tensor_at(shard, i));
            model_measure_tensor(m, &t, info.file_bytes, &of);
        }
        m->data_all_bytes += of.end - info.metadata_bytes;
        m->missing_bytes += of.missing;
    }
    m->whole = m->n_whole == ggld_tensor_count(m->file);
}

bool model_peek(model *m, const char *path, uint32_t flags)
{
    memset(m, 0, sizeof *m);
    if (open_flags(m, path, flags | GGLD_OPEN_METADATA, NULL) != GGLD_OK)
        return false;
    model_opened(m, path, flags);
    model_measure(m);
    return true;
}

int model_open_partial(model *m, const char *path, uint32_t flags)
{
    ggld_error err;

    memset(m, 0, sizeof *m);
    if (open_flags(m, path, flags, &err) == GGLD_OK) {
        model_opened(m, path, flags);
        return model_good(path);
    }
    if (err.code != GGLD_E_TRUNCATED || !model_peek(m, path, flags))
        return model_open_failed(path, &err, true);
    const char *hint = ggld_error_hint(&err);
    report_note(
        path,
        "data: %s of %s present; %" PRIu64 " of %" PRIu64 " tensor%s whole%s%s",
        text_size(m->info.data_bytes).text, text_size(m->data_all_bytes).text,
        m->n_whole, ggld_tensor_count(m->file),
        text_plural(ggld_tensor_count(m->file)), hint != NULL ? "; " : "",
        hint != NULL ? hint : "");
    return model_good(path);
}

bool model_opens_alone(const char *path)
{
    ggld_open_options how = ggld_open_options_init();
    ggld_file *file;
    how.flags = GGLD_OPEN_METADATA | GGLD_OPEN_SINGLE;
    if (ggld_open_path(&file, path, &how, NULL) != GGLD_OK)
        return false;
    ggld_close(file);
    return true;
}

int model_unchanged(const model *m)
{
    ggld_error err;

    if (ggld_file_changed(m->file, &err) != GGLD_E_CHANGED)
        return STATUS_GOOD;
    return report_error(m->path, &err);
}

bool model_is_cut(model *m)
{
    ggld_error err;

    if (m->file == NULL || ggld_file_intact(m->file, &err) == GGLD_OK)
        return false;
    if (!m->told_cut)
        report_error(m->path, &err);
    m->told_cut = true;
    return true;
}

int model_failed(model *m, const char *out, const ggld_error *err)
{
    bool of_output = out != NULL && err->section == GGLD_IN_FILE;

    /* It may say in which tensor. */
    if (err->code == GGLD_E_IO && strstr(err->message, "truncated") != NULL)
        m->told_cut = true;
    else if (model_is_cut(m))
        return STATUS_FAULT;
    if (of_output && err->code == GGLD_E_CHANGED)
        of_output = ggld_file_changed(m->file, NULL) != GGLD_E_CHANGED;
    return report_error(of_output ? out : m->path, err);
}

static bool source_good(out_source *source)
{
    return !model_is_cut((model *)(void *)source);
}

void model_show(model *m, output *o)
{
    m->source.is_good = source_good;
    m->out = o;
    out_attach(o, &m->source);
}

void model_close(model *m)
{
    if (m->out != NULL)
        out_detach(m->out, &m->source);
    m->out = NULL;
    ggld_close(m->file);
    m->file = NULL;
}

bool model_has(const model *m, const char *path)
{
    if (paths_same(m->path, path))
        return true;
    for (uint32_t s = 0; s < m->info.n_shards; s++)
        if (paths_same(ggld_file_path(ggld_file_shard(m->file, s)), path))
            return true;
    return false;
}

const ggld_file *model_shard(const model *m, const ggld_tensor_info *info)
{
    return ggld_file_shard(m->file, info->shard);
}

ggld_file_info model_file_info(const ggld_file *file)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_file_get_info(file, &info);
    return info;
}

bool model_tensor_whole(const model *m, const ggld_tensor_info *info)
{
    uint64_t file_bytes = model_file_info(model_shard(m, info)).file_bytes;
    return info->size_bytes <= file_bytes &&
           info->file_offset_bytes <= file_bytes - info->size_bytes;
}

ggld_tensor_info model_tensor_info(const ggld_tensor *tensor)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_tensor_get_info(tensor, &info);
    return info;
}

ggld_tensor_info model_tensor(const model *m, uint64_t index)
{
    return model_tensor_info(ggld_tensor_at(m->file, index));
}

text_number model_type_text(uint32_t type)
{
    const ggld_type_traits *traits = ggld_type_traits_of(type);
    text_number t;

    if (traits != NULL)
        snprintf(t.text, sizeof t.text, "%s", traits->name);
    else
        snprintf(t.text, sizeof t.text, "type %" PRIu32, type);
    return t;
}

text_number model_shape_text(const ggld_tensor_info *info)
{
    text_number t = { "scalar" };
    size_t used = 0;

    for (uint32_t i = 0; i < info->n_dims && used < sizeof t.text; i++) {
        int n = snprintf(t.text + used, sizeof t.text - used, "%s%" PRIu64,
                         i > 0 ? " x " : "", info->dims[i]);
        used += n > 0 ? (size_t)n : 0;
    }
    return t;
}

int model_no_tensor(model *m, const char *name)
{
    nearest near = nearest_begin(name);

    if (model_is_cut(m))
        return STATUS_FAULT;
    for (uint64_t i = 0; i < ggld_tensor_count(m->file); i++) {
        ggld_tensor_info info = model_tensor(m, i);
        nearest_offer(&near, info.name.data, info.name.len);
    }
    if (near.word[0] != '\0')
        return report(m->path, "no tensor '%s' (did you mean '%s'?)", name,
                      near.word);
    return report(m->path, "no tensor '%s'; 'ggld tensors FILE' lists all",
                  name);
}
