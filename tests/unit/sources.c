/* SPDX-License-Identifier: MIT */
/* Where bytes come from: paths, descriptors, ranges, sources that fail; and
 * what is said of files that are something else. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <ggld/ggld.h>

#include "image.h"
#include "read/file.h"
#include "read/source.h"

static char folder[] = "/tmp/ggld-sources-XXXXXX";

static void make_folder(void)
{
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void remove_folder(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(sources, .init = make_folder, .fini = remove_folder);
TestSuite(sniff, .init = make_folder, .fini = remove_folder);

static void write_file(const char *name, const void *data, size_t size)
{
    FILE *f = fopen(name, "wb");
    cr_assert_not_null(f);
    cr_assert_eq(fwrite(data, 1, size, f), size);
    fclose(f);
}

static ggld_status open_flags(ggld_file **out, const char *name, uint32_t flags,
                              ggld_error *err)
{
    ggld_open_options options = ggld_open_options_init();
    options.flags = flags;
    return ggld_open_path(out, name, &options, err);
}

/* ---- what is no regular file ---- */

Test(sources, of_other_kinds_are_named_and_never_waited_for, .timeout = 10)
{
    static const struct {
        const char *name, *what;
    } rows[] = { { ".", "a directory" },
                 { "fifo", "a FIFO" },
                 { "/dev/null", "a device" } };
    cr_assert_eq(mkfifo("fifo", 0600), 0);
    for (size_t i = 0; i < 3; i++)
        for (uint32_t flags = 0; flags < 16; flags++) {
            ggld_file *file = NULL;
            ggld_error err;
            cr_expect_eq(open_flags(&file, rows[i].name, flags, &err),
                         GGLD_E_MAGIC, "%s", rows[i].what);
            cr_expect_not_null(strstr(err.message, rows[i].what), "%s",
                               err.message);
            cr_expect_eq(err.section, GGLD_IN_FILE);
            cr_expect_null(file);
        }
    int pair[2];
    ggld_file *file;
    ggld_error err;
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    cr_assert_eq(ggld_open_fd(&file, pair[0], NULL, &err), GGLD_E_MAGIC);
    cr_assert_not_null(strstr(err.message, "a socket"), "%s", err.message);
}

Test(sources, that_are_not_there_fail_with_the_systems_error)
{
    ggld_file *file = NULL;
    ggld_error err;
    cr_assert_eq(ggld_open_path(&file, "no\nsuch", NULL, &err), GGLD_E_IO);
    cr_assert_eq(err.sys_errno, ENOENT);
    cr_assert_str_eq(err.message,
                     "file: opening 'no\\x0Asuch': No such file or directory");
    cr_assert_eq(ggld_open_fd(&file, -1, NULL, &err), GGLD_E_IO);
    cr_assert_eq(err.sys_errno, EBADF);
    cr_assert_null(file);
    cr_assert_eq(ggld_open_path(&file, "x", NULL, NULL), GGLD_E_IO);
    cr_assert_eq(ggld_open_path(&file, NULL, NULL, &err), GGLD_E_INVALID);
    cr_assert_str_eq(err.message, "the path is NULL");
}

Test(sources, that_are_empty_say_so)
{
    write_file("empty", "", 0);
    for (uint32_t flags = 0; flags < 16; flags++) {
        ggld_file *file = NULL;
        ggld_error err;
        cr_expect_eq(open_flags(&file, "empty", flags, &err), GGLD_E_MAGIC);
        cr_expect_str_eq(err.message, "file: it is empty (0 bytes)");
    }
    ggld_file *file = NULL;
    cr_assert_eq(ggld_open_memory(&file, NULL, 0, NULL, NULL), GGLD_E_MAGIC);
    cr_assert_eq(ggld_open_memory(&file, NULL, 9, NULL, NULL), GGLD_E_INVALID);
    ggld_source source = { .struct_size = sizeof source };
    cr_assert_eq(ggld_open_source(&file, &source, NULL, NULL), GGLD_E_MAGIC);
    source.size_bytes = 5;
    cr_assert_eq(ggld_open_source(&file, &source, NULL, NULL), GGLD_E_INVALID);
    source.struct_size = 8;
    cr_assert_eq(ggld_open_source(&file, &source, NULL, NULL), GGLD_E_ABI);
    ggld_source large = { sizeof large, (uint64_t)PTRDIFF_MAX + 1,
                          NULL,         "GGUF",
                          NULL,         NULL };
    cr_assert_eq(ggld_open_source(&file, &large, NULL, NULL), GGLD_E_INVALID);
}

