/* SPDX-License-Identifier: MIT */
/* What sha256sum prints and checks: "HEX  NAME" or "HEX *NAME"; a backslash
 * before the digest says that the name has \\, \n and \r. */
#include <string.h>

#include "../base/error.h"
#include "../base/quote.h"
#include "digest.h"
#include "formats.h"
#include "names.h"

/* In place. */
static bool unescape(ggld_word *name)
{
    size_t used = 0;
    for (size_t i = 0; i < name->len; i++) {
        char c = name->data[i];
        if (c == '\\') {
            char escaped = ++i < name->len ? name->data[i] : '\0';
            if (escaped != '\\' && escaped != 'n' && escaped != 'r')
                return false;
            c = escaped == 'n' ? '\n' : escaped == 'r' ? '\r' : '\\';
        }
        name->data[used++] = c;
    }
    name->len = used;
    return true;
}

static ggld_status take_line(ggld_manifest *m, ggld_lines *l, ggld_word line,
                             ggld_error *err)
{
    ggld_digest digest;
    bool escaped = line.len != 0 && line.data[0] == '\\';
    if (escaped) {
        line.data++;
        line.len--;
    }
    ggld_word hex = ggld_word_next(&line);
    if (!ggld_digest_parse(&digest, GGLD_ALGO_SHA256, hex.data, hex.len))
        return ggld_lines_fail(l, err, GGLD_E_STRING,
                               "%s is no sha256 digest (64 hex digits)",
                               ggld_quote(hex.data, hex.len).text);
    if (line.len < 2 || (line.data[0] != ' ' && line.data[0] != '*'))
        return ggld_lines_fail(l, err, GGLD_E_STRING,
                               "two spaces and a name must follow the digest");
    line.data++;
    line.len--;
    if (escaped && !unescape(&line))
        return ggld_lines_fail(l, err, GGLD_E_STRING,
                               "the name has a backslash that means nothing");
    ggld_string path = { line.data, line.len };
    if (ggld_path_escapes(path))
        return ggld_lines_fail(l, err, GGLD_E_STRING,
                               "%s leaves its folder ('..')",
                               ggld_quote(path.data, path.len).text);
    return ggld_add_whole(m, l->number, path, &digest, err);
}

ggld_status ggld_sha256sum_parse(ggld_manifest *m, ggld_lines *l,
                                 ggld_error *err)
{
    ggld_word line;
    ggld_status status = GGLD_OK;
    while (status == GGLD_OK && ggld_lines_next(l, &line)) {
        ggld_word_strip_cr(&line);
        status = take_line(m, l, line, err);
    }
    return status;
}

/* ---- writing ---- */

static void put_escaped(ggld_text *t, ggld_string path)
{
    for (uint64_t i = 0; i < path.len; i++) {
        char c = path.data[i];
        if (c == '\\')
            ggld_text_put(t, "\\\\", 2);
        else if (c == '\n')
            ggld_text_put(t, "\\n", 2);
        else if (c == '\r')
            ggld_text_put(t, "\\r", 2);
        else
            ggld_text_put(t, &c, 1);
    }
}

static bool needs_escape(ggld_string path)
{
    for (uint64_t i = 0; i < path.len; i++)
        if (path.data[i] == '\\' || path.data[i] == '\n' ||
            path.data[i] == '\r')
            return true;
    return false;
}

ggld_status ggld_sha256sum_write(const ggld_manifest *m, ggld_text *t,
                                 ggld_error *err)
{
    for (uint32_t i = 0; i < m->n_subjects; i++) {
        const ggld_entry *entry;
        ggld_string path = m->subjects[i].path;
        ggld_status status = ggld_whole_sha256(m, i, "sha256sum", &entry, err);
        if (status != GGLD_OK)
            return status;
        if (path.len == 0)
            return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                             "manifest: sha256sum needs the file's name");
        if (memchr(path.data, '\0', (size_t)path.len) != NULL)
            return ggld_fail(err, GGLD_E_STRING, ggld_nowhere(),
                             "manifest: sha256sum can't write the name %s; "
                             "ggsum can",
                             ggld_quote(path.data, path.len).text);
        if (needs_escape(path))
            ggld_text_put(t, "\\", 1);
        ggld_text_digest(t, &entry->digest);
        ggld_text_put(t, "  ", 2);
        put_escaped(t, path);
        ggld_text_put(t, "\n", 1);
    }
    return GGLD_OK;
}
