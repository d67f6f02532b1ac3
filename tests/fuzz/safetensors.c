/* SPDX-License-Identifier: MIT */
/* A safetensors file, or an index and its shards: refused in one clean line, or
 * what is made of it opens, has the same tensors, and is the same again after
 * safetensors and back.
 *
 * An input begins with a byte of the flags below; then follow files, parted by
 * bytes of 0xFF, which no JSON has. */
#include <string.h>
#include <unistd.h>

#include <ggld/export.h>

#include "folder.h"
#include "fuzz.h"

/* A file's first two bytes are not there as they stand, but its header's
 * length, which nobody guesses. */
#define RAW 1u
/* The first file is an index, the others are 1.safetensors and so on; else
 * there is but one. */
#define INDEX 2u
/* What else is tried. */
#define KEEP_TYPES 4u
#define RENAME     8u

#define PARTED   0xFF
#define N_SHARDS 3

typedef struct places {
    char *one, *index, *shards[N_SHARDS], *gguf[3], *back[2];
} places;

static const places *places_made(void)
{
    static places p;
    char name[32];

    if (p.one != NULL)
        return &p;
    p.one = folder_file("in.safetensors");
    p.index = folder_file("in.safetensors.index.json");
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%d.safetensors", i + 1);
        p.shards[i] = folder_file(name);
        snprintf(name, sizeof name, "%d.gguf", i);
        p.gguf[i] = folder_file(name);
    }
    p.back[0] = folder_file("back0.safetensors");
    p.back[1] = folder_file("back1.safetensors");
    return &p;
}

/* With the header's length in front, or as it is. */
static void save(const char *path, const uint8_t *data, size_t size, bool raw)
{
    uint8_t *bytes = fuzz_alloc(size + 8);
    size_t n = 0;

    if (!raw && size >= 2) {
        size_t header = data[0] | (size_t)data[1] << 8;
        data += 2, size -= 2;
        header = header > size ? size : header;
        for (; n < 8; n++)
            bytes[n] = (uint8_t)(header >> 8 * n);
    }
    memcpy(bytes + n, data, size);
    file_put(path, bytes, n + size);
    free(bytes);
}

static unsigned count_there(const places *p)
{
    char *const *all = (char *const *)p;
    unsigned n = 0;

    for (size_t i = 0; i < sizeof *p / sizeof *all; i++)
        n += access(all[i], F_OK) == 0;
    return n;
}

/* The path of what is to be opened. */
static const char *save_all(const places *p, uint8_t flags, const uint8_t *data,
                            size_t size)
{
    const char *const to[] = { p->index, p->shards[0], p->shards[1],
                               p->shards[2] };
    bool raw = (flags & RAW) != 0;

    if ((flags & INDEX) == 0) {
        save(p->one, data, size, raw);
        return p->one;
    }
    for (size_t i = 0; i < 4 && (size > 0 || i == 0); i++) {
        const uint8_t *end =
            size > 0 && i < 3 ? memchr(data, PARTED, size) : NULL;
        size_t n = end != NULL ? (size_t)(end - data) : size;
        save(to[i], data, n, raw || i == 0);
        size -= end != NULL ? n + 1 : n;
        data += end != NULL ? n + 1 : n;
    }
    return p->index;
}

static ggld_export_options options_of(uint32_t type, uint32_t flags)
{
    ggld_export_options options = ggld_export_options_init();

    options.type = type;
    options.flags = flags;
    options.n_threads = 1;
    return options;
}

/* Can it be written? Names may be too long, types none of GGUF's. What can't
 * leaves nothing. */
static bool export_to(const ggld_export_source *source, const char *path,
                      const ggld_export_options *options)
{
    ggld_error err;
    ggld_status status = ggld_export(source, path, options, &err);

    if (status != GGLD_OK) {
        fuzz_require_line(&err, status);
        FUZZ_REQUIRE(access(path, F_OK) != 0, "%s is there, and: %s", path,
                     err.message);
    }
    return status == GGLD_OK;
}

static void must_export(const ggld_export_source *source, const char *path,
                        const ggld_export_options *options)
{
    FUZZ_REQUIRE(export_to(source, path, options),
                 "what was written can't be read");
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

/* Safetensors with every type kept, and under other names: what comes of it
 * can be read. */
static void try_more(const ggld_export_source *source, const places *p,
                     uint8_t flags)
{
    static const ggld_export_rename renames[] = {
        { "a", "b" }, { "b", "a" }, { "none", "c" }, { "c", "long.name" }
    };
    ggld_export_options options = options_of(GGLD_TYPE_Q8_0, 0);

    if ((flags & RENAME) != 0) {
        options.renames = renames;
        options.n_renames = sizeof renames / sizeof renames[0];
    }
    if ((flags & KEEP_TYPES) != 0) {
        options.format = GGLD_EXPORT_SAFETENSORS;
        options.type = GGLD_TYPE_F32;
        options.flags = GGLD_EXPORT_KEEP_TYPES;
    }
    if (!export_to(source, p->gguf[1], &options))
        return;
    ggld_export_source *again = must_open(p->gguf[1]);
    FUZZ_REQUIRE(count_tensors(again) == count_tensors(source),
                 "tensors were lost");
    ggld_export_source_close(again);
}

/* To F32, back, and to F32 again: nothing is lost on that way, and no order
 * but that of the first time changes. */
static void go_around(const ggld_export_source *source, const places *p)
{
    ggld_export_options to =
        options_of(GGLD_TYPE_F32, GGLD_EXPORT_ALLOW_NONFINITE);
    ggld_export_options back = to;

    back.format = GGLD_EXPORT_SAFETENSORS;
    if (!export_to(source, p->gguf[0], &to))
        return;
    ggld_export_source *gguf = must_open(p->gguf[0]);
    FUZZ_REQUIRE(count_tensors(gguf) == count_tensors(source),
                 "tensors were lost");
    bool is_back = export_to(gguf, p->back[0], &back);
    ggld_export_source_close(gguf);
    if (!is_back)
        return;
    ggld_export_source *first = must_open(p->back[0]);
    must_export(first, p->gguf[2], &to);
    ggld_export_source_close(first);
    gguf = must_open(p->gguf[2]);
    must_export(gguf, p->back[1], &back);
    ggld_export_source_close(gguf);
    size_t size;
    uint8_t *bytes = file_get(p->back[0], &size);
    FUZZ_REQUIRE(file_has(p->back[1], bytes, size),
                 "another file the second time");
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const places *p = places_made();
    ggld_export_source *source;
    ggld_error err;

    if (size == 0)
        return 0;
    const char *path = save_all(p, data[0], data + 1, size - 1);
    ggld_status status = ggld_export_source_open(&source, &path, 1, &err);
    if (status != GGLD_OK) {
        fuzz_require_line(&err, status);
    } else {
        go_around(source, p);
        if ((data[0] & (KEEP_TYPES | RENAME)) != 0)
            try_more(source, p, data[0]);
        ggld_export_source_close(source);
    }
    unsigned n = count_there(p);
    FUZZ_REQUIRE(folder_empty() == n, "another file is in the folder");
    return 0;
}
