/* SPDX-License-Identifier: MIT */
/* ggld_diff: what is found, in which order, what is not a difference, and how
 * far values are apart. */
#include <inttypes.h>
#include <string.h>

#include "../views/check.h"
#include "models.h"

int n_failed;

static ggld_file *open_model(const model_made *m, image *im)
{
    ggld_file *file = NULL;
    ggld_error err = { .message = "" };
    *im = model_image(m);
    CHECK_OK(ggld_open_memory(&file, im->data, im->size, NULL, &err), err,
             "open");
    return file;
}

/* What is heard, as text: "changed text; data f@8;" */
typedef struct heard {
    char text[512];
    ggld_difference last;
    unsigned n, stop_at;
} heard;

static void add_word(heard *h, const char *word, ggld_string name)
{
    size_t used = strlen(h->text);
    snprintf(h->text + used, sizeof h->text - used, "%s %.*s;", word,
             (int)name.len, name.data);
}

static int hear(const ggld_difference *d, void *user)
{
    static const char *const words[] = { "-",       "+",       "changed",
                                         "-tensor", "+tensor", "reshaped",
                                         "retyped", "data",    "opaque" };
    heard *h = user;

    CHECK(d->struct_size == sizeof *d, "struct_size %zu", d->struct_size);
    if (d->kind <= GGLD_KV_CHANGED) {
        add_word(h, words[d->kind],
                 ggld_kv_key(d->a_kv != NULL ? d->a_kv : d->b_kv));
    } else {
        ggld_tensor_info info = { .struct_size = sizeof info };
        ggld_tensor_get_info(d->a_tensor != NULL ? d->a_tensor : d->b_tensor,
                             &info);
        add_word(h, words[d->kind], info.name);
    }
    h->last = *d;
    return ++h->n == h->stop_at;
}

static ggld_status diff_flags(const model_made *a, const model_made *b,
                              uint32_t flags, heard *h, ggld_error *err)
{
    ggld_diff_options options = ggld_diff_options_init();
    image im_a, im_b;
    ggld_file *file_a = open_model(a, &im_a), *file_b = open_model(b, &im_b);

    options.flags = flags;
    ggld_status status = ggld_diff(file_a, file_b, &options, hear, h, err);
    ggld_close(file_a);
    ggld_close(file_b);
    image_free(&im_a);
    image_free(&im_b);
    return status;
}

static void expect(const char *name, model_made a, model_made b,
                   const char *want)
{
    heard h = { .text = "" };
    ggld_error err = { .message = "" };
    CHECK_OK(diff_flags(&a, &b, 0, &h, &err), err, name);
    CHECK(strcmp(h.text, want) == 0, "%s: expected \"%s\", got \"%s\"", name,
          want, h.text);
}

static void test_form_is_no_difference(void)
{
    for (uint32_t v = 1; v <= 3; v++)
        for (uint32_t w = 1; w <= 3; w++)
            for (int orders = 0; orders < 4; orders++) {
                model_made a = { .version = v, .big_endian = orders & 1 };
                model_made b = { .version = w,
                                 .big_endian = orders >> 1,
                                 .other_order = true };
                expect("versions and orders", a, b, "");
            }
    model_made plain = { 0 }, again = { .key_again = true };
    expect("a key again", plain, again, "");
    model_made odd_end = { .unknown = true };
    expect("an unknown type", odd_end, odd_end, "");
}

