/* SPDX-License-Identifier: MIT */
/* Writes a file with every value type and every tensor type, reads it back,
 * compares. A plain main: it also runs on emulated processors, where the same
 * bytes must come out on each (the last line tells their digest, and must be
 * the one that stands here).
 *
 *     roundtrip [OUT]      keeps the file as OUT
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#define MAX_TYPES   64
#define ROW_ELEMS   256u
#define N_ROWS      3u
#define N_ELEMS     (ROW_ELEMS * N_ROWS)
#define MAX_BYTES   (N_ELEMS * 8u)
#define WANT_DIGEST 0xf60daf87u

static unsigned n_failed;
static ggld_error err;

#define CHECK(condition, ...)                      \
    do {                                           \
        if (!(condition)) {                        \
            printf("%s:%d: ", __FILE__, __LINE__); \
            printf(__VA_ARGS__);                   \
            printf("\n");                          \
            n_failed++;                            \
        }                                          \
    } while (0)

static void ok(ggld_status status)
{
    CHECK(status == GGLD_OK, "%s: %s", ggld_status_name(status), err.message);
}

/* ---- key-values ---- */

static const uint8_t u8s[] = { 0, 255 };
static const int8_t i8s[] = { -128, 127 };
static const uint16_t u16s[] = { 1, 65535 };
static const int16_t i16s[] = { -32768, 32767 };
static const uint32_t u32s[] = { 1, UINT32_MAX };
static const int32_t i32s[] = { INT32_MIN, INT32_MAX };
static const uint64_t u64s[] = { 1, UINT64_MAX };
static const int64_t i64s[] = { INT64_MIN, INT64_MAX };
static const float f32s[] = { -1.5f, 3.25e38f };
static const double f64s[] = { -0.1, 1e300 };
static const uint8_t bools[] = { 1, 0 };
static const ggld_string strings[] = { { "\xE2\x96\x81the", 6 }, { "", 0 } };

static void set_values(ggld_writer *w)
{
    ok(ggld_writer_set_u8(w, "u8", u8s[1], &err));
    ok(ggld_writer_set_i8(w, "i8", i8s[0], &err));
    ok(ggld_writer_set_u16(w, "u16", u16s[1], &err));
    ok(ggld_writer_set_i16(w, "i16", i16s[0], &err));
    ok(ggld_writer_set_u32(w, "u32", u32s[1], &err));
    ok(ggld_writer_set_i32(w, "i32", i32s[0], &err));
    ok(ggld_writer_set_u64(w, "u64", u64s[1], &err));
    ok(ggld_writer_set_i64(w, "i64", i64s[0], &err));
    ok(ggld_writer_set_f32(w, "f32", f32s[0], &err));
    ok(ggld_writer_set_f64(w, "f64", f64s[0], &err));
    ok(ggld_writer_set_bool(w, "bool", true, &err));
    ok(ggld_writer_set_string(w, "string", strings[0].data, 6, &err));
    ok(ggld_writer_set_array(w, "u8s", GGLD_VALUE_U8, u8s, 2, &err));
    ok(ggld_writer_set_array(w, "i8s", GGLD_VALUE_I8, i8s, 2, &err));
    ok(ggld_writer_set_array(w, "u16s", GGLD_VALUE_U16, u16s, 2, &err));
    ok(ggld_writer_set_array(w, "i16s", GGLD_VALUE_I16, i16s, 2, &err));
    ok(ggld_writer_set_array(w, "u32s", GGLD_VALUE_U32, u32s, 2, &err));
    ok(ggld_writer_set_array(w, "i32s", GGLD_VALUE_I32, i32s, 2, &err));
    ok(ggld_writer_set_array(w, "u64s", GGLD_VALUE_U64, u64s, 2, &err));
    ok(ggld_writer_set_array(w, "i64s", GGLD_VALUE_I64, i64s, 2, &err));
    ok(ggld_writer_set_array(w, "f32s", GGLD_VALUE_F32, f32s, 2, &err));
    ok(ggld_writer_set_array(w, "f64s", GGLD_VALUE_F64, f64s, 2, &err));
    ok(ggld_writer_set_array(w, "bools", GGLD_VALUE_BOOL, bools, 2, &err));
    ok(ggld_writer_set_strings(w, "strings", strings, 2, &err));
    ok(ggld_writer_set_array(w, "none", GGLD_VALUE_F32, NULL, 0, &err));
}

