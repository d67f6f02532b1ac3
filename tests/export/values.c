/* SPDX-License-Identifier: MIT */
/* What becomes of values, names and keys on the way, and what is refused then.
 * Floats of 8 bits are worked out here by another way than in the library. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ggld/codec.h>

#include "support.h"

#define IN  in_folder("in.safetensors")
#define OUT in_folder("out.gguf")

/* ---- dtypes ---- */

/* As the tables of the formats' papers have it. */
static double float8(const char *dtype, unsigned byte)
{
    int m = strstr(dtype, "E4M3") != NULL ? 3 : 2;
    bool fnuz = strstr(dtype, "FNUZ") != NULL;
    int bias = (m == 3 ? 7 : 15) + (fnuz ? 1 : 0);
    int top = m == 3 ? 15 : 31;
    int exponent = (int)(byte & 0x7F) >> m;
    int fraction = (int)byte & ((1 << m) - 1);
    double sign = byte & 0x80 ? -1 : 1;

    if (strcmp(dtype, "F8_E8M0") == 0)
        return byte == 255 ? (double)NAN : pow(2, (double)byte - 127);
    if (fnuz ? byte == 0x80 : m == 3 && (byte & 0x7F) == 0x7F)
        return (double)NAN;
    if (!fnuz && m == 2 && exponent == top)
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * (exponent == 0
                       ? fraction * pow(2, 1 - bias - m)
                       : (1 + fraction / pow(2, m)) * pow(2, exponent - bias));
}

static void test_float8(const char *dtype)
{
    ggld_export_options options = ggld_export_options_init();
    ggld_tensor_info info;
    ggld_error err;
    uint8_t all[256];
    char json[256];

    for (int i = 0; i < 256; i++)
        all[i] = (uint8_t)i;
    snprintf(json, sizeof json,
             "{\"a\":{\"dtype\":\"%s\",\"shape\":[256],"
             "\"data_offsets\":[0,256]}}",
             dtype);
    save_safetensors(IN, json, all, sizeof all);
    CHECK(export_file(IN, OUT, &options, &err) == GGLD_E_VALUE,
          "%s: expected NaN refused; got none", dtype);
    options.flags = GGLD_EXPORT_ALLOW_NONFINITE;
    ggld_status status = export_file(IN, OUT, &options, &err);
    CHECK(status == GGLD_OK, "%s: expected GGLD_OK; got %s", dtype,
          err.message);
    if (status != GGLD_OK)
        return;
    ggld_file *file = must_open(OUT);
    float *values = tensor_bytes(file, "a", &info);
    for (unsigned i = 0; i < 256; i++) {
        double expected = float8(dtype, i), got = (double)values[i];
        CHECK(isnan(expected) ? isnan(got) : expected == got,
              "%s 0x%02x: expected %.9g; got %.9g", dtype, i, expected, got);
    }
    free(values);
    ggld_close(file);
}

/* Integers, as they are; and each float type to each. */
static void test_integers(void)
{
    static const char *const json =
        "{\"i8\":{\"dtype\":\"I8\",\"shape\":[2,1],\"data_offsets\":[28,30]},"
        "\"i16\":{\"dtype\":\"I16\",\"shape\":[2],\"data_offsets\":[24,28]},"
        "\"i32\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[16,24]},"
        "\"i64\":{\"dtype\":\"I64\",\"shape\":[1,2],\"data_offsets\":[0,16]}}";
    static const struct {
        const char *name;
        uint32_t type;
        uint8_t at;
    } rows[] = { { "i64", GGLD_TYPE_I64, 0 },
                 { "i32", GGLD_TYPE_I32, 16 },
                 { "i16", GGLD_TYPE_I16, 24 },
                 { "i8", GGLD_TYPE_I8, 28 } };
    ggld_error err = { 0 };
    ggld_tensor_info info = { 0 };

    save_safetensors(IN, json, NULL, 30);
    CHECK(export_file(IN, OUT, NULL, &err) == GGLD_OK, "integers: %s",
          err.message);
    ggld_file *file = must_open(OUT);
    for (size_t i = 0; i < 4; i++) {
        uint8_t *bytes = tensor_bytes(file, rows[i].name, &info);
        CHECK(bytes != NULL && info.type == rows[i].type && info.index == i &&
                  bytes[0] == rows[i].at && bytes[1] == rows[i].at + 1,
              "%s: expected type %u, bytes from %u; got type %u", rows[i].name,
              (unsigned)rows[i].type, rows[i].at, (unsigned)info.type);
        free(bytes);
    }
    ggld_close(file);
}

