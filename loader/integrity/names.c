/* SPDX-License-Identifier: MIT */
/* Escaped names and the parts of paths. */
#include "names.h"

#include <string.h>

#include "../base/quote.h"
#include "hex.h"

/* How many bytes at p may stand as they are: none, or a UTF-8 character. */
static size_t plain_len(const uint8_t *p, uint64_t len)
{
    size_t n = ggld_utf8_len(p, len);
    bool escaped = n == 1 && (p[0] <= ' ' || p[0] == 0x7F || p[0] == '%');
    return escaped ? 0 : n;
}

void ggld_name_put(ggld_text *t, ggld_string name)
{
    const uint8_t *p = (const uint8_t *)name.data;
    if (name.len == 0)
        ggld_text_put(t, "%", 1);
    for (uint64_t i = 0; i < name.len;) {
        size_t n = plain_len(p + i, name.len - i);
        if (n == 0)
            ggld_text_printf(t, "%%%02X", p[i++]);
        else
            ggld_text_put(t, name.data + i, n);
        i += n;
    }
}

static bool is_capital_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
}

bool ggld_name_take(ggld_word word, ggld_string *out)
{
    const uint8_t *p = (const uint8_t *)word.data;
    size_t used = 0;
    if (word.len == 0)
        return false;
    for (size_t i = 0; i < word.len && !ggld_word_is(word, "%");) {
        size_t n = plain_len(p + i, word.len - i);
        if (n != 0) {
            memmove(word.data + used, p + i, n);
        } else {
            const char *digits = word.data + i + 1;
            if (p[i] != '%' || word.len - i < 3 || !is_capital_hex(digits[0]) ||
                !is_capital_hex(digits[1]))
                return false;
            (void)ggld_byte_of_hex(digits, (uint8_t *)&word.data[used]);
        }
        used += n == 0 ? 1 : n;
        i += n == 0 ? 3 : n;
    }
    out->data = word.data;
    out->len = used;
    return true;
}

bool ggld_path_escapes(ggld_string path)
{
    uint64_t start = 0;
    for (uint64_t i = 0; i <= path.len; i++) {
        if (i < path.len && path.data[i] != '/')
            continue;
        if (i - start == 2 && memcmp(path.data + start, "..", 2) == 0)
            return true;
        start = i + 1;
    }
    return false;
}

ggld_string ggld_path_base(ggld_string path)
{
    for (uint64_t i = path.len; i > 0; i--) {
        if (path.data[i - 1] == '/') {
            ggld_string base = { path.data + i, path.len - i };
            return base;
        }
    }
    return path;
}

bool ggld_string_equal(ggld_string a, ggld_string b)
{
    return a.len == b.len && memcmp(a.data, b.data, (size_t)a.len) == 0;
}

ggld_string ggld_string_of(const char *text)
{
    ggld_string string = { text, strlen(text) };
    return string;
}
