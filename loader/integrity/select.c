/* SPDX-License-Identifier: MIT */
/* What a manifest says of one file. Names are compared and nothing is opened by
 * them, so that one may have any parts: lines are about the file where they name
 * it by its full path, or, where none does, by its base name; of several those
 * whose folders fit best. */
#include <inttypes.h>
#include <string.h>

#include "../base/error.h"
#include "../base/quote.h"
#include "manifest.h"
#include "names.h"

/* How well a name fits: not at all; by so many parts from its end on, twice
 * counted and one more where it has no others; wholly, but for "." and more
 * slashes than one; byte for byte. */
typedef uint32_t match;
#define NO_MATCH    0u
#define WHOLE_MATCH (UINT32_MAX - 1)
#define EQUAL_MATCH UINT32_MAX

/* Takes slashes, and parts that are ".", off its end. */
static void trim(ggld_string *path)
{
    while (path->len != 0) {
        const char *last = path->data + path->len - 1;
        bool dot = *last == '.' && (path->len == 1 || last[-1] == '/');
        if (*last != '/' && !dot)
            return;
        path->len--;
    }
}

/* Takes part off path's end, if it is the last one of path. Looks at no more
 * of path: there may be millions of candidates in one line. */
static bool take_part(ggld_string *path, ggld_string part)
{
    if (path->len < part.len || part.len == 0)
        return false;
    uint64_t start = path->len - part.len;
    if (memcmp(path->data + start, part.data, (size_t)part.len) != 0 ||
        (start != 0 && path->data[start - 1] != '/'))
        return false;
    path->len = start;
    return true;
}

static bool is_absolute(ggld_string path)
{
    return path.len != 0 && path.data[0] == '/';
}

static match match_path(ggld_string named, const char *path)
{
    if (path == NULL || named.len == 0)
        return EQUAL_MATCH;
    ggld_string wanted = ggld_string_of(path), left = named, rest = wanted;
    match n = 0;
    if (ggld_string_equal(named, wanted))
        return EQUAL_MATCH;
    while (take_part(&left, ggld_path_base(rest))) {
        rest.len -= ggld_path_base(rest).len;
        n++;
        trim(&left);
        trim(&rest);
    }
    if (n != 0 && left.len == 0 && rest.len == 0 &&
        is_absolute(named) == is_absolute(wanted))
        return WHOLE_MATCH;
    return 2 * n + (n != 0 && left.len == 0 && !is_absolute(named));
}

/* The part of a llama line's name that is the file's. Either may have colons:
 * the first split whose left side is the file's path is taken, else the first
 * that fits by base name. */
static match split_name(ggld_string all, const char *path, uint64_t *path_len)
{
    match best = NO_MATCH;
    for (uint64_t i = 0; i <= all.len && best != EQUAL_MATCH; i++) {
        if (i < all.len && all.data[i] != ':')
            continue;
        ggld_string left = { all.data, i };
        match m = i == 0 ? NO_MATCH : match_path(left, path);
        if (m > best) {
            best = m;
            *path_len = i;
        }
    }
    return best;
}

static match match_entry(const ggld_manifest *m, const ggld_entry *entry,
                         const char *path, ggld_string *file)
{
    uint64_t len = 0;
    if (entry->scope != GGLD_SCOPE_UNSPLIT) {
        *file = m->subjects[entry->subject].path;
        /* One that has just one subject is of that file, whatever it is
         * called here. */
        return m->format == GGLD_MANIFEST_GGSUM ? EQUAL_MATCH
                                                : match_path(*file, path);
    }
    match found = split_name(entry->name, path, &len);
    file->data = entry->name.data;
    file->len = len;
    return found;
}

static match best_match(const ggld_manifest *m, const char *path)
{
    match best = NO_MATCH;
    ggld_string file;
    for (uint64_t i = 0; i < m->n_entries && best != EQUAL_MATCH; i++) {
        match found = match_entry(m, &m->entries[i], path, &file);
        best = found > best ? found : best;
    }
    return best;
}

/* ---- copying ---- */

typedef struct selection {
    ggld_manifest *to;
    const char *label; /* before messages */
    char *room;        /* for strings; as large as all of from's are */
    ggld_string file;
    bool has_file;
} selection;

static ggld_string keep(selection *s, ggld_string text)
{
    ggld_string kept = { s->room, text.len };
    memcpy(s->room, text.data, (size_t)text.len);
    s->room += text.len;
    return kept;
}

static ggld_status keep_subject(selection *s, const ggld_manifest *from,
                                const ggld_entry *entry, ggld_error *err)
{
    uint32_t subject;
    ggld_status status =
        ggld_manifest_add_subject(s->to, keep(s, s->file), &subject, err);
    if (status != GGLD_OK)
        return status;
    ggld_string path = s->to->subjects[subject].path;
    ggld_subject *to = &s->to->subjects[subject];
    const ggld_tree *tree = &from->subjects[entry->subject].tree;
    *to = from->subjects[entry->subject];
    to->path = path;
    memset(&to->tree, 0, sizeof to->tree);
    return tree->algo != 0 ? ggld_tree_copy(&to->tree, tree, err) : GGLD_OK;
}

