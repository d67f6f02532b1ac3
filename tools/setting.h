/* SPDX-License-Identifier: MIT */
/* KEY:TYPE=VALUE, as --set takes it. */
#ifndef TOOLS_SETTING_H
#define TOOLS_SETTING_H

#include <ggld/write.h>

#include "command.h"

/* TYPE is u8 to f64, bool or string, or one of these with [] behind it, for an
 * array, whose VALUE is a JSON list. A string's VALUE may be @FILE; a text that
 * begins with @ is written @@. */
typedef struct setting {
    char *key;
    uint32_t type;      /* ggld_value_type */
    uint32_t elem_type; /* of an array */
    uint64_t n;         /* a string's bytes, an array's elements, else 1 */
    void *data; /* as <ggld/write.h> takes it: ggld_string for arrays of text */
    char *pool; /* where such texts are */
} setting;

/* Exit status; what is wrong has been reported. To be freed all the same. */
int setting_parse(const args *a, const char *text, setting *out);
ggld_status setting_write(const setting *s, ggld_writer *w, ggld_error *err);
void setting_free(setting *s);

#endif /* TOOLS_SETTING_H */
