/* SPDX-License-Identifier: MIT */
/* Files that a system which went down while room was made has left, or that look
 * as if it had: told apart by the journal, and brought back only where the old
 * file comes of it. A plain main. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ggld/edit.h>

#include "../views/check.h"
#include "change/journal.h"

int n_failed;

#define PAGE      4096u
#define OLD_BYTES 40u /* of metadata; the file has a page */
#define NEW_BYTES (OLD_BYTES + PAGE)

enum { MOVED, NEW };

static const struct {
    const char *name;
    int state;         /* of the file: a hole at its end, or written */
    bool begins_alike; /* the new metadata has all the old in front */
    bool data_changed; /* since the journal was written */
    ggld_edit_trace trace;
    ggld_status status;
    uint32_t left_bytes; /* of the file, then */
} rows[] = {
    { "moved, and as it was", MOVED, false, false, GGLD_EDIT_SHIFTED, GGLD_OK,
      PAGE },
    { "moved, but its data is another", MOVED, false, true, GGLD_EDIT_SHIFTED,
      GGLD_E_IO, 2 * PAGE },
    { "written", NEW, false, false, GGLD_EDIT_DONE, GGLD_OK, 2 * PAGE },
    { "written, and begins as the old", NEW, true, false, GGLD_EDIT_DONE,
      GGLD_OK, 2 * PAGE },
    { "written, but its data is another", NEW, false, true, GGLD_EDIT_STRANGE,
      GGLD_E_CHANGED, 2 * PAGE },
};

static char path[300];
static uint8_t old_file[PAGE], new_image[NEW_BYTES];

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    perror(what);
    exit(99);
}

static void fill(size_t row)
{
    for (size_t i = 0; i < PAGE; i++)
        old_file[i] = (uint8_t)(1 + i % 251);
    for (size_t i = 0; i < NEW_BYTES; i++)
        new_image[i] = (uint8_t)(7 + i % 13);
    if (rows[row].begins_alike)
        memcpy(new_image, old_file, OLD_BYTES);
}

static void save_file(size_t row)
{
    const uint8_t other = 0;
    FILE *f = fopen(path, "wb");

    must(f != NULL, path);
    if (rows[row].state == NEW)
        must(fwrite(new_image, 1, NEW_BYTES, f) == NEW_BYTES &&
                 fwrite(old_file + OLD_BYTES, 1, PAGE - OLD_BYTES, f) ==
                     PAGE - OLD_BYTES,
             path);
    else
        must(fwrite(old_file, 1, PAGE, f) == PAGE, path);
    if (rows[row].data_changed)
        must(fseek(f, -1, SEEK_CUR) == 0 && fwrite(&other, 1, 1, f) == 1, path);
    must(fclose(f) == 0 && truncate(path, 2 * PAGE) == 0, path);
}

/* As an edit writes it, of the old file. */
static void save_journal(void)
{
    ggld_journal j = { .file_bytes = PAGE,
                       .inserted_bytes = PAGE,
                       .old_bytes = OLD_BYTES,
                       .new_bytes = NEW_BYTES,
                       .new_image = new_image };
    const ggld_gap none = { 0, 0 };
    FILE *old = tmpfile();
    ggld_beside beside;
    struct stat st;
    ggld_error err;

    must(old != NULL && fwrite(old_file, 1, PAGE, old) == PAGE &&
             fflush(old) == 0 && stat(path, &st) == 0,
         path);
    j.device = st.st_dev;
    j.inode = st.st_ino;
    must(ggld_journal_sample(fileno(old), OLD_BYTES, PAGE, &none,
                             &j.data_digest) == 0,
         "sample");
    CHECK_OK(ggld_beside_open(&beside, path, &st, &err), err, "beside");
    CHECK_OK(ggld_journal_write(&j, &beside, fileno(old), &st, &err), err,
             "journal");
    CHECK_OK(ggld_journal_name(&beside, &err), err, "name");
    ggld_beside_close(&beside);
    fclose(old);
}

static void try_row(size_t row)
{
    ggld_edit_trace trace = GGLD_EDIT_CLEAN;
    ggld_error why, err = { .message = "" };
    struct stat st;

    fill(row);
    save_file(row);
    save_journal();
    CHECK_OK(ggld_edit_pending(path, &trace, &why, &err), err, rows[row].name);
    CHECK(trace == rows[row].trace, "%s: expected trace %d, got %d",
          rows[row].name, rows[row].trace, trace);
    ggld_status status = ggld_edit_recover(path, GGLD_EDIT_FORCE, NULL, &err);
    CHECK(status == rows[row].status, "%s: expected %s, got %s, '%s'",
          rows[row].name, ggld_status_name(rows[row].status),
          ggld_status_name(status), err.message);
    must(stat(path, &st) == 0, path);
    CHECK((uint64_t)st.st_size == rows[row].left_bytes,
          "%s: expected %" PRIu32 " bytes, got %" PRIu64, rows[row].name,
          rows[row].left_bytes, (uint64_t)st.st_size);
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    char folder[200], journal[340];

    snprintf(folder, sizeof folder, "%s/ggld-moved-XXXXXX",
             tmp != NULL ? tmp : "/tmp");
    must(mkdtemp(folder) != NULL, folder);
    snprintf(path, sizeof path, "%s/m", folder);
    snprintf(journal, sizeof journal, "%s" GGLD_JOURNAL_SUFFIX, path);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        try_row(i);
        unlink(path);
        unlink(journal);
    }
    must(rmdir(folder) == 0, folder);
    printf("%zu rows, %d failures\n", sizeof rows / sizeof rows[0], n_failed);
    return n_failed != 0;
}
