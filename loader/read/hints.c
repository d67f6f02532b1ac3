/* SPDX-License-Identifier: MIT */
/* What bytes, names and sizes tell of a broken file's past. A hint may be
 * wrong, and says so; it must never be asked about a file that is whole. */
#include "hints.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ggld/file.h>

#include "../base/checked.h"
#include "../spec/limits.h"

/* How far before a field replaced bytes, and line ends, are looked for. */
#define FIELDS_BACK_BYTES 16u
#define LOOK_BACK_BYTES   (64u << 10)

static const char HINT_NAME[] =
    "; by its name it is one part of several: join them (cat)";
static const char HINT_NEIGHBOUR[] =
    "; a file beside it is named as another part: join them (cat)";
static const char HINT_SIZE[] =
    "; its size is a round number: if it is one part of several, join them "
    "(cat)";
static const char HINT_FILTER[] =
    "; EF BF BD stands there: the file passed through a text filter, fetch it "
    "again as binary";
static const char HINT_LINES[] =
    "; each 0A up to there follows a 0D: if a transfer turned LF to CR LF, "
    "fetch it again as binary";

/* ---- parts ---- */

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool all_digits(const char *text)
{
    size_t n = strspn(text, "0123456789");
    return n >= 2 && text[n] == '\0';
}

/* What split(1) adds: two letters, of which the first few first ones are
 * usual and not those of .gz and .xz; or digits. */
static bool is_split_suffix(const char *text)
{
    return all_digits(text) || (strlen(text) == 2 && text[0] >= 'a' &&
                                text[0] <= 'f' && is_lower(text[1]));
}

/* "m.gguf" in the name, and what stands behind the last one; NULL: none. */
static const char *behind_gguf(const char *name)
{
    const char *behind = NULL;
    for (const char *at = strstr(name, ".gguf"); at != NULL;
         at = strstr(at + 1, ".gguf"))
        behind = at + strlen(".gguf");
    return behind;
}

/* x.gguf.part1of2, x.gguf.partaa, x.gguf-split-a, x.gguf.001, x.gguf.ab,
 * x.ggufab, xab */
static bool is_part_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    const char *behind = behind_gguf(name);

    if (dot != NULL && strncmp(dot, ".part", strlen(".part")) == 0)
        return true;
    if (behind == NULL)
        return name[0] == 'x' && is_split_suffix(name + 1);
    if (strncmp(behind, "-split-", strlen("-split-")) == 0)
        return true;
    return is_split_suffix(behind + strspn(behind, ".-_"));
}

/* Turns a name into that which split(1) would give to the part behind, or with
 * a step of -1 before: its last letters, or digits, count. false: it has no
 * such. */
static bool step_suffix(char *name, int step)
{
    size_t len = strlen(name);
    bool digits = len != 0 && is_digit(name[len - 1]);
    const char first = digits ? '0' : 'a', last = digits ? '9' : 'z';
    const char from = step > 0 ? last : first, to = step > 0 ? first : last;

    if (len < 2 ||
        !(digits ? is_digit(name[len - 2])
                 : is_lower(name[len - 1]) && is_lower(name[len - 2])))
        return false;
    while (len > 0 && name[len - 1] == from)
        name[--len] = to;
    if (len == 0 || name[len - 1] < first || name[len - 1] > last)
        return false;
    name[len - 1] = (char)(name[len - 1] + step);
    return true;
}

/* Is the part behind it, or before it, in the same folder? */
static bool has_neighbour(const char *path)
{
    char other[PATH_MAX];

    if (strlen(path) >= sizeof other)
        return false;
    for (int step = 1; step >= -1; step -= 2) {
        memcpy(other, path, strlen(path) + 1);
        if (step_suffix(other, step) && access(other, F_OK) == 0)
            return true;
    }
    return false;
}

/* People split files at round numbers; few files end at one by chance. */
static bool is_round(uint64_t file_bytes)
{
    return file_bytes != 0 &&
           (file_bytes % (1u << 20) == 0 || file_bytes % 1000000 == 0);
}

