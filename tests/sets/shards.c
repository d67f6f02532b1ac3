/* SPDX-License-Identifier: MIT */
#include "shards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const plain_names[MAX_SHARDS] = { "t0", "t1", "t2",  "t3",
                                                     "t4", "t5", "t6",  "t7",
                                                     "t8", "t9", "t10", "t11" };

shards shards_new(uint32_t n)
{
    shards set = { .n = n, .n_elems = 8, .base = "m" };
    for (uint32_t s = 0; s < n; s++) {
        shard_made *one = &set.at[s];
        one->version = 3;
        one->no = (shard_number){ U16, s };
        one->count = (shard_number){ U16, n };
        one->total = (shard_number){ S32, n };
        one->n_tensors = 1;
        one->names[0] = plain_names[s];
    }
    return set;
}

shards shards_mixed(void)
{
    shards set = shards_new(3);
    for (uint32_t s = 0; s < 3; s++)
        set.at[s].total.value = 5;
    set.at[0].n_tensors = 2;
    set.at[0].names[0] = "a";
    set.at[0].names[1] = "b";
    set.at[1].names[0] = "c";
    set.at[1].version = 2;
    set.at[1].alignment = 64;
    set.at[2].n_tensors = 2;
    set.at[2].names[0] = "d";
    set.at[2].names[1] = "e";
    set.at[2].version = 1;
    set.at[2].big_endian = true;
    return set;
}

float shards_value(uint32_t s, uint32_t t, uint32_t i)
{
    return (float)(s * 1000 + t * 100 + i % 0x10000);
}

static size_t width_of(uint32_t type)
{
    static const size_t widths[] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8 };
    return widths[type];
}

static void put_number(image *img, const char *key, shard_number n)
{
    if (n.type == NONE)
        return;
    image_kv(img, key, n.type);
    if (n.type == TEXT)
        image_string(img, "3", 1);
    else
        image_number(img, n.value, width_of(n.type));
}

static uint64_t count_kvs(const shard_made *one, bool first)
{
    return (first ? 2u : 0u) + (one->alignment != 0) + (one->no.type != NONE) +
           (one->count.type != NONE) + (one->total.type != NONE);
}

image shards_image(const shards *set, uint32_t s)
{
    const shard_made *one = &set->at[s];
    size_t alignment = one->alignment != 0 ? one->alignment : 32;
    size_t step = (set->n_elems * 4 + alignment - 1) / alignment * alignment;
    image img = image_new(one->version, one->big_endian, one->n_tensors,
                          count_kvs(one, s == 0));

    if (s == 0) {
        image_kv_text(&img, "general.architecture", "llama");
        image_kv_u32(&img, "only.first", 7);
    }
    if (one->alignment != 0)
        image_kv_u32(&img, "general.alignment", one->alignment);
    put_number(&img, "split.no", one->no);
    put_number(&img, "split.count", one->count);
    put_number(&img, "split.tensors.count", one->total);
    for (uint32_t t = 0; t < one->n_tensors; t++)
        image_tensor(&img, one->names[t], 1, (uint64_t[]){ set->n_elems }, 0,
                     t * step);
    for (uint32_t t = 0; t < one->n_tensors; t++) {
        image_pad(&img, alignment);
        for (uint32_t i = 0; i < set->n_elems; i++) {
            float value = shards_value(s, t, i);
            uint32_t bits;
            memcpy(&bits, &value, sizeof bits);
            image_u32(&img, bits);
        }
    }
    image_pad(&img, alignment);
    img.size -= one->cut;
    return img;
}

const char *shards_path(const shards *set, uint32_t s)
{
    static char paths[4][512];
    static uint32_t next;
    char *path = paths[next++ % 4];
    if (set->at[s].name != NULL)
        snprintf(path, sizeof paths[0], "%s/%s", set->folder, set->at[s].name);
    else
        snprintf(path, sizeof paths[0], "%s/%s-%05u-of-%05u.gguf", set->folder,
                 set->base, s + 1, set->n);
    return path;
}

void shards_write(shards *set)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(set->folder, sizeof set->folder, "%s/ggld-sets-XXXXXX",
             tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(set->folder) == NULL)
        abort();
    for (uint32_t s = 0; s < set->n; s++) {
        if (set->at[s].absent)
            continue;
        image img = shards_image(set, s);
        FILE *f = fopen(shards_path(set, s), "wb");
        if (f == NULL || fwrite(img.data, 1, img.size, f) != img.size ||
            fclose(f) != 0)
            abort();
        image_free(&img);
    }
}

void shards_remove(const shards *set)
{
    for (uint32_t s = 0; s < set->n; s++)
        (void)unlink(shards_path(set, s));
    if (rmdir(set->folder) != 0)
        printf("%s is not empty\n", set->folder);
}
