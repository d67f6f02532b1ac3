/* SPDX-License-Identifier: MIT */
/* Names what people meet when it is not GGUF: the pointer instead of the file,
 * the error page instead of the download, an older or another format. Looks at
 * the first bytes only, so that every way to open says the same. */
#include "sniff.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../base/bytes.h"
#include "../base/checked.h"
#include "../base/quote.h"
#include "../spec/limits.h"
#include "hints.h"

#define SNIFF_BYTES 4096u
#define SHOWN_BYTES 60u

typedef struct sniffed {
    ggld_error *out;
    ggld_span start;
    uint64_t file_bytes;
    const char *path; /* or NULL */
    const char *hint;
} sniffed;

static bool starts_with(ggld_span start, const char *bytes, size_t size)
{
    const uint8_t *p = ggld_span_at(start, 0, size);
    return p != NULL && memcmp(p, bytes, size) == 0;
}

static bool say(const sniffed *s, ggld_status code, const char *what)
{
    ggld_place place =
        ggld_place_of(code == GGLD_E_TRUNCATED ? GGLD_IN_HEADER : GGLD_IN_FILE,
                      GGLD_NO_INDEX, 0);
    (void)ggld_fail(s->out, code, place, "%s: %s",
                    code == GGLD_E_TRUNCATED ? "header" : "file", what);
    return true;
}

/* The text behind key up to the end of its line, or "?". */
static void line_value(ggld_span start, const char *key, char *out, size_t size)
{
    const char *text = (const char *)start.data;
    size_t len = (size_t)start.size;
    const char *at = memmem(text, len, key, strlen(key));
    size_t n = 0;

    if (at != NULL)
        for (at += strlen(key); at < text + len && n + 1 < size; at++) {
            if (!isalnum((unsigned char)*at) && *at != ':')
                break;
            out[n++] = *at;
        }
    if (n == 0)
        out[n++] = '?';
    out[n] = '\0';
}

static bool sniff_lfs(const sniffed *s)
{
    static const char magic[] = "version https://git-lfs";
    char oid[80], size[24], what[GGLD_MESSAGE_MAX];

    if (!starts_with(s->start, magic, sizeof magic - 1))
        return false;
    line_value(s->start, "\noid ", oid, sizeof oid);
    line_value(s->start, "\nsize ", size, sizeof size);
    snprintf(what, sizeof what,
             "starts with \"%s\": a Git LFS pointer to %s bytes (%s), not the "
             "model; fetch the real file (git lfs pull)",
             magic, size, oid);
    return say(s, GGLD_E_MAGIC, what);
}

static bool sniff_older(const sniffed *s)
{
    static const struct {
        const char *bytes;
        const char *name;
        bool versioned;
    } older[] = {
        { "lmgg", "GGML, unversioned", false },
        { "fmgg", "GGMF", true },
        { "tjgg", "GGJT", true },
        { "algg", "GGLA (an adapter)", true },
        { "FUGG", "FUGG, a pre-release of GGUF,", true },
    };
    char version[32] = "", what[GGLD_MESSAGE_MAX];

    for (size_t i = 0; i < sizeof older / sizeof older[0]; i++) {
        if (!starts_with(s->start, older[i].bytes, 4))
            continue;
        const uint8_t *p = ggld_span_at(s->start, 4, 4);
        if (older[i].versioned && p != NULL)
            snprintf(version, sizeof version, " version %" PRIu32,
                     ggld_load_le32(p));
        snprintf(what, sizeof what,
                 "starts with \"%s\": %s%s, a format before GGUF; convert it "
                 "with the program that it was made for, or fetch the model "
                 "as GGUF",
                 older[i].bytes, older[i].name, version);
        return say(s, GGLD_E_MAGIC, what);
    }
    return false;
}

static bool sniff_container(const sniffed *s)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *what;
    } known[] = {
        { "PK\x03\x04", 4,
          "a zip archive (PyTorch checkpoints are), not GGUF; unpack or "
          "convert it" },
        { "PK\x05\x06", 4, "an empty zip archive, not GGUF" },
        { "\x80\x02", 2, "a Python pickle, not GGUF; convert the model" },
        { "\x80\x03", 2, "a Python pickle, not GGUF; convert the model" },
        { "\x80\x04", 2, "a Python pickle, not GGUF; convert the model" },
        { "\x80\x05", 2, "a Python pickle, not GGUF; convert the model" },
        { "\x1F\x8B", 2, "compressed with gzip; unpack it first (gunzip)" },
        { "\x28\xB5\x2F\xFD", 4, "compressed with zstd; unpack it first" },
        { "\xFD"
          "7zXZ",
          5, "compressed with xz; unpack it first" },
        { "\xEF\xBB\xBF"
          "GGUF",
          7,
          "a UTF-8 byte order mark before GGUF: a text editor changed the "
          "file; fetch it again" },
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (starts_with(s->start, known[i].bytes, known[i].size))
            return say(s, GGLD_E_MAGIC, known[i].what);
    return false;
}

