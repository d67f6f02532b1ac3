/* SPDX-License-Identifier: MIT */
/* ggld edit: a model's key-values and tensor names changed. The work is the
 * library's (<ggld/edit.h>); here is what was asked for, and what is said. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ggld/edit.h>

#include "changes.h"
#include "command.h"
#include "edited.h"
#include "halfmerged.h"
#include "js.h"
#include "leftovers.h"
#include "opts.h"
#include "paths.h"
#include "pending.h"
#include "progress.h"
#include "report.h"
#include "setting.h"
#include "shard.h"
#include "stop.h"
#include "text.h"
#include "watch.h"

enum {
    OPT_SET,
    OPT_UNSET,
    OPT_RENAME,
    OPT_RENAME_TENSOR,
    OPT_OUTPUT,
    OPT_IN_PLACE,
    OPT_RESERVE,
    OPT_FORCE,
    OPT_DRY_RUN,
    OPT_RECOVER,
    OPT_JSON
};

typedef struct job {
    const args *a;
    edited said;
    ggld_edit *edit;
    progress bar;
} job;

/* ---- what is asked for ---- */

static bool known_type(const void *user, const char *key, uint32_t *type,
                       uint32_t *elem_type)
{
    const job *j = user;
    return ggld_edit_type_of(j->edit, key, type, elem_type);
}

static int set_key(const job *j, const char *text)
{
    char why[SETTING_WHY_MAX];
    setting s;
    ggld_error err;
    int status = STATUS_GOOD;

    if (!setting_read(text, known_type, j, true, &s, why)) {
        status = setting_report(j->a, j->said.path, text, &s, why);
    } else {
        ggld_edit_value value = { .struct_size = sizeof value,
                                  .type = s.type,
                                  .elem_type = s.elem_type,
                                  .data = s.data,
                                  .size = s.n };
        if (ggld_edit_set(j->edit, s.key, &value, &err) != GGLD_OK)
            status = report_error(j->said.path, &err);
    }
    setting_free(&s);
    return status;
}

static int rename_thing(const job *j, int option, const char *text)
{
    const char *equals = strchr(text, '=');
    ggld_error err;

    if (equals == NULL)
        return report_usage(j->a, "--%s '%.120s': OLD=NEW is wanted",
                            j->a->command->options[option].name, text);
    char *old_name = strndup(text, (size_t)(equals - text));
    if (old_name == NULL)
        return report(j->said.path, "no memory");
    ggld_status status =
        option == OPT_RENAME
            ? ggld_edit_rename(j->edit, old_name, equals + 1, &err)
            : ggld_edit_rename_tensor(j->edit, old_name, equals + 1, &err);
    free(old_name);
    return status == GGLD_OK ? STATUS_GOOD : report_error(j->said.path, &err);
}

static int apply(const job *j, const given_option *given)
{
    ggld_error err;

    if (given->option == OPT_SET)
        return set_key(j, given->value);
    if (given->option != OPT_UNSET)
        return rename_thing(j, given->option, given->value);
    if (ggld_edit_unset(j->edit, given->value, &err) != GGLD_OK)
        return report_error(j->said.path, &err);
    return STATUS_GOOD;
}

static int apply_all(const job *j)
{
    int status = STATUS_GOOD;
    for (int i = 0; i < j->a->n_given && status == STATUS_GOOD; i++)
        status = apply(j, &j->a->given[i]);
    return status;
}

/* ---- what is said ---- */

/* The changes, before they are made: afterwards the old file is gone. */
static int list_changes(const job *j, js *w)
{
    bool as_in_place =
        j->said.in_place && j->said.plan.in_place != GGLD_EDIT_NOTHING;
    ggld_file *now = NULL;
    ggld_error err;

    if (!j->said.dry_run && j->a->values[OPT_JSON] == NULL)
        return STATUS_GOOD;
    if (ggld_edit_preview(j->edit, as_in_place, &now, &err) != GGLD_OK)
        return report_error(j->said.path, &err);
    if (j->a->values[OPT_JSON] != NULL)
        edited_json_begin(w, &j->said, j->edit, now);
    else if (j->said.dry_run)
        changes_print(j->a->out, j->edit, now);
    ggld_close(now);
    return STATUS_GOOD;
}

/* ---- doing it ---- */

static const char *output_path(const job *j)
{
    return j->said.out_path != NULL ? j->said.out_path : j->said.path;
}