/* ---- descriptors ---- */

Test(descriptors, that_are_none_or_one_too_many_are_said_to_be)
{
    ggld_file *file = NULL;
    ggld_error err;
    cr_assert_eq(ggld_open_fd(&file, -1, NULL, &err), GGLD_E_IO);
    cr_assert_str_eq(err.message, "file: fstat: Bad file descriptor");

    int fd = memfd_create("one", MFD_CLOEXEC);
    struct rlimit limit = { (rlim_t)fd + 1, (rlim_t)fd + 1 };
    cr_assert(fd >= 0 && setrlimit(RLIMIT_NOFILE, &limit) == 0);
    cr_assert_eq(ggld_open_fd(&file, fd, NULL, &err), GGLD_E_IO);
    cr_assert_eq(err.sys_errno, EMFILE);
    cr_assert_null(file);
    close(fd);
}

static size_t count_lines(const char *path, const char *with)
{
    char line[4096];
    size_t n = 0;
    FILE *f = fopen(path, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        n += strstr(line, with) != NULL;
    if (f != NULL)
        fclose(f);
    return n;
}

Test(sources, a_descriptor_stays_the_callers)
{
    image img = image_sample(3, false);
    write_file("m.gguf", img.data, img.size);
    for (uint32_t flags = 0; flags < 8; flags += 2) {
        ggld_open_options options = ggld_open_options_init();
        ggld_file *file;
        uint8_t data[6];
        int fd = open("m.gguf", O_RDONLY);
        options.flags = flags;
        cr_assert_eq(lseek(fd, 5, SEEK_SET), 5);
        cr_assert_eq(ggld_open_fd(&file, fd, &options, NULL), GGLD_OK);
        cr_assert_eq(lseek(fd, 0, SEEK_CUR), 5, "its position was moved");
        close(fd);
        const ggld_tensor *t = ggld_tensor_find(file, "c");
        cr_assert_eq(
            ggld_file_read(file, t->offset, data, 6, ggld_nowhere(), NULL),
            GGLD_OK);
        cr_assert_arr_eq(data, ((uint8_t[]){ 1, 2, 3, 4, 5, 6 }), 6);
        cr_assert_eq(count_lines("/proc/self/maps", "m.gguf"), flags == 0);
        ggld_close(file);
        cr_assert_eq(count_lines("/proc/self/maps", "m.gguf"), 0);
    }
    image_free(&img);
}

Test(sources, no_descriptor_is_left_open)
{
    image img = image_sample(3, false);
    write_file("m.gguf", img.data, img.size);
    write_file("bad.gguf", img.data, img.size / 2);
    int before = dup(0);
    close(before);
    for (uint32_t flags = 0; flags < 16; flags++) {
        ggld_file *file;
        if (open_flags(&file, "m.gguf", flags, NULL) == GGLD_OK)
            ggld_close(file);
        if (open_flags(&file, "bad.gguf", flags, NULL) == GGLD_OK)
            ggld_close(file);
    }
    int after = dup(0);
    cr_assert_eq(after, before);
    image_free(&img);
}

/* ---- ranges ---- */

Test(sources, a_range_may_begin_anywhere)
{
    static const uint64_t offsets[] = { 0, 1, 7, 4095, 4096, 4097, 123457 };
    image img = image_sample(3, false);
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        image box = { NULL, 0, 0, 3, false };
        for (uint64_t n = 0; n < offsets[i]; n++)
            image_bytes(&box, "\xAB", 1);
        image_bytes(&box, img.data, img.size);
        image_bytes(&box, "behind", 6);
        write_file("box", box.data, box.size);
        int fd = open("box", O_RDONLY);
        for (uint32_t flags = 0; flags < 8; flags++) {
            ggld_open_options options = ggld_open_options_init();
            ggld_file *file = NULL;
            ggld_error err;
            options.flags = flags;
            cr_assert_eq(ggld_open_range(&file, fd, offsets[i], img.size,
                                         &options, &err),
                         GGLD_OK, "%s", err.message);
            ggld_string s = ggld_kv_raw(ggld_kv_at(file, 0)).bytes;
            cr_assert_eq(memcmp(s.data + 8, "llama", 5), 0);
            uint8_t data[36];
            const ggld_tensor *b = ggld_tensor_find(file, "b");
            cr_assert_eq(
                ggld_file_read(file, b->offset, data, 36, ggld_nowhere(), NULL),
                GGLD_OK);
            cr_assert(data[0] == 1 && data[35] == 36);
            ggld_close(file);
            /* Offsets in errors count from the range's start. */
            cr_assert_eq(ggld_open_range(&file, fd, offsets[i], img.size - 33,
                                         &options, &err),
                         GGLD_E_TRUNCATED);
            cr_assert_leq(err.offset, img.size - 33);
        }
        ggld_file *file = NULL;
        cr_assert_eq(
            ggld_open_range(&file, fd, offsets[i], box.size + 1, NULL, NULL),
            GGLD_E_INVALID);
        cr_assert_eq(ggld_open_range(&file, fd, UINT64_MAX, 2, NULL, NULL),
                     GGLD_E_INVALID);
        close(fd);
        image_free(&box);
    }
    image_free(&img);
}

