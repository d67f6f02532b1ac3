/* SPDX-License-Identifier: MIT */
/* Several files in one folder that appear together, or not at all. */
#ifndef GGLD_CHANGE_PUBLISH_H
#define GGLD_CHANGE_PUBLISH_H

#include <stdbool.h>

#include "../base/target.h"

typedef struct ggld_new_file {
    char *name;                    /* in the folder */
    char temp[GGLD_TEMP_NAME_MAX]; /* where it is now; "": not yet anywhere */
    char old[GGLD_TEMP_NAME_MAX];  /* where the old one was put; "": none was */
    int lock_fd; /* holds temp's lock (target.h); -1: nothing does */
    bool named;
} ggld_new_file;

typedef struct ggld_publication {
    ggld_allocator allocator;
    ggld_target folder; /* of any of the files; makes it, keeps it open */
    ggld_new_file *files;
    uint32_t n_files;
    bool replace; /* old files go */
} ggld_publication;

/* Finds or makes the folder of path, which is the first file's. */
ggld_status ggld_publication_open(ggld_publication *p, const char *path,
                                  uint32_t n_files, bool replace,
                                  ggld_error *err);
/* The next name; GGLD_E_INVALID where it is taken, and may not be. */
ggld_status ggld_publication_name(ggld_publication *p, uint32_t i,
                                  const char *path, ggld_error *err);
/* Takes the descriptor over that holds the lock of a temp. */
void ggld_publication_hold(ggld_publication *p, uint32_t i, int lock_fd);
/* Every temp, which is synced, to its name. On failure nothing has changed. */
ggld_status ggld_publication_commit(ggld_publication *p, ggld_error *err);
/* Frees; removes what has not been published. */
void ggld_publication_close(ggld_publication *p);

#endif /* GGLD_CHANGE_PUBLISH_H */
