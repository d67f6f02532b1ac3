/* SPDX-License-Identifier: MIT */
#include "served.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int64_t served_pread(void *ctx, void *dst, size_t n, uint64_t offset)
{
    served *s = ctx;
    if (++s->n_calls % 3 == 0)
        return -EINTR;
    if (offset >= s->img->size)
        return 0;
    if (n > s->img->size - offset)
        n = s->img->size - (size_t)offset;
    if (n > s->step)
        n = s->step;
    memcpy(dst, s->img->data + offset, n);
    return (int64_t)n;
}

static void served_release(void *ctx)
{
    ((served *)ctx)->n_released++;
}

ggld_source source_of(served *s)
{
    ggld_source source = { sizeof source, s->img->size,   served_pread,
                           NULL,          served_release, s };
    return source;
}

ggld_status open_with(ggld_file **out, const image *img,
                      ggld_open_options options, ggld_error *err)
{
    return ggld_open_memory(out, img->data, img->size, &options, err);
}

image large_image(uint64_t n_kvs, uint64_t n_tensors)
{
    image img = image_new(3, false, n_tensors, n_kvs + 1);
    char name[40];
    uint64_t dim = 0;
    image_kv(&img, "tokens", 9);
    image_u32(&img, 8);
    image_len(&img, 50000);
    for (int i = 0; i < 50000; i++)
        image_string(&img, "a token of some length", 22);
    for (uint64_t i = 0; i < n_kvs; i++) {
        snprintf(name, sizeof name, "key.number.%" PRIu64, i);
        image_kv_u32(&img, name, (uint32_t)i);
    }
    for (uint64_t i = 0; i < n_tensors; i++) {
        snprintf(name, sizeof name, "blk.%" PRIu64 ".weight", i);
        image_tensor(&img, name, 1, &dim, 0, 0);
    }
    image_pad(&img, 32);
    return img;
}