Test(sources, past_four_gigabytes_are_read_right)
{
    const uint64_t at = UINT64_C(9) << 29; /* 4.5 GiB */
    image img = image_new(3, false, 2, 0);
    image_tensor(&img, "big", 1, &at, 24, 0);
    image_tensor(&img, "far", 1, (uint64_t[]){ 4 }, 24, at);
    image_pad(&img, 32);
    write_file("sparse", img.data, img.size);
    int fd = open("sparse", O_RDWR);
    if (ftruncate(fd, (off_t)(img.size + at + 32)) != 0)
        cr_skip_test("no sparse files here");
    cr_assert_eq(pwrite(fd, "far!", 4, (off_t)(img.size + at)), 4);
    for (uint32_t flags = 0; flags < 8; flags += 4) {
        ggld_open_options options = ggld_open_options_init();
        ggld_file *file;
        char data[4];
        options.flags = flags | GGLD_OPEN_STRICT;
        cr_assert_eq(ggld_open_fd(&file, fd, &options, NULL), GGLD_OK);
        cr_assert_eq(ggld_file_read(file, ggld_tensor_at(file, 1)->offset, data,
                                    4, ggld_nowhere(), NULL),
                     GGLD_OK);
        cr_assert_arr_eq(data, "far!", 4);
        ggld_close(file);
    }
    close(fd);
    image_free(&img);
}

/* Bytes that this process has read by calls; 0: the system does not tell. */
static uint64_t bytes_read(void)
{
    uint64_t n = 0;
    FILE *f = fopen("/proc/self/io", "r");
    if (f == NULL || fscanf(f, "rchar: %" SCNu64, &n) != 1)
        n = 0;
    if (f != NULL)
        fclose(f);
    return n;
}

static void take_zeros(ggld_severity severity, const ggld_error *finding,
                       void *user)
{
    uint64_t *from = user;
    (void)severity;
    if (ggld_error_hint(finding) != NULL)
        *from = finding->offset;
}

/* Zeros that were written stand among the holes, as in a sparse sample, whose
 * smallest tensors are written. */
Test(sources, holes_before_zeros_that_were_written_are_not_read_either)
{
    static const uint8_t zeros[8192];
    const uint64_t n = UINT64_C(4) << 28; /* of 4 bytes: 4 GiB */
    image img = image_new(3, false, 1, 0);
    image_tensor(&img, "t", 1, &n, 0, 0);
    image_pad(&img, 32);
    write_file("sparse", img.data, img.size);
    int fd = open("sparse", O_RDWR);
    if (ftruncate(fd, (off_t)(img.size + n * 4)) != 0)
        cr_skip_test("no sparse files here");
    cr_assert_eq(pwrite(fd, "x", 1, (off_t)img.size + 70000), 1);
    for (off_t at = 1 << 28; at < (off_t)(n * 4); at += 1 << 28)
        cr_assert_eq(pwrite(fd, zeros, sizeof zeros, at), sizeof zeros);
    if (lseek(fd, 1 << 20, SEEK_DATA) != 1 << 28)
        cr_skip_test("no holes here");
    uint64_t from = 0, before = bytes_read();
    cr_assert_eq(ggld_check_path("sparse", NULL, take_zeros, &from, NULL),
                 GGLD_OK);
    uint64_t read = bytes_read() - before;
    cr_expect_eq(from, img.size + 70001, "expected zeros from %zu on, got %lu",
                 img.size + 70001, (unsigned long)from);
    cr_expect(before == 0 || read < 64u << 20,
              "expected less than 64 MiB to be read, got %lu bytes",
              (unsigned long)read);
    close(fd);
    image_free(&img);
}

