/* SPDX-License-Identifier: MIT */
/* Inputs that change while they are exported. */
#include <string.h>

#include <ggld/export.h>

#include "../change/changing.h"
#include "../change/models.h"
#include "../views/check.h"

int n_failed;

static ggld_status export_to(const char *in, const char *out,
                             const ggld_export_options *options,
                             ggld_error *err)
{
    ggld_export_source *source = NULL;

    ggld_status status = ggld_export_source_open(&source, &in, 1, err);
    if (status == GGLD_OK)
        status = ggld_export(source, out, options, err);
    ggld_export_source_close(source);
    return status;
}

static ggld_status to_gguf(const char *in, const char *out,
                           ggld_progress progress, void *user, ggld_error *err)
{
    ggld_export_options options = ggld_export_options_init();

    options.progress = progress;
    options.user = user;
    return export_to(in, out, &options, err);
}

static ggld_status to_set(const char *in, const char *out,
                          ggld_progress progress, void *user, ggld_error *err)
{
    ggld_export_options options = ggld_export_options_init();

    options.progress = progress;
    options.user = user;
    options.max_shard_bytes = 1000;
    return export_to(in, out, &options, err);
}

static ggld_status to_safetensors(const char *in, const char *out,
                                  ggld_progress progress, void *user,
                                  ggld_error *err)
{
    ggld_export_options options = ggld_export_options_init();

    options.progress = progress;
    options.user = user;
    options.format = GGLD_EXPORT_SAFETENSORS;
    return export_to(in, out, &options, err);
}

static void save_gguf(const char *path)
{
    const model_made m = { 0 };
    image im = model_image(&m);

    file_save(path, im.data, im.size);
    image_free(&im);
}

static void save_safetensors(const char *path)
{
    static const char json[] = "{\"w\":{\"dtype\":\"F32\",\"shape\":[40,10],"
                               "\"data_offsets\":[0,1600]}}";
    uint8_t bytes[8 + sizeof json - 1 + 1600] = { sizeof json - 1 };

    memcpy(bytes + 8, json, sizeof json - 1);
    file_save(path, bytes, sizeof bytes);
}

int main(void)
{
    static const struct {
        making making;
        void (*save_input)(const char *path);
    } rows[] = {
        { { "quantize", to_gguf, false, false, 0 }, save_gguf },
        { { "quantize to a set", to_set, false, true, 0 }, save_gguf },
        { { "convert", to_gguf, false, false, 0 }, save_safetensors },
        { { "convert to a set", to_set, false, true, 0 }, save_safetensors },
        { { "convert back", to_safetensors, false, false, 0 }, save_gguf },
        { { "convert to the same", to_safetensors, false, false, 0 },
          save_safetensors },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        try_each_change(&rows[i].making, rows[i].save_input);
    printf("%d failures\n", n_failed);
    return n_failed != 0;
}
