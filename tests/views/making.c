/* SPDX-License-Identifier: MIT */
/* Making views: which elements rows, indices and ranges are of tensors with 0
 * to 4 dimensions, and what is refused, in which words. */
#include <criterion/criterion.h>

#include <string.h>

#include "model.h"

#define MAX_ELEMS 64
#define HUGE_DIM  ((uint64_t)1 << 62)

/* F32 tensors whose element i has the value i. */
static const struct {
    const char *name;
    uint32_t n_dims;
    uint64_t dims[4];
    uint64_t n_elems;
} shapes[] = {
    { "scalar", 0, { 0 }, 1 },
    { "vector", 1, { 5 }, 5 },
    { "matrix", 2, { 4, 3 }, 12 },
    { "column", 2, { 1, 5 }, 5 },
    { "cube", 3, { 4, 3, 2 }, 24 },
    { "four", 4, { 2, 3, 4, 2 }, 48 },
    { "none", 1, { 0 }, 0 },
    { "no rows", 2, { 4, 0 }, 0 },
    { "empty rows", 2, { 0, 3 }, 0 },
    { "hollow", 3, { 4, 0, 3 }, 0 },
    { "huge", 4, { HUGE_DIM, HUGE_DIM, 0, 3 }, 0 },
};
#define N_SHAPES (sizeof shapes / sizeof shapes[0])

static model opened_model;
static ggld_file *file;

static void open_shapes(void)
{
    static float numbers[MAX_ELEMS];
    model_tensor tensors[N_SHAPES];

    for (int i = 0; i < MAX_ELEMS; i++)
        numbers[i] = (float)i;
    for (size_t i = 0; i < N_SHAPES; i++) {
        model_tensor t = { shapes[i].name,   GGLD_TYPE_F32,
                           shapes[i].n_dims, { 0 },
                           numbers,          (size_t)shapes[i].n_elems * 4 };
        memcpy(t.dims, shapes[i].dims, sizeof t.dims);
        tensors[i] = t;
    }
    file = model_open(&opened_model, OPEN_MEMORY, tensors, N_SHAPES, NULL);
}

static void close_shapes(void)
{
    ggld_close(file);
    model_free(&opened_model);
}

TestSuite(making, .init = open_shapes, .fini = close_shapes);

static ggld_view whole(const char *name)
{
    const ggld_tensor *t = ggld_tensor_find(file, name);
    cr_assert_not_null(t, "expected tensor %s, got none", name);
    return ggld_tensor_view(t);
}

/* The view is n elements from first on, and reads as their numbers. */
static void expect_elems(const ggld_view *view, uint64_t first, uint64_t n)
{
    float values[MAX_ELEMS] = { 0 };
    ggld_error err = { 0 };

    cr_assert_eq(view->n_elems, n, "expected %llu elements, got %llu",
                 (unsigned long long)n, (unsigned long long)view->n_elems);
    cr_assert_eq(ggld_view_read_f32(view, values, MAX_ELEMS, &err), GGLD_OK,
                 "expected the view to be read, got: %s", err.message);
    for (uint64_t i = 0; i < n; i++)
        cr_assert_eq(values[i], (float)(first + i),
                     "expected %llu at %llu, got %g",
                     (unsigned long long)(first + i), (unsigned long long)i,
                     (double)values[i]);
    for (uint64_t i = n; i < MAX_ELEMS; i++)
        cr_assert_eq(values[i], 0.0f, "expected no write past %llu elements",
                     (unsigned long long)n);
}

Test(making, whole_tensor_is_all_of_it)
{
    for (size_t i = 0; i < N_SHAPES; i++) {
        ggld_view view = whole(shapes[i].name);
        expect_elems(&view, 0, shapes[i].n_elems);
        cr_expect_eq(view.n_dims, shapes[i].n_dims,
                     "%s: expected %u dimensions, got %u", shapes[i].name,
                     shapes[i].n_dims, view.n_dims);
    }
}

/* Elements of one index of the outermost of n_dims dimensions. */
static uint64_t product(const uint64_t *dims, uint32_t n_dims)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < n_dims; i++)
        n *= dims[i];
    return n;
}

