/* SPDX-License-Identifier: MIT */
/* Reading a manifest: the text is copied once, its format told from how it
 * starts, and handed to that format's parser. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/checked.h"
#include "../base/error.h"
#include "../base/quote.h"
#include "digest.h"
#include "formats.h"
#include "names.h"

#define MAX_TEXT_BYTES (1u << 30)

/* How a text must end: what closes itself (by a digest, by a brace, by having
 * just so many digits) needs no newline to be known as whole. */
enum { OWN_END, NEWLINE_END };
/* How lines must end: those of a text that has a digest of itself, as they
 * were; of JSON it does not matter. */
enum { OWN_LINES, ANY_LINES };

static const struct {
    const char *name;
    ggld_manifest_parser *parse;
    ggld_manifest_writer *write;
    uint8_t lines;
    uint8_t end;
} formats[] = {
    [GGLD_MANIFEST_GGSUM] = { "ggsum", ggld_ggsum_parse, ggld_ggsum_write,
                              OWN_LINES, OWN_END },
    [GGLD_MANIFEST_LLAMA] = { "llama", ggld_llama_parse, ggld_llama_write,
                              ANY_LINES, NEWLINE_END },
    [GGLD_MANIFEST_SHA256SUM] = { "sha256sum", ggld_sha256sum_parse,
                                  ggld_sha256sum_write, ANY_LINES,
                                  NEWLINE_END },
    [GGLD_MANIFEST_DIGEST] = { "digest", ggld_bare_parse, ggld_bare_write,
                               ANY_LINES, OWN_END },
    [GGLD_MANIFEST_LFS] = { "lfs", ggld_lfs_parse, ggld_lfs_write, ANY_LINES,
                            NEWLINE_END },
    [GGLD_MANIFEST_IN_TOTO] = { "in-toto", ggld_intoto_parse, ggld_intoto_write,
                                OWN_LINES, OWN_END },
};

#define N_FORMATS (sizeof formats / sizeof formats[0])

const char *ggld_manifest_format_name(uint32_t format)
{
    return format < N_FORMATS ? formats[format].name : NULL;
}

