/* SPDX-License-Identifier: MIT */
/* See dump.h. Values go out in chunks of a fixed size. Floats of up to 32 bits
 * and quantised values come through views; integers and F64, which a float
 * can't hold, from the stored bytes. */
#include "dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "report.h"
#include "stop.h"
#include "text.h"

#define CHUNK_ELEMS 65536
#define CHUNK_BYTES (CHUNK_ELEMS * 8)

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

static uint64_t job_first_elem(const dump_job *job)
{
    return job->first_row * job->row_elems;
}

static uint64_t job_n_elems(const dump_job *job)
{
    return (job->end_row - job->first_row) * job->row_elems;
}

/* ---- stored bytes ---- */

static int dump_bytes(const dump_job *job, output *o, void *chunk,
                      uint64_t first_byte, uint64_t n_bytes)
{
    ggld_error err;

    while (n_bytes > 0 && o->sys_errno == 0) {
        size_t n = n_bytes < CHUNK_BYTES ? (size_t)n_bytes : CHUNK_BYTES;
        if (stop_asked())
            return stop_report(job->path);
        if (ggld_tensor_read_bytes(job->tensor, first_byte, chunk, n, &err) !=
            GGLD_OK)
            return report_error(job->path, &err);
        out_bytes(o, chunk, n);
        first_byte += n;
        n_bytes -= n;
    }
    return STATUS_GOOD;
}

/* Of the rows asked for. A row is a whole number of blocks. */
static int dump_raw(const dump_job *job, output *o, void *chunk)
{
    const ggld_type_traits *traits = ggld_type_traits_of(job->info.type);

    if (traits == NULL)
        return dump_bytes(job, o, chunk, 0, job->info.size_bytes);
    return dump_bytes(
        job, o, chunk,
        job_first_elem(job) / traits->block_elems * traits->block_bytes,
        job_n_elems(job) / traits->block_elems * traits->block_bytes);
}

/* ---- values through views ---- */

typedef int (*chunk_sink)(output *o, void *chunk, uint64_t n_elems,
                          const dump_job *job, uint64_t first_elem);

static int read_chunk(const dump_job *job, void *chunk, uint64_t first_elem,
                      uint64_t n)
{
    ggld_view whole = ggld_tensor_view(job->tensor), part;
    ggld_error err;
    ggld_status status = ggld_view_elems(&part, &whole, first_elem, n, &err);

    if (status == GGLD_OK)
        status = job->format == DUMP_F16
                     ? ggld_view_read_f16(&part, chunk, n, &err)
                     : ggld_view_read_f32(&part, chunk, n, &err);
    return status == GGLD_OK ? STATUS_GOOD : report_error(job->path, &err);
}

static int dump_values(const dump_job *job, output *o, void *chunk,
                       chunk_sink sink)
{
    uint64_t elem = job_first_elem(job);
    uint64_t left = job_n_elems(job);
    int status = STATUS_GOOD;

    while (left > 0 && o->sys_errno == 0 && status == STATUS_GOOD) {
        uint64_t n = left < CHUNK_ELEMS ? left : CHUNK_ELEMS;
        if (stop_asked())
            return stop_report(job->path);
        status = read_chunk(job, chunk, elem, n);
        if (status == STATUS_GOOD)
            status = sink(o, chunk, n, job, elem);
        elem += n;
        left -= n;
    }
    return status;
}

/* Little-endian, whatever this machine is. */
static int sink_binary(output *o, void *chunk, uint64_t n_elems,
                       const dump_job *job, uint64_t first_elem)
{
    unsigned width = job->format == DUMP_F16 ? 2 : 4;
    uint8_t *p = chunk;

    (void)first_elem;
    if (bits_host_big_endian())
        for (uint64_t i = 0; i < n_elems; i++)
            bits_store_le(p + i * width, width,
                          bits_load(p + i * width, width, true));
    out_bytes(o, chunk, (size_t)n_elems * width);
    return STATUS_GOOD;
}

/* ---- text: one row a line ---- */

static void put_separator(output *o, const dump_job *job, uint64_t elem)
{
    bool row_over = (elem + 1) % job->row_elems == 0;
    out_bytes(o, row_over ? "\n" : " ", 1);
}

static int sink_text(output *o, void *chunk, uint64_t n_elems,
                     const dump_job *job, uint64_t first_elem)
{
    const float *values = chunk;

    for (uint64_t i = 0; i < n_elems && o->sys_errno == 0; i++) {
        out_text(o, text_f32(values[i]).text);
        put_separator(o, job, first_elem + i);
    }
    return STATUS_GOOD;
}

static void put_plain(output *o, const plain_type *plain, uint64_t bits)
{
    unsigned shift = 64 - 8 * plain->width;

    if (plain->kind == 'i') {
        /* The sign spreads from the top. */
        out_printf(o, "%" PRId64, (int64_t)(bits << shift) >> shift);
    } else {
        double value;
        memcpy(&value, &bits, sizeof value);
        out_text(o, text_f64(value).text);
    }
}

static int dump_plain_text(const dump_job *job, output *o, uint8_t *chunk,
                           const plain_type *plain)
{
    uint64_t elem = job_first_elem(job);
    uint64_t end = elem + job_n_elems(job);
    ggld_error err;

    while (elem < end && o->sys_errno == 0) {
        uint64_t n = end - elem < CHUNK_ELEMS ? end - elem : CHUNK_ELEMS;
        if (stop_asked())
            return stop_report(job->path);
        if (ggld_tensor_read_bytes(job->tensor, elem * plain->width, chunk,
                                   n * plain->width, &err) != GGLD_OK)
            return report_error(job->path, &err);
        for (uint64_t i = 0; i < n; i++) {
            put_plain(o, plain,
                      bits_load(chunk + i * plain->width, plain->width,
                                job->info.big_endian));
            put_separator(o, job, elem + i);
        }
        elem += n;
    }
    return STATUS_GOOD;
}

/* Do the stored bytes say more than floats could? */
static bool is_wider_than_float(const plain_type *plain)
{
    return plain != NULL && (plain->kind == 'i' || plain->width == 8);
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

static int dump_npy(const dump_job *job, output *o, void *chunk)
{
    const plain_type *plain = plain_of(job->info.type);

    npy_header(o, job, plain);
    if (plain != NULL)
        return dump_raw(job, o, chunk);
    return dump_values(job, o, chunk, sink_binary);
}

static int dump_text(const dump_job *job, output *o, void *chunk)
{
    const plain_type *plain = plain_of(job->info.type);

    if (is_wider_than_float(plain))
        return dump_plain_text(job, o, chunk, plain);
    return dump_values(job, o, chunk, sink_text);
}

int dump_run_job(const dump_job *job, output *o)
{
    void *chunk = malloc(CHUNK_BYTES);
    int status;

    if (chunk == NULL)
        return report(job->path, "no memory for a chunk");
    switch (job->format) {
    case DUMP_TEXT:
        status = dump_text(job, o, chunk);
        break;
    case DUMP_NPY:
        status = dump_npy(job, o, chunk);
        break;
    case DUMP_RAW:
        status = dump_raw(job, o, chunk);
        break;
    default:
        status = dump_values(job, o, chunk, sink_binary);
    }
    free(chunk);
    return status;
}
