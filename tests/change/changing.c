/* SPDX-License-Identifier: MIT */
/* See changing.h. */
#include "changing.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../views/check.h"
#include "../write/support.h"

typedef struct change {
    const char *what;
    void (*make)(const char *path);
    const char *message;
} change;

typedef struct meanwhile {
    const change *change;
    const char *path; /* of the input */
    unsigned n_calls;
} meanwhile;

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

static const change changes[] = {
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

static void try_change(const making *m, const change *c,
                       void (*save_input)(const char *path))
{
    char *folder = folder_new();
    char in[300], out[300];
    meanwhile state = { c, in, 0 };
    ggld_error err = { .message = "" };

    snprintf(in, sizeof in, "%s/in", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    save_input(in);
    set_times(in, 1000);
    if (!m->replaces && !m->makes_set)
        file_save(out, "old", 3);
    ggld_status status =
        m->run(in, m->replaces ? NULL : out, on_progress, &state, &err);
    CHECK(state.n_calls != 0, "%s: expected progress to be asked", m->what);
    CHECK(status == GGLD_E_CHANGED && strstr(err.message, c->message) != NULL,
          "%s, input %s: expected GGLD_E_CHANGED, '%s'; got %s, '%s'", m->what,
          c->what, c->message, ggld_status_name(status), err.message);
    int want = file_exists(in) + file_exists(out);
    CHECK(folder_count(folder) == want &&
              file_exists(in) == (c->make != take_away),
          "%s, input %s: expected %d files, got %d", m->what, c->what, want,
          folder_count(folder));
    image old = file_load(out);
    CHECK(m->replaces || m->makes_set
              ? old.data == NULL
              : old.size == 3 && memcmp(old.data, "old", 3) == 0,
          "%s, input %s: expected the old output, got another", m->what,
          c->what);
    image_free(&old);
    folder_remove(folder);
}

void try_each_change(const making *m, void (*save_input)(const char *path))
{
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        try_change(m, &changes[i], save_input);
}