static const ggld_kv *find(const ggld_file *f, const char *key, uint32_t type)
{
    const ggld_kv *kv = ggld_kv_find(f, key);
    CHECK(kv != NULL, "%s is not there", key);
    if (kv == NULL)
        exit(1);
    CHECK(ggld_kv_type(kv) == type, "%s: expected type %u, got %u", key, type,
          ggld_kv_type(kv));
    return kv;
}

static void check_u64(const ggld_file *f, const char *key, uint32_t type,
                      uint64_t want)
{
    uint64_t got = 0;
    CHECK(ggld_kv_get_u64(find(f, key, type), &got) && got == want,
          "%s: expected %llu, got %llu", key, (unsigned long long)want,
          (unsigned long long)got);
}

static void check_i64(const ggld_file *f, const char *key, uint32_t type,
                      int64_t want)
{
    int64_t got = 0;
    CHECK(ggld_kv_get_i64(find(f, key, type), &got) && got == want,
          "%s: expected %lld, got %lld", key, (long long)want, (long long)got);
}

static void check_f64(const ggld_file *f, const char *key, uint32_t type,
                      double want)
{
    double got = 0;
    CHECK(ggld_kv_get_f64(find(f, key, type), &got) && got == want,
          "%s: expected %g, got %g", key, want, got);
}

static ggld_array_iter array_of(const ggld_file *f, const char *key,
                                uint32_t elem_type, uint64_t n_elems)
{
    ggld_array_iter it = { 0 };
    CHECK(ggld_kv_get_array(find(f, key, GGLD_VALUE_ARRAY), &it) &&
              it.elem_type == elem_type && it.n_elems == n_elems,
          "%s: expected %llu of type %u, got %llu of type %u", key,
          (unsigned long long)n_elems, elem_type,
          (unsigned long long)it.n_elems, it.elem_type);
    return it;
}

static void check_u64s(const ggld_file *f, const char *key, uint32_t type,
                       uint64_t first, uint64_t second)
{
    uint64_t got[2] = { 0, 0 };
    ggld_array_iter it = array_of(f, key, type, 2);
    CHECK(ggld_array_next_u64(&it, &got[0]) &&
              ggld_array_next_u64(&it, &got[1]) && got[0] == first &&
              got[1] == second,
          "%s: got %llu, %llu", key, (unsigned long long)got[0],
          (unsigned long long)got[1]);
}

static void check_i64s(const ggld_file *f, const char *key, uint32_t type,
                       int64_t first, int64_t second)
{
    int64_t got[2] = { 0, 0 };
    ggld_array_iter it = array_of(f, key, type, 2);
    CHECK(ggld_array_next_i64(&it, &got[0]) &&
              ggld_array_next_i64(&it, &got[1]) && got[0] == first &&
              got[1] == second,
          "%s: got %lld, %lld", key, (long long)got[0], (long long)got[1]);
}

static void check_f64s(const ggld_file *f, const char *key, uint32_t type,
                       double first, double second)
{
    double got[2] = { 0, 0 };
    ggld_array_iter it = array_of(f, key, type, 2);
    CHECK(ggld_array_next_f64(&it, &got[0]) &&
              ggld_array_next_f64(&it, &got[1]) && got[0] == first &&
              got[1] == second,
          "%s: got %g, %g", key, got[0], got[1]);
}

static bool same_string(ggld_string a, ggld_string b)
{
    return a.len == b.len && memcmp(a.data, b.data, (size_t)a.len) == 0;
}

static void check_text(const ggld_file *f)
{
    ggld_string text = { "", 0 };
    bool yes[2] = { false, true };
    bool flag = false;
    CHECK(ggld_kv_get_string(find(f, "string", GGLD_VALUE_STRING), &text) &&
              same_string(text, strings[0]),
          "string differs");
    ggld_array_iter it = array_of(f, "strings", GGLD_VALUE_STRING, 2);
    for (int i = 0; i < 2; i++)
        CHECK(ggld_array_next_string(&it, &text) &&
                  same_string(text, strings[i]),
              "strings[%d] differs", i);
    CHECK(ggld_kv_get_bool(find(f, "bool", GGLD_VALUE_BOOL), &flag) && flag,
          "bool differs");
    it = array_of(f, "bools", GGLD_VALUE_BOOL, 2);
    CHECK(ggld_array_next_bool(&it, &yes[0]) &&
              ggld_array_next_bool(&it, &yes[1]) && yes[0] && !yes[1],
          "bools differ");
    array_of(f, "none", GGLD_VALUE_F32, 0);
}

