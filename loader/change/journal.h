/* SPDX-License-Identifier: MIT */
/* The journal of an edit in place: the metadata before and after, and what the
 * file is known by. It appears beside the file only whole. */
#ifndef GGLD_CHANGE_JOURNAL_H
#define GGLD_CHANGE_JOURNAL_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include <ggld/edit.h>

#include "../base/alloc.h"
#include "../base/error.h"
#include "../spec/limits.h"

/* While it is written. */
#define GGLD_JOURNAL_FRESH GGLD_JOURNAL_SUFFIX "-new"

/* The place beside a file. */
typedef struct ggld_beside {
    int folder_fd;
    char name[NAME_MAX + 1]; /* the file's */
    bool has_room; /* for a longer one: else there is no journal and no rest,
                      and what follows is cut */
    char journal[NAME_MAX + 1];
    char fresh[NAME_MAX + 1];
} ggld_beside;

/* Of the file of that name, links followed, whose status is *st. */
ggld_status ggld_beside_open(ggld_beside *b, const char *path,
                             const struct stat *st, ggld_error *err);
void ggld_beside_close(ggld_beside *b);
/* Refused where it has no room. */
ggld_status ggld_beside_expect_room(const ggld_beside *b, ggld_error *err);

typedef struct ggld_journal {
    uint64_t device;
    uint64_t inode;
    uint64_t file_bytes;     /* of the old file */
    uint64_t inserted_bytes; /* at its start, before the new metadata */
    uint64_t old_bytes;      /* of metadata; what follows is data */
    uint64_t new_bytes;      /* the same, and inserted_bytes more */
    uint64_t data_digest;    /* of samples of the data */
    const uint8_t *old_image;
    const uint8_t *new_image;
    void *memory; /* where both are, or NULL */
} ggld_journal;

/* Bytes of a file that are to be taken out of it: it is read as if they were
 * not there. */
typedef struct ggld_gap {
    uint64_t start;
    uint64_t size; /* 0: none */
} ggld_gap;

/* Both: 0, or errno. */
int ggld_journal_read(int fd, void *dst, uint64_t size, uint64_t offset,
                      const ggld_gap *gap);
/* Digest of samples of what follows start in a file of that size. */
int ggld_journal_sample(int fd, uint64_t start, uint64_t file_bytes,
                        const ggld_gap *gap, uint64_t *digest);

/* Could it be written there, and what it inserts into the file? */
ggld_status ggld_journal_try(const ggld_journal *j, const ggld_beside *b,
                             ggld_error *err);
/* Writes it, to disk, with the file's mode, under the name of a fresh one. The
 * old image is read from fd, the file, bit by bit: old_image is not looked at. */
ggld_status ggld_journal_write(const ggld_journal *j, const ggld_beside *b,
                               int fd, const struct stat *st, ggld_error *err);
/* Gives the one that was written its name, on disk: from here on it counts. */
ggld_status ggld_journal_name(const ggld_beside *b, ggld_error *err);
/* Instead: removes it. */
void ggld_journal_forget(const ggld_beside *b);
/* Is there one that never got its name? It need not be whole. */
bool ggld_journal_has_rest(const ggld_beside *b);
ggld_status ggld_journal_drop_rest(const ggld_beside *b, ggld_error *err);
/* *found: there is one. GGLD_E_CHECKSUM: it is damaged. */
ggld_status ggld_journal_load(ggld_journal *j, const ggld_beside *b,
                              const ggld_allocator *a, bool *found,
                              ggld_error *err);
void ggld_journal_free(ggld_journal *j, const ggld_allocator *a);
/* Removes it, once all else is on disk; state, "all is done" or so, is what the
 * error says of the file. */
ggld_status ggld_journal_drop(const ggld_beside *b, const char *state,
                              ggld_error *err);

/* How the file of fd stands to it; what it reads is compared byte by byte. Of
 * STRANGE *why says what does not fit. any_device: its number is no matter. */
ggld_status ggld_journal_compare(const ggld_journal *j, int fd,
                                 const ggld_allocator *a, bool any_device,
                                 ggld_edit_trace *out, ggld_error *why,
                                 ggld_error *err);

/* From HALFWAY to the new file, and from there, or SHIFTED, to the old one;
 * both to disk. 0, or errno. */
int ggld_journal_finish(const ggld_journal *j, int fd);
int ggld_journal_undo(const ggld_journal *j, int fd);
int ggld_journal_unshift(const ggld_journal *j, int fd);

#endif /* GGLD_CHANGE_JOURNAL_H */
