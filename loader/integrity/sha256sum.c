/* SPDX-License-Identifier: MIT */
/* What sha256sum prints and checks: "HEX  NAME" or "HEX *NAME", and with --tag,
 * as its like for other digests and BSD's programs do, "SHA256 (NAME) = HEX". A
 * backslash before all that says that the name has \\, \n and \r. Names may
 * have any parts: they are compared with that of a file, and nothing is opened
 * by them. */
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

/* ---- lines with a tag ---- */

static const struct {
    const char *start;
    uint32_t algo;
} tags[] = {
    { "SHA256 (", GGLD_ALGO_SHA256 },
    { "SHA1 (", GGLD_ALGO_SHA1 },
    { "XXH64 (", GGLD_ALGO_XXH64 },
    { "XXH3 (", GGLD_ALGO_XXH3 },
};

static const char tag_end[] = ") = ";
#define TAG_END_BYTES (sizeof tag_end - 1)

/* The last place where a name in parentheses ends. */
static const char *find_tag_end(ggld_word line)
{
    for (size_t i = line.len; i >= TAG_END_BYTES; i--)
        if (memcmp(line.data + i - TAG_END_BYTES, tag_end, TAG_END_BYTES) == 0)
            return line.data + i - TAG_END_BYTES;
    return NULL;
}

bool ggld_is_tag_line(ggld_word line)
{
    ggld_word rest = line;
    ggld_word tag = ggld_word_next(&rest);
    return tag.len != 0 && tag.len <= 16 && rest.len != 0 &&
           rest.data[0] == '(' && find_tag_end(rest) != NULL;
}

/* name: the escapes are still in it. */
static ggld_status take_tag_line(ggld_lines *l, ggld_word line,
                                 ggld_digest *digest, ggld_word *name,
                                 ggld_error *err)
{
    size_t i = 0;
    while (i < sizeof tags / sizeof tags[0] &&
           (line.len < strlen(tags[i].start) ||
            memcmp(line.data, tags[i].start, strlen(tags[i].start)) != 0))
        i++;
    if (i == sizeof tags / sizeof tags[0]) {
        ggld_word tag = ggld_word_next(&line);
        return ggld_lines_fail(l, err, GGLD_E_UNSUPPORTED,
                               "%s digests are not known here; SHA256, SHA1, "
                               "XXH64 and XXH3 are",
                               ggld_quote(tag.data, tag.len).text);
    }
    size_t start = strlen(tags[i].start);
    size_t end = (size_t)(find_tag_end(line) - line.data);
    size_t hex = end + TAG_END_BYTES;
    if (end <= start || !ggld_digest_parse(digest, tags[i].algo,
                                           line.data + hex, line.len - hex))
        return ggld_lines_fail(l, err, GGLD_E_STRING,
                               "%s is no %s digest of a named file",
                               ggld_quote(line.data + hex, line.len - hex).text,
                               ggld_algo_name(tags[i].algo));
    name->data = line.data + start;
    name->len = end - start;
    return GGLD_OK;
}

/* ---- lines without ---- */

static ggld_status take_plain_line(ggld_lines *l, ggld_word line,
                                   ggld_digest *digest, ggld_word *name,
                                   ggld_error *err)
{
    ggld_word hex = ggld_word_next(&line);
    if (!ggld_digest_parse(digest, GGLD_ALGO_SHA256, hex.data, hex.len))
        return ggld_lines_fail(l, err, GGLD_E_STRING,
                               "%s is no sha256 digest (64 hex digits)",
                               ggld_quote(hex.data, hex.len).text);
    if (line.len < 2 || (line.data[0] != ' ' && line.data[0] != '*'))
        return ggld_lines_fail(l, err, GGLD_E_STRING,
                               "two spaces and a name must follow the digest");
    name->data = line.data + 1;
    name->len = line.len - 1;
    return GGLD_OK;
}

static ggld_status take_line(ggld_manifest *m, ggld_lines *l, ggld_word line,
                             ggld_error *err)
{
    ggld_digest digest;
    ggld_word name = { line.data, 0 };
    bool escaped = line.len != 0 && line.data[0] == '\\';
    if (escaped) {
        line.data++;
        line.len--;
    }
    ggld_status status = ggld_is_tag_line(line)
                             ? take_tag_line(l, line, &digest, &name, err)
                             : take_plain_line(l, line, &digest, &name, err);
    if (status != GGLD_OK)
        return status;
    if (escaped && !unescape(&name))
        return ggld_lines_fail(l, err, GGLD_E_STRING,
                               "the name has a backslash that means nothing");
    ggld_string path = { name.data, name.len };
    return ggld_add_whole(m, l->number, path, &digest, err);
}

ggld_status ggld_sha256sum_parse(ggld_manifest *m, ggld_lines *l,
                                 ggld_error *err)
{
    ggld_word line;
    ggld_status status = GGLD_OK;
    while (status == GGLD_OK && ggld_lines_next(l, &line))
        status = take_line(m, l, line, err);
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