static void check_values(const ggld_file *f)
{
    CHECK(ggld_kv_count(f) == 26, "%llu key-values",
          (unsigned long long)ggld_kv_count(f));
    check_u64(f, "general.alignment", GGLD_VALUE_U32, 8);
    check_u64(f, "u8", GGLD_VALUE_U8, u8s[1]);
    check_i64(f, "i8", GGLD_VALUE_I8, i8s[0]);
    check_u64(f, "u16", GGLD_VALUE_U16, u16s[1]);
    check_i64(f, "i16", GGLD_VALUE_I16, i16s[0]);
    check_u64(f, "u32", GGLD_VALUE_U32, u32s[1]);
    check_i64(f, "i32", GGLD_VALUE_I32, i32s[0]);
    check_u64(f, "u64", GGLD_VALUE_U64, u64s[1]);
    check_i64(f, "i64", GGLD_VALUE_I64, i64s[0]);
    check_f64(f, "f32", GGLD_VALUE_F32, (double)f32s[0]);
    check_f64(f, "f64", GGLD_VALUE_F64, f64s[0]);
    check_u64s(f, "u8s", GGLD_VALUE_U8, u8s[0], u8s[1]);
    check_i64s(f, "i8s", GGLD_VALUE_I8, i8s[0], i8s[1]);
    check_u64s(f, "u16s", GGLD_VALUE_U16, u16s[0], u16s[1]);
    check_i64s(f, "i16s", GGLD_VALUE_I16, i16s[0], i16s[1]);
    check_u64s(f, "u32s", GGLD_VALUE_U32, u32s[0], u32s[1]);
    check_i64s(f, "i32s", GGLD_VALUE_I32, i32s[0], i32s[1]);
    check_u64s(f, "u64s", GGLD_VALUE_U64, u64s[0], u64s[1]);
    check_i64s(f, "i64s", GGLD_VALUE_I64, i64s[0], i64s[1]);
    check_f64s(f, "f32s", GGLD_VALUE_F32, (double)f32s[0], (double)f32s[1]);
    check_f64s(f, "f64s", GGLD_VALUE_F64, f64s[0], f64s[1]);
    check_text(f);
}

/* ---- tensors: every type as bytes, those with a quantiser as values too ----
 */

static float values[N_ELEMS];
static uint8_t bytes[MAX_BYTES];

static size_t bytes_of(uint32_t type)
{
    const ggld_type_traits *t = ggld_type_traits_of(type);
    return (size_t)N_ELEMS / t->block_elems * t->block_bytes;
}

/* The bytes of the tensor of that type; another run of numbers for each. */
static void make_bytes(uint32_t type)
{
    uint32_t seed = type + 1;
    for (size_t i = 0; i < bytes_of(type); i++)
        bytes[i] = (uint8_t)random_next(&seed);
}

static void make_values(void)
{
    uint32_t seed = 99;
    for (unsigned i = 0; i < N_ELEMS; i++)
        values[i] = (float)random_next(&seed) / 8388608.0f - 1.0f;
}

static void declare(ggld_writer *w, const char *kind, uint32_t type)
{
    const uint64_t dims[] = { ROW_ELEMS, N_ROWS };
    char name[32];
    int len = snprintf(name, sizeof name, "%s.%s", kind,
                       ggld_type_traits_of(type)->name);
    ok(ggld_writer_declare_tensor(w, name, (size_t)len, type, dims, 2, &err));
}

/* What a type quantises comes out with an error that depends on its bits. */
static void declare_tensors(ggld_writer *w)
{
    for (uint32_t type = 0; type < MAX_TYPES; type++)
        if (ggld_type_traits_of(type) != NULL)
            declare(w, "bytes", type);
    for (uint32_t type = 0; type < MAX_TYPES; type++)
        if (ggld_type_traits_of(type) != NULL &&
            ggld_type_traits_of(type)->can_quantize)
            declare(w, "values", type);
}

static void put_tensors(ggld_writer *w)
{
    for (uint32_t type = 0; type < MAX_TYPES; type++)
        if (ggld_type_traits_of(type) != NULL) {
            make_bytes(type);
            ok(ggld_writer_put_bytes(w, bytes, bytes_of(type), &err));
        }
    for (uint32_t type = 0; type < MAX_TYPES; type++)
        if (ggld_type_traits_of(type) != NULL &&
            ggld_type_traits_of(type)->can_quantize)
            for (unsigned at = 0; at < N_ELEMS; at += 48)
                ok(ggld_writer_put_f32(w, values + at, 48, &err));
}

