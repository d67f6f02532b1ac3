/* SPDX-License-Identifier: MIT */
/* The base layer: arithmetic, halves, quoting, errors, memory, the index. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/half.h"
#include "base/index.h"
#include "base/quote.h"
#include "base/span.h"
#include "heap.h"

/* ---- checked.h, span.h, bytes.h ---- */

Test(checked, sums_and_products_say_when_they_wrap)
{
    uint64_t out = 7;
    cr_assert(ggld_add_u64(UINT64_MAX - 1, 1, &out));
    cr_assert_eq(out, UINT64_MAX);
    cr_assert_not(ggld_add_u64(UINT64_MAX, 1, &out));
    cr_assert(ggld_mul_u64(UINT64_C(1) << 32, (UINT64_C(1) << 32) - 1, &out));
    cr_assert_eq(out, UINT64_MAX - (UINT64_C(1) << 32) + 1);
    cr_assert_not(ggld_mul_u64(UINT64_C(1) << 32, UINT64_C(1) << 32, &out));
    cr_assert(ggld_mul_u64(0, UINT64_MAX, &out));
    cr_assert_eq(out, 0);
}

Test(checked, rounding_up_never_wraps)
{
    static const struct {
        uint64_t value, alignment, expected;
        bool possible;
    } rows[] = {
        { 0, 32, 0, true },
        { 1, 32, 32, true },
        { 32, 32, 32, true },
        { 33, 24, 48, true },
        { 5, 1, 5, true },
        { UINT64_MAX, 1, UINT64_MAX, true },
        { UINT64_MAX, 32, 0, false },
        { UINT64_MAX - 31, 32, UINT64_MAX - 31, true },
        { UINT64_MAX - 30, 32, 0, false },
        { 1, UINT64_MAX, UINT64_MAX, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t out = 0;
        bool good = ggld_align_up(rows[i].value, rows[i].alignment, &out);
        cr_expect_eq(good, rows[i].possible, "row %zu", i);
        if (good)
            cr_expect_eq(out, rows[i].expected, "row %zu: %lu", i, out);
    }
}

Test(checked, ranges_fit_or_not)
{
    cr_assert(ggld_fits(0, 0, 0));
    cr_assert(ggld_fits(8, 0, 8));
    cr_assert(ggld_fits(3, 5, 8));
    cr_assert_not(ggld_fits(3, 6, 8));
    cr_assert_not(ggld_fits(9, 0, 8));
    cr_assert_not(ggld_fits(8, UINT64_MAX, 16));
    cr_assert_not(ggld_fits(UINT64_MAX, 2, UINT64_MAX));
    cr_assert(ggld_is_power_of_two(1) && ggld_is_power_of_two(1ull << 63));
    cr_assert_not(ggld_is_power_of_two(0) || ggld_is_power_of_two(24));
}

Test(span, gives_no_pointer_past_its_end)
{
    static const uint8_t bytes[8] = { 0 };
    ggld_span span = { bytes, sizeof bytes };
    cr_assert_eq(ggld_span_at(span, 8, 0), bytes + 8);
    cr_assert_eq(ggld_span_at(span, 4, 4), bytes + 4);
    cr_assert_null(ggld_span_at(span, 4, 5));
    cr_assert_null(ggld_span_at(span, UINT64_MAX, 1));
    cr_assert_null(ggld_span_at(span, 1, UINT64_MAX));
}

Test(bytes, load_and_store_in_either_order_at_any_address)
{
    uint8_t b[9] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
    cr_assert_eq(ggld_load_u16(b + 1, false), 0x0201);
    cr_assert_eq(ggld_load_u16(b + 1, true), 0x0102);
    cr_assert_eq(ggld_load_u32(b + 1, false), 0x04030201);
    cr_assert_eq(ggld_load_u32(b + 1, true), 0x01020304);
    cr_assert_eq(ggld_load_u64(b + 1, false), 0x0807060504030201);
    cr_assert_eq(ggld_load_u64(b + 1, true), 0x0102030405060708);
    ggld_store_le64(b + 1, 0x1122334455667788);
    cr_assert_eq(ggld_load_le64(b + 1), 0x1122334455667788);
    cr_assert_eq(b[1], 0x88);
}

/* ---- half.h: against doubles, which hold all of this exactly ---- */

static double half_oracle(uint16_t half)
{
    int exponent = half >> 10 & 31;
    double fraction = half & 1023;
    double value = exponent == 0 ? ldexp(fraction, -24)
                                 : ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31)
        value = fraction == 0 ? INFINITY : NAN;
    return (half & 0x8000) != 0 ? -value : value;
}

