/* SPDX-License-Identifier: MIT */
/* The OpenSSF model-signing statement: written, read, and refused. */
#include <criterion/criterion.h>

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

static char *path;
static ggld_error err;

static void make_path(void)
{
    path = model_path("in_toto.gguf");
}

static void remove_path(void)
{
    unlink(path);
    free(path);
}

TestSuite(in_toto, .init = make_path, .fini = remove_path);

static struct json_object *get(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;
    cr_assert(json_object_object_get_ex(object, key, &value), "no %s", key);
    return value;
}

static const char *text_at(struct json_object *object, const char *key)
{
    return json_object_get_string(get(object, key));
}

/* Two files, given the wrong way round. */
static char *statement_of_two(size_t *size)
{
    model_write_abc(path);
    ggld_manifest *m =
        hash_as(path, "z/b \"2\".gguf", BIT_SHA256, GGLD_SCOPE_FILE);
    model_flip(path, 200);
    ggld_manifest *other =
        hash_as(path, "z/a-1.gguf", BIT_SHA256, GGLD_SCOPE_FILE);
    cr_assert_eq(ggld_manifest_append(m, other, &err), GGLD_OK, "%s",
                 err.message);
    char *text = manifest_text(m, GGLD_MANIFEST_IN_TOTO, size);
    ggld_manifest_free(other);
    ggld_manifest_free(m);
    return text;
}

Test(in_toto, statement)
{
    size_t size;
    char *text = statement_of_two(&size);
    struct json_object *root = json_tokener_parse(text);
    cr_assert_not_null(root, "expected JSON, got\n%s", text);
    cr_expect_str_eq(text_at(root, "_type"), "https://in-toto.io/Statement/v1");
    cr_expect_str_eq(text_at(root, "predicateType"),
                     "https://model_signing/signature/v1.0");
    struct json_object *predicate = get(root, "predicate");
    struct json_object *serialization = get(predicate, "serialization");
    cr_expect_str_eq(text_at(serialization, "method"), "files");
    cr_expect_str_eq(text_at(serialization, "hash_type"), "sha256");
    struct json_object *resources = get(predicate, "resources");
    cr_assert_eq(json_object_array_length(resources), 2);
    struct json_object *a = json_object_array_get_idx(resources, 0);
    struct json_object *b = json_object_array_get_idx(resources, 1);
    cr_expect_str_eq(text_at(a, "name"), "a-1.gguf");
    cr_expect_str_eq(text_at(b, "name"), "b \"2\".gguf");
    cr_expect_str_eq(text_at(a, "algorithm"), "sha256");
    char *sum = output_of("sha256sum <'%s' | cut -c1-64 | tr -d '\\n'", path);
    cr_expect_str_eq(text_at(a, "digest"), sum, "expected %s", sum);
    char *all = output_of(
        "printf '%s%s' | perl -pe 'chomp; $_ = pack(\"H*\", $_)' | sha256sum | cut -c1-64 "
        "| tr -d '\\n'",
        text_at(a, "digest"), text_at(b, "digest"));
    struct json_object *subject =
        json_object_array_get_idx(get(root, "subject"), 0);
    cr_expect_str_eq(text_at(get(subject, "digest"), "sha256"), all,
                     "expected the subject %s", all);
    json_object_put(root);
    free(sum);
    free(all);
    free(text);
}

Test(in_toto, statements_are_verified)
{
    size_t size;
    ggld_manifest *m;
    model_write_abc(path);
    ggld_manifest *whole = hash_as(path, path, BIT_SHA256, GGLD_SCOPE_FILE);
    char *text = manifest_text(whole, GGLD_MANIFEST_IN_TOTO, &size);
    cr_assert_eq(parse_text(&m, text, size, 0, &err), GGLD_OK, "%s",
                 err.message);
    expect_good(path, m, "statement");
    ggld_manifest_free(m);
    free(text);
    ggld_manifest_free(whole);
}

static void replace(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from);
    cr_assert_not_null(at, "no %s", from);
    cr_assert_eq(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
}

