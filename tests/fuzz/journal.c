/* SPDX-License-Identifier: MIT */
/* The journal of an edit in place beside a file: one that does not match is not
 * applied, and both stay byte for byte; of one that does, the file becomes the
 * old or the new one, with its data as it was.
 *
 * An input is flags, the file's state, the old metadata's size, how much longer
 * the new one is, patches of the journal (place and what is changed), and the
 * bytes of both and of the data; or flags and a whole journal. What nobody
 * guesses, the file's inode and digests, is put right. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ggld/edit.h>
#include <ggld/ggld.h>

#include "base/bytes.h"
#include "change/journal.h"
#include "folder.h"
#include "fuzz.h"

#define RIGHT         1u /* the journal's digest, after its patches */
#define FORCE         2u
#define PATCHES_OF(f) ((f) >> 2 & 3u)
#define PAGES         16u /* insert pages, so that there can be holes */
#define WHOLE         32u /* the input is a whole journal */
#define REST          64u /* under the name of one that is not done */
#define OTHER_DEVICE  128u

#define PAGE         4096u
#define HEADER_BYTES 72u
#define MAX_BYTES    (4 * PAGE)

/* How far the edit came. */
enum { OLD, NEW, MIXED, ROOM, SHIFTED, N_STATES };

typedef struct bytes {
    uint8_t at[MAX_BYTES + 8 * PAGE];
    size_t n;
} bytes;

typedef struct scene {
    uint8_t flags, state;
    size_t old_bytes, inserted; /* of metadata */
    uint64_t mix;               /* which bytes are old, or where the hole is */
    bytes old, new, now;        /* files */
    bytes journal;
} scene;

static const char *path, *journal_path, *rest_path;

static void paths_make(void)
{
    if (path != NULL)
        return;
    path = folder_file("m");
    journal_path = folder_file("m" GGLD_JOURNAL_SUFFIX);
    rest_path = folder_file("m" GGLD_JOURNAL_FRESH);
}

static void put(bytes *b, const void *data, size_t n)
{
    FUZZ_REQUIRE(n <= sizeof b->at - b->n, "no room for %zu bytes", n);
    if (n != 0)
        memcpy(b->at + b->n, data, n);
    b->n += n;
}

static void put_zeros(bytes *b, size_t n)
{
    FUZZ_REQUIRE(n <= sizeof b->at - b->n, "no room for %zu bytes", n);
    memset(b->at + b->n, 0, n);
    b->n += n;
}

/* ---- the file ---- */

/* Metadata, before and after, and data: what is there of each. */
static void make_files(scene *s, const uint8_t *data, size_t size)
{
    size_t old = s->old_bytes < size ? s->old_bytes : size;
    size_t left = size - old;
    size_t new = old + s->inserted, given = new < left ? new : left;

    s->old_bytes = old;
    put(&s->old, data, old);
    put(&s->new, data + old, given);
    put_zeros(&s->new, new - given);
    put(&s->old, data + old + given, left - given);
    if ((s->flags & PAGES) != 0)
        put_zeros(&s->old, (PAGE - s->old.n % PAGE) % PAGE);
    put(&s->new, s->old.at + old, s->old.n - old);
}

static void make_mixed(scene *s, bool all_old)
{
    uint64_t mix = s->mix;

    put(&s->now, s->new.at, s->new.n);
    for (size_t i = 0; i < s->old_bytes + s->inserted; i++)
        if (all_old || fuzz_next(&mix) % 2 == 0)
            s->now.at[i] = i < s->inserted ? 0 : s->old.at[i - s->inserted];
}

/* A hole at some place, on a page where there are pages. */
static void make_shifted(scene *s)
{
    size_t at = (size_t)(s->mix % (s->old.n + 1));

    if ((s->flags & PAGES) != 0)
        at -= at % PAGE;
    put(&s->now, s->old.at, at);
    put_zeros(&s->now, s->inserted);
    put(&s->now, s->old.at + at, s->old.n - at);
}

static void make_now(scene *s)
{
    switch (s->state) {
    case OLD:
        put(&s->now, s->old.at, s->old.n);
        break;
    case NEW:
        put(&s->now, s->new.at, s->new.n);
        break;
    case SHIFTED:
        make_shifted(s);
        break;
    default:
        make_mixed(s, s->state == ROOM);
        break;
    }
}