/* Nearest, ties to even (as nearbyint rounds), in steps of the half's last
 * place. */
static uint16_t to_half_oracle(float value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double magnitude = fabs((double)value);
    int exponent;

    if (isnan(value))
        return sign | 0x7E00;
    frexp(magnitude, &exponent); /* magnitude < 2^exponent */
    int last = exponent - 11 < -24 ? -24 : exponent - 11;
    double steps = nearbyint(ldexp(magnitude, -last));
    if (ldexp(steps, last) >= 65536)
        return sign | 0x7C00;
    if (magnitude == 0 || steps == 0)
        return sign;
    if (steps == 2048) {
        steps = 1024;
        last++;
    }
    uint16_t field = steps < 1024 ? 0 : (uint16_t)(last + 25);
    return (uint16_t)(sign | field << 10 | ((int)steps & 1023));
}

Test(half, every_half_becomes_its_float)
{
    for (uint32_t h = 0; h < 0x10000; h++) {
        float got = ggld_half_to_float((uint16_t)h);
        double expected = half_oracle((uint16_t)h);
        if (isnan(expected))
            cr_assert(isnan(got), "half %04x: %a", h, (double)got);
        else
            cr_assert(ggld_bits_of_double((double)got) ==
                          ggld_bits_of_double(expected),
                      "half %04x: expected %a, got %a", h, expected,
                      (double)got);
    }
}

static void assert_to_half(float value)
{
    uint16_t got = ggld_float_to_half(value);
    uint16_t expected = to_half_oracle(value);
    if (isnan(value))
        cr_assert((got & 0x7C00) == 0x7C00 && (got & 0x3FF) != 0,
                  "a NaN became %04x", got);
    else
        cr_assert_eq(got, expected, "%a: expected %04x, got %04x",
                     (double)value, expected, got);
}

Test(half, every_half_comes_back_from_its_float)
{
    for (uint32_t h = 0; h < 0x10000; h++) {
        float value = ggld_half_to_float((uint16_t)h);
        assert_to_half(value);
        if (!isnan(value))
            cr_assert_eq(ggld_float_to_half(value), h);
    }
}

Test(half, ties_and_their_neighbours_round_to_even)
{
    for (uint32_t h = 0; h < 0x7C00; h++) {
        double low = half_oracle((uint16_t)h);
        double high = h == 0x7BFF ? 65536 : half_oracle((uint16_t)(h + 1));
        float tie = (float)((low + high) / 2);
        for (int sign = -1; sign <= 1; sign += 2) {
            float value = (float)sign * tie;
            assert_to_half(value);
            assert_to_half(nextafterf(value, 0));
            assert_to_half(nextafterf(value, (float)sign * INFINITY));
        }
    }
}

Test(half, floats_of_all_sizes_round_as_doubles_do)
{
    uint32_t bits = 1;
    for (int i = 0; i < 1000000; i++) {
        bits = bits * 1664525 + 1013904223;
        assert_to_half(ggld_float_of_bits(bits));
    }
}