static const ggld_tensor *tensor_of(const ggld_file *f, const char *kind,
                                    uint32_t type)
{
    char name[32];
    snprintf(name, sizeof name, "%s.%s", kind, ggld_type_traits_of(type)->name);
    const ggld_tensor *t = ggld_tensor_find(f, name);
    CHECK(t != NULL, "%s is not there", name);
    if (t == NULL)
        exit(1);
    return t;
}

static void check_bytes(const ggld_file *f, uint32_t type)
{
    static uint8_t got[MAX_BYTES];
    const ggld_tensor *t = tensor_of(f, "bytes", type);
    make_bytes(type);
    ok(ggld_tensor_read_bytes(t, 0, got, bytes_of(type), &err));
    const char *differ =
        bytes_differ(got, bytes_of(type), bytes, bytes_of(type));
    CHECK(differ == NULL, "%s: %s", ggld_type_traits_of(type)->name, differ);
}

/* Most that a value in [-1, 1) may be off: half a step of the type. */
static double error_of(uint32_t type)
{
    switch (type) {
    case GGLD_TYPE_F32:
        return 0;
    case GGLD_TYPE_F16:
        return 1.0 / 2048 / 2;
    case GGLD_TYPE_BF16:
        return 1.0 / 256 / 2;
    case GGLD_TYPE_Q8_0:
        return 1.0 / 127;
    case GGLD_TYPE_Q5_0:
    case GGLD_TYPE_Q5_1:
        return 1.0 / 15;
    default: /* q4: 15 steps, the largest value may lie one step out */
        return 1.0 / 7;
    }
}

static void check_tensor_values(const ggld_file *f, uint32_t type)
{
    static float got[N_ELEMS];
    ggld_view view = ggld_tensor_view(tensor_of(f, "values", type));
    ok(ggld_view_read_f32(&view, got, N_ELEMS, &err));
    for (unsigned i = 0; i < N_ELEMS; i++)
        CHECK(fabs((double)got[i] - (double)values[i]) <= error_of(type),
              "%s: element %u: put %g, got %g", ggld_type_traits_of(type)->name,
              i, (double)values[i], (double)got[i]);
}

static void check_tensors(const ggld_file *f)
{
    for (uint32_t type = 0; type < MAX_TYPES; type++) {
        if (ggld_type_traits_of(type) == NULL)
            continue;
        check_bytes(f, type);
        if (ggld_type_traits_of(type)->can_quantize)
            check_tensor_values(f, type);
    }
}

/* FNV-1a, 32 bits. */
static uint32_t digest_of(const char *path)
{
    image im = file_load(path);
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < im.size; i++)
        hash = (hash ^ im.data[i]) * 16777619u;
    image_free(&im);
    return hash;
}

static void write_file(const char *path)
{
    ggld_writer_options o = ggld_writer_options_init();
    ggld_writer *w = NULL;

    o.alignment_bytes = 8;
    ok(ggld_writer_new(&w, &o, &err));
    set_values(w);
    make_values();
    declare_tensors(w);
    ok(ggld_writer_begin(w, path, &err));
    put_tensors(w);
    ok(ggld_writer_finish(w, &err));
    ggld_writer_free(w);
}

static void check_file(const char *path)
{
    ggld_open_options strict = ggld_open_options_init();
    ggld_file *f = NULL;

    strict.flags = GGLD_OPEN_STRICT;
    ok(ggld_open_path(&f, path, &strict, &err));
    if (f == NULL)
        return;
    check_values(f);
    check_tensors(f);
    ggld_close(f);
}

int main(int argc, char **argv)
{
    char *folder = folder_new();
    const char *path = argc > 1 ? argv[1] : folder_path(folder, "all.gguf");

    write_file(path);
    check_file(path);
    uint32_t digest = digest_of(path);
    CHECK(digest == WANT_DIGEST, "digest: expected %08x, got %08x", WANT_DIGEST,
          digest);
    folder_remove(folder);
    printf("%s, %u failed\n", n_failed == 0 ? "the same" : "different",
           n_failed);
    return n_failed == 0 ? 0 : 1;
}
