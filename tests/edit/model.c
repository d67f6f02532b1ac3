/* SPDX-License-Identifier: MIT */
/* See model.h. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 32

model_form model_plain(uint32_t version, bool big_endian)
{
    model_form form = { .version = version,
                        .big_endian = big_endian,
                        .name = "plain",
                        .count = 7,
                        .count_key = "count",
                        .padding = -1,
                        .tensor = "a" };
    return form;
}

static void put_text(image *im, const char *key, const char *text, size_t len)
{
    image_key(im, key, GGLD_VALUE_STRING);
    image_string_n(im, text, len);
}

static void put_filler(image *im, const char *key, char c, size_t len)
{
    char *text = malloc(len + 1);
    memset(text, c, len + 1);
    put_text(im, key, text, len);
    free(text);
}

static void put_kvs(image *im, const model_form *form)
{
    put_text(im, "general.name", form->name, strlen(form->name));
    image_key(im, form->count_key, GGLD_VALUE_U32);
    image_number(im, form->count, 4);
    image_key(im, "words", GGLD_VALUE_ARRAY);
    image_number(im, GGLD_VALUE_STRING, 4);
    image_len(im, 3);
    image_string(im, "one");
    image_string(im, "");
    image_string(im, "three");
    if (form->long_bytes != 0)
        put_filler(im, "long", 'x', form->long_bytes);
    if (form->extra != NULL)
        put_text(im, "extra", form->extra, strlen(form->extra));
    if (form->padding >= 0)
        put_filler(im, "ggld.padding", ' ', (size_t)form->padding);
}

image model_build(const model_form *form)
{
    const uint64_t four[] = { 4 }, odd[] = { 7 }, five[] = { 5 };
    image im = image_new(form->version, form->big_endian);

    image_header(&im, 3,
                 3u + (form->extra != NULL) + (form->padding >= 0) +
                     (form->long_bytes != 0));
    put_kvs(&im, form);
    image_tensor(&im, form->tensor, 1, four, GGLD_TYPE_F32, 0);
    image_tensor(&im, "odd", 1, odd, 99, 32);
    image_tensor(&im, "last", 1, five, GGLD_TYPE_I8, 64);
    image_pad(&im, ALIGNMENT);
    for (unsigned i = 0; i < MODEL_DATA_BYTES; i++)
        image_number(&im, 0xA0 + i % 90, 1);
    return im;
}

size_t model_data_offset(const model_form *form)
{
    image im = model_build(form);
    size_t size = im.size - MODEL_DATA_BYTES;
    image_free(&im);
    return size;
}
