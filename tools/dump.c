/* SPDX-License-Identifier: MIT */
/* See dump.h. Values are made, and made into text, in chunks on all cores, and
 * go out in order. Floats of up to 32 bits and quantised values come through
 * views; integers and F64, which a float can't hold, from the stored bytes. */
#include "dump.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "bits.h"
#include "pipeline.h"
#include "report.h"
#include "stop.h"
#include "text.h"

#define CHUNK_ELEMS 16384
#define CHUNK_BYTES UINT64_C(131072) /* of the widest type */
/* "-1.7976931348623157e+308" and what is behind it. */
#define TEXT_MAX 26

/* Types that stand as they are stored: NumPy's letter and width in bytes. */
typedef struct plain_type {
    uint32_t type;
    char kind; /* 'f' or 'i' */
    unsigned width;
} plain_type;

static const plain_type plain_types[] = {
    { GGLD_TYPE_F32, 'f', 4 }, { GGLD_TYPE_F16, 'f', 2 },
    { GGLD_TYPE_F64, 'f', 8 }, { GGLD_TYPE_I8, 'i', 1 },
    { GGLD_TYPE_I16, 'i', 2 }, { GGLD_TYPE_I32, 'i', 4 },
    { GGLD_TYPE_I64, 'i', 8 },
};

static const plain_type *plain_of(uint32_t type)
{
    for (size_t i = 0; i < sizeof plain_types / sizeof plain_types[0]; i++)
        if (plain_types[i].type == type)
            return &plain_types[i];
    return NULL;
}

/* Do the stored bytes say more than floats could? */
static bool is_wider_than_float(const plain_type *plain)
{
    return plain != NULL && (plain->kind == 'i' || plain->width == 8);
}

static uint64_t job_first_elem(const dump_job *job)
{
    return job->first_row * job->row_elems;
}

static uint64_t job_n_elems(const dump_job *job)
{
    return (job->end_row - job->first_row) * job->row_elems;
}

/* What is to be made of units [first, end): bytes, or elements. */
typedef struct dump {
    const dump_job *job;
    output *out;
    const plain_type *plain; /* or NULL */
    pipeline_step make;      /* fills a slot */
    uint64_t first;
    uint64_t end;
    uint64_t most;   /* of a chunk */
    uint64_t n_lost; /* finite values that became infinite */
} dump;

typedef struct dump_slot {
    const void *data; /* what goes out */
    size_t size_bytes;
    uint64_t n_lost;
    uint8_t values[CHUNK_BYTES];
    char text[CHUNK_ELEMS * TEXT_MAX]; /* not there for other formats */
} dump_slot;

typedef struct range {
    uint64_t first;
    uint64_t n;
} range;

static range dump_chunk(const dump *d, uint64_t item)
{
    range r = { d->first + item * d->most, d->most };

    if (r.n > d->end - r.first)
        r.n = d->end - r.first;
    return r;
}

/* ---- bytes ---- */

static ggld_status read_stored(const dump *d, dump_slot *s, uint64_t first_byte,
                               uint64_t n_bytes, ggld_error *err)
{
    s->data = s->values;
    s->size_bytes = (size_t)n_bytes;
    return ggld_tensor_read_bytes(d->job->tensor, first_byte, s->values,
                                  s->size_bytes, err);
}

static ggld_status make_raw(void *user, uint64_t item, void *slot,
                            ggld_error *err)
{
    range r = dump_chunk(user, item);

    return read_stored(user, slot, r.first, r.n, err);
}

static ggld_status read_values(const dump *d, dump_slot *s, range r,
                               ggld_error *err)
{
    bool halves = d->job->format == DUMP_F16;
    ggld_view whole = ggld_tensor_view(d->job->tensor), part;
    void *values = s->values;
    ggld_status status = ggld_view_elems(&part, &whole, r.first, r.n, err);

    s->data = s->values;
    s->size_bytes = (size_t)r.n * (halves ? 2 : 4);
    if (status == GGLD_OK)
        status = halves ? ggld_view_read_f16(&part, values, r.n, err)
                        : ggld_view_read_f32(&part, values, r.n, err);
    return status;
}

static bool is_infinite(const uint8_t *p, unsigned width, bool big_endian)
{
    uint64_t bits = bits_load(p, width, big_endian);

    return width == 2   ? (bits & 0x7FFF) == 0x7C00
           : width == 4 ? (bits & 0x7FFFFFFF) == 0x7F800000
                        : (bits & INT64_MAX) == UINT64_C(0x7FF) << 52;
}