static void test_refused_dtypes(void)
{
    static const struct {
        const char *dtype;
        unsigned bytes; /* of 8 elements */
    } rows[] = { { "U64", 64 }, { "U32", 32 },    { "U16", 16 },
                 { "U8", 8 },   { "BOOL", 8 },    { "C64", 64 },
                 { "F4", 4 },   { "F6_E2M3", 6 }, { "F6_E3M2", 6 } };
    ggld_error err;
    char json[256], expected[256];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(json, sizeof json,
                 "{\"x\":{\"dtype\":\"%s\",\"shape\":[8],"
                 "\"data_offsets\":[0,%u]}}",
                 rows[i].dtype, rows[i].bytes);
        save_safetensors(IN, json, NULL, rows[i].bytes);
        snprintf(expected, sizeof expected,
                 "tensor 0 'x' is of %s, for which GGUF has no type",
                 rows[i].dtype);
        ggld_status status = export_file(IN, OUT, NULL, &err);
        CHECK(status == GGLD_E_TENSOR_TYPE &&
                  strstr(err.message, expected) != NULL,
              "expected %s; got %s: %s", expected, ggld_status_name(status),
              err.message);
    }
}

/* ---- shapes, names, rules ---- */

#define ROWS 3
#define COLS 64

static void save_matrices(const float *values)
{
    save_safetensors(
        IN,
        "{\"__metadata__\":{\"general.name\":\"said\",\"format\":\"pt\"},"
        "\"m\":{\"dtype\":\"F32\",\"shape\":[3,64],\"data_offsets\":[0,768]},"
        "\"n\":{\"dtype\":\"F32\",\"shape\":[64,3],\"data_offsets\":[768,1536]"
        "},\"v\":{\"dtype\":\"F32\",\"shape\":[64],\"data_offsets\":[1536,1792]"
        "}}",
        values, 1792);
}

static void fill(float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (float)((int)(i * 7919 % 2001) - 1000) / 512;
}

static void expect_tensor(const ggld_file *file, const char *name,
                          uint32_t type, uint64_t dims0, uint64_t dims1,
                          const float *values, uint64_t n)
{
    ggld_tensor_info info = { 0 };
    uint8_t *bytes = tensor_bytes(file, name, &info);
    uint8_t expected[1024];
    ggld_error err = { 0 };

    CHECK(bytes != NULL, "expected tensor %s; got none", name);
    if (bytes == NULL)
        return;
    CHECK(info.type == type && info.dims[0] == dims0 && info.dims[1] == dims1,
          "%s: expected type %u, %d x %d; got %u, %d x %d", name,
          (unsigned)type, (int)dims0, (int)dims1, (unsigned)info.type,
          (int)info.dims[0], (int)info.dims[1]);
    CHECK(ggld_quantize_f32(type, values, n, expected, sizeof expected, &err) ==
                  GGLD_OK &&
              memcmp(bytes, expected, (size_t)info.size_bytes) == 0,
          "%s: expected other bytes", name);
    free(bytes);
}

static void test_rule(uint32_t type, uint32_t flags, uint32_t vector)
{
    ggld_export_options options = ggld_export_options_init();
    float values[448];
    ggld_error err = { 0 };

    fill(values, 448);
    save_matrices(values);
    options.type = type;
    options.flags = flags;
    ggld_status status = export_file(IN, OUT, &options, &err);
    CHECK(status == GGLD_OK, "type %u: %s", (unsigned)type, err.message);
    if (status != GGLD_OK)
        return;
    ggld_file *file = must_open(OUT);
    bool blocks = ggld_type_traits_of(type)->block_elems > 3;
    expect_tensor(file, "m", type, 64, 3, values, 192);
    expect_tensor(file, "n", blocks ? GGLD_TYPE_F16 : type, 3, 64, values + 192,
                  192);
    expect_tensor(file, "v", vector, 64, 1, values + 384, 64);
    ggld_close(file);
}