Test(half, bfloat16_is_the_top_of_a_float_rounded_to_even)
{
    for (uint32_t b = 0; b < 0x10000; b++) {
        float value = ggld_bf16_to_float((uint16_t)b);
        uint32_t bits = ggld_bits_of_float(value);
        cr_assert_eq(bits, b << 16);
        if (isnan(value)) {
            cr_assert(isnan(ggld_bf16_to_float(ggld_float_to_bf16(value))));
            continue;
        }
        cr_assert_eq(ggld_float_to_bf16(value), b);
        if ((b & 0x7FFF) == 0x7F80)
            continue; /* past infinity there is no tie */
        uint32_t even = b + (b & 1);
        cr_assert_eq(ggld_float_to_bf16(ggld_float_of_bits(bits | 0x7FFF)), b);
        cr_assert_eq(ggld_float_to_bf16(ggld_float_of_bits(bits | 0x8000)),
                     even);
        cr_assert_eq(ggld_float_to_bf16(ggld_float_of_bits(bits | 0x8001)),
                     b + 1);
    }
}

/* ---- quote.h ---- */

Test(quote, escapes_what_a_terminal_would_obey)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *expected;
    } rows[] = {
        { "", 0, "''" },
        { "abc", 3, "'abc'" },
        { "a\0b", 3, "'a\\x00b'" },
        { "\x1B[31m", 5, "'\\x1B[31m'" },
        { "\n\t\x7F", 3, "'\\x0A\\x09\\x7F'" },
        { "a\\b", 3, "'a\\x5Cb'" },
        { "\xC3\xA9\xE2\x96\x81", 5, "'\xC3\xA9\xE2\x96\x81'" },
        { "\xC2\x9B", 2, "'\\xC2\\x9B'" },
        { "\xFF\xFE", 2, "'\\xFF\\xFE'" },
        { "\xC3(", 2, "'\\xC3('" },
        { "\xE2\x96", 2, "'\\xE2\\x96'" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ggld_quoted got = ggld_quote(rows[i].bytes, rows[i].size);
        cr_expect_str_eq(got.text, rows[i].expected, "row %zu: %s", i,
                         got.text);
    }
}

Test(quote, shortens_long_names_within_the_quotes)
{
    char name[300];
    for (size_t size = 0; size < sizeof name; size++) {
        memset(name, 'n', sizeof name);
        ggld_quoted got = ggld_quote(name, size);
        size_t len = strlen(got.text);
        cr_assert_lt(len, GGLD_QUOTE_MAX);
        cr_assert(got.text[0] == '\'' && got.text[len - 1] == '\'');
        if (size <= 64)
            cr_assert_eq(len, size + 2, "%zu bytes are not whole", size);
        if (size > GGLD_QUOTE_MAX)
            cr_assert_str_eq(got.text + len - 4, "...'");
        memset(name, 1, sizeof name); /* four characters a byte */
        cr_assert_lt(strlen(ggld_quote(name, size).text), GGLD_QUOTE_MAX);
    }
}

/* Encodes any number below 2^21 by the scheme, whether it is a character or
 * not. */
static size_t utf8_encode(uint32_t c, uint8_t out[4])
{
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (uint8_t)(0x80 | (c & 0x3F));
    out[0] = (uint8_t)(0xF00 >> n | c);
    return n;
}

Test(utf8, takes_every_character_and_no_surrogate)
{
    for (uint32_t c = 0; c < 0x110400; c++) {
        uint8_t bytes[4];
        size_t n = utf8_encode(c, bytes);
        bool surrogate = c >= 0xD800 && c < 0xE000;
        size_t expected = surrogate || c > 0x10FFFF ? 0 : n;
        cr_assert_eq(ggld_utf8_len(bytes, n), expected, "U+%04X", c);
        for (size_t cut = 0; cut < n; cut++)
            cr_assert_eq(ggld_utf8_len(bytes, cut), 0, "U+%04X cut", c);
    }
}

