/* SPDX-License-Identifier: MIT */
/* Every row of cases.def: makes its image, opens it in every way and mode, and
 * compares the verdicts and every field of what is said. The images are made
 * by tests/unit/image.c, which knows nothing of the library; a word as the
 * argument tries only the rows with it in their names. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ggld/ggld.h>

#include "image.h"
#include "outcome.h"

/* ---- what cases.def is written in ---- */

/* Types by their numbers in the format. */
enum { F32, F16, Q4_0, Q8_0 = 8, Q5_K = 13, Q6_K = 14, I8 = 24, I64 = 27 };
enum { U8, S8, U16, S16, U32, S32, FL32, BOOL, TEXT, ARRAY, U64, S64, FL64 };

typedef struct shape {
    uint32_t n_dims;
    uint64_t dims[4];
} shape;

#define SCALAR ((shape){ 0, { 0 } })
#define D(...) \
    ((shape){ sizeof((uint64_t[]){ __VA_ARGS__ }) / 8, { __VA_ARGS__ } })
#define P(n) (UINT64_C(1) << (n)) /* 2^n */

/* An image, and how far the file goes on behind it without being written. */
typedef struct made {
    image img;
    uint64_t file_bytes; /* 0: no further */
} made;

static void put(made *m, size_t at, uint64_t value, size_t width)
{
    size_t size = m->img.size;
    if (at + width > size)
        abort();
    m->img.size = at;
    image_number(&m->img, value, width);
    m->img.size = size;
}

static void fill(made *m, int byte, size_t count)
{
    uint8_t b = (uint8_t)byte;
    while (count-- > 0)
        image_bytes(&m->img, &b, 1);
}

static void tensor(made *m, const char *name, size_t len, shape s,
                   uint32_t type, uint64_t offset)
{
    image_string(&m->img, name, len);
    image_u32(&m->img, s.n_dims);
    for (uint32_t i = 0; i < s.n_dims; i++)
        image_len(&m->img, s.dims[i]);
    image_u32(&m->img, type);
    image_u64(&m->img, offset);
}

static void long_tensor(made *m, size_t len, shape s)
{
    char name[256];
    memset(name, 'n', sizeof name);
    tensor(m, name, len, s, F32, 0);
}

/* Without data: "t00000" and so on. */
static void many_tensors(made *m, unsigned count)
{
    char name[16];
    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof name, "t%05u", i);
        tensor(m, name, 6, D(0), F32, 0);
    }
}

/* Arrays of one array each, depth of them, the innermost of one u32. */
static void nested(made *m, int depth)
{
    for (int i = 1; i < depth; i++) {
        image_u32(&m->img, ARRAY);
        image_len(&m->img, 1);
    }
    image_u32(&m->img, U32);
    image_len(&m->img, 1);
    image_u32(&m->img, 7);
}

static void strings(made *m, size_t count)
{
    while (count-- > 0)
        image_string(&m->img, "s", 1);
}

/* As a text filter would: each byte from at on that is no ASCII. */
static void filter_text(made *m, size_t at)
{
    image out = m->img;
    out.data = NULL;
    out.size = out.room = 0;
    for (size_t i = 0; i < m->img.size; i++)
        if (i >= at && m->img.data[i] >= 0x80)
            image_bytes(&out, "\xEF\xBF\xBD", 3);
        else
            image_bytes(&out, &m->img.data[i], 1);
    image_free(&m->img);
    m->img = out;
}

static void filter_lines(made *m)
{
    image out = m->img;
    out.data = NULL;
    out.size = out.room = 0;
    for (size_t i = 0; i < m->img.size; i++) {
        if (m->img.data[i] == '\n')
            image_bytes(&out, "\r", 1);
        image_bytes(&out, &m->img.data[i], 1);
    }
    image_free(&m->img);
    m->img = out;
}