static void on_note(const char *text, void *user)
{
    snprintf(user, 256, "%s", text);
}

static void test_names(void)
{
    const ggld_export_rename renames[] = { { "m", "blk.0.w" },
                                           { "none", "other" } };
    const ggld_export_keep keeps[] = { { "blk.*", GGLD_TYPE_F32 },
                                       { "[vn]", GGLD_TYPE_BF16 } };
    ggld_export_options options = ggld_export_options_init();
    float values[448];
    char note[256] = "";
    ggld_error err = { 0 };

    fill(values, 448);
    save_matrices(values);
    options.type = GGLD_TYPE_Q8_0;
    options.renames = renames;
    options.n_renames = 2;
    options.keeps = keeps;
    options.n_keeps = 2;
    options.note = on_note;
    options.user = note;
    options.architecture = "a";
    ggld_status status = export_file(IN, OUT, &options, &err);
    CHECK(status == GGLD_OK, "names: %s", err.message);
    CHECK(strcmp(note, "1 of 2 names to be changed are not there, as 'none'") ==
              0,
          "expected a note of 'none'; got '%s'", note);
    if (status != GGLD_OK)
        return;
    ggld_file *file = must_open(OUT);
    expect_tensor(file, "blk.0.w", GGLD_TYPE_F32, 64, 3, values, 192);
    expect_tensor(file, "n", GGLD_TYPE_BF16, 3, 64, values + 192, 192);
    expect_tensor(file, "v", GGLD_TYPE_BF16, 64, 1, values + 384, 64);
    ggld_close(file);
}

/* ---- keys ---- */

static ggld_status set_keys(ggld_writer *w, void *user, ggld_error *err)
{
    (void)user;
    ggld_status status =
        ggld_writer_set_string(w, "general.name", "mine", 4, err);
    if (status == GGLD_OK)
        status = ggld_writer_set_u32(w, "general.file_type", 99, err);
    return status;
}

static void expect_text(const ggld_file *file, const char *key,
                        const char *expected)
{
    const ggld_kv *kv = ggld_kv_find(file, key);
    ggld_string got = { "", 0 };

    CHECK(kv != NULL && ggld_kv_get_string(kv, &got) &&
              got.len == strlen(expected) &&
              memcmp(got.data, expected, (size_t)got.len) == 0,
          "%s: expected '%s'; got '%.*s'", key, expected, (int)got.len,
          got.data);
}

static void test_keys(void)
{
    ggld_export_options options = ggld_export_options_init();
    float values[448];
    ggld_error err = { 0 };
    uint64_t number = 0;

    fill(values, 448);
    save_matrices(values);
    options.architecture = "arch";
    CHECK(export_file(IN, OUT, &options, &err) == GGLD_OK, "%s", err.message);
    ggld_file *file = must_open(OUT);
    expect_text(file, "general.architecture", "arch");
    expect_text(file, "general.type", "model");
    expect_text(file, "general.name", "said");
    CHECK(ggld_kv_count(file) == 5, "expected 5 keys; got %d",
          (int)ggld_kv_count(file));
    CHECK(
        ggld_kv_find(file, "general.file_type") != NULL &&
            ggld_kv_get_u64(ggld_kv_find(file, "general.file_type"), &number) &&
            number == 1,
        "expected file type 1; got %d", (int)number);
    ggld_close(file);

    options.name = "optional";
    CHECK(export_file(IN, OUT, &options, &err) == GGLD_OK, "%s", err.message);
    file = must_open(OUT);
    expect_text(file, "general.name", "optional");
    ggld_close(file);

    options.set_metadata = set_keys;
    CHECK(export_file(IN, OUT, &options, &err) == GGLD_OK, "%s", err.message);
    file = must_open(OUT);
    expect_text(file, "general.name", "mine");
    CHECK(ggld_kv_get_u64(ggld_kv_find(file, "general.file_type"), &number) &&
              number == 99,
          "expected the caller's file type 99; got %d", (int)number);
    ggld_close(file);
}

