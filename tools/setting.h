/* SPDX-License-Identifier: MIT */
/* KEY:TYPE=VALUE, as --set takes it. */
#ifndef TOOLS_SETTING_H
#define TOOLS_SETTING_H

#include <ggld/write.h>

#include "command.h"

/* TYPE is u8 to f64, bool or string, or one of these with [] behind it, for an
 * array, whose VALUE is a JSON list. VALUE may be @FILE, which is then what the
 * file holds; a text that begins with @ is written @@. */
typedef struct setting {
    char *key;
    uint32_t type;      /* ggld_value_type */
    uint32_t elem_type; /* of an array */
    uint64_t n;         /* a string's bytes, an array's elements, else 1 */
    void *data; /* as <ggld/write.h> takes it: ggld_string for arrays of text */
    char *pool; /* where such texts are */
    int status; /* of one that is none: STATUS_FAULT where a file, the system or
                   a key that is not there is at fault, or STATUS_USAGE */
} setting;

/* The type of a key that is there already; false: it is not. */
typedef bool (*setting_known)(const void *user, const char *key, uint32_t *type,
                              uint32_t *elem_type);

#define SETTING_WHY_MAX 256

/* KEY alone takes the type that known says; where known is NULL, or knows of
 * none, there has to be one. files: @FILE is read. false, and why: it is none.
 * To be freed all the same. */
bool setting_read(const char *text, setting_known known, const void *user,
                  bool files, setting *out, char why[static SETTING_WHY_MAX]);
/* Reports why, of path where that is not the command line's fault. Exit
 * status. */
int setting_report(const args *a, const char *path, const char *text,
                   const setting *s, const char *why);
/* The same as read without types that are known. Exit status; what is wrong has been
 * reported. */
int setting_parse(const args *a, const char *text, setting *out);
ggld_status setting_write(const setting *s, ggld_writer *w, ggld_error *err);
void setting_free(setting *s);

#endif /* TOOLS_SETTING_H */