#define BYTES(text)        image_bytes(&m->img, text, sizeof text - 1);
#define FILL(byte, n)      fill(m, byte, n);
#define ZEROS(n)           fill(m, 0, n);
#define N32(v)             image_u32(&m->img, v);
#define N64(v)             image_u64(&m->img, v);
#define N(v)               image_len(&m->img, v);
#define STR(text)          image_string(&m->img, text, sizeof text - 1);
#define STRINGS(n)         strings(m, n);
#define KV(key, type)      STR(key) N32(type)
#define KV32(key, type, v) KV(key, type) N32(v)
#define LONG_KEY(n)        N(n) FILL('k', n) N32(U8) ZEROS(1)
#define ARR(key, elem, n)  KV(key, ARRAY) N32(elem) N(n)
#define NESTED(depth)      nested(m, depth);
#define ARCH               KV("general.architecture", TEXT) STR("llama")
#define ALIGN(v)           KV32("general.alignment", U32, v)
#define TI(name, shape, type, offset) \
    tensor(m, name, sizeof name - 1, shape, type, offset);
#define LONG_TI(n, shape) long_tensor(m, n, shape);
#define MANY(n)           many_tensors(m, n);
#define PAD               image_pad(&m->img, 32);
#define PAD_TO(n)         image_pad(&m->img, n);
#define DATA(n)           image_data(&m->img, n);
#define PUT8(at, v)       put(m, at, v, 1);
#define PUT32(at, v)      put(m, at, v, 4);
#define PUT64(at, v)      put(m, at, v, 8);
#define CUT(n)            m->img.size = (n);
#define SPARSE(n)         m->file_bytes = (n);
#define TEXT_FILTER(from) filter_text(m, from);
#define LINE_FILTER       filter_lines(m);

/* The bases. */
#define NOTHING
#define HEAD(tensors, kvs) m->img = image_new(3, false, tensors, kvs);
#define V1(tensors, kvs)   m->img = image_new(1, false, tensors, kvs);
#define V2(tensors, kvs)   m->img = image_new(2, false, tensors, kvs);
#define BIG(tensors, kvs)  m->img = image_new(3, true, tensors, kvs);
#define MODEL(kvs)         HEAD(0, (kvs) + 1) ARCH
#define ONE                HEAD(1, 1) ARCH TI("t", D(8), F32, 0) PAD DATA(32)
#define SAMPLE             m->img = image_sample(3, false);

#define CASE(what, base, change, ...) \
    static void make_##what(made *m)  \
    {                                 \
        (void)m;                      \
        base change                   \
    }
#include "cases.def"
#undef CASE

/* ---- the table ---- */

typedef enum verdict { refuse, open } verdict;

typedef struct row {
    const char *what;
    void (*make)(made *m);
    verdict in_default, in_strict;
    ggld_status code;
    ggld_section section;
    uint64_t index;
    uint64_t offset;
    const char *message;
} row;

#define NO GGLD_NO_INDEX
/* What is said of a file that nothing is to be said of. */
#define SILENT GGLD_OK, GGLD_IN_NONE, 0, 0, ""

#define CASE(what, base, change, ...) { #what, make_##what, __VA_ARGS__ },
static const row rows[] = {
#include "cases.def"
};

/* ---- trying ---- */

/* Images are as small as can be, and few name an architecture. */
static bool is_of_models(const ggld_error *finding)
{
    return strstr(finding->message, "no 'general.architecture'") != NULL;
}

/* The first finding of a check of the file's structure, whatever its
 * severity. */
static void hear_first(ggld_severity severity, const ggld_error *finding,
                       void *user)
{
    ggld_error *first = user;
    (void)severity;
    if (first->code == GGLD_OK && !is_of_models(finding))
        *first = *finding;
}

typedef struct heard {
    const ggld_error *wanted;
    bool warned;
} heard;

static void hear_warning(ggld_severity severity, const ggld_error *finding,
                         void *user)
{
    heard *h = user;
    h->warned |= severity == GGLD_WARNING &&
                 memcmp(finding, h->wanted, sizeof *finding) == 0;
}