bool ggld_manifest_format_from_name(const char *name, uint32_t *out)
{
    for (uint32_t i = 1; i < N_FORMATS; i++) {
        if (strcasecmp(name, formats[i].name) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* ---- telling formats apart ---- */

static bool starts_with(ggld_word text, const char *start)
{
    size_t len = strlen(start);
    return text.len >= len && memcmp(text.data, start, len) == 0;
}

static bool is_sha256(ggld_word word)
{
    ggld_digest digest;
    return ggld_digest_parse(&digest, GGLD_ALGO_SHA256, word.data, word.len);
}

static bool is_sum_line(ggld_word line)
{
    if (line.len > 0 && line.data[0] == '\\') {
        line.data++;
        line.len--;
    }
    if (ggld_is_tag_line(line))
        return true;
    return is_sha256(ggld_word_next(&line));
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The first line, of JSON from its first character on, without its end. */
static ggld_word first_line(ggld_word text)
{
    size_t blank = 0;
    while (blank < text.len && is_blank(text.data[blank]))
        blank++;
    if (blank < text.len && text.data[blank] == '{') {
        text.data += blank;
        text.len -= blank;
    }
    ggld_word line = ggld_word_split(&text, '\n');
    if (line.len != 0 && line.data[line.len - 1] == '\r')
        line.len--;
    return line;
}

static uint32_t format_of(ggld_word text)
{
    ggld_word line = first_line(text);
    if (starts_with(line, "ggsum "))
        return GGLD_MANIFEST_GGSUM;
    if (starts_with(line, "version https://git-lfs"))
        return GGLD_MANIFEST_LFS;
    if (starts_with(line, "{"))
        return GGLD_MANIFEST_IN_TOTO;
    if (starts_with(line, "sha256:") || is_sha256(line))
        return GGLD_MANIFEST_DIGEST;
    if (is_sum_line(line))
        return GGLD_MANIFEST_SHA256SUM;
    uint32_t algo;
    return ggld_word_algo(ggld_word_next(&line), &algo) ? GGLD_MANIFEST_LLAMA
                                                        : GGLD_MANIFEST_ANY;
}

/* ---- parsing ---- */

/* Does the name end as files of that format are called? */
static bool is_named_for(const char *name, uint32_t format)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && strcmp(dot + 1, formats[format].name) == 0;
}

/* The name as it stands before messages, and what kind of text it is: control
 * bytes as \xNN, but without the quotes. Of a long path the end. */
static ggld_status set_label(ggld_manifest *m, const char *name,
                             ggld_error *err)
{
    enum { MOST = 60, ROOM = GGLD_QUOTE_MAX + 32 };
    size_t len = strlen(name);
    const char *dots = len > MOST ? "..." : "";
    ggld_quoted q = ggld_quote(name + (len > MOST ? len - MOST : 0),
                               len > MOST ? MOST : len);
    char *label = ggld_manifest_block(m, ROOM);
    if (label == NULL)
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "manifest: no memory for its name");
    int n = snprintf(label, ROOM, "%s%.*s", dots, (int)strlen(q.text) - 2,
                     q.text + 1);
    if (m->format != GGLD_MANIFEST_ANY && !is_named_for(name, m->format))
        snprintf(label + n, (size_t)(ROOM - n), " (%s)",
                 formats[m->format].name);
    m->label = label;
    return GGLD_OK;
}

/* A NUL ends a line for some programs and not for others. */
static ggld_status refuse_nul(ggld_lines *l, ggld_error *err)
{
    ggld_lines scan = *l;
    ggld_word line;
    if (memchr(l->text, '\0', l->size) == NULL)
        return GGLD_OK;
    while (ggld_lines_next(&scan, &line))
        if (memchr(line.data, '\0', line.len) != NULL)
            break;
    return ggld_lines_fail(&scan, err, GGLD_E_STRING, "a NUL byte in a text");
}

/* A ggsum is known by what its last line closes, any other text by all of it.
 * Taken first: parsers write in the text. */
static ggld_status identify(ggld_manifest *m, const ggld_lines *l,
                            ggld_error *err)
{
    size_t size = l->size;
    if (m->format == GGLD_MANIFEST_GGSUM && size > 0) {
        const char *newline = memrchr(l->text, '\n', size - 1);
        size = newline == NULL ? 0 : (size_t)(newline + 1 - l->text);
    }
    return ggld_digest_of(&m->identity, GGLD_ALGO_SHA256, l->text, size, err);
}

/* What is asked of the text as a whole, before it is read. */
static ggld_status look_over(ggld_manifest *m, ggld_lines *l, ggld_error *err)
{
    ggld_status status = refuse_nul(l, err);
    if (status == GGLD_OK)
        status = identify(m, l, err);
    if (status == GGLD_OK && formats[m->format].lines == ANY_LINES)
        status = ggld_lines_agree(l, err);
    if (status == GGLD_OK && formats[m->format].end == NEWLINE_END)
        status = ggld_lines_end(l, err);
    return status;
}

static ggld_status parse_into(ggld_manifest *m, const char *name, ggld_lines *l,
                              uint32_t format, ggld_error *err)
{
    ggld_word text = { l->text, l->size };
    m->format = format != GGLD_MANIFEST_ANY ? format : format_of(text);
    ggld_status status = set_label(m, name, err);
    if (status != GGLD_OK)
        return status;
    l->label = m->label;
    if (l->size == 0)
        return ggld_fail(err, GGLD_E_TRUNCATED, ggld_nowhere(),
                         "%s: empty, no manifest", l->label);
    if (m->format == GGLD_MANIFEST_ANY)
        return ggld_fail(err, GGLD_E_MAGIC, ggld_nowhere(),
                         "%s: no manifest of a known kind; it starts with %s",
                         l->label, ggld_quote(l->text, l->size).text);
    status = look_over(m, l, err);
    if (status == GGLD_OK)
        status = formats[m->format].parse(m, l, err);
    if (status == GGLD_OK)
        status = ggld_manifest_seal(m, l->label, err);
    return status;
}

/* Room in a new manifest for size bytes of text and a NUL, into *text. */
static ggld_status make_room(ggld_manifest **out, char **text, const char *name,
                             uint64_t size, ggld_error *err)
{
    if (size > MAX_TEXT_BYTES)
        return ggld_fail(
            err, GGLD_E_LIMIT, ggld_nowhere(),
            "manifest %s: %" PRIu64 " bytes; it may have %u at most",
            ggld_quote(name, strlen(name)).text, size, MAX_TEXT_BYTES);
    ggld_manifest *m = ggld_manifest_new();
    char *room = m == NULL ? NULL : ggld_manifest_block(m, size);
    if (room == NULL) {
        ggld_manifest_free(m);
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "manifest %s: no memory for %" PRIu64 " bytes",
                         ggld_quote(name, strlen(name)).text, size);
    }
    *text = room;
    *out = m;
    return GGLD_OK;
}

/* text is in m's own room. m is taken over, or freed. */
static ggld_status parse_own(ggld_manifest **out, ggld_manifest *m,
                             const char *name, char *text, size_t size,
                             uint32_t format, ggld_error *err)
{
    ggld_lines lines = { "", text, size, 0, 0, 0, false, false };
    text[size] = '\0';
    ggld_status status = parse_into(m, name, &lines, format, err);
    if (status != GGLD_OK) {
        ggld_manifest_free(m);
        return status;
    }
    *out = m;
    return GGLD_OK;
}

static ggld_status check_format(const char *name, uint32_t format,
                                ggld_error *err)
{
    return format < N_FORMATS
               ? GGLD_OK
               : ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                           "manifest %s: %u is no format of manifests",
                           ggld_quote(name, strlen(name)).text, format);
}