const char *ggld_hint_part(ggld_part part)
{
    const char *path = part.path == NULL ? "" : part.path;
    const char *slash = strrchr(path, '/');

    if (is_part_name(slash == NULL ? path : slash + 1))
        return HINT_NAME;
    if (has_neighbour(path))
        return HINT_NEIGHBOUR;
    return is_round(part.file_bytes) ? HINT_SIZE : "";
}

/* ---- text filters ---- */

/* U+FFFD in UTF-8: what a filter leaves of a byte that is not text. It makes
 * fields longer, so that the one that is wrong first may be the next one. */
static bool has_replacement(ggld_span span, uint64_t offset, uint64_t size)
{
    uint64_t before = ggld_min_u64(offset, FIELDS_BACK_BYTES);
    uint64_t start = offset - before;
    uint64_t looked = ggld_min_u64(before + size, span.size - start);
    return memmem(span.data + start, (size_t)looked, "\xEF\xBF\xBD", 3) != NULL;
}

/* There are line feeds up to the field's end, and a carriage return before
 * each: what has been added shifts all that follows. */
static bool has_line_ends(ggld_span span, uint64_t offset, uint64_t size)
{
    uint64_t end = ggld_min_u64(offset + size, span.size);
    uint64_t start = end > LOOK_BACK_BYTES ? end - LOOK_BACK_BYTES : 1;
    bool any = false;

    for (uint64_t i = start; i < end; i++) {
        if (span.data[i] != '\n')
            continue;
        if (span.data[i - 1] != '\r')
            return false;
        any = true;
    }
    return any;
}

const char *ggld_hint_filter(ggld_span span, uint64_t offset, uint64_t size)
{
    if (has_replacement(span, offset, size))
        return HINT_FILTER;
    if (has_line_ends(span, offset, size))
        return HINT_LINES;
    return "";
}

/* ---- what was guessed ---- */

/* Messages that end so have a hint: from the text on that stands before it, or
 * NULL for the ending itself. */
typedef struct hint_row {
    const char *ending;
    const char *begins;
    ggld_hint_kind kind;
} hint_row;

static const hint_row hints[] = {
    { HINT_NAME, NULL, GGLD_HINT_PART },
    { HINT_NEIGHBOUR, NULL, GGLD_HINT_PART },
    { HINT_SIZE, NULL, GGLD_HINT_SIZE },
    { HINT_FILTER, NULL, GGLD_HINT_FILTER },
    { HINT_LINES, NULL, GGLD_HINT_LINES },
    { GGLD_ZEROS_END, GGLD_ZEROS_BEGIN, GGLD_HINT_ZEROS },
    { GGLD_LINES_ADDED_END, GGLD_LINES_ADDED, GGLD_HINT_LINES },
    { GGLD_LINES_TAKEN_END, GGLD_LINES_TAKEN, GGLD_HINT_LINES },
    { GGLD_CUT_END, GGLD_CUT_BEGIN, GGLD_HINT_CUT },
};

static const hint_row *row_of(const ggld_error *error, const char **ending)
{
    size_t len = strlen(error->message);

    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        size_t n = strlen(hints[i].ending);
        if (n > len)
            continue;
        *ending = error->message + len - n;
        if (strcmp(*ending, hints[i].ending) == 0)
            return &hints[i];
    }
    return NULL;
}

const char *ggld_error_hint(const ggld_error *error)
{
    const char *ending;
    const hint_row *row = row_of(error, &ending);

    if (row == NULL)
        return NULL;
    return row->begins == NULL ? ending + strlen("; ")
                               : strstr(error->message, row->begins);
}

ggld_hint_kind ggld_hint_kind_of(const ggld_error *error)
{
    const char *ending;
    const hint_row *row = row_of(error, &ending);

    return row == NULL ? GGLD_HINT_NONE : row->kind;
}

/* ---- edits ---- */

bool ggld_hint_journal(const char *path)
{
    char real[PATH_MAX], name[PATH_MAX + sizeof GGLD_JOURNAL_SUFFIX];

    if (path == NULL || realpath(path, real) == NULL)
        return false;
    snprintf(name, sizeof name, "%s%s", real, GGLD_JOURNAL_SUFFIX);
    return access(name, F_OK) == 0;
}
