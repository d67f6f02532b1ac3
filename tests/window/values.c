/* SPDX-License-Identifier: MIT */
/* A window has the bits that ggld_view_read_f32 and _f16 give: each type that
 * can be dequantised, in both byte orders and every way to open a file, of whole
 * tensors and of views that begin and end inside a block, whether chunks come by
 * touch, go for others, come ahead of touches, or all at once. */
#include "../views/check.h"
#include "../views/model.h"

#include <stdlib.h>
#include <string.h>

#include <ggld/window.h>

#define ROW_ELEMS 1024u /* whole blocks of any type */
#define N_ROWS    13u
#define N_ELEMS   (ROW_ELEMS * N_ROWS)

int n_failed;
static unsigned n_windows;

typedef struct way_to_fill {
    const char *name;
    uint32_t flags;
    uint64_t budget;
    uint64_t chunk;
} way_to_fill;

static const way_to_fill fills[] = {
    { "touched", GGLD_WINDOW_NO_AHEAD, 0, 1 },
    { "dropped for others", 0, 16384, 4096 },
    { "filled ahead", 0, 0, 4096 },
    { "one chunk", 0, 0, 0 },
    { "at once", GGLD_WINDOW_AT_ONCE, 0, 0 },
};
#define N_FILLS (sizeof fills / sizeof fills[0])

static void *must_alloc(size_t size)
{
    void *p = malloc(size);
    if (p == NULL)
        abort();
    return p;
}

/* From the last page to the first, and then in order. */
static bool same_twice(const uint8_t *data, const uint8_t *expected,
                       size_t size)
{
    bool same = true;
    for (size_t at = (size - 1) / 4096 * 4096 + 4096; at > 0; at -= 4096) {
        size_t from = at - 4096;
        size_t n = size - from < 4096 ? size - from : 4096;
        same &= memcmp(data + from, expected + from, n) == 0;
    }
    return same && memcmp(data, expected, size) == 0;
}

static void check_tail(const uint8_t *data, size_t size, uint32_t format,
                       const char *what)
{
    size_t end = (size + 4095) / 4096 * 4096;
    for (size_t at = size; at < end; at += format == GGLD_WINDOW_F16 ? 2 : 4) {
        uint32_t bits = 0;
        memcpy(&bits, data + at, format == GGLD_WINDOW_F16 ? 2 : 4);
        CHECK(bits == (format == GGLD_WINDOW_F16 ? 0x7E00u : 0x7FC00000u),
              "%s: expected NaN at byte %zu behind the elements, got %#x", what,
              at, bits);
    }
}

static void check_window(const ggld_view *view, const way_to_fill *how,
                         uint32_t format, const char *what)
{
    ggld_window_options options = ggld_window_options_init();
    bool half = format == GGLD_WINDOW_F16;
    size_t size = (size_t)view->n_elems * (half ? 2 : 4);
    void *expected = must_alloc(size);
    ggld_window *window;
    ggld_error err = { 0 };

    if (half)
        CHECK_OK(ggld_view_read_f16(view, expected, view->n_elems, &err), err,
                 what);
    else
        CHECK_OK(ggld_view_read_f32(view, expected, view->n_elems, &err), err,
                 what);
    options.format = format;
    options.flags = how->flags;
    options.max_resident_bytes = how->budget;
    options.chunk_bytes = how->chunk;
    ggld_status status = ggld_window_open(&window, view, &options, &err);
    CHECK(status == GGLD_OK, "%s: expected a window, got: %s", what,
          err.message);
    if (status == GGLD_OK) {
        const void *data = half ? (const void *)ggld_window_data_f16(window)
                                : ggld_window_data(window);
        CHECK((uintptr_t)data % 4096 == 0, "%s: expected a page", what);
        CHECK(same_twice(data, expected, size),
              "%s, %s, %s: expected the bits of ggld_view_read, twice", what,
              how->name, half ? "f16" : "f32");
        check_tail(data, size, format, what);
        CHECK_OK(ggld_window_status(window, &err), err, what);
        ggld_window_close(window);
        n_windows++;
    }
    free(expected);
}

static void check_views(const ggld_tensor *tensor, const char *what)
{
    static unsigned turn;
    ggld_view whole = ggld_tensor_view(tensor), part;
    ggld_error err = { 0 };

    for (uint32_t format = GGLD_WINDOW_F32; format <= GGLD_WINDOW_F16;
         format++) {
        check_window(&whole, &fills[turn++ % N_FILLS], format, what);
        CHECK_OK(ggld_view_elems(&part, &whole, 7, N_ELEMS - 400, &err), err,
                 what);
        check_window(&part, &fills[turn++ % N_FILLS], format, what);
        CHECK_OK(ggld_view_rows(&part, &whole, 3, 5, &err), err, what);
        check_window(&part, &fills[turn++ % N_FILLS], format, what);
        turn++;
    }
}

static void check_type(uint32_t type, const ggld_type_traits *traits)
{
    size_t size = N_ELEMS / traits->block_elems * traits->block_bytes;
    void *data = must_alloc(size);
    model_tensor tensor = { "t", type, 2, { ROW_ELEMS, N_ROWS }, data, size };

    fill_random(data, size, type);
    for (int way = 0; way < N_OPEN_WAYS; way++) {
        char what[64];
        model m;
        ggld_file *file = model_open(&m, (open_way)way, &tensor, 1, NULL);
        snprintf(what, sizeof what, "%s, %s", traits->name,
                 open_way_names[way]);
        check_views(ggld_tensor_find(file, "t"), what);
        ggld_close(file);
        model_free(&m);
    }
    free(data);
}

int main(void)
{
    unsigned n_types = 0;
    for (uint32_t type = 0; type < 64; type++) {
        const ggld_type_traits *traits = ggld_type_traits_of(type);
        if (traits == NULL || !traits->can_dequantize)
            continue;
        check_type(type, traits);
        n_types++;
    }
    CHECK(n_types > 25, "expected all types, got %u", n_types);
    printf("values: %u windows of %u types\n%u passed, %d failed, 0 skipped\n",
           n_windows, n_types, n_windows, n_failed);
    return n_failed != 0;
}
