/* SPDX-License-Identifier: MIT */
/* See edited.h. */
#include "edited.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "changes.h"
#include "model.h"
#include "report.h"
#include "text.h"

void edited_begin(edited *e, const ggld_file *old)
{
    const ggld_kv *kv = ggld_kv_find(old, "ggld.padding");
    ggld_string room = { "", 0 };

    if (kv != NULL && ggld_kv_get_string(kv, &room))
        e->old_room_bytes = room.len;
    e->old_file_bytes = model_file_info(old).file_bytes;
}

static const char *target_of(const edited *e)
{
    return e->out_path != NULL ? e->out_path : e->path;
}

static bool is_nothing(const edited *e)
{
    return e->plan.in_place == GGLD_EDIT_NOTHING && e->out_path == NULL;
}

/* ---- what there is of it ---- */

/* Of the file as it is, or would be. */
static uint64_t file_bytes_of(const edited *e)
{
    struct stat st;

    if (!e->dry_run && stat(target_of(e), &st) == 0)
        return (uint64_t)st.st_size;
    if (is_nothing(e))
        return e->old_file_bytes;
    if (e->in_place)
        return e->old_file_bytes + e->plan.new_data_bytes -
               e->plan.old_data_bytes;
    return e->plan.new_file_bytes;
}

static const char *how_of(const edited *e)
{
    if (is_nothing(e))
        return "nothing";
    if (!e->in_place)
        return e->out_path != NULL ? "copy" : "new-file";
    if (e->plan.in_place == GGLD_EDIT_INSERTS)
        return "inserted";
    return e->plan.padding_bytes == 0 && e->old_room_bytes == 0 ? "same-size"
                                                                : "slack";
}

/* ---- as text ---- */

static void print_in_place(output *o, const edited *e)
{
    const ggld_edit_plan *plan = &e->plan;
    const char *could =
        e->in_place ? "possible" : "possible, where the file system can";

    if (plan->in_place == GGLD_EDIT_NO_ROOM)
        out_printf(o, "in place: no: %s\n", plan->reason.message);
    else if (plan->in_place == GGLD_EDIT_FITS)
        out_printf(o,
                   "in place: %s, %" PRIu64 " byte%s of room left for more\n",
                   e->dry_run ? "it fits" : "done", plan->padding_bytes,
                   text_plural(plan->padding_bytes));
    else if (plan->in_place == GGLD_EDIT_INSERTS)
        out_printf(o,
                   "in place: %s, with %" PRIu64
                   " bytes inserted before the data, %" PRIu64
                   " of them left for more\n",
                   e->dry_run ? could : "done",
                   plan->new_data_bytes - plan->old_data_bytes,
                   plan->padding_bytes);
}

static void print_nothing(output *o, const edited *e)
{
    out_text(o, "nothing to change");
    if (e->reserve_bytes != 0)
        out_printf(o, ": %" PRIu64 " byte%s of room %s there already",
                   e->old_room_bytes, text_plural(e->old_room_bytes),
                   e->old_room_bytes == 1 ? "is" : "are");
    out_text(o, "\n");
}

static void print_new_file(output *o, const edited *e)
{
    const char *target = target_of(e);
    uint64_t n = e->plan.n_changed;

    text_put_name(o, target, strlen(target));
    if (!e->dry_run)
        out_text(o, ": written");
    else if (access(target, F_OK) == 0)
        out_text(o, ": would be replaced by a new file");
    else
        out_text(o, ": would be written");
    if (e->dry_run)
        out_printf(o, ", %" PRIu64 " bytes", file_bytes_of(e));
    out_printf(o, ", %" PRIu64 " change%s", n, text_plural(n));
    if (e->reserve_bytes != 0)
        out_printf(o, ", %" PRIu64 " byte%s of room for more", e->reserve_bytes,
                   text_plural(e->reserve_bytes));
    out_text(o, "\n");
}

void edited_print(output *o, const edited *e)
{
    if (is_nothing(e)) {
        print_nothing(o, e);
        return;
    }
    if (!e->in_place)
        print_new_file(o, e);
    if (e->in_place || (e->dry_run && e->out_path == NULL))
        print_in_place(o, e);
}

/* ---- as JSON ---- */

static void json_plan(js *w, const char *key, const ggld_edit_plan *plan)
{
    static const char *const ways[] = { "nothing", "fits", "inserts",
                                        "no room" };

    js_object(w, key);
    js_text(w, "way", ways[plan->in_place]);
    js_u64(w, "metadata_bytes", plan->needed_bytes);
    js_u64(w, "data_offset_old", plan->old_data_bytes);
    if (plan->in_place != GGLD_EDIT_NO_ROOM) {
        js_u64(w, "data_offset_new", plan->new_data_bytes);
        js_u64(w, "padding_bytes", plan->padding_bytes);
    } else {
        js_text(w, "reason", plan->reason.message);
    }
    js_end(w);
}

void edited_json_begin(js *w, const edited *e, const ggld_edit *edit,
                       const ggld_file *now)
{
    js_object(w, NULL);
    js_text(w, "file", e->path);
    changes_json(w, "changes", edit, now);
}

void edited_json_end(js *w, const edited *e)
{
    json_plan(w, "in_place", &e->plan);
    js_bool(w, "dry_run", e->dry_run);
    js_text(w, "how", how_of(e));
    js_u64(w, "file_bytes", file_bytes_of(e));
    js_text(w, "written", e->dry_run || is_nothing(e) ? NULL : target_of(e));
    js_end(w);
}

/* ---- beside it ---- */

/* "." where the name has no folder. false: it is too long. */
static bool folder_of(const char *path, char folder[static PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    int n = slash == NULL ? snprintf(folder, PATH_MAX, ".")
                          : snprintf(folder, PATH_MAX, "%.*s",
                                     (int)(slash - path) + 1, path);
    return n > 0 && n < PATH_MAX;
}

int edited_try(const edited *e)
{
    const char *target = target_of(e);
    char real[PATH_MAX], folder[PATH_MAX];
    struct statvfs st;

    if (e->in_place || is_nothing(e))
        return STATUS_GOOD;
    /* A folder that is not there yet will be made. */
    if (!folder_of(realpath(target, real) != NULL ? real : target, folder) ||
        statvfs(folder, &st) != 0)
        return STATUS_GOOD;
    if (access(folder, W_OK | X_OK) != 0)
        return report_errno(target, errno,
                            "a new file can't be made in its folder");
    uint64_t available = (uint64_t)st.f_bavail * st.f_frsize;
    if (available < e->plan.new_file_bytes)
        report_note(target,
                    "the new file takes %" PRIu64 " bytes, and %" PRIu64
                    " are free there: there is no room for it, unless the file "
                    "system shares blocks between files",
                    e->plan.new_file_bytes, available);
    return STATUS_GOOD;
}

void edited_note_manifest(const edited *e)
{
    const char *target = target_of(e);
    char name[PATH_MAX];

    int n = snprintf(name, sizeof name, "%s.ggsum", target);
    if (n > 0 && (size_t)n < sizeof name && !is_nothing(e) &&
        access(name, F_OK) == 0)
        report_note(
            target,
            "its manifest '%.160s' is of the file as it was: 'ggld hash "
            "--save' makes a new one",
            name);
}