static bool sniff_safetensors(const sniffed *s)
{
    const uint8_t *p = ggld_span_at(s->start, 0, 9);
    if (p == NULL || p[8] != '{' || ggld_load_le64(p) > s->file_bytes)
        return false;
    return say(s, GGLD_E_MAGIC,
               "a safetensors file, not GGUF; convert it (ggld convert)");
}

/* Length of the text at p, up to the first byte that is none. */
static size_t text_len(const uint8_t *p, size_t size)
{
    size_t len = 0;
    while (len < size) {
        size_t n = ggld_utf8_len(p + len, size - len);
        if (n == 0 || (p[len] < 0x20 && !isspace(p[len])) || p[len] == 0x7F)
            break;
        len += n;
    }
    return len;
}

static const char *text_kind(const char *text, size_t len)
{
    if (len >= 4 && (strncasecmp(text, "<!do", 4) == 0 ||
                     strncasecmp(text, "<htm", 4) == 0))
        return "an HTML page, not a model; the address is that of a page "
               "about the file, or an error page";
    if (text[0] == '{' || text[0] == '[')
        return "JSON, not a model; perhaps an error message that was saved "
               "under the model's name";
    return "text, not a model";
}

static bool sniff_text(const sniffed *s)
{
    const char *text = (const char *)s->start.data;
    size_t len = text_len(s->start.data, (size_t)s->start.size);
    char what[GGLD_MESSAGE_MAX];

    /* The end of the bytes looked at may cut a character in two. */
    if (len + 4 <= s->start.size || len < 4)
        return false;
    while (len > 0 && isspace((unsigned char)text[0])) {
        text++;
        len--;
    }
    size_t shown = 0;
    while (shown < len && shown < SHOWN_BYTES &&
           (unsigned char)text[shown] >= 0x20)
        shown++;
    if (shown == 0)
        return false;
    snprintf(what, sizeof what, "starts with %s: %s",
             ggld_quote(text, shown).text, text_kind(text, len));
    return say(s, GGLD_E_MAGIC, what);
}

static bool sniff_zeros(const sniffed *s)
{
    char what[GGLD_MESSAGE_MAX];
    for (uint64_t i = 0; i < s->start.size; i++)
        if (s->start.data[i] != 0)
            return false;
    snprintf(what, sizeof what, "starts with %" PRIu64 " zero bytes%s",
             s->start.size,
             ggld_hint_journal(s->path)
                 ? ", and the journal of an edit in place is beside it: the "
                   "edit was interrupted, 'ggld edit --recover' ends it"
                 : ": it was never written (a download or copy that did not "
                   "finish)");
    return say(s, GGLD_E_MAGIC, what);
}

static bool sniff_short(const sniffed *s)
{
    if (s->file_bytes == 0)
        return say(s, GGLD_E_MAGIC, "it is empty (0 bytes)");
    if (s->file_bytes >= GGLD_MAGIC_BYTES ||
        !starts_with(s->start, GGLD_MAGIC, (size_t)s->file_bytes))
        return false;
    return say(s, GGLD_E_TRUNCATED, "the file ends within the magic");
}

/* Neither format nor text: show the bytes, and where a GGUF begins if one
 * does. */
static void sniff_unknown(const sniffed *s)
{
    char what[GGLD_MESSAGE_MAX];
    const uint8_t *p = s->start.data;
    const uint8_t *at =
        memmem(p, (size_t)s->start.size, GGLD_MAGIC, GGLD_MAGIC_BYTES);

    if (at != NULL)
        snprintf(
            what, sizeof what,
            "starts with %s, not with \"GGUF\", which is found at byte "
            "%td: something stands before it (open the range behind)",
            ggld_quote((const char *)p, ggld_min_u64(s->start.size, 4)).text,
            at - p);
    else
        snprintf(
            what, sizeof what,
            "starts with %s, not with \"GGUF\": another format, or "
            "damaged%s",
            ggld_quote((const char *)p, ggld_min_u64(s->start.size, 4)).text,
            s->hint);
    say(s, GGLD_E_MAGIC, what);
}

void ggld_sniff(ggld_error *out, ggld_span start, uint64_t file_bytes,
                const char *path, const char *hint)
{
    sniffed s = { out, start, file_bytes, path, hint };
    s.start.size = ggld_min_u64(start.size, SNIFF_BYTES);

    if (sniff_short(&s) || sniff_lfs(&s) || sniff_older(&s) ||
        sniff_container(&s) || sniff_safetensors(&s) || sniff_text(&s) ||
        sniff_zeros(&s))
        return;
    sniff_unknown(&s);
}
