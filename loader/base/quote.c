/* SPDX-License-Identifier: MIT */
/* Escapes and shortens names. Must not read past len, nor write past its
 * buffer, whatever the bytes are. */
#include "quote.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_tail(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

/* Unicode 15.0, table 3-7: well-formed byte sequences. */
size_t ggld_utf8_len(const uint8_t *p, uint64_t len)
{
    if (len == 0)
        return 0;
    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xC2 || p[0] > 0xF4)
        return 0;
    if (len < 2 || !is_tail(p[1]))
        return 0;
    if (p[0] < 0xE0)
        return 2;
    if (len < 3 || !is_tail(p[2]))
        return 0;
    if (p[0] < 0xF0) {
        bool overlong = p[0] == 0xE0 && p[1] < 0xA0;
        bool surrogate = p[0] == 0xED && p[1] > 0x9F;
        return overlong || surrogate ? 0 : 3;
    }
    if (len < 4 || !is_tail(p[3]))
        return 0;
    bool overlong = p[0] == 0xF0 && p[1] < 0x90;
    bool past_end = p[0] == 0xF4 && p[1] > 0x8F;
    return overlong || past_end ? 0 : 4;
}

uint64_t ggld_utf8_prefix(const void *data, uint64_t len)
{
    const uint8_t *p = data;
    uint64_t i = 0;
    while (i < len) {
        size_t n = ggld_utf8_len(p + i, len - i);
        if (n == 0)
            break;
        i += n;
    }
    return i;
}

/* C0, DEL, backslash, and C1 (U+0080 to U+009F), which terminals obey too. */
static bool needs_escape(const uint8_t *p, size_t n)
{
    if (n == 1)
        return p[0] < 0x20 || p[0] == 0x7F || p[0] == '\\';
    return n == 0 || (n == 2 && p[0] == 0xC2 && p[1] < 0xA0);
}

/* One character of p, escaped where it must be, into out; returns the bytes
 * used of p and sets the bytes made. */
static size_t quote_one(const uint8_t *p, uint64_t len, char out[9],
                        size_t *made)
{
    size_t n = ggld_utf8_len(p, len);
    if (!needs_escape(p, n)) {
        memcpy(out, p, n);
        *made = n;
        return n;
    }
    n = n == 0 ? 1 : n;
    for (size_t i = 0; i < n; i++)
        snprintf(out + 4 * i, 5, "\\x%02X", p[i]);
    *made = 4 * n;
    return n;
}

ggld_quoted ggld_quote(const char *data, uint64_t len)
{
    return ggld_quote_within(data, len, GGLD_QUOTE_MAX);
}

ggld_quoted ggld_quote_within(const char *data, uint64_t len, size_t max_bytes)
{
    const uint8_t *p = (const uint8_t *)data;
    const size_t limit = max_bytes - sizeof "...'";
    ggld_quoted quoted;
    size_t used = 0;

    quoted.text[used++] = '\'';
    for (uint64_t i = 0; i < len;) {
        char piece[9];
        size_t made;
        i += quote_one(p + i, len - i, piece, &made);
        if (used + made > limit) {
            memcpy(quoted.text + used, "...", 3);
            used += 3;
            break;
        }
        memcpy(quoted.text + used, piece, made);
        used += made;
    }
    quoted.text[used++] = '\'';
    quoted.text[used] = '\0';
    return quoted;
}