/* Pages of zeros are holes. */
static void save_file(const scene *s)
{
    static const uint8_t zeros[PAGE];
    FILE *f = fopen(path, "wb");

    FUZZ_REQUIRE(f != NULL, "%s", path);
    for (size_t at = 0; at < s->now.n; at += PAGE) {
        size_t n = s->now.n - at < PAGE ? s->now.n - at : PAGE;
        if (n < PAGE || memcmp(s->now.at + at, zeros, n) != 0)
            FUZZ_REQUIRE(fseek(f, (long)at, SEEK_SET) == 0 &&
                             fwrite(s->now.at + at, 1, n, f) == n,
                         "%s", path);
    }
    FUZZ_REQUIRE(fclose(f) == 0 && truncate(path, (off_t)s->now.n) == 0, "%s",
                 path);
}

/* ---- the journal ---- */

/* As loader/change/journal.c has it. */
static uint64_t fnv(uint64_t digest, const uint8_t *p, size_t n)
{
    size_t i = 0;

    for (; n - i >= 8; i += 8)
        digest = (digest ^ ggld_load_le64(p + i)) * 1099511628211u;
    for (; i < n; i++)
        digest = (digest ^ p[i]) * 1099511628211u;
    return digest;
}

static uint64_t number(const bytes *journal, size_t index)
{
    return ggld_load_le64(journal->at + 16 + 8 * index);
}

static uint64_t data_digest(const scene *s)
{
    return fnv(14695981039346656037u, s->old.at + s->old_bytes,
               s->old.n - s->old_bytes);
}

static void make_journal(scene *s)
{
    const uint64_t numbers[] = { 0,
                                 0,
                                 s->old.n,
                                 s->inserted,
                                 s->old_bytes,
                                 s->old_bytes + s->inserted,
                                 data_digest(s) };

    put(&s->journal, "ggldjrn1", 8);
    put_zeros(&s->journal, 8 * (1 + sizeof numbers / sizeof numbers[0]));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        ggld_store_le64(s->journal.at + 16 + 8 * i, numbers[i]);
    put(&s->journal, s->old.at, s->old_bytes);
    put(&s->journal, s->new.at, s->old_bytes + s->inserted);
}

static void know_file(scene *s)
{
    struct stat st;

    if (s->journal.n < HEADER_BYTES)
        return;
    FUZZ_REQUIRE(stat(path, &st) == 0, "%s", path);
    bool other = (s->flags & OTHER_DEVICE) != 0;
    ggld_store_le64(s->journal.at + 16, (uint64_t)st.st_dev + other);
    ggld_store_le64(s->journal.at + 24, (uint64_t)st.st_ino);
}

/* Of a journal whose sizes fit. */
static void seal(scene *s)
{
    bytes *j = &s->journal;

    if (j->n < HEADER_BYTES)
        return;
    size_t images = j->n - HEADER_BYTES;
    uint64_t old = number(j, 4), digest = 14695981039346656037u;
    if (old > images)
        return;
    digest = fnv(digest, j->at + 16, HEADER_BYTES - 16);
    digest = fnv(digest, j->at + HEADER_BYTES, (size_t)old);
    digest = fnv(digest, j->at + HEADER_BYTES + old, images - (size_t)old);
    ggld_store_le64(j->at + 8, digest);
}

static void patch(scene *s, const uint8_t *patches, size_t n)
{
    for (size_t i = 0; i < n && s->journal.n != 0; i++) {
        const uint8_t *p = patches + 3 * i;
        s->journal.at[(p[0] | (size_t)p[1] << 8) % s->journal.n] ^= p[2];
    }
}

/* ---- what must hold ---- */

static bool has_metadata(const bytes *file, const uint8_t *image, uint64_t n)
{
    return n <= file->n && memcmp(file->at, image, (size_t)n) == 0;
}

/* It is the old or the new file, by the journal's own words, and its data is
 * what it was. */
static void check_ended(const scene *s, const bytes *is)
{
    const bytes *j = &s->journal;
    const uint8_t *image = j->at + HEADER_BYTES;
    uint64_t old = number(j, 4), new = number(j, 5);
    size_t data = s->old.n - s->old_bytes;
    bool is_old = is->n == s->old.n && has_metadata(is, image, old);
    bool is_new = is->n == s->old.n + (size_t)(new - old) &&
                  has_metadata(is, image + old, new);

    FUZZ_REQUIRE(is_old || is_new, "neither old nor new, of %zu bytes", is->n);
    FUZZ_REQUIRE(
        memcmp(is->at + is->n - data, s->old.at + s->old_bytes, data) == 0,
        "the data is another");
}