Test(in_toto, statements_that_are_refused)
{
    static const struct {
        const char *from, *to;
        ggld_status code;
        const char *says;
    } changes[] = {
        { "Statement/v1", "Statement/v0", GGLD_E_STRING, "no statement" },
        { "signature/v1.0", "signature/v2.0", GGLD_E_STRING, "no statement" },
        { "\"hash_type\": \"sha256\"", "\"hash_type\": \"blake2\"",
          GGLD_E_UNSUPPORTED, "serialization hash_type is 'blake2'" },
        { "hash_type", "hash_tipe", GGLD_E_UNSUPPORTED,
          "serialization hash_type is missing" },
        { "\"name\": \"a-1", "\"name\": \"z-1", GGLD_E_STRING,
          "'b \"2\".gguf' comes behind 'z-1.gguf': they are not sorted" },
        { "\"files\"", "\"shard\"", GGLD_E_UNSUPPORTED, "method" },
        { "a-1.gguf\",", "../x.ggu\",", GGLD_E_STRING, "not inside" },
        { "a-1.gguf\",", "/abs.ggu\",", GGLD_E_STRING, "not inside" },
        { "\"resources\"", "\"resourcez\"", GGLD_E_STRING, "no resources" },
        { "\"algorithm\": \"sha256\"", "\"algorithm\": \"sha512\"",
          GGLD_E_STRING, "algorithm sha256" },
        { "\"resources\": [", "\"resources\": {", GGLD_E_STRING,
          "line 20: not JSON" },
    };
    size_t size;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char *text = statement_of_two(&size);
        replace(text, changes[i].from, changes[i].to);
        expect_refused(text, changes[i].code, changes[i].says);
        text[size / 2] = '\0';
        expect_refused(text, GGLD_E_STRING, "not JSON");
        free(text);
    }
    expect_refused("{\"payload\": \"e30=\", \"signatures\": []}",
                   GGLD_E_UNSUPPORTED, "envelope");
}

Test(in_toto, digests_that_were_changed_are_noticed)
{
    size_t size;
    char *text = statement_of_two(&size);
    char *digest = strstr(strstr(text, "resources"), "\"digest\": \"") + 11;
    digest[0] = digest[0] == '0' ? '1' : '0';
    expect_refused(text, GGLD_E_CHECKSUM, "subject");
    free(text);
}

/* ---- names ---- */

/* The names of files of those paths in a statement, in order, behind the
 * subject's; or what is said against them. */
static const char *names_of(const char *const *paths)
{
    static char names[512];
    ggld_manifest *all = NULL;
    char *text;
    size_t size;
    int n;
    model_write_abc(path);
    for (size_t i = 0; paths[i] != NULL; i++) {
        ggld_manifest *m = hash_as(path, paths[i], BIT_SHA256, GGLD_SCOPE_FILE);
        if (all == NULL) {
            all = m;
            continue;
        }
        cr_assert_eq(ggld_manifest_append(all, m, &err), GGLD_OK, "%s",
                     err.message);
        ggld_manifest_free(m);
    }
    ggld_status status =
        ggld_manifest_write(all, GGLD_MANIFEST_IN_TOTO, &text, &size, &err);
    ggld_manifest_free(all);
    if (status != GGLD_OK)
        return strcpy(names, err.message);
    struct json_object *root = json_tokener_parse(text);
    struct json_object *resources = get(get(root, "predicate"), "resources");
    n = sprintf(
        names, "%s:",
        text_at(json_object_array_get_idx(get(root, "subject"), 0), "name"));
    for (size_t i = 0; i < json_object_array_length(resources); i++)
        n += sprintf(names + n, " %s",
                     text_at(json_object_array_get_idx(resources, i), "name"));
    json_object_put(root);
    free(text);
    return names;
}

/* As model_signing has them: from the model's folder, sorted by the parts of
 * the path, the subject called as the folder is. */
