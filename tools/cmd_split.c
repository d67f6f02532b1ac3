/* SPDX-License-Identifier: MIT */
/* ggld split: a model in shards, as llama.cpp names them. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ggld/shards.h>

#include "command.h"
#include "js.h"
#include "leftovers.h"
#include "model.h"
#include "opts.h"
#include "paths.h"
#include "progress.h"
#include "report.h"
#include "shard.h"
#include "stop.h"
#include "watch.h"

enum {
    OPT_MAX_SIZE,
    OPT_MAX_TENSORS,
    OPT_OUTPUT,
    OPT_BARE_FIRST,
    OPT_FORCE,
    OPT_DRY_RUN,
    OPT_JSON
};

typedef struct splitting {
    const args *a;
    model in;
    char *prefix;
    char *path; /* room for a shard's */
    size_t path_size;
    ggld_split_options options;
    ggld_split_plan *plan;
} splitting;

static int parse_options(splitting *s)
{
    const char *const *v = s->a->values;

    s->options = ggld_split_options_init();
    if (v[OPT_MAX_SIZE] == NULL && v[OPT_MAX_TENSORS] == NULL)
        return report_usage(s->a, "--max-size or --max-tensors is missing");
    if (v[OPT_MAX_SIZE] != NULL &&
        (!opts_size(v[OPT_MAX_SIZE], &s->options.max_bytes) ||
         s->options.max_bytes == 0))
        return report_usage(s->a, "'%s' is no size: 500M, 2G, or bytes",
                            v[OPT_MAX_SIZE]);
    if (v[OPT_MAX_TENSORS] != NULL &&
        !opts_number(v[OPT_MAX_TENSORS], 1, UINT32_MAX,
                     &s->options.max_tensors))
        return report_usage(s->a, "'%s' is no number of tensors",
                            v[OPT_MAX_TENSORS]);
    if (v[OPT_FORCE] != NULL)
        s->options.flags |= GGLD_SPLIT_FORCE;
    if (v[OPT_BARE_FIRST] != NULL)
        s->options.flags |= GGLD_SPLIT_BARE_FIRST;
    return paths_refuse_stdout(s->a, "PREFIX", v[OPT_OUTPUT]);
}

static int choose_prefix(splitting *s)
{
    const char *given = s->a->values[OPT_OUTPUT];

    s->prefix = strdup(given != NULL ? given : s->a->operands[0]);
    if (s->prefix == NULL)
        return report(s->in.path, "no memory");
    s->path_size = strlen(s->prefix) + 32;
    s->path = malloc(s->path_size);
    if (s->path == NULL)
        return report(s->in.path, "no memory");
    if (given == NULL)
        shard_cut_name(s->prefix);
    return STATUS_GOOD;
}

static const char *path_of(const splitting *s, uint32_t no)
{
    ggld_shard_path(s->path, s->path_size, s->prefix, no,
                    ggld_split_plan_count(s->plan));
    return s->path;
}

/* ---- what came of it, or would ---- */

static void print_shards(const splitting *s)
{
    output *o = s->a->out;

    for (uint32_t i = 0; i < ggld_split_plan_count(s->plan); i++) {
        ggld_split_shard shard = { .struct_size = sizeof shard };
        ggld_split_plan_get(s->plan, i, &shard);
        text_put_name(o, path_of(s, i), strlen(path_of(s, i)));
        out_printf(o, ": %" PRIu64 " tensor%s, %s\n", shard.n_tensors,
                   text_plural(shard.n_tensors),
                   text_size(shard.file_bytes).text);
    }
}

static void print_json(const splitting *s)
{
    js w = js_begin(s->a->out);

    js_object(&w, NULL);
    js_text(&w, "file", s->in.path);
    js_bool(&w, "written", s->a->values[OPT_DRY_RUN] == NULL);
    js_array(&w, "shards");
    for (uint32_t i = 0; i < ggld_split_plan_count(s->plan); i++) {
        ggld_split_shard shard = { .struct_size = sizeof shard };
        ggld_split_plan_get(s->plan, i, &shard);
        js_object(&w, NULL);
        js_text(&w, "path", path_of(s, i));
        js_u64(&w, "first_tensor", shard.first_tensor);
        js_u64(&w, "tensors", shard.n_tensors);
        js_u64(&w, "file_bytes", shard.file_bytes);
        js_end(&w);
    }
    js_end(&w);
    js_end(&w);
}

static void note_large(const splitting *s)
{
    ggld_split_shard largest = { .struct_size = sizeof largest };
    uint32_t no = 0, n = 0;

    for (uint32_t i = 0; i < ggld_split_plan_count(s->plan); i++) {
        ggld_split_shard shard = { .struct_size = sizeof shard };
        ggld_split_plan_get(s->plan, i, &shard);
        if (s->options.max_bytes == 0 ||
            shard.file_bytes <= s->options.max_bytes)
            continue;
        n++;
        if (shard.file_bytes > largest.file_bytes) {
            largest = shard;
            no = i;
        }
    }
    if (n == 1)
        report_note(path_of(s, no),
                    "%" PRIu64 " bytes, more than %" PRIu64
                    ": what is in it can't be split",
                    largest.file_bytes, s->options.max_bytes);
    else if (n > 1)
        report_note(path_of(s, no),
                    "%" PRIu64 " bytes, and %" PRIu32
                    " other%s more than %" PRIu64
                    " too: what is in them can't be split",
                    largest.file_bytes, n - 1, n == 2 ? " has" : "s have",
                    s->options.max_bytes);
}

