/* SPDX-License-Identifier: MIT */
/* See model.h. */
#include "model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report.h"

static void model_opened(model *m, const char *path)
{
    m->path = path;
    m->info.struct_size = sizeof m->info;
    ggld_file_get_info(m->file, &m->info);
    m->whole = true;
    m->n_whole = ggld_tensor_count(m->file);
    m->data_all_bytes = m->info.data_bytes;
}

int model_open(model *m, const char *path)
{
    ggld_error err;

    memset(m, 0, sizeof *m);
    if (ggld_open_path(&m->file, path, NULL, &err) != GGLD_OK)
        return report_error(path, &err);
    model_opened(m, path);
    return STATUS_GOOD;
}

static void model_measure_tensor(model *m, uint64_t index, uint64_t *end)
{
    ggld_tensor_info info = model_tensor(m, index);
    uint64_t tensor_end, first = UINT64_MAX;

    /* Past any file's end: that is not missing, but wrong. */
    if (__builtin_add_overflow(info.file_offset_bytes, info.size_bytes,
                               &tensor_end)) {
        *end = UINT64_MAX;
        return;
    }
    *end = tensor_end > *end ? tensor_end : *end;
    if (tensor_end <= m->info.file_bytes || info.size_bytes == 0) {
        m->n_whole++;
        return;
    }
    if (m->missing_bytes != 0)
        first = model_tensor(m, m->first_missing).file_offset_bytes;
    if (info.file_offset_bytes < first)
        m->first_missing = index;
    if (tensor_end - m->info.file_bytes > m->missing_bytes)
        m->missing_bytes = tensor_end - m->info.file_bytes;
}

/* What the table asks for and what there is of it. */
static void model_measure(model *m)
{
    uint64_t end = m->info.metadata_bytes;

    m->n_whole = 0;
    for (uint64_t i = 0; i < ggld_tensor_count(m->file); i++)
        model_measure_tensor(m, i, &end);
    m->data_all_bytes = end - m->info.metadata_bytes;
    m->whole = m->n_whole == ggld_tensor_count(m->file);
}

bool model_peek(model *m, const char *path)
{
    ggld_open_options options = ggld_open_options_init();

    memset(m, 0, sizeof *m);
    options.flags = GGLD_OPEN_METADATA;
    if (ggld_open_path(&m->file, path, &options, NULL) != GGLD_OK)
        return false;
    model_opened(m, path);
    model_measure(m);
    return true;
}

int model_open_partial(model *m, const char *path)
{
    ggld_error err;

    memset(m, 0, sizeof *m);
    if (ggld_open_path(&m->file, path, NULL, &err) == GGLD_OK) {
        model_opened(m, path);
        return STATUS_GOOD;
    }
    if (err.code != GGLD_E_TRUNCATED || !model_peek(m, path))
        return report_error(path, &err);
    report_note(
        path,
        "data: %s of %s present; %" PRIu64 " of %" PRIu64 " tensors whole",
        text_size(m->info.data_bytes).text, text_size(m->data_all_bytes).text,
        m->n_whole, ggld_tensor_count(m->file));
    return STATUS_GOOD;
}

int model_unchanged(const model *m)
{
    ggld_error err;

    if (ggld_file_changed(m->file, &err) != GGLD_E_CHANGED)
        return STATUS_GOOD;
    return report_error(m->path, &err);
}

void model_close(model *m)
{
    ggld_close(m->file);
    m->file = NULL;
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
