/* SPDX-License-Identifier: MIT */
/* Files that are cut under a window: at each kind of place, of each kind of
 * file that has a descriptor, with the guard and without. What is behind the cut
 * is NaN and told, no value is wrong, and nothing ends the process. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ggld/guard.h>
#include <ggld/upgrade.h>
#include <ggld/window.h>

#include "../integrity/support.h"
#include "../jobs/check.h"

#define ROW_ELEMS   1024u /* of q8_0: 1088 bytes */
#define N_ROWS      512u
#define N_ELEMS     (ROW_ELEMS * N_ROWS)
#define BLOCK_BYTES 34u
#define BLOCK_ELEMS 32u
#define CHUNK       65536u
#define CHUNK_ELEMS (CHUNK / 4)
#define N_CHUNKS    (N_ELEMS / CHUNK_ELEMS)
#define PAGE        4096u
#define BEFORE      5000u /* bytes before a range */

static const model_tensor tensors[] = {
    { .name = "a", .type = GGLD_TYPE_F32, .n_dims = 1, .dims = { 100 } },
    { .name = "b",
      .type = GGLD_TYPE_Q8_0,
      .n_dims = 2,
      .dims = { ROW_ELEMS, N_ROWS } },
};

/* Where, of the tensor's bytes in the file: from is one of them, forward to a
 * page's edge where at_edge says so, and add is added. */
typedef struct cut_row {
    const char *name;
    double part; /* of the tensor */
    bool at_edge;
    int add;
} cut_row;

static const cut_row cuts[] = {
    { "in its last page", 1, false, -100 },
    { "its last byte", 1, false, -1 },
    { "in the middle of a page", 0.5, true, 1000 },
    { "at a page's edge", 0.5, true, 0 },
    { "behind a page's edge", 0.25, true, 1 },
    { "before a page's edge", 0.75, true, -1 },
    { "behind its first byte", 0, false, 1 },
    { "at its first byte", 0, false, 0 },
    { "before its page", 0, true, -(int)(2 * PAGE) },
};
#define N_CUTS (sizeof cuts / sizeof cuts[0])

typedef enum file_kind { LITTLE, BIG, RANGE, VERIFIED, N_KINDS } file_kind;
static const char *const kind_names[] = { "little-endian", "big-endian",
                                          "range", "verified" };

static ggld_error err;
static float *expected;
static char *path; /* of the file that is cut */
static size_t sizes[N_KINDS];
static char *bytes[N_KINDS];
static ggld_manifest *manifest;
static unsigned n_cases;

static void must(ggld_status status)
{
    if (status == GGLD_OK)
        return;
    printf("set-up: %s\n", err.message);
    exit(99);
}

/* ---- files ---- */

static void make_big_endian(const char *from)
{
    ggld_upgrade_options o = ggld_upgrade_options_init();
    ggld_file *file;
    o.flags = GGLD_UPGRADE_BIG_ENDIAN;
    must(ggld_open_path(&file, from, NULL, &err));
    must(ggld_upgrade(file, path, &o, NULL, &err));
    ggld_close(file);
    bytes[BIG] = model_read(path, &sizes[BIG]);
}

static void make_manifest(const char *from)
{
    ggld_hash_options how = hash_options(
        BIT_SHA256, GGLD_SCOPE_METADATA | GGLD_SCOPE_TENSOR | GGLD_SCOPE_CHUNKS,
        path);
    how.chunk_algo = GGLD_ALGO_XXH3;
    how.chunk_bytes = CHUNK;
    must(hash_path(from, &how, &manifest, &err));
}

static void set_up(void)
{
    ggld_file *file;
    char *good = model_path("window-good");
    path = model_path("window-cut");
    model_write(good, tensors, 2, 0);
    must(ggld_open_path(&file, good, NULL, &err));
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, "b"));
    expected = malloc(sizeof *expected * N_ELEMS);
    if (expected == NULL)
        exit(99);
    must(ggld_view_read_f32(&view, expected, N_ELEMS, &err));
    ggld_close(file);
    bytes[LITTLE] = model_read(good, &sizes[LITTLE]);
    bytes[VERIFIED] = model_read(good, &sizes[VERIFIED]);
    sizes[RANGE] = BEFORE + sizes[LITTLE];
    bytes[RANGE] = calloc(1, sizes[RANGE]);
    if (bytes[RANGE] == NULL)
        exit(99);
    memcpy(bytes[RANGE] + BEFORE, bytes[LITTLE], sizes[LITTLE]);
    make_big_endian(good);
    make_manifest(good);
    unlink(good);
    free(good);
}

static ggld_file *open_kind(file_kind kind)
{
    ggld_open_options o = ggld_open_options_init();
    ggld_verifier_options verify = ggld_verifier_options_init();
    ggld_verifier verifier;
    ggld_file *file;
    model_save(path, bytes[kind], sizes[kind]);
    if (kind == RANGE) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        must(ggld_open_range(&file, fd, BEFORE, sizes[kind] - BEFORE, NULL,
                             &err));
        close(fd);
        return file;
    }
    verify.path = path;
    if (kind == VERIFIED) {
        must(ggld_verifier_from_manifest(&verifier, manifest, &verify, &err));
        o.verifier = &verifier;
    }
    must(ggld_open_path(&file, path, &o, &err));
    return file;
}

/* ---- cutting ---- */

static _Atomic int n_told;

static void on_failed(ggld_window *w, const ggld_error *error, void *user)
{
    (void)w, (void)error, (void)user;
    n_told++;
}