static int carry_out(job *j)
{
    ggld_file_info info = { .struct_size = sizeof info };
    ggld_error err;
    ggld_status status;

    ggld_file_get_info(ggld_edit_file(j->edit), &info);
    if (!j->said.in_place)
        leftovers_remove(output_path(j));
    stop_watch();
    progress_begin(&j->bar, "edit", info.data_bytes);
    status = j->said.in_place
                 ? ggld_edit_in_place(j->edit, &err)
                 : ggld_edit_write(j->edit, j->said.out_path, &err);
    progress_end(&j->bar);
    if (status == GGLD_E_CANCELLED)
        return stop_report(output_path(j));
    if (status != GGLD_OK)
        return report_error(j->said.path, &err);
    if (stop_asked())
        report_note(j->said.path,
                    "the signal came too late to stop it: it is done");
    edited_note_manifest(&j->said);
    return STATUS_GOOD;
}

/* ---- shards ---- */

/* Whether key-values are to be changed that a set reads: room is each file's
 * own. */
static bool changes_keys(const args *a)
{
    for (int i = 0; i < a->n_given; i++)
        if (a->given[i].option != OPT_RENAME_TENSOR &&
            (a->given[i].option != OPT_UNSET ||
             strcmp(a->given[i].value, "ggld.padding") != 0))
            return true;
    return false;
}

static int refuse_keys(const job *j, const shard_place *at)
{
    char *first = shard_name(j->said.path, 0, at->count);
    int status = report(j->said.path,
                        "this is shard %" PRIu32 " of %" PRIu32
                        "; the set's key-values are those of shard 1, '%.160s':"
                        " edit that (--force: these, which nobody reads)",
                        at->no + 1, at->count, first != NULL ? first : "?");
    free(first);
    return status;
}

/* What would not open under its name. */
static int refuse_name(const job *j, const shard_place *at)
{
    char *name = shard_name(j->said.out_path, at->no, at->count);
    int status = report(j->said.out_path,
                        "it would be shard %" PRIu32 " of %" PRIu32
                        " by its keys, and not open under that name: name it "
                        "'%.160s' (--force: as it is, for --single)",
                        at->no + 1, at->count, name != NULL ? name : "?");
    free(name);
    return status;
}

static int check_shard(const job *j)
{
    bool force = j->a->values[OPT_FORCE] != NULL;
    shard_place at;

    if (!shard_place_of(ggld_edit_file(j->edit), &at))
        return STATUS_GOOD;
    if (at.no != 0 && changes_keys(j->a) && !force)
        return refuse_keys(j, &at);
    if (j->said.out_path != NULL && !shard_is_named(j->said.out_path, &at) &&
        !force)
        return refuse_name(j, &at);
    report_note(j->said.path, "shard %" PRIu32 " of %" PRIu32 "%s", at.no + 1,
                at.count,
                at.no == 0 ? ": the set's key-values are these"
                           : "; the set's key-values are those of the first "
                             "shard");
    return STATUS_GOOD;
}

static void note_unseen(const job *j, const ggld_edit_plan *plan)
{
    if (plan->n_unseen_shards != 0)
        report_note(j->said.path,
                    "%" PRIu64 " other shard%s of its set can't be opened: "
                    "whether the new names are there too is not known",
                    plan->n_unseen_shards, text_plural(plan->n_unseen_shards));
}

/* What an edit in place is refused for is said by a dry run too. */
static int plan_edit(job *j)
{
    ggld_edit_plan *plan = &j->said.plan;
    ggld_error err;

    plan->struct_size = sizeof *plan;
    if (ggld_edit_plan_of(j->edit, plan, &err) != GGLD_OK)
        return report_error(j->said.path, &err);
    note_unseen(j, plan);
    if (j->said.in_place && plan->in_place == GGLD_EDIT_NO_ROOM)
        return report_error(j->said.path, &plan->reason);
    if (!j->said.dry_run)
        return STATUS_GOOD;
    if (j->said.in_place && ggld_edit_try_in_place(j->edit, &err) != GGLD_OK)
        return report_error(j->said.path, &err);
    return edited_try(&j->said);
}

static int run_edit(job *j)
{
    js w = js_begin(j->a->out);
    int status = check_shard(j);

    if (status == STATUS_GOOD)
        status = apply_all(j);
    if (status == STATUS_GOOD)
        status = plan_edit(j);
    if (status == STATUS_GOOD)
        status = list_changes(j, &w);
    if (status == STATUS_GOOD && !j->said.dry_run)
        status = carry_out(j);
    if (status != STATUS_GOOD)
        out_drop(j->a->out);
    else if (j->a->values[OPT_JSON] != NULL)
        edited_json_end(&w, &j->said);
    else
        edited_print(j->a->out, &j->said);
    return status;
}

static int open_edit(job *j)
{
    ggld_edit_options options = ggld_edit_options_init();
    ggld_error err;

    if (j->said.in_place)
        options.flags |= GGLD_EDIT_IN_PLACE;
    if (j->a->values[OPT_FORCE] != NULL)
        options.flags |= GGLD_EDIT_FORCE;
    options.reserve_bytes = j->said.reserve_bytes;
    options.progress = watch_progress;
    options.progress_user = &j->bar;
    if (ggld_edit_open(&j->edit, j->said.path, &options, &err) != GGLD_OK)
        return report_error(j->said.path, &err);
    edited_begin(&j->said, ggld_edit_file(j->edit));
    return STATUS_GOOD;
}