Test(utf8, refuses_long_forms_and_stray_bytes)
{
    static const char *rows[] = { "\x80",
                                  "\xBF",
                                  "\xC0\x80",
                                  "\xC1\xBF",
                                  "\xE0\x80\x80",
                                  "\xE0\x9F\xBF",
                                  "\xF0\x80\x80\x80",
                                  "\xF0\x8F\xBF\xBF",
                                  "\xF5\x80\x80\x80",
                                  "\xFF",
                                  "\xC3\xC3",
                                  "\xE2\x96\xC1",
                                  "\xF0\x9F\x98\x41" };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_eq(ggld_utf8_len((const uint8_t *)rows[i], strlen(rows[i])),
                     0, "row %zu", i);
}

/* ---- error.h ---- */

Test(error, sets_every_field_and_may_be_null)
{
    ggld_error err;
    memset(&err, 0xFF, sizeof err);
    ggld_status status = ggld_fail(
        &err, GGLD_E_SHAPE, ggld_place_of(GGLD_IN_KV, 3, 99), "%d %s", 7, "x");
    cr_assert_eq(status, GGLD_E_SHAPE);
    cr_assert_eq(err.code, GGLD_E_SHAPE);
    cr_assert_eq(err.section, GGLD_IN_KV);
    cr_assert(err.index == 3 && err.offset == 99 && err.shard == 0);
    cr_assert(err.sys_errno == 0 && err.reserved[0] == 0);
    cr_assert_str_eq(err.message, "7 x");
    cr_assert_eq(ggld_fail(NULL, GGLD_E_IO, ggld_nowhere(), "x"), GGLD_E_IO);
    cr_assert_eq(ggld_fail_errno(NULL, ENOENT, ggld_nowhere(), "x"), GGLD_E_IO);
}

Test(error, long_messages_end_in_dots)
{
    ggld_error err;
    for (int width = 250; width < 300; width++) {
        (void)ggld_fail(&err, GGLD_E_IO, ggld_nowhere(), "%*d", width, 1);
        size_t len = strlen(err.message);
        cr_assert_lt(len, GGLD_MESSAGE_MAX);
        if (width >= GGLD_MESSAGE_MAX)
            cr_assert_str_eq(err.message + len - 3, "...");
    }
}

Test(error, a_systems_error_has_its_text_and_number)
{
    ggld_error err;
    (void)ggld_fail_errno(&err, ENOENT, ggld_nowhere(), "opening");
    cr_assert_eq(err.code, GGLD_E_IO);
    cr_assert_eq(err.sys_errno, ENOENT);
    cr_assert_str_eq(err.message, "opening: No such file or directory");
    (void)ggld_fail_errno(&err, EIO, ggld_nowhere(), "%300d", 1);
    cr_assert_lt(strlen(err.message), GGLD_MESSAGE_MAX);
}

Test(error, every_code_has_its_name)
{
    static const ggld_status codes[] = {
        GGLD_OK,           GGLD_E_INVALID,    GGLD_E_NOMEM,
        GGLD_E_CANCELLED,  GGLD_E_ABI,        GGLD_E_IO,
        GGLD_E_CHANGED,    GGLD_E_MAGIC,      GGLD_E_VERSION,
        GGLD_E_TRUNCATED,  GGLD_E_OVERFLOW,   GGLD_E_LIMIT,
        GGLD_E_STRING,     GGLD_E_VALUE_TYPE, GGLD_E_TENSOR_TYPE,
        GGLD_E_SHAPE,      GGLD_E_ALIGNMENT,  GGLD_E_OVERLAP,
        GGLD_E_DUPLICATE,  GGLD_E_CHECKSUM,   GGLD_E_VALUE,
        GGLD_E_UNSUPPORTED
    };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        cr_expect_str_neq(ggld_status_name(codes[i]), "GGLD_E_?", "%d",
                          codes[i]);
    cr_assert_str_eq(ggld_status_name(GGLD_E_VALUE_TYPE), "GGLD_E_VALUE_TYPE");
    cr_assert_str_eq(ggld_status_name((ggld_status)9999), "GGLD_E_?");
}

