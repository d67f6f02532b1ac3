/* SPDX-License-Identifier: MIT */
/* Files shaped as real ones are, with every count, length, dimension, offset
 * and type made every awkward number, alone and by pairs, and a file of 4096
 * bytes with every byte changed. Nothing may crash, and neither memory nor
 * reading may exceed what the file's size allows, whatever it claims:
 *
 *   memory      FIXED_BYTES + BYTES_PER_BYTE x size of the file
 *   reading     every byte of the file once, in CALLS calls at most
 *   findings    FINDINGS_PER_RECORD for each record that the file has room
 *               for, and a few of the file
 *
 * The argument, if any, is how many of 255 changes of a byte to pass over at
 * each step (for emulators). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ggld/ggld.h>

#include "heap.h"
#include "outcome.h"
#include "shaped.h"

/* The file's object; the first 64 places of each table. */
#define FIXED_BYTES 16384
/* A tensor's record has 24 bytes at least, a tensor in memory 96, and a table
 * never more places than there is room for records: 4, and 2 for the table of
 * half that size that it grows from. The metadata's copy, likewise, 2. For
 * each name 16 bytes in an index, 16 to compare it up to its NUL, 4 to sort
 * it, with a record of 13 bytes at least: 4. */
#define BYTES_PER_BYTE 12
/* The first 64 KiB, and then twice as much at each call. */
#define CALLS_MAX 8
/* The smallest record is a key-value's, in version 1: 9 bytes. */
#define MIN_RECORD_BYTES    9
#define FINDINGS_PER_RECORD 10

static uint64_t n_opens;

/* ---- a source that counts ---- */

typedef struct counting {
    const uint8_t *data;
    size_t size;
    uint64_t asked;
    uint64_t n_calls;
} counting;

static int64_t counting_pread(void *ctx, void *dst, size_t n, uint64_t offset)
{
    counting *c = ctx;
    c->asked += n;
    c->n_calls++;
    if (offset > c->size || n > c->size - offset)
        return -5;
    memcpy(dst, c->data + offset, n);
    return (int64_t)n;
}

static void expect_bounds(const char *what, const uint8_t *data, size_t size,
                          uint32_t flags)
{
    heap h = { .fail_at = HEAP_NEVER_FAILS };
    ggld_allocator allocator = heap_allocator(&h);
    counting c = { data, size, 0, 0 };
    ggld_source source = {
        sizeof source, size, counting_pread, NULL, NULL, &c
    };
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file;

    options.flags = flags;
    options.allocator = &allocator;
    if (ggld_open_source(&file, &source, &options, NULL) == GGLD_OK)
        ggld_close(file);
    n_opens++;
    if (h.peak_bytes > FIXED_BYTES + BYTES_PER_BYTE * (uint64_t)size)
        outcome_fault(what, "takes %" PRIu64 " bytes of memory for %zu",
                      h.peak_bytes, size);
    if (c.asked > size || c.n_calls > CALLS_MAX)
        outcome_fault(what,
                      "reads %" PRIu64 " of %zu bytes in %" PRIu64 " calls",
                      c.asked, size, c.n_calls);
    if (h.live_bytes != 0)
        outcome_fault(what, "leaves %" PRIu64 " bytes of memory", h.live_bytes);
}

static void count_finding(ggld_severity severity, const ggld_error *finding,
                          void *user)
{
    uint64_t *n = user;
    (void)severity;
    (void)finding;
    ++*n;
}

static void expect_findings(const char *what, int fd, size_t size)
{
    uint64_t n = 0;
    if (ggld_check_fd(fd, NULL, count_finding, &n, NULL) != GGLD_OK)
        outcome_fault(what, "could not be checked");
    if (n > 8 + FINDINGS_PER_RECORD * (size / MIN_RECORD_BYTES))
        outcome_fault(what, "has %" PRIu64 " findings in %zu bytes", n, size);
}

