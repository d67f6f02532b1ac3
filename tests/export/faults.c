/* SPDX-License-Identifier: MIT */
/* ggld_export: each system call in turn fails, is interrupted, does less, or is
 * the last; those that read the model too. */
#include <stdlib.h>
#include <string.h>

#include <ggld/export.h>

#include "../change/whole.h"
#include "../views/check.h"
#include "../write/support.h"

int n_failed;

#define N_ROWS 300u /* of 32 elements: more than the writer's buffer holds */

static char *folder;
static char gguf_path[256], safetensors_path[256];

static ggld_status export_to(const char *in, const char *out, uint32_t type,
                             uint32_t format, ggld_error *err)
{
    ggld_export_options options = ggld_export_options_init();
    ggld_export_source *source = NULL;

    options.type = type;
    options.format = format;
    options.n_threads = 1;
    ggld_status status = ggld_export_source_open(&source, &in, 1, err);
    if (status == GGLD_OK)
        status = ggld_export(source, out, &options, err);
    ggld_export_source_close(source);
    return status;
}

static ggld_status quantize(const char *out, ggld_error *err)
{
    return export_to(gguf_path, out, GGLD_TYPE_Q8_0, GGLD_EXPORT_GGUF, err);
}

static ggld_status convert(const char *out, ggld_error *err)
{
    return export_to(safetensors_path, out, GGLD_TYPE_F16, GGLD_EXPORT_GGUF,
                     err);
}

static ggld_status convert_back(const char *out, ggld_error *err)
{
    return export_to(gguf_path, out, GGLD_TYPE_BF16, GGLD_EXPORT_SAFETENSORS,
                     err);
}

static ggld_status convert_same(const char *out, ggld_error *err)
{
    return export_to(safetensors_path, out, GGLD_TYPE_F32,
                     GGLD_EXPORT_SAFETENSORS, err);
}

static const writing writings[] = {
    { "GGUF to q8_0", quantize },
    { "safetensors to GGUF", convert },
    { "GGUF to safetensors", convert_back },
    { "safetensors to safetensors", convert_same },
};

/* A tensor "w" of 32 x N_ROWS F32, and "ids" of two I32. */
static void make_model(void)
{
    static float data[32 * N_ROWS];
    static const int32_t ids[] = { 7, -7 };
    const uint64_t dims[] = { 32, N_ROWS }, two[] = { 2 };
    ggld_writer *w = NULL;
    ggld_error err;

    for (size_t i = 0; i < 32 * N_ROWS; i++)
        data[i] = (float)(i % 977) * 0.25f - 100;
    snprintf(gguf_path, sizeof gguf_path, "%s/in.gguf", folder);
    snprintf(safetensors_path, sizeof safetensors_path, "%s/in.safetensors",
             folder);
    if (ggld_writer_new(&w, NULL, &err) != GGLD_OK ||
        ggld_writer_set_string(w, "general.architecture", "a", 1, &err) !=
            GGLD_OK ||
        ggld_writer_declare_tensor(w, "w", 1, GGLD_TYPE_F32, dims, 2, &err) !=
            GGLD_OK ||
        ggld_writer_declare_tensor(w, "ids", 3, GGLD_TYPE_I32, two, 1, &err) !=
            GGLD_OK ||
        ggld_writer_begin(w, gguf_path, &err) != GGLD_OK ||
        ggld_writer_put_bytes(w, data, sizeof data, &err) != GGLD_OK ||
        ggld_writer_put_bytes(w, ids, sizeof ids, &err) != GGLD_OK ||
        ggld_writer_finish(w, &err) != GGLD_OK ||
        export_to(gguf_path, safetensors_path, GGLD_TYPE_F32,
                  GGLD_EXPORT_SAFETENSORS, &err) != GGLD_OK) {
        printf("%s\n", err.message);
        exit(99);
    }
    ggld_writer_free(w);
}

int main(void)
{
    folder = folder_new();
    make_model();
    for (size_t i = 0; i < sizeof writings / sizeof writings[0]; i++)
        try_each_call(&writings[i]);
    folder_remove(folder);
    printf("%d failures\n", n_failed);
    return n_failed != 0;
}