/* Of the tensor's first byte in the file that is cut. */
static uint64_t data_at(ggld_file *file, file_kind kind)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_tensor_get_info(ggld_tensor_find(file, "b"), &info);
    return info.file_offset_bytes + (kind == RANGE ? BEFORE : 0);
}

static uint64_t cut_at(const cut_row *c, uint64_t data)
{
    const uint64_t size = (uint64_t)N_ELEMS / BLOCK_ELEMS * BLOCK_BYTES;
    int64_t at = (int64_t)(data + (uint64_t)((double)size * c->part));
    if (c->at_edge)
        at = (at + PAGE - 1) / PAGE * PAGE;
    at += c->add;
    return at > 0 ? (uint64_t)at : 0;
}

typedef struct tally {
    uint64_t n_wrong; /* and not NaN */
    uint64_t first_nan, n_nan;
} tally;

static tally look(const float *data)
{
    tally t = { 0, N_ELEMS, 0 };
    for (uint64_t i = 0; i < N_ELEMS; i++) {
        uint32_t bits;
        memcpy(&bits, &data[i], sizeof bits);
        if (bits == 0x7FC00000) {
            t.first_nan = t.n_nan++ == 0 ? i : t.first_nan;
        } else {
            t.n_wrong += memcmp(&data[i], &expected[i], sizeof bits) != 0;
        }
    }
    return t;
}

static void check_case(const cut_row *c, file_kind kind, bool guard)
{
    char what[128];
    ggld_window_options o = ggld_window_options_init();
    ggld_file *file = open_kind(kind);
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, "b"));
    ggld_window *w;
    uint64_t data = data_at(file, kind), at = cut_at(c, data);
    snprintf(what, sizeof what, "%s, cut %s, %s", kind_names[kind], c->name,
             guard ? "guard" : "no guard");
    o.chunk_bytes = CHUNK;
    o.failed = on_failed;
    n_told = 0;
    MUST(ggld_window_open(&w, &view, &o, &err), err);
    const float *x = ggld_window_data(w);
    /* What is there before stays. */
    CHECK(memcmp(x, expected, CHUNK) == 0, "%s: expected the first chunk",
          what);
    if (truncate(path, (off_t)at) != 0)
        exit(99);
    tally t = look(x);
    uint64_t whole = at > data ? (at - data) / BLOCK_BYTES * BLOCK_ELEMS : 0;
    uint64_t bad = whole / CHUNK_ELEMS * CHUNK_ELEMS;
    bad = bad < CHUNK_ELEMS ? CHUNK_ELEMS : bad;
    CHECK(t.n_wrong == 0, "%s: expected no wrong values, got %llu", what,
          (unsigned long long)t.n_wrong);
    /* Of what is verified the manifest's chunks go, too. */
    CHECK(kind == VERIFIED ? t.first_nan <= bad && t.n_nan >= N_ELEMS - bad
                           : t.first_nan == bad && t.n_nan == N_ELEMS - bad,
          "%s: expected NaN from %llu on, got %llu from %llu on", what,
          (unsigned long long)bad, (unsigned long long)t.n_nan,
          (unsigned long long)t.first_nan);
    ggld_status status = ggld_window_status(w, &err);
    CHECK(status == GGLD_E_TRUNCATED && n_told == 1 &&
              strstr(err.message, "truncated while it was read") != NULL,
          "%s: expected GGLD_E_TRUNCATED told once, got %s, %d times: %s", what,
          ggld_status_name(status), n_told, err.message);
    ggld_window_close(w);
    ggld_close(file);
    n_cases++;
}

/* Filled as a whole, it fails to open. */
static void check_at_once(file_kind kind)
{
    ggld_window_options o = ggld_window_options_init();
    ggld_file *file = open_kind(kind);
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, "b"));
    ggld_window *w = NULL;
    o.flags = GGLD_WINDOW_AT_ONCE;
    if (truncate(path, (off_t)(data_at(file, kind) + 3 * PAGE)) != 0)
        exit(99);
    ggld_status status = ggld_window_open(&w, &view, &o, &err);
    CHECK(status == GGLD_E_TRUNCATED && w == NULL,
          "%s, at once: expected GGLD_E_TRUNCATED, got %s", kind_names[kind],
          ggld_status_name(status));
    ggld_close(file);
    n_cases++;
}

static bool faults_offered(void)
{
    ggld_window_counts c = { sizeof c };
    ggld_file *file = open_kind(LITTLE);
    ggld_view view = ggld_tensor_view(ggld_tensor_find(file, "b"));
    ggld_window *w;
    must(ggld_window_open(&w, &view, NULL, &err));
    ggld_window_stats(w, &c);
    ggld_window_close(w);
    ggld_close(file);
    return c.lazy != 0;
}

int main(void)
{
    set_up();
    bool lazy = faults_offered();
    for (int guard = 0; guard < 2 && lazy; guard++) {
        if (guard)
            must(ggld_guard_install(&err));
        for (int kind = 0; kind < N_KINDS; kind++)
            for (size_t i = 0; i < N_CUTS; i++)
                check_case(&cuts[i], (file_kind)kind, guard != 0);
        if (guard)
            ggld_guard_remove();
    }
    for (int kind = 0; kind < N_KINDS; kind++)
        check_at_once((file_kind)kind);
    if (!lazy)
        printf("skipped: this system offers no userfaultfd\n");
    for (int kind = 0; kind < N_KINDS; kind++)
        free(bytes[kind]);
    ggld_manifest_free(manifest);
    unlink(path);
    free(path);
    free(expected);
    printf("%u passed, %d failed, 0 skipped\n", n_cases, n_failed);
    return n_failed != 0;
}