/* What strict takes default takes, and what that takes METADATA takes. */
static void expect_order(const char *what, const uint8_t *data, size_t size)
{
    ggld_error err;
    bool strict =
        outcome_opens_memory(what, data, size, GGLD_OPEN_STRICT, &err);
    bool standard = outcome_opens_memory(what, data, size, 0, &err);
    bool metadata =
        outcome_opens_memory(what, data, size, GGLD_OPEN_METADATA, &err);
    n_opens += 3;
    if ((strict && !standard) || (standard && !metadata))
        outcome_fault(what, "strict %d, default %d, metadata %d: %s", strict,
                      standard, metadata, err.message);
}

/* ---- fields ---- */

/* The highest number of so many bytes, and what comes near to making products
 * wrap: of the smallest records, of elements of every size, of each other. */
static size_t values_of(const field *f, size_t file_bytes, uint64_t out[64])
{
    uint64_t max =
        f->width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * f->width) - 1;
    static const uint64_t units[] = { 2, 4, 8, 12, 13, 18, 24, 32, 34, 96 };
    size_t n = 0;
    out[n++] = 0;
    out[n++] = 1;
    out[n++] = max / 2;
    out[n++] = max / 2 + 1;
    for (uint64_t i = 0; i < 16; i++)
        out[n++] = max - i;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        out[n++] = max / units[i];
        out[n++] = max / units[i] + 1;
    }
    for (unsigned bits = 31; bits < 8 * f->width; bits += 15)
        out[n++] = UINT64_C(1) << bits;
    const uint64_t near[] = { file_bytes - 1,
                              file_bytes,
                              file_bytes + 1,
                              file_bytes / 13,
                              file_bytes / 24,
                              5,
                              9,
                              43 };
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++)
        out[n++] = near[i] & max;
    return n;
}

static void set(image *img, const field *f, uint64_t value)
{
    size_t size = img->size;
    img->size = f->at;
    image_number(img, value, f->width);
    img->size = size;
}

/* A copy just as large as the image, so that sanitizers see the byte behind,
 * and the same in a file. */
typedef struct target {
    uint8_t *data;
    size_t size;
    int fd;
} target;

static target target_new(const image *img)
{
    target t = { malloc(img->size), img->size, -1 };
    t.fd = memfd_create("fields", MFD_CLOEXEC);
    if (t.data == NULL || t.fd < 0 || ftruncate(t.fd, (off_t)img->size) != 0)
        abort();
    return t;
}

static void target_free(target *t)
{
    free(t->data);
    close(t->fd);
}

static void expect_all(const char *what, const target *t, const image *img)
{
    memcpy(t->data, img->data, img->size);
    expect_order(what, t->data, t->size);
    expect_bounds(what, t->data, t->size, 0);
    expect_bounds(what, t->data, t->size, GGLD_OPEN_STRICT);
    expect_bounds(what, t->data, t->size, GGLD_OPEN_COPY);
    if (pwrite(t->fd, t->data, t->size, 0) != (ssize_t)t->size)
        abort();
    expect_findings(what, t->fd, t->size);
}

static void sweep_fields(shaped *s)
{
    target t = target_new(&s->img);
    char what[128];
    uint8_t was[8];
    uint64_t n_tried = 0;
    for (size_t i = 0; i < s->n_fields; i++) {
        const field *f = &s->fields[i];
        uint64_t values[64];
        size_t n = values_of(f, s->img.size, values);
        memcpy(was, s->img.data + f->at, f->width);
        for (size_t k = 0; k < n; k++) {
            set(&s->img, f, values[k]);
            snprintf(what, sizeof what, "%s: byte %zu made %" PRIu64, s->name,
                     f->at, values[k]);
            expect_all(what, &t, &s->img);
        }
        memcpy(s->img.data + f->at, was, f->width);
        n_tried += n;
    }
    printf("%s: %zu fields, %" PRIu64 " values\n", s->name, s->n_fields,
           n_tried);
    target_free(&t);
    shaped_free(s);
}