ggld_status ggld_manifest_parse(ggld_manifest **out, const char *name,
                                const void *text, size_t size, uint32_t format,
                                ggld_error *err)
{
    ggld_manifest *m = NULL;
    char *copy = NULL;
    ggld_status status = check_format(name, format, err);
    if (status == GGLD_OK)
        status = make_room(&m, &copy, name, size, err);
    if (status != GGLD_OK)
        return status;
    if (size != 0)
        memcpy(copy, text, size);
    return parse_own(out, m, name, copy, size, format, err);
}

/* ---- from a file ---- */

static ggld_status size_of_text(int fd, const char *path, uint64_t *size,
                                ggld_error *err)
{
    ggld_place place = ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0);
    struct stat st;
    if (fstat(fd, &st) != 0)
        return ggld_fail_errno(err, errno, place, "manifest %s",
                               ggld_quote(path, strlen(path)).text);
    if (!S_ISREG(st.st_mode) || st.st_size > MAX_TEXT_BYTES)
        return ggld_fail(err, GGLD_E_MAGIC, place,
                         "manifest %s: no file of text of up to %u bytes",
                         ggld_quote(path, strlen(path)).text, MAX_TEXT_BYTES);
    *size = (uint64_t)st.st_size;
    return GGLD_OK;
}

/* Up to size bytes; fewer where the file has become shorter. */
static ggld_status read_text(int fd, const char *path, char *text, size_t size,
                             size_t *got, ggld_error *err)
{
    ssize_t n = 1;
    *got = 0;
    while (*got < size && n != 0) {
        n = read(fd, text + *got, size - *got);
        if (n < 0 && errno != EINTR)
            return ggld_fail_errno(
                err, errno, ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0),
                "manifest %s", ggld_quote(path, strlen(path)).text);
        *got += n > 0 ? (size_t)n : 0;
    }
    return GGLD_OK;
}

