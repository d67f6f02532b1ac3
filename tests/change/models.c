/* SPDX-License-Identifier: MIT */
/* See models.h. Places of tensors are worked out here, not asked of the
 * library. */
#include "models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RECORDS 6

static void add_name(image *im, const model_made *m, const char *name)
{
    (void)m;
    image_key(im, "general.name", GGLD_VALUE_STRING);
    image_string(im, name);
}

static void add_text(image *im, const model_made *m)
{
    image_key(im, "text", GGLD_VALUE_STRING);
    image_string(im, m->text != NULL ? m->text : "some text");
}

static void add_count(image *im, const model_made *m)
{
    uint32_t type =
        m->count_type != 0 ? (uint32_t)m->count_type : (uint32_t)GGLD_VALUE_U32;
    image_key(im, "count", type);
    image_number(im, 7, type == GGLD_VALUE_U64 ? 8 : 4);
}

static void add_tokens(image *im, const model_made *m)
{
    image_key(im, "tokens", GGLD_VALUE_ARRAY);
    image_number(im, GGLD_VALUE_I32, 4);
    image_len(im, 20);
    for (uint32_t i = 0; i < 20; i++)
        image_number(im, i == 5 && m->token != 0 ? m->token : i * 1000, 4);
}

static void add_alignment(image *im, const model_made *m)
{
    image_key(im, "general.alignment", GGLD_VALUE_U32);
    image_number(im, m->alignment, 4);
}

static uint64_t n_kvs(const model_made *m)
{
    return 3u + !m->no_name + m->key_again + (m->alignment != 0);
}

static void add_kvs(image *im, const model_made *m)
{
    if (m->other_order)
        add_tokens(im, m);
    if (!m->no_name)
        add_name(im, m, "a model");
    add_text(im, m);
    if (m->key_again)
        add_name(im, m, "its second name");
    if (m->alignment != 0)
        add_alignment(im, m);
    add_count(im, m);
    if (!m->other_order)
        add_tokens(im, m);
}

/* ---- tensors ---- */

static void add_f(image *im, const model_made *m)
{
    for (uint32_t i = 0; i < F32_ELEMS; i++) {
        float value = (float)i * 0.5f - 20;
        uint32_t bits;
        memcpy(&bits, &value, 4);
        if (m->value_bits != 0 && i == m->value_at)
            bits = m->value_bits;
        if (m->second_bits != 0 && i == m->second_at)
            bits = m->second_bits;
        image_number(im, bits, 4);
    }
}

/* Twelve blocks: a scale of 1/4, and ramps. */
static void add_q(image *im, const model_made *m)
{
    for (unsigned b = 0; b < 12; b++) {
        image_number(im, 0x3400, 2);
        if (m->q_type == GGLD_TYPE_Q5_1) {
            image_number(im, 0x3C00, 2);
            image_number(im, 0xAAAA5555u + b, 4);
        }
        for (unsigned i = 0; i < (m->q_type == GGLD_TYPE_Q5_1 ? 16u : 32u); i++)
            image_number(im, (3 * i + b) & 0xFF, 1);
    }
}

static void add_unknown(image *im, const model_made *m)
{
    image_number(im, m->unknown_byte, 1);
    for (unsigned i = 1; i < 40; i++)
        image_number(im, i, 1);
}

static uint64_t padded(uint64_t size, const model_made *m)
{
    uint64_t alignment = m->alignment != 0 ? m->alignment : 32;
    return (size + alignment - 1) / alignment * alignment;
}

static void add_infos(image *im, const model_made *m)
{
    uint64_t f_dims[] = { 100, 3 }, q_dims[] = { 64, 6 }, u_dims[] = { 11 };
    uint32_t q_type = m->q_type != 0 ? m->q_type : (uint32_t)GGLD_TYPE_Q8_0;
    uint64_t f_size = padded(F32_ELEMS * 4, m);
    uint64_t q_size = padded(q_type == GGLD_TYPE_Q5_1 ? 288 : 408, m);

    if (m->f_dims[0] != 0) {
        f_dims[0] = m->f_dims[0];
        f_dims[1] = m->f_dims[1];
    }
    if (m->other_order)
        image_tensor(im, "q", 2, q_dims, q_type, 0);
    image_tensor(im, "f", 2, f_dims, GGLD_TYPE_F32,
                 m->other_order ? q_size : 0);
    if (!m->other_order && !m->no_q)
        image_tensor(im, "q", 2, q_dims, q_type, f_size);
    if (m->unknown)
        image_tensor(im, "u", 1, u_dims, 99, f_size + (m->no_q ? 0 : q_size));
}

image model_image(const model_made *m)
{
    size_t alignment = m->alignment != 0 ? m->alignment : 32;
    image im = image_new(m->version != 0 ? m->version : 3, m->big_endian);

    image_header(&im, 1u + !m->no_q + m->unknown, n_kvs(m));
    add_kvs(&im, m);
    add_infos(&im, m);
    image_pad(&im, alignment);
    if (m->other_order) {
        add_q(&im, m);
        image_pad(&im, alignment);
    }
    add_f(&im, m);
    image_pad(&im, alignment);
    if (!m->other_order && !m->no_q) {
        add_q(&im, m);
        image_pad(&im, alignment);
    }
    if (m->unknown) {
        add_unknown(&im, m);
        image_pad(&im, alignment);
    }
    return im;
}

ggld_file *must_open(const char *path)
{
    ggld_file *file = NULL;
    ggld_error err;

    if (ggld_open_path(&file, path, NULL, &err) == GGLD_OK)
        return file;
    printf("%s\n", err.message);
    exit(99);
}

ggld_file *model_open(const char *folder, const char *name, const model_made *m)
{
    image im = model_image(m);
    const char *path = folder_path(folder, name);

    file_save(path, im.data, im.size);
    image_free(&im);
    return must_open(path);
}
