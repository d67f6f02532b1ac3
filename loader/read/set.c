/* SPDX-License-Identifier: MIT */
/* Shards are opened one by one like any file, and keep their records; the set
 * then takes their tensors into one table, so that what is asked of a tensor
 * goes to its own shard. Must leave nothing behind, whichever shard it is that
 * can't be opened. */
#include "set.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/checked.h"
#include "../base/index.h"
#include "hints.h"
#include "source.h"

typedef struct joining {
    const ggld_load *load; /* options for each shard */
    const ggld_split_name *name;
    ggld_report *report;
    ggld_file *set;
    uint32_t no; /* the shard in hand, and its path */
    char *path;
} joining;

void ggld_set_blame(const ggld_file *file, ggld_error *err)
{
    if (file->set != NULL)
        ggld_report_blame(err, file->shard, file->path);
}

static ggld_subject in_file(void)
{
    return ggld_subject_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0, NULL);
}

/* ---- one shard in hand ---- */

static void take_in_hand(joining *j, uint32_t no)
{
    ggld_split_name name = *j->name;
    name.no = no;
    j->no = no;
    ggld_split_path(j->path, &name);
}

/* What it reports is about the shard in hand. */
static bool about_shard(joining *j, bool (*step)(joining *))
{
    j->report->shard = j->no;
    j->report->shard_path = j->path;
    if (j->set->shards[j->no] != NULL)
        j->report->source = &j->set->shards[j->no]->source;
    bool on = step(j);
    j->report->source = NULL;
    if (!on)
        ggld_report_blame(j->report->err, j->no, j->path);
    j->report->shard_path = NULL;
    return on;
}

static bool is_there(const joining *j)
{
    return access(j->path, F_OK) == 0 || errno != ENOENT;
}

/* ---- which are missing ---- */

typedef struct missing {
    uint32_t count;
    uint32_t first;
    uint32_t n_listed;
    char names[GGLD_MESSAGE_MAX - 120];
} missing;

static void list_missing(missing *m, const joining *j)
{
    ggld_quoted label = ggld_split_label(j->path);
    size_t used = strlen(m->names);
    bool fits = used + strlen(label.text) + 2 < sizeof m->names;

    if (m->count == 0)
        m->first = j->no;
    if (m->n_listed == m->count++ && fits) {
        snprintf(m->names + used, sizeof m->names - used, "%s%s",
                 m->n_listed == 0 ? "" : ", ", label.text);
        m->n_listed++;
    }
}

/* An open names them all at once. */
static bool none_missing(joining *j)
{
    missing m = { 0, 0, 0, "" };
    ggld_error error;
    char more[24] = "";

    for (uint32_t no = 0; no < j->set->n_shards; no++) {
        take_in_hand(j, no);
        if (j->set->shards[no] == NULL && !is_there(j))
            list_missing(&m, j);
    }
    if (m.count == 0)
        return true;
    if (m.count != m.n_listed)
        snprintf(more, sizeof more, " and %" PRIu32 " more",
                 m.count - m.n_listed);
    (void)ggld_fail(&error, GGLD_E_IO, in_file().place,
                    "file: %" PRIu32 " of %" PRIu32
                    " shards missing: %s%s; one alone opens with "
                    "GGLD_OPEN_SINGLE",
                    m.count, j->set->n_shards, m.names, more);
    error.sys_errno = ENOENT;
    error.shard = m.first;
    return ggld_report_error(j->report, &error);
}

/* A check hears of each by itself. */
static bool report_missing(joining *j)
{
    ggld_error error;
    (void)ggld_fail(&error, GGLD_E_IO, in_file().place,
                    "file: the shard is missing");
    error.sys_errno = ENOENT;
    return ggld_report_error(j->report, &error);
}

/* ---- opening ---- */

/* What keeps a check from reading a shard is a finding; want of memory is
 * not. */
static bool report_fault(joining *j, const ggld_error *fault)
{
    if (fault->code != GGLD_E_NOMEM)
        return ggld_report_error(j->report, fault);
    return ggld_report_nomem(j->report, "a file's source");
}

static bool load_shard(joining *j)
{
    ggld_load load = *j->load;
    ggld_range whole = { 0, 0, true };
    ggld_error fault;
    int fd = -1;

    load.path = j->path;
    load.part.path = j->path;
    ggld_status status = ggld_fd_of_path(&fd, j->path, &fault);
    if (status == GGLD_OK) {
        status = ggld_load_source(&load, fd, whole, &fault);
        close(fd);
    }
    if (status != GGLD_OK)
        return report_fault(j, &fault);
    j->report->part = load.part;
    j->report->hint = NULL;
    ggld_file *file = ggld_load_file(&load, j->report);
    j->set->shards[j->no] = file;
    return file != NULL || j->report->status == GGLD_OK;
}

