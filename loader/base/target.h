/* SPDX-License-Identifier: MIT */
/* The place of a file to be written: its folder, made where it is not there,
 * its name in the folder, and a temporary file beside it. */
#ifndef GGLD_BASE_TARGET_H
#define GGLD_BASE_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "alloc.h"
#include "error.h"

#define GGLD_TEMP_NAME_MAX 256

typedef struct ggld_target {
    const ggld_allocator *allocator;    /* the writer's */
    char *path;                         /* with links at its end followed */
    const char *name;                   /* the last part of path */
    int folder_fd;                      /* -1: not open */
    char temp_name[GGLD_TEMP_NAME_MAX]; /* "": there is no temporary file */
    int lock_fd;                        /* holds its lock; -1: nothing does */
    bool replaces;                      /* a file is there */
    mode_t mode;                        /* its mode */
    uid_t uid;                          /* its owner */
    gid_t gid;

    /* Folders that were made, to be removed on failure: paths below anchor
     * end at made[i] where made_end[i] is not 0. */
    int anchor_fd; /* -1: none was made */
    char *made;
    uint8_t *made_end;
} ggld_target;

/* One that is not open. */
void ggld_target_init(ggld_target *t, const ggld_allocator *allocator);
/* Finds or makes the folder. On failure nothing is left of it. */
ggld_status ggld_target_open(ggld_target *t, const char *path,
                             const ggld_allocator *allocator, ggld_error *err);
/* The same of a folder that is there: none is made. */
ggld_status ggld_target_find(ggld_target *t, const char *path,
                             const ggld_allocator *allocator, ggld_error *err);
/* Makes the temporary file; *fd is open for writing. It is locked until the
 * target is closed, so that others know that it is somebody's; what a process
 * that was killed has left of such files is removed first (leftover.h). */
ggld_status ggld_target_make_temp(ggld_target *t, int *fd, ggld_error *err);
/* Is a target's name too long for its temporary files' to hold all of it, so
 * that they are called as those of others that begin alike? */
bool ggld_target_is_cut(const char *name);
/* Is temp such a file's name, of a target called name? */
bool ggld_target_is_temp(const char *temp, const char *name);
/* The temporary file once more, for reading. */
ggld_status ggld_target_reopen(const ggld_target *t, int *fd, ggld_error *err);
/* Gives the temporary file the name, and syncs the folder. On failure of the
 * first the target is as before, on failure of the second it is replaced, but
 * may not stay so if the system goes down. */
ggld_status ggld_target_commit(ggld_target *t, ggld_error *err);
/* Frees; removes what was made and was not committed. */
void ggld_target_close(ggld_target *t);

/* Errors of the output as a whole: message, colon, the errno's text. */
ggld_status ggld_target_fail(const ggld_target *t, int sys_errno,
                             const char *what, ggld_error *err);

#endif /* GGLD_BASE_TARGET_H */