/* ---- values that are refused ---- */

static void test_value(const char *dtype, const void *data, size_t size,
                       uint32_t type, uint32_t flags, const char *expected)
{
    ggld_export_options options = ggld_export_options_init();
    ggld_error err = { 0 };
    char json[256];
    uint8_t all[64 * 8] = { 0 };

    memcpy(all + 5 * size, data, size);
    snprintf(json, sizeof json,
             "{\"w\":{\"dtype\":\"%s\",\"shape\":[2,32],"
             "\"data_offsets\":[0,%d]}}",
             dtype, (int)(64 * size));
    save_safetensors(IN, json, all, 64 * size);
    options.type = type;
    options.flags = flags;
    ggld_status status = export_file(IN, OUT, &options, &err);
    if (expected == NULL) {
        CHECK(status == GGLD_OK, "%s to %u: expected GGLD_OK; got %s", dtype,
              (unsigned)type, err.message);
        return;
    }
    CHECK(status == GGLD_E_VALUE && strstr(err.message, expected) != NULL &&
              strstr(err.message, "tensor 0 'w': element 5 is ") != NULL &&
              err.section == GGLD_IN_TENSOR_DATA && err.index == 0 &&
              err.offset == 5,
          "%s to %u: expected element 5, %s; got %s: %s", dtype, (unsigned)type,
          expected, ggld_status_name(status), err.message);
}

static void test_values(void)
{
    const uint32_t allow = GGLD_EXPORT_ALLOW_NONFINITE;
    const float nan = NAN, infinity = INFINITY, large = 1e30f, half = 7e4f;
    const double dnan = (double)NAN, dlarge = 1e300, dfit = 1e38;
    const uint16_t hnan = 0x7E01, hinf = 0xFC00, bnan = 0x7FC1;

    test_value("F32", &nan, 4, GGLD_TYPE_F16, 0, "NaN, and only finite");
    test_value("F32", &nan, 4, GGLD_TYPE_F32, 0, "NaN, and only finite");
    test_value("F32", &infinity, 4, GGLD_TYPE_BF16, 0, "infinity, and only");
    test_value("F32", &nan, 4, GGLD_TYPE_Q8_0, 0,
               "NaN, which q8_0 cannot hold");
    test_value("F32", &nan, 4, GGLD_TYPE_Q8_0, allow,
               "NaN, which q8_0 cannot hold");
    test_value("F32", &large, 4, GGLD_TYPE_Q4_0, 0, "which q4_0 cannot hold");
    test_value("F32", &half, 4, GGLD_TYPE_F16, 0,
               "70000, which f16 cannot hold");
    test_value("F32", &half, 4, GGLD_TYPE_F16, allow,
               "70000, which f16 cannot hold");
    test_value("F32", &nan, 4, GGLD_TYPE_F16, allow, NULL);
    test_value("F32", &infinity, 4, GGLD_TYPE_BF16, allow, NULL);
    test_value("F32", &nan, 4, GGLD_TYPE_F32, allow, NULL);
    test_value("F16", &hnan, 2, GGLD_TYPE_F16, 0, "NaN, and only finite");
    test_value("F16", &hinf, 2, GGLD_TYPE_F32, 0, "-infinity, and only finite");
    test_value("F16", &hnan, 2, GGLD_TYPE_F16, allow, NULL);
    test_value("BF16", &bnan, 2, GGLD_TYPE_BF16, 0, "NaN, and only finite");
    test_value("F64", &dnan, 8, GGLD_TYPE_F32, 0, "NaN, and only finite");
    test_value("F64", &dlarge, 8, GGLD_TYPE_F32, 0,
               "1e+300, which f32 cannot hold");
    test_value("F64", &dlarge, 8, GGLD_TYPE_F32, allow,
               "1e+300, which f32 cannot hold");
    test_value("F64", &dfit, 8, GGLD_TYPE_F32, 0, NULL);
}

