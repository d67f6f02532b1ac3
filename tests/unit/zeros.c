/* SPDX-License-Identifier: MIT */
/* Zeros at a file's end: where a check says that they start, and what it reads
 * to find that. Calls of the library are counted on their way. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <ggld/ggld.h>

#include "hearing.h"
#include "image.h"

#define KIB   (UINT64_C(1) << 10)
#define MIB   (UINT64_C(1) << 20)
#define GIB   (UINT64_C(1) << 30)
#define SMALL (64 * MIB)
#define TIB   (UINT64_C(1) << 40)

/* Of one check. */
static struct {
    uint64_t read_bytes;
    uint64_t n_seeks;
    bool no_holes; /* the file system knows none */
} calls;

ssize_t __real_pread64(int fd, void *data, size_t n, off_t at);
ssize_t __wrap_pread64(int fd, void *data, size_t n, off_t at);
ssize_t __wrap_pread64(int fd, void *data, size_t n, off_t at)
{
    ssize_t got = __real_pread64(fd, data, n, at);
    calls.read_bytes += got > 0 ? (uint64_t)got : 0;
    return got;
}

off_t __real_lseek64(int fd, off_t at, int whence);
off_t __wrap_lseek64(int fd, off_t at, int whence);
off_t __wrap_lseek64(int fd, off_t at, int whence)
{
    calls.n_seeks++;
    if (calls.no_holes && (whence == SEEK_DATA || whence == SEEK_HOLE)) {
        errno = EINVAL;
        return -1;
    }
    return __real_lseek64(fd, at, whence);
}

/* Written bytes of data, in a file that is a hole otherwise. */
typedef struct extent {
    uint64_t start; /* from where data begins */
    uint64_t size;
    uint8_t byte;
} extent;

typedef struct sparse {
    const char *what;
    uint64_t size;       /* of the data: one tensor */
    uint64_t zeros_from; /* where they start, from where data begins */
    uint64_t most_bytes; /* that are read */
    uint64_t most_seeks;
    extent written[4];
    extent more; /* the first of n_more such, each `step` behind another */
    uint64_t n_more;
    uint64_t step;
} sparse;

static void put(int fd, uint64_t data, extent e)
{
    uint8_t *bytes = malloc(e.size + 1);
    cr_assert_not_null(bytes);
    memset(bytes, e.byte, e.size);
    cr_assert_eq(pwrite(fd, bytes, e.size, (off_t)(data + e.start)),
                 (ssize_t)e.size);
    free(bytes);
}

/* The file, unlinked; *data: where its data begins. -1: the file system has
 * no files of that size. */
static int make(const sparse *s, uint64_t *data)
{
    char path[] = "/tmp/ggld-zeros-XXXXXX";
    image img = image_new(3, false, 1, 1);
    int fd = mkstemp(path);

    cr_assert(fd >= 0 && unlink(path) == 0);
    image_kv_text(&img, "general.architecture", "llama");
    image_tensor(&img, "t", 1, (uint64_t[]){ s->size }, 24, 0);
    image_pad(&img, 32);
    *data = img.size;
    cr_assert_eq(write(fd, img.data, img.size), (ssize_t)img.size);
    image_free(&img);
    if (ftruncate(fd, (off_t)(*data + s->size)) != 0) {
        close(fd);
        return -1;
    }
    for (size_t i = 0; i < 4; i++)
        put(fd, *data, s->written[i]);
    for (uint64_t i = 0; i < s->n_more; i++) {
        extent e = s->more;
        e.start += i * s->step;
        put(fd, *data, e);
    }
    return fd;
}

/* "the last N bytes are zero": how many? */
static uint64_t zeros_told(const findings *f)
{
    static const char begin[] = "the last ";
    for (size_t i = 0; i < f->count; i++) {
        const char *at = strstr(f->error[i].message, begin);
        if (at != NULL && strstr(at, " bytes are zero, from") != NULL)
            return strtoull(at + strlen(begin), NULL, 10);
    }
    return 0;
}

