/* SPDX-License-Identifier: MIT */
/* A text that grows while it is written. Running out of memory is remembered
 * and told once, at the end. */
#ifndef GGLD_INTEGRITY_TEXT_H
#define GGLD_INTEGRITY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ggld/integrity.h>

/* Takes a part of a text; false: it can't, and no more is given to it. */
typedef bool (*ggld_text_sink)(void *user, const char *data, size_t len);

typedef struct ggld_text {
    char *data; /* malloc's */
    size_t len;
    size_t capacity;
    bool failed;
    /* Where there is one, data has but the last part. */
    ggld_text_sink sink;
    void *user;
    struct ggld_hasher *hasher; /* of all that has left; may be NULL */
} ggld_text;

void ggld_text_put(ggld_text *t, const char *data, size_t len);
void ggld_text_printf(ggld_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ggld_text_digest(ggld_text *t, const ggld_digest *digest);
/* What is left goes to the sink. false: it did not take everything. */
bool ggld_text_flush(ggld_text *t);
void ggld_text_free(ggld_text *t);
/* Hands the text over, a NUL behind it; or GGLD_E_NOMEM, and it is freed. */
GGLD_MUST_CHECK
ggld_status ggld_text_take(ggld_text *t, char **data, size_t *len,
                           ggld_error *err);

#endif /* GGLD_INTEGRITY_TEXT_H */