static void check(const row *r, int fd, ggld_finding finding, void *user)
{
    if (ggld_check_fd(fd, NULL, finding, user, NULL) != GGLD_OK)
        outcome_fault(r->what, "could not be checked");
}

/* Too large to be copied, or gone through byte by byte as a check does. */
static bool opens_sparse(int fd, uint32_t flags, ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file;
    options.flags = flags;
    memset(err, 0, sizeof *err);
    if (ggld_open_fd(&file, fd, &options, err) != GGLD_OK)
        return false;
    ggld_close(file);
    return true;
}

static const char *verdict_name(bool opens)
{
    return opens ? "open" : "refuse";
}

static void compare(const row *r, bool in_default, bool in_strict,
                    const ggld_error *got)
{
    if (in_default == (r->in_default == open) &&
        in_strict == (r->in_strict == open) && got->code == r->code &&
        got->section == r->section && got->index == r->index &&
        got->offset == r->offset && strcmp(got->message, r->message) == 0)
        return;
    outcome_fault(r->what,
                  "\n  expected: %s, %s, %s, section %d, index %" PRId64
                  ", byte %" PRIu64 ": %s"
                  "\n  got:      %s, %s, %s, section %d, index %" PRId64
                  ", byte %" PRIu64 ": %s",
                  verdict_name(r->in_default), verdict_name(r->in_strict),
                  ggld_status_name(r->code), r->section, (int64_t)r->index,
                  r->offset, r->message, verdict_name(in_default),
                  verdict_name(in_strict), ggld_status_name(got->code),
                  got->section, (int64_t)got->index, got->offset, got->message);
}

static void expect(const row *r, int fd, bool sparse)
{
    ggld_error err, strict_err;
    bool in_default = sparse ? opens_sparse(fd, 0, &err)
                             : outcome_agreed(r->what, fd, 0, &err);
    bool in_strict =
        sparse ? opens_sparse(fd, GGLD_OPEN_STRICT, &strict_err)
               : outcome_agreed(r->what, fd, GGLD_OPEN_STRICT, &strict_err);
    heard h = { &strict_err, sparse };
    if (in_default && in_strict && !sparse) {
        check(r, fd, hear_first, &err);
    } else if (in_default && !in_strict) {
        if (!sparse)
            check(r, fd, hear_warning, &h);
        if (!h.warned)
            outcome_fault(r->what, "a check does not warn of: %s",
                          strict_err.message);
        err = strict_err;
    }
    compare(r, in_default, in_strict, &err);
}

static int image_fd(const made *m)
{
    uint64_t size = m->file_bytes != 0 ? m->file_bytes : m->img.size;
    int fd = memfd_create("case", MFD_CLOEXEC);
    if (fd < 0 || write(fd, m->img.data, m->img.size) != (ssize_t)m->img.size ||
        ftruncate(fd, (off_t)size) != 0) {
        perror("memfd");
        exit(1);
    }
    return fd;
}

int main(int argc, char **argv)
{
    int n_rows = 0, n_failed = 0, n_skipped = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        made m = { { NULL, 0, 0, 3, false }, 0 };
        int before = outcome_faults;
        if (argc > 1 && strstr(rows[i].what, argv[1]) == NULL)
            continue;
        rows[i].make(&m);
        if (m.file_bytes > PTRDIFF_MAX / 4) {
            n_skipped++;
        } else {
            int fd = image_fd(&m);
            expect(&rows[i], fd, m.file_bytes != 0);
            close(fd);
            n_rows++;
            n_failed += outcome_faults != before;
        }
        image_free(&m.img);
    }
    if (n_rows == 0) {
        n_failed = n_rows = 1;
        printf("no row has '%s' in its name\n", argc > 1 ? argv[1] : "");
    }
    printf("%d passed, %d failed, %d skipped\n", n_rows - n_failed, n_failed,
           n_skipped);
    return n_failed != 0;
}
