/* SPDX-License-Identifier: MIT */
/* See text.h. What leaves here towards a terminal has no byte in it that the
 * terminal would act on. */
#include "text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

size_t text_utf8(const char *data, size_t len, uint32_t *code)
{
    const unsigned char *p = (const unsigned char *)data;
    /* Smallest code point of each length: anything less is overlong. */
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t n;

    if (len == 0)
        return 0;
    if (p[0] < 0x80) {
        *code = p[0];
        return 1;
    }
    n = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (p[0] < 0xC2 || p[0] > 0xF4 || n > len)
        return 0;
    uint32_t c = p[0] & (0xFFu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3F);
    }
    if (c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return 0;
    *code = c;
    return n;
}

bool text_printable(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } hidden[] = {
        { 0x00, 0x1F },       { 0x7F, 0x9F },     /* controls */
        { 0xAD, 0xAD },                           /* soft hyphen */
        { 0x061C, 0x061C },   { 0x200E, 0x200F }, /* direction marks */
        { 0x200B, 0x200B },                       /* no width */
        { 0x2028, 0x202E },                       /* separators, bidi */
        { 0x2060, 0x206F },                       /* invisible, isolates */
        { 0xFEFF, 0xFEFF },   { 0xFFF9, 0xFFFB }, /* BOM, annotations */
        { 0xE0000, 0xE007F },                     /* tags */
    };
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return false;
    return true;
}

typedef struct piece {
    size_t taken; /* bytes of the input */
    char text[16];
} piece;

/* The next character of a text, as it may be shown. special: characters that
 * take a backslash. */
static piece piece_next(const char *data, size_t len, const char *special)
{
    piece p = { 0, "" };
    uint32_t code = 0;

    p.taken = text_utf8(data, len, &code);
    if (p.taken == 0) {
        p.taken = 1;
        snprintf(p.text, sizeof p.text, "\\x%02X", (unsigned char)*data);
    } else if (code == '\n') {
        strcpy(p.text, "\\n");
    } else if (code == '\t') {
        strcpy(p.text, "\\t");
    } else if (code < 0x80 && !text_printable(code)) {
        snprintf(p.text, sizeof p.text, "\\x%02X", (unsigned)code);
    } else if (!text_printable(code)) {
        snprintf(p.text, sizeof p.text, "\\u{%04X}", (unsigned)code);
    } else if (code < 0x80 && strchr(special, (int)code) != NULL) {
        snprintf(p.text, sizeof p.text, "\\%c", (int)code);
    } else {
        memcpy(p.text, data, p.taken);
        p.text[p.taken] = '\0';
    }
    return p;
}

void text_put_name(output *o, const char *data, size_t len)
{
    for (size_t i = 0; i < len;) {
        piece p = piece_next(data + i, len - i, "\\");
        out_text(o, p.text);
        i += p.taken;
    }
}

void text_put_lines(output *o, const char *data, size_t len)
{
    size_t i = 0;

    while (i < len) {
        size_t n = i;
        while (n < len && data[n] != '\n' && data[n] != '\t')
            n++;
        text_put_name(o, data + i, n - i);
        if (n < len)
            out_bytes(o, data + n, 1);
        i = n + 1;
    }
}

void text_put_quoted(output *o, const char *data, size_t len, size_t max_chars)
{
    size_t i = 0;

    out_text(o, "\"");
    for (size_t n = 0; i < len && n < max_chars; n++) {
        piece p = piece_next(data + i, len - i, "\\\"");
        out_text(o, p.text);
        i += p.taken;
    }
    out_text(o, i < len ? "\"..." : "\"");
}

void text_escape(char *dst, size_t dst_size, const char *data, size_t len)
{
    size_t used = 0;

    for (size_t i = 0; i < len;) {
        piece p = piece_next(data + i, len - i, "");
        size_t n = strlen(p.text);
        if (n >= dst_size - used)
            break;
        memcpy(dst + used, p.text, n);
        used += n;
        i += p.taken;
    }
    dst[used] = '\0';
}

/* Characters of a text that is UTF-8. */
static size_t width_of(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += (*text & 0xC0) != 0x80;
    return n;
}