/* Two fields at once, of those that follow one another and are multiplied or
 * added: the counts of the header, dimensions, a dimension or type and an
 * offset. */
static void sweep_pairs(shaped *s)
{
    char what[128];
    uint8_t *was = malloc(s->img.size);
    uint64_t n_tried = 0;
    if (was == NULL)
        abort();
    memcpy(was, s->img.data, s->img.size);
    for (size_t i = 0; i + 1 < s->n_fields; i++) {
        const field *a = &s->fields[i], *b = &s->fields[i + 1];
        uint64_t x[64], y[64];
        if (a->kind == FIELD_LENGTH || b->kind == FIELD_LENGTH ||
            a->kind == FIELD_VALUE || b->kind == FIELD_VALUE)
            continue;
        size_t n = values_of(a, s->img.size, x);
        size_t m = values_of(b, s->img.size, y);
        for (size_t k = 0; k < n * m; k++) {
            set(&s->img, a, x[k / m]);
            set(&s->img, b, y[k % m]);
            snprintf(what, sizeof what,
                     "%s: byte %zu made %" PRIu64 ", byte %zu %" PRIu64,
                     s->name, a->at, x[k / m], b->at, y[k % m]);
            expect_bounds(what, s->img.data, s->img.size, 0);
        }
        memcpy(s->img.data, was, s->img.size);
        n_tried += n * m;
    }
    printf("%s: %" PRIu64 " pairs of values\n", s->name, n_tried);
    free(was);
    shaped_free(s);
}

/* ---- bytes ---- */

static bool opens(const uint8_t *data, size_t size, ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file;
    options.flags = GGLD_OPEN_STRICT;
    n_opens++;
    if (ggld_open_memory(&file, data, size, &options, err) != GGLD_OK)
        return false;
    ggld_close(file);
    return true;
}

static void sweep_bytes(shaped *s, unsigned step)
{
    target t = target_new(&s->img);
    char what[64];
    uint64_t n_tried = 0;
    ggld_error err;
    memcpy(t.data, s->img.data, t.size);
    for (size_t at = 0; at < t.size; at++) {
        for (unsigned change = 1; change < 256; change += step) {
            t.data[at] = (uint8_t)(s->img.data[at] ^ change);
            snprintf(what, sizeof what, "%s: byte %zu made %02x", s->name, at,
                     t.data[at]);
            n_tried++;
            if (at < s->table_end) {
                expect_order(what, t.data, t.size);
                expect_bounds(what, t.data, t.size, 0);
                continue;
            }
            if (!opens(t.data, t.size, &err))
                outcome_fault(what, "is refused for its data: %s", err.message);
        }
        t.data[at] = s->img.data[at];
    }
    printf("%s: %" PRIu64 " changes of a byte\n", s->name, n_tried);
    target_free(&t);
    shaped_free(s);
}

int main(int argc, char **argv)
{
    static shaped s;
    unsigned step = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    shaped_language(&s, 3, false);
    sweep_fields(&s);
    shaped_language(&s, 1, false);
    sweep_fields(&s);
    shaped_language(&s, 3, true);
    sweep_fields(&s);
    shaped_diffusion(&s);
    sweep_fields(&s);
    shaped_vocabulary(&s);
    sweep_fields(&s);
    shaped_long(&s);
    sweep_fields(&s);
    shaped_dense(&s);
    sweep_fields(&s);
    shaped_diffusion(&s);
    sweep_pairs(&s);
    shaped_vocabulary(&s);
    sweep_pairs(&s);
    shaped_4096(&s);
    if (s.img.size != 4096)
        outcome_fault(s.name, "has %zu bytes", s.img.size);
    sweep_bytes(&s, step == 0 ? 1 : step);
    printf("%" PRIu64 " opens\n%d passed, %d failed, 0 skipped\n", n_opens,
           outcome_faults == 0, outcome_faults);
    return outcome_faults != 0;
}
