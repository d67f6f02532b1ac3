/* SPDX-License-Identifier: MIT */
/* Reading the OpenSSF model-signing statement (in-toto Statement v1, predicate type
 * https://model_signing/signature/v1.0): the sha256 of each file of a model,
 * sorted by name, and a subject whose digest is the sha256 of those digests'
 * bytes, one behind the other. Of its forerunner, Digests/v0.1, the subjects are
 * the files, and there is no digest of all. Reading is json-c's, which bounds
 * the depth. */
#include <inttypes.h>
#include <string.h>

#include <json-c/json.h>
#include <json-c/json_visit.h>

#include "../base/error.h"
#include "../base/quote.h"
#include "digest.h"
#include "formats.h"
#include "names.h"

#define MAX_DEPTH      16
#define MAX_JSON_BYTES (32u << 20) /* json-c takes some twenty times as much */

/* A refusal of what has no line: JSON's values do not say where they were. */
static ggld_status refuse(const ggld_lines *l, const char *what,
                          ggld_error *err)
{
    return ggld_fail(err, GGLD_E_STRING, ggld_nowhere(), "%s: %s", l->label,
                     what);
}

static ggld_status json_parse(const ggld_lines *l, struct json_object **out,
                              ggld_error *err)
{
    ggld_lines at = *l;
    ggld_word line;
    struct json_tokener *tokener = json_tokener_new_ex(MAX_DEPTH);
    if (tokener == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "%s: no memory for a JSON parser", l->label);
    json_tokener_set_flags(tokener,
                           JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    /* With its NUL, so that a text that ends early is an error and not a wait
     * for more. */
    *out = json_tokener_parse_ex(tokener, l->text, (int)l->size + 1);
    enum json_tokener_error error = json_tokener_get_error(tokener);
    size_t end = json_tokener_get_parse_end(tokener);
    json_tokener_free(tokener);
    if (error == json_tokener_success && *out != NULL)
        return GGLD_OK;
    while (ggld_lines_next(&at, &line) && at.pos <= end)
        continue;
    return ggld_lines_fail(&at, err, GGLD_E_STRING, "not JSON: %s",
                           json_tokener_error_desc(error));
}

/* Of text that is JSON: every member has a colon, and strings apart nothing
 * else has. */
static uint64_t count_colons(const ggld_lines *l)
{
    uint64_t n = 0;
    bool in_string = false;
    for (size_t i = 0; i < l->size; i++) {
        char c = (char)l->text[i];
        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (c == ':' && !in_string)
            n++;
    }
    return n;
}

static int count_object(struct json_object *value, int flags,
                        struct json_object *parent, const char *key,
                        size_t *index, void *user)
{
    (void)parent, (void)key, (void)index;
    if (flags != JSON_C_VISIT_SECOND &&
        json_object_is_type(value, json_type_object))
        *(uint64_t *)user += (uint64_t)json_object_object_length(value);
    return JSON_C_VISIT_RETURN_CONTINUE;
}

/* Of a key that is there twice json-c keeps the last one, others the first: a
 * signer may have signed what we don't see. */
static ggld_status check_keys(const ggld_lines *l, struct json_object *root,
                              ggld_error *err)
{
    uint64_t n_kept = 0, n_written = count_colons(l);
    if (json_c_visit(root, 0, count_object, &n_kept) < 0)
        return refuse(l, "its values can't be gone through", err);
    if (n_kept == n_written)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_DUPLICATE, ggld_nowhere(),
                     "%s: of %" PRIu64 " keys %" PRIu64
                     " repeat another of the same object; which one counts is "
                     "anybody's guess",
                     l->label, n_written, n_written - n_kept);
}

static bool is_string(struct json_object *value, const char *wanted)
{
    return value != NULL && json_object_is_type(value, json_type_string) &&
           strcmp(json_object_get_string(value), wanted) == 0;
}

static struct json_object *member(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;
    if (object == NULL || !json_object_is_type(object, json_type_object) ||
        !json_object_object_get_ex(object, key, &value))
        return NULL;
    return value;
}

static bool take_sha256(struct json_object *value, ggld_digest *out)
{
    if (value == NULL || !json_object_is_type(value, json_type_string))
        return false;
    return ggld_digest_parse(out, GGLD_ALGO_SHA256,
                             json_object_get_string(value),
                             (size_t)json_object_get_string_len(value));
}

/* A name that lives as long as the manifest, in place of json-c's. */
static ggld_status keep_name(ggld_manifest *m, const ggld_lines *l,
                             ggld_string *name, ggld_error *err)
{
    char *copy = ggld_manifest_block(m, name->len);
    if (copy == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "%s: no memory for a name of %zu bytes", l->label,
                         name->len);
    memcpy(copy, name->data, name->len);
    name->data = copy;
    return GGLD_OK;
}