size_t text_name_width(const char *data, size_t len)
{
    size_t width = 0;

    for (size_t i = 0; i < len;) {
        piece p = piece_next(data + i, len - i, "\\");
        width += width_of(p.text);
        i += p.taken;
    }
    return width;
}

void text_put_fitted(output *o, const char *data, size_t len, size_t width)
{
    size_t used = 0, i = 0;

    if (text_name_width(data, len) <= width || width < 4) {
        text_put_column(o, data, len, width);
        return;
    }
    while (i < len) {
        piece p = piece_next(data + i, len - i, "\\");
        size_t n = width_of(p.text);
        if (used + n > width - 3)
            break;
        out_text(o, p.text);
        used += n;
        i += p.taken;
    }
    out_text(o, "...");
    out_pad(o, width - 3 - used);
}

size_t text_terminal_columns(int fd)
{
    const char *told = getenv("COLUMNS");
    struct winsize size = { 0 };

    if (isatty(fd) != 1)
        return 80;
    long columns = told != NULL ? strtol(told, NULL, 10) : 0;
    if (columns <= 0 || columns > UINT16_MAX)
        columns = ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    return columns > 0 ? (size_t)columns : 80;
}

void text_put_column(output *o, const char *data, size_t len, size_t width)
{
    size_t own = text_name_width(data, len);

    text_put_name(o, data, len);
    out_pad(o, own < width ? width - own : 0);
}

/* The value in the unit, of those that are step times one another, that leaves
 * it from 1 up to less than step, as it is shown. */
static char text_scale(double *value, double step, double least_shown)
{
    static const char upper[] = "KMGTPE", counts[] = "KMBTPE";
    const char *unit = step == 1000 ? counts : upper;
    size_t i = 0;

    /* What would be shown as step itself is 1 of the next. */
    for (*value /= step; *value >= step - least_shown / 2 && i < 5; i++)
        *value /= step;
    return unit[i];
}

text_number text_size(uint64_t bytes)
{
    text_number t;
    double value = (double)bytes;

    if (bytes < 1024) {
        snprintf(t.text, sizeof t.text, "%u B", (unsigned)bytes);
        return t;
    }
    char unit = text_scale(&value, 1024, 0.1);
    snprintf(t.text, sizeof t.text, "%.1f %ciB", value, unit);
    return t;
}

text_number text_grouped(uint64_t number)
{
    text_number t;
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    size_t used = 0;

    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            t.text[used++] = ',';
        t.text[used++] = digits[i];
    }
    t.text[used] = '\0';
    return t;
}

text_number text_count(uint64_t number)
{
    text_number t;
    double value = (double)number;

    if (number < 1000) {
        snprintf(t.text, sizeof t.text, "%u", (unsigned)number);
        return t;
    }
    char unit = text_scale(&value, 1000, 0.01);
    snprintf(t.text, sizeof t.text, "%.2f %c", value, unit);
    return t;
}

static text_number text_not_finite(double value)
{
    text_number t;
    snprintf(t.text, sizeof t.text, "%s",
             isnan(value) ? "nan"
             : value < 0  ? "-inf"
                          : "inf");
    return t;
}

text_number text_f32(float value)
{
    text_number t;

    if (!isfinite(value))
        return text_not_finite((double)value);
    /* %g leaves zeros at the end out, so that no number has fewer digits than
     * its type keeps in any case: FLT_DIG, but for subnormals. */
    for (int digits = fabsf(value) < FLT_MIN ? 1 : FLT_DIG; digits <= 9;
         digits++) {
        snprintf(t.text, sizeof t.text, "%.*g", digits, (double)value);
        if (strtof(t.text, NULL) == value)
            break;
    }
    return t;
}

text_number text_f64(double value)
{
    text_number t;

    if (!isfinite(value))
        return text_not_finite(value);
    for (int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG; digits <= 17;
         digits++) {
        snprintf(t.text, sizeof t.text, "%.*g", digits, value);
        if (strtod(t.text, NULL) == value)
            break;
    }
    return t;
}
