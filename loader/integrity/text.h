/* SPDX-License-Identifier: MIT */
/* A text that grows while it is written. Running out of memory is remembered
 * and told once, at the end. */
#ifndef GGLD_INTEGRITY_TEXT_H
#define GGLD_INTEGRITY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ggld/integrity.h>

typedef struct ggld_text {
    char *data; /* malloc's */
    size_t len;
    size_t capacity;
    bool failed;
} ggld_text;

void ggld_text_put(ggld_text *t, const char *data, size_t len);
void ggld_text_printf(ggld_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ggld_text_digest(ggld_text *t, const ggld_digest *digest);
void ggld_text_free(ggld_text *t);
/* Hands the text over, a NUL behind it; or GGLD_E_NOMEM, and it is freed. */
GGLD_MUST_CHECK
ggld_status ggld_text_take(ggld_text *t, char **data, size_t *len,
                           ggld_error *err);

#endif /* GGLD_INTEGRITY_TEXT_H */