/* Does the tensor itself have an infinity there? */
static ggld_status ask_infinite(const dump *d, uint64_t elem, bool *out,
                                ggld_error *err)
{
    ggld_view whole = ggld_tensor_view(d->job->tensor), one;
    uint8_t stored[8];
    float value = 0;
    ggld_status status;

    if (d->job->info.type == GGLD_TYPE_F64) {
        status = ggld_tensor_read_bytes(d->job->tensor, elem * sizeof stored,
                                        stored, sizeof stored, err);
        *out = is_infinite(stored, sizeof stored, d->job->info.big_endian);
        return status;
    }
    status = ggld_view_elems(&one, &whole, elem, 1, err);
    if (status == GGLD_OK)
        status = ggld_view_read_f32(&one, &value, 1, err);
    *out = isinf(value);
    return status;
}

/* Infinities are rare: each is looked at where it comes from. */
static ggld_status count_lost(const dump *d, dump_slot *s, range r,
                              unsigned width, ggld_error *err)
{
    bool big_endian = bits_host_big_endian();
    ggld_status status = GGLD_OK;
    bool is_stored;

    for (uint64_t i = 0; i < r.n && status == GGLD_OK; i++) {
        if (!is_infinite(s->values + i * width, width, big_endian))
            continue;
        status = ask_infinite(d, r.first + i, &is_stored, err);
        s->n_lost += status == GGLD_OK && !is_stored;
    }
    return status;
}

/* Little-endian, whatever this machine is. */
static ggld_status make_binary(void *user, uint64_t item, void *slot,
                               ggld_error *err)
{
    const dump *d = user;
    dump_slot *s = slot;
    range r = dump_chunk(d, item);
    ggld_status status = read_values(d, s, r, err);
    unsigned width = d->job->format == DUMP_F16 ? 2 : 4;

    s->n_lost = 0;
    if (status == GGLD_OK && (width == 2 || is_wider_than_float(d->plain)))
        status = count_lost(d, s, r, width, err);
    if (bits_host_big_endian() && status == GGLD_OK)
        for (uint8_t *p = s->values; p < s->values + s->size_bytes; p += width)
            bits_store_le(p, width, bits_load(p, width, true));
    return status;
}

/* ---- text: one row a line ---- */

static char *put_separator(const dump *d, char *p, uint64_t elem)
{
    *p = (elem + 1) % d->job->row_elems == 0 ? '\n' : ' ';
    return p + 1;
}

static void text_end(dump_slot *s, const char *end)
{
    s->data = s->text;
    s->size_bytes = (size_t)(end - s->text);
}

static ggld_status make_text(void *user, uint64_t item, void *slot,
                             ggld_error *err)
{
    const dump *d = user;
    dump_slot *s = slot;
    range r = dump_chunk(d, item);
    ggld_status status = read_values(d, s, r, err);
    char *p = s->text;

    for (uint64_t i = 0; i < r.n && status == GGLD_OK; i++) {
        float value;
        memcpy(&value, s->values + i * sizeof value, sizeof value);
        p = stpcpy(p, text_f32(value).text);
        p = put_separator(d, p, r.first + i);
    }
    text_end(s, p);
    return status;
}

static char *put_plain(const plain_type *plain, char *p, uint64_t bits)
{
    unsigned shift = 64 - 8 * plain->width;
    double value;

    /* The sign spreads from the top. */
    if (plain->kind == 'i')
        /* NOLINTNEXTLINE(clang-analyzer-core.*): no type has no bytes. */
        return p + sprintf(p, "%" PRId64, (int64_t)(bits << shift) >> shift);
    memcpy(&value, &bits, sizeof value);
    return stpcpy(p, text_f64(value).text);
}

static ggld_status make_plain_text(void *user, uint64_t item, void *slot,
                                   ggld_error *err)
{
    const dump *d = user;
    dump_slot *s = slot;
    unsigned width = d->plain->width;
    range r = dump_chunk(d, item);
    ggld_status status = read_stored(d, s, r.first * width, r.n * width, err);
    char *p = s->text;

    for (uint64_t i = 0; i < r.n && status == GGLD_OK; i++) {
        p = put_plain(
            d->plain, p,
            bits_load(s->values + i * width, width, d->job->info.big_endian));
        p = put_separator(d, p, r.first + i);
    }
    text_end(s, p);
    return status;
}

/* ---- npy ---- */

/* The dictionary of a header: NumPy's shape lists the slowest dimension first.
 * A part of the rows is a matrix of them. */