/* In which orders are the names so far? The statement's is that of the paths'
 * parts; whoever sorts names as they are is not wrong either. */
typedef struct resource_order {
    ggld_string last;
    bool by_parts, by_bytes;
} resource_order;

static int by_bytes(ggld_string a, ggld_string b)
{
    size_t n = (size_t)(a.len < b.len ? a.len : b.len);
    int order = memcmp(a.data, b.data, n);
    if (order != 0)
        return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

static ggld_status check_order(const ggld_lines *l, resource_order *o,
                               ggld_string name, ggld_error *err)
{
    ggld_string last = o->last;
    o->by_parts &= ggld_resource_order(last, name) <= 0;
    o->by_bytes &= by_bytes(last, name) <= 0;
    o->last = name;
    if (o->by_parts || o->by_bytes)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_STRING, ggld_nowhere(),
                     "%s: the resource %s comes behind %s: they are not sorted "
                     "by name",
                     l->label, ggld_quote(name.data, name.len).text,
                     ggld_quote(last.data, last.len).text);
}

/* The name of a file, which lives as long as the manifest. */
static ggld_status take_name(ggld_manifest *m, const ggld_lines *l,
                             struct json_object *named, ggld_string *out,
                             ggld_error *err)
{
    ggld_string name = { json_object_get_string(named),
                         (size_t)json_object_get_string_len(named) };
    if (name.len == 0 || name.data[0] == '/' || ggld_path_escapes(name))
        return ggld_fail(err, GGLD_E_STRING, ggld_nowhere(),
                         "%s: the resource %s is not inside the model's folder",
                         l->label, ggld_quote(name.data, name.len).text);
    ggld_status status = keep_name(m, l, &name, err);
    if (status == GGLD_OK)
        *out = name;
    return status;
}

static ggld_status take_resource(ggld_manifest *m, const ggld_lines *l,
                                 struct json_object *resource,
                                 ggld_digest *digest, resource_order *order,
                                 ggld_error *err)
{
    struct json_object *named = member(resource, "name");
    ggld_string name = { "", 0 };
    if (named == NULL || !json_object_is_type(named, json_type_string) ||
        !is_string(member(resource, "algorithm"), "sha256") ||
        !take_sha256(member(resource, "digest"), digest))
        return refuse(l, "a resource without name, algorithm sha256 and digest",
                      err);
    ggld_status status = take_name(m, l, named, &name, err);
    if (status == GGLD_OK)
        status = check_order(l, order, name, err);
    return status == GGLD_OK ? ggld_add_whole(m, 1, name, digest, err) : status;
}

/* The resources, and what their digests come to. */
static ggld_status take_resources(ggld_manifest *m, const ggld_lines *l,
                                  struct json_object *resources,
                                  ggld_hasher *hasher, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    resource_order order = { { "", 0 }, true, true };
    if (resources == NULL || !json_object_is_type(resources, json_type_array))
        return refuse(l, "the statement has no resources", err);
    size_t n = json_object_array_length(resources);
    for (size_t i = 0; i < n && status == GGLD_OK; i++) {
        ggld_digest digest = { 0 };
        status = take_resource(m, l, json_object_array_get_idx(resources, i),
                               &digest, &order, err);
        if (status == GGLD_OK)
            ggld_hasher_update(hasher, digest.bytes, digest.size);
    }
    return status;
}

static ggld_status check_subject(const ggld_lines *l,
                                 struct json_object *subjects,
                                 const ggld_digest *is, ggld_error *err)
{
    ggld_digest said;
    if (subjects == NULL || !json_object_is_type(subjects, json_type_array) ||
        json_object_array_length(subjects) != 1 ||
        !take_sha256(
            member(member(json_object_array_get_idx(subjects, 0), "digest"),
                   "sha256"),
            &said))
        return refuse(l, "one subject with a sha256 is wanted", err);
    if (!ggld_digest_equal(&said, is))
        return ggld_fail(err, GGLD_E_CHECKSUM, ggld_nowhere(),
                         "%s: the subject's digest is not that of the "
                         "resources: the statement was changed",
                         l->label);
    return GGLD_OK;
}

/* ---- Digests/v0.1 ---- */

/* It says of which kind its digest is where that is not plain. */
static bool is_of_whole_file(struct json_object *subject)
{
    struct json_object *kind =
        member(member(subject, "annotations"), "actual_hash_algorithm");
    return kind == NULL || is_string(kind, "file-sha256");
}

