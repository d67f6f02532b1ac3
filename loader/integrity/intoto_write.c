/* SPDX-License-Identifier: MIT */
/* Writing the OpenSSF model-signing statement: the files' sha256, sorted by
 * name, and the sha256 of those digests' bytes. A model is a folder there: files
 * are named from the one that all are in, and the subject is called as that
 * folder is. The text has one form, so that the same files give the same
 * statement. */
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/quote.h"
#include "digest.h"
#include "formats.h"
#include "names.h"

typedef struct resource {
    ggld_string name;
    const ggld_entry *entry;
} resource;

static int order_of(char c)
{
    return c == '/' ? 0 : (unsigned char)c + 1;
}

int ggld_resource_order(ggld_string a, ggld_string b)
{
    for (uint64_t i = 0; i < a.len && i < b.len; i++)
        if (a.data[i] != b.data[i])
            return order_of(a.data[i]) - order_of(b.data[i]);
    return a.len < b.len ? -1 : a.len > b.len;
}

static int by_name(const void *a, const void *b)
{
    const resource *x = a, *y = b;
    return ggld_resource_order(x->name, y->name);
}

static bool is_utf8(ggld_string name)
{
    for (uint64_t i = 0; i < name.len;) {
        size_t n = ggld_utf8_len((const uint8_t *)name.data + i, name.len - i);
        if (n == 0)
            return false;
        i += n;
    }
    return name.len != 0;
}

/* ---- the folder ---- */

/* What all paths begin with, up to a slash and with it. */
static ggld_string common_folder(const ggld_manifest *m)
{
    ggld_string folder = m->subjects[0].path;
    for (uint64_t i = 0; i < m->n_subjects; i++) {
        ggld_string path = m->subjects[i].path;
        uint64_t n = 0;
        while (n < folder.len && n < path.len && folder.data[n] == path.data[n])
            n++;
        folder.len = n;
    }
    folder.len -= ggld_path_base(folder).len;
    return folder;
}

/* Is it made of parts that lead down? */
static bool leads_down(ggld_string path)
{
    while (path.len != 0) {
        ggld_string part = ggld_path_base(path);
        if (part.len == 0 || ggld_string_equal(part, ggld_string_of(".")) ||
            ggld_string_equal(part, ggld_string_of("..")))
            return false;
        path.len -= part.len;
        if (path.len == 1)
            return false; /* a slash before all */
        path.len -= path.len != 0;
    }
    return true;
}

/* The folder's own name; that of the first file where it has none here. */
static ggld_string model_name(ggld_string folder, const resource *first)
{
    folder.len -= folder.len != 0;
    ggld_string name = ggld_path_base(folder);
    return leads_down(name) && is_utf8(name) ? name : first->name;
}

/* ---- the files ---- */

/* All subjects, sorted; they must be told apart by their names. */
static ggld_status collect(const ggld_manifest *m, ggld_string folder,
                           resource *resources, ggld_error *err)
{
    for (uint32_t i = 0; i < m->n_subjects; i++) {
        resource *r = &resources[i];
        ggld_status status = ggld_whole_sha256(m, i, "in-toto", &r->entry, err);
        if (status != GGLD_OK)
            return status;
        r->name.data = m->subjects[i].path.data + folder.len;
        r->name.len = m->subjects[i].path.len - folder.len;
        if (!leads_down(r->name))
            return ggld_fail(
                err, GGLD_E_STRING, ggld_nowhere(),
                "manifest: a statement is of one folder, and %s "
                "does not lead into the folder of the others",
                ggld_quote(m->subjects[i].path.data, m->subjects[i].path.len)
                    .text);
        if (!is_utf8(r->name))
            return ggld_fail(err, GGLD_E_STRING, ggld_nowhere(),
                             "manifest: in-toto can't write the name %s; it "
                             "must be UTF-8",
                             ggld_quote(r->name.data, r->name.len).text);
    }
    qsort(resources, (size_t)m->n_subjects, sizeof *resources, by_name);
    for (uint64_t i = 1; i < m->n_subjects; i++)
        if (by_name(&resources[i - 1], &resources[i]) == 0)
            return ggld_fail(
                err, GGLD_E_DUPLICATE, ggld_nowhere(),
                "manifest: two files are called %s in one folder",
                ggld_quote(resources[i].name.data, resources[i].name.len).text);
    return GGLD_OK;
}