Test(making, index_peels_the_outermost_dimension)
{
    for (size_t i = 0; i < N_SHAPES; i++) {
        uint32_t n_dims = shapes[i].n_dims;
        if (n_dims == 0)
            continue;
        const uint64_t *dims = shapes[i].dims;
        uint64_t inner = product(dims, n_dims - 1);
        ggld_view view = whole(shapes[i].name);
        ggld_view part;
        ggld_error err = { 0 };
        for (uint64_t j = 0; j < dims[n_dims - 1]; j++) {
            cr_assert_eq(ggld_view_index(&part, &view, j, &err), GGLD_OK,
                         "%s: expected index %llu, got: %s", shapes[i].name,
                         (unsigned long long)j, err.message);
            expect_elems(&part, j * inner, inner);
            cr_expect_eq(part.n_dims, n_dims - 1);
        }
        cr_expect_eq(ggld_view_index(&part, &view, dims[n_dims - 1], &err),
                     GGLD_E_INVALID, "%s: expected the end to be refused",
                     shapes[i].name);
    }
}

Test(making, index_after_index_reaches_each_element)
{
    for (uint64_t i = 0; i < 48; i++) {
        ggld_view view = whole("four");
        ggld_error err = { 0 };
        uint64_t indices[] = { i / 24, i / 6 % 4, i / 2 % 3, i % 2 };
        for (int d = 0; d < 4; d++)
            cr_assert_eq(ggld_view_index(&view, &view, indices[d], &err),
                         GGLD_OK, "expected index %d, got: %s", d, err.message);
        expect_elems(&view, i, 1);
        cr_expect_eq(view.n_dims, 0u);
    }
}

Test(making, rows_are_counted_over_all_outer_dimensions)
{
    for (size_t i = 0; i < N_SHAPES; i++) {
        uint64_t row = shapes[i].n_dims == 0 ? 1 : shapes[i].dims[0];
        if (row == 0)
            continue;
        uint64_t n_rows = shapes[i].n_elems / row;
        ggld_view view = whole(shapes[i].name);
        ggld_view part;
        ggld_error err = { 0 };
        for (uint64_t first = 0; first <= n_rows; first++)
            for (uint64_t n = 0; first + n <= n_rows; n++) {
                cr_assert_eq(ggld_view_rows(&part, &view, first, n, &err),
                             GGLD_OK, "%s: expected rows %llu + %llu, got: %s",
                             shapes[i].name, (unsigned long long)first,
                             (unsigned long long)n, err.message);
                expect_elems(&part, first * row, n * row);
            }
        cr_expect_eq(ggld_view_rows(&part, &view, n_rows, 1, &err),
                     GGLD_E_INVALID, "%s: expected the end to be refused",
                     shapes[i].name);
    }
}

Test(making, a_view_of_rows_is_indexed_by_row)
{
    ggld_view view = whole("cube");
    ggld_error err = { 0 };

    cr_assert_eq(ggld_view_rows(&view, &view, 2, 3, &err), GGLD_OK);
    cr_assert_eq(ggld_view_index(&view, &view, 2, &err), GGLD_OK, "got: %s",
                 err.message);
    expect_elems(&view, 16, 4);
    cr_assert_eq(ggld_view_index(&view, &view, 3, &err), GGLD_OK);
    expect_elems(&view, 19, 1);
}

Test(making, views_of_views_count_from_their_own_start)
{
    ggld_view view = whole("four");
    ggld_error err = { 0 };

    cr_assert_eq(ggld_view_index(&view, &view, 1, &err), GGLD_OK);
    cr_assert_eq(ggld_view_rows(&view, &view, 3, 4, &err), GGLD_OK);
    expect_elems(&view, 30, 8);
    cr_assert_eq(ggld_view_elems(&view, &view, 3, 4, &err), GGLD_OK);
    expect_elems(&view, 33, 4);
    cr_assert_eq(ggld_view_elems(&view, &view, 4, 0, &err), GGLD_OK);
    expect_elems(&view, 37, 0);
}

