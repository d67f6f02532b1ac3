/* SPDX-License-Identifier: MIT */
/* See changing.h. */
#include "changing.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <ggld/shards.h>

#include "../views/check.h"
#include "../write/support.h"

typedef struct change {
    const char *what;
    void (*make)(const char *path);
    const char *message;
} change;

typedef struct meanwhile {
    const change *change;
    const char *path; /* of the file that changes */
    unsigned n_calls;
} meanwhile;

typedef struct scene {
    char *folder;
    char in[300];
    char changing[300]; /* in itself, or the last of its shards */
    char out[300];
} scene;

/* Times that no clock gives twice, so that none of it depends on its ticks. */
static void set_times(const char *path, time_t seconds)
{
    const struct timespec times[2] = { { seconds, 1 }, { seconds, 1 } };
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0, "utimensat");
}

static void touch(const char *path)
{
    set_times(path, 2000);
}

static void write_last_byte(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat st;

    CHECK(fd >= 0 && fstat(fd, &st) == 0 &&
              pwrite(fd, "x", 1, st.st_size - 1) == 1,
          "pwrite");
    close(fd);
    set_times(path, 2000);
}

static void cut(const char *path)
{
    struct stat st;

    CHECK(stat(path, &st) == 0 && truncate(path, st.st_size / 2) == 0,
          "truncate");
}

static void append(const char *path)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

    CHECK(fd >= 0 && write(fd, "x", 1) == 1, "write");
    close(fd);
}

static void replace(const char *path)
{
    char other[300];
    image im = file_load(path);

    snprintf(other, sizeof other, "%s.other", path);
    file_save(other, im.data, im.size);
    image_free(&im);
    CHECK(rename(other, path) == 0, "rename");
}

static void take_away(const char *path)
{
    CHECK(remove(path) == 0, "remove");
}

/* What is cut may show where it is read, or at the end. */
static const change changes[] = {
    { "cut", cut, "was truncated" },
    { "touched", touch, "was written to since it was opened" },
    { "written to", write_last_byte, "was written to since it was opened" },
    { "grown", append, "has grown since it was opened" },
    { "replaced", replace, "was removed, or replaced under its name" },
    { "removed", take_away, "was removed, or replaced under its name" },
};

static int on_progress(uint64_t done_bytes, uint64_t total_bytes, void *user)
{
    meanwhile *m = user;

    (void)done_bytes, (void)total_bytes;
    if (m->n_calls++ == 0)
        m->change->make(m->path);
    return 0;
}

static void set_scene(scene *s, const making *m,
                      void (*save_input)(const char *path))
{
    const char *in = "in";
    char first[40] = "in", last[40] = "in";

    if (m->n_shards != 0) {
        ggld_shard_path(first, sizeof first, in, 0, m->n_shards);
        ggld_shard_path(last, sizeof last, in, m->n_shards - 1, m->n_shards);
    }
    s->folder = folder_new();
    snprintf(s->in, sizeof s->in, "%s/%s", s->folder, in);
    save_input(s->in);
    snprintf(s->in, sizeof s->in, "%s/%s", s->folder, first);
    snprintf(s->changing, sizeof s->changing, "%s/%s", s->folder, last);
    snprintf(s->out, sizeof s->out, "%s/out", s->folder);
    set_times(s->changing, 1000);
    if (!m->replaces && !m->makes_set)
        file_save(s->out, "old", 3);
}

static void check_scene(const scene *s, const making *m, const change *c)
{
    bool has_out = !m->replaces && !m->makes_set;
    int want = (m->n_shards != 0 ? (int)m->n_shards : 1) + has_out -
               (c->make == take_away);
    image old = file_load(s->out);

    CHECK(folder_count(s->folder) == want &&
              file_exists(s->changing) == (c->make != take_away),
          "%s, input %s: expected %d files, got %d", m->what, c->what, want,
          folder_count(s->folder));
    CHECK(has_out ? old.size == 3 && memcmp(old.data, "old", 3) == 0
                  : old.data == NULL,
          "%s, input %s: expected the old output, got another", m->what,
          c->what);
    image_free(&old);
}

static void try_change(const making *m, const change *c,
                       void (*save_input)(const char *path))
{
    scene s;
    ggld_error err = { .message = "" };

    set_scene(&s, m, save_input);
    meanwhile state = { c, s.changing, 0 };
    /* Which of them it was is said where there are several. */
    const char *name = m->n_shards > 1 ? strrchr(s.changing, '/') + 1 : "";
    ggld_status status =
        m->run(s.in, m->replaces ? NULL : s.out, on_progress, &state, &err);
    CHECK(state.n_calls != 0, "%s: expected progress to be asked", m->what);
    CHECK(status == GGLD_E_CHANGED ||
              (status == GGLD_E_TRUNCATED && c->make == cut),
          "%s, input %s: expected GGLD_E_CHANGED, got %s", m->what, c->what,
          ggld_status_name(status));
    CHECK(strstr(err.message, c->message) != NULL &&
              strstr(err.message, name) != NULL,
          "%s, input %s: expected '%s' of '%s', got '%s'", m->what, c->what,
          c->message, name, err.message);
    check_scene(&s, m, c);
    folder_remove(s.folder);
}

void try_each_change(const making *m, void (*save_input)(const char *path))
{
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        try_change(m, &changes[i], save_input);
}
