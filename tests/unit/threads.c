/* SPDX-License-Identifier: MIT */
/* One file, many threads: all of reading, with references taken and given back
 * meanwhile. To be run under ThreadSanitizer too, so a plain main. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <ggld/ggld.h>

#include "image.h"
#include "read/file.h"

#define N_THREADS 8
#define N_ROUNDS  2000

static bool read_all(ggld_file *file)
{
    ggld_array_iter it;
    ggld_string s;
    uint64_t v = 0;
    uint8_t data[36];
    const ggld_tensor *t = ggld_tensor_find(file, "b");
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_file_info whole = { .struct_size = sizeof whole };

    if (t == NULL || ggld_tensor_find(file, "none") != NULL)
        return false;
    ggld_tensor_get_info(t, &info);
    ggld_file_get_info(file, &whole);
    if (!ggld_kv_get_u64(ggld_kv_find(file, "general.alignment"), &v) ||
        v != whole.alignment_bytes)
        return false;
    if (!ggld_kv_get_array(ggld_kv_find(file, "tokens"), &it))
        return false;
    while (ggld_array_next_string(&it, &s))
        v += s.len;
    return v == 32 + 8 &&
           ggld_file_read(file, info.file_offset_bytes, data, 36,
                          ggld_nowhere(), NULL) == GGLD_OK &&
           data[35] == 36;
}

static void *work(void *arg)
{
    ggld_file *file = arg;
    for (int i = 0; i < N_ROUNDS; i++) {
        ggld_file *mine = ggld_file_ref(file);
        bool good = read_all(mine);
        ggld_close(mine);
        if (!good)
            return "a thread read something else";
    }
    ggld_close(file);
    return NULL;
}

static int64_t image_pread(void *ctx, void *dst, size_t n, uint64_t offset)
{
    const image *img = ctx;
    memcpy(dst, img->data + offset, n);
    return (int64_t)n;
}

static void count_release(void *ctx)
{
    image_free(ctx);
}

int main(void)
{
    static const uint32_t modes[] = { 0, GGLD_OPEN_COPY, GGLD_OPEN_PREAD };
    int failures = 0;
    for (size_t m = 0; m < 3; m++) {
        image img = image_sample(3, false);
        ggld_source source = { sizeof source, img.size,      image_pread,
                               img.data,      count_release, &img };
        ggld_open_options options = ggld_open_options_init();
        pthread_t threads[N_THREADS];
        ggld_file *file;
        ggld_error err;
        options.flags = modes[m];
        if (ggld_open_source(&file, &source, &options, &err) != GGLD_OK) {
            fprintf(stderr, "%s\n", err.message);
            return 1;
        }
        for (int i = 0; i < N_THREADS; i++)
            if (pthread_create(&threads[i], NULL, work, ggld_file_ref(file)))
                return 1;
        ggld_close(file); /* the threads' own references are the last */
        for (int i = 0; i < N_THREADS; i++) {
            void *fault;
            pthread_join(threads[i], &fault);
            if (fault != NULL) {
                fprintf(stderr, "mode %zu: %s\n", m, (char *)fault);
                failures++;
            }
        }
        if (img.data != NULL) {
            fprintf(stderr, "mode %zu: the source was not released\n", m);
            failures++;
        }
    }
    return failures != 0;
}