/* ---- what is refused ---- */

typedef enum making_call { ROWS, INDEX, ELEMS } making_call;

static ggld_status make(making_call call, ggld_view *view, uint64_t a,
                        uint64_t b, ggld_error *err)
{
    switch (call) {
    case ROWS:
        return ggld_view_rows(view, view, a, b, err);
    case INDEX:
        return ggld_view_index(view, view, a, err);
    default:
        return ggld_view_elems(view, view, a, b, err);
    }
}

Test(making, refusals_name_tensor_type_and_both_numbers)
{
    static const struct {
        const char *tensor;
        making_call call;
        uint64_t a, b;
        const char *message;
    } cases[] = {
        { "matrix", ROWS, 2, 2,
          "tensor 2 'matrix' (f32): rows 2 + 2 are not inside the view's 3" },
        { "matrix", ROWS, UINT64_MAX, 2,
          "tensor 2 'matrix' (f32): rows 18446744073709551615 + 2 are not "
          "inside the view's 3" },
        { "matrix", ROWS, 1, UINT64_MAX / 2,
          "tensor 2 'matrix' (f32): rows 1 + 9223372036854775807 are not "
          "inside the view's 3" },
        { "matrix", ELEMS, 5, 8,
          "tensor 2 'matrix' (f32): elements 5 + 8 are not inside the view's "
          "12" },
        { "matrix", ELEMS, 13, 0,
          "tensor 2 'matrix' (f32): elements 13 + 0 are not inside the view's "
          "12" },
        { "cube", INDEX, 2, 0,
          "tensor 4 'cube' (f32): index 2 of dimension 2 is not inside the "
          "view's 2" },
        { "scalar", INDEX, 0, 0,
          "tensor 0 'scalar' (f32): index 0 of a view with 0 dimensions "
          "left" },
        { "no rows", INDEX, 0, 0,
          "tensor 7 'no rows' (f32): index 0 of dimension 1 is not inside the "
          "view's 0" },
        { "empty rows", ROWS, 0, 1,
          "tensor 8 'empty rows' (f32): its rows have 0 elements; there are "
          "none to take" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ggld_view view = whole(cases[i].tensor);
        ggld_view before = view;
        ggld_error err = { 0 };
        ggld_status status =
            make(cases[i].call, &view, cases[i].a, cases[i].b, &err);
        cr_expect_eq(status, GGLD_E_INVALID, "%s: expected INVALID, got %s",
                     cases[i].message, ggld_status_name(status));
        cr_expect_str_eq(err.message, cases[i].message);
        cr_expect_eq(memcmp(&view, &before, sizeof view), 0,
                     "%s: expected *out untouched", cases[i].message);
    }
}

Test(making, rows_of_what_is_not_whole_rows_are_refused)
{
    static const struct {
        uint64_t first, n;
    } cases[] = { { 1, 8 }, { 4, 3 }, { 2, 4 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ggld_view view = whole("matrix");
        ggld_error err = { 0 };
        cr_assert_eq(
            ggld_view_elems(&view, &view, cases[i].first, cases[i].n, &err),
            GGLD_OK);
        cr_expect_eq(ggld_view_rows(&view, &view, 0, 0, &err), GGLD_E_INVALID);
        cr_expect(strstr(err.message, "is not whole rows of 4") != NULL,
                  "expected the row's length, got: %s", err.message);
    }
}

Test(making, a_missing_tensor_gives_a_view_that_everything_refuses)
{
    static const uint64_t rows[] = { 0 };
    ggld_view none = ggld_tensor_view(ggld_tensor_find(file, "not there"));
    ggld_error err = { 0 };
    uint16_t half;
    float value;

    cr_expect_eq(ggld_view_rows(&none, &none, 0, 0, &err), GGLD_E_INVALID);
    cr_expect_eq(ggld_view_index(&none, &none, 0, &err), GGLD_E_INVALID);
    cr_expect_eq(ggld_view_elems(&none, &none, 0, 0, &err), GGLD_E_INVALID);
    cr_expect_eq(ggld_view_read_f32(&none, &value, 1, &err), GGLD_E_INVALID);
    cr_expect_eq(ggld_view_read_f16(&none, &half, 1, &err), GGLD_E_INVALID);
    cr_expect_eq(ggld_view_gather_f32(&none, rows, 1, &value, 1, &err),
                 GGLD_E_INVALID);
    cr_expect(strstr(err.message, "no tensor") != NULL, "got: %s", err.message);
}

/* Views that no call has made. */
Test(making, forged_views_are_refused_by_every_call)
{
    ggld_view good = whole("matrix");
    struct {
        const char *what;
        ggld_view view;
        ggld_status expected;
    } cases[] = {
        { "first past the end", good, GGLD_E_INVALID },
        { "more than there are", good, GGLD_E_INVALID },
        { "a sum that wraps", good, GGLD_E_INVALID },
        { "flags", good, GGLD_E_ABI },
        { "reserved", good, GGLD_E_ABI },
        { "five dimensions", good, GGLD_E_INVALID },
    };
    cases[0].view.first_elem = 13;
    cases[0].view.n_elems = 0;
    cases[1].view.n_elems = 13;
    cases[2].view.first_elem = 8;
    cases[2].view.n_elems = UINT64_MAX - 3;
    cases[3].view.flags = 2;
    cases[4].view.reserved[1] = 1;
    cases[5].view.n_dims = 5;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static const uint64_t rows[] = { 0 };
        const ggld_view *view = &cases[i].view;
        ggld_view out;
        float values[MAX_ELEMS] = { 0 };
        uint16_t halves[MAX_ELEMS];
        ggld_error err = { 0 };
        ggld_status got[] = {
            ggld_view_rows(&out, view, 0, 0, &err),
            ggld_view_index(&out, view, 0, &err),
            ggld_view_elems(&out, view, 0, 0, &err),
            ggld_view_read_f32(view, values, MAX_ELEMS, &err),
            ggld_view_read_f16(view, halves, MAX_ELEMS, &err),
            ggld_view_gather_f32(view, rows, 1, values, MAX_ELEMS, &err),
        };
        for (size_t j = 0; j < sizeof got / sizeof got[0]; j++)
            cr_expect_eq(got[j], cases[i].expected,
                         "%s, call %zu: expected %s, got %s", cases[i].what, j,
                         ggld_status_name(cases[i].expected),
                         ggld_status_name(got[j]));
        cr_expect_eq(values[0], 0.0f, "%s: expected dst untouched",
                     cases[i].what);
    }
}

/* A matrix's view whose elements are cut is no sequence of matrices. */
Test(making, index_of_a_forged_count_is_refused)
{
    ggld_view view = whole("cube");
    ggld_error err = { 0 };

    view.n_elems = 13;
    cr_expect_eq(ggld_view_index(&view, &view, 0, &err), GGLD_E_INVALID);
    cr_expect(strstr(err.message, "13 elements") != NULL &&
                  strstr(err.message, "12") != NULL,
              "expected both numbers, got: %s", err.message);
}

Test(making, long_names_leave_room_for_the_numbers)
{
    char name[201];
    memset(name, 'n', 200);
    name[200] = '\0';
    name[3] = '\n';
    float value = 1;
    model_tensor tensor = { name, GGLD_TYPE_F32, 1, { 1 }, &value, 4 };
    model m;
    ggld_file *other = model_open(&m, OPEN_MEMORY, &tensor, 1, NULL);
    ggld_view view = ggld_tensor_view(ggld_tensor_at(other, 0));
    ggld_error err = { 0 };

    cr_assert_eq(ggld_view_elems(&view, &view, 7, UINT64_MAX, &err),
                 GGLD_E_INVALID);
    cr_expect(strstr(err.message, "nnn\\x0Annn") != NULL &&
                  strstr(err.message, "...' (f32): elements 7 + "
                                      "18446744073709551615 are not inside the "
                                      "view's 1") != NULL,
              "got: %s", err.message);
    ggld_close(other);
    model_free(&m);
}
