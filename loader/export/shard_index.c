/* SPDX-License-Identifier: MIT */
/* The index of a model in safetensors shards: which tensor is in which file.
 * The shards know that too; both have to agree. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/alloc.h"
#include "../base/index.h"
#include "../base/quote.h"
#include "json.h"
#include "shards.h"

#define MAX_INDEX_BYTES GGLD_ST_MAX_HEADER_BYTES
#define FIRST_BYTES     (64u << 10) /* of memory for it, at first */
#define MAX_SHARDS      100000u

/* Names of files, sorted, each once; to be freed. */
typedef struct file_list {
    char **names;
    size_t n;
    size_t cap;
} file_list;

/* Walks the entries of weight_map. */
typedef struct walk {
    struct json_tokener *tokener;
    ggld_json_members members;
    ggld_string map; /* weight_map's object */
    struct json_object *key;
    struct json_object *value;
    ggld_string tensor; /* of the entry */
    ggld_string file;
} walk;

static ggld_status fail_index(ggld_status code, const char *what,
                              ggld_error *err)
{
    return ggld_fail(err, code, ggld_place_of(GGLD_IN_HEADER, GGLD_NO_INDEX, 0),
                     "index: %s", what);
}

static ggld_status fail_nomem(ggld_error *err)
{
    return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                     "no memory for an index of shards");
}

static bool key_is(ggld_string key, const char *name)
{
    size_t n = strlen(name);
    return key.len == n + 2 && memcmp(key.data + 1, name, n) == 0;
}

/* Where weight_map is; the rest of the index says nothing of tensors. */
static ggld_status find_map(const ggld_shards *s, ggld_string *map,
                            ggld_error *err)
{
    ggld_json_members members = ggld_json_members_of(s->index, s->index_bytes);
    ggld_json_member member;
    ggld_json_step step;
    uint64_t n;

    map->len = 0;
    while ((step = ggld_json_next(&members, &member)) == GGLD_JSON_MEMBER) {
        if (!key_is(member.key, "weight_map"))
            continue;
        if (map->len != 0)
            return fail_index(GGLD_E_DUPLICATE, "weight_map is there twice",
                              err);
        *map = member.value;
    }
    if (step == GGLD_JSON_BROKEN)
        return ggld_fail(
            err, GGLD_E_STRING,
            ggld_place_of(GGLD_IN_HEADER, GGLD_NO_INDEX, members.pos),
            "index: not a JSON object, at byte %zu", members.pos);
    if (map->len == 0 || !ggld_json_count(map->data, map->len, &n))
        return fail_index(GGLD_E_STRING,
                          "no weight_map, so no index of safetensors shards",
                          err);
    return GGLD_OK;
}

static void walk_forget(walk *w)
{
    json_object_put(w->key);
    json_object_put(w->value);
    w->key = NULL;
    w->value = NULL;
}

static ggld_status walk_begin(walk *w, const ggld_shards *s, ggld_error *err)
{
    memset(w, 0, sizeof *w);
    ggld_status status = find_map(s, &w->map, err);
    if (status != GGLD_OK)
        return status;
    w->members = ggld_json_members_of(w->map.data, w->map.len);
    w->tokener = ggld_json_tokener();
    return w->tokener != NULL ? GGLD_OK : fail_nomem(err);
}

static void walk_end(walk *w)
{
    walk_forget(w);
    if (w->tokener != NULL)
        json_tokener_free(w->tokener);
}

/* A name in the index's own folder, and nowhere else. */
static bool is_plain_name(ggld_string name)
{
    return name.len > 0 && name.len < 256 && name.data[0] != '.' &&
           memchr(name.data, '/', (size_t)name.len) == NULL &&
           memchr(name.data, '\0', (size_t)name.len) == NULL;
}

/* false: there are no more, or *status says why. */
static bool walk_next(walk *w, ggld_status *status, ggld_error *err)
{
    ggld_json_member member;

    walk_forget(w);
    if (ggld_json_next(&w->members, &member) != GGLD_JSON_MEMBER)
        return false;
    w->key = ggld_json_parse(w->tokener, member.key);
    w->value = ggld_json_parse(w->tokener, member.value);
    if (!ggld_json_string(w->key, &w->tensor) ||
        !ggld_json_string(w->value, &w->file)) {
        *status = fail_index(GGLD_E_STRING,
                             "weight_map has what is no pair of texts", err);
        return false;
    }
    if (is_plain_name(w->file))
        return true;
    *status = ggld_fail(err, GGLD_E_STRING,
                        ggld_place_of(GGLD_IN_HEADER, GGLD_NO_INDEX, 0),
                        "index: %s is no name of a file beside it",
                        ggld_quote(w->file.data, w->file.len).text);
    return false;
}

/* ---- which files ---- */

static void list_free(file_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->names[i]);
    free(l->names);
}