Test(in_toto, files_are_named_from_the_folder_that_all_are_in)
{
    static const struct {
        const char *paths[4];
        const char *names;
    } rows[] = {
        { { "/x/m2/a.gguf" }, "m2: a.gguf" },
        { { "m2/sub2/q.gguf", "m2/a.gguf" }, "m2: a.gguf sub2/q.gguf" },
        { { "m/a/x", "m/a-b/x", "m/a.x" }, "m: a/x a-b/x a.x" },
        { { "m/ab/x", "m/ac/x" }, "m: ab/x ac/x" },
        { { "../d/s", "../d/t" }, "d: s t" },
        { { "m.gguf" }, "m.gguf: m.gguf" },
        { { "/m.gguf" }, "m.gguf: m.gguf" },
        { { "../m.gguf" }, "m.gguf: m.gguf" },
        { { "m/a", "m/../b" },
          "manifest: a statement is of one folder, and 'm/../b' does not lead "
          "into the folder of the others" },
        { { "a", "../b" },
          "manifest: a statement is of one folder, and '../b' does not lead "
          "into the folder of the others" },
        { { "/a", "b" },
          "manifest: a statement is of one folder, and '/a' does not lead "
          "into the folder of the others" },
        { { "m/a\xFF" },
          "manifest: in-toto can't write the name 'a\\xFF'; it must be UTF-8" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *names = names_of(rows[i].paths);
        cr_expect_str_eq(names, rows[i].names, "expected '%s', got '%s'",
                         rows[i].names, names);
    }
}

/* ---- what others write ---- */

#define HEX0 "0000000000000000000000000000000000000000000000000000000000000000"
#define HEAD "{\"_type\":\"https://in-toto.io/Statement/v1\","
#define OLD  HEAD "\"predicateType\":\"https://model_signing/Digests/v0.1\","

static void expect_taken(const char *text, uint64_t n_files)
{
    ggld_manifest *m;
    cr_assert_eq(parse_text(&m, text, strlen(text), 0, &err), GGLD_OK,
                 "of %s: %s", text, err.message);
    cr_expect_eq(ggld_manifest_count(m), n_files, "of %s: got %d", text,
                 (int)ggld_manifest_count(m));
    ggld_manifest_free(m);
}

Test(in_toto, the_first_kind_of_statement_is_read_too)
{
    expect_taken(OLD "\"predicate\":{\"unused\":\"\"},\"subject\":["
                     "{\"name\":\"b\",\"digest\":{\"sha256\":\"" HEX0 "\"},"
                     "\"annotations\":{\"actual_hash_algorithm\":"
                     "\"file-sha256\"}},"
                     "{\"name\":\"a\",\"digest\":{\"sha256\":\"" HEX0 "\"}}]}",
                 2);
    expect_refused(OLD "\"subject\":[]}", GGLD_E_STRING, "no subjects");
    expect_refused(OLD "\"subject\":[{\"name\":\"b\",\"digest\":{}}]}",
                   GGLD_E_STRING, "a subject without name and sha256");
    expect_refused(OLD "\"subject\":[{\"name\":\"../b\",\"digest\":"
                       "{\"sha256\":\"" HEX0 "\"}}]}",
                   GGLD_E_STRING, "not inside");
    expect_refused(OLD "\"subject\":[{\"name\":\"b\",\"digest\":"
                       "{\"sha256\":\"" HEX0 "\"},\"annotations\":"
                       "{\"actual_hash_algorithm\":\"file-sha256-1000000\"}}]}",
                   GGLD_E_UNSUPPORTED, "digests of files are wanted");
}

Test(in_toto, white_space_around_a_statement_means_nothing)
{
    size_t size;
    char *text = statement_of_two(&size), padded[8192];
    snprintf(padded, sizeof padded, " \r\n\t%s \n", text);
    expect_taken(padded, 2);
    free(text);
}

/* Sorted by bytes, as some may do it: "a-b/x" before "a/x". */
Test(in_toto, names_sorted_by_bytes_are_sorted_too)
{
    size_t size;
    char *text;
    model_write_abc(path);
    ggld_manifest *m = hash_as(path, "m/a+x", BIT_SHA256, GGLD_SCOPE_FILE);
    ggld_manifest *other = hash_as(path, "m/b", BIT_SHA256, GGLD_SCOPE_FILE);
    cr_assert_eq(ggld_manifest_append(m, other, &err), GGLD_OK);
    text = manifest_text(m, GGLD_MANIFEST_IN_TOTO, &size);
    replace(text, "\"name\": \"b\"", "\"name\":\"a/\"");
    expect_taken(text, 2);
    free(text);
    ggld_manifest_free(other);
    ggld_manifest_free(m);
}