/* ---- the command line ---- */

static int check_options(const args *a, job *j)
{
    const char *reserve = a->values[OPT_RESERVE];
    int status = paths_refuse_stdout(a, "OUT", j->said.out_path);

    if (status != STATUS_GOOD)
        return status;
    if (j->said.in_place && j->said.out_path != NULL)
        return report_usage(a, "--in-place and --output exclude each other");
    if (reserve != NULL && (!opts_size(reserve, &j->said.reserve_bytes) ||
                            j->said.reserve_bytes > (1u << 30)))
        return report_usage(a, "--reserve '%s': bytes up to 1G are wanted",
                            reserve);
    if (a->values[OPT_RECOVER] != NULL) {
        if (a->n_given != 0 || j->said.in_place || j->said.out_path != NULL ||
            j->said.dry_run || reserve != NULL)
            return report_usage(a, "--recover stands alone, but for --force");
        return STATUS_GOOD;
    }
    if (a->n_given == 0 && reserve == NULL)
        return report_usage(a, "nothing to change: --set, --unset, --rename, "
                               "--rename-tensor or --reserve is wanted");
    if (j->said.out_path != NULL && paths_same(j->said.path, j->said.out_path))
        return report_usage(a, "FILE and --output are the same file: without "
                               "--output, FILE is replaced");
    return STATUS_GOOD;
}

/* A merge that goes on would find another shard than it knows. */
static int check_merge(const job *j)
{
    if (j->said.out_path != NULL || j->a->values[OPT_FORCE] != NULL ||
        !halfmerged_needs(j->said.path))
        return STATUS_GOOD;
    return report(j->said.path,
                  "a merge that is not done still needs it as it is: end that "
                  "first, or give an --output (--force: all the same)");
}

static int edit_run(const args *a)
{
    job j = { .a = a,
              .said = { .path = a->operands[0],
                        .out_path = a->values[OPT_OUTPUT],
                        .in_place = a->values[OPT_IN_PLACE] != NULL,
                        .dry_run = a->values[OPT_DRY_RUN] != NULL } };
    bool only_recover = a->values[OPT_RECOVER] != NULL;
    int status = check_options(a, &j);

    if (status == STATUS_GOOD && !only_recover)
        status = check_merge(&j);
    if (status == STATUS_GOOD && (only_recover || !j.said.dry_run))
        status = pending_end(j.said.path, a->values[OPT_FORCE] != NULL,
                             only_recover ? a->out : NULL);
    if (status != STATUS_GOOD || only_recover)
        return status;
    status = open_edit(&j);
    if (status == STATUS_GOOD)
        status = run_edit(&j);
    ggld_edit_free(j.edit);
    return status;
}

static const option_row options[] = {
    [OPT_SET] = { "set", 's', "KEY[:TYPE]=VALUE",
                  "set a key; its type is kept, a new key needs one",
                  .is_repeated = true },
    [OPT_UNSET] = { "unset", 'u', "KEY", "remove a key", .is_repeated = true },
    [OPT_RENAME] = { "rename", 0, "OLD=NEW", "rename a key",
                     .is_repeated = true },
    [OPT_RENAME_TENSOR] = { "rename-tensor", 0, "OLD=NEW", "rename a tensor",
                            .is_repeated = true },
    [OPT_OUTPUT] = { "output", 'o', "OUT", "write a new file, FILE stays" },
    [OPT_IN_PLACE] = { "in-place", 'i', NULL, "rewrite the metadata only" },
    [OPT_RESERVE] = { "reserve", 0, "BYTES", "leave room for later edits" },
    [OPT_FORCE] = { "force", 0, NULL,
                    "do what is refused of files in use and of shards" },
    [OPT_DRY_RUN] = { "dry-run", 'n', NULL, "show the changes, make none" },
    [OPT_RECOVER] = { "recover", 0, NULL, "end an edit that was interrupted" },
    [OPT_JSON] = { "json", 0, NULL, "print JSON" },
    { NULL, 0, NULL, NULL },
};

const command_row command_edit = {
    "edit",
    "FILE",
    "Changes key-values and names of tensors",
    "Changes are made in the order that they are given in. TYPE is u8 to u64, i8\n"
    "to i64, f32, f64, bool or string, with [] an array, whose VALUE is a JSON\n"
    "list; VALUE may be @FILE. FILE is replaced by a new one when that is whole;\n"
    "--in-place takes milliseconds, whatever the model's size, where there is or\n"
    "can be made room. Tensor data, version and byte order stay as they are.\n",
    1,
    1,
    options,
    edit_run,
};
