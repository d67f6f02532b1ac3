/* SPDX-License-Identifier: MIT */
/* A safetensors file: refused in one clean line, or what is made of it opens,
 * has the same tensors, and is the same again after safetensors and back.
 *
 * An input begins with a byte: odd, the rest is the file (or an index); even,
 * two bytes more are the header's length, and the file's own length is put
 * right, which nobody guesses. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <sys/stat.h>

#include <ggld/export.h>

#include "fuzz.h"

typedef struct places {
    char folder[64];
    char in[80];
    char gguf[3][80];
    char back[80];
} places;

/* Files are made in memory where that can be had. */
static const places *places_made(void)
{
    static places p;

    if (p.folder[0] != '\0')
        return &p;
    strcpy(p.folder, "/dev/shm/ggld-fuzz-XXXXXX");
    if (mkdtemp(p.folder) == NULL) {
        strcpy(p.folder, "/tmp/ggld-fuzz-XXXXXX");
        FUZZ_REQUIRE(mkdtemp(p.folder) != NULL, "%s", strerror(errno));
    }
    snprintf(p.in, sizeof p.in, "%s/in", p.folder);
    for (int i = 0; i < 3; i++)
        snprintf(p.gguf[i], sizeof p.gguf[i], "%s/%d.gguf", p.folder, i);
    snprintf(p.back, sizeof p.back, "%s/back.safetensors", p.folder);
    return &p;
}

static void clean(const places *p)
{
    unlink(p->in);
    unlink(p->back);
    for (int i = 0; i < 3; i++)
        unlink(p->gguf[i]);
    FUZZ_REQUIRE(rmdir(p->folder) == 0, "a file is left in %s", p->folder);
    FUZZ_REQUIRE(mkdir(p->folder, 0700) == 0, "%s", strerror(errno));
}

static void save(const char *path, const uint8_t *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    FUZZ_REQUIRE(f != NULL, "%s: %s", path, strerror(errno));
    if (size > 2 && (data[0] & 1) == 0) {
        size_t header = data[1] | (size_t)data[2] << 8;
        data += 3, size -= 3;
        header = header > size ? size : header;
        for (int i = 0; i < 8; i++)
            fputc((int)(header >> 8 * i & 0xFF), f);
    } else if (size > 0) {
        data++, size--;
    }
    FUZZ_REQUIRE(size == 0 || fwrite(data, 1, size, f) == size, "%s", path);
    FUZZ_REQUIRE(fclose(f) == 0, "%s", path);
}

static void check_refusal(const ggld_error *err, ggld_status status)
{
    FUZZ_REQUIRE(err->code == status, "code %d, status %d", err->code, status);
    FUZZ_REQUIRE(err->message[0] != '\0' &&
                     memchr(err->message, '\0', GGLD_MESSAGE_MAX) != NULL,
                 "no message");
    for (const char *c = err->message; *c != '\0'; c++)
        FUZZ_REQUIRE((unsigned char)*c >= 0x20 && *c != 0x7F, "%s",
                     err->message);
}

/* Can it be written as GGUF? Names may be too long, types none of GGUF's. */
static bool export_to(const ggld_export_source *source, const char *path,
                      uint32_t type, uint32_t flags)
{
    ggld_export_options options = ggld_export_options_init();
    ggld_error err;

    options.type = type;
    options.flags = flags;
    options.n_threads = 1;
    ggld_status status = ggld_export(source, path, &options, &err);
    if (status != GGLD_OK)
        check_refusal(&err, status);
    return status == GGLD_OK;
}

static ggld_export_source *must_open(const char *path)
{
    ggld_export_source *source;
    ggld_error err;

    FUZZ_REQUIRE(ggld_export_source_open(&source, &path, 1, &err) == GGLD_OK,
                 "%s: %s", path, err.message);
    return source;
}

static uint64_t count_tensors(const ggld_export_source *source)
{
    ggld_export_source_info info = { .struct_size = sizeof info };
    ggld_export_source_get_info(source, &info);
    return info.n_tensors;
}

static bool same_files(const char *a, const char *b)
{
    FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
    int p, q;
    FUZZ_REQUIRE(x != NULL && y != NULL, "%s, %s", a, b);
    do {
        p = getc(x);
        q = getc(y);
    } while (p == q && p != EOF);
    fclose(x);
    fclose(y);
    return p == q;
}

/* To F32, back, and to F32 again: nothing is lost on that way, and no order
 * but that of the first time changes. */
static void go_around(const ggld_export_source *source, const places *p)
{
    const uint32_t allow = GGLD_EXPORT_ALLOW_NONFINITE;

    if (!export_to(source, p->gguf[0], GGLD_TYPE_F32, allow))
        return;
    ggld_export_source *gguf = must_open(p->gguf[0]);
    FUZZ_REQUIRE(count_tensors(gguf) == count_tensors(source),
                 "tensors were lost");
    (void)export_to(source, p->gguf[1], GGLD_TYPE_Q8_0, 0);
    bool back = export_to(gguf, p->back, GGLD_TYPE_F32, allow);
    ggld_export_source_close(gguf);
    if (!back)
        return;
    gguf = must_open(p->back);
    FUZZ_REQUIRE(export_to(gguf, p->gguf[2], GGLD_TYPE_F32, allow),
                 "what was written can't be read");
    ggld_export_source_close(gguf);
    gguf = must_open(p->gguf[2]);
    unlink(p->in);
    ggld_export_options options = ggld_export_options_init();
    ggld_error err;
    options.format = GGLD_EXPORT_SAFETENSORS;
    options.type = GGLD_TYPE_F32;
    options.flags = allow;
    options.n_threads = 1;
    FUZZ_REQUIRE(ggld_export(gguf, p->in, &options, &err) == GGLD_OK, "%s",
                 err.message);
    ggld_export_source_close(gguf);
    FUZZ_REQUIRE(same_files(p->in, p->back), "another file the second time");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const places *p = places_made();
    const char *path = p->in;
    ggld_export_source *source;
    ggld_error err;

    save(p->in, data, size);
    ggld_status status = ggld_export_source_open(&source, &path, 1, &err);
    if (status != GGLD_OK) {
        check_refusal(&err, status);
    } else {
        go_around(source, p);
        ggld_export_source_close(source);
    }
    clean(p);
    return 0;
}