static void test_what_is_found(void)
{
    const model_made plain = { 0 };
    const model_made be = { .version = 1, .big_endian = true };
    const struct {
        const char *name;
        model_made other;
        const char *there, *back;
    } cases[] = {
        { "name", { .no_name = true }, "- general.name;", "+ general.name;" },
        { "type",
          { .count_type = GGLD_VALUE_U64 },
          "changed count;",
          "changed count;" },
        { "text", { .text = "some texT" }, "changed text;", "changed text;" },
        { "length", { .text = "some" }, "changed text;", "changed text;" },
        { "array", { .token = 9 }, "changed tokens;", "changed tokens;" },
        { "tensor", { .no_q = true }, "-tensor q;", "+tensor q;" },
        { "shape", { .f_dims = { 60, 5 } }, "reshaped f;", "reshaped f;" },
        { "q type", { .q_type = GGLD_TYPE_Q5_1 }, "retyped q;", "retyped q;" },
        { "value", { .value_at = 2, .value_bits = 1 }, "data f;", "data f;" },
        { "alignment",
          { .alignment = 64 },
          "+ general.alignment;",
          "- general.alignment;" },
        { "several",
          { .no_name = true,
            .text = "",
            .no_q = true,
            .value_at = 299,
            .value_bits = 7 },
          "- general.name;changed text;data f;-tensor q;",
          "changed text;+ general.name;data f;+tensor q;" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect(cases[i].name, plain, cases[i].other, cases[i].there);
        expect(cases[i].name, cases[i].other, plain, cases[i].back);
        expect(cases[i].name, be, cases[i].other, cases[i].there);
        expect(cases[i].name, cases[i].other, be, cases[i].back);
    }
}

static void test_where_bytes_differ(void)
{
    const model_made plain = { .big_endian = true };
    const model_made other = { .value_at = 200, .value_bits = 0x42A00001 };
    heard h = { .text = "" };
    ggld_error err = { .message = "" };
    CHECK_OK(diff_flags(&plain, &other, 0, &h, &err), err, "diff");
    /* 80 is 42A00000: the lowest byte of element 200, little-endian. */
    CHECK(h.last.kind == GGLD_TENSOR_DATA && h.last.first_byte == 800 &&
              !h.last.has_values,
          "first byte %" PRIu64, h.last.first_byte);
}

static void test_unknown_types(void)
{
    const model_made plain = { .unknown = true };
    const model_made other = { .unknown = true, .unknown_byte = 3 };
    const model_made turned = { .unknown = true, .big_endian = true };
    const model_made wide = { .unknown = true, .alignment = 64 };

    expect("another byte", plain, other, "data u;");
    expect("another order", plain, turned, "opaque u;");
    expect("more padding", plain, wide, "+ general.alignment;");
}

static void test_metadata_only(void)
{
    const model_made plain = { .unknown = true };
    const model_made other = { .value_at = 1,
                               .value_bits = 9,
                               .text = "",
                               .unknown = true,
                               .big_endian = true };
    heard h = { .text = "" };
    ggld_error err = { .message = "" };
    CHECK_OK(diff_flags(&plain, &other, GGLD_DIFF_METADATA, &h, &err), err,
             "diff");
    CHECK(strcmp(h.text, "changed text;") == 0, "got \"%s\"", h.text);
}

/* ---- values ---- */

typedef struct measured {
    uint64_t n_unequal, n_nan, max_elem;
    double max, rms;
} measured;

static void expect_values(const char *name, model_made a, model_made b,
                          measured want)
{
    heard h = { .text = "" };
    ggld_error err = { .message = "" };
    CHECK_OK(diff_flags(&a, &b, GGLD_DIFF_VALUES, &h, &err), err, name);
    const ggld_difference *d = &h.last;
    double off = d->rms - want.rms;
    CHECK(d->has_values && d->n_unequal == want.n_unequal &&
              d->n_nan == want.n_nan && d->max == want.max &&
              d->max_elem == want.max_elem &&
              (d->rms == want.rms || (off < 1e-12 && off > -1e-12)),
          "%s: expected %" PRIu64 " unequal, %" PRIu64 " NaN, max %.17g at "
          "%" PRIu64 ", rms %.17g; got %" PRIu64 ", %" PRIu64 ", %.17g, "
          "%" PRIu64 ", %.17g",
          name, want.n_unequal, want.n_nan, want.max, want.max_elem, want.rms,
          d->n_unequal, d->n_nan, d->max, d->max_elem, d->rms);
}

#define NAN_BITS  0x7FC00000u
#define INF_BITS  0x7F800000u
#define MINF_BITS 0xFF800000u

static void test_values(void)
{
    const double inf = __builtin_inf();
    const model_made plain = { 0 }, be = { .version = 1, .big_endian = true };
    /* Element 100 is 30, element 200 is 80. */
    const model_made one = { .value_at = 100, .value_bits = 0x42200000 };
    const model_made two = { .value_at = 100,
                             .value_bits = 0x42200000,
                             .second_at = 200,
                             .second_bits = 0x42200000 };
    const model_made nan = { .value_at = 100, .value_bits = NAN_BITS };
    const model_made other_nan = { .value_at = 100,
                                   .value_bits = NAN_BITS + 1,
                                   .second_at = 200,
                                   .second_bits = 0x42200000 };
    const model_made inf_at = { .value_at = 100, .value_bits = INF_BITS };
    const model_made minf_at = { .value_at = 100, .value_bits = MINF_BITS };
    const model_made zero = { .value_at = 40, .value_bits = 0x80000000 };

    /* sqrt(100/300), sqrt(1700/300), sqrt(1600/300) */
    expect_values("one", plain, one,
                  (measured){ 1, 0, 100, 10, 0.57735026918962576 });
    expect_values("one, turned", one, be,
                  (measured){ 1, 0, 100, 10, 0.57735026918962576 });
    expect_values("two", plain, two,
                  (measured){ 2, 0, 200, 40, 2.3804761428476167 });
    expect_values("NaN beside a number", plain, nan,
                  (measured){ 1, 1, 0, 0, 0 });
    expect_values("two NaNs", nan, other_nan,
                  (measured){ 1, 0, 200, 40, 2.3094010767585029 });
    expect_values("infinity beside a number", plain, inf_at,
                  (measured){ 1, 0, 100, inf, inf });
    expect_values("infinities of two signs", minf_at, inf_at,
                  (measured){ 1, 0, 100, inf, inf });
    expect_values("zeros of two signs", plain, zero,
                  (measured){ 0, 0, 0, 0, 0 });
}

static void test_values_of_two_types(void)
{
    const model_made plain = { 0 }, other = { .q_type = GGLD_TYPE_Q5_1 };
    const model_made shaped = { .f_dims = { 60, 5 } };
    heard h = { .text = "" };
    ggld_error err = { .message = "" };
    CHECK_OK(diff_flags(&plain, &other, GGLD_DIFF_VALUES, &h, &err), err,
             "types");
    CHECK(h.last.kind == GGLD_TENSOR_RETYPED && h.last.has_values &&
              h.last.n_elems == 384 && h.last.max > 1,
          "values of two types are measured");
    CHECK_OK(diff_flags(&plain, &shaped, GGLD_DIFF_VALUES, &h, &err), err,
             "shapes");
    CHECK(h.last.kind == GGLD_TENSOR_RESHAPED && !h.last.has_values,
          "values of two shapes are not");
}

/* ---- the call ---- */

static void test_refusals(void)
{
    const model_made plain = { 0 }, other = { .text = "" };
    ggld_diff_options options = ggld_diff_options_init();
    heard h = { .stop_at = 1 };
    ggld_error err;
    image im;

    CHECK(diff_flags(&plain, &other, 0, &h, &err) == GGLD_E_CANCELLED,
          "stopped: %s", err.message);
    CHECK(diff_flags(&plain, &other, 8, &h, &err) == GGLD_E_ABI, "flags");
    ggld_file *file = open_model(&plain, &im);
    CHECK(ggld_diff(file, NULL, NULL, hear, &h, &err) == GGLD_E_INVALID,
          "NULL file");
    CHECK(ggld_diff(file, file, NULL, NULL, &h, &err) == GGLD_E_INVALID,
          "NULL call");
    options.reserved[3] = 1;
    CHECK(ggld_diff(file, file, &options, hear, &h, &err) == GGLD_E_ABI,
          "reserved");
    ggld_close(file);
    image_free(&im);
}

static int count_progress(uint64_t done, uint64_t total, void *user)
{
    uint64_t *seen = user;
    seen[0] = done;
    seen[1] = total;
    return 0;
}

static void test_progress_ends_at_its_total(void)
{
    const model_made plain = { .unknown = true };
    const model_made other = { .value_at = 5,
                               .value_bits = 5,
                               .unknown = true,
                               .q_type = GGLD_TYPE_Q5_1,
                               .alignment = 64 };
    image im_a, im_b;
    ggld_file *a = open_model(&plain, &im_a), *b = open_model(&other, &im_b);
    ggld_error err;

    for (uint32_t flags = 0; flags <= GGLD_DIFF_VALUES; flags++) {
        ggld_diff_options options = ggld_diff_options_init();
        uint64_t seen[2] = { 0, 1 };
        heard h = { .text = "" };
        options.flags = flags;
        options.progress = count_progress;
        options.progress_user = seen;
        CHECK_OK(ggld_diff(a, b, &options, hear, &h, &err), err, "diff");
        CHECK(seen[0] == seen[1] && seen[0] != 0,
              "flags %" PRIu32 ": %" PRIu64 " of %" PRIu64, flags, seen[0],
              seen[1]);
    }
    ggld_close(a);
    ggld_close(b);
    image_free(&im_a);
    image_free(&im_b);
}

int main(void)
{
    test_form_is_no_difference();
    test_what_is_found();
    test_where_bytes_differ();
    test_unknown_types();
    test_metadata_only();
    test_values();
    test_values_of_two_types();
    test_refusals();
    test_progress_ends_at_its_total();
    printf("%d failures\n", n_failed);
    return n_failed != 0;
}
