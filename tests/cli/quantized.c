/* SPDX-License-Identifier: MIT */
/* Is OUT what `ggld quantize IN OUT --type TYPE` has to make of IN? Written
 * from the rule, over the public API: each tensor whole, quantised at once by
 * ggld_quantize_f32. Usage: quantized IN OUT TYPE [pure]. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ggld/ggld.h>

static ggld_file *must_open(const char *path)
{
    ggld_file *file;
    ggld_error err;

    if (ggld_open_path(&file, path, NULL, &err) != GGLD_OK) {
        printf("%s: %s\n", path, err.message);
        exit(1);
    }
    return file;
}

static ggld_tensor_info info_at(const ggld_file *file, uint64_t i)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_tensor_get_info(ggld_tensor_at(file, i), &info);
    return info;
}

static uint32_t expected_type(const ggld_tensor_info *in, uint32_t type,
                              int pure)
{
    switch (in->type) {
    case GGLD_TYPE_I8:
    case GGLD_TYPE_I16:
    case GGLD_TYPE_I32:
    case GGLD_TYPE_I64:
        return in->type;
    default:
        break;
    }
    if (in->n_dims < 2)
        return pure ? GGLD_TYPE_F16 : GGLD_TYPE_F32;
    if (in->dims[0] % ggld_type_traits_of(type)->block_elems != 0)
        return GGLD_TYPE_F16;
    return type;
}

/* The stored bytes that a tensor of IN has to have in type; to be freed. */
static void *expected_bytes(const ggld_tensor *tensor,
                            const ggld_tensor_info *in, uint32_t type,
                            size_t size)
{
    ggld_view view = ggld_tensor_view(tensor);
    float *values = malloc((size_t)in->n_elems * sizeof *values + 1);
    void *bytes = malloc(size + 1);
    ggld_error err;
    ggld_status status;

    if (values == NULL || bytes == NULL)
        abort();
    if (type == in->type) {
        status = ggld_tensor_read_bytes(tensor, 0, bytes, size, &err);
    } else {
        status = ggld_view_read_f32(&view, values, in->n_elems, &err);
        if (status == GGLD_OK)
            status =
                ggld_quantize_f32(type, values, in->n_elems, bytes, size, &err);
    }
    free(values);
    if (status == GGLD_OK)
        return bytes;
    printf("%s\n", err.message);
    exit(1);
}

static int compare_tensor(const ggld_file *in_file, const ggld_file *out_file,
                          uint64_t i, uint32_t type, int pure)
{
    ggld_tensor_info in = info_at(in_file, i), out = info_at(out_file, i);
    ggld_error err;

    type = expected_type(&in, type, pure);
    if (out.type != type || out.n_dims != in.n_dims ||
        memcmp(out.dims, in.dims, sizeof in.dims) != 0 ||
        out.name.len != in.name.len ||
        memcmp(out.name.data, in.name.data, (size_t)in.name.len) != 0) {
        printf("tensor %d: type %u, expected %u; or name or shape differ\n",
               (int)i, (unsigned)out.type, (unsigned)type);
        return 1;
    }
    size_t size = (size_t)out.size_bytes;
    void *expected =
        expected_bytes(ggld_tensor_at(in_file, i), &in, type, size);
    void *got = malloc(size + 1);
    if (got == NULL || ggld_tensor_read_bytes(ggld_tensor_at(out_file, i), 0,
                                              got, size, &err) != GGLD_OK)
        abort();
    int differ = memcmp(expected, got, size) != 0;
    if (differ)
        printf("tensor %d: bytes differ\n", (int)i);
    free(expected);
    free(got);
    return differ;
}

static int is_set_by_quantize(ggld_string key)
{
    static const char *const keys[] = { "general.file_type",
                                        "general.quantization_version" };
    for (size_t i = 0; i < 2; i++)
        if (key.len == strlen(keys[i]) &&
            memcmp(key.data, keys[i], strlen(keys[i])) == 0)
            return 1;
    return 0;
}

/* Key-values of IN (the first of each key) are those of OUT, in order. Values
 * are compared as they are stored where both files store them alike. */
static int compare_kvs(const ggld_file *in_file, const ggld_file *out_file)
{
    uint64_t at = 0;

    for (uint64_t i = 0; i < ggld_kv_count(in_file); i++) {
        const ggld_kv *in = ggld_kv_at(in_file, i);
        ggld_string key = ggld_kv_key(in);
        if (ggld_kv_find_n(in_file, key.data, key.len) != in)
            continue;
        const ggld_kv *out = ggld_kv_at(out_file, at++);
        ggld_string out_key = { "", 0 };
        if (out != NULL)
            out_key = ggld_kv_key(out);
        if (out_key.len != key.len ||
            memcmp(out_key.data, key.data, (size_t)key.len) != 0) {
            printf("key-value %d is another\n", (int)i);
            return 1;
        }
        ggld_raw_value a = ggld_kv_raw(in), b = ggld_kv_raw(out);
        if (is_set_by_quantize(key) || a.version == 1 || a.big_endian)
            continue;
        if (a.bytes.len != b.bytes.len ||
            memcmp(a.bytes.data, b.bytes.data, (size_t)a.bytes.len) != 0) {
            printf("key-value %d has another value\n", (int)i);
            return 1;
        }
    }
    return 0;
}

static int compare_keys_set(const ggld_file *out_file, uint32_t type)
{
    static const struct {
        uint32_t type, file_type;
    } rows[] = { { GGLD_TYPE_F32, 0 },  { GGLD_TYPE_F16, 1 },
                 { GGLD_TYPE_Q4_0, 2 }, { GGLD_TYPE_Q4_1, 3 },
                 { GGLD_TYPE_Q8_0, 7 }, { GGLD_TYPE_Q5_0, 8 },
                 { GGLD_TYPE_Q5_1, 9 }, { GGLD_TYPE_BF16, 32 } };
    const ggld_kv *kv = ggld_kv_find(out_file, "general.file_type");
    const ggld_kv *version =
        ggld_kv_find(out_file, "general.quantization_version");
    uint64_t number, version_number;

    if (kv == NULL || version == NULL || ggld_kv_type(kv) != GGLD_VALUE_U32 ||
        !ggld_kv_get_u64(kv, &number) ||
        !ggld_kv_get_u64(version, &version_number) || version_number != 2) {
        printf("file_type or quantization_version is not set\n");
        return 1;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].type == type && rows[i].file_type == number)
            return 0;
    printf("file_type is %d\n", (int)number);
    return 1;
}

int main(int argc, char **argv)
{
    ggld_file_info info = { .struct_size = sizeof info };
    uint32_t type;
    int bad;

    if (argc < 4 || !ggld_type_from_name(argv[3], &type))
        return 2;
    ggld_file *in = must_open(argv[1]), *out = must_open(argv[2]);
    ggld_file_get_info(out, &info);
    bad = info.version != 3 || info.big_endian ||
          ggld_tensor_count(in) != ggld_tensor_count(out);
    if (bad)
        printf("version, byte order or number of tensors\n");
    for (uint64_t i = 0; i < ggld_tensor_count(in) && !bad; i++)
        bad = compare_tensor(in, out, i, type, argc > 4);
    bad = bad || compare_kvs(in, out) || compare_keys_set(out, type);
    ggld_close(in);
    ggld_close(out);
    return bad;
}