/* The first that is not before the name. */
static size_t list_place(const file_list *l, const char *name)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(l->names[middle], name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool list_grow(file_list *l)
{
    size_t cap = l->cap == 0 ? 16 : 2 * l->cap;
    char **names;

    if (l->n < l->cap)
        return true;
    names = realloc(l->names, cap * sizeof *names);
    if (names == NULL)
        return false;
    l->names = names;
    l->cap = cap;
    return true;
}

static bool list_add(file_list *l, ggld_string text)
{
    char *name = strndup(text.data, (size_t)text.len);

    if (name == NULL)
        return false;
    size_t at = list_place(l, name);
    if (at < l->n && strcmp(l->names[at], name) == 0) {
        free(name);
        return true;
    }
    if (l->n == MAX_SHARDS || !list_grow(l)) {
        free(name);
        return false;
    }
    memmove(l->names + at + 1, l->names + at, (l->n - at) * sizeof *l->names);
    l->names[at] = name;
    l->n++;
    return true;
}

static ggld_status list_files(const ggld_shards *s, file_list *l,
                              ggld_error *err)
{
    walk w;
    ggld_status status = walk_begin(&w, s, err);

    while (status == GGLD_OK && walk_next(&w, &status, err))
        if (!list_add(l, w.file))
            status = fail_nomem(err);
    walk_end(&w);
    if (status == GGLD_OK && l->n == 0)
        return fail_index(GGLD_E_STRING, "weight_map is empty", err);
    return status;
}

/* Names become paths beside the index. */
static ggld_status make_paths(file_list *l, const char *index, ggld_error *err)
{
    const char *slash = strrchr(index, '/');
    int folder = slash != NULL ? (int)(slash - index) + 1 : 0;

    for (size_t i = 0; i < l->n; i++) {
        char *path;
        if (asprintf(&path, "%.*s%s", folder, index, l->names[i]) < 0)
            return fail_nomem(err);
        free(l->names[i]);
        l->names[i] = path;
    }
    return GGLD_OK;
}

/* All that are missing, as far as a message has room. */
static ggld_status check_there(const file_list *l, ggld_error *err)
{
    char text[GGLD_MESSAGE_MAX - 48] = "";
    size_t used = 0, n = 0;

    for (size_t i = 0; i < l->n; i++) {
        const char *slash = strrchr(l->names[i], '/');
        const char *name = slash != NULL ? slash + 1 : l->names[i];
        if (access(l->names[i], F_OK) == 0)
            continue;
        ggld_quoted quoted = ggld_quote(name, strlen(name));
        if (used + strlen(quoted.text) + 3 < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                     n > 0 ? ", " : "", quoted.text);
        n++;
    }
    if (n == 0)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_TRUNCATED,
                     ggld_place_of(GGLD_IN_HEADER, GGLD_NO_INDEX, 0),
                     "%zu of %zu shards are not there: %s", n, l->n, text);
}

/* ---- open ---- */

/* To the end, or what there is room for; *n counts. NULL: no memory. */
static char *read_to(FILE *f, size_t limit, size_t *n)
{
    size_t cap = FIRST_BYTES, last;
    char *text = malloc(cap);

    *n = 0;
    while (text != NULL) {
        *n += last = fread(text + *n, 1, cap - *n, f);
        if (last == 0 || *n < cap || cap == limit)
            break;
        cap = cap > limit / 2 ? limit : 2 * cap;
        char *more = realloc(text, cap);
        if (more == NULL)
            free(text);
        text = more;
    }
    return text;
}

static ggld_status read_index(ggld_shards *out, const char *path,
                              ggld_error *err)
{
    ggld_place place = ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0);
    FILE *f = fopen(path, "rbe");
    if (f == NULL)
        return ggld_fail_errno(err, errno, place, "can't open it");
    size_t n;
    out->index = read_to(f, MAX_INDEX_BYTES, &n);
    out->index_bytes = n;
    int failed = ferror(f) ? errno : 0;
    bool whole = fgetc(f) == EOF;
    fclose(f);
    if (out->index == NULL)
        return fail_nomem(err);
    if (failed != 0)
        return ggld_fail_errno(err, failed, place, "can't read it");
    if (!whole)
        return fail_index(GGLD_E_LIMIT, "it has more than 100 MB", err);
    return GGLD_OK;
}

ggld_status ggld_shard_index_open(ggld_export_source *s,
                                  const char *const *paths, size_t n_paths,
                                  ggld_error *err)
{
    ggld_shards index = { 0 };
    file_list files = { 0 };

    (void)n_paths;
    ggld_status status = read_index(&index, paths[0], err);
    if (status == GGLD_OK)
        status = list_files(&index, &files, err);
    if (status == GGLD_OK)
        status = make_paths(&files, paths[0], err);
    if (status == GGLD_OK)
        status = check_there(&files, err);
    if (status == GGLD_OK)
        status =
            ggld_shards_open(s, (const char *const *)files.names, files.n, err);
    list_free(&files);
    if (status == GGLD_OK) {
        ggld_shards *shards = s->state;
        shards->index = index.index;
        shards->index_bytes = index.index_bytes;
    } else {
        free(index.index);
    }
    return status;
}

/* ---- list ---- */