static ggld_status read_fd(ggld_manifest **out, int fd, const char *path,
                           uint32_t format, ggld_error *err)
{
    ggld_manifest *m = NULL;
    char *text = NULL;
    uint64_t size = 0;
    size_t got;
    ggld_status status = size_of_text(fd, path, &size, err);
    if (status == GGLD_OK)
        status = check_format(path, format, err);
    if (status == GGLD_OK)
        status = make_room(&m, &text, path, size, err);
    if (status != GGLD_OK)
        return status;
    status = read_text(fd, path, text, (size_t)size, &got, err);
    if (status != GGLD_OK) {
        ggld_manifest_free(m);
        return status;
    }
    return parse_own(out, m, path, text, got, format, err);
}

ggld_status ggld_manifest_read(ggld_manifest **out, const char *path,
                               uint32_t format, ggld_error *err)
{
    /* Not waiting for a FIFO's other end. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return ggld_fail_errno(
            err, errno, ggld_place_of(GGLD_IN_FILE, GGLD_NO_INDEX, 0),
            "manifest %s", ggld_quote(path, strlen(path)).text);
    ggld_status status = read_fd(out, fd, path, format, err);
    close(fd);
    return status;
}

/* ---- writing ---- */

ggld_status ggld_manifest_write(const ggld_manifest *m, uint32_t format,
                                char **text, size_t *size, ggld_error *err)
{
    ggld_text t = { 0 };
    if (format == GGLD_MANIFEST_ANY || format >= N_FORMATS)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "manifest: %u is no format to write", format);
    ggld_status status = formats[format].write(m, &t, err);
    if (status != GGLD_OK) {
        ggld_text_free(&t);
        return status;
    }
    return ggld_text_take(&t, text, size, err);
}

ggld_status ggld_manifest_write_to(const ggld_manifest *m, uint32_t format,
                                   ggld_manifest_sink sink, void *user,
                                   ggld_error *err)
{
    ggld_hasher hasher;
    ggld_text t = { .sink = sink, .user = user, .hasher = &hasher };
    if (format == GGLD_MANIFEST_ANY || format >= N_FORMATS)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "manifest: %u is no format to write", format);
    ggld_status status =
        ggld_hasher_init(&hasher, GGLD_ALGO_BIT(GGLD_ALGO_SHA256), err);
    if (status != GGLD_OK)
        return status;
    status = formats[format].write(m, &t, err);
    if (status == GGLD_OK && !ggld_text_flush(&t))
        status = ggld_fail(err, GGLD_E_CANCELLED, ggld_nowhere(),
                           "manifest: its text was not taken to the end");
    ggld_text_free(&t);
    ggld_hasher_free(&hasher);
    return status;
}

ggld_status ggld_whole_sha256(const ggld_manifest *m, uint32_t subject,
                              const char *format, const ggld_entry **out,
                              ggld_error *err)
{
    const ggld_entry *entry = ggld_manifest_find(
        m, subject, GGLD_SCOPE_FILE, GGLD_ALGO_SHA256, ggld_string_of(""));
    if (entry == NULL)
        return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                         "manifest: %s needs the sha256 of the whole file, "
                         "which was not asked for",
                         format);
    *out = entry;
    return GGLD_OK;
}

ggld_status ggld_one_file(const ggld_manifest *m, const char *format,
                          ggld_error *err)
{
    if (m->n_subjects == 1)
        return GGLD_OK;
    return ggld_fail(err, GGLD_E_INVALID, ggld_nowhere(),
                     "manifest: %s speaks of one file, and there are %u",
                     format, (unsigned)m->n_subjects);
}

ggld_status ggld_add_whole(ggld_manifest *m, uint64_t line, ggld_string path,
                           const ggld_digest *digest, ggld_error *err)
{
    ggld_entry entry = { GGLD_SCOPE_FILE,    0,      GGLD_NO_SHAPE, line,
                         ggld_string_of(""), *digest };
    ggld_status status =
        ggld_manifest_add_subject(m, path, &entry.subject, err);
    return status == GGLD_OK ? ggld_manifest_add(m, &entry, err) : status;
}
