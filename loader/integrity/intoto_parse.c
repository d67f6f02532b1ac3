/* SPDX-License-Identifier: MIT */
/* Reading the OpenSSF model-signing statement (in-toto Statement v1, predicate type
 * https://model_signing/signature/v1.0): the sha256 of each file of a model,
 * sorted by name, and a subject whose digest is the sha256 of those digests'
 * bytes, one behind the other. Reading is json-c's, which bounds the depth. */
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

static ggld_status take_resource(ggld_manifest *m, const ggld_lines *l,
                                 struct json_object *resource,
                                 ggld_digest *digest, ggld_error *err)
{
    struct json_object *named = member(resource, "name");
    ggld_string name;
    if (named == NULL || !json_object_is_type(named, json_type_string) ||
        !is_string(member(resource, "algorithm"), "sha256") ||
        !take_sha256(member(resource, "digest"), digest))
        return refuse(l, "a resource without name, algorithm sha256 and digest",
                      err);
    name.data = json_object_get_string(named);
    name.len = (size_t)json_object_get_string_len(named);
    if (name.len == 0 || name.data[0] == '/' || ggld_path_escapes(name))
        return ggld_fail(err, GGLD_E_STRING, ggld_nowhere(),
                         "%s: the resource %s is not inside the model's folder",
                         l->label, ggld_quote(name.data, name.len).text);
    ggld_status status = keep_name(m, l, &name, err);
    if (status != GGLD_OK)
        return status;
    return ggld_add_whole(m, 1, name, digest, err);
}

/* The resources, and what their digests come to. */
static ggld_status take_resources(ggld_manifest *m, const ggld_lines *l,
                                  struct json_object *resources,
                                  ggld_hasher *hasher, ggld_error *err)
{
    ggld_status status = GGLD_OK;
    if (resources == NULL || !json_object_is_type(resources, json_type_array))
        return refuse(l, "the statement has no resources", err);
    size_t n = json_object_array_length(resources);
    for (size_t i = 0; i < n && status == GGLD_OK; i++) {
        ggld_digest digest = { 0 };
        status = take_resource(m, l, json_object_array_get_idx(resources, i),
                               &digest, err);
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

static ggld_status take_statement(ggld_manifest *m, const ggld_lines *l,
                                  struct json_object *root, ggld_error *err)
{
    ggld_hasher hasher;
    ggld_digest all;
    struct json_object *predicate = member(root, "predicate");
    struct json_object *serialization = member(predicate, "serialization");
    if (member(root, "dsseEnvelope") != NULL || member(root, "payload") != NULL)
        return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_nowhere(),
                         "%s: a signed envelope; check its signature with the "
                         "signer's tool, and give the statement inside",
                         l->label);
    if (!is_string(member(root, "_type"), GGLD_IN_TOTO_TYPE) ||
        !is_string(member(root, "predicateType"), GGLD_IN_TOTO_PREDICATE))
        return refuse(l, "no statement of type " GGLD_IN_TOTO_PREDICATE, err);
    if (!is_string(member(serialization, "method"), "files"))
        return ggld_fail(err, GGLD_E_UNSUPPORTED, ggld_nowhere(),
                         "%s: digests of files are wanted (serialization "
                         "method \"files\")",
                         l->label);
    ggld_status status =
        ggld_hasher_init(&hasher, GGLD_ALGO_BIT(GGLD_ALGO_SHA256), err);
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
