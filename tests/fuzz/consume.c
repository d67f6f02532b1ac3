/* SPDX-License-Identifier: MIT */
/* The journal of a merge that consumes its shards, beside a part of the output
 * and some of the shards: whatever it says, no tensor is lost that was in a
 * shard or in the part, what is refused leaves an old output as it was, and what
 * ends well has left neither part nor journal, but a model.
 *
 * An input is three bytes of a scene and patches of the journal (place and what
 * is changed), or a whole journal. What nobody guesses, inodes, times and
 * digests, is put right. */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ggld/ggld.h>
#include <ggld/shards.h>

#include "../sets/shards.h"
#include "base/bytes.h"
#include "change/content.h"
#include "change/merge_journal.h"
#include "folder.h"
#include "fuzz.h"

#define N_SHARDS 3u
#define N_HEAD   6u /* numbers of a journal, and of a shard in it */
#define N_SHARD  5u

/* The first byte. */
#define RIGHT         1u /* the journal's digest, after its patches */
#define PATCHES_OF(f) ((f) >> 1 & 3u)
#define OLD_OUTPUT    8u
#define NO_PART       16u
#define NAMED         32u /* the part has its name already */
#define OTHER_PART    64u /* the journal knows another inode */
#define WHOLE         128u
/* The second one: shards that are there, the one whose path is given. */
#define IS_THERE(b, i) bit(b, i)
#define OPENED_OF(b)   (((b) >> 3 & 3) % (int)N_SHARDS)
#define OTHER_TIMES    32u /* than the journal has */
#define OTHER_DATA     64u /* in the first shard that is there, and its time */
#define OTHER_SECONDS  0x5A5A5A5A
/* The third one: what is in the part, and what of it the journal knows. */
#define IS_IN(b, i)   bit(b, i)
#define IS_DONE(b, i) bit(b, 3 + (i))

static bool bit(uint8_t byte, uint32_t i)
{
    return (byte >> i & 1) != 0;
}

typedef struct bytes {
    uint8_t *at;
    size_t n;
} bytes;

/* Of each shard: its file, and where its one tensor is in it and in the
 * output. */
typedef struct member {
    char *path;
    bytes file;
    uint64_t from, to, size;
    uint64_t digest;
} member;

static struct {
    member shards[N_SHARDS];
    bytes whole;
    char *out, *part, *journal;
} model;

/* What there was before the call. */
typedef struct scene {
    uint8_t flags, there, in;
    bytes files[N_SHARDS]; /* of shards; no bytes: it is not there */
    bytes part;            /* likewise, under whichever name */
    bytes journal;
} scene;

/* ---- the model, once ---- */

static ggld_file *must_open(const char *path, uint32_t flags)
{
    ggld_open_options options = ggld_open_options_init();
    ggld_file *file = NULL;
    ggld_error err;

    options.flags = flags;
    FUZZ_REQUIRE(ggld_open_path(&file, path, &options, &err) == GGLD_OK, "%s",
                 err.message);
    return file;
}

static ggld_tensor_info info_of(const ggld_file *file, uint64_t i)
{
    ggld_tensor_info info = { .struct_size = sizeof info };
    ggld_tensor_get_info(ggld_tensor_at(file, i), &info);
    return info;
}

static void know_shard(member *s, const ggld_file *whole, uint32_t no)
{
    static ggld_compare_room room;
    ggld_meter meter = { 0 };
    ggld_file *file = must_open(s->path, GGLD_OPEN_SINGLE);
    ggld_tensor_info info = info_of(file, 0);

    s->from = info.file_offset_bytes;
    s->size = info.size_bytes;
    s->to = info_of(whole, no).file_offset_bytes;
    FUZZ_REQUIRE(ggld_content_digest(file, 0, 1, false, &room, &meter,
                                     &s->digest, NULL) == GGLD_OK,
                 "digest");
    ggld_close(file);
}