static bool judge_shard(joining *j)
{
    ggld_file *file = j->set->shards[j->no];
    file->shard = j->no;
    return ggld_split_member(file, j->report, j->no, j->set->n_shards);
}

static bool load_all(joining *j)
{
    if (j->report->finding == NULL && !none_missing(j))
        return false;
    for (uint32_t no = 0; no < j->set->n_shards; no++) {
        take_in_hand(j, no);
        bool there = j->set->shards[no] != NULL || is_there(j);
        bool on = true;
        if (!there)
            on = about_shard(j, report_missing);
        else if (j->set->shards[no] == NULL)
            on = about_shard(j, load_shard);
        if (on && j->set->shards[no] != NULL)
            on = about_shard(j, judge_shard);
        if (!on)
            return false;
    }
    return true;
}

/* ---- one table ---- */

static bool count_tensors(const joining *j, uint64_t *out)
{
    uint64_t limit = j->load->options->max_tensors;
    *out = 0;
    for (uint32_t no = 0; no < j->set->n_shards; no++)
        if (j->set->shards[no] != NULL)
            *out += j->set->shards[no]->n_tensors;
    if (limit == 0 || limit > GGLD_INDEX_MAX)
        limit = GGLD_INDEX_MAX;
    return *out <= limit ||
           ggld_report_add(j->report, GGLD_GRADE_ERROR, GGLD_E_LIMIT, in_file(),
                           "the shards have %" PRIu64 " tensors together, past "
                           "the limit of %" PRIu64,
                           *out, limit);
}

/* The shard's tensors behind those that are there already. */
static void adopt(ggld_file *set, ggld_file *shard)
{
    ggld_tensor *into = set->tensors + set->n_tensors;
    const ggld_allocator *a = &set->allocator;
    /* Of no tensors there may be no table at all. */
    if (shard->n_tensors != 0)
        memcpy(into, shard->tensors,
               (size_t)shard->n_tensors * sizeof *shard->tensors);
    ggld_free(a, shard->tensors);
    ggld_free(a, shard->tensor_index);
    shard->tensors = into;
    shard->tensor_index = NULL;
    shard->heap_bytes -= shard->table_heap_bytes;
    shard->set = set;
    set->n_tensors += shard->n_tensors;
}

static bool report_twice(const joining *j, const ggld_tensor *t,
                         const ggld_tensor *first)
{
    uint64_t index = (uint64_t)(t - t->file->tensors);
    return ggld_report_add(
        j->report, GGLD_GRADE_ERROR, GGLD_E_DUPLICATE,
        ggld_subject_of(GGLD_IN_TENSOR_INFO, index, t->info_offset, &t->name),
        "the name is that of tensor %" PRIu64 " of %s too",
        (uint64_t)(first - first->file->tensors),
        ggld_split_label(first->file->path).text);
}

/* Those that are twice in one shard have been spoken of. */
static bool index_shard(joining *j)
{
    ggld_file *set = j->set;
    const ggld_file *shard = set->shards[j->no];
    ggld_names names = { &set->tensors[0].name, sizeof(ggld_tensor) };
    uint32_t begin = (uint32_t)(shard->tensors - set->tensors);

    for (uint32_t i = 0; i < shard->n_tensors; i++) {
        uint32_t first = ggld_index_insert(set->tensor_index, names, begin + i);
        if (first < begin &&
            !report_twice(j, &shard->tensors[i], &set->tensors[first]))
            return false;
    }
    return true;
}

static bool judge_total(joining *j)
{
    return ggld_split_total(j->set->shards[j->no], j->report,
                            j->set->n_tensors);
}

/* The step with each shard that is there. */
static bool with_each(joining *j, bool (*step)(joining *))
{
    for (uint32_t no = 0; no < j->set->n_shards; no++) {
        take_in_hand(j, no);
        if (j->set->shards[no] != NULL && !about_shard(j, step))
            return false;
    }
    return true;
}

static bool all_there(const ggld_file *set)
{
    for (uint32_t no = 0; no < set->n_shards; no++)
        if (set->shards[no] == NULL)
            return false;
    return true;
}

static bool join(joining *j)
{
    ggld_file *set = j->set;
    uint64_t n;

    if (!count_tensors(j, &n))
        return false;
    set->tensors = ggld_alloc(&set->allocator, n, sizeof *set->tensors);
    set->tensor_index = ggld_index_new(&set->allocator, n);
    if (set->tensors == NULL || set->tensor_index == NULL)
        return ggld_report_nomem(j->report, "the tensors of a set");
    for (uint32_t no = 0; no < set->n_shards; no++)
        if (set->shards[no] != NULL)
            adopt(set, set->shards[no]);
    if (!with_each(j, index_shard))
        return false;
    return !all_there(set) || with_each(j, judge_total);
}

/* ---- the set ---- */

