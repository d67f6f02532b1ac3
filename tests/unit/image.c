/* SPDX-License-Identifier: MIT */
#include "image.h"

#include <stdlib.h>
#include <string.h>

void image_bytes(image *img, const void *data, size_t size)
{
    if (img->size + size > img->room) {
        img->room = 2 * (img->size + size);
        img->data = realloc(img->data, img->room);
        if (img->data == NULL)
            abort();
    }
    if (size != 0)
        memcpy(img->data + img->size, data, size);
    img->size += size;
}

void image_number(image *img, uint64_t value, size_t width)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < width; i++) {
        size_t at = img->big_endian ? width - 1 - i : i;
        bytes[at] = (uint8_t)(value >> 8 * i);
    }
    image_bytes(img, bytes, width);
}

void image_u32(image *img, uint32_t value)
{
    image_number(img, value, 4);
}

void image_u64(image *img, uint64_t value)
{
    image_number(img, value, 8);
}

void image_len(image *img, uint64_t value)
{
    image_number(img, value, img->version == 1 ? 4 : 8);
}

image image_new(uint32_t version, bool big_endian, uint64_t n_tensors,
                uint64_t n_kvs)
{
    image img = { NULL, 0, 0, version, big_endian };
    image_bytes(&img, "GGUF", 4);
    image_u32(&img, version);
    image_len(&img, n_tensors);
    image_len(&img, n_kvs);
    return img;
}

void image_free(image *img)
{
    free(img->data);
    img->data = NULL;
}

void image_string(image *img, const char *data, size_t size)
{
    image_len(img, size);
    image_bytes(img, data, size);
}

void image_kv(image *img, const char *key, uint32_t type)
{
    image_string(img, key, strlen(key));
    image_u32(img, type);
}

void image_kv_u32(image *img, const char *key, uint32_t value)
{
    image_kv(img, key, 4);
    image_u32(img, value);
}

void image_kv_text(image *img, const char *key, const char *value)
{
    image_kv(img, key, 8);
    image_string(img, value, strlen(value));
}

void image_tensor(image *img, const char *name, uint32_t n_dims,
                  const uint64_t *dims, uint32_t type, uint64_t offset)
{
    image_string(img, name, strlen(name));
    image_u32(img, n_dims);
    for (uint32_t i = 0; i < n_dims; i++)
        image_len(img, dims[i]);
    image_u32(img, type);
    image_u64(img, offset);
}

void image_pad(image *img, size_t alignment)
{
    while (img->size % alignment != 0)
        image_bytes(img, "", 1);
}

void image_data(image *img, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = (uint8_t)(i + 1);
        image_bytes(img, &byte, 1);
    }
}

image image_sample(uint32_t version, bool big_endian)
{
    image img = image_new(version, big_endian, 3, 3);
    image_kv_text(&img, "general.architecture", "llama");
    image_kv_u32(&img, "general.alignment", 32);
    image_kv(&img, "tokens", 9);
    image_u32(&img, 8);
    image_len(&img, 3);
    image_string(&img, "one", 3);
    image_string(&img, "", 0);
    image_string(&img, "three", 5);
    image_tensor(&img, "a", 1, (uint64_t[]){ 8 }, 0, 0);
    image_tensor(&img, "b", 2, (uint64_t[]){ 32, 2 }, 2, 32);
    image_tensor(&img, "c", 1, (uint64_t[]){ 3 }, 1, 96);
    image_pad(&img, 32);
    image_data(&img, 32);
    image_data(&img, 36);
    image_pad(&img, 32);
    image_data(&img, 6);
    image_pad(&img, 32);
    return img;
}