/* ---- sources that fail ---- */

typedef struct faulty {
    const image *img;
    uint64_t fail_from; /* reads at or past it get this */
    int64_t gets;
} faulty;

static int64_t faulty_pread(void *ctx, void *dst, size_t n, uint64_t offset)
{
    const faulty *f = ctx;
    uint64_t end = f->fail_from < f->img->size ? f->fail_from : f->img->size;
    if (offset >= end)
        return f->gets;
    if (n > end - offset)
        n = end - offset;
    memcpy(dst, f->img->data + offset, n);
    return (int64_t)n;
}

Test(sources, that_fail_in_reading_fail_the_open)
{
    static const struct {
        int64_t gets;
        ggld_status status;
        int sys_errno;
    } rows[] = { { -EIO, GGLD_E_IO, EIO },
                 { -ESTALE, GGLD_E_IO, ESTALE },
                 { INT64_MIN, GGLD_E_IO, EIO },
                 { INT64_MAX, GGLD_E_IO, EIO },
                 { 0, GGLD_E_TRUNCATED, 0 } };
    image img = image_sample(3, false);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (uint64_t from = 0; from < img.size; from += 13)
            for (uint32_t flags = 0; flags < 16; flags++) {
                faulty f = { &img, from, rows[i].gets };
                ggld_source source = { sizeof source, img.size, faulty_pread,
                                       NULL,          NULL,     &f };
                ggld_open_options options = ggld_open_options_init();
                ggld_file *file = NULL;
                ggld_error err;
                options.flags = flags;
                cr_assert_eq(ggld_open_source(&file, &source, &options, &err),
                             rows[i].status, "row %zu from %" PRIu64, i, from);
                cr_assert_eq(err.sys_errno, rows[i].sys_errno);
                cr_assert_null(file);
            }
    image_free(&img);
}

Test(sources, that_fail_later_fail_the_read)
{
    image img = image_sample(3, false);
    image_data(&img, 200000);
    faulty f = { &img, UINT64_MAX, -EIO };
    ggld_source source = {
        sizeof source, img.size, faulty_pread, NULL, NULL, &f
    };
    ggld_file *file;
    ggld_error err;
    uint8_t byte;
    cr_assert_eq(ggld_open_source(&file, &source, NULL, NULL), GGLD_OK);
    f.fail_from = 0;
    ggld_place place = ggld_place_of(GGLD_IN_TENSOR_DATA, 2, 5);
    cr_assert_eq(ggld_file_read(file, img.size - 1, &byte, 1, place, &err),
                 GGLD_E_IO);
    cr_assert(err.sys_errno == EIO && err.section == GGLD_IN_TENSOR_DATA &&
              err.index == 2 && err.offset == 5);
    cr_assert_eq(ggld_file_read(file, img.size, &byte, 1, place, &err),
                 GGLD_E_TRUNCATED);
    cr_assert_eq(ggld_file_read(file, UINT64_MAX, &byte, 2, place, &err),
                 GGLD_E_TRUNCATED);
    cr_assert_eq(ggld_file_read(file, UINT64_MAX, &byte, 0, place, &err),
                 GGLD_OK);
    ggld_close(file);
    image_free(&img);
}

/* Claims to have read, and remembers how much at most. */
static int64_t claiming_pread(void *ctx, void *dst, size_t n, uint64_t offset)
{
    uint64_t *most = ctx;
    (void)dst;
    (void)offset;
    if (n > *most)
        *most = n;
    return (int64_t)n;
}

