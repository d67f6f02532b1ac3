/* SPDX-License-Identifier: MIT */
/* Lines and words. Looks at every byte once; must not read past the text. */
#include "lines.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "digest.h"

static bool ends_in_cr(const ggld_word *line)
{
    return line->len != 0 && line->data[line->len - 1] == '\r';
}

bool ggld_lines_next(ggld_lines *l, ggld_word *line)
{
    if (l->pos == l->size)
        return false;
    char *start = l->text + l->pos;
    size_t left = l->size - l->pos;
    char *newline = memchr(start, '\n', left);

    l->number++;
    l->offset = l->pos;
    l->unterminated = newline == NULL;
    line->data = start;
    line->len = newline == NULL ? left : (size_t)(newline - start);
    l->pos += newline == NULL ? left : line->len + 1;
    if (l->cr_lf && ends_in_cr(line))
        line->len--;
    return true;
}

ggld_status ggld_lines_fail(const ggld_lines *l, ggld_error *err,
                            ggld_status code, const char *format, ...)
{
    char text[GGLD_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return ggld_fail(err, code,
                     ggld_place_of(GGLD_IN_NONE, l->number - 1, l->offset),
                     "%s line %" PRIu64 ": %s", l->label, l->number, text);
}

ggld_status ggld_lines_agree(ggld_lines *l, ggld_error *err)
{
    ggld_lines scan = *l;
    ggld_word line;
    bool cr_lf = false;
    while (ggld_lines_next(&scan, &line)) {
        /* A last line that was cut may have lost its CR. */
        bool cr = ends_in_cr(&line);
        if (scan.number == 1)
            cr_lf = cr;
        else if (cr != cr_lf && !scan.unterminated)
            return ggld_lines_fail(
                &scan, err, GGLD_E_STRING,
                "ends in %s and line 1 in %s: a part of it was converted on "
                "its way; get it as it was written",
                cr ? "CR LF" : "LF", cr_lf ? "CR LF" : "LF");
    }
    l->cr_lf = cr_lf;
    return GGLD_OK;
}

ggld_status ggld_lines_end(const ggld_lines *l, ggld_error *err)
{
    ggld_lines scan = *l;
    ggld_word line;
    if (l->size == 0 || l->text[l->size - 1] == '\n')
        return GGLD_OK;
    while (ggld_lines_next(&scan, &line))
        continue;
    return ggld_lines_fail(&scan, err, GGLD_E_TRUNCATED,
                           "cut: the last line has no newline at its end; if "
                           "it is whole, add one");
}

ggld_word ggld_word_split(ggld_word *rest, char separator)
{
    char *end = memchr(rest->data, separator, rest->len);
    ggld_word word = { rest->data, rest->len };
    if (end != NULL)
        word.len = (size_t)(end - rest->data);
    size_t used = end != NULL ? word.len + 1 : word.len;
    rest->data += used;
    rest->len -= used;
    return word;
}

bool ggld_word_is(ggld_word word, const char *text)
{
    return word.len == strlen(text) && memcmp(word.data, text, word.len) == 0;
}

bool ggld_word_u64(ggld_word word, uint64_t *out)
{
    uint64_t value = 0;
    if (word.len == 0 || (word.len > 1 && word.data[0] == '0'))
        return false;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.data[i];
        if (c < '0' || c > '9' || __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(c - '0'), &value))
            return false;
    }
    *out = value;
    return true;
}

bool ggld_word_algo(ggld_word word, uint32_t *out)
{
    for (uint32_t i = 1; i < GGLD_ALGO_LIMIT; i++) {
        if (ggld_word_is(word, ggld_algo_name(i))) {
            *out = i;
            return true;
        }
    }
    return false;
}

bool ggld_word_digest(ggld_word word, ggld_digest *out)
{
    uint32_t algo;
    ggld_word name = ggld_word_split(&word, ':');
    return ggld_word_algo(name, &algo) &&
           ggld_digest_parse(out, algo, word.data, word.len);
}