static void make_model(void)
{
    shards set = shards_new(N_SHARDS);
    char name[64];

    model.out = folder_file("out.gguf");
    model.part = folder_file("out.gguf.ggld-part");
    model.journal = folder_file("out.gguf.ggld-merge");
    for (uint32_t i = 0; i < N_SHARDS; i++) {
        image img = shards_image(&set, i);
        (void)ggld_shard_path(name, sizeof name, "m", i, N_SHARDS);
        model.shards[i].path = folder_file(name);
        model.shards[i].file = (bytes){ img.data, img.size };
        file_put(model.shards[i].path, img.data, img.size);
    }
    ggld_file *file = must_open(model.shards[0].path, 0);
    FUZZ_REQUIRE(ggld_merge(file, model.out, NULL, NULL) == GGLD_OK, "merge");
    ggld_close(file);
    file = must_open(model.out, 0);
    for (uint32_t i = 0; i < N_SHARDS; i++)
        know_shard(&model.shards[i], file, i);
    ggld_close(file);
    model.whole.at = file_get(model.out, &model.whole.n);
}

/* ---- the scene ---- */

static bytes copy_of(bytes b)
{
    bytes copy = { fuzz_alloc(b.n + 1), b.n };
    memcpy(copy.at, b.at, b.n);
    return copy;
}

/* So far from the journal's that no patches make them the same: by its time a
 * shard is believed. */
static void set_time(const char *path)
{
    const struct timespec times[2] = { { OTHER_SECONDS, 0 },
                                       { OTHER_SECONDS, 0 } };
    FUZZ_REQUIRE(utimensat(AT_FDCWD, path, times, 0) == 0, "%s", path);
}

static void save_shards(scene *s)
{
    bool other = (s->there & OTHER_DATA) != 0;

    for (uint32_t i = 0; i < N_SHARDS; i++) {
        const member *m = &model.shards[i];
        if (!IS_THERE(s->there, i))
            continue;
        s->files[i] = copy_of(m->file);
        if (other)
            s->files[i].at[m->from] ^= 1;
        file_put(m->path, s->files[i].at, s->files[i].n);
        if (other)
            set_time(m->path);
        other = false;
    }
}

/* The output's metadata, and what is in it. */
static void save_part(scene *s)
{
    bool named = (s->flags & NAMED) != 0;

    if ((s->flags & OLD_OUTPUT) != 0)
        file_put(model.out, "old", 3);
    if ((s->flags & NO_PART) != 0)
        return;
    s->part = copy_of(model.whole);
    for (uint32_t i = 0; i < N_SHARDS; i++)
        if (!IS_IN(s->in, i))
            memset(s->part.at + model.shards[i].to, 0,
                   (size_t)model.shards[i].size);
    file_put(named ? model.out : model.part, s->part.at, s->part.n);
}

static void fill_journal(const scene *s, ggld_merge_journal *j, int folder)
{
    const char *part =
        (s->flags & NAMED) != 0 ? "out.gguf" : "out.gguf.ggld-part";
    struct stat st;

    if (s->part.at != NULL && ggld_part_identity_of(folder, part, &j->part))
        j->part.inode += (s->flags & OTHER_PART) != 0;
    j->prefix_digest = ggld_content_number("m", 1);
    for (uint32_t i = 0; i < N_SHARDS; i++) {
        ggld_shard_identity *shard = &j->shards[i];
        if (stat(model.shards[i].path, &st) == 0 &&
            st.st_mtim.tv_sec != OTHER_SECONDS)
            *shard = ggld_shard_identity_of(&st);
        shard->size_bytes = model.shards[i].file.n;
        shard->seconds += (s->there & OTHER_TIMES) != 0;
        shard->n_tensors = 1;
        shard->digest = model.shards[i].digest;
        j->done[i] = IS_DONE(s->in, i);
    }
}

/* As a merge itself has it. */
static void make_journal(scene *s)
{
    const ggld_allocator heap = ggld_allocator_of(NULL);
    ggld_merge_journal j;
    int fd = -1, folder = open(folder_path(), O_RDONLY | O_DIRECTORY);

    FUZZ_REQUIRE(ggld_merge_journal_init(&j, &heap, N_SHARDS), "memory");
    fill_journal(s, &j, folder);
    FUZZ_REQUIRE(
        ggld_merge_journal_save(&j, &heap, folder, "j", "fresh", &fd) == 0,
        "journal");
    ggld_merge_journal_free(&j, &heap);
    close(fd);
    close(folder);
    char *path = folder_file("j");
    s->journal.at = file_get(path, &s->journal.n);
    unlink(path);
    free(path);
}