static bool set_new(joining *j, const char *path)
{
    uint32_t n = j->name->count;
    ggld_file *set = ggld_load_new(j->load, path);

    if (set != NULL)
        set->shards = ggld_alloc(&set->allocator, n, sizeof(ggld_file *));
    if (set != NULL)
        j->path =
            ggld_alloc(&set->allocator, 1, ggld_split_path_bytes(j->name));
    j->set = set;
    if (set == NULL || set->shards == NULL || j->path == NULL)
        return ggld_report_nomem(j->report, "the record of a set");
    set->n_shards = n;
    return true;
}

/* What a set says of itself: the first shard's, or the sum. */
static void set_describe(ggld_file *set)
{
    const ggld_file *first = set->shards[0];
    set->version = first->version;
    set->big_endian = first->big_endian;
    set->alignment_bytes = first->alignment_bytes;
    set->kvs = first->kvs;
    set->n_kvs = first->n_kvs;
    set->kv_index = first->kv_index;
    set->heap_bytes = sizeof *set + strlen(set->path) + 1 +
                      set->n_shards * sizeof(ggld_file *) +
                      set->n_tensors * sizeof *set->tensors +
                      ggld_index_heap_bytes(set->tensor_index);
    for (uint32_t no = 0; no < set->n_shards; no++) {
        const ggld_file *shard = set->shards[no];
        set->heap_bytes += shard->heap_bytes;
        if (!ggld_add_u64(set->n_elems, shard->n_elems, &set->n_elems))
            set->n_elems = UINT64_MAX;
    }
}

/* It is a shard by its keys, and not by its name. */
static bool report_name(const ggld_file *file, uint32_t count,
                        ggld_report *report)
{
    ggld_split split = ggld_split_of(file);
    uint32_t no = split.no < count ? (uint32_t)split.no : 0;
    ggld_split_name name = ggld_split_name_for(file->path, no, count);
    char *expected =
        ggld_alloc(&file->allocator, 1, ggld_split_path_bytes(&name));

    if (expected == NULL)
        return ggld_report_nomem(report, "a shard's name");
    ggld_split_path(expected, &name);
    bool on = ggld_report_add(report, GGLD_GRADE_ERROR, GGLD_E_SHARD, in_file(),
                              "by its keys it is shard %" PRIu32 " of %" PRIu32
                              ", named %s: rename "
                              "it, or open it alone with GGLD_OPEN_SINGLE",
                              no + 1, count, ggld_split_label(expected).text);
    ggld_free(&file->allocator, expected);
    return on;
}

bool ggld_set_judge(const ggld_file *file, ggld_report *report,
                    ggld_split_name *out)
{
    ggld_split_name name;
    uint32_t count;
    bool named = ggld_split_name_of(file->path, &name);

    out->count = 0;
    if (!ggld_split_count(file, report, &count))
        return false;
    if (count == 0)
        return !named ||
               ggld_report_add(report, GGLD_GRADE_ODD, GGLD_E_SHARD, in_file(),
                               "by its name it is shard %" PRIu32 " of "
                               "%" PRIu32 ", by its keys a whole model: it "
                               "opens alone",
                               name.no + 1, name.count);
    if (!named || name.count != count)
        return report_name(file, count, report);
    *out = name;
    return true;
}

static ggld_file *complete(ggld_file *file, const ggld_split_name *name,
                           const ggld_load *load, ggld_report *report)
{
    joining j = { load, name, report, NULL, 0, NULL };
    ggld_allocator a = file->allocator;

    bool good = set_new(&j, file->path);
    if (good) {
        j.set->shards[name->no] = file;
        good = load_all(&j) && join(&j);
    } else {
        ggld_load_release(file);
    }
    ggld_free(&a, j.path);
    if (good) {
        set_describe(j.set);
        return j.set;
    }
    if (j.set != NULL)
        ggld_load_release(j.set);
    return NULL;
}

ggld_file *ggld_set_complete(ggld_file *file, const ggld_load *load,
                             ggld_report *report)
{
    ggld_split_name name;

    if (ggld_set_judge(file, report, &name))
        return name.count == 0 ? file : complete(file, &name, load, report);
    ggld_load_blame(file, report);
    ggld_load_release(file);
    return NULL;
}

bool ggld_set_verify(const ggld_file *file, ggld_report *report)
{
    for (uint32_t no = 0; no < file->n_shards; no++) {
        const ggld_file *shard = ggld_file_shard(file, no);
        if (shard == NULL || ggld_load_verify(shard, report))
            continue;
        ggld_set_blame(shard, report->err);
        return false;
    }
    return true;
}

void ggld_set_check(const ggld_split_name *name, const ggld_load *load,
                    ggld_report *report)
{
    joining j = { load, name, report, NULL, 0, NULL };
    ggld_allocator a = ggld_allocator_of(load->options->allocator);

    if (set_new(&j, name->path) && load_all(&j) && join(&j))
        (void)ggld_set_verify(j.set, report);
    ggld_free(&a, j.path);
    if (j.set != NULL)
        ggld_load_release(j.set);
}
