/* SPDX-License-Identifier: MIT */
/* A file that is cut while it is open and verified: with the guard a read of
 * what is gone is an error, in every mode, by every way of opening, whatever
 * the verifier digests. Each is tried in a child, which a signal may end. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../jobs/check.h"
#include "support.h"

#define N_ELEMS  200000u
#define CUT_SIZE 40000

static const model_tensor tensors[] = {
    { .name = "a", .type = GGLD_TYPE_F32, .n_dims = 1, .dims = { N_ELEMS } },
    { .name = "b", .type = GGLD_TYPE_F32, .n_dims = 1, .dims = { N_ELEMS } },
};

static char *path;
static ggld_error err;

/* ---- what manifests have ---- */

static const struct {
    const char *name;
    uint32_t format;
    uint32_t scopes;
    uint32_t algos;
    uint32_t chunk_algo;
} kinds[] = {
    { "xxh3 chunks", GGLD_MANIFEST_GGSUM,
      GGLD_SCOPE_METADATA | GGLD_SCOPE_CHUNKS, BIT_SHA256, GGLD_ALGO_XXH3 },
    { "sha256 chunks", GGLD_MANIFEST_GGSUM,
      GGLD_SCOPE_METADATA | GGLD_SCOPE_CHUNKS, BIT_SHA256, GGLD_ALGO_SHA256 },
    { "sha1 tensors", GGLD_MANIFEST_GGSUM,
      GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR, BIT_SHA1, 0 },
    { "xxh3 tensors", GGLD_MANIFEST_LLAMA, GGLD_SCOPE_TENSOR, BIT_XXH3, 0 },
};

static const struct {
    const char *name;
    uint32_t mode;
} modes[] = {
    { "no verifier", UINT32_MAX },
    { "on access", GGLD_VERIFY_ON_ACCESS },
    { "metadata", GGLD_VERIFY_METADATA },
    { "full", GGLD_VERIFY_FULL },
};

/* GGLD_OK of a private copy: nothing is gone. */
static const struct {
    const char *name;
    uint32_t flags;
    bool is_cut;
} ways[] = {
    { "map", 0, true },
    { "pread", GGLD_OPEN_PREAD, true },
    { "copy", GGLD_OPEN_COPY, false },
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static ggld_manifest *make_manifest(size_t kind)
{
    ggld_manifest *made = NULL, *read = NULL;
    size_t size;
    ggld_hash_options options =
        hash_options(kinds[kind].algos, kinds[kind].scopes, path);
    options.chunk_algo = kinds[kind].chunk_algo;
    CHECK(hash_path(path, &options, &made, &err) == GGLD_OK, "%s", err.message);
    char *text = manifest_text(made, kinds[kind].format, &size);
    CHECK(parse_text(&read, text, size, 0, &err) == GGLD_OK, "%s", err.message);
    free(text);
    ggld_manifest_free(made);
    return read;
}

/* ---- the child ---- */

enum { CHILD_GOOD, CHILD_REFUSED, CHILD_ELSE, CHILD_FAILED };

static ggld_file *open_with(size_t mode, size_t way, const ggld_manifest *m)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_verifier_options how = ggld_verifier_options_init();
    ggld_verifier verifier;
    ggld_file *file = NULL;
    options.flags = ways[way].flags;
    how.mode = modes[mode].mode;
    if (how.mode != UINT32_MAX) {
        if (ggld_verifier_from_manifest(&verifier, m, &how, &err) != GGLD_OK)
            return NULL;
        options.verifier = &verifier;
    }
    return ggld_open_path(&file, path, &options, &err) == GGLD_OK ? file : NULL;
}

static ggld_status read_view(const ggld_tensor *t)
{
    static float values[16];
    ggld_view view = ggld_tensor_view(t), last;
    ggld_status status = ggld_view_elems(&last, &view, N_ELEMS - 16, 16, &err);
    return status == GGLD_OK ? ggld_view_read_f32(&last, values, 16, &err)
                             : status;
}