static ggld_status keep_entry(selection *s, const ggld_manifest *from,
                              const ggld_entry *entry, ggld_string file,
                              ggld_error *err)
{
    ggld_entry copy = *entry;
    ggld_status status = GGLD_OK;
    if (entry->scope == GGLD_SCOPE_UNSPLIT) {
        bool whole = file.len == entry->name.len;
        copy.scope = whole ? GGLD_SCOPE_TENSORS : GGLD_SCOPE_TENSOR;
        copy.name.data = entry->name.data + file.len + (whole ? 0 : 1);
        copy.name.len = entry->name.len - file.len - (whole ? 0 : 1);
    }
    copy.subject = 0;
    copy.name = keep(s, copy.name);
    if (entry->shape != GGLD_NO_SHAPE)
        status = ggld_manifest_add_shape(s->to, &from->shapes[entry->shape],
                                         &copy.shape, err);
    return status == GGLD_OK ? ggld_manifest_add(s->to, &copy, err) : status;
}

/* Lines that fit equally well must be about one file. */
static ggld_status same_file(selection *s, ggld_string file, const char *path,
                             ggld_error *err)
{
    if (!s->has_file) {
        s->file = file;
        s->has_file = true;
        return GGLD_OK;
    }
    if (ggld_string_equal(s->file, file))
        return GGLD_OK;
    if (path == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "%s: it speaks of %s and of %s; say which one "
                         "is meant",
                         s->label, ggld_quote(s->file.data, s->file.len).text,
                         ggld_quote(file.data, file.len).text);
    return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                     "%s: both %s and %s could be this file", s->label,
                     ggld_quote(s->file.data, s->file.len).text,
                     ggld_quote(file.data, file.len).text);
}

static ggld_status select_entries(selection *s, const ggld_manifest *from,
                                  const char *path, ggld_error *err)
{
    match wanted = best_match(from, path);
    for (uint64_t i = 0; i < from->n_entries && wanted != NO_MATCH; i++) {
        const ggld_entry *entry = &from->entries[i];
        ggld_string file;
        if (match_entry(from, entry, path, &file) != wanted)
            continue;
        bool first = !s->has_file;
        ggld_status status = same_file(s, file, path, err);
        if (status == GGLD_OK && first)
            status = keep_subject(s, from, entry, err);
        if (status == GGLD_OK)
            status = keep_entry(s, from, entry, file, err);
        if (status != GGLD_OK)
            return status;
    }
    if (s->has_file)
        return GGLD_OK;
    return ggld_fail(
        err, GGLD_E_INVALID, ggld_nowhere(),
        "%s: no digest of %s is in it (%" PRIu64 " %s other files)", s->label,
        path == NULL ? "a file" : ggld_quote(path, strlen(path)).text,
        from->n_entries,
        from->n_entries == 1 ? "line is about" : "lines are about");
}

static ggld_status keep_label(ggld_manifest *to, const ggld_manifest *from,
                              ggld_error *err)
{
    if (from->label == NULL)
        return GGLD_OK;
    size_t len = strlen(from->label);
    char *copy = ggld_manifest_block(to, len);
    if (copy == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "manifest: no memory for its name");
    memcpy(copy, from->label, len + 1);
    to->label = copy;
    return GGLD_OK;
}

static ggld_status select_into(ggld_manifest *to, const ggld_manifest *from,
                               const char *path, ggld_error *err)
{
    /* A llama line's name may become the file's too. */
    selection s = { to,
                    ggld_manifest_label(from),
                    ggld_manifest_block(to,
                                        2 * ggld_manifest_strings_bytes(from)),
                    { "", 0 },
                    false };
    if (s.room == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "manifest: no memory for its names");
    ggld_status status = select_entries(&s, from, path, err);
    if (status != GGLD_OK)
        return status;
    to->format = from->format;
    status = keep_label(to, from, err);
    if (status != GGLD_OK)
        return status;
    to->identity = from->identity;
    return ggld_manifest_seal(to, s.label, err);
}

ggld_status ggld_manifest_select(ggld_manifest **out, const ggld_manifest *from,
                                 const char *path, ggld_error *err)
{
    ggld_manifest *to = ggld_manifest_new();
    if (to == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "manifest: no memory for a copy");
    ggld_status status = select_into(to, from, path, err);
    if (status != GGLD_OK) {
        ggld_manifest_free(to);
        return status;
    }
    *out = to;
    return GGLD_OK;
}

uint32_t ggld_manifest_all_scopes(const ggld_manifest *m)
{
    uint32_t scopes =
        ggld_manifest_tree(m)->algo != 0 ? (uint32_t)GGLD_SCOPE_CHUNKS : 0;
    for (uint64_t i = 0; i < m->n_entries; i++)
        scopes |= m->entries[i].scope;
    return scopes;
}

uint32_t ggld_manifest_scopes(const ggld_manifest *manifest, const char *path)
{
    ggld_manifest *selected;
    if (ggld_manifest_is_of_one(manifest))
        return ggld_manifest_all_scopes(manifest);
    if (ggld_manifest_select(&selected, manifest, path, NULL) != GGLD_OK)
        return 0;
    uint32_t scopes = ggld_manifest_all_scopes(selected);
    ggld_manifest_free(selected);
    return scopes;
}
