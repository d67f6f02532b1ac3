/* SPDX-License-Identifier: MIT */
/* A model to be edited in place, in a folder of its own, and what has become of
 * it: the old file, the new one, or neither.
 *
 * Paths that insert a range need a file system that can; one is made (ext4 on a
 * loop device) where the temporary folder's can't, and may. */
#ifndef TESTS_EDIT_SCENE_H
#define TESTS_EDIT_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ggld/edit.h>

#include "model.h"

#define FILE_NAME "m.gguf"
#define JOURNAL   "m.gguf.ggld-journal"
#define FRESH     "m.gguf.ggld-journal-new"

typedef struct scene {
    const char *what;
    model_form old;
    const char *name;  /* that general.name becomes */
    size_t long_bytes; /* that "long" becomes; 0: it stays */
    bool inserts;
} scene;

/* Of the last call that failed. */
extern ggld_error scene_err;

/* Goes to another file system where that is needed. false: no range can be
 * inserted anywhere, and what needs it is left out. */
bool go_where_ranges_go(void);
/* To one that shares blocks between files. */
bool mount_xfs(void);
bool can_insert(void);

scene scene_same_size(void);
scene scene_slack(uint32_t version, bool big_endian);
scene scene_insert(void);
/* The old model, alone. */
void scene_set(const scene *s);

/* What the scene is about, of an edit that is open. */
ggld_status change(ggld_edit *edit, const scene *s);
/* All of it, in place; the harness is told of the calls. */
ggld_status edit_scene(const scene *s);
ggld_status edit_with(const scene *s, uint32_t flags);
ggld_status try_scene(const scene *s);

bool is_old(const scene *s);
/* What differs between the file and the new model; NULL: nothing. */
const char *new_differs(const scene *s);
/* Entries of the folder, without those that a new file system has. */
int entries(void);
void expect_clean(const char *what);
/* Sets the scene, and edits. */
void expect_done(const scene *s);
/* Negative offsets are from the end. */
void patch(const char *path, long offset, const void *data, size_t size);

#endif /* TESTS_EDIT_SCENE_H */
