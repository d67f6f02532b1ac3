/* SPDX-License-Identifier: MIT */
/* Formats that are little more than one digest of a file they do not name: a
 * registry's "sha256:HEX" (or the 64 digits alone), and a Git LFS pointer,
 * which has the size too. */
#include <inttypes.h>
#include <string.h>

#include "../base/error.h"
#include "../base/quote.h"
#include "digest.h"
#include "formats.h"
#include "names.h"

#define LFS_VERSION "version https://git-lfs.github.com/spec/v1"

static ggld_status not_the_line(const ggld_lines *l, ggld_word line,
                                const char *wanted, ggld_error *err)
{
    return ggld_lines_fail(l, err, GGLD_E_STRING, "%s; '%s' is wanted",
                           ggld_quote(line.data, line.len).text, wanted);
}

/* The next line without its end; an empty one past the last. */
static ggld_word line_of(ggld_lines *l)
{
    ggld_word line = { l->text + l->size, 0 };
    (void)ggld_lines_next(l, &line);
    return line;
}

static ggld_status at_end(ggld_lines *l, ggld_error *err)
{
    ggld_word line;
    if (!ggld_lines_next(l, &line))
        return GGLD_OK;
    return ggld_lines_fail(l, err, GGLD_E_STRING,
                           "%s behind what must be the last line",
                           ggld_quote(line.data, line.len).text);
}

ggld_status ggld_bare_parse(ggld_manifest *m, ggld_lines *l, ggld_error *err)
{
    ggld_digest digest;
    ggld_word line = line_of(l), hex = line;
    if (line.len > 7 && memcmp(line.data, "sha256:", 7) == 0)
        (void)ggld_word_split(&hex, ':');
    if (!ggld_digest_parse(&digest, GGLD_ALGO_SHA256, hex.data, hex.len))
        return not_the_line(l, line, "sha256: and 64 hex digits", err);
    /* It may be what is left of a line that had a name. */
    if (hex.data == line.data && l->unterminated)
        return ggld_lines_fail(l, err, GGLD_E_TRUNCATED,
                               "cut: 64 hex digits, and no newline behind "
                               "them; if they are all, put sha256: before "
                               "them");
    ggld_status status =
        ggld_add_whole(m, l->number, ggld_string_of(""), &digest, err);
    return status == GGLD_OK ? at_end(l, err) : status;
}

ggld_status ggld_bare_write(const ggld_manifest *m, ggld_text *t,
                            ggld_error *err)
{
    const ggld_entry *entry;
    ggld_status status = ggld_one_file(m, "a bare digest", err);
    if (status == GGLD_OK)
        status = ggld_whole_sha256(m, 0, "a bare digest", &entry, err);
    if (status != GGLD_OK)
        return status;
    ggld_text_printf(t, "sha256:");
    ggld_text_digest(t, &entry->digest);
    ggld_text_put(t, "\n", 1);
    return GGLD_OK;
}

ggld_status ggld_lfs_parse(ggld_manifest *m, ggld_lines *l, ggld_error *err)
{
    ggld_digest digest;
    uint64_t size;
    ggld_word line = line_of(l);
    if (!ggld_word_is(line, LFS_VERSION))
        return not_the_line(l, line, LFS_VERSION, err);
    line = line_of(l);
    if (line.len > 4 && memcmp(line.data, "ext-", 4) == 0)
        return ggld_lines_fail(l, err, GGLD_E_UNSUPPORTED,
                               "an LFS extension: the digest is not of the "
                               "file's own bytes");
    ggld_word rest = line;
    if (!ggld_word_is(ggld_word_next(&rest), "oid") ||
        !ggld_word_digest(rest, &digest) || digest.algo != GGLD_ALGO_SHA256)
        return not_the_line(l, line, "oid sha256:HEX", err);
    uint64_t oid_line = l->number;
    line = line_of(l);
    rest = line;
    if (!ggld_word_is(ggld_word_next(&rest), "size") ||
        !ggld_word_u64(rest, &size))
        return not_the_line(l, line, "size BYTES", err);
    ggld_status status =
        ggld_add_whole(m, oid_line, ggld_string_of(""), &digest, err);
    if (status != GGLD_OK)
        return status;
    m->subjects[0].has_size = true;
    m->subjects[0].size_bytes = size;
    return at_end(l, err);
}

ggld_status ggld_lfs_write(const ggld_manifest *m, ggld_text *t,
                           ggld_error *err)
{
    const ggld_entry *entry;
    ggld_status status = ggld_one_file(m, "a Git LFS pointer", err);
    if (status == GGLD_OK)
        status = ggld_whole_sha256(m, 0, "a Git LFS pointer", &entry, err);
    if (status != GGLD_OK)
        return status;
    if (!m->subjects[0].has_size)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "manifest: a Git LFS pointer needs the file's size");
    ggld_text_printf(t, LFS_VERSION "\noid sha256:");
    ggld_text_digest(t, &entry->digest);
    ggld_text_printf(t, "\nsize %" PRIu64 "\n", m->subjects[0].size_bytes);
    return GGLD_OK;
}
