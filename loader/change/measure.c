/* SPDX-License-Identifier: MIT */
/* See measure.h. Sums are double precision: of 10^10 values the mean is good to
 * more digits than a float has. No libm: the root is taken here. */
#include "measure.h"

#include <string.h>

#include "../base/bytes.h"
#include "../base/checked.h"

typedef struct sums {
    uint64_t n_unequal;
    uint64_t n_nan;
    uint64_t max_elem;
    double max;
    double squares;
} sums;

/* Element number elem of both, which are not the same number. */
static void add_unequal(sums *s, float x, float y, uint64_t elem)
{
    bool x_nan = x != x, y_nan = y != y;

    if (x_nan && y_nan)
        return;
    s->n_unequal++;
    if (x_nan || y_nan) {
        s->n_nan++;
        return;
    }
    double d = (double)x - (double)y;
    d = d < 0 ? -d : d;
    s->squares += d * d;
    if (d > s->max) {
        s->max = d;
        s->max_elem = elem;
    }
}

static void add_all(sums *s, const ggld_measure_room *room, uint64_t first,
                    uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (!(room->a[i] == room->b[i]))
            add_unequal(s, room->a[i], room->b[i], first + i);
}

/* Newton's way, from a guess with half the exponent: it halves the error's
 * exponent with every step. 0 and infinity are their own roots. */
static double root(double x)
{
    if (!(x > 0) || x > 0x1.fffffffffffffp1023)
        return x;
    double r = ggld_double_of_bits((ggld_bits_of_double(x) >> 1) +
                                   (UINT64_C(0x1FF8) << 48));
    for (int i = 0; i < 6; i++)
        r = 0.5 * (r + x / r);
    return r;
}

static ggld_status read_part(const ggld_tensor *t, uint64_t first, uint64_t n,
                             float *dst, ggld_error *err)
{
    ggld_view view = ggld_tensor_view(t);
    ggld_status status = ggld_view_elems(&view, &view, first, n, err);
    return status == GGLD_OK ? ggld_view_read_f32(&view, dst, n, err) : status;
}

ggld_status ggld_measure(const ggld_tensor *a, const ggld_tensor *b,
                         ggld_measure_room *room, ggld_meter *meter,
                         ggld_difference *out, ggld_error *err)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_status status = GGLD_OK;
    sums s = { 0 };

    ggld_tensor_get_info(a, &info);
    for (uint64_t at = 0; at < info.n_elems && status == GGLD_OK;) {
        uint64_t n = ggld_min_u64(info.n_elems - at, GGLD_MEASURE_ELEMS);
        status = read_part(a, at, n, room->a, err);
        if (status == GGLD_OK)
            status = read_part(b, at, n, room->b, err);
        if (status == GGLD_OK)
            status = ggld_meter_add(meter, n * sizeof(float), err);
        add_all(&s, room, at, status == GGLD_OK ? n : 0);
        at += n;
    }
    if (status != GGLD_OK)
        return status;
    uint64_t n = info.n_elems - s.n_nan;
    out->has_values = true;
    out->n_elems = info.n_elems;
    out->n_unequal = s.n_unequal;
    out->n_nan = s.n_nan;
    out->max_elem = s.max_elem;
    out->max = s.max;
    out->rms = n != 0 ? root(s.squares / (double)n) : 0;
    return GGLD_OK;
}