static ggld_edit_trace look(const scene *s, ggld_status *status)
{
    ggld_edit_trace trace = GGLD_EDIT_CLEAN;
    ggld_edit *edit = NULL;
    ggld_error why = { .code = GGLD_OK }, err = { .code = GGLD_OK };

    *status = ggld_edit_pending(path, &trace, &why, &err);
    if (*status != GGLD_OK)
        fuzz_require_line(&err, *status);
    else if (trace != GGLD_EDIT_CLEAN)
        fuzz_require_line(&why, why.code);
    if (trace != GGLD_EDIT_CLEAN && trace != GGLD_EDIT_REST) {
        *status = ggld_edit_open(&edit, path, NULL, &err);
        FUZZ_REQUIRE(*status != GGLD_OK, "it opens, and: %s", why.message);
        fuzz_require_line(&err, *status);
        *status = GGLD_OK;
    }
    FUZZ_REQUIRE(file_has(path, s->now.at, s->now.n), "looking has changed it");
    return trace;
}

static void check_refused(const scene *s, ggld_edit_trace trace,
                          ggld_status status, const ggld_error *err)
{
    fuzz_require_line(err, status);
    FUZZ_REQUIRE(file_has(path, s->now.at, s->now.n), "changed, and: %s",
                 err->message);
    FUZZ_REQUIRE((s->flags & REST) != 0 ||
                     file_has(journal_path, s->journal.at, s->journal.n),
                 "the journal is gone, and: %s", err->message);
    /* A file system may not be able to take a hole out. */
    FUZZ_REQUIRE(trace == GGLD_EDIT_STRANGE || trace == GGLD_EDIT_SHIFTED ||
                     status == GGLD_E_UNSUPPORTED,
                 "found %d, and: %s", trace, err->message);
}

static void recover(const scene *s)
{
    ggld_edit_trace before, found = GGLD_EDIT_CLEAN;
    ggld_status status;
    ggld_error err = { .code = GGLD_OK };
    bytes is = { .n = 0 };
    size_t n;

    before = look(s, &status);
    status = ggld_edit_recover(
        path, (s->flags & FORCE) != 0 ? GGLD_EDIT_FORCE : 0, &found, &err);
    if (status != GGLD_OK) {
        check_refused(s, before, status, &err);
        return;
    }
    FUZZ_REQUIRE(found == before ||
                     (before == GGLD_EDIT_STRANGE && (s->flags & FORCE) != 0),
                 "found %d, and then %d", before, found);
    FUZZ_REQUIRE(access(journal_path, F_OK) != 0 &&
                     access(rest_path, F_OK) != 0,
                 "a journal remains");
    uint8_t *now = file_get(path, &n);
    put(&is, now, n);
    free(now);
    if ((s->flags & REST) != 0)
        FUZZ_REQUIRE(is.n == s->now.n && memcmp(is.at, s->now.at, is.n) == 0,
                     "a rest was applied");
    else
        check_ended(s, &is);
    FUZZ_REQUIRE(look(&(scene){ .now = is }, &status) == GGLD_EDIT_CLEAN,
                 "it is not clean then");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static scene s;
    size_t n_patches;

    if (size < 4 || size > PAGE)
        return 0;
    paths_make();
    memset(&s, 0, sizeof s);
    s.flags = data[0];
    s.state = data[1] % N_STATES;
    s.old_bytes = data[2];
    s.inserted = (s.flags & PAGES) != 0 ? data[3] % 3u * PAGE : data[3];
    s.mix = fuzz_hash(data, size);
    n_patches = PATCHES_OF(s.flags);
    data += 4, size -= 4;
    if (3 * n_patches > size)
        return 0;
    make_files(&s, data + 3 * n_patches, size - 3 * n_patches);
    make_now(&s);
    save_file(&s);
    if ((s.flags & WHOLE) != 0)
        put(&s.journal, data, size);
    else
        make_journal(&s);
    know_file(&s);
    patch(&s, data, (s.flags & WHOLE) != 0 ? 0 : n_patches);
    if ((s.flags & RIGHT) != 0)
        seal(&s);
    file_put((s.flags & REST) != 0 ? rest_path : journal_path, s.journal.at,
             s.journal.n);
    recover(&s);
    (void)folder_empty();
    return 0;
}
