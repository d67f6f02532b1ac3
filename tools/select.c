/* SPDX-License-Identifier: MIT */
/* See select.h. Names and patterns are compared by fnmatch(3), names cut at a
 * NUL, which no pattern can have. */
#include "select.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opts.h"
#include "order.h"
#include "report.h"

#define NAME_MAX_BYTES 4096

/* What each tensor is to be. */
typedef struct choice {
    const model *m;
    uint64_t n_tensors;
    bool *wanted; /* by the globs */
    bool *placed; /* in the list */
    selection *list;
} choice;

static bool name_matches(const model *m, uint64_t index, const char *pattern)
{
    char name[NAME_MAX_BYTES];
    ggld_tensor_info info = model_tensor(m, index);
    size_t n = info.name.len < sizeof name - 1 ? (size_t)info.name.len
                                               : sizeof name - 1;
    memcpy(name, info.name.data, n);
    name[n] = '\0';
    return strcmp(name, pattern) == 0 || fnmatch(pattern, name, 0) == 0;
}

static int want_pattern(choice *c, const char *pattern)
{
    bool found = false;
    for (uint64_t i = 0; i < c->n_tensors; i++)
        if (name_matches(c->m, i, pattern)) {
            c->wanted[i] = true;
            found = true;
        }
    return found ? STATUS_GOOD
                 : report(c->m->path, "no tensor is called '%s'", pattern);
}

static int want_globs(choice *c, const char *globs)
{
    int status = STATUS_GOOD;
    char *words = strdup(globs);
    if (words == NULL)
        return report(c->m->path, "no memory");
    char *rest = words;
    char *word;
    while (status == STATUS_GOOD && (word = strsep(&rest, ",")) != NULL)
        if (*word != '\0' || *globs == '\0')
            status = want_pattern(c, word);
    free(words);
    return status;
}

static int want_given(choice *c, const args *a, int option)
{
    const char *globs;
    int at = 0, status = STATUS_GOOD;
    if (a->values[option] == NULL)
        memset(c->wanted, true, c->n_tensors * sizeof *c->wanted);
    while (status == STATUS_GOOD &&
           (globs = opts_given(a, option, &at)) != NULL)
        status = want_globs(c, globs);
    return status;
}

static void place(choice *c, uint64_t index)
{
    if (!c->wanted[index] || c->placed[index])
        return;
    c->placed[index] = true;
    c->list->size_bytes += model_tensor(c->m, index).size_bytes;
    c->list->views[c->list->n_views++] =
        ggld_tensor_view(ggld_tensor_at(c->m->file, index));
}

static int place_pattern(choice *c, const char *path, const char *pattern)
{
    bool found = false;
    for (uint64_t i = 0; i < c->n_tensors; i++)
        if (name_matches(c->m, i, pattern)) {
            place(c, i);
            found = true;
        }
    return found ? STATUS_GOOD
                 : report(path, "'%s': no tensor of the model is called that",
                          pattern);
}

static int place_line(choice *c, const char *path, size_t number, char *line,
                      size_t size)
{
    const char *pattern;
    if (!order_read_line(line, size, &pattern))
        return report(path, "line %zu has a NUL: a name or a pattern is wanted",
                      number);
    return pattern != NULL ? place_pattern(c, path, pattern) : STATUS_GOOD;
}

static int place_by_file(choice *c, const char *path)
{
    char *line = NULL;
    size_t room = 0, number = 0;
    ssize_t size;
    int status = STATUS_GOOD;
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return report_errno(path, errno, "cannot open");
    while (status == STATUS_GOOD && (size = getline(&line, &room, f)) >= 0)
        status = place_line(c, path, ++number, line, (size_t)size);
    if (status == STATUS_GOOD && ferror(f))
        status = report_errno(path, errno, "cannot read");
    free(line);
    fclose(f);
    return status;
}

static ggld_tensor_info info_of(const void *view)
{
    return model_tensor_info(((const ggld_view *)view)->tensor);
}

/* Of a set shard by shard. */
static int by_offset(const void *a, const void *b)
{
    ggld_tensor_info x = info_of(a), y = info_of(b);
    if (x.shard != y.shard)
        return x.shard < y.shard ? -1 : 1;
    return x.file_offset_bytes < y.file_offset_bytes
               ? -1
               : x.file_offset_bytes > y.file_offset_bytes;
}

static int choose(choice *c, const args *a, int option, const char *order_path)
{
    int status = want_given(c, a, option);
    if (status == STATUS_GOOD && order_path != NULL)
        status = place_by_file(c, order_path);
    if (status != STATUS_GOOD)
        return status;
    size_t n_ordered = c->list->n_views;
    for (uint64_t i = 0; i < c->n_tensors; i++)
        place(c, i);
    qsort(c->list->views + n_ordered, c->list->n_views - n_ordered,
          sizeof *c->list->views, by_offset);
    return STATUS_GOOD;
}

int select_tensors(const model *m, const args *a, int option,
                   const char *order_path, selection *out)
{
    choice c = { .m = m, .list = out };
    int status;

    memset(out, 0, sizeof *out);
    c.n_tensors = ggld_tensor_count(m->file);
    c.wanted = calloc(c.n_tensors + 1, sizeof *c.wanted);
    c.placed = calloc(c.n_tensors + 1, sizeof *c.placed);
    out->views = calloc(c.n_tensors + 1, sizeof *out->views);
    if (c.wanted == NULL || c.placed == NULL || out->views == NULL)
        status = report(m->path, "no memory for a list of tensors");
    else
        status = choose(&c, a, option, order_path);
    free(c.wanted);
    free(c.placed);
    if (status != STATUS_GOOD)
        select_free(out);
    return status;
}

void select_free(selection *s)
{
    free(s->views);
    memset(s, 0, sizeof *s);
}
