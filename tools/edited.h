/* SPDX-License-Identifier: MIT */
/* What ggld edit says of an edit that is done, or would be. */
#ifndef TOOLS_EDITED_H
#define TOOLS_EDITED_H

#include <ggld/edit.h>

#include "js.h"
#include "out.h"

typedef struct edited {
    const char *path;
    const char *out_path; /* NULL: the file itself */
    bool in_place;
    bool dry_run;
    uint64_t reserve_bytes; /* that were asked for */
    uint64_t old_file_bytes;
    uint64_t old_room_bytes; /* of ggld.padding */
    ggld_edit_plan plan;
} edited;

/* Fills in what the file was; the rest is the caller's. */
void edited_begin(edited *e, const ggld_file *old);
/* A line or two. */
void edited_print(output *o, const edited *e);
/* The object: the changes, while there is the old file, and the rest of it when
 * the edit is done. */
void edited_json_begin(js *w, const edited *e, const ggld_edit *edit,
                       const ggld_file *now);
void edited_json_end(js *w, const edited *e);
/* Of a dry run that would make a new file: refuses a folder that takes none, and
 * notes that the disk has no room for one. Exit status. */
int edited_try(const edited *e);
/* Notes that a manifest beside what was written is of the file as it was. */
void edited_note_manifest(const edited *e);

#endif /* TOOLS_EDITED_H */