/* ---- options and files that are refused ---- */

static void test_options(void)
{
    static const char *const no_skip[] = { "m", "x*" };
    static const char *const null_skip[] = { NULL };
    const ggld_export_keep no_match = { "x*", GGLD_TYPE_F32, 0 };
    const ggld_export_keep no_rows = { "n", GGLD_TYPE_Q8_0, 0 };
    const ggld_export_keep no_type = { "n", GGLD_TYPE_Q4_K, 0 };
    const ggld_export_rename twice[] = { { "m", "a" }, { "m", "b" } };
    const ggld_export_rename same[] = { { "m", "v" } };
    const struct {
        const char *what;
        ggld_export_options options;
        ggld_status code;
        const char *message;
    } rows[] = {
        { "an unknown flag", { .flags = 1u << 9 }, GGLD_E_ABI, "flag" },
        { "a reserved field", { .reserved = { 1 } }, GGLD_E_ABI, "reserved" },
        { "an unknown format", { .format = 9 }, GGLD_E_INVALID, "format" },
        { "an unknown type",
          { .type = 99 },
          GGLD_E_TENSOR_TYPE,
          "type 99 is unknown" },
        { "a type without a quantiser",
          { .type = GGLD_TYPE_Q6_K },
          GGLD_E_TENSOR_TYPE,
          "type q6_K can't be written to gguf" },
        { "q8_0 to safetensors",
          { .type = GGLD_TYPE_Q8_0, .format = GGLD_EXPORT_SAFETENSORS },
          GGLD_E_TENSOR_TYPE,
          "type q8_0 can't be written to safetensors" },
        { "a name to safetensors",
          { .name = "x", .format = GGLD_EXPORT_SAFETENSORS },
          GGLD_E_INVALID,
          "for GGUF output only" },
        { "an architecture without a name",
          { .architecture = "" },
          GGLD_E_INVALID,
          "the architecture is empty" },
        { "a skip that nothing fits",
          { .skips = no_skip, .n_skips = 2 },
          GGLD_E_INVALID,
          "skip 'x*': no tensor has such a name" },
        { "a skip that is NULL",
          { .skips = null_skip, .n_skips = 1 },
          GGLD_E_INVALID,
          "a skip is NULL" },
        { "skips that are NULL",
          { .n_skips = 1 },
          GGLD_E_INVALID,
          "skips is NULL" },
        { "a keep that nothing fits",
          { .keeps = &no_match, .n_keeps = 1 },
          GGLD_E_INVALID,
          "keep 'x*': no tensor has such a name" },
        { "a keep whose rows are no blocks",
          { .keeps = &no_rows, .n_keeps = 1 },
          GGLD_E_SHAPE,
          "tensor 1 'n': rows of 3 elements are no whole blocks of q8_0, which "
          "have 32" },
        { "a keep that can't be written",
          { .keeps = &no_type, .n_keeps = 1 },
          GGLD_E_TENSOR_TYPE,
          "type q4_K can't be written" },
        { "a name renamed twice",
          { .renames = twice, .n_renames = 2 },
          GGLD_E_DUPLICATE,
          "rename 'm': it is there twice" },
        { "a name given twice",
          { .renames = same, .n_renames = 1 },
          GGLD_E_DUPLICATE,
          "'v'" },
        { "the same in safetensors",
          { .renames = same,
            .n_renames = 1,
            .format = GGLD_EXPORT_SAFETENSORS },
          GGLD_E_DUPLICATE,
          "'v': another tensor has that name" },
    };
    float values[448];
    ggld_error err;

    fill(values, 448);
    save_matrices(values);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ggld_export_options options = rows[i].options;
        options.struct_size = sizeof options;
        save(OUT, "old", 3);
        ggld_status status = export_file(IN, OUT, &options, &err);
        CHECK(status == rows[i].code &&
                  strstr(err.message, rows[i].message) != NULL,
              "%s: expected %s, '%s'; got %s, '%s'", rows[i].what,
              ggld_status_name(rows[i].code), rows[i].message,
              ggld_status_name(status), err.message);
    }
    ggld_export_options options = ggld_export_options_init();
    options.struct_size = 4;
    CHECK(export_file(IN, OUT, &options, &err) == GGLD_E_ABI,
          "a short struct: expected GGLD_E_ABI");
    CHECK(export_file(IN, IN, NULL, &err) == GGLD_E_INVALID &&
              strstr(err.message, "is the input") != NULL,
          "onto the input: expected a refusal; got %s", err.message);
    CHECK(ggld_export(NULL, OUT, NULL, &err) == GGLD_E_INVALID,
          "no source: expected GGLD_E_INVALID");
}