/* A split of this name that was killed has left files, or is at work. */
static bool has_temporaries(const splitting *s)
{
    const char *slash = strrchr(s->prefix, '/');
    const char *name = slash != NULL ? slash + 1 : s->prefix;
    size_t len = strlen(name);
    const struct dirent *entry;
    bool found = false;

    snprintf(s->path, s->path_size, "%.*s.",
             slash != NULL ? (int)(slash - s->prefix) + 1 : 0, s->prefix);
    DIR *dir = opendir(s->path);
    while (dir != NULL && !found && (entry = readdir(dir)) != NULL)
        found = strncmp(entry->d_name, name, len) == 0 &&
                entry->d_name[len] == '-' &&
                strstr(entry->d_name + len, ".gguf.tmp.") != NULL;
    if (dir != NULL)
        closedir(dir);
    return found;
}

static int fail_there(const splitting *s, const ggld_error *err)
{
    int status =
        report(s->in.path, "%s: remove it, give another --output, or --force",
               err->message);
    if (has_temporaries(s))
        report_note(s->prefix,
                    "an unfinished split lies there, or one is at "
                    "work: its files end in .gguf.tmp. and a number");
    return status;
}

/* Unless all is refused, as shards are there. */
static void remove_leftovers(const splitting *s)
{
    if (s->a->values[OPT_FORCE] == NULL && access(path_of(s, 0), F_OK) == 0)
        return;
    for (uint32_t i = 0; i < ggld_split_plan_count(s->plan); i++)
        leftovers_remove(path_of(s, i));
}

static int write_shards(splitting *s, progress *bar)
{
    ggld_error err;

    remove_leftovers(s);
    stop_watch();
    progress_begin(bar, "split", 0);
    ggld_status status = ggld_split_write(s->plan, s->prefix, &err);
    progress_end(bar);
    if (status == GGLD_E_CANCELLED)
        return stop_report(s->in.path);
    if (status != GGLD_OK && report_is_onto_itself(&err))
        return report_usage(s->a, "%s", err.message);
    if (status == GGLD_E_INVALID && strstr(err.message, "already") != NULL)
        return fail_there(s, &err);
    return status == GGLD_OK ? STATUS_GOOD : model_failed(&s->in, NULL, &err);
}

static int split(splitting *s)
{
    progress bar;
    ggld_error err;

    s->options.progress = watch_progress;
    s->options.progress_user = &bar;
    if (ggld_split_plan_new(&s->plan, s->in.file, &s->options, &err) != GGLD_OK)
        return model_failed(&s->in, NULL, &err);
    int status =
        s->a->values[OPT_DRY_RUN] != NULL ? STATUS_GOOD : write_shards(s, &bar);
    if (status == STATUS_GOOD) {
        note_large(s);
        if (s->a->values[OPT_JSON] != NULL)
            print_json(s);
        else
            print_shards(s);
    }
    ggld_split_plan_free(s->plan);
    return status;
}

static int split_run(const args *a)
{
    splitting s = { .a = a };
    int status = parse_options(&s);

    if (status == STATUS_GOOD)
        status = model_open(&s.in, a->operands[0]);
    if (status != STATUS_GOOD)
        return status;
    status = choose_prefix(&s);
    if (status == STATUS_GOOD)
        status = split(&s);
    free(s.prefix);
    free(s.path);
    model_close(&s.in);
    return status;
}

static const option_row options[] = {
    [OPT_MAX_SIZE] = { "max-size", 0, "SIZE",
                       "bytes of a shard at most: 500M, 2G (of 1024)" },
    [OPT_MAX_TENSORS] = { "max-tensors", 0, "N", "tensors of a shard at most" },
    [OPT_OUTPUT] = { "output", 'o', "PREFIX",
                     "of the shards' names; else FILE's name" },
    [OPT_BARE_FIRST] = { "no-tensor-first-split", 0, NULL,
                         "key-values alone in the first shard" },
    [OPT_FORCE] = { "force", 'f', NULL, "replace shards that are there" },
    [OPT_DRY_RUN] = { "dry-run", 'n', NULL, "say what would be written" },
    [OPT_JSON] = { "json", 0, NULL, "print JSON" },
    { NULL, 0, NULL, NULL },
};

const command_row command_split = {
    "split",
    "FILE",
    "Writes a model as several files",
    "PREFIX-00001-of-0000N.gguf and so on, as llama.cpp reads them: tensors in\n"
    "order, key-values in the first. A tensor that is larger than --max-size\n"
    "has a shard of its own. All shards appear, or none. FILE stays.\n",
    1,
    1,
    options,
    split_run,
};