static ggld_status take_old_subject(ggld_manifest *m, const ggld_lines *l,
                                    struct json_object *subject,
                                    ggld_error *err)
{
    struct json_object *named = member(subject, "name");
    ggld_string name = { "", 0 };
    ggld_digest digest;
    if (named == NULL || !json_object_is_type(named, json_type_string) ||
        !take_sha256(member(member(subject, "digest"), "sha256"), &digest))
        return refuse(l, "a subject without name and sha256", err);
    if (!is_of_whole_file(subject))
        return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_nowhere(),
                         "%s: digests of files are wanted (annotation "
                         "actual_hash_algorithm \"file-sha256\")",
                         l->label);
    ggld_status status = take_name(m, l, named, &name, err);
    return status == GGLD_OK ? ggld_add_whole(m, 1, name, &digest, err)
                             : status;
}

static ggld_status take_old(ggld_manifest *m, const ggld_lines *l,
                            struct json_object *subjects, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    if (subjects == NULL || !json_object_is_type(subjects, json_type_array) ||
        json_object_array_length(subjects) == 0)
        return refuse(l, "the statement has no subjects", err);
    for (size_t i = 0;
         i < json_object_array_length(subjects) && status == GGLD_OK; i++)
        status =
            take_old_subject(m, l, json_object_array_get_idx(subjects, i), err);
    return status;
}

/* ---- the statement ---- */

static ggld_status check_head(const ggld_lines *l, struct json_object *root,
                              ggld_error *err)
{
    if (member(root, "dsseEnvelope") != NULL || member(root, "payload") != NULL)
        return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_nowhere(),
                         "%s: a signed envelope; check its signature with the "
                         "signer's tool, and give the statement inside: jq -r "
                         "'.dsseEnvelope.payload // .payload' FILE | base64 -d",
                         l->label);
    if (!is_string(member(root, "_type"), GGLD_IN_TOTO_TYPE) ||
        (!is_string(member(root, "predicateType"), GGLD_IN_TOTO_PREDICATE) &&
         !is_string(member(root, "predicateType"), GGLD_IN_TOTO_OLD)))
        return refuse(l,
                      "no statement of type " GGLD_IN_TOTO_PREDICATE
                      " (or " GGLD_IN_TOTO_OLD ")",
                      err);
    return GGLD_OK;
}

static ggld_status check_serialization(const ggld_lines *l,
                                       struct json_object *serialization,
                                       ggld_error *err)
{
    static const struct {
        const char *key, *wanted;
    } rows[] = { { "method", "files" }, { "hash_type", "sha256" } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct json_object *is = member(serialization, rows[i].key);
        const char *text = is == NULL ? "" : json_object_get_string(is);
        if (!is_string(is, rows[i].wanted))
            return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_nowhere(),
                             "%s: serialization %s is %s; \"%s\" is wanted: "
                             "sha256 digests of files",
                             l->label, rows[i].key,
                             is == NULL ? "missing"
                                        : ggld_quote(text, strlen(text)).text,
                             rows[i].wanted);
    }
    return GGLD_OK;
}

static ggld_status take_statement(ggld_manifest *m, const ggld_lines *l,
                                  struct json_object *root, ggld_error *err)
{
    ggld_hasher hasher;
    ggld_digest all;
    struct json_object *predicate = member(root, "predicate");
    ggld_status status = check_head(l, root, err);
    if (status != GGLD_OK)
        return status;
    if (is_string(member(root, "predicateType"), GGLD_IN_TOTO_OLD))
        return take_old(m, l, member(root, "subject"), err);
    status = check_serialization(l, member(predicate, "serialization"), err);
    if (status != GGLD_OK)
        return status;
    status = ggld_hasher_init(&hasher, GGLD_ALGO_BIT(GGLD_ALGO_SHA256), err);
    if (status != GGLD_OK)
        return status;
    status = take_resources(m, l, member(predicate, "resources"), &hasher, err);
    if (status == GGLD_OK)
        status = ggld_hasher_finish(&hasher, GGLD_ALGO_SHA256, &all, err);
    ggld_hasher_free(&hasher);
    return status == GGLD_OK
               ? check_subject(l, member(root, "subject"), &all, err)
               : status;
}

ggld_status ggld_intoto_parse(ggld_manifest *m, ggld_lines *l, ggld_error *err)
{
    struct json_object *root = NULL;
    if (l->size > MAX_JSON_BYTES)
        return ggld_fail(err, GGLD_E_LIMIT, ggld_nowhere(),
                         "%s: %zu bytes; a statement has at most %u", l->label,
                         l->size, MAX_JSON_BYTES);
    ggld_status status = json_parse(l, &root, err);
    if (status != GGLD_OK)
        return status;
    status = check_keys(l, root, err);
    if (status == GGLD_OK)
        status = take_statement(m, l, root, err);
    json_object_put(root);
    return status;
}