static void expect_old(const char *what)
{
    size_t size = 0;
    char *data = load(OUT, &size);

    CHECK(size == 3 && memcmp(data, "old", 3) == 0,
          "%s: expected the old file; got %d bytes", what, (int)size);
    CHECK(count_files() == 2, "%s: expected 2 files in the folder; got %d",
          what, count_files());
    free(data);
}

static int cancel_at_once(uint64_t done, uint64_t total, void *user)
{
    (void)user;
    return done > 0 && done <= total;
}

/* Writes to the input, once, when some of it has been read. */
static int touch_input(uint64_t done, uint64_t total, void *user)
{
    const struct timespec times[2] = { { 1, 0 }, { 1, 0 } };

    (void)done, (void)total;
    utimensat(AT_FDCWD, user, times, 0);
    return 0;
}

static int cut_input(uint64_t done, uint64_t total, void *user)
{
    (void)done, (void)total;
    return truncate(user, 100);
}

static void save_large(void)
{
    size_t size = 4 * 1024 * 1024;
    uint8_t *data = calloc(1, size);

    save_safetensors(IN,
                     "{\"w\":{\"dtype\":\"F32\",\"shape\":[1024,1024],"
                     "\"data_offsets\":[0,4194304]}}",
                     data, size);
    free(data);
}

static void test_interruptions(void)
{
    static const struct {
        const char *what;
        ggld_progress progress;
        ggld_status code;
        const char *message;
    } rows[] = {
        { "cancelled", cancel_at_once, GGLD_E_CANCELLED, "cancelled after" },
        { "an input that changes", touch_input, GGLD_E_CHANGED,
          "was written to since it was opened" },
        { "an input that is cut", cut_input, GGLD_E_TRUNCATED,
          "file: was truncated while it was read: it has " },
    };
    ggld_error err;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ggld_export_options options = ggld_export_options_init();
        char path[512];
        save_large();
        snprintf(path, sizeof path, "%s", IN);
        options.user = path;
        options.progress = rows[i].progress;
        options.n_threads = 1;
        ggld_status status = export_file(IN, OUT, &options, &err);
        CHECK(status == rows[i].code &&
                  strstr(err.message, rows[i].message) != NULL,
              "%s: expected %s, '%s'; got %s, '%s'", rows[i].what,
              ggld_status_name(rows[i].code), rows[i].message,
              ggld_status_name(status), err.message);
        expect_old(rows[i].what);
    }
}

static void test_no_room(void)
{
    struct rlimit old, now;
    ggld_error err;

    save_large();
    getrlimit(RLIMIT_FSIZE, &old);
    now = old;
    now.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_FSIZE, &now);
    for (int i = 0; i < 2; i++) {
        ggld_export_options options = ggld_export_options_init();
        options.format = i == 0 ? GGLD_EXPORT_GGUF : GGLD_EXPORT_SAFETENSORS;
        CHECK(export_file(IN, OUT, &options, &err) == GGLD_E_IO &&
                  err.sys_errno == EFBIG,
              "no room: expected GGLD_E_IO, EFBIG; got %s", err.message);
        expect_old("no room");
    }
    setrlimit(RLIMIT_FSIZE, &old);
}

/* ---- there and back ---- */