/* As loader/change/merge_journal.c has it. */
static void seal(bytes *j)
{
    uint64_t n = j->n >= 16 ? ggld_load_le64(j->at + 8) : 0;
    uint64_t digested = 8 * (N_HEAD + N_SHARD * n);

    if (n <= j->n && digested + 8 <= j->n)
        ggld_store_le64(j->at + digested,
                        ggld_content_number(j->at, (size_t)digested));
}

static void save_journal(scene *s, const uint8_t *data, size_t size)
{
    size_t n = PATCHES_OF(s->flags);

    if ((s->flags & WHOLE) != 0)
        s->journal = copy_of((bytes){ (uint8_t *)(uintptr_t)data, size });
    else
        make_journal(s);
    for (size_t i = 0; i < n && 3 * i + 3 <= size; i++)
        if ((s->flags & WHOLE) == 0)
            s->journal.at[(data[3 * i] | (size_t)data[3 * i + 1] << 8) %
                          s->journal.n] ^= data[3 * i + 2];
    if ((s->flags & RIGHT) != 0)
        seal(&s->journal);
    file_put(model.journal, s->journal.at, s->journal.n);
}

/* ---- what must hold ---- */

static bool holds(bytes file, const member *m, const uint8_t *data)
{
    return file.at != NULL && m->to + m->size <= file.n &&
           memcmp(file.at + m->to, data, (size_t)m->size) == 0;
}

/* What was in a shard is there, or in the part or the output; so is what was in
 * the part, and in no shard. */
static void check_kept(const scene *s, bytes part, bytes out,
                       const char *message)
{
    for (uint32_t i = 0; i < N_SHARDS; i++) {
        const member *m = &model.shards[i];
        bytes old = s->files[i];
        const uint8_t *data = m->file.at + m->from;
        if (old.at != NULL && file_has(m->path, old.at, old.n))
            continue;
        if (old.at != NULL)
            data = old.at + m->from;
        else if (s->part.at == NULL || !IS_IN(s->in, i))
            continue;
        FUZZ_REQUIRE(holds(part, m, data) || holds(out, m, data),
                     "shard %" PRIu32 " is lost: %s", i, message);
    }
}

static void check_refused(const scene *s, ggld_status status,
                          const ggld_error *err)
{
    fuzz_require_line(err, status);
    if ((s->flags & NAMED) != 0 && s->part.at != NULL)
        FUZZ_REQUIRE(file_has(model.out, s->part.at, s->part.n),
                     "the output is another: %s", err->message);
    else if ((s->flags & OLD_OUTPUT) != 0)
        FUZZ_REQUIRE(file_has(model.out, "old", 3),
                     "the old output is gone: %s", err->message);
    else
        FUZZ_REQUIRE(access(model.out, F_OK) != 0, "an output is there: %s",
                     err->message);
}

static void check_done(void)
{
    FUZZ_REQUIRE(access(model.part, F_OK) != 0, "the part remains");
    FUZZ_REQUIRE(access(model.journal, F_OK) != 0, "the journal remains");
    ggld_close(must_open(model.out, 0));
}

static void consume(const scene *s)
{
    ggld_error err = { .code = GGLD_OK };
    bytes part, out;

    ggld_status status = ggld_merge_consume(
        model.shards[OPENED_OF(s->there)].path, model.out, NULL, &err);
    part.at = file_get(model.part, &part.n);
    out.at = file_get(model.out, &out.n);
    check_kept(s, part, out, err.message);
    free(part.at);
    free(out.at);
    if (status == GGLD_OK)
        check_done();
    else
        check_refused(s, status, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scene s = { 0 };

    if (size < 3)
        return 0;
    if (model.out == NULL)
        make_model();
    (void)folder_empty();
    s.flags = data[0];
    s.there = data[1];
    s.in = data[2];
    save_shards(&s);
    save_part(&s);
    save_journal(&s, data + 3, size - 3);
    consume(&s);
    for (uint32_t i = 0; i < N_SHARDS; i++)
        free(s.files[i].at);
    free(s.part.at);
    free(s.journal.at);
    return 0;
}
