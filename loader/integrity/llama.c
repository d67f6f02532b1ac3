/* SPDX-License-Identifier: MIT */
/* What llama-gguf-hash prints: "%-8s  %s  %s" of algorithm, digest, and path,
 * or path:tensor. Where a path ends can't be told from the line, as either may
 * have colons; a name is kept whole until the file is known (select.c). */
#include <string.h>

#include "../base/error.h"
#include "../base/quote.h"
#include "digest.h"
#include "formats.h"
#include "names.h"

static ggld_status take_line(ggld_manifest *m, ggld_lines *l, ggld_word line,
                             ggld_error *err)
{
    ggld_entry entry = { GGLD_SCOPE_UNSPLIT, 0,         GGLD_NO_SHAPE,
                         l->number,          { "", 0 }, { 0 } };
    uint32_t algo;
    ggld_word algo_word = ggld_word_next(&line);
    if (!ggld_word_algo(algo_word, &algo))
        return ggld_lines_fail(l, err, GGLD_E_STRING, "%s is no digest's name",
                               ggld_quote(algo_word.data, algo_word.len).text);
    while (line.len != 0 && line.data[0] == ' ')
        (void)ggld_word_next(&line);
    ggld_word hex = ggld_word_next(&line);
    if (!ggld_digest_parse(&entry.digest, algo, hex.data, hex.len))
        return ggld_lines_fail(l, err, GGLD_E_STRING, "%s is no %s digest",
                               ggld_quote(hex.data, hex.len).text,
                               ggld_algo_name(algo));
    /* Two spaces, no more: the name may start with one. */
    if (line.len < 2 || line.data[0] != ' ')
        return ggld_lines_fail(l, err, GGLD_E_STRING,
                               "two spaces and a name must follow the digest");
    entry.name.data = line.data + 1;
    entry.name.len = line.len - 1;
    return ggld_manifest_add(m, &entry, err);
}

ggld_status ggld_llama_parse(ggld_manifest *m, ggld_lines *l, ggld_error *err)
{
    ggld_word line;
    uint32_t subject;
    ggld_status status =
        ggld_manifest_add_subject(m, ggld_string_of(""), &subject, err);
    while (status == GGLD_OK && ggld_lines_next(l, &line))
        status = take_line(m, l, line, err);
    return status;
}

/* ---- writing ---- */

/* The format has no escapes. */
static bool writable(ggld_string name)
{
    return memchr(name.data, '\n', (size_t)name.len) == NULL &&
           memchr(name.data, '\r', (size_t)name.len) == NULL &&
           memchr(name.data, '\0', (size_t)name.len) == NULL;
}

static ggld_status put_line(const ggld_manifest *m, ggld_text *t,
                            const ggld_entry *entry, ggld_error *err)
{
    ggld_string path = m->subjects[entry->subject].path;
    ggld_string wrong = writable(path) ? entry->name : path;
    if (!writable(wrong))
        return ggld_fail(err, GGLD_E_STRING, ggld_nowhere(),
                         "manifest: the llama format can't write the name %s; "
                         "ggsum can",
                         ggld_quote(wrong.data, wrong.len).text);
    ggld_text_printf(t, "%-8s  ", ggld_algo_name(entry->digest.algo));
    ggld_text_digest(t, &entry->digest);
    ggld_text_put(t, "  ", 2);
    ggld_text_put(t, path.data, (size_t)path.len);
    if (entry->scope == GGLD_SCOPE_TENSOR) {
        ggld_text_put(t, ":", 1);
        ggld_text_put(t, entry->name.data, (size_t)entry->name.len);
    }
    ggld_text_put(t, "\n", 1);
    return GGLD_OK;
}

/* A subject's lines of one scope, which stand in table order, each tensor's in
 * the order of the algos. */
static ggld_status put_scope(const ggld_manifest *m, ggld_text *t,
                             uint32_t subject, uint32_t scope, uint64_t *n,
                             ggld_error *err)
{
    ggld_status status = GGLD_OK;
    for (uint64_t i = 0; i < m->n_entries && status == GGLD_OK; i++) {
        const ggld_entry *entry = &m->entries[i];
        if (entry->subject != subject || entry->scope != scope)
            continue;
        status = put_line(m, t, entry, err);
        (*n)++;
    }
    return status;
}

ggld_status ggld_llama_write(const ggld_manifest *m, ggld_text *t,
                             ggld_error *err)
{
    uint64_t n = 0;
    ggld_status status = GGLD_OK;
    for (uint32_t i = 0; i < m->n_subjects && status == GGLD_OK; i++) {
        status = put_scope(m, t, i, GGLD_SCOPE_TENSOR, &n, err);
        if (status == GGLD_OK)
            status = put_scope(m, t, i, GGLD_SCOPE_TENSORS, &n, err);
    }
    if (status == GGLD_OK && n == 0)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "manifest: the llama format speaks of tensors, and "
                         "there are no digests of any");
    return status;
}