static void test_back(void)
{
    static const uint32_t types[] = { GGLD_TYPE_F32, GGLD_TYPE_F16,
                                      GGLD_TYPE_BF16 };
    ggld_export_options options = ggld_export_options_init();
    char back[512];
    float values[448];
    ggld_error err = { 0 };
    size_t a_size, b_size;

    snprintf(back, sizeof back, "%s", in_folder("back.safetensors"));
    fill(values, 448);
    save_matrices(values);
    for (size_t i = 0; i < 3; i++) {
        options.type = types[i];
        options.flags = GGLD_EXPORT_PURE;
        CHECK(export_file(IN, OUT, &options, &err) == GGLD_OK, "%s",
              err.message);
        options.flags = 0;
        CHECK(export_file(OUT, back, &options, &err) == GGLD_OK, "%s",
              err.message);
        void *a = load(back, &a_size);
        CHECK(export_file(back, OUT, &options, &err) == GGLD_OK, "%s",
              err.message);
        CHECK(export_file(OUT, back, &options, &err) == GGLD_OK, "%s",
              err.message);
        void *b = load(back, &b_size);
        CHECK(a_size == b_size && memcmp(a, b, a_size) == 0,
              "type %u: expected the same file after GGUF and back",
              (unsigned)types[i]);
        free(a);
        free(b);
    }
    unlink(back);
}

/* Byte for byte what the format's own text has. */
static void test_header_text(void)
{
    static const char expected[] =
        "\x60\0\0\0\0\0\0\0"
        "{\"b\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[0,4]},"
        "\"a\":{\"dtype\":\"F16\",\"shape\":[2,1],\"data_offsets\":[4,8]}}";
    const float one_two[] = { 1, 2 };
    char back[512];
    ggld_export_options options = ggld_export_options_init();
    ggld_error err = { 0 };
    uint8_t data[12] = { 0 };
    size_t size = 0;

    snprintf(back, sizeof back, "%s", in_folder("back.safetensors"));
    memcpy(data, one_two, 8);
    data[8] = 7;
    save_safetensors(IN,
                     "{\"a\":{\"dtype\":\"F32\",\"shape\":[2,1],"
                     "\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"I32\","
                     "\"shape\":[1],\"data_offsets\":[8,12]}}",
                     data, sizeof data);
    CHECK(export_file(IN, back, &options, &err) == GGLD_OK, "%s", err.message);
    uint8_t *got = load(back, &size);
    size_t header = strlen(expected + 8);
    size_t padded = (header + 7) / 8 * 8;
    CHECK(size == 8 + padded + 8 && got[0] == padded &&
              memcmp(got + 8, expected + 8, header) == 0 &&
              memcmp(got + 8 + padded, "\7\0\0\0\0\x3c\0\x40", 8) == 0,
          "expected a header of %d bytes: %s; got %d: %.*s", (int)padded,
          expected + 8, got[0], (int)(size - 8), (char *)got + 8);
    free(got);
    unlink(back);
}

int main(void)
{
    static const char *const float8s[] = { "F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ",
                                           "F8_E5M2FNUZ", "F8_E8M0" };
    static const uint32_t types[] = {
        GGLD_TYPE_F32,  GGLD_TYPE_F16,  GGLD_TYPE_BF16, GGLD_TYPE_Q8_0,
        GGLD_TYPE_Q4_0, GGLD_TYPE_Q4_1, GGLD_TYPE_Q5_0, GGLD_TYPE_Q5_1,
    };

    signal(SIGXFSZ, SIG_IGN);
    make_folder();
    for (size_t i = 0; i < sizeof float8s / sizeof float8s[0]; i++)
        test_float8(float8s[i]);
    test_integers();
    test_refused_dtypes();
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        test_rule(types[i], 0, GGLD_TYPE_F32);
        test_rule(types[i], GGLD_EXPORT_PURE, GGLD_TYPE_F16);
    }
    test_names();
    test_keys();
    test_values();
    test_options();
    test_interruptions();
    test_no_room();
    test_back();
    test_header_text();
    remove_folder();
    return finish();
}