static void npy_dictionary(char *text, size_t size, const dump_job *job,
                           const plain_type *plain)
{
    const ggld_tensor_info *info = &job->info;
    bool whole = job->first_row == 0 && job->end_row == job->n_rows;
    char order = info->big_endian ? '>' : '<';
    int n;

    if (plain == NULL)
        n = snprintf(text, size, "{'descr': '<f4'");
    else
        n = snprintf(text, size, "{'descr': '%c%c%u'",
                     plain->width == 1 ? '|' : order, plain->kind,
                     plain->width);
    n += snprintf(text + n, size - (size_t)n,
                  ", 'fortran_order': False, 'shape': (");
    if (!whole)
        n += snprintf(text + n, size - (size_t)n, "%" PRIu64 ", %" PRIu64,
                      job->end_row - job->first_row, job->row_elems);
    for (uint32_t i = whole ? info->n_dims : 0; i > 0; i--)
        n += snprintf(text + n, size - (size_t)n, "%" PRIu64 "%s",
                      info->dims[i - 1], i > 1 ? ", " : "");
    snprintf(text + n, size - (size_t)n, "%s), }",
             whole && info->n_dims == 1 ? "," : "");
}

/* Version 1.0: magic, version, length, dictionary, spaces up to a multiple of
 * 64 bytes, a newline. */
static void npy_header(output *o, const dump_job *job, const plain_type *plain)
{
    char text[256];
    uint8_t head[10] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 0, 0 };

    npy_dictionary(text, sizeof text, job, plain);
    size_t len = strlen(text);
    size_t total = (sizeof head + len + 1 + 63) / 64 * 64;
    bits_store_le(head + 8, 2, total - sizeof head);
    out_bytes(o, head, sizeof head);
    out_bytes(o, text, len);
    out_pad(o, total - sizeof head - len - 1);
    out_text(o, "\n");
}

/* ---- all of it ---- */

static ggld_status dump_take(void *user, uint64_t item, void *slot,
                             ggld_error *err)
{
    dump *d = user;
    const dump_slot *s = slot;

    (void)item, (void)err;
    if (d->make == make_binary)
        d->n_lost += s->n_lost;
    out_bytes(d->out, s->data, s->size_bytes);
    /* Ends the work; what it was, the output knows. */
    return d->out->sys_errno == 0 ? GGLD_OK : GGLD_E_IO;
}

/* Stored bytes of the rows asked for. A row is a whole number of blocks. */
static void choose_raw(dump *d)
{
    const dump_job *job = d->job;
    const ggld_type_traits *traits = ggld_type_traits_of(job->info.type);

    d->make = make_raw;
    d->most = CHUNK_BYTES;
    d->end = job->info.size_bytes;
    if (traits == NULL)
        return;
    d->first = job_first_elem(job) / traits->block_elems * traits->block_bytes;
    d->end =
        d->first + job_n_elems(job) / traits->block_elems * traits->block_bytes;
}

static void choose_values(dump *d)
{
    bool text = d->job->format == DUMP_TEXT;

    d->make = !text                           ? make_binary
              : is_wider_than_float(d->plain) ? make_plain_text
                                              : make_text;
    d->most = CHUNK_ELEMS;
    d->first = job_first_elem(d->job);
    d->end = d->first + job_n_elems(d->job);
}

int dump_run_job(const dump_job *job, output *o)
{
    bool npy = job->format == DUMP_NPY, text = job->format == DUMP_TEXT;
    dump d = { .job = job, .out = o, .plain = plain_of(job->info.type) };
    ggld_error err;

    if (npy)
        npy_header(o, job, d.plain);
    if (job->format == DUMP_RAW || (npy && d.plain != NULL))
        choose_raw(&d);
    else
        choose_values(&d);
    uint64_t n = d.end - d.first;
    pipeline p = { .n_items = n / d.most + (n % d.most != 0),
                   .slot_bytes =
                       text ? sizeof(dump_slot) : offsetof(dump_slot, text),
                   .user = &d,
                   .work = d.make,
                   .take = dump_take };
    ggld_status status = pipeline_run(&p, &err);
    if (d.n_lost != 0)
        report_note(job->m->path,
                    "%" PRIu64 " finite value%s of '%.*s' %s too large for "
                    "%s: infinite",
                    d.n_lost, text_plural(d.n_lost), (int)job->info.name.len,
                    job->info.name.data, d.n_lost != 1 ? "are" : "is",
                    job->format == DUMP_F16 ? "f16" : "f32");
    if (status == GGLD_OK || o->sys_errno != 0)
        return STATUS_GOOD;
    if (status == GGLD_E_CANCELLED)
        return stop_report(job->m->path);
    return model_failed(job->m, NULL, &err);
}