Test(sources, are_asked_for_less_than_two_gigabytes_at_once)
{
    if (sizeof(size_t) < 8)
        cr_skip_test("no room for such a buffer");
    const size_t size = (size_t)5 << 30;
    void *dst = mmap(NULL, size, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (dst == MAP_FAILED)
        cr_skip_test("no room for such a buffer");
    uint64_t most = 0;
    ggld_source source = { sizeof source, size, claiming_pread,
                           NULL,          NULL, &most };
    cr_assert_eq(ggld_source_read(&source, 0, dst, size, ggld_nowhere(), NULL),
                 GGLD_OK);
    cr_assert(most > 0 && most < 0x7FFFF000, "%" PRIu64, most);
    munmap(dst, size);
}

/* ---- files that are something else ---- */

Test(sniff, names_what_it_is_and_what_to_do)
{
    static const struct {
        const char *bytes;
        size_t size; /* 0: a string */
        const char *says[3];
    } rows[] = {
        { "version https://git-lfs.github.com/spec/v1\n"
          "oid sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456"
          "789abcdef\nsize 4661211808\n",
          0,
          { "Git LFS", "4661211808", "git lfs pull" } },
        { "version https://git-lfs.github.com/spec/v1\noid",
          0,
          { "Git LFS", "? bytes", "(?)" } },
        { "<!DOCTYPE html><html>", 0, { "HTML", "<!DOCTYPE", "" } },
        { "\n\n <HTML lang=en>", 0, { "HTML", "<HTML", "" } },
        { "{\"error\":\"Repository not found\"}",
          0,
          { "JSON", "{\"error\":\"Repository not found\"}", "" } },
        { "Entry not found", 0, { "text", "'Entry not found'", "" } },
        { "\xC3\xA9t\xC3\xA9", 0, { "text", "'\xC3\xA9t\xC3\xA9'", "" } },
        { "tjgg\3\0\0\0\0", 9, { "GGJT version 3", "tjgg", "before GGUF" } },
        { "fmgg\1\0\0\0\0", 9, { "GGMF version 1", "", "" } },
        { "lmgg\1\0\0\0\0", 9, { "GGML, unversioned", "", "" } },
        { "algg\1\0\0\0\0", 9, { "GGLA", "version 1", "" } },
        { "FUGG\1\0\0\0\0", 9, { "FUGG", "pre-release", "" } },
        { "\x0B\0\0\0\0\0\0\0{\"a\":\"b\"}  ", 19, { "safetensors", "", "" } },
        { "PK\3\4\0\0\0\0", 8, { "zip", "", "" } },
        { "\x80\2}q\0", 5, { "pickle", "", "" } },
        { "\x1F\x8B\x08\0", 4, { "gzip", "gunzip", "" } },
        { "\x28\xB5\x2F\xFD\0", 5, { "zstd", "", "" } },
        { "\xFD"
          "7zXZ\0",
          6,
          { "xz", "", "" } },
        { "\xEF\xBB\xBFGGUF\3\0\0\0", 11, { "byte order mark", "", "" } },
        { "\0\0\0\0\0\0\0\0", 8, { "8 zero bytes", "never written", "" } },
        { "\xAB\xAB\xAB"
          "GGUF\3\0\0\0",
          11,
          { "at byte 3", "range", "" } },
        { "\xAB\xCD\xEF\x01\x02", 5, { "\\xAB\\xCD\\xEF\\x01", "", "" } },
        { "\xAB", 1, { "\\xAB", "", "" } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t size = rows[i].size != 0 ? rows[i].size : strlen(rows[i].bytes);
        ggld_file *file = NULL;
        ggld_error err;
        write_file("x.gguf", rows[i].bytes, size);
        cr_expect_eq(open_flags(&file, "x.gguf", 0, &err), GGLD_E_MAGIC,
                     "row %zu", i);
        for (size_t s = 0; s < 3; s++)
            cr_expect_not_null(strstr(err.message, rows[i].says[s]),
                               "row %zu says: %s", i, err.message);
        cr_expect_null(strchr(err.message, '\n'), "row %zu", i);
        cr_expect(err.section == GGLD_IN_FILE && err.offset == 0);
        ggld_error same;
        (void)open_flags(&file, "x.gguf", GGLD_OPEN_PREAD, &same);
        cr_expect_arr_eq(&same, &err, sizeof err, "row %zu", i);
    }
}

Test(sniff, a_part_of_a_split_file_is_told_by_its_name)
{
    static const struct {
        const char *name;
        bool is_part;
    } rows[] = { { "m.gguf.part1of2", true },        { "m.gguf.partaa", true },
                 { "m.gguf-split-a", true },         { "m.gguf.001", true },
                 { "m.part.gguf", false },           { "m.gguf", false },
                 { "m-00001-of-00002.gguf", false }, { "m.1", false } };
    image img = image_sample(3, false);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t size = img.size / 4; size < img.size;
             size += img.size / 4) {
            ggld_file *file;
            ggld_error err;
            write_file(rows[i].name, img.data, size);
            cr_assert_eq(open_flags(&file, rows[i].name, 0, &err),
                         GGLD_E_TRUNCATED);
            cr_expect_eq(strstr(err.message, "join them") != NULL,
                         rows[i].is_part, "%s: %s", rows[i].name, err.message);
        }
    }
    image_free(&img);
}
