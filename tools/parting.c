/* SPDX-License-Identifier: MIT */
/* See parting.h. By the stored bytes, which the reader has judged: a getter
 * would make one of 0 and -0 when they are compared, of NaNs, and of bools
 * that are not 0. */
#include "parting.h"

#include <string.h>

/* What is left of one value. */
typedef struct side {
    const uint8_t *next;
    const uint8_t *end;
    unsigned len_bytes; /* of a length */
    bool big_endian;
} side;

typedef struct level {
    uint32_t type;
    uint64_t n_a, n_b;
} level;

typedef struct walk {
    side a, b;
    level levels[PARTING_DEPTH];
    parting *out;
} walk;

static side side_of(const ggld_kv *kv)
{
    ggld_raw_value raw = ggld_kv_raw(kv);
    const uint8_t *data = (const uint8_t *)raw.bytes.data;
    side s = { data, data + raw.bytes.len, raw.version == 1 ? 4 : 8,
               raw.big_endian };
    return s;
}

/* 0 past the end, where a file has changed under its map. */
static uint64_t take_number(side *s, unsigned width)
{
    uint64_t value = 0;

    if ((size_t)(s->end - s->next) < width) {
        s->next = s->end;
        return 0;
    }
    for (unsigned i = 0; i < width; i++)
        value |= (uint64_t)s->next[s->big_endian ? width - 1 - i : i] << 8 * i;
    s->next += width;
    return value;
}

static ggld_string take_text(side *s)
{
    uint64_t len = take_number(s, s->len_bytes);
    uint64_t left = (uint64_t)(s->end - s->next);
    ggld_string text = { (const char *)s->next, len < left ? len : left };

    s->next += text.len;
    return text;
}

static unsigned width_of(uint32_t type)
{
    switch (type) {
    case GGLD_VALUE_U8:
    case GGLD_VALUE_I8:
    case GGLD_VALUE_BOOL:
        return 1;
    case GGLD_VALUE_U16:
    case GGLD_VALUE_I16:
        return 2;
    case GGLD_VALUE_U64:
    case GGLD_VALUE_I64:
    case GGLD_VALUE_F64:
        return 8;
    default:
        return 4;
    }
}

static bool same_text(ggld_string a, ggld_string b)
{
    return a.len == b.len &&
           (a.len == 0 || memcmp(a.data, b.data, (size_t)a.len) == 0);
}

/* Goes into an array of both; true: their types part. */
static bool go_down(walk *w)
{
    parting *p = w->out;
    uint32_t type_a = (uint32_t)take_number(&w->a, 4);
    uint32_t type_b = (uint32_t)take_number(&w->b, 4);

    if (p->depth == PARTING_DEPTH || type_a != type_b) {
        p->type_a = type_a;
        p->type_b = type_b;
        return true;
    }
    level l = { type_a, take_number(&w->a, w->a.len_bytes),
                take_number(&w->b, w->b.len_bytes) };
    w->levels[p->depth] = l;
    p->index[p->depth++] = 0;
    return false;
}

/* One value of each, which is no array; true: they part. */
static bool step(walk *w, uint32_t type)
{
    parting *p = w->out;

    p->type_a = p->type_b = type;
    if (type == GGLD_VALUE_STRING) {
        p->text_a = take_text(&w->a);
        p->text_b = take_text(&w->b);
        return !same_text(p->text_a, p->text_b);
    }
    p->width = width_of(type);
    p->bits_a = take_number(&w->a, p->width);
    p->bits_b = take_number(&w->b, p->width);
    return p->bits_a != p->bits_b;
}

static bool walk_arrays(walk *w)
{
    parting *p = w->out;

    if (go_down(w))
        return true;
    while (p->depth > 0) {
        const level *l = &w->levels[p->depth - 1];
        uint64_t *at = &p->index[p->depth - 1];
        if (*at == l->n_a && *at == l->n_b) {
            if (--p->depth > 0)
                p->index[p->depth - 1]++;
            continue;
        }
        if (*at == l->n_a || *at == l->n_b) {
            p->type_a = p->type_b = GGLD_VALUE_ARRAY;
            return true;
        }
        if (l->type == GGLD_VALUE_ARRAY) {
            if (go_down(w))
                return true;
            continue;
        }
        if (step(w, l->type))
            return true;
        ++*at;
    }
    return false;
}

bool parting_find(const ggld_kv *a, const ggld_kv *b, parting *out)
{
    walk w = { .a = side_of(a), .b = side_of(b), .out = out };
    uint32_t type = ggld_kv_type(a);

    memset(out, 0, sizeof *out);
    return type == GGLD_VALUE_ARRAY ? walk_arrays(&w) : step(&w, type);
}