/* The name of the file that the tensor is in, without folders. */
static const char *file_name(const ggld_export_source *s, uint64_t tensor)
{
    const char *path = s->files[s->tensors[tensor].file].path;
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool in_file(const ggld_export_source *s, uint64_t tensor,
                    ggld_string file)
{
    const char *name = file_name(s, tensor);

    return strlen(name) == file.len &&
           memcmp(name, file.data, (size_t)file.len) == 0;
}

/* One entry; seen: of each tensor, whether one has named it. */
static ggld_status check_entry(const ggld_export_source *s, const walk *w,
                               const ggld_index *index, uint8_t *seen,
                               ggld_error *err)
{
    const ggld_names names = { &s->tensors[0].name, sizeof *s->tensors };
    ggld_quoted tensor = ggld_quote(w->tensor.data, w->tensor.len);
    ggld_quoted file = ggld_quote(w->file.data, w->file.len);
    ggld_place place = ggld_place_of(GGLD_IN_HEADER, GGLD_NO_INDEX, 0);
    uint32_t i = ggld_index_find(index, names, w->tensor.data, w->tensor.len);

    if (i == GGLD_INDEX_NONE || !in_file(s, i, w->file))
        return ggld_fail(err, GGLD_E_SHARD, place,
                         "index: tensor %s is not in shard %s", tensor.text,
                         file.text);
    if (seen[i] != 0)
        return ggld_fail(err, GGLD_E_DUPLICATE, place,
                         "index: tensor %s is there twice", tensor.text);
    seen[i] = 1;
    return GGLD_OK;
}

static ggld_status check_entries(const ggld_export_source *s,
                                 const ggld_index *index, uint8_t *seen,
                                 ggld_error *err)
{
    walk w;
    ggld_status status = walk_begin(&w, s->state, err);

    while (status == GGLD_OK && walk_next(&w, &status, err))
        status = check_entry(s, &w, index, seen, err);
    walk_end(&w);
    for (uint64_t i = 0; i < s->n_tensors && status == GGLD_OK; i++)
        if (seen[i] == 0)
            status = ggld_fail(
                err, GGLD_E_SHARD, ggld_place_of(GGLD_IN_TENSOR_INFO, i, 0),
                "tensor %s is in a shard, %s, but not in the index",
                ggld_quote(s->tensors[i].name.data, s->tensors[i].name.len)
                    .text,
                ggld_quote(file_name(s, i), strlen(file_name(s, i))).text);
    return status;
}

/* The sum of all tensors that the index's metadata has; some writers make it a
 * fraction. false: it has none. */
static bool total_size(const ggld_shards *s, uint64_t *out)
{
    ggld_json_members members = ggld_json_members_of(s->index, s->index_bytes);
    struct json_tokener *tokener = ggld_json_tokener();
    struct json_object *metadata = NULL, *total = NULL;
    ggld_json_member member;
    bool good = false;

    while (tokener != NULL && metadata == NULL &&
           ggld_json_next(&members, &member) == GGLD_JSON_MEMBER)
        if (key_is(member.key, "metadata"))
            metadata = ggld_json_parse(tokener, member.value);
    if (json_object_object_get_ex(metadata, "total_size", &total)) {
        double fraction = json_object_get_double(total);
        good = ggld_json_u64(total, out);
        if (!good && json_object_is_type(total, json_type_double) &&
            fraction >= 0 && fraction < 0x1p53) {
            *out = (uint64_t)fraction;
            good = true;
        }
    }
    json_object_put(metadata);
    if (tokener != NULL)
        json_tokener_free(tokener);
    return good;
}

/* Tensors that share memory are counted in more than one way, so it is no
 * proof that a shard is another than the one that was published. */
static void check_total(ggld_export_source *s)
{
    uint64_t said, is = 0;

    for (uint64_t i = 0; i < s->n_tensors; i++)
        is += s->tensors[i].size_bytes;
    if (total_size(s->state, &said) && said != is)
        snprintf(s->remark, sizeof s->remark,
                 "the index says that its tensors have %" PRIu64
                 " bytes (total_size), and they have %" PRIu64
                 ": is each shard the one that belongs to it?",
                 said, is);
}

ggld_status ggld_shard_index_list(ggld_export_source *s, ggld_error *err)
{
    const ggld_allocator allocator = ggld_allocator_of(NULL);
    ggld_shards *shards = s->state;

    ggld_status status = ggld_shards_list(s, err);
    if (status != GGLD_OK)
        return status;
    const ggld_names names = { &s->tensors[0].name, sizeof *s->tensors };
    ggld_index *index = ggld_index_new(&allocator, s->n_tensors);
    uint8_t *seen = calloc((size_t)s->n_tensors + 1, 1);
    if (index == NULL || seen == NULL)
        status = fail_nomem(err);
    for (uint32_t i = 0; i < s->n_tensors && status == GGLD_OK; i++)
        (void)ggld_index_insert(index, names, i);
    if (status == GGLD_OK)
        status = check_entries(s, index, seen, err);
    if (status == GGLD_OK)
        check_total(s);
    ggld_free(&allocator, index);
    free(seen);
    free(shards->index);
    shards->index = NULL;
    return status;
}