/* ---- alloc.h ---- */

Test(alloc, sizes_that_wrap_get_nothing)
{
    heap h = { .fail_at = HEAP_NEVER_FAILS };
    ggld_allocator a = heap_allocator(&h);
    cr_assert_null(ggld_alloc(&a, UINT64_MAX, 2));
    cr_assert_null(ggld_alloc(&a, (UINT64_C(1) << 61) + 1, 8));
    cr_assert_null(ggld_alloc_bytes(&a, UINT64_MAX));
    cr_assert_eq(h.n_calls, 0, "the allocator was asked");
    void *empty = ggld_alloc(&a, 0, 8);
    cr_assert_not_null(empty);
    ggld_free(&a, empty);
    ggld_free(&a, NULL);
    cr_assert_eq(h.live_bytes, 0);
}

Test(alloc, growing_copies_zeroes_and_fails_without_loss)
{
    heap h = { .fail_at = HEAP_NEVER_FAILS };
    ggld_allocator a = heap_allocator(&h);
    uint32_t *v = ggld_grow(&a, NULL, 0, 2, sizeof *v);
    v[0] = 1;
    v[1] = 2;
    v = ggld_grow(&a, v, 2, 100, sizeof *v);
    cr_assert(v[0] == 1 && v[1] == 2 && v[2] == 0 && v[99] == 0);
    cr_assert_eq(h.live_bytes, 400);
    h.fail_at = 0;
    cr_assert_null(ggld_grow(&a, v, 100, 200, sizeof *v));
    cr_assert_eq(v[1], 2);
    ggld_free(&a, v);
    cr_assert_eq(h.live_bytes, 0);
}

/* ---- index.h ---- */

Test(index, finds_every_name_and_no_other)
{
    enum { N = 20000 };
    static char text[N][16];
    static ggld_string names[N];
    heap h = { .fail_at = HEAP_NEVER_FAILS };
    ggld_allocator a = heap_allocator(&h);
    ggld_names list = { names, sizeof names[0] };
    ggld_index *index = ggld_index_new(&a, N);

    for (uint32_t i = 0; i < N; i++) {
        names[i].data = text[i];
        names[i].len = (uint64_t)snprintf(text[i], sizeof text[i], "n%u", i);
        cr_assert_eq(ggld_index_insert(index, list, i), i);
    }
    for (uint32_t i = 0; i < N; i++) {
        cr_assert_eq(ggld_index_find(index, list, text[i], names[i].len), i);
        cr_assert_eq(ggld_index_find(index, list, text[i], names[i].len + 1),
                     GGLD_INDEX_NONE);
    }
    cr_assert_eq(ggld_index_find(index, list, "n", 1), GGLD_INDEX_NONE);
    cr_assert_eq(ggld_index_find(index, list, "", 0), GGLD_INDEX_NONE);
    cr_assert_eq(h.live_bytes, ggld_index_heap_bytes(index));
    cr_assert_leq(h.live_bytes, 64 + 32 * N);
    ggld_free(&a, index);
}

Test(index, of_names_that_are_there_twice_the_first_stays)
{
    ggld_string names[] = { { "a", 1 }, { "a\0b", 3 }, { "a", 1 },
                            { "", 0 },  { "a\0c", 3 }, { "", 0 } };
    static const uint32_t expected[] = { 0, 1, 0, 3, 4, 3 };
    ggld_allocator a = ggld_allocator_of(NULL);
    ggld_names list = { names, sizeof names[0] };
    ggld_index *index = ggld_index_new(&a, 6);
    for (uint32_t i = 0; i < 6; i++)
        cr_expect_eq(ggld_index_insert(index, list, i), expected[i], "name %u",
                     i);
    cr_assert_eq(ggld_index_find(index, list, "a\0c", 3), 4);
    cr_assert_eq(ggld_index_find(index, list, "a", 1), 0);
    ggld_free(&a, index);
}