/* Well-formed UTF-8 as a JSON string. */
static void put_string(ggld_text *t, ggld_string s)
{
    ggld_text_put(t, "\"", 1);
    for (uint64_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.data[i];
        if (c < 0x20 || c == 0x7F)
            ggld_text_printf(t, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            ggld_text_printf(t, "\\%c", c);
        else
            ggld_text_put(t, s.data + i, 1);
    }
    ggld_text_put(t, "\"", 1);
}

static ggld_status digest_of_all(const resource *resources, uint64_t n,
                                 ggld_digest *out, ggld_error *err)
{
    ggld_hasher hasher;
    ggld_status status =
        ggld_hasher_init(&hasher, GGLD_ALGO_BIT(GGLD_ALGO_SHA256), err);
    if (status != GGLD_OK)
        return status;
    for (uint64_t i = 0; i < n; i++) {
        const ggld_digest *digest = &resources[i].entry->digest;
        ggld_hasher_update(&hasher, digest->bytes, digest->size);
    }
    status = ggld_hasher_finish(&hasher, GGLD_ALGO_SHA256, out, err);
    ggld_hasher_free(&hasher);
    return status;
}

static void put_statement(ggld_text *t, ggld_string model,
                          const resource *resources, uint64_t n,
                          const ggld_digest *all)
{
    ggld_text_printf(t, "{\n  \"_type\": \"" GGLD_IN_TOTO_TYPE "\",\n"
                        "  \"subject\": [\n    {\n      \"name\": ");
    put_string(t, model);
    ggld_text_printf(t, ",\n      \"digest\": {\n        \"sha256\": \"");
    ggld_text_digest(t, all);
    ggld_text_printf(t,
                     "\"\n      }\n    }\n  ],\n"
                     "  \"predicateType\": \"" GGLD_IN_TOTO_PREDICATE "\",\n");
    ggld_text_printf(t, "  \"predicate\": {\n    \"serialization\": {\n"
                        "      \"method\": \"files\",\n"
                        "      \"hash_type\": \"sha256\",\n"
                        "      \"allow_symlinks\": false,\n"
                        "      \"ignore_paths\": []\n    },\n"
                        "    \"resources\": [");
    for (uint64_t i = 0; i < n; i++) {
        ggld_text_printf(t,
                         "%s\n      {\n        \"name\": ", i == 0 ? "" : ",");
        put_string(t, resources[i].name);
        ggld_text_printf(t, ",\n        \"algorithm\": \"sha256\",\n"
                            "        \"digest\": \"");
        ggld_text_digest(t, &resources[i].entry->digest);
        ggld_text_printf(t, "\"\n      }");
    }
    ggld_text_printf(t, "\n    ]\n  }\n}\n");
}

ggld_status ggld_intoto_write(const ggld_manifest *m, ggld_text *t,
                              ggld_error *err)
{
    ggld_digest all;
    if (m->n_subjects == 0)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "manifest: no files for a statement");
    ggld_string folder = common_folder(m);
    resource *resources = calloc((size_t)m->n_subjects + 1, sizeof *resources);
    if (resources == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "manifest: no memory for the statement");
    ggld_status status = collect(m, folder, resources, err);
    if (status == GGLD_OK)
        status = digest_of_all(resources, m->n_subjects, &all, err);
    if (status == GGLD_OK)
        put_statement(t, model_name(folder, &resources[0]), resources,
                      m->n_subjects, &all);
    free(resources);
    return status;
}
