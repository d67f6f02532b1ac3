/* SPDX-License-Identifier: MIT */
/* Growing text, by doubling. */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/checked.h"
#include "../base/error.h"
#include "digest.h"

#define PART_BYTES (64u << 10)

bool ggld_text_flush(ggld_text *t)
{
    if (t->hasher != NULL && !t->failed)
        ggld_hasher_update(t->hasher, t->data, t->len);
    if (!t->failed && t->len != 0 && !t->sink(t->user, t->data, t->len))
        t->failed = true;
    t->len = 0;
    return !t->failed;
}

/* Room for len bytes and a NUL. */
static bool text_reserve(ggld_text *t, size_t len)
{
    uint64_t needed;
    if (t->failed || !ggld_add_u64(t->len, (uint64_t)len + 1, &needed) ||
        needed > PTRDIFF_MAX / 2) {
        t->failed = true;
        return false;
    }
    if (needed <= t->capacity)
        return true;
    size_t capacity = needed < 128 ? 256 : (size_t)needed * 2;
    char *data = realloc(t->data, capacity);
    if (data == NULL) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->capacity = capacity;
    return true;
}

void ggld_text_put(ggld_text *t, const char *data, size_t len)
{
    if (!text_reserve(t, len))
        return;
    memcpy(t->data + t->len, data, len);
    t->len += len;
    if (t->sink != NULL && t->len >= PART_BYTES)
        (void)ggld_text_flush(t); /* it is remembered */
}

void ggld_text_printf(ggld_text *t, const char *format, ...)
{
    char piece[256]; /* no caller's line is longer: names go through put */
    va_list args;
    va_start(args, format);
    int len = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof piece)
        t->failed = true;
    else
        ggld_text_put(t, piece, (size_t)len);
}

void ggld_text_digest(ggld_text *t, const ggld_digest *digest)
{
    char text[GGLD_DIGEST_TEXT_MAX];
    ggld_digest_text(digest, text);
    ggld_text_put(t, text, strlen(text));
}

void ggld_text_free(ggld_text *t)
{
    free(t->data);
    memset(t, 0, sizeof *t);
}

ggld_status ggld_text_take(ggld_text *t, char **data, size_t *len,
                           ggld_error *err)
{
    ggld_text_put(t, "", 0);
    if (t->failed) {
        ggld_text_free(t);
        return ggld_fail(err, GGLD_E_NOMEM, ggld_nowhere(),
                         "manifest: no memory for its text");
    }
    t->data[t->len] = '\0';
    *data = t->data;
    *len = t->len;
    memset(t, 0, sizeof *t);
    return GGLD_OK;
}