static ggld_status read_stored(const ggld_tensor *t)
{
    uint8_t bytes[64];
    return ggld_tensor_read_bytes(t, 4 * N_ELEMS - 64, bytes, 64, &err);
}

static ggld_status verify_only(const ggld_tensor *t)
{
    return ggld_tensor_verify(t, 0, 4 * N_ELEMS, &err);
}

static const struct {
    const char *name;
    ggld_status (*read)(const ggld_tensor *t);
    bool needs_mode; /* without a verifier there is nothing to read */
} reads[] = {
    { "a view", read_view, false },
    { "stored bytes", read_stored, false },
    { "verifying", verify_only, true },
};

/* Twice: the guard must be of use after it was used. */
static int child(size_t mode, size_t way, size_t read, const ggld_manifest *m)
{
    ggld_status status = GGLD_OK;
    ggld_file *file = open_with(mode, way, m);
    if (ggld_guard_install(&err) != GGLD_OK || file == NULL ||
        truncate(path, CUT_SIZE) != 0) {
        printf("%s\n", err.message);
        return CHILD_FAILED;
    }
    for (int i = 0; i < 2; i++)
        status = reads[read].read(ggld_tensor_find(file, "b"));
    bool said = strstr(err.message, "truncated") != NULL ||
                strstr(err.message, "cut") != NULL;
    ggld_close(file);
    if (status == GGLD_OK)
        return CHILD_GOOD;
    if ((status == GGLD_E_IO || status == GGLD_E_TRUNCATED) && said)
        return CHILD_REFUSED;
    printf("%s: %s\n", ggld_status_name(status), err.message);
    return CHILD_ELSE;
}

/* ---- all of them ---- */

/* A metadata verifier lets data be read as it is, and verifies none. */
static int expected(size_t mode, size_t way, size_t read)
{
    if (!ways[way].is_cut)
        return CHILD_GOOD;
    bool none = modes[mode].mode == UINT32_MAX ||
                modes[mode].mode == GGLD_VERIFY_METADATA;
    return reads[read].needs_mode && none ? CHILD_GOOD : CHILD_REFUSED;
}

static void try_one(size_t kind, size_t mode, size_t way, size_t read,
                    const ggld_manifest *m, const char *data, size_t size)
{
    static const char *const texts[] = { "success", "a refusal",
                                         "another error", "no start" };
    int status, wanted = expected(mode, way, read);
    model_save(path, data, size);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) { /* libuv's threads, which exit waits for, are not here */
        int code = child(mode, way, read, m);
        fflush(stdout);
        _exit(code);
    }
    waitpid(pid, &status, 0);
    int got = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    CHECK(got == wanted, "%s, %s, %s, %s: expected %s, got %s %d",
          kinds[kind].name, modes[mode].name, ways[way].name, reads[read].name,
          texts[wanted], got >= 0 && got < 4 ? texts[got] : "signal",
          WIFSIGNALED(status) ? WTERMSIG(status) : got);
}

int main(void)
{
    size_t size;
    path = model_path("guarded.gguf");
    model_write(path, tensors, COUNT(tensors), 0);
    char *data = model_read(path, &size);
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        model_save(path, data, size);
        ggld_manifest *m = make_manifest(kind);
        for (size_t mode = 0; mode < COUNT(modes); mode++)
            for (size_t way = 0; way < COUNT(ways); way++)
                for (size_t read = 0; read < COUNT(reads); read++)
                    if (modes[mode].mode != GGLD_VERIFY_METADATA ||
                        kinds[kind].format == GGLD_MANIFEST_GGSUM)
                        try_one(kind, mode, way, read, m, data, size);
        ggld_manifest_free(m);
    }
    unlink(path);
    free(data);
    free(path);
    return n_failed == 0 ? 0 : 1;
}
