/* SPDX-License-Identifier: MIT */
/* See support.h. */
#include "support.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int n_passed, n_failed;

static char folder[256];

const char *in_folder(const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

void make_folder(void)
{
    const char *tmp = getenv("TMPDIR");

    snprintf(folder, sizeof folder, "%s/ggld-export-XXXXXX",
             tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(folder) == NULL)
        abort();
}

int count_files(void)
{
    DIR *d = opendir(folder);
    int n = 0;

    while (d != NULL && readdir(d) != NULL)
        n++;
    if (d != NULL)
        closedir(d);
    return n - 2;
}

void remove_folder(void)
{
    DIR *d = opendir(folder);
    const struct dirent *entry;

    while (d != NULL && (entry = readdir(d)) != NULL)
        unlinkat(dirfd(d), entry->d_name, 0);
    if (d != NULL)
        closedir(d);
    rmdir(folder);
}

void save(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        abort();
}

void *load(const char *path, size_t *size)
{
    struct stat st;
    FILE *f = fopen(path, "rb");

    if (f == NULL || fstat(fileno(f), &st) != 0)
        return NULL;
    *size = (size_t)st.st_size;
    void *data = malloc(*size + 1);
    if (data == NULL || fread(data, 1, *size, f) != *size)
        abort();
    fclose(f);
    return data;
}

void save_raw(const char *path, uint64_t length, const char *json,
              size_t json_bytes, const void *data, size_t data_bytes)
{
    uint8_t *bytes = calloc(1, 8 + json_bytes + data_bytes + 1);

    if (bytes == NULL)
        abort();
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(length >> 8 * i);
    memcpy(bytes + 8, json, json_bytes);
    for (size_t i = 0; i < data_bytes; i++)
        bytes[8 + json_bytes + i] =
            data != NULL ? ((const uint8_t *)data)[i] : (uint8_t)(i % 100);
    save(path, bytes, 8 + json_bytes + data_bytes);
    free(bytes);
}

void save_safetensors(const char *path, const char *json, const void *data,
                      size_t data_bytes)
{
    save_raw(path, strlen(json), json, strlen(json), data, data_bytes);
}

ggld_status export_file(const char *in, const char *out,
                        const ggld_export_options *options, ggld_error *err)
{
    ggld_export_source *source;

    ggld_status status = ggld_export_source_open(&source, &in, 1, err);
    if (status != GGLD_OK)
        return status;
    status = ggld_export(source, out, options, err);
    ggld_export_source_close(source);
    return status;
}

ggld_file *must_open(const char *path)
{
    ggld_file *file;
    ggld_error err;

    if (ggld_open_path(&file, path, NULL, &err) == GGLD_OK)
        return file;
    printf("%s: %s\n", path, err.message);
    exit(1);
}

void *tensor_bytes(const ggld_file *file, const char *name,
                   ggld_tensor_info *info)
{
    const ggld_tensor *tensor = ggld_tensor_find(file, name);
    ggld_error err;

    if (tensor == NULL)
        return NULL;
    info->struct_size = sizeof *info;
    ggld_tensor_get_info(tensor, info);
    void *bytes = malloc((size_t)info->size_bytes + 1);
    if (bytes == NULL ||
        ggld_tensor_read_bytes(tensor, 0, bytes, (size_t)info->size_bytes,
                               &err) != GGLD_OK)
        abort();
    return bytes;
}

int finish(void)
{
    printf("%d passed, %d failed, 0 skipped\n", n_passed, n_failed);
    return n_failed != 0 || n_passed == 0;
}