static void check(const sparse *s, bool no_holes)
{
    uint64_t data;
    findings f = { 0 };
    ggld_error err;
    int fd = make(s, &data);

    if (fd < 0)
        return;
    calls.read_bytes = calls.n_seeks = 0;
    calls.no_holes = no_holes;
    cr_assert_eq(ggld_check_fd(fd, NULL, findings_hear, &f, &err), GGLD_OK,
                 "%s: %s", s->what, err.message);
    calls.no_holes = false;
    close(fd);
    uint64_t expected = s->size - s->zeros_from;
    cr_expect_eq(zeros_told(&f), expected,
                 "%s: expected %" PRIu64 " zeros, got %" PRIu64, s->what,
                 expected, zeros_told(&f));
    if (no_holes)
        return;
    cr_expect_leq(calls.read_bytes, s->most_bytes,
                  "%s: expected to read %" PRIu64
                  " bytes at most, got %" PRIu64,
                  s->what, s->most_bytes, calls.read_bytes);
    cr_expect_leq(calls.n_seeks, s->most_seeks,
                  "%s: expected %" PRIu64 " seeks at most, got %" PRIu64,
                  s->what, s->most_seeks, calls.n_seeks);
}

/* Read are metadata, the last 4096 bytes, and 1 MiB at each extent that is
 * met. */
static const sparse rows[] = {
    { "a hole", SMALL, 70001, 2 * MIB, 150, .written = { { 0, 70001, 'U' } } },
    { "a zero at the end", SMALL, 70001, 3 * MIB, 150,
      .written = { { 0, 70001, 'U' }, { SMALL - 1, 1, 0 } } },
    { "a written block at the end", SMALL, 70001, 3 * MIB, 150,
      .written = { { 0, 70001, 'U' }, { SMALL - 4096, 4096, 0 } } },
    { "written zeros in the middle", SMALL, 70001, 3 * MIB, 150,
      .written = { { 0, 70001, 'U' }, { SMALL / 2 + 5, 9001, 0 } } },
    { "in the middle and at the end", SMALL, 70001, 4 * MIB, 200,
      .written = { { 0, 70001, 'U' },
                   { SMALL / 2 + 5, 9001, 0 },
                   { SMALL - 1, 1, 0 } } },
    { "data between holes", SMALL, 20 * MIB + 9001, 4 * MIB, 200,
      .written = { { 0, 70001, 'U' },
                   { 20 * MIB, 9001, 'U' },
                   { 44 * MIB, 5000, 0 },
                   { SMALL - 1, 1, 0 } } },
    { "data, and zeros behind it", SMALL, 20 * MIB + 9001, 6 * MIB, 200,
      .written = { { 20 * MIB, 9001, 'U' },
                   { 20 * MIB + 9001, 3 * MIB, 0 },
                   { SMALL - 1, 1, 0 } } },
    { "nothing but zeros", SMALL, 0, 2 * MIB, 150,
      .written = { { SMALL - 1, 1, 0 } } },
    { "less than is read at once", 9001, 3001, 32 * KIB, 150,
      .written = { { 0, 3001, 'U' }, { 9000, 1, 0 } } },
    { "200 small extents, near to one another", SMALL, 70001, 53 * MIB, 2000,
      .written = { { 0, 70001, 'U' }, { SMALL - 1, 1, 0 } },
      .more = { 2 * MIB, 4096, 0 }, .n_more = 200, .step = 256 * KIB },
};

/* Larger than is to be read where holes are unknown. */
static const sparse large[] = {
    { "500 small extents", 8 * GIB, 70001, 502 * MIB, 40000,
      .written = { { 0, 70001, 'U' } }, .more = { 2 * MIB, 4096, 0 },
      .n_more = 500, .step = 16 * MIB },
    { "4 TiB of a hole, and a zero", 4 * TIB, 70001, 3 * MIB, 300,
      .written = { { 0, 70001, 'U' }, { 4 * TIB - 1, 1, 0 } } },
    { "4 TiB with 102 extents", 4 * TIB, 70001, 105 * MIB, 20000,
      .written = { { 0, 70001, 'U' },
                   { 2 * TIB + 77, 1, 0 },
                   { 4 * TIB - 1, 1, 0 } },
      .more = { 3 * TIB, 4096, 0 }, .n_more = 100, .step = GIB },
};

/* Does the file system that has the files know where their holes are? */
static bool knows_holes(void)
{
    uint64_t data;
    int fd = make(&rows[0], &data);
    off_t at = (off_t)(data + SMALL / 2);
    bool knows = __real_lseek64(fd, at, SEEK_DATA) != at;
    close(fd);
    return knows;
}

Test(zeros, are_found_past_holes_that_nobody_reads)
{
    if (!knows_holes())
        cr_skip_test("the file system of /tmp knows no holes");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(&rows[i], false);
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        check(&large[i], false);
}

Test(zeros, are_found_where_no_holes_are_known)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(&rows[i], true);
}
